"""The JSON object that an API's response holds: `parse_api_response`, and `read_api_response`, which raises nothing."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast, overload

from pydantic import BaseModel, ConfigDict

from outspoken.json.read import read_json
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.edits import RepairLimit, shown
from outspoken.results.errors import OutspokenError
from outspoken.results.pending_diagnostics import place_diagnostics
from outspoken.results.settings import Settings

from .api_payload import NOTES, Outcome, Result, actions_of, is_object, type_name

__all__ = [
    "ApiResponse",
    "ApiResponseError",
    "InvalidLLMResponseFormat",
    "InvalidLLMResponseType",
    "LLMContentFilteredError",
    "LLMOutputTruncatedError",
    "LLMResponseMissingActionsError",
    "parse_api_response",
    "read_api_response",
    "require_actions",
]

_log = logging.getLogger("outspoken")

#: what the log is told of a response that is used all the same
_LOGGED = ("truncated", "token-limit", "content-filter", "other-values", "ambiguous-strings")
_THINK, _THOUGHT, _OPENER = re.compile(r"\s*<(think(?:ing)?)>"), re.compile(r"</think(?:ing)?>"), re.compile(r"[{\[]")
#: how many keys a message names
_MAX_KEYS = 10


class ApiResponseError(OutspokenError, ValueError):
    """A response that does not hold what it was to hold. `response` is what could be read; None if raised without."""

    def __init__(self, message: str, response: ApiResponse | None = None) -> None:
        self.response = response
        super().__init__(message)


class InvalidLLMResponseFormat(ApiResponseError):
    """A response without content, or with content in which there is no JSON."""


class InvalidLLMResponseType(ApiResponseError):
    """A response whose JSON is no object. `type_name` is the Python type that it was read as: `list`, `int`, ..."""

    def __init__(self, type_name: str, response: ApiResponse | None = None) -> None:
        self.type_name = type_name
        super().__init__(f"the JSON of the response is of type {type_name}; expected an object", response)


class LLMResponseMissingActionsError(ApiResponseError):
    """An object that was to have a list `actions`. `keys` are those that it has."""

    def __init__(self, keys: Iterable[str], response: ApiResponse | None = None) -> None:
        self.keys = tuple(keys)
        names = [shown(key) for key in self.keys[:_MAX_KEYS]]
        if len(self.keys) > _MAX_KEYS:
            names.append(f"{len(self.keys) - _MAX_KEYS} more")
        has = f"its keys are {', '.join(names)}" if names else "it has no keys"
        super().__init__(f"the response has no list `actions`; {has}", response)


class LLMOutputTruncatedError(ApiResponseError):
    """A response that was cut off before there was anything to use in it. Unknown numbers of tokens are None."""

    def __init__(
        self,
        model: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        reasoning_tokens: int | None = None,
        response: ApiResponse | None = None,
    ) -> None:
        self.model = model
        self.prompt_tokens, self.completion_tokens = prompt_tokens, completion_tokens
        self.reasoning_tokens = reasoning_tokens
        of = f" of `{model}`" if model else ""
        counts = {"prompt": prompt_tokens, "completion": completion_tokens, "reasoning": reasoning_tokens}
        known = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count is not None)
        tokens = f" (tokens: {known})" if known else ""
        super().__init__(f"the output{of} was cut off before there was anything to use{tokens}", response)


class LLMContentFilteredError(ApiResponseError):
    """A response that a content filter withheld. The same prompt is likely to meet the same filter."""

    def __init__(self, model: str | None = None, response: ApiResponse | None = None) -> None:
        self.model = model
        super().__init__(f"the output{f' of `{model}`' if model else ''} was withheld by a content filter", response)


class ApiResponse(BaseModel):
    """What was read of one response of an API.

    `outcome` is "ok" where the value stands in the response exactly so; "repaired" where repairs were needed, or where
    an object was made of a list; "truncated" where the response breaks off; "empty" where it has no content;
    "filtered" where a content filter withheld it; "failed" where it holds no JSON, or not the object asked for.

    `value` holds what is complete. `unfinished` is the action or item of a list that the text breaks off in, with the
    fields that were complete before: it is not in `value`, and must not be run. Strings and objects elsewhere that
    break off stay in `value`, as far as they came. `found` are all values of the text, with their unfinished parts.

    `needs_retry` says that there is nothing to go on with and that the model may be asked again, `needs_manual` that
    there is nothing and asking again is no use. `text` is the content that was read, the prefix included; the spans
    of `repairs` and `diagnostics` count in it.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    text: str
    outcome: Outcome
    value: Any = None
    unfinished: tuple[Any, ...] = ()
    found: tuple[Any, ...] = ()
    needs_retry: bool = False
    needs_manual: bool = False
    rung: str | None = None
    repairs: tuple[Repair, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    ambiguous: bool = False
    finish_reason: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None

    @cached_property
    def actions(self) -> list[Any]:
        """The complete items of the list `actions`; none where the value has no such list."""
        return list(actions_of(self.value) or ())

    @property
    def error(self) -> ApiResponseError | None:
        """What `parse_api_response` raises of this response; None where it returns the value."""
        if self.needs_manual:
            return LLMContentFilteredError(self.model, self)
        if not self.needs_retry:
            return None
        if self.outcome == "truncated":
            counts = self.prompt_tokens, self.completion_tokens, self.reasoning_tokens
            return LLMOutputTruncatedError(self.model, *counts, response=self)
        if self.outcome == "empty":
            return InvalidLLMResponseFormat("Empty response content", self)
        if not self.found:
            return InvalidLLMResponseFormat(f"Unable to parse: {self.text[:200]}...", self)
        if is_object(self.value):
            return LLMResponseMissingActionsError(self.value, self)
        return InvalidLLMResponseType(type_name(self.found), self)


@overload
def parse_api_response(
    response: Any,
    *,
    add_assistant_prefix: bool = ...,
    prompt_name: str | None = ...,
    force_dict: Literal[True] = ...,
    repair: RepairLimit = ...,
    settings: Settings | None = ...,
) -> dict[str, Any]: ...
@overload
def parse_api_response(
    response: Any,
    *,
    add_assistant_prefix: bool = ...,
    prompt_name: str | None = ...,
    force_dict: bool,
    repair: RepairLimit = ...,
    settings: Settings | None = ...,
) -> Any: ...
def parse_api_response(
    response: Any,
    *,
    add_assistant_prefix: bool = False,
    prompt_name: str | None = None,
    force_dict: bool = True,
    repair: RepairLimit = "heuristic",
    settings: Settings | None = None,
) -> Any:
    """The JSON object that a response holds, damaged or not, in fences and prose, too.

    `response` is the content as a string, or what a chat API returns, with attributes or as dicts:
    `.choices[0].message.content` (a string, or a list of parts with text), and, where there are, `.finish_reason` of
    the choice, `.model` and `.usage`. `add_assistant_prefix` says that the prompt already wrote the opening `{`.

    Returns a dict; with `force_dict=False` whatever JSON there is, several values as a list. Of a list an object is
    made: an object and one list of actions are joined, the list as `actions`; for the prompts `extract-actions` and
    `decisive-criterion-validate` (`prompt_name`) a list of actions becomes `{"actions": [...]}`; else the first object
    counts. These two prompts must have a list `actions`.

    Of a text that breaks off, the complete actions are returned. The log `outspoken` has a warning of that, of values
    that were left out, and of a value that could be read in another way. `read_api_response` has all that is known of
    a response, its repairs among it, and so has the `response` of what is raised:

    - `InvalidLLMResponseFormat`: no content, or no JSON in it
    - `InvalidLLMResponseType`: the JSON holds no object
    - `LLMResponseMissingActionsError`: no list `actions` where the prompt asks for one
    - `LLMOutputTruncatedError`: cut off before there was anything to use
    - `LLMContentFilteredError`: withheld by a content filter
    - `JsonLimitError`: longer than `settings.max_chars`
    - `TypeError`: `response` has none of the shapes above; `ValueError`: `repair` is no rung of the ladder
    """
    read = read_api_response(
        response,
        add_assistant_prefix=add_assistant_prefix,
        prompt_name=prompt_name,
        force_dict=force_dict,
        repair=repair,
        settings=settings,
    )
    if (error := read.error) is not None:
        raise error
    for note in read.diagnostics:
        if note.code in _LOGGED:
            _log.warning("%s", note)
    return read.value


def require_actions(payload: Mapping[str, Any]) -> list[Any]:
    """The list `actions` of an object. Raises `LLMResponseMissingActionsError` where there is none."""
    actions = actions_of(payload)
    if actions is None:
        raise LLMResponseMissingActionsError(payload)
    return actions


def read_api_response(
    response: Any,
    *,
    add_assistant_prefix: bool = False,
    prompt_name: str | None = None,
    force_dict: bool = True,
    repair: RepairLimit = "heuristic",
    settings: Settings | None = None,
) -> ApiResponse:
    """All that can be read of a response; its arguments are those of `parse_api_response`.

    Never raises because of what the model wrote. Raises `JsonLimitError` for a content that is longer than
    `settings.max_chars`, `TypeError` for a `response` of no known shape, and `ValueError` for an unknown `repair`.
    """
    answer = _answer(response)
    content = answer.content or ""
    text = content
    if add_assistant_prefix and content.strip() and not content.lstrip().startswith("{"):
        text = "{" + content
    thought = _reasoning(text)
    # blanks keep all places, and what was only thought is not taken for the answer
    blanks = re.sub(r"[^\n]", " ", text[:thought])
    reading = read_json(blanks + text[thought:], repair=repair, settings=settings)
    result = Result(reading, answer.finish_reason, prompt_name, force_dict)
    if thought:
        result.report("left-out", "note", (0, thought), NOTES["reasoning"])
    notes = [*result.kept, *place_diagnostics(result.notes, text)]
    notes.sort(key=lambda note: note.span[0])
    values: dict[str, Any] = {
        "text": text,
        "outcome": result.outcome,
        "value": result.value,
        "unfinished": result.unfinished,
        "found": reading.values,
        "needs_retry": result.needs_retry,
        "needs_manual": result.needs_manual,
        "rung": reading.rung,
        "repairs": reading.repairs,
        "diagnostics": tuple(notes),
        "ambiguous": reading.ambiguous,
        "finish_reason": answer.finish_reason,
        "model": answer.model,
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "reasoning_tokens": answer.reasoning_tokens,
    }
    return construct(ApiResponse, values)


def _reasoning(text: str) -> int:
    """Where the reasoning ends that stands before the answer; its opening tag may have been the prompt's."""
    if opened := _THINK.match(text):
        end = text.find(f"</{opened[1]}>", opened.end())
        return end + len(opened[1]) + 3 if end >= 0 else len(text)
    if text.lstrip()[:1] in '{["`':
        return 0
    closed = _THOUGHT.search(text)
    return closed.end() if closed and _OPENER.search(text, closed.end()) else 0


class _Answer(NamedTuple):
    """What an API says of a response."""

    content: str | None
    finish_reason: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


def _answer(response: Any) -> _Answer:
    """The parts of a response that matter here. Raises TypeError for what is none."""
    if response is None or isinstance(response, str):
        return _Answer(response)
    try:
        choice = _get(response, "choices")[0]
    except IndexError:
        choice = None
    except (TypeError, KeyError):
        expected = "a string, or an object or dict with `choices[0].message.content`"
        raise TypeError(f"`response` is of type {type(response).__name__}; expected {expected}") from None
    usage = _get(response, "usage")
    details = _get(usage, "completion_tokens_details")
    reason = _get(choice, "finish_reason")
    reason = getattr(reason, "value", reason)
    model = _get(response, "model")
    counts = _get(usage, "prompt_tokens"), _get(usage, "completion_tokens"), _get(details, "reasoning_tokens")
    return _Answer(
        _text_of(_get(_get(choice, "message"), "content")),
        reason.lower() if isinstance(reason, str) else None,
        model if isinstance(model, str) else None,
        *[count if type(count) is int else None for count in counts],
    )


def _get(source: Any, name: str) -> Any:
    """A member of a dict, or an attribute of anything else; None where there is none."""
    if isinstance(source, Mapping):
        return cast("Mapping[str, Any]", source).get(name)
    return getattr(source, name, None)


def _text_of(content: Any) -> str | None:
    """The text of a message's content; parts that are no text (images, reasoning) are passed over."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        kind = type(content).__name__
        raise TypeError(f"the content of the response is of type {kind}; expected a string or a list of parts")
    pieces: list[Any] = []
    for part in cast("list[Any]", content):
        textual = _get(part, "type") in (None, "text", "output_text")
        pieces.append(part if isinstance(part, str) else _get(part, "text") if textual else None)
    return "".join([piece for piece in pieces if isinstance(piece, str)])
