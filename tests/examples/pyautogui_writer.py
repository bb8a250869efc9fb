"""Writes the code of pyautogui for actions, as text. Nothing here runs it: show it, log it, or run it in a sandbox."""

from collections.abc import Iterable, Iterator
from typing import Any

from outspoken import Action
from outspoken.actions import Point
from tests.examples.refusal import RefusedError, pixels, require_sound

#: The pixels of one step of the wheel, and the steps of a scroll without an amount.
STEP, SCROLL = 100, 5
_KEYS = {
    "meta": "win", "page_up": "pageup", "page_down": "pagedown", "caps_lock": "capslock", "num_lock": "numlock",
    "scroll_lock": "scrolllock", "print_screen": "printscreen", "menu": "apps", "volume_up": "volumeup",
    "volume_down": "volumedown",
}  # fmt: skip
_SAME = {
    "alt", "backspace", "ctrl", "delete", "down", "end", "enter", "escape", "home", "insert", "left", "pause", "right",
    "shift", "space", "tab", "up",
}  # fmt: skip
_BUTTONS = ("left", "right", "middle")


def pyautogui_code(actions: Iterable[Action]) -> str:
    """A program for actions. Raises RefusedError for the first that pyautogui cannot carry out, or that is unsound."""
    lines = [line for action in actions for line in _lines(action)]
    modules = [name for name in ("pyautogui", "pyperclip", "time") if any(f"{name}." in line for line in lines)]
    return "".join([f"{line}\n" for line in [*[f"import {name}" for name in modules], *lines]])


def _lines(action: Action) -> Iterator[str]:
    require_sound(action)
    if action.type == "batch":
        for part in action.actions:
            yield from _lines(part)
    elif action.type not in _WRITERS:
        raise RefusedError(action, "pyautogui knows only the mouse, the keyboard and the screen")
    elif getattr(action, "element", None) is not None:
        raise RefusedError(action, "pyautogui knows no elements, so find the place first")
    else:
        yield from _WRITERS[action.type](action)


def _call(name: str, *values: object, **named: object) -> str:
    """A call; what is None is left out. Strings are written as literals, so that no text becomes code."""
    written = [*[repr(value) for value in values], *[f"{key}={one!r}" for key, one in named.items() if one is not None]]
    return f"{name}({', '.join(written)})"


def _at(action: Any, point: Point | None) -> dict[str, int]:
    return dict(zip("xy", pixels(action, point), strict=True)) if point is not None else {}


def _button(action: Any) -> str | None:
    if action.button not in _BUTTONS:
        raise RefusedError(action, f"pyautogui has no button `{action.button}`")
    return action.button if action.button != "left" else None


def _key(action: Any, name: str) -> str:
    known = _KEYS.get(name, name)
    function = known[:1] == "f" and known[1:].isdigit() and 1 <= int(known[1:]) <= 24
    if name in _KEYS or known in _SAME or function or (len(known) == 1 and "!" <= known <= "~"):
        return known
    raise RefusedError(action, f"pyautogui has no key `{name[:40]}`")


def _held(action: Any, lines: Iterable[str]) -> Iterator[str]:
    """Lines with the modifiers of an action down."""
    keys = [_key(action, name) for name in action.modifiers]
    yield from [_call("pyautogui.keyDown", key) for key in keys]
    yield from lines
    yield from [_call("pyautogui.keyUp", key) for key in reversed(keys)]


def _click(action: Any) -> Iterator[str]:
    if action.file_url is not None or action.desired_state is not None:
        raise RefusedError(action, "it says more than a click: a file, or the state of a switch")
    place = _at(action, action.point)
    if action.hold_seconds:
        press = [_call("pyautogui.mouseDown", **place, button=_button(action))]
        press += [_call("time.sleep", action.hold_seconds), _call("pyautogui.mouseUp", button=_button(action))]
    else:
        clicks = action.clicks if action.clicks != 1 else None
        press = [_call("pyautogui.click", **place, clicks=clicks, button=_button(action))]
    yield from _held(action, press)


def _long_press(action: Any) -> Iterator[str]:
    yield _call("pyautogui.mouseDown", **_at(action, action.point))
    yield _call("time.sleep", action.seconds or 1)
    yield _call("pyautogui.mouseUp")


def _move(action: Any) -> Iterator[str]:
    if action.point is None:
        raise RefusedError(action, "it names no place")
    yield _call("pyautogui.moveTo", *pixels(action, action.point))
    if action.hold_seconds:
        yield _call("time.sleep", action.hold_seconds)


def _mouse(action: Any) -> Iterator[str]:
    name = "mouseDown" if action.type == "mouse_down" else "mouseUp"
    yield _call(f"pyautogui.{name}", **_at(action, action.point), button=_button(action))


def _drag(action: Any) -> Iterator[str]:
    if action.end is None or action.start_element is not None:
        raise RefusedError(action, "pyautogui needs the places of its start and end")
    lines = [_call("pyautogui.moveTo", *pixels(action, action.start))] if action.start is not None else []
    lines.append(_call("pyautogui.mouseDown", button=_button(action)))
    lines += [_call("pyautogui.moveTo", *pixels(action, point), duration=0.2) for point in (*action.via, action.end)]
    lines.append(_call("pyautogui.mouseUp", button=_button(action)))
    yield from _held(action, lines)


def _scroll(action: Any) -> Iterator[str]:
    scale = {"steps": 1, None: 1, "px": 1 / STEP}.get(action.unit)
    if scale is None:
        raise RefusedError(action, f"pyautogui scrolls by steps, not by `{action.unit}`")
    by = {"x": (action.dx or 0) * scale, "y": (action.dy or 0) * scale}
    if action.dx is None and action.dy is None:
        steps = action.amount * scale if action.amount is not None else SCROLL
        direction = action.direction or "down"
        by = {"y": steps if direction == "down" else -steps} if direction in ("up", "down") else {"x": steps}
        by = {"x": -steps} if direction == "left" else by
    lines = [_call("pyautogui.moveTo", *pixels(action, action.point))] if action.point is not None else []
    if by.get("y"):
        lines.append(_call("pyautogui.scroll", -_steps(by["y"])))  # positive is up
    if by.get("x"):
        lines.append(_call("pyautogui.hscroll", _steps(by["x"])))
    yield from _held(action, lines)


def _steps(amount: float) -> int:
    """At least one step."""
    return round(amount) or (1 if amount > 0 else -1)


def _swipe(action: Any) -> Iterator[str]:
    if action.start is None or action.end is None:
        raise RefusedError(action, "a mouse needs the places where a swipe starts and ends")
    yield _call("pyautogui.moveTo", *pixels(action, action.start))
    yield _call("pyautogui.dragTo", *pixels(action, action.end), duration=0.3)


def _type_text(action: Any) -> Iterator[str]:
    if action.point is not None:
        yield _call("pyautogui.click", **_at(action, action.point))
    if action.clear:
        yield _call("pyautogui.hotkey", "ctrl", "a")
        yield _call("pyautogui.press", "backspace")
    if action.paste or not action.text.isascii():  # `write` passes over other characters
        yield _call("pyperclip.copy", action.text)
        yield _call("pyautogui.hotkey", "ctrl", "v")
    elif action.text:
        yield _call("pyautogui.write", action.text)
    if action.submit:
        yield _call("pyautogui.press", "enter")


def _press_keys(action: Any) -> Iterator[str]:
    held = [_key(action, name) for name in action.modifiers]
    keys = [_key(action, name) for name in action.keys]
    together = list(dict.fromkeys([*held, *keys]))
    if action.point is not None:
        yield _call("pyautogui.click", **_at(action, action.point))
    if action.mode == "hold":
        yield from [_call("pyautogui.keyDown", key) for key in together]
        yield _call("time.sleep", action.seconds or 0)
        yield from [_call("pyautogui.keyUp", key) for key in reversed(together)]
        return
    for _ in range(max(action.repeat, 1)):
        if action.mode == "sequence":
            yield from _held(action, [_call("pyautogui.press", keys)])
        else:
            yield _call("pyautogui.hotkey", *together) if len(together) > 1 else _call("pyautogui.press", *together)


def _key_down(action: Any) -> Iterator[str]:
    yield _call("pyautogui.keyDown", _key(action, action.key))


def _key_up(action: Any) -> Iterator[str]:
    yield _call("pyautogui.keyUp", _key(action, action.key))


def _screenshot(action: Any) -> Iterator[str]:
    region: Point | None = action.region
    if region is None or region.box is None:
        yield _call("pyautogui.screenshot")
        return
    box = region.box
    left, top = pixels(action, Point(x=box.left, y=box.top, space=region.space))
    yield _call("pyautogui.screenshot", region=(left, top, int(box.right) - left, int(box.bottom) - top))


def _wait(action: Any) -> Iterator[str]:
    yield _call("time.sleep", action.seconds if action.seconds is not None else 2)


def _position(_: Any) -> Iterator[str]:
    yield _call("pyautogui.position")


def _nothing(_: Any) -> Iterator[str]:
    return iter(())


_WRITERS: dict[str, Any] = {
    "click": _click, "long_press": _long_press, "move": _move, "mouse_down": _mouse, "mouse_up": _mouse, "drag": _drag,
    "scroll": _scroll, "swipe": _swipe, "type_text": _type_text, "press_keys": _press_keys, "key_down": _key_down,
    "key_up": _key_up, "screenshot": _screenshot, "cursor_position": _position, "wait": _wait, "no_op": _nothing,
    "open_device": _nothing,
}  # fmt: skip
