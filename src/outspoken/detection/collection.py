"""Collects the opening markers of formats from their automata, ahead of time for formats with a grammar file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.registry import PLAIN
from outspoken.notations.interface import notation_of
from outspoken.patterns.prefilter import prefilter_source
from outspoken.patterns.prefixes import index_prefixes
from outspoken.patterns.spellings import spellings, without_conditions

from .evidence import NAMED
from .openers import Marker, Opener, Openers


def _order(marker: Marker) -> tuple[int, int, str]:
    """The order in which markers are tried, that of terminals."""
    return -marker.priority, -len(marker.regex), marker.name


def collect(automata: Iterable[tuple[str, Automaton]], plain: Automaton) -> Openers:
    """The openers of formats, by their lenient automata. `plain` is that of plain text."""
    own_steps = plain.top_level_markers
    own_patterns = [re.compile(step.terminal.regex) for step in own_steps]
    plain_openers = [
        _opener(PLAIN, step)
        for step in own_steps
        if step.target.free is None or step.target.free.terminal.short != "CODE"
    ]
    markers: dict[str, Marker] = {}
    openers: list[Opener] = []
    for name, automaton in automata:
        for step in automaton.top_level_markers:
            if step.replaces or automaton.tables.header.evidence_of(step.terminal.short) == NAMED:
                continue  # of an unknown format, a marker with a mistake is text
            regex, written = step.terminal.regex, step.terminal.canonical.strip()
            is_special = step.target.leading_markers or step.target.embedded
            if is_special or not any(p.pattern == regex or (written and p.fullmatch(written)) for p in own_patterns):
                markers[regex] = _marker(step)
                openers.append(_opener(name, step))
            elif other := _other_spellings(step, own_steps):
                marker, opener = _marker(step), _opener(name, step)
                markers[other] = marker._replace(regex=other)
                openers.append(opener._replace(regex=other))
    return _indexed(markers, [_marker(step) for step in own_steps], openers, plain_openers)


def _other_spellings(step: Transition, own: Iterable[Transition]) -> str:
    """The pattern of the other spellings of a marker that plain text has, too; "" if there are none that may count.

    They count if the marker has conditions for what stands before it. Without these, prose about a tag would be one.
    """
    regex = step.terminal.regex
    if regex in {other.terminal.regex for other in own}:
        return ""
    known = [without_conditions(other.terminal.regex) for other in own if other.terminal.short == step.terminal.short]
    is_wider = any(not re.fullmatch("|".join(known), text) for text in spellings(regex) or (regex,))
    return f"(?!{'|'.join(known)})(?:{regex})" if known and is_wider and "(?<" in regex else ""


def join(one: Openers, other: Openers) -> Openers:
    """The openers of both, for the same plain text."""
    markers = {marker.regex: marker for marker in (*one.markers, *other.markers)}
    return _indexed(markers, one.own, one.openers + other.openers, one.plain_openers)


def _indexed(
    markers: dict[str, Marker], own: list[Marker], openers: list[Opener], plain_openers: list[Opener]
) -> Openers:
    ordered = sorted(markers.values(), key=_order)
    patterns = [marker.regex for marker in (*ordered, *own)]
    sources = [prefilter_source(patterns, partial=partial) for partial in (False, True)]
    by_format = sorted(openers, key=lambda o: o.format)
    return Openers(ordered, own, by_format, plain_openers, index_prefixes(patterns), *sources)


def _marker(step: Transition) -> Marker:
    terminal = step.terminal
    return Marker(terminal.name, terminal.regex, terminal.canonical, terminal.may_stay_open, terminal.priority)


def _opener(format: str, step: Transition) -> Opener:
    config, regex, inserted = step.target, step.terminal.regex, bool(step.inserted)
    ignored, wanted = config.automaton.tables.ignore, config.automaton.tables.header.evidence_of(step.terminal.short)
    if config.free is not None and config.free.terminal.short == "CODE":
        following = "|".join([t.terminal.regex for t in config.leading_markers]) or "(?!)"
        firsts = [t.terminal.first for t in config.leading_markers]
        first = "".join(sorted(set("".join(firsts)))) if all(firsts) else ""
        return Opener(
            format, regex, inserted, ignored, following, True, "" if re.search(r"\s", first) else first, wanted
        )
    if config.free is not None:
        return Opener(format, regex, inserted, "", "", evidence=wanted)
    embedded = [f"(?={notation_of(t.terminal).first_chars})" for t in config.embedded]
    following = "|".join([*[t.terminal.regex for t in config.markers], *embedded, r"\Z"])
    return Opener(format, regex, inserted, ignored, following, evidence=wanted)
