"""Runs `python -m tools.doors`."""

import sys

from . import main

sys.exit(main())
