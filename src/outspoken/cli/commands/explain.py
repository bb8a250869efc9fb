"""`outspoken explain`: shows a response part by part, and the formats that match it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.cli.framework import command
from outspoken.cli.options import FILES_HELP, Reading, Source, input_options, option, output_options, sources
from outspoken.cli.results import exit_code, print_json, print_title
from outspoken.cli.types import Name
from outspoken.grammar import registry
from outspoken.parsing.inspection import detect
from outspoken.parsing.parser import Parser
from outspoken.results.errors import ResponseError
from outspoken.terminal.explain import explanation, tree_view
from outspoken.terminal.outputs import print_lines

if TYPE_CHECKING:
    from lark import Token, Tree

    from outspoken.results.replies import Reply


@command(
    "explain",
    "Show a response part by part, the formats that match it, and why." + FILES_HELP,
    ("outspoken explain response.txt", "name the parts, and the formats that fit"),
    ("outspoken explain --tree -t 'Action: wait()'", "the rules and tokens of the grammar"),
)
@input_options()
@output_options(
    "write the reply with candidates or tree as JSON; a line for each of several files",
    option("--tree", "show the rules and tokens of the format's grammar"),
    option(
        "--tolerant-grammar FORMAT",
        "show the grammar that damaged responses of a format are read with, and no response",
        Name(registry.names),
    ),
)
def run(
    files: tuple[str, ...], text: str | None, tree: bool, tolerant_grammar: str | None, as_json: bool, color: str,
    **given: Any,
) -> int:  # fmt: skip
    """Explain each source, and return the highest exit code."""
    if tolerant_grammar:
        return _show_grammar(tolerant_grammar, as_json)
    reading = Reading.of(given)
    parser, responses = reading.parser(), sources(files, text)
    several = len(responses) > 1
    return max([0, *[_explain(source, parser, reading, tree, as_json, color, several) for source in responses]])


def _show_grammar(name: str, as_json: bool) -> int:
    from outspoken.recovery.earley import grammar_text  # imports Lark

    text = grammar_text(name)
    if as_json:
        print_json({"format": registry.resolve(name), "grammar": text})
    else:
        print(text, end="")
    return 0


def _explain(
    source: Source, parser: Parser, reading: Reading, with_tree: bool, as_json: bool, color: str, is_one_of_many: bool
) -> int:
    text = source.read()
    reply = parser.parse(text, **reading.known)
    tree = _tree(parser, reading, reply) if with_tree else None
    candidates = [] if with_tree else detect(text, tools=parser.tools)
    named = reading.format != "auto"
    if as_json:
        found: dict[str, Any] = {"file": source.name} if is_one_of_many else {}
        found["reply"] = reply.model_dump(mode="json")
        if with_tree:
            found["tree"] = tree and tree_as_json(tree)
        else:
            found["candidates"] = [one.model_dump(mode="json") for one in candidates]
        print_json(found, indent=None if is_one_of_many else 2)
        return exit_code(reply)
    print_title(source.name if is_one_of_many else None)
    shown = tree_view(reply, tree, named=named) if with_tree else explanation(reply, candidates, named=named)
    print_lines(shown, color)
    return exit_code(reply)


def _tree(parser: Parser, reading: Reading, reply: Reply) -> Tree[Token] | None:
    """Return the tree of a response in the format that it was read in; None if the grammar refuses a part of it."""
    from outspoken.parsing.tree_parser import parse_tree  # imports Lark, which the other commands need not wait for

    try:
        return parse_tree(reply.raw, reply.format or registry.PLAIN, prefix=reading.prefix, tools=parser.tools)
    except ResponseError:
        return None


def tree_as_json(tree: Tree[Token]) -> dict[str, Any]:
    """A tree as JSON: rules have `rule`, `span` and `children`, tokens `token`, `span` and `text`."""
    children = [_token(child) if isinstance(child, str) else tree_as_json(child) for child in tree.children]
    span = None if tree.meta.empty else [tree.meta.start_pos, tree.meta.end_pos]
    return {"rule": str(tree.data), "span": span, "children": children}


def _token(token: Token) -> dict[str, Any]:
    return {"token": token.type, "span": [token.start_pos, token.end_pos], "text": str(token)}
