"""Runs `python -m tools.show`."""

from tools.shared.command import run

from . import main

run(main)
