"""Trees of Lark: every sound response has one, and it means what the parser reads."""

from copy import deepcopy
from typing import Any

import pytest
from lark import Token, Transformer, Tree, Visitor

from outspoken import Reasoning, ResponseError, Text, UnknownFormatError, load_format, parse
from outspoken.grammar import registry
from outspoken.parsing import SegmentTransformer, parse_tree
from outspoken.trees.lark_parser import lark_grammar, tree_of
from tests.cases import CASES, Case
from tests.loops import DRAWN, IN_TURN
from tests.tables import tables

TABLES = tables(__file__)

CALL = 'Hi.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>\nBye.'


def tree_of_case(case: Case) -> Tree[Token]:
    return parse_tree(case.text, format=case.format, **case.options)


@pytest.mark.parametrize("name", IN_TURN)
def test_a_tree_means_what_the_parser_reads(name: str) -> None:
    for case in [case for case in DRAWN if (case.format, case.kind) == (name, "ok")]:
        tree = tree_of_case(case)
        assert SegmentTransformer().transform(tree) == case.parse().segments, case
        places = [(t.start_pos or 0, t.end_pos or 0) for t in tree.scan_values(lambda v: isinstance(v, Token))]
        assert places == sorted(places), case
        for token in tree.scan_values(lambda v: isinstance(v, Token)):
            if token.start_pos is not None and token.start_pos >= 0:
                assert case.text[token.start_pos : token.end_pos] == token, case


def test_damage_has_no_tree() -> None:
    cases = [case for case in CASES if case.kind == "err" and case.format in ("hermes", "glm_4_5", "ui_tars", "json")]
    assert len(cases) > 20
    for case in cases:
        reply = case.parse()
        if reply.status == "ok":
            continue
        with pytest.raises(ResponseError) as caught:
            tree_of_case(case)
        assert caught.value.diagnostic in reply.diagnostics, case
        assert caught.value.reply == reply, case


def test_the_rules_and_tokens_are_named_as_in_the_grammar() -> None:
    tree = parse_tree(CALL, format="hermes")
    assert tree.data == "start"
    call = next(tree.find_data("tool_call"))
    assert [c.type if isinstance(c, Token) else c.data for c in call.children] == [
        "_CALL_OPEN", "_BRACE_OPEN", "_NAME_KEY", "tool_name", "_COMMA", "_ARGUMENTS_KEY", "arguments", "_BRACE_CLOSE",
        "_CALL_CLOSE",
    ]  # fmt: skip
    assert next(tree.find_data("arguments")).pretty() == 'arguments\t{"city": "Paris"}\n'


def test_tokens_and_rules_have_places() -> None:
    tree = parse_tree(CALL, format="hermes")
    name = next(tree.find_data("tool_name"))
    token = name.children[0]
    assert isinstance(token, Token)
    assert (token.line, token.column, token.end_line, token.end_column) == (3, 10, 3, 23)
    assert CALL[token.start_pos : token.end_pos] == token == '"get_weather"'
    assert (name.meta.start_pos, name.meta.end_pos, name.meta.line) == (token.start_pos, token.end_pos, 3)


def test_the_end_of_the_prompt_has_negative_offsets() -> None:
    tree = parse_tree("Hm.</think>Hi.", format="deepseek_r1", prefix="<think>")
    opener = next(tree.find_data("think")).children[0]
    assert isinstance(opener, Token)
    assert (opener, opener.start_pos, opener.end_pos, opener.line, opener.column) == ("<think>", -7, 0, 1, 1)
    assert [s.kind for s in SegmentTransformer().transform(tree)] == ["reasoning", "text"]


@pytest.mark.parametrize("text", ["Hi.", "", "A ` and `<tool_call>` and ```", "1 < 2 {"])
def test_text_is_a_text_token(text: str) -> None:
    tree = parse_tree(text, format="hermes")
    assert "".join([str(token) for token in tree.scan_values(lambda v: isinstance(v, Token))]) == text
    assert SegmentTransformer().transform(tree) == parse(text, format="hermes").segments


@pytest.mark.parametrize(("text", "code", "place"), TABLES["REFUSED"])
def test_what_the_grammar_refuses_is_an_error_with_a_place(text: str, code: str, place: list[int]) -> None:
    with pytest.raises(ResponseError) as caught:
        parse_tree(text, format="hermes")
    found = caught.value.diagnostic
    assert (found.code, [found.line, found.column]) == (code, place)
    assert caught.value.reply == parse(text, format="hermes")


def test_wrong_arguments() -> None:
    with pytest.raises(UnknownFormatError, match="auto"):
        parse_tree("Hi.", format="auto")
    with pytest.raises(TypeError, match="`text`"):
        parse_tree(1, format="hermes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="parse_tree"):
        SegmentTransformer().transform(Tree("start", []))


# transformers and visitors


class Shouting(SegmentTransformer):
    """Reads text in capitals, and no reasoning."""

    def TEXT(self, token: Token) -> Any:  # noqa: N802  Lark calls it by the name of the terminal
        return self.__default_token__(token.update(value=token.upper()))

    def think(self, children: list[Any]) -> Any:
        return []


class Renaming(Transformer[Token, Any]):
    """Gives a call other arguments."""

    def JSON_VALUE(self, token: Token) -> Token:  # noqa: N802  as above
        return token.update(value='{"city": "Oslo", "unit": "celsius"}')


class Names(Visitor[Token]):
    """Collects the names of calls."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int]] = []

    def tool_name(self, tree: Tree[Token]) -> None:
        self.found.append((str(tree.children[0]), tree.meta.line))


def test_a_subclass_says_what_rules_and_terminals_mean() -> None:
    tree = parse_tree(f"<think>Hm.</think>{CALL}", format="hermes")
    plain, loud = SegmentTransformer().transform(tree), Shouting().transform(tree)
    assert [type(s) for s in plain][:2] == [Reasoning, Text]
    assert [s.text if isinstance(s, Text) else s for s in loud] == ["HI.", plain[2], "BYE."]


def test_other_transformers_and_visitors_work_on_trees() -> None:
    tree = parse_tree(CALL, format="hermes")
    names = Names()
    names.visit(deepcopy(tree))
    assert names.found == [('"get_weather"', 3)]
    call: Any = (Renaming() * SegmentTransformer()).transform(tree)[1]
    assert call.arguments == {"city": "Oslo", "unit": "celsius"}


def test_a_part_of_a_tree_can_be_transformed() -> None:
    whole = parse(CALL, format="hermes").segments
    found = [SegmentTransformer().transform(call) for call in parse_tree(CALL, format="hermes").find_data("tool_call")]
    assert found == [[whole[1]]]


def test_a_loaded_format_has_trees(tmp_path: Any) -> None:
    grammar = tmp_path / "arrow_calls.lark"
    grammar.write_text(
        "// format: arrow_calls\n// title: Arrows\n// models: none\n// source: a test\n// example:\n//   -> f {}\n\n"
        'start: (TEXT | tool_call)*\ntool_call: "-> " TOOL_NAME arguments\narguments: JSON_OBJECT\n\n'
        "%import .shared.text (TEXT, TOOL_NAME)\n%import .shared.json.JSON_OBJECT\n%import common.WS\n%ignore WS\n",
        "utf-8",
    )
    text = 'Hi. -> f {"a": 1}'
    tree = parse_tree(text, format=load_format(grammar))
    assert SegmentTransformer().transform(tree) == parse(text, format="arrow_calls").segments
    assert [t.data for t in tree.iter_subtrees()] == ["arguments", "tool_call", "start"]


def test_the_grammar_of_a_format_is_at_hand() -> None:
    lark = lark_grammar("kimi_k2")
    names = set(registry.tables("kimi_k2").terminals)
    assert names <= {str(terminal.name) for terminal in lark.terminals}
    assert lark_grammar("kimi_k2") is lark
    assert tree_of("kimi_k2", [Token("TEXT", "Hi.", 0, 1, 1, 1, 4, 3)]).pretty() == "start\tHi.\n"
