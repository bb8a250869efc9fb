"""Runs `python -m tools.compile`."""

from tools.shared.command import run

from . import main

run(main)
