"""Near misses of markers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from outspoken.patterns.near_miss import fragments, near_miss_pattern, near_misses
from outspoken.patterns.spellings import spellings, without_conditions
from outspoken.recovery.near_markers import find_near

MARKERS = ("<tool_call>", "</parameter>", "<|tool_call_begin|>", "Action:", "<ab>", '"name": ')


def mistakes(written: str) -> Iterator[str]:
    """The marker with one mistake: a character missing, swapped, in another case, doubled, or one more."""
    for i, char in enumerate(written):
        yield written[:i] + written[i + 1 :]
        yield written[:i] + written[i + 1 : i + 2] + char + written[i + 2 :]
        yield written[:i] + char.swapcase() + written[i + 1 :]
        yield from (written[:i] + more + written[i:] for more in "\"'{}<>,x" if i)


def test_one_mistake_is_found_and_none_is_not() -> None:
    for written in MARKERS:
        pattern = re.compile(near_miss_pattern(written))
        assert pattern.search(f"of {written} here") is None
        for text in {m for m in mistakes(written) if written not in m}:
            assert pattern.match(f"{text}\n{{"), (written, text)
            assert near_misses(f"{text}\n{{", 0, written)[0][1] == 1, (written, text)
            assert any(part in text for part in fragments(written)), (written, text)


def test_two_mistakes_are_found_in_long_markers_only() -> None:
    assert near_misses("<|tol_call_bgin|>", 0, "<|tool_call_begin|>") == [(17, 2)]
    assert near_misses("<tol_cal>", 0, "<tool_call>") == []


def test_what_stands_beside_a_marker_is_no_mistake() -> None:
    assert near_misses("x<tool_call>", 0, "<tool_call>") == []
    assert near_misses("<tool_call>>", 0, "<tool_call>")[0] == (11, 0)
    assert near_misses("<tool\n_call>", 0, "<tool_call>") == []


def test_spellings_of_patterns() -> None:
    assert spellings(r"(?:\[/THINK\]|</think>)\s{0,9}") == ("[/THINK]", "</think>")
    assert spellings(r"<function\s{1,9}name=[\"'](?=\w)") == ('<function name="', "<function name='")
    assert spellings(r"\w{1,40}") == ()
    assert without_conditions(r"(?<=x)[(?=]+(?:a|b(?=c))(?!d)") == r"[(?=]+(?:a|b)(?!d)"


def test_near_markers_of_a_text() -> None:
    text = "a <tol_call> b <tool_call> c <tool\n_call> d x<tool_call>"
    assert find_near(text, ["<tool_call>"]) == {2: {"<tool_call>": ((12, 2),)}, 29: {"<tool_call>": ((41, 2),)}}
