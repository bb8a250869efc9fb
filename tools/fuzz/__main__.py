"""Runs `python -m tools.fuzz`."""

from tools.command import run

from . import main

run(main)
