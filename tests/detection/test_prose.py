"""Prose and code stay what they are: nothing in them is a call, and no stream holds much of them back."""

from typing import Any

from outspoken import Parser, Reply, parse
from tests.cases import CORPUS
from tests.loops import for_each, in_one_item, some
from tests.streams import most_held
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

#: Ways to write a call or an action that has no marker of its own.
BARE = TABLES["BARE"]
#: What stands round a bare call where it does not stand alone.
AROUND = TABLES["AROUND"]
#: Code in which a part looks like a list of calls or an object.
CODE = TABLES["CODE"]


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


@in_one_item("code", CODE)
def test_code_is_text(code: str) -> None:
    for text in (code, f"See below.\n\n{code}\n\nThat is all.", f"    {code}"):
        for tools in (None, TOOLS):
            most, reply = held(text, tools=tools)
            assert_is_text(text, reply)
            assert most <= MAX_HELD
            assert parse(text, tools=tools) == reply


@in_one_item("bare, before, behind", [(bare, *around) for bare in BARE.values() for around in AROUND])
def test_a_bare_call_in_a_line_is_text(bare: str, before: str, behind: str) -> None:
    text = f"{before}{bare}{behind}"
    for tools in (None, TOOLS):
        reply = parse(text, tools=tools)
        assert_is_text(text, reply)
    assert held(text)[1] == parse(text)
