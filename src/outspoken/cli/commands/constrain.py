"""`outspoken constrain`: the constraint of a format and its tools, in the notation of an engine or a server."""

from __future__ import annotations

import sys
from typing import Any

import cloup
from cloup import argument, option_group
from cloup.constraints import RequireExactly

from outspoken.cli.options import SHARED, File, command, format_names, format_option, json_option, option, size
from outspoken.constraints.deriving import TARGETS, constraint
from outspoken.results.errors import ConstraintError, OutspokenError
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_json, read_tools
from outspoken.terminal.outputs import print_json


@command(
    "constrain",
    "Write the grammar that keeps a model to a format and its tools, for an engine or a server.",
    ("outspoken constrain hermes -T tools.json --target gbnf", "a grammar for llama.cpp"),
    ("outspoken constrain ui_tars --action all --target vllm", "the fields of a request to vLLM"),
)
@argument("name", metavar="[FORMAT]", required=False, shell_complete=format_names)
@option_group("Reading", format_option("the format, in place of FORMAT", default=None), SHARED["prefix"])
@option_group(
    "Allowed",
    option("-T --tools FILE", "a JSON list of the tools that the model is given", File()),
    option(
        "--action NAME", "an action: a type (`click`), a word of the format, or all; may be repeated", multiple=True
    ),
    option("-s --screen WxH", "the screen's size in pixels, on which points lie, such as 1280x720", size),
    option("--tool-choice CHOICE", "auto, none, required or the name of a tool", default="auto"),
    option("--parallel/--no-parallel", "allow several calls", default=True),
    option("--reasoning KIND", "free, none or required", ("free", "none", "required"), default="free"),
    option("--max-calls N", "at most so many calls", int),
)
@option_group(
    "Tokens",
    option("--special-token TOKEN", "a marker that is one token of the model; may be repeated", multiple=True),
    option("--tokenizer FILE", "a tokenizer.json, which names the special tokens", File()),
)
@option_group(
    "Output",
    option("--target NAME", f"what it is written for: {', '.join(TARGETS)}", TARGETS, required=True),
    option("--strict", "fail if something of the tools' schemas is not enforced"),
    json_option("write format, target, constraint and warnings as JSON"),
)
@cloup.constraint(RequireExactly(1), ["name", "format"])
def run(
    name: str | None, format: str | None, target: str, tools: str | None, action: tuple[str, ...],
    special_token: tuple[str, ...], tokenizer: str | None, as_json: bool, **wanted: Any,
) -> int:  # fmt: skip
    """Print the constraint; what it does not enforce goes to standard error."""
    wanted |= {"tools": read_tools(tools) if tools else None, "tokenizer": read_json(tokenizer) if tokenizer else None}
    if not isinstance(wanted["tokenizer"], dict | None):
        raise UsageError(f"{tokenizer}: this is not a tokenizer.json")
    wanted |= {"actions": True if action == ("all",) else list(action) or None, "special_tokens": list(special_token)}
    try:
        derived = constraint(name or format or "", **wanted)
    except ConstraintError as error:
        raise UsageError(f"`{error.format}` has no such constraint: {'; '.join(error.problems)}") from error
    except OutspokenError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(str(error)) from error
    try:
        written: Any = getattr(derived, f"to_{target}")()
    except ValueError as error:
        raise UsageError(f"`{derived.format}` has no constraint for `{target}`: {error}") from error
    if as_json:
        print_json(
            {"format": derived.format, "target": target, "constraint": written, "warnings": list(derived.warnings)}
        )
        return 0
    for warning in derived.warnings:
        print(f"outspoken: warning: {visible(warning)}", file=sys.stderr)
    print_json(written) if not isinstance(written, str) else print(written.rstrip("\n"))
    return 0
