"""Models that see the screen: `parse_cua_actions`, `parse_anthropic_actions`, `parse_ui_tars_actions`.

The actions of a response build on each other: a text is typed where the click before it went. So the list ends before
the first action that is truncated, invalid or not supported, and the logger `outspoken` gets a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from outspoken.parsing.parser import Parser
from outspoken.processing.page_actions import parse_actions as read_actions
from outspoken.providers.decode.sdk_objects import to_json_data
from outspoken.results.arguments import check_type
from outspoken.results.finish_reasons import is_cut
from outspoken.results.geometry import Screen
from outspoken.results.replies import Reply

from .conversion import Made, SkyvernConverter, build
from .errors import InvalidActionError, UnsupportedActionError
from .tasks import Resolution, StepLike, TaskLike, belonging

_log = logging.getLogger("outspoken")

#: The formats of OpenAI's and Anthropic's calls, and of UI-TARS with places from 0 to 1000.
# The models and tools that Skyvern's functions are for. The grammars say, by their aliases, which format they write.
_OPENAI, _ANTHROPIC, _UI_TARS = "computer_use_preview", "computer_20241022", "ui_tars_doubao"

#: What asks again if a response has no actions: it gets the task, the step, the model's message and its reasoning.
Fallback: TypeAlias = "Callable[[Any, Any, str | None, str | None], Awaitable[list[Any]]]"


class _Written(NamedTuple):
    """An action that a model wrote: its arguments, and the call and the reasoning it belongs to."""

    arguments: dict[str, Any]
    call_id: str | None
    reasoning: str | None


async def parse_cua_actions(
    task: TaskLike, step: StepLike, response: Any, *, screen: Screen | None = None, fallback: Fallback | None = None
) -> list[Any]:
    """The actions of the computer calls in a response of OpenAI's Responses API, an SDK's object or a dict.

    A call that the API marks as incomplete is not carried out. With a `screen`, points outside of it are refused. If
    there are no actions, returns what `fallback` returns, such as Skyvern's `generate_cua_fallback_actions`.
    """
    items = [_dict_of(item) for item in _dict_of(response).get("output") or ()]
    reasonings = [_joined(item.get("summary") or ()) for item in items if item.get("type") == "reasoning"]
    calls = [item for item in items if item.get("type") == "computer_call"]
    written: list[_Written] = []
    for order, call in enumerate(calls):
        if call.get("status") not in (None, "completed"):
            _log.warning("a computer call of task %s is %s, and is not run", task.task_id, call["status"])
            break
        parts = call.get("actions") or [call.get("action")]
        reasoning = reasonings[order] if order < len(reasonings) else None
        written += [_Written(_dict_of(part), None, reasoning) for part in parts]
    actions = _read(task, step, written, Parser(_OPENAI, screen=screen), SkyvernConverter(screen))
    if actions or fallback is None:
        return actions
    said = _joined([part for item in items if item.get("role") == "assistant" for part in item.get("content") or ()])
    return await fallback(task, step, said, reasonings[0] if reasonings else None)


async def parse_anthropic_actions(
    task: TaskLike,
    step: StepLike,
    assistant_content: Sequence[Any],
    browser_window_dimension: Resolution,
    screenshot_resize_target_dimension: Resolution,
    *,
    stop_reason: str | None = None,
    fallback: Fallback | None = None,
) -> list[Any]:
    """The actions of the blocks of Anthropic's message that use the tool `computer`.

    All points are converted from the image of `screenshot_resize_target_dimension` to pixels of the window. A click
    without a place is where the pointer was moved before. If `stop_reason` is "max_tokens", the last block may be cut,
    and is not carried out. `fallback` is as in `parse_cua_actions`.
    """
    window, sent = browser_window_dimension, screenshot_resize_target_dimension
    screen = Screen(window["width"], window["height"], sent=(sent["width"], sent["height"]))
    blocks = [_dict_of(block) for block in assistant_content]
    thoughts = [block.get("thinking") for block in blocks if block.get("type") == "thinking"]
    reasoning = str(thoughts[0]) if thoughts and thoughts[0] else None
    if is_cut(stop_reason) and blocks and blocks[-1].get("type") == "tool_use":
        _log.warning("the last action of task %s is cut at the token limit, and is not run", task.task_id)
        blocks.pop()
    calls = [block for block in blocks if block.get("type") == "tool_use" and block.get("name") == "computer"]
    written = [_Written(_dict_of(call.get("input")), call.get("id"), reasoning) for call in calls]
    actions = _read(task, step, written, Parser(_ANTHROPIC, screen=screen), SkyvernConverter(screen))
    if actions or fallback is None:
        return actions
    return await fallback(task, step, _joined(blocks), reasoning)


async def parse_ui_tars_actions(
    task: TaskLike,
    step: StepLike,
    response_content: str | bytes | None,
    browser_window_dimension: Resolution,
    *,
    parser: Parser | str = _UI_TARS,
    finish_reason: str | None = None,
) -> list[Any]:
    """The actions of a response of UI-TARS, as pixels of the window.

    Numbers of places are from 0 to 1000, as Skyvern takes them; for a model that writes other numbers, pass the name of
    its format or a `parser`. `finished` is a `CompleteAction` whose `output` is what the model says to the user.
    """
    parser = parser if isinstance(parser, Parser) else Parser(check_type(parser, str, "parser"))
    screen = Screen(browser_window_dimension["width"], browser_window_dimension["height"])
    reply = parser.replace(screen=screen).parse(response_content, finish_reason=finish_reason)
    actions, _ = _until_unusable(task, reply, SkyvernConverter(screen))
    if not actions:
        _log.warning("the response to task %s has no action that can be carried out", task.task_id)
    return _completed(task, step, [(usable_action, None, reply.reasoning or None) for usable_action in actions])


def _read(
    task: TaskLike, step: StepLike, written: Iterable[_Written], parser: Parser, converter: SkyvernConverter
) -> list[Any]:
    made: list[tuple[Made, str | None, str | None]] = []
    for one in written:
        reply = read_actions([one.arguments], parser=parser)
        found, ended = _until_unusable(task, reply, converter)
        made += [(action, one.call_id, one.reasoning) for action in found]
        if ended:
            break
    return _completed(task, step, made)


def _until_unusable(task: TaskLike, reply: Reply, converter: SkyvernConverter) -> tuple[list[Made], bool]:
    """The actions before the first one that cannot be carried out, and whether there is such a one."""
    problems = [note.message for note in reply.diagnostics if note.severity == "error"]
    converted: list[Made] = []
    for action in sorted([*reply.actions, *reply.unfinished_actions], key=lambda action: action.order):
        try:
            converted += converter.convert(action)
        except (InvalidActionError, UnsupportedActionError) as error:
            reason = problems[0] if problems and action.status != "ok" else str(error)
            name = action.name or action.type
            _log.warning("the actions of task %s end before `%s`: %s", task.task_id, name, reason)
            return converted, True
    return converted, not reply.actions


def _completed(task: TaskLike, step: StepLike, made: Iterable[tuple[Made, str | None, str | None]]) -> list[Any]:
    """The actions of Skyvern, with the fields that say where they belong and why they are taken."""
    actions: list[Any] = []
    for order, (one, call_id, reasoning) in enumerate(made):
        why = reasoning or one.said
        fields = belonging(task, step.step_id, step.order, order)
        fields |= {"reasoning": why, "intention": why, "response": one.said, "tool_call_id": call_id}
        if one.model == "CompleteAction":
            fields |= {"data_extraction_goal": task.data_extraction_goal, "verified": True}
        actions.append(build(one, **fields))
    return actions


def _dict_of(value: Any) -> dict[str, Any]:
    """An SDK's object or a dict, as plain data without what is None; an empty dict for anything else."""
    found = _without_none(to_json_data(value))
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _without_none(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_without_none, cast("list[Any]", value))]
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: _without_none(part) for key, part in items if part is not None}
    return value


def _joined(parts: Iterable[Any]) -> str | None:
    """The texts of parts of a message; None if there are none."""
    texts = [part.get("text") for part in map(_dict_of, parts)]
    return "\n".join([text for text in texts if isinstance(text, str)]) or None
