"""Runs `python -m tools.fuzz`: `outspoken grammar fuzz` on the formats of this checkout."""

from tools.shared.command import run_grammar

if __name__ == "__main__":
    run_grammar("fuzz")
