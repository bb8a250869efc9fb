"""The providers by name: the reader of the API that each speaks, and the format of its content."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from outspoken.grammar.registry import resolve
from outspoken.results.arguments import check_type

from .assembly.assembler import Assembler
from .decode.json_object import JsonObject
from .errors import UnknownProviderError
from .readers.anthropic import AnthropicReader
from .readers.base import Reader
from .readers.bedrock import BedrockReader
from .readers.chat_completions import ChatCompletionsReader
from .readers.cohere import CohereReader
from .readers.gemini import GeminiReader
from .readers.ollama import OllamaReader
from .readers.responses import ResponsesReader


class Provider(NamedTuple):
    """The reader of a provider's API. With `has_content_format`, its content is read in a format by default."""

    reader: type[Reader]
    has_content_format: bool = False


_CHAT_COMPLETIONS = (
    "openai", "azure", "deepseek", "mistral", "groq", "openrouter", "huggingface", "zai", "cerebras", "together",
    "fireworks", "perplexity", "xai", "moonshot", "qwen", "nvidia", "litellm", "vllm", "sglang", "llamacpp", "lmstudio",
)  # fmt: skip
PROVIDERS: dict[str, Provider] = {
    **{name: Provider(ChatCompletionsReader) for name in _CHAT_COMPLETIONS},
    "minimax": Provider(ChatCompletionsReader, has_content_format=True),
    "openai_responses": Provider(ResponsesReader),
    "anthropic": Provider(AnthropicReader),
    "gemini": Provider(GeminiReader),
    "vertex": Provider(GeminiReader),
    "ollama": Provider(OllamaReader),
    "bedrock": Provider(BedrockReader),
    "cohere": Provider(CohereReader),
}

#: How to recognise the APIs that many providers offer beside their own.
_API_TESTS: tuple[tuple[type[Reader], Callable[[JsonObject], bool]], ...] = (
    (ChatCompletionsReader, lambda first: isinstance(first.value.get("choices"), list)),
    (ResponsesReader, lambda first: _starts(first, "type", "response.") or _starts(first, "object", "response")),
    (AnthropicReader, lambda first: first.value.get("type") in ("message", "message_start")),
    (GeminiReader, lambda first: isinstance(first.value.get("candidates"), list)),
)


def _starts(first: JsonObject, key: str, prefix: str) -> bool:
    found = first.value.get(key)
    return isinstance(found, str) and found.startswith(prefix)


def find_provider(name: str) -> Provider:
    """Look up a provider; case does not matter, nor whether words are joined by `-`, `.` or `_`.

    Raises UnknownProviderError, and TypeError for anything but a str.
    """
    check_type(name, str, "provider")
    found = PROVIDERS.get(name.lower().replace("-", "_").replace(".", "_"))
    if found is None:
        raise UnknownProviderError(name, sorted(PROVIDERS))
    return found


def content_format(name: str) -> str | None:
    """Return the format of a provider's content, which has the alias `<name>_content`; None for plain text."""
    return resolve(f"{name}_content") if find_provider(name).has_content_format else None


def make_reader(provider: Provider, first: JsonObject, assembler: Assembler) -> Reader:
    """Make the reader for a response from its first object."""
    reader = next((reader for reader, matches in _API_TESTS if matches(first)), provider.reader)
    return reader(assembler)
