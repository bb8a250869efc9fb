"""Runs `python -m tools.fuzz`."""

from tools.shared.command import run

from . import main

run(main)
