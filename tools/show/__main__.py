"""Runs `python -m tools.show`."""

from tools.command import run

from . import main

run(main)
