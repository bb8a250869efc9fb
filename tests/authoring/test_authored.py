"""Formats that are written with the guide alone and resemble none of the catalogue are safe at once."""

import json
import re
from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest

from outspoken import load_format, parse, render
from outspoken.authoring.check import check, findings
from outspoken.authoring.fuzz import Fuzz
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.authoring.fuzz.damage import CHARACTERS, TAGS, cases
from outspoken.authoring.fuzz.sound import TOOLS
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.show import show_response
from outspoken.grammar import registry
from tests.authoring.checkouts import GRAMMAR, LARK, arrows_in, checkout_in, compile_arrows, write
from tests.loops import SEED, some
from tests.tables import tables
from tools import docs
from tools.damage.judging import damaged_texts, read
from tools.damage.responses import bases

TABLES = tables(__file__)

AUTHORED = sorted((Path(__file__).parent / "authored").glob("*.lark"))
#: Formats of lines, of indentation and of attributes, none of whose markers is long.
ONE_SIGN = sorted((Path(__file__).parent / "one_sign").glob("*.lark"))
SHORT = sorted((Path(__file__).parent / "short_markers").glob("*.lark")) + ONE_SIGN
ACTIONS = sorted((Path(__file__).parent / "actions").glob("*.lark"))
#: A grammar has at most so many lines.
LONGEST = 40

EVERY = AUTHORED + SHORT + ACTIONS
every_file = pytest.mark.parametrize("file", EVERY, ids=lambda file: file.stem)


def test_the_grammars_are_short() -> None:
    assert [len(file.read_text("utf-8").splitlines()) <= LONGEST for file in EVERY] == [True] * 20


@every_file
def test_a_new_format_is_sound(file: Path) -> None:
    made = Checkout.of(file)
    with made.in_use():
        found = findings(made, file.stem)
    assert [diagnostic.frame() for diagnostic in found if diagnostic.severity != "note"] == []


@pytest.mark.parametrize("file", AUTHORED + SHORT, ids=lambda file: file.stem)
def test_a_mistake_in_the_markup_is_safe_at_once(file: Path) -> None:
    """One character, with tools: nothing runs wrong or is lost, much is read as meant, and pieces give the same reply.

    Where markers are short, the shape of a line is the evidence: hardly anything is lost. Signs are hardly repaired.
    """
    readings = [read(case, pieces=at % 5 == 0) for at, case in enumerate(cases(load_format(file), 0, 60, CHARACTERS))]
    counts = Counter(reading.outcome for reading in readings)
    assert [reading.case.text for reading in readings if reading.differs] == []
    assert [reading.case.text for reading in readings if reading.outcome.startswith("wrong")] == []
    assert counts["lost"] <= (0.03 if file in SHORT else 0) * len(readings)
    assert counts["meant"] >= (0.25 if file in ONE_SIGN else 0.45 if file in SHORT else 0.6) * len(readings)


@pytest.mark.parametrize("file", SHORT, ids=lambda file: file.stem)
def test_no_unit_of_damage_runs_or_loses_a_call_in_silence(file: Path) -> None:
    """Tags, lines, attributes, calls, values and ends, with tools."""
    made = [case for case in some(cases(load_format(file), 1, 200), file.stem, 0.25) if case.base.tools]
    outcomes = {case.text: read(case, pieces=False).outcome for case in made}
    assert [text for text, found in outcomes.items() if found in ("wrong, ok", "lost")] == []
    assert len(made) > 40


@pytest.mark.parametrize("file", ACTIONS, ids=lambda file: file.stem)
def test_no_mistake_runs_or_loses_an_action_in_silence(file: Path) -> None:
    """Characters and tags. A sign that is doubled before a value stays in it, and is reported."""
    name = load_format(file)
    random, kinds = Random(f"{SEED} {name}"), (*CHARACTERS, *TAGS)
    made = damaged_texts(bases(name, random.randrange(99)), random, 120, kinds=kinds)
    readings = [read(case, pieces=at % 5 == 0) for at, case in enumerate(made)]
    counts = Counter(reading.outcome for reading in readings)
    faults = [r.case.text for r in readings if r.differs or r.outcome in ("wrong, ok", "lost")]
    assert faults == [], f"OUTSPOKEN_TEST_SEED={SEED}"
    assert counts["wrong, flagged"] <= 0.05 * len(readings)
    assert counts["meant"] >= 0.4 * len(readings)


@pytest.mark.parametrize(("name", "text", "running"), TABLES["IN_VALUES"])
def test_what_values_of_short_markers_hold_runs_as_little_streamed_as_whole(name: str, text: str, running: int) -> None:
    (file,) = [file for file in EVERY if file.stem == name]
    args = ParseArguments(load_format(file), {"tools": TOOLS}, "stop")
    reply = args.parse(text)
    assert (len(reply.tool_calls) + len(reply.actions), reply.status in ("invalid", "truncated")) == (running, True)
    assert args.stream([*text])[1] == reply


@pytest.mark.parametrize("breaks", [3, 12, 40, 60])
def test_line_breaks_that_a_marker_may_begin_with_are_held(tmp_path: Path, breaks: int) -> None:
    file = tmp_path / "long_breaks.lark"
    grammar = AUTHORED[1].read_text("utf-8").replace(AUTHORED[1].stem, file.stem)
    file.write_text(grammar.replace('| "</perform>"', r"| /\s{0,50}<\/perform>/"), "utf-8")
    args = ParseArguments(load_format(file), {}, "stop")
    for end in ("</perform>", "</perf", '<perform tool="g">\n</perform>'):
        text = '<perform tool="f">\n<with key="a" value="x' + "\n" * breaks + end
        assert args.stream([*text])[1] == args.parse(text)


@pytest.mark.parametrize("file", some(AUTHORED + SHORT, "asked", 0.15), ids=lambda file: file.stem)
def test_what_all_formats_are_asked_holds_of_a_new_one(file: Path) -> None:
    """The fuzz finds nothing, and its example is written as it is."""
    name = load_format(file)
    fuzz = Fuzz(name, ["Well."])
    assert str(fuzz.run(Random(f"new {SEED}").randrange(1 << 30))) == "None", f"OUTSPOKEN_TEST_SEED={SEED}"
    assert fuzz.sound >= 10
    example = registry.header(name).example
    assert render(parse(example, format=name), format=name) == example


def test_a_value_that_holds_another_argument_of_the_tool_is_doubted() -> None:
    """Only if the tool has the argument and the call lacks it; in text that merely names it, nothing is doubted."""
    name = load_format(AUTHORED[1])
    tools = [{"name": "f", "parameters": {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}]
    for value, why in TABLES["SWALLOWED"]:
        text = f'<perform tool="f">\n<with key="city" value="{value}"/>\n</perform>'
        reply = parse(text, format=name, tools=tools)
        assert (reply.tool_calls, reply.status) == ([], "invalid"), why
        # without tools, only an intact opener shows that a value holds another argument
        alone = parse(text, format=name)
        calls = alone.unfinished_tool_calls if '<with key="' in value else alone.tool_calls
        assert [call.name for call in calls] == ["f"], why
    for value in ("three days in Paris", "days", "some days, or more", "x\ndays later"):
        text = f'<perform tool="f">\n<with key="city" value="{value}"/>\n</perform>'
        assert parse(text, format=name, tools=tools).tool_calls[0].arguments == {"city": value}


def test_keys_that_another_marker_reads_first_are_reported(tmp_path: Path) -> None:
    """An overridden key without its priority loses against a key of any name."""
    for text, codes in (
        (TABLES["OTHER_KEYS"], []),
        (TABLES["OTHER_KEYS"].replace("_ARGUMENTS_KEY.1", "_ARGUMENTS_KEY"), ["same-text"]),
    ):
        file = tmp_path / "other_keys.lark"
        file.write_text(text, "utf-8")
        made = Checkout.of(file)
        with made.in_use():
            found = [finding.code for finding in findings(made, file.stem)]
        assert [code for code in found if code == "same-text"] == codes
        assert ("bad-example" in found) == bool(codes)


# what authors of grammars are told: each kind of mistake, made many times in formats that are made up


RULE = "tool_call: _CALL_OPEN TOOL_NAME argument* _CALL_CLOSE"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with the sound format `arrows`."""
    return arrows_in(tmp_path)


def house(folder: Path) -> Checkout:
    """A checkout in a folder with some formats of the house."""
    return checkout_in(folder, "text", "hermes", "qwen3_coder")


def codes(checkout: Checkout) -> list[str]:
    """The codes of what `check` says of `arrows`, but for what is not made again."""
    return [d.code for d in check(checkout, "arrows") if not d.code.startswith("stale")]


def with_grammar(checkout: Checkout, text: str) -> list[str]:
    """The codes of what `check` says if this is the grammar."""
    write(checkout, LARK, text)
    return codes(checkout)


def test_markers_of_one_pattern_in_one_place_are_reported(checkout: Checkout) -> None:
    """Of two markers that read the same where both may stand, one is never read: any marker, any spelling of it."""
    found = re.findall(r"^(_[A-Z_]+): (.+)$", GRAMMAR, re.MULTILINE)
    assert len(found) == 4
    for name, pattern in found:
        spelled = pattern.split(" | ")[0]
        others = [pattern] if "(?=" in pattern else [pattern, f'"!" | {spelled}']
        for other in others:
            rules = GRAMMAR.replace(f" {name}", f" ({name} | _OTHER _COLON)", 1)
            text = rules.replace(f"{name}: ", f"_OTHER: {other}\n{name}: ", 1)
            assert {"same-text", "same-pattern"} & {*with_grammar(checkout, text)}, text
            apart = text.replace(f"_OTHER: {other}", '_OTHER: "@@"')
            assert not {"same-text", "same-pattern"} & {*with_grammar(checkout, apart)}, apart


def test_calls_that_only_text_ends_are_reported(checkout: Checkout) -> None:
    """A call that could still go on ends only with the text behind it, too late in a stream."""
    parts = ("argument*", "argument?", "(_COLON ARG_VALUE)?")
    for part, end in product(parts, ("", " _CALL_CLOSE?", " (_CALL_CLOSE | _COLON)?", " _CALL_CLOSE")):
        rule = f"tool_call: _CALL_OPEN TOOL_NAME {part}{end}"
        text = GRAMMAR.replace(RULE, rule)
        found = with_grammar(checkout, text)
        assert ("ends-late" in found) == (end != " _CALL_CLOSE"), (rule, found)


def test_what_check_advises_for_a_name_removes_the_finding(checkout: Checkout) -> None:
    """A name that it proposes for a misspelt one is right: of fields, and of names that nothing defines."""
    tried = 0
    for name in ("title", "models", "aliases", "source", "trim", "TEXT", "_CALL_CLOSE", "ARG_NAME", "argument"):
        for wrong in (name[:-1], name[:2] + name[1:], name[0] + name[2] + name[1] + name[3:]):
            is_field = name.islower() and name != "argument"
            before, after = (f"// {name}:", f"// {wrong}:") if is_field else (f" {name}", f" {wrong}")
            write(checkout, LARK, GRAMMAR.replace(before, after, 1))
            advice = [h for d in check(checkout, "arrows") for h in d.helps if h.startswith("did you mean")]
            assert set(advice) <= {f"did you mean `{name}`?"}, (wrong, advice)
            tried += bool(advice)
    assert tried >= 20


def test_what_stands_there_is_not_called_expected(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a text is refused, no marker is expected that stands there, unless it is said what its pattern lacks."""
    closer = GRAMMAR.replace('_CALL_CLOSE: "\\n<="', r'_CALL_CLOSE: "\n<=" | /\n<=(?=\n)/')
    write(checkout, LARK, closer.replace('"\\n<=" |', ""))
    compile_arrows(checkout)
    for text in TABLES["WHAT_STANDS_THERE_IS_NOT_CALLED_EXPECTED"]:
        path = checkout.root / "response.txt"
        path.write_text(text, "utf-8")
        show_response(checkout, "arrows", str(path))
        out = capsys.readouterr().out
        for place, expected in re.findall(r"\(offset (\d+)\)[\s\S]*?= note: expected[^:]*: (.*)", out):
            for marker in re.findall(r'"((?:[^"\\]|\\.)+)"', expected):
                stands = text[int(place) :].startswith(json.loads(f'"{marker}"'))
                assert not stands or f'"{marker}" stands here, without what its pattern asks for' in out, (text, out)


# a new format beside the others


def test_a_new_format_changes_no_other_page(tmp_path: Path) -> None:
    """The pages of the formats that are there stay as they are, whatever the new one shares with them."""
    made = house(tmp_path)
    (made.grammars / "README.md").write_text(f"{docs.BEGIN}\n{docs.END}\n", "utf-8")
    pages = made.grammars / "pages"
    docs.main([], made)
    before = {path.relative_to(pages): path.read_bytes() for path in pages.glob("*/*")}
    assert len(before) == 6
    for opener in ("<tool", "<tool_call>s"):
        own = GRAMMAR.replace('"\\n=>" | /=>(?=\\w{1,64}\\n)/', json.dumps(opener)).replace("=>get", f"{opener}get")
        write(made, LARK, own)
        docs.main([], made)
        assert {path: (pages / path).read_bytes() for path in before} == before, opener
