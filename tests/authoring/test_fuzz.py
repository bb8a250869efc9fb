"""The fuzz finds nothing in any format, and finds what is broken."""

import json
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import Phase, given, seed, settings

import outspoken.authoring.fuzz
import outspoken.authoring.fuzz.checks
from outspoken import Reply, Text, parse
from outspoken.authoring.fuzz import Example, Fuzz, minimise
from outspoken.authoring.fuzz.checks import ParseArguments, ViolationError
from outspoken.authoring.fuzz.texts import SETTINGS, damaged, responses
from outspoken.authoring.shared.checkout import Checkout
from outspoken.parsing.tree_parser import parse_tree
from outspoken.results.edits import REPAIR_LIMITS
from outspoken.results.errors import ResponseError
from tests.authoring.checkouts import checkout_in
from tests.cases import CASES, FORMATS
from tests.cli.runner import Cli
from tests.invariants.replies import check, check_reply, check_sound, pieces
from tests.loops import SEED as TEST_SEED
from tests.loops import in_one_item
from tests.tables import tables
from tools.shared.command import grammar

TABLES = tables(__file__)

OTHERS = [case.text for case in CASES]
#: How many texts are read of a format in one run, and in how many runs each format has its turn.
TEXTS, TURNS = 4, 32
SEED = Random(f"fuzz {TEST_SEED}").randrange(1 << 30)


def checked(fuzz: Fuzz, example: Example) -> None:
    """What the fuzz asks, and what the tests ask of every reply."""
    fuzz.check_example(example)
    if example.is_whole:
        check(example.text, example.args)
        check_sound(example.text, fuzz.name)


def found(format_: str, seed: int, number: int) -> str:
    fuzz = Fuzz(format_, OTHERS, command=f"python -m tools.fuzz {format_}")
    fuzz.check = lambda example: checked(fuzz, example)
    return str(fuzz.run(seed, number))


@pytest.mark.parametrize("format_", FORMATS[SEED % TURNS :: TURNS])
@pytest.mark.timeout(180)
def test_texts_of_a_grammar(format_: str) -> None:
    assert found(format_, SEED, TEXTS) == "None", f"seed {SEED}"


@pytest.mark.parametrize("part", range(2))
def test_changed_cases_of_the_corpus(part: int) -> None:
    random = Random(f"{SEED} {part}")
    for _ in range(10):
        case = random.choice(CASES)
        text, size = damaged(case.text, OTHERS, random), random.choice([1, 3, 7])
        reason, repair = random.choice([None, "stop", "length"]), random.choice(REPAIR_LIMITS)
        for format_ in (case.format, "auto"):
            args = ParseArguments(format_, {"repair": repair}, reason)
            reply = args.parse(text)
            check_reply(reply)
            assert args.stream(pieces(text, size))[1] == reply, (format_, text)


def sound_responses(name: str, number: int, count: int) -> list[str]:
    """The responses that the grammar of a format accepts, among the first `count` that are made with a seed."""
    found: dict[str, bool] = {}

    @seed(number)
    @settings(SETTINGS, max_examples=count, phases=[Phase.generate])
    @given(responses(name))
    def keep(text: str) -> None:
        with suppress(ResponseError):
            found[text] = bool(parse_tree(text, format=name, prefix=""))

    keep()
    return [text for text, is_sound in found.items() if is_sound]


@in_one_item("format_", FORMATS[SEED % 64 :: 64])
def test_most_responses_are_sound(format_: str) -> None:
    """And some of them call, act or think, in every format that can."""
    made = sound_responses(format_, 0, 20)
    kinds = {segment.kind for text in made for segment in parse(text, format=format_).segments}
    assert len(made) >= 4
    assert kinds - {"text"} or format_ == "text"


@pytest.mark.parametrize(("text", "arguments"), TABLES["ONCE_BROKEN"].values(), ids=TABLES["ONCE_BROKEN"])
def test_earlier_findings(text: str, arguments: dict[str, Any]) -> None:
    check(text, ParseArguments(**arguments))


# the changes, and the shortest text


def test_changes_change_something() -> None:
    text = '<a>"one" two</a> three “four”'
    made = [damaged(text, ["<b>other</b>", "{}"], Random(seed)) for seed in range(200)]
    assert len(set(made)) > 120
    assert made.count(text) < 20
    assert made == [damaged(text, ["<b>other</b>", "{}"], Random(seed)) for seed in range(200)]
    damaged("", [""], Random(0))  # nothing to change, nothing to take from


@pytest.mark.parametrize(("text", "needed", "expected"), TABLES["THE_SHORTEST_TEXT_IS_FOUND"])
def test_the_shortest_text_is_found(text: str, needed: tuple[str, ...], expected: str) -> None:
    assert minimise(text, lambda shorter: all(part in shorter for part in needed)) == expected


def test_minimising_is_bounded() -> None:
    asked: list[str] = []

    def shows(text: str) -> bool:
        asked.append(text)
        return False

    assert minimise("ab" * 50, shows, 30) == "ab" * 50
    assert len(asked) == 30


# the command: a reader with a mistake in it is found out


def without_cologne(text: str, *arguments: Any, **options: Any) -> Reply:
    """`parse`, but for the text that names a city."""
    reply = parse(text, *arguments, **options)
    kept = [s for s in reply.segments if not (isinstance(s, Text) and "Köln" in s.text)]
    return reply.model_copy(update={"segments": kept})


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with one format and its corpus."""
    made = checkout_in(tmp_path, "text")
    shutil.copytree(Checkout().corpus / "text", made.corpus / "text")
    return made


@pytest.fixture
def tool(checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(capsys, monkeypatch, partial(grammar, "fuzz", checkout))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock is half a minute later."""
    looks = iter(range(0, 30 * 10_000, 30))
    monkeypatch.setattr(outspoken.authoring.fuzz, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))


@pytest.mark.usefixtures("clock")
def test_findings_are_written_with_the_shortest_text_and_can_be_replayed(
    tool: Cli, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = checkout.root / "found.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr(outspoken.authoring.fuzz.checks, "parse", without_cologne)
        ran = tool("text", "--runs", "50", "--json")
        file.write_text(ran.out, "utf-8")
        finding, summary = [json.loads(line) for line in ran.out.splitlines()]
        assert (ran.code, finding["kind"], finding["text"], summary["type"]) == (1, "lost", "Köln", "summary")
        assert summary["formats"]["text"]["findings"] == {"lost": 1}
        ran = tool("--replay", str(file))
        assert ran.out.replace(", repair='heuristic'", "").startswith(TABLES["FOUND"])
        assert ran.out.endswith(" texts: 1 texts are read wrongly\n")
        assert (ran.code, ran.err) == (1, "")
        other = checkout.root / "other.jsonl"
        other.write_text(file.read_text("utf-8").replace('"format": "text"', '"format": "elsewhere"'), "utf-8")
        tool.out("text", "--replay", str(other))
    tool.out("--replay", str(file))


@pytest.mark.usefixtures("clock")
def test_what_was_read_is_summarised(tool: Cli) -> None:
    first, last = tool.out("--seed", "7", "--runs", "120").splitlines()
    assert first.startswith("text: 120 texts, ")
    assert last == "120 texts: nothing was found"


@pytest.mark.usefixtures("clock")
def test_minutes_limit_the_run(tool: Cli) -> None:
    assert tool.out("--minutes", "1.5").endswith("100 texts: nothing was found\n")


def test_run_can_be_interrupted(tool: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Fuzz.run

    def stopped(fuzz: Fuzz, seed: int, number: int) -> Any:
        if seed == 3:  # a checkout has no other limit
            raise KeyboardInterrupt
        return run(fuzz, seed, number)

    monkeypatch.setattr(Fuzz, "run", stopped)
    ran = tool()
    assert (ran.code, ran.err) == (0, "\n")
    assert ran.out.endswith("150 texts: nothing was found\n")


def test_an_exception_is_a_finding() -> None:
    def fails(example: Example) -> None:
        if example.text.count("e") > 2:
            raise IndexError(len(example.text))

    fuzz = Fuzz("text", ["the tree"], fails)
    finding = fuzz.run(0)
    assert finding is not None
    assert (finding.example.text, str(finding.violation)) == ("eee", "raises: IndexError: 3")
    fuzz.run(0)
    assert len(fuzz.findings) == 1


def test_pieces_that_are_read_differently_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = ParseArguments.stream

    def lossy(args: ParseArguments, chunks: Any) -> Any:
        return stream(args, [chunk for chunk in chunks if chunk != "<"])

    monkeypatch.setattr(ParseArguments, "stream", lossy)
    finding = Fuzz("text", ["<b>"]).run(0)
    assert finding is not None
    assert (finding.violation.kind, finding.example.text) == ("chunks", "<")
    assert isinstance(finding.violation, ViolationError)


# wrong use


@pytest.mark.parametrize(("arguments", "message"), TABLES["WRONG_USE"])
def test_wrong_use(arguments: list[str], message: str, tool: Cli, checkout: Checkout) -> None:
    checkout.grammar("odd").write_text("// format: odd\n\nstart: (\n", "utf-8")
    ran = tool(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("outspoken: error: ")
    assert message in ran.err
