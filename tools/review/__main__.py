"""Runs `python -m tools.review`."""

from tools.shared.command import run

from . import main

run(main)
