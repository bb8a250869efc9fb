"""A window on a text that arrives in chunks, and what a fork of it knows."""

from hypothesis import given
from hypothesis import strategies as st

from outspoken.engine.text_buffer import CONTEXT, TextBuffer

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
