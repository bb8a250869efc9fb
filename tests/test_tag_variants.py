"""Calls as tags with blanks, attributes and line breaks that the vendor's template does not write."""

from __future__ import annotations

from outspoken import parse, stream

#: the format, and how it writes a call with a value on lines of its own; `{open}` is inside the opening tag
WRITTEN = [
    (
        "anthropic_xml",
        '<function_calls{open}>\n<invoke name="save">\n<parameter name="text">\n{value}\n</parameter>\n</invoke>\n'
        "</function_calls>",
    ),
    (
        "qwen3_coder",
        "<tool_call>\n<function=save>\n<parameter=text>\n{value}\n</parameter>\n</function>\n</tool_call>",
    ),
    (
        "function_calls_json",
        '<function_calls{open}>\n[{{"name": "save", "arguments": {{"text": "{value}"}}}}]\n</function_calls>',
    ),
]
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
                    reply = parse(text, format)
                    events = stream(list(text), format)
                    for _ in events:
                        pass
                    assert events.reply == reply, text
                    assert [c.arguments for c in reply.tool_calls] == [{"text": value.replace("\n", line_break)}], text
                    assert (reply.text, reply.diagnostics) == ("", []), text
