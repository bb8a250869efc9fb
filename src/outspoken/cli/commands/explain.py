"""`outspoken explain`: shows a response part by part, and the formats that match it."""

from __future__ import annotations

from typing import Any

from outspoken.cli import options
from outspoken.grammar import registry
from outspoken.parsing.inspection import detect
from outspoken.terminal.outputs import exit_code, print_json, print_lines, print_title
from outspoken.viewer.lines import explanation, tree_as_json, tree_view


@options.command(
    "explain",
    "Show a response part by part, the formats that match it, and why." + options.FILES_HELP,
    ("outspoken explain response.txt", "name the parts, and the formats that fit"),
    ("outspoken explain --tree -t 'Action: wait()'", "the rules and tokens of the grammar"),
)
@options.input_options()
@options.output_options(
    "write the reply with candidates or tree as JSON; a line for each of several files",
    options.option("--tree", "show the rules and tokens of the format's grammar"),
    options.option(
        "--tolerant-grammar FORMAT",
        "show the grammar that damaged responses of a format are read with, and no response",
        shell_complete=options.format_names,
    ),
)
def run(
    files: tuple[str, ...], text: str | None, tree: bool, tolerant_grammar: str | None, as_json: bool, color: str,
    **given: Any,
) -> int:  # fmt: skip
    """Explain each source, and return the highest exit code."""
    if tolerant_grammar:
        from outspoken.recovery.earley import grammar_text  # imports Lark

        grammar = grammar_text(tolerant_grammar)
        shown = {"format": registry.resolve(tolerant_grammar), "grammar": grammar}
        print_json(shown) if as_json else print(grammar, end="")
        return 0
    from outspoken.viewer.view import show  # without a response, nobody need wait for it

    reading, codes = options.ReadingOptions.of(given), [0]
    parser, named = reading.parser(), reading.format or "auto"
    for source in options.sources(files, text):
        raw = source.read()
        reply = parser.parse(raw, **reading.known)
        view = show(raw, "", named, **reading.known, **reading.options) if tree else None
        candidates = [] if view else detect(raw, tools=parser.tools)
        if as_json:
            more = {"candidates": candidates} if view is None else {"tree": tree_as_json(view)}
            print_json({"reply": reply, **more}, source.title)
        else:
            print_title(source.title)
            print_lines(tree_view(view) if view else explanation(reply, candidates, named=named != "auto"), color)
        codes.append(exit_code(reply))
    return max(codes)
