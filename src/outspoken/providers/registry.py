"""The providers by name: the reader of the API that each speaks, and the format of its content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

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
from .wire.reader import ApiReader
from .wire.responses.reader import ResponsesReader

#: The names of providers.
Provider = Literal[
    "openai", "azure", "deepseek", "mistral", "groq", "openrouter", "huggingface", "zai", "cerebras", "minimax",
    "together", "fireworks", "perplexity", "xai", "moonshot", "qwen", "nvidia", "litellm", "vllm", "sglang", "llamacpp",
    "lmstudio", "openai_responses", "anthropic", "gemini", "vertex", "ollama", "bedrock", "cohere",
]  # fmt: skip


#: The reader of the API that each provider speaks; that of most is chat completions.
PROVIDERS: dict[str, type[ApiReader]] = {
    **dict.fromkeys(get_args(Provider), ChatCompletionsReader),
    "openai_responses": ResponsesReader,
    "anthropic": AnthropicReader,
    "gemini": GeminiReader,
    "vertex": GeminiReader,
    "ollama": OllamaReader,
    "bedrock": BedrockReader,
    "cohere": CohereReader,
}
#: The providers whose content is read in a format by default.
_WITH_FORMAT = frozenset({"minimax"})

#: How to recognise the APIs that many providers offer beside their own.
_API_TESTS: tuple[tuple[type[ApiReader], Callable[[JsonObject], bool]], ...] = (
    (ChatCompletionsReader, lambda first: isinstance(first.value.get("choices"), list)),
    (ResponsesReader, lambda first: _starts(first, "type", "response.") or _starts(first, "object", "response")),
    (AnthropicReader, lambda first: first.value.get("type") in ("message", "message_start")),
    (GeminiReader, lambda first: isinstance(first.value.get("candidates"), list)),
)


def _starts(first: JsonObject, key: str, prefix: str) -> bool:
    found = first.value.get(key)
    return isinstance(found, str) and found.startswith(prefix)


def find_provider(name: str) -> tuple[type[ApiReader], str | None]:
    """The reader of a provider, and the format of its content, which has the alias `<name>_content`; None for text.

    Case does not matter, nor whether words are joined by `-`, `.` or `_`. Raises UnknownProviderError, and TypeError
    for anything but a str.
    """
    key = check_type(name, str, "provider").lower().replace("-", "_").replace(".", "_")
    if key not in PROVIDERS:
        raise UnknownProviderError(name, sorted(PROVIDERS))
    return PROVIDERS[key], resolve(f"{key}_content") if key in _WITH_FORMAT else None


def make_reader(usual: type[ApiReader], first: JsonObject, assembler: Assembler) -> ApiReader:
    """Make the reader for a response from its first object, which may show another API than the usual one."""
    reader = next((reader for reader, matches in _API_TESTS if matches(first)), usual)
    return reader(assembler)
