"""What the tests of reports share: responses with all kinds of damage, and hostile ones."""

import json
from pathlib import Path

from outspoken.batch import BatchOptions
from tests.tables import tables

TABLES = tables(__file__)

TOOLS = TABLES["TOOLS"]
#: The name of a tool that a page must not read as HTML, with a character that turns the direction of text.
HOSTILE = "</style><script>document.title='owned'</script><img src=x onerror=alert(1)>\u202e"

_CALL = "<tool_call>\n%s\n</tool_call>"
#: Responses with their formats; hermes where there is none.
MIXED = TABLES["MIXED"]
#: What reads them.
OPTIONS = BatchOptions(format="hermes", format_column="format", tools=TOOLS, id_column="id", keep=("when",))
_BAD = ["not json <script>alert(1)</script>\u202e", '{"text": 3, "id": "</pre>"}']


def write_mixed(path: Path, times: int, day: int = 1) -> Path:
    """Write a file with all the responses and two lines that are no responses, so many times over two days."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for round in range(times):
        for n, (format, text) in enumerate(MIXED):
            when = None if n == 1 else f"2026-11-{day + round * 2 // times:02}T00:{n:02}:00Z"
            lines.append(json.dumps({"id": f"r{round}-{n}", "format": format, "text": text, "when": when}))
        lines += _BAD
    path.write_text("".join([f"{line}\n" for line in lines]), "utf-8")
    return path
