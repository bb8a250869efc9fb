"""Faults of a parser that takes down its process, for tests: a worker that imports this has them.

A text that begins with `!` and the name of a fault makes it happen.
"""

import ctypes
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from outspoken import Parser
from outspoken.results.replies import Reply

_parse = Parser.parse


def _faulty(self: Parser, text: Any, **known: Any) -> Reply:
    if text[:1] == "!":
        fault, _, rest = text[1:].partition(" ")
        if fault == "segfault":
            ctypes.string_at(0)
        elif fault == "exit":
            os._exit(7)
        elif fault == "hang":
            time.sleep(600)
        elif fault == "raise":
            raise RuntimeError("a mistake")
        elif fault == "print":
            print("a library prints this")
        elif fault == "once" and not Path(rest).exists():
            Path(rest).touch()
            os._exit(9)
        elif fault == "small-files":
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        elif fault == "slow":
            time.sleep(0.02)
    return _parse(self, text, **known)


Parser.parse = _faulty
if sys.argv[1:] == ["die"]:
    sys.exit("this worker cannot start")
