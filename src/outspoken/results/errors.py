"""The exceptions of Outspoken. What a model writes never raises one, unless the caller asked for it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .diagnostics import Diagnostic
    from .replies import Reply


#: A name that is by so much less like what was asked for than the nearest one is not spoken of.
_FARTHER = 0.06


class OutspokenError(Exception):
    """The base of everything that Outspoken raises."""


class UnknownFormatError(OutspokenError, ValueError):
    """There is no format of this name. `nearest` holds the names that come closest, best first."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        self.name = name
        self.nearest = _nearest(name.lower().replace("-", "_").replace(".", "_"), names)
        hint = f"did you mean {' or '.join(f'`{n}`' for n in self.nearest)}?" if self.nearest else "none is near it"
        super().__init__(f"there is no format `{name}`; {hint} (`outspoken formats` lists all {len(names)} names)")


def _nearest(name: str, names: list[str]) -> list[str]:
    """The names that come closest, best first; of those that are much further off than the best, none."""
    found = get_close_matches(name, names, n=3, cutoff=0.5)
    like = [SequenceMatcher(None, one, name).ratio() for one in found]
    return [one for one, ratio in zip(found, like, strict=True) if ratio >= like[0] - _FARTHER]


class ToolError(OutspokenError, TypeError):
    """A tool that cannot be understood. `index` is its place in the list, counted from 0; -1 is the list itself."""

    def __init__(self, index: int, found: str, expected: str) -> None:
        self.index = index
        place = f"tools[{index}]" if index >= 0 else "tools"
        super().__init__(f"{place} is {found}; expected {expected}")


class GrammarError(OutspokenError, ValueError):
    """A grammar file that cannot be used. `path` is the file, `line` counts from 1 (0: the file as a whole)."""

    def __init__(self, path: str, message: str, *, line: int = 0, helps: Iterable[str] = ()) -> None:
        self.path, self.message, self.line, self.helps = path, message, line, tuple(helps)
        place = f"{path}:{line}" if line else path
        super().__init__("\n".join([f"{place}: {message}", *(f"  help: {h}" for h in self.helps)]))


class ResponseError(OutspokenError, ValueError):
    """A response that has an error, raised only with `on_error="raise"`. `reply` is what could be read.

    `diagnostic` is the first error, `span` its place in the raw text.
    """

    def __init__(self, diagnostic: Diagnostic, reply: Reply) -> None:
        self.diagnostic, self.reply, self.span = diagnostic, reply, diagnostic.span
        super().__init__(diagnostic.frame())


class MessageError(OutspokenError, ValueError):
    """A response that is no message of its template. `key` is the field, "" if none; `reply` is what could be read."""

    def __init__(self, key: str, message: str, reply: Reply) -> None:
        self.key, self.reply = key, reply
        super().__init__(f"field `{key}`: {message}" if key else message)


class LimitError(OutspokenError, ValueError):
    """The response is longer than `Settings.max_chars`. `reply` is what was read of it so far."""

    def __init__(self, limit: int, reply: Reply) -> None:
        self.limit, self.reply = limit, reply
        super().__init__(f"the response is longer than {limit:,} characters, the limit that `Settings.max_chars` sets")


class RenderError(OutspokenError, ValueError):
    """Something that the format has no way to write."""


class StreamClosedError(OutspokenError, RuntimeError):
    """A stream parser was fed after it was closed."""
