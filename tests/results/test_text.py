"""The text of a reply: what remains where something was removed, and that all doors give the same text."""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

from outspoken import Done, Reply, TextDelta, parse, stream
from outspoken.grammar import registry
from outspoken.grammar.registry import automaton
from outspoken.providers import ProviderStream, parse_response
from outspoken.providers.wire.writing import stream_to_wire, to_wire
from outspoken.serving.apis.chat import CompletionRewriter
from outspoken.serving.settings import ServerSettings
from tests.cases import CASES, FORMATS, Case
from tests.invariants.replies import pieces
from tests.serving.serving import chunk, completion, event
from tests.tables import tables

TABLES = tables(__file__)


def markup_of(format_: str) -> Iterator[Case]:
    """Sound cases of a format that consist of calls, reasoning and the like, without any text."""
    for case in CASES:
        if case.format == format_ and case.kind == "ok" and not case.options:
            reply = case.parse()
            if reply.segments and all(
                s.kind in ("tool_call", "reasoning", "action", "payload") for s in reply.segments
            ):
                yield case


def between(format_: str, case: Case, before: str, after: str) -> tuple[str, Reply] | None:
    """A case with a word on either side, if the format reads it so."""
    text = f"One{before}{case.text.strip()}{after}two"
    reply = parse(text, format=format_)
    shown = [segment.text.strip() for segment in reply.segments if segment.kind == "text"]
    return (text, reply) if shown == ["One", "two"] else None


def test_white_space_on_both_sides_of_markup_stays_in_all_formats() -> None:
    """Where calls or reasoning stood between two texts, the text is what the model wrote round them."""
    found: set[str] = set()
    for format_ in FORMATS:
        case = next((c for c in markup_of(format_) if between(format_, c, "\n", "\n")), None)
        for before, after in Random(format_).sample(TABLES["GAPS"], 3) if case else ():
            assert case is not None
            read = between(format_, case, before, after)
            if read is None:
                continue  # a marker that wants a line of its own
            text, reply = read
            found.add(format_)
            separator = " " if registry.header(format_).separate and not before + after else ""
            assert reply.text == f"One{before}{separator}{after}two", (format_, text)
            assert_same_everywhere(text, format_, reply, streamed=len(found) % 6 == 0)
    assert len(found) >= 60, sorted(set(FORMATS) - found)


def assert_same_everywhere(text: str, format_: str, reply: Reply, *, streamed: bool) -> None:
    """All that gives the text of a reply gives the same. The invariants stream in all formats."""
    if streamed:
        size = Random(text).choice((1, 3, 7))
        deltas = [e.text for e in stream(pieces(text, size), format=format_) if isinstance(e, TextDelta)]
        assert "".join(deltas) == reply.text, (format_, text, deltas)
    assert reply.to_message()["message"] == reply.text
    if not reply.unfinished_tool_calls and not reply.envelope:
        assert reply.to_envelope()["content"] == reply.text
    assert to_wire(reply, "openai")["choices"][0]["message"]["content"] == reply.text
    assert joined(to_wire(reply, "anthropic")["content"]) == reply.text
    assert joined(to_wire(reply, "openai_responses")["output"]) == reply.text
    assert joined(to_wire(reply, "vercel")["parts"]) == reply.text


def joined(parts: list[dict[str, Any]]) -> str:
    """The text of blocks, items or parts."""
    inner = [found for part in parts for found in part.get("content", [part])]
    return "".join([part["text"] for part in inner if part["type"] in ("text", "output_text")])


CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


def test_the_proxy_gives_the_same_text() -> None:
    for (before, after), size in product(TABLES["GAPS"], (1, 5)):
        text = f"One{before}{CALL}{after}two"
        rewriter = CompletionRewriter(ServerSettings("http://localhost", "hermes"), {"tools": [{"type": "any"}]})
        whole = rewriter.rewrite(completion({"role": "assistant", "content": text}))
        assert whole["choices"][0]["message"]["content"] == f"One{before}{after}two"
        sent = [part for piece in pieces(text, size) for part in rewriter.feed(event(chunk({"content": piece})))]
        sent += [*rewriter.feed(event(chunk({}, "stop"))), *rewriter.feed(b"data: [DONE]\n\n"), *rewriter.close()]
        deltas = [choice["delta"].get("content") for part in sent for choice in part.get("choices", ())]
        assert "".join(filter(None, deltas)) == f"One{before}{after}two"


# blocks of a provider


def anthropic(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "id": "m", "model": "m", "role": "assistant", "content": list(blocks)}


def test_blocks_of_a_provider_do_not_run_together() -> None:
    """Text blocks with something between them are separated; those that meet are one text, as with citations."""
    call: dict[str, Any] = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    texts: list[dict[str, Any]] = []
    for first, second, expected in TABLES["BLOCKS"]:
        texts = [{"type": "text", "text": first}, {"type": "text", "text": second}]
        reply = parse_response(anthropic(texts[0], call, texts[1]), provider="anthropic")
        assert reply.text == expected
        assert "".join([e.text for e in stream_of(texts[0], call, texts[1]) if isinstance(e, TextDelta)]) == expected
        assert joined(to_wire(reply, "anthropic")["content"]) == expected
        assert parse_response(anthropic(*texts), provider="anthropic").text == first + second
    chunks = list(stream_to_wire(stream_of(texts[0], call, texts[1]), "openai"))
    assert "".join([c["choices"][0]["delta"].get("content") or "" for c in chunks if c["choices"]]) == "A."


def stream_of(*blocks: dict[str, Any]) -> Iterator[Any]:
    """The events of a streamed message with some blocks."""
    made = ProviderStream("anthropic")
    yield from made.feed({"type": "message_start", "message": anthropic()})
    for number, block in enumerate(blocks):
        begun = {**block, "text": ""} if block["type"] == "text" else block
        yield from made.feed({"type": "content_block_start", "index": number, "content_block": begun})
        if block["type"] == "text":
            delta = {"type": "text_delta", "text": block["text"]}
            yield from made.feed({"type": "content_block_delta", "index": number, "delta": delta})
        yield from made.feed({"type": "content_block_stop", "index": number})
    yield from made.close()


def test_content_that_is_one_string_is_not_separated() -> None:
    """In chat completions, a native call or reasoning between two pieces of the content does not split a word."""
    made = ProviderStream("openai")
    for delta in ({"content": "Hel"}, {"reasoning_content": "Hm"}, {"content": "lo"}):
        made.feed({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})
    made.close()
    assert made.reply is not None
    assert made.reply.text == "Hello"


# reasoning within reasoning


def own_tags() -> Iterator[tuple[str, str, str]]:
    """The tags of reasoning of each format that has them: its name, the opening tag and the closing one."""
    for format_ in FORMATS:
        written = {t.short: t.canonical.strip() for t in automaton(format_).tables.terminals.values() if t.canonical}
        for kind in ("_THINK", "_PLAIN"):
            if f"{kind}_OPEN" in written and f"{kind}_CLOSE" in written:
                yield format_, written[f"{kind}_OPEN"], written[f"{kind}_CLOSE"]


INNER = ["b", "b {o}c{c} d", "b{c}{o}c"]
INERT = (
    '{"name": "rm", "arguments": {}, "action": "rm"}\n<tool_call>\n{"name": "rm", "arguments": {}}\n</tool_call>\nrm()'
)


def test_reasoning_ends_at_the_closing_tag_of_the_first_opening_tag() -> None:
    """What follows the end of reasoning within reasoning is still reasoning; nothing of it runs."""
    count = 0
    for format_, open_, close in own_tags():
        inner = Random(format_).choice(INNER[:1] if close not in ("</think>", "</seed:think>") else INNER)
        text = f"{open_}a {open_}{inner.format(o=open_, c=close)}{close} {INERT}\n{close}\nBye."
        reply = parse(text, format=format_, prefix="")
        if [segment.kind for segment in reply.segments] != ["reasoning", "text"]:
            raise AssertionError((format_, text, reply.segments))
        assert reply.text == "Bye."
        assert (reply.reasoning or "").count(open_) == text.count(open_) - 1
        count += 1
        if count % 9 == 0:
            assert list(stream(pieces(text, 3), format=format_, prefix=""))[-1] == Done(reply)
    assert count >= 60
