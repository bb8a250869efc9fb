"""How responses are processed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

#: What a response has to hold to be of use. "anything" is also text, if nothing else was begun in it.
Expect = Literal["anything", "tool_calls", "actions", "payloads", "json"]


@dataclass(frozen=True, slots=True)
class ParserConfig:
    """How responses are processed.

    - `max_retry_attempts`: how often the model may be asked again for one response.
    - `enable_recovery_strategies`: whether damage is repaired, and other ways of reading are tried. Without it, what is
      damaged is of no use.
    - `strict_validation`: whether only a response with which nothing is wrong is of use: no repair, no warning.
    - `log_failed_parses`: whether the log `outspoken` has a warning of each response that is of no use.
    - `fallback_to_null_action`: whether an action that does nothing takes the place of one that is invalid, and is all
      that there is to do in a response that is of no use. Without it, there is nothing in their place.
    - `expect`: what a response has to hold to be of use.
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
                raise ValueError(f"`ParserConfig.{field.name}` is {value!r}; expected True or False")
        if type(self.max_retry_attempts) is not int or self.max_retry_attempts < 0:
            found = self.max_retry_attempts
            raise ValueError(f"`ParserConfig.max_retry_attempts` is {found!r}; expected an integer of at least 0")
        if self.expect not in get_args(Expect):
            names = ", ".join(get_args(Expect))
            raise ValueError(f"`ParserConfig.expect` is {self.expect!r}; expected one of {names}")
