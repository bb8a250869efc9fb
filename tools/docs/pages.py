"""The table of formats, and the page of a format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from outspoken import formats, parse
from outspoken.authoring.diagram.syntax import Syntax, read_syntax
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.wording import joined
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.viewer.lines import summary

from .markdown import code, codes, fence, plain, table

#: What a format says in its header, as a sentence.
_VALUES = {
    "json": "The tool's schema defines the type of a bare value. Without one, it is JSON if valid, else text.",
    "text": "The tool's schema defines the type of a bare value. Without one, it is text.",
}

#: The page that explains the others.
INDEX = Path(__file__).with_name("index.md").read_text("utf-8")


def format_table() -> str:
    """The formats in use, one a row, each with a link to its grammar."""
    rows = [
        (
            f"[{code(info.name)}]({info.name}.lark)",
            plain(info.title),
            plain(", ".join(info.models)),
            codes(info.aliases),
            codes(info.ids),
        )
        for info in formats()
    ]
    return table(("format", "notation", "models", "aliases", "ids of models"), rows)


def page(name: str, checkout: Checkout) -> str:
    """The page of a format whose checkout is in use. Raises GrammarError if its grammar cannot be used."""
    header = registry.header(name)
    sections = [
        ("", _about(name, header)),
        ("Example", _example(name, header)),
        ("Syntax", [f"![The syntax of {name} as a railroad diagram](diagram.svg)"]),
        ("Text and values", _values(name, header, read_syntax(checkout.grammar(name)))),
        ("Actions", _actions(header)),
    ]
    made = [f"# {plain(header.title or name)}"]
    for title, parts in sections:
        found = list(parts)
        made += [f"## {title}"] * bool(title and found) + found
    return "\n\n".join(made) + "\n"


def _about(name: str, header: Header) -> Iterator[str]:
    facts = {
        "format": code(name),
        "aliases": codes(header.aliases) or "none",
        "models": plain(", ".join(header.models)),
        "ids of models": codes(header.ids),
        "source": plain(" ".join(header.source.split())),
        "grammar": f"[`{name}.lark`](../../{name}.lark)",
    }
    yield "\n".join([f"- {key}: {value}" for key, value in facts.items() if value])


def _example(name: str, header: Header) -> Iterator[str]:
    if header.example:
        yield fence(header.example)
        yield f'`parse(response, format="{name}")` reads:'
        yield fence("\n".join([line for _, line in summary(parse(header.example, format=name))]))


def _values(name: str, header: Header, syntax: Syntax) -> Iterator[str]:
    bare = any(marker.name == "ARG_VALUE" for marker in syntax.terminals.values())
    round_ = {"text": "text", "reasoning": "reasoning", **({"value": "bare values"} if bare else {})}
    trimmed = [shown for what, shown in round_.items() if what in header.trim]
    kept = [shown for what, shown in round_.items() if what not in header.trim]
    lines = [f"White space around {joined(trimmed)} belongs to the markup."] * bool(trimmed)
    lines += [f"White space around {joined(kept)} is kept."] * bool(kept)
    lines += [_VALUES[header.values]] * bare
    if registry.tables(name).ignore:
        lines.append("White space is allowed between markers.")
    if header.opened:
        lines.append(f"Every prompt ends with {code(header.opened)}, so responses omit it.")
    if header.actions:
        lines.append(f"Points use the coordinate space {code(header.space)}.")
    yield "\n".join([f"- {line}" for line in lines])


def _actions(header: Header) -> Iterator[str]:
    if header.actions:
        yield table(("written", "read as"), [(code(name), code(meaning)) for name, meaning in header.actions.items()])
