"""The smallest parts of markup that nobody has described: tags, keys, brackets and words."""

from __future__ import annotations

import re

#: A tag, a part of one before or behind a name in it, or a token such as `<|call|>` and `[CALL]`.
TAG = (
    r"(?:<[^<>\n\"'=]{1,80}>|<[\w.\-]{1,40}:(?![\w.\-:]*>)|<[^<>\n\"'=]{1,80}=[\"']?|(?<=[^=\s])[\"'](?:\s[^<>\n\"'=]{1,40}=[\"']|[^<>\n]{0,80}>)"
    r"|(?<=[\w.\-])\s*/?>|\[/?[A-Z][A-Z0-9_]*\])"
)
#: The tokens that end a turn, if whoever ran the model left them in.
END_OF_TURN = re.compile(
    r"\s*(?:<[|｜][^|｜<>\n]{0,40}(?:end.?of.?|im_end|eot|eom|eos)[^|｜<>\n]{0,40}[|｜]>|</s>|<(?:\w+:)?eos>"
    r"|<end_of_turn>)\s*\Z",
    re.IGNORECASE,
)

_TOKEN = re.compile(rf"\s*(?:{TAG}|```\w*|\"[^\"\n]*\"\s*:|[\[\](){{}},]|(?:(?!{TAG})[^\s\[\](){{}},])+|\S)|\s+\Z")


def tokens(markup: str) -> list[str]:
    """Markup in its smallest parts, each with the white space before it: tags, keys, brackets, words."""
    return [match[0] for match in _TOKEN.finditer(markup)]
