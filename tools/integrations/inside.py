"""Runs a tool in the environment of a group of frameworks."""

from __future__ import annotations

import os
import subprocess
import sys

from outspoken.authoring.shared.checkout import TOP

from .environments import environment
from .frameworks import GROUPS

#: No tool takes longer, in seconds.
_PATIENCE = 3600


def run_inside(group: str, module: str) -> int:
    """Run a module with the arguments of this process in the environment of a group; return its exit code."""
    try:
        python = environment(group)
    except subprocess.CalledProcessError as error:
        print(f"{group}: {error}; pip says why above. Is there a network?", file=sys.stderr)
        return 1
    variables = os.environ | dict(GROUPS[group].variables)
    command = [str(python), "-m", module, *sys.argv[1:]]
    return subprocess.run(command, cwd=TOP, env=variables, check=False, timeout=_PATIENCE).returncode
