"""The command line: `outspoken parse`, `explain`, `formats`, `stats`, `stream` and `serve`.

Exit codes: 0 all is well, 1 the response has errors, or `stats` met what is no response, 2 wrong use.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, get_args

from pydantic_core import to_json

from outspoken import __version__
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.parsing.functions import parse, stream
from outspoken.parsing.inspection import detect, formats
from outspoken.processing.config import Expect
from outspoken.results.edits import REPAIR_LIMITS
from outspoken.results.errors import OutspokenError, ToolError
from outspoken.results.events import Done, Event
from outspoken.results.replies import Reply
from outspoken.results.snippet import visible

from .explain import COLORS, Line, event_line, explanation, summary

_READ = 65_536

#: What a proxy may take, by the names of its settings: the type, the default, and what it is.
LIMITS: dict[str, tuple[Any, float, str]] = {
    "connect_timeout": (float, 10, "seconds to connect to the upstream"),
    "read_timeout": (float, 120, "seconds that may pass between two pieces of a response"),
    "total_timeout": (float, 1800, "seconds that a whole response may take"),
    "max_body": (int, 33_554_432, "bytes that a request may have"),
    "max_chars": (int, 10_000_000, "characters that a response may have"),
    "max_concurrent": (int, 1024, "requests that are served at once"),
}


class WrongUse(Exception):
    """The command cannot be carried out as it was given."""


class Parser(argparse.ArgumentParser):
    """A parser of arguments that raises WrongUse."""

    def error(self, message: str) -> NoReturn:
        """Argparse would print the usage, too, and end the process."""
        raise WrongUse(message)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code. Without arguments, those of the process are taken."""
    try:
        use_utf8()
        given = _parser().parse_args(arguments)
        code = given.run(given)
        sys.stdout.flush()
    except (WrongUse, OutspokenError) as error:
        print(f"outspoken: error: {visible(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # What is left in the buffer has no reader; without this, Python complains of it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code


def use_utf8() -> None:
    """Write UTF-8 to files and pipes, whatever the locale; a terminal is shown what it can show."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        if out.isatty():
            out.reconfigure(errors="backslashreplace")
        else:
            out.reconfigure(encoding="utf-8", newline="\n")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="outspoken", description="Reads what language models write.")
    parser.add_argument("--version", action="version", version=f"outspoken {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    command = commands.add_parser("parse", help="read a response and show what is in it")
    _add_input(command)
    command.add_argument("--prefix", help=r"what the prompt had opened already (`<think>\n`)")
    command.add_argument("--repair", choices=REPAIR_LIMITS, help="how far damage may be repaired; default: strings")
    command.add_argument(
        "--stream",
        nargs="?",
        type=_chunk_size,
        const=_READ,
        metavar="N",
        help="show events as they come, one a line; at most N bytes are read at once",
    )
    command.add_argument("--json", action="store_true", help="write the reply as JSON, or events as JSON lines")
    command.add_argument("--payloads", metavar="MODULE:NAME", help="a registry, or a function that returns one")
    command.add_argument(
        "--page", metavar="NAME", help="of the pages of `--payloads`, the one that is read; default: all"
    )
    command.set_defaults(run=_parse)

    command = commands.add_parser("explain", help="show a response with its parts named, and which formats fit it")
    _add_input(command)
    command.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: on a terminal")
    command.set_defaults(run=_explain)

    command = commands.add_parser("formats", help="list the formats")
    command.add_argument("--json", action="store_true", help="write the list as JSON")
    command.set_defaults(run=_formats)
    _add_stats(commands.add_parser("stats", help="count how many responses are sound, recovered or lost"))
    _add_stream(commands.add_parser("stream", help="show the stream of a provider, from standard input, as it comes"))
    _add_serve(commands.add_parser("serve", help="serve what a server writes as raw text, with calls and reasoning"))
    return parser


def _add_stats(command: argparse.ArgumentParser) -> None:
    files = (
        "responses: `.jsonl` has an object with `text` on each line, as has `-`, standard input; any other file is one"
    )
    command.add_argument("files", nargs="+", metavar="FILE", help=files)
    command.add_argument("--format", default="auto", help="the format of all that name none themselves; default: auto")
    command.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model was given")
    command.add_argument("--expect", choices=get_args(Expect), default="anything", help="what makes a response of use")
    command.add_argument("--strict", action="store_true", help="what is repaired or has a warning has failed")
    command.add_argument("--no-recovery", action="store_true", help="nothing is repaired")
    command.add_argument("--json", action="store_true", help="write the counts as JSON")
    command.set_defaults(run=_stats)


def _add_stream(command: argparse.ArgumentParser) -> None:
    command.add_argument("--provider", default="openai", help="whose stream it is; default: openai")
    words = "how the content is read: a format's name or alias, or auto; default: as is usual for the provider"
    command.add_argument("--format", help=words)
    command.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model was given")
    command.add_argument("--json", action="store_true", help="write events as JSON lines")
    command.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: on a terminal")
    command.set_defaults(run=_stream_live)


def _add_serve(command: argparse.ArgumentParser) -> None:
    command.add_argument("--upstream", required=True, metavar="URL", help="the server's base URL, as clients take it")
    command.add_argument("--format", default="auto", help="the format in which its model writes; default: auto")
    command.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    command.add_argument("--port", type=int, default=8080, help="default: 8080")
    for name, (kind, value, words) in LIMITS.items():
        option = f"--{name.replace('_', '-')}"
        command.add_argument(option, type=kind, default=value, metavar="N", help=f"{words}; default: {value}")
    command.add_argument("--reasoning-field", default="reasoning_content", help="default: reasoning_content")
    command.add_argument("--action-tool", metavar="NAME", help="GUI actions are calls of a tool of this name")
    command.set_defaults(run=_serve)


def _add_input(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="the response; `-` is standard input")
    command.add_argument("--format", default="auto", help="a format's name or alias; default: auto")
    command.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model was given")


def _chunk_size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of bytes (a file is named before it)")
    return int(text)


# commands


def _parse(given: argparse.Namespace) -> int:
    options = {"prefix": given.prefix and given.prefix.replace("\\n", "\n"), "repair": given.repair}
    read, reads = parse, stream
    if given.payloads or given.page:
        read, reads = _with_payloads(given)
    else:
        options |= _options(given)
    if given.stream:
        return _stream(reads(_chunks(given.file, given.stream), **options), as_json=given.json)
    reply = read(read_text(given.file), **options)
    if given.json:
        print(reply.model_dump_json(indent=2))
    else:
        _print(summary(reply), "never")
    return _code(reply)


def _with_payloads(given: argparse.Namespace) -> tuple[Callable[..., Reply], Callable[..., Iterable[Event]]]:
    """What parses and what streams the payloads of a page. Raises WrongUse where there are none."""
    from .payloads import read_registry

    if not given.payloads or given.format != "auto" or given.tools:
        raise WrongUse("`--page` goes with `--payloads`, and neither of them with `--format` or `--tools`")
    try:
        known = read_registry(given.payloads)
        known.page(given.page)
    except ValueError as error:
        raise WrongUse(str(error)) from error
    return partial(known.parse, page=given.page), partial(known.stream, page=given.page)


def _stream(events: Iterable[Event], *, as_json: bool) -> int:
    code = 0
    for event in events:
        print(to_json(event_data(event), inf_nan_mode="null").decode() if as_json else event_line(event), flush=True)
        if isinstance(event, Done):
            code = _code(event.reply)
    return code


def event_data(event: Any) -> dict[str, Any]:
    """An event, also one of a provider's, as an object with its name and its fields."""
    return {"event": type(event).__name__, **{f.name: getattr(event, f.name) for f in fields(event)}}


def _explain(given: argparse.Namespace) -> int:
    options = _options(given)
    text = read_text(given.file)
    reply = parse(text, **options)
    _print(explanation(reply, detect(text, tools=options["tools"]), asked=given.format != "auto"), given.color)
    return _code(reply)


def _formats(given: argparse.Namespace) -> int:
    found = formats()
    if given.json:
        print(json.dumps([info.model_dump() for info in found], ensure_ascii=False, indent=2))
        return 0
    width = max(len(info.name) for info in found)
    for info in found:
        print(f"{info.name:<{width}}  {info.title}")
        print(f"{'':<{width}}  models: {', '.join(info.models)}")
        print(f"{'':<{width}}  aliases: {', '.join(info.aliases) or 'none'}")
    return 0


def _stats(given: argparse.Namespace) -> int:
    from .stats import run

    if given.format != "auto":
        registry.resolve(given.format)
    return run(given)


def _stream_live(given: argparse.Namespace) -> int:
    from .stream import run

    return run(given)


def _serve(given: argparse.Namespace) -> int:
    from outspoken.serving.run import run
    from outspoken.serving.settings import ServeSettings

    names = (*LIMITS, "upstream", "format", "reasoning_field", "action_tool")
    run(ServeSettings(**{name: getattr(given, name) for name in names}), given.host, given.port)
    return 0


def _code(reply: Reply) -> int:
    return int(any(d.severity == "error" for d in reply.diagnostics))


# input


def _options(given: argparse.Namespace) -> dict[str, Any]:
    """The format and the tools, checked before anything is read."""
    if given.format != "auto":
        registry.resolve(given.format)
    return {"format": given.format, "tools": read_tools(given.tools) if given.tools else None}


def read_tools(path: str) -> Tools | None:
    """The tools that a JSON file lists. Raises WrongUse where it is none."""
    try:
        return Tools.of(json.loads(_read_file(path)))
    except json.JSONDecodeError as error:
        raise WrongUse(f"{path}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise WrongUse(f"{path}: this is not JSON") from error
    except ToolError as error:
        raise WrongUse(f"{path}: {error}") from error


def read_text(path: str) -> str:
    """The text of a file, or of standard input for `-`. Raises WrongUse where it cannot be read."""
    data = sys.stdin.buffer.read() if path == "-" else _read_file(path)
    return data.decode("utf-8", errors="replace")


def _read_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise WrongUse(f"cannot read `{path}`: {_reason(error)}") from error


def _chunks(path: str, size: int) -> Iterator[bytes]:
    """The pieces of a file, or of standard input as they arrive."""
    if path == "-":
        yield from pieces(sys.stdin.buffer, size)
        return
    try:
        file = open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise WrongUse(f"cannot read `{path}`: {_reason(error)}") from error
    with file:
        yield from pieces(file, size)


def pieces(file: Any, size: int) -> Iterator[bytes]:
    """The pieces of a file as they arrive, of so many bytes at most."""
    while piece := file.read1(size):
        yield piece


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


# output


#: Writes text of a style, without a line break.
Pen = Callable[[str, str], None]


def pen(color: str) -> Pen:
    """What writes to standard output, in colour where that is wanted and possible."""
    if color == "always" or (color == "auto" and sys.stdout.isatty()):
        try:
            from rich.console import Console
            from rich.text import Text
        except ImportError:
            if color == "always":
                raise WrongUse("colour needs rich: pip install 'outspoken[cli]'") from None
        else:
            console = Console(force_terminal=True, highlight=False)

            def coloured(style: str, text: str) -> None:
                console.print(Text(text, style=COLORS.get(style, "")), end="", soft_wrap=True)
                console.file.flush()

            return coloured

    def plain(style: str, text: str) -> None:
        print(text, end="", flush=True)

    return plain


def _print(lines: Iterable[Line], color: str) -> None:
    """Print lines, in colour where that is wanted and possible."""
    write = pen(color)
    for style, line in lines:
        write(style, line + "\n")
