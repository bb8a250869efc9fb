"""`BatchOptions`: what decides about the results of a batch. It needs no pyarrow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from outspoken.grammar import registry
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.arguments import check_optional, check_repair_limit, check_type
from outspoken.results.edits import RepairLimit
from outspoken.results.geometry import Screen
from outspoken.results.settings import Settings

from .errors import BatchError

if TYPE_CHECKING:
    from outspoken.providers.registry import Provider

#: The name of `text_column` that means the whole line.
WHOLE_ROW = "."
#: The names of the types that a kept column can be given.
KEPT_KINDS = ("string", "json", "int64", "float64", "bool")
_COLUMN_OPTIONS = (
    "format_column", "id_column", "tools_column", "prefix_column", "finish_reason_column", "messages_column"
)  # fmt: skip


@dataclass(frozen=True)
class BatchOptions:
    """How the rows of a batch are read: everything that changes results. It pickles.

    `format` is the name of a format, an alias or "auto", the default. The content of a provider's bodies is plain text
    unless a format is given, as with `parse_response`. `format_column` is a column with the format of each row; where
    that is null, `format` counts. `prefix`, `finish_reason` and `tools` are those of `Parser` for all rows;
    `prefix_column`, `finish_reason_column` and `tools_column` hold those of a row, and where they are null, the former
    count. A row's tools are a list, or the JSON text of one.

    Responses are in `text_column`. With a `provider`, they are the provider's bodies, as objects or as text. With a
    `messages_column`, the last message of the assistant is read from a list of messages (`role` and `content`, or
    `from` and `value`) instead. A name with dots (`response.body`) leads into objects, and `.` is the whole line of a
    file of JSON lines.

    `id_column` is kept as text in `id`. `keep` are further columns to keep: of Arrow data with their types. Those of
    JSON lines are text: strings as they are, other values as JSON; or of the type that follows the name
    (`score:float64`): string, json (the JSON of each value), int64, float64 or bool. A value that does not fit is an
    error of its row.

    `repair` limits repairs, and with a `screen`, points of GUI actions are converted to its pixels, as for `Parser`. A
    response of over `max_chars` characters is an error of its row. A row that takes longer than `row_timeout` seconds
    is one too, but only `outspoken.batch.run` can see to that.

    Raises BatchError for options that contradict each other, and what `Parser` raises.
    """

    format: str | None = None
    format_column: str | None = None
    text_column: str = "text"
    id_column: str | None = None
    tools: Sequence[ToolLike] | None = None
    tools_column: str | None = None
    prefix: str | None = None
    prefix_column: str | None = None
    finish_reason: str | None = None
    finish_reason_column: str | None = None
    provider: Provider | None = None
    messages_column: str | None = None
    keep: tuple[str, ...] = ()
    repair: RepairLimit = "heuristic"
    screen: Screen | None = None
    max_chars: int = 16_000_000
    row_timeout: float = 60.0

    def __post_init__(self) -> None:
        if check_optional(self.format, str, "format") not in (None, "auto"):
            registry.resolve(self.format or "")
        check_type(self.text_column, str, "text_column")
        for name in (*_COLUMN_OPTIONS, "prefix", "finish_reason", "provider"):
            check_optional(getattr(self, name), str, name)
        if self.provider is not None:
            from outspoken.providers.registry import find_provider  # takes long to import

            find_provider(self.provider)
        check_repair_limit(self.repair)
        check_optional(self.screen, Screen, "screen")
        Settings(max_chars=self.max_chars)
        _check_seconds(self.row_timeout)
        object.__setattr__(self, "tools", _plain_tools(self.tools))
        object.__setattr__(self, "keep", _kept(self.keep))

    @property
    def kept(self) -> dict[str, str | None]:
        """The columns to keep, with the names of the types that were given to them."""
        return kept_columns(self.keep)

    @property
    def has_response(self) -> bool:
        """Do rows have the column `response`?"""
        return self.provider is not None or self.messages_column is not None

    @property
    def response_column(self) -> str:
        """The column that is read."""
        return self.messages_column or self.text_column

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns of the input that are read, without those that are kept."""
        names = [self.response_column, *[getattr(self, name) for name in _COLUMN_OPTIONS[:-1]]]
        return tuple(dict.fromkeys([name for name in names if name is not None]))

    @property
    def hint_columns(self) -> tuple[str | None, ...]:
        """The columns of `Hints`, in its order."""
        return self.format_column, self.tools_column, self.prefix_column, self.finish_reason_column

    def to_json(self) -> dict[str, Any]:
        """The options as plain data, for a manifest."""
        return json.loads(json.dumps(asdict(self)))

    def fingerprint(self) -> str:
        """A hash that differs for options that may give other results."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def kept_columns(keep: Iterable[str]) -> dict[str, str | None]:
    """The names of columns to keep, with those of the types behind their colons."""
    parts = [(one, *one.rpartition(":")) for one in keep]
    return {name or one: kind if name else None for one, name, _, kind in parts}


def _check_seconds(timeout: object) -> None:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        raise BatchError(f"`row_timeout` is {timeout!r}; expected a number of seconds above 0")


def _plain_tools(tools: Sequence[ToolLike] | None) -> tuple[dict[str, Any], ...] | None:
    """Tools as plain dicts, which pickle and can be compared; None if there are none. Raises ToolError."""
    known = Tools.of(tools)
    if known is None:
        return None
    made = [{"name": name, "parameters": known.schema(name)} for name in known.names]
    return tuple([{key: value for key, value in tool.items() if value is not None} for tool in made])


def _kept(given: object) -> tuple[str, ...]:
    """The columns to keep, checked."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BatchError(f"`keep` is {given!r}; expected a list of names of columns")
    columns = [check_type(column, str, "keep") for column in cast("Sequence[object]", given)]
    names: list[str] = []
    for column in columns:
        name, colon, kind = column.rpartition(":")
        if colon and kind not in KEPT_KINDS:
            raise BatchError(f"`keep` gives `{name}` the type `{kind}`; expected one of {', '.join(KEPT_KINDS)}")
        names.append(name if colon else kind)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BatchError(f"`keep` has the column `{twice}` twice; name it once")
    return tuple(columns)
