"""UI-TARS's responses, compared with what the vendor's package `ui-tars` 0.5.1 reads of them.

Its results of November 2026 are in `ui_tars.json`.
"""

import ast
import json
from pathlib import Path
from typing import Any

from outspoken import Action, Reasoning, Reply, Screen, parse
from outspoken.actions import Point
from tests.tables import tables

TABLES = tables(__file__)

FORMATS = {"doubao": "doubao_ui_tars", "qwen25vl": "ui_tars"}
SCREEN = Screen(1920, 1080)
#: The end of a text, and why the package is wrong about it.
ERRORS = TABLES["ERRORS"]
#: Texts that stand behind nothing but white space.
NO_MARKER = "click(point='<point>3 4</point>')"
#: The fields of our actions that hold what the package has as inputs.
INPUTS = {"text": "content", "answer": "content", "keys": "key", "key": "key", "direction": "direction"}


def _box(point: Point) -> list[float]:
    """The corners of a point or a box, as parts of the screen."""
    box = point.box
    corners = (box.left, box.top, box.right, box.bottom) if box is not None else (point.x, point.y, point.x, point.y)
    sizes = (SCREEN.width, SCREEN.height) * 2
    return [round(number / size, 4) for number, size in zip(corners, sizes, strict=True)]


def _inputs(action: Action) -> dict[str, Any]:
    """The inputs of an action as the package has them."""
    found: dict[str, Any] = {}
    for field, key in INPUTS.items():
        value: Any = getattr(action, field, None)
        if value:
            found[key] = value if isinstance(value, str) else " ".join(value)
    start, end = getattr(action, "point", None) or getattr(action, "start", None), getattr(action, "end", None)
    if getattr(action, "submit", False):
        found["content"] += "\n"
    return found | ({"start_box": _box(start)} if start else {}) | ({"end_box": _box(end)} if end else {})


def ours(reply: Reply) -> list[dict[str, Any]]:
    """What we read, as the package gives it: the thoughts are those of all actions."""
    thoughts: list[str | None] = [s.text for s in reply.segments if isinstance(s, Reasoning)]
    reflection, thought = [None, *thoughts][-2:] if len(thoughts) > 1 else (None, thoughts[0] if thoughts else None)
    shared = {"reflection": reflection, "thought": thought}
    return [{**shared, "action_type": a.name, "action_inputs": _inputs(a)} for a in reply.actions]


def _theirs(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for action in found:
        inputs: dict[str, Any] = action["action_inputs"]
        for key in inputs.keys() & {"start_box", "end_box"}:
            inputs[key] = [round(number, 4) for number in ast.literal_eval(inputs[key])]
    return found


def test_ui_tars_is_read_as_by_the_package() -> None:
    """Sixty responses are read alike, but for a list of texts about which the package is wrong."""
    rows = json.loads(Path(__file__).with_name("ui_tars.json").read_text("utf-8"))
    assert len(rows) >= 60
    differing: list[str] = []
    for row in rows:
        text, found = row["text"], row["found"]
        reply = parse(text, format=FORMATS[row["model"]], screen=SCREEN)
        assert (reply.status, reply.diagnostics) == ("ok", []), text
        mine = ours(reply)
        if isinstance(found, str) or mine != _theirs(found):
            differing.append(text)
            assert mine, text
    known = [text for text in differing if text == NO_MARKER or any(text.endswith(end) for end in ERRORS)]
    assert differing == known
    assert len(known) == len(ERRORS) + 1
