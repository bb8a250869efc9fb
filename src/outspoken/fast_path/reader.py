"""The fast path of a format: a generated function that reads complete, sound text.

It reads what most responses are, several times as fast as the parser, and returns None for everything else. It lies in
`grammars/compiled/<format>.py`, where `python -m tools.compile` puts it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from outspoken.grammar import registry
from outspoken.grammar.format_index import BRACKETS
from outspoken.grammar.sources import is_current, note_not_compiled
from outspoken.json.decoder import has_more_keys, repeated_keys
from outspoken.notations.tools import Tools, odd_name
from outspoken.patterns.escaped_text import ESCAPE_SIGNS, plain_text
from outspoken.patterns.markup_search import LAST_WORD, MarkupSearch, goes_on_with_arguments
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import JsonValue, Reasoning, Reply, Text, ToolCall
from outspoken.results.settings import Settings
from outspoken.semantics.call_signs import may_be_other
from outspoken.semantics.keys import action_key_in, find_keys, tool_named_in
from outspoken.semantics.output import Output
from outspoken.semantics.proof import (
    ADJACENT,
    LAST_IN_LINE,
    PADDED,
    loses_character,
    loses_path,
    may_lose_argument,
    pads_number,
)
from outspoken.semantics.quotations import MARKS
from outspoken.semantics.said_signs import (
    MADE,
    REGION_SIGN,
    Bare,
    ThinkMarkers,
    holds_invented,
    is_plain_sentence,
    may_be_said,
    may_open_region,
)
from outspoken.semantics.schema_objections import is_declaration, is_usual, may_violate
from outspoken.semantics.segments import reply_of, text_reply

from .runtime import SEGMENT

#: Is the fast path used at all?
ENABLED = True

#: So far before reasoning, a marker with a mistake may begin, and so much behind it may show that it is one.
_LOOKBEHIND, _LOOKAHEAD = 100, 400
#: An opening marker with a mistake, and what shows that it is one, are no longer than this.
_TAIL = 1000
#: A marker with mistakes is no longer than one without them and so many characters.
_MISTAKES = 2
#: Behind so many characters at the start of a response, what follows may be a marker with a mistake.
_FEW = 2

#: What is known of calls without markers. Their names were compared with those of the tools.
_BARE = {kind: Bare(None, kind == "name") for kind in ("bracket", "name")}
#: Behind these, or at the beginning, text is no rest of a call.
_SAID = (None, Text, Reasoning)

#: Signs of escapes that plain text holds, too. One character is found much faster than the escapes.
_FREQUENT = ("&", "%")

#: What is read: a complete text, one segment, or one segment in text that is known to be of the format.
WHOLE, INSIDE = 0, 2


class FastPath:
    """The fast path of one format. Threads may share it."""

    def __init__(self, module: Any) -> None:
        #: the name of the format
        self.format: str = module.FORMAT
        #: does white space round text belong to the markers?
        self.trims_text: bool = module.TRIMS_TEXT
        #: is each text a message of its own?
        self.separates: bool = module.SEPARATES
        #: do some of its opening markers need evidence?
        self.has_evidence: bool = module.HAS_EVIDENCE
        #: matches the markers that may precede all text, or None
        self.match_leading: Any = module.match_leading
        self._markup = MarkupSearch(
            module.MARKERS, module.WEAK_MARKERS, module.LINE_MARKERS, module.ACTIONS, module.ACTION_ARGUMENTS
        )
        self._openers: tuple[str, ...] = tuple([opener.lower() for opener in module.OPENERS])
        #: one of these is in text that holds a mistake in an opening marker which is too short to be searched for
        self._short_openers: tuple[str, ...] = module.SHORT_OPENERS
        #: what opens a call, and is no text if the response ends behind it
        self._last_openers: tuple[str, ...] = module.LAST_OPENERS
        self._overlap: int = module.OVERLAP
        self._longest = max(map(len, self._markup.markers), default=0) + _MISTAKES
        #: may what ends a bare value stand in it by chance?
        self._ends_by_chance: bool = module.ENDS_BY_CHANCE
        self._has_fields: bool = module.HAS_FIELDS
        self._field_signs: str | None = module.FIELD_SIGNS
        self._reads_python: bool = module.READS_PYTHON
        #: do data or calls begin without a distinct marker? Plain text stands for all formats with `auto`
        self._has_bare_data: bool = module.READS_BARE or self.format == registry.PLAIN
        #: in lower case, one of these is in every text that holds markup, but for the names of tools and of actions
        signs = [*"[]{}<)", *self._short_openers, *self._markup.signs, *ESCAPE_SIGNS]
        self._signs = tuple(dict.fromkeys(signs))
        self._have_case = any(sign.upper() != sign for sign in self._signs)
        last = map(str.lower, self._last_openers)
        signs = dict.fromkeys(["<", "{", *self._signs, *module.TEXT_SIGNS, *BRACKETS, *self._openers, *last])
        if not module.TEXT_SIGNS or self._markup.has_actions:
            signs = {"": None}
        #: in lower case, one of these is in every response that is more than a text: "" if that is not known
        needed_signs = [
            kept_sign for kept_sign in signs if not any(other in kept_sign for other in signs if other != kept_sign)
        ]
        self._text_signs = tuple([kept_sign for kept_sign in needed_signs if kept_sign not in _FREQUENT])
        self._text_has_case = any(sign.upper() != sign for sign in self._text_signs)
        #: how calls without markers begin, of which the text round them counts
        self._bare_calls: str = module.BARE_CALLS
        #: are values elements, which may look escaped?
        self._reads_tags: bool = module.READS_TAGS
        #: what finds the tags of reasoning; None if none closes it, or if calls in reasoning run
        self.thinks = None if module.THINKS is None else ThinkMarkers.of(*module.THINKS)
        self._prompt_end: str = module.PROMPT_END
        self._prompt_body = self._prompt_end.strip()
        self._read: Any = module.read_sound

    def new_output(self, text: str, tools: Tools | None) -> Output:
        """What collects the segments of a text."""
        output = Output(text, None, trims=self.trims_text, separates=self.separates)
        if tools is not None and tools.types_by_name:
            output.types = tools.types_by_name
        return output

    def read(self, text: str, prefix: str | None, tools: Tools | None, settings: Settings) -> Output | None:
        """What a text says; None if only the parser can tell. `prefix` is as for `parse`."""
        end, output = self._prompt_end, self.new_output(text, tools)
        if end and (prefix is not None or not (begin := text.lstrip()) or begin.startswith(self._prompt_body)):
            end = ""
        output.consumed = -len(end)
        found = self._read(end + text, 0, 0, output, tools, settings, WHOLE, len(end))
        if found.__class__ is not int or (end and output.segments and output.segments[0].span[0] < 0):
            return None
        return output if self.is_certain(text, output, tools, settings, prompt_end=end) else None

    def is_text(self, text: str, prefix: str | None, tools: Tools | None) -> bool:
        """Is a response surely nothing but one text, without any sign of markup? This is fast."""
        if not text[:1].isalnum() or text[-1].isspace() or (self._prompt_end and prefix is None):
            return False
        lowered = text.lower() if self._text_has_case else text
        for sign in self._text_signs:
            if sign in lowered:
                return False
        for sign in _FREQUENT:
            if sign in text and plain_text(text) is not None:
                return False
        return tools is None or not any(map(text.__contains__, tools.names))

    def is_certain(
        self,
        raw: str,
        output: Output,
        tools: Tools | None,
        settings: Settings,
        plain: FastPath | None = None,
        prompt_end: str = "",
        *,
        alternates: bool = False,
    ) -> bool:
        """Is what was read all that the parser would say?

        `plain` is the path of plain text if the format was not named. It `alternates` if others have read, too.
        """
        segments, thinks = output.segments, self.thinks
        bare_calls = "bracket" if alternates else self._bare_calls
        is_open = bare_calls and (tools is not None or bare_calls == "name")
        if is_open and len(segments) > 1 and _BARE[bare_calls].may_be_text(raw, segments):
            return False
        fitting = tools.fitting if tools is not None and not self._has_odd_values(raw) else {}
        tags = (thinks,) if plain is None or plain.thinks == thinks else (thinks, plain.thinks)
        if fitting and self._is_plain(raw, segments, tools, fitting, tags):
            return True
        if any(may_be_said(raw, segments, think_tags) for think_tags in tags):
            from outspoken.semantics.settle import is_any_said  # which most responses do not need

            if any(is_any_said(raw, segments, think_tags, prompt_end) for think_tags in tags):
                return False
        if self._leaves_markup(raw, segments, tools, settings, fitting):
            return False
        return not may_be_other(segments, is_named=plain is None)

    def _is_plain(self, raw: str, segments: list[Any], tools: Tools | None, known: Any, tags: Sequence[Any]) -> bool:
        """Is a response nothing but usual calls, which a plain sentence may precede? This is fast."""
        at, gap = int(bool(segments) and segments[0].__class__ is Text), ""
        if len(segments) == at or raw[0] in MARKS or ("(" in raw and "](" in raw):
            return False
        said, end = (segments[0].text, segments[0].span[1]) if at else ("", 0)
        for thinks in tags:
            if thinks is not None and (thinks.is_shared or thinks.bare is not None):
                return False
            if thinks is not None and raw.find(thinks.sign, end) >= 0 and thinks.closer.search(raw, end) is not None:
                return False
        if at and (not is_plain_sentence(said) or REGION_SIGN.search(said) is not None):
            return False
        if at and self._text_holds_markup(raw, segments[0], tools):
            return False
        for segment in segments[at:]:
            if segment.__class__ is not ToolCall or not _is_usual(segment, known):
                return False
            start, behind = segment.span
            if raw[end:start] != gap and (may_open_region(gap := raw[end:start], segments) or holds_invented(gap)):
                return False
            end = behind
        return not (self._prompt_end and self._begins_with_opener(segments))

    def _leaves_markup(
        self, raw: str, segments: list[Any], tools: Tools | None, settings: Settings, known: Mapping[str, Any]
    ) -> bool:
        """May a text or a value hold markup of the format, a text a call, or a call an argument twice?

        The parser reports it.
        """
        before, said = None, ""
        for index, segment in enumerate(segments, 1):
            kind = segment.__class__
            if kind is ToolCall:
                if not _is_usual(segment, known) and self._is_call_in_doubt(raw, segment, tools, settings):
                    return True
                before = kind
                continue
            following = segments[index] if index < len(segments) else None
            if kind is Text:
                if self._text_holds_markup(raw, segment, tools) or _may_be_tagged(raw, segment, following):
                    return True
                if before not in _SAID and goes_on_with_arguments(segment.text):
                    return True
                said = segment.text
            elif kind is Reasoning:
                leads_on = following is not None and following.kind in MADE
                may_end = self._markup.is_in(segment.text) or self._holds_opener(segment.text)
                if may_end and self._may_end_reasoning(raw, segment, leads_on=leads_on):
                    return True
            elif self._may_run_over(segment) or self._may_be_meant(segment, tools, said):
                return True
            before = kind
        if self._prompt_end and self._begins_with_opener(segments):
            return True
        if before is not Text:
            return False
        return raw.rstrip().endswith(self._last_openers) or (
            bool(self._openers) and self._ends_in_opener(raw, segments)
        )

    def _may_be_meant(self, segment: Any, tools: Tools | None, lead: str) -> bool:
        """Do data name a tool as a call would, or may they have nearly a key of actions?"""
        if segment.__class__ is not JsonValue:
            return False
        if tools is not None and tool_named_in(segment.value, tools.names):
            return True
        return bool(action_key_in(segment.value, lead)) or (
            self._markup.has_actions and self._markup.is_in(segment.raw)
        )

    def _holds_opener(self, text: str) -> bool:
        """May reasoning hold an opening marker with a mistake that no search for markers finds, such as a fence?"""
        lowered = text.lower()
        return "```" in lowered or "~~~" in lowered or any(opener in lowered for opener in self._openers)

    def _may_run_over(self, segment: Any) -> bool:
        """May a value of an action, or the name of an unknown one, hold another action, or what stands beside it?"""
        raw = getattr(segment, "raw", "")
        if '"":' in raw or (self._reads_python and ADJACENT.search(raw) is not None):
            return True
        if self._ends_by_chance and raw.count("[") != raw.count("]"):
            return True
        lines = raw[raw.find("\n") :] if self._ends_by_chance and "\n" in raw else ""
        if lines and ("<" in lines or "`" in lines or self._markup.may_hold(lines)):
            return True
        fields: dict[str, object] = segment.__dict__
        extra: Any = fields.get("extra")
        if extra and (self._has_fields or odd_name(extra) is not None):
            return True
        if (find := self._find_field) is None:
            return False
        values = [value for key, value in fields.items() if isinstance(value, str) and key != "raw"]
        return any(find(value) or ("\n" in value and LAST_WORD.search(value)) for value in values)

    @cached_property
    def _find_field(self) -> Any:
        """What finds a sign of another argument or action in a bare value of an action; None if values have an end."""
        return None if self._field_signs is None else re.compile(self._field_signs, re.IGNORECASE).search

    def _has_odd_values(self, raw: str) -> bool:
        """May something speak against a call whose arguments are as its tool declares them?"""
        return (
            self._ends_by_chance
            or (self._reads_tags and "&" in raw)
            or "\ufffd" in raw
            or (self._reads_python and (PADDED.search(raw) is not None or ADJACENT.search(raw) is not None))
            or (self._reads_python and LAST_IN_LINE.search(raw) is not None)
        )

    def _is_call_in_doubt(self, raw: str, call: ToolCall, tools: Tools | None, settings: Settings) -> bool:
        """May something speak against a call?"""
        arguments, text = call.arguments, call.arguments_text
        if self._ends_by_chance and tools is not None and _values_name(tools, arguments):
            return True
        if self._reads_tags and "&" in text:
            from outspoken.semantics.escaped_values import ENTITY  # which few responses need

            if ENTITY.search(text):
                return True
        if has_more_keys(text, len(arguments)) and repeated_keys(text, contradict=True):
            return True
        has_signs = "\\" in text or "\ufffd" in text
        if has_signs and (loses_path(text) or loses_character(arguments, raw[slice(*call.span)])):
            return True
        written = raw[slice(*call.span)] if self._reads_python else ""
        if self._reads_python and (pads_number(arguments, written) or may_lose_argument(written)):
            return True
        if tools is not None and is_usual(tools, call.name, arguments):
            return False
        if odd_name((call.name, *arguments)) is not None:
            return True
        if not call.name.replace("-", "_").isidentifier() and self._begins_marked(call.name):
            return True
        if "properties" in arguments and is_declaration(tools, call.name, arguments):
            return True
        return tools is not None and may_violate(tools, call.name, arguments, checks=settings.schema_check != "off")

    def _begins_marked(self, name: str) -> bool:
        """Does a name begin with a marker? Few names hold a sign, so that this is asked of few."""
        from outspoken.semantics.call_shapes import begins_with_opener

        return begins_with_opener(registry.automaton(self.format), name)

    def _begins_with_opener(self, segments: list[Any]) -> bool:
        """May the response begin with the rest of an opening marker that the prompt begins, with a mistake?"""
        if not segments or segments[0].__class__ is not Text or segments[0].span[0] > 0:
            return False
        begin = segments[0].text[:_TAIL].lower()
        is_rest = len(segments) > 1 and len(begin.strip()) <= _FEW
        if is_rest or any(opener and opener in begin for opener in self._openers):
            return True
        if begin.lstrip()[:1].isalnum() and "" not in self._openers:  # that is in every text
            return False
        text = self._prompt_body + segments[0].text[:_TAIL]
        return any(find(text, 0) is not None for find in self._near_openers)

    def _ends_in_opener(self, raw: str, segments: list[Any]) -> bool:
        """May the text end behind an opening marker with a mistake? The parser reports that the text is cut there."""
        first = max(segments[-1].span[0], len(raw.rstrip()) - _TAIL)
        tail = raw[first:].lower()
        is_near = any(map(tail.__contains__, self._openers))
        return is_near and any(find(raw, first) is not None for find in self._near_openers)

    def _may_end_reasoning(self, raw: str, segment: Reasoning, *, leads_on: bool) -> bool:
        """Does a marker with a mistake stand where reasoning begins or in it, or a line begin as a call does?"""
        if self._markup.line_in(segment.text, leads_on=leads_on):
            return True
        start, end = segment.span
        start = max(start - _LOOKBEHIND, 0)
        matches = [find(raw, start, end + _LOOKAHEAD) for find in self._near_openers]
        return any(match is not None and match.start() < end for match in matches)

    @cached_property
    def _near_openers(self) -> list[Any]:
        from outspoken.semantics.unread_markup import (
            near_openers_of,
        )  # with the automaton, which sound text never needs

        automaton = registry.automaton(self.format, lenient=True)
        return [re.compile(pattern).search for pattern in near_openers_of(automaton)]

    def _text_holds_markup(self, raw: str, segment: Text, tools: Tools | None) -> bool:
        text, names = segment.text, () if tools is None else tools.names
        is_tagged = "<" in text  # the tag of a tool is reported in any case
        lowered = text.lower() if is_tagged or self._have_case else text
        if any(map(text.__contains__, names)) or (is_tagged and any(name.lower() in lowered for name in names)):
            return True
        start, end = segment.span
        if any(map(lowered.__contains__, self._signs)):
            if self._has_keys(raw, text, start, end, tools) or (names and plain_text(text) is not None):
                return True
        elif not self._markup.has_actions:
            if not self._overlap:
                return False
            start = max(start, end - self._longest)  # a marker may begin in the text, and end behind it
        if not self._overlap:
            return self._markup.is_in(text)
        return self._markup.is_in(raw[start : end + self._overlap + 2], end - start)

    def _has_keys(self, raw: str, text: str, start: int, end: int, tools: Tools | None) -> bool:
        """May a text between two offsets hold keys or brackets of a call, or a short opening marker?"""
        if self._has_bare_data and text.rstrip()[-1:] in ("}", "]"):
            return True
        if self.format == registry.PLAIN and (")\n```" in text or ")\n~~~" in text):  # what leads to a fence of actions
            return True
        if text.strip() == "[":  # a list of forced calls
            return True
        if tools is not None:
            if find_keys(text, tools) is not None:
                return True
        elif self.format != registry.PLAIN and '"name"' in text and text.lstrip()[:1] in "[<":
            return True  # a list of calls that an engine forced, perhaps
        for opener in self._short_openers:
            if opener in text and any(find(raw, start, end + _LOOKAHEAD) for find in self._near_openers):
                return True
        return False

    def read_part(
        self,
        output: Output,
        text: str,
        pos: int,
        tools: Tools | None,
        settings: Settings,
        *,
        state: int = 1,
        reads: int = SEGMENT,
    ) -> int | bool | str | None:
        """Read what begins with an opening marker at `pos` into an output, and return where it ends.

        With `state` 0, read what precedes all text. Pass `reads` INSIDE for text that is known to be of the format.

        Returns None if only the parser can tell, and DAMAGED if that will repair it or find no end. If the grammar
        refuses the text, returns True if a stream would have sent a part of it by then, otherwise False.
        """
        return self._read(text, pos, state, output, tools, settings, reads, 0)

    def read_into(self, output: Output, text: str, pos: int, tools: Tools | None, settings: Settings) -> int | None:
        """Read what begins with an opening marker at `pos` into an output, and return where it ends.

        Returns None if all that was read is the text itself, or if the output cannot be used: the grammar refuses the
        text, or only the parser can tell.
        """
        segments = output.segments
        count, open_length = len(segments), output.open_length
        output.consumed, output.node_start, output.after_text = pos, 0, True
        read_to = self._read(text, pos, 1, output, tools, settings, SEGMENT, 0)
        if read_to.__class__ is not int or output.outcome.envelope:
            return None
        if len(segments) > count and segments[-1].__class__ is not Text:
            return read_to
        texts = [segment.text for segment in segments[count:] if segment.__class__ is Text]
        is_text = count + len(texts) == len(segments)
        if is_text and len("".join(texts)) == open_length + read_to - pos:
            return None
        output.reopen_text()
        return read_to


def _is_usual(call: ToolCall, known: Mapping[str, Any]) -> bool:
    """Is a call as its tool declares it, of those that are known, and written without anything odd? This is fast."""
    fields = call.__dict__
    arguments, text, fitting = fields["arguments"], fields["arguments_text"], known.get(fields["name"])
    if fitting is None or len(arguments) != len(fitting) or text.count(":") != len(arguments) or "\\" in text:
        return False
    for key, value in arguments.items():  # noqa: SIM110  # a generator takes longer
        if key not in fitting or value.__class__ not in fitting[key]:
            return False
    return True


def _values_name(tools: Tools, arguments: Mapping[str, Any]) -> bool:
    """Is the name of a tool in a value, in any case, or is its last line nothing but signs?"""
    joined = str([*arguments.values()]).lower()
    last = [value[value.rfind("\n") + 1 :] for value in arguments.values() if value.__class__ is str and "\n" in value]
    return any(name.lower() in joined for name in tools.names) or any(line and not line[-1].isalnum() for line in last)


def _may_be_tagged(raw: str, text: Text, following: Any) -> bool:
    """May a tag stand in a text right before a call without markers?"""
    if "<" not in text.text or following.__class__ is not ToolCall or raw[following.span[0]] != "{":
        return False
    return "<" in text.text[text.text.rstrip().rfind("\n") + 1 :]


@registry.cached
def fast_path_of(format: str, edition: int) -> FastPath | None:
    """The fast path of a format, by its name or an alias; None if it has none that is current."""
    name = registry.resolve(format)
    path = registry.generated_path(registry.grammar_path(name))
    if registry.is_added(name) or not path.is_file():
        return None
    try:
        module = _module(name, path)
    except ImportError:  # it was generated for another version of the library
        note_not_compiled(path.parents[1])
        return None
    return FastPath(module) if is_current(path.parents[1], module.SOURCES) else None


def _module(name: str, path: Path) -> Any:
    spec = spec_from_file_location(f"outspoken.grammars.compiled.{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(text: str, format: str, prefix: str | None, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a complete text; None if only the parser can tell. The arguments are those of `parse`."""
    if prefix or len(text) > settings.max_chars or not (text.isascii() or replace_surrogates(text) is text):
        return None
    path = fast_path_of(format, registry.edition())
    if path is None:
        return None
    known_tools = tools if tools is None or tools.__class__ is Tools else Tools.of(tools)
    if path.is_text(text, prefix, known_tools):
        return text_reply(text, path.format)
    output = path.read(text, prefix, known_tools, settings)
    return None if output is None else reply_of(text, path.format, output)
