"""`Parser`: reads responses, whole and in chunks, with options that are given once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from outspoken.fast_path import reader
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.arguments import text_of
from outspoken.results.edits import RepairLimit
from outspoken.results.errors import PromptError
from outspoken.results.old_names import with_old_names
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings
from outspoken.semantics.output import Output

from .event_stream import StreamParser
from .options import (
    OnError,
    Proof,
    ReadOptions,
    changed_options,
    finish_reason_of,
    may_refuse,
    prefix_of,
    read_options,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from outspoken.actions.page import PageContext
    from outspoken.models.chat_template import ChatTemplate
    from outspoken.results.events import Event
    from outspoken.results.geometry import Screen
    from outspoken.semantics.special_text import Spans

    from .options import ParserChanges, ParserOptions
    from .session import Session


@cache
def _detection() -> ModuleType:
    from outspoken.detection import sound_text  # a format that is named does not need it

    return sound_text


def read_sound(text: str, format: str, *, tools: Any, prefix: str | None) -> Reply:
    """Read a text as it stands, without repairs."""
    return Parser(format, tools=tools, repair="none").parse(text, prefix=prefix)


@with_old_names
class Parser(StreamParser["Event", Reply]):
    """Reads the responses of a model. Threads may share it.

    `format` is the name or an alias of a format, or the id of a model (see `for_model`). With "auto", each segment is
    read by the format that fits it.

    `tools` are the tools that the model was given, as OpenAI or Anthropic dicts, SDK objects, pydantic models or
    annotated functions. Their schemas give bare-text arguments a type.

    `repair` limits repairs. Each level includes those before it: "none"; "notation", repairs with one possible reading,
    such as a trailing comma in JSON; "structure", missing brackets, commas and markers; "strings", unescaped quotes;
    "heuristic" (the default), a guess that loses and adds nothing. Every change is in `reply.repairs`.

    Damaged responses do not raise: problems are in `reply.diagnostics`. With `on_error="raise"`, the first error raises
    ResponseError, and nothing is repaired unless `repair` is given.

    With a `screen`, the points of GUI actions are converted to its pixels. `settings` hold the limits of the parser,
    and the coordinate space if it is not the format's own.

    `context` are the messages that the model had read: dicts or objects of an SDK, or texts. A call that stands in one
    of a tool or user is an echo, which an attacker may have written: it is unfinished, with the diagnostic
    `echoed-call`. What the system says is none, nor is what the assistant itself called before that message.

    With a `page`, actions are checked against it. The elements that they refer to get the page's hash, kind and text,
    and `metadata["element"]` its data. Actions that do not match their element are changed as the `checks` of the
    format's grammar say. `given` are arguments that the model need not write, such as the goal of a task. Diagnostics
    report findings and changes:

    - `unknown-element`: the page has no such element; the action is kept
    - `wrong-element`: the action does not match its element; it was changed, or kept if no change is defined
    - `default-value`: an argument was absent or not usable, and its default was used; this needs no page
    - `invalid-action`: a required argument is absent or of the wrong kind; the action is an `unknown` one

    `proof` says for tools by name what a call must show. An "exact" call is sound, in the format's own markers on lines
    of its own, and not in reasoning; any other one of that tool is unfinished (`needs-exact`). Tools with
    `destructiveHint` need it unless `proof` says "repaired".

    `special_tokens` are the tokens that the model's tokenizer has added, as text: with them, `parse` and `Session.feed`
    can be told which characters come from such tokens. `for_model` takes those of a tokenizer.

    With `calls=False`, the model was given no tools, or is not to call them: markup of calls, sound or not, is text as
    it was written. Reasoning and actions are read.

    Raises UnknownFormatError for an unknown format, ToolError for an invalid tool, ValueError for an unknown `repair`
    or `on_error`, and TypeError for an argument of another wrong type.
    """

    __slots__ = ("_options", "_template", "_thinking")

    def __init__(
        self,
        format: str = "auto",
        *,
        tools: Tools | Sequence[ToolLike] | None = None,
        repair: RepairLimit | None = None,
        on_error: OnError = "keep",
        screen: Screen | None = None,
        settings: Settings | None = None,
        context: Sequence[Any] | None = None,
        proof: Mapping[str, Proof] | None = None,
        page: PageContext | None = None,
        given: Mapping[str, Any] | None = None,
        special_tokens: Sequence[str] | None = None,
        calls: bool = True,
    ) -> None:
        self._options = read_options(
            format, tools, repair, on_error, screen, settings, context, proof, page, given, special_tokens, calls
        )
        self._template: ChatTemplate | None = None
        self._thinking: bool | None = None

    @classmethod
    def of(cls, options: ReadOptions) -> Parser:
        """A parser with options that were checked."""
        made = cls.__new__(cls)
        made._options, made._template, made._thinking = options, None, None
        return made

    @classmethod
    def for_model(cls, model: Any, *, thinking: bool | None = None, **options: Unpack[ParserOptions]) -> Parser:
        """A parser for the responses of a model, which knows what the model's prompts end with.

        `model` is its id (`Qwen/Qwen3-8B`, `qwen3:8b`), a tokenizer or processor, the path of its folder, of a
        `tokenizer_config.json` or of a chat template, the text of a template, or a client of OpenAI whose server has
        one model. Of a template, the format is the one that reads back all that the template writes.

        `thinking` says whether the prompts ask the model to think; None for what the template does by itself. A
        `prefix` that is passed to `parse` or `stream` goes before what is known.

        Raises UnknownFormatError for an id that is not known, UnreadTemplateError, one of these, for a template that no
        format reads, MissingPackageError for a template without jinja2, and what `Parser` raises.
        """
        from outspoken.models.finding import find_model

        known_model = find_model(model, read_sound)
        tokenizer = getattr(model, "tokenizer", model)
        if hasattr(tokenizer, "get_added_vocab"):
            options.setdefault("special_tokens", list(tokenizer.get_added_vocab()))
        parser = cls(known_model.format, **options)
        parser._options = parser._options._replace(prefix=known_model.ends.end(thinking=thinking))
        parser._template, parser._thinking = known_model.template, thinking
        return parser

    @property
    def format(self) -> str:
        """The exact name of the format, or "auto"."""
        return self._options.format or "auto"

    @property
    def tools(self) -> Tools | None:
        """The tools that the model was given; None if none were."""
        return self._options.tools

    @property
    def repair(self) -> RepairLimit:
        """The highest level of repair."""
        return self._options.repair

    @property
    def settings(self) -> Settings:
        """The limits of the parser."""
        return self._options.settings

    @property
    def screen(self) -> Screen | None:
        """The screen to whose pixels points are converted; None if it is not known."""
        return self._options.settings.screen

    @property
    def options(self) -> ReadOptions:
        """All options, as they were checked."""
        return self._options

    def __repr__(self) -> str:
        return f"Parser({self.format!r})"

    def replace(self, **changes: Unpack[ParserChanges]) -> Parser:
        """A parser with some of the arguments changed, such as `page=` or `context=` for a request; the others stay.

        Raises what `Parser` raises.
        """
        made = copy(self)
        made._options = changed_options(self._options, changes)
        return made

    def prompt(
        self,
        messages: Sequence[Any],
        tools: Tools | Sequence[ToolLike] | None = None,
        *,
        thinking: bool | None = None,
        prefill: str = "",
        **values: Any,
    ) -> Prompt:
        """The prompt for messages by the model's own chat template, and the parser for the response to it.

        `messages` are those of chat completions, as dicts or objects of an SDK; `tools` those that the model is given
        with them, by default those of the parser. `thinking` goes before what `for_model` was given. The response
        continues `prefill`, the beginning of the answer. `values` are other variables of the template, such as
        `reasoning_effort`.

        Raises PromptError if the template refuses the messages, or if the parser knows no template: it was made from a
        format, or with `for_model` from the id of a model or a client; ToolError, and TypeError for what is no message.
        """
        from outspoken.models.chat_template import write_prompt

        if self._template is None:
            raise PromptError(
                "the parser knows no chat template: make it with `Parser.for_model`, from the model's tokenizer, its "
                "folder, its `tokenizer_config.json`, or the text of its template"
            )
        thinking = self._thinking if thinking is None else thinking
        parser = self.replace(context=messages) if tools is None else self.replace(context=messages, tools=tools)
        text, end = write_prompt(self._template, messages, parser.tools, thinking, values)
        parser._options = parser._options._replace(prefix=end + prefill)
        parser._thinking = thinking
        return Prompt(text + prefill, parser)

    def parse(
        self,
        text: str | bytes | None,
        *,
        prefix: str | None = None,
        finish_reason: str | None = None,
        special: Spans | None = None,
    ) -> Reply:
        """Parse a complete response. Bytes are read as UTF-8, and None as an empty response.

        `prefix` is the end of the prompt, if it opens markup (`<think>` and a line break). It is read before the text
        and is not part of any span. By default it is what the format's prompts always end with, unless the response
        itself begins so. Pass "" if the prompt opens nothing.

        `finish_reason` is the provider's finish reason. With "stop" and the like, closing markers that are missing at
        the end are inserted; with "length" or None, the last call is truncated.

        `special` says which characters come from special tokens of the model: pairs of a start and an end. Text that
        only looks like one is then text, which a note says (`plain-marker`). In a format whose calls begin with such
        tokens, a call without any is unfinished, with an error of this code.

        Raises LimitError for a text over the limit, ResponseError for an error if `on_error` is "raise", ValueError for
        `special` without `special_tokens`, and TypeError for an argument of a wrong type.
        """
        if text.__class__ is not str:
            text = text_of(text, "text")
        assert isinstance(text, str)
        if prefix is not None:
            prefix = prefix_of(prefix)
        if finish_reason is not None:
            finish_reason = finish_reason_of(finish_reason)
        options, read = self._options, None
        if prefix is None:
            prefix = options.prefix
        if reader.ENABLED and options.page is None and options.given is None and special is None:
            format = options.format
            if format is not None:
                read = reader.read(text, format, prefix, options.tools, options.settings)
            elif not prefix:
                read = _detection().read(text, options.tools, options.settings)
            is_strict = options.echoes or options.exact or not options.calls
            if isinstance(read, Reply) and not (is_strict and may_refuse(read, options)):
                return read
        from .response_reader import ResponseReader  # with all of the parser; sound text does not need it

        output = read if isinstance(read, Output) else None
        return ResponseReader(options, prefix).read(text, finish_reason, special, output)

    def warm(self) -> None:
        """Read the example of the format, streamed and with mistakes, so that no response waits for what that loads.

        Patterns and tables are made when a text first needs them, and stay: the first stream of a process takes 0.3 to
        1.2 s for it, the first damaged response 0.1 to 0.4 s. Call this before an event loop takes requests; it takes
        1 to 2 s. Only a response in another format than this one loads more.
        """
        from outspoken.grammar import registry
        from outspoken.recovery.earley import earley_of

        format, parser = self._options.format, self.replace(on_error="keep")
        example = (registry.header(format).example if format is not None else "") or '{"a": [1, "b"]}'
        session = parser.session()
        for start in range(0, len(example), 8):
            session.feed(example[start : start + 8])
        session.close("stop")
        for at in {*range(1, len(example), len(example) // 8 + 1), len(example) - 3}:
            parser.parse(f"{example[:at]}~{example[at + 1 :]}", finish_reason="stop")
            parser.parse(example[:at])
        if format is not None:
            earley_of(registry.automaton(format))

    def session(self, *, prefix: str | None = None) -> Session:
        """Start to read one response that arrives in chunks, with `feed` and `close`."""
        from .response_reader import ResponseReader
        from .session import Session

        events: list[Event] = []
        return Session(ResponseReader(self._options, prefix_of(prefix), events), events)


class Prompt(NamedTuple):
    """A prompt by `Parser.prompt`, and the parser for the response to it.

    The parser knows the end of the prompt, what begins the answer, the tools, and the messages as its `context`.
    """

    text: str
    parser: Parser
