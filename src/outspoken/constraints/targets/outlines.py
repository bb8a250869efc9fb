"""Regular expressions for outlines-core (0.2), without look-around.

Its index refuses some tokens behind a place where a response may end, so a response ends with a terminator, which
stands nowhere else. Free text is written as its automaton if that is short. Else it is narrower than in other targets:
no two characters stand next to each other that an excluded pattern needs, of their first ones few stand
together, and there are no blocks of code, with which the index takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from outspoken.constraints.char_sets import ANY_CHAR, CharSet, both, char_set, chars_of, negated, of_text
from outspoken.constraints.dfa_patterns import dfa_pattern, set_pattern
from outspoken.constraints.forms import Choice, Form, FreeText, Grammar, Literal, Pattern, Repeat, Rule, Seq
from outspoken.constraints.free_text import SPAN, text_automaton
from outspoken.constraints.plain_patterns import escape
from outspoken.constraints.styles import Style
from outspoken.patterns import syntax

from .loops import without_rules

#: An automaton of more states, or a longer expression of one, is not used.
_SMALL, _SHORT = 32, 1500
#: White space between the parts of JSON: fewer states than in other targets.
_GAP = r"(?: |\n[ \t]*)?"
_ASCII = 0x7F
#: How frequent characters are in text, by their kind.
_LETTER, _SPACE, _PUNCTUATION, _RARE = 4.0, 6.0, 3.0, 0.5
#: A set of more characters is not excluded.
_MANY = 64

#: A character and the one behind it, which do not stand together; None for a character that stands nowhere.
_Pair = tuple[CharSet, "CharSet | None"]


def regular_expression(grammar: Grammar, terminator: str) -> str:
    """The expression of a grammar. What it leaves out is added to the grammar's warnings.

    Raises ValueError if it is too large.
    """
    form, warnings = without_rules(grammar)
    grammar.warnings += [warning for warning in warnings if warning not in grammar.warnings]
    return _written(form, terminator) + escape(terminator)


def _written(form: Form, terminator: str) -> str:
    if isinstance(form, Literal):
        return escape(form.text)
    if isinstance(form, Pattern):
        return _GAP if form == Style().gap() else f"(?:{form.regex})"
    if isinstance(form, FreeText):
        return f"(?:{text_expression(form, terminator)})"
    if isinstance(form, Seq):
        return "".join([_written(part, terminator) for part in form.parts])
    if isinstance(form, Choice):
        options = [_written(option, terminator) for option in form.options]
        return f"(?:{'|'.join(options)})" if options else r"[^\s\S]"
    assert not isinstance(form, Rule)
    return f"(?:{_written(form.part, terminator)}){_times(form)}"


def _times(form: Repeat) -> str:
    if form.high is None:
        return {0: "*", 1: "+"}.get(form.low, f"{{{form.low},}}")
    return "?" if (form.low, form.high) == (0, 1) else f"{{{form.low},{form.high}}}"


@lru_cache(maxsize=512)
def text_expression(text: FreeText, terminator: str) -> str:
    """The expression of free text, which does not hold the terminator."""
    excluded = (*text.excluded, *([escape(terminator)] if terminator else []))
    known = FreeText(excluded, text.with_code, text.begins, text.ends, text.low, text.high, text.patterns)
    if text.patterns:
        return dfa_pattern(text_automaton(known))
    if not text.with_code and not text.low and text.high is None:
        dfa = text_automaton(known)
        if len(dfa.steps) <= _SMALL and len(written := dfa_pattern(dfa)) <= _SHORT:
            return written
    return _NarrowText(known).pattern()


class _NarrowText:
    """Text in which some characters do not stand together, so that it holds no match of the excluded patterns."""

    def __init__(self, text: FreeText) -> None:
        self._text = text
        pairs = [pair for pattern in text.excluded for pair in _pairs(pattern)]
        never = char_set([one for first, second in pairs if second is None for one in first])
        firsts = char_set([one for first, second in pairs if second is not None for one in first])
        leads = both(firsts, negated(never))
        self._normal = both(ANY_CHAR, negated(char_set([*leads, *never, *(of_text("`") if text.with_code else ())])))
        by_char: dict[int, CharSet] = {}
        for code in [code for low, high in leads for code in range(low, high + 1)]:
            behind = [one for first, second in pairs if second and both(first, of_text(chr(code))) for one in second]
            by_char[code] = char_set(behind)
        #: characters by what may not stand behind them
        self._groups: dict[CharSet, CharSet] = {}
        for code, behind in by_char.items():
            self._groups[behind] = char_set([*self._groups.get(behind, ()), (code, code)])

    def pattern(self) -> str:
        """The expression of the text."""
        text, normal = self._text, self._normal
        first = both(normal, chars_of_class(text.begins)) if text.begins else normal
        last = both(normal, chars_of_class(text.ends)) if text.ends else normal
        if text.low or text.high is not None:
            return self._counted(first, last)
        body = "|".join(self._elements())
        tail = "" if text.ends else f"(?:{'|'.join(self._tails())})?" if self._groups or text.with_code else ""
        if not text.begins and not text.ends:
            return f"(?:{body})*{tail}"
        inner = f"(?:{body})*"
        one = f"{set_pattern(first)}{inner}{tail}" if not text.ends else f"{inner}{set_pattern(last)}"
        if text.begins and text.ends:
            one = f"{set_pattern(both(first, last))}|{set_pattern(first)}{inner}{set_pattern(last)}"
        return f"(?:{one})?"

    def _runs(self) -> Iterator[tuple[str, CharSet]]:
        """Some characters that are the first of a pair, and what may stand behind the last of them."""
        all_leads = char_set([one for firsts in self._groups.values() for one in firsts])
        free = [one for other, firsts in self._groups.items() if not both(other, all_leads) for one in firsts]
        some = f"{set_pattern(char_set(free))}*" if free else ""
        for behind, chars in self._groups.items():
            leads = [one for other, firsts in self._groups.items() if not both(other, chars) for one in firsts]
            before = f"{set_pattern(char_set(leads))}?" if leads else ""
            yield some + before + set_pattern(chars), both(self._normal, negated(behind))

    def _elements(self) -> list[str]:
        """Parts of text. Classes beyond ASCII need many states, so there are few of them."""
        runs = list(self._runs())
        beyond = both(self._normal, ((_ASCII + 1, ANY_CHAR[-1][1]),))
        for _, behind in runs:
            beyond = both(beyond, behind)
        ascii_only = both(self._normal, ((0, _ASCII),))
        found = [set_pattern(ascii_only)]
        found.append((f"(?:{'|'.join([run for run, _ in runs])})?" if runs else "") + set_pattern(beyond))
        found += [run + set_pattern(both(behind, ascii_only)) for run, behind in runs if both(behind, ascii_only)]
        if self._text.with_code:
            found.append(SPAN + set_pattern(self._normal))
        return found

    def _tails(self) -> list[str]:
        return [run for run, _ in self._runs()] + ([SPAN] if self._text.with_code else [])

    def _counted(self, first: CharSet, last: CharSet) -> str:
        low, high = self._text.low, self._text.high
        options = [""] if low == 0 else []
        if low <= 1 and high != 0:
            options.append(set_pattern(both(first, last)))
        if high is None or high >= 2:
            times = f"{{{max(low - 2, 0)},{'' if high is None else high - 2}}}"
            # without a bound, each part counts as one character
            part = set_pattern(self._normal) if high is not None else f"(?:{'|'.join(self._elements())})"
            options.append(set_pattern(first) + part + times + set_pattern(last))
        return "|".join(options)


def chars_of_class(pattern: str) -> CharSet:
    """The characters of a pattern that is one class."""
    (node,) = syntax.parse(pattern)
    assert isinstance(node, syntax.Chars)
    return chars_of(node)


def _pairs(pattern: str) -> list[_Pair]:
    """Pairs of which a text that matches a pattern holds one: those that are the least frequent in text."""
    found = min(_candidates(syntax.parse(pattern)), key=_cost, default=None)
    if found is None:
        raise ValueError("free text excludes what no characters tell")
    return found


def _candidates(nodes: syntax.Sequence) -> Iterator[list[_Pair]]:
    for node, following in zip(nodes, (*nodes[1:], None), strict=False):
        if isinstance(node, syntax.Chars):
            yield [(chars_of(node), None)]
            if isinstance(following, syntax.Chars):
                yield [(chars_of(node), chars_of(following))]
        elif isinstance(node, syntax.Group) or (isinstance(node, syntax.Repeat) and node.low):
            yield from _candidates(node.body)
        elif isinstance(node, syntax.Alternatives):
            best = [min(_candidates(branch), key=_cost, default=None) for branch in node.branches]
            if None not in best:
                yield [pair for pairs in best for pair in pairs or ()]


def _cost(pairs: Iterable[_Pair]) -> float:
    """How much text is lost if a pair is excluded: nothing for signs beyond ASCII that stand nowhere."""
    found = 0.0
    for one, other in pairs:
        if other is not None:
            found += _frequency(one) * _frequency(other)
        elif any(low <= _ASCII or chr(low).isalnum() for low, _ in one):
            found += _frequency(one) * 2 * _SPACE
    return found


def _frequency(chars: CharSet) -> float:
    """How frequent the most frequent of some characters is; large for a set of many."""
    if sum([high - low + 1 for low, high in chars]) > _MANY:
        return 100 * _SPACE
    return max([_kind(chr(code)) for low, high in chars for code in range(low, high + 1)], default=0)


def _kind(char: str) -> float:
    if char.isalnum():
        return _LETTER
    if char in " \n":
        return _SPACE
    return _PUNCTUATION if char in ".,:;!?'\"()-" else _RARE
