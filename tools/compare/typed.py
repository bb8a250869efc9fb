"""Reads answers of models as types, with ours and with those who turn answers into objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from importlib import import_module
from importlib.metadata import version
from inspect import isclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter, create_model

from outspoken.json import Reading, read_json
from tests.json import typed_types
from tests.json.typed_types import TYPES, Answer, answers
from tools.docs.markdown import table

from .documents import baml_function, completion, plain
from .tables import share

#: Reads an answer as its type. What it raises, and a LookupError, is no value.
Read = Callable[[Answer], Any]
#: The types of BAML for those that are no class or enumeration of the same name. It has no dates.
_BAML = {
    "list[Person]": "Person[]",
    "list[Severity]": "Severity[]",
    "Sentiment": '"positive" | "negative" | "neutral"',
    "Deck": "1 | 2 | 3",
    "Shape": "Circle | Square",
    "Answer": "Found | Missing",
    "dict[str, int]": "map<string, int>",
    "list[list[float]]": "float[][]",
    "int | None": "int?",
    "date": "string",
    "Decimal": "string",
}
_UNKNOWN_TO_BAML = {"tuple[str, int]"}


def _ours() -> Read:
    def read(answer: Answer) -> Any:
        found = cast("Reading[Any]", read_json(answer.text, TYPES[answer.type]))
        if not found.is_valid or found.ambiguous:
            raise LookupError
        return found.value

    return read


def _pydantic(repair: Callable[[str], Any] = str) -> Read:
    return lambda answer: TypeAdapter(TYPES[answer.type]).validate_json(repair(answer.text))


def _json_repair() -> Read:
    return _pydantic(import_module("json_repair").repair_json)


def _baml() -> Read:
    """The parser of a generated client. Its values become those of the types by pydantic: dates are text to it."""
    types, enums = ModuleType("types"), ModuleType("enums")
    for name, known in vars(typed_types).items():
        if isclass(known) and issubclass(known, Enum):
            setattr(enums, name, Enum(name, {one.name: one.name for one in known}))
        elif isclass(known):
            setattr(types, name, create_model(name, __config__={"extra": "allow"}))
    source = Path(__file__).with_name("typed.baml").read_text("utf-8")
    names = {name: f"F{number}" for number, name in enumerate(TYPES) if name not in _UNKNOWN_TO_BAML}
    parse = baml_function([source], {names[name]: _BAML.get(name, name) for name in names}, types, enums)

    def read(answer: Answer) -> Any:
        found = _given(plain(parse(names[answer.type], answer.text)))
        found = found.strip('"') if isinstance(found, str) else found  # a text is the whole answer to it
        return TypeAdapter(TYPES[answer.type]).validate_python(found)

    return read


def _given(value: Any) -> Any:
    """A value of BAML without the members that are null, which may be absent, and with the values of enumerations."""
    if isinstance(value, Enum):
        return getattr(typed_types, type(value).__name__)[value.name]
    if isinstance(value, dict):
        return {key: _given(inner) for key, inner in cast("dict[str, Any]", value).items() if inner is not None}
    return [_given(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value


def _instructor() -> Read:
    process: Any = import_module("instructor.processing.response").process_response
    mode: Any = import_module("instructor").Mode.MD_JSON

    def read(answer: Answer) -> Any:
        made = completion(answer.text, is_cut=answer.kind == "cut")
        return process(made, response_model=TYPES[answer.type], stream=False, mode=mode)

    return read


def _langchain() -> Read:
    parser: Any = import_module("langchain_core.output_parsers").PydanticOutputParser
    return lambda answer: parser(pydantic_object=TYPES[answer.type]).parse(answer.text)


def _pydantic_ai() -> Read:
    """What an agent does with the text of an answer in the modes for native and for prompted output."""
    processor: Any = import_module("pydantic_ai._output").ObjectOutputProcessor
    return lambda answer: processor(TYPES[answer.type]).validate(answer.text)


#: The readers: the package with the version, and whether it takes a type that is no model for the whole answer.
READERS: dict[str, tuple[str, bool, Callable[[], Read]]] = {
    "Outspoken": ("", True, _ours),
    "BAML": ("baml-py", True, _baml),
    "json-repair, pydantic": ("json-repair", True, _json_repair),
    "pydantic alone": ("pydantic", True, _pydantic),
    "Instructor": ("instructor", False, _instructor),
    "LangChain, PydanticOutputParser": ("langchain-core", False, _langchain),
    "pydantic-ai": ("pydantic-ai-slim", False, _pydantic_ai),
}


def outcome(read: Read, answer: Answer) -> str:
    """What becomes of an answer: `meant`, `none` where a value is meant, or `wrong`."""
    try:
        found = read(answer)
    except Exception:  # whatever it raises, its caller gets no value
        return "none" if answer.meant else "meant"
    if answer.meant is None:
        return "wrong"
    return "meant" if found == TypeAdapter(TYPES[answer.type]).validate_json(answer.meant) else "wrong"


def typed(only: Sequence[str], number: int) -> str:
    """Answers as types: 11 pydantic models, and all of them with unions, lists, enumerations and plain values."""
    lines: list[list[str]] = []
    models = [one for one in answers() if isclass(TYPES[one.type]) and issubclass(TYPES[one.type], BaseModel)]
    for name, (package, takes_all, make) in READERS.items():
        read = make()
        base, comma, rest = name.partition(",")
        cells = [f"{base} {version(package)}{comma}{rest}" if package else name]
        for texts in (models, answers()):
            found = Counter(outcome(read, answer) for answer in texts)
            counts = [share(found[what], len(texts)) for what in ("meant", "wrong", "none")]
            cells.append(" / ".join(counts) if takes_all or texts is models else "–")
        lines.append(cells)
    heads = [f"models, {len(models)} answers", f"all types, {len(answers())} answers"]
    return table(["as meant / another value, no word / no value", *heads], lines)
