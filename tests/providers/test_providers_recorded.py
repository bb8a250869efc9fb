"""Answers of providers as they were recorded on the wire: read as the vendors' own SDKs read the same bytes.

Whole answers and streams, errors included; streams split anywhere give the same reply. Where we differ from an SDK,
that is on purpose, and listed here by rows with the reason; any other difference fails. Where the recordings are not
there, there is nothing to read.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from outspoken.providers import ProviderFormatError, ProviderReply, parse_response
from tests.loops import some
from tests.providers.provider_events import dumped, feed
from tests.providers.provider_sdks import SDKS, Row, Seen, read_by_sdk

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "recorded" / "providers.jsonl"

NO_ID = "an id that is empty is none"
OPEN = "a response that is still worked on has no reason for its end"
TORN = "the SDK's accumulation fails at a list without indexes; its chunks are put together here"
#: Rows that differ, and why; the value is what we read in the fields that differ.
DIFFERENCES: dict[str, tuple[str, dict[str, Any]]] = {
    "gemini-cdccbb0a25": (NO_ID, {"calls": [(None, "get_current_time", {})]}),
    "openai-61de4621b3": (OPEN, {"stop": None}),
    "openai-d6b5a6bbc4": (OPEN, {"stop": None}),
    "openai-d27764c3a2": (OPEN, {"stop": None}),
}
#: Rows that the SDK raises an error of its own for.
UNREAD = {"openrouter-de7bdf3546": TORN}
#: Parts of the addresses of answers that are no response of a model: embeddings, and counts of tokens.
OTHER = ("embed", "count_tokens", "application-inference-profile")
#: The streams that are split at a third of all places are no longer than this, in bytes; others at so many places.
SHORT, PLACES = 700, 8


@cache
def rows() -> list[Row]:
    """All recordings."""
    if not RECORDED.exists():
        return []
    found = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]
    return [
        Row(
            row["id"],
            row["vendor"],
            row["api"],
            row["kind"] == "sse",
            row["status"],
            row["body"] if isinstance(row["body"], str) else json.dumps(row["body"], ensure_ascii=False),
        )
        for row in found
    ]


def provider(row: Row) -> Any:
    """The provider as which a row is read."""
    return "openai_responses" if "responses" in row.api else row.vendor


def is_other(row: Row) -> bool:
    """Is this no response of a model?"""
    return any(part in row.api for part in OTHER)


def seen(reply: ProviderReply) -> Seen:
    """A reply as an SDK's."""
    usage = reply.usage
    return Seen(
        text=reply.text,
        reasoning="".join([segment.text for segment in reply.segments if segment.kind == "reasoning"]),
        calls=[(call.id, call.name, call.arguments) for call in reply.tool_calls],
        stop=reply.stop_reason,
        usage=(usage.input_tokens, usage.output_tokens) if usage is not None else (None, None),
        refusal=reply.refusal,
        error=reply.error.message if reply.error is not None else None,
    )


def test_all_recordings_are_there() -> None:
    assert not RECORDED.exists() or len(rows()) >= 900
    assert {row.vendor for row in rows()} <= SDKS.keys()


@pytest.mark.parametrize("vendor", SDKS)
def test_recording_equals_the_result_of_the_sdk(vendor: str) -> None:
    """Bytes, and the objects that the SDK makes of them; of a share of the recordings, and of those that differ."""
    own = [row for row in rows() if row.vendor == vendor and not is_other(row) and row.id not in UNREAD]
    for row in {*some(own, vendor, 0.17), *[row for row in own if row.id in DIFFERENCES]} if own else ():
        reply = parse_response(row.body, provider=provider(row))
        theirs, ours = read_by_sdk(row), seen(reply)
        assert not theirs.objects or seen(feed(theirs.objects, provider(row))) == ours, row.id
        for name, value in DIFFERENCES[row.id][1].items() if row.id in DIFFERENCES else ():
            assert getattr(theirs, name) != value
            setattr(theirs, name, value)
        assert ours == theirs, row.id
        assert reply.status == "ok", row.id
        assert reply.diagnostics == [], row.id


def test_recordings_that_the_sdk_cannot_assemble() -> None:
    for row in rows():
        if row.id in UNREAD:
            with pytest.raises(RuntimeError, match="index"):
                read_by_sdk(row)
            chunks = [json.loads(line[6:]) for line in row.body.splitlines() if line.startswith("data: {")]
            text = "".join([chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks])
            reply = feed([row.body], provider(row))
            assert reply.text == text
            assert len(reply.payloads) == sum([len(c["choices"][0]["delta"].get("annotations", [])) for c in chunks])


def test_other_bodies_are_rejected() -> None:
    for row in rows():
        if is_other(row):
            with pytest.raises(ProviderFormatError, match="expected"):
                parse_response(row.body, provider=provider(row))


def test_result_does_not_depend_on_splits() -> None:
    streams = [row for row in rows() if row.sse]
    for row in some(streams, "splits", 0.17) if streams else ():
        body = row.body.encode()
        whole = dumped(feed([body], provider(row)))
        short = len(body) <= SHORT
        for place in some(range(1, len(body)), row.id, 0.34 if short else PLACES / len(body)):
            assert dumped(feed([body[:place], body[place:]], provider(row))) == whole, (row.id, place)
        assert dumped(feed([body[i : i + 1] for i in range(len(body))], provider(row))) == whole, row.id
        assert dumped(feed(row.body, provider(row))) == whole, row.id


def test_lines_without_line_breaks() -> None:
    for row in rows():
        if row.sse:
            assert dumped(feed(row.body.splitlines(), provider(row))) == dumped(feed([row.body], provider(row))), row.id


def test_whole_response_in_pieces() -> None:
    for row in rows()[::9]:
        if not row.sse and not is_other(row) and len(row.body) < 20_000:
            whole = dumped(parse_response(row.body, provider=provider(row)))
            assert dumped(feed(row.body, provider(row))) == whole, row.id


def test_data_has_the_expected_size() -> None:
    streams = [row for row in rows() if row.sse]
    assert not rows() or len(streams) >= 60
    assert not rows() or sum([len(row.body) <= SHORT for row in streams]) >= 2
