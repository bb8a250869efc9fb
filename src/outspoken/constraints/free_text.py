"""What free text may hold, so that it is read as text: none of the markers that end it, and code only as a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache, reduce
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.near_openers import written_forms
from outspoken.grammar.value_markup import closing_forms, loose_markup
from outspoken.patterns import syntax
from outspoken.patterns.loose_markup import MarkerRests, is_name
from outspoken.patterns.markup_search import is_distinct_marker
from outspoken.patterns.near_miss import fragments
from outspoken.semantics.call_shapes import is_ended_by_chance
from outspoken.semantics.unread_markup import written_markers

from .automata import Dfa, Nfa, complement, determinize, intersection, length_between, matching, without
from .dfa_patterns import dfa_pattern
from .forms import FreeText
from .plain_patterns import escape, in_class, plain_pattern

#: If so many markers begin with the same signs, text may not hold these.
_MANY = 4
#: Signs that are frequent in text.
_COMMON = frozenset({"</", "(?", '":', "**", "[^", "```"})
#: Of shorter markers, no half is excluded.
_LONG = 8
#: The characters of words and all beyond ASCII, a class of white space, and one of all else.
_WORD, _SPACE, _SOLID = "0-9A-Z_a-z\x80-\U0010ffff", "[\\t-\\r\x1c- ]", "[^\\t-\\r\x1c- ]"
#: A text in which each bracket that is opened is closed before the next one.
_CLOSED = r"[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*"
#: No automaton of free text has more states.
_LIMIT = 3000


#: The language of a block of code, which is short. Blocks of JSON, XML and tools may hold calls.
_INFO = r"(?:[A-IK-SU-WYZa-ik-su-wyz0-9_+#.-][a-zA-Z0-9_+#.-]{0,20}|[Jj]av[a-z]{0,9}|jsx?|tsx?|[Tt](?:e|y)[a-z]{0,9}|)"


#: Patterns of code: within a line, where a long span is read as text, and a block.
SPAN = r"`[^`\n]{1,200}`"
FENCE = f"```{_INFO}\\n(?:(?:[^\\n`~][^\\n`]*|~[^~\\n`][^\\n`]*)?\\n)*```"


@lru_cache(maxsize=1024)
def excluded_patterns(
    automaton: Automaton, configs: tuple[Config, ...], *, is_text: bool, is_value: bool = False
) -> tuple[str, ...]:
    """The patterns of what free text may not hold, where one of some configurations is behind it.

    These are the markers that may follow, as their patterns read them, and half of a marker that is recognised with a
    mistake. In text and in values, these are all markers; in values, also what shows that a closing marker is missing.
    """
    patterns: dict[str, None] = {}
    written: dict[str, None] = {}
    literals: set[str] = set()
    for config in configs:
        for step in config.markers:
            if is_text and _begins_code(step):
                continue
            if step.replaces:
                written[step.inserted.strip()] = None
            elif _may_stand_in_text(step):
                patterns[plain_pattern(step.terminal.regex)] = None
                if config.value_config is not None or not is_text:
                    written |= dict.fromkeys(written_forms(step.terminal))
        patterns |= dict.fromkeys([plain_pattern(closer.regex) for closer in config.missing_closers])
    with_all = is_text or is_value
    markers = [m for m in written_markers(automaton.tables) if is_distinct_marker(m)] if with_all else []
    for marker in [*markers, *written]:
        if len(marker) >= _LONG and not marker[0].isalnum():
            literals |= {part for part in fragments(marker) if _is_rare(part)}
        elif is_distinct_marker(marker):
            literals.add(marker)
            if is_text and marker[:-1].isalpha() and not marker[-1].isalnum():  # without its sign, before the next line
                patterns[f"{escape(marker[:-1])}[\\t ]*\\n"] = None
    return tuple(sorted({*_without_common(patterns, literals), *map(escape, _shortest(literals))}))


class BareText(NamedTuple):
    """What a bare value may hold, and a string in JSON that is such a value."""

    value: FreeText
    string: FreeText


@lru_cache(maxsize=1024)
def bare_text(automaton: Automaton, configs: tuple[Config, ...], *, is_action: bool = False) -> BareText:
    """What a bare value may hold, with one of some configurations behind it, so that it is read as it stands.

    It holds no part of a marker beside it (`MarkerRests`), but for a quote that begins it, as JSON may. A value of an
    action whose end may also stand in it has no bracket that is not closed.
    """
    excluded = {*excluded_patterns(automaton, configs, is_text=False, is_value=True)}
    is_open = is_action and any(map(is_ended_by_chance, configs))
    if is_open:
        excluded |= {f"\\n{_SPACE}*{escape(form)}" for form in closing_forms(automaton) if len(form) > 1}
    refused, in_strings, held = dict[str, None](), dict[str, None](), set[str]()
    for rests in [loose_markup(config).rests for config in configs]:
        excluded.update(_begun(rests))
        tails = [tail.replace(r"\s?", f"{_SPACE}*") for tail in rests.tails]
        ends = [r"[\s\S]*</[^<>]*"] if any(marker.startswith("</") for marker in rests.begun) else []
        ends += [f"[\\s\\S]*{tag}[^<>\\n\"']*" for tag in _tags(rests)]
        in_strings |= dict.fromkeys([*ends, *([f"{_SPACE}?>[\\s\\S]*"] if rests.tails else [])])
        held |= {f'"{_SPACE}?>'} if rests.tails else set()
        refused |= dict.fromkeys([*ends, *[f"[^<>\\n]*{tail}[\\s\\S]*" for tail in tails]])
        refused |= {f"[{_listed(rests.before)}][{_WORD}/.][\\s\\S]*": None} if rests.before else {}
        refused |= {f"[\\s\\S]*[{_listed(rests.edge)}]": None} if rests.edge else {}
    value = FreeText(tuple(sorted(excluded)), patterns=(*_without(*refused), *[_CLOSED] * is_open))
    return BareText(value, FreeText(tuple(sorted(excluded | held)), patterns=_without(*in_strings)))


def _begun(rests: MarkerRests) -> Iterator[str]:
    """Patterns of the first characters of closing markers, behind other text, that do not go on as a tag does."""
    yield from [f"{_SOLID}{escape(begun)}" for marker, begun in rests.begun.items() if not is_name(marker)]
    yield from [f"{_SOLID}{tag}[^<>\\n\"']*[<\\n\"']" for tag in _tags(rests)]
    if any(marker.startswith("</") for marker in rests.begun):
        yield f"{_SOLID}</[^0-9A-Z_a-z>:]"


def _tags(rests: MarkerRests) -> list[str]:
    """The pattern of the first characters of closing markers that are tags, if there are any."""
    tags = {escape(begun) for marker, begun in rests.begun.items() if is_name(marker)}
    return [f"(?:{'|'.join(sorted(tags))})"] if tags else []


def _listed(chars: str) -> str:
    return "".join(map(in_class, chars))


@cache
def _without(*patterns: str) -> tuple[str, ...]:
    """The pattern of the texts that none of some patterns matches as a whole; none if there are none."""
    return (dfa_pattern(reduce(intersection, [complement(matching(one)) for one in patterns])),) if patterns else ()


def _is_rare(part: str) -> bool:
    """Does a part of a marker hold more than letters, so that words of prose are not excluded?"""
    return not part.replace(" ", "").replace("_", "").isalnum()


def _shortest(literals: set[str]) -> set[str]:
    """The texts of which others hold none."""
    return {text for text in literals if not any(other != text and other in text for other in literals)}


def _without_common(patterns: Iterable[str], literals: set[str]) -> list[str]:
    """The patterns, without those that begin with what is excluded for many markers.

    If many markers begin with the same signs, such as `<|`, these are added to the literals.
    """
    counted: Counter[str] = Counter()
    for text in [*literals, *[pattern.replace("\\", "") for pattern in patterns]]:
        lead = text[:2]
        if len(lead) == 2 and not any(char.isalnum() or char.isspace() for char in lead) and lead not in _COMMON:
            counted[lead] += 1
    signs = {lead for lead, number in counted.items() if number >= _MANY}
    literals |= signs
    return [pattern for pattern in patterns if not any(pattern.startswith(escape(lead)) for lead in signs)]


def _begins_code(step: Transition) -> bool:
    return any(op == "begin" and kinds.split() == ["code"] for op, kinds in step.after)


def _may_stand_in_text(step: Transition) -> bool:
    """Does a marker hold more than white space?"""
    return re.fullmatch(step.terminal.regex, " ") is None and re.fullmatch(step.terminal.regex, "\n") is None


def has_code(configs: Iterable[Config]) -> bool:
    """May code stand in the text that leads to one of some configurations?"""
    return any(_begins_code(step) for config in configs for step in config.markers)


@lru_cache(maxsize=512)
def text_automaton(text: FreeText) -> Dfa:
    """The automaton of free text. Raises ValueError if it is too large, or if no automaton can read a pattern."""
    dfa = _with_code(text.excluded) if text.with_code else without(text.excluded)
    if text.begins:
        dfa = intersection(dfa, matching(f"(?:{text.begins}[\\s\\S]*)?"))
    if text.ends:
        dfa = intersection(dfa, matching(f"(?:[\\s\\S]*{text.ends})?"))
    for pattern in text.patterns:
        dfa = intersection(dfa, matching(pattern), _LIMIT)
    is_bound = text.low or text.high is not None
    return intersection(dfa, length_between(text.low, text.high), _LIMIT) if is_bound else dfa


@lru_cache(maxsize=128)
def _with_code(excluded: tuple[str, ...]) -> Dfa:
    """Text with code: spans in a line and blocks, both closed. What is excluded may stand in code."""
    plain = without((*excluded, "`"))
    behind_line = intersection(plain, matching(r"[\s\S]*\n"))
    nfa = Nfa()
    end = nfa.state()
    begun, fence = nfa.jump(0), nfa.state()
    nfa.jumps[0].append(fence)
    nfa.jumps[nfa.embed(behind_line, begun)].append(fence)
    behind = nfa.embed(plain, begun)
    nfa.jumps[behind].append(end)
    span = nfa.add(syntax.parse(SPAN), behind)
    nfa.jumps[span].append(end)
    some = intersection(plain, matching(r"[\s\S]+"))
    again = nfa.jump(span)
    lines = intersection(some, matching(r"[\s\S]*\n"))
    nfa.jumps[nfa.embed(lines, again)].append(fence)
    nfa.jumps[nfa.embed(some, again)].append(behind)
    closed = nfa.add(syntax.parse(FENCE), fence)
    nfa.jumps[closed].append(end)
    nfa.jumps[nfa.text("\n", closed)] += [fence, begun]
    return determinize(nfa, frozenset([end]), excludes=False, limit=_LIMIT)
