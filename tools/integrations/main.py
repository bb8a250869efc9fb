"""The command `python -m tools.integrations`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from outspoken.authoring.shared.checkout import TOP

from .environments import environment, pin
from .frameworks import FRAMEWORKS, GROUPS

TESTS = TOP / "tests" / "integrations"

#: No group's tests take longer, in seconds.
_PATIENCE = 1800


def main() -> int:
    """Run the tests of the named frameworks, or of all. The exit code is 1 if a test or an install fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.integrations", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a framework or a group; all by default")
    parser.add_argument("--pin", action="store_true", help="write down the newest versions instead of running tests")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="how many groups at once; default: 1")
    parser.add_argument("-k", dest="chosen", default="", help="run only the tests that match, as with pytest")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in FRAMEWORKS and name not in GROUPS]:
        parser.error(f"there is no framework `{unknown[0]}`; expected {', '.join({**FRAMEWORKS, **GROUPS})}")
    chosen: list[str] = options.names or [*GROUPS]
    names = [name for name, tested in FRAMEWORKS.items() if name in chosen or tested.group in chosen]
    tested = {FRAMEWORKS[name].group for name in names}
    groups = [group for group in GROUPS if group in tested or (options.pin and group in chosen)]

    def succeeds(group: str) -> bool:
        try:
            if options.pin:
                print(pin(group).relative_to(TOP))
                return True
            return not _run(group, [name for name in names if FRAMEWORKS[name].group == group], options.chosen)
        except subprocess.CalledProcessError as error:
            print(f"{group}: {error}; pip says why above. Is there a network?", file=sys.stderr)
            return False

    with ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        failed = [group for group, succeeded in zip(groups, pool.map(succeeds, groups), strict=True) if not succeeded]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _run(group: str, names: Iterable[str], chosen: str) -> int:
    """Run the tests of frameworks with the Python of their group; return the exit code of pytest.

    What pytest prints is shown when it has ended, so that groups that run at once do not mix.
    """
    python = environment(group)
    # The tests of the integrations do not use the fixtures of the other tests, which need other packages.
    command = [str(python), "-m", "pytest", "-q", "-c", str(TOP / "pyproject.toml"), "--rootdir", str(TOP)]
    command += ["--confcutdir", str(TESTS), "-p", "no:cacheprovider", *(["-k", chosen] if chosen else [])]
    command += [str(TESTS / f"test_{name}.py") for name in names]
    command += [part for warning in GROUPS[group].ignored for part in ("-W", warning)]
    variables = os.environ | dict(GROUPS[group].variables)
    ran = subprocess.run(
        command, cwd=TOP, env=variables, check=False, timeout=_PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
    )  # fmt: skip
    print(f"== {group}\n{ran.stdout}", end="", flush=True)
    return ran.returncode
