"""Runs `python -m tools.new_format`."""

from tools.shared.command import run

from . import main

run(main)
