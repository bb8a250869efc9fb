"""GUI actions as typed models, and the mapping from a format's own names to them.

The mapping is data of the format: a header line `left_double = click(point=start_box|point, clicks=2)` says that
`left_double` is a click, that its point is the argument `start_box` or `point`, and that it is made twice.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .construct import construct
from .diagnostics import Repair
from .header import Header

_FROZEN = ConfigDict(frozen=True, defer_build=True)

#: The spaces in which models write coordinates. `px`: pixels of the screen. `px_smart28`, `px_smart32`: pixels of the
#: image after it was resized to multiples of 28 or 32. `rel1000`, `rel999`, `unit`: 0 to 1000, 999 or 1 on each axis.
Space = Literal["px", "px_sent", "px_smart28", "px_smart32", "rel1000", "rel999", "unit"]


class Point(BaseModel):
    """A place on the screen, in the coordinate space of the model that wrote it.

    `box` is `(left, top, right, bottom)` where the model wrote a box; the point is then its centre.
    """

    model_config = _FROZEN

    x: float
    y: float
    space: Space = "px"
    box: tuple[float, float, float, float] | None = None


class BaseAction(BaseModel):
    """What all actions share: `name` is the model's own word for it, `raw` the text it wrote, `extra` what is left."""

    model_config = _FROZEN

    kind: Literal["action"] = "action"
    name: str = ""
    raw: str = ""
    span: tuple[int, int] = (0, 0)
    status: Literal["ok", "repaired", "truncated", "invalid"] = "ok"
    repairs: tuple[Repair, ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict[str, Any])


class Click(BaseAction):
    """Press and release a button, `clicks` times."""

    type: Literal["click"] = "click"
    point: Point | None = None
    button: Literal["left", "right", "middle"] = "left"
    clicks: int = 1


class LongPress(BaseAction):
    """Press and hold a place on the screen."""

    type: Literal["long_press"] = "long_press"
    point: Point | None = None
    seconds: float | None = None


class Move(BaseAction):
    """Move the pointer."""

    type: Literal["move"] = "move"
    point: Point | None = None


class Drag(BaseAction):
    """Press at one place, move, and release at another."""

    type: Literal["drag"] = "drag"
    start: Point
    end: Point


class Scroll(BaseAction):
    """Scroll the content, at a place or at all."""

    type: Literal["scroll"] = "scroll"
    point: Point | None = None
    direction: Literal["up", "down", "left", "right"]


class TypeText(BaseAction):
    """Type text. `submit` says that the text ended in a line break, which stands for Enter and is not in `text`."""

    type: Literal["type_text"] = "type_text"
    text: str
    submit: bool = False


class PressKeys(BaseAction):
    """Press keys together."""

    type: Literal["press_keys"] = "press_keys"
    keys: list[str]


class Navigate(BaseAction):
    """Open an address."""

    type: Literal["navigate"] = "navigate"
    url: str


class OpenApp(BaseAction):
    """Open an application."""

    type: Literal["open_app"] = "open_app"
    app: str


class DeviceButton(BaseAction):
    """Press a button of the device."""

    type: Literal["device_button"] = "device_button"
    button: Literal["home", "back"]


class Wait(BaseAction):
    """Wait, for so many seconds or as long as it takes."""

    type: Literal["wait"] = "wait"
    seconds: float | None = None


class Screenshot(BaseAction):
    """Look at the screen again."""

    type: Literal["screenshot"] = "screenshot"


class Complete(BaseAction):
    """The task is done."""

    type: Literal["complete"] = "complete"
    answer: str | None = None


class AskUser(BaseAction):
    """The user must do or decide something."""

    type: Literal["ask_user"] = "ask_user"
    text: str | None = None


class UnknownAction(BaseAction):
    """An action that the format's vocabulary does not have, or whose arguments do not fit; they are in `extra`."""

    type: Literal["unknown"] = "unknown"


Action = Annotated[
    Click | LongPress | Move | Drag | Scroll | TypeText | PressKeys | Navigate | OpenApp | DeviceButton | Wait
    | Screenshot | Complete | AskUser | UnknownAction,
    Field(discriminator="type"),
]  # fmt: skip

_CLASSES: tuple[type[BaseAction], ...] = (
    Click, LongPress, Move, Drag, Scroll, TypeText, PressKeys, Navigate, OpenApp, DeviceButton, Wait, Screenshot,
    Complete, AskUser, UnknownAction,
)  # fmt: skip
MODELS: dict[str, type[BaseAction]] = {model.model_fields["type"].default: model for model in _CLASSES}

_MEANING = re.compile(r"(\w+)(?:\((.*)\))?$")
_PAIR = re.compile(r'\s*(\w+)\s*=\s*("[^"]*"|[\w.|-]+)\s*(?:,|$)')
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_POINT = re.compile(rf"\s*[(\[]*\s*({_NUMBER.pattern}(?:\s*[, ]\s*{_NUMBER.pattern})*)\s*[)\]]*\s*")
_TAGS = re.compile(r"</?(?:point|bbox)>|<\|box_(?:start|end)\|>")


class Meaning:
    """What a format's action name means: the model, constants, and where each field is found."""

    __slots__ = ("model", "constants", "sources")

    def __init__(self, model: type[BaseAction], constants: dict[str, Any], sources: dict[str, tuple[str, ...]]) -> None:
        self.model, self.constants, self.sources = model, constants, sources


@lru_cache(maxsize=512)
def meaning_of(text: str) -> Meaning:
    """Read the right side of a mapping line. Raises ValueError where it cannot be read."""
    match = _MEANING.match(text.strip())
    model = MODELS.get(match[1]) if match else None
    if match is None or model is None:
        raise ValueError(f"`{text}` is no action of the vocabulary: {', '.join(sorted(MODELS))}")
    constants: dict[str, Any] = {}
    sources: dict[str, tuple[str, ...]] = {}
    rest = match[2] or ""
    while rest.strip():
        pair = _PAIR.match(rest)
        if pair is None or pair[1] not in model.model_fields:
            raise ValueError(f"`{rest.strip()}` is not `field=source|source` or `field=constant` of `{match[1]}`")
        value = pair[2]
        if value.startswith('"'):
            constants[pair[1]] = value[1:-1]
        elif value.isdigit():
            constants[pair[1]] = int(value)
        else:
            sources[pair[1]] = tuple(value.split("|"))
        rest = rest[pair.end() :]
    return Meaning(model, constants, sources)


def make_action(
    header: Header,
    name: str,
    arguments: dict[str, Any],
    span: tuple[int, int],
    raw: str,
    repairs: tuple[Repair, ...] = (),
) -> tuple[Any, str]:
    """The action that a name and arguments mean, and what is wrong with them ("" for nothing).

    An action that is not in the mapping, or whose arguments do not fit, is an `UnknownAction` with the status
    "invalid" and all arguments in `extra`.
    """
    status = "repaired" if repairs else "ok"
    common: dict[str, Any] = {"kind": "action", "name": name, "raw": raw, "span": span, "status": status, "extra": {}}
    common["repairs"] = repairs
    text = header.actions.get(name) or header.actions.get(name.lower())
    if text is None:
        problem = f"`{name}` is not an action of this format"
    else:
        meaning = meaning_of(text)
        try:
            fields, extra = _fields(meaning, arguments, header.space)
            values = {**common, **{k: f.default for k, f in meaning.model.model_fields.items() if k not in common}}
            return construct(meaning.model, {**values, **fields, "extra": extra}), ""
        except ValueError as error:
            problem = f"`{name}` {error}"
    return construct(UnknownAction, {**common, "status": "invalid", "extra": arguments, "type": "unknown"}), problem


def _fields(meaning: Meaning, arguments: dict[str, Any], space: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of an action from its arguments, and the arguments that none of them took. Raises ValueError."""
    fields = dict(meaning.constants)
    used: set[str] = set()
    for field, sources in meaning.sources.items():
        given = next((s for s in sources if s in arguments), None)
        if given is None:
            if meaning.model.model_fields[field].is_required():
                raise ValueError(f"needs `{sources[0]}`")
            continue
        used.add(given)
        fields.update(_READERS[field](field, given, arguments[given], space))
    return fields, {k: v for k, v in arguments.items() if k not in used}


def _point(field: str, name: str, value: Any, space: str) -> dict[str, Any]:
    return {field: read_point(value, space, name)}


def read_point(value: Any, space: str, name: str = "point") -> Point:
    """A point from two numbers, or a box from four, as models write them. Raises ValueError for anything else."""
    text = _TAGS.sub(" ", value) if isinstance(value, str) else str(value)
    match = _POINT.fullmatch(text.replace("(", " ").replace(")", " ").replace("[", " ").replace("]", " "))
    numbers = [float(n) for n in _NUMBER.findall(match[1])] if match else []
    if len(numbers) not in (2, 4) or not all(math.isfinite(n) for n in numbers):
        raise ValueError(f"needs a point or a box in `{name}`: 2 or 4 numbers, got {len(numbers) or repr(value)[:40]}")
    if len(numbers) == 2:
        return construct(Point, {"x": numbers[0], "y": numbers[1], "space": space, "box": None})
    left, right = sorted((numbers[0], numbers[2]))
    top, bottom = sorted((numbers[1], numbers[3]))
    box = (left, top, right, bottom)
    return construct(Point, {"x": (left + right) / 2, "y": (top + bottom) / 2, "space": space, "box": box})


def _text(field: str, name: str, value: Any, space: str) -> dict[str, Any]:
    return {field: value if isinstance(value, str) else str(value)}


def _typed(field: str, name: str, value: Any, space: str) -> dict[str, Any]:
    text = value if isinstance(value, str) else str(value)
    submit = text.endswith("\n")
    return {field: text[:-1] if submit else text, "submit": submit} if field == "text" else {field: text}


def _keys(field: str, name: str, value: Any, space: str) -> dict[str, Any]:
    keys = [k for k in re.split(r"[ +]+", str(value).strip().lower()) if k]
    if not keys:
        raise ValueError(f"needs a key in `{name}`")
    return {field: keys}


def _seconds(field: str, name: str, value: Any, space: str) -> dict[str, Any]:
    if value in ("", None):
        return {}
    match = _NUMBER.match(str(value).strip())
    if isinstance(value, bool) or match is None:
        raise ValueError(f"needs seconds in `{name}`, got {value!r}")
    return {field: float(match[0])}


def _direction(field: str, name: str, value: Any, space: str) -> dict[str, Any]:
    direction = str(value).strip().lower()
    if direction not in ("up", "down", "left", "right"):
        raise ValueError(f"needs up, down, left or right in `{name}`, got {value!r}")
    return {field: direction}


_READERS: dict[str, Any] = {
    "point": _point, "start": _point, "end": _point, "text": _typed, "keys": _keys, "seconds": _seconds,
    "direction": _direction, "url": _text, "app": _text, "answer": _text,
}  # fmt: skip


def action_arguments(header: Header, action: BaseAction) -> tuple[str, dict[str, Any]] | None:
    """The name and arguments with which a format says an action; None where it has no word for it."""
    own = action.name if action.name in header.actions else None
    for name in [*([own] if own else []), *header.actions]:
        meaning = meaning_of(header.actions[name])
        if meaning.model is not type(action):
            continue
        constants = {**{k: f.default for k, f in meaning.model.model_fields.items()}, **meaning.constants}
        fixed = [k for k in ("button", "clicks") if k in meaning.model.model_fields and k not in meaning.sources]
        if any(getattr(action, k) != constants[k] for k in fixed):
            continue
        given = {field: getattr(action, field) for field in meaning.sources}
        if any(v is not None and field not in _READERS for field, v in given.items()):
            continue
        arguments = {meaning.sources[f][0]: _written(action, f, v) for f, v in given.items() if v is not None}
        return name, {**arguments, **action.extra}
    return None


def _written(action: BaseAction, field: str, value: Any) -> Any:
    """The value of an action's field, as a model writes it."""
    if isinstance(value, Point):
        numbers = value.box or (value.x, value.y)
        return f"({','.join([f'{n:g}' if n == int(n) else repr(n) for n in numbers])})"
    if isinstance(value, list):
        return " ".join([str(key) for key in value])  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(action, TypeText) and action.submit:
        return f"{value}\n"
    return f"{value:g}" if isinstance(value, float) else value
