"""Engines of constrained decoding, as tests run them: tokens and a grammar, no model.

Each engine compiles a constraint, and a state of it says which tokens may come next. Tokens are bytes, or those of a
BPE that is trained on the corpus.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias
from unittest.mock import patch

from outspoken.constraints.deriving import Constraint
from tests.cases import CORPUS
from tools.integrations import missing_modules

_BPE_SIZE = 2000


@dataclass(frozen=True)
class Vocabulary:
    """Tokens by number. `path` is that of a tokenizer.json; without, each byte is a token."""

    tokens: tuple[bytes, ...]
    end: int
    path: str = ""

    def encoded(self, text: str) -> list[int]:
        """The tokens of a text."""
        return _bpe().encode(text).ids if self.path else list(text.encode())


@cache
def byte_vocabulary() -> Vocabulary:
    """A token for each byte, and one that ends the response."""
    return Vocabulary((*[bytes([byte]) for byte in range(256)], b""), 256)


def _module(name: str) -> Any:
    return import_module(name)


def no_vocabulary() -> Vocabulary:
    """No tokens: an engine that prepares masks has nothing to do, and reads texts all the same."""
    return Vocabulary((), 0)


@cache
def _bpe() -> Any:
    tokenizers = _module("tokenizers")
    decoders, models = _module("tokenizers.decoders"), _module("tokenizers.models")
    pre_tokenizers, trainers = _module("tokenizers.pre_tokenizers"), _module("tokenizers.trainers")
    bpe = tokenizers.Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=_BPE_SIZE, special_tokens=["<|eos|>"], initial_alphabet=alphabet, show_progress=False
    )
    bpe.train(sorted([str(path) for path in CORPUS.glob("*/ok/*.txt")]), trainer)
    return bpe


@cache
def bpe_vocabulary() -> Vocabulary:
    """The tokens of a BPE that is trained on the corpus."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False, encoding="utf-8") as file:
        file.write(_bpe().to_str())
    tokenizer = _module("llguidance").LLTokenizer(file.name)
    tokens = [tokenizer.decode_bytes([number]) for number in range(tokenizer.vocab_size)]
    end = tokenizer.eos_token
    return Vocabulary(tuple([token if i != end else b"" for i, token in enumerate(tokens)]), end, file.name)


@cache
def xgrammar() -> Any:
    """The module xgrammar, which is installed without torch and transformers: stand-ins are there while it loads."""
    missing = tuple([name for name in ("torch", "transformers") if find_spec(name) is None])
    with (
        patch.object(missing_modules, "NAMES", missing),
        patch.object(sys, "meta_path", [*sys.meta_path]),
        missing_modules.stand_ins(),
    ):
        found = _module("xgrammar")
    for name in [name for name in sys.modules if name.partition(".")[0] in missing]:
        del sys.modules[name]
    return found


def _listed(mask: Any, size: int) -> list[int]:
    np = _module("numpy")
    bits = np.unpackbits(mask[0].view(np.uint8), bitorder="little")[:size]
    return np.flatnonzero(bits).tolist()


class State(Protocol):
    """What was written so far under a constraint: which tokens may come next, and whether the response may end."""

    def choices(self) -> list[int]: ...
    def may_end(self) -> bool: ...
    def take(self, token: int) -> bool: ...
    def take_text(self, text: str) -> bool: ...


#: A compiled constraint: it makes the state before the response.
Engine: TypeAlias = Callable[[], State]


# llguidance


@cache
def _ll_tokenizer(vocabulary: Vocabulary) -> Any:
    return _module("llguidance").LLTokenizer(vocabulary.path or "byte")


class _LlguidanceState:
    def __init__(self, grammar: str, vocabulary: Vocabulary) -> None:
        masks = _module("llguidance.numpy")
        self._tokenizer, self._vocabulary = _ll_tokenizer(vocabulary), vocabulary
        self._masks: Any = masks
        self._matcher: Any = _module("llguidance").LLMatcher(self._tokenizer, grammar)
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())
        self._mask: Any = masks.allocate_token_bitmask(1, self._tokenizer.vocab_size)

    def choices(self) -> list[int]:
        if self._matcher.is_stopped():
            return []
        self._masks.fill_next_token_bitmask(self._matcher, self._mask, 0)
        size = len(self._vocabulary.tokens)
        return [number for number in _listed(self._mask, size) if number != self._vocabulary.end]

    def may_end(self) -> bool:
        return bool(self._matcher.is_accepting())

    def take(self, token: int) -> bool:
        return bool(self._matcher.consume_token(token))

    def take_text(self, text: str) -> bool:
        tokens = self._vocabulary.encoded(text)
        if self._matcher.is_stopped() or self._matcher.validate_tokens(tokens) < len(tokens):
            return False
        return bool(self._matcher.consume_tokens(tokens))


def llguidance(constraint: Constraint, vocabulary: Vocabulary) -> Engine:
    """Compile a constraint for llguidance. Raises ValueError if it refuses the grammar."""
    grammar: Any = _module("llguidance").LLMatcher.grammar_from_lark(constraint.to_llguidance())
    _LlguidanceState(grammar, vocabulary)
    return partial(_LlguidanceState, grammar, vocabulary)


# xgrammar


@cache
def xgrammar_compiler(vocabulary: Vocabulary) -> Any:
    """What compiles for a vocabulary."""
    engine = xgrammar()
    info = engine.TokenizerInfo(
        list(vocabulary.tokens),
        engine.VocabType.RAW,
        vocab_size=len(vocabulary.tokens),
        stop_token_ids=[vocabulary.end] if vocabulary.tokens else [],
    )
    return engine.GrammarCompiler(info, max_threads=1, cache_enabled=False)


class _XgrammarState:
    def __init__(self, compiled: Any, vocabulary: Vocabulary) -> None:
        np = _module("numpy")
        self._matcher: Any = xgrammar().GrammarMatcher(compiled)
        self._vocabulary = vocabulary
        self._mask: Any = np.full((1, (len(vocabulary.tokens) + 31) // 32), -1, dtype=np.int32)

    def _admitted(self) -> list[int]:
        if self._matcher.is_terminated():
            return []
        if not self._matcher.fill_next_token_bitmask(self._mask, 0):
            self._mask.fill(-1)
        return _listed(self._mask, len(self._vocabulary.tokens))

    def choices(self) -> list[int]:
        return [number for number in self._admitted() if number != self._vocabulary.end]

    def may_end(self) -> bool:
        return bool(self._matcher.is_completed())

    def take(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))

    def take_text(self, text: str) -> bool:
        return bool(self._matcher.accept_string(text))


def xgrammar_tag(constraint: Constraint, vocabulary: Vocabulary) -> Engine:
    """Compile the structural tag of a constraint for xgrammar. Raises ValueError if it refuses the tag."""
    try:
        tag = json.dumps(constraint.to_xgrammar())
        return partial(_XgrammarState, xgrammar_compiler(vocabulary).compile_structural_tag(tag), vocabulary)
    except RuntimeError as error:
        raise ValueError(str(error)) from error


#: What compiles a constraint, by the names of the engines.
ENGINES: dict[str, Callable[[Constraint, Vocabulary], Engine]] = {"llguidance": llguidance, "xgrammar": xgrammar_tag}


def reads(engine: Engine, text: str) -> bool:
    """Does an engine admit exactly this text?"""
    state = engine()
    return state.take_text(text) and state.may_end()
