"""Runs `python -m tools.fuzz`: `outspoken.authoring.fuzz` on the formats of this checkout."""

from tools.shared.command import run_module

if __name__ == "__main__":
    run_module("outspoken.authoring.fuzz")
