"""Streams of payloads: what is held, what is shown early, what holds for any text, and what it costs."""

import json
from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from outspoken import PayloadParsed, TextDelta
from outspoken.json.scanner import BracketCounter
from outspoken.payloads import PayloadPreview, PayloadRegistry, PayloadSettings, PayloadType
from outspoken.results.message_text import MessageText
from outspoken.results.printing import one_line
from tests.invariants.cost import calls_in
from tests.invariants.replies import at_random, pieces
from tests.loops import in_one_item, some
from tests.payloads.payload_streams import check_chunks, events_of
from tests.streams import most_held
from tests.tables import tables

TABLES = tables(__file__)

REGISTRY = PayloadRegistry(
    [
        PayloadType("tips", "TIPS:", kind="array", beside=True),
        PayloadType("card", "CARD:"),
        PayloadType("card_deck", "CARD_DECK", pages=("decks",)),
    ]
)
REGISTRY.add_page("home")


@given(
    st.lists(st.sampled_from(TABLES["PIECES"]), max_size=24),
    st.integers(0, 2**32),
    st.sampled_from([None, "home", "decks"]),
)
def test_any_text_in_any_pieces_gives_one_reply(parts: list[str], seed: int, page: str | None) -> None:
    text = "".join(parts)
    whole = REGISTRY.parse(text, page=page)
    random = Random(seed)
    check_chunks(REGISTRY, at_random(text, random, 4), page, whole)
    check_chunks(REGISTRY, text, page, whole)


@given(st.lists(st.sampled_from(TABLES["PIECES"]), max_size=16), st.sampled_from(["strip", "keep", "collect"]))
def test_any_text_with_everything_stripped(parts: list[str], extra: Any) -> None:
    settings = PayloadSettings(
        strip_unfinished=True, strip_unregistered=True, extra=extra, suggestions_with_proposal="drop"
    )
    text = "".join(parts)
    check_chunks(REGISTRY, text, "home", REGISTRY.parse(text, page="home", settings=settings), settings=settings)


@given(
    st.lists(st.sampled_from(["moss", "a fern", "**two** stones", "x = [1]", "See:", "`code`", "- a leaf"]), max_size=9)
)
def test_sound_payloads_leave_no_text_and_others_all_of_it(words: list[str]) -> None:
    payloads = ['\nCARD: {"a": [1, {"b": "}"}]}\n', "\n\n**TIPS:**\n```json\n[1]\n```\n", "\n- TIPS: []\n\n"]
    text = "".join([f"{word}{payloads[number % 3]}" for number, word in enumerate(words)])
    assert REGISTRY.parse(text).text.split() == " ".join(words).split()


@given(st.text(" \n\tab", max_size=30), st.integers(0, 30))
def test_message_without_payloads_is_the_text(text: str, at: int) -> None:
    message, at = MessageText(lambda start, end: text[start:end]), min(at, len(text))
    assert message.add(text[:at], 0, at) + message.add(text[at:], at, len(text)) + message.end(len(text)) == text


BEHIND = ["", " ", " more.", "\n\nAnd 'so' on.", ' it is "so" ', " ]}", '\nTIPS: ["a"]', '\nCARD: {"z": 1}']


def test_payloads_with_an_unclosed_string_are_read_alike_in_any_pieces() -> None:
    """One quote is missing, and the rest may be cut: the status does not depend on the pieces, and nothing is silent.

    Nothing proves the end of such a payload but a marker behind it. So without one it is never `invalid` where it is
    cut inside a string, and what is not read stays in the message.
    """
    random = Random(7)
    for number in range(90):
        text, behind, is_cut = unclosed(random)
        reason = [None, "stop", "length"][number % 3]
        whole = REGISTRY.parser().parse(text, finish_reason=reason)
        for size in (1, random.randint(2, 40)):
            stream = REGISTRY.parser().stream(pieces(text, size), finish_reason=reason)
            assert "".join([e.text for e in stream if isinstance(e, TextDelta)]) == whole.to_message()["message"], text
            assert stream.reply == whole, (text, size, reason)
        assert whole.diagnostics, text
        unread = whole.unfinished_payloads
        assert all(text[slice(*one.span)].strip() in whole.text for one in unread), text
        if is_cut and not behind and (found := [*whole.payloads, *unread]):
            assert found[0].status in ("truncated", "repaired"), text
        if reason == "length" and is_cut and not behind:
            assert whole.payloads == [], text


def unclosed(random: Random) -> tuple[str, str, bool]:
    """A payload that lacks one quote, what stands behind it, and whether it ends inside a string."""
    data = random.choice(TABLES["MEANT"])
    text = json.dumps(data, indent=random.choice([None, 2]))
    at = random.choice([number for number, char in enumerate(text) if char == '"'])
    is_closer = text[:at].count('"') % 2 == 1
    text = text[:at] + text[at + 1 :]
    is_cut = random.random() < 0.5
    if is_cut:
        rest = text.find('"', at)
        text = text[: random.randint(at, rest if rest >= 0 else len(text))]
    behind = random.choice(BEHIND)
    marker = "CARD:" if isinstance(data, dict) else "TIPS:"
    return random.choice(["", "Hi. ", "Hi.\n"]) + f"{marker} {text}{behind}", behind, is_cut and is_closer


# what is held


@pytest.mark.parametrize("text", TABLES["TEXT_IS_SENT_ONCE_IT_CANNOT_BE_A_MARKER"])
def test_text_is_sent_once_it_cannot_be_a_marker(text: str) -> None:
    session = REGISTRY.parser().session()
    assert most_held(session, text) <= 24
    session.close()
    assert session.reply is not None
    assert session.reply.text == text


@pytest.mark.parametrize("unit", ["- ", "> > # 1. ", "**", "CARD: \n", "- **CARD**   :", "- __CARD", "CARD: ```js\n "])
def test_open_ended_text_is_barely_buffered(unit: str) -> None:
    assert most_held(REGISTRY.parser().session(), unit * 100) <= 32


def test_payload_is_sent_with_its_last_bracket_and_text_continues() -> None:
    parser = REGISTRY.parser().session()
    assert parser.feed('Hi CARD: {"a": 1') == [TextDelta("Hi")]
    (parsed,) = parser.feed("}")
    assert isinstance(parsed, PayloadParsed)
    assert parser.feed(" and") == [TextDelta("  and")]


def test_broken_payload_becomes_text_at_its_last_bracket() -> None:
    parser = REGISTRY.parser().session()
    parser.feed("Hi CARD: {bad, {worse}")
    new_events = parser.feed("} and")
    assert "".join([event.text for event in new_events if isinstance(event, TextDelta)]) == " CARD: {bad, {worse}} and"


def test_broken_payload_respects_the_buffer_limit() -> None:
    settings = PayloadSettings(max_hold=60)
    text = 'Hi CARD: {"a": "no quote}\n' + "and more text " * 10 + 'TIPS: ["a"]'
    whole = REGISTRY.parse(text, settings=settings)
    for size in (1, 7, 40, 400):
        check_chunks(REGISTRY, pieces(text, size), None, whole, settings=settings)
    assert (whole.text + ' TIPS: ["a"]', [one.type for one in whole.payloads]) == (text, ["tips"])
    assert most_held(REGISTRY.parser(settings=settings).session(), text[:-12]) <= 80
    assert REGISTRY.parse(text).text == whole.text


def test_no_marker_and_no_json_is_ever_sent() -> None:
    text = 'Hi\n\n- **CARD:**\n```json\n{"title": "Moss", "n": [1]}\n```\n\nTIPS: ["x"] Bye'
    sent = [event.text for event in events_of(REGISTRY, [*text], None) if isinstance(event, TextDelta)]
    assert "".join(sent) == "Hi\n\n\n\n Bye"
    assert not any(set(piece) & set("CARD{}[]*`-") for piece in sent)


def test_suggestions_wait_if_a_payload_can_drop_them() -> None:
    settings = PayloadSettings(suggestions_with_proposal="drop")
    parser = REGISTRY.parser(settings=settings).session()
    assert parser.feed('TIPS: ["a"] Hi') == [TextDelta("Hi")]
    assert [type(event).__name__ for event in parser.close()] == ["PayloadParsed", "Done"]
    parser = REGISTRY.parser(settings=settings).session()
    parser.feed('TIPS: ["a"]\nCARD: {}')
    assert [type(event).__name__ for event in parser.close()] == ["Done"]


# previews


class Ferry(BaseModel):
    """What a payload shows while it arrives."""

    harbour: str
    seats: int | None = None


def previews(text: str, page: str | None = None) -> list[Any]:
    """The data of all previews of a text that comes by characters."""
    return [e.data for e in events_of(REGISTRY, [*text], page, previews=True) if isinstance(e, PayloadPreview)]


def test_previews_grow_and_are_parts_of_the_payload() -> None:
    rows = [{"row": number, "text": f"stone {number}"} for number in range(12)]
    text = f"Hi CARD: {{'rows': {rows}}}".replace("'", '"')
    found = previews(text)
    assert len(found) >= 10
    for data in found:
        assert data.get("rows", [])[:-1] == rows[: max(len(data.get("rows", [])) - 1, 0)]
    lengths = [len(data.get("rows", [])) for data in found]
    assert lengths == sorted(lengths)
    assert lengths[-1] >= 10


def test_the_first_preview_comes_with_the_opening_bracket() -> None:
    parser = REGISTRY.parser(previews=True).session()
    assert parser.feed("Hi CARD: ") == [TextDelta("Hi")]
    assert parser.feed("{") == [PayloadPreview("card", {})]
    assert parser.feed('"a": 1') == []


def test_previews_show_only_valid_values() -> None:
    long = '{"title": "a long title of moss and fern"}'
    assert previews(f"CARD_DECK: {long}", "home") == []
    assert previews(f"CARD_DECK: {long}", "decks") != []
    assert len(previews(f"CARD: {long}\nCARD: {long}")) == len(previews(f"CARD: {long}"))
    assert not [e for e in events_of(REGISTRY, [f"CARD: {long}"], None) if isinstance(e, PayloadPreview)]


@in_one_item("text, wanted", TABLES["SNAPSHOTS"])
def test_previews_show_the_model(text: str, wanted: Any) -> None:
    registry = PayloadRegistry([PayloadType("ferry", "FERRY", Ferry), PayloadType("all", "ALL", Ferry, kind="array")])
    for size in range(1, len(text) // 2):
        events = list(registry.stream(pieces(text, size), previews=True))
        shown = [event.snapshot for event in events if isinstance(event, PayloadPreview)]
        payloads = [event.payload for event in events if isinstance(event, PayloadParsed)]
        assert [one.data for one in payloads] == ([] if wanted is None else [wanted])
        assert shown or size > 2
        done = {path for one in shown for path in (e.path for e in one.events if e.kind == "end")}
        assert all(shown[-1].state(path) == "complete" for path in done)
        if wanted is not None and shown:
            assert json.dumps(shown[-1].partial, default=vars) == json.dumps(payloads[0].value, default=vars)
            assert shown[-1].state() == "complete"


def test_events_of_payloads_as_lines() -> None:
    text = 'CARD: {"title": "a long title of moss"}\nTIPS: {bad} ["a'
    lines = [one_line(event) for event in events_of(REGISTRY, [*text], None, previews=True)]
    assert lines[0] == "PayloadPreview('card', {})"
    assert "PayloadParsed(TypedPayload(card, {'title': 'a long title of moss'}))" in lines
    assert "PayloadUnfinished(TypedPayload(tips, None, status='invalid'))" in lines
    assert lines[-1].startswith("Done(PayloadReply(format='payloads', status='invalid', ")


# what it costs


@pytest.mark.parametrize("unit", TABLES["HOSTILE"])
def test_twice_the_text_is_about_twice_the_work(unit: str) -> None:
    """Alone and in a payload, whole and in pieces: of these four, two are tried in a run."""
    for behind, size in some(product(("", 'CARD: {"a": "'), (10**6, 40)), unit, 0.5):

        def run(times: int, behind: str = behind, size: int = size) -> Callable[[], object]:
            return lambda: list(REGISTRY.stream(pieces(behind + unit * times, size), page="home"))

        times = 800 // len(unit) + 1
        run(2)()
        less, more = calls_in(run(times)), calls_in(run(2 * times))
        assert more <= 3 * less, (size, less, more)


def test_previews_cost_a_multiple_of_what_they_show() -> None:
    def run(times: int) -> Callable[[], object]:
        text = "CARD: {" + ", ".join([f'"k{number}": [{number}]' for number in range(times)]) + "}"
        return lambda: list(REGISTRY.stream(pieces(text, 8), previews=True))

    run(300)()
    assert calls_in(run(600)) <= 3 * calls_in(run(300))


def test_brackets_in_pieces() -> None:
    text = """{"a}": ['x]', {b: "\\"}"}], c: it's} and } more"""
    end = text.index("} and") + 1
    for size in range(1, len(text)):
        brackets = BracketCounter(5, tolerant=True)
        for piece in pieces(text, size):
            if brackets.end is None:
                brackets.feed(piece)
        assert brackets.end == end + 5
