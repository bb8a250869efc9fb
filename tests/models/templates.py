"""Chat templates whose calls are in some formats."""

from __future__ import annotations

from tests.tables import tables

TABLES = tables(__file__)

CHATML, OPENED, SWITCH = [TABLES[name] for name in ("CHATML", "OPENED", "SWITCH")]


def chatml(call: str, before: str = "", behind: str = "", end: str = "") -> str:
    """A template whose calls are written by `call`, with markers round all of them."""
    calls = f"{TABLES['EACH']}{call}{{% endfor %}}"
    if before:
        calls = f"{{% if message.tool_calls %}}{{{{ '{before}' }}}}{calls}{{{{ '{behind}' }}}}{{% endif %}}"
    return CHATML.replace("CALLS", calls).replace("END", end)


TEMPLATES = {name: chatml(*parts) for name, parts in TABLES["CALLS"].items()}
