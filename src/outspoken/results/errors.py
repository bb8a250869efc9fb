"""The exceptions of Outspoken. A response never raises one unless the caller asks for it with `on_error="raise"`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .diagnostics import Diagnostic
    from .replies import Reply


#: Names whose similarity is lower than that of the best match by more than this are not suggested.
_MAX_DIFFERENCE = 0.06
#: Names that are less similar are not suggested: ids of models have parts that say nothing of the family.
_CUTOFF = 0.6


class OutspokenError(Exception):
    """The base class of all exceptions that Outspoken defines."""


class UnknownFormatError(OutspokenError, ValueError):
    """No format has this name, and no model that is known has this id. `nearest` holds the most similar names.

    `provider` names the provider that alone serves the model; "" if there is none.
    """

    def __init__(
        self, name: str, known: Iterable[str], bare: str = "", provider: str = "", ids: Iterable[str] = ()
    ) -> None:
        names = sorted(known)
        self.name, self.provider = name, provider
        wanted = (bare or name).lower().replace("-", "_").replace(".", "_")
        self.nearest = [] if provider else nearest(wanted, [*names, *_unlike(ids, names, wanted[:2])], _CUTOFF)
        hint = f"did you mean {' or '.join(f'`{n}`' for n in self.nearest)}?" if self.nearest else "no name is similar"
        hint = "name the format, which can only be detected to parse a text" if name == "auto" else hint
        if provider:
            hint = f"its provider reads its calls: use `parse_response` with provider={provider!r}"
        super().__init__(f"there is no format `{name}`; {hint} (`outspoken formats` lists all {len(names)} names)")


def _unlike(ids: Iterable[str], names: list[str], begin: str) -> list[str]:
    """The ids with some beginning that are not spelled as a name is, but for separators."""
    known = {name.replace("_", "") for name in names}
    return sorted({one for one in ids if one.startswith(begin) and one.replace("_", "") not in known})


class UnreadTemplateError(UnknownFormatError):
    """No format reads back what a chat template writes. `nearest` are the formats that read most of it."""

    def __init__(self, name: str, why: str, nearest: Iterable[str] = ()) -> None:
        self.name, self.provider, self.nearest = name, "", [*nearest]
        near = f"; {' and '.join(f'`{n}`' for n in self.nearest)} read most" if self.nearest else ""
        helps = "`outspoken grammar new NAME --template FILE` drafts a format for it"
        ValueError.__init__(self, f"{name}: {why}{near}; {helps}")


def nearest(name: str, names: list[str], cutoff: float = 0.5) -> list[str]:
    """The most similar names, best first, without those that are much less similar than the best."""
    from difflib import SequenceMatcher, get_close_matches  # few processes need it

    found = get_close_matches(name, names, n=3, cutoff=cutoff)
    like = [SequenceMatcher(None, one, name).ratio() for one in found]
    return [one for one, ratio in zip(found, like, strict=True) if ratio >= like[0] - _MAX_DIFFERENCE]


class ToolError(OutspokenError, TypeError):
    """A tool definition of an unknown shape. `index` is its position in the list, from 0; -1 for the list itself."""

    def __init__(self, index: int, found: str, expected: str) -> None:
        self.index = index
        place = f"`tools[{index}]`" if index >= 0 else "`tools`"
        super().__init__(f"{place} is {found}; expected {expected}")


class CallError(OutspokenError, ValueError):
    """A call whose arguments do not fit a type or a function, or that must not be run.

    `tool` is its name, `path` the first place in the arguments as a JSON Pointer ("" for all of them), and `problems`
    holds each place and what is wrong there.
    """

    def __init__(self, tool: str, problems: Iterable[tuple[str, str]]) -> None:
        self.tool, self.problems = tool, tuple(problems)
        self.path = self.problems[0][0]
        reasons = "; ".join(f"{path}: {why}" if path else why for path, why in self.problems)
        super().__init__(f"the call of `{tool}` cannot be used: {reasons}")


class ConstraintError(OutspokenError, ValueError):
    """A constraint that a format or a schema does not allow. `problems` holds one sentence for each reason."""

    def __init__(self, format: str, problems: Iterable[str]) -> None:
        self.format, self.problems = format, tuple(problems)
        super().__init__("\n".join([f"there is no such constraint for `{format}`", *[f"  {p}" for p in self.problems]]))


class PromptError(OutspokenError, ValueError):
    """A prompt that cannot be written: the chat template is not known, or refuses the messages."""


class GrammarError(OutspokenError, ValueError):
    """An invalid grammar file. `path` is the file, `line` counts from 1 (0 for the file as a whole)."""

    def __init__(self, path: str, message: str, *, line: int = 0, helps: Iterable[str] = ()) -> None:
        self.path, self.message, self.line, self.helps = path, message, line, tuple(helps)
        place = f"{path}:{line}" if line else path
        super().__init__("\n".join([f"{place}: {message}", *(f"  help: {h}" for h in self.helps)]))


class ResponseError(OutspokenError, ValueError):
    """A response with an error, raised only with `on_error="raise"`.

    `diagnostic` is the first error, `span` its place in the raw text, and `reply` the result that was read anyway.
    """

    def __init__(self, diagnostic: Diagnostic, reply: Reply) -> None:
        self.diagnostic, self.reply, self.span = diagnostic, reply, diagnostic.span
        super().__init__(diagnostic.frame())


class MessageError(OutspokenError, ValueError):
    """A response that does not match its template. `key` is the field ("" if none), `reply` the result of reading."""

    def __init__(self, key: str, message: str, reply: Reply) -> None:
        self.key, self.reply = key, reply
        super().__init__(f"field `{key}`: {message}" if key else message)


class LimitError(OutspokenError, ValueError):
    """A response longer than `Settings.max_chars`. `reply` is what was read up to the limit."""

    def __init__(self, limit: int, reply: Reply) -> None:
        self.limit, self.reply = limit, reply
        super().__init__(f"the response is longer than {limit:,} characters, the limit set by `Settings.max_chars`")


class RenderError(OutspokenError, ValueError):
    """A value that the format cannot express."""


class MissingPackageError(OutspokenError, ImportError):
    """A package that an extra of Outspoken installs is missing, too old, or lacks a part.

    `package` is what pip calls it, and `name` the module that could not be imported.
    """

    def __init__(self, message: str, *, package: str, name: str | None = None) -> None:
        self.package = package
        super().__init__(message, name=name)


class StreamClosedError(OutspokenError, RuntimeError):
    """A session received a chunk after it was closed."""

    def __init__(self) -> None:
        super().__init__("the response has ended; start a new session for the next one")
