"""Reads the same texts through every way into the library, and lists where they are read differently.

Run as `python -m tools.doors`. The texts are responses of the corpus, two to four of them with prose between them; some
in fences, where a format is prompted JSON, and some with line ends of Windows.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from outspoken import Parser, Reply
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import cases
from outspoken.cli.main import main as command
from outspoken.grammar import registry
from outspoken.processing import ProcessorSettings, ResponseProcessor, parse_actions
from outspoken.providers import parse_response, stream_response, to_openai
from outspoken.serving.rewriter import CompletionRewriter
from outspoken.serving.settings import ServerSettings
from tools.shared.command import run as run_command

_PROSE = ("\n\nLet me see.\n\n", "\n", " and then ", "\n\n# Next\n\n- one\n- two\n\n")
_LEFT_OUT = {"span", "raw", "repairs", "id"}


class Disagreement(NamedTuple):
    """A text that a door reads differently from `parse`."""

    format: str
    door: str
    text: str
    expected: Any
    found: Any


def corpus_of() -> dict[str, list[str]]:
    """The sound responses of the corpus by format, without those that need options."""
    found: dict[str, list[str]] = {}
    for case in cases(Checkout()):
        if case.kind == "ok" and not case.options:
            found.setdefault(case.format, []).append(case.text)
    return found


def texts(format: str, corpus: list[str], count: int, seed: int = 0) -> Iterator[str]:
    """Texts of a format; the same for the same seed. `corpus` are its sound responses."""
    random = Random(f"{format} {seed}")
    in_fences = any(marker.endswith("_FENCED_OPEN") for marker in registry.automaton(format).tables.terminals)
    for _ in range(count):
        parts = [random.choice(corpus) for _ in range(random.randint(2, 4))]
        if in_fences:
            parts = [_fenced(part, random) if random.random() < 0.4 and "`" not in part else part for part in parts]
        text = random.choice(_PROSE).join(parts)
        yield text.replace("\r\n", "\n").replace("\n", "\r\n") if random.random() < 0.15 else text


def _fenced(text: str, random: Random) -> str:
    opener = random.choice(("```", "```json", "```js", "~~~", "````"))
    return f"{opener}\n{text.strip()}\n{opener.rstrip('jsonk')}"


# --- The doors


def _essence(reply: Reply) -> list[Any]:
    """What a reply says: calls, actions, payloads and values with their content, and the text between them."""
    found = [s for s in reply.segments if s.kind not in ("text", "reasoning")]
    return [[s.model_dump(mode="json", exclude=_LEFT_OUT) for s in found], reply.text, reply.reasoning]


def _pieces(text: str) -> list[str]:
    size = Random(text).choice([1, 4, 16, 100])
    return [text[at : at + size] for at in range(0, len(text), size)]


def _streamed(stream: Any) -> Reply:
    for _ in stream:
        pass
    return stream.reply


def _processed(format: str, text: str) -> Reply | None:
    settings = ProcessorSettings(log_failed_parses=False)
    found = ResponseProcessor(Parser(format), settings=settings).process(text)
    return None if found.strategy == "fallback" else found.reply


def _chat(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": None}
    return {"id": "c", "model": "m", "object": "chat.completion", "choices": [choice]}


def _provider_stream(format: str, text: str) -> Reply:
    chunks = [{"id": "c", "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in _pieces(text)]
    return _streamed(stream_response(chunks, "openai", format))


def _command(format: str, text: str) -> Reply:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "response.txt"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        written = io.StringIO()
        with redirect_stdout(written), redirect_stderr(io.StringIO()):
            command(["parse", str(file), "--format", format, "--json"])
    return Reply.model_validate(json.loads(written.getvalue()))


#: By name, what a door makes of a text; None where it does not read it.
_DOORS: dict[str, Callable[[str, str], Reply | None]] = {
    "stream": lambda format, text: _streamed(Parser(format).stream(_pieces(text))),
    "processor": _processed,
    "parse_actions": lambda format, text: parse_actions(text, format) if registry.header(format).actions else None,
    "parse_response": lambda format, text: parse_response(_chat(text), "openai", format),
    "stream_response": _provider_stream,
    "command": _command,
}


def disagreements(format: str, text: str) -> list[Disagreement]:
    """What the doors read differently from `parse`, and the proxy from what is exported."""
    expected = Parser(format).parse(text)
    replies = {name: door(format, text) for name, door in _DOORS.items()}
    pairs = {name: (_essence(expected), _essence(reply)) for name, reply in replies.items() if reply is not None}
    settings = ServerSettings(upstream="http://127.0.0.1:1", format=format)
    rewritten = CompletionRewriter(settings, {"messages": []}).rewrite(_chat(text))
    pairs["proxy"] = (_said(to_openai(expected)), _said(rewritten))
    return [Disagreement(format, name, text, *pair) for name, pair in pairs.items() if pair[0] != pair[1]]


def _said(completion: Any) -> list[Any]:
    """The content and the calls of a chat completion."""
    message = completion["choices"][0]["message"]
    calls: list[Any] = message.get("tool_calls") or []
    return [message.get("content") or "", *[call["function"] for call in calls]]


def run(
    formats: Iterable[str], per_format: int, seed: int = 0, corpus: dict[str, list[str]] | None = None
) -> tuple[int, list[Disagreement]]:
    """Read texts of formats through every door: how many, and what was read differently."""
    corpus = corpus or corpus_of()
    chosen = [(format, text) for format in formats for text in texts(format, corpus[format], per_format, seed)]
    return len(chosen), [found for format, text in chosen for found in disagreements(format, text)]


def main(arguments: list[str] | None = None) -> int:
    """Read texts through every door. The exit code is 1 if two disagree."""
    parser = argparse.ArgumentParser(prog="python -m tools.doors", description=__doc__)
    parser.add_argument("formats", nargs="*", help="names of formats; default: all")
    parser.add_argument("--per-format", type=int, default=50, help="how many texts of each format")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    corpus = corpus_of()
    count, wrong = run(options.formats or sorted(corpus), options.per_format, options.seed, corpus)
    for one in wrong:
        print(f"{one.format}: {one.door} differs\n  text:  {one.text!r}")
        print(f"  parse: {one.expected!r}\n  found: {one.found!r}")
    print(f"{count} texts, {len(wrong)} disagreements")
    return int(bool(wrong))


if __name__ == "__main__":
    run_command(main)
