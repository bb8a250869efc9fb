"""`outspoken constrain`: the constraint of a format and its tools, in the notation of an engine or a server."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from outspoken.results.errors import ConstraintError, OutspokenError
from outspoken.results.geometry import Screen
from outspoken.results.snippet import visible

from .inputs import UsageError, read_json, read_tools

if TYPE_CHECKING:
    from outspoken.constraints import Constraint

#: What a constraint can be written as: by the names of `Constraint.to_…`.
TARGETS = ("llguidance", "xgrammar", "ebnf", "gbnf", "outlines", "vllm", "sglang", "llama_cpp")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("format", metavar="FORMAT", help="a format's name or alias")
    command.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model is given")
    command.add_argument("--target", required=True, choices=TARGETS, help="the engine, or the server's request fields")
    words = "the GUI actions that the model may write: types (`click`) or words of the format, or all; may be repeated"
    command.add_argument("--action", action="append", metavar="NAME", help=words)
    command.add_argument("--screen", type=_screen, metavar="WIDTHxHEIGHT", help="the screen on which points lie")
    words = "auto, none, required or the name of a tool; default: auto"
    command.add_argument("--tool-choice", default="auto", metavar="CHOICE", help=words)
    words = "allow several calls; default: yes"
    command.add_argument("--parallel", action=argparse.BooleanOptionalAction, default=True, help=words)
    words = "whether the response may have reasoning; default: free"
    command.add_argument("--reasoning", choices=("free", "none", "required"), default="free", help=words)
    command.add_argument("--max-calls", type=int, metavar="N", help="at most so many calls")
    command.add_argument("--prefix", help=r"the end of the prompt, if it opens a block (`<think>\n`)")
    words = "a marker that is one token of the model; may be repeated"
    command.add_argument("--special-token", action="append", default=[], metavar="TOKEN", help=words)
    command.add_argument("--tokenizer", metavar="FILE", help="a tokenizer.json, which names the special tokens")
    words = "fail if something of the tools' schemas is not enforced"
    command.add_argument("--strict", action="store_true", help=words)


def _screen(text: str) -> Screen:
    width, _, height = text.partition("x")
    try:
        return Screen(int(width), int(height))
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is no size; write it as 1280x720") from None


def run(args: argparse.Namespace) -> int:
    """Print the constraint; what it does not enforce goes to standard error."""
    made = _constraint(args)
    try:
        written: Any = getattr(made, f"to_{args.target}")()
    except ValueError as error:
        raise UsageError(f"`{made.format}` has no constraint for `{args.target}`: {error}") from error
    for warning in made.warnings:
        print(f"outspoken: warning: {visible(warning)}", file=sys.stderr)
    print(written.rstrip("\n") if isinstance(written, str) else json.dumps(written, ensure_ascii=False, indent=2))
    return 0


def _constraint(args: argparse.Namespace) -> Constraint:
    """Make the constraint. Raises UsageError for options that are not valid."""
    from outspoken.constraints import constraint  # the other commands need not wait for it

    tools = read_tools(args.tools) if args.tools else None
    tokenizer = read_json(args.tokenizer) if args.tokenizer else None
    if tokenizer is not None and not isinstance(tokenizer, dict):
        raise UsageError(f"{args.tokenizer}: this is not a tokenizer.json")
    try:
        return constraint(
            args.format,
            tools=tools,
            actions=True if args.action == ["all"] else args.action,
            screen=args.screen,
            tool_choice=args.tool_choice,
            parallel=args.parallel,
            reasoning=args.reasoning,
            max_calls=args.max_calls,
            special_tokens=args.special_token,
            tokenizer=tokenizer,
            prefix=args.prefix and args.prefix.replace("\\n", "\n"),
            strict=args.strict,
        )
    except ConstraintError as error:
        raise UsageError(f"`{error.format}` has no such constraint: {'; '.join(error.problems)}") from error
    except OutspokenError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(str(error)) from error
