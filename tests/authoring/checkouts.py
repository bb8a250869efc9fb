"""Checkouts in folders of tests: the format `arrows`, which is made up, changes of its files, and mistakes in it."""

from pathlib import Path
from shutil import copy, copytree

from outspoken import Diagnostic
from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.registry import compiled_path
from tests.tables import tables


def arrows_in(folder: Path) -> Checkout:
    """A checkout in a folder with the sound format `arrows`, two formats of the house, and what they import."""
    made = Checkout(folder)
    (made.grammars / "shared").mkdir(parents=True)
    for name in ("code", "json", "json_call", "tagged_json_call", "text", "think", "turn"):
        copy(Checkout().grammar(f"shared/{name}"), made.grammar(f"shared/{name}"))
    for name in ("text", "hermes"):
        copy(Checkout().grammar(name), made.grammar(name))
        write(made, f"grammars/compiled/{name}.json", compiled_path(Checkout().grammar(name)).read_text("utf-8"))
    for path, text in TABLES["FILES"].items():
        write(made, path, text)
    compile_arrows(made)
    return made


def write(checkout: Checkout, path: str, text: str | bytes) -> None:
    """Write a file of the checkout."""
    whole = checkout.root / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_bytes(text if isinstance(text, bytes) else text.encode())


def compile_arrows(checkout: Checkout) -> None:
    """Compile the format, so that what is compiled is current."""
    path = checkout.grammar("arrows")
    write(checkout, "grammars/compiled/arrows.json", compile_grammar(path).to_json())


def change(checkout: Checkout, path: str, before: str, after: str) -> None:
    """Replace a text that stands in a file."""
    text = (checkout.root / path).read_bytes().decode()
    assert before in text
    write(checkout, path, text.replace(before, after, 1))


# a sound format with its corpus, and mistakes in it, each with what `check` says of it


TABLES = tables(__file__)

GRAMMAR = TABLES["GRAMMAR"]
OK = "tests/corpus/arrows/ok/one_call.txt"
LARK = "grammars/arrows.lark"
MISTAKES: dict[str, dict[str, str]] = TABLES["MISTAKES"]


def said(found: list[Diagnostic], path: str = LARK) -> list[str]:
    """Findings as lines: place, code and message, and then each label, note and help."""
    lines: list[str] = []
    for one in found:
        file = "" if one.format == path else f"{one.format}:"
        length = one.span[1] - one.span[0]
        lines.append(f"{one.severity} {file}{one.line}:{one.column}+{length} {one.code}: {one.message}")
        texts = [("label", one.label), *[("note", note) for note in one.notes], *[("help", help) for help in one.helps]]
        lines += [f"  {kind}: {text}".replace("\n", "\\n") for kind, text in texts if text]
    return lines


# checkouts in folders of tests


def checkout_in(folder: Path, *names: str) -> Checkout:
    """A checkout with the shared grammars and some formats of the house, compiled, and no corpus."""
    house, made = Checkout(), Checkout(folder)
    copytree(house.grammars / "shared", made.grammars / "shared")
    for name in names:
        for path in (house.grammar(name), compiled_path(house.grammar(name))):
            write(made, str(path.relative_to(house.root)), path.read_bytes())
    return made
