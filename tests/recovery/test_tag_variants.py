"""Calls as tags with blanks, attributes and line breaks that the vendor's template does not write."""

from outspoken import parse
from outspoken.authoring.fuzz.checks import ParseArguments
from tests.invariants.replies import pieces
from tests.tables import tables

TABLES = tables(__file__)

#: the format, and how it writes a call with a value on lines of its own; `{open}` is inside the opening tag
WRITTEN = TABLES["WRITTEN"]
VALUES = ["moss", "two words", "a\nb", "\n\nfar", "end\n"]


def test_line_breaks_and_attributes_belong_to_the_tags() -> None:
    """With CRLF, the line break next to a tag is trimmed as with LF; attributes of a section leave no tag as text."""
    for format, written in WRITTEN:
        for value in VALUES:
            if format == "function_calls_json" and "\n" in value:
                continue
            for attributes in ("", " ", ' id="9"', " kind='x' n=3", "  "):
                for line_break in ("\n", "\r\n"):
                    text = written.format(open=attributes, value=value).replace("\n", line_break)
                    reply = parse(text, format=format)
                    assert ParseArguments(format).stream(text)[1] == reply, text
                    assert [c.arguments for c in reply.tool_calls] == [{"text": value.replace("\n", line_break)}], text
                    assert (reply.text, reply.diagnostics) == ("", []), text


#: Reasoning in tags as formats spell them, with what may stand before it.
TAGS = TABLES["TAGS"]


def test_reasoning_in_tags_that_one_format_spells_so_is_detected_as_it_is_read() -> None:
    """Wherever a tag may stand, the format that has it reads the same when it is detected, also two tags in a row.

    What the named format reads as text is text.
    """
    for format, tags in TAGS:
        for opener, closer in tags:
            for before in TABLES["BEFORE"]:
                for line_break in ("", "\n"):
                    text = f"{before}{opener}{line_break}r{closer}\nand more"
                    named, found = parse(text, format=format), parse(text)
                    assert found.reasoning == named.reasoning, text
                    assert found.text == named.text, text
                    for size in (1, 5):
                        assert ParseArguments().stream(pieces(text, size))[1] == found, text
