"""Runs `python -m tools.show`: `outspoken.authoring.show` on the formats of this checkout."""

from tools.shared.command import run_module

if __name__ == "__main__":
    run_module("outspoken.authoring.show")
