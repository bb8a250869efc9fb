"""Splits markup into terminals: their names, and what they write and read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .call_slots import is_tag, tokens


@dataclass
class GrammarBody:
    """The rules and terminals so far, and what is imported, by file."""

    rules: dict[str, str] = field(default_factory=dict[str, str])
    terminals: dict[str, str] = field(default_factory=dict[str, str])
    imports: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def take(self, module: str, *names: str) -> None:
        """Import names from a file of `shared/`."""
        known = self.imports.setdefault(module, [])
        known += [name for name in names if name not in known]

    def terminal(self, wanted: str, body: str) -> str:
        """The name of a terminal with this body: the wanted one, or another one where it means something else."""
        for name, known in self.terminals.items():
            if known == body:
                return name
        name, number = wanted, 2
        while name in self.terminals:
            name, number = f"{wanted}_{number}", number + 1
        self.terminals[name] = body
        return name


def markers(
    markup: str,
    role: str,
    body: GrammarBody,
    *,
    outer_last: bool = False,
    opens: str = "",
    inner: str = "",
    free: bool = False,
    behind: bool = False,
) -> str:
    """The terminals that markup is made of, one for each tag. The outer one has the name of the role.

    `opens` is what has to follow where the markup opens something in text and could be met there by chance; `free` says
    that bare text follows, `behind` that it stands before.
    """
    parts = pieces(markup)
    names: list[str] = []
    for number, piece in enumerate(parts):
        outer = number == (len(parts) - 1 if outer_last else 0)
        wanted = role if outer else _called(piece, role, inner)
        last = number + 1 == len(parts)
        if not piece.strip() and not opens:
            names.append(body.terminal("_BREAK", f"{_string(piece)} | /\\s{{1,99}}/") + "?")
        elif behind and number == 0 and piece.startswith("\n"):
            names.append(body.terminal(wanted, f"{_string(piece)} | /{_behind_text(piece)}/"))
        else:
            names.append(body.terminal(wanted, _terminal(piece, opens if number == 0 else "", free=free and last)))
    return " ".join(names)


def pieces(markup: str) -> list[str]:
    """Markup in the parts that become terminals: tags, keys, brackets, and what stands between those."""
    made: list[str] = []
    loose = False
    for token in tokens(markup):
        single = is_tag(token) or token.strip() in ("[", "]", "{", "}", "(", ")") or token.rstrip().endswith('":')
        if made and (not token.strip() or (loose and not single)):
            made[-1] += token
        else:
            made.append(token)
            loose = not single
    for number in range(len(made) - 1):
        space = made[number + 1][: len(made[number + 1]) - len(made[number + 1].lstrip())]
        made[number], made[number + 1] = made[number] + space, made[number + 1][len(space) :]
    return made


def _called(piece: str, role: str, inner: str) -> str:
    """A name for an inner marker: the word in its tag, and whether it opens or closes."""
    words = re.findall(r"[A-Za-z][A-Za-z0-9]*", piece)
    ends = ("OPEN", "CLOSE", "BEGIN", "START", "END")
    word = "_".join(w.upper() for w in words[:3] if w.upper() not in ends) or "INNER"
    word = "LIST" if piece.strip() in ("[", "]") else word
    word = "FENCE" if piece.strip().startswith("```") else word
    closing = "/" in piece or "CLOSE" in role or inner == "CLOSE"
    return f"_{word}_{'CLOSE' if closing else 'OPEN'}"


def _terminal(piece: str, opens: str, *, free: bool) -> str:
    """What a marker writes and reads."""
    bare = piece.strip()
    if opens:
        return f"{_string(piece)} | /{pattern(bare or piece)}(?={opens})/"
    if free and piece != piece.rstrip():
        space = piece[len(piece.rstrip()) :]
        return f"{_string(piece)} | /{pattern(piece.rstrip())}{pattern(space[0])}?/"
    if bare.startswith('"') and bare.endswith(":"):
        return f"{_string(piece)} | /{pattern(bare[:-1].rstrip())}\\s{{0,99}}:/"
    return _string(piece) if piece == bare else f"{_string(piece)} | {_string(bare)}"


def closer(markup: str, after: Iterable[str], body: GrammarBody, *, free: bool) -> str:
    """The terminals that close a value. Behind bare text they count only where something follows that may."""
    parts = pieces(markup)
    if not parts or not free:
        return markers(markup, "_VALUE_CLOSE", body, outer_last=True)
    first, rest = parts[0], parts[1:]
    follow = [rest[0]] if rest else [found for markup in after for found in pieces(markup)[:1]]
    ahead = "|".join(pattern(found.strip()) for found in follow if found.strip())
    read = _behind_text(first) + (f"(?=\\s{{0,99}}(?:{ahead}))" if ahead else "")
    wanted = _called(first, "_CLOSE", "") if rest else "_VALUE_CLOSE"
    name = body.terminal(wanted, f"{_string(first)} | /{read}/")
    return " ".join([name, markers("".join(rest), "_ARGUMENT_CLOSE", body, outer_last=True)]).strip()


def _behind_text(piece: str) -> str:
    """The pattern for a marker behind bare text, to which the line break before the marker does not belong."""
    escaped = pattern(piece.strip())
    initial = escaped[:2] if escaped.startswith("\\") else escaped[:1]
    return (f"(?:\\n{initial}|{initial})" if piece.startswith("\n") else initial) + escaped[len(initial) :]


def _string(text: str) -> str:
    """Text as a string of a grammar."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") + '"'


def pattern(text: str) -> str:
    """Text as a regular expression of a grammar."""
    return re.sub(r"([.^$*+?{}\[\]|()\\\/])", r"\\\1", text).replace("\n", "\\n").replace("\t", "\\t")
