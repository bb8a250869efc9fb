"""What a page asks of a worker, and the answers as JSON can hold them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from outspoken import OutspokenError, RenderError, Reply, UnknownFormatError, detect, parse, render
from outspoken.authoring.show.model import ResponseView, show
from outspoken.authoring.show.page import page, view_data
from outspoken.constraints import Constraint, ConstraintError, constraint
from outspoken.grammar import registry
from outspoken.results.snippet import visible
from outspoken.terminal.explain import segment_title

from .given import Given, ProblemError, given_of
from .grammars import use_format

#: What a constraint can be written as: the names of `Constraint.to_…`.
TARGETS = ("llguidance", "xgrammar", "ebnf", "gbnf", "vllm", "sglang", "llama_cpp")
#: Detection reads a text in every format, so it is asked of the beginning only.
_DETECTED = 6_000
_MOST_CANDIDATES = 8
#: Answers in a page of a file are cut here; a regular expression may have millions of characters.
_MOST_IN_FILE = 150_000


def read(asked: dict[str, Any]) -> Any:
    """Read a response: what the view of a page draws."""
    return view_data(_view(given_of(asked["given"])))


def candidates(asked: dict[str, Any]) -> Any:
    """The formats that the beginning of a text may be in, the best first, and how many characters that is."""
    given = given_of(asked["given"])
    found = detect(given.text[:_DETECTED], tools=given.read_tools())[:_MOST_CANDIDATES]
    rows = [{"format": c.format, "status": c.status, "covered": c.covered, "calls": list(c.calls)} for c in found]
    return {"candidates": rows, "read": min(len(given.text), _DETECTED)}


def grammar(asked: dict[str, Any]) -> Any:
    """The grammar of a format, as it is without edits."""
    name = registry.resolve(given_of(asked["given"]).format)
    return {"format": name, "grammar": registry.grammar_text(name)[0]}


def constrained(asked: dict[str, Any]) -> Any:
    """The constraint of a format and the tools, for a target."""
    given, target = given_of(asked["given"]), asked.get("choice")
    if target not in TARGETS:
        raise ProblemError("choice", f"there is no target `{target}`; choose one of {', '.join(TARGETS)}", status=400)
    return _written(_constraint(given, use_format(given)), str(target))


def rendered(asked: dict[str, Any]) -> Any:
    """The reply, as a model of a format would write it."""
    given = given_of(asked["given"])
    return _rendered(given, _reply(given), str(asked.get("choice") or given.format))


def file(asked: dict[str, Any]) -> Any:
    """A page of one response that works from a file, as HTML; `formats` are those in which the reply is rendered."""
    given = given_of(asked["given"])
    view = _view(given)
    name, reply = use_format(given), view.reply
    shown = reply.format if name == "auto" else name
    formats = cast("list[str]", asked.get("formats") or [])
    more = {
        "given": given.model_dump(),
        "constraint": _all_targets(given, shown) if shown else {},
        "rendered": {
            to: _said(_rendered, given, reply, to) for to in dict.fromkeys([*([shown] if shown else []), *formats])
        },
    }
    return {"html": page(view, **more)}


#: What can be asked, by name.
ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "read": read,
    "candidates": candidates,
    "grammar": grammar,
    "constraint": constrained,
    "rendered": rendered,
    "file": file,
}


def answer(asked: dict[str, Any]) -> tuple[int, bytes]:
    """The HTTP status and the JSON of the answer to a request. Whatever is wrong with it is said in a sentence."""
    try:
        return 200, _json(ANSWERS[asked["do"]](asked))
    except ProblemError as problem:
        return problem.status, _json(problem.body)
    except UnknownFormatError as error:
        return 422, _json(ProblemError("format", _sentence(error)).body)
    except (OutspokenError, ValueError, TypeError) as error:
        return 422, _json(ProblemError("", _sentence(error)).body)
    except MemoryError:
        return 422, _json(ProblemError("", "this needs more memory than the playground may use; shorten it").body)
    except Exception as error:
        words = f"this could not be shown ({type(error).__name__}: {error}); please report it with the response"
        return 500, _json(ProblemError("", _sentence(words)).body)


def _json(found: Any) -> bytes:
    return json.dumps(found, separators=(",", ":")).encode()


def _sentence(error: object) -> str:
    return visible(" ".join(str(error).split()))


def _view(given: Given) -> ResponseView:
    given.check_length()
    return show(
        given.text,
        given.name,
        use_format(given),
        tools=given.read_tools(),
        prefix=given.read_prefix(),
        size=given.size,
        screen=given.read_screen(),
        finish_reason=given.finish_reason or None,
    )


def _reply(given: Given) -> Reply:
    given.check_length()
    return parse(
        given.text,
        use_format(given),
        tools=given.read_tools(),
        prefix=given.read_prefix(),
        screen=given.read_screen(),
        finish_reason=given.finish_reason or None,
    )


def _constraint(given: Given, name: str) -> Constraint:
    """The constraint of a format. Raises ProblemError if the format has none."""
    if name == "auto":
        name = _reply(given).format or ""
    if not name:
        raise ProblemError("choice", "no format was detected, so there is no constraint; choose a format")
    prefix = given.read_prefix() or None
    try:
        return constraint(name, tools=given.read_tools(), screen=given.read_screen(), prefix=prefix)
    except ConstraintError as error:
        raise ProblemError("choice", f"`{name}` has no such constraint: {'; '.join(error.problems)}") from None


def _written(made: Constraint, target: str) -> dict[str, Any]:
    """A constraint for a target, and what it does not enforce. Raises ProblemError if the target cannot say it."""
    try:
        written: Any = getattr(made, f"to_{target}")()
    except ValueError as error:
        raise ProblemError("choice", f"`{made.format}` has no constraint for {target}: {_sentence(error)}") from None
    text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False, indent=2)
    return {"text": text, "notes": [visible(warning) for warning in made.warnings]}


def _all_targets(given: Given, name: str) -> dict[str, Any]:
    """The constraint of a format for every target; what is wrong is said in it."""
    try:
        made = _constraint(given, name)
    except (ProblemError, OutspokenError, ValueError) as error:
        return {target: {"text": "", "error": _sentence(error)} for target in TARGETS}
    return {target: _said(_written, made, target) for target in TARGETS}


def _rendered(given: Given, reply: Reply, to: str) -> dict[str, Any]:
    """The reply in a format, without what is truncated or invalid. Raises ProblemError if the format cannot say it."""
    if to == "auto":
        to = reply.format or ""
    if not to:
        raise ProblemError("choice", "no format was detected; choose one to write the reply in")
    whole = [segment for segment in reply.segments if getattr(segment, "status", "ok") in ("ok", "repaired")]
    try:
        text = render(whole, to, tools=given.read_tools(), screen=given.read_screen())
    except RenderError as error:
        raise ProblemError("choice", f"`{to}` cannot say this: {_sentence(error)}") from None
    left_out = [segment_title(segment) for segment in reply.segments if segment not in whole]
    return {"text": text, "notes": [f"left out, since it would look complete: {title}" for title in left_out]}


def _said(make: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """An answer for a page that asks nobody: what is wrong, or left out, is said in it."""
    try:
        made = make(*arguments)
    except (ProblemError, OutspokenError, ValueError) as error:
        return {"text": "", "error": _sentence(error)}
    text: str = made["text"]
    if len(text) <= _MOST_IN_FILE:
        return made
    note = f"this page has the first {_MOST_IN_FILE:,} of {len(text):,} characters"
    return {"text": text[:_MOST_IN_FILE], "notes": [note, *made["notes"]]}
