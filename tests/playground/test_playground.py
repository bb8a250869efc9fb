"""The playground's answers, asked in process; pages as files; and `outspoken ui`."""

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from starlette.testclient import TestClient

from outspoken import formats, parse
from outspoken.cli.main import main
from outspoken.constraints.deriving import TARGETS
from outspoken.grammar import registry
from outspoken.playground.answers import ANSWERS, answer, write
from outspoken.playground.app import Playground
from outspoken.playground.given import MOST_CHARS, Asked, Given, begin_with, shared
from outspoken.results.errors import UnknownFormatError
from outspoken.terminal.errors import UsageError
from tests.loops import in_one_item
from tests.serving.serving import Server
from tests.tables import tables

TABLES = tables(__file__)

TEXT = 'Hi.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 3,}}\n</tool_call>'
TOOLS = json.dumps([{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}, "days": {}}}}])
GRAMMAR = registry.grammar_text("hermes")[0]
HOST = "http://127.0.0.1:80"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with cast("Any", TestClient(Playground().app(), base_url=HOST)) as made:
        yield made


def ask(client: TestClient, what: str, status: int = 200, /, choice: str | None = None, **fields: Any) -> Any:
    """The answer to one request, which has this status."""
    answer = client.post(f"/api/{what}", json={"given": {"text": TEXT, **fields}, "choice": choice})
    assert answer.status_code == status, answer.text[:500]
    return answer.json()


def problem(client: TestClient, what: str, /, choice: str | None = None, **fields: Any) -> Any:
    return ask(client, what, 422, choice, **fields)["error"]


def test_a_response_is_read_with_all_that_is_shown_of_it(client: TestClient) -> None:
    found = ask(client, "read", tools=TOOLS)
    assert (found["format"], found["status"], found["raw"]) == ("hermes", "repaired", TEXT)
    assert [segment["kind"] for segment in found["segments"]] == ["text", "tool_call"]
    assert found["edits"] == [[TEXT.index(",}}"), TEXT.index(",}}") + 1, "", "trailing-comma"]]
    assert len(found["moments"]) == len(TEXT) + 2
    assert len(found["deltas"]) == len(found["events"])
    assert "".join([one[2:] for one in found["deltas"] if one.startswith("t:")]) == "Hi."
    assert "".join([one[3:] for one in found["deltas"] if one.startswith("a0:")]) == '{"city": "Paris", "days": 3}'


def test_chunks_have_the_size_that_is_asked_for_if_the_slider_has_room(client: TestClient) -> None:
    assert [moment[0] for moment in ask(client, "read", chunk=40)["moments"]] == [0, 40, 80, len(TEXT), len(TEXT)]
    assert Given(text="x" * 200_000, chunk=1).size == 5
    assert Given(text="x" * 200_000).size == 10


def test_an_edited_grammar_is_read_with_and_is_not_seen_by_anything_else(client: TestClient) -> None:
    mine = GRAMMAR.replace("_SEPARATOR: /", "_SEPARATOR: /x?").replace("// format:  hermes", "// format:  my_own")
    found = ask(client, "read", grammar=mine)
    assert (found["format"], found["status"]) == ("my_own_edited", "repaired")
    assert ask(client, "read")["format"] == "hermes"
    assert problem(client, "read", format="my_own_edited")["field"] == "format"
    assert "no format `my_own_edited`" in problem(client, "rendered", choice="my_own_edited")["message"]
    assert "my_own_edited" not in registry.names()
    rendered = ask(client, "rendered", grammar=mine)["text"]
    assert rendered == ask(client, "rendered", format="hermes")["text"]
    assert "get_weather" in ask(client, "constraint", choice="llguidance", grammar=mine, tools=TOOLS)["text"]


@pytest.mark.parametrize(("change", "line", "says"), TABLES["A_WRONG_GRAMMAR_IS_REPORTED_WITH_ITS_PLACE"])
def test_a_wrong_grammar_is_reported_with_its_place(
    client: TestClient, change: tuple[str, str], line: int, says: str
) -> None:
    wrong = problem(client, "read", grammar=GRAMMAR.replace(*change))
    assert wrong["field"] == "grammar"
    assert wrong["message"].startswith("the grammar cannot be used: line ")
    first = wrong["places"][0]
    assert first["line"] == line, first
    assert first["column"] >= 1
    assert says in first["message"]
    assert "Traceback" not in json.dumps(wrong)


@pytest.mark.parametrize(("fields", "field", "says"), [*TABLES["WRONG"], ({"tools": "[" * 20_000}, "tools", "")])
def test_what_is_wrong_is_said_of_its_field(client: TestClient, fields: dict[str, Any], field: str, says: str) -> None:
    wrong = problem(client, "read", **fields)
    assert wrong["field"] == field
    assert says in wrong["message"]
    assert "\n" not in wrong["message"]


@in_one_item("what, fields, choice, said", TABLES["ASKED"])
def test_what_is_asked_is_answered(client: TestClient, what: str, fields: Any, choice: str | None, said: Any) -> None:
    """The code with words of the error, or what an answer has by its keys; `kinds` and `last` are of its segments."""
    if "code" in said:
        assert said["says"] in ask(client, what, said["code"], choice, **fields)["error"]["message"]
        return
    found = ask(client, what, choice=choice, **fields)
    found |= {"kinds": [segment["kind"] for segment in found.get("segments", ())]}
    found |= {"last": found["segments"][-1]["value"]} if found.get("segments") else {}
    for key, value in said.items():
        assert value in found[key] if isinstance(value, str) else value == found[key], key


def test_strange_and_long_texts(client: TestClient) -> None:
    for text in ("\r\n" * 50, "[" * 3000, "\u202e" + TEXT, "\x00\U0001f468\u200d"):
        assert ask(client, "read", text=text)["length"] == len(text)
    assert ask(client, "read", 413, text="x" * (MOST_CHARS + 1))["error"]["field"] == "text"


def test_the_grammar_the_constraint_and_the_call_in_another_format(client: TestClient) -> None:
    assert ask(client, "grammar", format="Hermes") == {"format": "hermes", "grammar": GRAMMAR}
    for target in TARGETS:
        assert "get_weather" in ask(client, "constraint", choice=target, tools=TOOLS)["text"]
    cut = ask(client, "rendered", choice="hermes", text=f"Hi.\n{TEXT[4:-20]}")
    assert cut["text"].strip() == "Hi."
    assert re.fullmatch(r"left out, since it would look complete: tool call .*: get_weather, truncated", *cut["notes"])
    other = ask(client, "rendered", choice="qwen3_coder")["text"]
    assert ask(client, "read", text=other)["format"] == "qwen3_coder"


def _few(*_: object) -> tuple[str, ...]:
    return "hermes", "json", "text"


def test_candidates_are_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse(TEXT).format == "hermes"  # what is made of all formats is made before there are fewer
    monkeypatch.setattr("outspoken.parsing.inspection.registry.names", _few)
    found = ANSWERS["candidates"](Asked(given=Given(text=TEXT + " " * 10_000)))
    assert [one["format"] for one in found["candidates"]][:1] == ["hermes"]
    assert found["candidates"][0]["calls"] == ["get_weather"]
    assert found["read"] == 6_000


def test_requests_of_other_sites_are_refused(client: TestClient) -> None:
    asked = {"given": {"text": "Hi."}}
    for headers in TABLES["REQUESTS_OF_OTHER_SITES_ARE_REFUSED"]:
        answer = client.post(
            "/api/read", content=json.dumps(asked), headers={"content-type": "application/json", **headers}
        )
        assert answer.status_code == 403, headers
    for host in ("example.com", "127.0.0.1.example.com", "example.com:80"):
        assert client.get("/", headers={"host": host}).status_code == 400
        assert client.post("/api/read", json=asked, headers={"host": host}).status_code == 400
    own = {"origin": "http://127.0.0.1", "host": "127.0.0.1", "sec-fetch-site": "same-origin"}
    assert client.post("/api/read", json=asked, headers=own).status_code == 200
    assert client.post("/api/read", json=asked, headers={"host": "localhost", "origin": "http://localhost"}).is_success


def test_every_request_that_is_no_request_is_answered_in_a_sentence(client: TestClient) -> None:
    for body in (b"", b"{", b"[]", b"[" * 100_000, b'{"given": 3}', b'{"given": {"text": 3}}', b'{"given": {"x": 1}}'):
        answer = client.post("/api/read", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["error"]["message"]
    too_large = client.post(
        "/api/read", content=b" " * (8 * MOST_CHARS + 1), headers={"content-type": "application/json"}
    )
    assert too_large.status_code == 413
    assert client.get("/api/read").status_code == 405
    assert client.get("/nothing").json()["error"]["message"] == "this is not served; open the page at /"


def test_the_page_loads_nothing_and_may_ask_only_its_server(client: TestClient) -> None:
    answer = client.get("/")
    page = answer.text
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[0]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert not re.search(r"""(?:src|href)=["']|@import|url\(""", page.split('<script type="application/json"')[0])
    assert (answer.headers["x-frame-options"], answer.headers["cache-control"]) == ("DENY", "no-store")
    assert page.count('["hermes"') == 1
    assert all(f'["{one.name}",' in page for one in formats())


#: What a new process reads soon.
QUICK = {"text": "Hi.", "format": "hermes"}


def hindered_answer(what: str, asked: Asked) -> tuple[int, bytes]:
    """What a process of the playground runs in these tests: it takes ten minutes for one text, and one text ends it."""
    time.sleep(600 if asked.given.text == "slow" else 0)
    return os._exit(1) if asked.given.text == "end" else answer(what, asked)


def test_work_that_ends_its_process_or_takes_too_long_is_given_up_and_the_next_request_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("outspoken.playground.worker.answer_bounded", hindered_answer)
    playground = Playground()
    with cast("Any", TestClient(playground.app(), base_url=HOST)) as client:
        assert "made the worker end" in ask(client, "read", 503, text="end")["error"]["message"]
        assert ask(client, "read", **QUICK)["format"] == "hermes"
        playground.reading.limit = 0.2
        assert "took longer than 0.2 seconds" in ask(client, "read", 503, text="slow")["error"]["message"]
        playground.reading.limit = 20
        assert ask(client, "read", **QUICK)["format"] == "hermes"


def test_work_that_nobody_waits_for_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outspoken.playground.worker._PATIENCE", 0.05)
    monkeypatch.setattr("outspoken.playground.worker.answer_bounded", hindered_answer)
    with Server(Playground(limit=600).app()) as server, httpx.Client(base_url=server.url) as client:
        with pytest.raises(httpx.TimeoutException):
            client.post("/api/read", json={"given": {"text": "slow"}}, timeout=0.3)
        assert client.post("/api/read", json={"given": QUICK}, timeout=20).json()["format"] == "hermes"


# pages as files


def test_a_page_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    first = begin_with(TEXT, "case.txt", tools=TOOLS, chunk=7)
    assert first is not None
    write(path, first, formats=["qwen3_coder", "text"])
    page = path.read_text("utf-8")
    assert shared(page) == first
    data = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[0])
    assert list(data["constraint"]) == list(TARGETS)
    assert len(page) < 1_500_000
    assert "<function=get_weather>" in data["rendered"]["qwen3_coder"]["text"]
    assert "cannot say this" in data["rendered"]["text"]["error"]
    assert "connect-src 'none'" in page


def test_a_page_knows_the_prompt_of_a_model() -> None:
    for format, prefix, expected in (
        ("Qwen/Qwen3-8B", None, ("hermes", "")),
        ("Qwen/QwQ-32B", None, ("hermes", "<think>\n")),
        ("Qwen/QwQ-32B", "", ("hermes", "")),
        ("mistral", None, ("mistral", None)),
    ):
        first = begin_with(TEXT, format=format, prefix=prefix)
        assert first is not None
        assert (first.format, first.prefix) == expected
    with pytest.raises(UnknownFormatError):
        begin_with(TEXT, format="qwen3_codr")


def test_a_page_has_the_beginning_of_a_long_constraint(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write(path, Given(text="Action: click(start_box='(1,2)')", format="ui_tars"), formats=["ui_tars"])
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    ebnf = json.loads(found[0])["constraint"]["ebnf"]
    assert len(ebnf["text"]) == 150_000
    assert ebnf["notes"][0].startswith("this page has the first 150,000 of ")


def test_a_saved_file_is_told_from_a_response() -> None:
    first = Given(text=TEXT, format="hermes", grammar=GRAMMAR, prefix="")
    saved = json.dumps({"kind": "outspoken-playground", "version": 1, "given": first.model_dump()})
    assert shared(saved) == shared("\ufeff" + saved) == first
    for text in (TEXT, "", "{", "{}", "[]", "<!doctype html><p>Hi.", saved[:-1]):
        assert shared(text) is None
    for damaged in ('{"kind": "outspoken-playground"}', saved.replace('"hermes"', "3")):
        with pytest.raises(UsageError, match=r"^x\.json is a saved file that is damaged: `"):
            begin_with(damaged, "x.json")


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    assert main(["ui", "-t", "Just words.", "-f", "text", "--write", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"written": str(path)}
    assert shared(path.read_text("utf-8")) == Given(name="--text", text="Just words.", format="text")


@pytest.mark.parametrize(("arguments", "says"), TABLES["THE_COMMAND_SAYS_WHAT_IS_WRONG"])
def test_the_command_says_what_is_wrong(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ui", *arguments]) == 2
    assert says in capsys.readouterr().err
