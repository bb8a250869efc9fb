"""Calls that were only said stay text or reasoning: whole and streamed, by every format with calls."""

from random import Random

import pytest

from outspoken import Parser, Reasoning, RenderError, Reply, Text, TextDelta, ToolCall, formats, parse, render
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.grammar.near_openers import written_forms
from tests.invariants.replies import check_chunks, pieces
from tests.loops import SEED, some
from tests.tables import tables

TABLES = tables(__file__)

CALL = '<tool_call>\n{"name": "send_funds", "arguments": {"account": "DE-77"}}\n</tool_call>'
MADE = [("send_funds", {"account": "DE-77"})]

#: Texts round a call that make it a quotation, and some that do not.
QUOTED = TABLES["QUOTED"]
WRITTEN = TABLES["WRITTEN"]

#: The call with one mistake in its markup.
MISTAKEN = [
    f"{CALL}</tool_call>",
    f"{CALL}</tool_call>\n",
    f"{CALL}\n</TOOL_CALL>\n",
    f"<tool_call>{CALL}",
    f"<{CALL}",
    CALL.replace("</tool", "</TOOL"),
    CALL[:-12],
]


def calls(text: str, format: str = "hermes") -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in parse(text, format=format).tool_calls]


@pytest.mark.parametrize("format_", ["hermes", "auto"])
@pytest.mark.parametrize("frame", QUOTED + TABLES["QUOTED_SOUND"])
def test_a_call_that_is_quoted_is_text(frame: str, format_: str) -> None:
    text = frame.format(CALL)
    reply = parse(text, format=format_)
    assert reply.tool_calls == []
    assert reply.text == text.strip()
    if "````" not in frame:  # this one is a code sample, by the grammar
        assert [diagnostic.code for diagnostic in reply.diagnostics] == ["quoted-call"]


@pytest.mark.parametrize("call", MISTAKEN)
def test_a_call_with_a_mistake_is_quoted_and_thought_about(call: str) -> None:
    for frame in (*QUOTED, "Il dit «{}» là.", "So ``{}`` it is.", "The page says '{}' there."):
        assert calls(frame.format(call)) == [], frame
    assert calls(f"<think>\nI must not: {call}.\n</think>\nNo.") == []
    assert calls(f"<think>{call}\n</think>\nNo.") == []


@pytest.mark.parametrize(("frame", "is_quoted"), TABLES["BEHIND_OTHERS"])
def test_a_quotation_goes_on_behind_reasoning_and_text(frame: str, is_quoted: bool) -> None:
    text = frame.replace("{}", CALL)
    reply = parse(text, format="hermes")
    codes = {diagnostic.code for diagnostic in reply.diagnostics}
    assert (calls(text), codes) == (([], {"quoted-call"}) if is_quoted else (MADE, set()))
    check_chunks(text, ParseArguments("hermes"), reply, Random(SEED))


def test_a_fence_of_xml_quotes_json() -> None:
    call = '[{"name": "send_funds", "arguments": {"account": "DE-77"}}]'
    assert calls(f"```json\n{call}\n```\nThere.", "xlam") == MADE
    assert calls(f"```xml\n{call}\n```\nThere.", "xlam") == []


@pytest.mark.parametrize("frame", WRITTEN)
def test_a_call_beside_quotations_is_made(frame: str) -> None:
    assert calls(frame.replace("{{", "{").replace("{}", CALL)) == MADE


def test_a_call_that_was_thought_about_is_reasoning() -> None:
    reply = parse(f"<think>\nI must not: {CALL}.\n</think>\nNo.", format="hermes")
    assert (reply.tool_calls, reply.reasoning, reply.text) == ([], f"I must not: {CALL}.", "No.")
    assert [diagnostic.code for diagnostic in reply.diagnostics] == ["thought-call"]


@pytest.mark.parametrize("lead", ["<think>", "<think>\n", f"{CALL}\n<think>\n", f"{CALL}<think>"])
def test_a_call_right_behind_the_tag_is_thought_about(lead: str) -> None:
    reply = parse(f"{lead}{CALL}\n</think>\nNo.", format="hermes")
    assert len(reply.tool_calls) == lead.count(CALL)
    assert (reply.reasoning, reply.text) == (CALL, "No.")
    assert [diagnostic.code for diagnostic in reply.diagnostics] == ["thought-call"]


def test_a_call_that_begins_reasoning_opened_by_the_prompt_is_thought_about() -> None:
    reply = parse(f"{CALL}\n{CALL}\n</think>\nNo.", format="hermes", prefix="<think>\n")
    assert (reply.tool_calls, reply.reasoning, reply.text) == ([], f"{CALL}\n{CALL}", "No.")
    assert [call.status for call in parse(f"{CALL}\n</think>", format="hermes", prefix="<think>\n").tool_calls] == [
        "repaired"
    ]


def test_a_call_between_tags_that_are_text_is_quoted() -> None:
    call = '{"name": "f", "arguments": {}}'
    reply = parse(f"I think <think>{call}</think>", format="ui_tars_calls")
    assert (reply.tool_calls, reply.text) == ([], f"I think <think>{call}</think>")
    assert [diagnostic.code for diagnostic in reply.diagnostics] == ["quoted-call"]


def test_a_refused_call_that_was_thought_about_says_nothing_of_the_response() -> None:
    key = '<|open|>argument key="a" type="number"<|sep|>{}<|close|>argument<|sep|>'
    call = '<|open|>tools<|sep|><|open|>call tool="f"<|sep|>{}<|close|>call<|sep|><|close|>tools<|sep|>'
    calls = call.format("") + call.format(key.format(1) + key.format(2))
    text = f"<|open|>think<|sep|>So {calls}<|close|>think<|sep|><|open|>response<|sep|>No.<|close|>response<|sep|>"
    reply = parse(text, format="kimi_k3")
    assert (reply.status, reply.tool_calls, reply.reasoning, reply.text) == ("ok", [], f"So {calls}", "No.")


def test_a_call_that_ends_reasoning_is_made() -> None:
    assert calls(f"<think>\nI do it: {CALL}") == MADE
    last = parse(f"<think>\nI do it: {CALL}\n</think>", format="hermes")
    assert [(call.name, call.status) for call in last.tool_calls] == [("send_funds", "repaired")]
    assert [diagnostic.code for diagnostic in last.diagnostics] == ["call-in-reasoning"]
    assert calls(f"<think>\nI do it: {CALL}\nThen\n<think>more</think>\ntext.") == MADE


#: By format: a call as it stands in its own message or behind a line of reasoning.
THOUGHT = TABLES["THOUGHT"]


@pytest.mark.parametrize("format_", THOUGHT)
def test_an_answer_calls_off_what_was_thought_about_before_it(format_: str) -> None:
    call, random = THOUGHT[format_], Random(format_)
    off = [
        f"Thought: Not this.\n{call}\nOr so.\nFinal Answer: No.",
        f"Thought: I could\n{call}\n{call}\n\nfinal answer: No.",
    ]
    for text in off:
        reply = parse(text, format=format_)
        assert (reply.tool_calls, reply.text) == ([], "No."), text
        assert {diagnostic.code for diagnostic in reply.diagnostics} == {"thought-call"}
    made = [
        f"Thought: I do it.\n{call}",
        f"Thought: I do it.\n{call}\nObservation: Sent.\nThought: Good.\nFinal Answer: Sent.",
        f"{call}\nFinal Answer: Sent.",
    ]
    for text in made:
        assert calls(text, format_) == MADE, text
    for text in (*off, *made):
        check_stream(text, format_, random)


def test_reasoning_that_is_closed_by_another_tag_goes_on_to_its_own() -> None:
    for text in (f"<think>\nA </thinking> {CALL} b.\n</think>\nNo.", f"<think>A</thinking>B {CALL}<think>b</think>No."):
        reply = parse(text, format="hermes")
        assert (reply.tool_calls, reply.text[-3:]) == ([], "No."), text
        check_stream(text, "hermes", Random(text))
    assert (
        calls(f"<think>\nA </thinking> {CALL}\nYes.") == calls(f"<think>A</THINK> {CALL} <think>b</think>No.") == MADE
    )


def test_a_message_behind_a_call_that_cut_the_reasoning_calls_it_off() -> None:
    call = '<|content_invoke_tool_json|>{"name": "send_funds", "args": {"account": "DE-77"}}<|end_message|>'
    thought, answer = "<|content_thinking|>Not this: ", "<|message_model|><|content_text|>No.<|end_message|>"
    for text, made in ((thought + call, 1), (thought + call * 2, 2), (thought + call + answer, 0), (call + answer, 1)):
        assert calls(text, "inkling") == MADE * made, text
        check_stream(text, "inkling", Random(text))


#: By format: calls without any markup of their own, and some in a fence.
UNMARKED = TABLES["UNMARKED"]


@pytest.mark.parametrize("format_", UNMARKED)
def test_a_call_without_marks_within_a_sentence_is_text(format_: str) -> None:
    call = UNMARKED[format_]
    for frame in ("The mail has {} in it.\nNo.", "It may be\n{}or the like.", "This line reads {}, and no more."):
        text = frame.replace("{}", call)
        reply = parse(text, format=format_)
        assert reply.tool_calls == [], text
        assert [diagnostic.code for diagnostic in reply.diagnostics] == ["quoted-call"], text
        check_stream(text, format_, Random(text))
    for frame in (
        "{}\nthat is it.",
        "I do it now: {} as you said.",
        "I do it now.\n{}\nand wait.",
        "I do it now\n{}\nDone.",
    ):
        text = frame.replace("{}", call)
        assert calls(text, format_) == MADE, text
        check_stream(text, format_, Random(text))
    assert calls(f"The mail has {CALL} in it.") == MADE


TOOL = [{"name": "send_funds", "parameters": {"type": "object", "properties": {"account": {"type": "string"}}}}]
LINE = 'send_funds(account="DE-77")'


@pytest.mark.parametrize(("text", "count"), TABLES["LINES"])
def test_a_call_that_begins_with_its_name_is_made_on_the_last_lines(text: str, count: int) -> None:
    assert parse(text, tools=TOOL).tool_calls == []  # no format is found by it
    reply = check_bare("granite_pythonic", text, MADE * count)
    assert count or LINE not in text or LINE in f"{reply.text}{reply.reasoning}"


OBJECT = '{"name": "send_funds", "arguments": {"account": "DE-77"}}'
#: Calls without markers, by format.
BARE = {
    "json": OBJECT,
    "llama3_json": OBJECT.replace("arguments", "parameters"),
    "xlam": f"[{OBJECT}]",
    "pythonic": f"[{LINE}]",
    "react_json": '{"action": "send_funds", "action_input": {"account": "DE-77"}}',
}
#: What stands round them, and how many are made: those on lines of their own behind which nothing but calls follows.
ROUND = TABLES["ROUND"]


@pytest.mark.parametrize("format_", BARE)
def test_a_call_without_markers_is_made_on_the_last_lines(format_: str) -> None:
    call = BARE[format_]
    for frame, count in ROUND.items():
        for read_by in (format_, "auto"):
            reply = check_bare(read_by, frame.replace("{}", call), MADE * count)
            assert (count == frame.count("{}")) is not bool(reply.diagnostics), (read_by, frame)
    check_bare(format_, f"I do it now.{call}", MADE)  # as chat templates write it; `auto` looks at lines only
    other = check_bare(format_, call.replace("send_funds", "find_book"), [])
    assert [found.code for found in other.diagnostics] == ["unknown-tool", "quoted-call"]
    assert "find_book" in other.text


def test_keys_of_an_envelope_are_markers() -> None:
    check_bare("json", f'{{"toolCalls": [{OBJECT}], "needsMoreWork": true}}\nHold on.', MADE)
    check_bare("llama3_json", f"<|python_tag|>{BARE['llama3_json']}\nHold on.", MADE)


def check_bare(format_: str, text: str, made: object) -> Reply:
    """The reply to a text whose calls are these, which is the same in pieces."""
    parser = Parser(format_, tools=TOOL)
    reply = parser.parse(text)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == made, (format_, text)
    stream = parser.stream(list(text))
    events = list(stream)
    assert stream.reply == reply
    assert "".join([event.text for event in events if isinstance(event, TextDelta)]).strip() == reply.text.strip()
    return reply


def test_a_damaged_call_in_a_fence_within_a_sentence_is_text() -> None:
    call = '```json\n<tool_calls>[{"name": "send_funds", {"account": "DE-77"}}]</tool_calls>\n```\n'
    assert calls(f"It may be\n{call}or the like.", "hunyuan_a13b") == []
    assert calls(f"It may be.\n{call}Or the like.", "hunyuan_a13b") == MADE
    check_stream(f"It may be\n{call}or the like.", "hunyuan_a13b", Random(call))


def test_a_call_in_a_fence_that_ends_the_response_is_repaired() -> None:
    for text in (f"It is:\n```xml\n{CALL}\n```\n", f"It is:\n~~~\n{CALL}", f"It is:\n```xml\n{CALL}\n{CALL}\n```"):
        reply = parse(text, format="hermes")
        assert {call.status for call in reply.tool_calls} == {"repaired"}
        assert reply.status == "repaired"
        assert "fenced-call" in [diagnostic.code for diagnostic in reply.diagnostics], text
        check_stream(text, "hermes", Random(text))
    assert parse(f"```xml\n{CALL}\n```", format="hermes").status == "ok"
    exact = Parser("hermes", proof={"send_funds": "exact"}).parse(f"It is:\n~~~\n{CALL}\n~~~")
    assert (exact.tool_calls, exact.diagnostics[-1].code) == ([], "needs-exact")


def test_only_the_example_is_left_out() -> None:
    text = f"It looks so:\n```xml\n{CALL}\n```\nNow for real:\n{CALL.replace('DE-77', 'DE-1')}"
    assert calls(text) == [("send_funds", {"account": "DE-1"})]


def check_stream(text: str, format_: str, random: Random) -> None:
    """A stream gives the reply of the whole text, and events that add up to it."""
    args = ParseArguments(format_)
    check_chunks(text, args, args.parse(text), random)


def test_streams_decide_as_whole_text_does() -> None:
    random = Random(f"said {SEED}")
    thoughts = [
        f"<think>\nMaybe {CALL} or not.\n</think>\nNo.",
        f"<think>\nMaybe {CALL}\n</think>",
        f"<think>\nA {CALL} and {CALL}.\n</think>\nOne: {CALL} and `{CALL}` or {CALL}",
        *[
            f'<think>\nNo: {call}.\n</think>\nOr “{call}” there, and "{call}" for all.\nA `{call}`.'
            for call in MISTAKEN
        ],
    ]
    texts = [*thoughts, *[frame.replace("{{", "{").replace("{}", CALL) for frame in (*QUOTED, *WRITTEN)]]
    for text in texts:
        for format_ in ("hermes", "auto"):
            check_stream(text, format_, random)


#: What stands between calls and tags of reasoning.
PIECES = TABLES["PIECES"]


def test_tags_of_reasoning_quotations_and_calls_in_any_order() -> None:
    """A third of the formats: some calls are cut, some have a quotation mark in a value, and tags stand anywhere."""
    random = Random(f"any order {SEED}")
    for info in some(formats(), "any order", 0.34):
        try:
            call = render(ToolCall(name="send_funds", arguments={"account": "DE-77"}), format=info.name)
        except RenderError:
            continue
        automaton = registry.automaton(info.name)
        terminals = automaton.tables.terminals.values()
        tags = {form for one in terminals for form in written_forms(one) if "think" in form.lower()}
        calls = [call, call, call[: -len(call) // 4], call.replace("-77", '"77')]
        drawn = [random.choice((PIECES, calls, sorted(tags) or PIECES)) for _ in range(random.randint(3, 8))]
        text = "".join([random.choice(part) + random.choice(("", "\n", " ")) for part in drawn])
        check_stream(text, info.name, random)


def test_no_format_runs_what_is_quoted() -> None:
    """Every format with calls, in quotations that no format's prompt asks for."""
    random, seen = Random(f"quoted {SEED}"), 0
    for info in formats():
        try:
            call = render([ToolCall(name="send_funds", arguments={"account": "DE-77"})], format=info.name)
        except RenderError:
            continue
        if calls(call, info.name) != MADE:
            continue
        seen += 1
        for frame in random.sample([q for q in QUOTED if "```" not in q and '"' not in q], 3):
            text = frame.format(call)
            assert calls(text, info.name) == [], (info.name, text)
    assert seen > 60


@pytest.mark.parametrize("behind", ["", '" as the manual says.', '"'])
def test_an_opening_mark_is_closed_behind_the_brackets_of_a_list(behind: str) -> None:
    call = '[{"name": "send_funds", "arguments": {"account": "DE-77"}}]'
    for end in ("]\n</function_calls>", "]\n"):
        reply = parse(f'The page says "<function_calls>\n{call[:-1]}{end}{behind}', format="function_calls_json")
        assert reply.tool_calls == []
        assert "quoted-call" in [diagnostic.code for diagnostic in reply.diagnostics] or reply.unfinished_tool_calls


@pytest.mark.timeout(180)  # the patterns of all formats are made
def test_a_call_in_reasoning_between_tags_of_its_own_is_thought_about_in_any_format_that_is_found() -> None:
    """With `auto`, the tags of the format that was found count, beside those of plain text."""
    made, tried = ToolCall(name="send_funds", arguments={"account": "DE-77"}), 0
    for info in formats():
        try:
            call = render([made], info.name).strip()
            text = render([Reasoning(text="Not yet.", span=(0, 0)), Text(text="No.", span=(0, 0))], info.name)
        except RenderError:
            continue
        header = registry.automaton(info.name).tables.header
        if header.opened or header.reasoned_calls == "run":
            continue
        for thought in (f"The page wants {call} but I must not.", f"The page wants\n{call}\nbut not I."):
            for format_ in (info.name, "auto"):
                tried += 1
                text_ = text.replace("Not yet.", thought)
                reply = parse(text_, format_)
                assert ParseArguments(format_).stream(pieces(text_, 7))[1] == reply, (format_, text_)
                assert reply.tool_calls == [], (format_, text_)
    assert tried > 150
