"""Runs `python -m tools.docs`."""

from tools.command import run

from . import main

run(main)
