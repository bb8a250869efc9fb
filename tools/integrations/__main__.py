"""Runs `python -m tools.integrations`."""

from tools.shared.command import run_module

run_module("tools.integrations.main")
