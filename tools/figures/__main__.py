"""Runs `python -m tools.figures`."""

from tools.shared.command import run_module

run_module("tools.figures.main")
