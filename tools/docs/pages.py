"""The page of a format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from outspoken import formats, parse
from outspoken.authoring.diagram.syntax import Marker, Syntax, read_syntax
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import KINDS, cases
from outspoken.authoring.shared.text import joined
from outspoken.constraints.summary import parts_of
from outspoken.detection.opener_index import opener_index
from outspoken.detection.openers import Marker as OpeningMarker
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.grammar.registry import PLAIN
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS
from outspoken.parsing import FormatInfo
from outspoken.patterns.spellings import spellings
from outspoken.terminal.explain import summary

from .markdown import code, codes, fence, plain, table

WRITTEN = "<!-- Written by `python -m tools.docs`. -->"

#: If more than this many other formats have the same opening marker, none is named.
_NAMED = 12

#: What a format says in its header, as a sentence.
_VALUES = {
    "json": "The tool's schema defines the type of a bare value. Without one, it is JSON if valid, else text.",
    "text": "The tool's schema defines the type of a bare value. Without one, it is text.",
}

_INDEX = """\
# Formats

One page per format: an example, its markers, and its syntax as a diagram. The [table of formats](../README.md#formats)
leads to them.

In the diagrams, a box with round corners is text of the response. A solid line is a marker as it is written (`⏎` is a
line break, `␣` a space). A dashed line is a regular expression for a marker that is only read. A thick line is free
text, a name or an embedded value. A box with square corners is another rule. Its colour shows the result: reasoning, a
call, an action, a payload or a JSON value.
"""


def format_table(folder: str) -> str:
    """The formats in use, one a row, each with a link to its page; `folder` leads from the table to the pages."""
    head = ("format", "notation", "models", "aliases")
    return table(head, [_row(info, folder) for info in formats()])


def _row(info: FormatInfo, folder: str) -> Iterator[str]:
    yield f"[{code(info.name)}]({folder}{info.name}/README.md)"
    yield plain(info.title)
    yield plain(", ".join(info.models))
    yield codes(info.aliases)


def index() -> str:
    """The page that explains the others."""
    return f"{WRITTEN}\n\n{_INDEX}"


def page(name: str, checkout: Checkout) -> str:
    """The page of a format whose checkout is in use. Raises GrammarError if its grammar cannot be used."""
    header = registry.header(name)
    syntax = read_syntax(checkout.grammar(name))
    sections = [
        ("", _about(name, header)),
        ("Example", _example(name, header)),
        ("Syntax", [f"![The syntax of {name} as a railroad diagram](diagram.svg)"]),
        ("Markers", _markers(syntax, checkout)),
        ("Opening markers", _openers(name, syntax)),
        ("Text and values", _values(name, header, syntax)),
        ("Actions", _actions(header)),
        ("Corpus", _corpus(name, checkout)),
    ]
    made = [f"{WRITTEN}\n\n# {plain(header.title or name)}"]
    for title, parts in sections:
        found = list(parts)
        made += [f"## {title}"] * bool(title and found) + found
    return "\n\n".join(made) + "\n"


def _about(name: str, header: Header) -> Iterator[str]:
    facts = {
        "format": code(name),
        "aliases": codes(header.aliases, "none"),
        "models": plain(", ".join(header.models)),
        "source": plain(" ".join(header.source.split())),
        "grammar": f"[`{name}.lark`](../../{name}.lark)",
        "constraint": _constraint(name),
    }
    yield "\n".join([f"- {key}: {value}" for key, value in facts.items() if value])


def _constraint(name: str) -> str:
    """What a constraint of the format has, and why it has nothing to call."""
    parts = parts_of(name)
    has_calls = bool({"calls", "actions"} & {*parts})
    found = ", ".join(parts) or "none, since `render` can write nothing in the format"
    return found if has_calls or not parts else f"{found}; the format has no calls and no actions"


def _example(name: str, header: Header) -> Iterator[str]:
    if not header.example:
        return
    read = "\n".join([line for _, line in summary(parse(header.example, format=name))])
    yield fence(header.example)
    yield f'`parse(response, format="{name}")` reads:'
    yield fence(read)


def _markers(syntax: Syntax, checkout: Checkout) -> Iterator[str]:
    """The markers that plain text does not have, too; all of them where that is the format."""
    common = set(read_syntax(checkout.grammar(PLAIN)).terminals.values())
    every = [marker for marker in syntax.terminals.values() if marker.name not in FREE_TEXT | EMBEDDED_VALUES]
    own = [marker for marker in every if marker not in common] or every
    yield table(("marker", "written", "read"), [_marker(marker) for marker in own])
    if len(own) < len(every):
        yield f"All other reasoning tags and code samples are those of [plain text](../{PLAIN}/README.md)."


def _marker(marker: Marker) -> tuple[str, str, str]:
    written = _written(marker.written) if marker.written else "the name" if marker.name in TOKENS else "never"
    return code(marker.name), written, codes(marker.read)


def _written(text: str) -> str:
    """A string as grammars spell it."""
    return code(json.dumps(text, ensure_ascii=False))


def _openers(name: str, syntax: Syntax) -> Iterator[str]:
    """Where the format is detected, and which others have the same markers."""
    found = opener_index(False, registry.edition())
    spelled = {registry.tables(name).terminals[full].regex: marker for full, marker in syntax.terminals.items()}
    rows: list[tuple[str, str]] = []
    owners = [(terminal, found.owners(number)) for number, terminal in enumerate(found.terminals, 1)]
    for terminal, names in owners:
        if name in names:
            written = terminal.canonical.strip()
            shown = _written(written) if written else codes(spelled[terminal.regex].read)
            own = _spelled(terminal)
            alike = [others for other, others in owners if not own.isdisjoint(_spelled(other))]
            rows.append((shown, links(names.union(*alike) - {name, PLAIN})))
    if rows:
        yield "Each of these markers starts a segment. If formats share a marker, the text after it decides."
        yield table(("marker", "also starts"), rows)


def _spelled(terminal: OpeningMarker) -> set[str]:
    """The texts that a marker is known to stand for, without white space round them, and its pattern."""
    texts = (terminal.canonical, *spellings(terminal.regex))
    return {terminal.regex, *[text.strip() for text in texts if text.strip()]}


def links(names: Iterable[str]) -> str:
    """Links to the pages of formats; nothing of many, so that a new one changes no other page."""
    known = sorted(names)
    if len(known) > _NAMED:
        return "many formats"
    return ", ".join([f"[{code(name)}](../{name}/README.md)" for name in known]) or "no other"


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
    if syntax.damaged:
        lines.append("The last part of the diagram is read only in damaged responses.")
    yield "\n".join([f"- {line}" for line in lines])


def _actions(header: Header) -> Iterator[str]:
    if header.actions:
        yield table(("written", "read as"), [(code(name), code(meaning)) for name, meaning in header.actions.items()])


def _corpus(name: str, checkout: Checkout) -> Iterator[str]:
    found = cases(checkout, name)
    if not found:
        return
    to_top = "../../.."
    yield (
        f"[`tests/corpus/{name}`]({to_top}/tests/corpus/{name}) holds these responses, and\n"
        f"[`{name}.ambr`]({to_top}/snapshots/test_formats/{name}.ambr) their results."
    )
    titles = dict(zip(KINDS, ("sound", "damaged"), strict=True))
    listed = {kind: [case.name for case in found if case.kind == kind] for kind in KINDS}
    yield "\n".join([f"- {len(listed[kind])} {titles[kind]}: {codes(listed[kind], 'none')}" for kind in KINDS])
