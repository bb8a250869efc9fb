"""The cases of a format: whether they can be read, and whether they are read as what they should be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from outspoken import Diagnostic, Reply
from outspoken.authoring.shared.corpus import KINDS, Case, load, sources
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.registry import PLAIN
from outspoken.patterns.spellings import spellings

from .findings import CheckedFile, CheckedGrammar, Span

_NEEDED = {"ok": "a sound response", "err": "a damaged one, `cut_inside_value.txt`"}
_OPTIONS = "options are `prefix`, a string, and `tools`, an array of tables or a string of JSON"
#: A code sample in a text, and the fence that it begins with.
_SAMPLE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^[ ]{0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_FENCES = ("`", "~")


class Read(NamedTuple):
    """A case that could be read: its file, how it is parsed, and what was read."""

    file: CheckedFile
    case: Case
    reply: Reply


def check_corpus(grammar: CheckedGrammar) -> tuple[list[Read], list[Diagnostic]]:
    """The cases of a format that can be read, and what is wrong with them."""
    checkout, found, read = grammar.checkout, list[Diagnostic](), list[Read]()
    folder = checkout.corpus / grammar.name
    paths = [path for path in sorted(folder.glob("*/*.txt")) if path.parent.name in KINDS]
    for kind in KINDS if checkout.is_project else ():
        if not any(path.parent.name == kind for path in paths):
            helps = f"put {_NEEDED[kind]} into `{checkout.shown(folder / kind)}`, byte for byte as the model wrote it"
            message = f"`{grammar.name}` has no `{kind}` case"
            found.append(grammar.file.finding("no-cases", grammar.file.top, message, helps))
    for path in paths:
        file = CheckedFile.of(checkout, path)
        try:
            case = load(path)
            read.append(Read(file, case, case.parse()))
        except (ValueError, TypeError) as error:
            found.append(_unreadable(grammar, path, file, error))
    return read, [*found, *[one for case in read for one in _check_folder(case)], *_read_as_text(grammar, read)]


def _unreadable(grammar: CheckedGrammar, path: Path, file: CheckedFile, error: Exception) -> Diagnostic:
    """A case whose text or options are not what they should be."""
    if isinstance(error, UnicodeDecodeError):
        start = len(path.read_bytes()[: error.start].decode("utf-8", "backslashreplace"))
        return file.finding("bad-case", (start, start + 4), "this case is no text", "write it as UTF-8")
    options = path.with_suffix(".toml")
    beside = CheckedFile.of(grammar.checkout, options) if options.is_file() else file
    message, line = "the options of this case cannot be read", re.search(r"at line (\d+)", str(error))
    span = beside.line(int(line[1])) if line else beside.top
    return beside.finding("bad-case", span, message, _OPTIONS, notes=[str(error)])


def _check_folder(one: Read) -> Iterator[Diagnostic]:
    """Check that a case is in the right folder."""
    reply, file = one.reply, one.file
    if one.case.kind == "err" and not reply.diagnostics:
        message = "an `err` case is read without a diagnostic"
        helps = "move it to `ok`, or make sure that the damage is still in the file"
        yield file.finding("err-without-diagnostic", file.top, message, helps)
    wrong = [diagnostic for diagnostic in reply.diagnostics if diagnostic.severity != "note"]
    if one.case.kind == "ok" and (wrong or reply.status != "ok"):
        helps = "mend the grammar, or move the case to `err` if its text is damaged"
        span, message, label, notes = file.top, f"an `ok` case is `{reply.status}`", "", list[str]()
        if wrong:
            first, more = wrong[0], len(wrong) - 1
            span, message, label = first.span, f"an `ok` case has a diagnostic: {first.message}", first.label
            notes = [*first.notes[:1], *([f"and {more} more"] if more else [])]
        yield file.finding("ok-with-diagnostic", span, message, helps, label=label, notes=notes)


# opening markers that are read as text


def _read_as_text(grammar: CheckedGrammar, cases: list[Read]) -> Iterator[Diagnostic]:
    """A warning for each `ok` case in which an opening marker at the start of a line was read as text.

    Not in code samples, and not in a case that `sources.toml` calls `prose`.
    """
    opener, shown = _opener(grammar.name), grammar.checkout.command("show", grammar.name)
    try:
        known = sources(grammar.checkout, grammar.name)
    except ValueError:
        known = {}
    for one in cases if opener is not None else ():
        source = known.get(one.case.name)
        is_prose = isinstance(source, dict) and bool(cast("dict[str, Any]", source).get("prose"))
        span = _in_text(one.reply, opener) if opener is not None else None
        if span is not None and one.case.kind == "ok" and not is_prose:
            yield one.file.finding(
                "read-as-text",
                span,
                f"`{one.reply.raw[slice(*span)]}` opens nothing in this `ok` case: it is read as text",
                f"mend the grammar; `{shown} {one.file.shown} --trace` shows what was expected",
                f"if it is meant as text, write `prose = true` for `{one.case.name}` into `sources.toml`",
                severity="warning",
                notes=["a marker opens something only where all that its pattern looks ahead at follows it"],
            )


def openers(automaton: Automaton) -> list[Transition]:
    """The markers that lead out of text, except those of plain text and of reasoning."""
    plain = {step.terminal.regex for step in registry.automaton(PLAIN).top_level_markers}
    steps = [step for step in automaton.top_level_markers if step.terminal.regex not in plain]
    return [s for s in steps if s.target.free is None or s.target.free.terminal.short != "REASONING"]


def _opener(name: str) -> re.Pattern[str] | None:
    """The opening markers of a format at the start of a line, as far as they can be spelled; None if none can."""
    terminals = [step.terminal for step in openers(registry.automaton(name))]
    spelled = {text.strip() for t in terminals for text in (t.canonical, *spellings(t.regex))}
    telling = [text for text in spelled if len(text) > 1 and not text.isalnum() and not text.startswith(_FENCES)]
    longest_first = sorted(telling, key=lambda text: (-len(text), text))
    return re.compile(rf"^[ ]{{0,3}}({'|'.join(map(re.escape, longest_first))})", re.MULTILINE) if telling else None


def _in_text(reply: Reply, opener: re.Pattern[str]) -> Span | None:
    """The first opening marker that a text of a reply begins a line with."""
    for segment in reply.segments:
        if segment.kind == "text":
            plain = _SAMPLE.sub(lambda sample: " " * len(sample[0]), reply.raw[slice(*segment.span)])
            if (match := opener.search(plain)) is not None:
                return segment.span[0] + match.start(1), segment.span[0] + match.end(1)
    return None
