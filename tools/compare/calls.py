"""Reads tool calls with the parsers of vLLM and SGLang, with response templates of transformers, and with ours.

The texts are sound responses of the corpus and of `render`, and renders with one wrong character in their markup, or
cut at a random place inside the calls.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from random import Random
from statistics import geometric_mean, median
from typing import Any, NamedTuple

from outspoken import Parser, formats, parse
from outspoken.authoring.shared.checkout import TOP, Checkout, cases
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from tools.bench.peers import GIVEN, LEAD, TYPICAL, Calls, cut, fault, response, turns, wanted
from tools.bench.peers import TOOLS as BENCH_TOOLS
from tools.damage import responses
from tools.damage.json_texts import sound
from tools.damage.judging import damaged_texts, equal
from tools.docs.markdown import table
from tools.integrations.missing_modules import stand_ins

from .servers import SERVERS, Server, Written
from .tables import share, spread, told

KINDS = ("corpus", "render", "damaged", "cut")
WAYS = ("whole", "streamed")
#: Parsers whose time grows exponentially with the number of calls.
_SLOW = {("SGLang", "pythonic")}
#: Parsers that read by other names than ours.
_OTHER_NAMES = {"harmony": {"openai", "gptoss"}, "qwen3_coder": {"qwen3coder"}, "glm_4_5": {"glm45"}}
_TEMPLATES: dict[str, Any] = json.loads(Path(__file__).with_name("response_templates.json").read_text("utf-8"))


class Example(NamedTuple):
    """A text and the calls that are meant by it. `base` is the sound text that it was made of.

    `also` is right, too: the call in which a text is cut may be complete but for its closing markup.
    """

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
            given, calls = case.options.get("tools") or _schemas(reply.tool_calls), _calls(reply)
            yield Example("corpus", case.text, calls, _functions(given), case.text, calls)
    made, tools = responses.bases(format), _functions(responses.TOOLS)
    for base in made:
        calls = _calls(_read(base.text, format))
        yield Example("render", base.text, calls, tools, base.text, calls)
    for case in damaged_texts(made, Random(f"{responses.SEED} {format}"), per_format):
        calls = _calls(_read(case.base.text, format))
        yield Example("damaged", case.text, calls, tools, case.base.text, calls)
    random = Random(f"{responses.SEED} cut {format}")
    for base in made:
        reply = _read(base.text, format)
        end = random.randint(reply.tool_calls[0].span[0] + 1, reply.tool_calls[-1].span[1] - 1)
        calls, count = _calls(reply), sum(call.span[1] <= end for call in reply.tool_calls)
        yield Example("cut", base.text[:end], calls[:count], tools, base.text, calls[: count + 1])


def _read(text: str, format: str) -> Any:
    return parse(text, format=format, tools=Tools.of(responses.TOOLS), finish_reason="stop")


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


def outcome(read: Callable[[str], Written], example: Example, *, streamed: bool) -> str:
    """What was made of a text: the calls that are meant, or what is wrong with those that a client gets."""
    try:
        found = read(example.text)
    except Exception:  # whatever the parser raises, the client gets no calls
        return "raised"
    if streamed and example.kind == "cut" and found and not sound(found[-1][1]):
        found = found[:-1]  # the client sees that the arguments have no end
    if not all(sound(arguments) for _, arguments in found):
        return "broken"
    calls = [[name, json.loads(arguments)] for name, arguments in found]
    if any(equal(calls, [list(call) for call in right]) for right in (example.meant, example.also)):
        return "meant"
    left = [list(call) for call in example.also]
    for call in calls:
        at = next((i for i, other in enumerate(left) if equal(call, other)), -1)
        if at < 0:
            return "wrong"
        del left[at]
    return "lost"


def _peer_names(server: Server) -> dict[str, str]:
    """The server's own parser for each of our formats."""
    theirs = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in server.names}
    found: dict[str, str] = {}
    for info in formats():
        known = {re.sub(r"[^a-z0-9]", "", name.lower()) for name in (info.name, *info.aliases)}
        known |= _OTHER_NAMES.get(info.name, set())
        own = re.sub(r"[^a-z0-9]", "", info.name)
        names = sorted(known & theirs.keys(), key=lambda name: (name != own, name))
        if names and not registry.header(info.name).actions:
            found[info.name] = theirs[names[0]]
    return found


def _pairs(title: str, size: int, only: Sequence[str]) -> Iterator[tuple[Server, str, str]]:
    """A server, and each format that it has, with its own parser for it."""
    server = SERVERS[title](size)
    for format, name in sorted(_peer_names(server).items()):
        if (title, format) not in _SLOW and (not only or format in only):
            yield server, format, name


# --- What becomes of texts with the servers' parsers

Row = tuple[str, str, list[str], list[str]]


def servers(only: Sequence[str], number: int) -> str:
    """Tool calls with the parsers of vLLM and SGLang, and with ours in their place."""
    logging.disable(logging.CRITICAL)  # the parsers log every text that they cannot read
    tables: list[str] = []
    for title in SERVERS:
        rows, left_out = list[Row](), list[str]()
        for server, format, name in _pairs(title, 1, only):
            found = list(_compared(server, format, name, number))
            if all(theirs[0] != "meant" for _, _, theirs, _ in found):
                left_out.append(format)
            else:
                rows += found
            print(f"{title} {format} ({name}): {len(found)} texts", file=sys.stderr, flush=True)
        tables.append(_server_table(f"{title} {version(title.lower())}", rows, left_out))
    return "\n\n".join(tables)


def _compared(server: Server, format: str, name: str, number: int) -> Iterator[Row]:
    """What became of the texts of a format. Variants of a text that their parser does not read are left out."""
    unread: set[str] = set()
    for example in examples(format, number):
        if example.base in unread:
            continue
        try:
            readers = [server.reader(parser, example.tools) for parser in (name, f"outspoken_{format}")]
        except Exception as error:  # their parser needs a package that is not installed, or more of a tokenizer
            print(f"{name}: {error}", file=sys.stderr)
            return
        theirs, ours = [
            [outcome(getattr(reader, way), example, streamed=way == "streamed") for way in WAYS] for reader in readers
        ]
        if example.text == example.base and theirs[0] != "meant":
            unread.add(example.base)
        yield format, example.kind, theirs, ours


def _server_table(title: str, rows: list[Row], left_out: list[str]) -> str:
    """By kind of text, how many are read as meant, and what became of the others."""
    count = len({format for format, *_ in rows})
    lines: list[list[str]] = []
    for kind in (*KINDS, "all"):
        of = [(theirs, ours) for _, k, theirs, ours in rows if kind in (k, "all")]
        columns = [sum(pair[who][way] == "meant" for pair in of) for who in (1, 0) for way in (0, 1)]
        others = Counter(theirs[0] for theirs, _ in of if theirs[0] != "meant")
        cells = [f"{column} ({100 * column // max(len(of), 1)} %)" for column in columns]
        lines.append([kind, str(len(of)), *cells, ", ".join([f"{n} {name}" for name, n in others.items()]) or "none"])
    worse = Counter(f for f, _, theirs, ours in rows if theirs[0] == "meant" != ours[0])
    silent = [sum(row[who][way] in ("wrong", "broken") for row in rows) for who in (3, 2) for way in (0, 1)]
    heads = ["texts", "ours, whole", "ours, streamed", "theirs, whole", "theirs, streamed", "their others"]
    return table([f"{title}, {count} formats", *heads], lines) + (
        f"\n\nRead as meant by theirs and not by ours: {told(worse)}. Texts with a call that was not meant: ours "
        f"{silent[0]} whole and {silent[1]} streamed, theirs {silent[2]} and {silent[3]}. Left out, since theirs reads "
        f"no sound text with this tokenizer, or needs another package: {told(left_out)}."
    )


# --- Times of the servers' parsers


def speed(only: Sequence[str], number: int) -> str:
    """The parsers of vLLM and SGLang and ours: microseconds for a response of one to three calls, and in chunks."""
    logging.disable(logging.CRITICAL)
    lines: list[list[str]] = []
    for title in SERVERS:
        times: dict[str, list[list[float]]] = {way: [] for way in WAYS}
        for server, format, name in _pairs(title, 4, only):
            for way in WAYS:
                if found := _times(server, format, name, way, number):
                    times[way].append([seconds * 1e6 for seconds in found])
            print(f"{title} {format}", file=sys.stderr, flush=True)
        for way in WAYS:
            medians = [f"{median(column):,.0f}" for column in zip(*times[way], strict=True)]
            ratios = [[time[0] / time[i] for time in times[way]] for i in (1, 2)]
            faster = ", ".join([str(sum(ratio < 1 for ratio in of)) for of in ratios])
            label = f"{title} {version(title.lower())}, {way}"
            lines.append([label, str(len(times[way])), *medians, *map(spread, ratios), faster])
    heads = ["theirs, µs", "ours in the server, µs", "ours alone, µs", "theirs / ours in the server"]
    return table(["", "formats", *heads, "theirs / ours alone", "theirs is faster"], lines)


def _times(server: Server, format: str, name: str, way: str, rounds: int) -> list[float]:
    """Seconds of theirs, of ours in the server and of ours alone; none if theirs does not find the calls."""
    sizes = TYPICAL if way == "whole" else TYPICAL[1:2]
    for lead, calls in ((LEAD, None), ("", None), (LEAD, 1), ("", 1)):
        asked = [(calls or count, size) for count, size in sizes]
        texts = [response(format, *one, lead) for one in asked]
        try:
            readers = [getattr(server.reader(parser, BENCH_TOOLS), way) for parser in (name, f"outspoken_{format}")]
        except Exception:  # their parser needs a package that is not installed
            return []
        found = [partial(_parsed, read, text) for read in readers for text in texts]
        if not any(fault(one, wanted(*size)) for one, size in zip(found, asked * 2, strict=True)):
            alone = Alone(format)
            functions = [partial(_all, read, texts) for read in (*readers, getattr(alone, way))]
            return [seconds / len(texts) for seconds in turns(functions, rounds, 0.6)]
    return []


def _parsed(read: Callable[[str], Written], text: str) -> Calls:
    return [(name, json.loads(arguments)) for name, arguments in read(text)]


def _all(read: Callable[[str], Any], texts: Sequence[str]) -> None:
    for text in texts:
        read(text)


# --- Response templates


class Alone:
    """`Parser` with a format."""

    def __init__(self, format: str, tools: Any = GIVEN) -> None:
        self._parser = Parser(format, tools=tools)

    def whole(self, text: str) -> Any:
        """The reply to a text."""
        return self._parser.parse(text)

    def streamed(self, text: str) -> Any:
        """The reply to a text in chunks of four characters."""
        session = self._parser.session()
        for piece in cut(text):
            session.feed(piece)
        session.close()
        return session.reply

    def read(self, message: Any) -> tuple[Written, bool]:
        """The calls of a reply, and whether its status and diagnostics say that something is wrong."""
        written = [(call.name, json.dumps(call.arguments)) for call in message.tool_calls]
        return written, message.status != "ok" or bool(message.diagnostics)


class _Template:
    """`parse_response` of transformers with a template."""

    def __init__(self, template: dict[str, Any], tools: list[dict[str, Any]]) -> None:
        with stand_ins():
            self._parsing: Any = import_module("transformers.utils.chat_parsing")
            loading: Any = import_module("transformers.utils.chat_parsing.response_templates")
        self._template: Any = loading.load_response_template(template)
        self._tools = tools

    def whole(self, text: str) -> Any:
        """The message of a text."""
        return self._parsing.parse_response(text, self._template, prefix="", tools=self._tools)

    def streamed(self, text: str) -> Any:
        """The message of a text in chunks of four characters."""
        parser = self._parsing.ResponseParser(self._template, prefix="", tools=self._tools)
        for piece in cut(text):
            parser.feed(piece)
        return parser.finalize()[0]

    def read(self, message: Any) -> tuple[Written, bool]:
        """The calls of a message. What it cannot read is an exception."""
        called = [call["function"] for call in message.get("tool_calls", [])]
        return [(call["name"], json.dumps(call["arguments"])) for call in called], False


def judged(reader: Any, example: Example, way: str) -> str:
    """What becomes of a text: `meant`, `refused` (an error, or something that is said to be wrong) or `wrong`."""
    doubts: list[bool] = []

    def read(text: str) -> Written:
        written, is_doubted = reader.read(getattr(reader, way)(text))
        doubts.append(is_doubted)
        return written

    result = outcome(read, example, streamed=False)
    return "meant" if result == "meant" else "refused" if result == "raised" or any(doubts) else "wrong"


def templates(only: Sequence[str], number: int) -> str:
    """Tool calls with response templates of transformers that a checkpoint could bring, and with our formats."""
    found: dict[str, Counter[tuple[str, str]]] = {"Outspoken": Counter(), "transformers": Counter()}
    times: dict[tuple[str, str], list[float]] = {}
    sizes: Counter[str] = Counter()
    for format in only or _TEMPLATES:
        chosen = [example for example in examples(format, 3 * number) if example.kind != "corpus"]
        sizes.update(example.kind for example in chosen)
        tools = chosen[0].tools
        readers = dict(zip(found, (Alone(format, Tools.of(tools)), _Template(_TEMPLATES[format], tools)), strict=True))
        for name, reader in readers.items():
            found[name].update((example.kind, judged(reader, example, "whole")) for example in chosen)
        texts = [example.text for example in chosen if example.kind == "render"]
        for way in WAYS:
            spent = turns([partial(_all, getattr(reader, way), texts) for reader in readers.values()], number, 1.0)
            for name, seconds in zip(readers, spent, strict=True):
                times.setdefault((name, way), []).append(seconds * 1e6 / len(texts))
    heads = {"render": "sound", "damaged": "one wrong character in the markup", "cut": "cut inside the calls"}
    lines = [
        [
            f"{name} {version(name)}" if name == "transformers" else name,
            *[f"{share(of[kind, 'meant'], sizes[kind])} / {share(of[kind, 'wrong'], sizes[kind])}" for kind in heads],
            *[f"{geometric_mean(times[name, way]):,.0f}" for way in WAYS],
        ]
        for name, of in found.items()
    ]
    titles = [f"{title}, {sizes[kind]} texts" for kind, title in heads.items()]
    return table(["read as meant / wrong and silent", *titles, "whole, µs", "streamed, µs"], lines)
