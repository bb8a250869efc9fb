"""`ProcessorSettings`: how a `ResponseProcessor` handles responses."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from outspoken.results.arguments import check_count

#: What a usable response must contain. "anything" includes text, unless something else was begun in it or it looks like
#: a failed call. Reasoning alone is not enough.
Expect = Literal["anything", "tool_calls", "actions", "payloads", "json"]


@dataclass(frozen=True, slots=True)
class ProcessorSettings:
    """How responses are processed.

    - `max_retry_attempts`: how often the model may be asked again for one response.
    - `enable_recovery_strategies`: whether to repair damage and try other formats. Without it, damaged responses
      are not usable.
    - `strict_validation`: whether a response with any repair or warning is not usable.
    - `log_failed_parses`: whether the logger `outspoken` gets a warning for each response that is not usable.
    - `fallback_to_null_action`: whether an action that does nothing replaces each invalid action, and is the only
      action of a response that is not usable. Without it, nothing replaces them.
    - `expect`: what a usable response must contain.

    Raises ValueError for an invalid value.
    """

    max_retry_attempts: int = 3
    enable_recovery_strategies: bool = True
    strict_validation: bool = False
    log_failed_parses: bool = True
    fallback_to_null_action: bool = True
    expect: Expect = "anything"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "bool" and type(value) is not bool:
                raise ValueError(f"`ProcessorSettings.{field.name}` is {value!r}; expected True or False")
        check_count(self.max_retry_attempts, "ProcessorSettings.max_retry_attempts")
        if self.expect not in get_args(Expect):
            names = ", ".join(get_args(Expect))
            raise ValueError(f"`ProcessorSettings.expect` is {self.expect!r}; expected one of {names}")
