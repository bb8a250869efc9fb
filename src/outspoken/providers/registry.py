"""The providers by name: the reader of the API that each speaks, and the format of its content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

from outspoken.grammar.registry import resolve
from outspoken.results.arguments import check_type

from .assembly.assembler import Assembler
from .decode.json_object import JsonObject
from .errors import UnknownProviderError
from .wire.bedrock import BedrockReader
from .wire.chat_completions.reader import ChatCompletionsReader
from .wire.cohere import CohereReader
from .wire.gemini import GeminiReader
from .wire.messages.reader import AnthropicReader
from .wire.ollama import OllamaReader
from .wire.reader import Reader
from .wire.responses.reader import ResponsesReader

#: The names of providers.
Provider = Literal[
    "openai", "azure", "deepseek", "mistral", "groq", "openrouter", "huggingface", "zai", "cerebras", "minimax",
    "together", "fireworks", "perplexity", "xai", "moonshot", "qwen", "nvidia", "litellm", "vllm", "sglang", "llamacpp",
    "lmstudio", "openai_responses", "anthropic", "gemini", "vertex", "ollama", "bedrock", "cohere",
]  # fmt: skip


class Api(NamedTuple):
    """The reader of a provider's API. With `has_content_format`, its content is read in a format by default."""

    reader: type[Reader]
    has_content_format: bool = False


#: Most providers have the API of chat completions.
PROVIDERS: dict[str, Api] = {
    **{name: Api(ChatCompletionsReader) for name in get_args(Provider)},
    "minimax": Api(ChatCompletionsReader, has_content_format=True),
    "openai_responses": Api(ResponsesReader),
    "anthropic": Api(AnthropicReader),
    "gemini": Api(GeminiReader),
    "vertex": Api(GeminiReader),
    "ollama": Api(OllamaReader),
    "bedrock": Api(BedrockReader),
    "cohere": Api(CohereReader),
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


def find_provider(name: str) -> Api:
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


def make_reader(api: Api, first: JsonObject, assembler: Assembler) -> Reader:
    """Make the reader for a response from its first object."""
    reader = next((reader for reader, matches in _API_TESTS if matches(first)), api.reader)
    return reader(assembler)
