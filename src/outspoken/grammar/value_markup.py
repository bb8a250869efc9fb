"""Markup round names and values, and within them: where a value holds the end of an argument and what follows it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.markup_search import ValueMarkup, is_distinct_marker
from outspoken.patterns.near_miss import begins_near, mistakes_allowed

from .automaton import Automaton, Config, Transition
from .near_openers import written_forms

Forms = frozenset[str]


class ValueMarks(NamedTuple):
    """The markers before and behind a bare value, as they are written.

    `before` are those that no value begins with, as they are rendered: `="` or `: `, but not `>` or `:`.
    """

    openers: Forms
    ends: Forms
    before: Forms


class Survey(NamedTuple):
    """What stands round the names and values of a format.

    `keys` are the JSON keys that the grammar knows, each with whether the arguments of a call are its value, and
    `name_keys` those of the names of calls. `value_marks` are those of bare values, by the stack of the configuration
    behind the value. `call_openers` stand before the names of calls and `behind_calls` behind them, `argument_openers`
    before the names of arguments with bare values and `behind_arguments` behind them, as they are written.
    """

    keys: dict[str, bool]
    name_keys: tuple[str, ...]
    value_marks: dict[tuple[int, ...], ValueMarks]
    call_openers: tuple[str, ...]
    behind_calls: tuple[str, ...]
    argument_openers: tuple[str, ...]
    behind_arguments: tuple[str, ...]

    def to_data(self) -> dict[str, Any]:
        """The survey as plain data."""
        marks = [[[*stack], *map(sorted, found)] for stack, found in self.value_marks.items()]
        lists = {name: [*found] for name, found in self._asdict().items()}
        return {**lists, "keys": self.keys, "value_marks": sorted(marks)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Survey:
        """The inverse of `to_data`."""
        marks = {tuple(stack): ValueMarks(*map(frozenset, found)) for stack, *found in data["value_marks"]}
        lists = {name: tuple(found) for name, found in data.items() if name not in ("keys", "value_marks")}
        return cls(keys=data["keys"], value_marks=marks, **lists)


@lru_cache(maxsize=512)
def survey(automaton: Automaton) -> Survey:
    """The survey of a format: that of its compiled grammar, if there is one."""
    found = automaton.tables.survey
    return make_survey(automaton) if found is None else Survey.from_data(found)


def make_survey(automaton: Automaton) -> Survey:
    """The survey of a format, by a walk over its configurations."""
    keys, names, marks = dict[str, bool](), set[str](), dict[tuple[int, ...], ValueMarks]()
    openers: dict[str, dict[str, None]] = {"TOOL_NAME": {}, "ARG_NAME": {}}
    behind: dict[str, dict[str, None]] = {"TOOL_NAME": {}, "ARG_NAME": {}}
    for config in automaton.configs:
        for step in _markers(config):
            _add_key(keys, names, step)
            _add_value(marks, step)
            for name in _markers(step.target):
                if (kind := name.terminal.short) in openers:
                    is_tool, written = kind == "TOOL_NAME", [step.terminal.canonical.strip()]
                    openers[kind] |= dict.fromkeys(written_forms(step.terminal) if is_tool else written)
                    ends = [form for end in _markers(name.target) for form in written_forms(end.terminal)]
                    behind[kind] |= dict.fromkeys(ends)
    around = [tuple(found[kind]) for kind in openers for found in (openers, behind)]
    return Survey(dict(sorted(keys.items())), tuple(sorted(names)), marks, *around)


def _markers(config: Config) -> list[Transition]:
    return config.strict_transitions()[2]


def _add_key(keys: dict[str, bool], names: set[str], step: Transition) -> None:
    written = step.terminal.canonical.strip()
    if written.startswith('"') and written.endswith('":'):
        roles = {value.role for value in step.target.strict_transitions()[1]}
        keys[written[1:-2]] = keys.get(written[1:-2], False) or "arguments" in roles
        names |= {written[1:-2]} if "tool_name" in roles else set()


def _add_value(marks: dict[tuple[int, ...], ValueMarks], step: Transition) -> None:
    free = step.target.strict_transitions()[0]
    if free is not None and free.terminal.short == "ARG_VALUE":
        ends = {form for end in _markers(free.target) for form in distinct_forms(end)}
        openers, _, before = marks.get(free.target.stack, ValueMarks(frozenset(), frozenset(), frozenset()))
        rendered = step.terminal.canonical.lstrip()
        if len(rendered.strip()) > 1 or rendered[1:] == " ":
            before |= {rendered}
        if (token := _LAST_TOKEN.search(rendered.rstrip())) is not None:
            before |= {token[0]}  # a value that begins with it: the token was written twice
        if rendered.strip() == ">":
            before |= {">\n"}
        marks[free.target.stack] = ValueMarks(openers | {*written_forms(step.terminal)}, frozenset(ends), before)


def distinct_forms(step: Transition) -> set[str]:
    """How a marker is written, as far as no text has that by chance; keys of JSON are left out."""
    return {form for form in written_forms(step.terminal) if is_distinct_marker(form) and not form.startswith('"')}


#: The special token that a longer marker ends with.
_LAST_TOKEN = lazy_pattern(r"(?<=.)<[|｜][^<>|｜\s]+[|｜]>\Z")
#: A marker of several words that does not occur by chance.
_PHRASE = lazy_pattern(r"(?=.{12})\(?[A-Za-z]\w+,? \w")
#: How an object, a list of objects or a key of JSON begins.
_STRUCTURE = lazy_pattern(r"[{\"']|\[\s*[{\"']")


@lru_cache(maxsize=2048)
def value_markup(value_end: Config) -> ValueMarkup:
    """What finds the end of a value in its text. The value leads to the configuration `value_end`."""
    closers, followers = set[str](), set[str]()
    for closer in value_end.strict_transitions()[2]:
        closers |= distinct_forms(closer)
        for step in closer.target.strict_transitions()[2]:
            followers |= distinct_forms(step)
            for first, second in _behind_name(step):
                closers |= first
                followers |= second
    return ValueMarkup(sorted(closers), sorted(followers), call_phrases(value_end.automaton))


def call_phrases(automaton: Automaton) -> list[str]:
    """The markers of several words that open a call."""
    if not _has_bare_values(automaton):
        return []
    openers = [step for step in automaton.top_level_markers if not step.inserted]
    return sorted({w for step in openers for w in distinct_forms(step) if _PHRASE.match(w)})


def _has_bare_values(automaton: Automaton) -> bool:
    return has_terminal(automaton, "ARG_VALUE")


@lru_cache(maxsize=512)
def has_terminal(automaton: Automaton, short: str) -> bool:
    """Has a format a terminal of this name?"""
    return any(terminal.short == short for terminal in automaton.tables.terminals.values())


def _behind_name(opener: Transition) -> list[tuple[set[str], set[str]]]:
    """The markers that follow each other between the name of an argument and its value."""
    names = [step for step in opener.target.strict_transitions()[2] if step.terminal.short == "ARG_NAME"]
    ends = [step for name in names for step in name.target.strict_transitions()[2]]
    pairs = [(distinct_forms(end), distinct_forms(step)) for end in ends for step in end.target.strict_transitions()[2]]
    return [(first, second) for first, second in pairs if first and second]


#: The name in an opening tag, and the end of the tag.
_NAME = r"(?:[\w.:\-]{1,60}[\"']?\s?/?>)?"
#: How certain it is that the markers in a value are damage.
Looseness = Literal["", "possible", "certain"]
#: One mistake leaves no more markers in a value.
_FEW = 2
#: So many characters between two markers are a mistake, and more are text.
_STRAY = 2
#: What begins as a tag does, and is none.
_BROKEN_TAG = lazy_pattern(r"\s{0,9}<(?![/!]?\w[\w:.-]*[^<>\n]{0,99}>|!--|[|｜/\[])")
#: The tail of an opening marker that is shorter may be that of another one.
_SHORT_TAG = 5
#: The signs that markers begin with.
_SIGNS = "</|｜[]>!:@#~-"
#: A value may end with a bracket of its own.
_NO_BRACKETS = str.maketrans("", "", "])}")
#: How the names of closing markers end.
_CLOSING = ("_CLOSE", "_END")


class LooseMarkup:
    """Finds markers of a format in a bare value, in any case, that nobody mentions there.

    A marker within a sentence or in quotation marks is mentioned, and a group that opens and closes is a part of the
    value. Any other one is damage: a marker that is doubled, in another case, or whose neighbour is missing.
    """

    def __init__(
        self,
        closers: set[str],
        others: set[str],
        own: frozenset[str] = frozenset(),
        before: Iterable[str] = (),
        followers: Iterable[str] = (),
        openers: Iterable[str] = (),
    ) -> None:
        self._closers, self._own = {form.lower() for form in closers}, {form.lower() for form in own}
        self._rest = re.compile(rest_pattern([ValueMarks(frozenset(openers), own, frozenset())])[1] or "(?!)")
        #: what stands before the value; it is doubled where the value begins with it
        self._before = tuple(before)
        self._followers = tuple([form.lower() for form in followers])
        #: what opens the next value, in lower case, if it may have a mistake
        self.near = [form for form in self._followers if mistakes_allowed(form)]
        halves = "|".join([re.escape(form[: (len(form) + 1) // 2]) for form in self.near])
        self._half = re.compile(rf"\s{{0,9}}(?:{halves or '(?!)'})")
        #: one of these is in every value that holds a marker, in lower case
        self.forms = sorted({form.lower() for form in closers | others}, key=lambda form: (-len(form), form))
        patterns = [re.escape(form) + (_NAME if form.endswith(("=", '="', "='")) else "") for form in self.forms]
        self._search = re.compile("|".join(patterns) or "(?!)")

    def find(self, text: str) -> Looseness:
        """How loose the markers in a value are.

        One at an edge of the value is "certain" damage, and so is an opener or a separator among one or two markers.
        Closers alone are "possible" damage, and so are more markers than that, which may be text about markup:
        something else has to speak for it.
        """
        if text.startswith(self._before) or (text.endswith("\n<") and any(form[:1] == "<" for form in self._own)):
            return "certain"
        low = text.lower()
        if begins_near(low, self.near):
            return "certain"
        matches = [*self._search.finditer(low)]
        if not matches:
            return ""
        if self._is_followed(low, matches) or self._is_next(matches):
            return "certain"
        matches = [m for m in matches if not self._is_mentioned(low, m)]
        if self._is_closed_within([match[0] for match in matches]):
            return "certain"
        sides = [-1 if match[0] in self._closers else 1 for match in matches]
        if not sides or (sum(sides) == 0 and min(accumulate(sides)) >= 0):
            return ""
        if max(sides) < 0 and any(m[0] in self._own and self._is_line(low, m) for m in matches):
            return "certain"
        if not low[: matches[0].start()].strip() or not low[matches[-1].end() :].strip():
            return "certain"
        return "certain" if len(sides) <= _FEW and max(sides) > 0 else "possible"

    def holds_rest(self, text: str) -> bool:
        """Does a value hold what may be a part of a marker beside it? See `rest_pattern`."""
        return self._rest.search(text) is not None

    def _is_followed(self, text: str, markers: list[re.Match[str]]) -> bool:
        """Does the value's own closing marker stand directly before what opens the next value? In a sentence, too."""
        at = next((at for at, marker in enumerate(markers) if marker[0] in self._own), len(markers))
        if at == 0 and (_BROKEN_TAG.match(text, markers[0].end()) or self._half.match(text, markers[0].end())):
            return True
        for marker, following in pairwise(markers[at:]):
            if len(text[marker.end() : following.start()].strip()) > _STRAY:
                return False  # a format has no words between two values
            if following[0].startswith(self._followers):
                return True
        return False

    def _is_next(self, markers: list[re.Match[str]]) -> bool:
        """Are the first two markers the value's own closing one and what opens the next value? In a sentence, too."""
        pairs = pairwise(markers[:2])
        return any(one[0] in self._own and behind[0].startswith(self._followers) for one, behind in pairs)

    def _is_line(self, text: str, marker: re.Match[str]) -> bool:
        """Does a marker stand alone on its line, and markup that may have a mistake begin the next one?"""
        return text[: marker.start()].endswith("\n") and text.startswith("\n" + marker[0][0], marker.end())

    def _is_mentioned(self, text: str, marker: re.Match[str]) -> bool:
        """Does a marker stand in a sentence or in quotation marks? A closing marker may be the first word of it."""
        start, end = marker.span()
        is_first = marker[0] in self._closers and not text[:start].strip()
        return (is_first or bool(_BEFORE.search(text, max(start - 1, 0), start))) and bool(_BEHIND.match(text, end))

    def _is_closed_within(self, markers: list[str]) -> bool:
        """Does the value's own closing marker stand before an opening marker, so that the value may have ended?"""
        ends = [at for at, marker in enumerate(markers) if marker in self._own]
        return (
            bool(ends)
            and sum(marker not in self._closers for marker in markers[: ends[0]]) == 0
            and any(marker not in self._closers for marker in markers[ends[0] :])
        )


_BEFORE = lazy_pattern(r"[ \t\"'`(“«]\Z")
_BEHIND = lazy_pattern(r"[ \t][^\s<]|[\"'`),.;:”»]")


@lru_cache(maxsize=2048)
def loose_markup(value_end: Config) -> LooseMarkup:
    """What finds the markers of a format in a bare value, which leads to the configuration `value_end`.

    A value whose own marks are longer forms of the marks of other values is quoted, as by `<![CDATA[` and `]]>`: only
    the marks of its quotation count in it.
    """
    automaton = value_end.automaton
    marks = survey(automaton).value_marks
    openers, ends, before = own = marks.get(value_end.stack, ValueMarks(frozenset(), frozenset(), frozenset()))
    if any(_is_longer(own, others) for others in marks.values()):
        return LooseMarkup({*ends}, {form for form in openers if is_distinct_marker(form)})
    terminals = [terminal for terminal in automaton.tables.terminals.values() if terminal.short.startswith("_")]
    forms = {w for terminal in terminals for w in written_forms(terminal)}
    closers = closing_forms(automaton)
    distinct = {form for form in forms if is_distinct_marker(form) and not (form[:1] == '"' and form[-1:] in '":')}
    steps = [step for end in value_end.strict_transitions()[2] for step in end.target.strict_transitions()[2]]
    followers = {form for step in steps for form in distinct_forms(step)} - closers
    return LooseMarkup(distinct & closers, distinct - closers, ends, before, followers, openers)


def rest_pattern(marks: Collection[ValueMarks]) -> tuple[str, str]:
    """What finds parts of the markers beside bare values in them, and the signs of which one is in each such value.

    A value may begin or end with the sign of the marker beside it, as if that was doubled (`moss.txt<</parameter>`). It
    may hold the first letters of its closing marker right behind other text (`moss</param.`) or at its end, or begin
    with the end of an opening tag (`ame="path">moss.txt`), or with the quote that closes its name (`"moss.txt`).
    """
    before = _signs_of({form[-1] for found in marks for form in found.openers})
    behind = _signs_of({form[0] for found in marks for form in found.ends})
    parts = [rf"\A[{re.escape(before)}](?=[\w/.])"] if before else []
    edge = behind.translate(_NO_BRACKETS)
    parts += [rf"[{re.escape(edge)}](?<=\w.)\Z"] if edge else []
    parts += sorted({_begun_pattern(form) for found in marks for form in found.ends if form[0] in behind})
    tails = {re.escape(form[-3:]) for found in marks for form in found.openers if len(form) > _SHORT_TAG}
    tails |= {r"[\"']\s?>" for found in marks for form in found.openers if form[-2:] in ('">', "'>")}
    parts += [rf"\A[^<>\n]{{0,99}}(?:{'|'.join(sorted(tails))})"] if tails and ">" in before else []
    closes_name = any(form[-2:] == '">' for found in marks for form in found.openers)
    parts += [r'\A"[^"]*\Z'] if closes_name else []
    return before + behind + '"' * closes_name, "|".join(parts)


def _begun_pattern(marker: str) -> str:
    """The pattern of the first characters of a closing marker that begin neither it nor another tag."""
    signs = len(marker) - len(marker.lstrip(_SIGNS))
    size = signs if signs > _FEW else signs + 1 if marker.startswith("</") else signs + _FEW
    tag = r"|[\w:.-]*[^<>\n\"']{0,99}>" if marker.lstrip("</")[0].isalnum() else ""
    begun = re.escape(marker[:size])
    found = rf"{begun}(?<=\S{begun})(?!{re.escape(marker[size:])}{tag})"
    if not marker.startswith("</"):
        return found
    # a tag that has no end, at the end of the value
    return rf"{found}|</(?<=\S</)(?![\w>:])(?!{re.escape(marker[2:])})|{re.escape(marker[:3])}[\w:.-]{{0,40}}\s*\Z"


def _signs_of(chars: set[str]) -> str:
    """Those of some characters that belong to no word, and that open and quote nothing."""
    return "".join(sorted({char for char in chars if not char.isalnum() and char not in "[({\"'`_"}))


@lru_cache(maxsize=256)
def value_ends(automaton: Automaton) -> frozenset[str]:
    """The markers behind the bare values of a format."""
    return frozenset({form.strip() for marks in survey(automaton).value_marks.values() for form in marks.ends})


def _is_longer(marks: ValueMarks, others: ValueMarks) -> bool:
    """Is each mark of a value a longer form of a mark of another value?"""
    return (
        bool(marks.openers and marks.ends)
        and all(any(form != one and form.startswith(one) for one in others.openers) for form in marks.openers)
        and all(any(form != one and form.endswith(one) for one in others.ends) for form in marks.ends)
    )


@lru_cache(maxsize=256)
def closing_forms(automaton: Automaton) -> frozenset[str]:
    """The closing markers of a format as they are written, brackets and quotes among them."""
    ends = [t for t in automaton.tables.terminals.values() if t.short.startswith("_") and t.short.endswith(_CLOSING)]
    return frozenset({form.strip() for terminal in ends for form in written_forms(terminal)} - {""})


@lru_cache(maxsize=256)
def opening_forms(automaton: Automaton) -> tuple[str, ...]:
    """The markers of a format that no other text has by chance, as they are written; brackets and keys are none."""
    forms = [form.strip() for t in automaton.tables.terminals.values() for form in written_forms(t)]
    return tuple(sorted({form for form in forms if is_distinct_marker(form) and not _STRUCTURE.match(form)}))


@lru_cache(maxsize=256)
def openers_at_end(automaton: Automaton) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """The markers that open calls and their parts, and the pattern of a text that holds nothing else up to its end."""
    other = {
        form.strip()
        for step in automaton.top_level_markers
        if {kind for op, kinds in step.after if op == "begin" for kind in kinds.split()} & {"think", "code"}
        for form in written_forms(step.terminal)
    }
    forms = tuple(form for form in opening_forms(automaton) if form not in closing_forms(automaton) | other)
    one = "|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or "(?!)"
    return forms, re.compile(rf"\s*(?:(?:{one})\s*)+\Z")


@lru_cache(maxsize=256)
def has_fields(automaton: Automaton) -> bool:
    """Does white space alone stand before the names of arguments, as between fields?"""
    return "" in survey(automaton).argument_openers
