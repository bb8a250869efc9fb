"""One proxy in front of several models: the format of a response is that of the model that its request names."""

from collections.abc import Generator
from functools import partial
from typing import Any

import httpx
import pytest

from outspoken.providers import stream_response
from outspoken.results.errors import UnknownFormatError
from outspoken.serving.app import Proxy
from outspoken.serving.settings import ServerSettings
from tests.serving.serving import OFFERED_TO, Server, asked_of, completion, proxied, streaming, whole, written

HERMES = '<tool_call>\n{"name": "tide", "arguments": {"place": "Brest"}}\n</tool_call>'
QWEN = "<tool_call>\n<function=tide>\n<parameter=place>\nBrest\n</parameter>\n</function>\n</tool_call>"
MISTRAL = '[TOOL_CALLS]tide[ARGS]{"place": "Brest"}'
THOUGHT = "They ask.\n</think>\n\nAt nine."
MODELS = {"acme*": "hermes", "acme-coder*": "qwen3_coder", "Acme/Thinker": "Qwen/Qwen3-4B-Thinking-2507"}
PATHS = [*OFFERED_TO]
WIRES: Any = {"chat/completions": "openai", "responses": "openai_responses", "messages": "anthropic"}


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "stream"])
def asking(request: pytest.FixtureRequest) -> Generator[Any]:
    """Asks a proxy that knows the formats of some models, in each API."""

    async def answer(body: dict[str, Any]) -> Any:
        text = body["metadata"]["user_id"] if "user" not in body else body["user"]
        return await (streaming(written(text)) if body.get("stream") else whole(completion({"content": text})))(body)

    def ask(front: Server, path: str, model: str | None, text: str, **more: Any) -> httpx.Response:
        user = {"metadata": {"user_id": text}} if path == "messages" else {"user": text}
        asked = asked_of(path, **user, **more, model=model, stream=request.param)
        asked = {key: value for key, value in asked.items() if key != "model" or value is not None}
        return httpx.post(f"{front.url}/v1/{path}", json=asked)

    with proxied(answer, format=None, models=MODELS) as (front, _, _):
        yield partial(ask, front)


def read(path: str, response: httpx.Response) -> list[Any]:
    """The reasoning, the text and the arguments of the calls of a response of an API."""
    assert response.status_code == 200, response.text
    pieces = stream_response([response.content], provider=WIRES[path], format=None)
    assert list(pieces)
    reply = pieces.reply
    return [reply.reasoning, reply.text, [call.arguments for call in reply.tool_calls]]


CALL: list[Any] = [None, "", [{"place": "Brest"}]]
ANSWERS: list[tuple[str, str, list[Any]]] = [
    ("acme-7b", HERMES, CALL),
    ("Acme-Coder-7B", QWEN, CALL),
    ("acme-coder-7b", MISTRAL, [None, MISTRAL, []]),
    ("someone/acme:latest", HERMES, CALL),
    ("acme/thinker", THOUGHT, ["They ask.", "At nine.", []]),
    ("Qwen/Qwen3-Coder-Next", QWEN, CALL),
    ("mistral-small3.2:24b", MISTRAL, CALL),
    ("Qwen/Qwen3-30B-A3B-Thinking-2507", THOUGHT, ["They ask.", "At nine.", []]),
    ("Qwen/Qwen3.5-9B", THOUGHT, ["They ask.", "At nine.", []]),
]


@pytest.mark.parametrize("path", PATHS)
def test_the_model_of_a_request_says_the_format(asking: Any, path: str) -> None:
    for model, text, expected in ANSWERS:
        found = read(path, asking(path, model, text))
        assert [found[0] or None, *found[1:]] == expected, model


def test_a_request_says_whether_the_model_thinks(asking: Any) -> None:
    path, model = "chat/completions", "Qwen/Qwen3.5-9B"
    for thinking, reasoning in ((True, "They ask."), (False, None)):
        text = THOUGHT if thinking else "At nine."
        given = {"chat_template_kwargs": {"enable_thinking": thinking}}
        assert read(path, asking(path, model, text, **given)) == [reasoning, "At nine.", []]


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "nonsense", "x" * 100_000, None, 7])
@pytest.mark.parametrize("path", PATHS)
def test_a_model_that_is_not_known_is_an_error_in_the_shape_of_the_api(asking: Any, path: str, model: Any) -> None:
    response = asking(path, model, HERMES)
    error = response.json()["error"]
    assert response.status_code == 400
    assert len(error["message"]) < 900
    if path == "messages":
        assert response.json()["type"] == "error"
        assert error["type"] == "invalid_request_error"
    elif path == "chat/completions" or isinstance(model, str):
        assert error["code"] == "unknown_model"
        assert error["param"] == "model"
        assert "--model 'MODEL=FORMAT'" in error["message"]


def test_a_format_holds_for_models_without_one_of_their_own() -> None:
    settings = ServerSettings("http://x", "mistral", models={"acme*": "auto"})
    assert [settings.format_of(name) for name in ("acme-1", "Qwen/Qwen3-8B", None)] == ["auto", "mistral", "mistral"]
    assert ServerSettings("http://x", models={"*": "glm_4_5"}).format_of(None) == "glm_4_5"
    assert Proxy(ServerSettings("http://x")).app()
    with pytest.raises(UnknownFormatError):
        ServerSettings("http://x", models={"acme*": "mosses"})


def test_reasoning_in_a_field_of_its_own_is_not_opened_again() -> None:
    message = {"content": "At nine.", "reasoning_content": "They ask."}
    asked = asked_of("chat/completions", model="Qwen/Qwen3.5-9B", chat_template_kwargs={"thinking": True})
    with proxied(whole(completion(message)), format=None) as (front, _, _):
        found = httpx.post(f"{front.url}/v1/chat/completions", json=asked)
    assert read("chat/completions", found) == ["They ask.", "At nine.", []]
