"""Wrong use of the public names: which error is raised, and what it says; `...` stands for anything."""

import re
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

from pydantic import BaseModel

import outspoken
from outspoken.payloads import PayloadType
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

BOOK = '<tool_call>\n{"name": "book", "arguments": {"ferry": "a"}}\n</tool_call>'


class Ferry(BaseModel):
    harbour: str
    seats: int


async def later() -> AsyncIterator[str]:
    """No chunks, which arrive asynchronously."""
    for chunk in ():
        yield chunk


def run(tools: Any, **options: Any) -> Any:
    """Run the call of a reply."""
    return outspoken.parse(BOOK, format="hermes").run(tools, **options)


def public(home: str, names: Any) -> dict[str, Any]:
    """Some names of a module, or all that are public."""
    module = import_module(home)
    return {name: getattr(module, name) for name in (vars(module)["__all__"] if names == "all" else names)}


#: What the expressions of the table may name.
NAMES: dict[str, Any] = {
    **{name: found for home, names in TABLES["NAMES"].items() for name, found in public(home, names).items()},
    **{"outspoken": outspoken, "BOOK": BOOK, "FERRY": PayloadType("ferry", "FERRY:", Ferry)},
    **{one.__name__: one for one in (Ferry, later, run)},
}


@in_one_item("expression, says", TABLES["WRONG"].items())
def test_wrong_use(expression: str, says: str) -> None:
    try:
        eval(expression, NAMES)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    else:
        found = "nothing is raised"
    assert re.fullmatch(".*".join(map(re.escape, says.split("..."))), found, re.DOTALL), found
