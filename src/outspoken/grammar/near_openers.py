"""Opening markers with a mistake: transitions over text that is nearly an opening marker, where a call follows.

To the strict grammar, an opening marker with a mistake is text, and so is the call behind it. Prose holds such text,
too. So what follows must go on as the grammar says, up to a marker that does not occur by chance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from outspoken.patterns.near_miss import SHORT_MARKER, near_miss_pattern, near_misses
from outspoken.patterns.spellings import look_ahead, without_conditions

from .automaton import Config, Transition
from .tables import Terminal

#: What may stand between two markers.
SPACES = r"\s{0,20}"
#: No more markers than this are looked at behind an opening marker, and no more ways to go on.
_MAX_MARKERS, _MAX_WAYS = 6, 12
#: No more spellings of an opening marker are looked for than this.
_MAX_FORMS = 4
#: An opening marker with a mistake is no shorter than this.
_SHORTEST = 3
#: Another spelling than that of the grammar is no shorter than this.
_LEAST_OTHER = 8
#: How JSON begins that is not prose.
_JSON_OPEN = {"JSON_OBJECT": r"\{\s{0,20}[\"'“＂}]", "JSON_ARRAY": r"\[\s{0,20}[\[{\"']", "JSON_STRING": '"'}
_JSON_OPEN["JSON_VALUE"] = f"(?:{_JSON_OPEN['JSON_OBJECT']}|{_JSON_OPEN['JSON_ARRAY']})"
_KEY_END = '":'
#: How a value begins that follows a name. Without it, a name that is still arriving would be whole.
_VALUE_OPEN = rf"{SPACES}[\[{{(<\"']"
#: How the pattern of a marker begins that stands at the start of a line only.
_LINE_START = r"(?<![^\n"
#: Where such a marker may stand that has a mistake: at the start of a line, or behind a sentence.
_LINE_BOUNDARY = r"(?:(?<![^\n])|(?<=\n[ \t])|(?<=[.!?:;)。！？])|(?<=[.!?:;)][ ]))"
#: What may stand before such a marker by mistake.
_STRAY_LETTER, _SENTENCE_END = r"(?<=(?<![^\n])[A-Za-z<{},])", r"(?<=[.!?:;)])"
_STRING = r'"[^"\\\n]{0,200}"'
#: Markers of other formats and of prose are written before the markers of this one are tried with a mistake.
_PRIORITY = -9

#: The patterns of what may follow a marker, one behind the other, up to one that is evidence.
_Way = tuple[str, ...]


def near_openers(config: Config) -> list[Transition]:
    """The transitions over opening markers with a mistake that may stand in the text of a configuration.

    The mistake is in the marker, or in what its condition asks for behind it.
    """
    transitions: list[Transition] = []
    regexes = set[str]()
    for opener in config.strict_transitions()[2]:
        begun = {kind for op, kinds in opener.after if op == "begin" for kind in kinds.split()}
        if begun & {"think", "code"}:
            continue
        if following := evidence(opener.target, is_long=is_evidence(opener.terminal)):
            forms, condition = all_forms(opener.terminal), _condition(opener.terminal)
            for written in forms:
                boundary = r"(?<!\w)" if written[0].isalnum() else ""
                boundary = _LINE_BOUNDARY if _is_at_line_start(opener.terminal) else boundary
                others = [re.escape(form) for form in forms if not written.startswith(form)]
                if others:
                    boundary += f"(?!{'|'.join(others)})"
                space = r"[ \t]{0,9}" if opener.terminal.canonical[-1:] == " " else ""
                regex = f"{boundary}{near_miss_pattern(written)}{space}{condition}(?={SPACES}{following})"
                if len(written) >= _SHORTEST and regex not in regexes:
                    regexes.add(regex)
                    first = {written[0], written[0].swapcase(), written[1]}
                    transitions.append(_lenient(opener, "~", regex, "".join(sorted(first)), written, nearly=written))
        transitions += _beside_line_start(opener)
        bare = without_conditions(opener.terminal.regex)
        if bare != opener.terminal.regex and (following := evidence(opener.target, mistaken=True)):
            regex = f"(?:{bare})(?={SPACES}{following})"
            transitions.append(_lenient(opener, "~~", regex, opener.terminal.first, "", prefilter=f"(?:{bare})"))
    return transitions


def _condition(terminal: Terminal) -> str:
    """The look-ahead that a pattern ends with, if it has no other: a marker with a mistake stands before that, too.

    The line break at the end of a marker is no part of one with a mistake.
    """
    regex, asked = terminal.regex, look_ahead(terminal.regex)
    bare = regex.removeprefix("(?:").removesuffix(")") if regex.startswith("(?:") else regex
    marker = bare.removesuffix(f"(?={asked})")
    if marker == bare or "(?=" in marker or "|" in marker:
        return ""
    space = SPACES if terminal.canonical[-1:] == "\n" else ""
    return f"(?={space}{asked})"


def _beside_line_start(opener: Transition) -> list[Transition]:
    """An opening marker of lines behind one character too many, or behind a sentence whose line break is missing."""
    regex = opener.terminal.regex.replace("\n", r"\n")
    if _LINE_START not in regex or not (following := evidence(opener.target, is_long=True)):
        return []
    transitions: list[Transition] = []
    for written in written_forms(opener.terminal):
        if len(written) >= SHORT_MARKER:
            marker = f"(?:{_STRAY_LETTER}|{_SENTENCE_END}){re.escape(written)}"
            regex = f"{marker}(?={SPACES}{following})"
            transitions.append(_lenient(opener, "~^", regex, written[0], f"\n{written}", prefilter=marker))
    return transitions


def _is_at_line_start(terminal: Terminal) -> bool:
    """Does a marker stand at the start of a line, or behind a sentence? One with a mistake stands there, too."""
    return terminal.regex.replace("\n", r"\n").removeprefix("(?:").removeprefix("(?:").startswith(_LINE_START)


def written_forms(terminal: Terminal) -> list[str]:
    """How a marker is written without mistakes: as the grammar spells it, and as its pattern does.

    If the grammar spells it, short spellings and keys of its pattern are left out.
    """
    written = terminal.canonical.strip()
    found = dict.fromkeys([text for spelling in terminal.spellings if (text := spelling.strip())])
    return [*dict.fromkeys([written, *filter(_is_other, found)])] if written else [*found]


def all_forms(terminal: Terminal) -> list[str]:
    """How a marker is written without mistakes; what is as good as another form with one mistake is left out."""
    forms = written_forms(terminal)
    if not terminal.canonical.strip():
        return forms
    found = forms[:1]
    for text in forms[1:]:
        if len(found) < _MAX_FORMS and not any(_are_alike(text, form) for form in found):
            found.append(text)
    return found


def _is_other(text: str) -> bool:
    """Is a spelling so long that it is a marker of its own, and no key of JSON?"""
    return len(text) >= _LEAST_OTHER and text[0] != '"' and "\\" not in text


def _are_alike(one: str, other: str) -> bool:
    return one == other or any(end == len(one) for end, _ in near_misses(one, 0, other))


def _lenient(
    opener: Transition, mark: str, regex: str, first: str, written: str, *, nearly: str = "", prefilter: str = ""
) -> Transition:
    """The transition of an opening marker over another pattern; `written` is what a mistake is in, if it has one.

    For `nearly` and `prefilter`, see `Transition`.
    """
    name, short = f"{opener.terminal.name}{mark}", opener.terminal.short
    # a fence of calls goes before other fences, with a mistake, too
    priority = opener.terminal.priority if opener.terminal.priority > 0 and written[:1] == "`" else _PRIORITY
    terminal = Terminal(name, short, regex, "", grows=False, may_stay_open=True, priority=priority, first=first)
    after = (("replace", written) if written else ("odd", ""), *opener.after)
    if written and short == "PAYLOAD_NAME":
        after = tuple([("named", written.strip()) if op == ("token", short) else op for op in after])
    named = opener.terminal.canonical or written or opener.terminal.name
    shown = opener.target, opener.before, after, opener.cost, named
    return Transition(terminal, *shown, replaces=True, nearly=nearly, prefilter=prefilter)


def evidence(config: Config, *, mistaken: bool = False, is_long: bool = False) -> str:
    """The pattern of what shows that a marker led to a configuration; "" if nothing that may follow shows it.

    What shows it may be `mistaken`: it has one mistake. Behind a marker that `is_long`, the name of an action and the
    next marker show it.
    """
    ways = _ways(config, _MAX_MARKERS, named=False, mistaken=mistaken, is_long=is_long)
    return f"(?:{_one_of_ways(ways)})" if ways else ""


def _one_of_ways(ways: list[_Way]) -> str:
    """The pattern of one of several ways. What they end with is written once: patterns of mistakes are long."""
    before: dict[str, list[str]] = {}
    for way in dict.fromkeys(ways):
        before.setdefault(way[-1], []).append("".join(way[:-1]))
    ends: dict[tuple[str, ...], list[str]] = {}
    for end, leads in before.items():
        ends.setdefault(tuple(leads), []).append(end)
    return "|".join([_one_of(leads) + _one_of(found) for leads, found in ends.items()])


def _one_of(patterns: Sequence[str]) -> str:
    return patterns[0] if len(patterns) == 1 else f"(?:{'|'.join(patterns)})"


def _ways(config: Config, depth: int, *, named: bool, mistaken: bool, is_long: bool) -> list[_Way]:
    """The patterns of the markers that may follow, up to one that is evidence."""
    free, embedded, markers = config.strict_transitions()
    if free is not None:
        return [("",)] if named and not mistaken else []
    ways_on: list[_Way] = []
    if not mistaken:
        ways_on += [(_JSON_OPEN[e.terminal.short],) for e in embedded if e.terminal.short in _JSON_OPEN]
        ways_on += [("",)] if named and embedded else []
    for step in sorted(markers, key=lambda step: not step.terminal.canonical) if mistaken else markers:
        regex = regex_of(step.terminal)
        if is_evidence(step.terminal):
            ways_on += [(_near_key(step, w),) for w in written_forms(step.terminal)] if mistaken else [(regex,)]
            ways_on = [*(_behind_string(step) if mistaken else []), *ways_on]
        elif step.terminal.canonical.strip() == _KEY_END and not mistaken:
            ways_on.append((regex,))  # an object with a key, as `_JSON_OPEN` asks for
        elif depth > 1 and len(ways_on) < _MAX_WAYS:
            if mistaken:
                regex = f"(?:{without_conditions(step.terminal.regex)})"
            name = named or step.terminal.short in ("TOOL_NAME", "ACTION_NAME")
            after_name = step.target.strict_transitions()[2] if is_long and not mistaken else []
            if step.terminal.short == "ACTION_NAME" and after_name:
                ways = [(regex_of(after.terminal),) for after in after_name][:_MAX_WAYS]
            else:
                ways = _ways(step.target, depth - 1, named=name, mistaken=mistaken, is_long=is_long)
            end = _VALUE_OPEN if step.terminal.short == "TOOL_NAME" and step.target.strict_transitions()[1] else ""
            ways_on += [(regex + SPACES, *way) if any(way) else (regex + end,) for way in ways]
    return ways_on[:_MAX_WAYS]


def _near_key(step: Transition, written: str) -> str:
    """The pattern of a marker with a mistake; an object follows the key of arguments.

    Behind any other marker something must follow: its last character may come with the next chunk.
    """
    return near_miss_pattern(written) + (rf"{SPACES}\{{" if _holds_arguments(step) else r"[\s\S]")


def _holds_arguments(step: Transition) -> bool:
    return any(value.role == "arguments" for value in step.target.strict_transitions()[1])


def _behind_string(step: Transition) -> list[_Way]:
    """A key, a string and the key of the arguments: the first key is lost, or the other one has a mistake."""
    key = rf"(?:{without_conditions(step.terminal.regex)}){SPACES}"
    ways_on: list[_Way] = []
    for value in step.target.strict_transitions()[1]:
        for separator in value.target.strict_transitions()[2] if value.terminal.short == "JSON_STRING" else ():
            string = f"{_STRING}{SPACES}{regex_of(separator.terminal)}{SPACES}"
            keys = [k for k in separator.target.strict_transitions()[2] if _holds_arguments(k)]
            for other in filter(lambda step: is_evidence(step.terminal), keys):
                ways_on += [(key + string, _near_key(other, written)) for written in written_forms(other.terminal)]
                ways_on += [(string, rf"{regex_of(other.terminal)}{SPACES}\{{")] if value.role == "tool_name" else []
    return ways_on


def is_evidence(terminal: Terminal) -> bool:
    """Does a marker show that a call is meant: is it long enough, and no word?"""
    if not terminal.short.startswith("_"):
        return False
    return all(len(w) >= SHORT_MARKER and not w.isalpha() for w in written_forms(terminal) or [""])


def regex_of(terminal: Terminal) -> str:
    """The pattern of a terminal as a part of another one."""
    return f"(?:{terminal.regex})" if "|" in terminal.regex else terminal.regex
