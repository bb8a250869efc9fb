"""Runs `python -m tools.batch`."""

from tools.shared.command import run

from . import main

run(main)
