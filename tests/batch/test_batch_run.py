"""`outspoken.batch.run` and the command: with every core, nothing lost, and on from where it was stopped."""

import base64
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from outspoken.__main__ import main
from outspoken.batch import BatchError, BatchOptions, Progress, StoppedError, read_summary, run
from outspoken.batch import outputs as outputs_module
from outspoken.batch import pool as pool_module
from outspoken.batch.arrow import pa, parquet
from outspoken.batch.summary import progress_text
from outspoken.results.packages import install_command
from tests.batch.batch_files import CALL, quarantine, results, write_lines, zstd
from tests.loops import some
from tests.tables import tables

TABLES = tables(__file__)

HERMES = BatchOptions(format="hermes", id_column="id")


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers whose parser does what a text says; see `tests.batch.batch_faults`."""
    program = (
        "import sys; sys.path[:] = {path!r}; import tests.batch.batch_faults; "
        "from outspoken.batch.worker import main; main()"
    )
    monkeypatch.setattr(pool_module, "_PROGRAM", program)


def test_files_of_all_kinds_give_the_same_rows(tmp_path: Path) -> None:
    plain = write_lines(tmp_path / "in" / "a.jsonl", 300)
    (tmp_path / "in" / "b.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    (tmp_path / "in" / "c.ndjson.zst").write_bytes(zstd(plain.read_bytes()))
    table = pa.Table.from_pylist([json.loads(line) for line in plain.read_text("utf-8").splitlines()])
    parquet().write_table(table, tmp_path / "in" / "d.parquet", row_group_size=110)
    steps: list[Progress] = []
    summary = run(tmp_path / "in", tmp_path / "out", HERMES, workers=2, unit_bytes=9_000, progress=steps.append)
    rows = results(tmp_path / "out")
    assert [row["file"] for row in rows[::300]] == [str(path) for path in sorted((tmp_path / "in").iterdir())]
    by_file: list[list[dict[str, Any]]] = [
        [{**row, "file": ""} for row in rows[n : n + 300]] for n in range(0, 1200, 300)
    ]
    assert by_file[0] == by_file[1] == by_file[2] == by_file[3]
    assert [(row["line"], row["id"], row["tool_calls"][0]["arguments"]) for row in by_file[0]] == [
        (n + 1, f"r{n}", json.dumps({"city": "Paris", "n": n})) for n in range(300)
    ]
    assert (summary.total.rows, summary.total.lines, summary.total.quarantined) == (1200, 1200, 0)
    assert summary.units > 10
    assert summary.total.statuses == {"hermes": {"ok": 1200}}
    assert (steps[-1].rows, steps[-1].bytes, len(steps)) == (1200, steps[-1].total_bytes, summary.units)
    assert read_summary(tmp_path / "out") == summary
    assert quarantine(tmp_path / "out") == []
    again = run(tmp_path / "in", tmp_path / "out", HERMES, workers=2)
    assert (again.new.rows, again.total) == (0, summary.total)
    assert read_summary(tmp_path / "out") == summary


@pytest.mark.usefixtures("workers_here")
def test_rows_as_json_lines(tmp_path: Path) -> None:
    body = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"body": body, "n": 2**70, "deep": {"a": [1]}}) + "\n", "utf-8")
    options = BatchOptions(provider="openai", text_column="body", keep=("n", "deep"))
    run(path, tmp_path / "out", options, workers=1, output="jsonl")
    (row,) = results(tmp_path / "out")
    assert (row["text"], row["n"], row["deep"], row["response"]["finish_reason"]) == (
        "hi",
        str(2**70),
        '{"a": [1]}',
        "stop",
    )
    assert "error" not in row


#: Ten kinds of bad rows, by their codes.
BAD: list[tuple[str, bytes]] = [
    ("not-json", b'{"text": "a"'), ("not-json", b"[" * 100_000), ("not-json", b'{"text": ' + b"1" * 5000 + b"}"),
    ("not-utf8", b'{"text": "caf\xe9"}'), ("not-an-object", b"[1, 2]"), ("no-text", b'{"response": "a"}'),
    ("no-text", b'{"text": null}'), ("not-text", b'{"text": ["a"]}'),
    ("too-long", b'{"text": "' + b"x" * 3000 + b'"}'), ("repeated-column", b'{"text": "a", "text": "b"}'),
    ("invalid-column", b'{"text": "a", "score": "high"}'), ("unknown-format", b'{"text": "a", "format": "hermse"}'),
    ("invalid-column", b'{"text": "a", "format": 3}'), ("not-json", b"\x00"),
]  # fmt: skip


@pytest.mark.usefixtures("workers_here")
def test_no_bad_row_is_lost_or_costs_another(tmp_path: Path) -> None:
    lines: list[bytes] = [b"\xef\xbb\xbf" + json.dumps({"text": CALL % 0}).encode()]
    for n, (_, bad) in enumerate(BAD):
        lines += [json.dumps({"text": CALL % n, "score": n}).encode() + b"\r", bad, b"", b"  "]
    lines.append(b'{"text": "the last one, without a line break, \\ud800 and \\u0000"}')
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    options = BatchOptions(format="hermes", format_column="format", max_chars=2000, keep=("score:float64",))
    summary = run(tmp_path / "a.jsonl", tmp_path / "out", options, workers=1, unit_bytes=2000)
    good, bad = results(tmp_path / "out"), quarantine(tmp_path / "out")
    blank = len(BAD) * 2
    assert len(good) + len(bad) + blank == len(lines)
    assert [row["code"] for row in bad] == [code for code, _ in BAD]
    assert [row["message"] for row in bad][:4] == TABLES["NO_BAD_ROW_IS_LOST_OR_COSTS_ANOTHER"]
    raws = [base64.b64decode(row["raw_base64"]) if "raw_base64" in row else row["raw"].encode() for row in bad]
    assert raws == [raw for _, raw in BAD]
    where = [row["line"] for row in good] + [row["line"] for row in bad]
    assert sorted(where) == [n for n, line in enumerate(lines, 1) if line.strip()]
    assert good[-1]["text"] == "the last one, without a line break, \ufffd and \0"
    assert [row["score"] for row in good[1:-1]] == [float(n) for n in range(len(BAD))]
    total = summary.total
    assert total.quarantine == Counter([code for code, _ in BAD])
    assert (total.lines, total.rows, total.quarantined, total.blank) == (len(lines), len(good), len(bad), blank)


@pytest.mark.usefixtures("faults")
def test_rows_that_take_down_a_worker_are_found(tmp_path: Path) -> None:
    texts = [CALL % n for n in range(40)]
    texts[5], texts[6], texts[20], texts[30] = "!segfault", "!exit", "!hang", "!raise"
    texts[33], texts[35] = f"!once {tmp_path / 'once'}", "!print"
    (tmp_path / "a.jsonl").write_text("".join([json.dumps({"text": text}) + "\n" for text in texts]), "utf-8")
    options = BatchOptions(format="hermes", row_timeout=0.5)
    summary = run(tmp_path / "a.jsonl", tmp_path / "out", options, workers=2, unit_bytes=2000)
    bad = {row["line"]: (row["code"], row["message"], row["raw"]) for row in quarantine(tmp_path / "out")}
    assert bad == {
        6: ("worker-died", "the worker that read this row was killed by SIGSEGV, twice", '{"text": "!segfault"}'),
        7: ("worker-died", "the worker that read this row ended with code 7, twice", '{"text": "!exit"}'),
        21: ("timeout", "the row took longer than 0.5 s, twice", '{"text": "!hang"}'),
        31: ("failed", "RuntimeError: a mistake", '{"text": "!raise"}'),
    }
    assert [row["line"] for row in results(tmp_path / "out")] == [n for n in range(1, 41) if n not in bad]
    assert (summary.total.rows, summary.total.quarantined) == (36, 4)


def test_a_worker_that_cannot_start_stops_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_PROGRAM", "import sys; sys.exit('no library here')")
    with pytest.raises(StoppedError, match="a worker cannot start; it ended with code 1: no library here"):
        run(write_lines(tmp_path / "a.jsonl", 3), tmp_path / "out", HERMES, workers=1)


@pytest.mark.usefixtures("faults")
def test_a_full_disk_stops_the_batch_which_then_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(tmp_path / "a.jsonl", 400)
    lines = path.read_text("utf-8").splitlines(keepends=True)
    lines[200] = '{"text": "!small-files"}\n'
    path.write_text("".join(lines), "utf-8")
    with pytest.raises(StoppedError, match=r"cannot write to `.*out`: .*[Ff]ile too large"):
        run(path, tmp_path / "out", HERMES, workers=1, unit_bytes=8000)
    before = {part.name: part.stat().st_mtime_ns for part in (tmp_path / "out" / "parts").glob("*.parquet")}
    assert before
    monkeypatch.undo()
    summary = run(path, tmp_path / "out", HERMES, workers=1, unit_bytes=8000)
    after = {part.name: part.stat().st_mtime_ns for part in (tmp_path / "out" / "parts").iterdir()}
    assert before.items() <= after.items()
    assert [row["line"] for row in results(tmp_path / "out")] == list(range(1, 401))
    assert (summary.total.rows, summary.new.rows < 400, summary.complete) == (400, True, True)


# stopped from outside


def start(path: Path, out: Path, before: int = 0) -> subprocess.Popen[str]:
    """Start the command, and wait until it has written a few parts beside those that were there before."""
    command = [sys.executable, "-m", "outspoken", "batch", str(path), "--out", str(out), "--format", "hermes"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = ["--workers", "2", "--unit-bytes", "20000"]
    process = subprocess.Popen([*command, *arguments], env=environment, stderr=subprocess.PIPE, text=True)
    while len(list(out.glob("parts/*.parquet"))) < before + 3 and process.poll() is None:
        time.sleep(0.005)
    return process


def workers_of(process: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):  # a thread that has ended
            found += [int(child) for child in (task / "children").read_bytes().split()]
    return found


def wait_for_end(processes: list[int]) -> None:
    """Wait until processes have ended."""
    for _ in range(500):
        if not any(Path(f"/proc/{one}").exists() for one in processes):
            return
        time.sleep(0.01)
    raise AssertionError(f"{processes} still run")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killed_and_interrupted_batches_end_equal_to_others(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", 4_000)
    out = tmp_path / "out"
    process = start(path, out)
    workers = workers_of(process.pid)
    assert len(workers) == 2
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    wait_for_end(workers)
    assert not (out / "summary.json").exists()
    assert not read_summary(out).complete
    (out / "parts" / ".left.tmp").write_text("")
    for number, code in some([(signal.SIGINT, 130), (signal.SIGTERM, 143)], "signal", 0.5):
        process = start(path, out, len(list(out.glob("parts/*.parquet"))))
        workers = workers_of(process.pid)
        process.send_signal(number)
        _, errors = process.communicate()
        wait_for_end(workers)
        assert (process.returncode, "Traceback" in errors) == (code, False)
        assert "run the same command again to go on" in errors
    summary = run(path, out, BatchOptions(format="hermes"), workers=2)
    assert 0 < summary.new.rows < 4_000
    whole = run(path, tmp_path / "whole", BatchOptions(format="hermes"), workers=1, unit_bytes=20_000)
    assert summary.total == whole.total
    assert sorted(one.name for one in (out / "parts").iterdir()) == sorted(
        one.name for one in (tmp_path / "whole" / "parts").iterdir()
    )
    assert results(out) == results(tmp_path / "whole")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_that_others_kill_are_replaced(tmp_path: Path) -> None:
    path, killed = write_lines(tmp_path / "a.jsonl", 600), list[int]()

    def kill_one(now: Progress) -> None:
        workers = workers_of(os.getpid())
        if len(killed) < 3 and workers:
            killed.append(workers[len(killed) % len(workers)])
            os.kill(killed[-1], signal.SIGKILL)
            # what a worker leaves that is killed while it writes
            (tmp_path / "out" / "parts" / f".a.parquet.{killed[-1]}.tmp").write_bytes(b"PAR1")
            time.sleep(0.05)

    summary = run(path, tmp_path / "out", HERMES, workers=2, unit_bytes=8000, progress=kill_one)
    assert len(killed) == 3
    assert [row["line"] for row in results(tmp_path / "out")] == list(range(1, 601))
    assert (summary.total.rows, summary.total.quarantined) == (600, 0)


# what does not fit together


@pytest.mark.usefixtures("workers_here")
def test_another_batch_is_not_mixed_into_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = write_lines(tmp_path / "a.jsonl", 3), tmp_path / "out"
    run(path, out, HERMES, workers=1)
    for change, words in (
        (BatchOptions(format="hermes"), '`id_column` was "id", now null'),
        (BatchOptions(format="json", id_column="id"), '`format` was "hermes", now "json"'),
    ):
        with pytest.raises(BatchError, match=f"holds another batch: {words}; use `--restart`"):
            run(path, out, change, workers=1)
    with pytest.raises(BatchError, match="`output` was parquet, now jsonl"):
        run(path, out, HERMES, workers=1, output="jsonl")
    with pytest.raises(BatchError, match=r"the input `.*b.jsonl` is new"):
        run([path, write_lines(tmp_path / "b.jsonl", 1)], out, HERMES, workers=1)
    with monkeypatch.context() as patch:
        patch.setattr(outputs_module, "__version__", "9.9")
        with pytest.raises(BatchError, match=r"the version of outspoken was .*, now 9\.9"):
            run(path, out, HERMES, workers=1)
    with monkeypatch.context() as patch:
        patch.setattr(outputs_module, "grammars_hash", lambda: "other")
        with pytest.raises(BatchError, match=r"the grammars was .*, now other"):
            run(path, out, HERMES, workers=1)
    assert run(path, out, HERMES, workers=1).new.rows == 0
    write_lines(path, 4)
    with pytest.raises(BatchError, match=r"the input `.*a.jsonl` has changed"):
        run(path, out, HERMES, workers=1)
    assert run(path, out, HERMES, workers=1, restart=True).total.rows == 4


@pytest.mark.usefixtures("workers_here")
def test_what_is_lost_of_a_folder_is_made_again(tmp_path: Path) -> None:
    path, out = write_lines(tmp_path / "a.jsonl", 400), tmp_path / "out"
    first = run(path, out, HERMES, workers=1, unit_bytes=8000)
    rows, parts = results(out), sorted((out / "parts").iterdir())
    parts[1].unlink()
    journal = out / "units.jsonl"
    journal.write_bytes(journal.read_bytes()[:-30])
    again = run(path, out, HERMES, workers=1)
    assert 0 < again.new.rows < 400
    assert (again.total, results(out)) == (first.total, rows)


def test_folders_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", 3)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    for restart in (False, True):
        with pytest.raises(BatchError, match=r"is not empty \(`notes.txt`\) and holds no batch"):
            run(path, tmp_path / "mine", HERMES, restart=restart)
    (tmp_path / "mine" / "manifest.json").write_text("{}")
    with pytest.raises(BatchError, match="not the manifest of a batch"):
        run(path, tmp_path / "mine", HERMES, restart=True)
    with pytest.raises(BatchError, match="is not a folder"):
        run(path, path, HERMES)
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_two_processes_cannot_write_to_one_folder(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    path = write_lines(tmp_path / "a.jsonl", 3)
    (tmp_path / "out").mkdir()
    with (tmp_path / "out" / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BatchError, match="another process writes to"):
            run(path, tmp_path / "out", HERMES)


def test_wrong_arguments(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", 3)
    for wrong in ({"workers": 0}, {"unit_bytes": 0}, {"output": "csv"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            run(path, tmp_path / "out", **wrong)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert not (tmp_path / "out" / "manifest.json").exists()


# the command


@pytest.mark.usefixtures("workers_here")
def test_the_command_and_the_statistics_of_its_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write_lines(tmp_path / "a.jsonl", 30), tmp_path / "out"
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name": "find"}]')
    command = ["batch", str(path), "--out", str(out), "--workers", "1", "--tools", str(tools), "--id-column", "id"]
    assert main(command) == 0
    table = capsys.readouterr().out
    assert "hermes    30" in table
    assert "30 lines of 1 files: 30 rows read, 0 in quarantine" in table
    assert main(["stats", str(out)]) == 0
    assert capsys.readouterr().out == table
    assert main(["stats", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"]["tool_calls"] == 30
    path.write_text(path.read_text("utf-8") + "oops\n", "utf-8")
    assert main(command) == 2
    assert "has changed; use `--restart`" in capsys.readouterr().err
    assert main([*command, "--restart"]) == 1
    shown = capsys.readouterr()
    assert "not-json" in shown.out
    assert "1 rows could not be read; they are in" in shown.err


def test_the_command_refuses_what_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "a.jsonl", 3)
    for wrong, words in (
        ([str(tmp_path / "none.jsonl")], "cannot read"),
        ([str(path), "--format", "hermse"], "did you mean `hermes`"),
        ([str(path), "--keep", "a:int32"], "the type `int32`"),
        ([str(path), "--provider", "opnai"], "openai"),
    ):
        assert main(["batch", *wrong, "--out", str(tmp_path / "out")]) == 2
        assert words in capsys.readouterr().err
    assert main(["stats", str(tmp_path)]) == 2
    assert "holds no batch" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_progress_of_this_run_is_shown() -> None:
    text = progress_text()
    assert text(Progress(1000, 2, 5, 10, 0.0)) == "50% of 10 bytes, 1,000 rows, 2 in quarantine"
    assert text(Progress(3000, 2, 8, 10, 30.0)) == "80% of 10 bytes, 3,000 rows, 67/s, 2 in quarantine, 0:20 left"


def test_without_pyarrow_the_command_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from outspoken.__main__ import main\n"
        "assert not any(name.startswith('outspoken.batch') for name in sys.modules)\n"
        f"sys.exit(main(['batch', 'a.jsonl', '--out', {str(tmp_path / 'out')!r}]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    needs = f"`outspoken.batch` needs `pyarrow` (`{install_command('batch')}`)"
    assert done.stderr == f"outspoken: error: `pyarrow` is not installed; {needs}\n"
