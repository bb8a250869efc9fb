"""Runs `python -m tools.damage`."""

from tools.command import run

from . import main

run(main)
