"""The page: its head, its sections, and the policy that keeps it from loading anything."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from .markup import Html, element
from .sections import by_format, calls, kinds_of_damage, legend, over_buckets, quarantine, repairs, tiles, worst
from .source import Source
from .tally import WORST, Tally

_STYLE = Path(__file__).parent / "page.css"


def make_page(source: Source, tally: Tally) -> str:
    """The page as HTML."""
    style = _STYLE.read_text("utf-8")
    title = f"Batch report: {source.folder.absolute().name}"
    parts = [
        over_buckets(tally),
        by_format(source, tally),
        kinds_of_damage(tally),
        repairs(tally),
        calls(source, tally),
        quarantine(source, tally),
        worst(tally, WORST),
    ]
    body = element("body", _header(source, tally, title), element("main", parts))
    return f'<!doctype html>\n<html lang="en">{_head(title, style)}{body}</html>\n'


def _head(title: str, style: str) -> Html:
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html(style)),
    )


def _header(source: Source, tally: Tally, title: str) -> Html:
    options, manifest = source.options, source.manifest
    facts = [
        f"{len(source.inputs):,} {'file' if len(source.inputs) == 1 else 'files'}",
        f"format {options['format'] or 'auto'}" if not options["format_column"] else "format by row",
        f"{len(options['tools']):,} tools" if options["tools"] else "no tools",
        f"repairs up to {options['repair']}",
        f"outspoken {manifest['outspoken']}",
    ]
    return element(
        "header",
        element("h1", title),
        element("ul", [element("li", one) for one in facts], class_="facts"),
        _warning(source),
        tiles(tally),
        legend(),
    )


def _warning(source: Source) -> Html | None:
    """What says that the page does not show the whole batch."""
    if not source.summary.complete:
        words = f"The batch is not complete: about {source.share:.0%} of the input is done."
        return element("p", element("strong", words), " Run it again to go on.", class_="notice")
    return None
