"""Runs `python -m tools.diagram`."""

from tools.shared.command import run

from . import main

run(main)
