"""What a caller chooses for reading responses: checked once, when a `Parser` is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from outspoken.grammar import registry
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.arguments import check_choice, check_optional, check_repair_limit, check_type, kind_of, text_of
from outspoken.results.edits import RepairLimit
from outspoken.results.settings import DEFAULT, Settings, with_screen

if TYPE_CHECKING:
    from outspoken.actions.page import PageContext
    from outspoken.results.geometry import Screen

OnError = Literal["keep", "raise"]

#: A provider's finish reason: as text, or as a function that a stream calls when its chunks have ended.
FinishReason = str | Callable[[], str | None] | None

#: Finish reasons that say that the model ended its answer itself, in lower case and with `_` for `-`.
ENDED = frozenset(
    {
        "stop",
        "tool_calls",
        "tool_use",
        "function_call",
        "end_turn",
        "stop_sequence",
        "eos",
        "eos_token",
        "complete",
        "completed",
    }
)


class ParserOptions(TypedDict, total=False):
    """The keyword arguments of `Parser`."""

    tools: Tools | Sequence[ToolLike] | None
    repair: RepairLimit | None
    on_error: OnError
    screen: Screen | None
    settings: Settings | None


class ReadOptions(NamedTuple):
    """The options of a `Parser` after they were checked. `format` is the exact name of a format; None to detect it.

    `page` and `given` are those of `Parser.with_page`.
    """

    format: str | None
    tools: Tools | None = None
    repair: RepairLimit = "heuristic"
    on_error: OnError = "keep"
    settings: Settings = DEFAULT
    page: PageContext | None = None
    given: Mapping[str, Any] | None = None


def read_options(
    format: str,
    tools: Tools | Sequence[ToolLike] | None = None,
    repair: RepairLimit | None = None,
    on_error: OnError = "keep",
    screen: Screen | None = None,
    settings: Settings | None = None,
) -> ReadOptions:
    """Check the arguments of `Parser`, which says what is raised."""
    check_choice(on_error, ("keep", "raise"), "on_error")
    if repair is None:
        repair = "none" if on_error == "raise" else "heuristic"
    check_repair_limit(repair)
    if screen is not None:
        from outspoken.results.geometry import Screen

        check_optional(screen, Screen, "screen")
    check_optional(settings, Settings, "settings")
    name = None if check_type(format, str, "format") == "auto" else registry.resolve(format)
    return ReadOptions(name, Tools.of(tools), repair, on_error, with_screen(settings, screen) or DEFAULT)


def prefix_of(prefix: object) -> str | None:
    """The argument `prefix`; None for what the format's prompts always end with."""
    return None if prefix is None else text_of(prefix, "prefix")


def finish_reason_of(reason: object) -> str | None:
    """The argument `finish_reason`; a function is called. Raises TypeError for anything but text or None."""
    if callable(reason):
        reason = reason()
    if reason is None or isinstance(reason, str):
        return reason
    raise TypeError(f"`finish_reason` is {kind_of(reason)}; expected str or None")


def proves_end(reason: str | None) -> bool:
    """Does a finish reason prove that the model ended its answer itself?"""
    return reason is not None and reason.strip().lower().replace("-", "_") in ENDED
