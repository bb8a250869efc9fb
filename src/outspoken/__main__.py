"""The command `outspoken`, also as `python -m outspoken`."""

from __future__ import annotations

import sys

from outspoken.cli.main import main as main

if __name__ == "__main__":
    sys.exit(main())
