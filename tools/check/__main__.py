"""Runs `python -m tools.check`."""

from tools.shared.command import run

from . import main

run(main)
