"""Lenient rules: what an automaton recognises beyond its grammar, so that a missing marker is noticed.

Text outside of calls may be anything, and so may values that are written without escapes. To the strict grammar, a call
whose opening marker is missing is text, and a value whose closing marker is missing runs on over the next call. Both
are found by markers that are too long to occur by chance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.near_miss import near_miss_pattern
from outspoken.patterns.prefilter import any_of
from outspoken.patterns.spellings import without_conditions

from .automaton import Automaton, Config, MissingCloser, Transition
from .leading_space import BREAKS, leading_space
from .near_openers import SPACES, all_forms, is_evidence, near_openers, regex_of
from .tables import Terminal
from .vocabulary import CALLS, TOKENS

#: The least length of a marker that does not occur by chance.
MIN_DISTINCT = 6
#: They are tried before the markers and values that may follow.
_PRIORITY = 9


def doubled_markers(config: Config) -> list[Transition]:
    """The transitions over the marker that led to a configuration, if a value or a name that may hold it follows."""
    free, embedded, markers = config.strict_transitions()
    terminal = _last_terminal(config)
    written = terminal.canonical.strip() if terminal is not None else ""
    names = [step for step in markers if _may_begin(step.terminal, written)]
    if not (embedded or names if free is None else free.terminal.short == "ARG_VALUE"):
        return []
    if terminal is None or len(written) < MIN_DISTINCT or any(step.terminal.name == terminal.name for step in markers):
        return []
    regex = rf"{re.escape(written)}\s{{0,9}}" if free is None else re.escape(written)
    name, first = f"{terminal.name}~~", written[0]
    doubled = Terminal(name, terminal.short, regex, "", free is None, True, _PRIORITY, first)
    return [Transition(doubled, config, (), (("stray", ""),), 0, written, replaces=True)]


def _may_begin(name: Terminal, written: str) -> bool:
    """May a name begin with a marker?"""
    return name.short in TOKENS and re.match(without_conditions(name.regex), written) is not None


def _last_terminal(config: Config) -> Terminal | None:
    """The marker whose shift led to a configuration; None if it was none."""
    if len(config.stack) < 2:
        return None
    terminals, (before, last) = config.automaton.tables.terminals, config.stack[-2:]
    names = [name for name, action in config.automaton.tables.states[before].items() if action == last]
    return next((terminals[n] for n in names if n in terminals and terminals[n].short.startswith("_")), None)


#: Characters of special tokens, which do not occur in text.
_SPECIAL_TOKEN = lazy_pattern(r"<[|｜]|\]<\]")
_MAX_CHAINS = 8
_MAX_MARKERS = 8


def insertions(config: Config) -> list[Transition]:
    """The transitions over what may stand in text only if an opening marker is missing or has a mistake."""
    free, _, markers = config.strict_transitions()
    if config.ends_reasoning:
        return near_openers(config)
    if free is None:
        return [*doubled_markers(config), *near_keys(config)]
    if free.terminal.short == "ARG_VALUE":
        return doubled_markers(config)
    if free.terminal.short != "TEXT":
        return []
    transitions: list[Transition] = []
    marker_names = {step.terminal.name for step in markers}
    for opener in markers:
        begun = [kinds for op, kinds in opener.after if op == "begin"]
        if not is_distinct(opener) or any(kinds in ("think", "code") for kinds in begun):
            continue
        free_text, _, following = opener.target.strict_transitions()
        for step in following:
            if step.terminal.name in marker_names or step.before or not is_distinct(step) or free_text:
                continue
            marker_names.add(step.terminal.name)
            written = opener.terminal.canonical
            after = (*opener.after, ("insert", written), *step.after)
            transitions.append(Transition(step.terminal, step.target, opener.before, after, step.cost, written))
    return [*transitions, *near_openers(config)]


def missing_closers(config: Config) -> tuple[MissingCloser, ...]:
    """The patterns that show that the closing marker of a value is missing. The value begins in the configuration."""
    if config.free is None or config.free.terminal.short != "ARG_VALUE":
        return ()
    return (*_calls(config), *_ends(config, config.free.target), *_arguments(config, config.free.target))


class LenientAutomaton(Automaton):
    """An automaton that also recognises markers whose opener is missing, and values whose closer is."""

    def insertions(self, config: Config) -> list[Transition]:
        return insertions(config)

    def missing_closers(self, config: Config) -> tuple[MissingCloser, ...]:
        return missing_closers(config)


def is_distinct(step: Transition) -> bool:
    """Is the marker too long to occur by chance?"""
    return len(step.terminal.canonical.strip()) >= MIN_DISTINCT and step.terminal.short.startswith("_")


def _calls(config: Config) -> list[MissingCloser]:
    """The beginning of another call up to the marker behind its name, unless that marker also ends a value."""
    automaton, closer = config.automaton, _closer(config)
    ends = {step.terminal.name for step in config.free.target.markers} if config.free else set[str]()
    by_regex: dict[str, MissingCloser] = {}
    for step in (*automaton.outside_of_call(config).markers, *automaton.top_level_markers):
        if not step.inserted and is_distinct(step) and step.terminal.name not in ends:
            for chain in _to_name(step, (), False):
                regex = _after_closer(closer, closer.lines, SPACES.join([regex_of(t.terminal) for t in chain]))
                opener, first = regex_of(step.terminal), _first(step)
                first += _first_of_near(closer.forms) if first else ""
                by_regex.setdefault(regex, MissingCloser(regex, opener, first, "call", closer.forms, opener))
    return list(by_regex.values())


def _to_name(step: Transition, before: tuple[Transition, ...], named: bool) -> list[tuple[Transition, ...]]:
    """The chains of markers from one over the name of a call to the next distinct marker."""
    chain = (*before, step)
    if named and (is_distinct(step) or before[-1].terminal.short == "ACTION_NAME"):
        return [chain]
    named = named or step.terminal.short in ("TOOL_NAME", "ACTION_NAME")
    if step.target.free or len(chain) > _MAX_MARKERS:
        return []
    return [found for t in step.target.markers for found in _to_name(t, chain, named)][:_MAX_CHAINS]


def _arguments(config: Config, value_end: Config) -> list[MissingCloser]:
    """The beginning of another argument up to its value: anywhere for special tokens, otherwise at a line start.

    Behind an intact closing marker, one of its markers may have a mistake, and the first may be missing or doubled.
    """
    argument_closers: list[MissingCloser] = []
    before = _closer(config)
    for closer in value_end.markers:
        for opener in closer.target.markers:
            named = next((t for t in opener.target.markers if t.terminal.short == "ARG_NAME"), None)
            if named is None or not is_distinct(opener):
                continue
            to_value, name = _to_value(named), f"({named.terminal.regex})"
            if not to_value:
                continue
            parts = [regex_of(opener.terminal), name, *to_value]
            is_special = _SPECIAL_TOKEN.search(opener.terminal.canonical)
            special = opener.terminal.canonical.strip()[:2] if is_special else ""
            lead = f"(?:{before.behind}|{before.lines}{{1,2}}{'|' if special else ''})"
            first = opener.terminal.first and f"{BREAKS}{closer.terminal.canonical.strip()[:2]}{special}"
            begins = regex_of(opener.terminal)
            argument_closers.append(
                MissingCloser(lead + SPACES.join(parts), begins, first, "argument", before.forms, begins)
            )
            if is_distinct(closer):
                # what begins with a slash is a closing marker with a mistake, whose end may not have come
                intact, bare = _spelled(closer), f"(?!/)({without_conditions(named.terminal.regex)})"
                with_mistake = [[near_miss_of(opener), name, *to_value], [bare, *to_value]]
                with_mistake.append(
                    [any_of(all_forms(opener.terminal), exact=True), regex_of(opener.terminal), name, *to_value]
                )
                nexts = named.target.markers
                if len(nexts) == 1 and is_distinct(nexts[0]):
                    with_mistake.append([regex_of(opener.terminal), name, near_miss_of(nexts[0]), *to_value[1:]])
                for other in with_mistake:
                    regex = intact + SPACES + SPACES.join(other)
                    first = f"{BREAKS}{closer.terminal.canonical.strip()[0]}"
                    argument_closers.append(
                        MissingCloser(regex, intact, first, "argument", tuple(all_forms(closer.terminal)))
                    )
    return argument_closers


def _to_value(named: Transition) -> list[str]:
    """The patterns of the markers between an argument's name and its value; none if they are not known."""
    parts: list[str] = []
    steps = named.target.markers
    while steps and len(parts) < _MAX_MARKERS:
        parts.append("|".join([regex_of(step.terminal) for step in steps]))
        if any(step.target.free or step.target.embedded for step in steps):
            return [f"(?:{part})" if "|" in part else part for part in parts]
        steps = steps[0].target.markers if len(steps) == 1 else []
    return []


def _ends(config: Config, value_end: Config) -> list[MissingCloser]:
    """The end of the call, with or without the markers between the value and that, and the closing marker twice.

    Behind an intact closing marker, the first marker of the end may have a mistake.
    """
    end_closers: list[MissingCloser] = []
    before = _closer(config)
    for closer in value_end.markers:
        chain, forms = _shortest_end(closer.target), tuple(all_forms(closer.terminal))
        written = closer.terminal.canonical.strip()
        if is_distinct(closer):
            spelled, first = any_of(forms, exact=True), BREAKS + written[0]
            end_closers.append(
                MissingCloser(f"{_spelled(closer)}(?={SPACES}{spelled})", spelled, first, "twice", forms)
            )
            if any(("end", kind) in closer.after for kind in CALLS):
                near = near_miss_of(closer)
                end_closers.append(MissingCloser(near, near, _first_of_near(forms), "end", forms))
            if chain:
                regex = SPACES.join(
                    [_spelled(closer), near_miss_of(chain[0]), *[regex_of(t.terminal) for t in chain[1:]]]
                )
                end_closers.append(MissingCloser(regex, spelled, first, "end", forms))
        for start in range(len(chain)):
            rest = SPACES.join([regex_of(t.terminal) for t in chain[start:]])
            lead = _lines(chain[start]) or _lines(closer)
            if not lead and closer.terminal.canonical.endswith("\n"):
                lead = r"\n"
            regex = _after_closer(before, lead, rest)
            first = _first(chain[start])
            first += written[:2] if first else ""
            begins, end = regex_of(chain[start].terminal), regex_of(chain[-1].terminal)
            end_closers.append(MissingCloser(regex, end, first, "end", before.forms, begins))
    return end_closers


def _shortest_end(config: Config) -> list[Transition]:
    """The fewest markers to the end of the call; none if one of them may occur by chance."""
    queue: list[tuple[Config, list[Transition]]] = [(config, [])]
    seen = {config}
    for at, chain in queue:
        for step in at.markers:
            if step.inserted:
                continue
            if any(op == ("end", "tool_call") for op in step.after):
                return [*chain, step] if all(is_distinct(t) for t in (*chain, step)) else []
            if step.target not in seen and not step.target.free and len(chain) < _MAX_MARKERS:
                seen.add(step.target)
                queue.append((step.target, [*chain, step]))
    return []


class _Closer(NamedTuple):
    """The closing marker of a value, where the end of the value is looked for without it.

    `behind` is the pattern of the marker, intact or with a mistake, and of a stray character behind it; `forms` are the
    forms of the marker, and `lines` is the pattern of a line break before it.
    """

    behind: str = "(?!)"
    forms: tuple[str, ...] = ()
    lines: str = r"\n"


def _closer(config: Config) -> _Closer:
    for closer in config.free.target.markers if config.free else ():
        if is_distinct(closer):
            behind = f"(?:{_spelled(closer)}|{near_miss_of(closer)}){SPACES}(?:\\S{SPACES})?"
            return _Closer(behind, tuple(all_forms(closer.terminal)), _lines(closer) or r"\n")
    return _Closer()


def _spelled(step: Transition) -> str:
    """The pattern of a marker as it is written, whatever follows it."""
    return f"{_maybe_lines(step)}{any_of(all_forms(step.terminal), exact=True)}"


def near_miss_of(step: Transition) -> str:
    """The pattern of a marker with a mistake."""
    return f"{_maybe_lines(step)}(?:{'|'.join(map(near_miss_pattern, all_forms(step.terminal)))})"


def _first_of_near(forms: Sequence[str]) -> str:
    """The characters with which a marker of some forms may begin if it has a mistake."""
    return BREAKS + "".join(dict.fromkeys([c for w in forms for c in (w[0], w[0].swapcase(), w[1])]))


def _after_closer(closer: _Closer, lead: str, regex: str) -> str:
    """The pattern after a closing marker, after `lead` once or twice, or by itself.

    The line breaks before and behind a closing marker that is missing meet there.
    """
    return "|".join([f"{closer.behind}{regex}", *([f"{lead}{{1,2}}{regex}"] if lead else []), regex])


def _lines(step: Transition) -> str:
    """The pattern of a line break before a marker that belongs to it; "" if none does."""
    lines = leading_space(step.terminal).lines
    return f"(?:{lines})" if lines else ""


def _maybe_lines(step: Transition) -> str:
    lines = _lines(step)
    return f"{lines}?" if lines else ""


def _first(step: Transition) -> str:
    return step.terminal.first and step.terminal.first + BREAKS


#: A key, its quotes and its colon as a grammar spells them, and the quote of a value.
_KEY = lazy_pattern(r"""(["'])(\w{4,})\1:(?: ?["'])?""")
#: The roles of values whose keys are read when the object ends.
_READ_LATER = frozenset({"arguments", "tool_name"})
#: What ends a key with the quote of its value. More white space may make it a sound one.
_AT_QUOTE = r"(?<!\s)(?!\s)"
#: What ends a key with its colon, or without it. What follows shows that no longer text is the key with a mistake.
_AT_COLON = (
    r"""(?:(?<=["']:)(?=\s{0,99}[^\s:])|(?<=[^"']:)(?=\s{0,99}[^\s:"']|\s{1,99}["'])"""
    r"""|(?<=["'])(?=\s{0,99}[\[{]|\s{1,99}["']))"""
)
#: They are tried before the markers of other keys.
PRIORITY = 9


def near_keys(config: Config) -> list[Transition]:
    """The transitions over keys with a mistake that may stand in a configuration, if other keys may."""
    markers = config.strict_transitions()[2]
    firsts = {first for step in markers for first in _begins_other_key(step)}
    named = [step for step in markers if not _begins_other_key(step)] if firsts else []
    # what a marker asks for behind it may still be on its way
    sound = "|".join([f"(?:{without_conditions(step.terminal.regex)})" for step in named])
    transitions: list[Transition] = []
    for step in named:
        written = step.terminal.canonical
        if written[:1] not in firsts:
            continue
        if key := _KEY.fullmatch(written.strip()):
            written = written.strip()
            roles = {value.role for value in step.target.strict_transitions()[1]}
            end = _AT_COLON if written[-1] == ":" else _AT_QUOTE
            if not key or roles & _READ_LATER:
                continue
        elif is_evidence(step.terminal) and not written[0].isalnum() and written[0] not in "\"'":
            end = ""
        else:
            continue
        name, short = f"{step.terminal.name}~", step.terminal.short
        cut = rf"|{re.escape(written.rstrip())}(?!\S)" if written[-1].isspace() else ""  # the text may end there
        # its first character stands: what is before it may be the last one of a value
        regex = f"(?={re.escape(written[0])})(?!{sound}{cut}){near_miss_pattern(written)}{end}"
        terminal = Terminal(name, short, regex, "", grows=True, may_stay_open=True, priority=PRIORITY, first=written[0])
        after = (("replace", written), *step.after)
        transitions.append(Transition(terminal, step.target, step.before, after, step.cost, written, replaces=True))
    return transitions


def _begins_other_key(step: Transition) -> str:
    """The first character of a key that the grammar does not name; "" if the marker begins none."""
    if step.terminal.short == "_OTHER_KEY":
        return '"'
    if any(after.terminal.short == "ARG_NAME" for after in step.target.strict_transitions()[2]):
        return step.terminal.canonical[:1]
    return ""
