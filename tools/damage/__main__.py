"""Runs `python -m tools.damage`."""

from tools.shared.command import run

from . import main

run(main)
