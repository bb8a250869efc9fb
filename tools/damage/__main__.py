"""Runs `python -m tools.damage`: for JSON, or one of its other commands."""

from __future__ import annotations

import sys
from functools import partial

from tools.shared.command import run

from . import main, markup, prose

_COMMANDS = {"json": main, "markup": markup.main, "prose": prose.main}

name = sys.argv[1] if len(sys.argv) > 1 else ""
run(partial(_COMMANDS[name], sys.argv[2:]) if name in _COMMANDS else main)
