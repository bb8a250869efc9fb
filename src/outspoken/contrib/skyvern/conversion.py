"""Our actions as Skyvern's: `SkyvernConverter`, and what each action says of itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from outspoken.actions.key_names import playwright_key
from outspoken.results.actions.base import BaseAction
from outspoken.results.geometry import Point, Screen

from .action_models import model_named
from .errors import InvalidActionError, UnsupportedActionError

#: The pixels of one step of the wheel, and of a scroll without an amount.
STEP, SCROLL = 100, 300
#: The seconds of a wait without a number.
WAIT = 5
_AXES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
#: The fields that an action of Skyvern cannot say, by our type. What sets one is not carried out without it.
_UNSAID = {
    "click": ("modifiers", "hold_seconds"),
    "type_text": ("point", "clear"),
    "press_keys": ("point",),
    "scroll": ("modifiers",),
    "drag": ("modifiers", "start_element", "end_element"),
    "screenshot": ("region",),
}

Fields = dict[str, Any]


class Made(NamedTuple):
    """An action of Skyvern: the name of its class, its fields, and a sentence on what it does."""

    model: str
    fields: Fields
    said: str


class SkyvernConverter:
    """Converts actions whose points are pixels of a screen. It remembers where the pointer is."""

    def __init__(self, screen: Screen | None = None) -> None:
        self.screen = screen
        self._pointer: tuple[int, int] | None = None

    def convert(self, action: BaseAction) -> list[Made]:
        """The actions of Skyvern for one of ours; several for a batch.

        Raises UnsupportedActionError for what Skyvern cannot carry out, and InvalidActionError for an action that is
        truncated or invalid, whose target is unknown, or whose point is not on the screen.
        """
        kind = str(getattr(action, "type", ""))
        if action.status in ("truncated", "invalid") or kind == "unknown":
            raise InvalidActionError(f"the action `{action.name or kind}` is {action.status}, and must not be run")
        if kind == "batch":
            return [part_action for part in getattr(action, "actions", ()) for part_action in self.convert(part)]
        for field in _UNSAID.get(kind, ()):
            if getattr(action, field, None):
                raise UnsupportedActionError(kind, f"Skyvern has no `{field}` for it")
        if kind not in CONVERSIONS:
            raise UnsupportedActionError(kind, "Skyvern has no such action")
        return [CONVERSIONS[kind](self, action)]

    def pixels(self, point: Point) -> tuple[int, int]:
        """A point as whole pixels. Raises InvalidActionError if it is not on the screen."""
        if self.screen is not None and point.space != "px":
            point = point.to_pixels(self.screen)
        if point.space != "px":
            raise InvalidActionError(f"a point in the space `{point.space}` has no place without the size of a screen")
        x, y = int(point.x), int(point.y)
        wide, high = (self.screen.width, self.screen.height) if self.screen is not None else (math.inf, math.inf)
        if not (0 <= point.x <= wide and 0 <= point.y <= high):
            raise InvalidActionError(f"the point ({x}, {y}) is not on the screen")
        return int(min(x, wide - 1)), int(min(y, high - 1))

    def place(self, point: Point | None) -> Fields:
        """`x` and `y` of a point, or of the pointer. Both are None if neither is known."""
        if point is not None:
            self._pointer = self.pixels(point)
        x, y = self._pointer or (None, None)
        return {"x": x, "y": y}

    def click(self, action: Any) -> Made:
        """A click on an element or a place."""
        if action.button not in ("left", "right", "middle"):
            raise UnsupportedActionError("click", f"Skyvern has no button `{action.button}`")
        fields: Fields = {"button": action.button, "repeat": action.clicks}
        fields |= {"download": bool(action.download), "file_url": action.file_url}
        if action.element is not None and action.element.id is not None:
            return Made("ClickAction", {"element_id": action.element.id, **fields}, f"Click `{action.element.id}`")
        place = self.place(action.point)
        if place["x"] is None:
            raise InvalidActionError("the click has no target, and the pointer has not been moved before it")
        return Made("ClickAction", {"element_id": "", **place, **fields}, f"Click at {_shown(place)}")

    def move(self, action: Any) -> Made:
        """The pointer at an element or a place."""
        if action.element is not None and action.element.id is not None:
            fields = {"element_id": action.element.id, "hold_seconds": action.hold_seconds or 0}
            return Made("HoverAction", fields, f"Hover over `{action.element.id}`")
        place = self.place(action.point)
        return Made("MoveAction", place, f"Move the pointer to {_shown(place)}")

    def mouse(self, action: Any) -> Made:
        """A button of the mouse that is pressed or released."""
        if action.button != "left":
            raise UnsupportedActionError(action.type, f"Skyvern has no button `{action.button}` for it")
        place = self.place(action.point)
        direction = action.type.removeprefix("mouse_")
        said = f"Left mouse button {direction} at {_shown(place)}"
        return Made("LeftMouseAction", {"direction": direction, **place}, said)

    def drag(self, action: Any) -> Made:
        """A drag along a path."""
        if action.end is None:
            raise InvalidActionError("the drag has no end")
        start = self.place(action.start)
        if start["x"] is None:
            raise InvalidActionError("the drag has no start, and the pointer has not been moved before it")
        path = [self.pixels(point) for point in (*action.via, action.end)]
        self._pointer = path[-1]
        said = f"Drag from {_shown(start)} to {_shown({'x': path[-1][0], 'y': path[-1][1]})}"
        return Made("DragAction", {"start_x": start["x"], "start_y": start["y"], "path": path}, said)

    def scroll(self, action: Any) -> Made:
        """A scroll by pixels, at a place, an element or the middle of the screen."""
        dx, dy = self._distance(action)
        fields: Fields = {"scroll_x": dx, "scroll_y": dy}
        if action.element is not None and action.element.id is not None:
            fields["element_id"] = action.element.id
        else:
            middle = {"x": self.screen.width // 2, "y": self.screen.height // 2} if self.screen is not None else {}
            fields |= {"element_id": ""} | (self.place(action.point) if action.point is not None else middle)
        return Made("ScrollAction", fields, f"Scroll by {_shown({'x': dx, 'y': dy})}")

    def _distance(self, action: Any) -> tuple[int, int]:
        if action.unit in ("pages", "screen") and self.screen is None:
            raise InvalidActionError(f"a scroll by `{action.unit}` has no length without the size of a screen")
        wide, high = (self.screen.width, self.screen.height) if self.screen is not None else (0, 0)
        scale = {"steps": (STEP, STEP), "pages": (wide, high), "screen": (wide, high)}.get(action.unit, (1, 1))
        if action.dx is not None or action.dy is not None:
            return round((action.dx or 0) * scale[0]), round((action.dy or 0) * scale[1])
        across, down = _AXES[action.direction or "down"]
        amount = action.amount if action.amount is not None else SCROLL / max(scale[1], 1)
        return round(across * amount * scale[0]), round(down * amount * scale[1])

    def type_text(self, action: Any) -> Made:
        """Text that is typed or pasted; a line break at its end presses Enter."""
        text = f"{action.text}\n" if action.submit else action.text
        element = action.element.id if action.element is not None and action.element.id is not None else ""
        return Made(
            "PasteTextAction" if action.paste else "InputTextAction", {"element_id": element, "text": text}, text
        )

    def press_keys(self, action: Any) -> Made:
        """Keys that are pressed together or held."""
        if action.mode == "sequence" and len(action.keys) > 1:
            raise UnsupportedActionError("press_keys", "Skyvern presses the keys of an action together")
        names = [*dict.fromkeys([*action.modifiers, *action.keys])]
        try:
            keys = [playwright_key(name) for name in names]
        except ValueError as error:
            raise InvalidActionError(str(error)) from None
        fields: Fields = {"keys": keys, "repeat": action.repeat}
        if action.mode == "hold":
            fields |= {"hold": True, "duration": math.ceil(action.seconds or 0)}
        return Made("KeypressAction", fields, f"{'Hold' if action.mode == 'hold' else 'Press'} {'+'.join(keys)}")

    def select_option(self, action: Any) -> Made:
        """An option of a list."""
        option = {"label": action.label, "value": action.value, "index": action.index}
        return Made("SelectOptionAction", {**_element(action), "option": option}, f"Select {option}")

    def navigate(self, action: Any) -> Made:
        """A URL, in this tab or a new one."""
        if not action.url:
            raise InvalidActionError(f"the action `{action.type}` has no URL")
        new = action.type == "new_tab" or action.new_tab
        return Made("NewTabAction" if new else "GotoUrlAction", {"url": action.url}, f"Open {action.url}")

    def tab(self, action: Any) -> Made:
        """Another tab, or one that is closed."""
        if action.tab_id is not None:
            raise UnsupportedActionError(action.type, "Skyvern counts tabs, and knows no ids")
        model = "SwitchTabAction" if action.type == "switch_tab" else "ClosePageAction"
        return Made(model, {"tab_index": action.index}, action.type)

    def verification_code(self, action: Any) -> Made:
        """A code that the action holds."""
        if action.link or not action.code:
            raise UnsupportedActionError("verification_code", "the program gets the code")
        return Made("VerificationCodeAction", {"verification_code": action.code}, "Enter the verification code")


def _element(action: Any) -> Fields:
    if action.element is None or action.element.id is None:
        raise InvalidActionError(f"the action `{action.type}` names no element of the page")
    return {"element_id": action.element.id}


def _shown(place: Mapping[str, Any]) -> str:
    return "the pointer" if place["x"] is None else f"({place['x']}, {place['y']})"


def _simple(model: str, *fields: str) -> Callable[[SkyvernConverter, Any], Made]:
    """A conversion of an action that has Skyvern's fields under other names: `theirs=ours`."""
    pairs = [(theirs, ours or theirs) for theirs, _, ours in [field.partition("=") for field in fields]]

    def convert(_: SkyvernConverter, action: Any) -> Made:
        element = _element(action) if model in ("CheckboxAction", "UploadFileAction") else {}
        return Made(model, {**element, **{theirs: getattr(action, ours) for theirs, ours in pairs}}, action.type)

    return convert


def _wait(_: SkyvernConverter, action: Any) -> Made:
    seconds = math.ceil(action.seconds) if action.seconds is not None else WAIT
    return Made("WaitAction", {"seconds": seconds}, f"Wait for {seconds} seconds")


def _captcha(_: SkyvernConverter, action: Any) -> Made:
    kind = action.captcha.lower() if action.captcha else None
    return Made("SolveCaptchaAction", {"captcha_type": kind}, "Solve a captcha")


#: The conversion of an action by its type.
CONVERSIONS: dict[str, Callable[[SkyvernConverter, Any], Made]] = {
    "click": SkyvernConverter.click,
    "move": SkyvernConverter.move,
    "mouse_down": SkyvernConverter.mouse,
    "mouse_up": SkyvernConverter.mouse,
    "drag": SkyvernConverter.drag,
    "scroll": SkyvernConverter.scroll,
    "type_text": SkyvernConverter.type_text,
    "press_keys": SkyvernConverter.press_keys,
    "select_option": SkyvernConverter.select_option,
    "set_checked": _simple("CheckboxAction", "is_checked=checked"),
    "upload_file": _simple("UploadFileAction", "file_url=source"),
    "download_file": _simple("DownloadFileAction", "file_name", "download_url=url"),
    "navigate": SkyvernConverter.navigate,
    "new_tab": SkyvernConverter.navigate,
    "switch_tab": SkyvernConverter.tab,
    "close_tab": SkyvernConverter.tab,
    "go_back": _simple("GoBackAction"),
    "go_forward": _simple("GoForwardAction"),
    "reload": _simple("ReloadPageAction"),
    "wait": _wait,
    "extract": _simple("ExtractAction", "data_extraction_goal=query", "data_extraction_schema=data_schema"),
    "solve_captcha": _captcha,
    "verification_code": SkyvernConverter.verification_code,
    "complete": _simple("CompleteAction", "output=answer"),
    "fail": _simple("TerminateAction", "errors", "reasoning=reason"),
    "screenshot": _simple("NullAction"),
    "no_op": _simple("NullAction"),
}


def build(made: Made, **fields: Any) -> Any:
    """The action of Skyvern, with more fields. Raises ValueError for a field that its class does not accept."""
    return model_named(made.model)(**{**made.fields, **fields})
