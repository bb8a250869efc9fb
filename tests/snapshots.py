"""The part of a reply that a snapshot shows, and replies that no snapshot may show."""

from typing import Any, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from outspoken import Reply
from outspoken.authoring.shared.checkout import Case
from outspoken.results.actions.base import BaseAction
from outspoken.results.geometry import Box


class Complete:
    """Shows a model with all of its fields, also those that its `repr` leaves out; of an action, those that are set."""

    def __init__(self, model: BaseModel) -> None:
        self._model = model

    def __repr__(self) -> str:
        return _complete(self._model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Complete) and self._model == other._model

    def __hash__(self) -> int:
        return hash(repr(self))


def _complete(value: Any) -> str:
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        found = {
            name: item for name, item in value if not isinstance(value, BaseAction) or item != _default(fields[name])
        }
        return f"{type(value).__name__}({', '.join([f'{name}={_complete(item)}' for name, item in found.items()])})"
    if isinstance(value, Box):
        return f"Box({', '.join([f'{name}={item!r}' for name, item in value._asdict().items()])})"
    if type(value) is tuple:
        items = [_complete(item) for item in cast("tuple[Any, ...]", value)]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if type(value) is list:
        return f"[{', '.join([_complete(item) for item in cast('list[Any]', value)])}]"
    return repr(value)


def _default(field: FieldInfo) -> Any:
    return field.get_default(call_default_factory=True)


def markup(reply: Reply) -> list[str]:
    """The pieces of the text that are part of no segment."""
    edges = [0, *[edge for segment in reply.segments for edge in segment.span], len(reply.raw)]
    return [reply.raw[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]


def readable(case: Case, reply: Reply) -> dict[str, Any]:
    """What a person compares: the text, and everything that was read in it."""
    value: dict[str, Any] = {
        "input": case.text,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "segments": [Complete(segment) for segment in reply.segments],
        "markup": markup(reply),
        "status": reply.status,
        "diagnostics": [diagnostic.frame() for diagnostic in reply.diagnostics],
    }
    if reply.envelope:
        value["needs_more_work"] = reply.needs_more_work
    if reply.final_answer_streamed:
        value["final_answer_streamed"] = True
    if "prefix" in case.options:
        value["prefix"] = case.options["prefix"]
    return value


def refusal(case: Case, reply: Reply) -> str:
    """Why a reply must not be accepted as what a case is read as; "" where it may be.

    A sound response has no diagnostic but notes, and the status "ok"; of a damaged one, something is said.
    """
    said = [str(diagnostic) for diagnostic in reply.diagnostics]
    problems = [str(diagnostic) for diagnostic in reply.diagnostics if diagnostic.severity != "note"]
    if case.kind == "ok" and problems:
        return "a case in `ok/` has a diagnostic: " + "; ".join(problems)
    if case.kind == "ok" and reply.status != "ok":
        return f"a case in `ok/` is {reply.status}"
    if case.kind == "err" and not said:
        return "a case in `err/` has no diagnostic"
    return ""
