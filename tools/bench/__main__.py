"""Runs `python -m tools.bench`."""

from tools.shared.command import run

from . import main

run(main)
