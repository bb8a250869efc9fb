"""Runs `python -m tools.load`."""

from .run import main

if __name__ == "__main__":
    main()
