"""The interfaces by which vLLM and SGLang read a response: the calls that a client gets, whole and streamed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from tools.integrations.missing_modules import stand_ins

Written = list[tuple[str, str]]
Tools = list[dict[str, Any]]

#: What a tokenizer of a model has as one token: a marker.
_MARKER = re.compile(r"<[|｜/]?[^<>\s]{1,60}>|\[/?[A-Z_]{3,40}\]|<\|[^<>|]{1,60}\|>")


class _Vocabulary(dict[str, int]):
    """All tokens; a marker that was never seen has a number, too."""

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


class MarkerTokenizer:
    """A stand-in for the tokenizer of a model: its tokens are markers, and `size` characters each between them."""

    eos_token, eos_token_id, bos_token_id, pad_token_id = "</s>", 1, 2, 0
    is_fast, all_special_ids, all_special_tokens, name_or_path = True, (), (), "markers"
    chat_template = None

    def __init__(self, size: int) -> None:
        self.init_kwargs: dict[str, Any] = {}
        self._size = size
        self._numbers: dict[str, int] = {}
        self._words: dict[int, str] = {}

    def pieces(self, text: str) -> list[str]:
        """The texts of the tokens."""
        found, at = list[str](), 0
        for match in [*_MARKER.finditer(text), None]:
            end = match.start() if match else len(text)
            found += [text[i : min(i + self._size, end)] for i in range(at, end, self._size)]
            found += [match[0]] if match else []
            at = match.end() if match else end
        return found

    def encode(self, text: str, *_: Any, **options: Any) -> list[int]:
        """The tokens of a text. A character is its own number; others get one when they are first asked for."""
        return [ord(piece) if len(piece) == 1 else self._number(piece) for piece in self.pieces(text)]

    def _number(self, word: str) -> int:
        number = self._numbers.setdefault(word, 0x110000 + len(self._numbers))
        self._words[number] = word
        return number

    def decode(self, ids: Any, *_: Any, **options: Any) -> str:
        """The text of tokens."""
        return "".join([self._words.get(one) or chr(one) for one in ([ids] if isinstance(ids, int) else ids)])

    def get_vocab(self) -> dict[str, int]:
        """All tokens."""
        return _Vocabulary(self)

    @property
    def vocab(self) -> dict[str, int]:
        """All tokens."""
        return self.get_vocab()

    def get_added_vocab(self) -> dict[str, int]:
        """The markers that were seen."""
        return {word: number for word, number in self._numbers.items() if _MARKER.fullmatch(word)}

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The numbers of tokens."""
        return self.encode(tokens)[0] if isinstance(tokens, str) else [self.encode(token)[0] for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, **options: Any) -> Any:
        """The texts of tokens."""
        return self.decode([ids]) if isinstance(ids, int) else [self.decode([one]) for one in ids]

    def __len__(self) -> int:
        return 0x220000


def _joined(deltas: Iterable[tuple[int, str | None, str | None]]) -> Written:
    """The calls of a stream: each delta has the number of its call, and pieces of the name and of the arguments."""
    found: dict[int, list[str]] = {}
    for index, name, arguments in deltas:
        parts = found.setdefault(index, ["", ""])
        parts[0] += name or ""
        parts[1] += arguments or ""
    return [(name, arguments) for _, (name, arguments) in sorted(found.items())]


class _VllmReader:
    """A parser with the tools of a request: names and arguments as text, of a `whole` response or one `streamed`."""

    def __init__(self, make: Callable[[Any], Any], ask: Callable[[], Any], tokenizer: MarkerTokenizer) -> None:
        self._make, self._ask, self._tokenizer = make, ask, tokenizer

    def whole(self, text: str) -> Written:
        request, ids = self._ask(), self._tokenizer.encode(text)
        calls = self._make(request).parse(text, request, enable_auto_tools=True, model_output_token_ids=ids)[2]
        return [(call.name, call.arguments) for call in calls or ()]

    def streamed(self, text: str) -> Written:
        request = self._ask()
        parser, pieces = self._make(request), self._tokenizer.pieces(text)
        ids = self._tokenizer.encode(text)
        deltas = [
            parser.parse_delta(piece, [number], request, [63], finished=left == 0)
            for piece, number, left in zip(pieces, ids, reversed(range(len(ids))), strict=True)
        ]
        calls = [call for delta in deltas if delta is not None for call in delta.tool_calls]
        return _joined([(c.index, c.function.name, c.function.arguments) for c in calls if c.function is not None])


class Vllm:
    """vLLM's `ParserManager`, which composes the parser of a server."""

    def __init__(self, size: int) -> None:
        with stand_ins():
            protocol: Any = import_module("vllm.entrypoints.openai.chat_completion.protocol")
            managers: Any = import_module("vllm.parser.parser_manager")
            parsers: Any = import_module("vllm.tool_parsers")
        self._request: Any = protocol.ChatCompletionRequest
        self._manager: Any = managers.ParserManager
        self.names: list[str] = parsers.ToolParserManager.list_registered()
        parsers.ToolParserManager.import_tool_parser("outspoken.integrations.vllm")
        self._tokenizer = MarkerTokenizer(size)

    def reader(self, parser: str, tools: Tools) -> Any:
        """A reader with a parser of calls and none of reasoning."""
        kind: Any = self._manager.get_parser(parser, None, True)
        asked = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": tools, "tool_choice": "auto"}
        return _VllmReader(
            lambda request: kind(self._tokenizer, request.tools), lambda: self._request(**asked), self._tokenizer
        )


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
        items = [call for piece in self._tokenizer.pieces(text) for call in parser.parse_stream_chunk(piece)[1]]
        return _joined([(c.tool_index, c.name, c.parameters) for c in [*items, *parser.parse_stream_end()[1]]])


class Sglang:
    """SGLang's `FunctionCallParser`."""

    def __init__(self, size: int) -> None:
        with stand_ins():
            self._tool: Any = import_module("sglang.srt.entrypoints.openai.protocol").Tool
            self._parser: Any = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
            import_module("outspoken.integrations.sglang").register()
        self._tokenizer = MarkerTokenizer(size)
        self.names = [name for name in self._parser.ToolCallParserEnum if not name.startswith("outspoken_")]

    def reader(self, parser: str, tools: Tools) -> Any:
        """A reader with a parser."""
        given = [self._tool.model_validate(tool) for tool in tools]
        return _SglangReader(lambda: self._parser(given, parser, tokenizer=self._tokenizer), self._tokenizer)


Server = Vllm | Sglang
#: The servers, by the number of characters of a token of their tokenizer.
SERVERS: dict[str, Callable[[int], Server]] = {"vLLM": Vllm, "SGLang": Sglang}
