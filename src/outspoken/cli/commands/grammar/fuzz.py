"""`outspoken grammar fuzz`: generates responses, damages them and checks the invariants."""

from __future__ import annotations

import click

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.framework import declare, option
from outspoken.cli.options import json_option
from outspoken.cli.types import File, Number
from outspoken.terminal.errors import UsageError

#: So many responses are made if neither a number nor a time is given.
_RUNS = 100


@declare(
    "fuzz",
    "Generate responses of a grammar, damage them, and check that nothing is lost or invented.",
    [
        ("outspoken grammar fuzz my_tags.lark", f"{_RUNS} responses"),
        ("outspoken grammar fuzz my_tags.lark --minutes 10 --seed 100", "as many as can be in ten minutes"),
    ],
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=File())
@option("--runs", type=Number(), metavar="N", help=f"the number of responses; default: {_RUNS}")
@option("--minutes", type=Number(fraction=True), metavar="M", help="the duration")
@option("--seed", type=Number(least=None), metavar="N", help="the first seed; default: 0")
@json_option("write findings and summaries as JSON lines")
def run(files: tuple[str, ...], runs: int | None, minutes: float | None, seed: int | None, as_json: bool) -> int:
    """Fuzz the grammars, and return the highest exit code."""
    if runs and minutes:
        raise UsageError("give `--runs` or `--minutes`, not both")
    words = [f"--minutes={minutes}"] if minutes else [f"--runs={runs or _RUNS}"]
    words += [f"--seed={seed}"] if seed is not None else []
    words += ["--json"] if as_json else []
    return max([run_tool("fuzz", file, words) for file in files])
