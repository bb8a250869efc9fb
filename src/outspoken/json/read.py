"""`read_json`: reads JSON that may be damaged or surrounded by text, and reports every repair."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pydantic_core import from_json, to_json

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.arguments import check_choice, check_optional, check_repair_limit, text_of
from outspoken.results.codes import describe_repair
from outspoken.results.construct import construct
from outspoken.results.diagnostics import PendingDiagnostic, Repair, place_diagnostics
from outspoken.results.edits import LEVELS, Edit, RepairedValue, RepairLimit, shown
from outspoken.results.errors import OutspokenError
from outspoken.results.old_names import by_keyword
from outspoken.results.replies import Status
from outspoken.results.settings import DEFAULT, Settings

from .decoder import first_bracket, may_repeat_keys, read_strictly, repeated_keys, too_deep
from .document import Document, JsonReading, note_of
from .repair import repair_region
from .tokens import TORN

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from outspoken.results.schemas.fitting import ConvertMode
    from outspoken.results.schemas.schema import Schema

    from .typed import Reading

T = TypeVar("T")

#: a number or a `\u` escape that the text ends in
_OPEN_END = lazy_pattern(r"(?:[\[,:]\s*-?[0-9][0-9.eE+\-]*|\\u.{0,3})\Z", re.DOTALL)
#: what a number holds that is too large for a float or longer than `_MAX_NUMBER`
_HUGE_NUMBER = lazy_pattern(r"[eE]\+?[0-9]{3}|[0-9]{100}")
_MAX_NUMBER = 320

#: a text that is a fence
_FENCE = lazy_pattern(r"```(?:json|JSON)?[ \t]*\n(.*)\n```\s*\Z", re.DOTALL)
#: the fields of a reading of sound JSON
_SOUND: dict[str, Any] = {
    "raw": "", "values": (), "status": "ok", "level": "exact", "repairs": (), "spans": (), "texts": (),
    "diagnostics": (), "ambiguous": False,
}  # fmt: skip

#: what may stand between values
_BETWEEN = " \t\r\n,"
#: the marks of a fence, which are no text
_MARKS = lazy_pattern(r"(?:(?:`{3,}|~{3,})[\w+\-]*\s*)+")
#: a value with so many repairs gets one diagnostic for each code
_MANY = 200


class JsonLimitError(OutspokenError, ValueError):
    """The text is longer than `Settings.max_chars`."""

    def __init__(self, limit: int, length: int) -> None:
        self.limit, self.length = limit, length
        super().__init__(f"the text has {length:,} characters; `Settings.max_chars` allows {limit:,}")


@overload
def read_json(
    text: str | bytes | None,
    schema: type[T] | TypeAdapter[T],
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> Reading[T]: ...
@overload
def read_json(
    text: str | bytes | None,
    schema: Any,
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> Reading[Any]: ...
@overload
def read_json(
    text: str | bytes | None,
    schema: None = None,
    *,
    repair: RepairLimit = "heuristic",
    settings: Settings | None = None,
) -> JsonReading: ...
@by_keyword
def read_json(
    text: str | bytes | None,
    schema: Any = None,
    *,
    repair: RepairLimit = "heuristic",
    convert: ConvertMode = "on",
    settings: Settings | None = None,
) -> JsonReading:
    """Read the JSON values of a text, also in fences and prose, with the lowest level of repair that reads them.

    Bytes are read as UTF-8, and None as an empty text. `repair` is the highest level of repair allowed; "none" allows
    no repairs.

    `schema` is what `pydantic.TypeAdapter` takes (a model, a dataclass, a TypedDict, an enumeration, a union, a list of
    these), an adapter, or a JSON schema. Its names and types help to find where strings end, and the result is a
    `Reading` of that type: of several values it has the one that fits, and parts of a wrong type or spelling are
    converted where there is one way to do so ("schema-aligned"); `convert="off"` converts nothing. A JSON schema gives
    plain values, of which types, required members and listed values are checked.

    Raises `JsonLimitError` if the text is longer than `settings.max_chars`, ValueError for an unknown `repair` or
    `convert`, and TypeError for an argument of a wrong type, or a type that pydantic cannot read; never because of what
    the text says.
    """
    text = text_of(text, "text")
    settings = check_optional(settings, Settings, "settings") or DEFAULT
    if repair != "heuristic":
        check_repair_limit(repair)
    if convert != "on":
        check_choice(convert, ("on", "off"), "convert")
    if len(text) > settings.max_chars:
        raise JsonLimitError(settings.max_chars, len(text))
    if schema is None:
        return _read(text, None, repair, settings)
    from outspoken.results.schemas.fitting import target_of

    from .typed import typed_reading

    target = target_of(schema)
    return typed_reading(_read(text, target.view if target.schema else None, repair, settings), target, convert)


def _read(text: str, schema: Schema | None, repair: RepairLimit, settings: Settings) -> JsonReading:
    """The values of a text. The schema helps to find where strings end."""
    sound = read_sound(text, settings.max_depth)
    if sound is not None:
        return sound
    document = Document(text, repair, schema, settings)
    values = document.said_values()
    repairs = _repairs(text, values)
    around = _around(text, values)
    torn = _torn(text, values, around, document.broken or any(repaired.edits for repaired in values))
    notes = [*around, *_findings(values, repairs), *([torn] if torn else []), *document.notes]
    if not values:
        notes = [_failure(text, document, settings)]
    notes.sort(key=lambda note: note.span[0])
    return construct(
        JsonReading,
        {
            "raw": text,
            "values": tuple([repaired.value for repaired in values]),
            "status": _status(values),
            "level": max((repaired.level for repaired in values), key=LEVELS.index, default=None),
            "repairs": tuple([repair_made for some in repairs for repair_made in some]),
            "spans": tuple([(repaired.start, repaired.end) for repaired in values]),
            "texts": tuple([repaired.text for repaired in values]),
            "diagnostics": tuple(place_diagnostics(notes, text)),
            "ambiguous": torn is not None or any(repaired.runner_up is not None for repaired in values),
        },
    )


def read_sound(text: str, max_depth: int) -> JsonReading | None:
    """The same for a text that is one sound object or list, alone or in a fence; None for any other.

    All of it is done by the parser and the serializer of pydantic, at the speed of `json.loads`. What was read is
    written again: if a key was repeated, there are fewer colons.
    """
    fence = _FENCE.match(text) if text.startswith("```") else None
    inner = fence[1] if fence else text
    body = inner.strip(" \t\r\n")
    if not body.startswith(("{", "[")):
        return None
    try:
        value = read_strictly(body, max_depth)
        written = to_json(value)
    except (ValueError, TypeError, RecursionError):  # a TypeError for a lone surrogate
        return None
    if written.count(b":") != body.count(":") or b"Infinity" in written:
        return None
    start = (fence.start(1) if fence else 0) + len(inner) - len(inner.lstrip(" \t\r\n"))
    fields = {"values": (value,), "spans": ((start, start + len(body)),), "texts": (body,)}
    return construct(JsonReading, {**_SOUND, "raw": text, **fields})


def read_partial(text: str, settings: Settings = DEFAULT) -> Any:
    """The value of the JSON that a text breaks off in, from its first bracket on; None if there is none.

    A number at the end is left out, as more digits may follow; a string at the end is kept as far as it goes. Repairs
    of the level "notation" are allowed.
    """
    text = text[first_bracket(text) :]
    prefix_value = _read_sound_prefix(text, settings.max_depth)
    if prefix_value is None:
        values = repair_region(text, 0, len(text), closed=False, repair_limit="notation", settings=settings)
        prefix_value = values[0].value if values else None
    return prefix_value


def _read_sound_prefix(text: str, max_depth: int) -> Any:
    """The same by the decoder of pydantic, which is some 50 times as fast; None if that may give something else.

    With `allow_partial`, it ignores damage and all that follows, keeps a number at the end, drops a wrong `\\u` escape
    at the end, and reads huge numbers as infinity. Its error without `allow_partial` tells truncation from damage.
    """
    may_differ = _OPEN_END.search(text, max(len(text) - _MAX_NUMBER, 0)) or _HUGE_NUMBER.search(text)
    if may_differ or not text.startswith(("{", "[")):
        return None
    try:
        from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # a TypeError for a lone surrogate
        if str(error).startswith("EOF while parsing"):
            value = from_json(text, allow_inf_nan=False, allow_partial="trailing-strings")
            return None if too_deep(value, text, max_depth) else value
    return None


def _status(found: list[RepairedValue]) -> Status:
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

    def placed(edit: Edit) -> Repair:
        line = bisect_left(breaks, edit.start)
        column = edit.start - (breaks[line - 1] if line else -1)
        return edit.as_repair((edit.start, edit.end), text[edit.start : edit.end], line + 1, column)

    return [[placed(edit) for edit in repaired.edits] for repaired in found]


def _findings(found: list[RepairedValue], repairs: list[list[Repair]]) -> list[PendingDiagnostic]:
    """The diagnostics of the values: one for all repairs of a kind at one path, and those of other findings."""
    notes: list[PendingDiagnostic] = []
    for repaired, some in zip(found, repairs, strict=True):
        groups: dict[tuple[Any, ...], list[Repair]] = {}
        for repair in some:
            groups.setdefault((repair.code, repair.path if len(some) < _MANY else ()), []).append(repair)
        for (code, _), group in groups.items():
            message = describe_repair(group[0])
            more = (f"{len(group) - 1} more of this kind in the same value",) if len(group) > 1 else ()
            notes.append(PendingDiagnostic(code, message, group[0].span, "warning", None, notes=more))
        span = repaired.start, repaired.end
        if repaired.runner_up is not None:
            also = (f"it may also mean {shown(repaired.runner_up)}",)
            notes.append(note_of("ambiguous-strings", span, notes=also))
        if not repaired.complete:
            notes.append(note_of("cut-json", (repaired.end, repaired.end), "error"))
        keys = repeated_keys(repaired.text) if may_repeat_keys(repaired.text, repaired.value) else ()
        notes += [note_of("repeated-key", span, before=shown(key)) for key in keys]
    return notes


def _around(text: str, found: list[RepairedValue]) -> list[PendingDiagnostic]:
    """Diagnostics of text that belongs to no value."""
    notes: list[PendingDiagnostic] = []
    pos = 0
    for start, end in [*[(repaired.start, repaired.end) for repaired in found], (len(text), len(text))]:
        piece = text[pos:start]
        kept = piece.strip(_BETWEEN)
        if kept and not _MARKS.fullmatch(kept):
            begin = pos + piece.index(kept)
            notes.append(note_of("left-out", (begin, begin + len(kept)), "note"))
        pos = end
    return notes


def _torn(
    text: str, found: list[RepairedValue], around: list[PendingDiagnostic], damaged: bool
) -> PendingDiagnostic | None:
    """The diagnostic of text around the values that looks like a part of them, or of JSON that could not be read."""
    stray = [value.end for value in found if value.edits[-1:] and value.edits[-1].code == "stray-quote"]
    for note in around if found else ():
        start, end = note.span
        closes = any(text.count(pair[1], start, end) > text.count(pair[0], start, end) for pair in ("{}", "[]"))
        left = bool(stray) and stray[0] <= start
        torn = left or TORN.search(text, start, end) is not None
        if torn and (damaged or (closes and text[end - 1] in "}]")):
            return note_of("torn-json", note.span)
    return None


def _failure(text: str, document: Document, settings: Settings) -> PendingDiagnostic:
    """The diagnostic that says why there is no value."""
    if document.too_deep:
        place = document.failed[0] if document.failed else 0
        return note_of("too-deep", (place, place), "error", limit=settings.max_depth)
    if document.failed is None:
        return note_of("no-json", (0, 0), "error")
    place, expected = document.failed
    if document.budget.steps <= 0 or not expected:
        return note_of("too-damaged", (place, place), "error")
    piece = re.compile(r"\s*(\w+|\S|\Z)").match(text, place)
    start, end = piece.span(1) if piece else (place, place)
    shown_text = shown(text[start:end]) if start < end else "the end of the text"
    return note_of("not-json", (start, end), "error", expected=expected, found=shown_text)
