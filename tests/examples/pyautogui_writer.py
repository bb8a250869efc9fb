"""Writes the code of pyautogui for actions, as text. Nothing here runs it: show it, log it, or run it in a sandbox.

What the mouse and the keyboard do for an action is said once, in `playwright_executor.py`: its page is a program here.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from outspoken import Action
from outspoken.actions import Point
from tests.examples.playwright_executor import STEP, PlaywrightExecutor, RefusedError, pixels

#: The names of keys that differ by more than their case, and those that do not; characters are keys, too.
_KEYS = {
    "control": "ctrl", "controlormeta": "ctrl", "meta": "win", "contextmenu": "apps", "audiovolumeup": "volumeup",
    "audiovolumedown": "volumedown", "arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
}  # fmt: skip
_SAME = {
    "alt", "backspace", "capslock", "delete", "end", "enter", "escape", "home", "insert", "numlock", "pagedown",
    "pageup", "pause", "printscreen", "scrolllock", "shift", "space", "tab", *[f"f{number}" for number in range(1, 25)],
}  # fmt: skip


def pyautogui_code(actions: Iterable[Action]) -> str:
    """A program for actions. Raises RefusedError for the first that pyautogui cannot carry out, or that is unsound."""
    program = _Program()
    writer = _Writer(program)
    for action in actions:
        writer.run(action)
    modules = [name for name in ("pyautogui", "pyperclip", "time") if any(f"{name}." in line for line in program.lines)]
    return "".join([f"{line}\n" for line in [*[f"import {name}" for name in modules], *program.lines]])


class _Program:
    """What stands for the page: each step of the mouse, the keyboard and the screen becomes a line."""

    viewport_size = None

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.action: Any = None
        self.mouse, self.keyboard = _Mouse(self), _Keyboard(self)

    def __getattr__(self, name: str) -> Any:
        raise RefusedError(self.action, "pyautogui knows only the mouse, the keyboard and the screen")

    def write(self, name: str, *values: object, **named: object) -> None:
        """Write a call; what is None is left out. Strings are written as literals, so that no text becomes code."""
        more = [f"{key}={one!r}" for key, one in named.items() if one is not None]
        self.lines.append(f"{name}({', '.join([*map(repr, values), *more])})")

    def wait_for_timeout(self, milliseconds: float) -> None:
        self.write("time.sleep", milliseconds / 1000 if milliseconds % 1000 else int(milliseconds // 1000))

    def screenshot(self, clip: dict[str, float] | None = None) -> None:
        self.write("pyautogui.screenshot", region=tuple(map(int, clip.values())) if clip else None)


class _Mouse:
    """The mouse; the pointer stays where it is if no place is given. The left button is not named."""

    def __init__(self, program: _Program) -> None:
        self._write, self._wait = program.write, program.wait_for_timeout

    def move(self, *place: int, steps: int | None = None) -> None:
        if place:
            self._write("pyautogui.moveTo", *place, duration=0.2 if steps else None)

    def click(self, *place: int, button: str = "left", click_count: int = 1, delay: float = 0) -> None:
        at, named = dict(zip("xy", place, strict=False)), button if button != "left" else None
        if delay:
            self._write("pyautogui.mouseDown", **at, button=named)
            self._wait(delay)
            self._write("pyautogui.mouseUp", button=named)
        else:
            self._write("pyautogui.click", **at, clicks=click_count if click_count != 1 else None, button=named)

    def down(self, button: str) -> None:
        self._write("pyautogui.mouseDown", button=button if button != "left" else None)

    def up(self, button: str) -> None:
        self._write("pyautogui.mouseUp", button=button if button != "left" else None)

    def wheel(self, across: float, down: float) -> None:
        """Scroll by pixels, at least one step; up is positive."""
        for name, by in (("scroll", -down / STEP), ("hscroll", across / STEP)):
            if by:
                self._write(f"pyautogui.{name}", round(by) or (1 if by > 0 else -1))


class _Keyboard:
    """The keyboard. `write` of pyautogui passes over characters that are no ASCII, so these are pasted."""

    def __init__(self, program: _Program) -> None:
        self._program, self._write = program, program.write
        self.down, self.up = partial(self._one, "keyDown"), partial(self._one, "keyUp")

    def _key(self, name: str) -> str:
        known = _KEYS.get(name.lower(), name.lower() if len(name) > 1 else name)
        if known in _KEYS.values() or known in _SAME or (len(known) == 1 and "!" <= known <= "~"):
            return known
        raise RefusedError(self._program.action, f"pyautogui has no key `{name[:40]}`")

    def _one(self, function: str, name: str) -> None:
        self._write(f"pyautogui.{function}", self._key(name))

    def press(self, combination: str) -> None:
        *held, last = [key or "+" for key in combination.removesuffix("+").split("+")]
        keys = [*map(self._key, held), self._key(last.lower() if held else last)]
        self._write("pyautogui.hotkey" if held else "pyautogui.press", *keys)

    def type(self, text: str) -> None:
        if not text.isascii():
            self.insert_text(text)
        elif text:
            self._write("pyautogui.write", text)

    def insert_text(self, text: str) -> None:
        self._write("pyperclip.copy", text)
        self._write("pyautogui.hotkey", "ctrl", "v")


class _Writer(PlaywrightExecutor):
    """Writes a program. It knows neither elements nor the size of the screen, nor where the pointer is."""

    def __init__(self, program: _Program) -> None:
        super().__init__(program)
        self.pointer = ()

    def run(self, action: Action) -> None:
        self.page.action = action
        super().run(action)

    def _scale(self, action: Any) -> tuple[int, int]:
        if action.unit not in ("steps", "px", None):
            raise RefusedError(action, f"pyautogui scrolls by steps, not by `{action.unit}`")
        return super()._scale(action)

    def _middle(self) -> tuple[int, ...]:
        return self.pointer

    def _move(self, action: Any) -> None:
        if action.point is None:
            raise RefusedError(action, "it names no place")
        super()._move(action)

    def _swipe(self, action: Any) -> None:
        if action.start is None or action.end is None:
            raise RefusedError(action, "a mouse needs the places where a swipe starts and ends")
        self.page.mouse.move(*pixels(action, action.start))
        self.page.write("pyautogui.dragTo", *pixels(action, action.end), duration=0.3)

    def _cursor_position(self, _: Any) -> None:
        self.page.write("pyautogui.position")

    def _place(self, action: Any, point: Point | None, element: Any) -> tuple[int, ...]:
        if element is not None:
            raise RefusedError(action, "pyautogui knows no elements, so find the place first")
        return super()._place(action, point, None)
