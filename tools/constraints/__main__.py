"""Runs `python -m tools.constraints`."""

from tools.shared.command import run_module

run_module("tools.constraints.main")
