"""A format that was named and is not the text's: the reply says which one is, or which prefix is missing."""

import random
from collections import Counter

import pytest

from outspoken import Parser, Reply, ResponseError, parse
from outspoken.detection.opener_index import likeness_chain
from outspoken.fast_path import reader
from outspoken.grammar import registry
from outspoken.semantics.call_signs import signs_in
from tests.cases import CASES

DEEPSEEK = (
    "Let me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tide<｜tool▁sep｜>"
    '{"day": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
ORPHAN = "I should greet.\n</think>\n\nHello!"


def said(reply: Reply) -> list[str]:
    """The diagnostics of this kind."""
    return [f"{d.code}: {d.message}" for d in reply.diagnostics if d.code in ("other-format", "orphan-closer")]


def test_only_a_part_of_many_signs_is_read() -> None:
    reply = parse("<tool_call>" * 20_000, format="mistral")
    assert reply.raw == reply.text


def test_strict_parsers_raise() -> None:
    for text in (DEEPSEEK, ORPHAN):
        with pytest.raises(ResponseError):
            Parser("hermes", on_error="raise").parse(text)


def test_sound_texts_of_other_formats_are_hardly_ever_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts with a sign of their own: a call that no other format reads is reported. Streams say the same."""
    chosen, found = random.Random(7), Counter[str]()
    cases = [case for case in CASES if case.kind == "ok" and signs_in(case.text)]
    names = [name for name in registry.names() if name != registry.PLAIN]
    for case in chosen.sample(cases, 120):
        text, name = case.text, case.format
        if not parse(text, format=name).tool_calls or not parse(text).tool_calls:
            continue
        other = chosen.choice([n for n in names if n not in likeness_chain(name) and name not in likeness_chain(n)])
        with monkeypatch.context() as patch:
            reply = parse(text, format=other)
            patch.setattr(reader, "ENABLED", False)
            assert parse(text, format=other) == reply
        is_silent = reply.segments and not (reply.tool_calls or reply.actions or reply.payloads or reply.diagnostics)
        found["silent" if is_silent else "said"] += 1
    assert found["said"] >= 60
    assert found["silent"] <= 3
