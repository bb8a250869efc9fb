"""What `python -m tools.docs` writes: the table of formats, and a page with a diagram for each."""

from pathlib import Path
from shutil import copy, copytree

import pytest

from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar.registry import compiled_path
from tests.tables import tables
from tools import docs
from tools.docs import markdown

TABLES = tables(__file__)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with three formats, of which one is made up, and no pages."""
    made = Checkout(tmp_path)
    copytree(Checkout().grammars / "shared", made.grammars / "shared")
    (made.grammars / "compiled").mkdir()
    for name in ("hermes", "text"):
        copy(Checkout().grammar(name), made.grammars)
        copy(compiled_path(Checkout().grammar(name)), made.grammars / "compiled")
    made.grammar("tiny").write_text(TABLES["GRAMMAR"], "utf-8")
    (made.grammars / "README.md").write_text(f"Before.\n{docs.BEGIN}\nOld.\n{docs.END}\nAfter.\n", "utf-8")
    return made


def test_the_table_and_the_picture_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    code = docs.main(["--check"])
    assert (code, *capsys.readouterr()) == (0, "", "")


def test_page_documents_the_whole_grammar(checkout: Checkout) -> None:
    assert docs.main([], checkout) == 0
    assert (checkout.grammars / "pages" / "tiny" / "README.md").read_text("utf-8") == TABLES["PAGE"]


def test_outdated_files_are_listed_and_written(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    expected = [
        "grammars/README.md",
        "tools/docs/stream.svg",
        "grammars/pages/README.md",
        *[
            f"grammars/pages/{name}/{file}"
            for name in ("hermes", "text", "tiny")
            for file in ("README.md", "diagram.svg")
        ],
    ]
    assert docs.main(["--check"], checkout) == 1
    assert not (checkout.grammars / "pages").exists()
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [f"out of date: {path}" for path in expected[:2]]
    assert printed.err == "run `python -m tools.docs`\n"
    assert docs.main([], checkout) == 0
    assert capsys.readouterr().out.splitlines() == [f"written: {path}" for path in expected]
    assert docs.main(["--check"], checkout) == 0
    assert docs.main([], checkout) == 0
    assert tuple(capsys.readouterr()) == ("", "")


def test_the_table_stands_between_its_comments(checkout: Checkout) -> None:
    docs.main([], checkout)
    text = (checkout.grammars / "README.md").read_text("utf-8")
    row = "| [`tiny`](tiny.lark) | A \\| B &lt;tiny> \\*format\\* | Tiny-1, Tiny-2 | `tiny_1` | `tiny-1`, `tiny-2*` |"
    assert text.startswith(
        f"Before.\n{docs.BEGIN}\n\n| format | notation | models | aliases | ids of models |\n|---|---|---|---|---|\n"
    )
    assert text.endswith(f"{row}\n\n{docs.END}\nAfter.\n")


def test_pages_of_removed_formats_are_deleted(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    docs.main([], checkout)
    checkout.grammar("tiny").unlink()
    own = checkout.grammars / "pages" / "hermes" / "mine.txt"
    own.write_text("Not generated.", "utf-8")
    capsys.readouterr()
    assert docs.main([], checkout) == 0
    assert capsys.readouterr().out.splitlines() == TABLES["PAGES_OF_REMOVED_FORMATS_ARE_DELETED"]
    left = sorted(path.name for path in (checkout.grammars / "pages").iterdir())
    assert (left, own.exists()) == (["README.md", "hermes", "text"], True)


def test_errors_are_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    readme = checkout.grammars / "README.md"
    readme.write_text("No table here.", "utf-8")
    assert docs.main([], checkout) == 2
    needed = f"grammars/README.md has no place for the table: it needs the lines {docs.BEGIN} and {docs.END}"
    assert tuple(capsys.readouterr()) == ("", f"error: {needed}\n")
    readme.unlink()
    assert docs.main(["--check"], checkout) == 2
    assert capsys.readouterr().err == f"error: [Errno 2] No such file or directory: '{readme}'\n"
    assert not (checkout.grammars / "pages").exists()


def test_unusable_grammar_is_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkout.grammar("tiny")
    path.write_text(TABLES["GRAMMAR"].replace("// format:", "// form:"), "utf-8")
    assert docs.main([], checkout) == 2
    assert capsys.readouterr().err.startswith(f"error: {path}:1: the header has no field `form`\n")


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        docs.main(["--what"])
    assert "unrecognized arguments: --what" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "expected"), TABLES["CODE_SPANS"])
def test_code_spans(text: str, expected: str) -> None:
    assert markdown.code(text) == expected


def test_fences_are_longer_than_those_in_the_text() -> None:
    assert markdown.fence("a") == "```text\na\n```"
    assert markdown.fence("````\na\n````") == "`````text\n````\na\n````\n`````"
