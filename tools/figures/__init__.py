"""Figures that documents quote: measured by commands, kept in `figures.json`, written into the documents.

Run as `python -m tools.figures`. A figure is stale when the code that it measures has changed since.
"""
