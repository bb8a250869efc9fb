"""The executors of `examples/`: what they do with actions, and that each action of the corpus is mapped or refused."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from outspoken import Action, Parser, Screen, parse
from outspoken.actions import (
    Batch,
    Click,
    CloseTab,
    Drag,
    ElementRef,
    KeyDown,
    ListOptions,
    Navigate,
    NewTab,
    OpenDevice,
    Point,
    PressKeys,
    Restart,
    RunCode,
    Screenshot,
    Scroll,
    SelectOption,
    SwitchTab,
    TypeText,
    UploadFile,
    Wait,
    WebSearch,
)
from outspoken.grammar import registry
from outspoken.results.actions.models import TYPES
from outspoken.results.geometry import Box
from tests.actions.playwright_keys import KEYS, parts
from tests.actions.pyautogui_names import FUNCTIONS, KEY_NAMES
from tests.cases import CASES
from tests.examples.playwright_executor import PlaywrightExecutor
from tests.examples.pyautogui_writer import pyautogui_code
from tests.examples.refusal import RefusedError
from tests.loops import in_one_item

SCREEN = Screen(1280, 720)


class Recorder:
    """A page, mouse, keyboard, locator or context: it records the calls of its methods."""

    viewport_size = {"width": 1280, "height": 720}  # noqa: RUF012

    def __init__(self, calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] | None = None, path: str = "") -> None:
        self.calls = [] if calls is None else calls
        self._path = path

    def __getattr__(self, name: str) -> Recorder:
        path = f"{self._path}.{name}".lstrip(".")
        found = self.__dict__[name] = Recorder(self.calls, path)
        return found

    def __call__(self, *values: Any, **named: Any) -> Recorder:
        self.calls.append((self._path, values, named))
        return Recorder(self.calls, self._path.partition(".")[0] if self._path == "context.new_page" else self._path)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.calls.append((f"{self._path}.end", (), {}))

    def __getitem__(self, key: str) -> int:
        return {"x": 100, "y": 200, "width": 40, "height": 20}[key]


class Page(Recorder):
    """A page whose context has three tabs."""

    def __init__(self) -> None:
        super().__init__()
        self.context.pages = [self, Recorder(self.calls, "second"), Recorder(self.calls, "third")]  # pyright: ignore[reportAttributeAccessIssue]


def done(*actions: Any, **options: Any) -> list[str]:
    """The calls that actions become, as text."""
    page = Page()
    executor = PlaywrightExecutor(page, find=lambda _: Recorder(page.calls, "element"), **options)
    for action in actions:
        executor.run(action)
    return [_shown(*call) for call in page.calls]


def _shown(name: str, values: tuple[Any, ...], named: dict[str, Any]) -> str:
    return f"{name}({', '.join([*map(repr, values), *[f'{key}={value!r}' for key, value in named.items()]])})"


AT = Point(x=10, y=20)
FIELD = ElementRef(id="name")

#: An action, and the calls that it becomes.
CALLS: dict[str, tuple[Any, list[str]]] = {
    "click": (Click(point=AT), ["mouse.click(10, 20, button='left', click_count=1, delay=0)"]),
    "double click": (
        Click(point=AT, clicks=2, modifiers=["ctrl"]),
        [
            "keyboard.down('Control')",
            "mouse.click(10, 20, button='left', click_count=2, delay=0)",
            "keyboard.up('Control')",
        ],
    ),
    "an element": (
        Click(element=FIELD, button="right"),
        ["element.bounding_box()", "mouse.click(120, 210, button='right', click_count=1, delay=0)"],
    ),
    "drag": (
        Drag(start=AT, via=[Point(x=30, y=30)], end=Point(x=50, y=60)),
        [
            "mouse.move(10, 20)",
            "mouse.down(button='left')",
            "mouse.move(30, 30, steps=10)",
            "mouse.move(50, 60, steps=10)",
            "mouse.up(button='left')",
        ],
    ),
    "scroll by steps": (
        Scroll(point=AT, direction="up", amount=3, unit="steps"),
        ["mouse.move(10, 20)", "mouse.wheel(0, -300)"],
    ),
    "scroll by pixels": (Scroll(dx=-5, dy=40, unit="px"), ["mouse.move(640, 360)", "mouse.wheel(-5, 40)"]),
    "scroll by pages": (
        Scroll(direction="right", amount=1, unit="pages"),
        ["mouse.move(640, 360)", "mouse.wheel(1280, 0)"],
    ),
    "scroll": (Scroll(direction="down"), ["mouse.move(640, 360)", "mouse.wheel(0, 500)"]),
    "chord": (PressKeys(keys=["ctrl", "shift", "t"], repeat=2), ["keyboard.press('Control+Shift+t')"] * 2),
    "sequence": (
        PressKeys(keys=["page_down", "enter"], mode="sequence"),
        ["keyboard.press('PageDown')", "keyboard.press('Enter')"],
    ),
    "hold": (
        PressKeys(keys=["meta"], mode="hold", seconds=1.5),
        ["keyboard.down('Meta')", "wait_for_timeout(1500.0)", "keyboard.up('Meta')"],
    ),
    "text": (
        TypeText(text="Ada", point=AT, clear=True, submit=True),
        [
            "mouse.click(10, 20)",
            "keyboard.press('ControlOrMeta+A')",
            "keyboard.press('Backspace')",
            "keyboard.type('Ada')",
            "keyboard.press('Enter')",
        ],
    ),
    "paste": (TypeText(text="é", paste=True), ["keyboard.insert_text('é')"]),
    "option": (SelectOption(element=FIELD, index=0), ["element.select_option(index=0)"]),
    "navigate": (Navigate(url="tides.example"), ["goto('https://tides.example')"]),
    "new tab": (NewTab(url="https://tides.example"), ["context.new_page()", "context.goto('https://tides.example')"]),
    "switch": (SwitchTab(index=1), ["second.bring_to_front()"]),
    "close": (CloseTab(index=2), ["third.close()"]),
    "screenshot": (
        Screenshot(region=Point(x=20, y=20, box=Box(10, 10, 30, 30))),
        ["screenshot(clip={'x': 10.0, 'y': 10.0, 'width': 20.0, 'height': 20.0})"],
    ),
    "wait": (Wait(seconds=0.5), ["wait_for_timeout(500.0)"]),
    "batch": (
        Batch(actions=[Wait(seconds=1), Click(point=AT)]),
        ["wait_for_timeout(1000.0)", "mouse.click(10, 20, button='left', click_count=1, delay=0)"],
    ),
}


@in_one_item("name", CALLS)
def test_playwright_gets_these_calls(name: str) -> None:
    action, expected = CALLS[name]
    assert done(action) == expected


#: An action that is refused, and a word of the reason.
REFUSED: dict[str, tuple[Any, str]] = {
    "truncated": (Click(point=AT, status="truncated"), "truncated"),
    "invalid": (TypeText(text="x", status="invalid"), "invalid"),
    "a part that is invalid": (Batch(actions=[Click(point=AT), Click(point=AT, status="invalid")]), "invalid"),
    "other units": (Click(point=Point(x=1, y=1, space="rel1000")), "screen"),
    "outside": (Click(point=Point(x=-1, y=1)), "screen"),
    "a button": (Click(point=AT, button="back"), "back"),
    "a key": (KeyDown(key="warp"), "warp"),
    "code": (RunCode(code="1"), "sandbox"),
    "a file": (UploadFile(element=FIELD, source="/etc/passwd"), "files"),
    "a script": (Navigate(url="javascript:alert(1)"), "web"),
    "a file as page": (Navigate(url="file:///etc/passwd"), "web"),
    "no engine": (WebSearch(query="tide"), "search"),
    "a tab": (SwitchTab(index=9), "tabs"),
    "no element": (SelectOption(label="x"), "element"),
}


@in_one_item("name", REFUSED)
def test_playwright_is_spared_what_is_unsound_or_unsupported(name: str) -> None:
    action, word = REFUSED[name]
    page = Page()
    with pytest.raises(RefusedError, match=word) as caught:
        PlaywrightExecutor(page, find=lambda _: Recorder(page.calls, "element")).run(action)
    assert f"`{caught.value.action.type}`" in str(caught.value)
    assert page.calls == []


def test_files_and_searches_are_those_of_the_caller() -> None:
    assert done(UploadFile(element=FIELD, source="cv"), files={"cv": "/data/cv.pdf"}) == [
        "element.set_input_files('/data/cv.pdf')"
    ]
    assert done(WebSearch(query="tide & time"), search="https://find.example/?q={}") == [
        "goto('https://find.example/?q=tide+%26+time')"
    ]


CODE = {
    "click(point=(10, 20))": (Click(point=AT, clicks=2), "pyautogui.click(x=10, y=20, clicks=2)"),
    "modifiers": (
        Click(point=AT, modifiers=["meta"], button="right"),
        "pyautogui.keyDown('win')\npyautogui.click(x=10, y=20, button='right')\npyautogui.keyUp('win')",
    ),
    "text": (TypeText(text='it\'s\n"x"', submit=True), "pyautogui.write('it\\'s\\n\"x\"')\npyautogui.press('enter')"),
    "other text": (TypeText(text="Zoë"), "pyperclip.copy('Zoë')\npyautogui.hotkey('ctrl', 'v')"),
    "keys": (PressKeys(keys=["ctrl", "page_up"]), "pyautogui.hotkey('ctrl', 'pageup')"),
    "scroll": (Scroll(direction="down", amount=2, unit="steps"), "pyautogui.scroll(-2)"),
    "scroll by pixels": (Scroll(dx=200, dy=-30, unit="px"), "pyautogui.scroll(1)\npyautogui.hscroll(2)"),
    "wait": (Wait(), "time.sleep(2)"),
}


@in_one_item("name", CODE)
def test_code_of_pyautogui(name: str) -> None:
    action, expected = CODE[name]
    lines = pyautogui_code([action]).splitlines()
    assert [line for line in lines if not line.startswith("import ")] == expected.splitlines()


@in_one_item("action", [Click(element=FIELD), Click(status="invalid"), Navigate(url="x.example"), KeyDown(key="warp")])
def test_pyautogui_refuses(action: Action) -> None:
    with pytest.raises(RefusedError, match=f"`{action.type}`"):
        pyautogui_code([Wait(), action])


def corpus_actions() -> list[Action]:
    """The actions of all cases in GUI formats, sound and unsound, in pixels."""
    formats = {case.format for case in CASES if registry.header(case.format).actions}
    assert len(formats) >= 33
    found: list[Action] = []
    for case in CASES:
        if case.format in formats:
            reply = parse(case.text, case.format, screen=SCREEN, **case.options)
            found += [*reply.actions, *reply.unfinished_actions]
    return found


def test_every_action_of_the_corpus_is_carried_out_or_refused_by_name() -> None:
    counts = {"playwright": Counter[str](), "pyautogui": Counter[str]()}
    actions = [*corpus_actions(), ListOptions(element=FIELD), OpenDevice(), Restart()]
    assert {action.type for action in actions} == {*TYPES}
    for action in actions:
        page = Page()
        executor = PlaywrightExecutor(page, find=lambda _, page=page: Recorder(page.calls, "element"))
        if _is_carried_out(action, lambda: executor.run(action)):  # noqa: B023 - called here
            counts["playwright"][action.type] += 1
        for name, values, named in page.calls:
            _check_call(name, values, named)
        if _is_carried_out(action, lambda: _check_code(pyautogui_code([action]))):  # noqa: B023 - called here
            counts["pyautogui"][action.type] += 1
    assert len(counts["playwright"]) >= 30, counts
    assert len(counts["pyautogui"]) >= 15, counts
    assert not {"run_code", "file_op", "unknown"} & {*counts["playwright"], *counts["pyautogui"]}


def _is_carried_out(action: Action, run: Callable[[], object]) -> bool:
    """False if the action was refused by its name; one that is not sound must be."""
    refused = None
    try:
        run()
    except RefusedError as error:
        refused = error
    assert refused is None or f"`{refused.action.type}`" in str(refused)
    assert refused is not None or (action.status in ("ok", "repaired") and action.type != "unknown"), action
    return refused is None


def _check_call(name: str, values: tuple[Any, ...], named: dict[str, Any]) -> None:
    if name in ("keyboard.press", "keyboard.down", "keyboard.up"):
        assert {*parts(values[0])} <= KEYS, values
    if name.startswith("mouse."):
        assert all(type(value) is int for value in values), (name, values)
        assert named.get("button", "left") in ("left", "right", "middle")
    if name == "mouse.click":
        assert min(values) >= 0


def _check_code(code: str) -> None:
    """Only imports and calls of known functions with literals; known keys."""
    for line in ast.parse(code).body:
        if isinstance(line, ast.Import):
            continue
        assert isinstance(line, ast.Expr)
        assert isinstance(line.value, ast.Call)
        function = ast.unparse(line.value.func)
        assert function in FUNCTIONS, function
        values = [ast.literal_eval(value) for value in line.value.args]
        named = {str(part.arg): ast.literal_eval(part.value) for part in line.value.keywords}
        assert {*named} <= FUNCTIONS[function]
        if function in ("pyautogui.press", "pyautogui.hotkey", "pyautogui.keyDown", "pyautogui.keyUp"):
            for value in values:
                assert {*(value if isinstance(value, list) else [value])} <= KEY_NAMES, values


def test_a_stream_is_carried_out_as_it_arrives() -> None:
    text = "Thought: Search.\nAction: click(start_box='(500,250)')\n\ntype(content='tide\\n')\n\nclick(start_box='(1"
    page = Page()
    executor = PlaywrightExecutor(page)
    for event in Parser("ui_tars_1_0", screen=SCREEN).stream(text[i : i + 5] for i in range(0, len(text), 5)):
        if event.type == "action_parsed":
            executor.run(event.action)
    names = [_shown(*call) for call in page.calls]
    assert names == [
        "mouse.click(640, 180, button='left', click_count=1, delay=0)",
        "keyboard.type('tide')",
        "keyboard.press('Enter')",
    ]
