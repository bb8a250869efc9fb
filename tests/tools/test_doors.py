"""Every way into the library reads the same text alike.

The texts are responses of the corpus, two to four of them with prose between them; some in fences, where a format is
prompted JSON, and some with line ends of Windows.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from outspoken import Parser, Reply, parse
from outspoken.cli.main import main as command
from outspoken.contrib.skyvern import parse_api_response
from outspoken.grammar import registry
from outspoken.processing import ProcessorSettings, ResponseProcessor, parse_actions
from outspoken.providers import parse_response, stream_response
from outspoken.providers.wire.writing import to_wire
from outspoken.serving.apis.chat import CompletionRewriter
from outspoken.serving.settings import ServerSettings
from tests.cases import CASES, FORMATS
from tests.semantics.test_said import OBJECTS

_PROSE = ("\n\nLet me see.\n\n", "\n", " and then ", "\n\n# Next\n\n- one\n- two\n\n")
_LEFT_OUT = {"span", "raw", "repairs", "id"}


#: The sound responses of the corpus by format, without those that need options.
CORPUS: dict[str, list[str]] = {}
for _case in CASES:
    if _case.kind == "ok" and not _case.options:
        CORPUS.setdefault(_case.format, []).append(_case.text)


def texts(format: str, count: int, seed: int = 0) -> Iterator[str]:
    """Texts of a format; the same for the same seed."""
    random = Random(f"{format} {seed}")
    in_fences = any(marker.endswith("_FENCED_OPEN") for marker in registry.automaton(format).tables.terminals)
    for _ in range(count):
        parts = [random.choice(CORPUS[format]) for _ in range(random.randint(2, 4))]
        if in_fences:
            parts = [_fenced(part, random) if random.random() < 0.4 and "`" not in part else part for part in parts]
        text = random.choice(_PROSE).join(parts)
        yield text.replace("\r\n", "\n").replace("\n", "\r\n") if random.random() < 0.15 else text


def _fenced(text: str, random: Random) -> str:
    opener = random.choice(("```", "```json", "```js", "~~~", "````"))
    return f"{opener}\n{text.strip()}\n{opener.rstrip('jsonk')}"


def _essence(reply: Reply) -> list[Any]:
    """What a reply says: calls, actions, payloads and values with their content, and the text between them."""
    found = [s for s in reply.segments if s.kind not in ("text", "reasoning")]
    return [[s.model_dump(mode="json", exclude=_LEFT_OUT) for s in found], reply.text, reply.reasoning]


def _pieces(text: str) -> list[str]:
    size = Random(text).choice([1, 4, 16, 100])
    return [text[at : at + size] for at in range(0, len(text), size)]


def _streamed(stream: Any) -> Reply:
    for _ in stream:
        pass
    return stream.reply


def _processed(format: str, text: str) -> Reply | None:
    settings = ProcessorSettings(log_failed_parses=False)
    found = ResponseProcessor(Parser(format), settings=settings).process(text)
    return None if found.strategy == "fallback" else found.reply


def _chat(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": None}
    return {"id": "c", "model": "m", "object": "chat.completion", "choices": [choice]}


def _provider_stream(format: str, text: str) -> Reply:
    chunks = [{"id": "c", "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in _pieces(text)]
    return _streamed(stream_response(chunks, provider="openai", format=format))


def _command(format: str, text: str) -> Reply:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "response.txt"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        written = io.StringIO()
        with redirect_stdout(written), redirect_stderr(io.StringIO()):
            command(["parse", str(file), "--format", format, "--json"])
    return Reply.model_validate(json.loads(written.getvalue()))


#: By name, what a door makes of a text; None where it does not read it.
_DOORS: dict[str, Callable[[str, str], Reply | None]] = {
    "stream": lambda format, text: _streamed(Parser(format).stream(_pieces(text))),
    "processor": _processed,
    "parse_actions": lambda format, text: (
        parse_actions(text, parser=format) if registry.header(format).actions else None
    ),
    "parse_response": lambda format, text: parse_response(_chat(text), provider="openai", format=format),
    "stream_response": _provider_stream,
    "command": _command,
}


def disagreements(format: str, text: str) -> list[tuple[str, ...]]:
    """What the doors read differently from `parse`, and the proxy from what is exported: format, door, text, both."""
    expected = Parser(format).parse(text)
    replies = {name: door(format, text) for name, door in _DOORS.items()}
    pairs = {name: (_essence(expected), _essence(reply)) for name, reply in replies.items() if reply is not None}
    settings = ServerSettings(upstream="http://127.0.0.1:1", format=format, show_invalid=False)
    rewritten = CompletionRewriter(settings, {"messages": [], "tools": [{"type": "any"}]}).rewrite(_chat(text))
    pairs["proxy"] = (_said(to_wire(expected, "openai")), _said(rewritten))
    return [(format, name, text, *map(repr, pair)) for name, pair in pairs.items() if pair[0] != pair[1]]


def _said(completion: Any) -> list[Any]:
    """The content and the calls of a chat completion."""
    message = completion["choices"][0]["message"]
    calls: list[Any] = message.get("tool_calls") or []
    return [message.get("content") or "", *[call["function"] for call in calls]]


def check(formats: Iterable[str], per_format: int, seed: int = 0) -> None:
    """Read texts of formats through every door."""
    chosen = [(format, text) for format in formats for text in texts(format, per_format, seed)]
    assert chosen
    assert [found for format, text in chosen for found in disagreements(format, text)] == []


# the tests


@pytest.mark.parametrize("group", range(7))
def test_every_door_reads_alike(group: int) -> None:
    """Parser, processor, actions, provider responses, command line and proxy, whole and streamed."""
    check([name for name in FORMATS[group::7] if name in CORPUS][::3], 1, seed=group)


def test_formats_that_are_prompted_json_agree_on_fences() -> None:
    check(OBJECTS, 2, seed=7)


def test_bare_places_are_read_alike() -> None:
    """An answer that is a place alone, behind reasoning or other answers, and lists that are no place."""
    dict_ = "{'action': 'ENTER', 'value': None, 'position': None}"
    places = ("[0.73, 0.21]", "[.5,1.0]", "[ 0.5 , 0.5 ]", "[0.5,0.5,]", "[0.73, 0.21", "[2, 3]", "`[0.73, 0.21]`")
    texts = [f"{before}{place}{after}" for place in places for before, after in [
        ("", ""), ("At ", " it is."), ("<think>a [0.1, 0.2]</think>\n", "\r\n"), ("[0.1, 0.2]\n", f"\n{dict_}"),
    ]]  # fmt: skip
    assert [found for text in texts for found in disagreements("showui", text)] == []
    assert len(parse("<think>a</think>\n[0.73, 0.21]", format="showui").actions) == 1
    check(["showui"], 12)


@pytest.mark.parametrize("name", ["extract-actions", "decisive-criterion-validate"])
def test_the_object_that_was_asked_for_is_taken(name: str) -> None:
    """Of several objects, that with the actions counts, behind inline code and remarks that are JSON."""
    wanted = {"actions": [{"action_type": "CLICK", "id": "AAB"}]}
    text = '{"actions": [{"action_type": "CLICK", "id": "AAB"}]}'
    remarks = (
        'State: {"step": 1}. ',
        'As `{1}` and `{"x": 1}` say:\n',
        '```\n{"seen": [{"a": 1}]}\n```\n',
        '{"a": 1}{"b": 2}\n',
    )
    for before in remarks:
        for object in (text, f"```json\n{text}\n```", f"~~~\n{text}\n~~~"):
            assert parse_api_response(before + object, prompt_name=name) == wanted, before + object


def test_a_key_of_another_object_makes_no_call() -> None:
    """A condition on what follows an opening brace does not look beyond the object."""
    text = 'Such is {"name": "moss"}. {"name": "find_book", "args": {"title": "Moss"}}'
    assert disagreements("gemini_computer_use", text) == []
    assert [call.name for call in parse(text, format="gemini_computer_use").tool_calls] == ["find_book"]
