"""What a page asks of a worker, also of a grammar, and the answers as JSON can hold them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from outspoken import OutspokenError, RenderError, Reply, UnknownFormatError, detect, parse, render
from outspoken.authoring.edited import EditedGrammarError, use_edited
from outspoken.constraints import Constraint, ConstraintError, constraint
from outspoken.constraints.deriving import TARGETS
from outspoken.grammar import registry
from outspoken.results.snippet import visible
from outspoken.terminal.outputs import write_file
from outspoken.viewer.lines import segment_title
from outspoken.viewer.page import page, view_data
from outspoken.viewer.view import View, show

from .given import Asked, Given, ProblemError, as_json, one_line, place_of


def use_format(given: Given) -> str:
    """The format to read with: the exact name of a format, "auto", or that of the edited grammar, which is loaded.

    Raises ProblemError with the places if the grammar cannot be used, and UnknownFormatError for an unknown format.
    """
    try:
        edited = use_edited(given.grammar)
    except EditedGrammarError as error:
        places = [
            place_of(mistake.line, mistake.column, mistake.span, mistake.message, (*mistake.notes, *mistake.helps))
            for mistake in error.found
        ]
        raise ProblemError("grammar", str(error), places) from None
    return edited or (given.format if given.format == "auto" else registry.resolve(given.format))


#: Detection reads a text in every format, so it is asked of the beginning only.
_DETECTED = 6_000
_MOST_CANDIDATES = 8
#: Answers in a page of a file are cut here; a regular expression may have millions of characters.
_MOST_IN_FILE = 150_000


def read(asked: Asked) -> Any:
    """Read a response: what the view of a page draws."""
    return view_data(_view(asked.given))


def candidates(asked: Asked) -> Any:
    """The formats that the beginning of a text may be in, the best first, and how many characters that is."""
    given = asked.given
    found = detect(given.text[:_DETECTED], tools=given.read_tools())[:_MOST_CANDIDATES]
    rows = [{"format": c.format, "status": c.status, "covered": c.covered, "calls": list(c.calls)} for c in found]
    return {"candidates": rows, "read": min(len(given.text), _DETECTED)}


def grammar(asked: Asked) -> Any:
    """The grammar of a format, as it is without edits."""
    name = registry.resolve(asked.given.format)
    return {"format": name, "grammar": registry.grammar_text(name)[0]}


def constrained(asked: Asked) -> Any:
    """The constraint of a format and the tools, for a target."""
    given, target = asked.given, asked.choice
    if target not in TARGETS:
        raise ProblemError("choice", f"there is no target `{target}`; choose one of {', '.join(TARGETS)}", status=400)
    name = use_format(given)
    return _written(_constraint(given, (_reply(given).format or "") if name == "auto" else name), target)


def rendered(asked: Asked) -> Any:
    """The reply, as a model of a format would write it."""
    return _rendered(asked.given, _reply(asked.given), asked.choice or asked.given.format)


def file(asked: Asked) -> Any:
    """A page of one response that works from a file, as HTML; `formats` are those in which the reply is rendered."""
    given, view = asked.given, _view(asked.given)
    name, reply = use_format(given), view.reply
    shown = (reply.format or "") if name == "auto" else name
    made, to = cache(partial(_constraint, given, shown)), dict.fromkeys([shown, *asked.formats])
    constraints = {target: _said(lambda target: _written(made(), target), target) for target in TARGETS if shown}
    texts = {name: _said(lambda name: _rendered(given, reply, name), name) for name in to if name}
    return {"html": page(view, given=given.model_dump(), constraint=constraints, rendered=texts)}


#: What can be asked, by name.
ANSWERS: dict[str, Callable[[Asked], Any]] = {
    "read": read,
    "candidates": candidates,
    "grammar": grammar,
    "constraint": constrained,
    "rendered": rendered,
    "file": file,
}


def answer(what: str, asked: Asked) -> tuple[int, bytes]:
    """The HTTP status and the JSON of an answer. Whatever is wrong with the request is said in a sentence."""
    try:
        return 200, as_json(ANSWERS[what](asked))
    except ProblemError as error:
        problem = error
    except (OutspokenError, ValueError, TypeError) as error:
        problem = ProblemError("format" if isinstance(error, UnknownFormatError) else "", one_line(error))
    except MemoryError:
        problem = ProblemError("", "this needs more memory than the playground may use; shorten it")
    except Exception as error:
        words = f"this could not be shown ({type(error).__name__}: {error}); please report it with the response"
        problem = ProblemError("", one_line(words), status=500)
    return problem.status, problem.body


def _view(given: Given) -> View:
    return show(given.text, given.name, use_format(given), size=given.size, **given.known, **given.options())


def _reply(given: Given) -> Reply:
    return parse(given.text, format=use_format(given), **given.known, **given.options())


def _constraint(given: Given, name: str) -> Constraint:
    """The constraint of a format. Raises ProblemError if the format has none."""
    if not name:
        raise ProblemError("choice", "no format was detected, so there is no constraint; choose a format")
    try:
        return constraint(name, prefix=given.prompt_end or None, **given.options())
    except ConstraintError as error:
        raise ProblemError("choice", f"`{name}` has no such constraint: {'; '.join(error.problems)}") from None


def _written(made: Constraint, target: str) -> dict[str, Any]:
    """A constraint for a target, and what it does not enforce. Raises ProblemError if the target cannot say it."""
    try:
        written: Any = getattr(made, f"to_{target}")()
    except ValueError as error:
        raise ProblemError("choice", f"`{made.format}` has no constraint for {target}: {one_line(error)}") from None
    text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False, indent=2)
    return {"text": text, "notes": [visible(warning) for warning in made.warnings]}


def _rendered(given: Given, reply: Reply, to: str) -> dict[str, Any]:
    """The reply in a format, without what is truncated or invalid. Raises ProblemError if the format cannot say it."""
    to = (reply.format or "") if to == "auto" else to
    if not to:
        raise ProblemError("choice", "no format was detected; choose one to write the reply in")
    whole = [segment for segment in reply.segments if getattr(segment, "status", "ok") in ("ok", "repaired")]
    try:
        text = render(whole, format=to, **given.options())
    except RenderError as error:
        raise ProblemError("choice", f"`{to}` cannot say this: {one_line(error)}") from None
    left_out = [segment_title(segment) for segment in reply.segments if segment not in whole]
    return {"text": text, "notes": [f"left out, since it would look complete: {title}" for title in left_out]}


def _said(make: Callable[[str], dict[str, Any]], choice: str) -> dict[str, Any]:
    """An answer for a page that asks nobody: what is wrong, or left out, is said in it."""
    try:
        made = make(choice)
    except (ProblemError, OutspokenError, ValueError) as error:
        return {"text": "", "error": one_line(error)}
    text: str = made["text"]
    if len(text) <= _MOST_IN_FILE:
        return made
    note = f"this page has the first {_MOST_IN_FILE:,} of {len(text):,} characters"
    return {"text": text[:_MOST_IN_FILE], "notes": [note, *made["notes"]]}


def write(path: str | Path, first: Given | None, *, formats: list[str] | None = None) -> None:
    """Write one page of a response that works from a file: all that the playground shows of it.

    It holds the constraint for every target, and the reply as the format writes it and as each of `formats` does.
    Raises UsageError if the response cannot be read as asked for, or the page cannot be written.
    """
    write_file(path, file(Asked(given=first or Given(), formats=formats or []))["html"])
