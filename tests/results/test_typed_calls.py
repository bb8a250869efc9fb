"""The arguments of calls as typed values, and replies whose calls are run."""

import asyncio
import inspect
import json
import pickle
import re
import threading
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel, Field, create_model, field_validator
from typing_extensions import NotRequired

from outspoken import Parser, Reply, ResponseProcessor, Settings, ToolCall, ToolCallEnd, parse, parse_response, render
from outspoken.integrations.messages import parts_of, refusal_of
from outspoken.processing import ResponseCache
from outspoken.providers import to_wire
from outspoken.results.errors import CallError, OutspokenError
from outspoken.results.signatures import callable_name
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)


class Weather(BaseModel):
    city: str
    days: int = 1


@dataclass
class Ferry:
    harbour: str
    seats: int


class Trip(TypedDict):
    seats: int
    weather: NotRequired[Weather]


class Chain(BaseModel):
    a: int


class Desk:
    def tide(self, day: int) -> str:
        return f"day {day}"

    def __call__(self, day: int) -> int:
        return day


def book(ferry: str, seats: Annotated[int, Field(gt=0)] = 1) -> str:
    return f"{seats} seats on {ferry}"


def placed(a: int, b: int = 2, /, *, c: int = 3) -> int:
    return a + b + c


def rest(a: int, **more: int) -> int:
    return a + sum(more.values())


def unresolved(a: "Missing") -> str:  # type: ignore[name-defined]  # noqa: F821
    return "a"


def kept(a: int) -> int:
    return a


KEPT: Any = lru_cache(kept)


class Fit(NamedTuple):
    type: Any
    arguments: dict[str, Any]
    value: Any


FITS = {
    "model": Fit(Weather, {"city": "Brest", "days": "3"}, Weather(city="Brest", days=3)),
    "dataclass": Fit(Ferry, {"harbour": "Ystad", "seats": "2"}, Ferry("Ystad", 2)),
    "typed_dict": Fit(
        Trip, {"seats": "2", "weather": {"city": "Brest"}}, {"seats": 2, "weather": Weather(city="Brest")}
    ),
    "typed_dict_without_a_key": Fit(Trip, {"seats": 2}, {"seats": 2}),
    "generic": Fit(dict[str, int], {"a": "1"}, {"a": 1}),
    "union": Fit(Ferry | Weather, {"city": "Brest"}, Weather(city="Brest")),
    "function": Fit(book, {"ferry": "a", "seats": "2"}, (("a", 2), {})),
    "default": Fit(book, {"ferry": "a"}, (("a",), {})),
    "method": Fit(Desk().tide, {"day": "3"}, ((3,), {})),
    "object": Fit(Desk(), {"day": "3"}, ((3,), {})),
    "partial": Fit(partial(book, seats=3), {"ferry": "a"}, (("a",), {})),
    "partial_by_place": Fit(partial(book, "a"), {"seats": "2"}, ((2,), {})),
    "positional_only": Fit(placed, {"c": "1", "a": "1", "b": "5"}, ((1, 5), {"c": 1})),
    "rest": Fit(rest, {"a": "1", "x": "2"}, ((1,), {"x": 2})),
    "annotation_that_does_not_resolve": Fit(unresolved, {"a": "1"}, (("1",), {})),
    "cached_function": Fit(KEPT, {"a": "1"}, ((1,), {})),
}


def comparable(value: Any) -> Any:
    return (value.args, value.kwargs) if isinstance(value, inspect.BoundArguments) else value


@in_one_item("type_, arguments, value", FITS.values())
def test_arguments_that_fit(type_: Any, arguments: dict[str, Any], value: Any) -> None:
    for status in ("ok", "repaired"):
        assert comparable(ToolCall(name="f", arguments=arguments, status=status).into(type_)) == value


MISFITS: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    "missing": (Weather, {}, "/city", "/city: Field required"),
    "kind": (Ferry, {"harbour": "a", "seats": "many"}, "/seats", "/seats: Input should be a valid integer"),
    "typed_dict": (Trip, {"seats": 1, "weather": {}}, "/weather/city", "Field required"),
    "path": (dict[str, list[int]], {"a/b": [1, "x"]}, "/a~1b/1", "/a~1b/1: Input should be a valid integer"),
    "two": (Ferry, {}, "/harbour", "/harbour: Field required; /seats: Field required"),
    "function": (book, {"ferry": "a", "seats": 0}, "/seats", "greater than 0"),
    "function_lacks": (book, {"seats": 1}, "/ferry", "Field required"),
    "function_unknown": (book, {"ferry": "a", "when": 1}, "/when", "there is no such argument"),
    "internal_name": (book, {"ferry": "a", "p1": 1}, "/p1", "there is no such argument"),
    "bound": (partial(book, seats=3), {"ferry": "a", "seats": 9}, "/seats", "there is no such argument"),
    "bound_in_rest": (partial(rest, x=1), {"a": 1, "x": 2}, "/x", "there is no such argument"),
    "rest": (rest, {"a": 1, "x": "y"}, "/x", "valid integer"),
    "self": (Desk.tide, {"day": 1}, "", "missing a required argument: 'self'"),
}


@in_one_item("type_, arguments, path, reason", MISFITS.values())
def test_arguments_that_do_not_fit(type_: Any, arguments: dict[str, Any], path: str, reason: str) -> None:
    with pytest.raises(CallError) as caught:
        ToolCall(name="f", arguments=arguments).into(type_)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, OutspokenError)
    assert (caught.value.tool, caught.value.path) == ("f", path)
    assert str(caught.value).startswith("the call of `f` cannot be used: ")
    assert reason in str(caught.value)


def call_of(type_: Any, arguments: dict[str, Any], end: str = "") -> str:
    """A response that calls a tool with the name of a type."""
    name = callable_name(type_)
    return f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments)[:-1]}{end}}}}}\n</tool_call>'


NAMED = {key: fit for key, fit in FITS.items() if callable_name(fit.type) and key not in ("generic", "union")}


@in_one_item("type_, arguments, value", NAMED.values())
def test_the_value_of_a_call_is_what_its_tool_takes(type_: Any, arguments: dict[str, Any], value: Any) -> None:
    parser, text = Parser("hermes", tools=[type_]), call_of(type_, arguments)
    whole, events = parser.parse(text), parser.stream([*text])
    ends = [event.call for event in events if isinstance(event, ToolCallEnd)]
    assert events.reply == whole
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    native = json.loads(text[len("<tool_call>\n") : -len("\n</tool_call>")])
    native["arguments"] = json.dumps(arguments)
    sent: Any = {"choices": [{"message": {"tool_calls": [{"id": "c", "type": "function", "function": native}]}}]}
    for reply in (
        whole,
        Parser(tools=[type_]).parse(text),
        parse(text, tools=[type_], format="hermes"),
        parse_response(body, format="hermes", tools=[type_]),
        parse_response(sent, tools=[type_]),
        ResponseProcessor(parser).process(sent).reply,
        copy(whole),
        deepcopy(whole),
        events.reply,
        whole.model_copy(update={"segments": ends}),
    ):
        call = reply.tool_calls[0]
        assert comparable(call.value) == value
        assert call.arguments == arguments
        assert call.conversions() == (call.conversions(type_) if call.status == "ok" else ())
        assert "type-mismatch" not in [one.code for one in reply.diagnostics]
    pickled = pickle.loads(pickle.dumps(whole))
    assert (pickled, pickled.tool_calls[0].value) == (whole, None)
    assert Reply.model_validate(whole.model_dump()) == whole


@in_one_item("type_, arguments, path, reason", MISFITS.values())
def test_a_call_without_a_value_says_why(type_: Any, arguments: dict[str, Any], path: str, reason: str) -> None:
    if callable_name(type_) in (None, "dict"):
        return
    parser, text = Parser("hermes", tools=[type_]), call_of(type_, arguments)
    events = parser.stream([*text])
    assert [event.call.value for event in events if isinstance(event, ToolCallEnd)] == [None]
    for reply in (parser.parse(text), Parser(tools=[type_]).parse(text), events.reply):
        assert [(call.status, call.value) for call in reply.tool_calls] == [("ok", None)]
        codes = {one.code for one in reply.diagnostics}
        assert codes & {"type-mismatch", "missing-argument", "mistyped-argument"}
        if codes == {"type-mismatch"}:
            assert reason in reply.diagnostics[0].message
    refusing = Parser("hermes", tools=[type_], settings=Settings(schema_check="refuse"))
    assert refusing.parse(text).tool_calls == []


class Picky(BaseModel):
    """What validates with code of the caller."""

    city: str

    @field_validator("city")
    @classmethod
    def check(cls, city: str) -> str:
        """The messages of errors of any kind."""
        if city == "Ys":
            raise ValueError("there is no Ys")
        return city if city != "Is" else str(1 / 0)


def test_validators_of_the_caller_count_and_raise_nothing() -> None:
    parser = Parser("hermes", tools=[Picky])
    for city, reason in (("Ys", "/city: Value error, there is no Ys"), ("Is", "ZeroDivisionError: division by zero")):
        reply = parser.parse(call_of(Picky, {"city": city}))
        assert [one.message for one in reply.diagnostics] == [f"the arguments of `Picky` do not fit it: {reason}"]
        assert reply.tool_calls[0].value is None
        assert parser.parse(call_of(Picky, {"city": city}, end=",")).tool_calls == []
    assert parser.parse(call_of(Picky, {"city": "Brest"}, end=",")).tool_calls[0].value == Picky(city="Brest")


def test_a_cached_result_has_values_of_the_types_of_its_own_processor() -> None:
    def model(limit: int) -> Any:
        def check(cls: Any, city: str) -> str:
            if len(city) > limit:
                raise ValueError("too long")
            return city

        validators: Any = {"check": field_validator("city")(check)}
        return create_model("City", city=(str, ...), __validators__=validators)

    cache, types = ResponseCache(), [model(9), model(3)]
    processors = [ResponseProcessor(Parser("hermes", tools=[type_]), cache=cache) for type_ in types]
    for _ in range(2):
        long, short = [one.process(call_of(types[0], {"city": "Brest"})).tool_calls[0].value for one in processors]
        assert (long, short) == (types[0](city="Brest"), None)
    assert cache.info()[:2] == (2, 2)


def test_a_tool_that_is_a_schema_gives_no_value() -> None:
    tool = {"name": "Weather", "parameters": Weather.model_json_schema()}
    call = parse(call_of(Weather, {"city": "Brest"}), format="hermes", tools=[tool]).tool_calls[0]
    assert (call.value, call.conversions(), call.into(Weather)) == (None, (), Weather(city="Brest"))


@pytest.mark.parametrize("status", ["truncated", "invalid"])
def test_a_call_that_must_not_run_has_no_value(status: Any) -> None:
    with pytest.raises(CallError, match=f"the call is {status} and must not be run"):
        ToolCall(name="book", arguments={"ferry": "a"}, status=status).into(book)


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>\n"


def reply_of(*calls: str) -> Reply:
    return parse("".join(calls), format="hermes")


CUT = '<tool_call>\n{"name": "book", "arguments": {"ferry": "Ystad"'


class Log:
    """Tools that note their calls."""

    def __init__(self) -> None:
        self.ran: list[Any] = []

    def book(self, ferry: str, seats: int = 1) -> dict[str, Any]:
        self.ran.append((ferry, seats))
        return {"ferry": ferry, "seats": seats}

    def fail(self) -> None:
        self.ran.append("fail")
        raise LookupError("no such ferry")

    async def late(self, day: int) -> str:
        await asyncio.sleep(0.01 if day == 1 else 0)
        self.ran.append(day)
        return f"day {day}"


def contents(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages]


def test_calls_run_in_order_and_errors_are_results() -> None:
    log = Log()
    calls = [call("book", ferry="a", seats="2"), call("fail"), call("sail"), call("book", seats=1)]
    calls.append(call("book", ferry="b"))
    found = contents(reply_of(*calls).run([log.book, log.fail]))
    assert log.ran == [("a", 2), "fail", ("b", 1)]
    assert found == [
        '{"ferry":"a","seats":2}',
        "Error: the tool `fail` failed: LookupError: no such ferry",
        "Error: the call of `sail` cannot be used: there is no such tool; those that there are: `book`, `fail`",
        "Error: the call of `book` cannot be used: /ferry: Field required",
        '{"ferry":"b","seats":1}',
    ]


def test_errors_are_raised_on_demand() -> None:
    log = Log()
    for wrong, error in ((call("fail"), LookupError), (call("sail"), CallError), (call("book"), CallError)):
        reply = reply_of(call("book", ferry="a"), wrong, call("book", ferry="b"))
        with pytest.raises(error):
            reply.run([log.book, log.fail], on_error="raise")
        with pytest.raises(error):
            asyncio.run(reply.arun([log.book, log.fail], on_error="raise"))
    assert log.ran == [("a", 1), "fail", ("a", 1), "fail", *[("a", 1)] * 4]


@in_one_item("provider", ["openai", "openai_responses", "anthropic"])
@in_one_item("text", [CUT, '<tool_call>\n{"name": "book", "arguments": {"ferry": 3 4}}\n</tool_call>'])
def test_a_refused_call_never_runs(text: str, provider: Any) -> None:
    log = Log()
    reply = reply_of(call("book", ferry="first"), text)
    assert len(reply.unfinished_tool_calls) == 1
    for messages in (
        reply.run([log.book], provider=provider),
        reply.run({"book": log.book}, provider=provider, on_error="raise"),
        asyncio.run(reply.arun([log.book], provider=provider, concurrent=True)),
    ):
        assert "was not run: the call of `book`" in json.dumps(messages[-1])
        assert messages[-1]["role"] == "user"
    assert log.ran == [("first", 1)] * 3


def test_a_refused_call_with_an_id_is_answered_under_it() -> None:
    made = [
        {"id": f"c{n}", "function": {"name": "book", "arguments": a}} for n, a in enumerate(['{"ferry": "a"}', '{"fer'])
    ]
    body = {"choices": [{"message": {"content": None, "tool_calls": made}, "finish_reason": "length"}]}
    log = Log()
    messages = parse_response(body, provider="openai").run([log.book])
    assert [(m["role"], m["tool_call_id"]) for m in messages] == [("tool", "c0"), ("tool", "c1")]
    assert messages[1]["content"].startswith("Error: the call of `book` is truncated and was not run")
    assert log.ran == [("a", 1)]


def test_a_refused_call_of_the_text_keeps_no_id() -> None:
    """An exported message has no such call, so that no message may answer its id."""
    text = render([ToolCall(name="book", arguments={"ferry": "a"}, id="functions.book:0")], format="kimi_k2")
    reply = parse(text[: text.index("}")], format="kimi_k2")
    assert [call.id for call in reply.unfinished_tool_calls] == ["functions.book:0"]
    assert [message["role"] for message in reply.run([book])] == ["user"]


@in_one_item("provider, shape", TABLES["SHAPES"].items())
def test_messages_have_the_ids_of_exported_calls(provider: Any, shape: list[dict[str, Any]]) -> None:
    def get(a: int) -> int:
        if a == 0:
            raise ValueError("$")
        return a

    reply = reply_of(call("get", a=1), call("get", a=0))
    written = json.dumps(to_wire(reply, provider, id="r"))
    messages = json.dumps(reply.run([get], provider=provider, id="r"))
    prefix = "toolu_" if provider == "anthropic" else "call_"
    ids = re.findall(rf'"{prefix}([0-9a-f]{{24}})"', messages)
    assert len(set(ids)) == 2
    for number, id in enumerate(ids):
        assert f'"{prefix}{id}"' in written
        messages = messages.replace(f"{prefix}{id}", f"${number}")
    assert json.loads(messages.replace("the tool `get` failed: ValueError: ", "")) == shape


@in_one_item("provider", TABLES["SHAPES"])
def test_a_reply_without_calls_has_no_messages(provider: Any) -> None:
    assert reply_of("Hello").run([book], provider=provider) == []


RESULTS: list[tuple[Any, str]] = [
    ("text", "text"),
    ("", ""),
    (None, "null"),
    (Weather(city="Brest"), '{"city":"Brest","days":1}'),
    ([Ferry("Ystad", 2)], '[{"harbour":"Ystad","seats":2}]'),
    (float("nan"), '"NaN"'),
    ("\ud800", "\ufffd"),
    (b"\xff", "b'\\xff'"),
    ({"x": 1 + 2j}, '{"x":"1+2j"}'),
]


@in_one_item("value, text", RESULTS)
def test_results_that_are_no_text_are_json(value: Any, text: str) -> None:
    assert contents(reply_of(call("get")).run({"get": lambda: value})) == [text]


def test_classes_and_tool_objects_run() -> None:
    def invoke(arguments: dict[str, Any]) -> str:
        return f"invoked {arguments}"

    async def ainvoke(arguments: dict[str, Any]) -> str:
        return f"awaited {arguments}"

    chain = SimpleNamespace(name="chain", tool_call_schema=Chain, invoke=invoke, ainvoke=ainvoke)
    reply = reply_of(call("Weather", city="Brest", days="3"), call("chain", A="1"), call("chain", a=1, state=1))
    tools = [[Weather], (chain,)]
    refused = "Error: the call of `chain` cannot be used: /state: there is no such argument"
    assert contents(reply.run(tools)) == ['{"city":"Brest","days":3}', "invoked {'a': 1}", refused]
    assert contents(asyncio.run(reply.arun(tools))) == ['{"city":"Brest","days":3}', "awaited {'a': 1}", refused]


def test_asynchronous_tools_run_in_order_or_at_once() -> None:
    reply = reply_of(call("late", day=1), call("late", day=2), call("book", ferry="a"))
    for concurrent, ran in ((False, [1, 2, ("a", 1)]), (True, [("a", 1), 2, 1])):
        log = Log()
        found = contents(asyncio.run(reply.arun([log.late, log.book], concurrent=concurrent)))
        assert found == ["day 1", "day 2", '{"ferry":"a","seats":1}']
        assert sorted(map(str, log.ran)) == sorted(map(str, ran))
        assert log.ran.index(2) < log.ran.index(1) if concurrent else log.ran == ran


def test_functions_of_arun_run_in_a_thread() -> None:
    def where() -> bool:
        return threading.current_thread() is threading.main_thread()

    def stop() -> None:
        raise StopIteration

    found = contents(asyncio.run(reply_of(call("where"), call("stop")).arun([where, stop])))
    assert found == ["false", "Error: the tool `stop` failed: StopIteration: "]


def test_run_refuses_asynchronous_tools() -> None:
    log = Log()

    def hidden() -> Any:
        return log.late(1)

    with pytest.raises(TypeError, match="the tool `late` is asynchronous; call `arun`"):
        reply_of(call("book", ferry="a")).run([log.book, log.late])
    with pytest.raises(TypeError, match="the tool `hidden` returned an awaitable; call `arun`"):
        reply_of(call("hidden")).run([hidden])
    assert contents(asyncio.run(reply_of(call("hidden")).arun([hidden]))) == ["day 1"]
    assert log.ran == [1]


def test_frameworks_and_results_give_the_same_reason() -> None:
    reply = reply_of(CUT)
    problem, _ = parts_of(refusal_of(reply.unfinished_tool_calls[0], reply))
    assert reply.run([book]) == [{"role": "user", "content": f"Error: {problem}"}]


def plan(seat_count: int, board: Literal["full_board", "none"] = "none", tags: list[str] | None = None) -> str:
    """Plan a trip."""
    return f"{seat_count} {board} {tags}"


@pytest.mark.parametrize(("arguments", "value", "codes"), TABLES["CONVERTED"])
def test_arguments_are_converted_as_answers_are(arguments: dict[str, Any], value: str, codes: list[str]) -> None:
    """Where there is one way to do so; `conversions` tells which."""
    call = ToolCall(name="plan", arguments=arguments)
    bound: Any = call.into(plan)
    assert plan(*bound.args, **bound.kwargs) == value
    assert sorted(one.code for one in call.conversions(plan)) == sorted(codes)


@pytest.mark.parametrize("arguments", TABLES["NOT_CONVERTED"])
def test_what_could_mean_several_things_is_not_converted(arguments: dict[str, Any]) -> None:
    """It raises, as what does not fit."""
    call = ToolCall(name="plan", arguments=arguments)
    for read in (call.into, call.conversions):
        with pytest.raises(CallError, match="plan"):
            read(plan)
