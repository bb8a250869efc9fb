"""The playground, as a real browser shows it: with a keyboard, in the dark, in a narrow window, with long text."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from outspoken.playground.answers import write
from outspoken.playground.app import Playground
from outspoken.playground.given import Given
from tests.serving.serving import Server, until
from tests.tables import tables
from tests.viewer.pages import Page, long_response
from tools.shared.browser import opened

TABLES = tables(__file__)

pytestmark = pytest.mark.browser

CALL = 'Hi.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 3,}}\n</tool_call>'
TOOLS = '[{"name": "get_weather", "parameters": {"type": "object", "properties": {"days": {"type": "string"}}}}]'
LONG = long_response(300)


class Playing(Page):
    """The playground in the browser."""

    def __init__(self, browser: Any, server: Server, downloads: Path) -> None:
        super().__init__(browser)
        self.server, self.downloads = server, downloads

    def start(self, width: int = 1280, scheme: str = "light") -> None:
        """Open it anew, and wait until it shows something."""
        self.open(self.server.url, width, scheme)
        self.idle()

    def idle(self) -> None:
        """Wait until what was asked for is shown."""
        until(lambda: self.run("return document.getElementById('view').ariaBusy === 'false'"), 20)

    def fill(self, name: str, text: str) -> None:
        """Paste a text into a field, and wait until it is read."""
        # as with Ctrl+Enter: it need not wait for more to be typed
        self.run(TABLES["FILL"], f"given-{name}", text)
        self.idle()

    def tab(self, name: str) -> None:
        self.click(f"#tab-{name}")

    def active(self) -> str:
        return self.run("return document.activeElement.id")

    def grammar(self) -> str:
        return self.run("return document.getElementById('given-grammar').value")

    def open_grammar(self) -> str:
        """Open the grammar of the format that was detected, and return it."""
        self.press("3")
        until(lambda: "start:" in self.grammar())
        return self.grammar()

    def downloaded(self, name: str) -> Path:
        """A file that the page has saved."""
        path = self.downloads / name
        until(lambda: path.is_file() and path.stat().st_size > 0, 20)
        return path


@pytest.fixture(scope="module")
def playing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playing]:
    downloads = tmp_path_factory.mktemp("downloads")
    with opened() as browser, Server(Playground(Given(name="case", text=CALL)).app()) as server:
        allowed = {"behavior": "allow", "downloadPath": str(downloads)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        yield Playing(browser, server, downloads)


@pytest.fixture
def page(playing: Playing) -> Iterator[Playing]:
    """The page, opened anew; its console has nothing to complain of."""
    playing.start()
    yield playing
    assert playing.complaints() == []


def test_the_page_opens_with_the_response_and_asks_nobody_else(page: Playing) -> None:
    assert page.text("#text") == CALL
    assert page.text("#facts").startswith("format hermesstatus repaired")
    assert page.text("#said") == "hermes, repaired, 2 segments, 1 repair; chunks of 1 character"
    assert page.text("#given-format option:checked") == "auto · detected hermes"
    assert page.text("#text .edited") == ","
    assert page.run("return document.querySelector('#text .edited').title") == "trailing-comma"
    assert {url.removeprefix(page.server.url) for url in page.requested()} == {"/", "/api/read"}


def test_a_response_is_pasted_and_its_format_detected(page: Playing) -> None:
    box = page.browser.find_element("id", "given-text")
    box.clear()
    call = '[TOOL_CALLS][{"name": "f", "arguments": {"x": 1}}]'
    box.send_keys(call)
    until(lambda: page.text("#text") == call)
    page.idle()
    detected = page.text("#given-format option:checked").removeprefix("auto · detected ")
    assert page.text("#facts b") == detected == "mistral"
    page.fill("text", "Just words.")
    assert page.text("#given-format option:checked") == "auto · nothing detected"


def test_the_candidates_are_listed_and_one_is_chosen(page: Playing) -> None:
    found: list[Any] = [
        {"format": name, "status": "ok", "covered": 0.5, "calls": []} for name in ("qwen3_coder", "hermes")
    ]
    page.run(  # every format would read the text, which takes seconds; what the server answers is tested without a page
        "const [answer] = arguments; const real = fetch; window.fetch = (url, more) => url === '/api/candidates'"
        "? Promise.resolve(new Response(answer)) : real(url, more)",
        json.dumps({"candidates": found, "read": 50}),
    )
    page.click("#which")
    until(lambda: page.text("#candidates").startswith("qwen3_coder · ok, 50 %hermes"))
    assert page.text("#candidates").endswith("of the first 50 characters")
    page.click("#candidates button")
    until(lambda: page.text("#facts b") == "qwen3_coder")
    page.idle()
    page.fill("text", "Just words.")
    assert page.run("return document.getElementById('candidates').hidden") is True


def test_a_wrong_grammar_shows_its_place_and_the_right_one_is_read_with(page: Playing) -> None:
    grammar = page.open_grammar()
    line = grammar[: grammar.index("start:")].count("\n") + 1
    page.fill("grammar", grammar.replace("start: ", "start: nothing_such "))
    place = f"line {line}, column 8"
    assert page.text("#wrong").startswith(f"the grammar cannot be used: {place}: ")
    assert page.run("return document.getElementById('wrong').getAttribute('role')") == "alert"
    assert page.text("#panel-grammar .bad").strip() == str(line)
    assert page.run("return document.getElementById('given-grammar').ariaInvalid") == "true"
    assert "stale" in page.run("return document.getElementById('view').className")
    beside = (
        "const e = document.getElementById('given-grammar'); e.scrollTop = 1e6; const g = e.previousElementSibling;"
        "return new Promise((done) => setTimeout(() => done(Math.abs(e.scrollTop - g.scrollTop)), 50))"
    )
    assert page.run(beside) < 1  # the numbers stand beside their lines
    assert page.text("#text") == CALL
    page.click("#wrong button")
    selected = "const e = document.activeElement; return e.value.slice(e.selectionStart, e.selectionEnd)"
    assert page.run(selected) == "nothing_such"
    page.fill("grammar", grammar + "// mine\n")
    assert page.text("#wrong") == ""
    assert page.text("#facts b") == "hermes_edited"
    page.click("#restore")
    until(lambda: page.text("#facts b") == "hermes")


def test_tools_type_the_arguments_and_their_mistakes_are_shown(page: Playing) -> None:
    page.press("2")
    page.fill("tools", TOOLS[:-1] + " 1]")
    assert page.text("#wrong").startswith(f"the tools are not JSON: line 1, column {len(TOOLS) + 1}")
    page.fill(
        "text", "<tool_call>\n<function=get_weather>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
    )
    page.fill("tools", "")
    assert "days=3" in page.text("#segments")
    page.fill("tools", TOOLS)
    assert "days='3'" in page.text("#segments")


def test_the_slider_goes_through_the_chunks_with_the_keyboard(page: Playing) -> None:
    page.fill("chunk", "16")
    page.run("document.getElementById('at').focus()")
    page.press(Keys.HOME)
    assert page.text("#far") == "nothing yet"
    page.press(*[Keys.ARROW_RIGHT] * 4)
    assert page.text("#now").startswith("64 of ")
    assert "tool call: get_weather arriving" in page.text("#far")
    assert '{"city": "P' in page.text("#far")
    page.press(Keys.END)
    assert "tool call: get_weather complete" in page.text("#far")
    assert page.text("#far").endswith("ended, status repaired")
    page.press("[", ",")
    assert page.text("#now").startswith(f"{(len(CALL) - 1) // 16 * 16} of ")


def test_all_of_it_is_used_with_the_keyboard(page: Playing) -> None:
    seen: list[str] = []
    for _ in range(60):
        page.press(Keys.TAB)
        name = "const e = document.activeElement; return e.id || e.className || e.tagName"
        seen.append(page.run(name))
        style = "const s = getComputedStyle(document.activeElement); return s.outlineStyle"
        where = "return document.activeElement.closest('.editor') !== null"
        assert page.run(style) != "none" or page.run(where), seen[-1]
        if seen[-1] == "tab-segments":
            break
    order = TABLES["ALL_OF_IT_IS_USED_WITH_THE_KEYBOARD"]
    assert [name for name in seen if name in order] == order
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.active() == "tab-tree"
    assert page.run("return document.getElementById('panel-tree').hidden") is False
    page.press("?")
    assert page.run("return document.getElementById('shortcuts').open") is True
    page.press(Keys.ESCAPE)
    page.press("1")
    assert page.active() == "given-text"
    page.press("t?", Keys.ESCAPE)
    assert page.active() == "at"
    assert page.run("return document.documentElement.dataset.theme") is None
    roles = ("button", "slider", "textbox", "combobox", "tab", "tabpanel", "alert", "status")
    assert page.unnamed(*roles) <= {"alert", "status"}


def test_the_theme_is_that_of_the_system_or_the_one_that_is_chosen(page: Playing) -> None:
    background = "return getComputedStyle(document.documentElement).backgroundColor"
    colours: dict[str, str] = {}
    for scheme in ("light", "dark"):
        page.start(scheme=scheme)
        colours[scheme] = page.run(background)
    assert colours["light"] != colours["dark"]
    for chosen in ("light", "dark"):
        page.press("t")
        assert page.run(background) == colours[chosen]
    page.start(scheme="light")
    assert page.run(background) == colours["dark"]
    page.click("#theme")
    assert page.run(background) == colours["light"]


def test_a_narrow_window_has_everything_and_no_bar_below(page: Playing) -> None:
    page.start(360)
    for name in ("text", "tools", "grammar", "segments", "problems", "tree", "tokens", "constraint", "rendered"):
        page.tab(name)
        assert page.overflow() == 0, name
        assert page.run("return document.getElementById(arguments[0]).offsetWidth <= 360", f"panel-{name}")
        assert page.clipped() == [], name
    page.click("#help")
    assert page.overflow() == 0
    page.run("document.getElementById('shortcuts').close()")


def test_the_constraint_and_the_call_in_another_format_are_shown(page: Playing) -> None:
    page.fill("tools", TOOLS)
    page.tab("constraint")
    until(lambda: "get_weather" in page.text("#constraint"))
    page.choose("target", "gbnf")
    until(lambda: "text-0 ::= " in page.text("#constraint"))
    assert "more" in page.text("#constraint .more")
    page.browser.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    page.click("#copy-constraint")
    until(lambda: page.text("#constraint-said").endswith(" characters copied"))
    page.click("#constraint .more")
    assert "root ::= " in page.text("#constraint")
    page.fill("tools", "")
    page.tab("rendered")
    until(lambda: page.text("#rendered").startswith("Hi.\n<tool_call>"))
    page.choose("written-in", "qwen3_coder")
    until(lambda: "<function=get_weather>" in page.text("#rendered"))
    page.choose("written-in", "text")
    until(lambda: "cannot say this" in page.text("#rendered-said"))
    assert page.text("#rendered") == ""
    page.choose("written-in", "")


def test_long_text_is_drawn_in_part(page: Playing) -> None:
    page.fill("text", LONG)
    shown = page.text("#text")
    assert 10_000 < len(shown) <= 26_000
    assert LONG.endswith(shown)
    assert f"{len(LONG) - len(shown):,} characters before these are not drawn" in page.text("#above")
    assert page.run("return document.querySelectorAll('*').length") < 20_000
    page.run(
        "const slider = document.getElementById('at'); slider.value = Number(slider.max) / 2;"
        "slider.dispatchEvent(new Event('input', { bubbles: true }));"
    )
    at = int(page.text("#now").split(" of ")[0])
    assert LONG[at - 20 : at] in page.text("#text")
    page.click("#below button")
    assert LONG[at + 8_000 : at + 8_020] in page.text("#text")
    page.tab("tokens")
    assert page.text("#token-pages").endswith(f"tokens 1 to 150 of {page.run('return data.tokens.length'):,}")
    page.tab("tree")
    assert "more here" in page.text("#tree .more")
    page.tab("segments")


def test_the_last_of_several_edits_is_shown(page: Playing) -> None:
    page.run(
        "const field = document.getElementById('given-text');"
        "for (const text of [arguments[0], 'one', arguments[0], 'two', 'three']) { field.value = text; readNow(); }",
        LONG[:20_000],
    )
    until(lambda: page.text("#text") == "three", 20)
    page.idle()
    assert page.text("#wrong") == ""


def test_what_is_saved_opens_again(page: Playing) -> None:
    page.fill("tools", TOOLS)
    page.fill("chunk", "8")
    page.choose("prompt", "none")
    page.fill("grammar", page.open_grammar() + "// mine\n")
    wanted = page.run("return given()")
    assert (wanted["prefix"], wanted["chunk"], wanted["tools"]) == ("", 8, TOOLS)
    page.click("#save-json")
    page.click("#save-page")
    for saved in [page.downloaded(name) for name in ("case.json", "case.html")]:
        page.start()
        page.browser.find_element("id", "file").send_keys(str(saved))
        until(lambda: page.run("return given()") == wanted)
        page.idle()
        assert page.text("#facts b") == "hermes_edited"
    assert page.complaints() == []
    page.open(page.downloaded("case.html").as_uri())
    assert page.text("#text") == CALL


def test_files_are_taken_for_what_they_are(page: Playing) -> None:
    grammar = page.downloads / "my_tags.lark"
    grammar.write_text(
        '// format: my_tags\n// title: Mine\n\nstart: (TEXT | tool_call)*\ntool_call: "<<" TOOL_NAME arguments ">>"\n'
        "arguments: JSON_OBJECT\n\nTOOL_NAME: /[a-z]+/\nTEXT: /.+/\nJSON_OBJECT: /\\{.*\\}/\n%import common.WS\n"
        "%ignore WS\n",
        "utf-8",
    )
    response = page.downloads / "response.txt"
    response.write_text('Hi. <<wave {"n": 1}>>', "utf-16")
    for path in (grammar, response):
        page.run("document.getElementById('view').ariaBusy = 'true'")
        page.browser.find_element("id", "file").send_keys(str(path))
        page.idle()
    assert page.text("#source") == "response.txt"
    assert page.text("#facts b") == "my_tags_edited"
    assert "ToolCall(wave, n=1)" in page.text("#segments")
    assert page.text("#given-format option:checked") == "your grammar"


def test_a_damaged_shared_file_changes_nothing(page: Playing) -> None:
    before = page.run("return given()")
    for name, held in (("chunk", {"chunk": "x"}), ("tools", {"tools": 5}), ("text", {"text": None}), ("no_such", {})):
        path = page.downloads / f"{name}.json"
        given = {"text": "Hi.", "format": name if name == "no_such" else "auto", **held}
        path.write_text(json.dumps({"kind": "outspoken-playground", "version": 1, "given": given}), "utf-8")
        page.browser.find_element("id", "file").send_keys(str(path))
        until(lambda name=name: page.text("#wrong").startswith(f"{name}.json cannot be opened: "))
        assert f"`{name}`" in page.text("#wrong")
        assert page.run("return given()") == before


def test_a_page_of_a_response_works_from_a_file(page: Playing) -> None:
    path = page.downloads / "page.html"
    write(path, Given(name="a case", text=CALL, screen="640x480", chunk=4), formats=["qwen3_coder"])
    page.open(path.as_uri(), 360, "dark")
    assert page.text("#text") == CALL
    assert page.overflow() == 0
    page.run("document.getElementById('at').focus()")
    page.press(Keys.HOME, Keys.ARROW_RIGHT)
    assert page.text("#now").startswith("4 of ")
    page.tab("constraint")
    assert "<tool_call>" in page.text("#constraint")
    page.tab("rendered")
    page.choose("written-in", "qwen3_coder")
    assert "<function=get_weather>" in page.text("#rendered")
    page.tab("given")
    assert "640x480" in page.text("#panel-given")
    assert page.overflow() == 0
    assert page.clipped() == []
    assert page.complaints() == []
    assert page.requested() == [page.browser.current_url.split("#")[0]]
