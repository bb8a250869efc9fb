"""Runs `python -m tools.check`."""

from tools.command import run

from . import main

run(main)
