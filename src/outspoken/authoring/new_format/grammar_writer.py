"""Writes the grammar file for a notation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .call_slots import SlotKind, UnclearError, is_tag, tokens
from .markers import GrammarBody, closer, markers, pattern, pieces
from .notation import Arguments, Notation

#: What `shared/think.lark` writes.
_SHARED_THINK = ("<think>\n", "\n</think>\n\n")
_SYMBOLS = {
    "name": "TOOL_NAME",
    "quoted_name": "tool_name",
    "object": "arguments",
    "call": "_json_call",
    "quoted_id": "id",
}
#: What may be read as a name, for a look ahead.
_NAME = r"[\w.\-\/$@]{1,200}"
#: Regular expressions for names where the shared ones would take the markup behind a name, too.
_NARROW = r"/[\w.\-]{1,200}/"
#: What the shared patterns for names cannot hold.
_ENDS_NAME = re.compile(r"[\s<>\"'=(){}\[\],;|]")


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """The header of the grammar."""

    format: str
    title: str
    models: str
    source: str
    example: str


def grammar(found: Notation, fields: HeaderFields) -> str:
    """The text of a grammar. Raises UnclearError if no grammar can say what the notation is."""
    if not "".join([found.section[0], found.head[0][0]]).strip():
        raise UnclearError("nothing marks where a call begins")
    body = GrammarBody()
    section = _section(found, body)
    body.rules |= {section[0]: section[1]} if section[0] != "tool_call" else {}
    _call(found, body)
    think = _think(found, body)
    body.take("text", "TEXT")
    lines = [*_header(found, fields, shared_think=think is None), ""]
    lines.append(f"start: (TEXT | code | think | {section[0]})*")
    lines += [f"{name}: {text}" for name, text in body.rules.items()]
    lines += [f"think: {think}"] if think else []
    lines += ["", *[f"{name}: {text}" for name, text in body.terminals.items()], ""]
    lines += [_import(module, names) for module, names in sorted(body.imports.items())]
    lines += ["%import .shared.code.code", *([] if think else ["%import .shared.think.think"])]
    # White space that is a marker must not be passed over
    by_line = found.arguments is not None and bool(found.arguments.open) and not found.arguments.open.strip()
    return "\n".join([*lines, *([] if by_line else ["%import common.WS", "%ignore WS"])]) + "\n"


def _header(found: Notation, fields: HeaderFields, *, shared_think: bool) -> list[str]:
    edges = [found.before or "", *(found.think or ())]
    spaced = [
        name for name, is_it in (("text", any(e != e.strip() for e in edges)), ("reasoning", _trims(found))) if is_it
    ]
    trim = ["text", "reasoning"] if shared_think and "text" in spaced else spaced
    lines = [
        f"// {key:<8} {value}".rstrip()
        for key, value in (
            ("format:", fields.format),
            ("title:", fields.title),
            ("models:", fields.models),
            ("source:", fields.source),
        )
    ]
    lines += [f"// trim:    {', '.join(trim)}"] if trim else []
    return [*lines, "// example:", *[f"//   {line}".rstrip() for line in fields.example.split("\n")]]


def _trims(found: Notation) -> bool:
    return found.think is None or found.think[0] != found.think[0].rstrip() or found.think[1] != found.think[1].lstrip()


def _import(module: str, names: list[str]) -> str:
    if len(names) == 1:
        return f"%import .shared.{module}.{names[0]}"
    return f"%import .shared.{module} ({', '.join(names)})"


# rules


def _section(found: Notation, body: GrammarBody) -> tuple[str, str]:
    """The rule for what may stand in a response: a section of calls, or one call."""
    opened, closed = found.section
    first = last = ""
    if opened or closed:
        first = markers((found.before or "") + opened, "_CALLS_OPEN", body, opens=_ahead(found, section=True))
        last = markers(closed, "_CALLS_CLOSE", body, outer_last=True)
    many = "tool_call+"
    if found.separator:
        role = _divider(found.separator)
        many = f"tool_call ({markers(found.separator, role, body)} tool_call)*"
    if not opened and not closed:
        return ("_tool_calls", many) if found.separator else ("tool_call", "")
    return "_tool_calls", " ".join(part for part in (first, many, last) if part)


def _call(found: Notation, body: GrammarBody) -> None:
    """The rule for a call, and those for what stands in it."""
    parts: list[str] = []
    alone = not any(found.section)
    for number, (markup, kind) in enumerate(found.head):
        if number == 0:
            opens = _ahead(found, section=False) if alone else ""
            parts.append(markers((found.before or "") * alone + markup, "_CALL_OPEN", body, opens=opens))
        else:
            parts.append(markers(markup, _role(kind), body))
        parts.append(_slot(found, number, kind, body))
        if kind == "id":
            parts[-2:] = [f"({parts[-2]} call_id)?"] if number else [parts[-2], "call_id?"]
    if found.arguments:
        parts += [markers(found.lead, "_NAME_CLOSE", body, inner="CLOSE"), _listed(found.arguments, found, body)]
    bare = found.arguments is not None and found.arguments.kind == "value" and not found.arguments.close
    parts.append(markers(found.close, "_CALL_CLOSE", body, outer_last=True, behind=bare))
    body.rules = {"tool_call": " ".join(part for part in parts if part), **body.rules}
    body.rules = {k: body.rules[k] for k in ("_tool_calls", *body.rules) if k in body.rules}
    _joined_id(found, body)


def _role(kind: SlotKind) -> str:
    return {"object": "_ARGUMENTS_OPEN", "name": "_NAME_OPEN", "quoted_name": "_NAME_OPEN", "index": "_INDEX_OPEN"}.get(
        kind, "_ID_OPEN"
    )


def _divider(markup: str) -> str:
    return "_COMMA" if markup.strip() == "," else "_SEPARATOR"


def _slot(found: Notation, number: int, kind: SlotKind, body: GrammarBody) -> str:
    """The symbol for a slot of a call, with what it needs."""
    following = found.head[number + 1][0] if number + 1 < len(found.head) else found.lead or found.close
    if kind == "name":
        _name("TOOL_NAME", following, body)
    elif kind == "call":
        _object(found.key, body)
    elif kind == "object":
        body.rules["arguments"] = "JSON_OBJECT | JSON_STRING"
        body.take("json", "JSON_OBJECT", "JSON_STRING")
    elif kind in ("quoted_name", "quoted_id"):
        body.rules[_SYMBOLS[kind]] = "JSON_STRING"
        body.take("json", "JSON_STRING")
    elif kind in ("id", "index"):
        terminal = "CALL_ID" if kind == "id" else "CALL_INDEX"
        body.terminals[terminal] = _NARROW if kind == "id" else r"/\d{1,9}/"
        body.rules["call_id"] = terminal
        return "call_id"
    return _SYMBOLS[kind]


def _object(key: str, body: GrammarBody) -> None:
    """Import the rule for a call that is an object, with the key of its arguments where that is another one."""
    if key == "arguments":
        body.take("json_call", "_json_call")
    else:
        body.terminals["%override _ARGUMENTS_KEY.1"] = rf'"\"{key}\": " | /"(?:arguments|parameters|args)"\s{{0,99}}:/'
        body.take("json_call", "_json_call", "_ARGUMENTS_KEY")


def _name(terminal: str, following: str, body: GrammarBody) -> None:
    """Import the terminal of a name, or define a narrower one where the markup behind it could be part of a name."""
    if following[:1] and not _ENDS_NAME.match(following):
        body.terminals[terminal] = _NARROW
    else:
        body.take("text", terminal)


def _joined_id(found: Notation, body: GrammarBody) -> None:
    """A name and a number behind it, with a sign between, are the call's id, all of them together."""
    call = body.rules["tool_call"]
    match = re.search(r"((?:_\w+ )?)TOOL_NAME (_\w+) call_id", call)
    if [kind for _, kind in found.head[:2]] != ["name", "index"] or not match or re.search(r"[\w<]", found.head[1][0]):
        return
    own = match[1] if not is_tag(tokens(found.head[0][0])[-1]) else ""
    body.rules["tool_call"] = call.replace(f"{own}{match[0].removeprefix(match[1])}", "call_id")
    body.rules["call_id"] = f"{own}TOOL_NAME {match[2]} CALL_INDEX"


def _listed(written: Arguments, found: Notation, body: GrammarBody) -> str:
    """The symbols for all arguments, and the rule for one."""
    first = markers(written.open, "_ARGUMENT_OPEN", body, opens=_key_ahead(written) if not written.open.strip() else "")
    _name("ARG_NAME", written.middle, body)
    kinds: list[tuple[str, SlotKind, str]] = [(written.middle, written.kind, "_VALUE_OPEN")]
    if written.typed is not None:
        kinds = [(written.middle, written.kind, "_TEXT_OPEN"), (written.typed, "json", "_JSON_OPEN")]
    options: list[str] = []
    for middle, kind, role in kinds:
        opened = markers(middle, role, body, outer_last=True, free=kind == "value")
        options.append(" ".join(symbol for symbol in (first, "ARG_NAME", opened, _value(kind, body)) if symbol))
    after = [written.separator or written.open, found.close or found.section[1]]
    last = closer(written.close, after, body, free=written.kind == "value")
    options = [f"{option} {last}".rstrip() for option in options]
    body.rules["argument"] = "\n        | ".join(options)
    if not written.separator:
        return "argument*"
    return f"(argument ({markers(written.separator, _divider(written.separator), body)} argument)*)?"


def _value(kind: SlotKind, body: GrammarBody) -> str:
    """The terminal for the value of an argument."""
    if kind == "python":
        body.terminals["PYTHON_VALUE"] = r"/[^,)\]}=:][\s\S]*/"
        return "PYTHON_VALUE"
    name = "ARG_VALUE" if kind == "value" else "JSON_VALUE"
    body.take("text" if kind == "value" else "json", name)
    return name


def _think(found: Notation, body: GrammarBody) -> str | None:
    """The rule for reasoning; None if it is the shared one."""
    if found.think is None or found.think == _SHARED_THINK:
        return None
    opened = markers(found.think[0], "_THINK_OPEN", body)
    closed = markers(found.think[1], "_THINK_CLOSE", body, outer_last=True)
    body.take("text", "REASONING")
    return f"{opened} REASONING {closed}"


def _ahead(found: Notation, *, section: bool) -> str:
    """What has to follow a marker that could be met in text by chance, as a pattern; "" for one that is a tag."""
    markup = found.section[0] if section else found.head[0][0]
    first, *others = pieces(markup) or [""]
    if is_tag(first):
        return ""
    ahead = "".join(f"\\s{{0,99}}{pattern(piece.strip())}" for piece in others if piece.strip())
    ahead += f"\\s{{0,99}}{pattern(found.head[0][0].strip())}" if section and found.head[0][0].strip() else ""
    ahead += "\\s{0,99}" + {"name": _NAME, "call": r"\{", "quoted_name": '"', "quoted_id": '"'}.get(
        found.head[0][1], r"\w"
    )
    behind = found.head[1:2]
    following = behind[0][0] if behind else found.lead
    if found.head[0][1] == "name" and following.strip():
        ahead += f"\\s{{0,99}}{pattern(pieces(following)[0].strip())}"
    return ahead


def _key_ahead(written: Arguments) -> str:
    return rf"{_NAME}{pattern(written.middle.strip())}" if written.middle.strip() else ""
