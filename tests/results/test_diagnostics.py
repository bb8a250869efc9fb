"""Every diagnostic of a reply, by its code: the smallest text that gives it, and the whole message."""

import re
from pathlib import Path

import outspoken
from outspoken import Diagnostic, Parser, Screen, Settings, parse
from outspoken.payloads import PayloadRegistry, PayloadType
from outspoken.results.codes import CODES
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

REGISTRY = PayloadRegistry([PayloadType("card", "CARD")])

#: By code: the format (or one of READERS), a text, and what the diagnostic says in one line.
MESSAGES: dict[str, dict[str, str]] = TABLES["MESSAGES"]
READERS = {"registry": REGISTRY, "screen": Parser(screen=Screen(1920, 1080)), "as_written": Parser("ui_tars_1_0")}


def f(a: int) -> None: ...


#: A tool that is given as a schema, not as a function.
LISTED = {"name": "h", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
CLAMPING = Settings(clamp=True)


def given(code: str) -> Diagnostic:
    """The diagnostic of a code that its text gives."""
    format_, text = MESSAGES[code]["format"], MESSAGES[code]["text"]
    reader = READERS.get(format_)
    reply = reader.parse(text) if reader else parse(text, format=format_, tools=[f, LISTED], settings=CLAMPING)
    (found,) = [d for d in reply.diagnostics if d.code == code]
    return found


@in_one_item("code", MESSAGES)
def test_a_message_and_the_frame_that_begins_with_it_and_shows_the_place(code: str) -> None:
    found = given(code)
    assert str(found) == MESSAGES[code]["says"]
    lines = found.frame().splitlines()
    assert lines[0] == f"{found.severity}[{code}]: {found.message}"
    assert lines[1].strip() == f"--> {found.format}:{found.line}:{found.column} (offset {found.span[0]})"
    assert "^" in lines[4]


def test_a_diagnostic_is_data() -> None:
    found = given("missing-marker")
    assert Diagnostic(**found.model_dump()) == found


def test_every_code_is_in_the_table() -> None:
    rooms = [Path(outspoken.__file__).parent / room for room in ("semantics", "engine", "detection")]
    source = "".join([path.read_text("utf-8") for room in rooms for path in room.glob("*.py")])
    noted = set(re.findall(r'(?:\.report|PendingDiagnostic)\(\s*"([a-z-]+)"', source))
    noted |= {code for code, one in CODES.items() if one.level == "markup"}
    assert noted <= set(MESSAGES), noted - set(MESSAGES)
