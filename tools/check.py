"""Runs `python -m tools.check`: `outspoken.authoring.check` on the formats of this checkout."""

from tools.shared.command import run_module

if __name__ == "__main__":
    run_module("outspoken.authoring.check")
