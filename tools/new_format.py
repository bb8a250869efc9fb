"""Runs `python -m tools.new_format`: `outspoken grammar new` on the formats of this checkout."""

from tools.shared.command import run_grammar

if __name__ == "__main__":
    run_grammar("new_format")
