"""Runs `python -m tools.diagram`: `outspoken grammar diagram` on the formats of this checkout."""

from tools.shared.command import run_grammar

if __name__ == "__main__":
    run_grammar("diagram")
