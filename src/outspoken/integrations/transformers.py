"""`parse_response` of transformers' tokenizers with every format, and the format of a checkpoint.

A message has `role`, `content`, `thinking` and `tool_calls` as transformers' own, without what is absent. What is not
sound is under `outspoken`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from outspoken.grammar.registry import load_format
from outspoken.models.tokens import added_tokens, special_spans
from outspoken.notations.tools import ToolLike, Tools
from outspoken.parsing.parser import Parser
from outspoken.rendering.reasoning_tags import reasoning_tags
from outspoken.results.errors import GrammarError, UnreadTemplateError

from .messages import METADATA, framework, metadata

_TRANSFORMERS = framework("transformers", "transformers", "5.16")


def with_format(tokenizer: Any, format: str | None = None) -> Any:
    """Give a tokenizer a `parse_response` that reads this format, by default that of `format_of`, and return it.

    The new method takes what `parse_response` below takes. Raises UnknownFormatError for an unknown format, and
    GrammarError if the format of the tokenizer cannot be found.
    """
    name = format_of(tokenizer) if format is None else Parser(format).format
    theirs: Any = tokenizer.parse_response

    def parse(response: Any, schema: dict[str, Any] | None = None, **options: Any) -> Any:
        if schema is not None:
            return theirs(response, schema, **options)
        return parse_response(tokenizer, response, name, **options)

    tokenizer.parse_response = parse
    return tokenizer


def parse_response(
    tokenizer: Any, response: Any, format: str, *, prefix: Any = "", tools: Tools | Sequence[ToolLike] | None = None,
    finish_reason: str | None = None,
) -> dict[str, Any] | list[dict[str, Any]]:  # fmt: skip
    """The message of a response: text, or tokens as a list, array or tensor; a list of messages for a batch.

    `prefix` is the prompt, as text or tokens, or one for each response of a batch; it tells whether the prompt has
    opened reasoning. In a response of tokens, text that only looks like a special token is text; see `Parser.parse`. A
    response that ends with an end token of the tokenizer is complete, whatever `finish_reason` is.

    Raises ValueError if a batch has another number of prefixes, and UnknownFormatError and ToolError as `parse` does.
    """
    texts, is_batch = _texts(tokenizer, response)
    added = added_tokens(tokenizer) if hasattr(tokenizer, "get_added_vocab") else []
    ids = response.tolist() if hasattr(response, "tolist") else response
    response_list: list[Any] = ids if is_batch else [ids]
    special = [
        special_spans(tokenizer, response_text) if added and not isinstance(response_text, str) else None
        for response_text in response_list
    ]
    prompts, has_many = _texts(tokenizer, prefix)
    if not has_many or not prompts:
        prompts = (prompts or [""])[:1] * len(texts)
    if len(prompts) != len(texts):
        raise ValueError(f"there are {len(texts)} responses and {len(prompts)} prefixes; pass one, or one for each")
    parser = Parser(format, tools=tools, special_tokens=added)
    read = zip(texts, prompts, special, strict=True)
    messages = [_message(tokenizer, parser, *response_text, finish_reason) for response_text in read]
    return messages if is_batch else messages[0]


def format_of(tokenizer: Any) -> str:
    """The format of a tokenizer's model.

    If the tokenizer has a response template, it is loaded as a format of the model's name. Otherwise, the chat template
    writes calls, and the format that reads them back is taken. Raises GrammarError if there is none.
    """
    name = Path(str(getattr(tokenizer, "name_or_path", "") or "model")).name
    template = getattr(tokenizer, "response_template", None)
    if isinstance(template, dict):
        return load_format(cast("dict[str, Any]", template), name=f"{name}_template")
    if not getattr(tokenizer, "chat_template", None):
        raise GrammarError(name, "the tokenizer has no response template and no chat template; pass a format")
    try:
        return Parser.for_model(tokenizer).format
    except UnreadTemplateError as error:
        raise GrammarError(name, f"{error}; pass a format") from None


def load_checkpoint(folder: str | Path) -> str:
    """The format of a checkpoint, from the files of its tokenizer in a folder; see `format_of`. Needs no network."""
    auto: Any = _TRANSFORMERS.load("transformers")
    return format_of(auto.AutoTokenizer.from_pretrained(str(folder), local_files_only=True))


def _texts(tokenizer: Any, given: Any) -> tuple[list[str], bool]:
    """Texts of text or tokens, and whether there may be several."""
    if isinstance(given, str):
        return [given], False
    if isinstance(given, (list, tuple)):
        items = cast("Sequence[Any]", given)
        if not items or isinstance(items[0], str):
            return list(items), True
    decoded: Any = tokenizer.decode(given, skip_special_tokens=False)
    return ([decoded], False) if isinstance(decoded, str) else (list(decoded), True)


def _message(
    tokenizer: Any, parser: Parser, text: str, prompt: str, special: Any, finish_reason: str | None
) -> dict[str, Any]:
    """The message of a response, as transformers' chat templates take it."""
    end, padding, has_end = getattr(tokenizer, "eos_token", None), getattr(tokenizer, "pad_token", None), False
    while end_token := next((token for token in (end, padding) if token and text.rstrip().endswith(token)), None):
        has_end, text = has_end or end_token == end, text.rstrip()[: -len(end_token)]
    special = special and [span for span in special if span[1] <= len(text)]
    tags = reasoning_tags(parser.format)
    prefix = tags.prefix(prompt) if tags is not None and prompt else None
    reason = "stop" if has_end else finish_reason
    reply = parser.parse(text, prefix=prefix, finish_reason=reason, special=special)
    functions = [({"id": c.id} if c.id else {}, {"name": c.name, "arguments": c.arguments}) for c in reply.tool_calls]
    calls = [{"type": "function", "function": function, **id} for id, function in functions]
    end_token = {"thinking": reply.reasoning, "content": reply.text, "tool_calls": calls, METADATA: metadata(reply)}
    return {"role": "assistant", **{key: value for key, value in end_token.items() if value}}
