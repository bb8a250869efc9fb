"""Reads tool calls with response templates of transformers, and with our formats, and counts what becomes of them.

Run as `python -m tools.compare.templates`. It runs itself in the environment of the group `servers`. The texts are what
`render` writes, and the same with one wrong character in the markup, or cut at a random place inside the calls.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

from outspoken import GrammarError, Parser, Reply, load_format
from outspoken.notations.tools import Tools
from tools.bench import turns
from tools.figures.records import Measurement, new_file
from tools.integrations.compare import Example, examples, outcome
from tools.integrations.compare_servers import Written
from tools.integrations.missing_modules import stand_ins

from .response_templates import TEMPLATES
from .sections import TEMPLATE_KINDS, templates

PER_FORMAT = 24
ROUNDS, LONGEST = 9, 0.2


class Read(NamedTuple):
    """The calls that were read, and whether the reader says that something is wrong."""

    calls: Written
    is_told: bool


class Theirs:
    """`parse_response` of transformers with a template."""

    def __init__(self, template: dict[str, Any], tools: list[dict[str, Any]]) -> None:
        with stand_ins():
            parsing: Any = import_module("transformers.utils.chat_parsing")
            loading: Any = import_module("transformers.utils.chat_parsing.response_templates")
        self._parser: Any = parsing.ResponseParser
        self._template: Any = loading.load_response_template(template)
        self._parse: Any = parsing.parse_response
        self._tools = tools

    def whole(self, text: str) -> Any:
        """The message of a text."""
        return self._parse(text, self._template, prefix="", tools=self._tools)

    def streamed(self, text: str) -> Any:
        """The message of a text in chunks of four characters."""
        parser = self._parser(self._template, prefix="", tools=self._tools)
        for start in range(0, len(text), 4):
            parser.feed(text[start : start + 4])
        return parser.finalize()[0]

    def read(self, message: Any) -> Read:
        """The calls of a message. What it cannot read is an exception."""
        called = [call["function"] for call in message.get("tool_calls", [])]
        return Read([(call["name"], json.dumps(call["arguments"])) for call in called], is_told=False)


class Ours:
    """`Parser` with a format: ours, or the template."""

    def __init__(self, format: str, tools: list[dict[str, Any]]) -> None:
        self._parser = Parser(format, tools=Tools.of(tools))

    def whole(self, text: str) -> Any:
        """The reply to a text."""
        return self._parser.parse(text)

    def streamed(self, text: str) -> Any:
        """The reply to a text in chunks of four characters."""
        session = self._parser.session()
        for start in range(0, len(text), 4):
            session.feed(text[start : start + 4])
        session.close()
        return session.reply

    def read(self, message: Any) -> Read:
        """The calls of a reply; its status and diagnostics tell of others."""
        reply: Reply = message
        is_told = reply.status != "ok" or bool(reply.diagnostics)
        return Read([(call.name, json.dumps(call.arguments)) for call in reply.tool_calls], is_told)


def judged(reader: Theirs | Ours, example: Example, *, streamed: bool) -> str:
    """What becomes of a text: `meant`, `refused` (an error, or something that is said to be wrong) or `wrong`."""
    told: list[bool] = []

    def read() -> Written:
        found = reader.read((reader.streamed if streamed else reader.whole)(example.text))
        told.append(found.is_told)
        return found.calls

    result = outcome(read, example, streamed=False)
    return "meant" if result == "meant" else "refused" if result == "raised" or any(told) else "wrong"


def readers(format: str, tools: list[dict[str, Any]]) -> dict[str, Theirs | Ours]:
    """The readers of a format."""
    return {"Outspoken": Ours(format, tools), "transformers": Theirs(TEMPLATES[format], tools)}


def not_loaded(formats: Sequence[str]) -> list[str]:
    """The formats whose templates `load_format` cannot express."""
    found: list[str] = []
    for format in formats:
        try:
            load_format(TEMPLATES[format], f"template_of_{format}")
        except GrammarError as error:
            print(error, file=sys.stderr)
            found.append(format)
    return found


def counts(formats: Sequence[str]) -> dict[str, Any]:
    """What becomes of the texts of formats, whole and streamed, by kind."""
    found: dict[str, dict[str, dict[str, Counter[str]]]] = {}
    sizes: Counter[str] = Counter()
    times: dict[str, dict[str, list[float]]] = {}
    for format in formats:
        chosen = [example for example in examples(format, PER_FORMAT) if example.kind in TEMPLATE_KINDS]
        sizes.update(example.kind for example in chosen)
        made = readers(format, chosen[0].tools)
        for example in chosen:
            for name, reader in made.items():
                for way in ("whole", "streamed"):
                    counters = found.setdefault(name, {}).setdefault(way, {})
                    result = judged(reader, example, streamed=way == "streamed")
                    counters.setdefault(example.kind, Counter())[result] += 1
        texts = [example.text for example in chosen if example.kind == "render"]
        for way in ("whole", "streamed"):
            spent = [0.0] * len(made)
            for text in texts:
                best = turns([partial(getattr(reader, way), text) for reader in made.values()], ROUNDS, LONGEST)
                spent = [sum(pair) for pair in zip(spent, best, strict=True)]
            for name, seconds in zip(made, spent, strict=True):
                times.setdefault(name, {}).setdefault(way, []).append(round(seconds * 1e6 / len(texts), 1))
    return {"texts": sizes, "readers": found, "microseconds": times, "not_loaded": not_loaded(formats)}


def show(formats: Sequence[str], number: int) -> None:
    """Print some texts of each format and kind that transformers does not read as meant."""
    for format in formats:
        chosen = [example for example in examples(format, PER_FORMAT) if example.kind in TEMPLATE_KINDS]
        reader, shown = readers(format, chosen[0].tools)["transformers"], Counter[str]()
        for example in chosen:
            result = judged(reader, example, streamed=False)
            if result != "meant" and shown[example.kind] < number:
                shown[example.kind] += 1
                print(f"{format} {example.kind} {result}: {example.text!r}\nmeant: {example.meant}")


def main() -> int:
    """Print the table; `--json` writes the counts for `python -m tools.figures`."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare.templates", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*TEMPLATES], metavar="FORMAT", help="only these formats")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N texts that transformers misreads")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="write the counts to a file")
    options = parser.parse_args()
    if find_spec("transformers") is None or find_spec("vllm") is None:
        from tools.integrations.inside import run_inside

        return run_inside("servers", "tools.compare.templates")
    formats: list[str] = options.only or [*TEMPLATES]
    if options.show:
        show(formats, options.show)
        return 0
    measured = Measurement(
        values=counts(formats), peers={"transformers": version("transformers")}, formats=sorted(formats)
    )
    print(templates({"templates": measured}))
    if options.json:
        measured.write(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
