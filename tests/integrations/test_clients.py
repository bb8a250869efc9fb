"""Clients that know nothing of Outspoken, in front of `outspoken serve` and of LiteLLM's proxy with our provider.

Nothing that was refused runs, and everything that was sound does. Each environment has some of the clients.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import nullcontext, suppress
from functools import partial, reduce
from importlib.util import find_spec
from itertools import product
from operator import add
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import anthropic
import openai
import pytest

from outspoken.serving.app import Proxy
from outspoken.serving.settings import ServerSettings
from tests.integrations.litellm_proxy import REQUESTS
from tests.integrations.model_tests import ANSWER, Ran, weather
from tests.integrations.model_texts import TOOLS
from tests.integrations.text_server import running, text_server
from tests.serving.serving import Server, free_port, is_open, until
from tests.tables import tables

pytestmark = pytest.mark.timeout(300)
#: The key of the configuration.
KEY = "sk-mosses"
CASES = tables(__file__)
CONFIGURATION = Path(__file__).with_name("test_clients_litellm.yaml")


class Asked(NamedTuple):
    """A question to the proxy at a URL, and tools that note what runs."""

    url: str
    question: str
    stream: bool
    tools: list[Callable[..., str]]

    @property
    def v1(self) -> dict[str, Any]:
        return {"base_url": f"{self.url}/v1", "api_key": KEY}

    @property
    def openai(self) -> Any:
        return openai.OpenAI(**self.v1, max_retries=0)

    @property
    def anthropic(self) -> Any:
        return anthropic.Anthropic(base_url=self.url, api_key=KEY, max_retries=0)


#: A client asks; if it runs no tools itself, it returns the calls.
Calls = Iterable[tuple[str, Any]]


def openai_chat(asked: Asked) -> Calls:
    request: Any = {"tools": TOOLS, "messages": [{"role": "user", "content": asked.question}]}
    if asked.stream:
        with asked.openai.chat.completions.stream(model="m", **request) as events:
            events.until_done()
            completion = events.current_completion_snapshot
    else:
        completion = asked.openai.chat.completions.create(model="m", **request)
    calls = completion.choices[0].message.tool_calls or ()
    return [(call.function.name, json.loads(call.function.arguments)) for call in calls]


def openai_responses(asked: Asked) -> Calls:
    request: Any = {**REQUESTS["/v1/responses"], "model": "m", "input": asked.question, "stream": asked.stream}
    found = asked.openai.responses.create(**request)
    items = ([*found][-1].response if asked.stream else found).output
    return [(item.name, json.loads(item.arguments)) for item in items if item.type == "function_call"]


def anthropic_messages(asked: Asked) -> Calls:
    request: Any = {**REQUESTS["/v1/messages"], "messages": [{"role": "user", "content": asked.question}]}
    if asked.stream:
        with asked.anthropic.messages.stream(model="m", **request) as events:
            found = events.get_final_message()
    else:
        found = asked.anthropic.messages.create(model="m", **request)
    return [(block.name, block.input) for block in found.content if block.type == "tool_use"]


def langchain(asked: Asked) -> Calls:
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="m", **asked.v1, max_retries=0).bind_tools(TOOLS)
    message = reduce(add, model.stream(asked.question)) if asked.stream else model.invoke(asked.question)
    return [(call["name"], call["args"]) for call in message.tool_calls]


def langgraph(asked: Asked, responses: bool = False) -> None:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="m", **asked.v1, max_retries=0, use_responses_api=responses)
    graph: Any = create_agent(model, asked.tools)
    given = {"messages": [("user", asked.question)]}
    _ = [*graph.stream(given, stream_mode=["messages", "values"])] if asked.stream else graph.invoke(given)


def openai_agents(asked: Asked, responses: bool = False) -> None:
    import agents

    async def run() -> None:
        kind = agents.OpenAIResponsesModel if responses else agents.OpenAIChatCompletionsModel
        async with openai.AsyncOpenAI(**asked.v1, max_retries=0) as client:
            tools: Any = [agents.function_tool(tool) for tool in asked.tools]
            agent = agents.Agent("a", model=kind("m", client), tools=tools)
            if asked.stream:
                _ = [event async for event in agents.Runner.run_streamed(agent, asked.question).stream_events()]
            else:
                await agents.Runner.run(agent, asked.question)

    agents.set_tracing_disabled(True)
    asyncio.run(run())


def pydantic_ai(asked: Asked, api: str = "chat") -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models import anthropic as messages
    from pydantic_ai.models import openai as models
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    async def run() -> None:
        if api == "messages":
            client: Any = anthropic.AsyncAnthropic(base_url=asked.url, api_key=KEY, max_retries=0)
            model: Any = messages.AnthropicModel("m", provider=AnthropicProvider(anthropic_client=client))
        else:
            client = openai.AsyncOpenAI(**asked.v1, max_retries=0)
            kind = models.OpenAIResponsesModel if api == "responses" else models.OpenAIChatModel
            model = kind("m", provider=OpenAIProvider(openai_client=client))
        agent = Agent(model, tools=asked.tools, retries=0)
        async with client:  # those that it makes are kept for the next loop
            if asked.stream:
                async with agent.run_stream(asked.question) as found:
                    await found.get_output()
            else:
                await agent.run(asked.question)

    asyncio.run(run())


def llama_index(asked: Asked) -> None:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai_like import OpenAILike

    async def run() -> None:
        server: Any = {"api_base": f"{asked.url}/v1", "api_key": KEY, "max_retries": 0}
        model = OpenAILike(model="m", is_chat_model=True, is_function_calling_model=True, **server)
        await FunctionAgent(tools=[*asked.tools], llm=model, streaming=asked.stream).run(asked.question)

    asyncio.run(run())


def smolagents(asked: Asked) -> None:
    from smolagents import LogLevel, OpenAIServerModel, ToolCallingAgent, tool

    for each in asked.tools:
        each.__doc__ = f"{each.__doc__}\n\nArgs:\n    place: a port\n    day: its number"
    model = OpenAIServerModel("m", api_base=f"{asked.url}/v1", api_key=KEY)
    options: Any = {"max_steps": 2, "stream_outputs": asked.stream, "verbosity_level": LogLevel.OFF}
    ToolCallingAgent(tools=[tool(each) for each in asked.tools], model=model, **options).run(asked.question)


def instructor(asked: Asked) -> Calls:
    from instructor import Mode, from_openai
    from pydantic import create_model

    tide: Any = create_model("tide", place=(str, ...), day=(int, 0))
    client: Any = from_openai(asked.openai, mode=Mode.TOOLS)
    question: Any = [{"role": "user", "content": asked.question}]
    found = client.chat.completions.create(response_model=tide, model="m", messages=question, max_retries=1)
    return [("tide", found.model_dump())]


#: The clients by the package that they need.
CLIENTS: dict[str, dict[str, Callable[[Asked], Calls | None]]] = {
    "litellm": {  # the SDKs alone need no framework, and the servers' environment is enough
        "openai chat": openai_chat,
        "openai responses": openai_responses,
        "anthropic": anthropic_messages,
    },
    "langchain": {
        "langchain": langchain,
        "langgraph": langgraph,
        "langgraph responses": partial(langgraph, responses=True),
    },
    "agents": {"openai agents": openai_agents, "openai agents responses": partial(openai_agents, responses=True)},
    "pydantic_ai": {f"pydantic-ai {api}": partial(pydantic_ai, api=api) for api in ("chat", "responses", "messages")},
    "llama_index": {"llama-index": llama_index},
    "smolagents": {"smolagents": smolagents},
    "instructor": {"instructor": instructor},
}
INSTALLED = {name: ask for package, each in CLIENTS.items() if find_spec(package) for name, ask in each.items()}
#: What is not asked, by words of its name, since the client is wrong whatever the server sends. The streams of
#: instructor (`create_partial`) raise TypeError, and it reads one call. smolagents reads JSON out of the content of a
#: message without calls. OpenAI Agents refuses a response whose `input_tokens_details` are null, as LiteLLM sends it.
FAULTS = [
    *({"instructor", "stream"}, {"instructor", "parallel"}, {"openai agents responses", "litellm"}),
    *({"smolagents", "quoted"}, {"smolagents", "read off"}),
]


def is_faulty(*names: str) -> bool:
    return any(fault <= {*names} for fault in FAULTS)


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Generator[dict[str, str]]:
    """Both proxies in front of the server of texts; LiteLLM is in one of the environments."""
    upstream, folder, port = running.start(), tmp_path_factory.mktemp("litellm"), free_port()
    (folder / "config.yaml").write_text(CONFIGURATION.read_text("utf-8").replace("UPSTREAM", upstream), "utf-8")
    command = Path(sys.prefix).with_name("frameworks") / "bin" / "litellm"
    assert command.exists(), "LiteLLM's environment is missing: nox --install-only -s frameworks"
    options = ["--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)]
    known = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    log = (folder / "log").open("wb")
    with log, subprocess.Popen([str(command), *options], env=known, stdout=log, stderr=log) as lite:
        try:
            with Server(Proxy(ServerSettings(upstream, "hermes")).app()) as front:
                until(lambda: is_open(port), 200)  # half a minute, with both cores busy
                yield {"serve": front.url, "litellm": f"http://127.0.0.1:{port}"}
        finally:
            lite.terminate()


@pytest.mark.parametrize(
    ("client", "front", "way"),
    [names for names in product(INSTALLED, ("serve", "litellm"), ("whole", "stream")) if not is_faulty(*names)],
)
def test_what_runs(client: str, front: str, way: str, urls: dict[str, str]) -> None:
    wrong: dict[str, Ran] = {}
    for name, case in CASES.items():
        if is_faulty(client, name):
            continue
        server, ran = text_server((case["text"], case.get("finish", "stop")), *[ANSWER] * 3), Ran()
        wanted = [tuple(call) for call in case.get("calls", ())]
        asked = Asked(urls[front], f"When? {case.get('page', '')}", way == "stream", weather(ran))
        tools = {tool.__name__: tool for tool in asked.tools}
        with nullcontext() if wanted else suppress(Exception):  # a client may fail where nothing may run
            for called, given in INSTALLED[client](asked) or ():
                tools[called](**given)
        if sorted(ran, key=str) != sorted(wanted, key=str) or not server.requests:
            wrong[name] = ran
    assert wrong == {}


if find_spec("canitoolcall"):
    from tests.serving import probing

    @pytest.mark.parametrize("format", probing.FORMATS)
    def test_the_neutral_probe_passes_behind_litellm(format: str, urls: dict[str, str]) -> None:
        async def answer(request: Any) -> Any:
            return await probing.answer(await request.json())

        running.script = cast("Any", SimpleNamespace(answer=answer))
        probing.check(urls["litellm"], format, api_key=KEY)
