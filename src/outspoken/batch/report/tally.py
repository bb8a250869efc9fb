"""`Tally`: the counts of all rows, and a few examples of each kind. It grows with the kinds, and not with the rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from outspoken.batch.arrow import RecordBatch, compute
from outspoken.notations.tools import Tools, may_have
from outspoken.results.diagnostics import Diagnostic
from outspoken.results.schemas.schema import fits

from .buckets import Buckets, Counts, Key, short_names
from .examples import Best, Edit, Example, cut, look_of, make_edit, make_example, rank_of, tie
from .source import Chunk

#: The diagnostics that tell of calls with invalid arguments.
CODES = {
    "unknown-tool": "unknown tool",
    "missing-argument": "missing",
    "mistyped-argument": "wrong type",
    "repeated-argument": "given twice",
}
_NAMED = re.compile(r"the argument `(.+?)` ")
_SHOULD = re.compile(r" should be ([a-z ]+)")
#: So many arguments are kept with what is known of them.
_MOST = 10_000


class Problem(NamedTuple):
    """What is wrong with an argument of a call; the argument is empty where the tool is unknown."""

    argument: str
    kind: str
    detail: str = ""


class CallChecker:
    """Compares the arguments of calls with the schemas of their tools. Without tools, it finds nothing."""

    def __init__(self, tools: Tools | None) -> None:
        self._tools = tools
        self._required: dict[str, list[str]] = {}
        self._known: dict[tuple[str, str], tuple[bool, frozenset[str] | None, list[Any] | None]] = {}

    def problems(self, name: str, arguments_text: str) -> list[Problem]:
        """What is wrong with a complete call."""
        tools = self._tools
        if tools is None:
            return []
        if name not in tools:
            return [Problem("", CODES["unknown-tool"])]
        try:
            arguments = json.loads(arguments_text)
        except (ValueError, RecursionError):
            return []
        if not isinstance(arguments, dict):
            return []
        required = self._required.get(name)
        if required is None:
            required = self._required[name] = list(tools.arguments(name).required)
        found = [Problem(key, CODES["missing-argument"]) for key in required if key not in arguments]
        for key, value in arguments.items():  # pyright: ignore[reportUnknownVariableType]
            found += self._value_problems(tools, name, str(key), value)  # pyright: ignore[reportUnknownArgumentType]
        return found

    def _value_problems(self, tools: Tools, name: str, key: str, value: Any) -> list[Problem]:
        known = self._known.get((name, key))
        if known is None:
            known = may_have(tools, name, key), tools.types(name, key), tools.arguments(name).member(key).values
            if len(self._known) < _MOST:
                self._known[name, key] = known
        is_known, types, values = known
        if not is_known:
            return [Problem(key, "unknown argument")]
        if types is not None and not fits(value, types):
            return [Problem(key, CODES["mistyped-argument"], f"should be {' or '.join(sorted(types))}")]
        if values is not None and not any(_equal(value, one) for one in values):
            return [Problem(key, "not an allowed value", f"expected one of {_list(values)}")]
        return []


def _equal(one: Any, other: Any) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _list(values: list[Any]) -> str:
    shown = ", ".join([json.dumps(value, ensure_ascii=False, default=str)[:40] for value in values[:8]])
    return f"{shown}, ..." if len(values) > 8 else shown


def problem_of(diagnostic: Mapping[str, Any] | Diagnostic) -> Problem:
    """The problem that a diagnostic with one of `CODES` tells of."""
    data = diagnostic if isinstance(diagnostic, Mapping) else vars(diagnostic)
    code, message = data["code"], data["message"]
    if code == "unknown-tool":
        return Problem("", CODES[code])
    named, should = _NAMED.match(message), _SHOULD.search(message)
    detail = f"should be {should[1].strip()}" if should else ""
    return Problem(named[1] if named else "", CODES[code], detail)


#: So many tools, arguments and kinds are told apart; what comes later is counted together.
MOST_NAMES = 5_000
#: The examples that are kept of each kind, and the worst rows of all; those have different kinds of damage each.
EXAMPLES, WORST = 3, 10
#: How what is beyond `MOST_NAMES` is called.
OTHERS = "(others)"
_COMPLETE = ("ok", "repaired")

K = TypeVar("K", bound=Hashable)


class CallExample(NamedTuple):
    """A call with invalid arguments."""

    place: str
    arguments: str
    detail: str


class QuarantineExample(NamedTuple):
    """A row in quarantine."""

    place: str
    id: str | None
    message: str
    raw: str
    is_base64: bool


class Tally:
    """What is counted of the rows of a batch."""

    def __init__(self, inputs: Sequence[str], buckets: Buckets, checker: CallChecker) -> None:
        self._names, self.buckets, self._checker = short_names(inputs), buckets, checker
        self._files = {name: number for number, name in enumerate(inputs)}
        #: rows by format ("" for plain text) and status, and by bucket and status
        self.statuses: Counter[tuple[str, str]] = Counter()
        self.bucket_statuses: Counts = Counter()
        #: rows that have a diagnostic of a code: in all, by bucket, by format; and with it, how many diagnostics
        self.kinds: Counter[str] = Counter()
        self.bucket_kinds: Counts = Counter()
        self.format_kinds: Counter[tuple[str, str]] = Counter()
        self.diagnostics: Counter[str] = Counter()
        #: the severities of the diagnostics of a code
        self.severities: Counter[tuple[str, str]] = Counter()
        #: repairs and the rows that have them, by level and code
        self.repairs: Counter[tuple[str, str]] = Counter()
        self.repaired_rows: Counter[tuple[str, str]] = Counter()
        #: calls, and those of them with invalid arguments, by tool; and those by tool, argument and problem
        self.calls: Counter[str] = Counter()
        self.bad_calls: Counter[str] = Counter()
        self.problems: Counter[tuple[str, str, str]] = Counter()
        self.quarantine: Counter[str] = Counter()
        self.examples: Best[Example] = Best(EXAMPLES, 200, look_of)
        self.worst: Best[Example] = Best(1, 500)
        self.formats: Best[str] = Best(1, MOST_NAMES)
        self.edits: Best[tuple[str, Edit]] = Best(EXAMPLES, 200, lambda one: one[1][:4])
        self.bad_arguments: Best[CallExample] = Best(2, MOST_NAMES, lambda one: one.arguments)
        self.quarantined: Best[QuarantineExample] = Best(EXAMPLES, 100, lambda one: one.raw)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.statuses.values())

    def of_status(self, status: str) -> int:
        """The number of rows with a status."""
        return sum([count for (_, one), count in self.statuses.items() if one == status])

    # chunks

    def add(self, rows: Chunk) -> None:
        """Count the rows of a chunk."""
        buckets = self.buckets.of(rows.file, rows.lines, rows.times)
        self.statuses.update(zip(rows.formats, rows.statuses, strict=True))
        self.bucket_statuses.update(zip(buckets, rows.statuses, strict=True))
        for format in set(rows.formats):
            row = rows.formats.index(format)
            self.formats.offer(format, tie(rows.file, rows.lines[row]), lambda row=row: self._place(rows, row))
        found = _fields(rows.batch, "diagnostics", "code", "severity")
        self._add_diagnostics(rows, buckets, found)
        self._add_calls(rows, {row for row, code, _ in found if code in CODES})
        self.buckets.merge(self.bucket_statuses, self.bucket_kinds)

    def finish(self) -> None:
        """Join buckets, as all rows are counted."""
        self.buckets.merge(self.bucket_statuses, self.bucket_kinds, final=True)

    def _place(self, rows: Chunk, row: int) -> str:
        return f"{self._names[rows.file]}:{rows.lines[row]}"

    def _add_diagnostics(self, rows: Chunk, buckets: list[Key], found: list[tuple[int, str, str]]) -> None:
        """Count diagnostics and repairs, and keep the worst rows."""
        repairs = _fields(rows.batch, "repairs", "code", "level")
        self.diagnostics.update([code for _, code, _ in found])
        self.severities.update([(code, severity) for _, code, severity in found])
        pairs = dict.fromkeys([(row, code) for row, code, _ in found])
        self.kinds.update([code for _, code in pairs])
        self.bucket_kinds.update([(buckets[row], code) for row, code in pairs])
        self.format_kinds.update([(rows.formats[row], code) for row, code in pairs])
        self.repairs.update([(level, code) for _, code, level in repairs])
        edited = dict.fromkeys([(row, level, code) for row, code, level in repairs])
        self.repaired_rows.update([(level, code) for _, level, code in edited])
        for row, level, code in edited:
            rank = tie(rows.file, rows.lines[row])
            self.edits.offer((level, code), rank, lambda row=row, code=code: self._edit(rows, row, code))
        codes: dict[int, list[tuple[str, str]]] = {}
        for row, code, severity in found:
            codes.setdefault(row, []).append((code, severity))
        edits = Counter([row for row, _, _ in repairs])
        for row, own in codes.items():
            self._offer(rows, row, own, edits[row])

    def _offer(self, rows: Chunk, row: int, own: list[tuple[str, str]], repairs: int) -> None:
        """Offer a row with diagnostics as an example of each of them, and as one of the worst."""
        rank = (
            *rank_of(rows.statuses[row], [severity for _, severity in own], repairs),
            *tie(rows.file, rows.lines[row]),
        )
        codes = dict.fromkeys([code for code, _ in own])
        for code in codes:
            self.examples.offer(code, rank[3:], lambda code=code: self._example(rows, row, code))
        if rank[0]:
            self.worst.offer(frozenset(codes), rank, lambda: self._example(rows, row))

    def _example(self, rows: Chunk, row: int, first: str | None = None) -> Example:
        return make_example(_row(rows.batch, row), self._place(rows, row), first)

    def _edit(self, rows: Chunk, row: int, code: str) -> tuple[str, Edit]:
        repairs = _row(rows.batch, row)["repairs"]
        return self._place(rows, row), make_edit(next(one for one in repairs if one["code"] == code))

    # calls

    def _add_calls(self, rows: Chunk, told: set[int]) -> None:
        """Count calls, and those with invalid arguments; the diagnostics of the rows `told` speak of such."""
        for _, kind, name in _fields(rows.batch, "segments", "kind", "name"):
            if kind == "tool_call":
                self.calls[_bounded(self.calls, name or "")] += 1
        for row, name, arguments in _fields(rows.batch, "tool_calls", "name", "arguments"):
            if row not in told and (problems := self._checker.problems(name, arguments)):
                self._add_problems(rows, row, name, arguments, problems)
        for row in sorted(told):
            self._add_told(rows, row)

    def _add_told(self, rows: Chunk, row: int) -> None:
        """Count the calls of a row whose diagnostics tell of invalid arguments, each problem once."""
        data = _row(rows.batch, row)
        calls = [one for one in data["segments"] if one["kind"] == "tool_call"]
        complete = iter(data["tool_calls"])
        found: list[tuple[str, str, dict[tuple[str, str], Problem]]] = []
        for call in calls:
            arguments = next(complete)["arguments"] if call["status"] in _COMPLETE else ""
            problems = self._checker.problems(call["name"] or "", arguments) if arguments else []
            found.append((call["name"] or "", arguments, {one[:2]: one for one in problems}))
        for diagnostic in [one for one in data["diagnostics"] if one["code"] in CODES]:
            start = diagnostic["start"]
            place = next((n for n, one in enumerate(calls) if one["start"] <= start < max(one["end"], start + 1)), -1)
            if found:
                problem = problem_of(diagnostic)
                found[place][2].setdefault(problem[:2], problem)
        for name, arguments, own in found:
            if own:
                self._add_problems(rows, row, name, arguments, list(own.values()))

    def _add_problems(self, rows: Chunk, row: int, name: str, arguments: str, problems: list[Problem]) -> None:
        self.bad_calls[_bounded(self.bad_calls, name)] += 1
        for problem in dict.fromkeys(problems):
            key = _bounded(self.problems, (name, problem.argument, problem.kind), (OTHERS, "", problem.kind))
            self.problems[key] += 1
            self.bad_arguments.offer(
                key,
                tie(rows.file, rows.lines[row]),
                lambda problem=problem: CallExample(self._place(rows, row), cut(arguments, 400), problem.detail),
            )

    # quarantine

    def add_quarantined(self, row: Mapping[str, Any]) -> None:
        """Count a row in quarantine."""
        code = row["code"]
        self.quarantine[code] += 1
        raw, file = row.get("raw", row.get("raw_base64", "")), self._files.get(row["file"])
        name = row["file"] if file is None else self._names[file]
        self.quarantined.offer(
            code,
            tie(file or 0, row["line"]),
            lambda: QuarantineExample(
                f"{name}:{row['line']}", row["id"], cut(row["message"], 300), cut(raw, 400), "raw_base64" in row
            ),
        )


def _row(batch: RecordBatch, row: int) -> dict[str, Any]:
    return batch.slice(row, 1).to_pylist()[0]


def _fields(batch: RecordBatch, column: str, one: str, other: str) -> list[tuple[int, str, str]]:
    """Two fields of the structs in a column of lists, with the row of each."""
    lists: Any = batch.column(column)
    values = lists.flatten()
    if not len(values):
        return []
    rows = compute().list_parent_indices(lists).to_pylist()
    return list(zip(rows, values.field(one).to_pylist(), values.field(other).to_pylist(), strict=True))


def _bounded(counts: Counter[K], key: K, others: Any = OTHERS) -> K:
    """The key to count under: that of all others if there are too many."""
    return key if key in counts or len(counts) < MOST_NAMES else others
