"""`outspoken model`: says what is known of a model."""

from __future__ import annotations

from typing import Any

from cloup import argument

from outspoken.cli.options import command, json_option, models
from outspoken.grammar.registry import header
from outspoken.models.finding import Model, find_model
from outspoken.parsing.parser import read_sound
from outspoken.results.snippet import visible
from outspoken.terminal.outputs import print_json


@command(
    "model",
    "Say which format a model writes, and what its prompts end with."
    "\n\nMODEL is the id of a model, or the path of its folder, of a tokenizer_config.json or of a chat template. Of a "
    "template, the format is the one that reads back all that the template writes.",
    ("outspoken model Qwen/Qwen3-8B", "by its id"),
    ("outspoken model ./checkpoint --json", "by the chat template in a folder, as JSON"),
)
@argument("model", metavar="MODEL", shell_complete=models)
@json_option("write what is known as JSON")
def run(model: str, as_json: bool) -> int:
    """Print what is known."""
    known = find_model(model, read_sound)
    if as_json:
        print_json(_data(model, known))
    else:
        print("\n".join(_lines(model, known)))
    return 0


def _data(model: str, known: Model) -> dict[str, Any]:
    proof, ends = known.proof, known.ends
    return {
        "model": model,
        "format": known.format,
        "pattern": known.pattern or None,
        "proven": proof is not None and proof.format == known.format,
        "prompt_ends": {"thinking": ends.thinking, "plain": ends.plain},
        "thinks": ends.thinks,
        "messages": {name: turn.prefix + turn.text for name, turn in proof.turns.items()} if proof is not None else {},
        "remarks": proof.remarks if proof is not None else [],
    }


def _lines(model: str, known: Model) -> list[str]:
    proof, format_header = known.proof, header(known.format)
    if proof is not None and proof.format == known.format:
        by = f"its chat template, of which all {len(proof.turns)} messages are read back"
    elif known.pattern:
        by = f"its id, which holds `{known.pattern}`"
    else:
        by = "the name of the format"
    lines = [model, f"format: {known.format} ({format_header.title})", f"known by: {by}"]
    for when, end, is_usual in (
        ("it thinks", known.ends.thinking, known.ends.thinks),
        ("it does not think", known.ends.plain, not known.ends.thinks),
    ):
        if end is not None:
            ends = f"ends with '{visible(end)}'" if end else "opens nothing"
            lines.append(f"prompt: {ends}, if {when}{' (by default)' if is_usual else ''}")
    shown = format_header.example
    if proof is not None and proof.turns:
        turn = proof.turns.get("text_then_call") or next(iter(proof.turns.values()))
        shown = turn.prefix + turn.text
    lines += ["example:", *[f"  {visible(line)}" for line in shown.splitlines()]]
    return lines + [f"note: {remark}" for remark in (proof.remarks if proof is not None else [])]
