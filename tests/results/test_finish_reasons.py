"""One meaning of a provider's word, for the parser, the providers and the processor."""

import pytest

from outspoken import parse
from outspoken.results.finish_reasons import is_cut, is_filtered, proves_end, to_finish_reason

OPEN = '<tool_call>\n{"name": "book", "arguments": {}}'


@pytest.mark.parametrize("word", ["stop", "STOP", "end-turn", " eos ", "tool_calls", "function_call", "completed"])
def test_words_that_prove_the_end(word: str) -> None:
    assert proves_end(word)
    assert [call.status for call in parse(OPEN, format="hermes", finish_reason=word).tool_calls] == ["repaired"]


@pytest.mark.parametrize("word", [None, "", "length", "stop_sequence", "MAX_TOKENS", "pause_turn", "refusal", "error"])
def test_words_that_prove_nothing(word: str | None) -> None:
    """A text of the request at which the model was stopped may stand where the answer went on."""
    assert not proves_end(word)
    assert parse(OPEN, format="hermes", finish_reason=word).tool_calls == []


def test_each_provider_has_its_word_for_a_limit_and_a_filter() -> None:
    assert all(map(is_cut, ["length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "model_length"]))
    assert all(map(is_filtered, ["content_filter", "SAFETY", "guardrail_intervened", "RECITATION"]))
    assert not any(is_cut(word) or is_filtered(word) for word in (None, "stop", "refusal", "later"))
    assert to_finish_reason("later") == "other"
