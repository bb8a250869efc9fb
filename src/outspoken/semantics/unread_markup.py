"""Markup that stayed text: it is reported, since a call may have been meant."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any, cast

from outspoken.actions.mapping import mapping_of
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.near_openers import all_forms
from outspoken.grammar.tables import Tables
from outspoken.grammar.value_markup import has_terminal
from outspoken.grammar.vocabulary import CALLS
from outspoken.json.decoder import NotJsonError, decode
from outspoken.notations.tools import Tools
from outspoken.patterns.escaped_text import plain_text
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.markup_search import FoundMarkup, MarkupSearch, goes_on_with_arguments, is_distinct_marker
from outspoken.patterns.near_miss import SHORT_MARKER
from outspoken.patterns.spellings import spellings, without_conditions
from outspoken.results.call_keys import ACTION_KEYS, ARGUMENTS_KEYS
from outspoken.results.diagnostics import PendingDiagnostic
from outspoken.results.replies import JsonValue, Reasoning, Segment, Text, ToolCall

from .call_shapes import CallShapes, find_shape
from .keys import action_key_in, find_keys, find_listed, lacking, required_absent, tool_named_in
from .said_signs import MADE

#: A word of a sentence.
_WORD = lazy_pattern(r"(?:^|\s)[^\W\d_]{2,}[,.:;!?]?(?:\s|$)")
_FENCE = lazy_pattern("```")

#: An object of JSON on a line of its own or behind a colon, or a list that a text begins with.
_JSON = lazy_pattern(r"(?:(?:^|:)\s{0,9}(?=\{\s{0,20}\")|\A\s{0,9}(?=\[))([{\[])", re.MULTILINE)
#: An object or list of objects with a key on a line of its own, of which brackets or quotation marks may be damaged.
_OBJECT = lazy_pattern(r"^\s{0,9}([{\[])(?=[^\n\w]{0,20}\w?[^\n\w]?\w{2,40}[^\n]{0,400}[\"'”]\s{0,3}:)", re.MULTILINE)
#: The key of actions or arguments that begins an object of which the bracket was lost.
_FIRST_KEY = lazy_pattern(
    rf"^\s{{0,9}}(\"\{{?(?:{'|'.join((*ACTION_KEYS, *ARGUMENTS_KEYS))})\"\s{{0,3}}:)(?=\s{{0,3}}[\[{{])", re.MULTILINE
)
#: What may be the name of a payload before data, and a title in brackets before a fence that begins with a call.
_PAYLOAD = lazy_pattern(r"^([A-Z]+_[A-Z_]+)(?=:?\s{0,9}\n\s{0,9}(?:\{\s{0,9}\"|\[\s{0,9}[{\"]))", re.MULTILINE)
_TITLED_FENCE = lazy_pattern(r"(\([A-Z]\w+(?: [A-Z]\w+)+\))(?=\n(?:`{3,9}|~{3,9})\w{0,20}\n[\w.]{1,99}\()")
#: A list of calls of Python on a line of its own, and a name on one, behind signs, before an object.
_CALLS = lazy_pattern(r"^\s{0,9}(\[)(?=\s{0,9}[A-Za-z_][\w.]{0,99}\()", re.MULTILINE)
_NAMED_LINE = lazy_pattern(r"^([^\w\s]{1,5})(?=[\w.\-]{1,64}\r?\n\s{0,9}\{\s{0,9}[\"}])", re.MULTILINE)
#: A tag at the end of a text, of which the last sign may be missing.
_TAG = lazy_pattern(r"<[/|]?\w[^<>\n]{0,40}>?\Z")
#: The key whose value says which action is meant, in the words for an action: `(action_type=CLICK)`.
_ACTION_KEY = lazy_pattern(r"^\((\w{6,})=")

#: What separates names of the same action; conditions in brackets hold it, too.
_ALTERNATIVE = lazy_pattern(r"\|(?![^()]*\))")
#: The condition that says which action it is: `computer(action=left_click)`, `(action_type=CLICK)`.
_NAMING = lazy_pattern(r"\(\w{0,9}action\w{0,9}=([\w|]+)")
#: Names of actions that are shorter occur by chance.
_SHORTEST_ACTION = 3

#: What may stand behind data by mistake, or does no harm there.
_ENDS = " \t\r\n'\""
#: No JSON of a call is nested deeper.
_MAX_DEPTH = 128
#: So near before its arguments stands the name of a tool.
_NEAR = 100
#: No more configurations than this are searched for reasoning.
_MAX_CONFIGS = 200

#: The terminals of a call's keys.
_CALL_KEYS = frozenset({"_NAME_KEY", "_ARGUMENTS_KEY"})

#: The name of a tool, and what follows it in a call, or the end of the text behind the value of a key.
_CALLED = (
    r"(?<!\w){0}(?=[^\S\n]{{0,9}}\n?\{{\s{{0,9}}[\"}}]|\w{{1,60}}=[\"'\[{{])"
    r"|(?<=[=\"']){0}(?=[\"']?\s{{0,9}}>)"
    r"|(?:(?<=[\"']:[\"'])|(?<=[\"']:\s[\"'])){0}(?=[\"']\s*\Z)"
    r"|(?<![\w.]){0}(?=[\"'”]\s{{0,9}}[,}}:]|([\"'])[^\"'\n]+\1\s{{0,9}}[,)\]]|[^\S\n]{{0,9}}\n?[({{])"
)


@lru_cache(maxsize=256)
def markup_search(automaton: Automaton) -> MarkupSearch:
    """What searches text for the markers of a format."""
    tables = automaton.tables
    arguments = action_arguments(automaton)
    lines, names = line_openers(automaton), action_names(tables)
    return MarkupSearch(written_markers(tables), weak_markers(tables), lines, names, arguments)


def written_markers(tables: Tables) -> list[str]:
    """The markers of a format as they are written, but for those of reasoning: without calls, they are prose."""
    shifts = [(name, action) for state in tables.states for name, action in state.items() if action >= 0]
    opened = [action for _, action in shifts if "think" in tables.nodes[action].split()]
    reasoning = [name for name, terminal in tables.terminals.items() if terminal.short == "REASONING"]
    within = [tables.states[action][name] for action in opened for name in reasoning if name in tables.states[action]]
    thoughts = {name for name, action in shifts if action in opened}
    thoughts |= {name for state in within for name, action in tables.states[state].items() if action >= 0}
    thought_terminals = [tables.terminals[name] for name in thoughts if name in tables.terminals]
    of_thoughts = {written for terminal in thought_terminals for written in all_forms(terminal)}
    terminals = [t for t in tables.terminals.values() if t.short.startswith("_") and t.name not in thoughts]
    names = [] if _reports_mentions(tables) else [t for t in tables.terminals.values() if t.short == "PAYLOAD_NAME"]
    payloads = [f"{name.strip()}:" for t in names for name in spellings(without_conditions(t.regex))]
    keys = {key for words in tables.header.actions for key in _ACTION_KEY.findall(words)}
    markers = [w for terminal in terminals for w in all_forms(terminal) if w not in of_thoughts]
    return [*markers, *payloads, *[f'"{key}":' for key in sorted(keys)]]


def _reports_mentions(tables: Tables) -> bool:
    """Does the grammar itself say where a payload is named and none follows?"""
    return any("mention" in kinds.split() for kinds in tables.nodes)


def weak_markers(tables: Tables) -> list[str]:
    """The keys of a call's object if they are so short that much JSON holds one of them."""
    keys = {t.short: t.canonical.strip() for t in tables.terminals.values() if t.short in _CALL_KEYS and t.canonical}
    is_weak = len(keys) == len(_CALL_KEYS) and not any(is_distinct_marker(key) for key in keys.values())
    return sorted(keys.values()) if is_weak else []


def line_openers(automaton: Automaton) -> list[str]:
    """The words with a colon, or in brackets, that end reasoning where they begin a line, and a call follows."""
    found = [
        step.terminal.canonical.strip().partition("\n")[0]
        for step in automaton.top_level_markers
        if step.terminal.canonical.startswith("\n") and not any(op == "begin" for op, _ in step.after)
    ]
    return sorted({written for written in found if written.endswith(":") or (written[:1], written[-1:]) == ("(", ")")})


def near_openers_of(automaton: Automaton) -> list[str]:
    """The patterns of opening markers with a mistake that end text or reasoning."""
    near_openers: dict[str, None] = {}
    waiting, seen = [automaton.start], {automaton.start}
    for config in waiting:
        free = config.free
        if free is not None and free.terminal.short in ("REASONING", "TEXT"):
            near_openers |= dict.fromkeys([step.terminal.regex for step in free.target.markers if step.inserted])
        for step in [*([free] if free is not None else []), *config.markers]:
            begins_call = any(op == "begin" and not CALLS.isdisjoint(kinds.split()) for op, kinds in step.after)
            if step.target not in seen and not begins_call and not step.inserted and len(seen) < _MAX_CONFIGS:
                seen.add(step.target)
                waiting.append(step.target)
    return list(near_openers)


def action_names(tables: Tables) -> list[str]:
    """The names of a format's actions as its responses write them."""
    written = [word for words in tables.header.actions for word in _ALTERNATIVE.split(words)]
    words = {word.partition("(")[0].strip() for word in written}
    words |= {name for word in written for names in _NAMING.findall(word) for name in names.split("|")}
    return sorted(word for word in words if len(word) >= _SHORTEST_ACTION and word[-1].isalnum())


def action_arguments(automaton: Automaton) -> list[str]:
    """The names of the arguments of a format's actions, if they stand behind the names of actions."""
    mapping = mapping_of(automaton.tables.header) if has_terminal(automaton, "ARG_NAME") else None
    if mapping is None:
        return []
    keys = {key for name in action_names(automaton.tables) for key in mapping.arguments_of(name)}
    return sorted(filter(str.isidentifier, keys))


def bare_openers(segments: Iterable[Segment], tables: Tables | None) -> list[FoundMarkup]:
    """Where text begins and ends as data or calls without markers do in its format, so that they are damaged.

    Without the tables of a format, it is where an object that is no JSON stands behind a sentence, or data behind what
    looks like the name of a payload, or a fence with a call behind a title in brackets.
    """
    texts = [s for s in segments if type(s) is Text and s.text.rstrip(_ENDS)[-1:] in ("}", "]")]
    if tables is None:
        places = [(t, at) for t in texts for kind in (_OBJECT, _FIRST_KEY) if (at := kind.search(t.text)) is not None]
        openers = [(text, at) for text, at in places if _is_damaged(text, at)]
        openers += [(text, at) for text in texts if (at := _PAYLOAD.search(text.text)) is not None]
        openers += [(s, at) for s in segments if type(s) is Text and (at := _TITLED_FENCE.search(s.text)) is not None]
        return [FoundMarkup(at.start(1), at.end(1), at[1]).moved(text.span[0]) for text, at in openers]
    patterns = bare_patterns(tables) if texts else []
    openers = [(text.span[0], pattern.search(text.text)) for text in texts for pattern in patterns]
    return [FoundMarkup(begun + at.start(1), begun + at.end(1), at[1]) for begun, at in openers if at is not None]


def _is_damaged(text: Text, bracket: re.Match[str]) -> bool:
    """Does a bracket begin something that is no JSON, behind other text?"""
    if not text.text[: bracket.start(1)].strip():
        return False
    try:
        decode(text.text[bracket.start(1) :].strip(), _MAX_DEPTH)
    except NotJsonError:
        return True
    return False


def bare_patterns(tables: Tables) -> list[re.Pattern[str]]:
    """What finds the beginnings of data and calls of a format, if they have no marker or a short one."""
    written = {t.short: t.canonical for t in tables.terminals.values()}
    is_line = written.get("_NAME_END") == "\n" and 0 < len(written.get("_CALL_OPEN", "")) < SHORT_MARKER
    has_data = any("json" in kinds.split() for kinds in tables.nodes)
    alone = {written.get(name, "").strip() for name, kind in tables.header.evidence.items() if kind == "alone"}
    has_data = has_data or ("{" in alone and bool(tables.header.actions))
    choice = ((has_data, _JSON), ("[" in alone, _CALLS), (is_line, _NAMED_LINE))
    return [pattern for is_used, pattern in choice if is_used]


def tag_openers(segments: Sequence[Segment], read: Callable[[int, int], str]) -> list[FoundMarkup]:
    """Where a tag that is text stands right before a call without markers, so that it may be one with a mistake."""
    found: list[FoundMarkup] = []
    for text, call in pairwise(segments):
        if type(text) is Text and call.kind == "tool_call" and read(call.span[0], call.span[0] + 1) == "{":
            tag = _TAG.search(text.text.rstrip())
            found += [] if tag is None else [FoundMarkup(tag.start(), tag.end(), tag[0]).moved(text.span[0])]
    return found


def unread_markup(
    segments: Sequence[Segment],
    search: MarkupSearch | None,
    format: str | None,
    tools: Tools | None,
    refused: Sequence[FoundMarkup] = (),
    reported: Sequence[tuple[int, int]] = (),
    shapes: CallShapes | None = None,
) -> list[PendingDiagnostic]:
    """A diagnostic for each text that holds markup or what looks like a call of a tool.

    It is a warning, or a note if the text is prose about markup. `refused` are opening markers, by their offsets in the
    response, behind which no format could read a segment. What is in one of the `reported` spans has a diagnostic.
    """
    diagnostics: list[PendingDiagnostic] = []
    before: Segment | None = None
    for segment, following in zip_longest(segments, segments[1:]):
        call, before = before, segment
        if type(segment) is Reasoning and search is not None and not _holds_any(segment, reported):
            leads_on = following is not None and following.kind in MADE
            line = search.line_in(segment.text, leads_on=leads_on) if segment.status == "ok" else ""
            if line:
                message = f"this looks like the marker {line!r}, but no call could be read here, so it stays reasoning"
                diagnostics.append(
                    PendingDiagnostic("unread-markup", message, segment.span, "note", format, "reasoning")
                )
        lead = call.text if type(call) is Text else ""
        if type(segment) is JsonValue and tools is not None and (name := _tool_meant(segment.value, lead, tools)):
            message = f"this names the tool `{name}`, but no call could be read here, so it stays data"
            diagnostics.append(PendingDiagnostic("unread-markup", message, segment.span, "warning", format, "data"))
        if type(segment) is not Text:
            continue
        text, begun = segment.text, segment.span[0]
        if call is not None and call.kind in ("tool_call", "action") and goes_on_with_arguments(text):
            name = call.name if isinstance(call, ToolCall) else getattr(call, "type", call.kind)
            message = f"this looks like more arguments of `{name}`, but the call has ended, so it stays text"
            span = (begun, begun + 1)
            diagnostics.append(PendingDiagnostic("unread-markup", message, span, "warning", format, "text"))
            continue
        markers = [*search.find(text)] or search.find_escaped(text) if search is not None else []
        markers = markers or [m.moved(-begun) for m in refused if begun <= m.start and m.end <= segment.span[1]]
        markers = [m for m in markers if not _is_reported(begun + m.start, reported)]
        called, is_mentioned = _find_call(text, tools, search, shapes)
        if called and _is_reported(begun + called[0], reported):
            called = None
        before_call = called[1] if called and not is_mentioned else 0
        fences = [fence.end() for fence in _FENCE.finditer(text)] if markers else []
        likely = next((m for m in markers if m.start < before_call or not _is_prose(text, m, fences)), None)
        if markers:
            start, end, written = likely or markers[0]
            message = f"this looks like the marker {written!r}, but no call could be read here, so it stays text"
        elif called:
            start, end = called
            message = "this looks like a call, but none could be read here, so it stays text"
        else:
            continue
        span = (begun + start, begun + end)
        notes = (f"{len(markers) - 1} more in the same text",) if len(markers) > 1 else ()
        severity = "warning" if likely or (called and not is_mentioned) else "note"
        diagnostics.append(PendingDiagnostic("unread-markup", message, span, severity, format, "text", notes))
    return diagnostics


def _find_call(
    text: str, tools: Tools | None, search: MarkupSearch | None, shapes: CallShapes | None
) -> tuple[tuple[int, int] | None, bool]:
    """Where the name of a tool or an action stands where a call may begin; and is it an action that is only mentioned?

    In a text that is written in another way, it is where that begins.
    """
    called = _find_tool(text, tools, shapes)
    if called is not None:
        return called.span(), False
    action = None if search is None else search.find_action(text)
    if action is not None:
        fences = [fence.end() for fence in _FENCE.finditer(text, 0, action.start())]
        return action.span(), _is_prose(text, FoundMarkup(action.start(), action.end(), action[0]), fences)
    plain = plain_text(text)
    called = None if plain is None else _find_tool(plain[0], tools, shapes)
    if plain is None or (called is None and (search is None or search.find_action(plain[0]) is None)):
        return None, False
    return (plain[1], plain[1] + 1), False


def _find_tool(text: str, tools: Tools | None, shapes: CallShapes | None) -> re.Match[str] | None:
    """The name of a tool where a call may begin, or the name of an argument of one."""
    called = find_named_call(text, tools)
    called = called or (find_shape(text, tools, shapes) if shapes is not None else None)
    return called or find_keys(text, tools) or find_listed(text, tools)


def actions_in_data(
    segments: Iterable[Segment], format: str | None, search: MarkupSearch | None
) -> list[PendingDiagnostic]:
    """A diagnostic for data that have nearly a key of actions: without a named format, they may be meant for these.

    `search` finds the keys of the format that was detected, if one was.
    """
    diagnostics: list[PendingDiagnostic] = []
    lead = ""
    for data in segments:
        before, lead = lead, data.text if type(data) is Text else ""
        if type(data) is not JsonValue:
            continue
        if key := action_key_in(data.value, before) or _action_marker_in(data.raw, search):
            message = f"this seems to have the key `{key}` of actions, but none could be read here, so it stays data"
            diagnostics.append(PendingDiagnostic("unread-markup", message, data.span, "warning", format, "data"))
    return diagnostics


def _action_marker_in(raw: str, search: MarkupSearch | None) -> str:
    """The first marker in data, if the format has actions; or ""."""
    marker = next(search.find(raw), None) if search is not None and search.has_actions else None
    return "" if marker is None else marker.written


def _tool_meant(value: Any, lead: str, tools: Tools) -> str:
    """The tool that data names as a call would, or whose arguments the data is behind its name; or ""."""
    if (name := tool_named_in(value, tools.names)) or not isinstance(value, dict):
        return name
    lead, members = lead[-_NEAR:], cast("dict[str, Any]", value)
    for name in tools.names if members else ():
        is_known = name in lead and members.keys() <= {*lacking(tools, name, {})}
        if is_known and not required_absent(tools, name, members):
            return name
    return ""


def _holds_any(segment: Reasoning, spans: Sequence[tuple[int, int]]) -> bool:
    return any(segment.span[0] <= start < segment.span[1] for start, _ in spans)


def _is_reported(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def find_named_call(text: str, tools: Tools | None) -> re.Match[str] | None:
    """The name of a tool where a call of it may begin."""
    for name in tools.names if tools is not None else ():
        if name in text and (match := re.search(_CALLED.format(re.escape(name)), text)):
            return match
        if name == text.strip():
            return re.search(re.escape(name), text)
    return _find_tagged(text, tools) if tools is not None and "<" in text else None


def _find_tagged(text: str, tools: Tools) -> re.Match[str] | None:
    """The name of a tool as a tag before another one, in any case, or as an element beside its arguments."""
    for name in tools.names:
        written = re.escape(name)
        match = re.search(rf"(?i:(?<=<){written}(?=>\s{{0,9}}<\w))|>\s{{0,9}}{written}(?=\s{{0,9}}</)", text)
        if match is not None and (
            text[match.start()] != ">"
            or any(re.search(rf"\"{re.escape(key)}\"\s{{0,9}}:", text) for key in lacking(tools, name, {}))
        ):
            return match
    return None


def _is_prose(text: str, marker: FoundMarkup, fences: Sequence[int]) -> bool:
    """Is a marker mentioned: within a line of words, or in a code block? `fences` are the ends of the fences."""
    line = text.rfind("\n", 0, marker.start) + 1
    word = _WORD.search(text, max(line - 1, 0), marker.start)
    if word is not None and word[0][-1].isspace():
        return True  # the line is not copied for each marker in it
    words = text[line : marker.start] + text[marker.end :].partition("\n")[0]
    return _WORD.search(words) is not None or bisect_right(fences, marker.start) % 2 == 1
