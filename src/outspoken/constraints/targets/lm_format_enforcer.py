"""A parser of lm-format-enforcer (0.11): what its class `CharacterLevelParser` asks for, over our own matcher."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any

from outspoken.constraints.char_sets import CharSet
from outspoken.constraints.forms import Grammar
from outspoken.constraints.matcher import Matcher
from outspoken.results.packages import Package


class MatcherParser:
    """The state of reading one text. `config` holds the alphabet of the tokenizer; states that follow share it."""

    def __init__(self, matcher: Matcher, config: Any) -> None:
        self._matcher, self.config = matcher, config

    def add_character(self, new_character: str) -> MatcherParser:
        """The state behind a character. Raises ValueError if it is refused."""
        following = self._matcher.advance(new_character)
        if following is None:
            raise ValueError(f"the constraint refuses {new_character!r} here")
        return MatcherParser(following, self.config)

    def get_allowed_characters(self) -> str:
        """The characters of the alphabet that may come next."""
        return _in_alphabet(self._matcher.allowed(), self.config.alphabet)

    def can_end(self) -> bool:
        """May the text end here?"""
        return self._matcher.may_end

    def shortcut_key(self) -> Hashable | None:
        """No state of ours has one of the engine's shortcuts."""
        return None

    def cache_key(self) -> Hashable | None:
        """A key of what may follow, by which the engine keeps the tokens that it allows."""
        return self._matcher.key


@lru_cache(maxsize=4096)
def _in_alphabet(chars: CharSet, alphabet: str) -> str:
    return "".join([char for char in alphabet if any(low <= ord(char) <= high for low, high in chars)])


def character_parser(grammar: Grammar) -> MatcherParser:
    """The parser at the start of a text. Raises MissingPackageError without lm-format-enforcer."""
    package = Package("", "lm-format-enforcer", needed_by="`to_lm_format_enforcer`")
    engine = package.load("lmformatenforcer.characterlevelparser")
    engine.CharacterLevelParser.register(MatcherParser)
    return MatcherParser(Matcher(grammar), engine.CharacterLevelParserConfig())
