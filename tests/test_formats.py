"""Each corpus text matches its snapshot; `ok` texts have no diagnostic, `err` texts have one."""

from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from outspoken import Reply, parse
from outspoken.authoring.shared.checkout import toml
from tests.cases import CASES, CORPUS, FORMATS, Case
from tests.loops import DRAWN, every_case, in_one_item
from tests.snapshots import readable, refusal

GRAMMARS = Path(__file__).parents[1] / "grammars"


@every_case
def test_case(case: Case, snapshot: SnapshotAssertion) -> None:
    reply = case.parse()
    assert refusal(case, reply) == ""
    assert readable(case, reply) == snapshot(name=f"{case.kind}-{case.name}")


def test_every_format_has_a_corpus() -> None:
    assert sorted(path.stem for path in GRAMMARS.glob("*.lark")) == FORMATS
    assert {(case.format, case.kind) for case in CASES} == {(name, kind) for name in FORMATS for kind in ("ok", "err")}
    assert len(CASES) >= 400


def test_the_corpus_has_no_other_files() -> None:
    texts = {path.with_suffix("") for path in CORPUS.glob("*/*/*.txt")}
    for path in CORPUS.rglob("*"):
        place = path.relative_to(CORPUS).parts
        if path.is_dir() or (len(place) == 2 and path.name == "sources.toml") or place[0] == "prose":
            continue
        assert len(place) == 3, path
        assert place[1] in ("ok", "err"), path
        assert path.suffix in (".txt", ".toml"), path
        assert path.with_suffix("") in texts, path


@in_one_item("format_", FORMATS)
def test_every_case_has_a_source(format_: str) -> None:
    sources = toml.loads((CORPUS / format_ / "sources.toml").read_text("utf-8"))
    assert sorted(sources) == sorted(case.name for case in CASES if case.format == format_)
    assert all(source["origin"] for source in sources.values())


def _outline(reply: Reply) -> list[tuple[str, object, object]]:
    """What was read but for text: the kind of each segment, its name and its status."""
    segments = [s for s in reply.segments if s.kind not in ("text", "reasoning")]
    return [(s.kind, getattr(s, "name", None), getattr(s, "status", None)) for s in segments]


def test_line_ends_of_windows() -> None:
    """With a carriage return before each line break, the same calls and actions are read."""
    for case in DRAWN:
        if case.kind == "ok" and not case.options and "\n" in case.text and "\r" not in case.text:
            reply = parse(case.text.replace("\n", "\r\n"), format=case.format)
            assert _outline(reply) == _outline(case.parse()), case
