"""Responses generated from grammars cover the grammar, and are read as they were meant."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any

import pytest

from outspoken import parse
from outspoken.authoring.fuzz import random_values as values
from outspoken.authoring.fuzz.content import Content, content_of
from outspoken.authoring.fuzz.generator import Generator, Response
from outspoken.authoring.fuzz.lexer import Position
from outspoken.authoring.fuzz.reference import opened_before, read
from outspoken.authoring.fuzz.state_graph import StateGraph, Step, step_of
from outspoken.authoring.fuzz.token_text import TerminalForm
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.regex_samples import RegexSampler, branches
from outspoken.grammar import registry
from outspoken.grammar.automaton import Transition
from outspoken.grammar.tables import Terminal
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.notations.coerce import to_json
from outspoken.patterns.syntax import Alternatives, Group, Look, Repeat, Sequence
from outspoken.patterns.syntax import parse as parse_pattern
from outspoken.results.errors import GrammarError
from tests.cases import CASES, FORMATS
from tests.loops import for_each, in_one_item

#: So many seeds take every step of every grammar, in every spelling.
ENOUGH = 4000

#: How many texts of the corpus the second reader has to accept.
ACCEPTED = 300

#: After so many, what no look-ahead admits is no longer waited for.
PATIENCE = 300

#: How many characters a marker can look ahead at, at most, before a format counts as one that looks ahead.
FAR = 250

#: A value that is read as nothing, in an action that lacks it then: no sound response has it.
NO_VALUE = "shared__browser_use__JSON_NULL"

every_format = pytest.mark.parametrize("format_", FORMATS)


def made(format_: str, number: int) -> list[Response]:
    """The responses of the first seeds, without those for which there is none."""
    generator = Generator(format_)
    return [found for seed in range(number) if (found := generator.response(seed)) is not None]


@cache
def looks_ahead(format_: str) -> bool:
    """Whether an opener looks far ahead, as only that tells an action from other JSON or from prose.

    Then not all that the rules admit behind it is ever read, and it takes more seeds to write what is.
    """
    return max(look_ahead(step.terminal.regex) for step in registry.automaton(format_).top_level_markers) > FAR


def look_ahead(pattern: str) -> int:
    """The most characters that a look-ahead of a pattern can match."""

    def longest(items: Sequence) -> int:
        found = 0
        for item in items:
            if isinstance(item, Look) and item.is_ahead:
                found = max(found, item.width[1])
            if isinstance(item, Alternatives):
                found = max(found, *map(longest, item.branches))
            elif isinstance(item, (Look, Group, Repeat)):
                found = max(found, longest(item.body))
        return found

    return longest(parse_pattern(pattern))


# the whole of a grammar


@every_format
def test_every_step_and_spelling_is_generated(format_: str) -> None:
    """Every terminal of the parse table, in every state; every marker as it is written and in every way it is read.

    Where an opener looks ahead, every terminal in one state at least. Not those that no look-ahead admits.
    """
    generator = Generator(format_)
    state_of = _any_state if looks_ahead(format_) else _own_state
    steps = {state_of(step) for step in generator.map.steps} - {state_of(step) for step in no_actions(generator)}
    forms = set(generator.forms)
    assert steps
    possible = set[Step]()
    for wishes in (True, False):
        for seed in range(ENOUGH):
            if seed % PATIENCE == PATIENCE - 1:
                possible |= admitted(generator, steps - possible, state_of)
                steps &= possible
            goal = generator.map.steps[seed % len(generator.map.steps)]
            known = state_of(goal) not in steps
            if known and (not wishes or goal.terminal not in {form.terminal for form in forms}):
                continue
            found = generator.response(seed, forms if wishes else ())
            if found is not None:
                steps -= {state_of(step) for step in found.steps}
                forms -= found.forms
            if not steps and not forms:
                return
    assert (sorted(steps), sorted(forms, key=str)) == ([], [])


def no_actions(generator: Generator) -> Iterator[Step]:
    """What stands in a list of actions and is none: it is read, too, as an action that is invalid."""
    for place in generator.map.positions:
        for transition in place.steps:
            operations = (*transition.before, *transition.after)
            begins = any(name == "begin" and "action" in kinds.split() for name, kinds in operations)
            is_whole = begins and ("end", "action") in operations
            is_value = transition.terminal.short in EMBEDDED_VALUES - {"JSON_STRING"}
            if (is_whole and is_value) or transition.terminal.name == NO_VALUE:
                yield step_of(place, transition)


def _own_state(step: Step) -> Step:
    return step


def _any_state(step: Step) -> Step:
    return Step(0, step.terminal)


def admitted(generator: Generator, steps: set[Step], state_of: Callable[[Step], Step]) -> set[Step]:
    """The steps that the look-aheads of the terminal and of the two before it admit on some way.

    A name may look ahead at an argument, so that no bracket closes behind it, and a marker at one that
    the format lacks.
    """
    start, *others = generator.map.positions
    found = set[Step]()
    for place, where in [(start, (0, 1)), *[(place, (2,)) for place in (start, *others)]]:
        for taken in ways(place, 4) if found != steps else ():
            at_step = {at: state_of(step_of(*taken[at])) for at in where if at < len(taken)}
            wanted = {at: step for at, step in at_step.items() if step in steps and step not in found}
            if wanted:
                terminals = [transition.terminal for _, transition in taken]
                found |= {step for at, step in wanted.items() if all_match(terminals, at)}
    return found


def ways(place: Position, length: int) -> Iterator[list[tuple[Position, Transition]]]:
    """The ways on from a place, of so many terminals or up to an end."""
    if not length or not place.steps:
        yield []
        return
    for transition in place.steps:
        for rest in ways(place.after(transition), length - 1):
            yield [(place, transition), *rest]


def all_match(terminals: list[Terminal], last: int) -> bool:
    """Whether terminals match where they follow each other, up to the last one; free text holds no markers here."""
    samples = [
        "x" if t.short in FREE_TEXT else t.canonical or RegexSampler(Random(0)).sample(t.regex) for t in terminals
    ]
    for at, terminal in enumerate(terminals[: last + 1]):
        known = terminal.short not in FREE_TEXT | EMBEDDED_VALUES and "(?<=" not in terminal.regex
        if known and not re.match(terminal.regex, "".join(samples[at:])):
            return False
    return True


@in_one_item("format_", FORMATS)
def test_every_terminal_has_a_place(format_: str) -> None:
    """The steps of the map speak of all terminals that the strict grammar uses."""
    automaton = registry.automaton(format_)
    used = {name for state in automaton.tables.states for name in state} & set(automaton.tables.terminals)
    assert {step.terminal for step in StateGraph(automaton).steps} == used


@every_format
def test_responses_of_a_format(format_: str) -> None:
    """The responses of the first 40 seeds: made once, and asked everything."""
    found = made(format_, 40)
    for_each(
        (
            check_they_are_read_as_they_were_meant,
            check_they_go_on_behind_what_the_prompt_ends_with,
            check_the_same_seed_gives_the_same,
            check_they_differ,
            check_they_hold_what_the_grammar_has_words_for,
        ),
        lambda check: check(format_, found),
        lambda check: check.__name__,
    )


def check_they_are_read_as_they_were_meant(format_: str, found: list[Response]) -> None:
    assert len(found) >= (20 if looks_ahead(format_) else 36)
    for response in found:
        for repair in ("none",) if response.strict else ("none", "strings"):
            reply = parse(response.text, format_, repair=repair, prefix="")
            if repair != "none" and {found.code for found in reply.repairs} == {"damaged-marker"}:
                continue  # text happens to be a marker with a mistake, where one may stand
            assert repr(content_of(reply)) == repr(response.content), response.text
            assert (reply.status, reply.repairs) == ("ok", []), response.text


def check_they_go_on_behind_what_the_prompt_ends_with(format_: str, found: list[Response]) -> None:
    """Whether they repeat that or not, and whether the caller says it or not, they say the same."""
    automaton = registry.automaton(format_)
    opened, repeated = automaton.tables.header.opened, 0
    if not opened:
        return
    for text in [response.text.removeprefix(opened) for response in found]:
        content = read(automaton, text, opened)
        if content is None or not opened_before(automaton, text):
            continue
        for prefix in (None, opened):
            assert repr(content_of(parse(text, format_, repair="none", prefix=prefix))) == repr(content), text
        if read(automaton, opened + text) == content:  # and not that what it repeats is text there
            repeated += 1
            for prefix in (None, ""):
                reply = parse(opened + text, format_, repair="none", prefix=prefix)
                assert repr(content_of(reply)) == repr(content), text
    assert repeated


def check_the_same_seed_gives_the_same(format_: str, found: list[Response]) -> None:
    again = made(format_, 8)
    assert again == found[: len(again)]


def check_they_differ(format_: str, found: list[Response]) -> None:
    assert len({response.text for response in found}) >= (20 if looks_ahead(format_) else 34)
    assert {response.strict for response in found} == {True, False}


def check_they_hold_what_the_grammar_has_words_for(format_: str, found: list[Response]) -> None:
    ends = {kind for config in StateGraph(registry.automaton(format_)).positions for kind in ended(config.config)}
    wanted = {"text", *(ends & {"tool_call", "action", "payload", "think", "json"})}
    generator = Generator(format_)
    kinds = {segment[0] for response in found for segment in response.content.segments}
    for seed in range(40, 100 if looks_ahead(format_) else 40):
        if kinds >= wanted:
            break
        response = generator.response(seed)
        kinds |= {segment[0] for segment in response.content.segments} if response is not None else set()
    assert kinds >= wanted


def ended(config: Any) -> set[str]:
    """The frames that a step from a configuration ends."""
    steps = [*config.markers, *config.embedded]
    return {kind for step in steps for op, kind in (*step.before, *step.after) if op == "end"}


def test_grammar_whose_responses_are_never_read_as_intended(tmp_path: Path) -> None:
    """A marker that no text can have: nothing is made that needs it, and nothing is raised."""
    checkout = Checkout(tmp_path)
    checkout.grammars.mkdir()
    checkout.grammar("text").write_text(
        dedent(
            """\
            // format:  text
            // title:   Text
            // models:  none
            // source:  made up
            // example:
            //   Hi.

            start: (TEXT | think)*
            think: _OPEN REASONING _CLOSE
            _OPEN: /<(?=never)a>/
            _CLOSE: "</a>"
            TEXT: /[\\s\\S]+/
            REASONING: /[\\s\\S]+/
            """
        ),
        "utf-8",
    )
    with checkout.in_use():
        found = [Generator("text").response(seed) for seed in range(4)]
    assert all("<a>" not in response.text for response in found if response is not None)
    assert None in found


LOOKING = """\
// format:  text
// title:   Actions
// models:  none
// source:  made up
// actions:
//   done = complete(answer=text|$1)
// example:
//   Hi.

start: (TEXT | action)*
{rules}
_OPEN: "<do>"
_SPACE: {space}
_CLOSE: "</do>"
_EQUALS: "="
ACTION_NAME: /[a-z]{{2,9}}/
ARG_NAME: /[a-z]{{2,9}}/
TEXT: /[\\s\\S]+/
JSON_STRING: /"[^"]*"/
"""
SHAPES = (
    "action: _OPEN ACTION_NAME (_SPACE argument | _CLOSE)\nargument: JSON_STRING _CLOSE",
    "action: _OPEN ACTION_NAME _SPACE argument _CLOSE\nargument: ARG_NAME _EQUALS JSON_STRING",
    "action: _OPEN ACTION_NAME (_SPACE argument)* _CLOSE\nargument: ARG_NAME _EQUALS JSON_STRING | JSON_STRING",
)
#: What a marker behind a name looks ahead at, and whether that may ever stand there.
AHEAD = {'(?=")': True, '(?=[a-z]{2,9}=")': True, "(?=never)": False, '(?=" )': False, "(?=<never)": False}


@in_one_item("ahead", tuple(AHEAD))
def test_a_marker_behind_a_name_may_look_ahead_past_itself(ahead: str) -> None:
    """Whether what it looks ahead at ever follows it or not, the search for a response ends."""
    found: list[bool] = []
    for rules in SHAPES:
        with TemporaryDirectory() as folder:
            checkout = Checkout(Path(folder))
            checkout.grammars.mkdir()
            checkout.grammar("text").write_text(LOOKING.format(rules=rules, space=f"/[ ]{{1,9}}{ahead}/"), "utf-8")
            with checkout.in_use():
                made = [Generator("text").response(seed) for seed in range(8)]
        found.append(any(" " in text.partition("<do>")[2] for text in [response.text for response in made if response]))
    assert any(found) or not AHEAD[ahead]


def test_a_rule_that_nests_in_itself_is_named(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.grammars.mkdir()
    rules = "action: _OPEN ACTION_NAME argument _CLOSE\nargument: JSON_STRING | _EQUALS argument _SPACE"
    checkout.grammar("text").write_text(LOOKING.format(rules=rules, space='"  "'), "utf-8")
    with checkout.in_use(), pytest.raises(GrammarError, match="a rule nests in itself without end"):
        Generator("text")


# the second reader


def test_strict_grammar_accepts_nearly_all_sound_responses() -> None:
    """That both readers say the same of what it accepts is asked of the whole corpus by `check_meaning`."""
    accepted = 0
    for case in CASES:
        if case.options.keys().isdisjoint(("tools", "prefix")) and accepted < ACCEPTED:
            automaton = registry.automaton(case.format)
            accepted += read(automaton, case.text, opened_before(automaton, case.text)) is not None
    assert accepted == ACCEPTED


MEANINGS: dict[str, tuple[str, str, Content]] = {
    "call": (
        "hermes",
        'Hi. <tool_call>{"arguments": {"a": 1}, "name": "f", "id": "x"}</tool_call> ',
        Content((("text", "Hi."), ("tool_call", "f", {"a": 1}, "x"))),
    ),
    "reasoning at the end": (
        "ui_tars",
        "Thought:  so \nThought: then \n",
        Content((("think", "so"), ("think", "then \n"))),
    ),
    "envelope": (
        "json",
        '{"toolCalls": [{"x": 1}], "content": "Hi.", "needsMoreWork": true}',
        Content((("text", "Hi."),), ("unread-entry",), True, True),
    ),
    "json": ("json", '```json\n{"a": 1}\n```', Content((("text", "```json\n"), ("json", {"a": 1}), ("text", "\n```")))),
    "repeated argument": (
        "pythonic",
        "[f(a=1, a=(2,))]",
        Content((("tool_call", "f", {"a": [2]}, None),), ("repeated-argument",)),
    ),
    "id": (
        "kimi_k2",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:3<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>",
        Content((("tool_call", "f", {}, "functions.f:3"),)),
    ),
    "payload": (
        "suggestions",
        "Hi.\n\nSUGGESTED_VALUES: [1]",
        Content((("text", "Hi."), ("payload", "suggested_values", [1]))),
    ),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_reference_reader_results(name: str) -> None:
    format_, text, content = MEANINGS[name]
    assert read(registry.automaton(format_), text) == content
    assert content_of(parse(text, format_)) == content


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("hermes", "<tool_call>{}"),
        ("hermes", '<tool_call>{"name": ""}</tool_call>'),
        ("hermes", '<tool_call>{"name": "f", "arguments": 3}</tool_call>'),
        ("hermes", '<tool_call>{"name": "f", "arguments": "x"}</tool_call>'),
        ("ui_tars", "Action: scroll(direction='off')"),
    ],
)
def test_texts_that_the_reference_reader_skips(format_: str, text: str) -> None:
    assert read(registry.automaton(format_), text) is None


# patterns


PATTERNS = {
    r"a|bc|[d-f]+": 2 + 1,
    r"(?i:think(?:ing)?)": 0,
    r"<\/?(?:xx|yy){2,3}>": 2,
    r"[^\w\n\s]{1,4}": 0,
    r"\d{1,9}\s*\S\W\D.": 0,
    r"a*?b{0,99}(?=c)": 0,
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_samples_match_the_pattern(pattern: str) -> None:
    sampler, taken = RegexSampler(Random(1)), set[tuple[int, int]]()
    compiled = re.compile(pattern.removesuffix("(?=c)"))
    found = {sampler.sample(pattern) for _ in range(100) if not taken.update(sampler.taken)}
    assert all(compiled.fullmatch(sample) for sample in found)
    assert len(found) > 3
    assert len(branches(pattern)) == PATTERNS[pattern]
    assert taken == branches(pattern)


@in_one_item("format_", FORMATS)
def test_sampled_markers_are_read_back(format_: str) -> None:
    """Without their look-arounds, which depend on what stands round them."""
    sampler = RegexSampler(Random(format_))
    for terminal in registry.automaton(format_).tables.terminals.values():
        if terminal.short not in FREE_TEXT | EMBEDDED_VALUES and not re.search(r"\(\?(?:=|!|<[=!])", terminal.regex):
            for _ in range(20):
                assert re.fullmatch(terminal.regex, sampler.sample(terminal.regex))


# values


def test_written_values_read_back() -> None:
    random = Random(0)
    for _ in range(300):
        value = values.value(random, ("</a>",))
        assert to_json(json.loads(values.as_json(random, value))) == to_json(value)
        literal = eval(values.as_python(random, value), {"__builtins__": {}})
        assert to_json(json.loads(to_json(literal))) == to_json(value)


def test_broken_markers_are_not_markers() -> None:
    random = Random(0)
    found = {values.broken(random, "</a>") for _ in range(40)}
    assert "</a>" not in found
    assert found >= {"<", "/a>", "<a>", "< /a>"}
    assert values.broken(random, "<>") == "<>"


def test_steps_and_spellings_have_a_readable_repr() -> None:
    generator = Generator("hermes")
    assert TerminalForm("_shared__tagged_json_call__CALL_OPEN", None) in generator.forms
    assert all(isinstance(step, Step) for step in generator.map.steps)
