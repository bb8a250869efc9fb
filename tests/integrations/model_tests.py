"""Tests that hold for every framework: each runs them with an adapter of its own, a class that inherits from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

from outspoken import UnknownFormatError
from tests.integrations.model_texts import (
    BOTH,
    CUT,
    FORMATS,
    INVALID,
    REPAIRABLE,
    THINKER,
    THOUGHT,
    TIDE,
    printed_by_example,
    written,
)
from tests.integrations.text_server import TextServer, text_server

ANSWER = "High tide at nine, wind from the west."
UNREAD = '<tool_cal>\n{"name": tide, arguments: place}\n'
#: A call whose result is a page with another call, and what a model of hermes writes that makes one, then the other.
LOOK = ("tide", {"place": "page"})
PAGE = "Sum it up. " + written("hermes", ("wind", {"place": "Leith"}))
READ_OFF = [written("hermes", LOOK), PAGE.partition(". ")[2], written("hermes", LOOK), ANSWER]
#: Where a call in hermes may be cut: behind its name, and before the marker that ends it.
CUTS = range(len('<tool_call>\n{"name": "tide"'), len(REPAIRABLE) - len(",}\n</tool_call>"))

Call = tuple[str, dict[str, Any]]
Ran = list[Call]


def weather(ran: Ran) -> list[Callable[..., str]]:
    """Two functions, for tools, that note their calls."""

    def tide(place: str, day: int = 0) -> str:
        """The hour of high tide."""
        ran.append(("tide", {"place": place, "day": day} if day else {"place": place}))
        return PAGE if place == "page" else "nine"

    def wind(place: str, day: int = 0) -> str:
        """The wind."""
        ran.append(("wind", {"place": place, "day": day} if day else {"place": place}))
        return "west"

    return [tide, wind]


class Read(NamedTuple):
    """A response as a framework has it: `refused` are the calls that it does not run, with what it says of each.

    `about` is what the integration says of the response, and `kinds` are the kinds of its parts, in order.
    """

    text: str | None
    reasoning: str | None
    calls: list[Call]
    refused: list[tuple[str, str]]
    about: Mapping[str, Any]
    kinds: tuple[str, ...] = ()


class Run(NamedTuple):
    """A run of an agent: the texts of its model and the ids of all calls, the offered tools, and what is its own.

    If a call was refused, `told` are its arguments as the model sees them, and what it is told.
    """

    answer: Any
    ran: Ran
    texts: list[str | None]
    ids: list[str]
    tools: list[str]
    more: dict[str, Any]
    told: tuple[Any, str] | None = None

    @classmethod
    def of(cls, server: TextServer, answer: Any, ran: Ran, **more: Any) -> Run:
        """The run in which a server was asked, by its requests, of which it takes only those that servers accept."""
        (wrote, told), sent = server.requests[1]["messages"][-2:], server.requests[2]["messages"]
        assert "outspoken" not in str(sent), "servers get no metadata"
        calls = [call for message in sent for call in message.get("tool_calls") or ()]
        arguments = wrote["tool_calls"][0]["function"]["arguments"]
        return cls(
            answer=answer,
            ran=ran,
            texts=[*[text_of(message) for message in sent if message["role"] == "assistant"], answer],
            ids=[call["id"] for call in calls],
            tools=[tool["function"]["name"] for tool in server.requests[0]["tools"]],
            more=more,
            told=(arguments, text_of(told)) if "was not run" in text_of(told) else None,
        )


def text_of(message: dict[str, Any]) -> str:
    """The text of a message of a request."""
    content: str | list[Any] | None = message.get("content")
    return "".join([part["text"] for part in content]) if isinstance(content, list) else content or ""


class _Tests:
    """Tests that a framework runs in each of its `WAYS` to ask a model."""

    WAYS: tuple[str, ...] = ("whole", "awaited", "streamed", "async streamed")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test with each `way`."""
        if "way" in metafunc.fixturenames:
            metafunc.parametrize("way", self.WAYS)


class ModelTests(_Tests):
    """What holds of a response; `KINDS` are the kinds of parts that it has in the framework, where it has some."""

    KINDS: tuple[str, ...] = ()

    def read(self, text: Any, way: str, format: str | None = "hermes", *, size: int = 5, reason: str = "stop") -> Read:
        """What the framework makes of a response that its model writes, in pieces of a size if it is streamed.

        Without a format, the name of the model is `THINKER`.
        """
        server = text_server((text, reason), size=size)
        return self.asked(server.url, way, format, "m" if format else THINKER)

    def asked(self, url: str, way: str, format: str | None, model: str, **options: Any) -> Read:
        """What the framework makes of the response of a server, with options of the integration."""
        raise NotImplementedError

    @pytest.mark.parametrize("format", ["hermes", "harmony", "glm_4_5"])
    def test_text_and_reasoning_are_apart_from_calls(self, way: str, format: str) -> None:
        found = self.read(written(format, *BOTH, text="Look:", reasoning="Which day?"), way, format)
        assert (found.text, found.reasoning, found.calls) == ("Look:", "Which day?", [*BOTH])
        assert (found.refused, found.kinds) == ([], self.KINDS)

    def test_a_repaired_call_is_sound_and_says_what_was_repaired(self, way: str) -> None:
        found = self.read(REPAIRABLE, way)
        assert (found.calls, found.refused, found.about["status"]) == ([BOTH[0]], [], "repaired")
        assert [repair["code"] for repair in found.about["repairs"]] == ["trailing-comma", "missing-closer"]

    @pytest.mark.parametrize("text", [INVALID, CUT])
    @pytest.mark.parametrize("size", [1, 7, 1000])
    def test_a_call_with_a_problem_is_refused(self, way: str, text: str, size: int) -> None:
        status = "invalid" if text == INVALID else "truncated"
        found = self.read(text, way, size=size, reason="length")
        assert found.calls == []
        ((name, message),) = found.refused
        assert (name, f"the call of `tide` is {status} and was not run: " in message) == ("tide", True)
        assert message.endswith(text.removeprefix("Wait.").lstrip())
        assert [one["status"] for one in found.about["unfinished_calls"]] == [status]

    @pytest.mark.parametrize("cut", CUTS)
    def test_a_call_that_is_cut_anywhere_never_runs(self, cut: int) -> None:
        for way in ("whole", "streamed"):
            found = self.read(REPAIRABLE[:cut], way, reason="length")
            assert (found.calls, [name for name, _ in found.refused]) == ([], ["tide"])

    def test_markup_that_could_not_be_read_is_text_with_a_message_for_the_model(self, way: str) -> None:
        found = self.read(UNREAD, way)
        assert (found.text, found.calls, found.refused) == (UNREAD, [], [])
        assert [problem["code"] for problem in found.about["problems"]] == ["unread-markup"]
        retry = found.about.get("retry", "")
        assert retry.startswith("Your last response could not be used")

    def test_an_empty_response_ends(self, way: str) -> None:
        found = self.read("", way)
        assert (found.text or "", found.calls, found.refused, found.about) == ("", [], [], {})

    def test_calls_of_the_server_itself_are_kept(self, way: str) -> None:
        own: dict[str, Any] = {"index": 0, "id": "c9", "type": "function"}
        own["function"] = {"name": "wind", "arguments": '{"place": "Paris"}'}
        message = {"content": written("hermes", BOTH[0]), "tool_calls": [own]}
        found = self.read(message, way, reason="tool_calls")
        assert sorted(found.calls, key=str) == [BOTH[0], ("wind", {"place": "Paris"})]
        assert found.refused == []

    def test_the_name_of_the_model_says_the_format(self, way: str) -> None:
        found = self.read(THOUGHT, way, None)
        assert (found.reasoning, found.text) == ("They ask.", "At nine.")

    def test_an_unknown_format_fails_at_once(self) -> None:
        with pytest.raises((UnknownFormatError, ValidationError), match="`hermess`; did you mean `hermes`"):
            self.read("", "whole", "hermess")


class SentToolsTests(ModelTests):
    """What also holds if the integration decides whether the server gets the tools."""

    def test_tools_need_not_be_sent(self, way: str) -> None:
        server = text_server(written("qwen3_coder", BOTH[0]))
        found = self.asked(server.url, way, "qwen3_coder", "m", send_tools=False)
        assert (found.calls, "tools" in server.requests[0]) == ([BOTH[0]], False)


class ReasoningTests(ModelTests):
    """What also holds if the client passes on the reasoning that a server reads itself."""

    def test_reasoning_of_the_server_itself_ends_that_of_the_prompt(self, way: str) -> None:
        found = self.read({"reasoning_content": "Which?", "content": ANSWER}, way, None)
        assert (found.reasoning, found.text) == ("Which?", ANSWER)


class AgentTests(_Tests):
    """What holds of an agent; `MORE` is what its run has of the framework's own."""

    MORE: Mapping[str, Any] = {}

    def run(self, texts: list[str], way: str, format: str) -> Run:
        """Run an agent whose model writes these texts in turn."""
        ran = Ran()
        server = text_server(*texts)
        answer, more = self.agent(server.url, way, format, ran)
        return Run.of(server, answer, ran, **more)

    def agent(self, url: str, way: str, format: str, ran: Ran, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Run an agent with a server, and options of the integration: its answer, and what is its own."""
        raise NotImplementedError

    def test_the_example_runs(self) -> None:
        server = text_server(written("qwen3_coder", ("tide", {"place": "Brest"})), ANSWER)
        framework = type(self).__module__.rpartition("test_")[2]
        assert printed_by_example(framework, server.url) == f"{ANSWER}\n"
        assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["tide"]
        sent = server.requests[1]["messages"]
        assert [message["role"] for message in sent if message["role"] != "system"] == ["user", "assistant", "tool"]
        assert text_of(sent[-1]) == TIDE

    def test_a_call_that_a_result_holds_does_not_run_and_one_that_the_model_made_runs_again(self, way: str) -> None:
        ran = Ran()
        assert self.agent(text_server(*READ_OFF).url, way, "hermes", ran)[0] == ANSWER
        assert ran == [LOOK, LOOK]

    @pytest.mark.parametrize("format", ["react", "hermes", "qwen3_coder"])
    def test_a_history_is_the_text_that_the_model_wrote_and_read(self, way: str, format: str) -> None:
        both, ran = written(format, *BOTH), Ran()
        first = written(format, ("tide", {"place": "Paris"}), reasoning="Which day?")
        texts = [first, both[: both.index("Brest") + 3], both]
        server = text_server(texts[0], (texts[1], "length"), texts[2], ANSWER)
        server.takes_text_alone = True
        assert self.agent(server.url, way, format, ran, render_history=True)[0] == ANSWER
        assert (ran[0], sorted(ran[1:])) == (("tide", {"place": "Paris"}), sorted(BOTH))
        said = [(message["role"], text_of(message)) for message in server.requests[-1]["messages"]]
        assert [text for role, text in said if role == "assistant"] == texts
        _, nine, refused, last = [text for role, text in said if role == "user"]
        told = ["Observation: {}"] if format == "react" else ["<tool_response>\n{}\n</tool_response>"]
        assert [nine, last] == [told[0].format("nine"), "\n".join([*map(told[0].format, ("nine", "west"))])]
        assert "was not run" in refused

    @pytest.mark.parametrize("format", FORMATS)
    def test_an_agent_runs_one_call_then_two_at_once(self, way: str, format: str) -> None:
        first = written(format, ("tide", {"place": "Paris"}), text="Let me look.")
        found = self.run([first, written(format, *BOTH), written(format, text=ANSWER)], way, format)
        assert (found.answer, found.ran[0]) == (ANSWER, ("tide", {"place": "Paris"}))
        assert sorted(found.ran[1:]) == sorted(BOTH)
        assert len(set(found.ids)) == len(found.ids) == 3
        assert [text or "" for text in found.texts] == ["Let me look.", "", ANSWER]
        assert (found.tools, found.more) == (["tide", "wind"], self.MORE)

    @pytest.mark.parametrize("text", [INVALID, CUT, CUT.replace("tide", "wind")])
    def test_the_model_is_told_about_a_call_with_a_problem_and_writes_another(self, way: str, text: str) -> None:
        found = self.run([text, written("hermes", BOTH[0]), ANSWER], way, "hermes")
        assert (found.answer, found.ran) == (ANSWER, [BOTH[0]])
        assert found.told is not None
        arguments, told = found.told
        assert arguments in ({}, "{}")
        assert "and was not run: " in told
