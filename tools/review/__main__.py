"""Runs `python -m tools.review`."""

from tools.command import run

from . import main

run(main)
