"""The format of a model by its id, and what the chat template of the model ends a prompt with.

Ids are patterns in the headers of grammars. `qwen-3*thinking` is found in `Qwen/Qwen3-4B-Thinking-2507-GGUF`:
separators may be missing or others, `*` stands for anything, and the words round it are whole. What begins first in an
id counts, and then what is longest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from outspoken.patterns.lazy import lazy_pattern

#: By the provider whose responses hold read calls, what the names of models that only it serves begin with.
_SERVED = Path(__file__).with_name("served_models.json")
_SEPARATORS, _NO_LITERAL = lazy_pattern(r"[-.]"), lazy_pattern(r"[-.*]")
#: The folder in the cache of Hugging Face, the file of a quantised model, and what separates words.
_FOLDER, _FILE, _SPACE = (
    lazy_pattern(r"\A(?:models|datasets)--"),
    lazy_pattern(r"\.(?:gguf|safetensors|bin)\Z"),
    lazy_pattern(r"[\s_:]+"),
)
#: Words for models that answer in no text.
_SILENT = lazy_pattern(r"(?<![a-z])(?:embed(?:ding)?s?|rerank(?:er)?|asr|tts|guard)(?![a-z])")
#: No id is longer.
_LONGEST = 300


class PromptEnds(NamedTuple):
    """What the prompt of a model ends with, if it thinks and if it does not; None if that is not known.

    `thinks` says what is the default.
    """

    thinking: str | None = None
    plain: str | None = None
    thinks: bool = True

    @classmethod
    def of(cls, written: str) -> PromptEnds:
        """The ends as a header writes them: `plain </think> | thinking <think>`, the default first.

        Raises ValueError for another text.
        """
        ends: dict[str, str] = {}
        for part in written.split(" | ") if written else []:
            mode, _, end = part.strip().partition(" ")
            if mode not in ("thinking", "plain") or mode in ends:
                raise ValueError("written as `thinking <think> | plain </think>`, the default first")
            ends[mode] = end.strip().replace("\\n", "\n")
        return cls(ends.get("thinking"), ends.get("plain"), next(iter(ends), "thinking") == "thinking")

    def end(self, *, thinking: bool | None) -> str | None:
        """The end of the prompt of a model that thinks or does not, by default as it does by itself."""
        return self.thinking if (self.thinks if thinking is None else thinking) else self.plain


class ModelFormat(NamedTuple):
    """The format of a model, the pattern that its id matches, and what its prompts end with."""

    format: str
    pattern: str
    ends: PromptEnds


@lru_cache(maxsize=1024)
def _regex(pattern: str) -> re.Pattern[str]:
    words = [part for part in pattern.lower().split("*") if part]
    found = ".*?".join(["[-.]?".join(map(re.escape, _SEPARATORS.split(word))) for word in words])
    behind = "" if pattern.endswith("*") else r"(?![a-z0-9]|\.\d)"
    return re.compile(rf"(?<![a-z0-9]){found}{behind}")


def bare_id(model: str) -> str:
    """The id of a model without its owner, its file type and the spelling of its separators."""
    text = _FOLDER.sub("", model.strip()[:_LONGEST].lower().replace("\\", "/").rstrip("/"))
    return _SPACE.sub("-", _FILE.sub("", text.replace("--", "/").rpartition("/")[2]))


def find(model: str, patterns: Iterable[tuple[str, str, str]]) -> ModelFormat | None:
    """The format whose pattern (format, pattern, prompt ends) fits an id best.

    None if none fits, or two formats do, or the model writes no text.
    """
    name, best = bare_id(model), dict[tuple[int, int], list[ModelFormat]]()
    if _SILENT.search(name) is not None:
        return None
    for format, pattern, ends in patterns:
        if not all(part in name for part in _NO_LITERAL.split(pattern.lower())):
            continue  # to compile all patterns takes longer than anything else here
        if (match := _regex(pattern).search(name)) is not None:
            fit = match.start(), -sum(map(str.isalnum, pattern))
            best.setdefault(fit, []).append(ModelFormat(format, pattern, PromptEnds.of(ends)))
    best_formats = best[min(best)] if best else []
    return best_formats[0] if len({model_format.format for model_format in best_formats}) == 1 else None


def is_whole(model: str, pattern: str) -> bool:
    """Is an id nothing but what a pattern says?"""
    return _regex(pattern).fullmatch(bare_id(model)) is not None


def served_by(model: str) -> str:
    """The provider that alone serves a model; "" if the model is not one of these.

    Gateways write the owner before a dot (`us.anthropic.claude-sonnet-4`).
    """
    parts = bare_id(model).split(".")
    names = [".".join(parts[at:]) for at in range(min(len(parts), 3))]
    for provider, begins in json.loads(_SERVED.read_text("utf-8")).items():
        if any(_regex(begin + "*").match(name) for begin in begins for name in names):
            return provider
    return ""
