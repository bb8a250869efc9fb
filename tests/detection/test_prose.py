"""Prose and code stay what they are: nothing in them is a call, and no stream holds much of them back."""

from typing import Any

import pytest

from outspoken import Parser, Reply, detect, formats, parse
from outspoken.detection.parsed_candidate import ParsedCandidate
from outspoken.parsing import Candidate, FormatInfo
from tests.cases import CORPUS, kin
from tests.loops import for_each, in_one_item, some
from tests.streams import most_held, streamed
from tests.tables import tables

TABLES = tables(__file__)

SAMPLES = [
    (path.stem, sample)
    for path in sorted((CORPUS / "prose").glob("*.txt"))
    for sample in path.read_text("utf-8").removesuffix("\n").split("\n%%\n")
]
TOOLS = [{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]
NAMED = (
    "anthropic_xml", "apertus", "deepseek_v3_1", "functiongemma", "glm_4_5", "granite", "harmony", "hermes", "internlm",
    "kimi_k2", "minimax_m2", "mistral", "qwen3_coder", "ui_tars",
)  # fmt: skip
#: Samples of these files are written in the syntax of some formats: tags of reasoning, ends of turns, GUI calls.
SPEAKING = {"reasoning": NAMED, "turn_ends": ("mistral",), "gui": ("ui_tars",)}
#: How many characters of prose a stream may hold.
MAX_HELD = 120


def made(reply: Reply) -> list[Any]:
    """What of a reply is neither text, reasoning nor plain JSON."""
    return [s for s in reply.segments if s.kind in ("tool_call", "action", "payload")]


def held(text: str, format: str = "auto", tools: Any = None) -> tuple[int, Reply]:
    """How many characters a stream of single characters holds at most, and its reply."""
    session = Parser(format, tools=tools).session()
    most = most_held(session, text)
    session.close()
    assert session.reply is not None
    return most, session.reply


def assert_is_text(text: str, reply: Reply) -> None:
    assert not made(reply)
    assert reply.text == text


def test_there_are_enough_samples() -> None:
    assert len({sample for _, sample in SAMPLES}) == len(SAMPLES) >= 600


def test_prose_and_code_are_text() -> None:
    def check(named: tuple[str, str]) -> None:
        file, text = named
        whole = parse(text)
        assert_is_text(text, whole)
        assert_is_text(text, parse(text, tools=TOOLS))
        most, streamed = held(text)
        assert most <= MAX_HELD
        assert streamed == whole
        for format in some(NAMED, text, 0.34):
            if format not in SPEAKING.get(file, ()):
                assert_is_text(text, parse(text, format=format, prefix=""))

    for_each(some(SAMPLES, "prose", 0.34), check)


@in_one_item("code", TABLES["CODE"])
def test_code_is_text(code: str) -> None:
    for text in (code, f"See below.\n\n{code}\n\nThat is all.", f"    {code}"):
        for tools in (None, TOOLS):
            most, reply = held(text, tools=tools)
            assert_is_text(text, reply)
            assert most <= MAX_HELD
            assert parse(text, tools=tools) == reply


@in_one_item(
    "bare, before, behind", [(bare, *around) for bare in TABLES["BARE"].values() for around in TABLES["AROUND"]]
)
def test_a_bare_call_in_a_line_is_text(bare: str, before: str, behind: str) -> None:
    text = f"{before}{bare}{behind}"
    for tools in (None, TOOLS):
        reply = parse(text, tools=tools)
        assert_is_text(text, reply)
    assert held(text)[1] == parse(text)


# the list of formats, which of them a text may be in, and when they are ranked


HERMES = 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
WEATHER = {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}
FORMATS = {info.name: info for info in formats()}


def test_formats_are_listed_by_name() -> None:
    assert list(FORMATS) == sorted(FORMATS)
    assert len(FORMATS) >= 14


def test_format_info_equals_the_header() -> None:
    assert FORMATS["hy_v4"] == FormatInfo(
        name="hy_v4",
        title="Hunyuan 4 argument pairs",
        models=("Hy4",),
        aliases=("hunyuan_4",),
        source="tool parser of the vendor in vLLM 0.33.0",
        like="hy_v3",
        example="Let me look that up.<tool_calls:6124c78e>\n"
        "<tool_call:6124c78e>get_weather<arg_key:6124c78e>city</arg_key:6124c78e>"
        "<arg_value:6124c78e>Paris</arg_value:6124c78e></tool_call:6124c78e>\n</tool_calls:6124c78e>",
        ids={"hy-4": "", "hy-v4": ""},
    )


@pytest.mark.parametrize("name", some(FORMATS, "examples", 0.17))
def test_the_example_of_a_format_is_detected(name: str) -> None:
    example = FORMATS[name].example
    candidates = detect(example)
    assert candidates[0].status == "ok"
    assert candidates[0].format in kin(name) or name in [c.format for c in candidates if FORMATS[name].like == "text"]
    assert parse(example).format in {*kin(name), None}


def test_candidates_give_their_evidence() -> None:
    assert detect(HERMES) == [
        Candidate(format="hermes", status="ok", covered=0.881, calls=("get_weather",), known=True),
        Candidate(format="json", status="ok", covered=0.607, calls=("get_weather",), known=True),
    ]


@pytest.mark.parametrize("text", ["", "Hello!", "A tag like `<tool_call>` is text, and so is [a list]."])
def test_plain_text_has_no_candidates(text: str) -> None:
    assert detect(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<think>\nHm.\n</think>\n\nHello!", [("text", "ok", ())]),
        ('{"content": "Hi", "needsMoreWork": false}', [("json", "ok", ())]),
        (HERMES.removesuffix("\n</tool_call>"), [("hermes", "truncated", ()), ("json", "ok", ("get_weather",))]),
    ],
)
def test_candidates_of_other_texts(text: str, found: list[tuple[str, str, tuple[str, ...]]]) -> None:
    assert [(c.format, c.status, c.calls) for c in detect(text)] == found


@pytest.mark.parametrize(("tool", "known"), [("get_weather", True), ("get_time", False)])
def test_candidates_use_the_tools(tool: str, known: bool) -> None:
    assert {c.known for c in detect(HERMES, tools=[{**WEATHER, "name": tool}])} == {known}


@pytest.mark.parametrize("text", [HERMES, HERMES[:60], "Hello", '{"name": "a", "arguments": {}}'])
def test_the_first_candidate_is_the_one_that_parse_picks(text: str) -> None:
    assert [c.format for c in detect(text)][:1] == [f for f in [parse(text).format] if f is not None]


UNITS = ["Thought: x\n", "Action: a\nAction Input: 1\n", "<think>a</think>b\n", "Thought: a, b "]


@pytest.mark.parametrize("unit", UNITS)
def test_a_chunk_that_ends_nothing_ranks_nothing(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank looks at all that a candidate has read: with each chunk, time grows with the square of the text."""
    ranked, rank = 0, ParsedCandidate.rank

    def counted(self: ParsedCandidate, first: str | None) -> tuple[object, ...]:
        nonlocal ranked
        ranked += len(self.builder.output.segments) + 1
        return rank(self, first)

    monkeypatch.setattr(ParsedCandidate, "rank", counted)
    looked: list[int] = []
    for count in (20, 80):
        ranked = 0
        streamed(Parser("auto"), unit * count)
        looked.append(ranked)
    assert looked[1] <= 6 * looked[0] + 20, looked
