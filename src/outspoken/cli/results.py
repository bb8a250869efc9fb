"""Results of the commands as JSON, titles between several, and the exit code that a reply gives."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from outspoken.results.snippet import visible

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from outspoken.providers.events import ProviderEvent
    from outspoken.results.replies import Reply


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print a value as JSON: indented, or as a line if `indent` is None."""
    print(json.dumps(value, ensure_ascii=False, indent=indent))


def print_reply(reply: Reply, file: str | None = None) -> None:
    """Print a reply as JSON; of several files, as a line `{"file": …, "reply": …}`."""
    if file is None:
        print(reply.model_dump_json(indent=2))
    else:
        print(f'{{"file":{json.dumps(file, ensure_ascii=False)},"reply":{reply.model_dump_json()}}}', flush=True)


def print_event(event: ProviderEvent, file: str | None = None) -> None:
    """Print an event as a line of JSON; of several files, with `file` as its first field."""
    line = _adapter(type(event)).dump_json(event).decode()
    print(line if file is None else f'{{"file":{json.dumps(file, ensure_ascii=False)},{line[1:]}', flush=True)


def print_title(file: str | None, *, as_json: bool = False) -> None:
    """Print the name of one of several files above what is in it."""
    if file is not None and not as_json:
        print(f"==> {visible(file)} <==")


@cache
def _adapter(kind: type[ProviderEvent]) -> TypeAdapter[ProviderEvent]:
    """What serialises the events of a class."""
    from pydantic import TypeAdapter  # only events need it

    return TypeAdapter(kind)


def exit_code(reply: Reply) -> int:
    """Return 1 if a reply has errors, otherwise 0."""
    return int(any(diagnostic.severity == "error" for diagnostic in reply.diagnostics))
