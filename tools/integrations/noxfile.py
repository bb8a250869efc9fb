"""Runs the tests of the integrations, each group of frameworks in an environment of its own with pinned versions.

`python -m nox -f tools/integrations/noxfile.py` at the top of the checkout runs all; `-s agents` those of one group,
`-s agents -- langchain -k hermes` those of one framework that match. `-s pin -- agents` takes the newest versions, and
`-s compare` measures the tables of `tools.compare`. Environments are kept in `.venv-integrations/`.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from functools import partial
from pathlib import Path

import nox

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))  # nox runs this file in its own folder

from tools.integrations.frameworks import FRAMEWORKS, GROUPS, TEST_REQUIREMENTS  # noqa: E402

#: The exact versions of everything in an environment, as `pin` found them.
PINS = TOP / "tools" / "integrations" / "pins"
#: The guide of each framework that has an example.
GUIDES = {
    section.partition("\n")[0]: section
    for section in (TOP / "src" / "outspoken" / "integrations" / "README.md").read_text("utf-8").split("\n## ")[1:]
    if "```python\n" in section
}
#: The tables of `tools.compare`, by the group whose environment has the other projects.
_TABLES = {"servers": ("servers", "speed", "templates"), "peers": ("documents", "typed")}
_FREEZE = """
from importlib.metadata import distributions
found = {each.name: each.version for each in distributions()}
print(*sorted([f"{name}=={found[name]}" for name in found if name != "outspoken"], key=str.lower), sep="\\n")
"""

# The tests need no compiled grammars but those of the checkout, and many processes, whose modules are compiled once.
os.environ["HATCH_BUILD_NO_HOOKS"] = "true"
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

nox.options.envdir = str(TOP / ".venv-integrations")
nox.options.default_venv_backend = "uv|venv"
nox.options.reuse_venv = "yes"
nox.options.sessions = [
    group for group in GROUPS if any(group in tested.groups.split() for tested in FRAMEWORKS.values())
]


def _install(session: nox.Session, name: str, *, pinned: bool = True) -> None:
    """Install what a group needs, in the pinned versions or, unless it is `pinned`, in the newest."""
    session.chdir(TOP)
    group, pins = GROUPS[name], PINS / f"{name}.txt"
    limits = ["--constraint", str(pins)] if pinned and pins.is_file() else ["--upgrade"]
    session.install(*limits, "--editable", ".", *TEST_REQUIREMENTS, *group.requirements.split())
    if group.bare:
        session.install("--no-deps", *limits, *group.bare.split())
    session.env.update(group.variables)


def _tests(session: nox.Session, name: str) -> None:
    """Run the tests of the frameworks of a group, or of those that are named."""
    _install(session, name)
    known = [framework for framework, tested in FRAMEWORKS.items() if name in tested.groups.split()]
    chosen = [framework for framework in known if framework in session.posargs] or known
    more = [word for word in session.posargs if word not in known]
    # They do not use the fixtures of the other tests, which need other packages.
    command = ["python", "-m", "pytest", "-q", "-c", "pyproject.toml", "--rootdir", ".", "-p", "no:cacheprovider"]
    command += ["--confcutdir", "tests/integrations", *more]
    command += [part for warning in GROUPS[name].ignored for part in ("-W", warning)]
    session.run(*command, *[f"tests/integrations/test_{framework}.py" for framework in chosen])


for group in nox.options.sessions:
    nox.session(name=group)(partial(_tests, name=group))


@nox.session
@nox.parametrize("framework", [*GUIDES])
def examples(session: nox.Session, framework: str) -> None:
    """Import what the example of a guide does, with nothing but what the guide says to install."""
    session.chdir(TOP)
    packages, _, rest = GUIDES[framework].partition("pip install ")[2].partition("\n")
    session.install(*shlex.split(packages))
    imports = re.findall(r"^(?:from|import) .*", rest.partition("```python\n")[2].partition("```")[0], re.MULTILINE)
    session.run("python", "-c", "\n".join(imports))


@nox.session
def pin(session: nox.Session) -> None:
    """Write down the newest versions that the requirements of groups allow."""
    for name in session.posargs or GROUPS:
        _install(session, name, pinned=False)
        found = session.run("python", "-c", _FREEZE, silent=True)
        (PINS / f"{name}.txt").write_text(f"# Written by the session `pin` of the noxfile.\n{found}", "utf-8")


@nox.session
@nox.parametrize("group", list(_TABLES))
def compare(session: nox.Session, group: str) -> None:
    """Measure tables with other projects, with the arguments of `tools.compare` but for their names."""
    _install(session, group)
    # `tools.damage` generates the texts with the first, and `tools.docs` writes tables
    session.install("hypothesis>=6.100", "railroad-diagrams>=3", "pyyaml>=6")
    session.run("python", "-m", "tools.compare", *_TABLES[group], *session.posargs)
