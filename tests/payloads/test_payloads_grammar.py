"""The grammar of payloads: markers of all kinds, repeated, wrapped and cut, and the check of expressions in pieces."""

from pathlib import Path
from random import Random

import pytest

from outspoken import load_format, parse
from outspoken.authoring.check.lark_errors import load
from outspoken.authoring.shared.grammar_source import Source
from outspoken.contrib.table_chat import tables_registry
from outspoken.payloads import PayloadRegistry, PayloadType
from outspoken.payloads.grammar import automaton_of, grammar_text, markers_of
from tests.invariants.replies import at_random
from tests.payloads.payload_streams import check_chunks, read
from tests.tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize(
    "markers",
    [["A.B", "A-B", "A"], ["Vorschläge", "提案"], ["X", "XX", "XXX"], ["note", "NOTE", "Note"], ["M" * 64]],
    ids=["signs", "letters", "beginnings", "cases", "long"],
)
def test_markers_of_all_kinds_are_distinguished(markers: list[str]) -> None:
    types = [PayloadType(f"kind_{number}", marker, beside=True) for number, marker in enumerate(markers)]
    registry = PayloadRegistry(types)
    for number, marker in enumerate(markers):
        for frame in ("{}:", "**{}:**", "__{}__:", "- {} :", "> **{}**:", "{}："):
            reply = read(registry, f'{frame.format(marker)} {{"a": {number}}}')
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
    configs = [config.strict_transitions() for config in automaton.configs]
    names = {step.terminal.short for _, some, others in configs for step in (*some, *others)}
    assert {"JSON_OBJECT", "JSON_ARRAY", "PAYLOAD_NAME", "_LINE_OPEN", "_ODD_OPEN", "_MENTION"} <= names


@pytest.mark.parametrize(("terminal", "message"), TABLES["TERMINAL_PIECES_FORM_ONE_EXPRESSION"])
def test_terminal_pieces_form_one_expression(terminal: str, message: str, tmp_path: Path) -> None:
    loaded = load(Source(tmp_path / "made.lark", f"start: _X\n_X: {terminal}\n_Y: /c/\n"))
    assert message in loaded if isinstance(loaded, str) else not message


#: texts for each registry
_ROUNDS = 30
_STARTS = ("", "", "- ", "* ", "> ", "## ", "1. ", "   ", "\t", "- [ ] ", "\u200b", "text ")
_WRAPS = (("", ""), ("", ""), ("*", "*"), ("**", "**"), ("*", ""), ("**", ""), ("", "**"), ("__", "__"), ("`", "`"))
_COLONS = (":", ": ", ":\n", ":\n\n", " :", "：", ":\r\n", "", ":**", ":* ", "`: ")
_FENCES = (("", ""), ("", ""), ("```json\n", "\n```"), ("```\n", ""), ("~~~\n", "\n~~~"), ("````", "````"))
_BODIES = ("{}", "[]", '{"a": 1}', '[{"a": "}"}]', "{", '{"a": ', '{"a" 1}', "[1,", "", "no", "{}}", '{"a": "', "*")
_ENDS = ("\n", "\n\n", " ", "", "**\n", "*", "\r\n", "\nText.\n", "```", "<think>x</think>", "`")


def _registries() -> list[PayloadRegistry]:
    prefixes = [PayloadType("one", "CARD", wrapping="plain"), PayloadType("two", "CARD.X", wrapping="emphasis")]
    lower = PayloadType("three", "Note-1", any_case=True, beside=True, kind="array")
    return [
        PayloadRegistry([PayloadType("a", "A:", dict), PayloadType("b", "B:", dict)]),
        PayloadRegistry([*prefixes, lower]),
        PayloadRegistry([PayloadType("only", "ONLY_ONE", kind="array")]),
        tables_registry(),
    ]


def _text(random: Random, markers: list[str]) -> str:
    """Some markers with what may stand round them, cut at a random place."""
    parts: list[str] = []
    for _ in range(random.randint(1, 4)):
        (left, right), (opener, closer) = random.choice(_WRAPS), random.choice(_FENCES)
        marker = random.choice(markers) * random.choice((1, 1, 1, 1, 2))
        parts += [random.choice(_STARTS), left, marker, right, random.choice(_COLONS)]
        parts += [opener, random.choice(_BODIES), closer, random.choice(_ENDS)]
    text = "".join(parts)
    return text[: random.randint(0, len(text))] if random.random() < 0.5 else text


def test_an_odd_marker_outside_of_a_call_is_reported(tmp_path: Path) -> None:
    """`odd` may stand anywhere in a grammar, also where nothing is open."""
    grammar = tmp_path / "odd_end.lark"
    grammar.write_text(TABLES["ODD_END"], "utf-8")
    name = load_format(grammar)
    reply = parse("Moss.[ended]", format=name)
    assert reply.text == "Moss."
    assert [one.code for one in reply.diagnostics] == ["odd-marker"]


def test_any_text_of_markers_is_read_alike_whole_and_in_chunks() -> None:
    """Text near a marker never raises, however the text before it ended, and a stream gives the same reply."""
    random = Random(21)
    for registry in _registries():
        markers = [one.marker for one in registry.types]
        for _ in range(_ROUNDS):
            text = _text(random, markers)
            reason = random.choice((None, "stop", "length"))
            whole = registry.parse(text, finish_reason=reason)
            check_chunks(registry, text, None, registry.parse(text))
            stream = registry.stream(at_random(text, random, 4), finish_reason=reason)
            for _event in stream:
                pass
            assert stream.reply == whole, text
