"""`python -m outspoken` is the command `outspoken`."""

from __future__ import annotations

import sys

from outspoken.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
