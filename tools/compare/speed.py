"""Measures the parsers of vLLM and SGLang and ours on the same responses: microseconds for each, whole and streamed.

Run as `python -m tools.compare.speed`. It runs itself in the environment of the group `servers`. Responses have one
to three calls and 0.25, 0.9 and 2 KB; a stream is the second one, in chunks of four characters or a marker, which are
the tokens of the stand-in for a tokenizer. Ours is measured as `Parser`, and in the place of theirs in the server. A
format is measured where theirs and ours find the calls that were written.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from typing import Any

from outspoken import Parser
from outspoken.grammar import registry
from tools.bench import turns
from tools.bench.peers import GIVEN, LEAD, TOOLS, TYPICAL, Sizes, fault, response, wanted
from tools.figures.records import Measurement, new_file
from tools.integrations.compare import SLOW, peer_names
from tools.integrations.compare_servers import SERVERS, Calls, MarkerTokenizer, Reader, Server, Written, chunks_of

from .sections import speed

#: The characters of a token, and so of a chunk.
SIZE = 4
#: How often each is measured, and for how many seconds at most.
ROUNDS, LONGEST = 9, 0.6
_SINGLE: Sizes = tuple([(1, size) for _, size in TYPICAL])


def texts_for(format: str, read: Callable[[str], Written]) -> tuple[Sizes, list[str]]:
    """Responses in which a reader finds the calls: with text before several calls if it can, else with less.

    No responses if it does not find them in any. Raises AssertionError if ours does not.
    """
    for sizes, lead in product((TYPICAL, _SINGLE), (LEAD, "")):
        texts = [response(format, *size, lead) for size in sizes]
        if not any(_fault(read, text, size) for text, size in zip(texts, sizes, strict=True)):
            return sizes, texts
    return TYPICAL, []


def _fault(read: Callable[[str], Written], text: str, size: tuple[int, int]) -> str:
    return fault(lambda: _calls(read(text)), wanted(*size))


def _calls(found: Written) -> Calls:
    return [(name, json.loads(arguments)) for name, arguments in found]


def measure(server: Server, format: str, name: str) -> dict[str, Any]:
    """Microseconds for a response: theirs, ours in the server, ours alone. Empty if theirs finds other calls."""
    theirs, ours = server.reader(name, TOOLS), server.reader(f"outspoken_{format}", TOOLS)
    found: dict[str, Any] = {}
    for way in ("whole", "streamed"):
        sizes, texts = texts_for(format, getattr(theirs, way))
        if not texts or any(_fault(getattr(ours, way), *pair) for pair in zip(texts, sizes, strict=True)):
            continue
        chosen = texts if way == "whole" else texts[1:2]
        functions = [_timed(theirs, way, chosen), _timed(ours, way, chosen), _alone(format, way, chosen)]
        best = turns(functions, ROUNDS, LONGEST)
        found[way] = [round(seconds * 1e6 / len(chosen), 1) for seconds in best]
    return found


def _timed(reader: Reader, way: str, texts: Sequence[str]) -> Callable[[], Any]:
    functions = [reader.timed(text)[way == "streamed"] for text in texts]
    return partial(_all, functions)


def _alone(format: str, way: str, texts: Sequence[str]) -> Callable[[], Any]:
    parser = Parser(format, tools=GIVEN)
    if way == "whole":
        return partial(_all, [partial(parser.parse, text) for text in texts])
    pieces = [piece for piece, _ in chunks_of(MarkerTokenizer(SIZE), texts[0])]

    def run() -> None:
        session = parser.session()
        for piece in pieces:
            session.feed(piece)
        session.close()

    return run


def _all(functions: Sequence[Callable[[], Any]]) -> None:
    for function in functions:
        function()


def _inside(options: argparse.Namespace) -> int:
    logging.disable(logging.CRITICAL)  # the parsers log every text that they cannot read
    values, read = dict[str, Any](), set[str]()
    for title, make in SERVERS.items():
        server = make(SIZE)
        values[title] = {}
        for format, name in sorted(peer_names(server).items()):
            if (title, format) in SLOW or (options.only and format not in options.only):
                continue
            try:
                found = measure(server, format, name)
            except Exception as error:  # their parser needs a package that is not installed, or more of a tokenizer
                print(f"{title} {format}: {error}", file=sys.stderr)
                continue
            print(f"{title} {format}: {found}", file=sys.stderr, flush=True)
            if found:
                values[title][format] = found
                read.add(format)
    versions = {title: version(title.lower()) for title in SERVERS}
    measured = Measurement(values=values, peers=versions, formats=sorted(read))
    print(speed({"speed": measured}))
    if options.json:
        measured.write(options.json)
    return 0


def main() -> int:
    """Print the table; `--json` writes the times for `python -m tools.figures`."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare.speed", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="FORMAT", choices=registry.names(), help="only these formats")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="write the times to a file")
    options = parser.parse_args()
    if find_spec("vllm") is not None and find_spec("sglang") is not None:
        return _inside(options)
    from tools.integrations.inside import run_inside

    return run_inside("servers", "tools.compare.speed")


if __name__ == "__main__":
    sys.exit(main())
