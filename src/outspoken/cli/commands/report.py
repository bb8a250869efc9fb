"""`outspoken report`: writes a page about the results of `outspoken batch`."""

from __future__ import annotations

from cloup import argument

from outspoken.cli.options import File, command, json_option, option
from outspoken.terminal.outputs import print_written


@command(
    "report",
    "Write a page of HTML about a folder of results of `outspoken batch`.",
    ("outspoken report parsed/", "write parsed/report.html"),
    ("outspoken report parsed/ -o page.html", "elsewhere"),
)
@argument("folder", metavar="DIR", type=File())
@option("-o --out FILE", "the page", File(), shown="report.html in DIR")
@option("--time-column C", "a kept column of times: damage is shown over time, and not by file")
@option("--partial", "report what is done of a batch that is not complete")
@json_option("write the path of the page as JSON")
def run(folder: str, out: str | None, time_column: str | None, partial: bool, as_json: bool) -> int:
    """Write the page, and print its path."""
    from outspoken.batch import write_report  # imports pyarrow, which the other commands need not wait for

    path = write_report(folder, out, time_column=time_column, partial=partial)
    return print_written(str(path), as_json=as_json)
