"""The load test notices what is lost, changed or another stream's; without servers."""

from __future__ import annotations

import json

import pytest

from outspoken.providers.export.sse import sse_end, sse_event
from outspoken.serving.apis.anthropic import AnthropicApi
from outspoken.serving.apis.base import Api
from outspoken.serving.apis.chat import ChatApi
from outspoken.serving.apis.responses import ResponsesApi
from outspoken.serving.http_errors import HttpError
from outspoken.serving.settings import ServerSettings
from tools.load.apis import Received, request
from tools.load.clients import Tally, check
from tools.load.stories import Kind, Story
from tools.load.upstream import chunk, event

APIS: dict[str, Api] = {api.name: api for api in (ChatApi(), ResponsesApi(), AnthropicApi())}
SETTINGS = ServerSettings("http://localhost", "hermes")


def story_of(api: str, kind: Kind, skipped: int = 0) -> Story:
    """The first story of this API and kind behind some others."""
    stories = (Story(worker, number) for worker in range(40) for number in range(40))
    found = [story for story in stories if (story.api, story.kind) == (api, kind)]
    return found[skipped]


def served(story: Story) -> str:
    """What the proxy makes of a story."""
    api = APIS[story.api]
    body = json.dumps(request(story)).encode()
    stream = api.read(SETTINGS, body, lambda reply: None).rewriter.stream()
    text, (given, made) = story.written, story.usage
    pieces = [chunk(story, text[start : start + 600]) for start in range(0, len(text), 600)]
    if story.kind == "failing":
        pieces.append(event({"error": {"message": f"failed {story.identity}"}}))
    elif story.kind != "cut":
        usage = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
        pieces += [chunk(story, "", "stop"), chunk(story, usage=usage), b"data: [DONE]\n\n"]
    parts = [part for piece in pieces for part in stream.feed(piece)]
    try:
        parts += stream.close()
    except HttpError as error:
        parts += stream.abort(error)
    return (b"".join([sse_event(part, api.protocol) for part in parts]) + sse_end(api.protocol)).decode()


def changed(text: str, word: str, other: str) -> str:
    assert word in text
    return text.replace(word, other, 1)


def problem(story: Story, text: str) -> str | None:
    return check(story, Received(), text, Tally())


@pytest.mark.parametrize("api", APIS)
def test_what_is_served_is_right_and_everything_else_is_noticed(api: str) -> None:
    for kind in ("sound", "cut", "failing"):
        story = story_of(api, kind)
        text, word = served(story), f"w{story.identity}7"
        assert problem(story, text) is None
        assert problem(story_of(api, kind, 1), text), "another stream's"
        assert problem(story, changed(text, word, "")), "a word is lost"
        assert problem(story, changed(text, f"a{story.identity}3", f"a{story.identity}4")), "a call has changed"
        blocks = text.split("\n\n")
        assert problem(story, "\n\n".join([*blocks[:-2], ""])), "the end is lost"
        others: dict[Kind, Kind] = {"sound": "cut", "cut": "failing", "failing": "sound"}
        assert problem(story, served(story_of(api, others[kind]))), "it ends otherwise"


@pytest.mark.parametrize("api", APIS)
def test_a_client_that_leaves_has_a_beginning(api: str) -> None:
    story = story_of(api, "leaving")
    text = served(story)
    begun = text[: text.index("\n\n", text.index(f"w{story.identity}9"))] + "\n\nevent: cut off"
    assert problem(story, begun) is None
    assert problem(story, text), "it has ended"
    assert problem(story, changed(begun, f"w{story.identity}3", "")), "a word is lost"
