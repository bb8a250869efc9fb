"""What authors of grammars are told: each kind of mistake, made many times in formats that are made up."""

import json
import re
from itertools import product
from pathlib import Path

import pytest

from outspoken.authoring.check import check
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.show import show_response
from tests.authoring.checkouts import GRAMMAR, LARK, arrows_in, checkout_in, compile_arrows, write
from tests.tables import tables
from tools import docs

TABLES = tables(__file__)

RULE = "tool_call: _CALL_OPEN TOOL_NAME argument* _CALL_CLOSE"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with the sound format `arrows`."""
    return arrows_in(tmp_path)


def house(folder: Path) -> Checkout:
    """A checkout in a folder with some formats of the house."""
    return checkout_in(folder, "text", "hermes", "qwen3_coder")


def codes(checkout: Checkout) -> list[str]:
    """The codes of what `check` says of `arrows`, but for what is not made again."""
    return [d.code for d in check(checkout, "arrows") if not d.code.startswith("stale")]


def with_grammar(checkout: Checkout, text: str) -> list[str]:
    """The codes of what `check` says if this is the grammar."""
    write(checkout, LARK, text)
    return codes(checkout)


def test_markers_of_one_pattern_in_one_place_are_reported(checkout: Checkout) -> None:
    """Of two markers that read the same where both may stand, one is never read: any marker, any spelling of it."""
    found = re.findall(r"^(_[A-Z_]+): (.+)$", GRAMMAR, re.MULTILINE)
    assert len(found) == 4
    for name, pattern in found:
        spelled = pattern.split(" | ")[0]
        others = [pattern] if "(?=" in pattern else [pattern, f'"!" | {spelled}']
        for other in others:
            rules = GRAMMAR.replace(f" {name}", f" ({name} | _OTHER _COLON)", 1)
            text = rules.replace(f"{name}: ", f"_OTHER: {other}\n{name}: ", 1)
            assert {"same-text", "same-pattern"} & {*with_grammar(checkout, text)}, text
            apart = text.replace(f"_OTHER: {other}", '_OTHER: "@@"')
            assert not {"same-text", "same-pattern"} & {*with_grammar(checkout, apart)}, apart


def test_calls_that_only_text_ends_are_reported(checkout: Checkout) -> None:
    """A call that could still go on ends only with the text behind it, too late in a stream."""
    parts = ("argument*", "argument?", "(_COLON ARG_VALUE)?")
    for part, end in product(parts, ("", " _CALL_CLOSE?", " (_CALL_CLOSE | _COLON)?", " _CALL_CLOSE")):
        rule = f"tool_call: _CALL_OPEN TOOL_NAME {part}{end}"
        text = GRAMMAR.replace(RULE, rule)
        found = with_grammar(checkout, text)
        assert ("ends-late" in found) == (end != " _CALL_CLOSE"), (rule, found)


def test_what_check_advises_for_a_name_removes_the_finding(checkout: Checkout) -> None:
    """A name that it proposes for a misspelt one is right: of fields, and of names that nothing defines."""
    tried = 0
    for name in ("title", "models", "aliases", "source", "trim", "TEXT", "_CALL_CLOSE", "ARG_NAME", "argument"):
        for wrong in (name[:-1], name[:2] + name[1:], name[0] + name[2] + name[1] + name[3:]):
            is_field = name.islower() and name != "argument"
            before, after = (f"// {name}:", f"// {wrong}:") if is_field else (f" {name}", f" {wrong}")
            write(checkout, LARK, GRAMMAR.replace(before, after, 1))
            advice = [h for d in check(checkout, "arrows") for h in d.helps if h.startswith("did you mean")]
            assert set(advice) <= {f"did you mean `{name}`?"}, (wrong, advice)
            tried += bool(advice)
    assert tried >= 20


def test_what_stands_there_is_not_called_expected(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a text is refused, no marker is expected that stands there, unless it is said what its pattern lacks."""
    closer = GRAMMAR.replace('_CALL_CLOSE: "\\n<="', r'_CALL_CLOSE: "\n<=" | /\n<=(?=\n)/')
    write(checkout, LARK, closer.replace('"\\n<=" |', ""))
    compile_arrows(checkout)
    for text in TABLES["WHAT_STANDS_THERE_IS_NOT_CALLED_EXPECTED"]:
        path = checkout.root / "response.txt"
        path.write_text(text, "utf-8")
        show_response(checkout, "arrows", str(path))
        out = capsys.readouterr().out
        for place, expected in re.findall(r"\(offset (\d+)\)[\s\S]*?= note: expected[^:]*: (.*)", out):
            for marker in re.findall(r'"((?:[^"\\]|\\.)+)"', expected):
                stands = text[int(place) :].startswith(json.loads(f'"{marker}"'))
                assert not stands or f'"{marker}" stands here, without what its pattern asks for' in out, (text, out)


# a new format beside the others


def test_a_new_format_changes_no_other_page(tmp_path: Path) -> None:
    """The pages of the formats that are there stay as they are, whatever the new one shares with them."""
    made = house(tmp_path)
    (made.grammars / "README.md").write_text(f"{docs.BEGIN}\n{docs.END}\n", "utf-8")
    pages = made.grammars / "pages"
    docs.main([], made)
    before = {path.relative_to(pages): path.read_bytes() for path in pages.glob("*/*")}
    assert len(before) == 6
    for opener in ("<tool", "<tool_call>s"):
        own = GRAMMAR.replace('"\\n=>" | /=>(?=\\w{1,64}\\n)/', json.dumps(opener)).replace("=>get", f"{opener}get")
        write(made, LARK, own)
        docs.main([], made)
        assert {path: (pages / path).read_bytes() for path in before} == before, opener
