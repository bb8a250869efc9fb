"""Made-up responses for batches: distinct texts, written the same each time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

_WORDS = (
    *("tide", "moss", "harbour", "lantern", "weather", "copper", "ledger", "orchard", "signal", "granite"),
    *("meadow", "river", "engine", "winter", "paper", "garden", "bridge", "window", "market", "forest"),
)


def hermes_texts(count: int, seed: int = 7) -> Iterator[str]:
    """Responses in hermes, no two of them equal: reasoning, text, and up to two calls, about 260 characters each."""
    random_ = random.Random(seed)

    def words(number: int) -> str:
        return " ".join(random_.choices(_WORDS, k=number))

    for number in range(count):
        kind, parts = random_.random(), list[str]()
        if kind < 0.4:
            parts.append(f"<think>\n{words(8)} {number}\n</think>\n\n")
        if kind < 0.7 or kind >= 0.9:
            parts.append(f"{words(10)} {number}.\n")
        for _ in range(random_.choice((1, 1, 2)) if kind < 0.9 else 0):
            arguments = {"city": words(2), "n": random_.randrange(10**6), "row": number}
            call = {"name": random_.choice(("get_weather", "search")), "arguments": arguments}
            parts.append(f"<tool_call>\n{json.dumps(call)}\n</tool_call>\n")
        yield "".join(parts).rstrip("\n")


def write_hermes(path: Path, count: int) -> Path:
    """Write a file of JSON lines with responses in hermes."""
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(hermes_texts(count)):
            file.write(json.dumps({"id": f"r{number}", "text": text}) + "\n")
    return path
