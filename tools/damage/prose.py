"""Reads source files and documents, which hold no response of a model, and lists what is taken for one."""

from __future__ import annotations

import argparse
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from outspoken import JsonValue, Reply, Text, parse

#: Larger files are left out, in bytes.
_MOST = 400_000
_SUFFIXES = frozenset({
    ".cfg", ".css", ".csv", ".html", ".ini", ".js", ".json", ".lark", ".md", ".mdx", ".mjs", ".py", ".pyi", ".pyx",
    ".rst", ".sh", ".toml", ".txt", ".xml", ".yaml", ".yml",
})  # fmt: skip
_TOOLS: list[dict[str, Any]] = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
]
_FOUND = frozenset({"tool_call", "action", "payload"})
#: Markup that only formats of calls and chat templates have. Lists, objects and calls of code are none, nor is HTML.
_MARKUP = re.compile(
    r"<[|｜]|<[/\w:|]*(?:tool|function|think|invoke|parameter|arg_|action)|\[/?[A-Z]+(?:_[A-Z]+)+\]"
    r"|\bAction:|\bpyautogui\.|\bSUGGESTED_VALUES"
)


@dataclass(frozen=True)
class Taken:
    """What was taken for a response, in which file, and whether it is written in the markup of a format."""

    path: str
    tools: bool
    about: bool
    what: str
    excerpt: str


def _files(roots: list[Path]) -> Iterator[Path]:
    """The files to read, without packages that lie within the standard library."""
    for root in roots:
        for path in sorted(root.rglob("*")):
            inner = path.relative_to(root).parts
            if path.suffix in _SUFFIXES and "site-packages" not in inner and path.is_file():
                yield path


def taken(path: str, text: str, *, tools: bool) -> list[Taken]:
    """What is taken for a response in a text."""
    reply = parse(text, tools=_TOOLS if tools else None)
    found = [(f"{segment.kind} {reply.format}", *segment.span) for segment in reply.segments if segment.kind in _FOUND]
    if not found and (fault := _fault(reply)):
        found = [fault]
    excerpts = [(what, text[max(start - 20, 0) : min(end, start + 60)]) for what, start, end in found]
    return [Taken(path, tools, bool(_MARKUP.search(excerpt)), what, excerpt) for what, excerpt in excerpts]


def _fault(reply: Reply) -> tuple[str, int, int] | None:
    """Where the segments do not give the text, to the byte; None if they do."""
    raw, at = reply.raw, 0
    for segment in reply.segments:
        start, end = segment.span
        if not isinstance(segment, (Text, JsonValue)):
            return f"{segment.kind} {reply.format}", start, end
        shown = segment.raw if isinstance(segment, JsonValue) else segment.text
        if start != at or shown != raw[start:end]:
            return f"text is torn {reply.format}", at, start
        at = end
    return None if at == len(raw) else (f"text is torn {reply.format}", at, len(raw))


def _read_file(path: Path) -> list[Taken] | None:
    """Read a file without tools and with one; None if it is too large or no text."""
    data = path.read_bytes()
    if len(data) > _MOST:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return [one for tools in (False, True) for one in taken(str(path), text, tools=tools)]


def main(arguments: list[str]) -> int:
    """Read files with `auto`, and list what is taken for a call, an action or a payload.

    The exit code is 1 if a file that is not about formats has one.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.damage prose", description=main.__doc__)
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help="in place of the installed libraries")
    parser.add_argument("--limit", metavar="N", type=int, help="read only N files, spread over all")
    parser.add_argument("--show", metavar="N", type=int, default=5, help="findings to show of a file (5)")
    parser.add_argument("--processes", metavar="N", type=int, default=2)
    options = parser.parse_args(arguments)
    roots = options.folders or [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]
    chosen = list(_files(roots))
    if options.limit:
        chosen = chosen[:: max(len(chosen) // options.limit, 1)][: options.limit]
    with get_context("spawn").Pool(options.processes) as pool:
        readings = [found for found in pool.imap_unordered(_read_file, chosen, chunksize=16) if found is not None]
    _report(sorted([found for found in readings if found], key=lambda found: found[0].path), options.show)
    print(f"\n{len(readings)} files, read twice")
    for tools in (False, True):
        of = {one.path: one for found in readings for one in found if one.tools == tools}
        others = sum(not one.about for one in of.values())
        kinds = dict(Counter(one.what for one in of.values()))
        label = "with one tool" if tools else "without tools"
        print(f"{label}: {len(of)} files with findings, {others} of them not about formats: {kinds}")
    return int(any(not one.about for found in readings for one in found))


def _report(findings: list[list[Taken]], number: int) -> None:
    """Print the findings by file: those in files that are about formats, and others."""
    for about in (True, False):
        print(f"\nfiles that are {'' if about else 'not '}about formats of calls:")
        for found in findings:
            if all(one.about for one in found) == about:
                print(f"  {found[0].path}")
                for one in found[:number]:
                    print(f"    {'one tool' if one.tools else 'no tools'}, {one.what}: {one.excerpt!r}")
