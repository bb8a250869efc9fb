"""Runs `python -m tools.fuzz`."""

import sys

from . import main

sys.exit(main())
