"""The places where the grammar refuses the text, as diagnostics, and the names of configurations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from outspoken.grammar import registry
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, JSON_FIRST, TOKENS
from outspoken.patterns.spellings import without_conditions
from outspoken.results.diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.replies import Reply
from outspoken.results.snippet import visible

from .steps import ViewStep

#: A regular expression is shown up to here: one that is expected, and one whose conditions are not met.
_LONGEST, _LONGEST_UNMET = 60, 200
#: Of so many markers it is said that they stand there without what their patterns ask for.
_MOST_UNMET = 3


@dataclass(frozen=True)
class ConfigView:
    """A configuration: its name, the vocabulary rules that are open, what it accepts, and whether the text may end.

    `free` is the acceptable free text, if any; the terminals that are `expected` are then those that can end it.
    """

    name: str
    inside: str
    free: str
    expected: tuple[str, ...]
    may_end: bool

    def __str__(self) -> str:
        marks = ", ".join(self.expected)
        if self.free:
            marks = f"`{self.free}` up to {marks or 'the end'}"
        return f"{f'in {self.inside}' if self.inside else 'outside'}: {marks or 'nothing'}"


class Configs:
    """Numbers configurations in the order in which they are asked for."""

    def __init__(self) -> None:
        self._numbers: dict[Config, int] = {}
        self.views: list[ConfigView] = []

    def number(self, config: Config) -> int:
        """The number of a configuration."""
        if config not in self._numbers:
            self._numbers[config] = len(self.views)
            self.views.append(described(config, f"c{len(self.views)}"))
        return self._numbers[config]


def described(config: Config, name: str = "") -> ConfigView:
    """What a configuration accepts."""
    nodes = config.automaton.tables.nodes
    inside = " > ".join([" or ".join(nodes[state].split()) for state in config.stack if nodes[state]])
    expected = tuple(dict.fromkeys([_spelled(step) for step in acceptable(config)]))
    free = config.free.terminal.short if config.free else ""
    return ConfigView(name, inside, free, expected, config.end_operations() is not None)


def acceptable(config: Config) -> Iterator[Transition]:
    """What may stand in a configuration: markers and embedded values, and those that may end its free text."""
    yield from config.embedded
    behind = (*config.free.target.embedded, *config.free.target.markers) if config.free is not None else ()
    yield from [step for step in (*config.markers, *behind) if not step.inserted]


def unmet(steps: Iterable[Transition], text: str, at: int) -> list[str]:
    """Notes on the markers that would stand at a place if their patterns did not ask for more round them."""
    found: list[str] = []
    for terminal in dict.fromkeys([step.terminal for step in steps if not step.inserted]):
        bare = without_conditions(terminal.regex)
        match = re.compile(bare).match(text, at) if bare != terminal.regex else None
        if match is not None and match[0] and re.compile(terminal.regex).match(text, at) is None:
            asked = f"stands here, without what its pattern asks for: /{_short(terminal.regex, _LONGEST_UNMET)}/"
            found.append(f"`{terminal.short}` {_quoted(match[0])} {asked}")
    return found[:_MOST_UNMET]


def _spelled(step: Transition) -> str:
    """The name of a terminal and how it is spelled, which is left out for free text and embedded values."""
    terminal = step.terminal
    if terminal.short in EMBEDDED_VALUES or terminal.short in TOKENS:
        return f"`{terminal.short}`"
    spelled = _quoted(terminal.canonical) if terminal.canonical else f"/{_short(terminal.regex, _LONGEST)}/"
    return f"`{terminal.short}` {spelled}"


def _short(regex: str, most: int) -> str:
    shown = visible(regex)
    return shown if len(shown) <= most else f"{shown[:most]}..."


def _quoted(text: str) -> str:
    return '"{}"'.format(visible(text).replace('"', r"\""))


#: This many terminals are named of those that were expected.
_MOST = 8
#: This many tokens are shown of those that were read before, and this many characters of each.
_TOKENS, _LONG = 4, 40


def refusals(steps: list[ViewStep], reply: Reply, name: str) -> list[str]:
    """The places where a grammar refused the text, those that no format reads, and openers that open nothing, drawn.

    `name` is the format that the text was read in, "" for none.
    """
    notes: list[PendingDiagnostic] = []
    for number, step in enumerate(steps):
        if step.kind == "refused":
            notes.append(_refused(step, steps[:number], _outcome(steps[number + 1 :]), reply.raw))
        elif step.kind == "tried":
            notes.append(_tried(step))
    notes = notes or list(_openers_of_nothing(reply, name))
    return [diagnostic.frame() for diagnostic in place_diagnostics(notes, reply.raw)]


def _refused(step: ViewStep, before: list[ViewStep], outcome: str, raw: str) -> PendingDiagnostic:
    config, value = step.config, step.transition
    if value is not None:
        message = f"`{value.terminal.short}` cannot be read on here"
    elif config.free is not None and config.free.terminal.short == "ARG_VALUE":
        message = "`ARG_VALUE` seems to end here without its closing marker"
    else:
        message = "the grammar has no place for what stands here"
    begun = next((token.end for token in reversed(before) if token.is_token), 0)
    wrong = _json_error(raw, begun) if value is not None and value.terminal.short in JSON_FIRST else ""
    conditions = unmet(acceptable(config), raw, max(step.start, 0)) if value is None else []
    notes = [_read(before, raw), wrong or _expected(step), *conditions, outcome]
    start = min(max(step.start, 0), len(raw))
    span = start, min(max(step.end, start + 1), len(raw))
    format_ = config.automaton.tables.header.format
    return PendingDiagnostic(
        "refused", message, span, "note", format_, "refused here", tuple([note for note in notes if note])
    )


def _read(before: list[ViewStep], raw: str) -> str:
    """The last tokens that were read in the segment before a place."""
    tokens: list[str] = []
    for step in reversed(before):
        if not step.is_token or step.transition is None or step.transition.terminal.short == "TEXT":
            break
        text = visible(raw[max(step.start, 0) : max(step.end, 0)].strip())
        shown = text if len(text) <= _LONG else f"{text[: _LONG // 2]}...{text[-_LONG // 3 :]}"
        tokens.append(f"`{step.transition.terminal.short}` {shown}".strip())
        if len(tokens) == _TOKENS:
            break
    return f"read before it: {', '.join(reversed(tokens))}" if tokens else ""


def _tried(step: ViewStep) -> PendingDiagnostic:
    notes = [f"{name}: {_why(steps)}" for name, steps in step.trials] or ["too much was tried before this"]
    start = max(step.start, 0)
    message = "a marker stands here, and no format reads on from it"
    return PendingDiagnostic("unclaimed", message, (start, start + 1), "note", None, "", tuple(notes))


def _why(steps: list[ViewStep]) -> str:
    """Why a format did not read a segment."""
    step = next((step for step in steps if step.kind == "refused"), None)
    return f"refused at {step.start}; {_expected(step)}" if step is not None else "nothing but text is in it"


def _expected(step: ViewStep) -> str:
    if step.transition is not None:
        return f"expected more of `{step.transition.terminal.short}`"
    config = described(step.config)
    more = f" and {len(config.expected) - _MOST} more" if len(config.expected) > _MOST else ""
    inside = f" in {config.inside}" if config.inside else ""
    return f"expected{inside}: {', '.join(config.expected[:_MOST]) or 'the end'}{more}"


def _json_error(raw: str, begun: int) -> str:
    """What the standard decoder says of the JSON value behind a token."""
    start = len(raw) - len(raw[begun:].lstrip()) if begun >= 0 else 0
    try:
        json.JSONDecoder().raw_decode(raw, start)
    except json.JSONDecodeError as error:
        return f"as JSON: {error.msg[0].lower()}{error.msg[1:]}"
    except RecursionError:
        return "as JSON: it nests too deeply"
    return ""


def _outcome(behind: list[ViewStep]) -> str:
    """What became of a refused segment."""
    step = next((step for step in behind if not step.is_token and step.kind not in ("tried", "chosen")), None)
    if step is None or step.kind == "refused":
        return ""
    if step.kind == "rejected":
        return f"read as damaged, at a cost of {step.cost}, it contradicts what was sent or can be read in two ways"
    became = {
        "recovered": f"was read again as damaged, at a cost of {step.cost}",
        "text": "is text",
        "unread": "was given up",
    }
    return f"{step.start} to {step.end} {became[step.kind]}"


def _openers_of_nothing(reply: Reply, name: str) -> Iterator[PendingDiagnostic]:
    """The first opening marker in each text of a reply that opens nothing, since its pattern asks for more."""
    steps = [step for step in registry.automaton(name).top_level_markers if not step.inserted] if name else []
    bare = {step: without_conditions(step.terminal.regex) for step in steps}
    telling = [step for step in steps if step.terminal.canonical.strip()[1:] and bare[step] != step.terminal.regex]
    if not telling:
        return
    anywhere = re.compile("|".join(f"(?:{bare[step]})" for step in telling))
    for segment in [segment for segment in reply.segments if segment.kind == "text"]:
        for match in anywhere.finditer(reply.raw, *segment.span):
            notes = unmet(telling, reply.raw, match.start()) if match[0] else []
            if notes:
                message = "an opening marker stands here, and opens nothing"
                yield PendingDiagnostic("opens-nothing", message, match.span(), "note", name, "", tuple(notes))
                break
