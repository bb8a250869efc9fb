"""JSON schemas as the classes that other projects read into: BAML's, and pydantic's."""

from __future__ import annotations

import json
from enum import Enum
from types import ModuleType
from typing import Any, Literal, cast

from pydantic import BaseModel, Field, create_model

Json = dict[str, Any]

#: The types of BAML and of Python for the types of schemas.
_BAML = {"string": "string", "integer": "int", "number": "float", "boolean": "bool"}
_PYTHON: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}
#: BAML has no type for any JSON value, but types may refer to themselves.
ANY = "type Anything = int | float | bool | string | null | Anything[] | map<string, Anything>"
#: Names of BAML that a field cannot have.
_RESERVED = {"env", "inline"}


class Classes:
    """The classes of a schema, all with names that begin alike: as BAML's source, and as pydantic models.

    `model` is the outermost one; `module` has all of them, as the generated client of BAML has.
    """

    def __init__(self, name: str, schema: Json, module: ModuleType) -> None:
        self.sources: list[str] = []
        self._module, self._prefix = module, name
        self._count = 0
        self.name = name
        self.model: type[BaseModel] = self._class(schema, name)

    def _class(self, schema: Json, name: str) -> type[BaseModel]:
        lines: list[str] = []
        fields: dict[str, Any] = {}
        required = schema.get("required", [])
        for key, member in schema["properties"].items():
            theirs, ours = self._type(member)
            is_optional = key not in required
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
        return _BAML[cast("str", kind)], _PYTHON[cast("str", kind)]


def plain(value: Any) -> Any:
    """What is in models, without what was not given, under the names of the schema."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    return value.value if isinstance(value, Enum) else value
