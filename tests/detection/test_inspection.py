"""The list of formats, which of them a text may be in, and when they are ranked."""

import pytest

from outspoken import Parser, detect, formats, parse
from outspoken.detection.parsed_candidate import ParsedCandidate
from outspoken.parsing import Candidate, FormatInfo
from tests.cases import kin
from tests.loops import some
from tests.streams import streamed

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
