"""Checkouts in folders of tests."""

from pathlib import Path
from shutil import copytree

from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar.registry import compiled_path
from tests.batch.arrows import write


def checkout_in(folder: Path, *names: str) -> Checkout:
    """A checkout with the shared grammars and some formats of the house, compiled, and no corpus."""
    house, made = Checkout(), Checkout(folder)
    copytree(house.grammars / "shared", made.grammars / "shared")
    for name in names:
        for path in (house.grammar(name), compiled_path(house.grammar(name))):
            write(made, str(path.relative_to(house.root)), path.read_bytes())
    return made
