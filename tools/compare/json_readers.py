"""Readers of JSON documents: Outspoken, json-repair, BAML and Instructor, each by its own public interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from outspoken.json import read_json

from .json_texts import JsonText
from .schemas import ANY, Classes, plain


class Reading(NamedTuple):
    """What was read of a text, and what the reader says of it: that it may be wrong, or that the text was cut."""

    value: Any
    is_doubtful: bool = False
    is_truncated: bool = False


class JsonReader(Protocol):
    """A reader. Making it with the texts takes no part in the time of reading."""

    def call(self, number: int) -> Any:
        """Read a text, by its number. Whatever it raises, the text is refused."""
        ...

    def reading(self, result: Any) -> Reading | None:
        """What the result of `call` says. None if there is nothing in it, which refuses the text as well."""
        ...


class Ours:
    """`read_json` with the schema."""

    def __init__(self, texts: Sequence[JsonText]) -> None:
        self._texts = texts

    def call(self, number: int) -> Any:
        """Read a text."""
        return read_json(self._texts[number].text, self._texts[number].schema)

    def reading(self, result: Any) -> Reading | None:
        """Several values are never what is meant here."""
        if not result.values:
            return None
        value = result.values[0] if len(result.values) == 1 else list(result.values)
        is_doubtful = result.status == "invalid" or result.ambiguous or result.level == "heuristic"
        return Reading(value, is_doubtful, result.status == "truncated")


class JsonRepair:
    """`json_repair.repair_json`, with the schema or without."""

    def __init__(self, texts: Sequence[JsonText], *, with_schema: bool = False) -> None:
        self._repair: Any = import_module("json_repair").repair_json
        self._texts, self._with_schema = texts, with_schema

    def call(self, number: int) -> Any:
        """Read a text."""
        text = self._texts[number]
        if self._with_schema:
            return self._repair(text.text, return_objects=True, schema=text.schema)
        return self._repair(text.text, return_objects=True)

    def reading(self, result: Any) -> Reading | None:
        """An empty text is what it returns where it finds nothing."""
        return None if result == "" else Reading(result)


class Baml:
    """The parser of BAML, which a generated client calls with a response: a function for each document's class."""

    def __init__(self, texts: Sequence[JsonText]) -> None:
        baml: Any = import_module("baml_py")
        self._texts, self._types, self._enums = texts, ModuleType("types"), ModuleType("enums")
        sources = ["client<llm> Model {\n  provider openai\n  options {\n    model none\n    api_key none\n  }\n}", ANY]
        for number, text in enumerate(texts):
            made = Classes(f"C{number}", text.schema, self._types)
            sources += made.sources
            sources.append(
                f'function F{number}(x: string) -> C{number} {{\n  client Model\n  prompt #"{{{{ x }}}}"#\n}}'
            )
        self._runtime: Any = baml.BamlRuntime.from_files("/", {"all.baml": "\n\n".join(sources)}, {})
        self._context: Any = self._runtime.create_context_manager()

    def call(self, number: int) -> Any:
        """Read a text."""
        types, text = self._types, self._texts[number].text
        parse: Callable[..., Any] = self._runtime.parse_llm_response
        return parse(f"F{number}", text, self._enums, types, types, False, self._context, None, None, {})

    def reading(self, result: Any) -> Reading | None:
        """The members of the class."""
        return Reading(plain(result))


class Instructor:
    """`process_response` of Instructor in the mode for JSON in Markdown, with a completion that has the text."""

    def __init__(self, texts: Sequence[JsonText]) -> None:
        self._process: Any = import_module("instructor.processing.response").process_response
        self._mode: Any = import_module("instructor").Mode.MD_JSON
        completion: Any = import_module("openai.types.chat").ChatCompletion
        types = ModuleType("types")
        self._models = [Classes(f"C{number}", text.schema, types).model for number, text in enumerate(texts)]
        self._completions = [completion.model_validate(_completion(text)) for text in texts]

    def call(self, number: int) -> Any:
        """Read a text."""
        model = self._models[number]
        return self._process(self._completions[number], response_model=model, stream=False, mode=self._mode)

    def reading(self, result: Any) -> Reading | None:
        """The members of the model."""
        return Reading(plain(result))


def _completion(text: JsonText) -> dict[str, Any]:
    """A response of a server, which says so if the text was cut."""
    message = {"role": "assistant", "content": text.text}
    reason = "length" if text.group == "cut" else "stop"
    choice = {"index": 0, "finish_reason": reason, "message": message}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "none", "choices": [choice]}


READERS: dict[str, Callable[[Sequence[JsonText]], JsonReader]] = {
    "Outspoken": Ours,
    "json-repair": JsonRepair,
    "json-repair, schema": lambda texts: JsonRepair(texts, with_schema=True),
    "BAML": Baml,
    "Instructor": Instructor,
}
