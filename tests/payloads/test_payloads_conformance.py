"""The shared cases of marker payloads, where they are there: what the specification says, and where ours differs."""

import json
from pathlib import Path
from typing import Any

from outspoken.contrib.table_chat import TYPES
from outspoken.payloads import PayloadRegistry, PayloadSettings
from tests.payloads.payload_streams import read

CASES = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "gui" / "marker_cases.jsonl"
ALIKE = PayloadSettings(validation="off")

P: dict[str, Any] = {"mode": "create", "operations": []}
A = [{"label": "A", "value": "a"}]


def reply(message: str, custom: Any = None, values: Any = None, type_: str = "schema_proposal") -> dict[str, Any]:
    """An outcome."""
    payload = None if custom is None else {"type": type_, "data": custom}
    return {"message": message, "suggested_values": values, "suggested_actions": None, "custom_payload": payload}


#: Where an outcome is not the one that follows from the words of the seed: by the number of the case.
OURS: dict[int, dict[str, Any]] = {
    5: reply("", P),  # emphasis round all of it goes, too
    6: reply("", P),  # odd spellings are read, with a diagnostic
    7: reply("", P),
    8: reply("", P),  # nothing is left of the line
    9: reply("", P),
    10: reply("bye", P),  # a fence goes with its payload
    11: reply("Format is:\n```\nSCHEMA_PROPOSAL: " + json.dumps(P, separators=(",", ":")) + "\n```"),
    12: reply('I will send a SCHEMA_PROPOSAL: soon. Config is {"a":1}.'),
    14: reply("MY_SCHEMA_PROPOSAL: " + json.dumps(P, separators=(",", ":"))),
    17: reply("SCHEMA_PROPOSAL\n: " + json.dumps(P, separators=(",", ":"))),
    18: reply("", P),
    19: reply("Hi  bye", {"mode": "create"}),  # repaired
    21: reply("", P),  # the second one is left out
    22: reply("", {"operations": [1]}, type_="data_proposal"),  # the first of the text
    24: reply("Done.", values=A),
    25: reply("Done.", values=A),
    27: reply("SUGGESTED_VALUES:\nnone", {"mode": "create", "operations": [{"a": 1}]}),
    30: reply("", {"reasoning": "SUGGESTED_VALUES: [1]", "operations": [1]}),
    33: reply("", {"mode": "create"}),
    34: reply("[1]", values=A),
}


def test_every_shared_case() -> None:
    """Suggestions and those payloads that a case names are registered; without the cases, there is nothing to check."""
    seen = 0
    for line in CASES.read_text("utf-8").splitlines() if CASES.exists() else []:
        case: dict[str, Any] = json.loads(line)
        names = {"suggested_values", "suggested_actions", *case["registered_payloads"]}
        registry = PayloadRegistry([one for one in TYPES if one.name in names])
        number = int(case["id"].removeprefix("marker-"))
        reply = read(registry, case["input"], settings=ALIKE)
        assert reply.to_message() == OURS.get(number, case["spec_literal"]), case["id"]
        assert (reply.to_message() != case["spec_literal"]) == (number in OURS), case["id"]
        seen += 1
    assert seen == (35 if CASES.exists() else 0)
