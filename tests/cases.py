"""The corpus of this checkout; see `outspoken.authoring.shared.checkout` for what a case is."""

from pathlib import Path

from outspoken import formats
from outspoken.authoring.shared.checkout import Case, Checkout, cases

__all__ = ["CASES", "CORPUS", "FORMATS", "Case", "kin"]

_CHECKOUT = Checkout(Path(__file__).resolve().parents[1])
CORPUS = _CHECKOUT.corpus
CASES = cases(_CHECKOUT)
FORMATS = sorted({case.format for case in CASES})


def kin(name: str) -> set[str]:
    """The format, and those that it is said to be like: the names by which its texts may be known."""
    like = {info.name: info.like for info in formats()}
    found = {name}
    while like[name]:
        name = like[name]
        found.add(name)
    return found
