"""What is shown of a response, what `python -m tools.show` prints of it, and that it agrees with `parse`."""

import json
import sys
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from outspoken import Reply, parse
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.show import show_response
from outspoken.viewer import view as view_module
from outspoken.viewer.view import Node, View, show
from tests.cases import Case
from tests.cli.runner import Cli, Ran
from tests.loops import DRAWN, by_format, some
from tests.tables import tables
from tools.shared import browser
from tools.shared.command import grammar

TABLES = tables(__file__)

GRAMMAR = TABLES["GRAMMAR"]
CALL = 'Hi.\n[[call f {"a": "x"}]]\nDone.'


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with one format, and a corpus of two cases."""
    folder = tmp_path / "tests" / "corpus" / "double_square" / "ok"
    folder.mkdir(parents=True)
    (tmp_path / "grammars").mkdir()
    (tmp_path / "grammars" / "double_square.lark").write_text(GRAMMAR, "utf-8")
    (folder / "one_call.txt").write_text(CALL, "utf-8")
    (folder / "from_prefix.txt").write_text('f {"a": 1}]]', "utf-8")
    (folder / "from_prefix.toml").write_text('prefix = "[[call "\n\n[[tools]]\nname = "g"\n', "utf-8")
    return Checkout(tmp_path)


@pytest.fixture
def tool(checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs the tool in that checkout, with some standard input."""
    return Cli(capsys, monkeypatch, partial(grammar, "show", checkout))


# what is printed


@pytest.mark.parametrize("case", TABLES["PRINTED"].values(), ids=TABLES["PRINTED"])
def test_what_is_printed(tool: Cli, case: dict[str, Any]) -> None:
    ran = tool("squares", *case["arguments"], stdin=case["stdin"])
    assert (ran.code, ran.err) == (0, "")
    behind = ran.out.partition(case["title"])[2] if case["title"] else ran.out
    assert behind.startswith(case["out"]) if case.get("goes_on") else behind == case["out"]


def test_a_marker_without_what_its_pattern_asks_for_is_no_expected_one(tool: Cli, checkout: Checkout) -> None:
    """What is expected may stand there and yet not match: then its condition is shown, not only its spelling."""
    path = checkout.grammar("double_square")
    looking = GRAMMAR.replace(r'"\n[[call " | "[[call "', r'"\n[[call " | /\[\[call (?=[a-z]+ )/')
    path.write_text(looking.replace('"]]"', r'"]]" | /\]\](?=\n)/'), "utf-8")
    opener, closer = [
        tool("squares", "-", stdin=text).out for text in ("Hi.\n[[call 7 {}]]\n", 'Hi.\n[[call f {"a": 1}]] x')
    ]
    assert "note[opens-nothing]: an opening marker stands here, and opens nothing\n  --> double_square:2:1" in opener
    assert '`_CALL_OPEN` "[[call " stands here, without what its pattern asks for: /' in opener
    assert '`_CALL_CLOSE` "]]" stands here, without what its pattern asks for' in closer
    assert "read before it: `_CALL_OPEN` [[call, `TOOL_NAME` f, `JSON_OBJECT` " in closer


def test_all_of_it_is_written_as_json(tool: Cli) -> None:
    found = json.loads(tool("squares", "ok/one_call", "--stream", "7", "--json").out)
    assert [token["name"] for token in found["tokens"]][1:3] == ["_CALL_OPEN", "TOOL_NAME"]
    assert found["tree"][1][:2] == ["tool_call", True]
    assert (found["reply"]["status"], found["events"][0]) == ("ok", "TextDelta('Hi.')")


# what is read


def test_options_of_a_case_apply_and_those_of_the_command_line_come_first(
    tool: Cli, checkout: Checkout, tmp_path: Path
) -> None:
    ran = tool("squares", "double_square-ok-from_prefix")
    assert "_CALL_OPEN -7-0" in ran.out
    assert "warning[unknown-tool]: there is no tool `f`" in ran.out
    assert tool("squares", str(checkout.corpus / "double_square" / "ok" / "from_prefix.txt")) == ran
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name": "f"}]', "utf-8")
    assert "unknown-tool" not in tool("squares", "ok/from_prefix", "--tools", str(tools)).out
    assert "tool call" not in tool("squares", "ok/from_prefix", "--prefix", "").out
    assert tool("squares", "-", "--prefix", r"\n[[call ", stdin='g {"a": 1}]]').out.count("tool call") == 1


def test_an_edited_grammar_is_used_at_once(tool: Cli, checkout: Checkout) -> None:
    path = checkout.grammar("double_square")
    path.write_text(path.read_text("utf-8").replace("[a-z]+", "[A-Z]+"), "utf-8")
    assert "expected in tool_call: `TOOL_NAME`" in tool("squares", "ok/one_call").out


def test_a_file_anywhere_takes_the_place_of_a_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of it is left afterwards, and the library's formats are there beside it."""
    path = tmp_path / "hermes.lark"
    path.write_text(GRAMMAR.replace("double_square", "hermes"), "utf-8")
    (tmp_path / "call.txt").write_text(CALL, "utf-8")
    for name, says in (("hermes", "tool_call 4-25"), ("auto", "hermes (detected)"), ("mistral", "TEXT 0-31")):
        assert show_response(Checkout.of(path), name, str(tmp_path / "call.txt")) == 0
        assert says in capsys.readouterr().out
    assert parse(CALL, format="hermes").tool_calls == []
    assert {path.name for path in tmp_path.iterdir()} == {"hermes.lark", "call.txt"}


def test_difference_between_stream_and_whole_is_reported(tool: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(text: str, format: str, **options: Any) -> Reply:
        return parse(text + "!", format=format, **options)

    monkeypatch.setattr(view_module, "parse", other)
    ran = tool("squares", "-", "--stream", "3", stdin="Hi.")
    assert ran.code == 1
    assert "\nthe stream gives another reply than the whole text\n--- whole\n+++ streamed\n" in ran.out
    assert '-  "raw": "Hi.!",\n+  "raw": "Hi.",\n' in ran.out


def test_auto_lists_the_formats_that_were_tried() -> None:
    view = show("A <tool_call> opens it.", "it", "auto")
    assert [(step.kind, step.start, step.name) for step in view.steps if not step.is_token] == [
        ("tried", 2, "no format reads this: hermes, qwen3_coder")
    ]
    assert view.refusals[0].splitlines()[:2] == [
        "note[unclaimed]: a marker stands here, and no format reads on from it",
        "  --> text:1:3 (offset 2)",
    ]
    assert '   = note: hermes: refused at 14; expected in tool_call: `_BRACE_OPEN` "{"' in view.refusals[0]


@pytest.mark.parametrize(("arrived", "held"), TABLES["WHAT_IS_IN_NO_EVENT_YET_IS_HELD"])
def test_what_is_in_no_event_yet_is_held(arrived: str, held: str) -> None:
    view = show(arrived, "it", "hermes", size=1)
    assert arrived[view.moments[-2].held_from :] == held


@pytest.mark.parametrize(("arguments", "message"), TABLES["WRONG"].values(), ids=TABLES["WRONG"])
def test_wrong_use_prints_one_line(tool: Cli, arguments: list[str], message: str) -> None:
    assert tool(*arguments) == Ran(2, "", f"outspoken: error: {message}\n")


def test_a_case_that_cannot_be_read_is_wrong_use(tool: Cli, checkout: Checkout) -> None:
    (checkout.corpus / "double_square" / "ok" / "from_prefix.toml").write_text("prefix = ", "utf-8")
    ran = tool("squares", "ok/from_prefix")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("outspoken: error: cannot read the case tests/corpus/double_square/ok/from_prefix.txt: ")


def test_a_grammar_that_cannot_be_used_is_wrong_use(tool: Cli, checkout: Checkout) -> None:
    path = checkout.grammar("double_square")
    path.write_text(path.read_text("utf-8").replace("JSON_OBJECT\n", "MISSING\n"), "utf-8")
    ran = tool("squares", "ok/one_call")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


# the browser that the tests of the page need


def test_a_browser_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(browser.BROWSER, sys.executable)
    monkeypatch.setenv(browser.DRIVER, sys.executable)
    assert browser.find() == (sys.executable, sys.executable)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        (browser.BROWSER, "/no/browser", "there is no browser: OUTSPOKEN_BROWSER=/no/browser is none"),
        (browser.DRIVER, "/no/driver", "there is no driver: OUTSPOKEN_CHROMEDRIVER=/no/driver is none"),
        ("PATH", "/no", "there is no browser: neither OUTSPOKEN_BROWSER nor the PATH names one"),
    ],
)
def test_missing_browser_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, value: str, message: str
) -> None:
    for name in (browser.BROWSER, browser.DRIVER):
        monkeypatch.setenv(name, sys.executable)
    if variable == "PATH":
        monkeypatch.delenv(browser.BROWSER)
    monkeypatch.setenv(variable, value)
    assert browser.main() == 1
    assert capsys.readouterr() == ("", f"{message}\n")


# the corpus


def leaves(nodes: list[Node | int]) -> Iterator[int]:
    """The tokens of a tree, in its order."""
    for node in nodes:
        if isinstance(node, int):
            yield node
        else:
            yield from leaves(node.children)


@by_format(some(DRAWN, "show", 0.1))
def test_show_agrees_with_parse_on_the_corpus(case: Case) -> None:
    for name, size in some(product((case.format, "auto"), (0, 5)), case, 0.5):
        view = show(case.text, str(case), name, size=size, **case.options)
        assert not view.difference, (name, size)
        check_tokens(case, view)
        assert (view.moments[-1].arrived, view.moments[-1].held_from) == (len(case.text), len(case.text))
        assert all(0 <= moment.held_from <= moment.arrived for moment in view.moments), (name, size)


def check_tokens(case: Case, view: View) -> None:
    """Tokens are in order; between them stands only white space, or what is left of an action that cannot be read.

    The tree holds them in this order.
    """
    at = view.begins
    unread = [action.span for action in view.reply.unfinished_actions]
    for token in view.tokens:
        assert at <= token.start <= token.end, case
        within = any(start <= at and token.start <= end for start, end in unread)
        assert within or not view.text.slice(at, token.start).strip(), case
        at = token.end
    assert not view.text.slice(at, len(case.text)).strip(), case
    numbers = list(leaves(view.tree))
    assert numbers == sorted(set(numbers)), case
    assert all(n in numbers for n, token in enumerate(view.tokens) if token.end > token.start or token.mark), case
