"""Measures speed, as ratios in one run. Run as `python -m tools.bench [--quick] [SECTION …]`."""
