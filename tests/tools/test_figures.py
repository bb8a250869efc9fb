"""`python -m tools.figures`: figures of documents are as old as the code that they measure, and documents show them."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from outspoken.authoring.shared.checkout import TOP
from tools.figures import documents, main
from tools.figures.digests import digest_of
from tools.figures.documents import UnknownFigureError, content, updated
from tools.figures.records import FiguresError, Record, changed, digests, load, machine, save
from tools.figures.registry import FIGURES, SECTIONS, Figure


def test_no_figure_is_older_than_its_code_and_no_document_differs() -> None:
    found = main.problems()
    assert not found, "\n".join(found)


def test_every_figure_is_shown_and_every_section_stands_in_a_document() -> None:
    texts = [path.read_text("utf-8") for path in documents.documents()]
    places = {name: sum(f"<!-- figures: {name} -->" in text for text in texts) for name in SECTIONS}
    assert all(places.values()), places


CODE = '''\
"""A module."""


def double(number: int) -> int:
    """Twice a number."""
    return number * 2  # or a sum


class Pair:
    """Two."""

    first: int = 1
    """The first."""
    shown = f"{first:>{first}} and ''"
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("A module.", "Another comment.", True),
        ('    """Twice a number."""\n', "", True),
        ("  # or a sum", "", True),
        ("class Pair", "def main():\n    print(1)\n\n\nclass Pair", True),
        ("    return number * 2", "    return (\n        number * 2\n    )", True),
        ('    """The first."""\n', "", True),
        ("number * 2", "number * 3", False),
        ("double", "twice", False),
        ("first: int = 1", "first: int", False),
        ("and ''", "and", False),
    ],
)
def test_a_digest_is_of_statements(tmp_path: Path, old: str, new: str, same: bool) -> None:
    file = tmp_path / "room" / "module.py"
    file.parent.mkdir()
    file.write_text(CODE, "utf-8")
    before = digest_of(tmp_path, "room")
    assert digest_of(tmp_path, "room/module.py") == before
    assert old in CODE
    file.write_text(CODE.replace(old, new), "utf-8")
    assert (digest_of(tmp_path, "room") == before) is same


def test_a_digest_is_the_same_in_every_python(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(CODE, "utf-8")
    assert digest_of(tmp_path, "module.py") == "1f9314f02ee4171a"


def test_new_modules_and_other_grammars(tmp_path: Path) -> None:
    copytree(TOP / "grammars" / "shared", tmp_path / "grammars" / "shared")
    for name in ("one", "two"):
        (tmp_path / "grammars" / f"{name}.lark").write_text(f"start: {name}\n", "utf-8")
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "a.py").write_text("A = 1\n", "utf-8")
    figure = Figure("", "none", ("room", "grammars"))
    record = a_record(code=digests(figure, ["one"], tmp_path), formats=["one"])
    assert changed(figure, record, tmp_path) == []
    (tmp_path / "grammars" / "two.lark").write_text("start: three\n", "utf-8")
    assert changed(figure, record, tmp_path) == []
    (tmp_path / "grammars" / "one.lark").write_text("start: three\n", "utf-8")
    assert changed(figure, record, tmp_path) == ["grammars"]
    (tmp_path / "room" / "b.py").write_text("", "utf-8")
    assert changed(figure, record, tmp_path) == ["room", "grammars"]
    assert changed(figure, None, tmp_path) == ["room", "grammars"]
    with pytest.raises(FileNotFoundError, match="there is no Python below"):
        digest_of(tmp_path, "rooms")


def a_record(**more: object) -> Record:
    base: dict[str, object] = {
        "values": {"vLLM": {"texts": 1204, "share": 0.5}},
        "command": "python -m none",
        "date": "2026-11-23",
        "seconds": 130,
        "code": {},
    }
    return Record.model_validate(base | more)


def test_a_stale_figure_is_one_sentence() -> None:
    name = next(iter(FIGURES))
    told = main.advice({name: ["src/outspoken/json", "grammars"]}, {name: a_record()})
    assert told == (
        f"the code that figures measure has changed since they were measured: `{name}` (src/outspoken/json, grammars); "
        "run `python -m tools.figures --stale`, which took 2 minutes the last time, on a machine that does nothing "
        "else, and commit what it writes"
    )
    assert "took" not in main.advice({name: ["src/outspoken/json"]}, {})
    assert main.advice({}, {}) == ""


def test_values_in_documents() -> None:
    records = {"servers": a_record()}
    place = "It read <!-- figures: servers.vLLM.texts -->{}<!-- end --> texts.\n"
    assert updated(place.format("9"), records, "README.md") == place.format("1,204")
    assert content("servers.vLLM.share", records) == "0.5"
    for name, told in (
        ("serves.x", "README.md:2: there is no figure `serves.x`"),
        ("servers.SGLang", "README.md:2: `servers.SGLang`: there is no `SGLang`; expected vLLM"),
        ("servers.vLLM.texts.all", "expected nothing more"),
        ("comparison", "README.md:2: `comparison` needs 'damaged', which is not among the figures"),
        ("servers.vLLM", "`servers.vLLM` is no single value; add one of texts, share"),
    ):
        with pytest.raises(UnknownFigureError, match=told):
            updated(f"\n<!-- figures: {name} --><!-- end -->", records, "README.md")
    with pytest.raises(UnknownFigureError, match=r"README\.md:1: the figure `servers\.x` has no `<!-- end -->`"):
        updated("<!-- figures: servers.x --> 1, <!-- figures: servers.y -->2<!-- end -->", records, "README.md")


def test_records_are_kept(tmp_path: Path) -> None:
    records = load()
    save(records, tmp_path / "figures.json")
    assert load(tmp_path / "figures.json") == records
    assert (tmp_path / "figures.json").read_text("utf-8") == (TOP / "tools/figures/figures.json").read_text("utf-8")
    assert load(tmp_path / "none.json") == {}
    for text in ("{", "[]", '{"servers": {"values": 1}}'):
        (tmp_path / "broken.json").write_text(text, "utf-8")
        with pytest.raises(FiguresError, match=r"broken\.json cannot be read: .*; restore it, or delete it"):
            load(tmp_path / "broken.json")
    assert "cores of" in machine()
