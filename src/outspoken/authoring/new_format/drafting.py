"""Drafts a format, reads the responses back with its grammar, and writes what was read as it was meant."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from outspoken import Reply, parse
from outspoken.authoring.shared.checkout import Case, Checkout
from outspoken.authoring.shared.wording import counted, unique
from outspoken.grammar import registry
from outspoken.models.markup_tokens import END_OF_TURN, TAG
from outspoken.models.messages import Message, schemas
from outspoken.results.errors import GrammarError

from .grammar_writer import grammar
from .shapes import Call, Shape, UnclearError, objects, shapes, thought

_FIRST, _LAST, _TOKEN = (
    re.compile(rf"\s*{TAG}"),
    re.compile(rf"{TAG}\s*\Z"),
    re.compile(r"<[|｜][^|｜<>\n]{1,60}[|｜]>"),
)
_SAMPLE = re.compile(r"^[ ]{0,3}(`{3,})[^\n]*\n.*?(?:^[ ]{0,3}\1|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)


#: The grammar of a call that is made up; `NAME` stands for that of the format.
_SKELETON = Path(__file__).with_name("skeleton.lark")
_NO_CALL = (
    "no call was found: no JSON object with a name and arguments, and no name before an object or before keys with "
    "values; without `--from`, a skeleton is written to fill in"
)


class AlreadyReadError(Exception):
    """A format reads all of it already. `lines` are the message."""

    def __init__(self, formats: Sequence[str], what: str) -> None:
        self.lines = [f"`{formats[0]}` reads {what} already: add the model to its header"]
        self.lines += [f"so do {', '.join([f'`{name}`' for name in formats[1:]])}"] if formats[1:] else []
        self.lines.append("nothing was written; `--force` writes a format of its own all the same")


class Example(NamedTuple):
    """A response; what it means, if that is known; and the part of it that the prompt contains."""

    text: str
    origin: str
    message: Message | None = None
    prefix: str = ""

    def read(self, format: str) -> Reply:
        """How a format reads it."""
        tools = schemas(self.message) if self.message else []
        return parse(self.text, format=format, tools=tools or None, prefix=self.prefix)

    def problems(self, format: str) -> list[str]:
        """What is wrong in how a format reads it; empty if nothing is."""
        reply = self.read(format)
        if self.message is None:
            return complaints(reply)
        wrong = [f"{diagnostic.code}: {diagnostic.message}" for diagnostic in reply.diagnostics]
        for what, meant, read in (
            ("calls", [call[:2] for call in self.message.calls], [(c.name, c.arguments) for c in reply.tool_calls]),
            ("text", self.message.text, reply.text.strip()),
            ("reasoning", self.message.reasoning, (reply.reasoning or "").strip()),
        ):
            if meant != read:
                wrong.append(f"meant as {what}: {meant or 'nothing'!r}; read: {read or 'nothing'!r}")
        return wrong

    def lost(self, format: str, calls: Iterable[Call]) -> list[str]:
        """The `problems`, and the calls that were found in it and are read otherwise."""
        if wrong := self.problems(format):
            return wrong
        read = [(call.name, *call.arguments) for call in self.read(format).tool_calls]
        found = [(call.name, *call.keys) for call in calls]
        return [f"`{call[0]}({', '.join(call[1:])})` is not read as a call" for call in found if call not in read]


@dataclass
class Draft:
    """What is to be written, and what a person should know of it. `origins` says where each case comes from."""

    name: str
    grammar: str
    cases: list[Case] = field(default_factory=list[Case])
    origins: dict[str, str] = field(default_factory=dict[str, str])
    remarks: list[str] = field(default_factory=list[str])

    def add(self, kind: str, name: str, text: str, origin: str, **options: Any) -> None:
        """Add a case; a name that is taken gets a number, and a text that is there is not added again."""
        if any(case.text == text and case.options == options for case in self.cases):
            return
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "response"
        name = unique(plain, self.origins)
        self.cases.append(Case(self.name, kind, name, text, options))
        self.origins[name] = origin


@contextmanager
def draft_in_use(checkout: Checkout, name: str, text: str) -> Generator[None]:
    """Within, a grammar can be used under its name beside those of a checkout. Raises GrammarError if it cannot."""
    with checkout.in_use():
        registry.add(name, text, checkout.grammar(name))
        yield


def complaints(reply: Reply) -> list[str]:
    """What is wrong in the reply for a sound response: diagnostics, and markup or objects that were read as text."""
    problems = [str(diagnostic) for diagnostic in reply.diagnostics]
    beside = [None, *(segment.kind for segment in reply.segments), None]
    for number, segment in enumerate(reply.segments):
        if segment.kind != "text":
            continue
        text = END_OF_TURN.sub("", segment.text)
        token = _TOKEN.search(text)
        behind, before = beside[number] == "tool_call", beside[number + 2] == "tool_call"
        if token or (behind and _FIRST.match(text)) or (before and _LAST.search(text)):
            problems.append(f"markup is read as text: {token[0] if token else text.strip()[:60]!r}")
        if value := next((value for *_, value in objects(_SAMPLE.sub("", text)) if value), None):
            problems.append(f"an object is read as text: {json.dumps(value, ensure_ascii=False)[:60]}")
    terminals = registry.tables(reply.format).terminals.values() if reply.format else ()
    tags = {t for terminal in terminals if re.fullmatch(TAG, t := terminal.canonical.strip())}
    values = [value for call in reply.tool_calls for value in call.arguments.values() if isinstance(value, str)]
    return problems + [
        f"markup is read as part of a value: {value.strip()[:60]!r}"
        for value in values
        if (_FIRST.match(value) and "</" not in value) or any(tag in value for tag in tags)
    ]


def reading(checkout: Checkout, examples: Iterable[Example]) -> list[str]:
    """The formats that read all examples as they are meant, those with most calls first."""
    good: list[tuple[int, str]] = []
    with checkout.in_use():
        for name in checkout.names():
            if any(example.problems(name) for example in examples):
                continue
            replies = [example.read(name) for example in examples]
            calls = sum(len(reply.tool_calls + reply.actions + reply.payloads) for reply in replies)
            good += [(-calls, name)] if calls else []
    return [name for _, name in sorted(good)]


def by_examples(checkout: Checkout, name: str, examples: dict[str, Example], source: str) -> Draft:
    """Draft a format by the shape whose grammar reads most examples back. Raises UnclearError if none reads enough.

    More than half of the examples have to be read back.
    """
    texts = [END_OF_TURN.sub("", example.prefix + example.text) for example in examples.values()]
    meant = [example.message or Message(reasoning=None) for example in examples.values()]
    thoughts = [
        thought(text, example_meant.reasoning, example_meant.text)
        for text, example_meant in zip(texts, meant, strict=True)
    ]
    ranked: list[tuple[tuple[int, int], str, Shape]] = []
    why: list[str] = []
    for shape in shapes(texts, thoughts):
        try:
            with draft_in_use(checkout, name, grammar(shape, name, source, min(texts, key=len).strip())):
                lost = [e.lost(name, calls) for e, calls in zip(examples.values(), shape.calls, strict=True)]
                replies = [example.read(name) for example in examples.values()]
        except (UnclearError, GrammarError) as error:
            why.append(str(error))
            continue
        good = [reply for reply, wrong in zip(replies, lost, strict=True) if reply.tool_calls and not wrong]
        if good and 2 * lost.count([]) > len(lost):
            first = min(good, key=lambda reply: (not reply.tool_calls[0].arguments, len(reply.raw)))
            shown = END_OF_TURN.sub("", first.raw).strip()
            ranked.append(((len(good), lost.count([])), grammar(shape, name, source, shown), shape))
        else:
            key, wrong = next(((key, w) for key, w in zip(examples, lost, strict=True) if w), ("", ["no call"]))
            why.insert(0, f"{shape.title}, but `{key}` is not read back: {wrong[0]}")
        if len(good) == len(lost):
            break
    if not ranked:
        raise UnclearError(why[0] if why else _NO_CALL)
    _, text, shape = max(ranked, key=lambda entry: entry[0])
    draft = Draft(name, text, remarks=[f"{shape.title}:", *[f"  {p}: {m!r}" for p, m in shape.markup.items()]])
    add_cases(draft, checkout, examples, shape.calls)
    draft.remarks += shape.unseen
    return draft


def add_cases(
    draft: Draft, checkout: Checkout, examples: dict[str, Example], calls: Sequence[Sequence[Call]] = ()
) -> None:
    """Add the examples that are read back as cases of `ok`, damaged ones as cases of `err`, and one that breaks off."""
    well = 0
    with draft_in_use(checkout, draft.name, draft.grammar):
        for (name, example), example_calls in zip(examples.items(), calls or [()] * len(examples), strict=True):
            wrong = example.lost(draft.name, example_calls)
            well += not wrong
            options: dict[str, Any] = {"prefix": example.prefix} if example.prefix else {}
            plain = parse(example.text, format=draft.name, prefix=example.prefix)
            if example.message and [c.arguments for c in plain.tool_calls] != [c[1] for c in example.message.calls]:
                options["tools"] = schemas(example.message)
            kind = "err" if plain.diagnostics and not example.message else "ok"
            where = "and lies in `err`" if kind == "err" else "and is left out"
            draft.remarks += [f"`{name}` is not read back, {where}:", *[f"  {w}" for w in wrong]] if wrong else []
            if not wrong or kind == "err":
                draft.add(kind, name, example.text, example.origin, **options)
        draft.remarks.append(f"{well} of {counted(len(examples), 'response')} read back")
        cut = next(_truncated(draft.cases), None)
    if cut:
        draft.add("err", "cut_inside_arguments", cut[0], f"made up: `{cut[1].name}`, cut", **cut[1].options)
    else:
        draft.remarks.append("no case of `err` could be made by cutting a response; write one")


def _truncated(cases: Iterable[Case]) -> Iterator[tuple[str, Case]]:
    """Cases that break off inside of a call's arguments, and those that they are made of."""
    for case in [case for case in cases if case.kind == "ok"]:
        for call in [call for call in case.parse().tool_calls if call.arguments][:1]:
            start = case.text.find(next(iter(call.arguments)), call.span[0])
            for place in range(call.span[1] - 1, start, -1):
                reply = case.parse(case.text[:place])
                unfinished = reply.unfinished_tool_calls
                if reply.status == "truncated" and unfinished and unfinished[0].arguments != call.arguments:
                    yield case.text[:place], case
                    break


def write(draft: Draft, checkout: Checkout) -> list[Path]:
    """Write the files of a draft, none of which is there yet, and return their paths."""
    folder = checkout.corpus / draft.name
    files: dict[Path, bytes] = {checkout.grammar(draft.name): draft.grammar.encode()}
    for case in draft.cases:
        path = folder / case.kind / f"{case.name}.txt"
        files[path] = case.text.encode()
        if case.options:  # TOML reads the strings of JSON
            options = {
                **case.options,
                **({"tools": json.dumps(case.options["tools"])} if "tools" in case.options else {}),
            }
            files[path.with_suffix(".toml")] = "".join(f"{k} = {json.dumps(v)}\n" for k, v in options.items()).encode()
    origins = [f"[{n}]\norigin = {json.dumps(o, ensure_ascii=False)}\n" for n, o in sorted(draft.origins.items())]
    files[folder / "sources.toml"] = "\n".join(origins).encode()
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    return list(files)


def blank(checkout: Checkout, name: str) -> Draft:
    """A usable grammar with placeholder markup, and a case for the author to replace."""
    remark = "the markup is made up: replace it by what the model writes"
    draft = Draft(name, _SKELETON.read_text("utf-8").replace("NAME", name), remarks=[remark])
    text = f'Let me look that up.\n<{name}>\n{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}\n</{name}>'
    add_cases(draft, checkout, {"one_call": Example(text, "made up: replace it by what the model wrote")})
    return draft
