"""Damages texts in known ways, and counts what becomes of them. Run as `python -m tools.damage`."""
