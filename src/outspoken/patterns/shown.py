"""Places in text where markup is shown and not used: in code, and between quotation marks."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from operator import itemgetter

from .lazy import lazy_pattern

QUOTES = tuple("\"'`“”‘’«»")
#: A line that opens or closes a block of code, or a span of code on one line.
_CODE = lazy_pattern(r"^[ ]{0,3}(?P<fence>`{3,16}|~{3,16})[^`\n]*$|`(?<!``)[^`\n]{1,1000}`(?!`)", re.MULTILINE)


class ShownPlaces:
    """The code in a text. `spans` are those on one line, `blocks` those between fences; both are closed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.spans: list[tuple[int, int]] = []
        self.blocks: list[tuple[int, int]] = []
        #: where a block begins that does not end
        self.open_from = len(text)
        opened: re.Match[str] | None = None
        for match in _CODE.finditer(text) if "`" in text or "~~~" in text else ():
            fence = match["fence"]
            if opened is None and not fence:
                self.spans.append(match.span())
            elif opened is None:
                opened = match
            elif fence and fence.startswith(opened["fence"]) and not match[0].strip().strip(fence[0]):
                self.blocks.append((opened.start(), match.end()))
                opened = None
        if opened is not None:
            self.open_from = opened.start()

    def is_in_code(self, at: int) -> bool:
        """Is an offset in code?"""
        return at >= self.open_from or _is_in(self.spans, at) or _is_in(self.blocks, at)

    def is_example(self, start: int, end: int) -> bool:
        """Is a place in code on one line, in a block of code that is not the last thing, or in quotation marks?"""
        is_block = self.goes_on and _is_in(self.blocks, start)
        return is_block or _is_in(self.spans, start) or self._is_quoted(start, end)

    def _is_quoted(self, start: int, end: int) -> bool:
        """Do quotation marks stand right before and behind a place?"""
        return self._text.endswith(QUOTES, 0, start) and self._text.startswith(QUOTES, end)

    @cached_property
    def goes_on(self) -> bool:
        """Do words follow the last block of code, so that it only shows something?"""
        return bool(self.blocks) and bool(self._text[self.blocks[-1][1] : self.open_from].strip())


def _is_in(places: list[tuple[int, int]], at: int) -> bool:
    index = bisect_right(places, at, key=itemgetter(0)) - 1
    return index >= 0 and at < places[index][1]
