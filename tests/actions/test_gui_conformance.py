"""What other projects' tests assert of GUI actions, read from where that data lies beside the project.

Each row is read by our format of its family, and what its test asserts is said in our vocabulary (`Wanted`). A format
that is added here takes its names out of `WAITING`, and gets a line in `READ`, or a reader of its own in `ASSERTED`.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from outspoken import Reasoning, Reply, Screen, parse
from outspoken.actions.fields import FieldError, read_point
from tests.actions.gui_formats import FRAMED, of_autoglm, of_autoglm_response, of_cogagent, of_mano
from tests.tables import tables

TABLES = tables(__file__)

DATA = Path(__file__).parents[3] / "shared" / "conformance" / "gui"

#: Our format for theirs.
READ = TABLES["READ"]

#: Formats of theirs that are Seed's environments.
SEED = ("omni_code_env", "omni_computer_env", "omni_env_stream", "omni_mcp_env", "seed_xml_stream_t5")
READ.update({**dict.fromkeys(SEED, "seed_gui"), "omni_computer_env": "doubao_ui_tars"})

#: Formats of theirs that no grammar of ours reads yet.
WAITING = {
    "seed_xml",
    "seed_xml_generic_tree",
}  # fmt: skip

#: Formats that other tests read, and one whose input is no text of a model.
ELSEWHERE = {
    "json", "json_cutoff", "json_repair", "json_unescaped_quotes", "react_action_blob", "react_json", "react_json_v2",
    "seed001_multi", "skyvern_action_dict",
    "skyvern_actions_list", "skyvern_json_response",
    "skyvern_toplevel_list_coercion", "speakmcp_text", "uitars_to_pyautogui",
}  # fmt: skip

#: Where ours differs on purpose: the row, what we read, and why.
DIFFERENCES: dict[str, tuple[Any, str]] = TABLES["DIFFERENCES"]

#: Their words for actions that are not ours.
TYPES: dict[str, dict[str, Any]] = TABLES["TYPES"]


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def box_of(point: Any) -> list[float]:
    """A point as a box, as theirs all are."""
    return [round(float(n), 6) for n in (point.box or (point.x, point.y, point.x, point.y))]


def described(action: Any) -> dict[str, Any]:
    """What an action of ours says, as far as theirs say it."""
    found: dict[str, Any] = {"type": action.type}
    for key in ("clicks", "button", "direction", "url", "answer", "key"):
        value = getattr(action, key, None)
        if value not in (None, 1, "left") or (key == "direction" and value is not None):
            found[key] = value
    for key in ("point", "start", "end"):
        if getattr(action, key, None) is not None:
            found[key] = box_of(getattr(action, key))
    if action.type == "type_text":
        found["text"] = action.text + ("\n" if action.submit else "")
    if action.type == "press_keys":
        found["keys"] = action.keys
    return found


# -- what theirs assert


def legacy(action: dict[str, Any], factors: list[float]) -> dict[str, Any]:
    """An action of the older parser: boxes are text, divided by the factors."""
    inputs = action["action_inputs"]
    found = dict(TYPES[action["action_type"]])
    for theirs in ("start_box", "end_box"):
        if theirs not in inputs:
            continue
        numbers = [round(n * factors[i % 2], 6) for i, n in enumerate(json.loads(inputs[theirs]))]
        own = "end" if theirs == "end_box" else "start" if "end_box" in inputs else "point"
        found[own] = numbers
    return {**found, **others(inputs)}


def others(inputs: dict[str, Any]) -> dict[str, Any]:
    """What their actions say besides points."""
    found: dict[str, Any] = {}
    for theirs, own in {"content": "text", "text": "text", "direction": "direction", "url": "url"}.items():
        if theirs in inputs:
            found[own] = inputs[theirs]
    key = inputs.get("key") or inputs.get("hotkey")
    return {**found, **({"keys": key.split()} if key else {})}


def thoughts(action: dict[str, Any]) -> list[str]:
    """The blocks of reasoning that the older parser joins."""
    parts = [action.get("reflection") or "", *(action.get("thought") or "").split("\n<Action_Summary>\n")]
    return [part for part in parts if part]


def newer(action: dict[str, Any]) -> dict[str, Any]:
    """An action of the newer parser: boxes are objects."""
    found = dict(TYPES[action["type"]])
    inputs = action["inputs"]
    for key in ("point", "start", "end"):
        if key in inputs:
            box = inputs[key]["referenceBox"]
            found[key] = [float(box[name]) for name in ("x1", "y1", "x2", "y2")]
    found.update(others(inputs))
    if found["type"] in ("complete", "ask_user") and "text" in found:
        found["answer"] = found.pop("text")
    return found


def of_text(row: dict[str, Any], reply: Reply) -> tuple[Any, Any]:
    """What a row of UI-TARS's text asserts, and what we read."""
    expected: dict[str, Any] = row["expected"]
    context: dict[str, Any] = row.get("context") or {}
    ours = [described(action) for action in reply.actions]
    reasoning = [s.text for s in reply.segments if s.kind == "reasoning"]
    if "equals" not in expected:
        return asserted(expected["asserts"], ours, reasoning)
    found: Any = expected["equals"]
    if isinstance(found, dict) and "actions" in found:
        found = cast("dict[str, Any]", found)
        want = [newer(action) for action in found["actions"]]
        if "reasoningContent" not in found:
            return want, ours
        # where there is a `<think>` and a thought, theirs has the thought only
        joined = found["reasoningContent"]
        same = joined in (", ".join(reasoning), *reasoning[-1:])
        return (want, joined), (ours, joined if same else reasoning)
    found = cast("Any", found["parsed"] if isinstance(found, dict) else found)
    factors: list[float] = context.get("factors") or [context["factor"]] * 2
    want = [legacy(action, factors) for action in found if action["action_type"]]
    wanted_thoughts = thoughts(found[0])
    kept = [text for text in reasoning if text in wanted_thoughts]
    return (want, wanted_thoughts), (ours, kept)


def asserted(checks: list[dict[str, Any]], ours: list[Any], reasoning: list[str]) -> tuple[Any, Any]:
    """Assertions one by one, of the kinds that there are of text."""
    want: dict[str, Any] = {}
    for check in checks:
        key = check["path"].rpartition(".")[2]
        value = check["expected"]
        if key == "action_type" or key == "function":
            want.update(TYPES[value])
        elif key == "thought":
            want["thought"] = value
        elif key == "content":
            want["text"] = value
        elif key == "point" and check["matcher"] == "==":
            want["point"] = box_of(read_point(value, "px"))
    have: dict[str, Any] = {**(ours[0] if ours else {}), "thought": reasoning[0] if reasoning else None}
    return want, {key: have.get(key) for key in want}


def of_call(row: dict[str, Any], reply: Reply) -> tuple[Any, Any]:
    """What a row of calls as JSON asserts."""
    expected = row["expected"]
    ours = [described(action) for action in reply.actions]
    if expected.get("error"):
        return [], ours
    found = expected["equals"]
    if "type" in found:
        return [newer(found)], ours
    name, inputs = found["roughType"], dict(found["roughInputs"])
    if name not in TYPES:
        calls = [(call.name, call.arguments) for call in reply.tool_calls]
        return [(name, inputs)], calls
    point = {"point": box_of(read_point(inputs.pop("point"), "px"))} if "point" in inputs else {}
    return [{**TYPES[name], **point, **others(inputs)}], ours


def of_xml(row: dict[str, Any], reply: Reply) -> tuple[Any, Any]:
    """What a row of tool calls as XML asserts of a computer's actions."""
    expected = row["expected"]
    ours = [described(action) for action in reply.actions]
    if "actions_in_order" in expected:
        return expected["actions_in_order"], [str(action.type).removesuffix("_text") for action in reply.actions]
    if "equals" in expected:
        return expected["equals"], ours
    if "text" in expected:
        texts = [action["text"] for action in expected["actions"]]
        return (expected["text"], texts), (reply.text.strip(), [action["text"] for action in ours])
    theirs = expected.get("computer_action", expected.get("tool_call", {}).get("arguments"))
    if theirs is None:
        return [], ours
    wanted = {"left_click": {"type": "click"}, "keypress": {"type": "press_keys"}, **TYPES}[theirs["action"]]
    place = theirs.get("coordinate") or [theirs[key] for key in ("x", "y") if key in theirs]
    point = {"point": box_of(read_point(place, "px"))} if place else {}
    return [{**wanted, **point, **{key: theirs[key] for key in ("text", "keys") if key in theirs}}], ours


def of_environment(row: dict[str, Any], reply: Reply) -> tuple[Any, Any]:
    """What a row of Seed's environments asserts of the whole text, be it read at once or in chunks."""
    expected = row["expected"]
    checks: list[dict[str, Any]] = expected.get("asserts") or expected["state"]
    reasoning = [s.text for s in reply.segments if isinstance(s, Reasoning)]
    segments = cast("list[Any]", [s for s in reply.segments if s.kind in ("tool_call", "action")])
    effects = [(s.name, done(s)) for s in segments if s.status in SOUND]
    have: dict[str, Any] = {
        "think": "".join(reasoning), "reasoningBuffer": "".join(reasoning), "answer": reply.text.strip(),
        "accumulatedChatContentBuffer": reply.text.strip(), "accumulatedAnswerBuffer": reply.text.strip(),
    }  # fmt: skip
    pairs = [(asked(check), found(check, have, effects)) for check in checks if is_last(check, checks)]
    pairs = [pair for pair in pairs if pair[1] is not None]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def is_last(check: dict[str, Any], checks: list[dict[str, Any]]) -> bool:
    """Of what is asserted of the same thing after several chunks, only the last one is of the whole text."""
    return check["path"] not in [other["path"] for other in checks[checks.index(check) + 1 :]]


def asked(check: dict[str, Any]) -> Any:
    return bare(check["expected"])


def bare(value: Any) -> Any:
    """A value without white space round it, of which theirs keep some and drop some; ours keep what is in values."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in cast("dict[str, Any]", value).items()}
    return value.strip() if isinstance(value, str) else value


def found(check: dict[str, Any], have: dict[str, Any], effects: list[Any]) -> Any:
    """Our value for theirs; None for what is the state of their parser, or an id."""
    path: str = check["path"]
    if path in have:
        return asked(check) if check["matcher"] == "toContain" and asked(check) in have[path] else have[path]
    parts = path.split(".")
    if parts[0] not in ("tools", "toolCalls") or parts[-1] == "id":
        return None
    if parts[-1] == "length" or check["matcher"] == "toHaveLength":
        return len(effects)
    if len(parts) == 1:
        return effects
    name, arguments = effects[int(parts[1])]
    return name if parts[-1] == "name" else bare(arguments)


def done(segment: Any) -> dict[str, Any]:
    """The arguments of a call, or of the click that they are."""
    if segment.kind == "tool_call":
        return segment.arguments
    return {"point": {"x": segment.point.x, "y": segment.point.y}} if segment.point else {}


SOUND = ("ok", "repaired")

ASSERTED: dict[str, Callable[[dict[str, Any], Reply], tuple[Any, Any]]] = {
    "autoglm_call": of_autoglm,
    "autoglm_locate": of_autoglm,
    "autoglm_response": of_autoglm_response,
    "cogagent_grounded_operation": of_cogagent,
    "mano_call": of_mano,
    "mano_tags": of_mano,
    "function_call_json": of_call,
    "function_call_object_rough": of_call,
    "qwen3_coder_xml": of_xml,
    **dict.fromkeys(SEED, of_environment),
}


def text_of(row: dict[str, Any]) -> str:
    if row["format"].endswith(("_stream", "_stream_t5")):
        return "".join(row["input"]["chunks"])
    head, tail = FRAMED.get(row["format"]) or FRAMED.get(row["id"]) or ("", "")
    described = row["input"] if isinstance(row["input"], str) else json.dumps(row["input"], ensure_ascii=False)
    return f"{head}{described}{tail}"


def outcome(row: dict[str, Any]) -> tuple[Any, Any]:
    """What a row asserts, and what we read."""
    reply = parse(text_of(row), format=READ[row["format"]], finish_reason="stop")
    return ASSERTED.get(row["format"], of_text)(row, reply)


def test_every_format_is_compared_or_listed() -> None:
    found = {row["format"] for name in ("vectors.jsonl", "malformed_wild.jsonl") for row in rows(name)}
    known = {*READ, *WAITING, *ELSEWHERE, "coordinates", "coordinates_box"}
    assert found <= known, found - known
    assert not WAITING & {*READ, *ELSEWHERE}


def plain(value: Any) -> Any:
    """A value with lists in place of tuples, as the tables have them."""
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value  # pyright: ignore[reportUnknownVariableType]


def test_vectors() -> None:
    checked, wrong = 0, list[Any]()
    for row in rows("vectors.jsonl"):
        if row["format"] not in READ or row.get("quirk"):
            continue
        checked += 1
        want, have = outcome(row)
        if row["id"] in DIFFERENCES:
            ours: Any = DIFFERENCES[row["id"]][0]
            want = (ours, *cast("tuple[Any, ...]", want)[1:]) if isinstance(want, tuple) else ours
        if plain(want) != plain(have):
            wrong.append((row["id"], want, have))
    assert wrong == []
    assert checked >= 190 or not DATA.exists()


def test_known_differences_still_differ() -> None:
    by_id = {row["id"]: row for row in rows("vectors.jsonl")}
    for name, (_, why) in DIFFERENCES.items():
        assert why
        if name in by_id:
            want, have = outcome(by_id[name])
            assert want != have, name


@pytest.mark.parametrize("format", ["coordinates", "coordinates_box"])
def test_coordinates(format: str) -> None:
    checked = 0
    for row in rows("vectors.jsonl"):
        if row["format"] != format:
            continue
        checked += 1
        found = row["expected"].get("equals")
        if found is None:
            with pytest.raises(FieldError):
                read_point(row["input"], "px")
            continue
        box: list[float] = found
        if isinstance(found, dict):
            box = [row["expected"]["equals"]["referenceBox"][key] for key in ("x1", "y1", "x2", "y2")]
        assert box_of(read_point(row["input"], "px")) == [float(n) for n in box], row["id"]
    assert checked >= 11 or not DATA.exists()


def test_pixels_of_the_screen() -> None:
    """Rows whose context has a screen say where in its pixels the point is."""
    checked = 0
    for row in rows("vectors.jsonl"):
        context: dict[str, Any] = row.get("context") or {}
        size: dict[str, int] | None = context.get("screen")
        if row["format"] != "uitars_text_v1" or not size or row.get("quirk"):
            continue
        scale: int = context.get("scale_factor", 1)
        screen = Screen(size["width"] * scale, size["height"] * scale)
        reply = parse(row["input"], format=READ[row["format"]], screen=screen)
        for action, theirs in zip(reply.actions, row["expected"]["equals"], strict=True):
            for own, key in {"point": "start_coords", "start": "start_coords", "end": "end_coords"}.items():
                point = getattr(action, own, None)
                if point is not None and key in theirs["action_inputs"]:
                    checked += 1
                    assert [point.x, point.y] == pytest.approx(theirs["action_inputs"][key]), row["id"]
    assert checked >= 6 or not DATA.exists()


#: Malformed responses that we read otherwise than was proposed: the row, what we read, and why.
WILD: dict[str, tuple[Any, str]] = {
    "wild-001": ({"type": None, "point": None}, "the end of the text does not prove that no argument follows"),
    "wild-010": ({"type": None, "text": None}, "what is left of the call does not say that it is one; it stays text"),
}


def wild(row: dict[str, Any]) -> tuple[Any, Any]:
    """What is proposed for a malformed response, and what we read."""
    reply = parse(row["input"], format=READ[row["format"]], finish_reason="stop")
    proposed = row["proposed"]
    if "types" in proposed:
        return proposed["types"], [action.type for action in reply.actions]
    if "actions" in proposed:
        return proposed["actions"], len(reply.actions)
    first = reply.actions[0] if reply.actions else None
    have: dict[str, Any] = {"type": first and first.type}
    for key in ("point", "box", "text", "name"):
        if key in proposed:
            point = getattr(first, "point", None)
            found = (point and [point.x, point.y]) if key == "point" else point and list(point.box or ())
            have[key] = getattr(first, {"name": "app"}.get(key, key), None) if key in ("text", "name") else found
    return proposed, have


def test_malformed_real_responses() -> None:
    checked, wrong = 0, list[Any]()
    for row in rows("malformed_wild.jsonl"):
        if row["format"] in READ:
            checked += 1
            want, have = wild(row)
            want = WILD[row["id"]][0] if row["id"] in WILD else want
            if want != have:
                wrong.append((row["id"], want, have))
    assert wrong == []
    assert checked >= 20 or not DATA.exists()
