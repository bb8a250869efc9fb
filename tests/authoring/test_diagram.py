"""Railroad diagrams: what is read of a grammar, and the SVG that is drawn of it."""

import re
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from outspoken.authoring import diagram
from outspoken.authoring.diagram.draw import draw
from outspoken.authoring.diagram.syntax import Syntax, read_syntax
from outspoken.authoring.shared.checkout import Checkout
from outspoken.results.errors import GrammarError
from tests.authoring.checkouts import checkout_in
from tests.cli.runner import Cli, Ran
from tests.loops import in_one_item, some
from tests.tables import tables
from tools.shared.command import grammar

TABLES = tables(__file__)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout without a format of its own."""
    return checkout_in(tmp_path)


def syntax(checkout: Checkout, rules: str, terminals: str = TABLES["TERMINALS"]) -> Syntax:
    """The syntax of a grammar with these rules."""
    path = checkout.grammar("made")
    path.write_text(f"// format: made\n// title: A & B\n\n{rules}\n{terminals}", "utf-8")
    with checkout.in_use():
        return read_syntax(path)


def described(found: Syntax) -> list[str]:
    return [f"{name} = {found.text(name)}" for name in found.rules]


@pytest.mark.parametrize(
    ("rules", "expected"),
    TABLES["RULES_AND_TERMINALS_OF_A_GRAMMAR"],
)  # fmt: skip
def test_rules_and_terminals_of_a_grammar(checkout: Checkout, rules: str, expected: list[str]) -> None:
    assert described(syntax(checkout, rules)) == expected


def test_imported_rules_have_no_prefix_and_appear_once(checkout: Checkout) -> None:
    imports = "%import .shared.text.TEXT\n%import .shared.json.JSON_STRING\n%import .shared.json_call._json_call\n"
    found = syntax(checkout, "start: (TEXT | _json_call | id)*\nid: _ODD JSON_STRING", f'_ODD: "!"\n{imports}')
    lines = described(found)
    assert lines[:3] == TABLES["IMPORTED_RULES_HAVE_NO_PREFIX_AND_APPEAR"]
    assert '_plain = _other | _plain ", " _other' in lines
    assert any(line.startswith('_other = ""id": " id (json_call) | ') for line in lines)
    assert "id (json_call) = JSON_STRING" in lines
    assert set(found.labels.values()) == {*found.rules}


def test_repeated_imports_are_drawn_once(checkout: Checkout) -> None:
    rules = "start: (_json_call | arguments _ODD)*\narguments: JSON_VALUE"
    imports = '_ODD: "!"\n%import .shared.json.JSON_VALUE\n%import .shared.json_call._json_call\n'
    labels = list(syntax(checkout, rules, imports).rules)
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
    assert heads == ["start", "a", "b"]


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


@in_one_item("name", some(Checkout().names(), "diagram", 0.15))
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
    assert [label for label in rules if "__" in label] == []
    assert len([line for line in (svg[1].text or "").split("\n") if re.match(r"\w+( \(\w+\))? = ", line)]) == len(rules)


@pytest.fixture
def tool(checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    syntax(checkout, "start: TEXT _OPEN")
    return Cli(capsys, monkeypatch, partial(grammar, "diagram", checkout))


def test_the_command(tool: Cli, tmp_path: Path) -> None:
    printed = tool.out("made")
    assert printed.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img"')
    path = tmp_path / "made.svg"
    assert tool.out("made", "--output", str(path)) == ""
    assert path.read_text("utf-8") == printed


@pytest.mark.parametrize(("arguments", "message"), TABLES["ERRORS_ARE_REPORTED"])
def test_errors_are_reported(tool: Cli, arguments: list[str], message: str) -> None:
    assert tool(*arguments) == Ran(2, "", f"outspoken: error: {message}\n")


def test_broken_grammar_is_reported(tool: Cli, checkout: Checkout) -> None:
    checkout.grammar("made").write_text("// format: made\n\nstart: nothing\n", "utf-8")
    message = f"{checkout.grammar('made')}: Rule 'nothing' used but not defined (in rule start)"
    assert tool("made") == Ran(2, "", f"outspoken: error: {message}\n")
