"""Calls that end at an inner closing marker, calls with closing brackets too many, and tags in other spellings."""

from typing import Any

from lark import Token

from outspoken import Reply, ToolCall, parse
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.grammar import registry
from outspoken.parsing import parse_tree
from tests.cases import CASES, Case
from tests.invariants.replies import pieces
from tests.loops import in_one_item, some
from tests.tables import tables

#: The formats that are read in this run.
NAMES = some(registry.names(), "closers", 0.4)


def has(name: str, *shorts: str) -> bool:
    return any(terminal.short in shorts for terminal in registry.automaton(name).tables.terminals.values())


def shortest(name: str) -> Case | None:
    """The shortest sound response of a format that calls a tool."""
    found = [case for case in CASES if case.format == name and case.kind == "ok" and len(case.text) < 1500]
    return next((c for c in sorted(found, key=lambda c: len(c.text)) if set(c.options) <= {"tools"} and calls(c)), None)


def calls(case: Case) -> list[ToolCall]:
    return [*case.parse().tool_calls]


def of_formats(*shorts: str) -> list[Case]:
    names = [name for name in NAMES if not registry.header(name).actions and has(name, *shorts)]
    return [case for name in names if (case := shortest(name)) is not None]


#: Values without quotes, which only markers end; and some formats with JSON in sections.
BARE = of_formats("ARG_VALUE")
JSON = of_formats("JSON_VALUE", "JSON_OBJECT")
SECTIONS = [case for case in JSON if case.format in ("hermes", "cohere", "mistral", "kimi_k2")]


def inner_ends(case: Case) -> list[int]:
    """Where calls, and arguments in them, end in a sound response."""
    found: set[int] = set()
    for rule in parse_tree(case.text, format=case.format).iter_subtrees():
        if str(rule.data).rpartition("__")[2] in ("argument", "arguments", "tool_call"):
            found.add(max(token.end_pos or 0 for token in rule.scan_values(lambda value: isinstance(value, Token))))
    return sorted(found)


def asked(reply: Reply) -> list[Any]:
    return [(s.name, s.arguments, s.status) for s in reply.segments if isinstance(s, ToolCall)]


def read(case: Case, text: str) -> Reply:
    return parse(text, format=case.format, **case.options, finish_reason="stop")


def streamed(case: Case, text: str, size: int) -> Reply:
    return ParseArguments(case.format, case.options, "stop").stream(pieces(text, size))[1]


@in_one_item("case", [*BARE, *SECTIONS])
def test_white_space_behind_an_inner_closing_marker_changes_nothing(case: Case) -> None:
    """The text ends before the outer closing markers, and the finish reason says that the model ended its answer.

    The call is repaired alike with and without white space there, whole and in pieces.
    """
    for i, end in enumerate(inner_ends(case)):
        text = case.text[:end].rstrip()
        reply = read(case, text)
        assert "invalid" not in [call[-1] for call in asked(reply)], text
        white = ("\n", "\r\n", " \n\n ")[i % 3]
        assert asked(read(case, text + white)) == asked(reply), text + white
        assert asked(streamed(case, text + white, (1, 7)[i % 2])) == asked(reply), text + white


@in_one_item("end", ["</param", "</parameter>\n</inv"])
def test_a_closing_marker_that_is_cut_disproves_the_end(end: str) -> None:
    """The finish reason says that the model ended its answer, but the text ends inside a marker: the call is cut."""
    case = Case("anthropic_xml", "err", end, f'<function_calls>\n<invoke name="f">\n<parameter name="city">Paris{end}')
    for reply in (read(case, case.text), streamed(case, case.text, 1), streamed(case, case.text, 50)):
        assert asked(reply) == [("f", {"city": "Paris"}, "truncated")]


SURPLUS = ("}", "]", "}}}", "}]", "\n}")


@in_one_item("case", JSON)
def test_surplus_brackets_behind_the_json_of_a_call(case: Case) -> None:
    """Closing brackets too many: all calls are read as meant, or something is reported, or the brackets stay text.

    No call has other arguments than meant, and pieces give the same reply.
    """
    meant = calls(case)
    last = meant[-1]
    end = last.span[0] + max(case.text[slice(*last.span)].rfind(bracket) for bracket in "}]") + 1
    first = JSON.index(case)  # other brackets for each format, since each one costs a search
    for i, surplus in enumerate([SURPLUS[(first + n) % len(SURPLUS)] for n in (0, 1)]):
        text = case.text[:end] + surplus + case.text[end:]
        reply = read(case, text)
        usable = [(call.name, call.arguments) for call in reply.tool_calls]
        wanted = [(call.name, call.arguments) for call in meant]
        assert [call for call in usable if call not in wanted] == [], text
        assert reply.diagnostics or (usable == wanted and surplus.strip() in reply.text), text
        assert streamed(case, text, (1, 9)[i % 2]) == reply, text


def test_white_space_at_the_end_changes_no_call_or_action() -> None:
    """Behind a complete response, blanks and line breaks change nothing but spans and raw text, however it ended."""

    def read(case: Case, tail: str, reason: str | None) -> tuple[Any, ...]:
        reply = parse(case.text + tail, format=case.format, tools=case.options.get("tools"), finish_reason=reason)
        found = [s.model_dump(exclude={"span", "raw", "answer_raw"}) for s in reply.segments if s.kind != "text"]
        return reply.status, found, [d.code for d in reply.diagnostics]

    count = 0
    for case in some(CASES, "white space at the end", 0.2):
        is_short = case.kind == "ok" and len(case.text) < 1000 and set(case.options) <= {"tools"}
        if not is_short or case.text != case.text.rstrip():
            continue
        wanted = read(case, "", None)
        if wanted[0] != "ok" or not wanted[1] or wanted[1][-1]["kind"] in ("reasoning", "json"):
            continue
        tails = ((" ", None), (" " * 130, "stop")) if count % 4 else (("\n", "stop"), ("\r\n", None))
        for tail, reason in tails:
            assert read(case, tail, reason) == wanted, (case.format, case.name, tail, reason)
            count += 1
    assert count > 300


# calls as tags with blanks, attributes and line breaks that the vendor's template does not write


TABLES = tables(__file__)

VALUES = ["moss", "two words", "a\nb", "\n\nfar", "end\n"]


def test_line_breaks_and_attributes_belong_to_the_tags() -> None:
    """With CRLF, the line break next to a tag is trimmed as with LF; attributes of a section leave no tag as text."""
    for format, written in TABLES["WRITTEN"]:
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


def test_reasoning_in_tags_that_one_format_spells_so_is_detected_as_it_is_read() -> None:
    """Wherever a tag may stand, the format that has it reads the same when it is detected, also two tags in a row.

    What the named format reads as text is text.
    """
    for format, tags in TABLES["TAGS"]:
        for opener, closer in tags:
            for before in TABLES["BEFORE"]:
                for line_break in ("", "\n"):
                    text = f"{before}{opener}{line_break}r{closer}\nand more"
                    named, found = parse(text, format=format), parse(text)
                    assert found.reasoning == named.reasoning, text
                    assert found.text == named.text, text
                    for size in (1, 5):
                        assert ParseArguments().stream(pieces(text, size))[1] == found, text
