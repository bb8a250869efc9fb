"""Texts that are made of markers: repeated, wrapped in any way, and cut anywhere, for several registries."""

from pathlib import Path
from random import Random

from outspoken import load_format, parse
from outspoken.contrib.table_chat import tables_registry
from outspoken.payloads import PayloadRegistry, PayloadType
from tests.payloads.payload_streams import check_chunks

#: texts for each registry
_ROUNDS = 30
_STARTS = ("", "", "- ", "* ", "> ", "## ", "1. ", "   ", "\t", "- [ ] ", "\u200b", "text ")
_WRAPS = (("", ""), ("", ""), ("*", "*"), ("**", "**"), ("*", ""), ("**", ""), ("", "**"), ("__", "__"), ("`", "`"))
_COLONS = (":", ": ", ":\n", ":\n\n", " :", "：", ":\r\n", "", ":**", ":* ", "`: ")
_FENCES = (("", ""), ("", ""), ("```json\n", "\n```"), ("```\n", ""), ("~~~\n", "\n~~~"), ("````", "````"))
_BODIES = ("{}", "[]", '{"a": 1}', '[{"a": "}"}]', "{", '{"a": ', '{"a" 1}', "[1,", "", "no", "{}}", '{"a": "', "*")
_ENDS = ("\n", "\n\n", " ", "", "**\n", "*", "\r\n", "\nText.\n", "```", "<think>x</think>", "`")


_ODD_END = """// format:  odd_end
// title:   Text with a token at its end
// models:  Example-7B
// source:  made for this test
// example:
//   Moss.[end]

start: (TEXT | _END | odd)*
odd: _ENDED
_END: "[end]"
_ENDED: "[ended]"
%import .shared.text.TEXT
"""


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
    grammar.write_text(_ODD_END, "utf-8")
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
            cuts = sorted(random.choices(range(len(text) + 1), k=3))
            stream = registry.stream(
                [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)], finish_reason=reason
            )
            for _event in stream:
                pass
            assert stream.reply == whole, text
