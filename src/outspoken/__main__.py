"""The command `outspoken`, also as `python -m outspoken`."""

from __future__ import annotations

import sys

from outspoken.cli.main import main as run


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code. By default, the arguments are those of the process."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["grammar"]:
        from outspoken.authoring.commands import main as run_grammar

        return run_grammar(given[1:])
    return run(given)


if __name__ == "__main__":
    sys.exit(main())
