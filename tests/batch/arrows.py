"""A checkout with the format `arrows`, which is made up, and changes of its files."""

from pathlib import Path
from shutil import copy

from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.registry import compiled_path
from tests.authoring.grammar_mistakes import FILES


def arrows_in(folder: Path) -> Checkout:
    """A checkout in a folder with the sound format `arrows`, two formats of the house, and what they import."""
    made = Checkout(folder)
    (made.grammars / "shared").mkdir(parents=True)
    for name in ("code", "json", "json_call", "tagged_json_call", "text", "think", "turn"):
        copy(Checkout().grammar(f"shared/{name}"), made.grammar(f"shared/{name}"))
    for name in ("text", "hermes"):
        copy(Checkout().grammar(name), made.grammar(name))
        write(made, f"grammars/compiled/{name}.json", compiled_path(Checkout().grammar(name)).read_text("utf-8"))
    for path, text in FILES.items():
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
