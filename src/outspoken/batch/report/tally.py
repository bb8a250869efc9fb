"""`Tally`: the counts of all rows, and a few examples of each kind. It grows with the kinds, and not with the rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from outspoken.notations.tools import Tools, may_have
from outspoken.results.schemas.schema import fits

from .buckets import Buckets, Counts, Key, short_names
from .examples import RANKS, Best, Edit, Example, cut, look_of, make_edit, make_example, tie

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
        self._known = lru_cache(_MOST)(_what_is_known)

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
        required = tools.arguments(name).required
        problems_found = [Problem(key, CODES["missing-argument"]) for key in required if key not in arguments]
        for key, value in arguments.items():  # pyright: ignore[reportUnknownVariableType]
            problems_found += self._value_problems(tools, name, str(key), value)  # pyright: ignore[reportUnknownArgumentType]
        return problems_found

    def _value_problems(self, tools: Tools, name: str, key: str, value: Any) -> list[Problem]:
        is_known, types, values = self._known(tools, name, key)
        if not is_known:
            return [Problem(key, "unknown argument")]
        if types is not None and not fits(value, types):
            return [Problem(key, CODES["mistyped-argument"], f"should be {' or '.join(sorted(types))}")]
        if values is not None and not any(_equal(value, one) for one in values):
            return [Problem(key, "not an allowed value", f"expected one of {_list(values)}")]
        return []


def _what_is_known(tools: Tools, name: str, key: str) -> tuple[bool, frozenset[str] | None, list[Any] | None]:
    """Whether a tool may have an argument, its types, and its values, if they are listed."""
    return may_have(tools, name, key), tools.types(name, key), tools.arguments(name).member(key).values


def _equal(one: Any, other: Any) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _list(values: list[Any]) -> str:
    shown = ", ".join([json.dumps(value, ensure_ascii=False, default=str)[:40] for value in values[:8]])
    return f"{shown}, ..." if len(values) > 8 else shown


def problem_of(diagnostic: Mapping[str, Any]) -> Problem:
    """The problem that a diagnostic with one of `CODES` tells of."""
    code, message = diagnostic["code"], diagnostic["message"]
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
#: The columns of a row that are read.
Row = dict[str, Any]


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

    def add(self, file: int, rows: Sequence[Row], times: Sequence[Any] | None) -> None:
        """Count some rows of a file, of which the times are known if they are counted by time."""
        buckets = self.buckets.of(file, [row["line"] for row in rows], times)
        for format, row in {row["format"] or "": row for row in reversed(rows)}.items():
            self.formats.offer(format, tie(file, row["line"]), lambda row=row: self._place(file, row))
        self.statuses.update([(row["format"] or "", row["status"]) for row in rows])
        self.bucket_statuses.update(zip(buckets, [row["status"] for row in rows], strict=True))
        for row, bucket in zip(rows, buckets, strict=True):
            if row["diagnostics"] or row["repairs"]:
                self._add_damage(file, row, bucket)
            if row["segments"]:
                self._add_calls(file, row)
        self.buckets.merge(self.bucket_statuses, self.bucket_kinds)

    def finish(self) -> None:
        """Join buckets, as all rows are counted."""
        self.buckets.merge(self.bucket_statuses, self.bucket_kinds, final=True)

    def _place(self, file: int, row: Row) -> str:
        return f"{self._names[file]}:{row['line']}"

    def _add_damage(self, file: int, row: Row, bucket: Key) -> None:
        """Count the diagnostics and repairs of a row, and offer it as an example of each, and as one of the worst."""
        place, order = self._place(file, row), tie(file, row["line"])
        severities = [(entry["code"], entry["severity"]) for entry in row["diagnostics"]]
        codes = dict.fromkeys([code for code, _ in severities])
        self.diagnostics.update([code for code, _ in severities])
        self.severities.update(severities)
        self.kinds.update(codes.keys())
        self.bucket_kinds.update([(bucket, code) for code in codes])
        self.format_kinds.update([(row["format"] or "", code) for code in codes])
        edits = {(entry["level"], entry["code"]): entry for entry in reversed(row["repairs"])}
        self.repairs.update([(entry["level"], entry["code"]) for entry in row["repairs"]])
        self.repaired_rows.update(edits.keys())
        for kind, edit in edits.items():
            self.edits.offer(kind, order, lambda edit=edit: (place, make_edit(edit)))
        for code in codes:
            self.examples.offer(code, order, lambda code=code: make_example(row, place, code))
        if codes and row["status"] in RANKS:
            errors = sum([severity == "error" for _, severity in severities])
            rank = (RANKS[row["status"]], errors, len(severities) + len(row["repairs"]), *order)
            self.worst.offer(frozenset(codes), rank, lambda: make_example(row, place))

    # calls

    def _add_calls(self, file: int, row: Row) -> None:
        """Count the calls of a row. One is invalid by its schema, or as a diagnostic says; each problem counts once."""
        calls = [entry for entry in row["segments"] if entry["kind"] == "tool_call"]
        complete = iter(row["tool_calls"])
        own_calls: list[tuple[str, str, dict[tuple[str, str], Problem]]] = []
        for call in calls:
            name, arguments = call["name"] or "", ""
            self.calls[_bounded(self.calls, name)] += 1
            if call["status"] in _COMPLETE:
                arguments = next(complete)["arguments"]
            problems = self._checker.problems(name, arguments) if arguments else []
            own_calls.append((name, arguments, {entry[:2]: entry for entry in problems}))
        for diagnostic in row["diagnostics"]:
            if own_calls and diagnostic["code"] in CODES:
                start, problem = diagnostic["start"], problem_of(diagnostic)
                at = next(
                    (n for n, entry in enumerate(calls) if entry["start"] <= start < max(entry["end"], start + 1)), -1
                )
                own_calls[at][2].setdefault(problem[:2], problem)
        for name, arguments, own in own_calls:
            if own:
                self._add_problems(file, row, name, arguments, own.values())

    def _add_problems(self, file: int, row: Row, name: str, arguments: str, problems: Iterable[Problem]) -> None:
        self.bad_calls[_bounded(self.bad_calls, name)] += 1
        for problem in problems:
            key = _bounded(self.problems, (name, problem.argument, problem.kind), (OTHERS, "", problem.kind))
            self.problems[key] += 1
            self.bad_arguments.offer(
                key,
                tie(file, row["line"]),
                lambda problem=problem: CallExample(self._place(file, row), cut(arguments, 400), problem.detail),
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


def _bounded(counts: Counter[K], key: K, others: Any = OTHERS) -> K:
    """The key to count under: that of all others if there are too many."""
    return key if key in counts or len(counts) < MOST_NAMES else others
