"""Keeps the bytecode of what tests import in pytest's cache where Python is told to write none beside the modules.

Each process of the tests would compile all of it again, which takes longer than many of them do.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parent / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix  # for the processes that tests start
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
