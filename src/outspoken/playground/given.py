"""What a page asks for, as it arrives or as it was saved: checked once, with an error that names the field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from outspoken.models.finding import find_model
from outspoken.notations.tools import Tools
from outspoken.parsing import ToolError
from outspoken.parsing.parser import read_sound
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_text, screen_size, unescaped

_T = TypeVar("_T")

#: The longest response that is read, in characters.
MOST_CHARS = 500_000
#: A slider has at most so many places.
MOST_MOMENTS = 40_000
#: So many places it has if the page does not say how large the chunks are.
_USUAL_MOMENTS = 20_000

#: What a saved JSON file says it is.
KIND = "outspoken-playground"
_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)

#: The field of a page in which something is wrong; "" for none of them.
Field = Literal["text", "format", "grammar", "tools", "screen", "prefix", "choice", ""]


#: A place in a field: its line and column from 1, its offsets, and what is wrong there.
Place: TypeAlias = Mapping[str, Any]


def place_of(line: int, column: int, span: tuple[int, int], message: str, helps: Sequence[str] = ()) -> Place:
    """A place as it is sent."""
    found = {"line": line, "column": column, "start": span[0], "end": span[1]}
    return {**found, "message": message, "severity": "error", "helps": helps}


class ProblemError(UsageError):
    """Something that the user of the page can mend. `status` is that of the HTTP answer, `places` are of the field."""

    def __init__(self, field: Field, message: str, places: Sequence[Place] = (), status: int = 422) -> None:
        super().__init__(message)
        self.field, self.message, self.places, self.status = field, message, places, status

    @property
    def body(self) -> bytes:
        """The problem, as it is sent."""
        return as_json({"error": {"field": self.field, "message": self.message, "places": self.places}})


class Given(BaseModel):
    """A response and how it is to be read, as a page holds it and a shared file keeps it.

    `grammar` is a grammar that is read with in place of `format`. `tools` is JSON. `prefix` is None if the prompt ended
    as it does in the format. `chunk` is how many characters arrive at once, 0 for as few as a slider has room for.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: str = "response"
    text: str = ""
    format: str = "auto"
    grammar: str | None = None
    tools: str = ""
    screen: str = ""
    prefix: str | None = None
    finish_reason: str = ""
    chunk: int = 0

    @property
    def size(self) -> int:
        """How many characters arrive at once."""
        least = -(-len(self.text) // MOST_MOMENTS)
        return max(1, least, self.chunk or -(-len(self.text) // _USUAL_MOMENTS))

    def read_tools(self) -> Tools | None:
        """The tools. Raises ProblemError with the place if they are not a JSON list of tools."""
        try:
            return Tools.of(json.loads(self.tools) if self.tools.strip() else None)
        except json.JSONDecodeError as error:
            place = place_of(error.lineno, error.colno, (error.pos, error.pos + 1), error.msg)
            message = f"the tools are not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
            raise ProblemError("tools", message, [place]) from None
        except RecursionError:
            raise ProblemError("tools", "the tools are not JSON: they nest too deeply") from None
        except (ToolError, TypeError) as error:
            raise ProblemError("tools", " ".join(str(error).split())) from None

    def options(self) -> dict[str, Any]:
        """The options of a parser. Raises ProblemError if the tools or the screen are not valid."""
        tools = self.read_tools()
        try:
            return {"tools": tools, "screen": screen_size(self.screen) if self.screen.strip() else None}
        except UsageError as error:
            raise ProblemError("screen", str(error)) from None

    @property
    def prompt_end(self) -> str | None:
        r"""The end of the prompt, with line breaks for `\n`."""
        return self.prefix and unescaped(self.prefix)

    @property
    def known(self) -> dict[str, Any]:
        """What is known of the response. Raises ProblemError if it is too long."""
        if len(self.text) > MOST_CHARS:
            message = f"the response has {len(self.text):,} characters; the playground reads at most {MOST_CHARS:,}"
            raise ProblemError("text", message, status=413)
        return {"prefix": self.prompt_end, "finish_reason": self.finish_reason or None}


class Asked(BaseModel):
    """A request: what is given, what is chosen of the answers, and the formats that a page as a file shows."""

    model_config = ConfigDict(strict=True)

    given: Given
    choice: str | None = None
    formats: list[str] = []


def checked(validate: Callable[[Any], _T], data: object) -> _T:
    """What a model makes of data. Raises ProblemError for fields that are unknown or of another type."""
    try:
        return validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the request"
        raise ProblemError("", f"`{where}`: {first['msg'][:1].lower()}{first['msg'][1:]}", status=400) from None


#: What the page begins with if no file is given: a response with a mistake, for a first look.
FIRST = Given.model_validate_json(Path(__file__).with_name("first.json").read_bytes())


def one_line(told: object) -> str:
    """What an error says, on one line."""
    return visible(" ".join(str(told).split()))


def as_json(found: Any) -> bytes:
    """An answer as it is sent."""
    return json.dumps(found, separators=(",", ":")).encode()


def shared(text: str) -> Given | None:
    """What a page saved, as JSON or as a page; None for any other text. Raises ProblemError if it is damaged."""
    match = _DATA.search(text) if text.lstrip("\ufeff \t\r\n")[:15].lower() == "<!doctype html>" else None
    try:
        saved: Any = json.loads(match[1] if match else text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    held = cast("dict[str, Any]", saved) if isinstance(saved, dict) else {}
    if held.get("kind") != KIND and not (match and "raw" in held):
        return None
    fields = held.get("given")
    if match and fields is None:
        named = held.get("format")
        fields = {"name": held.get("source"), "text": held["raw"], "format": "auto" if named == "none" else named}
    return checked(Given.model_validate, fields)


def begin_with(
    text: str | None = None, name: str = "response", *, format: str = "auto", **options: Any
) -> Given | None:
    """What a page begins with; None for the example, if there is neither a text nor an option.

    `text` is a response, or what a page saved: its options come with it. `format` is the name of a format, the path of
    a grammar, or the id or the folder of a model, of which the end of the prompt is known. The `options` are the other
    fields of `Given`; those that are None are not given.

    Raises UsageError if the grammar cannot be read or a saved file is damaged, and UnknownFormatError.
    """
    try:
        saved = shared(text) if text is not None else None
    except ProblemError as problem:
        raise UsageError(f"{visible(name)} is a saved file that is damaged: {problem.message}") from None
    if saved is not None:
        return saved
    if format.endswith(".lark"):
        options["grammar"] = read_text(format)
    elif format != "auto":
        model = find_model(format, read_sound)
        options["format"] = model.format
        if options.get("prefix") is None:
            options["prefix"] = model.ends.end(thinking=None)
    options = {key: value for key, value in options.items() if value is not None}
    beginning = checked(Given.model_validate, {"name": name, "text": text or "", **options})
    return None if beginning == Given() else beginning
