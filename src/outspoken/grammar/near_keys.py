"""Keys with a mistake: transitions over text that is nearly a key of an object, where other keys may stand, too.

To the strict grammar, a key with a mistake is an unknown key or the name of an argument.
"""

from __future__ import annotations

import re

from outspoken.patterns.near_miss import near_miss_pattern

from .automaton import Config, Transition
from .near_openers import regex_of
from .tables import Terminal

#: A key, its quotes and its colon as a grammar spells them, and the quote of a value.
_KEY = re.compile(r"""(["'])(\w{4,})\1:(?: ?["'])?""")
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
    quotes = {step.terminal.canonical.strip() for step in markers if step.terminal.short == "_KEY_OPEN"}
    if any(step.terminal.short == "_OTHER_KEY" for step in markers):
        quotes.add('"')
    found: list[Transition] = []
    for step in markers if quotes else []:
        written = step.terminal.canonical.strip()
        key = _KEY.fullmatch(written)
        roles = {value.role for value in step.target.strict_transitions()[1]}
        if key is None or key[1] not in quotes or roles & _READ_LATER:
            continue
        end = _AT_COLON if written[-1] == ":" else _AT_QUOTE
        regex = f"(?!{regex_of(step.terminal)}){near_miss_pattern(written)}{end}"
        name, short = f"{step.terminal.name}~", step.terminal.short
        terminal = Terminal(name, short, regex, "", grows=True, may_stay_open=True, priority=PRIORITY, first=written[0])
        after = (("replace", written), *step.after)
        found.append(Transition(terminal, step.target, step.before, after, step.cost, written, replaces=True))
    return found
