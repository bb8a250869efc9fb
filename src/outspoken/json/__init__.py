"""JSON in any state: whole, still arriving, in prose, truncated or damaged.

Start with `read_json` in `read`, and with `repair` for the levels of repair. Nothing here knows formats, so any room
above may use it. May import `results`, `patterns` and `grammar`.
"""
