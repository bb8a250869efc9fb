"""What other projects' tests assert of the formats of Open-AutoGLM, CogAgent and Mano, said as we say it."""

import json
from typing import Any

from outspoken import Reply, Screen
from outspoken.actions.fields import read_point
from tests.tables import tables

TABLES = tables(__file__)

_SCREEN = Screen(1920, 1080)

#: The words of Open-AutoGLM: our type, and our names for their arguments.
_AUTOGLM: dict[str, tuple[dict[str, Any], dict[str, str]]] = TABLES["_AUTOGLM"]


def _field(action: Any, key: str) -> Any:
    value = getattr(action, key)
    return [value.x, value.y] if key in ("point", "start", "end") else value


def of_autoglm(row: dict[str, Any], reply: Reply) -> tuple[Any, Any]:
    """A call: its word and arguments, one text of it, or that there is none."""
    expected: dict[str, Any] = row["expected"]
    if expected.get("error"):
        return [], [action.type for action in reply.actions]
    action: Any = reply.actions[0] if reply.actions else None
    if "coordinates" in expected:
        return expected["coordinates"], {"x": action.point.x, "y": action.point.y}
    if "value" in expected:
        return expected["value"], getattr(action, "answer", None)
    fields: dict[str, Any] = expected["fields"]
    kind, names = _AUTOGLM[fields.get("action", "finish")]
    want = {**kind, **{own: fields[theirs] for theirs, own in names.items()}}
    if "durationMs" in fields:
        want["seconds"] = fields["durationMs"] / 1000
    return want, {key: _field(action, key) for key in want}


def of_autoglm_response(row: dict[str, Any], reply: Reply) -> tuple[Any, Any]:
    """A response: what is thought, and the call as it stands there."""
    expected: dict[str, Any] = row["expected"]
    content = expected.get("content") or expected["content_contains"][0]
    shown_text = reply.actions[0].raw if reply.actions else reply.text
    return [expected["think"], content], [reply.reasoning or reply.text, shown_text]


def _statements(action: Any) -> list[str]:
    """An action as CogAgent's harness runs it."""
    point = getattr(action, "point", None)
    place = point.to_pixels(_SCREEN) if point is not None else None
    click = [f"pyautogui.click({round(place.x)}, {round(place.y)})"] if place else []
    match action.type:
        case "click":
            return click
        case "type_text":
            return [*click, f"pyautogui.write({json.dumps(action.text)}, interval=0.01)"]
        case "scroll":
            return [f"pyautogui.scroll({'-' if action.direction == 'down' else ''}{action.amount:.0f})"]
        case "press_keys":
            return [f'pyautogui.press("{action.keys[0]}")']
        case "key_down" | "key_up":
            return [f'pyautogui.{"keyDown" if action.type == "key_down" else "keyUp"}("{action.key}")']
        case "batch":
            return [line for item in action.actions for line in _statements(item)]
        case "navigate":
            return ['pyautogui.hotkey("ctrl", "l")', action.url]
        case "complete":
            return ["DONE"]
        case other:
            return [other]


def of_cogagent(row: dict[str, Any], reply: Reply) -> tuple[Any, Any]:
    """An operation as the statements of the harness, or that there is none."""
    expected: dict[str, Any] = row["expected"]
    ours = [line for action in reply.actions for line in _statements(action)]
    if "asserts" not in expected:
        return ([] if expected.get("error") else expected["equals"]), ours
    checks: list[dict[str, Any]] = expected["asserts"]
    return [check["expected"] for check in checks], [ours[int(check["path"])] for check in checks]


def of_mano(row: dict[str, Any], reply: Reply) -> tuple[Any, Any]:
    """A thought, words on the action, and the action."""
    expected: dict[str, Any] = row["expected"]
    if expected.get("error"):
        return [], [action.type for action in reply.actions]
    call: dict[str, Any] = expected["equals"] if "equals" in expected else expected["action"]
    found: dict[str, Any] = call["args"]
    action: Any = reply.actions[0]
    want: list[Any] = [call["name"], read_point(found["start_box"], "rel1000"), call["rawAction"]]
    have: list[Any] = [action.name, action.point, action.raw]
    for theirs, own in {"direction": "direction", "amount": "amount"}.items():
        if theirs in found:
            want.append(found[theirs])
            have.append(getattr(action, own) if own == "direction" else f"{action.amount:.0f}")
    if "think" in expected:
        want += [expected["think"], expected["actionDescription"]]
        have += [segment.text for segment in reply.segments if segment.kind == "reasoning"]
    return want, have


#: What stands round a text in a response, of which a row has only the inside.
FRAMED = {"mano_call": ("<action>", "</action>"), "autoglm-act-018": ("finish(", "")}
