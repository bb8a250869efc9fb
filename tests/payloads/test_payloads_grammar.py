"""The grammar of payloads: markers of all kinds, and the check of expressions in pieces."""

from pathlib import Path

import pytest

from outspoken.authoring.check.lark_errors import load
from outspoken.authoring.shared.grammar_source import Source
from outspoken.payloads import PayloadRegistry, PayloadType
from outspoken.payloads.grammar import automaton_of, grammar_text, markers_of
from tests.payloads.payload_streams import read


@pytest.mark.parametrize(
    "markers",
    [["A.B", "A-B", "A"], ["Vorschläge", "提案"], ["X", "XX", "XXX"], ["note", "NOTE", "Note"], ["M" * 64]],
    ids=["signs", "letters", "beginnings", "cases", "long"],
)
def test_markers_of_all_kinds_are_distinguished(markers: list[str]) -> None:
    types = [PayloadType(f"kind_{number}", marker, beside=True) for number, marker in enumerate(markers)]
    registry = PayloadRegistry(types)
    for number, marker in enumerate(markers):
        for spelled in (
            f"{marker}:",
            f"**{marker}:**",
            f"__{marker}__:",
            f"- {marker} :",
            f"> **{marker}**:",
            f"{marker}：",
        ):
            reply = read(registry, f'{spelled} {{"a": {number}}}')
            assert [(one.type, one.data) for one in reply.payloads] == [(f"kind_{number}", {"a": number})]
            assert reply.text == ""


def test_placeholder_markers_are_replaced() -> None:
    types = [PayloadType("plain", "PLAIN", wrapping="plain"), PayloadType("card", "CARD")]
    text = grammar_text(markers_of(types))
    assert '"MARKER"' not in text
    assert text.count("(?:PLAIN|CARD)") == 1
    assert text.count("(?:CARD)") == 2


def test_every_alternative_is_reachable() -> None:
    automaton = automaton_of(markers_of([PayloadType("card", "CARD")]), lenient=False)
    steps = [
        step
        for config in automaton.configs
        for step in [*config.strict_transitions()[1], *config.strict_transitions()[2]]
    ]
    names = {step.terminal.short for step in steps}
    assert {"JSON_OBJECT", "JSON_ARRAY", "PAYLOAD_NAME", "_LINE_OPEN", "_ODD_OPEN", "_MENTION"} <= names


@pytest.mark.parametrize(
    ("terminal", "message"),
    [
        ("/(?=/ _Y /b)/", ""),
        ('_Y? /(?:/ "a" | _Y /)/', ""),
        ("/(?=/ _Y /b/", "missing )"),
        ("_Y /b)/", "unbalanced parenthesis"),
    ],
)
def test_terminal_pieces_form_one_expression(terminal: str, message: str, tmp_path: Path) -> None:
    loaded = load(Source(tmp_path / "made.lark", f"start: _X\n_X: {terminal}\n_Y: /c/\n"))
    assert message in loaded if isinstance(loaded, str) else not message
