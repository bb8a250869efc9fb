"""Checks of the cases of a format, alone and as texts that `format="auto"` reads as another format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

from outspoken import Diagnostic, Reply, parse
from outspoken.authoring.shared.checkout import KINDS, Case, load
from outspoken.detection.evidence import AT_END, AT_START, BEHIND, begins_line
from outspoken.detection.opener_index import likeness_chain
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.results.errors import GrammarError

from .findings import CheckedFile, CheckedGrammar, Span

_NEEDED = {"ok": "a sound response", "err": "a damaged one, `cut_inside_value.txt`"}
_OPTIONS = "options are `prefix`, a string, and `tools`, an array of tables or a string of JSON"


class Read(NamedTuple):
    """A case that could be read: its file, how it is parsed, and what was read."""

    file: CheckedFile
    case: Case
    reply: Reply


def check_corpus(grammar: CheckedGrammar) -> tuple[list[Read], list[Diagnostic]]:
    """The cases of a format that can be read, and what is wrong with them."""
    checkout, diagnostics, read = grammar.checkout, list[Diagnostic](), list[Read]()
    folder = checkout.corpus / grammar.name
    paths = [path for path in sorted(folder.glob("*/*.txt")) if path.parent.name in KINDS]
    for kind in KINDS if checkout.is_project else ():
        if not any(path.parent.name == kind for path in paths):
            helps = f"put {_NEEDED[kind]} into `{checkout.shown(folder / kind)}`, byte for byte as the model wrote it"
            message = f"`{grammar.name}` has no `{kind}` case"
            diagnostics.append(grammar.file.finding("no-cases", grammar.file.top, message, helps))
    for path in paths:
        file = CheckedFile.of(checkout, path)
        try:
            case = load(path)
            read.append(Read(file, case, case.parse()))
        except (ValueError, TypeError) as error:
            diagnostics.append(_unreadable(grammar, path, file, error))
    return read, [*diagnostics, *[diagnostic for case in read for diagnostic in _check_folder(case)]]


def _unreadable(grammar: CheckedGrammar, path: Path, file: CheckedFile, error: Exception) -> Diagnostic:
    """A case whose text or options are not what they should be."""
    if isinstance(error, UnicodeDecodeError):
        return file.finding("bad-case", file.top, f"this case is no text: {error}", "write it as UTF-8")
    options, line = path.with_suffix(".toml"), re.search(r"at line (\d+)", str(error))
    beside = CheckedFile.of(grammar.checkout, options) if options.is_file() else file
    span, message = beside.line(int(line[1]) if line else 1), "the options of this case cannot be read"
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


#: The segments that a caller acts on.
_EFFECTS = frozenset({"tool_call", "action", "payload"})


def check_detection(grammar: CheckedGrammar, header: Header, cases: list[Read]) -> list[Diagnostic]:
    """The texts of a format in which detection reads something else."""
    file, diagnostics = grammar.file, list[Diagnostic]()
    try:
        diagnostics += _compared(
            grammar, header, parse(header.example, format=grammar.name), parse(header.example), None
        )
        for read in [read for read in cases if read.case.kind == "ok"]:
            diagnostics += _compared(grammar, header, read.reply, read.case.parse(format="auto"), read.file)
    except (GrammarError, OSError, RecursionError) as error:
        message = "detection is not checked, since another format cannot be read"
        helps, notes = "run `python -m tools.check` without a name", [str(error).splitlines()[0]]
        return [file.finding("no-detection", file.top, message, helps, severity="note", notes=notes)]
    return diagnostics


def _compared(
    grammar: CheckedGrammar, header: Header, named: Reply, detected: Reply, file: CheckedFile | None
) -> Iterator[Diagnostic]:
    """Does detection find all that the format itself finds in a text, and no further calls?

    A text in which the format itself does nothing may be another format's. Of formats that write calls alike and mean
    other things by them, the header says which is named. Points may be in another space if detection converts none and
    says so. `file` is that of the text, None for the example of the header.
    """
    name = grammar.name
    is_like = detected.format != name and detected.format in likeness_chain(name)
    if is_like and any(segment.kind == "action" for segment in named.segments):
        return
    left_out = {"span", "repairs"} | ({"space"} if _leaves_spaces_open(detected) else set[str]())
    evident = [segment for segment in _evident(name, header, named) if segment.kind != "text"]
    own, other = [[_essence(s, left_out) for s in reply.segments] for reply in (named, detected)]
    surplus = [s for s in detected.segments if s.kind in _EFFECTS and _essence(s, left_out) not in own]
    rest = iter(other)
    missing = next((s for s in evident if not any(_essence(s, left_out) == expected for expected in rest)), None)
    if (not surplus and missing is None) or not any(segment.kind in _EFFECTS for segment in named.segments):
        return
    first: Any = missing or surplus[0]
    span: Span = first.span if file else grammar.example_span(named.raw, *first.span)
    label = f"`{getattr(first, 'name', None) or first.kind}` {'read as something else' if missing else 'found'}"
    read_as = f"as `{detected.format}`" if detected.format else "as text"
    diagnostic = [f"there it has a diagnostic: {expected.message}" for expected in detected.diagnostics[:1]]
    yield (file or grammar.file).finding(
        "not-told-apart",
        span,
        f"without its name, this text is not read as `{name}`",
        "let an opening marker show more of what follows: `(?=...)` with what no other format has there",
        label=label,
        notes=[f'`format="auto"` reads it {read_as}', *diagnostic],
    )


def _evident(name: str, header: Header, reply: Reply) -> list[Any]:
    """The segments without those whose opening markers lack the evidence that the header asks for."""
    steps = registry.automaton(name).top_level_markers
    wanted = {
        re.compile(s.terminal.regex): evidence for s in steps if (evidence := header.evidence_of(s.terminal.short))
    }
    segments = [part for part in reply.segments if not (header.bare_calls == "name" and part.kind == "tool_call")]
    runs = [list(run) for _, run in groupby(segments, lambda segment: segment.kind == "text")]
    evident: list[Any] = []
    for number, run in enumerate(runs):
        before = runs[number - 1][-1].span[1] if number else 0
        behind = runs[number + 1][0].span[0] if number + 1 < len(runs) else None
        matches = [(match.start(), wanted[marker]) for marker in wanted if (match := marker.search(reply.raw, before))]
        start, evidence = min(matches, default=(0, ""))
        if run[0].kind == "text" or start > run[0].span[0]:
            evidence = ""
        if evidence == BEHIND and all(segment.kind == "text" for segment in evident):
            continue
        is_at_end = behind is None or "\n" in reply.raw[run[-1].span[1] : behind]
        if (evidence not in AT_START or begins_line(reply.raw, start)) and (evidence not in AT_END or is_at_end):
            evident += run
    return evident


def _essence(segment: Any, left_out: set[str]) -> Any:
    """What a segment says, without some of its fields, at any depth."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {key: without(item) for key, item in items if key not in left_out}
        return [without(v) for v in cast("Sequence[Any]", value)] if isinstance(value, (list, tuple)) else value

    return without(segment.model_dump())


def _leaves_spaces_open(reply: Reply) -> bool:
    """Does detection report that the space of each point is open, rather than say one?

    Then it is no mistake of a grammar that the points have the space of another format. No text tells formats apart
    that write the same calls in different spaces, so that no opening marker could mend it. Nothing is converted, and
    the caller is told. The calls must still be the same, and a point that is not reported must have its own space.
    """
    reported = [found.span for found in reply.diagnostics if found.code == "ambiguous-space"]
    pointing = [s.span for s in reply.segments if s.kind == "action" and "'space': " in repr(s.model_dump())]
    return bool(reported) and all(span in reported for span in pointing)
