"""What all integrations share: calls with ids, damage as JSON, the retry message, the error of a missing package."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import outspoken.integrations
from outspoken import ReasoningDelta, parse
from outspoken.integrations import MissingPackageError
from outspoken.integrations.assembler import Assembler, CallEnd, joined
from outspoken.integrations.messages import framework, metadata, parts_of
from outspoken.integrations.server_parsers import CallReader
from outspoken.results.call_ids import CallIds
from outspoken.results.packages import install_command
from outspoken.results.replies import has_failed_call, retry_of
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, REPAIRABLE, TOOLS, pieces, written
from tests.tables import tables
from tools.integrations.frameworks import FRAMEWORKS, GROUPS

ROOM = Path(outspoken.integrations.__file__).parent
TOP = ROOM.parents[2]


def calls_of(text: str, format: str = "hermes") -> list[CallEnd]:
    assembler = Assembler(format, tools=TOOLS)
    assembler.whole(text)
    return assembler.calls


@pytest.mark.parametrize("format", FORMATS)
def test_calls_have_ids_of_their_own(format: str) -> None:
    calls = calls_of(written(format, *BOTH, text="Look:"), format)
    assert [(call.name, json.loads(call.arguments), call.refusal) for call in calls] == [(*call, "") for call in BOTH]
    assert len({call.id for call in calls}) == 2
    assert all(call.id for call in calls)


@pytest.mark.parametrize(("tools", "choice"), [((), None), (TOOLS, "none"), (TOOLS, False), (TOOLS, {"mode": "none"})])
def test_markup_of_calls_is_text_if_the_request_lets_the_model_call_nothing(tools: Any, choice: Any) -> None:
    assembler, text = Assembler("hermes", None, tools, choice), written("hermes", BOTH[0])
    assembler.whole(text)
    assert (assembler.text, assembler.calls) == (text, [])


@pytest.mark.parametrize("joins", [False, True])
def test_a_blank_line_stands_between_blocks_of_reasoning_while_they_stream(joins: bool) -> None:
    assembler = Assembler("hermes", tools=TOOLS)
    assembler.joins_reasoning = joins
    parts = [part for piece in pieces("<think>one</think>A\n<think>two</think>B", 3) for part in assembler.feed(piece)]
    assert joined(parts, ReasoningDelta) == ("one\n\ntwo" if joins else "onetwo")
    assert assembler.reasoning == "one\n\ntwo"
    assembler.close()
    assert (assembler.reasoning, assembler.text) == ("one\n\ntwo", assembler.reply.text)


def test_ids_that_the_model_wrote_are_kept_unless_they_repeat() -> None:
    ids = CallIds("r1")
    found = [ids.next("a"), ids.next("a"), ids.next(None), ids.next("b")]
    assert (found[0], found[3]) == ("a", "b")
    assert len(set(found)) == 4
    again = CallIds("r1")
    assert [again.next("a"), again.next("a")] == found[:2]
    assert CallIds().next() != CallIds().next()
    assert CallIds(taken=["a"]).next("a") != "a"


def test_damage_is_told_as_json() -> None:
    assert metadata(parse(written("hermes", *BOTH), format="hermes", tools=TOOLS)) == {}
    found = metadata(parse(REPAIRABLE, format="hermes", tools=TOOLS))
    assert json.loads(json.dumps(found)) == found
    assert found["status"] == "repaired"
    assert [repair["code"] for repair in found["repairs"]] == ["trailing-comma", "missing-closer"]
    assert "unfinished_calls" not in found
    cut = metadata(parse(CUT, format="hermes", tools=TOOLS, finish_reason="length"))
    call = CUT.removeprefix("Wait.\n")
    assert cut["unfinished_calls"] == [
        {"name": "tide", "arguments": '{"place": "Bre', "status": "truncated", "written": call}
    ]
    assert [problem["code"] for problem in cut["problems"]] == ["unclosed-call"]


def test_a_call_that_must_not_run_says_why() -> None:
    (invalid,) = calls_of(INVALID)
    assert parts_of(invalid.refusal) == (
        "the call of `tide` is invalid and was not run: the value of `place` seems to hold a part of another one",
        INVALID,
    )
    (cut,) = calls_of(CUT)
    problem = "the call of `tide` is truncated and was not run: the call of `tide` never ends"
    assert parts_of(cut.refusal) == (problem, CUT.removeprefix("Wait.\n"))
    for call in (invalid, cut):
        with pytest.raises(ValueError, match="Expecting value"):
            json.loads(call.arguments)
    (repaired,) = calls_of(REPAIRABLE)
    assert repaired.refusal == ""


@pytest.mark.parametrize("action", ["click(start_box='(100,200)')", "type(content='High ti"])
def test_servers_keep_actions_in_the_content(action: str) -> None:
    text = f"Thought: I see.\nAction: {action}"
    streamed = CallReader("ui_tars")
    pieces_of = [*[streamed.feed(piece) for piece in pieces(text)], streamed.close()]
    assert CallReader("ui_tars").read(text).content == f"<think>\nI see.\n</think>\n\n{action}"
    assert "".join([piece.content for piece in pieces_of]) == f"<think>\nI see.\n</think>\n\n{action}"


@pytest.mark.parametrize(
    ("format", "text", "content", "calls"),
    [
        ("granite_pythonic", "\n\nfind(title='Moss')", "", ["find"]),
        ("suggestions", 'SUGGESTED_VALUES: ["a"]', 'SUGGESTED_VALUES: ["a"]', []),
        ("hermes", 'Now.\n<tool_call>\n{"name": "find", "arguments": {}}\n</tool_call>', "Now.", ["find"]),
    ],
)
def test_servers_read_what_stands_behind_reasoning_as_text_of_its_own(
    format: str, text: str, content: str, calls: list[str]
) -> None:
    whole = CallReader(format, behind_reasoning=True).read(text)
    reader = CallReader(format, behind_reasoning=True)
    parts = [*[reader.feed(char) for char in text], reader.close()]
    assert (whole.content, [call.name for _, call in whole.calls]) == (content, calls)
    assert "".join([part.content for part in parts]) == content
    assert [call.name for part in parts for _, call in part.calls] == calls


def test_the_retry_message_names_each_problem_and_asks_again() -> None:
    reply = parse(CUT, format="hermes", tools=TOOLS)
    assert has_failed_call(reply)
    assert retry_of(reply) == (
        "Your last response could not be used, and no tool was run:\n"
        "- line 2, column 1: the call of `tide` never ends\n"
        "Write the whole response again, without these mistakes. It broke off before its end: make it shorter."
    )


@pytest.mark.parametrize(("package", "module", "message"), tables(__file__)["UNUSABLE"])
def test_a_framework_that_cannot_be_used_says_what_to_install(package: list[str], module: str, message: str) -> None:
    with pytest.raises(MissingPackageError) as raised:
        framework(*package).load(module)
    assert str(raised.value) == message.format(install=install_command("tides"), version=pytest.__version__)
    assert raised.value.name is not None


def test_a_framework_of_the_right_version_is_imported() -> None:
    assert framework("tides", "pytest", "1.0").load("pytest") is pytest


def named_frameworks(*, at_import: bool = False) -> set[str]:
    """The frameworks that modules name; with `at_import`, of those that load theirs when they are imported."""
    texts = [path.read_text("utf-8") for path in ROOM.glob("*.py")]
    texts = [text for text in texts if not at_import or re.search(r"^\w.* = _[A-Z_]+\.load\(", text, re.MULTILINE)]
    return {name for text in texts for name in re.findall(r'= framework\("(\w+)"', text)}


def test_every_integration_has_tests_an_extra_and_an_example() -> None:
    page = (ROOM / "README.md").read_text("utf-8")
    project = (TOP / "pyproject.toml").read_text("utf-8")
    modules = [name for name in FRAMEWORKS if (ROOM / f"{name}.py").exists()]
    assert len(modules) >= 4
    assert named_frameworks() <= set(modules)
    for name in modules:
        assert (TOP / "tests" / "integrations" / f"test_{name}.py").is_file(), name
        assert f"\n{name.replace('_', '-')} = [" in project, name
        assert f"\n## {name}\n" in page, name
        assert f"| `{name}`" in page, name
    assert {group for tested in FRAMEWORKS.values() for group in tested.groups.split()} <= set(GROUPS)


def test_the_lowest_versions_are_those_of_the_extras() -> None:
    project = (TOP / "pyproject.toml").read_text("utf-8")
    lowest = re.findall(
        r'= framework\("(\w+)", "([\w-]+)", "([\d.]+)"', "\n".join(map(Path.read_text, ROOM.glob("*.py")))
    )
    assert len(lowest) >= 4
    for name, distribution, version in lowest:
        extra = re.search(
            rf'^{name.replace("_", "-")} = \["{distribution}(?:\[\w+\])?>=([\d.]+)', project, re.MULTILINE
        )
        assert extra is not None, name
        assert extra[1].removesuffix(".0") == version.removesuffix(".0"), name


def test_an_integration_without_its_framework_says_so() -> None:
    names = named_frameworks(at_import=True)
    assert len(names) >= 4
    for name in names:
        try:
            import_module(FRAMEWORKS[name].modules)
        except ImportError:
            with pytest.raises(MissingPackageError, match=re.escape(install_command(name))):
                import_module(f"outspoken.integrations.{name}")
