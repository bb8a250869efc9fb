"""Time grows linearly with the text: repeated tokens, and provider chunks of any size; a window on a text in chunks."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import Parser
from outspoken.engine.text_buffer import CONTEXT, TextBuffer
from outspoken.grammar import registry
from outspoken.grammar.matchers import OpenMarkers, matcher_of
from outspoken.grammar.registry import header, names
from outspoken.providers import ProviderStream
from outspoken.semantics.handlers import HANDLERS
from tests.invariants.cost import Repetition, calls_in, calls_to_read, repetitions
from tests.invariants.replies import pieces
from tests.loops import some
from tests.tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize(("name", "beginning", "unit"), some(TABLES["HOSTILE"], "hostile", 0.34))
def test_refused_places_with_one_end_take_linear_steps(name: str, beginning: str, unit: str) -> None:
    for number in some((0, 256), unit, 0.5):
        check_steps(name, Repetition(beginning, unit), number)


def test_repeated_tokens_take_linear_steps() -> None:
    """One repetition in many; take them all without `random.choice`, in hours."""
    for name in sorted(names())[::12]:
        random = Random(name)
        check_steps(name, random.choice(repetitions(name, header(name).example)), random.choice((0, 64)))


def check_steps(name: str, repetition: Repetition, pieces: int) -> None:
    """Four times the text may take six times the calls of functions."""
    calls_to_read(name, repetition.text(2_000), pieces)  # what is compiled once is not counted
    less, more = [calls_to_read(name, repetition.text(size), pieces) for size in (2_000, 8_000)]
    assert more <= 6 * less, (name, repetition, pieces)


@pytest.mark.parametrize(("name", "frame"), TABLES["HELD"])
def test_a_piece_of_a_call_that_is_held_takes_the_same_at_any_length(name: str, frame: str) -> None:
    parser = Parser(name, tools=[{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}])

    def steps(words: int) -> int:
        session, chunks = parser.session(), pieces(frame.format("one two " * words), 4)
        return calls_in(lambda: [session.feed(chunk) for chunk in chunks])

    steps(100)  # what is compiled once is not counted
    assert steps(1000) <= 5 * steps(250)


def test_repetitions_are_tokens_behind_beginnings() -> None:
    found = repetitions("hermes", header("hermes").example)
    assert Repetition("", "<tool_call>") in found
    assert Repetition('Let me look that up.\n<tool_call>\n{"name": ', "</tool_call>") in found
    assert len(set(found)) == len(found)


def test_what_has_arrived_behind_a_marker_is_not_searched() -> None:
    """Else a chunk of many calls would be searched to its end at each of them."""
    searched: list[tuple[int, int]] = []

    class Pattern:
        """Notes where it is searched."""

        def __init__(self, found: Any) -> None:
            self._found = found
            self.match = found.match

        def search(self, text: str, pos: int, endpos: int, *, partial: bool) -> Any:
            searched.append((pos, endpos))
            return self._found.search(text, pos, endpos, partial=partial)

    automaton = registry.automaton("hermes")
    assert automaton.start.free is not None
    known = matcher_of(automaton.start.free.target, "find", HANDLERS, final=False).open_markers
    assert known is not None
    spied = OpenMarkers([(Pattern(pattern), group) for pattern, group in known.found])
    text = 'Rain <tool? <tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>' * 9 + "<tool_ca"
    assert spied.find_open(text, 0, 12, 100) is None
    assert len(searched) >= len(known.found)
    assert all(endpos <= 13 for _, endpos in searched)
    assert spied.find_open(text[:8], 0, 7, 100) == 5


# provider chunks


@pytest.mark.parametrize("name", TABLES["BODIES"])
def test_json_of_a_body_is_parsed_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits into small pieces do not make the framer parse what is incomplete."""
    body, parsed = TABLES["BODIES"][name], 0
    loads = json.loads

    def counted(text: str) -> Any:
        nonlocal parsed
        parsed += len(text)
        return loads(text)

    for size in (1, 7, 64, len(body)):
        parsed, stream = 0, ProviderStream("openai")
        with monkeypatch.context() as patch:
            patch.setattr("outspoken.providers.decode.framing.json.loads", counted)
            for piece in pieces(body, size):
                stream.feed(piece)
            stream.close()
        assert stream.reply is not None
        assert stream.reply.text.startswith('a "}: ]}: b')
        assert parsed <= 2 * len(body), size


# a window on a text that arrives in chunks, and what a fork of it knows


TEXT = "".join(map(chr, range(0x4E00, 0x4E00 + 500)))  # each character says its own offset


@given(st.integers(1, 40), st.integers(0, 500), st.integers(-5, 505), st.integers(0, 510))
def test_a_fork_has_no_text_before_its_origin(size: int, offset: int, start: int, length: int) -> None:
    """What a fork does not have is left out of a slice; all else stands where it stood."""
    buffer = TextBuffer()
    for at in range(0, len(TEXT), size):
        buffer.append_unseen(TEXT[at : at + size])
    fork = buffer.fork(offset)
    fork.rewind(offset)
    assert fork.origin == max(offset - CONTEXT, 0)
    assert fork.slice(start, start + length) == TEXT[max(start, fork.origin) : max(start + length, 0)]
    assert fork.tail(start) == TEXT[max(start, fork.origin) :]
