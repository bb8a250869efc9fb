"""`outspoken report`: what is counted, the examples, what is said of folders without a batch; and the page's text."""

import json
import re
from collections import Counter
from datetime import date, datetime, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from outspoken import parse
from outspoken.__main__ import main
from outspoken.batch import BatchError, BatchOptions, run, write_report
from outspoken.batch.arrow import pa, parquet
from outspoken.batch.report.buckets import MOST, FileBuckets, TimeBuckets, seconds_of
from outspoken.batch.report.page import make_tally
from outspoken.batch.report.source import Source
from outspoken.batch.report.tally import EXAMPLES, CallChecker, Problem, Tally
from outspoken.notations.tools import Tools
from outspoken.results.snippet import visible
from tests.batch.batch_files import HOSTILE, MIXED, OPTIONS, TOOLS, write_mixed
from tests.tables import tables

TABLES = tables(__file__)


@pytest.fixture(scope="module", params=["parquet", "jsonl"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of responses of all kinds, in two files, as Parquet and as JSON lines."""
    path = tmp_path_factory.mktemp(request.param)
    files = [write_mixed(path / "in" / f"{name}.jsonl", times=4, day=day) for name, day in (("a", 1), ("b", 15))]
    run(files, path / "out", OPTIONS, workers=1, output=request.param, unit_bytes=1500)
    return path / "out"


def tally_of(folder: Path, **options: Any) -> tuple[Source, Tally]:
    source = Source(folder, **options)
    return source, make_tally(source)


class Reader(HTMLParser):
    """The elements of a page, and the text of each kind of them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data


# counts


def test_counts_agree_with_the_summary(folder: Path) -> None:
    source, tally = tally_of(folder)
    total = source.summary.total
    assert tally.rows == total.rows == 8 * len(MIXED)
    assert {(f, s): n for f, own in total.statuses.items() for s, n in own.items()} == tally.statuses
    assert sum(tally.diagnostics.values()) == total.diagnostics
    assert sum(tally.repairs.values()) == total.repairs
    assert tally.quarantine == total.quarantine == {"not-json": 8, "not-text": 8}
    assert {status for _, status in tally.statuses} == {"ok", "repaired", "truncated", "invalid"}
    by_bucket: Counter[str] = Counter()
    for (_, status), count in tally.bucket_statuses.items():
        by_bucket[status] += count
    assert by_bucket == {status: tally.of_status(status) for status in ("ok", "repaired", "truncated", "invalid")}


def test_damage_by_file_and_over_time(folder: Path) -> None:
    _, tally = tally_of(folder)
    labels = tally.buckets.labels(tally.bucket_statuses)
    lines = 4 * (len(MIXED) + 2)
    assert next(iter(labels.values())) == f"a.jsonl:1-{-(-lines // 12)}"
    assert list(labels.values())[-1] == f"b.jsonl:{-(-11 * lines // 12) + 1}-{lines}"
    assert len(labels) == 24
    commas = {label: tally.bucket_kinds[key, "trailing-comma"] for key, label in labels.items()}
    assert sum(commas.values()) == tally.kinds["trailing-comma"] == 8
    _, tally = tally_of(folder, time_column="when")
    labels = tally.buckets.labels(tally.bucket_statuses)
    days = ["2026-11-01", "2026-11-02", "2026-11-15", "2026-11-16"]
    assert list(labels.values()) == [*[f"{day} 00:{minute}0" for day in days for minute in (0, 1)], "no time"]
    assert [tally.bucket_kinds[key, "trailing-comma"] for key in labels] == [2, 0, 2, 0, 2, 0, 2, 0, 0]


def test_invalid_arguments_by_tool(folder: Path) -> None:
    _, tally = tally_of(folder)
    assert {key: count // 8 for key, count in tally.problems.items()} == {
        ("find", "n", "wrong type"): 2,
        ("find", "city", "missing"): 3,
        ("find", "unit", "not an allowed value"): 1,
        ("find", "where", "unknown argument"): 1,
        (HOSTILE, "", "unknown tool"): 1,
    }
    assert {name: count // 8 for name, count in tally.bad_calls.items()} == {"find": 3, HOSTILE: 1}
    assert tally.calls["find"] > tally.bad_calls["find"]
    example = tally.bad_arguments.of(("find", "n", "wrong type"))[0]
    assert (example.detail, example.place.startswith(("a.jsonl:", "b.jsonl:"))) == ("should be integer", True)


def test_examples_are_few_and_the_same_each_time(folder: Path) -> None:
    first, again = tally_of(folder)[1], tally_of(folder)[1]
    for kind in first.kinds:
        found = first.examples.of(kind)
        assert 1 <= len(found) <= EXAMPLES
        assert found == again.examples.of(kind)
        assert all(one.frames[0].code == kind and kind in one.frames[0].text for one in found)
    worst = first.worst.first(10)
    assert worst == again.worst.first(10)
    assert worst[0].status == "invalid"
    shown = [frozenset(frame.code for frame in one.frames) for one in worst]
    assert len(set(shown)) == len(shown)
    order = {"invalid": 0, "truncated": 1, "repaired": 2}
    assert [order[one.status] for one in worst] == sorted(order[one.status] for one in worst)


def test_a_snippet_is_drawn_as_a_diagnostic_draws_itself(folder: Path) -> None:
    drawn = [one.frame() for one in parse(MIXED[2][1], format="hermes", tools=TOOLS, repair="heuristic").diagnostics]
    found = tally_of(folder)[1].examples.of("quote-style")
    assert found[0].frames[0].text in drawn


# time and files


def test_times() -> None:
    for expected, values in TABLES["TIMES"]:
        for value in values:
            assert seconds_of(value) == expected, value


def test_periods_grow_until_they_are_few() -> None:
    for step, words in ((1, "10 seconds"), (3_600, "12 weeks"), (40_000, "48 weeks")):
        buckets, counts = TimeBuckets("t"), Counter[tuple[Any, str]]()
        seconds = range(1_700_000_000, 1_700_000_000 + 250 * step * (1 if step == 1 else 40), step)
        for n in range(0, len(seconds), 1000):
            some = list(seconds[n : n + 1000])
            counts.update([(key, "ok") for key in buckets.of(0, [1] * len(some), some)])
            buckets.merge(counts)
        buckets.merge(counts, final=True)
        assert len(counts) < MOST
        assert counts.total() == len(seconds)
        if step != 3_600:
            assert buckets.period == words


def test_many_files_are_joined_but_for_the_worst() -> None:
    buckets = FileBuckets([f"logs/{n}.jsonl" for n in range(100)], [10] * 100)
    counts = Counter[tuple[Any, str]]()
    for n in range(100):
        counts.update([(key, "invalid" if n % 10 == 3 else "ok") for key in buckets.of(n, [1, 10], None)])
    buckets.merge(counts, final=True)
    labels = list(buckets.labels(counts).values())
    assert len(labels) == MOST
    assert labels[-1] == "other files"
    assert {f"{n}.jsonl" for n in range(3, 100, 10)} <= set(labels)
    assert counts.total() == 200


def test_times_of_arrow(tmp_path: Path) -> None:
    days = [datetime(2026, 1, 1, tzinfo=timezone.utc), None, datetime(2026, 3, 1, tzinfo=timezone.utc)]
    columns = {
        "text": pa.array(["a", "b", "c"]),
        "ns": pa.array([None if one is None else int(one.timestamp()) * 10**9 + 7 for one in days], pa.timestamp("ns")),
        "day": pa.array([None if one is None else one.date() for one in days], pa.date32()),
        "list": pa.array([[1], [2], [3]]),
    }
    parquet().write_table(pa.table(columns), tmp_path / "a.parquet")
    run(tmp_path / "a.parquet", tmp_path / "out", BatchOptions(format="hermes", keep=("ns", "day", "list")), workers=1)
    assert date(2026, 1, 1).isoformat() == "2026-01-01"
    for column, shown in TABLES["TIMES_OF_ARROW"]:
        tally = tally_of(tmp_path / "out", time_column=column)[1]
        assert list(tally.buckets.labels(tally.bucket_statuses).values()) == shown


# arguments


def test_arguments_are_compared_with_schemas() -> None:
    checker = CallChecker(Tools.of(TOOLS))
    assert checker.problems("find", '{"city": "a", "n": 3.0, "unit": "c"}') == []
    assert checker.problems("open", '{"any": 1}') == []
    assert checker.problems("find", '{"city": null, "unit": "k"}') == [
        Problem("city", "wrong type", "should be string"),
        Problem("unit", "not an allowed value", 'expected one of "c", "f"'),
    ]
    assert checker.problems("find", "[" * 100_000) == []
    assert CallChecker(None).problems("find", "{}") == []


def test_rows_with_tools_of_their_own_are_judged_by_the_parser(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "%s", "arguments": {"n": "x"}}\n</tool_call>'
    tagged = "<tool_call>\n<function=find>\n<parameter=n>\nx\n</parameter>\n</function>\n</tool_call>"
    texts = (("hermes", call % "fnd"), ("hermes", call % "find"), ("qwen3_coder", tagged))
    rows = [{"text": text, "tools": TOOLS, "format": format} for format, text in texts]
    (tmp_path / "a.jsonl").write_text("".join([json.dumps(row) + "\n" for row in rows]), "utf-8")
    run(tmp_path / "a.jsonl", tmp_path / "out", BatchOptions(tools_column="tools", format_column="format"), workers=1)
    tally = tally_of(tmp_path / "out")[1]
    assert tally.problems == {
        ("fnd", "", "unknown tool"): 1,
        ("find", "n", "wrong type"): 2,
        ("find", "city", "missing"): 2,
    }


# the page


def test_the_page_is_well_formed_and_holds_no_script(folder: Path, tmp_path: Path) -> None:
    path = write_report(folder, tmp_path / "page.html", time_column="when")
    page = path.read_text("utf-8")
    read = Reader(page)
    assert read.names.keys().isdisjoint({"script", "img", "link", "iframe", "a", "form", "base"})
    assert read.names["style"] == 1
    assert not {name for name in read.attributes if name.startswith("on") or name in ("style", "src", "href")}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page)
    assert visible(HOSTILE) in read.texts["code"]
    assert "Content-Security-Policy" in page
    assert read.texts["h2"] == TABLES["THE_PAGE_IS_WELL_FORMED_AND_HOLDS_NO_SCRIPT"]
    assert list(tmp_path.iterdir()) == [path]
    assert write_report(folder, tmp_path / "again.html", time_column="when").read_bytes() == path.read_bytes()


def test_the_page_stays_small(tmp_path: Path) -> None:
    wild = "\U000e0001\u202e<&\"'>" * 15
    lines: list[str] = []
    for n in range(200):
        name = f"{wild[: n % 100]}{n}"
        call = json.dumps({"name": name, "arguments": {f"{name}{i}": wild * 2 for i in range(3)}}, ensure_ascii=False)
        damaged = f"{call[:-2]}, '{wild}': [1,}}}}," if n % 60 == 3 else f"{call[:-2]},}}}}"
        text = f"<tool_call>\n{call}\n</tool_call><tool_call>\n{damaged}\n</tool_call>"
        lines.append(json.dumps({"text": text, "id": wild * 30}) if n % 4 else f"{wild * 40}{n}")
    (tmp_path / "a.jsonl").write_text("\n".join(lines), "utf-8")
    run(tmp_path / "a.jsonl", tmp_path / "out", BatchOptions(format="hermes", id_column="id", tools=TOOLS), workers=1)
    path = write_report(tmp_path / "out")
    assert path == tmp_path / "out" / "report.html"
    assert 50_000 < path.stat().st_size < 2_000_000
    Reader(path.read_text("utf-8"))


def test_an_empty_batch_and_one_without_damage(tmp_path: Path) -> None:
    for name, text in (("empty", ""), ("fine", '{"text": "Hello."}\n')):
        (tmp_path / f"{name}.jsonl").write_text(text)
        run(tmp_path / f"{name}.jsonl", tmp_path / name, BatchOptions(format="hermes"), workers=1)
        read = Reader(write_report(tmp_path / name).read_text("utf-8"))
        assert read.texts["h2"] == ["Damage by file", "Formats", "Kinds of damage"]
        assert "No row has a diagnostic." in read.texts["p"]


# the command, and what it refuses


def test_the_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page.html"
    assert main(["report", str(folder), "--out", str(out), "--time-column", "when"]) == 0
    assert capsys.readouterr() == (f"written: {out}\n", "")
    for wrong, words in (
        ([str(tmp_path)], "holds no batch; name the `--out` of `outspoken batch`"),
        ([str(tmp_path / "none")], "holds no batch"),
        (
            [str(folder), "--time-column", "wehn"],
            "`wehn` is no column that is kept; the batch keeps `when`; see `--keep`",
        ),
        ([str(folder), "--out", str(tmp_path / "none" / "page.html")], "cannot write `"),
        ([str(folder), "--out", str(tmp_path)], "cannot write `"),
    ):
        assert main(["report", *wrong]) == 2
        assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [out]


def test_a_batch_that_is_not_complete(tmp_path: Path) -> None:
    path, out = write_mixed(tmp_path / "a.jsonl", times=6), tmp_path / "out"
    run(path, out, OPTIONS, workers=1, unit_bytes=1500)
    whole = len(list((out / "parts").iterdir()))
    (out / "summary.json").unlink()
    units = (out / "units.jsonl").read_bytes().splitlines(keepends=True)
    (out / "units.jsonl").write_bytes(b"".join(units[: whole // 2]))
    for part in sorted((out / "parts").iterdir())[whole // 2 :]:
        part.unlink()
    with pytest.raises(
        BatchError, match=r"is not complete: \d+ lines are done, about [45]\d% of the input; run the same"
    ):
        write_report(out)
    read = Reader(write_report(out, partial=True).read_text("utf-8"))
    assert re.match(r"The batch is not complete: about [45]\d% of the input is done\.", read.texts["strong"][0])


def test_parts_that_are_lost_or_damaged_are_noticed(tmp_path: Path) -> None:
    path, out = write_mixed(tmp_path / "a.jsonl", times=6), tmp_path / "out"
    run(path, out, OPTIONS, workers=1, unit_bytes=1500)
    part = sorted((out / "parts").iterdir())[1]
    data = part.read_bytes()
    part.write_bytes(data[:100])
    with pytest.raises(BatchError, match=r"cannot read the part `.*part-00000-000001.parquet`: .*; remove it and run"):
        write_report(out)
    part.unlink()
    with pytest.raises(BatchError, match=r"rows and \d+ in quarantine; its summary says .*; run the same"):
        write_report(out)
    run(path, out, OPTIONS, workers=1, unit_bytes=1500)
    assert write_report(out).exists()
    run(path, out, OPTIONS, workers=1, restart=True)
    assert not (out / "report.html").exists()
