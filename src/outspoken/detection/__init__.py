"""Which format a text is in: candidates of all formats that may begin at a marker, side by side.

`parsing` uses it for `format="auto"`. May import the rooms from `results` to `fast_path`.
"""
