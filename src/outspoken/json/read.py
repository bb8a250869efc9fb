"""Reading JSON that may be damaged, with a record of every repair: `read_json`."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict

from outspoken.results.construct import construct
from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.edits import LEVELS, NOTES, REPAIR_LIMITS, RepairedValue, RepairLimit, message_of, shown
from outspoken.results.errors import OutspokenError
from outspoken.results.pending_diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.settings import DEFAULT, Settings

from .documents import Document
from .scanner import repeated_keys
from .tokens import TORN

Span = tuple[int, int]

#: what may stand between values
_BETWEEN = " \t\r\n,"
#: of so many repairs of one value, there is a single diagnostic for each code
_MANY = 200


class JsonLimitError(OutspokenError, ValueError):
    """A text that is longer than `Settings.max_chars`."""

    def __init__(self, limit: int, length: int) -> None:
        self.limit, self.length = limit, length
        super().__init__(f"the text has {length:,} characters; `Settings.max_chars` allows {limit:,}")


class JsonReading(BaseModel):
    """What was read of a text that holds JSON.

    `status` is "ok" where the values stand in the text exactly so, "repaired" where repairs were needed, "truncated"
    where the text ends inside a value, and "invalid" where there is none. `spans` are where the values stand, `texts`
    their JSON: the text of the span with the repairs made. `rung` is the highest that was needed. What a repair
    changes is in `repairs`, what else there is to know in `diagnostics`; text around the values is noted there, and
    does not change the status. `ambiguous` says that a value could be read in another way that is as likely.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    raw: str
    values: tuple[Any, ...] = ()
    status: Literal["ok", "repaired", "truncated", "invalid"]
    rung: str | None = None
    repairs: tuple[Repair, ...] = ()
    spans: tuple[Span, ...] = ()
    texts: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    ambiguous: bool = False

    @property
    def value(self) -> Any:
        """The first value; None where there is none, which `status` tells from a `null`."""
        return self.values[0] if self.values else None


def read_json(
    text: str, schema: Any = None, repair: RepairLimit = "heuristic", *, settings: Settings | None = None
) -> JsonReading:
    """Read the JSON values of a text, in fences and prose, too, on the lowest rung of the ladder that reads them.

    `schema` is a JSON schema or a pydantic model class; the names in it help to tell where strings end. Nothing is
    filled in or converted by it. `repair` is the highest rung that may be taken. Never raises because of what the
    text says; one that is longer than `settings.max_chars` raises `JsonLimitError`.
    """
    settings = settings or DEFAULT
    if repair not in REPAIR_LIMITS:
        raise ValueError(f"`repair` is {repair!r}; expected one of {', '.join(map(repr, REPAIR_LIMITS))}")
    if len(text) > settings.max_chars:
        raise JsonLimitError(settings.max_chars, len(text))
    document = Document(text, repair, _schema(schema), settings)
    found = document.values()
    repairs = _repairs(text, found)
    around = _around(text, found)
    torn = _torn(text, found, around, document.broken or any(repaired.edits for repaired in found))
    notes = [*around, *_remarks(found, repairs), *([torn] if torn else [])]
    if not found:
        notes = [_failure(text, document, settings)]
    notes.sort(key=lambda note: note.span[0])
    return construct(
        JsonReading,
        {
            "raw": text,
            "values": tuple([repaired.value for repaired in found]),
            "status": _status(found),
            "rung": max((repaired.level for repaired in found), key=LEVELS.index, default=None),
            "repairs": tuple([made for some in repairs for made in some]),
            "spans": tuple([(repaired.start, repaired.end) for repaired in found]),
            "texts": tuple([repaired.text for repaired in found]),
            "diagnostics": tuple(place_diagnostics(notes, text)),
            "ambiguous": torn is not None or any(repaired.runner_up is not None for repaired in found),
        },
    )


def _schema(schema: Any) -> dict[str, Any] | None:
    """A schema as a dict. Raises TypeError for what is none."""
    if schema is None or isinstance(schema, dict):
        return cast("dict[str, Any] | None", schema)
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_json_schema()
    kind = cast("object", schema).__class__.__name__
    raise TypeError(f"`schema` is of type {kind}; expected a JSON schema as a dict or a pydantic model class")


def _status(found: list[RepairedValue]) -> str:
    if not found:
        return "invalid"
    if not all(repaired.complete for repaired in found):
        return "truncated"
    return "repaired" if any(repaired.edits for repaired in found) else "ok"


def _repairs(text: str, found: list[RepairedValue]) -> list[list[Repair]]:
    """The repairs of each value, with their lines and columns."""
    if not any(repaired.edits for repaired in found):
        return [[] for _ in found]
    breaks = [match.start() for match in re.finditer("\n", text)]
    repairs: list[list[Repair]] = []
    for repaired in found:
        some: list[Repair] = []
        for start, end, after, code, rung, path in repaired.edits:
            line = bisect_left(breaks, start)
            values: dict[str, Any] = {
                "code": code,
                "rung": rung,
                "span": (start, end),
                "path": path,
                "before": text[start:end],
                "after": after,
                "line": line + 1,
                "column": start - (breaks[line - 1] if line else -1),
            }
            some.append(construct(Repair, values))
        repairs.append(some)
    return repairs


def _remarks(found: list[RepairedValue], repairs: list[list[Repair]]) -> list[PendingDiagnostic]:
    """What is to be said of the values: one note for the repairs of a kind in one value, and what is odd besides."""
    notes: list[PendingDiagnostic] = []
    for repaired, some in zip(found, repairs, strict=True):
        groups: dict[tuple[Any, ...], list[Repair]] = {}
        for made in some:
            groups.setdefault((made.code, made.path if len(some) < _MANY else ()), []).append(made)
        for (code, _), group in groups.items():
            message = message_of(code, group[0].before, group[0].after)
            more = (f"{len(group) - 1} more of this kind in the same value",) if len(group) > 1 else ()
            notes.append(PendingDiagnostic(code, message, group[0].span, "warning", None, notes=more))
        span = repaired.start, repaired.end
        if repaired.runner_up is not None:
            also = (f"it may also mean {shown(repaired.runner_up)}",)
            notes.append(
                PendingDiagnostic("ambiguous-strings", NOTES["ambiguous-strings"], span, "warning", None, notes=also)
            )
        if not repaired.complete:
            notes.append(PendingDiagnostic("cut-json", NOTES["cut-json"], (repaired.end, repaired.end), "error", None))
        for key in repeated_keys(repaired.text) if repaired.text.count(":") > 1 else ():
            message = NOTES["repeated-key"].format(before=shown(key))
            notes.append(PendingDiagnostic("repeated-key", message, span, "warning", None))
    return notes


def _around(text: str, found: list[RepairedValue]) -> list[PendingDiagnostic]:
    """Text that belongs to no value."""
    notes: list[PendingDiagnostic] = []
    pos = 0
    for start, end in [*[(repaired.start, repaired.end) for repaired in found], (len(text), len(text))]:
        piece = text[pos:start]
        kept = piece.strip(_BETWEEN)
        if kept:
            begin = pos + piece.index(kept)
            notes.append(PendingDiagnostic("left-out", NOTES["left-out"], (begin, begin + len(kept)), "note", None))
        pos = end
    return notes


def _torn(
    text: str, found: list[RepairedValue], around: list[PendingDiagnostic], damaged: bool
) -> PendingDiagnostic | None:
    """What around the values looks as if it belonged to one of them, or to JSON that could not be read."""
    for note in around if found else ():
        start, end = note.span
        closes = any(text.count(pair[1], start, end) > text.count(pair[0], start, end) for pair in ("{}", "[]"))
        left = any(
            repaired.end <= start and repaired.edits[-1:] and repaired.edits[-1].code == "stray-quote"
            for repaired in found
        )
        torn = left or TORN.search(text, start, end) is not None
        if torn and (damaged or (closes and text[end - 1] in "}]")):
            return PendingDiagnostic("torn-json", NOTES["torn-json"], note.span, "warning", None)
    return None


def _failure(text: str, document: Document, settings: Settings) -> PendingDiagnostic:
    """Why there is no value."""
    if document.too_deep:
        place = document.failed[0] if document.failed else 0
        message = NOTES["too-deep"].format(limit=settings.max_depth)
        return PendingDiagnostic("too-deep", message, (place, place), "error", None)
    if document.failed is None:
        return PendingDiagnostic("no-json", NOTES["no-json"], (0, 0), "error", None)
    place, expected = document.failed
    if document.budget.steps <= 0 or not expected:
        return PendingDiagnostic("too-damaged", NOTES["too-damaged"], (place, place), "error", None)
    piece = re.compile(r"\s*(\w+|\S|\Z)").match(text, place)
    start, end = piece.span(1) if piece else (place, place)
    found = shown(text[start:end]) if start < end else "the end of the text"
    return PendingDiagnostic(
        "not-json", NOTES["not-json"].format(expected=expected, found=found), (start, end), "error", None
    )
