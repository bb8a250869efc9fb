"""Writes the grammar for a shape."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from outspoken.authoring.shared.wording import unique
from outspoken.grammar.template_fields import literal

from .shapes import Shape, UnclearError, is_tag, tokens

#: What may be read as a name, for a look ahead; a name where the shared pattern would take the markup behind it, too.
_NAME, _NARROW = r"[\w.\-\/$@]{1,200}", r"/[\w.\-]{1,200}/"
#: What the shared patterns for names cannot hold.
_ENDS_NAME = re.compile(r"[\s<>\"'=(){}\[\],;|]")
#: What `shared/think.lark` writes.
_SHARED_THINK = ("<think>\n", "\n</think>\n\n")
_GAPS = {"object": "_ARGUMENTS_OPEN", "name": "_NAME_OPEN", "id": "_ID_OPEN", "index": "_INDEX_OPEN"}


@dataclass
class _Body:
    """The rules and terminals so far, and the names that are imported, by file."""

    rules: dict[str, str] = field(default_factory=dict[str, str])
    terminals: dict[str, str] = field(default_factory=dict[str, str])
    imports: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def take(self, module: str, *names: str) -> str:
        """Import names from a file of `shared/`; returns the first."""
        known = self.imports.setdefault(module, [])
        known += [name for name in names if name not in known]
        return names[0]

    def terminal(self, wanted: str, pattern: str) -> str:
        """The name of a terminal with this pattern: the wanted one, or another one where that is taken."""
        for name, known in self.terminals.items():
            if known == pattern:
                return name
        name = unique(wanted, self.terminals)
        self.terminals[name] = pattern
        return name

    def markers(self, markup: str, role: str, *, last: bool = False, ahead: str = "", free: str = "") -> str:
        """The terminals of markup, one for each tag; the first, or the `last`, has the name of the role.

        `ahead` has to follow the first one. `free` says where bare text stands: "before", "behind" or "".
        """
        names: list[str] = []
        parts = pieces(markup)
        for number, piece in enumerate(parts):
            is_outer = number == (len(parts) - 1 if last else 0)
            words = [word.upper() for word in re.findall(r"[A-Za-z][A-Za-z0-9]*", piece)]
            side = "CLOSE" if "/" in piece or role.endswith("CLOSE") else "OPEN"
            wanted = role if is_outer else f"_{'_'.join(w for w in words[:3] if w != side) or 'INNER'}_{side}"
            look = f"(?={ahead})" if ahead and number == 0 else ""
            before = free == "before" and number == 0
            behind = free == "behind" and number == len(parts) - 1
            names.append(self.terminal(wanted, _marker(piece, look, before=before, behind=behind)))
        return " ".join(names)


def grammar(shape: Shape, name: str, source: str, example: str) -> str:
    """The text of a grammar. Raises UnclearError if the shape has no markup that a grammar needs."""
    opening = shape.section[0] or shape.open
    if not re.search(r"[^\s:;,.=\-\"']", opening):
        raise UnclearError(f"nothing marks where a call begins: {shape.title}")
    body = _Body()
    symbol = _calls(shape, body)
    _call(shape, body)
    think = ""
    if shape.think and shape.think != _SHARED_THINK:
        opened = body.markers(shape.think[0], "_THINK_OPEN")
        think = f"{opened} {body.take('text', 'REASONING')} {body.markers(shape.think[1], '_THINK_CLOSE', last=True)}"
    body.take("text", "TEXT")
    closing = shape.section[1] or shape.close  # a marker of the call is not to be taken for the end of the turn
    turn_end = "" if re.search(r"<\|(?:end|eom|eot|eos)\|>", closing) else " _TURN_END*"
    body.take("turn", "_begun", *turn_end.strip(" *").split())
    words = "_".join(re.findall(r"\w+", opening)[:3])
    title = {"json": "JSON", "python": "Python calls", "object": "Name and JSON"}.get(
        shape.kinds[-1], "Tagged arguments"
    )
    lines = [f"// format:  {name}", f"// title:   {title + (f' in {words}' if words else '')}"[:51], "// models:"]
    lines += [f"// source:  {source}", "// trim:    text, reasoning", "// example:"]
    lines += [f"//   {line}".rstrip() for line in example.split("\n")]
    lines += ["", f"start: _begun (TEXT | code | think | {symbol})*{turn_end}"]
    lines += [f"{rule}: {text}" for rule, text in body.rules.items()]
    lines += [f"think: {think}"] if think else []
    lines += ["", *[f"{terminal}: {text}" for terminal, text in body.terminals.items()], ""]
    for module, names in sorted(body.imports.items()):
        lines.append(f"%import .shared.{module}" + (f".{names[0]}" if len(names) == 1 else f" ({', '.join(names)})"))
    lines += ["%import .shared.code.code", *([] if think else ["%import .shared.think.think"])]
    return "\n".join([*lines, "%import common.WS", "%ignore WS", ""])


def _calls(shape: Shape, body: _Body) -> str:
    """The symbol for what may stand in a response: one call, or a section of calls, for which a rule is added."""
    many = "tool_call+"
    if shape.separator.strip():
        comma = "_COMMA" if shape.separator.strip() == "," else "_SEPARATOR"
        many = f"tool_call ({body.markers(shape.separator, comma)} tool_call)*"
    elif not any(shape.section):
        return "tool_call"
    opened = body.markers(shape.section[0], "_CALLS_OPEN", ahead=_ahead(shape, shape.section[0]))
    closed = body.markers(shape.section[1], "_CALLS_CLOSE", last=True)
    body.rules["_tool_calls"] = " ".join(part for part in (opened, many, closed) if part)
    return "_tool_calls"


def _call(shape: Shape, body: _Body) -> None:
    """The rule for a call, and those for its parts."""
    ahead = "" if any(shape.section) else _ahead(shape, shape.open)
    parts = [body.markers(shape.open, "_CALL_OPEN", ahead=ahead)]
    following = [*shape.gaps, shape.lead + (shape.pair.open if shape.pair else shape.close)]
    body.rules["tool_call"] = ""
    for number, kind in enumerate(shape.kinds):
        gap = body.markers(shape.gaps[number - 1], _GAPS[kind]) if number else ""
        symbol = _slot(shape, kind, following[number], body)
        parts += [f"({gap} {symbol})?"] if kind in ("id", "index") and gap else [gap, symbol]
    if shape.pair:
        parts += [body.markers(shape.lead, "_NAME_CLOSE"), _argument(shape, body)]
    free = "before" if shape.pair and not shape.pair.close else ""
    parts.append(body.markers(shape.close, "_CALL_CLOSE", last=True, free=free))
    body.rules["tool_call"] = " ".join(part for part in parts if part)


def _slot(shape: Shape, kind: str, following: str, body: _Body) -> str:
    """The symbol for a slot of a call, with what it needs."""
    if kind == "json":
        overrides = zip(("_NAME_KEY", "_ARGUMENTS_KEY"), shape.own_keys, ("name", "arguments"), strict=True)
        changed = [(terminal, key) for terminal, key, usual in overrides if key != usual]
        for terminal, key in changed:
            text = '(?=\\s{0,99}"[^"])' if terminal == "_NAME_KEY" else ""
            body.terminals[f"%override {terminal}.1"] = rf'"\"{key}\": " | /"{pattern(key)}"\s{{0,99}}:{text}/'
        return body.take("json_call", "_json_call", *[terminal for terminal, _ in changed])
    if kind == "python":
        return body.take("python_call", "_call")
    if kind == "name":
        return _name("TOOL_NAME", following, body)
    rule, terminals = {
        "object": ("arguments", ["JSON_OBJECT", "JSON_STRING"]),
        "quoted_name": ("tool_name", ["JSON_STRING"]),
    }.get(kind, ("call_id", []))
    body.rules[rule] = " | ".join([body.take("json", terminal) for terminal in terminals]) or body.terminal(
        "CALL_ID" if kind == "id" else "CALL_INDEX", _NARROW if kind == "id" else r"/\d{1,9}/"
    )
    return rule


def _name(terminal: str, following: str, body: _Body) -> str:
    """A name; one narrower than the shared one if the markup behind it could be part of that."""
    if following and not _ENDS_NAME.match(following):
        return body.terminal(terminal, _NARROW)
    return body.take("text", terminal)


def _argument(shape: Shape, body: _Body) -> str:
    """The symbol for all arguments, and the rule for one."""
    pair = shape.pair
    assert pair is not None
    opened, key = body.markers(pair.open, "_ARGUMENT_OPEN"), _name("ARG_NAME", pair.mid, body)
    value = body.take("json", "JSON_VALUE") if pair.json else body.take("text", "ARG_VALUE")
    mid = body.markers(pair.mid, "_VALUE_OPEN", last=True, free="" if pair.json else "behind")
    close = ""
    if pair.close:
        after = [pieces(markup)[0].strip() for markup in (pair.open, shape.close, shape.section[1]) if markup.strip()]
        ahead = rf"\s{{0,99}}(?:{'|'.join(pattern(text) for text in dict.fromkeys(after[:2]))})"
        close = body.markers(pair.close, "_VALUE_CLOSE", ahead="" if pair.json else ahead, free="before")
    body.rules["argument"] = " ".join(part for part in (opened, key, mid, value, close) if part)
    return "argument*"


def _ahead(shape: Shape, opening: str) -> str:
    """What has to follow an opening marker that may stand in text by chance, as a pattern; "" for one that is a tag."""
    first, *others = pieces(opening)
    if is_tag(first):
        return ""
    others += pieces(shape.open) if shape.section[0] else []
    slot = {"json": r"\{", "name": _NAME, "python": r"[A-Za-z_][\w.\-]{0,199}\("}.get(shape.kinds[0], r"[\"\w]")
    behind = pieces((shape.gaps or (shape.lead,))[0] or (shape.pair.open if shape.pair else ""))
    if shape.kinds[0] == "name" and behind:
        slot += rf"\s{{0,99}}{pattern(behind[0].strip())}" if behind[0].strip() else pattern(behind[0])
    return "".join(rf"\s{{0,99}}{pattern(piece.strip())}" for piece in others) + r"\s{0,99}" + slot


def pieces(markup: str) -> list[str]:
    """Markup in the parts that become terminals: tags, keys, brackets, and what stands between those."""
    if not markup.strip():
        return [markup] if markup else []
    parts: list[str] = []
    loose = False
    for token in tokens(markup):
        single = is_tag(token) or token.strip() in ("[", "]", "{", "}", "(", ")") or token.rstrip().endswith('":')
        if parts and (not token.strip() or (loose and not single)):
            parts[-1] += token
        else:
            parts.append(token)
            loose = not single
    for number in range(len(parts) - 1):
        space = parts[number + 1][: len(parts[number + 1]) - len(parts[number + 1].lstrip())]
        parts[number], parts[number + 1] = parts[number] + space, parts[number + 1][len(space) :]
    return parts


def _marker(piece: str, look: str, *, before: bool, behind: bool) -> str:
    """What a marker writes and reads. The line break between it and bare text is a part of it."""
    bare, written = piece.strip(), literal(piece)
    if before and piece.startswith("\n") and bare:
        initial = pattern(bare[:1])
        return f"{written} | /(?:\\n{initial}|{initial}){pattern(bare[1:])}{look}/"
    if behind and bare and piece != piece.rstrip():
        return f"{written} | /{pattern(piece.rstrip())}{pattern(piece[len(piece.rstrip())])}?/"
    if look or not bare:  # white space that is not ignored before what follows belongs to the marker
        read = bare if look.startswith("(?=\\s") else piece.lstrip()
        return f"{written} | /{pattern(read or piece)}{look}/"
    if bare.startswith('"') and bare.endswith(":"):
        return rf"{written} | /{pattern(bare[:-1].rstrip())}\s{{0,99}}:/"
    return written if piece == bare else f"{written} | {literal(bare)}"


def pattern(text: str) -> str:
    """Text as a regular expression of a grammar."""
    return re.sub(r"([.^$*+?{}\[\]|()\\\/])", r"\\\1", text).replace("\n", "\\n").replace("\t", "\\t")
