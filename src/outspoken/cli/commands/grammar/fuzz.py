"""`outspoken grammar fuzz`: makes responses, damages them and checks how they are read."""

from __future__ import annotations

import click

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.framework import declare, option
from outspoken.cli.options import json_option
from outspoken.cli.types import File, Number
from outspoken.terminal.errors import UsageError

#: So many texts are made if neither a number nor a time is given.
_RUNS = 100


@declare(
    "fuzz",
    "Make responses of a grammar, damage some, and check that nothing is lost and that pieces give the same.",
    [
        ("outspoken grammar fuzz my_tags.lark", f"{_RUNS} texts"),
        ("outspoken grammar fuzz my_tags.lark --minutes 10 --seed 100", "as many as can be in ten minutes"),
    ],
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=File())
@option("--runs", type=Number(), metavar="N", help=f"the number of texts; default: {_RUNS}")
@option("--minutes", type=Number(fraction=True), metavar="M", help="the duration")
@option("--seed", type=Number(least=None), metavar="N", help="the first seed; default: 0")
@option("--replay", type=File(), metavar="FINDINGS", help="check the findings that --json has written, and no others")
@json_option("write findings and summaries as JSON lines")
def run(
    files: tuple[str, ...],
    runs: int | None,
    minutes: float | None,
    seed: int | None,
    replay: str | None,
    as_json: bool,
) -> int:
    """Fuzz the grammars, and return the highest exit code."""
    if sum(bool(given) for given in (runs, minutes, replay)) > 1:
        raise UsageError("give one of `--runs`, `--minutes` and `--replay`")
    words = [f"--minutes={minutes}"] if minutes else [f"--runs={runs or _RUNS}"]
    words = [f"--replay={replay}"] if replay else words
    words += [f"--seed={seed}"] if seed is not None else []
    words += ["--json"] if as_json else []
    return max([run_tool("fuzz", file, words) for file in files])
