"""Reads the same texts through every way into the library, and reports where they are read differently.

The texts are responses of the corpus, two to four of them with prose between them, and responses that are generated
from the grammars; some in fences, where a format is prompted JSON, and some with line ends of Windows.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from outspoken import Parser, Reply
from outspoken.authoring.fuzz.texts import sound_responses
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import cases
from outspoken.cli.main import main as command
from outspoken.grammar import registry
from outspoken.processing import ProcessorSettings, ResponseProcessor, parse_actions
from outspoken.providers import parse_response, stream_response, to_openai
from outspoken.serving.rewriter import CompletionRewriter
from outspoken.serving.settings import ServerSettings

_PROSE = ("\n\nLet me see.\n\n", "\n", " and then ", "\n\n# Next\n\n- one\n- two\n\n")
_FENCES = ("```", "```json", "```js", "~~~", "````")
_LEFT_OUT = {"span", "raw", "repairs", "id"}


class Disagreement(NamedTuple):
    """A text that a door reads differently from `parse`."""

    format: str
    door: str
    text: str
    expected: Any
    found: Any


def essence(reply: Reply) -> list[Any]:
    """What a reply says: calls, actions, payloads and values with their content, and the text between them."""
    found = [s for s in reply.segments if s.kind not in ("text", "reasoning")]
    return [[s.model_dump(mode="json", exclude=_LEFT_OUT) for s in found], reply.text, reply.reasoning]


def texts(format: str, corpus: list[str], count: int, seed: int = 0) -> Iterator[str]:
    """Texts of a format; the same for the same seed. `corpus` are its responses that call or act."""
    random, generated = Random(f"{format} {seed}"), iter(sound_responses(format, seed, 2 * count))
    in_fences = any(marker.endswith("_FENCED_OPEN") for marker in registry.automaton(format).tables.terminals)
    for number in range(count):
        text = next(generated, None) if number % 2 else None
        if text is None:
            parts = [random.choice(corpus) for _ in range(random.randint(2, 4))]
            if in_fences:
                parts = [_fenced(part, random) if random.random() < 0.4 and "`" not in part else part for part in parts]
            text = random.choice(_PROSE).join(parts)
        yield text.replace("\r\n", "\n").replace("\n", "\r\n") if random.random() < 0.15 else text


def _fenced(text: str, random: Random) -> str:
    opener = random.choice(_FENCES)
    return f"{opener}\n{text.strip()}\n{opener.rstrip('jsonk')}"


def disagreements(format: str, text: str, random: Random) -> list[Disagreement]:
    """What the doors read differently from `parse`."""
    expected = Parser(format).parse(text)
    found = [(name, door(format, text, random)) for name, door in _DOORS.items()]
    wanted = essence(expected)
    wrong = [Disagreement(format, name, text, wanted, f) for name, f in found if f is not None and f != wanted]
    message = _rewritten(format, text)
    exported = to_openai(expected)["choices"][0]["message"]
    if _said(message) != _said(exported):
        wrong.append(Disagreement(format, "proxy", text, _said(exported), _said(message)))
    return wrong


def _said(message: dict[str, Any]) -> list[Any]:
    """The content and the calls of a message of a chat API."""
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    return [message.get("content") or "", *[call["function"] for call in calls]]


# the doors


def _pieces(text: str, random: Random) -> list[str]:
    size = random.choice([1, 4, 16, 100])
    return [text[at : at + size] for at in range(0, len(text), size)]


def _stream(format: str, text: str, random: Random) -> Any:
    stream = Parser(format).stream(_pieces(text, random))
    for _ in stream:
        pass
    return essence(stream.reply)


def _processor(format: str, text: str, _: Random) -> Any:
    settings = ProcessorSettings(log_failed_parses=False)
    found = ResponseProcessor(Parser(format), settings=settings).process(text)
    return None if found.strategy == "fallback" else essence(found.reply)


def _parse_actions(format: str, text: str, _: Random) -> Any:
    return essence(parse_actions(text, format)) if registry.header(format).actions else None


def _chat(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"id": "c", "model": "m", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}


def _provider(format: str, text: str, _: Random) -> Any:
    return essence(parse_response(_chat(text), "openai", format))


def _provider_stream(format: str, text: str, random: Random) -> Any:
    chunks = [{"id": "c", "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in _pieces(text, random)]
    stream = stream_response(chunks, "openai", format)
    for _ in stream:
        pass
    return essence(stream.reply)


def _command(format: str, text: str, _: Random) -> Any:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "response.txt"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        written = io.StringIO()
        with redirect_stdout(written), redirect_stderr(io.StringIO()):
            command(["parse", str(file), "--format", format, "--json"])
    return essence(Reply.model_validate(json.loads(written.getvalue())))


_DOORS: dict[str, Callable[[str, str, Random], Any]] = {
    "stream": _stream,
    "processor": _processor,
    "parse_actions": _parse_actions,
    "parse_response": _provider,
    "stream_response": _provider_stream,
    "command": _command,
}


def _rewritten(format: str, text: str) -> dict[str, Any]:
    """The message of the proxy."""
    body = _chat(text)
    body["choices"][0]["finish_reason"] = None
    rewriter = CompletionRewriter(ServerSettings(upstream="http://127.0.0.1:1", format=format), {"messages": []})
    return rewriter.rewrite(body)["choices"][0]["message"]


def corpus_of() -> dict[str, list[str]]:
    """The sound responses of the corpus by format, without those that need options."""
    found: dict[str, list[str]] = {}
    for case in cases(Checkout()):
        if case.kind == "ok" and not case.options:
            found.setdefault(case.format, []).append(case.text)
    return found


def run(
    formats: list[str], per_format: int, seed: int = 0, corpus: dict[str, list[str]] | None = None
) -> tuple[int, list[Disagreement]]:
    """Read texts of formats through every door: how many, and what was read differently."""
    corpus, count, wrong = corpus or corpus_of(), 0, list[Disagreement]()
    for format in formats:
        for text in texts(format, corpus[format], per_format, seed):
            count += 1
            wrong += disagreements(format, text, Random(text))
    return count, wrong


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.doors", description=__doc__)
    parser.add_argument("formats", nargs="*", help="names of formats; default: all")
    parser.add_argument("--per-format", type=int, default=50, help="how many texts of each format")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    corpus, total, failed = corpus_of(), 0, 0
    for format in args.formats or sorted(corpus):
        count, wrong = run([format], args.per_format, args.seed, corpus)
        total, failed = total + count, failed + len(wrong)
        for one in wrong[:3]:
            print(f"{format}: {one.door} differs\n  text:  {one.text!r}")
            print(f"  parse: {one.expected!r}\n  found: {one.found!r}")
    print(f"{total} texts, {failed} disagreements", file=sys.stderr)
    return 1 if failed else 0
