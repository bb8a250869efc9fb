"""The fuzz with fixed seeds finds nothing, and the tool finds what is broken."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

import outspoken.authoring.fuzz
import outspoken.authoring.fuzz.invariants
from outspoken import Reply, Text, parse
from outspoken.authoring.fuzz import Fuzzer, main
from outspoken.authoring.fuzz.generator import Generator
from outspoken.authoring.fuzz.invariants import ParseArguments, check, check_detected, check_reply, pieces
from outspoken.authoring.fuzz.minimise import minimise
from outspoken.authoring.fuzz.mutations import CHANGES, Mutator
from outspoken.authoring.fuzz.report import TITLES, Finding, save
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import cases, sources
from outspoken.results.edits import REPAIR_LIMITS
from tests.cases import CASES, FORMATS, Case

_TEXTS = 60
#: How many seeds of each format are read.
_SEEDS = 3


@pytest.mark.parametrize("seed", range(16))
def test_changed_cases_of_the_corpus(seed: int) -> None:
    random = Random(seed)
    change = Mutator(random, [case.text for case in CASES])
    for _ in range(_TEXTS):
        case = random.choice(CASES)
        text, size = change(case.text), random.choice([1, 3, 7])
        reason, repair = random.choice([None, "stop", "length"]), random.choice(REPAIR_LIMITS)
        for format_ in (case.format, "auto"):
            args = ParseArguments(format_, {"repair": repair}, reason)
            reply = args.parse(text)
            check_reply(reply)
            assert args.stream(pieces(text, size))[1] == reply, (format_, text)


def kept_cases(checkout: Checkout) -> list[Case]:
    """The corpus that was loaded when the tests were."""
    return CASES


@pytest.mark.parametrize("format_", FORMATS)
def test_responses_of_a_grammar_and_changed_ones(format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outspoken.authoring.fuzz, "cases", kept_cases)
    fuzz = Fuzzer([format_], Checkout())
    found = [str(finding) for seed in range(_SEEDS) for finding in fuzz.run(format_, seed)]
    assert found == []
    assert fuzz.texts >= 4 * _SEEDS
    assert fuzz.taken[format_].missed < _SEEDS


#: What stands between the name and the arguments of a call.
_CALL = "<|channel|>analysis<|constrain|>xml<|message|>"
#: Texts that broke a promise once: what the fuzz made of them, and how they were read.
ONCE_BROKEN: dict[str, tuple[ParseArguments, str]] = {
    "text of an answer that was told twice": (ParseArguments(), "<|channel|>final<|message|>y to=u<|constrain|>f"),
    "text of a fence that was told twice": (ParseArguments(), '```Json\n{"\x00":[]}'),
    "a section's opener that was not recorded": (
        ParseArguments("deepseek_v3", reason="stop"),
        "<｜tool▁call▁begin｜>x<｜tool▁sep｜>c```json{}",
    ),
    "an edit over the markers round a value": (ParseArguments("pythonic", {"repair": "heuristic"}), "[f(y=|0)]"),
    "a key that was no longer in the buffer": (ParseArguments("json"), '{"":3,"needsMoreWork":true,"tols" :null,}'),
    "white space that a marker begins with": (ParseArguments("harmony"), '\tto=u<|message|>""\tto=e<|channel|>'),
    "a call that ended twice": (ParseArguments("harmony"), " to=u<|message|>{}\tto=e<|message|>{}"),
    "white space that was skipped, and that a marker begins with": (
        ParseArguments("beam", {"prefix": ""}),
        f" to=f{_CALL}\nto=g{_CALL}\tto=h{_CALL}",
    ),
    "a marker that begins with another one": (
        ParseArguments("minicpm5", {"repair": "none"}),
        '<function name="f"><param name="p"><![CDATA[x]]></param></function>',
    ),
    "a marker that was cut off and lost": (
        ParseArguments(),
        "<｜tool▁call▁begin｜>e｜tool▁sep｜>''｜tool▁call▁end｜><｜tool▁calls▁e",
    ),
    "a call that became text without a diagnostic": (
        ParseArguments("react_json", reason="length"),
        '{"tOOl_name":"b"},"d":h',
    ),
}


@pytest.mark.parametrize("name", ONCE_BROKEN)
def test_earlier_findings(name: str) -> None:
    args, text = ONCE_BROKEN[name]
    check(text, args)


def test_value_with_invented_content() -> None:
    """A literal is mended as the only item of a list; the list's own bracket was taken for a part of the literal."""
    reply = parse("[a(_=''I,,<thiNk>", "pythonic", finish_reason="length")
    assert reply.tool_calls == []
    assert [(call.name, call.arguments, call.status) for call in reply.unfinished_tool_calls] == [
        ("a", {}, "truncated")
    ]


def test_format_that_was_not_tried() -> None:
    """Its opening marker is not spelled as that of another format, but reads what is written there."""
    text = "```json\n[get_weather(city='Paris')]\n```"
    check_detected(text, ParseArguments("pythonic"))
    assert parse(text).tool_calls == parse(text, "pythonic").tool_calls != []


# the changes


@pytest.mark.parametrize("change", CHANGES, ids=[change.__name__ for change in CHANGES])
def test_a_change_changes_something(change: Callable[[Mutator, str], str]) -> None:
    text = '<a>"one" two</a> three “four”'
    found = {change(Mutator(Random(seed), ["<b>other</b>", "{}"]), text) for seed in range(30)}
    assert len(found) > 1
    assert text not in found or len(found) > 2
    assert change(Mutator(Random(3), ["<b>"]), text) == change(Mutator(Random(3), ["<b>"]), text)
    change(Mutator(Random(0), [""]), "")  # nothing to change, nothing to take from


# the shortest text


@pytest.mark.parametrize(
    ("text", "needed", "expected"),
    [
        ("some text with a needle in it", ("needle",), "needle"),
        ("abcdefghij" * 20 + "x" + "abcdefghij" * 20 + "y", ("x", "y"), "xy"),
        ("aaaa", (), ""),
        ("", (), ""),
        ("x", ("x",), "x"),
    ],
)
def test_the_shortest_text_is_found(text: str, needed: tuple[str, ...], expected: str) -> None:
    assert minimise(text, lambda shorter: all(part in shorter for part in needed)) == expected


def test_minimising_is_bounded() -> None:
    asked: list[str] = []

    def shows(text: str) -> bool:
        asked.append(text)
        return False

    assert minimise("ab" * 50, shows, 30) == "ab" * 50
    assert len(asked) == 30


# the tool: a reader with a mistake in it is found out


def without_cologne(text: str, *arguments: Any, **options: Any) -> Reply:
    """`parse`, but for the text that names a city."""
    reply = parse(text, *arguments, **options)
    kept = [s for s in reply.segments if not (isinstance(s, Text) and "Köln" in s.text)]
    return reply.model_copy(update={"segments": kept})


@pytest.fixture
def mistaken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outspoken.authoring.fuzz.invariants, "parse", without_cologne)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with one format and its corpus."""
    there, here = Checkout(), Checkout(tmp_path)
    shutil.copytree(there.grammars / "shared", here.grammars / "shared")
    shutil.copy(there.grammar("text"), here.grammar("text"))
    shutil.copytree(there.corpus / "text", here.corpus / "text")
    return here


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock is half a minute later."""
    looks = iter(range(0, 30 * 10_000, 30))
    monkeypatch.setattr(outspoken.authoring.fuzz, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))


FOUND = """\
error[fuzz-lost]: a part of the text is in no segment, and no markup
  --> text:1:1 (offset 0)
   |
 1 | Köln
   | ^^^^
   |
   = note: 'Köln' at offset 0
   = note: the text is 'Köln', read with format='text', repair='none'
   = help: `python -m tools.fuzz text --seed {seed} --runs 1` finds it again

"""


def first_seed() -> int:
    """The first seed whose response holds the text that is left out."""
    generator = Fuzzer(["text"], Checkout()).generators["text"]
    return next(s for s in range(100) if (found := generator.response(s)) and "Köln" in found.text)


@pytest.mark.usefixtures("mistaken", "clock")
def test_findings_are_printed(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    seed = first_seed()
    assert main(["text", "--seed", str(seed), "--runs", "1"], checkout) == 1
    out, err = capsys.readouterr()
    assert out.startswith(FOUND.format(seed=seed))
    assert out.endswith(" texts violate an invariant\n")
    assert err == ""
    assert not list(checkout.corpus.rglob("fuzz_*"))


@pytest.mark.usefixtures("mistaken")
def test_findings_are_reproducible(checkout: Checkout) -> None:
    seed = first_seed()
    runs: list[list[Finding]] = []
    for _ in range(2):
        with checkout.in_use():
            runs.append(Fuzzer(["text"], checkout).run("text", seed))
    assert runs[0] == runs[1]
    assert runs[0][0].text == "Köln"


@pytest.mark.usefixtures("mistaken", "clock")
def test_findings_become_cases(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    seed, before = first_seed(), len(cases(checkout))
    assert main(["text", "--seed", str(seed), "--runs", "1", "--write"], checkout) == 1
    out, _ = capsys.readouterr()
    paths = [line.removeprefix("written: ") for line in out.splitlines() if line.startswith("written: ")]
    assert all((checkout.root / path).is_file() for path in paths)
    found = {case.name: case for case in cases(checkout) if case.name.startswith("fuzz_")}
    assert len(cases(checkout)) == before + len(found)
    assert "Köln" in [case.text for case in found.values()]
    told = sources(checkout, "text")
    assert list(told) == sorted(told) == sorted(case.name for case in cases(checkout))
    assert {told[name]["origin"] for name in found} <= {f"found by the fuzz: {title}" for title in TITLES.values()}


@pytest.mark.usefixtures("clock")
def test_no_findings_are_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "4644", "--runs", "151"], checkout) == 0  # the fewest that take every form
    out, err = capsys.readouterr()
    generator = Generator("text")
    steps, forms = len(generator.map.steps), len(generator.forms)
    taken = f"text: {steps} of {steps} steps, {forms} of {forms} forms"
    assert re.fullmatch(rf"{taken}\n\d+ texts in 30 s, \d+ a second\nno violation was found\n", out)
    assert err == ""


@pytest.mark.usefixtures("clock")
def test_missing_coverage_is_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "1"], checkout) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("text: ")
    assert "; never or not in every way: " in first


@pytest.mark.usefixtures("clock")
def test_minutes_limit_the_run(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--minutes", "2.5"], checkout) == 0
    assert "texts in 180 s, 0 a second\n" in capsys.readouterr().out


def test_run_can_be_interrupted(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Fuzzer.run

    def stopped(fuzz: Fuzzer, name: str, seed: int) -> list[Finding]:
        if seed == 3:
            raise KeyboardInterrupt
        return run(fuzz, name, seed)

    monkeypatch.setattr(Fuzzer, "run", stopped)
    assert main([], checkout) == 0
    assert capsys.readouterr().out.endswith("no violation was found\n")


def test_an_exception_is_a_finding(monkeypatch: pytest.MonkeyPatch, checkout: Checkout) -> None:
    def fails(text: str, *arguments: Any, **options: Any) -> Reply:
        if text.count("a") > 2 and len(text) < 8_000:  # not one that is padded
            raise IndexError(len(text))
        return parse(text, *arguments, **options)

    monkeypatch.setattr(outspoken.authoring.fuzz.invariants, "parse", fails)
    with checkout.in_use():
        fuzz = Fuzzer(["text"], checkout)
        finding = next(f for seed in range(50) for f in fuzz.run("text", seed) if f.kind == "raises")
        assert (finding.text, finding.message) == ("aaa", "IndexError: 3")
        assert save(checkout, finding) == [
            f"tests/corpus/text/err/{finding.name}.txt",
            f"tests/corpus/text/err/{finding.name}.toml",
        ]
        assert save(checkout, finding)  # once more changes nothing
    assert len([name for name in sources(checkout, "text") if name.startswith("fuzz_")]) == 1


@pytest.mark.usefixtures("mistaken")
def test_findings_of_one_kind_are_counted(checkout: Checkout) -> None:
    with checkout.in_use():
        fuzz = Fuzzer(["text"], checkout)
        for seed in range(20):
            fuzz.run("text", seed)
    assert fuzz.counts["text", "lost"] > 3
    assert len([finding for finding in fuzz.findings if finding.kind == "lost"]) <= 3


# wrong use


def test_unknown_format(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["txt", "--runs", "1"], checkout) == 2
    assert capsys.readouterr() == (
        "",
        "there is no format `txt`; did you mean `text`? (`outspoken formats` lists all 1 names)\n",
    )


def test_unusable_grammar(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    checkout.grammar("odd").write_text("// format: odd\n\nstart: (\n", "utf-8")
    assert main(["odd", "--runs", "1"], checkout) == 2
    assert "odd.lark" in capsys.readouterr().err


USAGE = """\
usage: python -m tools.fuzz [-h] [--seed N] [--runs N | --minutes M] [--write]
                            [NAME ...]
"""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--runs", "0"], "argument --runs: 0 is not more than 0"),
        (["--minutes", "-1"], "argument --minutes: -1 is not more than 0"),
        (["--runs", "many"], "argument --runs: invalid number value: 'many'"),
        (["--runs", "1", "--minutes", "1"], "argument --minutes: not allowed with argument --runs"),
        (["--seed", "x"], "argument --seed: invalid int value: 'x'"),
    ],
)
def test_wrong_use(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(f"python -m tools.fuzz: error: {message}\n")
