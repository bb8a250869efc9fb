"""The executors of `examples/`: what they do with actions, and that each action of the corpus is mapped or refused."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import outspoken.actions as gui
from outspoken import Action, Parser, Screen, parse
from outspoken.actions.key_names import playwright_key
from outspoken.grammar import registry
from outspoken.results.actions.models import TYPES, model_of
from tests.cases import CASES
from tests.examples.playwright_executor import PlaywrightExecutor, RefusedError
from tests.examples.pyautogui_writer import pyautogui_code
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

MODIFIERS = frozenset({"Alt", "Control", "ControlOrMeta", "Meta", "Shift"})


#: Every name of a key: those of keys, and the characters of the US layout.
KEYS = MODIFIERS | {
    *TABLES["PLAYWRIGHT_KEYS"].split(),
    *[f"Digit{digit}" for digit in range(10)],
    *[f"Numpad{digit}" for digit in range(10)],
    *[f"Key{chr(code)}" for code in range(ord("A"), ord("Z") + 1)],
    *[chr(code) for code in range(ord(" "), ord("~") + 1)],
}


def parts(combination: str) -> list[str]:
    """The keys of a combination such as `Control+Shift+T`; a last `+` is a key."""
    keys = combination.split("+")
    return [*keys[:-2], "+"] if len(keys) > 1 and not keys[-1] else keys


# the names of pyautogui that written code may use: its functions with their arguments by name, and its keys


#: A function, and the arguments that are given by name.
FUNCTIONS: dict[str, set[str]] = {name: {*arguments} for name, arguments in TABLES["FUNCTIONS"].items()}

#: The keys of `pyautogui.KEYBOARD_KEYS` that one may press.
KEY_NAMES = {
    *TABLES["PYAUTOGUI_KEYS"].split(),
    *[f"f{number}" for number in range(1, 25)],
    *[f"num{digit}" for digit in range(10)],
    *[chr(code) for code in range(ord(" "), ord("~") + 1)],
}


# names of keys for Playwright


@in_one_item("name", TABLES["NAMES"])
def test_a_key_has_the_name_that_playwright_knows(name: str) -> None:
    expected = TABLES["NAMES"][name]
    if expected is None:
        with pytest.raises(ValueError, match="Playwright has no key"):
            playwright_key(name)
    else:
        assert playwright_key(name) == expected
        assert expected in KEYS


# the executors of `examples/`: what they do with actions, and that each action of the corpus is mapped or refused


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


FIELD = gui.ElementRef(id="name")


def made(action: dict[str, Any]) -> Any:
    """An action of a table."""
    return model_of(action["type"])(**{key: value for key, value in action.items() if key != "type"})


@in_one_item("name", TABLES["CALLS"])
def test_playwright_gets_these_calls(name: str) -> None:
    action, expected = TABLES["CALLS"][name]
    assert done(made(action)) == expected


@in_one_item("name", TABLES["REFUSED"])
def test_playwright_is_spared_what_is_unsound_or_unsupported(name: str) -> None:
    action, word = TABLES["REFUSED"][name]
    page = Page()
    with pytest.raises(RefusedError, match=word) as caught:
        PlaywrightExecutor(page, find=lambda _: Recorder(page.calls, "element")).run(made(action))
    assert f"`{caught.value.action.type}`" in str(caught.value)
    assert page.calls == []


def test_files_and_searches_are_those_of_the_caller() -> None:
    assert done(gui.UploadFile(element=FIELD, source="cv"), files={"cv": "/data/cv.pdf"}) == [
        "element.set_input_files('/data/cv.pdf')"
    ]
    assert done(gui.WebSearch(query="tide & time"), search="https://find.example/?q={}") == [
        "goto('https://find.example/?q=tide+%26+time')"
    ]


@in_one_item("name", TABLES["CODE"])
def test_code_of_pyautogui(name: str) -> None:
    action, expected = TABLES["CODE"][name]
    lines = pyautogui_code([made(action)]).splitlines()
    assert [line for line in lines if not line.startswith("import ")] == expected.splitlines()


@in_one_item(
    "action",
    [gui.Click(element=FIELD), gui.Click(status="invalid"), gui.Navigate(url="x.example"), gui.KeyDown(key="warp")],
)
def test_pyautogui_refuses(action: Action) -> None:
    with pytest.raises(RefusedError, match=f"`{action.type}`"):
        pyautogui_code([gui.Wait(), action])


def corpus_actions() -> list[Action]:
    """The actions of all cases in GUI formats, sound and unsound, in pixels."""
    formats = {case.format for case in CASES if registry.header(case.format).actions}
    assert len(formats) >= 33
    found: list[Action] = []
    for case in CASES:
        if case.format in formats:
            reply = parse(case.text, format=case.format, screen=SCREEN, **case.options)
            found += [*reply.actions, *reply.unfinished_actions]
    return found


def test_every_action_of_the_corpus_is_carried_out_or_refused_by_name() -> None:
    counts = {"playwright": Counter[str](), "pyautogui": Counter[str]()}
    actions = [*corpus_actions(), gui.ListOptions(element=FIELD), gui.OpenDevice(), gui.Restart()]
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
    assert names == TABLES["A_STREAM_IS_CARRIED_OUT_AS_IT_ARRIVES"]
