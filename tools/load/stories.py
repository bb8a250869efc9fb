"""What each stream is about: its identity decides its text, its calls, and what goes wrong."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Kind = Literal["sound", "refused", "cut", "failing", "leaving", "slow"]

#: How many of a hundred streams are of each kind: sound; refused by the upstream with a status; cut off by it inside a
#: call; ended by it with an error; left by the client; read slowly by the client.
SHARES: dict[Kind, int] = {"sound": 66, "refused": 6, "cut": 6, "failing": 6, "leaving": 10, "slow": 6}
#: The statuses with which the upstream refuses.
STATUSES = (400, 429, 500, 503)
#: How many words the text of a stream has, and that of a slow reader, who is to fill all buffers on the way.
_WORDS, _SLOW_WORDS = 40, 12_000


@dataclass(frozen=True)
class Story:
    """One stream. `worker` and `number` are its identity, `kind` and `api` what happens in it."""

    worker: int
    number: int

    @property
    def identity(self) -> str:
        """A word that no other stream has, and that is no part of another one's."""
        return f"<{self.worker}.{self.number}>".translate({ord("<"): "i", ord(">"): "j"})

    @cached_property
    def random(self) -> random.Random:
        """The dice of this stream."""
        return random.Random(self.identity)

    @cached_property
    def kind(self) -> Kind:
        """What goes wrong."""
        return random.Random(f"kind {self.identity}").choices(list(SHARES), list(SHARES.values()))[0]

    @cached_property
    def api(self) -> str:
        """The API that the client speaks."""
        return ("chat_completions", "responses", "messages")[(self.worker + self.number) % 3]

    @property
    def status(self) -> int:
        """The status with which a refusing upstream answers."""
        return STATUSES[(self.worker + self.number) % len(STATUSES)]

    @property
    def usage(self) -> tuple[int, int]:
        """The tokens that the upstream reports."""
        return self.worker + 1, self.number + 1

    @property
    def reasoning(self) -> str:
        """What the model thinks."""
        return " ".join([f"r{self.identity}{n}" for n in range(_WORDS // 2)])

    @property
    def text(self) -> str:
        """What the model says."""
        count = _SLOW_WORDS if self.kind == "slow" else _WORDS
        return " ".join([f"w{self.identity}{n}" for n in range(count)])

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """What the model calls."""
        words = " ".join([f"a{self.identity}{n}" for n in range(_WORDS // 2)])
        return [(f"f{self.identity}", {"of": self.identity, "n": n, "words": words}) for n in range(2)]

    @property
    def written(self) -> str:
        """What the model writes; if the stream breaks off, up to the middle of the last call."""
        calls = [
            f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"
            for name, arguments in self.calls
        ]
        text = "\n".join([f"<think>\n{self.reasoning}\n</think>\n{self.text}", *calls])
        return text[: -len(calls[-1]) // 2] if self.kind in ("cut", "failing") else text

    def prompt(self) -> str:
        """The message that tells the upstream which stream it is."""
        return f"{self.worker} {self.number}"

    @classmethod
    def of(cls, prompt: str) -> Story:
        """The stream that a message asks for."""
        worker, number = prompt.split()
        return cls(int(worker), int(number))
