"""Where a payload begins and ends, and what is left of the text: one case for each edge, at every split.

The shared cases of marker payloads are read, too, where they are there.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from outspoken import parse
from outspoken.contrib.table_chat import TYPES
from outspoken.payloads import PayloadRegistry, PayloadSettings, PayloadType
from tests.loops import in_one_item
from tests.payloads.payload_streams import read
from tests.tables import beside, tables

TABLES = tables(__file__)

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


class Case(NamedTuple):
    """A text and what is to be made of it: the message (None: all of it), the payloads by type, and the codes."""

    text: str
    message: str | None = None
    payloads: dict[str, Any] = {}  # noqa: RUF012 nothing changes it
    codes: Sequence[str] = ()
    page: str | None = None
    settings: dict[str, Any] = {}  # noqa: RUF012
    status: str = "ok"
    options: dict[str, Any] = {}  # noqa: RUF012
    #: payloads beyond the one that counts, those without an end, and reasoning
    extra: Sequence[Any] = ()
    unfinished: Sequence[Any] | None = None
    reasoning: str | None = None


CASES = {name: Case(**case) for name, case in TABLES["CASES"].items()}


@in_one_item("case", CASES.values())
def test_a_response(case: Case) -> None:
    reply = read(REGISTRY, case.text, case.page, settings=PayloadSettings(**case.settings), **case.options)
    assert reply.to_message()["message"] == reply.text == (case.text if case.message is None else case.message)
    assert {one.type: one.data for one in reply.payloads} == case.payloads
    assert [diagnostic.code for diagnostic in reply.diagnostics] == list(case.codes)
    assert (reply.status, reply.reasoning or case.reasoning) == (case.status, case.reasoning or reply.reasoning)
    assert [one.data for one in reply.extra_payloads] == list(case.extra)
    unfinished = [[one.status, one.data, list(one.span)] for one in reply.unfinished_payloads]
    assert unfinished == (unfinished if case.unfinished is None else case.unfinished)
    for diagnostic in reply.diagnostics:
        start, end = diagnostic.span
        assert 0 <= start <= end <= len(case.text)


def test_the_message_has_all_its_keys() -> None:
    assert REGISTRY.parse("Hi").to_message() == {"message": "Hi", "tips": None, "custom_payload": None}
    message = REGISTRY.parse(f"Hi CARD: {P} TIPS: []").to_message()
    assert message == {"message": "Hi", "tips": [], "custom_payload": {"type": "card", "data": MOSS}}


def test_first_registered_type_wins_if_requested() -> None:
    text = f'CARD_DECK: {{"title": "Fern"}}\nCARD: {P}'
    settings = PayloadSettings(precedence="registration")
    reply = REGISTRY.parse(text, page="decks", settings=settings)
    assert [(one.type, one.data) for one in reply.payloads] == [("card", MOSS)]
    assert [diagnostic.code for diagnostic in reply.diagnostics] == ["extra-payload"]
    beside = REGISTRY.parse(f"TIPS: []\n{text}", page="decks", settings=settings)
    assert [one.type for one in beside.payloads] == ["tips", "card"]


def test_text_blocks_are_one_text() -> None:
    blocks = [{"type": "text", "text": "Hi CA"}, {"type": "tool_use", "id": "x"}, {"type": "text", "text": f"RD: {P}"}]
    reply = REGISTRY.parse(blocks)
    assert (reply.text, [one.data for one in reply.payloads]) == ("Hi", [MOSS])
    assert reply.blocks == ((0, 5), (5, 26))
    assert REGISTRY.parse(["Hi CA", f"RD: {P}"]).payloads == reply.payloads


@pytest.mark.parametrize(("blocks", "expected"), TABLES["BLOCKS"])
def test_texts_with_another_block_between_them_do_not_run_together(blocks: list[Any], expected: str) -> None:
    """Blocks are joined like those of a provider, beside payloads, too; blocks that meet are one text."""
    reply = REGISTRY.parse(blocks, repair="none")
    assert (reply.text, reply.to_message()["message"]) == (expected, expected)


def test_the_texts_between_payloads_tile_the_response() -> None:
    text = f"One.\n\nCARD: {P}\n\nTwo {{x}}\nCARD: {{bad}}\nThree"
    reply = REGISTRY.parse(text)
    ends = [(one.kind, one.span) for one in reply.segments]
    assert [kind for kind, _ in ends] == ["text", "payload", "text"]
    assert ends[0][1][0] == 0
    assert [a[1] for _, a in ends[:-1]] == [b[0] for _, b in ends[1:]]
    assert ends[-1][1][1] == len(text)


def test_a_reply_of_the_plain_format_has_a_message_too() -> None:
    message = parse('Done.\nSUGGESTED_VALUES: ["a"]', format="suggestions").to_message()
    assert message == {"message": "Done.", "suggested_values": ["a"], "suggested_actions": None, "custom_payload": None}


@pytest.mark.parametrize(("format", "text", "message"), TABLES["MESSAGE_OF_ANY_FORMAT_SEPARATES_WORDS"])
def test_message_of_any_format_separates_words(format: str, text: str, message: str) -> None:
    assert parse(text, format=format).to_message()["message"] == message


# the shared cases of marker payloads, where they are there: what the specification says, and where ours differs


SHARED = beside("gui/marker_cases.jsonl")
ALIKE = PayloadSettings(validation="off")

#: Where an outcome is not the one that follows from the words of the seed, by the number of the case.
OURS: dict[int, dict[str, Any]] = tables(__file__)["OURS"]
NOTHING = {"suggested_values": None, "suggested_actions": None, "custom_payload": None}


def test_every_shared_case() -> None:
    """Suggestions and those payloads that a case names are registered; without the cases, there is nothing to check."""
    seen = 0
    for case in SHARED:
        names = {"suggested_values", "suggested_actions", *case["registered_payloads"]}
        registry = PayloadRegistry([one for one in TYPES if one.name in names])
        number = int(case["id"].removeprefix("marker-"))
        reply = read(registry, case["input"], settings=ALIKE)
        wanted = NOTHING | OURS[number] if number in OURS else case["spec_literal"]
        assert reply.to_message() == wanted, case["id"]
        assert (reply.to_message() != case["spec_literal"]) == (number in OURS), case["id"]
        seen += 1
    assert seen == (35 if SHARED else 0)
