"""What a caller chooses for reading responses: checked once, when a `Parser` is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, cast

from outspoken.grammar import registry
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.arguments import check_choice, check_optional, check_repair_limit, check_type, kind_of, text_of
from outspoken.results.edits import RepairLimit
from outspoken.results.settings import DEFAULT, Settings, with_screen

if TYPE_CHECKING:
    from outspoken.actions.page import PageContext
    from outspoken.results.geometry import Screen
    from outspoken.results.replies import Reply
    from outspoken.semantics.echoes import Echoes

OnError = Literal["keep", "raise"]
#: What a call of a tool must show: that it could be read, if need be with repairs; or that it is sound as it stands.
Proof = Literal["repaired", "exact"]

#: A provider's finish reason: as text, or as a function that a stream calls when its chunks have ended.
FinishReason = str | Callable[[], str | None] | None


class ParserOptions(TypedDict, total=False):
    """The keyword arguments of `Parser`."""

    tools: Tools | Sequence[ToolLike] | None
    repair: RepairLimit | None
    on_error: OnError
    screen: Screen | None
    settings: Settings | None
    context: Sequence[Any] | None
    proof: Mapping[str, Proof] | None
    page: PageContext | None
    given: Mapping[str, Any] | None
    special_tokens: Sequence[str] | None
    calls: bool


class ParserChanges(ParserOptions, total=False):
    """The keyword arguments of `Parser.replace`."""

    format: str


class ReadOptions(NamedTuple):
    """The options of a `Parser` after they were checked. `format` is the exact name of a format; None to detect it.

    `exact` are the names of the tools that need an exact call, by `proof` and by what the tools say of themselves.
    `prefix` is what the prompts of the model end with; None for what those of the format do.
    """

    format: str | None
    tools: Tools | None = None
    repair: RepairLimit = "heuristic"
    on_error: OnError = "keep"
    settings: Settings = DEFAULT
    page: PageContext | None = None
    given: Mapping[str, Any] | None = None
    echoes: Echoes | None = None
    exact: frozenset[str] = frozenset()
    proof: Mapping[str, Proof] | None = None
    prefix: str | None = None
    special_tokens: tuple[str, ...] = ()
    calls: bool = True

    def parts(self) -> tuple[Any, ...]:
        """All that the result of a text depends on, as plain values and models."""
        messages = None if self.echoes is None else [*self.echoes.messages]
        given, proof = (None if one is None else dict(one) for one in (self.given, self.proof))
        return (*self._replace(echoes=None, given=None, proof=None), messages, given, proof)


def read_options(
    format: str,
    tools: Tools | Sequence[ToolLike] | None = None,
    repair: RepairLimit | None = None,
    on_error: OnError = "keep",
    screen: Screen | None = None,
    settings: Settings | None = None,
    context: Sequence[Any] | None = None,
    proof: Mapping[str, Proof] | None = None,
    page: PageContext | None = None,
    given: Mapping[str, Any] | None = None,
    special_tokens: Sequence[str] | None = None,
    calls: bool = True,
) -> ReadOptions:
    """Check the arguments of `Parser`, which says what is raised."""
    check_choice(on_error, ("keep", "raise"), "on_error")
    if repair is None:
        repair = "none" if on_error == "raise" else "heuristic"
    else:
        check_repair_limit(repair)
    if screen is not None:
        from outspoken.results.geometry import Screen

        check_optional(screen, Screen, "screen")
    check_optional(settings, Settings, "settings")
    name = None if check_type(format, str, "format") == "auto" else registry.resolve(format)
    known_tools = Tools.of(tools)
    if page is not None:
        from outspoken.actions.page import PageContext

        check_optional(page, PageContext, "page")
    check_optional(given, Mapping, "given")
    options = ReadOptions(name, known_tools, repair, on_error, with_screen(settings, screen), page, given)
    options = options if check_type(calls, bool, "calls") else options._replace(calls=False)
    if name is not None and format != name:
        options = options._replace(prefix=registry.prompt_end(format))
    if special_tokens is not None:
        if isinstance(special_tokens, str):
            raise TypeError("`special_tokens` is a str; expected a list of tokens")
        options = options._replace(special_tokens=tuple(special_tokens))
    if context is None and not proof and (known_tools is None or not known_tools.destructive):
        return options
    return options._replace(echoes=echoes_of(context), exact=exact_tools(proof, known_tools), proof=proof)


def changed_options(options: ReadOptions, changes: ParserChanges) -> ReadOptions:
    """The options with some arguments of `Parser` changed. Raises what `Parser` raises."""
    arguments: ParserChanges = {
        "format": options.format or "auto", "tools": options.tools, "repair": options.repair,
        "on_error": options.on_error, "screen": options.settings.screen, "settings": options.settings,
        "proof": options.proof, "page": options.page, "given": options.given,
        "special_tokens": options.special_tokens, "calls": options.calls,
    }  # fmt: skip
    arguments.update(changes)
    changed = read_options(**arguments)
    if "format" not in changes:
        changed = changed._replace(prefix=options.prefix)
    return changed if "context" in changes else changed._replace(echoes=options.echoes)


def page_changes(page: PageContext | None, given: Mapping[str, Any] | None) -> ParserChanges:
    """The arguments of `Parser.replace` for what is known of a page; what is None stays as the parser has it."""
    known = {"page": page, "given": given}
    return cast("ParserChanges", {name: value for name, value in known.items() if value is not None})


def echoes_of(context: Sequence[Any] | None) -> Echoes | None:
    """What the model had read, by the argument `context`; None if it had read nothing."""
    if context is None:
        return None
    if isinstance(context, str | bytes | Mapping) or not isinstance(context, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"`context` is {kind_of(context)}; expected a list of messages")
    from outspoken.semantics.echoes import Echoes

    return Echoes(context) if context else None


def exact_tools(proof: Mapping[str, Proof] | None, tools: Tools | None) -> frozenset[str]:
    """The names of the tools that need an exact call: as `proof` says, or as they say that they are destructive."""
    levels: dict[str, Proof] = dict.fromkeys(tools.destructive, "exact") if tools is not None else {}
    check_optional(proof, Mapping, "proof")
    for name, level in (proof or {}).items():
        check_choice(level, ("repaired", "exact"), f"proof[{name!r}]")
        levels[name] = level
    return frozenset({name for name, level in levels.items() if level == "exact"})


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


def may_refuse(reply: Reply, options: ReadOptions) -> bool:
    """May a call or action of a sound reply be an echo, one of a tool that needs an exact call, or unwanted?"""
    if not options.calls and (reply.envelope or any(s.kind in ("tool_call", "json") for s in reply.segments)):
        return True
    if options.exact and any(call.name in options.exact for call in reply.tool_calls):
        return True
    if reply.actions and (options.exact or options.echoes is not None):
        return True
    echoes = options.echoes
    return echoes is not None and any(echoes.may_hold(call.name) for call in reply.tool_calls)
