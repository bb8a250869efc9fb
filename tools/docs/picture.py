"""The picture of the README: a response that arrives in chunks, and the events that come out of it.

Everything in it is from a real run. It is drawn for light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from outspoken import Done, Event, Parser, ReasoningDelta, TextDelta, ToolCallEnd, ToolCallStart, ToolCallUnfinished

#: The chunks of a response in the format `hermes`: a call with a surplus comma, and one that is cut off.
CHUNKS = (
    "<think>\nTwo ferries go.\n</th",
    "ink>\nI'll book one.\n<tool_",
    'call>\n{"name": "book", "argumen',
    'ts": {"ferry": "Ystad", "sea',
    'ts": 2,}}\n</tool_call>\n<tool_',
    'call>\n{"name": "pay", "argum',
    'ents": {"card": "42',
)

_WIDTH, _MARGIN, _LEFT, _RIGHT, _ROW, _GAP, _TOP = 900, 24, 24, 400, 22, 16, 66
_STYLE = Path(__file__).with_name("picture.css").read_text("utf-8")


#: A line on the right side, and the class of its colour.
Line = tuple[str, str]


def picture() -> str:
    """The picture as SVG."""
    parts: list[str] = []
    top = _TOP
    for chunk, lines in _rows():
        height = _ROW * max(1, len(lines))
        parts += _drawn(chunk, lines, top, top + height // 2)
        top += height + _GAP
    height = top - _GAP + _MARGIN
    title = "A response arrives in chunks; reasoning, text, a repaired call and an unfinished call come out as events"
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{title}">
  <style>{_STYLE}  </style>
  <rect class="page" x="1" y="1" width="{_WIDTH - 2}" height="{height - 2}" rx="8"/>
  <text class="head" x="{_LEFT}" y="36">What the model writes, chunk by chunk</text>
  <text class="head" x="{_RIGHT}" y="36">What your program gets, at once and for good</text>
{"".join(parts)}</svg>
"""


def _drawn(chunk: str, lines: list[Line], top: int, middle: int) -> Iterator[str]:
    """A chunk, and what came out when it had arrived."""
    yield (
        f'  <rect class="chunk" x="{_LEFT}" y="{middle - 13}" width="{_RIGHT - _LEFT - 54}" height="26" rx="5"/>'
        f'<text x="{_LEFT + 10}" y="{middle + 5}">{_shown(chunk)}</text>\n'
    )
    if lines:
        yield f'  <path class="arrow" d="M{_RIGHT - 46} {middle}h28m-6 -5l6 5l-6 5"/>\n'
    for number, (text, style) in enumerate(lines):
        yield f'  <text class="{style}" x="{_RIGHT}" y="{top + _ROW * number + 16}">{_shown(text)}</text>\n'


def _shown(text: str) -> str:
    return escape(text.replace("\n", "⏎"), quote=False)


def _rows() -> Iterator[tuple[str, list[Line]]]:
    """The chunks, and the lines of the events that come of each."""
    session = Parser("hermes").session()
    for chunk in CHUNKS:
        yield chunk, [line for event in session.feed(chunk) for line in _lines(event)]
    yield "(cut off here)", [line for event in session.close("length") for line in _lines(event)]


def _lines(event: Event) -> Iterator[Line]:
    match event:
        case ReasoningDelta(text):
            yield f"reasoning {text!r}", "reasoning"
        case TextDelta(text):
            yield f"text {text!r}", ""
        case ToolCallStart(name=name):
            yield f"a call of {name} begins", "note"
        case ToolCallEnd(call=call):
            yield repr(call), "call"
            yield from [(f"  repair at {repair}", "note") for repair in call.repairs]
        case ToolCallUnfinished(call=call):
            yield repr(call), "bad"
            yield "  never among the calls to run", "note"
        case Done(reply=reply):
            yield f"status {reply.status!r}", "bad"
        case _:
            pass
