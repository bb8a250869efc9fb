"""Reads JSON documents with json-repair, BAML and Instructor, and with ours, and counts what becomes of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import version
from random import Random
from types import ModuleType
from typing import Any, Literal, NamedTuple, cast

from pydantic import BaseModel, Field, create_model

from outspoken.json import read_json
from tools.bench.peers import turns
from tools.damage.documents import document
from tools.damage.json_damage import DAMAGE, joined, style, tokens
from tools.damage.json_texts import KINDS, SEED, generate, sound
from tools.damage.judging import equal, is_beginning
from tools.docs.markdown import table

from .tables import share

Json = dict[str, Any]

#: Sound calls; calls with a value of another type or spelling than the schema's; damaged records of short values; calls
#: with code or prose that are damaged outside of strings, in a string, and cut.
GROUPS = ("sound", "types", "records", "structure", "strings", "cut")


class JsonText(NamedTuple):
    """A text, the value that it means, and the schema of that value."""

    group: str
    kind: str
    text: str
    meant: Json
    schema: Json


# --- Texts


def json_texts(per_kind: int) -> list[JsonText]:
    """The texts of all groups, the same ones every time."""
    found = [*_sound(2 * per_kind), *_types(per_kind), *_records(per_kind)]
    groups = ((KINDS[case.kind].group, case) for case in generate(SEED, per_kind)[0])
    return found + [JsonText(g, case.kind, case.text, case.values[0], case.schema) for g, case in groups if g in GROUPS]


def _sound(count: int) -> Iterator[JsonText]:
    random = Random(f"{SEED} sound")
    for _ in range(count):
        meant = document(random)
        yield JsonText("sound", "sound", json.dumps(meant.value, ensure_ascii=False), meant.value, meant.schema)


def _other_spelling(kind: str, value: Any, schema: Json) -> tuple[Any, Json] | None:
    """What is written for a value, and the schema that the value meets; None if the kind does not fit it."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    if kind == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return json.dumps(value), schema
    if kind == "boolean" and isinstance(value, bool):
        return json.dumps(value), schema
    if kind == "list" and len(items) == 1 and isinstance(items[0], str):
        return items[0], schema
    if kind == "word" and isinstance(value, str) and value.isascii() and value.isalpha() and value.islower():
        return value.upper(), {"type": "string", "enum": [value, "other", "none of these"]}
    return None


def _types(per_kind: int) -> Iterator[JsonText]:
    """A number or a boolean in quotes, an item without its list, and a word of an enumeration in upper case."""
    for kind in ("number", "boolean", "list", "word"):
        random, count = Random(f"{SEED} {kind}"), 0
        while count < per_kind:
            meant = document(random)
            key = next((key for key in ("arguments", "parameters") if key in meant.schema["required"]), "")
            if not key:
                continue
            members, schema = meant.value[key], meant.schema["properties"][key]
            for name, value in members.items():
                changed = _other_spelling(kind, value, schema["properties"][name])
                if changed is None or value == meant.payload:
                    continue
                inner = schema | {"properties": schema["properties"] | {name: changed[1]}}
                outer = meant.schema | {"properties": meant.schema["properties"] | {key: inner}}
                text = json.dumps(meant.value | {key: members | {name: changed[0]}}, ensure_ascii=False)
                yield JsonText("types", kind, text, meant.value, outer)
                count += 1
                break


#: Records of short values, in which no quote or bracket stands: what a member may be, and its schema.
_RECORD: dict[str, tuple[Callable[[Random], Any], Json]] = {
    "name": (lambda draw: draw.choice(("Ada Byron", "Grace Murray", "Emmy Weber", "Lise Kopp")), {"type": "string"}),
    "email": (lambda draw: f"{draw.choice(('ada', 'grace', 'rosa'))}@example.com", {"type": "string"}),
    "age": (lambda draw: draw.randint(20, 90), {"type": "integer"}),
    "score": (lambda draw: draw.choice((4.5, 0.25, 12.75)), {"type": "number"}),
    "active": (lambda draw: draw.random() < 0.5, {"type": "boolean"}),
    "tags": (
        lambda draw: draw.sample(("sailing", "moss", "late ferry", "choir", "bread"), draw.randint(2, 4)),
        {"type": "array", "items": {"type": "string"}},
    ),
    "address": (
        lambda draw: {"street": f"{draw.randint(1, 90)} Quay Lane", "city": draw.choice(("Leith", "Brest", "Porto"))},
        {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}},
    ),
    "note": (lambda draw: draw.choice((None, "calls on Fridays", "prefers letters")), {"type": ["string", "null"]}),
}


#: Damage that changes no record, or leaves two readings of it.
_NOT_FOR_RECORDS = {"doubled outer braces", "surplus brace, two readings", "raw line breaks and tabs"}


def _records(per_kind: int) -> Iterator[JsonText]:
    schema = {"type": "object", "properties": {name: of for name, (_, of) in _RECORD.items()}, "required": ["name"]}
    for kind in sorted(DAMAGE.keys() - _NOT_FOR_RECORDS):
        random, count = Random(f"{SEED} record {kind}"), 0
        while count < per_kind:
            dropped = random.choice(("score", "active", "note", ""))
            meant = {name: draw(random) for name, (draw, _) in _RECORD.items() if name != dropped}
            parts = DAMAGE[kind](random, tokens(meant, style(random)))
            if parts is not None and not sound(text := joined(parts)):
                yield JsonText("records", f"record: {kind}", text, meant, schema)
                count += 1


# --- Readers


class Reading(NamedTuple):
    """What was read of a text, and what the reader says of it: that it may be wrong, or that the text was cut."""

    value: Any
    is_doubtful: bool = False
    is_truncated: bool = False


#: Reads a text by its number. What it raises, or None, refuses the text.
Read = Callable[[int], Reading | None]


def _ours(texts: Sequence[JsonText]) -> Read:
    def read(number: int) -> Reading | None:
        found = read_json(texts[number].text, schema=texts[number].schema)
        if not found.values:
            return None
        is_doubtful = found.status == "invalid" or found.ambiguous or found.level == "heuristic"
        return Reading(found.data, is_doubtful, found.status == "truncated")

    return read


def _json_repair(texts: Sequence[JsonText], *, with_schema: bool = False) -> Read:
    """An empty text is what it returns where it finds nothing. It has no word for doubt."""
    repair: Any = import_module("json_repair").repair_json

    def read(number: int) -> Reading | None:
        more = {"schema": texts[number].schema} if with_schema else {}
        value = repair(texts[number].text, return_objects=True, **more)
        return None if value == "" else Reading(value)

    return read


def _baml(texts: Sequence[JsonText]) -> Read:
    """The parser that a generated client of BAML calls with a response: a function for each document's class."""
    types = ModuleType("types")
    sources = [source for at, text in enumerate(texts) for source in Classes(f"C{at}", text.schema, types).sources]
    parse = baml_function(
        [_ANY, *sources], {f"F{at}": f"C{at}" for at in range(len(texts))}, types, ModuleType("enums")
    )
    return lambda number: Reading(plain(parse(f"F{number}", texts[number].text)))


def baml_function(
    sources: Sequence[str], returned: dict[str, str], types: ModuleType, enums: ModuleType
) -> Callable[[str, str], Any]:
    """What reads a response as a function of BAML does, by the function's name; of each, the type is given."""
    model = "client<llm> Model {\n  provider openai\n  options {\n    model none\n    api_key none\n  }\n}"
    body = '{\n  client Model\n  prompt #"{{ x }}"#\n}'
    functions = [f"function {name}(x: string) -> {made} {body}" for name, made in returned.items()]
    files = {"all.baml": "\n\n".join([model, *sources, *functions])}
    runtime: Any = import_module("baml_py").BamlRuntime.from_files("/", files, {})
    context: Any = runtime.create_context_manager()
    return lambda name, text: runtime.parse_llm_response(
        name, text, enums, types, types, False, context, None, None, {}
    )


def _instructor(texts: Sequence[JsonText]) -> Read:
    """`process_response` of Instructor in the mode for JSON in Markdown; the completion says if the text was cut."""
    process: Any = import_module("instructor.processing.response").process_response
    mode: Any = import_module("instructor").Mode.MD_JSON
    types = ModuleType("types")
    models = [Classes(f"C{number}", text.schema, types).model for number, text in enumerate(texts)]
    completions = [completion(text.text, is_cut=text.group == "cut") for text in texts]
    return lambda number: Reading(
        plain(process(completions[number], response_model=models[number], stream=False, mode=mode))
    )


def completion(text: str, *, is_cut: bool) -> Any:
    """A completion of OpenAI's client."""
    choice = {"index": 0, "finish_reason": "length" if is_cut else "stop"}
    choices = [{**choice, "message": {"role": "assistant", "content": text}}]
    frame = {"id": "1", "object": "chat.completion", "created": 0, "model": "none", "choices": choices}
    return import_module("openai.types.chat").ChatCompletion.model_validate(frame)


READERS: dict[str, tuple[str, Callable[[Sequence[JsonText]], Read]]] = {
    "Outspoken": ("", _ours),
    "json-repair": ("json-repair", _json_repair),
    "json-repair, schema": ("json-repair", partial(_json_repair, with_schema=True)),
    "BAML": ("baml-py", _baml),
    "Instructor": ("instructor", _instructor),
}

#: The types of BAML and of Python for the types of schemas. BAML has none for any value; types may name themselves.
_TYPES: dict[str, tuple[str, Any]] = {
    "string": ("string", str),
    "integer": ("int", int),
    "number": ("float", float),
    "boolean": ("bool", bool),
}
_ANY = "type Anything = int | float | bool | string | null | Anything[] | map<string, Anything>"
#: Names of BAML that a field cannot have.
_RESERVED = {"env", "inline"}


class Classes:
    """The classes of a schema, all with names that begin alike: as BAML's source, and as pydantic models.

    `model` is the outermost one; `module` has all of them, as the generated client of BAML has.
    """

    def __init__(self, name: str, schema: Json, module: ModuleType) -> None:
        self.sources: list[str] = []
        self._module, self._prefix, self._count = module, name, 0
        self.model: type[BaseModel] = self._class(schema, name)

    def _class(self, schema: Json, name: str) -> type[BaseModel]:
        lines: list[str] = []
        fields: dict[str, Any] = {}
        for key, member in schema["properties"].items():
            theirs, ours = self._type(member)
            is_optional = key not in schema.get("required", [])
            field = f"{key}_" if key in _RESERVED else key
            mark = "?" if is_optional and not theirs.endswith("?") else ""
            theirs = f"({theirs}){mark}" if mark and " | " in theirs else f"{theirs}{mark}"
            lines.append(f"  {field} {theirs}" + (f" @alias({json.dumps(key)})" if field != key else ""))
            alias: Any = Field(None if is_optional else ..., alias=key)
            fields[field] = (ours | None if is_optional else ours, alias)
        self.sources.append(f"class {name} {{\n" + "\n".join(lines) + "\n}")
        options: Any = {"__config__": {"populate_by_name": True, "protected_namespaces": ()}}
        model: type[BaseModel] = create_model(name, **options, **fields)
        setattr(self._module, name, model)
        return model

    def _type(self, schema: Json) -> tuple[str, Any]:
        """The type of a value in BAML and in Python."""
        kind = schema.get("type")
        if "enum" in schema:
            words = tuple(cast("list[str]", schema["enum"]))
            return " | ".join([json.dumps(word) for word in words]), Literal[words]
        if isinstance(kind, list):
            return "string?", str | None
        if kind == "array":
            theirs, ours = self._type(schema["items"]) if "items" in schema else ("Anything", Any)
            return f"{theirs}[]", list[ours]
        if kind == "object":
            if not schema.get("properties"):
                return "map<string, Anything>", dict[str, Any]
            self._count += 1
            name = f"{self._prefix}N{self._count}"
            return name, self._class(schema, name)
        return _TYPES[cast("str", kind)]


def plain(value: Any) -> Any:
    """What is in models, without what was not given, under the names of the schema."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    return [plain(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


# --- Judging


def same(one: Any, other: Any, schema: Json) -> bool:
    """Whether two values are the same, with their types. The order of members does not count.

    Members of a class that are null are as if they were not there: readers that fill in classes cannot tell them apart.
    """
    return equal(_sorted(one, schema), _sorted(other, schema))


def _sorted(value: Any, schema: Json) -> Any:
    if isinstance(value, dict):
        members, known = cast("Json", value), cast("Json", schema.get("properties", {}))
        kept = {key: item for key, item in members.items() if item is not None or not known}
        return {key: _sorted(kept[key], known.get(key, {})) for key in sorted(kept)}
    if isinstance(value, list):
        return [_sorted(item, schema.get("items", {})) for item in cast("list[Any]", value)]
    return value


def outcome(read: Read, number: int, text: JsonText) -> str:
    """What becomes of a text: `meant`, `refused` (an error, nothing, or something that is called doubtful), `wrong`.

    A text that was cut is read as meant if what is there of it is read, and called incomplete.
    """
    try:
        found = read(number)
    except Exception:  # whatever it raises, its caller gets no value
        return "refused"
    if found is None:
        return "refused"
    is_cut = text.group == "cut"
    may_go_on = text.kind.endswith(("closer missing", "closers missing"))  # nothing proves that it has its end
    if same(found.value, text.meant, text.schema):
        return "refused" if found.is_truncated and not is_cut and not may_go_on else "meant"
    if is_cut and found.is_truncated:
        return "meant" if is_beginning(found.value, text.meant) else "refused" if found.is_doubtful else "wrong"
    return "refused" if found.is_doubtful or found.is_truncated else "wrong"


def documents(only: Sequence[str], number: int) -> str:
    """JSON documents with their schemas: tool calls with code and prose in an argument, and records."""
    texts = json_texts(number)
    sizes = Counter(text.group for text in texts)
    readers = {name: make(texts) for name, (_, make) in READERS.items()}
    lines: list[list[str]] = []
    times = {groups: _times([*readers.values()], texts, groups) for groups in (GROUPS[:1], GROUPS[2:5])}
    for at, (name, read) in enumerate(readers.items()):
        found = Counter((text.group, outcome(read, i, text)) for i, text in enumerate(texts))
        cells = [f"{share(found[g, 'meant'], sizes[g])} / {share(found[g, 'wrong'], sizes[g])}" for g in GROUPS]
        package, (base, comma, rest) = READERS[name][0], name.partition(",")
        label = f"{base} {version(package)}{comma}{rest}" if package else name
        lines.append([label, *cells, *[f"{of[at]:,.0f}" for of in times.values()]])
    heads = [f"{group}, {sizes[group]} texts" for group in GROUPS]
    return table(["read as meant / wrong and silent", *heads, "sound, µs", "damaged, µs"], lines)


def _times(readers: list[Read], texts: Sequence[JsonText], groups: tuple[str, ...]) -> list[float]:
    """Microseconds for a text of these groups, in the mean over 60 of them, the same ones for all readers."""
    numbers = [number for number, text in enumerate(texts) if text.group in groups]
    chosen = numbers[:: max(1, len(numbers) // 60)][:60]
    best = [turns([partial(_read, read, number) for read in readers], 9, 0.2) for number in chosen]
    return [sum(column) * 1e6 / len(chosen) for column in zip(*best, strict=True)]


def _read(read: Read, number: int) -> None:
    with suppress(Exception):  # a refusal takes its time, too
        read(number)
