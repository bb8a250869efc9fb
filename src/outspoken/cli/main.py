"""The command line: `outspoken parse`, `explain`, `formats`, `stats`, `batch`, `report`, `stream`, `constrain` and
`serve`.

Exit codes: 0 for success, 1 if a response has errors, `stats` meets a line that is no response or `batch` a row that it
cannot read, 2 for wrong usage, 3 if `batch` is stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn, cast, get_args

from outspoken import __version__
from outspoken.grammar import registry
from outspoken.parsing.inspection import detect, formats
from outspoken.parsing.parser import Parser
from outspoken.processing.settings import Expect
from outspoken.results.edits import REPAIR_LIMITS, RepairLimit
from outspoken.results.errors import OutspokenError, ResponseError
from outspoken.results.events import Done, Event
from outspoken.results.printing import one_line
from outspoken.results.snippet import visible
from outspoken.serving.settings import UPSTREAMS, ServerSettings

from .explain import explanation, summary, tree_view
from .inputs import CHUNK_SIZE, UsageError, load_registry, read_chunks, read_text, read_tools
from .outputs import exit_code, print_event, print_lines, use_utf8

if TYPE_CHECKING:
    from lark import Token, Tree

    from outspoken.payloads import PayloadParser
    from outspoken.results.replies import Reply

#: The limits of the proxy, by the names of its settings.
_SERVE_LIMITS = {
    "connect_timeout": "seconds to connect to the upstream",
    "read_timeout": "seconds between two pieces of a response",
    "total_timeout": "seconds for a whole response",
    "max_body": "bytes of a request",
    "max_chars": "characters of a response",
    "max_concurrent": "requests that are served at once",
}


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of printing the usage and ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code. By default, the arguments are those of the process."""
    try:
        use_utf8()
        args = _make_parser().parse_args(arguments)
        code = args.run(args)
        sys.stdout.flush()
    except (UsageError, OutspokenError) as error:
        print(f"outspoken: error: {visible(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Without this, Python reports at exit that it cannot flush the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return code


# arguments


def _make_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(prog="outspoken", description="Parses the output of language models.")
    parser.add_argument("--version", action="version", version=f"outspoken {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_parse(commands.add_parser("parse", help="parse a response and show its segments"))
    _add_explain(commands.add_parser("explain", help="show a response part by part, and the formats that match it"))
    _add_formats(commands.add_parser("formats", help="list the formats"))
    _add_stats(commands.add_parser("stats", help="count how many responses are ok, repaired, truncated or invalid"))
    _add_batch(commands.add_parser("batch", help="read files of responses with every core, into a folder of results"))
    _add_report(commands.add_parser("report", help="write a page of HTML about a folder of results"))
    _add_stream(commands.add_parser("stream", help="show a provider's stream from standard input as it arrives"))
    _add_constrain(commands.add_parser("constrain", help="write the grammar that keeps a model to a format"))
    # `outspoken.__main__` runs it; it stands here for the list of commands.
    commands.add_parser("grammar", help="work on a grammar file: new, check, show, fuzz or diagram", add_help=False)
    _add_serve(commands.add_parser("serve", help="run a proxy that reads calls and reasoning from a server's text"))
    return parser


def _add_parse(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_run_parse)
    _add_input(command)
    command.add_argument("--repair", choices=REPAIR_LIMITS, help="how far damage may be repaired; default: strings")
    words = "show events as they arrive, one a line; reads at most N bytes at once"
    command.add_argument("--stream", nargs="?", type=_chunk_size, const=CHUNK_SIZE, metavar="N", help=words)
    command.add_argument("--json", action="store_true", help="write the reply as JSON, or events as JSON lines")
    command.add_argument("--payloads", metavar="MODULE:NAME", help="a payload registry, or a function that returns one")
    command.add_argument("--page", metavar="NAME", help="the page of `--payloads`; default: all payloads")


def _add_explain(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_run_explain)
    _add_input(command)
    command.add_argument("--tree", action="store_true", help="show the rules and tokens of the format's grammar")
    words = "show the grammar that damaged responses of a format are read with, and no response"
    command.add_argument("--tolerant-grammar", metavar="FORMAT", help=words)
    _add_color(command)


def _add_formats(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_run_formats)
    command.add_argument("--json", action="store_true", help="write the list as JSON")


def _add_stats(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_run_stats)
    words = "a response; `.jsonl` files and standard input (`-`) have an object with `text` on each line; or a folder"
    command.add_argument("files", nargs="+", metavar="FILE", help=words)
    command.add_argument("--format", default="auto", help="the format of responses that name none; default: auto")
    _add_tools(command)
    command.add_argument("--expect", choices=get_args(Expect), default="anything", help="what a response must have")
    command.add_argument("--strict", action="store_true", help="count repairs and warnings as failures")
    command.add_argument("--no-recovery", action="store_true", help="repair nothing")
    command.add_argument("--json", action="store_true", help="write the counts as JSON")


def _add_batch(command: argparse.ArgumentParser) -> None:
    from .batch import add_arguments

    command.set_defaults(run=_run_batch)
    add_arguments(command)


def _add_report(command: argparse.ArgumentParser) -> None:
    from .report import add_arguments

    command.set_defaults(run=_run_report)
    add_arguments(command)


def _add_stream(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_run_stream)
    command.add_argument("--provider", default="openai", help="the provider of the stream; default: openai")
    words = "the format of the content: a name or alias, or auto; default: the provider's"
    command.add_argument("--format", help=words)
    _add_tools(command)
    command.add_argument("--json", action="store_true", help="write events as JSON lines")
    _add_color(command)


def _add_constrain(command: argparse.ArgumentParser) -> None:
    from .constrain import add_arguments

    command.set_defaults(run=_run_constrain)
    add_arguments(command)


def _add_serve(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=_run_serve)
    command.add_argument("--upstream", required=True, metavar="URL", help="the server's base URL, as clients take it")
    command.add_argument("--format", default="auto", help="the format of the model's output; default: auto")
    command.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    command.add_argument("--port", type=int, default=8080, help="default: 8080")
    for name, words in _SERVE_LIMITS.items():
        option, default = f"--{name.replace('_', '-')}", cast("float", getattr(ServerSettings, name))
        words = f"{words}; default: {default:.15g}"
        command.add_argument(option, type=type(default), default=default, metavar="N", help=words)
    command.add_argument("--reasoning-field", default="reasoning_content", help="default: reasoning_content")
    command.add_argument("--action-tool", metavar="NAME", help="export GUI actions as calls of a tool of this name")
    words = "constrain what an upstream of this kind writes for requests with tools"
    command.add_argument("--constrain", choices=UPSTREAMS, help=words)
    words = "reject a request that cannot be constrained, or not in everything"
    command.add_argument("--constrain-strict", action="store_true", help=words)


def _add_input(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="the response; `-` is standard input")
    command.add_argument("--format", default="auto", help="a format's name or alias; default: auto")
    _add_tools(command)
    command.add_argument("--prefix", help=r"the end of the prompt, if it opens a block (`<think>\n`)")
    command.add_argument("--finish-reason", metavar="WORD", help="the provider's finish reason, such as stop or length")


def _add_tools(command: argparse.ArgumentParser) -> None:
    command.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model was given")


def _add_color(command: argparse.ArgumentParser) -> None:
    command.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: on a terminal")


def _chunk_size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of bytes (name a file before this option)")
    return int(text)


# commands


def _run_parse(args: argparse.Namespace) -> int:
    parser = _payload_parser(args) if args.payloads or args.page else _parser(args, args.repair)
    if args.stream:
        events = parser.stream(read_chunks(args.file, args.stream), **_known(args))
        return _print_events(events, as_json=args.json)
    reply = parser.parse(read_text(args.file), **_known(args))
    if args.json:
        print(reply.model_dump_json(indent=2))
    else:
        print_lines(summary(reply), "never")
    return exit_code(reply)


def _known(args: argparse.Namespace) -> dict[str, str | None]:
    """Return what is known of a response."""
    return {"prefix": args.prefix and args.prefix.replace("\\n", "\n"), "finish_reason": args.finish_reason}


def _parser(args: argparse.Namespace, repair: RepairLimit | None = None) -> Parser:
    """Return the parser of a response; its options are checked before any input is read."""
    return Parser(args.format, tools=read_tools(args.tools) if args.tools else None, repair=repair)


def _payload_parser(args: argparse.Namespace) -> PayloadParser:
    """Return the parser of a page's payloads. Raises UsageError if there is no such page."""
    if not args.payloads or args.format != "auto" or args.tools:
        raise UsageError("`--page` needs `--payloads`; neither can be used with `--format` or `--tools`")
    try:
        return load_registry(args.payloads).parser(args.page, repair=args.repair)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _print_events(events: Iterable[Event], *, as_json: bool) -> int:
    code = 0
    for event in events:
        if as_json:
            print_event(event)
        else:
            print(one_line(event), flush=True)
        if isinstance(event, Done):
            code = exit_code(event.reply)
    return code


def _run_explain(args: argparse.Namespace) -> int:
    if args.tolerant_grammar:
        from outspoken.recovery.earley import grammar_text

        print(grammar_text(args.tolerant_grammar), end="")
        return 0
    parser = _parser(args)
    text = read_text(args.file)
    reply = parser.parse(text, **_known(args))
    if args.tree:
        print_lines(tree_view(reply, _tree(args, parser, reply), named=args.format != "auto"), args.color)
        return exit_code(reply)
    candidates = detect(text, tools=parser.tools)
    print_lines(explanation(reply, candidates, named=args.format != "auto"), args.color)
    return exit_code(reply)


def _tree(args: argparse.Namespace, parser: Parser, reply: Reply) -> Tree[Token] | None:
    """Return the tree of a response in the format that it was read in; None if the grammar refuses a part of it."""
    from outspoken.parsing.tree_parser import parse_tree  # imports Lark, which the other commands need not wait for

    known = _known(args)
    try:
        return parse_tree(reply.raw, reply.format or registry.PLAIN, prefix=known["prefix"], tools=parser.tools)
    except ResponseError:
        return None


def _run_formats(args: argparse.Namespace) -> int:
    found = formats()
    if args.json:
        print(json.dumps([info.model_dump() for info in found], ensure_ascii=False, indent=2))
        return 0
    width = max(len(info.name) for info in found)
    for info in found:
        print(f"{info.name:<{width}}  {info.title}")
        print(f"{'':<{width}}  models: {', '.join(info.models)}")
        print(f"{'':<{width}}  aliases: {', '.join(info.aliases) or 'none'}")
    return 0


def _run_stats(args: argparse.Namespace) -> int:
    if len(args.files) == 1 and os.path.isdir(args.files[0]):
        from .batch import show_summary

        return show_summary(args.files[0], as_json=args.json)
    from .stats import run

    if args.format != "auto":
        registry.resolve(args.format)
    return run(args)


def _run_batch(args: argparse.Namespace) -> int:
    from .batch import run

    return run(args)


def _run_report(args: argparse.Namespace) -> int:
    from .report import run

    return run(args)


def _run_stream(args: argparse.Namespace) -> int:
    from .stream import run

    return run(args)


def _run_constrain(args: argparse.Namespace) -> int:
    from .constrain import run

    return run(args)


def _run_serve(args: argparse.Namespace) -> int:
    from outspoken.serving.run import run

    names = (*_SERVE_LIMITS, "upstream", "format", "reasoning_field", "action_tool", "constrain", "constrain_strict")
    run(ServerSettings(**{name: getattr(args, name) for name in names}), args.host, args.port)
    return 0
