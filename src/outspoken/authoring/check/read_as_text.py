"""Opening markers that are read as text in sound cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from outspoken import Reply
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import sources
from outspoken.grammar import registry
from outspoken.patterns.spellings import spellings

from .corpus import Read
from .detection import openers
from .findings import Finding, Span

#: A code sample in a text, and the fence that it begins with.
_SAMPLE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^[ ]{0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_FENCES = ("`", "~")


def check_read_as_text(checkout: Checkout, name: str, cases: list[Read]) -> Iterator[Finding]:
    """A warning for each `ok` case in which an opening marker at the start of a line was read as text.

    Not in code samples, and not in a case that `sources.toml` calls `prose`.
    """
    opener, shown = _opener(name), checkout.command("show", name)
    try:
        known = sources(checkout, name)
    except ValueError:
        known = {}
    for one in cases if opener is not None else ():
        source = known.get(one.case.name)
        is_prose = isinstance(source, dict) and bool(cast("dict[str, Any]", source).get("prose"))
        place = None if is_prose or one.case.kind != "ok" else _in_text(one.reply, opener)
        if place is not None:
            marker = one.reply.raw[slice(*place)]
            yield one.file.finding(
                "read-as-text",
                f"`{marker}` opens nothing in this `ok` case: it is read as text",
                place,
                "warning",
                notes=["a marker opens something only where all that its pattern looks ahead at follows it"],
                helps=[
                    f"mend the grammar; `{shown} {one.file.shown} --trace` shows what was expected",
                    f"if it is meant as text, write `prose = true` for `{one.case.name}` into `sources.toml`",
                ],
            )


def _opener(name: str) -> re.Pattern[str] | None:
    """The opening markers of a format at the start of a line, as far as they can be spelled; None if none can."""
    terminals = [step.terminal for step in openers(registry.automaton(name))]
    spelled = {text.strip() for t in terminals for text in (t.canonical, *spellings(t.regex))}
    telling = [text for text in spelled if len(text) > 1 and not text.isalnum() and not text.startswith(_FENCES)]
    longest_first = sorted(telling, key=lambda text: (-len(text), text))
    return re.compile(rf"^[ ]{{0,3}}({'|'.join(map(re.escape, longest_first))})", re.MULTILINE) if telling else None


def _in_text(reply: Reply, opener: re.Pattern[str] | None) -> Span | None:
    """The first opening marker that a text of a reply begins a line with."""
    for segment in reply.segments if opener is not None else ():
        if segment.kind == "text":
            blank = _SAMPLE.sub(lambda sample: " " * len(sample[0]), reply.raw[slice(*segment.span)])
            match = opener.search(blank) if opener is not None else None
            if match is not None:
                return segment.span[0] + match.start(1), segment.span[0] + match.end(1)
    return None
