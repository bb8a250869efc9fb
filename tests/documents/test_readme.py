"""What the READMEs say is true: their examples run, their tables are complete, their links lead somewhere."""

import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from shutil import copytree, ignore_patterns
from textwrap import dedent
from typing import Any

import pytest

from outspoken import formats
from outspoken.grammar import vocabulary
from outspoken.grammar.header import Header
from outspoken.patterns.analysis import UnsafePatternError, may_grow
from tests.documents.test_public_names import resolved
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

TOP = Path(__file__).resolve().parents[2]
README, GRAMMARS, SOURCE = TOP / "README.md", TOP / "grammars" / "README.md", TOP / "src" / "README.md"
VOCABULARY, NOTATION = TOP / "grammars" / "vocabulary" / "README.md", TOP / "grammars" / "notation" / "README.md"
ROOMS = TOP / "src" / "outspoken"
INTEGRATIONS = ROOMS / "integrations" / "README.md"
#: The documents that people write; the pages of formats are generated.
WRITTEN = (
    README, GRAMMARS, VOCABULARY, NOTATION, TOP / "tools" / "README.md", TOP / "tests" / "examples" / "README.md",
    TOP / ".github" / "CHANGELOG.md", TOP / ".github" / "CONTRIBUTING.md", *sorted((TOP / "src").rglob("README.md")),
)  # fmt: skip

_FENCE = re.compile(r"^( *)```(\w*)(?: \S+)?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
_TITLE = re.compile(r"^#+ (.*)$", re.MULTILINE)


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of a language."""
    found = _FENCE.findall(path.read_text("utf-8"))
    return [dedent(text) for _, kind, text in found if kind == language]


def label(path: Path) -> str:
    """The folder of a README, relative to the checkout; `top` for the one at its top. Others have their own names."""
    if path.name != "README.md":
        return path.stem
    return "top" if path == README else path.parent.relative_to(TOP).as_posix()


EXAMPLES = {
    f"{label(path)}-{number}": block
    for path in WRITTEN
    if path != INTEGRATIONS  # its frameworks are in other environments, where tests/integrations runs the examples
    for number, block in enumerate(blocks(path, "python"), 1)
}


@in_one_item("name", EXAMPLES)
def test_example_prints_its_documented_output(name: str) -> None:
    expected = re.findall(r"^\s*#> (.*)$", EXAMPLES[name], re.MULTILINE)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(EXAMPLES[name], name, "exec"), {"__name__": name})
    assert expected
    assert printed.getvalue().splitlines() == expected


def test_examples_are_there_and_short() -> None:
    assert len(EXAMPLES) >= 30
    assert all(len(blocks(path, "python")) >= 1 for path in (README, VOCABULARY, NOTATION, SOURCE))
    assert len(EXAMPLES["top-1"].splitlines()) <= 14
    payload = EXAMPLES["src/outspoken/payloads-1"]
    assert "PayloadType(" in payload
    assert len(re.findall(r"^(?!#>).*\S", payload, re.MULTILINE)) <= 15


def test_the_readme_is_short_and_counts_the_formats() -> None:
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 250
    assert f"in {len(formats())} formats" in text.replace("\n", " ")


@pytest.mark.parametrize("room", TABLES["GUIDES"])
def test_every_guide_has_a_table_of_contents(room: str) -> None:
    text = _FENCE.sub("", (ROOMS / room / "README.md").read_text("utf-8"))
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    contents = re.findall(r"^- \[.*\]\(#(.+)\)", text, re.MULTILINE)
    assert contents == [anchor(title) for title in sections]


def test_programs_of_others_are_shorter_with_outspoken() -> None:
    guide = (ROOMS / "processing" / "README.md").read_text("utf-8").partition("## The same programs, shorter")[2]
    shown = [(kind, len(text.strip().splitlines())) for _, kind, text in _FENCE.findall(guide)]
    before = [count for kind, count in shown if kind in ("py", "baml")][:6]
    _, *after = re.split(r"^# .*$", EXAMPLES["src/outspoken/processing-2"], flags=re.MULTILINE)
    instructor, agent, described, parsed = [len(re.findall(r"^(?!#>).+", part, re.MULTILINE)) for part in after]
    theirs = [before[0], before[1], before[2] + before[3], before[4], before[5]]
    ours = [instructor, described, described, parsed, agent]
    assert all(more > less for more, less in zip(theirs, ours, strict=True)), (theirs, ours)


def test_the_grammar_of_the_walk_through_is_detected_read_and_written(tmp_path: Path) -> None:
    grammar = blocks(GRAMMARS, "lark")[0]
    folder = tmp_path / "grammars"
    copytree(TOP / "grammars", folder, ignore=ignore_patterns("README.md"))
    (folder / "double_angle.lark").write_text(grammar, "utf-8")
    command = [sys.executable, "-c", TABLES["READ_IT"], str(folder), "double_angle"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("Let me look that up. get_weather {'city': 'Paris'}\n", "")


@pytest.mark.parametrize("pattern", ["a$", r"<a>(b\.)?", "<a|<ab", "<a|<abc", r">[ ]{1,9}\n|>\n?", "<a>(?!json)"])
def test_patterns_that_cannot_stream_are_rejected(pattern: str) -> None:
    with pytest.raises(UnsafePatternError):
        may_grow(pattern)


def test_every_name_of_the_vocabulary_is_explained() -> None:
    text = VOCABULARY.read_text("utf-8")
    names = vocabulary.FREE_TEXT | vocabulary.EMBEDDED_VALUES | vocabulary.TOKENS | vocabulary.NODES | vocabulary.FIELDS
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_every_field_of_the_header_is_explained() -> None:
    text = VOCABULARY.read_text("utf-8")
    assert [name for name in Header._fields if f"| `{name}` |" not in text] == []


def test_the_rooms_are_in_the_order_of_their_imports() -> None:
    rooms = re.findall(r"^\| `(\w+)/` \|", SOURCE.read_text("utf-8"), re.MULTILINE)
    contract = re.search(r"^layers = \[(.*?)^\]", (TOP / "pyproject.toml").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert contract is not None
    assert ["__main__", *reversed(rooms)] == re.findall(r'"(\w+)"', contract[1])
    assert sorted(rooms) == sorted([path.parent.name for path in ROOMS.glob("*/__init__.py")])


def test_what_the_rooms_page_starts_with_exists() -> None:
    """Other names of the page are those that `test_names.py` finds."""
    cells = re.findall(r"^\| `(\w+)/` \|.*\| ([^|]*) \|$", SOURCE.read_text("utf-8"), re.MULTILINE)
    starts = [f"outspoken.{room}.{name}" for room, cell in cells for name in re.findall(r"`([\w.]+)`", cell)]
    assert len(starts) > 25
    assert all(map(resolved, starts))


def anchor(title: str) -> str:
    """The anchor of a title on a rendered page."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def leads_nowhere(path: Path, link: str, fragment: str) -> bool:
    target = path.parent / link if link else path
    if not target.exists():
        return True
    titles = _TITLE.findall(_FENCE.sub("", target.read_text("utf-8"))) if fragment else []
    return bool(fragment) and fragment not in {anchor(title) for title in titles}


@pytest.mark.parametrize("path", WRITTEN, ids=label)
def test_links_lead_somewhere(path: Path) -> None:
    links = _LINK.findall(_FENCE.sub("", path.read_text("utf-8")))
    assert [link for link in links if leads_nowhere(path, *link)] == []


def test_the_demo_runs() -> None:
    ran: Any = subprocess.run([sys.executable, str(TOP / "tools" / "demo.py")], capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.decode().count("\n── ") == 6  # behind the first section
    assert "ruled out" in ran.stdout.decode()
