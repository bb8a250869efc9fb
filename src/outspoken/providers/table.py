"""The providers by name: who speaks which API, and whose content has markup that everyone expects to be read."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from outspoken.grammar.registry import resolve

from .assembly import Assembly
from .errors import UnknownProviderError
from .nodes import Node
from .reading import Reader

#: the classes that read the APIs, by module
READERS = {
    "chat": "Chat",
    "responses": "Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "ollama": "Ollama",
    "bedrock": "Bedrock",
    "cohere": "Cohere",
}


class Provider(NamedTuple):
    """The API that a provider speaks, and whether its content is known to have markup of its own in it."""

    api: str
    marked: bool = False


_CHAT = (
    "openai", "azure", "deepseek", "mistral", "groq", "openrouter", "huggingface", "zai", "cerebras", "together",
    "fireworks", "perplexity", "xai", "moonshot", "qwen", "nvidia", "litellm", "vllm", "sglang", "llamacpp", "lmstudio",
)  # fmt: skip
PROVIDERS: dict[str, Provider] = {
    **{name: Provider("chat") for name in _CHAT},
    "minimax": Provider("chat", marked=True),
    "openai_responses": Provider("responses"),
    "anthropic": Provider("anthropic"),
    "gemini": Provider("gemini"),
    "vertex": Provider("gemini"),
    "ollama": Provider("ollama"),
    "bedrock": Provider("bedrock"),
    "cohere": Provider("cohere"),
}

#: what shows that an object is of another API than its provider's own, since many providers offer those, too
_SHAPES: tuple[tuple[str, Callable[[Node], bool]], ...] = (
    ("chat", lambda node: isinstance(node.value.get("choices"), list)),
    ("responses", lambda node: _begins(node, "type", "response.") or _begins(node, "object", "response")),
    ("anthropic", lambda node: node.value.get("type") in ("message", "message_start")),
    ("gemini", lambda node: isinstance(node.value.get("candidates"), list)),
)


def _begins(node: Node, key: str, start: str) -> bool:
    found = node.value.get(key)
    return isinstance(found, str) and found.startswith(start)


def provider_of(name: Any) -> Provider:
    """The provider of a name, in any case and with any of `-`, `.` and `_`. Raises UnknownProviderError."""
    found = PROVIDERS.get(name.lower().replace("-", "_").replace(".", "_")) if isinstance(name, str) else None
    if found is None:
        raise UnknownProviderError(name, sorted(PROVIDERS))
    return found


def content_format(name: str) -> str | None:
    """The format of a provider's content: the one with the alias `<provider>_content`; None is plain text."""
    return resolve(f"{name}_content") if provider_of(name).marked else None


def reader_of(provider: Provider, node: Node, to: Assembly) -> Reader:
    """The reader for a response of which this is the first object."""
    own = provider.api
    api = next((api for api, fits in _SHAPES if fits(node)), own)
    made: type[Reader] = getattr(import_module(f"outspoken.providers.{api}"), READERS[api])
    return made(to)
