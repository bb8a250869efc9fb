"""Runs `python -m tools.docs`."""

from tools.shared.command import run

from . import main

run(main)
