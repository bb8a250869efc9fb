"""Reads the same texts with the parsers of vLLM and SGLang and with ours, through the servers' own interfaces.

Run as `python -m tools.integrations.compare`. It runs itself in the environment of the group `servers`. The texts are
sound responses of the corpus and of `render`, and renders that are damaged in one character of their markup, or cut.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from random import Random
from typing import Any, NamedTuple

from outspoken import formats, parse
from outspoken.authoring.shared.checkout import TOP, Checkout
from outspoken.authoring.shared.corpus import cases
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from tools.damage import markup_calls
from tools.damage.evaluation import equal
from tools.damage.markup_cases import SEED, bases, damaged_texts
from tools.figures.records import Measurement, new_file

from .compare_servers import SERVERS, Calls, Reader, Server
from .compare_tables import counts, section

#: Parsers whose time grows exponentially with the number of calls.
SLOW = {("SGLang", "pythonic")}
#: Parsers that read by other names than ours.
OTHER_NAMES = {"harmony": {"openai", "gptoss"}, "qwen3_coder": {"qwen3coder"}, "glm_4_5": {"glm45"}}


class Example(NamedTuple):
    """A text and the calls that are meant by it. `base` is the sound text that it was made of.

    `also` is right, too: the call in which a text is cut may be complete but for its closing markup.
    """

    format: str
    kind: str
    text: str
    meant: Calls
    tools: list[dict[str, Any]]
    base: str
    also: Calls


def examples(format: str, per_format: int) -> Iterator[Example]:
    """The texts of a format, the same ones every time."""
    for case in cases(Checkout(TOP), format):
        reply = case.parse()
        if case.kind == "ok" and not case.options.keys() - {"tools"} and reply.tool_calls and reply.reasoning is None:
            given = case.options.get("tools") or _schemas(reply.tool_calls)
            calls = _calls(reply)
            yield Example(format, "corpus", case.text, calls, _functions(given), case.text, calls)
    tools = markup_calls.tools()
    made = bases(format, SEED)
    for base in made:
        calls = _calls(_read(base.text, format))
        yield Example(format, "render", base.text, calls, _functions(tools), base.text, calls)
    for case in damaged_texts(made, Random(f"{SEED} {format}"), per_format, 1):
        calls = _calls(_read(case.base.text, format))
        yield Example(format, "damaged", case.text, calls, _functions(tools), case.base.text, calls)
    random = Random(f"{SEED} cut {format}")
    for base in made:
        reply = _read(base.text, format)
        end = random.randint(reply.tool_calls[0].span[0] + 1, reply.tool_calls[-1].span[1] - 1)
        calls, count = _calls(reply), sum(call.span[1] <= end for call in reply.tool_calls)
        text = base.text[:end]
        yield Example(format, "cut", text, calls[:count], _functions(tools), base.text, calls[: count + 1])


def _read(text: str, format: str) -> Any:
    return parse(text, format, tools=Tools.of(markup_calls.tools()), finish_reason="stop")


def _calls(reply: Any) -> Calls:
    return [(call.name, call.arguments) for call in reply.tool_calls]


def _functions(tools: Any) -> list[dict[str, Any]]:
    return [tool if "function" in tool else {"type": "function", "function": tool} for tool in tools]


def _schemas(calls: Any) -> list[dict[str, Any]]:
    """A tool for each call of a text without tools, whose arguments have the types of their values."""
    kinds: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    found: dict[str, dict[str, Any]] = {}
    for call in calls:
        known = found.setdefault(call.name, {})
        for key, value in call.arguments.items():
            known[key] = {} if value is None else {"type": kinds.get(value.__class__, "object")}
    return [{"name": name, "parameters": {"type": "object", "properties": known}} for name, known in found.items()]


def outcome(read: Callable[[], list[tuple[str, str]]], example: Example, *, streamed: bool) -> str:
    """What was made of a text: the calls that are meant, or what is wrong with those that a client gets."""
    try:
        found = read()
    except Exception:  # whatever the parser raises, the client gets no calls
        return "raised"
    if streamed and example.kind == "cut" and found and not _is_json(found[-1][1]):
        found = found[:-1]  # the client sees that the arguments have no end
    if not all(_is_json(arguments) for _, arguments in found):
        return "broken"
    calls: Calls = [(name, json.loads(arguments)) for name, arguments in found]
    if any(equal(_lists(calls), _lists(right)) for right in (example.meant, example.also)):
        return "meant"
    left = _lists(example.also)
    for call in _lists(calls):
        at = next((i for i, other in enumerate(left) if equal(call, other)), -1)
        if at < 0:
            return "wrong"
        del left[at]
    return "lost"


def _lists(calls: Calls) -> list[list[Any]]:
    return [list(call) for call in calls]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def peer_names(server: Server) -> dict[str, str]:
    """The server's own parser for each of our formats."""
    theirs = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in server.names()}
    found: dict[str, str] = {}
    for info in formats():
        if registry.header(info.name).actions:
            continue
        known = {re.sub(r"[^a-z0-9]", "", name.lower()) for name in (info.name, *info.aliases)}
        known |= OTHER_NAMES.get(info.name, set())
        own = re.sub(r"[^a-z0-9]", "", info.name)
        if names := sorted(known & theirs.keys(), key=lambda name: (name != own, name)):
            found[info.name] = theirs[names[0]]
    return found


class Result(NamedTuple):
    """What became of a text whole and streamed, with their parser and with ours."""

    example: Example
    theirs: tuple[str, str]
    ours: tuple[str, str]

    @property
    def format(self) -> str:
        """The format of the text."""
        return self.example.format

    @property
    def kind(self) -> str:
        """The kind of text: sound, damaged or cut."""
        return self.example.kind


def compare(server: Server, format: str, name: str, chosen: list[Example]) -> list[Result]:
    """Read the texts of a format. Variants of a text that their parser does not read are left out."""
    results: list[Result] = []
    unread: set[str] = set()
    try:
        server.reader(name, chosen[0].tools if chosen else []).whole("")
    except Exception as error:  # their parser needs a package that is not installed, or more of a tokenizer
        print(f"{name}: {error}", file=sys.stderr)
        return []
    for example in chosen:
        if example.base in unread and example.kind in ("damaged", "cut"):
            continue
        pairs = [_outcomes(server.reader(parser, example.tools), example) for parser in (name, f"outspoken_{format}")]
        results.append(Result(example, *pairs))
        if example.text == example.base and pairs[0][0] != "meant":
            unread.add(example.base)
    return results


def _outcomes(reader: Reader, example: Example) -> tuple[str, str]:
    return (
        outcome(lambda: reader.whole(example.text), example, streamed=False),
        outcome(lambda: reader.streamed(example.text), example, streamed=True),
    )


def _inside(options: argparse.Namespace) -> int:
    """Compare, in the environment that has the servers."""
    logging.disable(logging.CRITICAL)  # the parsers log every text that they cannot read
    found_of, read = dict[str, Any](), set[str]()
    for title, make in SERVERS.items():
        server, results, left_out, slow = make(1), list[Result](), list[str](), list[str]()
        names = peer_names(server)
        for format, name in sorted(names.items()):
            if options.only and format not in options.only:
                continue
            if (title, format) in SLOW:
                slow.append(format)
                continue
            found = compare(server, format, name, list(examples(format, options.per_format)))
            if all(result.theirs[0] != "meant" for result in found):
                left_out.append(format)
                continue
            results += found
            if options.show:
                show(found, options.show)
            tally = Counter((r.example.kind, r.ours[0] == "meant", r.theirs[0] == "meant") for r in found)
            print(f"{title} {format} ({name}): {dict(tally)}", file=sys.stderr, flush=True)
        found_of[title] = counts(results, left_out, slow)
        read |= {result.format for result in results}
    measured = Measurement(
        values=found_of, peers={name: version(name.lower()) for name in SERVERS}, formats=sorted(read)
    )
    print(section({"servers": measured}))
    if options.json:
        measured.write(options.json)
    return 0


def show(results: list[Result], number: int) -> None:
    """Print some texts that ours does not read as meant."""
    for result in [r for r in results if {*r.ours} - {"meant"}][:number]:
        print(result.ours, result.theirs, repr(result.example.text), result.example.meant, file=sys.stderr)


def main() -> int:
    """Print the tables; `--json` writes the counts for `python -m tools.figures`."""
    parser = argparse.ArgumentParser(prog="python -m tools.integrations.compare", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="FORMAT", choices=registry.names(), help="only these formats")
    parser.add_argument("--per-format", type=int, default=8, metavar="N", help="damaged texts of each format (8)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N misread texts of each format")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="write the counts to a file")
    options = parser.parse_args()
    if find_spec("vllm") is not None and find_spec("sglang") is not None:
        return _inside(options)
    from .inside import run_inside

    return run_inside("servers", "tools.integrations.compare")


if __name__ == "__main__":
    sys.exit(main())
