"""Keys with a mistake: transitions over text that is nearly a key, or nearly the marker behind the last argument.

To the strict grammar, either is an unknown key or the name of an argument if other keys may stand there, too.
"""

from __future__ import annotations

import re

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.near_miss import near_miss_pattern
from outspoken.patterns.spellings import without_conditions

from .automaton import Config, Transition
from .near_openers import is_evidence
from .tables import Terminal

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
    found: list[Transition] = []
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
        found.append(Transition(terminal, step.target, step.before, after, step.cost, written, replaces=True))
    return found


def _begins_other_key(step: Transition) -> str:
    """The first character of a key that the grammar does not name; "" if the marker begins none."""
    if step.terminal.short == "_OTHER_KEY":
        return '"'
    if any(after.terminal.short == "ARG_NAME" for after in step.target.strict_transitions()[2]):
        return step.terminal.canonical[:1]
    return ""
