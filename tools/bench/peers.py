"""The responses of the benchmark, as each format writes them, the parsers of the peer, and what times functions."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from outspoken import Text, parse, render
from outspoken.authoring.shared.checkout import TOP
from outspoken.grammar.registry import header
from outspoken.notations.tools import Tools
from outspoken.results.errors import RenderError

DATA: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
TOOLS: list[dict[str, Any]] = DATA["tools"]
FUNCTIONS: list[dict[str, Any]] = [tool["function"] for tool in TOOLS]
#: read once, as the peer is given its tools
GIVEN = Tools.of(TOOLS)
SENTENCE = "The ferry to the island leaves at nine and the last one back is at six. "
LEAD = "I will write that down."

#: calls and size of the longest argument of the typical responses: about 0.25, 0.9 and 2 KB
TYPICAL = ((1, 60), (2, 260), (3, 520))
#: several calls a response, with arguments of 40 to 260 characters
SEVERAL = ((2, 40), (4, 100), (6, 260))
#: formats whose parsers of the peer take minutes for several calls
SLOW_PEERS = ("pythonic",)

#: By format, the peer's module and class for it.
PEERS: dict[str, tuple[str, str]] = DATA["detectors"]
#: Spellings that the peer needs in place of ours; we read both.
_SPELLINGS: dict[str, list[tuple[str, str]]] = DATA["spellings"]

Calls = list[tuple[str, dict[str, Any]]]
Sizes = tuple[tuple[int, int], ...]


def body(size: int) -> str:
    """Prose of about `size` characters."""
    return (SENTENCE * (size // len(SENTENCE) + 1))[:size].strip()


def wanted(calls: int, size: int) -> Calls:
    """Some calls, whose longest argument has about `size` characters."""
    return [("save_note", {"title": f"Ferry {i}", "copies": i + 1, "body": body(size)}) for i in range(calls)]


@cache
def response(format_: str, calls: int, size: int, lead: str = LEAD) -> str:
    """A response with these calls as the format writes it; its example where the format has no calls."""
    written = [{"name": name, "arguments": arguments} for name, arguments in wanted(calls, size)]
    told = Text(text=lead, span=(0, len(lead)))
    for segments in ([told, *written], written) if lead else (written,):
        try:
            text = render(segments, format=format_, tools=TOOLS)
        except RenderError:
            continue
        for ours, theirs in _SPELLINGS.get(format_, ()):
            text = text.replace(ours, theirs)
        return text
    return header(format_).example


def cut(text: str) -> list[str]:
    """A text in pieces of four characters."""
    return [text[i : i + 4] for i in range(0, len(text), 4)]


def cut_at_tags(text: str) -> list[str]:
    """The same with tags in one piece, as they come where they are tokens."""
    return re.findall(r"<[^<>\s]{1,40}>|[^<]{1,4}|<", text)


#: the folder with the module that loads the peer's parsers
FOLDER = Path(os.environ.get("OUTSPOKEN_PEERS", TOP.parent / "shared" / "bench"))


@cache
def load_peers() -> Any:
    """The module that loads the peer's parsers, or None."""
    if not (FOLDER / "peers.py").exists():
        return None
    sys.path.insert(0, str(FOLDER))
    try:
        peers = importlib.import_module("peers")
        sys.meta_path.insert(0, sys.meta_path.pop())  # its stand-ins come before real packages
        importlib.import_module("sglang.srt.function_call.base_format_detector")  # it needs other packages
        return peers
    except Exception as error:  # whatever keeps a peer from loading, the rest can be measured
        print(f"(the peer's parsers cannot be loaded: {error})")
        return None


class Peer:
    """The peer's parser for a format."""

    def __init__(self, peers: Any, format_: str, functions: Sequence[dict[str, Any]] = FUNCTIONS) -> None:
        module, name = PEERS[format_]
        self.maker: Any = getattr(importlib.import_module(f"sglang.srt.function_call.{module}"), name)
        self.tools = [peers.Tool(function=peers.Function(**function)) for function in functions]

    def reader(self, texts: list[str]) -> Callable[[], Any]:
        """A function with which the peer reads whole responses."""
        maker, tools = self.maker, self.tools
        return lambda: [maker().detect_and_parse(text, tools) for text in texts]

    def streamer(self, pieces: list[str]) -> Callable[[], Any]:
        """A function with which the peer reads pieces to the end."""
        maker, tools = self.maker, self.tools

        def run() -> list[Any]:
            detector = maker()
            results = [detector.parse_streaming_increment(piece, tools) for piece in pieces]
            results.append(detector.finish(tools))
            return results

        return run

    def calls(self, text: str) -> Calls:
        """The calls that the peer finds in a whole response."""
        return [(call.name, json.loads(call.parameters)) for call in self.reader([text])()[0].calls]

    def streamed(self, cut: Callable[[str], list[str]], text: str) -> Calls:
        """The calls that the peer finds in a response that is cut into pieces."""
        names: dict[int, str] = {}
        parts: dict[int, str] = {}
        for result in self.streamer(cut(text))():
            for item in result.calls:
                names[item.tool_index] = item.name or names.get(item.tool_index, "")
                parts[item.tool_index] = parts.get(item.tool_index, "") + item.parameters
        return [(names[index], json.loads(parts[index])) for index in sorted(names)]


#: how often a function is run before it is measured
_WARM = 40


def turns(functions: Sequence[Callable[[], Any]], rounds: int, longest: float = 4.0) -> list[float]:
    """The best time of each function, in seconds, measured in turns; none is run for much longer than `longest`.

    Each is run for a while before: what it loads, compiles and keeps on first use is there then for both.
    """
    best, spent, counts = [math.inf] * len(functions), [0.0] * len(functions), [1] * len(functions)

    def measure(i: int) -> None:
        start = time.perf_counter()
        for _ in range(counts[i]):
            functions[i]()
        taken = time.perf_counter() - start
        spent[i] += taken
        best[i] = min(best[i], taken / counts[i])

    for i in range(len(functions)):
        for _ in range(_WARM):
            measure(i)
            if spent[i] > longest / 8:
                break
        counts[i] = max(1, int(0.002 / max(best[i], 1e-7)))
    for _ in range(rounds):
        for i in range(len(functions)):
            if spent[i] <= longest:
                measure(i)
    return best


def fault(found: Callable[[], Calls], calls: Calls) -> str:
    """How the calls that a parser finds differ from those in the text; "" if they do not."""
    try:
        got = found()
    except Exception as error:  # a parser that fails is reported, not measured
        return f"{type(error).__name__}: {str(error)[:60]}"
    if len(got) != len(calls):
        return f"finds {len(got)} calls of {len(calls)}"
    return "" if got == calls else "finds other arguments"


def own_calls(text: str, format_: str) -> Calls:
    """The calls that we find."""
    return [(call.name, call.arguments) for call in parse(text, format=format_, tools=GIVEN).tool_calls]


class Case:
    """What is measured of a format: its responses, and the peer's parser where it finds the same calls in them.

    Where it does not, it is offered them without the text before the calls, one call each, and with tags in one piece.
    If it finds other calls then, too, `note` says so, and `peer` is None.
    """

    def __init__(self, peers: Any, format_: str, sizes: Sizes, *, stream: bool = False) -> None:
        self.format, self.note = format_, ""
        self.peer: Peer | None = Peer(peers, format_) if peers else None
        single = tuple([(1, size) for _, size in sizes])
        offers = itertools.product((cut, cut_at_tags) if stream else (cut,), dict.fromkeys((sizes, single)), (LEAD, ""))
        for self.cut, offered, lead in offers:
            self.texts = [response(format_, *size, lead) for size in offered]
            if own := self._fault(lambda text: own_calls(text, format_), offered):
                raise AssertionError(f"`{format_}` {own} in our own parser")
            if self.peer is None:
                return
            read = partial(self.peer.streamed, self.cut) if stream else self.peer.calls
            found = self._fault(read, offered)
            if not found:
                is_less = offered != sizes
                notes = ["one call each" * is_less, "tags in one piece" * (self.cut is cut_at_tags)]
                self.note = ", ".join(filter(None, notes))
                return
            self.note = self.note or f"the peer {found}"
        self.peer, self.cut = None, cut
        self.texts = [response(format_, *size) for size in sizes]

    def _fault(self, read: Callable[[str], Calls], sizes: Sizes) -> str:
        """How the calls that are found differ from those in the texts; "" if they do not."""
        for text, size in zip(self.texts, sizes, strict=True):
            if found := fault(partial(read, text), wanted(*size)):
                return found
        return ""
