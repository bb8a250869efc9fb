"""Opening markers with a mistake: transitions over text that is nearly an opening marker, where a call follows.

To the strict grammar, an opening marker with a mistake is text, and so is the call behind it. Prose holds such text,
too. So what follows must go on as the grammar says, up to a marker that does not occur by chance.
"""

from __future__ import annotations

from outspoken.patterns.near_miss import SHORT_MARKER, near_miss_pattern

from .automaton import Config, Transition
from .tables import Terminal

#: What may stand between two markers.
SPACES = r"\s{0,20}"
#: No more markers than this are looked at behind an opening marker, and no more ways to go on.
_MAX_MARKERS, _MAX_WAYS = 6, 12
#: How JSON begins that is not prose.
_JSON_OPEN = {"JSON_OBJECT": r"\{\s{0,20}[\"'“＂}]", "JSON_ARRAY": r"\[\s{0,20}[\[{\"']", "JSON_STRING": '"'}
_JSON_OPEN["JSON_VALUE"] = f"(?:{_JSON_OPEN['JSON_OBJECT']}|{_JSON_OPEN['JSON_ARRAY']})"
#: Markers of other formats and of prose are written before the markers of this one are tried with a mistake.
_PRIORITY = -9


def near_openers(config: Config) -> list[Transition]:
    """The transitions over opening markers with a mistake that may stand in the text of a configuration."""
    found: list[Transition] = []
    known = set[str]()
    for opener in config.strict_transitions()[2]:
        written = opener.terminal.canonical.strip()
        begun = {kind for op, kinds in opener.after if op == "begin" for kind in kinds.split()}
        if len(written) < SHORT_MARKER or written in known or begun & {"think", "code"}:
            continue
        following = evidence(opener.target)
        if following:
            known.add(written)
            found.append(_with_mistake(opener, written, following))
    return found


def _with_mistake(opener: Transition, written: str, following: str) -> Transition:
    first = {written[0], written[0].swapcase(), written[1]}
    boundary = r"(?<!\w)" if written[0].isalnum() else ""
    terminal = Terminal(
        name=f"{opener.terminal.name}~",
        short=opener.terminal.short,
        regex=f"{boundary}{near_miss_pattern(written)}(?={SPACES}{following})",
        canonical="",
        grows=False,
        may_stay_open=True,
        priority=_PRIORITY,
        first="".join(sorted(first)),
    )
    after = (("replace", opener.terminal.canonical), *opener.after)
    return Transition(
        terminal, opener.target, opener.before, after, opener.cost, opener.terminal.canonical, replaces=True
    )


def evidence(config: Config) -> str:
    """The pattern of what shows that a marker led to a configuration; "" if nothing that may follow shows it."""
    ways = _ways(config, _MAX_MARKERS, named=False)
    return f"(?:{'|'.join(dict.fromkeys(ways))})" if ways else ""


def _ways(config: Config, depth: int, *, named: bool) -> list[str]:
    """The patterns of the markers that may follow, up to one that is evidence."""
    free, embedded, markers = config.strict_transitions()
    if free is not None:
        return [""] if named else []
    found = [_JSON_OPEN[e.terminal.short] for e in embedded if e.terminal.short in _JSON_OPEN]
    if named and embedded:
        found.append("")
    for step in markers:
        regex = regex_of(step.terminal)
        if is_evidence(step.terminal):
            found.append(regex)
        elif depth > 1 and len(found) < _MAX_WAYS:
            name = named or step.terminal.short in ("TOOL_NAME", "ACTION_NAME")
            found += [regex + (SPACES + way if way else "") for way in _ways(step.target, depth - 1, named=name)]
    return found[:_MAX_WAYS]


def is_evidence(terminal: Terminal) -> bool:
    """Does a marker show that a call is meant: is it long enough, and no word?"""
    written = terminal.canonical.strip()
    return terminal.short.startswith("_") and len(written) >= SHORT_MARKER and not written.isalpha()


def regex_of(terminal: Terminal) -> str:
    """The pattern of a terminal as a part of another one."""
    return f"(?:{terminal.regex})" if "|" in terminal.regex else terminal.regex
