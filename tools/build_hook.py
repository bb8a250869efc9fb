"""The hook of hatch that compiles the grammars before a wheel or a source distribution is built, or the checkout is
installed in place. `pyproject.toml` names it."""

import os
import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileGrammars(BuildHookInterface[Any]):
    """Runs `python -m tools.compile` with the sources that are built, in the environment of the build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile what is not current."""
        paths = [self.root, os.path.join(self.root, "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        subprocess.run([sys.executable, "-m", "tools.compile"], cwd=self.root, env=environment, check=True)
