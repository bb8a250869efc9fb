"""How commands are declared, and the options that they share: the same spelling, words and meaning everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click
import cloup
from click.shell_completion import CompletionItem
from cloup import argument, option_group

from outspoken.results.edits import REPAIR_LIMITS, RepairLimit
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import check_file, read_chunks, read_text, read_tools, screen_size, unescaped

from .groups import CONTEXT, example_text

if TYPE_CHECKING:
    from outspoken.parsing.options import ParserOptions
    from outspoken.parsing.parser import Parser
    from outspoken.results.geometry import Screen

    _Path = click.Path[str]
else:
    _Path = click.Path  # no generic class in older versions of click

_F = TypeVar("_F", bound=Callable[..., Any])

#: What the help of a command says of FILE.
FILES_HELP = "\n\nFILE is a response, and `-` standard input, which is read if no FILE is given."


class Command(cloup.Command):
    """A command whose errors know it: click's parser does not always say whose option is wrong."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


def command(
    name: str, help: str, *examples: tuple[str, str], kind: type[Command] = Command
) -> Callable[[Callable[..., int]], Command]:
    """Declare a command. The first sentence of `help` is its purpose; the function returns the exit code.

    Examples are pairs of a command line and what it does.
    """
    purpose = help.partition("\n\n")[0].rstrip(".")
    settings: dict[str, Any] = {"help": help, "epilog": example_text(*examples), "context_settings": CONTEXT}
    return cloup.command(name, cls=kind, short_help=purpose[0].lower() + purpose[1:], **settings)


class File(_Path):
    """A path, or `-` where a command reads standard input. The command says what is wrong with it."""

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or raise BadParameter for an empty one, such as that of a variable that is not set."""
        return value or self.fail("the name of a file is empty", param, ctx)


def size(value: str) -> Screen:
    """The size of a screen. Raises BadParameter for other words."""
    try:
        return screen_size(value)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None


def positive(value: str) -> float:
    """A finite number of more than 0. Raises BadParameter for others."""
    with suppress(ValueError):
        if 0 < float(value) < float("inf"):
            return float(value)
    raise click.BadParameter(f"`{value}` is not a finite number of more than 0")


def format_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """What shells complete for a format, which the command checks itself: names, aliases, `auto`, and ids of models."""
    from outspoken.grammar import registry  # imports pydantic, which a list of commands need not wait for

    known = registry.names()
    aliases = {alias for name in known for alias in registry.header(name).aliases} - {*known}
    names = [name for name in ("auto", *known, *sorted(aliases)) if name.startswith(incomplete)]
    return [*names, *(one for one in _model_ids(incomplete) if one not in names)] if incomplete else names


def _model_ids(incomplete: str) -> list[str]:
    """What the ids of models hold that begin so: the patterns of grammars, up to what may be anything."""
    from outspoken.grammar import registry

    owner, slash, begun = incomplete.rpartition("/")
    patterns = {pattern.partition("*")[0] for _, pattern, _ in registry.ids(registry.edition())}
    return sorted(f"{owner}{slash}{pattern}" for pattern in patterns if pattern.startswith(begun.lower()))


def models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """What shells complete for a model: ids, and files."""
    return [*map(CompletionItem, _model_ids(incomplete)), CompletionItem(incomplete, type="file")]


def provider_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """What shells complete for a provider."""
    from outspoken.providers.registry import PROVIDERS

    return [name for name in sorted(PROVIDERS) if name.startswith(incomplete)]


def option(spec: str, help: str, type: Any = None, shown: object = None, **settings: Any) -> Callable[[_F], _F]:
    """Declare an option.

    `spec` has its names and the word for its value, as in `-f --format NAME`; without such a word, it is a flag. A
    tuple as the type lists the values. The help ends with the default, or with `shown` in its place. See `cloup.option`
    for other settings.
    """
    type = click.Choice(cast("tuple[str, ...]", type)) if isinstance(type, tuple) else type
    *names, last = spec.split()
    if last.startswith("-"):
        names, last, settings = [*names, last], None, {"is_flag": True, **settings}
    default = shown or settings.get("default")
    if default:
        help += f"; default: {'yes' if default is True else default}"
    into = [settings.pop("into")] if "into" in settings else []
    return cloup.option(*names, *into, metavar=last, help=help, type=type, **settings)


def format_option(
    words: str = "a format's name or alias, the id of a model, or auto", **settings: Any
) -> Callable[[_F], _F]:
    """`--format`: the format of the responses."""
    return option("-f --format NAME", words, shell_complete=format_names, **{"default": "auto", **settings})


def provider_option(words: str, **settings: Any) -> Callable[[_F], _F]:
    """`--provider`: whose bodies or stream the responses are."""
    return option("-P --provider NAME", words, shell_complete=provider_names, **settings)


def json_option(words: str) -> Callable[[_F], _F]:
    """`--json`: what it writes is said by each command."""
    return option("-j --json", words, into="as_json")


files_argument = argument("files", nargs=-1, type=File(), metavar="[FILE]...")

_LEVELS = ", ".join(REPAIR_LIMITS)
#: The options that several commands have, by their names.
SHARED: dict[str, Callable[[Any], Any]] = {
    "text": option("-t --text TEXT", "the response itself, in place of FILE"),
    "tools": option("-T --tools FILE", "a JSON list of the tools that the model was given", File()),
    "screen": option(
        "-s --screen WxH", "the screen's size in pixels, such as 1280x720; points of actions are converted", size
    ),
    "prefix": option("-p --prefix TEXT", r"the end of the prompt, if it opens a block: '<think>\n'", unescaped),
    "finish-reason": option("--finish-reason WORD", "the provider's finish reason, such as stop or length"),
    "repair": option(
        "-r --repair LEVEL", f"how far damage may be repaired: {_LEVELS}", REPAIR_LIMITS, shown="heuristic"
    ),
    "color": option(
        "--color WHEN", "auto (on a terminal), always or never", ("auto", "always", "never"), default="auto"
    ),
}
_auto = format_option()


def reading_options(
    *more: Callable[[Any], Any], format: Callable[[Any], Any] = _auto, finish_reason: bool = True
) -> Callable[[_F], _F]:
    """Declare the options of `ReadingOptions`, and `more`. A provider's stream has its own finish reason."""
    names = ["tools", "screen", "prefix", *(["finish-reason"] if finish_reason else []), "repair"]
    return option_group("Reading", *more, format, *[SHARED[name] for name in names])


def input_options(*more: Callable[[Any], Any], **settings: Any) -> Callable[[_F], _F]:
    """Declare FILE and `--text`, which `sources` takes, and `reading_options`."""
    return lambda run: files_argument(reading_options(SHARED["text"], *more, **settings)(run))


def output_options(json: str, *more: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Declare `more`, `--json` and `--color`."""
    return option_group("Output", *more, json_option(json), SHARED["color"])


@dataclass(frozen=True)
class ReadingOptions:
    """How responses are read: the options of `Parser`, and what is known of a response."""

    format: str | None
    tools_file: str | None
    screen: Screen | None
    prefix: str | None
    repair: RepairLimit | None
    finish_reason: str | None

    @classmethod
    def of(cls, given: dict[str, Any]) -> ReadingOptions:
        """Take the values of `reading_options` out of those that a command was given."""
        names = ("format", "tools", "screen", "prefix", "repair", "finish_reason")
        return cls(*[given.pop(name, None) for name in names])

    @cached_property
    def options(self) -> ParserOptions:
        """The options of `Parser`. Raises UsageError if the file of the tools cannot be read."""
        tools = read_tools(self.tools_file) if self.tools_file else None
        return {"tools": tools, "repair": self.repair, "screen": self.screen}

    def parser(self) -> Parser:
        """The parser of the responses; its options are checked before any input is read."""
        from outspoken.parsing.parser import Parser

        return Parser("auto" if self.format is None else self.format, **self.options)

    @property
    def known(self) -> dict[str, Any]:
        """What is known of a response."""
        return {"prefix": self.prefix, "finish_reason": self.finish_reason}


class Source(NamedTuple):
    """Where a response comes from: a file, standard input (`-`), or the text itself. It may be one of `several`."""

    path: str
    text: str | None = None
    several: bool = False

    @property
    def name(self) -> str:
        """The name for messages."""
        return "--text" if self.text is not None else "standard input" if self.path == "-" else self.path

    @property
    def title(self) -> str | None:
        """The name, if it is one of several."""
        return self.name if self.several else None

    def read(self) -> str:
        """The response. Raises UsageError if it cannot be read."""
        return read_text(self.path) if self.text is None else self.text

    def chunks(self, size: int) -> Iterator[bytes]:
        """The response in chunks as it arrives. Raises UsageError if it cannot be read."""
        if self.text is None:
            return read_chunks(self.path, size)
        data = self.text.encode("utf-8", "surrogateescape")
        return (data[at : at + size] for at in range(0, len(data), size))


def sources(files: Sequence[str], text: str | None) -> list[Source]:
    """The responses; standard input if none is given. Raises UsageError for contradictions, and for a terminal."""
    if text is None:
        return [Source(path, None, len(files) > 1) for path in given_files(files)]
    if files:
        raise UsageError(f"`--text` is a response already; leave out `{files[0]}`, or the option")
    return [Source("", text)]


def given_files(files: Sequence[str]) -> Sequence[str]:
    """The files, or standard input. Raises UsageError for a file that is missing, and for a terminal without a file."""
    for path in files:
        if path != "-":
            check_file(path)
    if files:
        return files
    if sys.stdin is None or sys.stdin.isatty():
        context = click.get_current_context()
        text = ", pass `--text TEXT`," if any("--text" in param.opts for param in context.command.params) else ""
        raise UsageError(f"nothing to read: name a file{text} or pipe one into `{context.command_path}`")
    return ("-",)
