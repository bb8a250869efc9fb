"""Runs `python -m tools.new_format`: `outspoken.authoring.new_format` on the formats of this checkout."""

from tools.shared.command import run_module

if __name__ == "__main__":
    run_module("outspoken.authoring.new_format")
