"""The special tokens of a tokenizer, and where they stand in a text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast


def added_tokens(tokenizer: Any) -> list[str]:
    """The tokens that were added to a tokenizer: its special tokens, and markers."""
    if tokenizer is None:
        return []
    if isinstance(tokenizer, (str, Path)):
        tokenizer = json.loads(Path(tokenizer).read_text("utf-8"))
    if isinstance(tokenizer, Mapping):
        entries = cast("Mapping[str, Any]", tokenizer).get("added_tokens", ())
        return [token["content"] for token in entries]
    if hasattr(tokenizer, "get_added_vocab"):
        return list(tokenizer.get_added_vocab())
    if hasattr(tokenizer, "get_added_tokens_decoder"):
        return [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    raise TypeError("`tokenizer` is no path of a tokenizer.json, no content of one, and has no added tokens")


def special_spans(tokenizer: Any, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Where added tokens stand in the text of some tokens, as a tokenizer of transformers decodes it with them.

    This is what `Parser.parse` takes as `special`. A token whose place cannot be told is left out.
    """
    added = {number: token for token, number in tokenizer.get_added_vocab().items()}
    ids = [int(number) for number in ids]
    text = tokenizer.decode(ids, skip_special_tokens=False)
    spans: list[tuple[int, int]] = []
    for at, number in enumerate(ids):
        if token := added.get(number):
            start = len(tokenizer.decode(ids[:at], skip_special_tokens=False))
            start += text.startswith(f" {token}", start)  # some decoders set tokens apart
            spans += [(start, start + len(token))] if text.startswith(token, start) else []
    return spans
