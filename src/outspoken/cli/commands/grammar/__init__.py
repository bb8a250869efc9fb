"""`outspoken grammar`: what authors of grammars use, for a grammar file anywhere. Each command is a module."""

from __future__ import annotations

from outspoken.cli.framework import Entry, LazyGroup

COMMANDS = {
    "new": Entry("write a first grammar and its cases"),
    "check": Entry("report what is wrong with grammars or missing from them"),
    "show": Entry("show how a response is read"),
    "fuzz": Entry("generate responses, damage them and check that nothing is lost or invented"),
    "diagram": Entry("draw the syntax as a railroad diagram in SVG"),
}

run = LazyGroup(
    "grammar",
    "outspoken.cli.commands.grammar",
    COMMANDS,
    help="Work on a grammar file, wherever it lies. The cases of NAME.lark are in NAME/ok/*.txt and NAME/err/*.txt.",
    examples=(
        ("outspoken grammar new my_tags.lark --from a.txt b.txt", "write a grammar for two responses"),
        ("outspoken grammar check my_tags.lark", "report what is wrong with it"),
    ),
)
