"""One response, read: `parse`, `stream`, `astream`, `StreamParser`, `detect`, `formats`.

The rooms that read responses (`rendering`, `payloads`, `providers`, `processing`) import from here. May import the
rooms from `results` to `fast_path`.
"""
