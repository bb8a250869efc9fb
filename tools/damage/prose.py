"""Read source files and documents, which hold no response of a model, and list what is taken for one.

Run as `python -m tools.damage prose`. It reads the standard library and the installed packages with `auto`.
"""

from __future__ import annotations

import argparse
import re
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from outspoken import JsonValue, Reply, Text, parse

#: Larger files are left out, in bytes.
MOST = 400_000
SUFFIXES = frozenset({
    ".cfg", ".css", ".csv", ".html", ".ini", ".js", ".json", ".lark", ".md", ".mdx", ".mjs", ".py", ".pyi", ".pyx",
    ".rst", ".sh", ".toml", ".txt", ".xml", ".yaml", ".yml",
})  # fmt: skip
TOOLS: list[dict[str, Any]] = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
]
_FOUND = frozenset({"tool_call", "action", "payload"})
#: Markup that only formats of calls and chat templates have. Lists, objects and calls of code are none, nor is HTML.
_MARKUP = re.compile(
    r"<[|｜]|<[/\w:|]*(?:tool|function|think|invoke|parameter|arg_|action)|\[/?[A-Z]+(?:_[A-Z]+)+\]"
    r"|\bAction:|\bpyautogui\.|\bSUGGESTED_VALUES"
)


@dataclass(frozen=True)
class ProseFinding:
    """What was taken for a response, in which file, and whether it is written in the markup of a format."""

    path: str
    tools: bool
    about: bool
    what: str
    excerpt: str


@dataclass(frozen=True)
class FileReading:
    """A file that was read, twice: how long it is, how long that took, and what was found."""

    size: int
    seconds: float
    findings: tuple[ProseFinding, ...]


def folders() -> list[Path]:
    """The standard library, and the installed packages."""
    return [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]


def files(roots: list[Path]) -> Iterator[Path]:
    """The files to read, without packages that lie within the standard library."""
    for root in roots:
        for path in sorted(root.rglob("*")):
            inner = path.relative_to(root).parts
            if path.suffix in SUFFIXES and "site-packages" not in inner and path.is_file():
                yield path


def findings(path: str, text: str, *, tools: bool) -> list[ProseFinding]:
    """What is taken for a response in a text."""
    reply = parse(text, tools=TOOLS if tools else None)
    found = [(f"{segment.kind} {reply.format}", *segment.span) for segment in reply.segments if segment.kind in _FOUND]
    if not found and (fault := _fault(reply)):
        found = [fault]
    excerpts = [(what, text[max(start - 20, 0) : min(end, start + 60)]) for what, start, end in found]
    return [ProseFinding(path, tools, bool(_MARKUP.search(excerpt)), what, excerpt) for what, excerpt in excerpts]


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


def read_file(path: Path) -> FileReading | None:
    """Read a file without tools and with one; None if it is too large or no text."""
    data = path.read_bytes()
    if len(data) > MOST:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    start = time.perf_counter()
    found = [one for tools in (False, True) for one in findings(str(path), text, tools=tools)]
    return FileReading(len(data), time.perf_counter() - start, tuple(found))


def main(arguments: list[str] | None = None) -> int:
    """Read the files and list what is found. The exit code is 1 if a file that is not about formats has a finding."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.damage prose", description="List what is taken for a response in files that hold none."
    )
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help="in place of the installed libraries")
    parser.add_argument("--limit", metavar="N", type=int, help="read only N files, spread over all")
    parser.add_argument("--show", metavar="N", type=int, default=5, help="findings to show of a file (5)")
    parser.add_argument("--processes", metavar="N", type=int, default=2)
    options = parser.parse_args(arguments)
    chosen = list(files(options.folders or folders()))
    if options.limit:
        chosen = chosen[:: max(len(chosen) // options.limit, 1)][: options.limit]
    start = time.perf_counter()
    if options.processes > 1:
        with get_context("spawn").Pool(options.processes) as pool:
            readings = [reading for reading in pool.imap_unordered(read_file, chosen, chunksize=16) if reading]
    else:
        readings = [reading for path in chosen if (reading := read_file(path))]
    report(readings, time.perf_counter() - start, options.show)
    return int(not all(map(_is_about, readings)))


def _is_about(reading: FileReading) -> bool:
    """Whether the file is about formats of calls: all that was found in it is markup of one."""
    return all(one.about for one in reading.findings)


def report(readings: list[FileReading], seconds: float, number: int) -> None:
    """Print the findings by file, and the counts."""
    with_findings = sorted([reading for reading in readings if reading.findings], key=lambda r: r.findings[0].path)
    for about in (True, False):
        print(f"\nfiles that are {'' if about else 'not '}about formats of calls:")
        for reading in with_findings:
            if _is_about(reading) != about:
                continue
            print(f"  {reading.findings[0].path}")
            for one in reading.findings[:number]:
                print(f"    {'one tool' if one.tools else 'no tools'}, {one.what}: {one.excerpt!r}")
    size = sum(reading.size for reading in readings) / 1e6
    spent = sum(reading.seconds for reading in readings)
    print(f"\n{len(readings)} files, {size:.1f} MB, read twice in {seconds:.0f} s ({2 * size / spent:.1f} MB/s)")
    for tools in (False, True):
        of = {one.path: one for r in with_findings for one in r.findings if one.tools == tools}
        kinds = Counter(one.what for one in of.values())
        others = sum(not one.about for one in of.values())
        label = "with one tool" if tools else "without tools"
        print(f"{label}: {len(of)} files with findings, {others} of them not about formats: {dict(kinds)}")
