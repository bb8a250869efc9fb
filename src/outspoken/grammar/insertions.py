"""What an automaton also recognises so that damage is noticed where the strict grammar would read on.

Text outside of calls may be anything, and so may a value that is written without escapes. So a call whose opening
marker is missing would be text, and a value whose closing marker is missing would run over the calls behind it. Both
are found by markers that cannot stand there by chance.
"""

from __future__ import annotations

import re

from .automaton import Config, LenientRules, MissingCloser, Transition
from .tables import Terminal

#: A marker that is as long as this is not met by chance.
_TELLING = 6
#: What only tokens hold, and text never does.
_ALIEN = re.compile(r"<[|｜]|\]<\]")
_BLANKS = r"\s{0,20}"
_MAX_CHAINS = 8
_MAX_LINKS = 8


def insertions(config: Config) -> list[Transition]:
    """The transitions over what follows an opening marker, in text without it."""
    free, _, markers = config.strict_transitions()
    if free is None or free.terminal.short != "TEXT":
        return []
    found: list[Transition] = []
    known = {step.terminal.name for step in markers}
    for opener in markers:
        begun = [kinds for op, kinds in opener.after if op == "begin"]
        if not is_telling(opener) or any(kinds in ("think", "code") for kinds in begun):
            continue
        behind, _, following = opener.target.strict_transitions()
        for step in following:
            if step.terminal.name in known or step.before or not is_telling(step) or behind:
                continue
            known.add(step.terminal.name)
            written = opener.terminal.canonical
            after = (*opener.after, ("supply", written), *step.after)
            found.append(Transition(step.terminal, step.target, opener.before, after, step.cost, written))
    return found


def missing_closers(config: Config) -> tuple[MissingCloser, ...]:
    """What in a value that begins in a configuration says that its closing marker is missing."""
    if config.free is None or config.free.terminal.short != "ARG_VALUE":
        return ()
    return (*_openings(config), *_endings(config), *_arguments(config))


LENIENT_RULES = LenientRules(insertions, missing_closers)


def is_telling(step: Transition) -> bool:
    """Is the marker one that is not met by chance?"""
    return len(step.terminal.canonical.strip()) >= _TELLING and step.terminal.short.startswith("_")


def _openings(config: Config) -> list[MissingCloser]:
    """The beginning of another call, over its name and up to what must follow there, where no value may end at one."""
    automaton = config.automaton
    ends = {step.terminal.name for step in config.free.target.markers} if config.free else set[str]()
    home = automaton.top_level
    own = _own(config)
    places = [automaton.outside_of_call(config), home.free.target if home.free else home]
    found: dict[str, MissingCloser] = {}
    for place in places:
        for step in place.markers:
            if not step.inserted and is_telling(step) and step.terminal.name not in ends:
                for chain in _named(step, (), False):
                    regex = _led(own, "\\n", _BLANKS.join([_alone(t) for t in chain]))
                    found.setdefault(regex, MissingCloser(regex, _alone(step), _first(step), "call"))
    return list(found.values())


def _named(step: Transition, before: tuple[Transition, ...], named: bool) -> list[tuple[Transition, ...]]:
    """The ways on from a marker over the name of a call to the next marker that is not met by chance."""
    chain = (*before, step)
    if named and is_telling(step):
        return [chain]
    named = named or step.terminal.short == "TOOL_NAME"
    if step.target.free or len(chain) > _MAX_LINKS:
        return []
    return [way for t in step.target.markers for way in _named(t, chain, named)][:_MAX_CHAINS]


def _arguments(config: Config) -> list[MissingCloser]:
    """The beginning of another argument, up to its value: at the beginning of a line, or anywhere if it is no text."""
    found: list[MissingCloser] = []
    for closer in config.free.target.markers if config.free else ():
        for opener in closer.target.markers:
            named = next((t for t in opener.target.markers if t.terminal.short == "ARG_NAME"), None)
            if named is None or not is_telling(opener):
                continue
            parts = [_alone(opener), f"({named.terminal.regex})", *_to_value(named)]
            if len(parts) > 2:
                alien = opener.terminal.canonical.strip()[:2] if _ALIEN.search(opener.terminal.canonical) else ""
                lead = f"(?:{_own(config)}|\\n{'|' if alien else ''})"
                first = opener.terminal.first and f"\n{closer.terminal.canonical.strip()[:2]}{alien}"
                found.append(MissingCloser(lead + _BLANKS.join(parts), _alone(opener), first, "argument"))
    return found


def _to_value(named: Transition) -> list[str]:
    """What leads from an argument's name to its value, as expressions; none where that is not known."""
    parts: list[str] = []
    steps = named.target.markers
    while steps and len(parts) < _MAX_LINKS:
        parts.append("|".join([_alone(step) for step in steps]))
        if any(step.target.free or step.target.embedded for step in steps):
            return [f"(?:{part})" if "|" in part else part for part in parts]
        steps = steps[0].target.markers if len(steps) == 1 else []
    return []


def _own(config: Config) -> str:
    """The marker that ends a value, as it is written or nearly so, where nothing that may follow it does."""
    for closer in config.free.target.markers if config.free else ():
        if is_telling(closer):
            written = closer.terminal.canonical.strip()
            spelled = "|".join([re.escape(w) for w in (written, written[:-1], written[1:])])
            lead = _break(closer.terminal)
            return f"{f'{lead}?' if lead else ''}(?:{spelled}){_BLANKS}"
    return "(?!)"


def _endings(config: Config) -> list[MissingCloser]:
    """The end of the call, with or without the markers between the value and it."""
    found: list[MissingCloser] = []
    for closer in config.free.target.markers if config.free else ():
        chain = _shortest_end(closer.target)
        written = closer.terminal.canonical.strip()
        if is_telling(closer):
            spelled, lead = re.escape(written), _break(closer.terminal)
            twice = f"{lead}{'?' if lead else ''}{spelled}(?={_BLANKS}{spelled})"
            found.append(MissingCloser(twice, spelled, f"\n{written[0]}", "twice"))
        for start in range(len(chain)):
            rest = _BLANKS.join([_alone(t) for t in chain[start:]])
            lead = _break(chain[start].terminal) or _break(closer.terminal)
            regex = _led(_own(config), lead, rest)
            first = _first(chain[start])
            found.append(MissingCloser(regex, _alone(chain[-1]), first and first + written[:2], "end"))
    return found


def takes_break(terminal: Terminal) -> bool:
    """Does a line break before a marker belong to it?"""
    return "\n" in terminal.first or terminal.canonical.startswith("\n")


def _break(terminal: Terminal) -> str:
    return r"\n" if takes_break(terminal) else ""


def _led(own: str, lead: str, regex: str) -> str:
    """An expression behind a closing marker, behind what leads to it, or alone."""
    return "|".join([f"{own}{regex}", *([f"{lead}{regex}"] if lead else []), regex])


def _shortest_end(config: Config) -> list[Transition]:
    """The fewest markers to the end of the call."""
    queue: list[tuple[Config, list[Transition]]] = [(config, [])]
    seen = {config}
    for at, chain in queue:
        for step in at.markers:
            if step.inserted:
                continue
            if any(op == ("end", "tool_call") for op in step.after):
                return [*chain, step] if all(is_telling(t) for t in (*chain, step)) else []
            if step.target not in seen and not step.target.free and len(chain) < _MAX_LINKS:
                seen.add(step.target)
                queue.append((step.target, [*chain, step]))
    return []


def _alone(step: Transition) -> str:
    regex = step.terminal.regex
    return f"(?:{regex})" if "|" in regex else regex


def _first(step: Transition) -> str:
    return step.terminal.first and step.terminal.first + "\n"
