"""The interfaces by which vLLM and SGLang read a response: the calls that a client gets, whole and streamed."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from .missing_modules import stand_ins

Calls = list[tuple[str, dict[str, Any]]]
Written = list[tuple[str, str]]

#: What a tokenizer of a model has as one token: a marker.
_MARKER = re.compile(r"<[|｜/]?[^<>\s]{1,60}>|\[/?[A-Z_]{3,40}\]|<\|[^<>|]{1,60}\|>")
#: How many tokens a chunk of a stream has.
_CHUNK = 3


class Reader(Protocol):
    """A parser of a server, with the tools of a request: the calls with their arguments as text."""

    def whole(self, text: str) -> Written:
        """The calls of a whole response."""
        ...

    def streamed(self, text: str) -> Written:
        """The calls of a response in chunks."""
        ...

    def timed(self, text: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """Functions that read a response with a new parser, whole and in chunks, as the server has both."""
        ...


class Server(Protocol):
    """A server: its own parsers, and a reader with one of them, or of ours."""

    def names(self) -> list[str]:
        """The names of the server's own parsers."""
        ...

    def reader(self, parser: str, tools: list[dict[str, Any]]) -> Reader:
        """A reader with a parser."""
        ...


class MarkerTokenizer:
    """A tokenizer whose tokens are markers, and between them characters, or `size` characters each.

    What is no single character gets a number when it is first asked for.
    """

    eos_token, eos_token_id, bos_token_id, pad_token_id = "</s>", 1, 2, 0
    is_fast, all_special_ids, all_special_tokens, name_or_path = True, (), (), "markers"
    chat_template = None

    def __init__(self, size: int = 1) -> None:
        self.init_kwargs: dict[str, Any] = {}
        self._size = size
        self._numbers: dict[str, int] = {}
        self._pieces: dict[str, int] = {}
        self._words: dict[int, str] = {}

    def encode(self, text: str, *_: Any, **options: Any) -> list[int]:
        """The tokens of a text."""
        found: list[int] = []
        at = 0
        for match in _MARKER.finditer(text):
            found += self._between(text[at : match.start()])
            found.append(self._number(match[0], self._numbers, 0x110000))
            at = match.end()
        return [*found, *self._between(text[at:])]

    def _between(self, text: str) -> list[int]:
        if self._size == 1:
            return [*map(ord, text)]
        pieces = [text[i : i + self._size] for i in range(0, len(text), self._size)]
        return [self._number(piece, self._pieces, 0x200000) for piece in pieces]

    def _number(self, word: str, numbers: dict[str, int], first: int) -> int:
        number = numbers.setdefault(word, first + len(numbers))
        self._words[number] = word
        return number

    def decode(self, ids: Any, *_: Any, **options: Any) -> str:
        """The text of tokens."""
        return "".join([self._words.get(one) or chr(one) for one in ([ids] if isinstance(ids, int) else ids)])

    def get_vocab(self) -> dict[str, int]:
        """All tokens; a marker that was never seen has a number, too."""
        return _Vocabulary(self)

    @property
    def vocab(self) -> dict[str, int]:
        """All tokens."""
        return self.get_vocab()

    def get_added_vocab(self) -> dict[str, int]:
        """The markers that were seen."""
        return dict(self._numbers)

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The numbers of tokens."""
        return self.encode(tokens)[0] if isinstance(tokens, str) else [self.encode(token)[0] for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, **options: Any) -> Any:
        """The texts of tokens."""
        return self.decode([ids]) if isinstance(ids, int) else [self.decode([one]) for one in ids]

    def __len__(self) -> int:
        return 0x120000


class _Vocabulary(dict[str, int]):
    def __init__(self, tokenizer: MarkerTokenizer) -> None:
        super().__init__(tokenizer.get_added_vocab())
        self._tokenizer = tokenizer

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (len(key) == 1 or _MARKER.fullmatch(key) is not None)

    def __missing__(self, key: str) -> int:
        if key not in self:
            raise KeyError(key)
        return self._tokenizer.encode(key)[0]

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default


def chunks_of(tokenizer: MarkerTokenizer, text: str) -> list[tuple[str, list[int]]]:
    """A text in chunks of one token each."""
    return [(tokenizer.decode(number), [number]) for number in tokenizer.encode(text)]


def _joined(found: dict[int, list[str]]) -> Written:
    return [(name, arguments) for _, (name, arguments) in sorted(found.items())]


class _VllmReader:
    def __init__(self, make: Callable[[Any], Any], ask: Callable[[], Any], tokenizer: MarkerTokenizer) -> None:
        self._make, self._ask, self._tokenizer = make, ask, tokenizer

    def whole(self, text: str) -> Written:
        request = self._ask()
        parser = self._make(request)
        ids = self._tokenizer.encode(text)
        calls = parser.parse(text, request, enable_auto_tools=True, model_output_token_ids=ids)[2]
        return [(call.name, call.arguments) for call in calls or ()]

    def streamed(self, text: str) -> Written:
        request = self._ask()
        parser = self._make(request)
        ids, found = self._tokenizer.encode(text), dict[int, list[str]]()
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            is_last = start + _CHUNK >= len(ids)
            delta = parser.parse_delta(self._tokenizer.decode(chunk), chunk, request, [63], finished=is_last)
            for call in () if delta is None else delta.tool_calls:
                parts = found.setdefault(call.index, ["", ""])
                if call.function is not None:
                    parts[0] += call.function.name or ""
                    parts[1] += call.function.arguments or ""
        return _joined(found)

    def timed(self, text: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
        request, ids = self._ask(), self._tokenizer.encode(text)
        chunks = chunks_of(self._tokenizer, text)

        def whole() -> Any:
            return self._make(request).parse(text, request, enable_auto_tools=True, model_output_token_ids=ids)

        def streamed() -> None:
            parser, left = self._make(request), len(chunks)
            for piece, numbers in chunks:
                left -= 1
                parser.parse_delta(piece, numbers, request, [63], finished=not left)

        return whole, streamed


class Vllm:
    """vLLM's `ParserManager`, which composes the parser of a server."""

    def __init__(self, size: int = 1) -> None:
        with stand_ins():
            protocol: Any = import_module("vllm.entrypoints.openai.chat_completion.protocol")
            managers: Any = import_module("vllm.parser.parser_manager")
            parsers: Any = import_module("vllm.tool_parsers")
        self._request: Any = protocol.ChatCompletionRequest
        self._manager: Any = managers.ParserManager
        self._names: list[str] = parsers.ToolParserManager.list_registered()
        parsers.ToolParserManager.import_tool_parser("outspoken.integrations.vllm")
        self._tokenizer = MarkerTokenizer(size)

    def names(self) -> list[str]:
        """The names of vLLM's own parsers."""
        return self._names

    def reader(self, parser: str, tools: list[dict[str, Any]]) -> Reader:
        """A reader with a parser of calls and none of reasoning."""
        kind: Any = self._manager.get_parser(parser, None, True)

        def ask() -> Any:
            return self._request(
                model="m", messages=[{"role": "user", "content": "?"}], tools=tools, tool_choice="auto"
            )

        return _VllmReader(lambda request: kind(self._tokenizer, request.tools), ask, self._tokenizer)


class _SglangReader:
    def __init__(self, make: Callable[[], Any], tokenizer: MarkerTokenizer) -> None:
        self._make, self._tokenizer = make, tokenizer

    def whole(self, text: str) -> Written:
        parser = self._make()
        if not parser.has_tool_call(text):
            return []
        return [(call.name, call.parameters) for call in parser.parse_non_stream(text)[1]]

    def streamed(self, text: str) -> Written:
        parser = self._make()
        ids, found = self._tokenizer.encode(text), dict[int, list[str]]()
        chunks = [self._tokenizer.decode(ids[start : start + _CHUNK]) for start in range(0, len(ids), _CHUNK)]
        items = [call for chunk in chunks for call in parser.parse_stream_chunk(chunk)[1]]
        for call in [*items, *parser.parse_stream_end()[1]]:
            parts = found.setdefault(call.tool_index, ["", ""])
            parts[0] += call.name or ""
            parts[1] += call.parameters
        return _joined(found)

    def timed(self, text: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
        pieces = [piece for piece, _ in chunks_of(self._tokenizer, text)]

        def whole() -> Any:
            parser = self._make()
            return parser.parse_non_stream(text) if parser.has_tool_call(text) else None

        def streamed() -> None:
            parser = self._make()
            for piece in pieces:
                parser.parse_stream_chunk(piece)
            parser.parse_stream_end()

        return whole, streamed


class Sglang:
    """SGLang's `FunctionCallParser`."""

    def __init__(self, size: int = 1) -> None:
        with stand_ins():
            self._tool: Any = import_module("sglang.srt.entrypoints.openai.protocol").Tool
            self._parser: Any = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
            import_module("outspoken.integrations.sglang").register()
        self._tokenizer = MarkerTokenizer(size)

    def names(self) -> list[str]:
        """The names of SGLang's own parsers."""
        return [name for name in self._parser.ToolCallParserEnum if not name.startswith("outspoken_")]

    def reader(self, parser: str, tools: list[dict[str, Any]]) -> Reader:
        """A reader with a parser."""
        given = [self._tool.model_validate(tool) for tool in tools]
        return _SglangReader(lambda: self._parser(given, parser, tokenizer=self._tokenizer), self._tokenizer)


#: The servers, by the sizes of the tokens of their tokenizer.
SERVERS: dict[str, Callable[[int], Server]] = {"vLLM": Vllm, "SGLang": Sglang}
