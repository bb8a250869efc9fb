"""Makes the module of a fast path."""

from __future__ import annotations

from functools import cache

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import cases
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.lenient_rules import LENIENT_RULES
from outspoken.grammar.tables import Tables

from .layout import source_of
from .parts import Shared
from .states import StateWriter
from .training import Trainer


@cache
def trainer() -> Trainer:
    """What knows the sound responses of the corpus."""
    return Trainer([case for case in cases(Checkout()) if case.kind == "ok" and not case.options.get("prefix")])


def module_of(name: str, tables: Tables, trainer: Trainer) -> str:
    """The source of the module of a format."""
    shared = Shared(Automaton(tables, LENIENT_RULES))
    parts = trainer.parts(shared, name)
    counts = StateWriter(shared, parts).counts
    writer = StateWriter(shared, parts, counts)
    return source_of(writer, shared)
