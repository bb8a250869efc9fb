"""Where a payload begins and ends, and what is left of the text: one case for each edge, at every split."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from outspoken.payloads import PayloadRegistry, PayloadSettings, PayloadType
from tests.loops import in_one_item
from tests.payloads.payload_streams import read

REGISTRY = PayloadRegistry(
    [
        PayloadType("tips", "TIPS:", kind="array", beside=True),
        PayloadType("card", "CARD:"),
        PayloadType("card_deck", "CARD_DECK", pages=("decks",)),
        PayloadType("quiet", "QUIET", wrapping="plain"),
        PayloadType("loud", "LOUD", wrapping="emphasis", any_case=True),
    ]
)
REGISTRY.add_page("home")

P = '{"title": "Moss"}'
MOSS = {"title": "Moss"}


@dataclass
class Case:
    """A text and what is to be made of it: the message, the payloads by type, and the codes of diagnostics."""

    name: str
    text: str
    message: str
    payloads: dict[str, Any] = field(default_factory=dict[str, Any])
    codes: tuple[str, ...] = ()
    page: str | None = None
    settings: PayloadSettings = field(default_factory=PayloadSettings)
    status: str = "ok"


CARD = {"card": MOSS}

SPELLED = [
    Case("plain", f"Hi\nCARD: {P}", "Hi", CARD),
    Case("bold", f"Hi\n**CARD**: {P}", "Hi", CARD),
    Case("italic", f"*CARD*: {P}", "", CARD),
    Case("bold, colon inside", f"**CARD:** {P}", "", CARD),
    Case("bold, blank before the colon", f"**CARD** : {P}", "", CARD),
    Case("bold that is not closed", f"**CARD: {P} bye", "bye", CARD),
    Case("bold round all of it", f"**CARD: {P}** bye", "bye", CARD),
    Case("bold that another one follows", f"**CARD: {P} **bye**", "**bye**", CARD),
    Case("bold closed behind a blank", f"**CARD: **{P} bye", "bye", CARD),
    Case("bold round the JSON", f"CARD: **{P}** bye", "bye", CARD),
    Case("bold behind it is not its own", f"CARD: {P} **bye**", "**bye**", CARD),
    Case("stars behind a closed marker stay", f"**CARD:** {P} *bye*", "*bye*", CARD),
    Case("bold list", 'Done.\n**TIPS:**\n["a"]', "Done.", {"tips": ["a"]}),
    Case("bold list, colon outside", 'Done.\n**TIPS**:\n["a"]', "Done.", {"tips": ["a"]}),
    Case("three stars", f"***CARD***: {P}", "", CARD, ("odd-marker",)),
    Case("underscores", f"__CARD:__ {P} bye", "bye", CARD, ("odd-marker",)),
    Case("code span", f"`CARD`: {P}", "", CARD, ("odd-marker",)),
    Case("full-width colon", f"CARD：{P}", "", CARD, ("odd-marker",)),
    Case("bold and a full-width colon", f"**CARD**：{P}", "", CARD, ("odd-marker",)),
    Case("plain only, and bold", f"**QUIET:** {P}", f"**QUIET:** {P}"),
    Case("plain only, and plain", f"QUIET: {P}", "", {"quiet": MOSS}),
    Case("no more than emphasis", f"__LOUD:__ {P}", f"__LOUD:__ {P}"),
    Case("any case", f"*Loud*: {P}", "", {"loud": MOSS}),
    Case("lower case", f"card: {P}", f"card: {P}"),
    Case("blank before the colon", f"CARD : {P}", "", CARD),
    Case("line break before the colon", f"CARD\n: {P}", f"CARD\n: {P}"),
    Case("part of a word", f"MY_CARD: {P}", f"MY_CARD: {P}"),
    Case("behind a bracket", f"(CARD: {P})", f"(CARD: {P})"),
    Case("the beginning of another marker", f"CARD_DECK: {P}", "", {"card_deck": MOSS}, page="decks"),
    Case("Unicode spaces", f"CARD:\u00a0\u200b{P}", "", CARD),
    Case("byte order mark", f"\ufeffCARD: {P}\r\nbye", "bye", CARD),
    Case("line breaks of Windows", f"Hi\r\n\r\nCARD:\r\n{P}\r\n\r\nbye", "Hi\n\nbye", CARD),
]

TEXT = [
    Case("sentence", 'I send a CARD: soon. It is {"a": 1}.', 'I send a CARD: soon. It is {"a": 1}.'),
    Case("quoted", 'You asked about "CARD:" and so on.', 'You asked about "CARD:" and so on.'),
    Case("quoted with JSON", f'Write "CARD: {P}".', f'Write "CARD: {P}".'),
    Case("code span with JSON", f"Write `CARD: {P}`.", f"Write `CARD: {P}`."),
    Case("fence", f"So:\n```\nCARD: {P}\n```\nbye", f"So:\n```\nCARD: {P}\n```\nbye"),
    Case("long fence", f"````\n```\nCARD: {P}\n```\n````", f"````\n```\nCARD: {P}\n```\n````"),
    Case("fence of JSON", f"```json\nCARD: {P}\n```", f"```json\nCARD: {P}\n```"),
    Case("tildes", f"~~~\nCARD: {P}\n~~~", f"~~~\nCARD: {P}\n~~~"),
    Case("reasoning", f"<think>CARD: {P}</think>\n\nHi", "Hi"),
    Case(
        "fence that counts",
        f"So:\n```\nCARD: {P}\nx\n```",
        "So:\n```\nx\n```",
        CARD,
        settings=PayloadSettings(markers_in_fences=True),
    ),
    Case("no colon", f"CARD {P}", f"CARD {P}"),
    Case("bullets", "TIPS:\n- a\n- b", "TIPS:\n- a\n- b", {}, ("missing-payload",)),
    Case("bullets of stars", "TIPS:\n* a\n* b", "TIPS:\n* a\n* b", {}, ("missing-payload",)),
    Case("bold text behind it", "**TIPS:**\n\n**a**", "**TIPS:**\n\n**a**", {}, ("missing-payload",)),
    Case("a link", 'TIPS: see [docs] ["a"]', 'TIPS: see [docs] ["a"]', {}, ("missing-payload",)),
    Case("nothing behind it", "Bye.\nTIPS:", "Bye.\nTIPS:", {}, ("unclosed-payload",), status="truncated"),
    Case(
        "nothing behind it, stripped",
        "Bye.\n- **TIPS**:\n\n```js",
        "Bye.",
        {},
        ("unclosed-payload",),
        settings=PayloadSettings(strip_unfinished=True),
        status="truncated",
    ),
    Case("half a marker", "Bye.\nTIP", "Bye.\nTIP"),
    Case("nothing behind it in a sentence", "I write a CARD:", "I write a CARD:"),
    Case("nothing behind it in code", "```\nTIPS:", "```\nTIPS:"),
    Case("none, then another", f"TIPS:\nnone\nCARD: {P}", "TIPS:\nnone", CARD, ("missing-payload",)),
]

AROUND = [
    Case("fence round it", f"CARD:\n```json\n{P}\n```\nbye", "bye", CARD),
    Case("fence of tildes", f"CARD:\n~~~json\n{P}\n~~~\nbye", "bye", CARD),
    Case("fence of four", f"CARD:\n````json\n{P}\n````\nbye", "bye", CARD),
    Case("fence with a blank", f"CARD:\n``` json\n{P}\n```\nbye", "bye", CARD),
    Case("fence on one line", f"CARD: ```json {P}``` bye", "bye", CARD),
    Case("fence that is not closed", f"CARD:\n```\n{P}\nbye", "bye", CARD),
    Case("fence and bold", f"**CARD:\n```\n{P}\n```**\nbye", "bye", CARD),
    Case("heading", f"### CARD: {P}", "", CARD),
    Case("bullet", f"- one\n- CARD: {P}\n- two", "- one\n- two", CARD),
    Case("number", f"1. **CARD:** {P}\nbye", "bye", CARD),
    Case("quotation", f"> CARD: {P}\n\nbye", "bye", CARD),
    Case("bullet, odd", f"- __CARD__: {P}", "", CARD, ("odd-marker",)),
    Case("bullet with more on its line", f"Hi\n- CARD: {P} and more", "Hi\n- and more", CARD),
    Case("bullet with bold text", "- **CARDS** are: [here]", "- **CARDS** are: [here]"),
    Case("paragraphs", f"One.\n\nCARD: {P}\n\nTwo.", "One.\n\nTwo.", CARD),
    Case("many blank lines", f"One.\n\n\n\nCARD: {P}\n\n\nTwo.", "One.\n\nTwo.", CARD),
    Case("lines", f"One.\nCARD: {P}\nTwo.", "One.\nTwo.", CARD),
    Case("sentence", f"Here: CARD: {P} thanks", "Here: thanks", CARD),
    Case("full stop", f"Here it is CARD: {P}. Good?", "Here it is. Good?", CARD),
    Case("indent", f"One:\nCARD: {P}\n    two  three\n\n\nfour", "One:\n    two  three\n\n\nfour", CARD),
    Case("ends", f"\n\n CARD: {P}\n\n  ", "", CARD),
    Case("ends of text", "  Hi\n\n", "  Hi\n\n"),
    Case("two on one spot", f'One.\n\nCARD: {P}\nTIPS: ["a"] Two.', "One.\n\nTwo.", {"card": MOSS, "tips": ["a"]},
         ("suggestions-with-proposal",)),
]  # fmt: skip

HELD = '{"reason": "TIPS: [1]", "text": "} \\" {"}'
INSIDE = [
    Case("marker in a string", f"CARD: {HELD}", "", {"card": {"reason": "TIPS: [1]", "text": '} " {'}}),
    Case("array for an object", f"CARD: [{P}]", "", CARD, ("unwrapped-array",)),
    Case("object for an array", f"TIPS: {P} [1]", "[1]", {"tips": [MOSS]}, ("wrapped-object",)),
    Case("two objects for one", f"CARD: [{P}, {P}]", f"CARD: [{P}, {P}]", {}, ("wrong-kind",), status="invalid"),
    Case("empty list", "TIPS: []", "", {"tips": []}),
    Case("trailing comma", 'Hi CARD: {"a": 1,} bye', "Hi bye", {"card": {"a": 1}}, ("trailing-comma",),
         status="repaired"),
    Case("bare quotes", 'CARD: {"a": "say "hi" now"}\nbye', "bye", {"card": {"a": 'say "hi" now'}}, ("bare-quote",),
         status="repaired"),
    Case("single quotes", "CARD: {'a': '}'} bye", "bye", {"card": {"a": "}"}}, ("quote-style",), status="repaired"),
    Case("comment", 'CARD: {"a": 1 // one\n}', "", {"card": {"a": 1}}, ("comment",), status="repaired"),
    Case("repaired in a fence", 'CARD:\n```\n{"a": 1,}\n```\nbye', "bye", {"card": {"a": 1}}, ("trailing-comma",),
         status="repaired"),
    Case("repaired in tildes", 'CARD:\n~~~\n{"a": 1,}\n~~~\nbye', "bye", {"card": {"a": 1}}, ("trailing-comma",),
         status="repaired"),
    Case("repaired in bold", '**CARD: {"a": 1,}** bye', "bye", {"card": {"a": 1}}, ("trailing-comma",),
         status="repaired"),
    Case("closer missing, then another", 'CARD: {"a": 1\n\nTIPS: ["x"] bye', "bye", {"card": {"a": 1}, "tips": ["x"]},
         ("missing-closer", "suggestions-with-proposal"), status="repaired"),
    Case("inner closer missing", 'CARD: {"a": [1, 2}\nbye', "bye", {"card": {"a": [1, 2]}}, ("missing-closer",),
         status="repaired"),
    Case("stars in what is broken", 'CARD: {"a": **b**, "c": 1} **bye**', "**bye**", {"card": {"a": "**b**", "c": 1}},
         ("bare-value",), status="repaired"),
    Case("stars at the end of what is broken", "CARD:{**CARD", "CARD:{**CARD", {}, ("unclosed-payload",),
         status="truncated"),
    Case("no JSON at all", "CARD: {your card}, please", "CARD: {your card}, please", {}, ("broken-payload",),
         status="invalid"),
    Case("no JSON, stripped", "See CARD: {your card} please", "See please", {}, ("broken-payload",),
         settings=PayloadSettings(strip_unfinished=True), status="invalid"),
    Case("broken, then sound", f'CARD: {{bad}}\nTIPS: ["a"]\nCARD: {P}', "CARD: {bad}", {"tips": ["a"], "card": MOSS},
         ("broken-payload", "suggestions-with-proposal"), status="invalid"),
    Case("cut off", 'Hi CARD: {"a": 1, "b', 'Hi CARD: {"a": 1, "b', {}, ("unclosed-payload",), status="truncated"),
    Case("cut off, stripped", 'Hi CARD: {"a": 1, "b', "Hi", {}, ("unclosed-payload",),
         settings=PayloadSettings(strip_unfinished=True), status="truncated"),
]  # fmt: skip

Q = '{"title": "Fern"}'
FERN = {"title": "Fern"}
TWICE = f"One CARD: {P}\nCARD: {Q} two"
BOTH = f"CARD_DECK: {Q}\nCARD: {P}"
PLACE = [
    Case("twice", TWICE, "One two", CARD, ("extra-payload",)),
    Case("twice, kept", TWICE, f"One\nCARD: {Q} two", CARD, ("extra-payload",), settings=PayloadSettings(extra="keep")),
    Case("list twice", 'TIPS: ["a"] TIPS: ["b"]', "", {"tips": ["a"]}, ("extra-payload",)),
    Case("two kinds", BOTH, "", {"card_deck": FERN}, ("extra-payload",), "decks"),
    Case("list with a payload", f'TIPS: ["a"]\nCARD: {P}', "", {"tips": ["a"], "card": MOSS},
         ("suggestions-with-proposal",)),
    Case("list dropped for a payload", f'TIPS: ["a"]\nCARD: {P}', "", CARD, ("suggestions-with-proposal",),
         settings=PayloadSettings(suggestions_with_proposal="drop")),
    Case("list alone is not dropped", 'TIPS: ["a"]', "", {"tips": ["a"]},
         settings=PayloadSettings(suggestions_with_proposal="drop")),
    Case("of another page", f"Hi\nCARD_DECK: {P}", f"Hi\nCARD_DECK: {P}", {}, ("marker-not-registered",), "home"),
    Case("of another page, stripped", f"Hi\nCARD_DECK: {P}\n", "Hi", {}, ("marker-not-registered",), "home",
         PayloadSettings(strip_unregistered=True)),
    Case("of another page, and broken", 'CARD_DECK: {"a": 1, "b: [2} bye', 'CARD_DECK: {"a": 1, "b: [2} bye', {},
         ("marker-not-registered",), "home"),
    Case("of another page, and cut off", 'Hi CARD_DECK: {"a": [', "Hi", {}, ("marker-not-registered",), "home",
         PayloadSettings(strip_unregistered=True)),
    Case("of another page, and no more than a marker", "Hi\nCARD_DECK:", "Hi", {}, ("marker-not-registered",), "home",
         PayloadSettings(strip_unregistered=True)),
    Case("in one of another page", 'CARD_DECK: {"a": "\\nCARD: {}"}', 'CARD_DECK: {"a": "\\nCARD: {}"}', {},
         ("marker-not-registered",), "home"),
]  # fmt: skip

CASES = [
    (group, case)
    for group, cases in (("spelled", SPELLED), ("text", TEXT), ("around", AROUND), ("inside", INSIDE), ("place", PLACE))
    for case in cases
]


@in_one_item("case", [case for _, case in CASES])
def test_a_response(case: Case) -> None:
    reply = read(REGISTRY, case.text, case.page, settings=case.settings)
    assert reply.to_message()["message"] == reply.text == case.message
    assert {one.type: one.data for one in reply.payloads} == case.payloads
    assert [diagnostic.code for diagnostic in reply.diagnostics] == list(case.codes)
    assert reply.status == case.status
    for diagnostic in reply.diagnostics:
        start, end = diagnostic.span
        assert 0 <= start <= end <= len(case.text)


def test_the_message_has_all_its_keys() -> None:
    assert REGISTRY.parse("Hi").to_message() == {"message": "Hi", "tips": None, "custom_payload": None}
    message = REGISTRY.parse(f"Hi CARD: {P} TIPS: []").to_message()
    assert message == {"message": "Hi", "tips": [], "custom_payload": {"type": "card", "data": MOSS}}


def test_truncated_payload_is_partial_and_not_in_payloads() -> None:
    reply = read(REGISTRY, 'Hi CARD: {"a": 1, "b": [2, 3')
    (one,) = reply.unfinished_payloads
    assert (one.status, one.data, one.span) == ("truncated", {"a": 1, "b": [2]}, (3, 28))
    assert reply.payloads == []


def test_missing_closer_after_a_natural_stop_is_repaired() -> None:
    reply = REGISTRY.parse('Hi CARD: {"a": 1', finish_reason="stop")
    assert (reply.payloads[0].data, reply.payloads[0].status, reply.text) == ({"a": 1}, "repaired", "Hi")
    parser = REGISTRY.parser().session()
    parser.feed('Hi CARD: {"a": 1')
    parser.close("stop")
    assert parser.reply == reply


def test_extra_payloads_are_collected() -> None:
    reply = read(REGISTRY, TWICE, settings=PayloadSettings(extra="collect"))
    assert [one.data for one in reply.extra_payloads] == [FERN]
    assert [one.data for one in reply.payloads] == [MOSS]


def test_first_registered_type_wins_if_requested() -> None:
    reply = REGISTRY.parse(BOTH, "decks", settings=PayloadSettings(precedence="registration"))
    assert [(one.type, one.data) for one in reply.payloads] == [("card", MOSS)]
    assert [diagnostic.code for diagnostic in reply.diagnostics] == ["extra-payload"]


def test_repair_none_repairs_nothing() -> None:
    text = 'Hi CARD: {"a": 1,} bye\nTIPS: ["a"]'
    reply = read(REGISTRY, text, repair="none")
    assert (reply.text, [one.type for one in reply.payloads]) == ('Hi CARD: {"a": 1,} bye', ["tips"])
    assert [diagnostic.code for diagnostic in reply.diagnostics] == ["broken-payload"]


def test_a_prompt_that_opened_the_reasoning() -> None:
    reply = read(REGISTRY, f"CARD: {P}\n</think>\nHi\nCARD: {Q}", prefix="<think>\n")
    assert (reply.reasoning, reply.text, [one.data for one in reply.payloads]) == (f"CARD: {P}", "Hi", [FERN])


def test_too_deep_or_too_long_payload_is_text() -> None:
    deep = f"Hi\nTIPS: {'[' * 40}{']' * 40} bye"
    reply = read(REGISTRY, deep, settings=PayloadSettings(max_depth=32))
    assert (reply.text, reply.payloads, [one.code for one in reply.diagnostics]) == (deep, [], ["broken-payload"])
    assert len(REGISTRY.parse(deep, settings=PayloadSettings(max_depth=41)).payloads) == 1


def test_text_blocks_are_one_text() -> None:
    blocks = [{"type": "text", "text": "Hi CA"}, {"type": "tool_use", "id": "x"}, {"type": "text", "text": f"RD: {P}"}]
    reply = REGISTRY.parse(blocks)
    assert (reply.text, [one.data for one in reply.payloads]) == ("Hi", [MOSS])
    assert reply.blocks == ((0, 5), (5, 26))
    assert REGISTRY.parse(["Hi CA", f"RD: {P}"]).payloads == reply.payloads


def test_texts_with_another_block_between_them_do_not_run_together() -> None:
    """Blocks are joined like those of a provider, beside payloads, too; blocks that meet are one text."""
    call = {"type": "tool_use", "id": "t"}
    kept = 'CARD: {"a": 1,} bye'
    for blocks, expected in [
        (["One.", call, "Two."], "One. Two."),
        (["One.\n\n", call, call, "Two."], "One.\n\nTwo."),
        (["One", call, ", two"], "One, two"),
        (["One.", "Two.", call, "Three.", call], "One.Two. Three."),
        ([call, "One.", call, "", "Two."], "One. Two."),
        (["One. ", call, f"CARD: {P}\n\nTwo.", call, "Three."], "One.\n\nTwo. Three."),
        ([f"One. CARD: {P}", call, "Two."], "One. Two."),
        (["One.", call, kept, call, "Two."], f"One. {kept} Two."),
        ([f"One.{kept[:9]}", call, kept[9:]], f"One.{kept[:9]} {kept[9:]}"),
    ]:
        reply = REGISTRY.parse(blocks, repair="none")
        assert (reply.text, reply.to_message()["message"]) == (expected, expected), blocks


def test_the_texts_between_payloads_tile_the_response() -> None:
    text = f"One.\n\nCARD: {P}\n\nTwo {{x}}\nCARD: {{bad}}\nThree"
    reply = REGISTRY.parse(text)
    ends = [(one.kind, one.span) for one in reply.segments]
    assert [kind for kind, _ in ends] == ["text", "payload", "text"]
    assert ends[0][1][0] == 0
    assert [a[1] for _, a in ends[:-1]] == [b[0] for _, b in ends[1:]]
    assert ends[-1][1][1] == len(text)


def test_a_reply_of_the_plain_format_has_a_message_too() -> None:
    from outspoken import parse

    message = parse('Done.\nSUGGESTED_VALUES: ["a"]', "suggestions").to_message()
    assert message == {"message": "Done.", "suggested_values": ["a"], "suggested_actions": None, "custom_payload": None}


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("suggestions", "Ready.\n\nSUGGESTED_VALUES: []\n\nWhat next?", "Ready.\n\nWhat next?"),
        ("suggestions", "One, or SUGGESTED_VALUES: [] two.", "One, or two."),
        ("suggestions", "Done.\nSUGGESTED_VALUES: []\nSUGGESTED_ACTIONS: []\n  Bye.\n", "Done.\n  Bye.\n"),
        ("suggestions", "<think>\nso\n</think>\n\nHi", "Hi"),
        ("suggestions", "  a\n\n\n  b ```\nc\n\n\n\n``` \n", "  a\n\n\n  b ```\nc\n\n\n\n``` \n"),
        ("hermes", 'One.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nTwo.', "One.\nTwo."),
        ("hermes", 'One. {"a": 1}', 'One. {"a": 1}'),
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', ""),
    ],
)
def test_message_of_any_format_separates_words(format: str, text: str, message: str) -> None:
    from outspoken import parse

    assert parse(text, format).to_message()["message"] == message
