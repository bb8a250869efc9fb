"""Reads JSON documents with Outspoken, json-repair, BAML and Instructor, and counts what becomes of them.

Run as `python -m tools.compare.documents`. It runs itself in the environment of the group `peers`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from tools.bench import turns
from tools.damage.evaluation import is_beginning
from tools.figures.records import Measurement, new_file

from .json_readers import READERS, JsonReader
from .json_texts import GROUPS, JsonText, json_texts, same
from .sections import documents

PER_KIND = 20
#: Of how many texts the time is measured, how often, and for how many seconds at most.
TIMED, ROUNDS, LONGEST = 60, 9, 0.2


def outcome(reader: JsonReader, number: int, text: JsonText) -> str:
    """What becomes of a text: `meant`, `refused` (an error, nothing, or something that is called doubtful), `wrong`.

    A text that was cut is read as meant if what is there of it is read, and called incomplete.
    """
    try:
        found = reader.reading(reader.call(number))
    except Exception:  # whatever it raises, its caller gets no value
        return "refused"
    if found is None:
        return "refused"
    is_cut = text.group == "cut"
    if same(found.value, text.meant, text.schema):
        return "refused" if found.is_truncated and not is_cut and not _may_go_on(text) else "meant"
    if is_cut and found.is_truncated:
        return "meant" if is_beginning(found.value, text.meant) else "refused" if found.is_doubtful else "wrong"
    return "refused" if found.is_doubtful or found.is_truncated else "wrong"


def _may_go_on(text: JsonText) -> bool:
    """Whether nothing proves that a text that was not cut has its end."""
    return text.kind.endswith("closer missing") or text.kind.endswith("closers missing")


def counts(readers: dict[str, JsonReader], texts: Sequence[JsonText]) -> dict[str, Any]:
    """What becomes of the texts, by group and kind."""
    groups = {name: {group: Counter[str]() for group in GROUPS} for name in readers}
    kinds = {text.kind: Counter[str]() for text in texts}
    for name, reader in readers.items():
        for number, text in enumerate(texts):
            result = outcome(reader, number, text)
            groups[name][text.group][result] += 1
            kinds[text.kind][name] += result == "meant"
    return {
        "texts": Counter(text.group for text in texts),
        "groups": groups,
        "kinds": kinds,
        "kind_texts": Counter(text.kind for text in texts),
    }


def times(readers: dict[str, JsonReader], texts: Sequence[JsonText], groups: tuple[str, ...]) -> dict[str, float]:
    """Microseconds for a text of these groups, in the mean over the same texts for all readers, measured in turns."""
    numbers = [number for number, text in enumerate(texts) if text.group in groups]
    chosen = numbers[:: max(1, len(numbers) // TIMED)][:TIMED]
    spent = dict.fromkeys(readers, 0.0)
    for number in chosen:
        best = turns([partial(_read, reader.call, number) for reader in readers.values()], ROUNDS, LONGEST)
        for name, seconds in zip(readers, best, strict=True):
            spent[name] += seconds
    return {name: round(seconds * 1e6 / len(chosen), 1) for name, seconds in spent.items()}


def _read(call: Callable[[int], Any], number: int) -> None:
    with suppress(Exception):  # a refusal takes its time, too
        call(number)


def show(reader: JsonReader, texts: Sequence[JsonText]) -> None:
    """Print a text of each kind that a reader does not read as meant."""
    shown: set[str] = set()
    for number, text in enumerate(texts):
        result = outcome(reader, number, text)
        if result == "meant" or text.kind in shown:
            continue
        shown.add(text.kind)
        try:
            got: object = reader.reading(reader.call(number))
        except Exception as error:  # shown
            got = f"{error.__class__.__name__}: {str(error)[:300]}"
        print(f"\n--- {text.kind}: {result}\n{text.text}\nmeant: {text.meant}\ngot:   {got}")


def main() -> int:
    """Print the tables; `--json` writes the counts for `python -m tools.figures`."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare.documents", description=__doc__)
    parser.add_argument("--per-kind", type=int, default=PER_KIND, metavar="N", help=f"texts of a kind ({PER_KIND})")
    parser.add_argument("--show", choices=[*READERS], help="print a text of each kind that a reader misreads")
    parser.add_argument("--json", type=new_file, metavar="FILE", help="write the counts to a file")
    options = parser.parse_args()
    if find_spec("baml_py") is None or find_spec("instructor") is None:
        from tools.integrations.inside import run_inside

        return run_inside("peers", "tools.compare.documents")
    texts = json_texts(max(1, options.per_kind))
    readers = {name: make(texts) for name, make in READERS.items()}
    if options.show:
        show(readers[options.show], texts)
        return 0
    values = counts(readers, texts)
    values["microseconds"] = {
        "sound": times(readers, texts, ("sound",)),
        "damaged": times(readers, texts, ("records", "structure", "strings")),
    }
    versions = {name: version(package) for name, package in PACKAGES.items()}
    measured = Measurement(values=values, peers=versions)
    print(documents({"documents": measured}))
    if options.json:
        measured.write(options.json)
    return 0


#: The packages of the readers.
PACKAGES = {"json-repair": "json-repair", "BAML": "baml-py", "Instructor": "instructor"}

if __name__ == "__main__":
    sys.exit(main())
