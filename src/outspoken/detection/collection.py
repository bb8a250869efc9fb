"""Collects the opening markers of formats from their automata, ahead of time for formats with a grammar file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.format_index import BRACKETS
from outspoken.grammar.registry import PLAIN
from outspoken.notations.interface import notation_of
from outspoken.patterns.prefilter import any_of, prefilter_source
from outspoken.patterns.prefixes import index_prefixes, prefixes
from outspoken.patterns.spellings import spellings, without_conditions
from outspoken.semantics.think_markers import think_markers

from .evidence import BEHIND, NAMED
from .openers import Marker, Opener, Openers

#: A shorter marker is in much text that holds no call.
_SHORTEST_SIGN = 6
#: What precedes the first bracket of a marker.
_BEFORE_BRACKET = re.compile(f"[^{re.escape(BRACKETS)}]*")


def _order(marker: Marker) -> tuple[int, int, str]:
    """The order in which markers are tried, that of terminals."""
    return -marker.priority, -len(marker.regex), marker.name


def collect(automata: Iterable[tuple[str, Automaton]], plain: Automaton) -> Openers:
    """The openers of formats, by their lenient automata. `plain` is that of plain text."""
    own_steps = plain.top_level_markers
    known = [re.compile(step.terminal.regex) for step in own_steps]
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
            if is_special or not any(p.pattern == regex or (written and p.fullmatch(written)) for p in known):
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


def sign_patterns(automata: Iterable[tuple[str, Automaton]]) -> list[str]:
    """The patterns of the signs of calls in formats, and of what closes their reasoning, one for each bracket."""
    found, wide = set[str](), set[str]()
    for name, automaton in automata:
        openers = [_opener(name, step) for step in automaton.top_level_markers if not step.inserted]
        distinct = [o for o in openers if o.following and not o.in_code and o.evidence not in (BEHIND, NAMED)]
        thinks = think_markers(automaton)
        closers = [thinks.closer.pattern] if thinks is not None and not thinks.is_shared else []
        for bare in [without_conditions(regex) for regex in [*[o.regex for o in distinct], *closers]]:
            found |= {_BEFORE_BRACKET.sub("", text, count=1).rstrip() for text in _beginnings(bare)}
            wide |= {bare} if _is_wide(bare) else set()
    long = {text for text in found if len(text) >= _SHORTEST_SIGN}
    signs = {text for text in long if not any(text != one and one in text for one in long)}
    patterns: list[str] = []
    for bracket in BRACKETS:
        rests = {text[1:] for text in signs if text[0] == bracket}
        wider = sorted([bare.replace(bracket, "", 1) for bare in wide if spellings(bare)[0][0] == bracket])
        patterns.append(f"{re.escape(bracket)}(?:{'|'.join([any_of(rests)] * bool(rests) + wider) or '(?!)'})")
    return patterns


def _is_wide(bare: str) -> bool:
    """Does a bracket begin a pattern that spells long markers, and something that is not known follow it?"""
    spelled = spellings(bare)
    starts = {text[0] for text in spelled}
    return (
        len(starts) == 1
        and starts <= {*BRACKETS}
        and any(text.rstrip() in BRACKETS for text in prefixes(bare))
        and all(len(text) >= _SHORTEST_SIGN for text in spelled)
        and all(re.match(bare.replace(text[0], "", 1), text[1:]) for text in spelled)
    )


def _beginnings(bare: str) -> Iterable[str]:
    """How what a pattern matches begins; in lower case if the pattern ignores case."""
    return (spellings(bare) if "(?i" in bare else ()) or prefixes(bare)


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
