"""`parse_actions` and `parse_action` as Skyvern has them: the list `actions` of a decoded response."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from outspoken.parsing.parser import Parser
from outspoken.processing.page_actions import parse_actions as read_actions
from outspoken.results.arguments import check_type, kind_of
from outspoken.results.replies import Reply

from .conversion import Made, SkyvernConverter, build
from .errors import InvalidActionError, UnsupportedActionError
from .tasks import ScrapedPageLike, TaskLike, belonging

_log = logging.getLogger("outspoken")

_FORMAT = "skyvern_json"  # an alias of the grammar of its prompts
#: The types that Skyvern reads from a response, and those that it passes over if an argument is not usable.
_PASSED_OVER = frozenset({"KEYPRESS", "GOTO_URL", "NEW_TAB", "SWITCH_TAB", "CLOSE_PAGE", "EXTRACT"})
_READ = _PASSED_OVER | {
    "CLICK", "INPUT_TEXT", "PASTE_TEXT", "UPLOAD_FILE", "DOWNLOAD_FILE", "SELECT_OPTION", "CHECKBOX", "WAIT", "HOVER",
    "SOLVE_CAPTCHA", "TERMINATE", "COMPLETE", "SCROLL", "RELOAD_PAGE",
}  # fmt: skip
_OTHER_WORDS = {"PRESS_ENTER": "KEYPRESS", "EXTRACT_INFORMATION": "EXTRACT"}
#: The types that act on an element, which they need; and all that may name one.
_TARGETED = frozenset({"CLICK", "INPUT_TEXT", "PASTE_TEXT", "UPLOAD_FILE", "SELECT_OPTION", "CHECKBOX", "HOVER"})
_ON_ELEMENTS = _TARGETED | {"DOWNLOAD_FILE", "SCROLL"}
#: The types whose actions do not keep the data of an element.
_WITHOUT_DATA = frozenset({"KEYPRESS", "SCROLL", "EXTRACT", "GOTO_URL", "RELOAD_PAGE"})


@cache
def _parser() -> Parser:
    return Parser(_FORMAT)


def parse_actions(
    task: TaskLike,
    step_id: str | None,
    step_order: int | None,
    scraped_page: ScrapedPageLike,
    json_response: Sequence[Any],
    *,
    totp_code_required: bool = False,
) -> list[Any]:
    """The actions of the list `actions` of a decoded response, in order.

    Entries that are no action, not supported or invalid are left out, and the logger `outspoken` gets a warning for
    each. `action_order` is the position in the list. Other arguments are those of `parse_action`.

    Raises TypeError if `json_response` is not a list.
    """
    if not isinstance(json_response, (list, tuple)):
        raise TypeError(f"`json_response` is {kind_of(json_response)}; expected a list of actions")
    actions: list[Any] = []
    for order, entry in enumerate(json_response):
        try:
            action = parse_action(
                entry, scraped_page, task.data_extraction_goal, task.extracted_information_schema, totp_code_required
            )
        except (TypeError, ValueError) as error:
            reason = "; ".join([line.strip() for line in str(error).splitlines()[:3]])
            _log.warning("action %d of task %s was left out: %s", order, task.task_id, reason)
            continue
        for name, value in belonging(task, step_id, step_order, order).items():
            setattr(action, name, value)
        actions.append(action)
    return actions


def parse_action(
    action: Mapping[str, Any],
    scraped_page: ScrapedPageLike,
    data_extraction_goal: str | None = None,
    extracted_information_schema: Any = None,
    totp_code_required: bool = False,
) -> Any:
    """One action as Skyvern's handlers take it.

    `scraped_page` has the hash and the data of the element. The goal and the schema are those of the task.
    `totp_code_required` says that a text to type may be a code that the program gets later.

    An action without a type is a `NullAction`, which does nothing; so is one of a key, URL, tab or extraction that
    Skyvern passes over. The logger `outspoken` gets a warning then.

    Raises UnsupportedActionError for a type that is not read from responses, and ValueError (InvalidActionError, or
    pydantic's ValidationError) for an argument that is missing or of the wrong kind.
    """
    check_type(action, Mapping, "action")
    written: dict[str, Any] = dict(action)
    fields = _fields(written, scraped_page)
    if written.get("action_type") is None:
        _log.warning("an action without a type does nothing")
        return build(Made("NullAction", {}, ""), **fields)
    kind = _type_of(written)
    if kind not in _ON_ELEMENTS:
        fields["element_id"] = None
    if kind in _WITHOUT_DATA:
        fields |= {"skyvern_element_hash": None, "skyvern_element_data": None}
    try:
        decoded = _decoded(kind, {**written, "action_type": kind}, data_extraction_goal)
    except InvalidActionError as error:
        if kind not in _PASSED_OVER:
            raise
        _log.warning("an action of type %s does nothing: %s", kind, error)
        return build(Made("NullAction", {}, ""), **fields)
    more = _details(kind, written, data_extraction_goal, extracted_information_schema, totp_code_required)
    return build(decoded, **{**fields, **more})


def _fields(written: Mapping[str, Any], page: ScrapedPageLike) -> dict[str, Any]:
    """The fields that all actions have: the element, and what the model says of the action."""
    element: Any = _element(written)
    data = page.id_to_element_dict.get(element) if element else None
    return {
        "element_id": element,
        "skyvern_element_hash": page.id_to_element_hash.get(element) if element else None,
        "skyvern_element_data": {**(data or {}), "page_url": page.url},
        "reasoning": written.get("reasoning"),
        "confidence_float": written.get("confidence_float"),
        "intention": written.get("user_detail_query"),
        "response": written.get("user_detail_answer"),
    }


def _element(written: Mapping[str, Any]) -> str | int | None:
    found = written["id"] if "id" in written else written.get("element_id")
    if found is None or (isinstance(found, (str, int)) and not isinstance(found, bool)):
        return found
    raise InvalidActionError(f"the id of the element is {kind_of(found)}; expected text")


def _type_of(written: Mapping[str, Any]) -> str:
    word = check_type(written["action_type"], str, "action_type").strip().upper()
    word = _OTHER_WORDS.get(word, word)
    if word not in _READ:
        raise UnsupportedActionError(word)
    return word


def _decoded(kind: str, written: dict[str, Any], goal: str | None) -> Made:
    """The action that an object says. Raises InvalidActionError."""
    if kind == "EXTRACT" and not goal:
        raise InvalidActionError("the task has no goal for an extraction")
    if kind in _TARGETED and _element(written) in (None, ""):
        raise InvalidActionError(f"`{kind}` names no element of the page")
    if kind == "SCROLL":
        written = {"direction": "down", **written}
    reply: Reply = read_actions([written], parser=_parser(), given={"data_extraction_goal": goal} if goal else None)
    action = reply.actions[0] if reply.actions else None
    if action is None:
        problems = [note.message for note in reply.diagnostics if note.severity == "error"]
        raise InvalidActionError(problems[0] if problems else f"`{kind}` is not an action with these arguments")
    key = written.get("key")
    converted = SkyvernConverter().convert(action)[0]
    if kind == "KEYPRESS" and isinstance(key, str) and len(key) == 1:
        converted.fields["keys"] = [key]  # a letter that is typed keeps its case
    return converted


def _details(kind: str, written: Mapping[str, Any], goal: str | None, schema: Any, totp: bool) -> dict[str, Any]:
    """The fields that only Skyvern has."""
    if kind in ("TERMINATE", "COMPLETE"):
        more: dict[str, Any] = {"errors": written.get("errors") or []}
        return more | ({"data_extraction_goal": goal} if kind == "COMPLETE" else {})
    if kind == "EXTRACT":
        return {"data_extraction_goal": goal, "data_extraction_schema": schema}
    if kind == "CLICK":
        return {"click_context": written.get("click_context") or None}
    more = {}
    if kind in ("INPUT_TEXT", "SELECT_OPTION") and written.get("context"):
        check_type(written["context"], Mapping, "context")
        more["input_or_select_context"] = {**written["context"], "intention": written.get("user_detail_query")}
    if kind == "INPUT_TEXT":
        more["totp_code_required"] = totp
    if kind == "SELECT_OPTION":
        more["download"] = bool(written.get("download"))
    return more
