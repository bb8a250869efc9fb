"""What the servers' own classes have to make of a response with our parsers, whole and streamed, whichever server."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from outspoken import formats, parse
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, REPAIRABLE, TOOLS, written
from tools.integrations.missing_modules import stand_ins

#: The same tools, strict.
STRICT = [{**tool, "function": {**tool["function"], "strict": True}} for tool in TOOLS]
#: The formats whose reasoning stands between tags.
TAGGED = tuple(name for name in FORMATS if name != "react")


class ServerTests:
    """Tests of a server, with two functions of it that read a response: whole, and in chunks.

    They take the text, the format of the parser of calls and that of reasoning, which may be None, and return the
    reasoning, the content, and the calls. `parser_class` is that of a parser of calls, by its name, and `constraints`
    are the structural tags for a format, for a choice of tools or the name of one, and for tools that may be strict.
    `opened` are the options of `whole` and `streamed` for a prompt that opens the reasoning, and `theirs` is the class
    of the server's own parser for hermes.
    """

    whole: Any
    streamed: Any
    parser_class: Any
    constraints: Any
    opened: dict[str, Any]
    theirs: str

    def test_every_format_has_a_parser(self) -> None:
        for info in formats():
            for name in (info.name, *info.aliases):
                assert self.parser_class(f"outspoken_{name}").format == info.name
        assert self.parser_class("hermes").__name__ == self.theirs, "theirs is not replaced"

    def test_reasoning_that_the_prompt_opens(self) -> None:
        text = "At six.\n</think>\n\n" + written("hermes", BOTH[0])
        expected = ("At six.", "", [("tide", BOTH[0][1])])
        for said in (text, f"<think>\n{text}"):  # some models repeat it
            assert self.whole(said, "hermes", "hermes", **self.opened) == expected
            assert self.streamed(said, "hermes", "hermes", **self.opened) == expected

    @pytest.mark.parametrize("format", FORMATS)
    def test_required_calls_are_constrained(self, format: str) -> None:
        with stand_ins():
            from xgrammar import Grammar, StructuralTag
        for choice in ("required", "wind"):
            found = self.constraints(format, choice)
            assert found
            for tag in found:
                Grammar.from_structural_tag(StructuralTag.model_validate_json(tag))
                assert ("tide" in tag) is (choice == "required")

    def test_only_strict_tools_constrain_what_may_be_text(self) -> None:
        assert self.constraints("hermes", "auto") == []
        found = self.constraints("hermes", "auto", strict=True)
        assert found
        assert all("<tool_call>" in tag for tag in found)

    @pytest.mark.parametrize("format", FORMATS)
    def test_parallel_calls_with_text(self, format: str) -> None:
        text = written(format, *BOTH, text="Let me look.")
        expected = ("", parse(text, format=format, tools=TOOLS).text, [(name, dict(given)) for name, given in BOTH])
        assert self.whole(text, format) == expected
        for size in (1, 3, 1000):
            assert self.streamed(text, format, size=size) == expected

    @pytest.mark.parametrize("format", TAGGED)
    def test_reasoning_has_a_field_of_its_own(self, format: str) -> None:
        text = written(format, BOTH[0], reasoning="The tide first.")
        expected = ("The tide first.", "", [("tide", BOTH[0][1])])
        assert self.whole(text, format, format) == expected
        for size in (1, 5, 1000):
            assert self.streamed(text, format, format, size=size) == expected
        alone = self.whole(text, None, format)
        assert alone[0] == "The tide first.", "a parser for reasoning needs none for calls"
        assert "The tide first." not in alone[1]

    def test_reasoning_without_a_parser_for_it_is_content(self) -> None:
        text = written("harmony", BOTH[0], reasoning="The tide first.")
        expected = ("", "<think>\nThe tide first.\n</think>\n\n", [("tide", BOTH[0][1])])
        assert self.whole(text, "harmony") == self.streamed(text, "harmony") == expected

    @pytest.mark.parametrize("damaged", [INVALID, CUT, CUT[:-20]])
    def test_a_broken_call_is_content_as_the_model_wrote_it(
        self, damaged: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        sound = written("hermes", BOTH[1])
        for reasoning in (None, "hermes"):
            for text, calls in ((damaged, []), (f"{sound}\n{damaged}", [BOTH[1]])):
                caplog.clear()
                with caplog.at_level(logging.WARNING, "outspoken"):
                    found = self.whole(text, "hermes", reasoning)
                assert "outspoken: a response in hermes is" in caplog.text
                assert found[2] == [(name, dict(given)) for name, given in calls]
                assert "".join(damaged.split()) in "".join(found[1].split())
                for size in (1, 4, 1000):
                    thought, content, read = self.streamed(text, "hermes", reasoning, size=size)
                    assert (thought, content.strip(), read) == (found[0], found[1].strip(), found[2])

    def test_a_repaired_call_is_a_call_with_sound_json(self) -> None:
        expected = ("", "", [("tide", {"place": "Brest", "day": 3})])
        assert self.whole(REPAIRABLE, "hermes") == self.streamed(REPAIRABLE, "hermes") == expected

    @pytest.mark.parametrize("format", FORMATS)
    def test_every_cut_is_no_call(self, format: str) -> None:
        text = written(format, BOTH[0])
        for end in range(1, len(text)):
            calls = self.whole(text[:end], format)[2]
            assert calls in ([], [("tide", BOTH[0][1])])
            assert self.streamed(text[:end], format, size=9)[2] == calls
            if calls:  # only the end of the markup is missing
                assert parse(text[:end], format=format, tools=TOOLS).tool_calls
