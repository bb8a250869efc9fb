"""JSON as values of the user's own types: of the values of a text, the one that fits (`schemas.fitting`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, cast

from pydantic import Field

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.sentences import end_of_next_word, is_in_sentence
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Diagnostic, PendingDiagnostic, Repair, place_diagnostics
from outspoken.results.edits import shown
from outspoken.results.schemas.convert import Conversion, Path, merged
from outspoken.results.schemas.fitting import ConvertMode, Fit, Target, fit_to
from outspoken.results.schemas.schema import dotted
from outspoken.results.schemas.words import is_alike

from .document import REASONING_END, JsonReading, note_of
from .parts import span_at

T = TypeVar("T")

#: Repairs at the end of a text that cut a value short, or leave an entry out.
_CUT = frozenset({"cut-string", "cut-text"})
#: A word or number as the whole answer, with what may stand around it.
_WORD = lazy_pattern(
    r"\s*(?:(?:`{3,}|~{3,})\w*\n)?\s*(?:[\"'*_]*(?:(?:the|my|final) ){0,2}[^\W\d]\w{0,40}[\"'*_]*[:=]"
    r"|(?:the )?(?:final )?(?P<name>[a-z]+)(?: is)?(?= ))?[\s\"'“‘*_`]*"
    r"(?P<word>[^\n\"“”]{1,200}?)[\"'”’*_`]*[.!]?[\"'”’*_`]*\s*(?:`{3,}|~{3,})?\s*",
    re.IGNORECASE,
)
#: A word or number as the last line of other text, or as what a sentence says of something. The text may deny it.
_SAID = lazy_pattern(
    r"(?s:(?:.*\n)?)[ \t]*(?:(?<=\n)(?:[-*+•][ \t]+)?|(?:[^\W\d_][\w'’-]*,? ){1,12}(?:is|are|was|costs?|has):? )"
    r"[\"'“‘*_`]*(?P<word>[^\n\"“”]{1,80}?)[\"'”’*_`]*[.!]?[\"'”’*_`]*\s*",
)
#: How the answer is called in a sentence that gives it, besides the name of its type.
_ANSWER = ("answer", "result", "value")
#: What a type takes that takes any text.
_ANY_TEXT = "(any text)"
_FINAL = lazy_pattern(r"\bfinal\b[^\n.!?]{0,40}\Z", re.IGNORECASE)
_QUOTES = "\"'“”‘’*`"
#: So much of the text before and behind a value tells whether it stands in a sentence.
_REST = 300
#: So many errors are reported.
_MOST = 20


class Reading(JsonReading, Generic[T]):
    """The value of a type in a text, and all that a `JsonReading` holds of the JSON there.

    `value` is the validated value; None unless there is one (`is_valid` tells that from a `null`). `data` is the JSON
    that it was made of, after conversions, or what comes nearest to the type. `conversions` are the conversions, each
    of which is in `repairs`, too, with the level "schema". `retry` is the message for the model if there is no value.
    """

    data: Any = None
    typed: Any = Field(default=None, repr=False)
    is_valid: bool = False
    conversions: tuple[Conversion, ...] = ()
    retry: str = ""

    @property
    def value(self) -> T | None:
        """The validated value, or None."""
        return cast("T | None", self.typed)


def typed_reading(reading: JsonReading, target: Target, mode: ConvertMode) -> Reading[Any]:
    """The value of a text that fits a type best: the first that needs least."""
    as_read = reading
    if mode == "on" and _is_word(target) and not any(isinstance(value, (dict, list)) for value in reading.values):
        reading = _whole_answer(reading, target)
    places, fits = _fits(reading, target, mode)
    fields: dict[str, Any] = {**_EMPTY, **reading.__dict__}
    if not fits:
        fields["retry"] = _retry("there is no JSON in the answer", target)
        return _reading(fields)
    best = min(range(len(fits)), key=lambda at: (fits[at].rank, not _is_final(reading, places[at])))
    fit, place = fits[best], places[best]
    if reading is not as_read:
        bare = Conversion("bare-text", (), reading.values[0], reading.texts[0])
        fit = fit._replace(conversions=(bare, *fit.conversions))
    if fit.error is None and (unsure := _unsure(reading, place)):
        fit = fit._replace(typed=None, error=[unsure])
    fields |= {"data": fit.data, "typed": fit.typed, "is_valid": fit.error is None, "conversions": fit.conversions}
    notes = list(_notes_of_value(reading, place, fit))
    if len(reading.values) > len(place):
        is_sure = not any(other.error is None and other.rank == fit.rank and other.data != fit.data for other in fits)
        notes.append(_note_of_choice(reading, place, is_sure=is_sure))
        fields["ambiguous"] = reading.ambiguous or not is_sure
    if fit.error is None and _is_said(reading.raw, reading.spans[place[0]][0], reading.spans[place[-1]][1]):
        notes.append(note_of("in-sentence", _span(reading, place, ())))
        fields["ambiguous"] = True
    absent = [key for key in target.view.properties if fit.ignored and key not in fit.data]
    if fit.error is None and any(is_alike(key, name) for key in fit.ignored for name in absent):
        fields["ambiguous"] = True
    if not notes:
        return _reading(fields)
    placed = place_diagnostics(notes, reading.raw)
    spans = [_span(reading, place, other.path) for other in fit.conversions]
    fields["repairs"] = (*reading.repairs, *_repairs(reading.raw, fit.conversions, spans))
    fields["diagnostics"] = tuple(sorted([*reading.diagnostics, *placed], key=lambda other: other.span[0]))
    if fit.error is not None:
        fields["status"] = "invalid" if reading.status != "truncated" else "truncated"
        fields["retry"] = _retry("; ".join(_told(placed)), target)
    elif fit.conversions and reading.status == "ok":
        fields["status"] = "repaired"
    return _reading(fields)


def _unsure(reading: JsonReading, place: tuple[int, ...]) -> tuple[Path, str] | None:
    """Why a value that fits may not be what the text says, and where: it is cut, or the answer is another one."""
    start = reading.spans[place[-1]][0]
    cut = [remark.path for remark in reading.repairs if remark.code in _CUT and remark.span[0] >= start]
    if not cut and reading.status == "truncated" and place[-1] == len(reading.values) - 1:
        cut = [()] if reading.raw.rstrip().endswith(("{", "[", ",", ":")) else []
    if cut:
        return cut[0], "the text ends here, so it is not certain what this says"
    if any(remark.code == "in-reasoning" for remark in reading.diagnostics):
        end = REASONING_END.search(reading.raw, reading.spans[place[-1]][1])
        if end and reading.raw[end.end() :].strip():
            return (), "this stands in the reasoning, and the answer behind it has no value"
    return None


def _is_said(raw: str, start: int, end: int) -> bool:
    """Does what stands between two offsets, or in quotes there, belong to a sentence that goes on behind it?"""
    before, behind = raw[max(start - _REST, 0) : start].rstrip(_QUOTES), raw[end : end + _REST].lstrip(_QUOTES)
    return is_in_sentence(before) and end_of_next_word(behind) > 0


def _is_final(reading: JsonReading, place: tuple[int, ...]) -> bool:
    """Do the words before a value call it the final one?"""
    start = reading.spans[place[0]][0]
    return _FINAL.search(reading.raw, max(start - _REST, 0), start) is not None


def _is_word(target: Target) -> bool:
    """Is a word or a number due, and no text that may be any?"""
    schema = target.view
    types = schema.types or frozenset({"object"})
    is_free = "string" in types and schema.values is None and not schema.formats
    return types.isdisjoint(("object", "array")) and not (is_free and fit_to(target, _ANY_TEXT).error is None)


def _whole_answer(reading: JsonReading, target: Target) -> JsonReading:
    """The answer behind reasoning as one word or number, without a fence, a label, quotes and the like around it.

    If that does not fit, there is no value: other words stand beside what was read.
    """
    raw = reading.raw
    ends = [match.end() for match in REASONING_END.finditer(raw)]
    answer = _WORD.fullmatch(raw, ends[-1] if ends else 0)
    if answer and (name := answer["name"]):
        labels = (*_ANSWER, *target.view.formats, str(target.schema.get("title")).casefold())
        at = answer.start("word") if name.casefold() in labels else answer.start("name")
        span = (at, answer.end("word"))
    else:
        span = answer.span("word") if answer else (0, 0)
    if reading.spans == (span,) or (len(reading.spans) == 1 and raw.strip() == reading.texts[0]):
        return reading
    said = _SAID.fullmatch(raw, ends[-1] if ends else 0)
    spans = [span, said.span("word")] if said else [span]
    span = next(
        (place for place in spans if place[0] < place[1] and fit_to(target, raw[slice(*place)]).error is None), None
    )
    fields = {**reading.__dict__, "values": (), "spans": (), "texts": (), "ambiguous": False}
    if span is not None:
        word, is_said = raw[slice(*span)], span != spans[0]
        notes = place_diagnostics([note_of("in-sentence", span)] if is_said else [], raw)
        fields |= {"values": (word,), "spans": (span,), "texts": (json.dumps(word),), "ambiguous": is_said}
        fields |= {"status": "ok", "level": "exact", "repairs": (), "diagnostics": tuple(notes)}
    elif reading.values:
        missing = place_diagnostics([note_of("no-json", (0, 0), "error")], raw)
        fields |= {"status": "invalid", "level": None, "repairs": (), "diagnostics": tuple(missing)}
    return construct(JsonReading, fields)


def _reading(fields: dict[str, Any]) -> Reading[Any]:
    return cast("Reading[Any]", construct(Reading, fields))


def _fits(reading: JsonReading, target: Target, mode: ConvertMode) -> tuple[list[tuple[int, ...]], list[Fit]]:
    """What becomes of each value of a text, and of all together where a list is due; and the indices of each."""
    places: list[tuple[int, ...]] = [(at,) for at in range(len(reading.values))]
    values: list[Any] = [*reading.values]
    texts = [*reading.texts]
    is_list = "array" in (target.view.types or ())
    has_rows = "array" in (target.view.item.types or ())
    if is_list and len(values) > 1 and all(isinstance(value, list) == has_rows for value in values):
        places.insert(0, tuple(range(len(values))))
        values.insert(0, [*reading.values])
        texts.insert(0, f"[{','.join(texts)}]")
    elif mode == "on" and target.view.properties and len(values) > 1 and (whole := merged(values)):
        places.append(tuple(range(len(values))))
        values.append(whole)
        texts.append(json.dumps(whole))
    fits = [fit_to(target, value, mode, text) for text, value in zip(texts, values, strict=True)]
    if not is_list and len(places) > len(reading.values):
        fits[-1] = fits[-1]._replace(conversions=(Conversion("merged-items", (), "", ""), *fits[-1].conversions))
    return places, fits


def _note_of_choice(reading: JsonReading, place: tuple[int, ...], *, is_sure: bool) -> PendingDiagnostic:
    """Which of several values counts."""
    what = "fits the type best and is the one that counts" if is_sure else "is one of several that fit the type"
    told = f"this one of {len(reading.values)} values {what}"
    return PendingDiagnostic("chosen-value", told, reading.spans[place[0]], "note" if is_sure else "warning", None)


def _notes_of_value(reading: JsonReading, place: tuple[int, ...], fit: Fit) -> Iterator[PendingDiagnostic]:
    """What was converted, what does not fit, and what a value leaves out."""
    if fit.error is None and fit.ignored:
        told = f"the type has no {', '.join(map(shown, fit.ignored[:_MOST]))}, which the value leaves out"
        severity = "note" if len(fit.ignored) < len(fit.data) else "warning"
        yield PendingDiagnostic("ignored-key", told, _span(reading, place, ()), severity, None)
    for one in fit.conversions:
        yield PendingDiagnostic("converted", one.message, _span(reading, place, one.path), "note", None)
    for path, message in (fit.error or [])[:_MOST]:
        told = f"{shown(dotted(path))}: {message}" if path else message
        yield PendingDiagnostic("type-mismatch", told, _span(reading, place, path), "error", None)


_EMPTY = {name: field.get_default() for name, field in Reading.model_fields.items() if not field.is_required()}


def _told(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    for one in diagnostics:
        if one.code == "type-mismatch":
            yield f"{one.message} (line {one.line}, column {one.column})"


def _retry(why: str, target: Target) -> str:
    title = target.schema.get("title") or "the schema"
    return f"Your answer does not fit {title}: {why}. Answer again with nothing but JSON that fits."


def _repairs(raw: str, conversions: Sequence[Conversion], spans: Sequence[tuple[int, int]]) -> Iterator[Repair]:
    for one, (start, end) in zip(conversions, spans, strict=True):
        line, column = raw.count("\n", 0, start) + 1, start - raw.rfind("\n", 0, start)
        fields = {"code": one.code, "level": "schema", "span": (start, end), "path": one.path, "line": line}
        yield construct(Repair, {**fields, "column": column, "before": raw[start:end], "after": one.after})


def _span(reading: JsonReading, place: tuple[int, ...], path: Path) -> tuple[int, int]:
    """Where the part at a path stands in the response; the whole value if that cannot be told."""
    at = place[0]
    if len(place) > 1 and path and isinstance(path[0], int) and path[0] < len(place):
        at, path = place[path[0]], path[1:]
    elif len(place) > 1 and path:
        at = next((at for at in place if isinstance(reading.values[at], dict) and path[0] in reading.values[at]), at)
    start, end = reading.spans[at]
    found = span_at(reading.raw[start:end], path)
    return (start, end) if found is None else (start + found[0], start + found[1])
