"""Tries a draft grammar in a temporary copy of the grammars."""

from __future__ import annotations

import re
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from outspoken import Reply
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import Case
from outspoken.grammar import registry
from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.sources import sources

from .call_slots import json_value
from .similarity import END_OF_TURN, TAG

_ENDED = re.compile(rf"\s*(?:{END_OF_TURN})\s*")
#: A token that models write only as markup.
_TOKEN = re.compile(rf"(?!{END_OF_TURN})(?:<\|[^|<>\n]{{1,60}}\|>|<｜[^｜<>\n]{{1,60}}｜>)")
#: A code sample, and code in a line.
_SAMPLE = re.compile(r"^[ ]{0,3}(`{3,})[^\n]*\n.*?(?:^[ ]{0,3}\1|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_FIRST, _LAST = re.compile(rf"\s*{TAG}"), re.compile(rf"{TAG}\s*\Z")


@contextmanager
def temporary_checkout(checkout: Checkout) -> Generator[Checkout]:
    """A checkout that has the grammars of another one, and into which a grammar may be written."""
    with TemporaryDirectory(prefix="new_format_") as folder:
        made = Checkout(Path(folder))
        shutil.copytree(checkout.grammars, made.grammars)
        yield made


@contextmanager
def grammar_in_use(sandbox: Checkout, name: str, grammar: str) -> Generator[None]:
    """Within, the grammar can be used under its name. Raises GrammarError if it cannot be compiled."""
    path = sandbox.grammar(name)
    files = (path, registry.compiled_path(path))
    before = [file.read_bytes() if file.exists() else None for file in files]
    path.write_text(grammar, "utf-8")
    try:
        files[1].parent.mkdir(exist_ok=True)
        files[1].write_text(_compiled(path, grammar), "utf-8")
        with sandbox.in_use():
            yield
    finally:
        for file, content in zip(files, before, strict=True):
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(content)


#: Grammars that were tried, compiled: a draft is tried several times.
_COMPILED: dict[tuple[str, str, tuple[tuple[str, int], ...]], str] = {}


def _compiled(path: Path, grammar: str) -> str:
    """The compiled form of a grammar. Raises GrammarError."""
    key = (path.stem, grammar, tuple(sources(path).items()))
    if key not in _COMPILED:
        _COMPILED[key] = compile_grammar(path).to_json()
    return _COMPILED[key]


def complaints(reply: Reply) -> list[str]:
    """What is wrong in the reply for a sound response: diagnostics, and markup or objects that were read as text.

    The grammar of the reply has to be in use.
    """
    found = [str(diagnostic) for diagnostic in reply.diagnostics]
    for number, segment in enumerate(reply.segments):
        if segment.kind != "text":
            continue
        before = number > 0 and reply.segments[number - 1].kind == "tool_call"
        behind = number + 1 < len(reply.segments) and reply.segments[number + 1].kind == "tool_call"
        last = number + 1 == len(reply.segments)
        if last and _ENDED.fullmatch(segment.text):
            continue
        if token := _TOKEN.search(segment.text):
            found.append(f"{reply.format}: markup is read as text: {token[0]!r}")
            continue
        glued = segment.text[-1:].isalnum() and reply.raw[segment.span[1] : segment.span[1] + 1] in ("[", "{")
        if (before and _FIRST.match(segment.text)) or (behind and (glued or _LAST.search(segment.text))):
            found.append(f"{reply.format}: markup beside a call is read as text: {segment.text.strip()[:60]!r}")
    values = [value for call in reply.tool_calls for value in call.arguments.values() if isinstance(value, str)]
    swallowed = [
        value for value in values if (_FIRST.match(value) and "</" not in value) or _holds(reply.format, value)
    ]
    found += [f"{reply.format}: markup is read as part of a value: {value.strip()[:60]!r}" for value in swallowed]
    return found + [f"{reply.format}: an object is read as text: {text[:60]!r}" for text in _objects(reply)]


def _holds(format: str | None, value: str) -> bool:
    """Whether a value holds a tag or token that is a marker of the format."""
    terminals = registry.tables(format).terminals.values() if format else ()
    written = {terminal.canonical.strip() for terminal in terminals}
    return any(re.fullmatch(TAG, marker) and marker in value for marker in written if marker)


def _objects(reply: Reply) -> Iterator[str]:
    """The JSON objects in the text of a reply that may be the arguments of a call; not those in code samples."""
    for segment in reply.segments:
        text = _SAMPLE.sub("", segment.text) if segment.kind == "text" else ""
        at = text.find("{")
        while at >= 0:
            value = json_value(text, at)
            if value is not None and isinstance(value[0], dict) and value[0]:
                yield text[at : value[1]]
            at = text.find("{", value[1] if value is not None else at + 1)


def has_calls(reply: Reply) -> bool:
    """Whether there is something in a reply that only a format of its own can read."""
    return bool(reply.tool_calls or reply.actions or reply.payloads)


def differs_in_stream(case: Case) -> bool:
    """Whether a case is read differently where it arrives one character at a time."""
    session = case.session()
    for character in case.text:
        session.feed(character)
    session.close()
    return session.reply != case.parse()
