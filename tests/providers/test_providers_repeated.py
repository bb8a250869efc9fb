"""What providers send twice, in pieces, or several of: messages, names and ids of calls, choices, wrapped chunks."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from outspoken import ToolCall, ToolCallStart, parse, stream
from outspoken.contrib.luxx import LLMResponseParser
from outspoken.providers import ProviderReply, parse_response, stream_response

Chunk = dict[str, Any]


def delta(index: int = 0, **fields: Any) -> Chunk:
    """A chunk of a stream."""
    return {"choices": [{"index": index, "delta": fields}]}


def whole(reason: str | None = "stop", **fields: Any) -> Chunk:
    """A chunk or a response with a message."""
    return {"object": "chat.completion", "choices": [{"index": 0, "finish_reason": reason, "message": fields}]}


def call(id: str | None, name: str, arguments: Any, **more: Any) -> Chunk:
    """A call in a list of calls."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def read(chunks: list[Chunk], **options: Any) -> ProviderReply:
    """The reply for chunks."""
    events = stream_response(chunks, provider=options.pop("provider", "openai"), **options)
    for _ in events:
        pass
    assert events.reply is not None
    return events.reply


def said(reply: ProviderReply) -> tuple[Any, ...]:
    """What a reply says."""
    calls = [(c.name, c.arguments, c.status) for c in reply.segments if isinstance(c, ToolCall)]
    return reply.reasoning, reply.text, calls, reply.refusal


def cut(random: Random, text: str) -> list[str]:
    """A text in one to four pieces, none of which is empty unless the text is."""
    cuts = sorted(random.sample(range(1, len(text)), min(3, len(text) - 1))) if len(text) > 1 else []
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _deltas(random: Random, message: Chunk) -> list[Chunk]:
    """The chunks of a stream for a message."""
    made = [
        delta(0, **{key: piece})
        for key in ("reasoning_content", "content", "refusal")
        for piece in cut(random, message.get(key) or "")
    ]
    for number, one in enumerate(message.get("tool_calls", ())):
        arguments = one["function"]["arguments"]
        made.append(delta(tool_calls=[call(one["id"], one["function"]["name"], "", index=number)]))
        made += [
            delta(tool_calls=[{"index": number, "function": {"arguments": part}}]) for part in cut(random, arguments)
        ]
    return made


def _messages(random: Random) -> Iterator[Chunk]:
    for number in range(30):
        calls = [call(f"c{i}", random.choice(["f", "go"]), json.dumps({"n": i})) for i in range(random.randint(0, 3))]
        yield {
            "content": random.choice(["", "Moss.", "Two words\n\nand more", "<think>a</think>b"]),
            "reasoning_content": random.choice([None, "Hm."]),
            "refusal": "No." if number % 7 == 0 else None,
            **({"tool_calls": calls} if calls else {}),
        }


def test_a_message_that_is_sent_again_counts_once() -> None:
    """The last chunk may hold the whole message, or every chunk what came so far; pieces may also be missing."""
    random = Random(3)
    for message in _messages(random):
        alone = said(read([whole(**message)]))
        pieces = _deltas(random, message)
        parts = random.randint(0, len(pieces))
        for chunks in ([*pieces, whole(**message)], [*pieces[:parts], delta(), whole(**message)]):
            reply = read(chunks)
            assert (said(reply), reply.diagnostics) == (alone, [])
        text = message["content"]
        growing: list[Chunk] = [
            {"choices": [{"index": 0, "delta": {"content": text[i]}, "message": {"content": text[: i + 1]}}]}
            for i in range(len(text))
        ]
        assert read(growing).text == text
        assert said(read([*pieces, whole(**message)], provider="minimax"))[2] == alone[2]


def test_names_of_calls_in_pieces() -> None:
    """A name in pieces is joined, a name that is sent with each piece is not, and the start has all of it."""
    random = Random(4)
    tool: Chunk = {"type": "function", "function": {"name": "get_tide", "parameters": {}}}
    for name in ("tide", "get_tide", "aa", "x"):
        for style in ("pieces", "repeated", "so far"):
            for tools in (None, [tool], [tool, {"type": "function", "function": {"name": "get_tides"}}]):
                parts = cut(random, name)
                so_far = ["".join(parts[: i + 1]) for i in range(len(parts))]
                names = {"pieces": parts, "repeated": [name] * 3, "so far": so_far}[style]
                if style == "pieces" and len(set(parts)) < len(parts):
                    continue  # no one can tell `a`, `a` from a name that is repeated
                chunks = [delta(tool_calls=[call("c", names[0], "", index=0)])]
                chunks += [delta(tool_calls=[{"index": 0, "function": {"name": piece}}]) for piece in names[1:]]
                chunks += [delta(tool_calls=[{"index": 0, "function": {"arguments": part}}]) for part in ("{", "}")]
                events = list(stream_response(chunks, tools=tools))
                assert [e.name for e in events if isinstance(e, ToolCallStart)] == [name], (name, style)
                assert [c.name for c in read(chunks).segments if isinstance(c, ToolCall)] == [name]
    late = read(
        [
            delta(tool_calls=[call("c", "ti", "{}", index=0)]),
            delta(tool_calls=[{"index": 0, "function": {"name": "de"}}]),
        ]
    )
    assert (late.tool_calls, [d.code for d in late.diagnostics]) == ([], ["invalid-call"])


def test_ids_are_unique() -> None:
    """Calls with one id are several calls, with an id each, whether they come whole or in pieces."""
    for ids in (["a", "a"], ["a", "a", "a"], ["a", "b", "a", "a_2"], [None, None]):
        calls = [call(id, f"f{i}", json.dumps({"n": i})) for i, id in enumerate(ids)]
        for chunks in (
            [whole("tool_calls", tool_calls=calls)],
            [delta(tool_calls=[{**one, "index": i}]) for i, one in enumerate(calls)],
        ):
            made = read(chunks).tool_calls
            assert [(c.name, c.arguments) for c in made] == [(f"f{i}", {"n": i}) for i in range(len(ids))]
            known = [c.id for c in made if c.id]
            assert len(set(known)) == len(known)
    again = [delta(tool_calls=[call(None, "f", json.dumps({"n": i}), index=0)]) for i in range(3)]
    assert [c.arguments for c in read(again).tool_calls] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_choices_are_selected_by_index() -> None:
    """Any choice can be read, and others are never dropped in silence."""
    texts = ["A.", "B.", "C."]
    pieces = [
        delta(index, content=char) for char_at in range(2) for index, text in enumerate(texts) for char in text[char_at]
    ]
    response: Chunk = {"choices": [{"message": {"content": text}} for text in texts]}
    candidates: Chunk = {"candidates": [{"index": i, "content": {"parts": [{"text": t}]}} for i, t in enumerate(texts)]}
    for number, text in enumerate(texts):
        replies = [
            read(pieces, choice=number),
            parse_response(response, choice=number),
            parse_response(candidates, provider="gemini", choice=number),
        ]
        for reply in replies:
            assert (reply.text, [d.code for d in reply.diagnostics]) == (text, ["other-choices"])
    assert read([delta(content="A.")]).diagnostics == []


def test_objects_for_events_are_chunks() -> None:
    """An object with the data of a server-sent event stands for the data, decoded or not."""
    chunks: list[Chunk] = [
        delta(content="Mo"),
        delta(content="ss."),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    wrapped: list[list[Any]] = [
        [{"data": chunk} for chunk in chunks],
        [{"data": json.dumps(chunk), "event": None, "id": "7", "retry": None} for chunk in chunks],
        [*[{"data": json.dumps(chunk), "event": "message"} for chunk in chunks], {"data": "[DONE]"}, {"data": ""}],
    ]
    for one in wrapped:
        assert read(one, provider="mistral") == read(chunks, provider="mistral")


def test_a_tag_of_the_prompt_that_is_repeated_counts_once() -> None:
    """The response may begin with the tag with which the prompt ends."""
    for name in ("hermes", "deepseek_r1", "minimax_m2", "thinking_tags", "qwen3_coder"):
        for prefix in ("<think>", "<think>\n", "Long prompt.\n<think>"):
            for text in ("a</think>b", "<think>a</think>b", "\n<think>\na</think>\n\nb"):
                for reply in (parse(text, format=name, prefix=prefix), _streamed(text, name, prefix)):
                    assert (reply.reasoning, reply.text.strip()) == ("a", "b"), (name, prefix, text)
    for text in ("<think>a</think>b", "a</think>b"):
        parser = LLMResponseParser(think_prefilled=True)
        for char in text:
            parser.parse_openai({"content": char})
        parser.close()
        assert (parser.thinking, parser.text) == ("a", "b")


def _streamed(text: str, name: str, prefix: str) -> Any:
    events = stream(list(text), format=name, prefix=prefix)
    for _ in events:
        pass
    return events.reply
