"""The shared cases of marker payloads, where they are there: what the specification says, and where ours differs."""

from typing import Any

from outspoken.contrib.table_chat import TYPES
from outspoken.payloads import PayloadRegistry, PayloadSettings
from tests.payloads.payload_streams import read
from tests.tables import beside, tables

CASES = beside("gui/marker_cases.jsonl")
ALIKE = PayloadSettings(validation="off")

#: Where an outcome is not the one that follows from the words of the seed, by the number of the case.
OURS: dict[int, dict[str, Any]] = tables(__file__)["OURS"]
NOTHING = {"suggested_values": None, "suggested_actions": None, "custom_payload": None}


def test_every_shared_case() -> None:
    """Suggestions and those payloads that a case names are registered; without the cases, there is nothing to check."""
    seen = 0
    for case in CASES:
        names = {"suggested_values", "suggested_actions", *case["registered_payloads"]}
        registry = PayloadRegistry([one for one in TYPES if one.name in names])
        number = int(case["id"].removeprefix("marker-"))
        reply = read(registry, case["input"], settings=ALIKE)
        wanted = NOTHING | OURS[number] if number in OURS else case["spec_literal"]
        assert reply.to_message() == wanted, case["id"]
        assert (reply.to_message() != case["spec_literal"]) == (number in OURS), case["id"]
        seen += 1
    assert seen == (35 if CASES else 0)
