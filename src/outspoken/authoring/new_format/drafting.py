"""Drafts a format from responses, a chat template, another format or a skeleton."""

from __future__ import annotations

import re
from collections.abc import Callable

from outspoken import parse
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.text import counted
from outspoken.grammar import registry
from outspoken.results.errors import GrammarError

from .call_slots import UnclearError
from .chat_template import ChatTemplate, TemplateError, writers
from .draft import Draft, add_responses, add_truncated_case
from .grammar_writer import HeaderFields, grammar
from .messages import MESSAGES, Message, RenderedMessage, schemas
from .notation import Notation
from .sandbox import complaints, grammar_in_use, has_calls, temporary_checkout
from .similarity import FormatMatch, matching_formats, notations
from .template_analysis import TemplateAnalysis, Turn, analyse, differences, rewritten, trimmed

#: Markup that opens nothing, since it stands in any text.
_PUNCTUATION = re.compile(r"[\s:;,.=\-\"']+")


class AlreadyReadError(Exception):
    """A format reads all of it already. `lines` are the message."""

    def __init__(self, formats: list[str], what: str) -> None:
        first, *others = formats
        self.lines = [f"`{first}` reads {what} already: add the model to its header"]
        if others:
            self.lines.append(f"so do {', '.join(f'`{name}`' for name in others)}")
        self.lines.append("nothing was written; `--force` writes a format of its own all the same")
        super().__init__(self.lines[0])


# from responses


def by_responses(
    checkout: Checkout, name: str, texts: dict[str, str], source: str, like: str | None, *, force: bool
) -> Draft:
    """Draft a format from responses by name. Raises AlreadyReadError, and UnclearError if no format resembles them."""
    notes: list[str] = []
    if like is None:
        reading = _reading(checkout, list(texts.values()))
        all_of_them = f"all {counted(len(texts), 'response')}" if len(texts) > 1 else "the response"
        if reading and not force:
            raise AlreadyReadError(reading, all_of_them)
        notes = [f"`{reading[0]}` reads {all_of_them} already"] if reading else []
    known = notations(checkout, [like] if like else checkout.names())
    if like and like not in known:
        raise UnclearError(
            f"`{like}` is more than markup round the parts of a call, so no other markup can be put in its place; "
            "leave out `--from` to copy its grammar"
        )
    found = matching_formats(list(texts.values()), known)
    if not found:
        nearest = f"built as those of `{like}`" if like else "built as those of a format that is here"
        raise UnclearError(
            f"there are no calls in the responses that are {nearest}; "
            "without `--from`, a skeleton is written to fill in"
        )
    with temporary_checkout(checkout) as sandbox:
        best, text = _best(sandbox, name, found, texts, source)
        draft = Draft(name, text, remarks=[*notes, *_resemblance(best, known[best.format])])
        read = Draft(name, text)
        add_responses(read, texts, source.rpartition(", ")[2], sandbox)
        draft.cases, draft.origins = read.cases, read.origins
        draft.remarks += read.remarks
        draft.remarks += _open_questions(best.notation)
        add_truncated_case(draft, sandbox)
    return draft


def _reading(checkout: Checkout, texts: list[str]) -> list[str]:
    """The formats that read all texts without a complaint, those with most calls first."""
    good: list[tuple[int, str]] = []
    with checkout.in_use():
        for name in checkout.names():
            replies = [parse(text, name) for text in texts]
            if any(map(has_calls, replies)) and not any(complaints(reply) for reply in replies):
                good.append((-sum(len(reply.tool_calls) for reply in replies), name))
    return [name for _, name in sorted(good)]


def _best(
    sandbox: Checkout, name: str, found: list[FormatMatch], texts: dict[str, str], source: str
) -> tuple[FormatMatch, str]:
    """The match whose grammar reads most responses without a complaint; of equal ones, that with fewest changes."""
    ranked: list[tuple[int, int, FormatMatch, str]] = []
    why = ""
    for number, like in enumerate(found):
        try:
            text, wrong = _tried(sandbox, name, like, texts, source)
        except (UnclearError, GrammarError) as error:
            why = why or str(error)
            continue
        ranked.append((wrong, number, like, text))
        if not wrong:
            break
    if not ranked:
        raise UnclearError(why or "no grammar was found that reads a call in the responses")
    _, _, like, text = min(ranked, key=lambda entry: entry[:2])
    return like, text


def _tried(sandbox: Checkout, name: str, like: FormatMatch, texts: dict[str, str], source: str) -> tuple[str, int]:
    """The grammar of a match, and how many responses have a complaint.

    Raises UnclearError if it loses something without a diagnostic, or reads no response as it should be.
    """
    opener = like.notation.section[0] or like.notation.head[0][0]
    if opener.strip() and _PUNCTUATION.fullmatch(opener):
        raise UnclearError(f"the markup before a call is {opener!r}, which is everywhere in text")
    example = min(texts.values(), key=len)
    text = grammar(like.notation, HeaderFields(name, title(like.notation), "", source, example.strip()))
    with grammar_in_use(sandbox, name, text):
        replies = {response: parse(text, name) for response, text in texts.items()}
        wrong = {response: found for response, reply in replies.items() if (found := complaints(reply))}
    good = [reply.raw for response, reply in replies.items() if has_calls(reply) and response not in wrong]
    lost = next((response for response in wrong if not replies[response].diagnostics), None)
    if lost is None and not good:
        lost = next(iter(wrong), None)
    if lost is not None:
        raise UnclearError(f"calls resemble those of `{like.format}`, but of `{lost}` is lost: {wrong[lost][0]}")
    if not good:
        raise UnclearError("no grammar was found that reads a call in the responses")
    shown = min(good, key=len)
    return grammar(like.notation, HeaderFields(name, title(like.notation), "", source, shown.strip())), len(wrong)


def _resemblance(like: FormatMatch, known: Notation) -> list[str]:
    """Remarks on the matching format and the markup that replaces its own."""
    old, new = known.markers, like.notation.markers
    if not like.changes:
        return [f"calls are written as in `{like.format}`"]
    changed = [p for p in dict.fromkeys([*new, *old]) if old.get(p, "").strip() != new.get(p, "").strip()]
    return [
        f"calls are built as in `{like.format}`, with other markup in {counted(like.changes, 'place')}:",
        *[f"  {place}: {new.get(place, '')!r} for {old.get(place, '')!r}" for place in changed],
    ]


def _open_questions(found: Notation) -> list[str]:
    """Remarks on what the texts do not show."""
    remarks: list[str] = []
    if not found.separated:
        remarks.append("no response has two calls in a row: what stands between them is not known")
    if found.before is None:
        remarks.append("no call follows text: the white space between them is not known")
    if found.ending.strip():
        remarks.append(f"{found.ending!r} behind the last call closes nothing that was opened; it is read as text")
    return remarks


def title(found: Notation) -> str:
    """A short title for a notation."""
    outer = re.findall(r"\w+", found.section[0] or found.head[0][0])
    where = f" in {'_'.join(outer[:3])}" if outer else ""
    kinds = {"call": "JSON", "object": "Name and JSON", "python": "Python calls"}
    return f"{kinds.get(found.kinds[-1], 'Tagged arguments')}{where}"[:40]


# from a chat template


def by_template(checkout: Checkout, name: str, template: ChatTemplate, source: str, *, force: bool) -> Draft:
    """Draft a format from a chat template. Raises AlreadyReadError, TemplateError and UnclearError."""
    turns, refused = _turns(template)
    with temporary_checkout(checkout) as sandbox:
        reading = _formats_that_read(sandbox, turns)
        if reading and not force:
            raise AlreadyReadError(reading, "all that the template writes")
        findings = analyse(turns)
        draft = Draft(name, _grammar(name, findings, source), remarks=[*refused, *findings.remarks])
        with grammar_in_use(sandbox, name, draft.grammar):
            _add_cases(draft, findings, source)
        draft.remarks += _open_questions(findings.notation)
        add_truncated_case(draft, sandbox)
    return draft


def _turns(template: ChatTemplate) -> tuple[dict[str, Turn], list[str]]:
    """The messages as the template renders them, with arguments in the form that it expects; and its refusals."""
    tries = [_written(write) for write in writers(template)]
    turns, refused = max(tries, key=lambda entry: _count_understood(entry[0]))
    if not turns:
        raise UnclearError(next(iter(refused.values())))
    return turns, [f"the template refuses `{name}`: {why}" for name, why in refused.items()]


def _written(write: Callable[[Message], RenderedMessage]) -> tuple[dict[str, Turn], dict[str, str]]:
    """The messages that a template renders, and why it refuses the others."""
    turns: dict[str, Turn] = {}
    refused: dict[str, str] = {}
    for name, message in MESSAGES.items():
        try:
            turns[name] = Turn(message, write(message))
        except TemplateError as error:
            refused[name] = str(error)
    return turns, refused


def _count_understood(turns: dict[str, Turn]) -> int:
    """The number of turns whose notation can be inferred."""
    try:
        return len(analyse(turns).turns)
    except UnclearError:
        return 0


def _formats_that_read(sandbox: Checkout, turns: dict[str, Turn]) -> list[str]:
    """The formats that read all turns correctly, those that render most of them exactly first."""
    bare = {name: turn for name, turn in trimmed(turns)[0].items() if turn.message.calls or turn.message.text}
    if not any(turn.message.calls for turn in bare.values()):
        return []
    with sandbox.in_use():
        good = [name for name in sandbox.names() if not any(differences(turn, name) for turn in bare.values())]
        exact = {name: sum(rewritten(turn, name) == turn.written.text for turn in bare.values()) for name in good}
    return sorted(good, key=lambda name: (-exact[name], name))


def _grammar(name: str, findings: TemplateAnalysis, source: str) -> str:
    example = findings.turns.get("one_call") or next(iter(findings.turns.values()))
    return grammar(
        findings.notation, HeaderFields(name, title(findings.notation), "", source, example.written.text.strip())
    )


def _add_cases(draft: Draft, findings: TemplateAnalysis, source: str) -> None:
    """Add the turns that are read correctly as cases, and remarks on the others."""
    well = 0
    spaced: list[str] = []
    other: list[str] = []
    for name, turn in findings.turns.items():
        wrong = differences(turn, draft.name)
        written = rewritten(turn, draft.name)
        well += not wrong
        if written is None or written.split() != turn.written.text.split():
            other.append(name)
        elif written != turn.written.text.lstrip("\n"):
            spaced.append(name)
        if wrong:
            draft.remarks.append(f"`{name}` is not read as it was meant, and left out:")
            draft.remarks += [f"  {turn.written.text!r}", *[f"  {line}" for line in wrong]]
            continue
        options = {"prefix": turn.written.prefix} if turn.written.prefix else {}
        plain = parse(turn.written.text, draft.name, prefix=turn.written.prefix)
        needed = [call.arguments for call in plain.tool_calls] != [call.arguments for call in turn.message.calls]
        draft.add(
            "ok", name, turn.written.text, source, **options, **({"tools": schemas(turn.message)} if needed else {})
        )
    total = len(findings.turns)
    exact = total - len(spaced) - len(other)
    notes = [f"{well} of {counted(total, 'message')} read as meant; {exact} written back to the byte"]
    notes += [f"written back with other white space: {', '.join(spaced)}"] if spaced else []
    notes += [f"written back otherwise, or not at all: {', '.join(other)}"] if other else []
    draft.remarks = [*notes, *draft.remarks]


# from another format, or from nothing


def copy(checkout: Checkout, name: str, like: str) -> Draft:
    """The grammar of a format under another name, with its example as the first case."""
    draft = Draft(name, _renamed(Source.of(checkout.existing(like)).text, name))
    draft.remarks.append(f"the grammar of `{like}` under another name")
    with temporary_checkout(checkout) as sandbox:
        with grammar_in_use(sandbox, name, draft.grammar):
            example = registry.header(name).example
        draft.add("ok", "example", example, f"the example of `{like}`: replace it by what the model wrote")
        add_truncated_case(draft, sandbox)
    return draft


def _renamed(text: str, name: str) -> str:
    """The text of a grammar with another name in its header, without the fields that hold only for the original."""
    text = re.sub(r"^// format:.*$", f"// format:  {name}", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^// aliases:.*\n(?://   .*\n)*", "", text, count=1, flags=re.MULTILINE)
    return re.sub(r"^// (title|models|source):.*\n(?://   .*\n)*", r"// \1:\n", text, flags=re.MULTILINE)


_BLANK = """\
// format:  {name}
// title:
// models:
// source:
// trim:    text, reasoning
// example:
//   Let me look that up.
//   <{name}>
//   {{"name": "get_weather", "arguments": {{"city": "Paris"}}}}
//   </{name}>

// A response: text, code samples, reasoning and calls. Describe a call here; see grammars/README.md.
start: (TEXT | code | think | tool_call)*
tool_call: _CALL_OPEN _json_call _CALL_CLOSE

// A marker: the written form, then other forms that are read.
_CALL_OPEN: "\\n<{name}>\\n" | "<{name}>"
_CALL_CLOSE: "\\n</{name}>" | "</{name}>"

%import .shared.json_call._json_call
%import .shared.text.TEXT
%import .shared.code.code
%import .shared.think.think
%import common.WS
%ignore WS
"""


def blank(checkout: Checkout, name: str) -> Draft:
    """A usable grammar with placeholder markup, and a case for the author to replace."""
    draft = Draft(
        name, _BLANK.format(name=name), remarks=["the markup is made up: replace it by what the model writes"]
    )
    text = f'Let me look that up.\n<{name}>\n{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}\n</{name}>'
    draft.add("ok", "one_call", text, "made up: replace it by what the model wrote")
    with temporary_checkout(checkout) as sandbox:
        add_truncated_case(draft, sandbox)
    return draft
