"""Railroad diagrams: what is read of a grammar, and the SVG that is drawn of it."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copytree
from xml.etree import ElementTree

import pytest

from outspoken.authoring import diagram
from outspoken.authoring.diagram.draw import draw, notation
from outspoken.authoring.diagram.syntax import Syntax, read_syntax
from outspoken.authoring.shared.checkout import Checkout
from outspoken.results.errors import GrammarError
from tests.loops import in_one_item

SVG = "{http://www.w3.org/2000/svg}"

TERMINALS = """
_OPEN: "<a>"
_CLOSE: "</a>\\n" | /<\\/a>/i
_COMMA: ", " | ","
_ODD: /<\\?[a-z]{1,9}>/
TOOL_NAME: /\\w+/
%import .shared.text (TEXT, ARG_VALUE)
%import .shared.json.JSON_OBJECT
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout without a format of its own."""
    copytree(Checkout().grammars / "shared", tmp_path / "grammars" / "shared")
    return Checkout(tmp_path)


def syntax(checkout: Checkout, rules: str, terminals: str = TERMINALS) -> Syntax:
    """The syntax of a grammar with these rules."""
    path = checkout.grammar("made")
    path.write_text(f"// format: made\n// title: A & B\n\n{rules}\n{terminals}", "utf-8")
    with checkout.in_use():
        return read_syntax(path)


def described(found: Syntax) -> list[str]:
    return [f"{found.labels[name]} = {notation(rule, found)}" for name, rule in found.rules.items()]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("start: _OPEN TEXT _CLOSE", ['start = "<a>" TEXT "</a>\\n"']),
        ("start: TEXT | _OPEN _ODD", ['start = TEXT | "<a>" /<\\?[a-z]{1,9}>/']),
        ("start: (TEXT | a)*\na: _OPEN TOOL_NAME", ["start = {TEXT | a}", 'a = "<a>" TOOL_NAME']),
        ("start: TEXT a? a2+\na: _OPEN\na2: _CLOSE", ['start = TEXT [a] {a2}+', 'a = "<a>"', 'a2 = "</a>\\n"']),
        ("start: _OPEN [_ODD] (TEXT | JSON_OBJECT)", ['start = "<a>" [/<\\?[a-z]{1,9}>/] (TEXT | JSON_OBJECT)']),
        ("start: | _OPEN | _CLOSE", ['start = ["<a>" | "</a>\\n"]']),
        # lists
        ("start: TOOL_NAME (_COMMA TOOL_NAME)*", ['start = {TOOL_NAME / ", "}+']),
        ("start: _OPEN TOOL_NAME TEXT (_COMMA TOOL_NAME TEXT)*", ['start = "<a>" {TOOL_NAME TEXT / ", "}+']),
        ("start: _OPEN (_COMMA TOOL_NAME)*", ['start = "<a>" {", " TOOL_NAME}']),
        # rules that begin with themselves
        ("start: _l\n_l: TOOL_NAME | _l _COMMA TOOL_NAME", ["start = _l", '_l = {TOOL_NAME / ", "}+']),
        ("start: _l\n_l: | _l _OPEN", ["start = _l", '_l = {"<a>"}']),
        (
            "start: _l\n_l: _OPEN | _m _CLOSE | _l _COMMA | _l _ODD\n_m: TOOL_NAME",
            ["start = _l", '_l = ("<a>" | _m "</a>\\n") {", " | /<\\?[a-z]{1,9}>/}', "_m = TOOL_NAME"],
        ),
        (
            "start: _l\n_l: _OPEN | (_m | _l) _CLOSE\n_m: TOOL_NAME",
            ["start = _l", '_l = ("<a>" | _m "</a>\\n") {"</a>\\n"}', "_m = TOOL_NAME"],
        ),
        # one that means something nests, so it stays as it is
        ("start: json\njson: _OPEN | json _CLOSE", ["start = json", 'json = "<a>" | json "</a>\\n"']),
        # aliases
        ("start: a\na: _OPEN TEXT -> think", ["start = a", 'a = "<a>" TEXT -> think']),
        ("start: a\na: _OPEN -> think\n | _CLOSE", ["start = a", 'a = "<a>" -> think | "</a>\\n"']),
        # what only damaged responses need comes last
        (
            "start: TEXT a\nbroken_start: TEXT b\nb: a _CLOSE\na: _OPEN",
            ["start = TEXT a", 'a = "<a>"', "broken_start = TEXT b", 'b = a "</a>\\n"'],
        ),
    ],
)  # fmt: skip
def test_rules_and_terminals_of_a_grammar(checkout: Checkout, rules: str, expected: list[str]) -> None:
    assert described(syntax(checkout, rules)) == expected


def test_imported_rules_have_no_prefix_and_appear_once(checkout: Checkout) -> None:
    imports = "%import .shared.text.TEXT\n%import .shared.json.JSON_STRING\n%import .shared.json_call._json_call\n"
    found = syntax(checkout, "start: (TEXT | _json_call | id)*\nid: _ODD JSON_STRING", f'_ODD: "!"\n{imports}')
    lines = described(found)
    assert lines[:3] == [
        "start = {TEXT | _json_call | id}",
        'id = "!" JSON_STRING',
        '_json_call = "{" (_named | _full) "}"',
    ]
    assert '_plain = {_other / ", "}+' in lines
    assert any(line.startswith('_other = ""id": " id (json_call) | ') for line in lines)
    assert "id (json_call) = JSON_STRING" in lines
    assert len(set(found.labels.values())) == len(lines)


def test_repeated_imports_are_drawn_once(checkout: Checkout) -> None:
    rules = "start: (_json_call | arguments _ODD)*\narguments: JSON_VALUE"
    imports = '_ODD: "!"\n%import .shared.json.JSON_VALUE\n%import .shared.json_call._json_call\n'
    labels = list(syntax(checkout, rules, imports).labels.values())
    assert labels.count("arguments") == 1
    assert [label for label in labels if "(" in label] == []


def test_terminals_keep_the_spelling_of_their_grammar(checkout: Checkout) -> None:
    found = syntax(checkout, "start: _OPEN TOOL_NAME _CLOSE TEXT _ODD _COMMA")
    assert [(marker.name, marker.written, marker.read) for marker in found.terminals.values()] == [
        ("_OPEN", "<a>", ('"<a>"',)),
        ("TOOL_NAME", "", ("/\\w+/",)),
        ("_CLOSE", "</a>\n", ("/<\\/a>/i",)),
        ("TEXT", "", ("/[\\s\\S]+/",)),
        ("_ODD", "", ("/<\\?[a-z]{1,9}>/",)),
        ("_COMMA", ", ", ('","',)),
    ]


def test_unsupported_lark_syntax_is_rejected(checkout: Checkout) -> None:
    with pytest.raises(GrammarError, match="a diagram cannot show `expr`, which no format needs"):
        syntax(checkout, "start: _OPEN ~ 2 TEXT")


def drawn(checkout: Checkout, rules: str) -> ElementTree.Element:
    return ElementTree.fromstring(draw("made", "A & <B>", syntax(checkout, rules)))


def texts(svg: ElementTree.Element, kind: str) -> list[str]:
    """The texts of the boxes of a kind."""
    return [
        "".join(text.itertext())
        for group in svg.findall(f"{SVG}g")
        for box in group.iter(f"{SVG}g")
        if kind in (box.get("class") or "").split()
        for text in box.iter(f"{SVG}text")
    ]


def test_boxes_are_styled_by_kind(checkout: Checkout) -> None:
    svg = drawn(checkout, "start: a b\na: _OPEN TOOL_NAME _CLOSE JSON_OBJECT -> tool_call\nb: TEXT _ODD _COMMA")
    assert texts(svg, "rule") == ["a", "b"]
    assert texts(svg, "marker") == ["<a>", "</a>⏎", ",␣"]
    assert texts(svg, "pattern") == ["/<\\?[a-z]{1,9}>/"]
    assert (texts(svg, "free"), texts(svg, "call"), texts(svg, "json")) == (
        ["TOOL_NAME", "JSON_OBJECT", "TEXT"],
        ["TOOL_NAME"],
        ["JSON_OBJECT"],
    )
    heads = ["".join(head.itertext()) for head in svg.iter(f"{SVG}text") if "head" in (head.get("class") or "")]
    assert heads == ["start", "a→ tool_call", "b"]


def test_diagram_is_accessible(checkout: Checkout) -> None:
    svg = drawn(checkout, "start: TEXT _OPEN")
    title, description = svg[0], svg[1]
    assert (title.tag, title.text) == (f"{SVG}title", "A & <B>: the syntax of made")
    assert (description.tag, description.text) == (f"{SVG}desc", 'start = TEXT "<a>"')
    assert svg.get("aria-labelledby", "").split() == [title.get("id"), description.get("id")]


def test_wide_rules_wrap_and_long_patterns_are_shortened(checkout: Checkout) -> None:
    long = "x" * 60
    found = syntax(checkout, f"start: {'_LONG ' * 4}", f'_LONG: "{long}"')
    svg = ElementTree.fromstring(draw("made", "", found))
    assert texts(svg, "marker") == ["x" * 55 + "…"] * 4
    assert float(svg.get("width", "0")) < 1200


@in_one_item("name", Checkout().names())
def test_the_diagram_of_every_format_is_sound(name: str) -> None:
    checkout = Checkout()
    with checkout.in_use():
        made, found = diagram.diagram(name, checkout), read_syntax(checkout.grammar(name))
    svg = ElementTree.fromstring(made)
    ids = [element.get("id") for element in svg.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    links = [element.get("href", "") for element in svg.iter(f"{SVG}a")]
    assert [link for link in links if link[1:] not in ids] == []
    assert "prefers-color-scheme: dark" in made
    rules = found.rules
    assert [label for label in found.labels.values() if "__" in label] == []
    assert len([line for line in (svg[1].text or "").split("\n") if re.match(r"\w+( \(\w+\))? = ", line)]) == len(rules)


def test_the_command(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    syntax(checkout, "start: TEXT _OPEN")
    assert diagram.main(["made"], checkout) == 0
    printed = capsys.readouterr().out
    assert printed.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img"')
    path = tmp_path / "made.svg"
    assert diagram.main(["made", "--output", str(path)], checkout) == 0
    assert (path.read_text("utf-8"), capsys.readouterr().out) == (printed, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["maid"], "error: there is no format `maid`; did you mean `made`? (`outspoken formats` lists all 1 names)\n"),
        (
            ["made", "--output", "/nowhere/made.svg"],
            "error: [Errno 2] No such file or directory: '/nowhere/made.svg'\n",
        ),
    ],
)
def test_errors_are_reported(
    checkout: Checkout, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    syntax(checkout, "start: TEXT _OPEN")
    assert diagram.main(arguments, checkout) == 2
    assert tuple(capsys.readouterr()) == ("", message)


def test_broken_grammar_is_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    checkout.grammar("made").write_text("// format: made\n\nstart: nothing\n", "utf-8")
    assert diagram.main(["made"], checkout) == 2
    assert capsys.readouterr().err.startswith("error: ")
