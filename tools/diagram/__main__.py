"""Runs `python -m tools.diagram`."""

from tools.command import run

from . import main

run(main)
