"""The JSON object of a chat API's response: `parse_api_response`, and `read_api_response`, which never raises."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, cast, overload

from pydantic import Field

from outspoken.json.read import read_json
from outspoken.parsing.options import finish_reason_of
from outspoken.results.arguments import check_type, kind_of, text_of
from outspoken.results.construct import FrozenModel, construct
from outspoken.results.diagnostics import Diagnostic, Repair, place_diagnostics
from outspoken.results.edits import RepairLimit
from outspoken.results.finish_reasons import is_cut, is_filtered
from outspoken.results.replies import Status
from outspoken.results.settings import Settings

from .api_payload import MESSAGES, Evaluation, actions_of, is_object, type_name
from .errors import (
    ApiResponseError,
    InvalidLLMResponseFormatError,
    InvalidLLMResponseTypeError,
    LLMContentFilteredError,
    LLMOutputTruncatedError,
    LLMResponseMissingActionsError,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

_log = logging.getLogger("outspoken")

#: the diagnostics that are logged for a usable response
_LOGGED = ("truncated", "token-limit", "content-filter", "other-values", "ambiguous-strings")
_THINK, _THOUGHT, _OPENER = re.compile(r"\s*<(think(?:ing)?)>"), re.compile(r"</think(?:ing)?>"), re.compile(r"[{\[]")


class ApiResponse(FrozenModel):
    """The result of reading one response of an API.

    `status` is "ok" if the response contains exactly the value; "repaired" after repairs, or if an object was made from
    a list; "truncated" if the response is incomplete; and "invalid" without the required object. `error` says why.

    `value` is the complete part. `unfinished_items` holds the action or list item in which the text ends, if any, with
    its complete fields; it is not in `value`, and must not be run. Truncated strings and objects elsewhere stay in
    `value`. `found` are all values of the text, including unfinished parts.

    `needs_retry` is True if nothing is usable and the model may be asked again, `needs_manual` if nothing is usable and
    asking again is pointless. `text` is the content, including the prefix; `repairs` and `diagnostics` refer to it.
    """

    text: str = Field(repr=False)
    status: Status
    value: Any = None
    unfinished_items: tuple[Any, ...] = ()
    found: tuple[Any, ...] = Field(default=(), repr=False)
    needs_retry: bool = False
    needs_manual: bool = False
    level: str | None = None
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
        """The complete items of the list `actions`; empty if the value has no such list."""
        return list(actions_of(self.value) or ())

    @property
    def error(self) -> ApiResponseError | None:
        """The exception that `parse_api_response` raises for this response, or None."""
        if self.needs_manual:
            return LLMContentFilteredError(self.model, self)
        if not self.needs_retry:
            return None
        if self.status == "truncated":
            counts = self.prompt_tokens, self.completion_tokens, self.reasoning_tokens
            return LLMOutputTruncatedError(self.model, *counts, response=self)
        if any(note.code == "empty-response" for note in self.diagnostics):
            return InvalidLLMResponseFormatError("Empty response content", self)
        if not self.found:
            return InvalidLLMResponseFormatError(f"Unable to parse: {self.text[:200]}...", self)
        if is_object(self.value):
            return LLMResponseMissingActionsError(self.value, self)
        return InvalidLLMResponseTypeError(type_name(self.found), self)


class ChatCompletionLike(Protocol):
    """The response of a chat API as an object of an SDK."""

    @property
    def choices(self) -> Sequence[Any]:
        """The choices; the first one counts."""
        ...


#: The content of a response as text, or the response of a chat API.
ApiResponseLike: TypeAlias = "str | bytes | Mapping[str, Any] | ChatCompletionLike | None"


class ApiOptions(TypedDict, total=False):
    """More arguments of `parse_api_response`."""

    finish_reason: str | None
    repair: RepairLimit
    settings: Settings | None


@overload
def parse_api_response(
    response: ApiResponseLike,
    add_assistant_prefix: bool = ...,
    force_dict: Literal[True] = ...,
    prompt_name: str | None = ...,
    **options: Unpack[ApiOptions],
) -> dict[str, Any]: ...
@overload
def parse_api_response(
    response: ApiResponseLike,
    add_assistant_prefix: bool = ...,
    force_dict: bool = ...,
    prompt_name: str | None = ...,
    **options: Unpack[ApiOptions],
) -> Any: ...
def parse_api_response(
    response: ApiResponseLike,
    add_assistant_prefix: bool = False,
    force_dict: bool = True,
    prompt_name: str | None = None,
    **options: Unpack[ApiOptions],
) -> Any:
    """Return the JSON object of a response, repaired if it is damaged, also from code fences and prose.

    `response` is the content as text, or the response of a chat API, as objects or dicts:
    `.choices[0].message.content` (text or a list of parts with text), and optionally `.finish_reason` of the choice,
    `.model` and `.usage`. For text alone, pass the `finish_reason`. Pass `add_assistant_prefix` if the prompt ends with
    the opening `{`.

    Returns a dict, or any JSON with `force_dict=False` (several values as a list). A list becomes an object: an object
    and one list of actions are joined, with the list as `actions`; for the prompts `extract-actions` and
    `decisive-criterion-validate` (`prompt_name`), a list of actions becomes `{"actions": [...]}`, and the first object
    with a list `actions` counts; otherwise the first object. Responses to these two prompts must have this list.

    For a truncated text, returns the complete actions. The logger `outspoken` gets a warning in this case, for values
    that were left out, and for ambiguous values. `read_api_response` returns all details, including the repairs, and so
    does the `response` of the exceptions:

    - `InvalidLLMResponseFormatError`: there is no content, or no JSON in it; the next four are derived from it
    - `InvalidLLMResponseTypeError`: the JSON contains no object
    - `LLMResponseMissingActionsError`: the required list `actions` is missing
    - `LLMOutputTruncatedError`: the response was truncated before it contained anything usable
    - `LLMContentFilteredError`: a content filter withheld the response
    - `JsonLimitError`: the content is longer than `settings.max_chars`
    - `TypeError`: `response` has another shape; `ValueError`: `repair` is not a repair level
    """
    read = read_api_response(response, add_assistant_prefix, force_dict, prompt_name, **options)
    if (error := read.error) is not None:
        raise error
    for note in read.diagnostics:
        if note.code in _LOGGED:
            _log.warning("%s", note)
    return read.value


def require_actions(payload: Mapping[str, Any]) -> list[Any]:
    """The list `actions` of an object. Raises `LLMResponseMissingActionsError` if there is none."""
    check_type(payload, Mapping, "payload")
    actions = actions_of(payload)
    if actions is None:
        raise LLMResponseMissingActionsError(payload)
    return actions


def read_api_response(
    response: ApiResponseLike,
    add_assistant_prefix: bool = False,
    force_dict: bool = True,
    prompt_name: str | None = None,
    *,
    finish_reason: str | None = None,
    repair: RepairLimit = "heuristic",
    settings: Settings | None = None,
) -> ApiResponse:
    """Read a response, with the arguments of `parse_api_response`, and return all details.

    The content never raises, except `JsonLimitError` if it is longer than `settings.max_chars`. Raises `TypeError` for
    a `response` of an unknown shape and `ValueError` for an unknown `repair`.
    """
    answer = _answer(response)
    if finish_reason is not None:
        answer = answer._replace(finish_reason=_reason(finish_reason_of(finish_reason)))
    text = answer.content or ""
    if add_assistant_prefix and text.strip() and not text.lstrip().startswith("{"):
        text = "{" + text
    thought = _reasoning(text)
    # spaces in place of the reasoning preserve all offsets
    blanks = re.sub(r"[^\n]", " ", text[:thought])
    reading = read_json(blanks + text[thought:], repair=repair, settings=settings)
    result = Evaluation(reading, answer.finish_reason, prompt_name, force_dict)
    if thought:
        result.report("left-out", "note", (0, thought), MESSAGES["reasoning"])
    diagnostics = [*result.kept, *place_diagnostics(result.pending, text)]
    diagnostics.sort(key=lambda one: one.span[0])
    values: dict[str, Any] = {
        "text": text,
        "status": result.status,
        "value": result.value,
        "unfinished_items": result.unfinished_items,
        "found": reading.values,
        "needs_retry": result.needs_retry,
        "needs_manual": result.needs_manual,
        "level": reading.level,
        "repairs": reading.repairs,
        "diagnostics": tuple(diagnostics),
        "ambiguous": reading.ambiguous,
    }
    answer_fields = answer._asdict()
    del answer_fields["content"]
    return construct(ApiResponse, {**values, **answer_fields})


def _reasoning(text: str) -> int:
    """The end of the reasoning before the answer; the prompt may have written its opening tag."""
    if opened := _THINK.match(text):
        end = text.find(f"</{opened[1]}>", opened.end())
        return end + len(opened[1]) + 3 if end >= 0 else len(text)
    if text.lstrip()[:1] in '{["`':
        return 0
    closed = _THOUGHT.search(text)
    return closed.end() if closed and _OPENER.search(text, closed.end()) else 0


def is_truncated_response(response: ApiResponseLike) -> bool:
    """True if the model reached its token limit before it wrote any content."""
    answer = _answer(response)
    return not answer.content and is_cut(answer.finish_reason)


def is_content_filtered_response(response: ApiResponseLike) -> bool:
    """True if a content filter withheld all of the content."""
    answer = _answer(response)
    return not answer.content and is_filtered(answer.finish_reason)


def loads_with_repair(content: str | bytes) -> Any:
    """The JSON value of a text, repaired if it is damaged; several values as a list.

    Raises InvalidLLMResponseFormatError if there is none.
    """
    return parse_api_response(content, force_dict=False)


class _Answer(NamedTuple):
    """The parts of an API response that matter here."""

    content: str | None
    finish_reason: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


def _answer(response: Any) -> _Answer:
    """The parts of a response. Raises TypeError for an unknown shape."""
    if response is None or isinstance(response, (str, bytes, bytearray)):
        return _Answer(text_of(response, "response"))
    try:
        choice = _get(response, "choices")[0]
    except IndexError:
        choice = None
    except (TypeError, KeyError):
        expected = "text, or an object or dict with `choices[0].message.content`"
        raise TypeError(f"`response` is {kind_of(response)}; expected {expected}") from None
    usage = _get(response, "usage")
    details = _get(usage, "completion_tokens_details")
    model = _get(response, "model")
    counts = _get(usage, "prompt_tokens"), _get(usage, "completion_tokens"), _get(details, "reasoning_tokens")
    return _Answer(
        _content_text(_get(_get(choice, "message"), "content")),
        _reason(_get(choice, "finish_reason")),
        model if isinstance(model, str) else None,
        *[count if type(count) is int else None for count in counts],
    )


def _reason(reason: Any) -> str | None:
    """A finish reason in lower case; it may be an enumeration's member."""
    reason = getattr(reason, "value", reason)
    return reason.lower() if isinstance(reason, str) else None


def _get(source: Any, name: str) -> Any:
    """An item of a mapping or an attribute of any other object, or None."""
    if isinstance(source, Mapping):
        return cast("Mapping[str, Any]", source).get(name)
    return getattr(source, name, None)


def _content_text(content: Any) -> str:
    """The text of a message's content, without parts of other types (images, reasoning)."""
    if not isinstance(content, (list, tuple)):
        return text_of(content, "response.choices[0].message.content")
    pieces: list[Any] = []
    for part in cast("list[Any]", content):
        textual = _get(part, "type") in (None, "text", "output_text")
        pieces.append(part if isinstance(part, str) else _get(part, "text") if textual else None)
    return "".join([piece for piece in pieces if isinstance(piece, str)])
