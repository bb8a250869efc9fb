"""The command `python -m tools.constraints`."""

from __future__ import annotations

import argparse
from collections import Counter

from outspoken import formats
from tests.constraints.walk_constraints import ASKED
from tests.constraints.walks import ENGINES, failures
from tools.shared.command import run


def main(arguments: list[str] | None = None) -> int:
    """Let random models write under constraints, and list what is not read as `ok`.

    The exit code is 1 if there is any, but for walks without an end.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.constraints", description=main.__doc__)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="all without")
    parser.add_argument("--walks", type=int, default=200, metavar="N", help="walks of each format and engine")
    parser.add_argument("--kind", choices=[*ASKED], default="tools", help="what is asked for: tools by default")
    parser.add_argument("--engine", choices=[*ENGINES], action="append", help="all without; may be repeated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=1, metavar="N", help="examples of each kind of failure")
    options = parser.parse_args(arguments)
    names = options.formats or (["payloads"] if options.kind == "payloads" else [one.name for one in formats()])
    total: dict[str, Counter[str]] = {engine: Counter() for engine in options.engine or ENGINES}
    for engine, counted in total.items():
        for name in names:
            found = list(failures(name, engine, options.walks, options.seed, kind=options.kind))
            here = Counter(kind or "ok" for kind, _ in found)
            counted.update(here)
            if here:
                print(f"{engine} {name}: {_listed(here)}", flush=True)
            for kind in here.keys() - {"ok"}:
                for text in sorted([text for wrong, text in found if wrong == kind], key=len)[: options.show]:
                    print(f"    {kind}: {text!r}", flush=True)
    for engine, counted in total.items():
        print(f"{engine}: {counted.total()} walks, {_listed(counted)}")
    return int(any(kind not in ("ok", "too long") for counted in total.values() for kind in counted))


def _listed(counted: Counter[str]) -> str:
    return ", ".join([f"{number} {kind}" for kind, number in counted.most_common()])


if __name__ == "__main__":
    run(main)
