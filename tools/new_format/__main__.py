"""Runs `python -m tools.new_format`."""

from tools.command import run

from . import main

run(main)
