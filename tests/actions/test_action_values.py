"""Values of actions that are of another kind than the field, out of range, or parts of an object, and hosts of URLs."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from outspoken import Action, Reply, parse, render
from outspoken.actions.urls import web_url
from outspoken.processing import parse_action
from tests.tables import tables

TABLES = tables(__file__)


def skyvern(action_type: str, **arguments: Any) -> Action:
    """The action for these arguments."""
    (action,) = [s for s in _reply({"action_type": action_type, **arguments}).segments if s.kind == "action"]
    return action


def _reply(*actions: dict[str, Any]) -> Reply:
    return parse(json.dumps({"actions": actions}, ensure_ascii=False), format="skyvern")


def _objects(random: Random) -> Iterator[dict[str, Any]]:
    """The object of a click with some keys that a field reads and some that none does."""
    for _ in range(20):
        names = random.sample(["thought", "single_option_click", "desired_state", "note", "seen"], random.randint(1, 5))
        yield {
            name: random.choice(["on", True, 3, {"deep": [1]}]) if name != "desired_state" else "on" for name in names
        }


def test_no_part_of_an_object_is_lost() -> None:
    """A field takes one key of an object: the other keys are in `extra`, and are written again."""
    for given in _objects(Random(5)):
        action = skyvern("CLICK", id="A", click_context=given)
        assert action.type == "click"
        rest = {key: value for key, value in given.items() if key != "desired_state"}
        assert (action.desired_state, action.extra.get("click_context", {})) == (given.get("desired_state"), rest)
        written = json.loads(render([action], format="skyvern"))["actions"][0]
        assert written == {"action_type": "CLICK", "id": "A", "click_context": given}


def test_counts_below_one_are_one() -> None:
    """A count of clicks or keys that is zero or negative is one, with a diagnostic."""
    for number in (-7, -2, -1, 0, 1, 2, 3, "-2", "2"):
        action = parse_action({"action_type": "KEYPRESS", "keys": ["a"], "repeat": number}, parser="skyvern")
        click = parse_action({"action_type": "CLICK", "id": "A", "repeat": number}, parser="skyvern")
        assert action.type == "press_keys"
        assert click.type == "click"
        assert action.repeat == click.clicks == max(1, int(number))


def test_remarks_are_written_in_one_order() -> None:
    remarks = {"intention": "i", "reasoning": "r", "user_detail_query": "q", "confidence_float": 0.5}
    action = skyvern("CLICK", id="A", **remarks)
    assert [*json.loads(render([action], format="skyvern"))["actions"][0]] == ["action_type", "id", *remarks]


def test_conditions_are_written_as_json() -> None:
    """A condition on true or false is written as a boolean, not as text."""
    for action in (skyvern("CLICK", id="A", double_click=True), skyvern("KEYPRESS", keys=["a"], hold=True)):
        written = render([action], format="skyvern")
        assert '"true"' not in written
        assert parse(written, format="skyvern").actions[0].type == action.type


# hosts


def _spellings(random: Random, address: str) -> Iterator[str]:
    """An IPv4 address as browsers also read it: other bases, fewer parts, other digits, escapes, and in IPv6."""
    parts = [int(part) for part in address.split(".")]
    number = int.from_bytes(bytes(parts), "big")
    digits = "".join(
        [random.choice([c, chr(ord(c) + 0xFEE0)]) if c != "." else random.choice(".。．") for c in address]
    )
    based = [random.choice([str(part), hex(part), f"0{part:o}"]) for part in parts]
    last_two = f"{parts[0]}.{parts[1]}.{parts[2] * 256 + parts[3]}"
    last_three = f"{parts[0]}.{number & 0xFFFFFF}"
    yield from (address, f"{address}.", digits, ".".join(based), str(number), hex(number), last_two, last_three)
    yield address.replace(".", "%2e").replace("1", "%31")
    high, low = number >> 16, number & 0xFFFF
    yield from (f"[::ffff:{address}]", f"[::ffff:{high:x}:{low:x}]", f"[64:ff9b::{address}]", f"[::{address}]")
    yield f"[2002:{high:x}:{low:x}::1]"


@pytest.mark.parametrize(
    ("addresses", "is_public"), TABLES["HOSTS_ARE_THOSE_TO_WHICH_A_BROWSER_CONNECTS"], ids=["private", "public"]
)
def test_hosts_are_those_to_which_a_browser_connects(addresses: list[str], is_public: bool) -> None:
    """Every spelling of an address is judged as the address, whatever stands round the host."""
    random = Random(9)
    for address in addresses:
        for host in _spellings(random, address):
            for url in (host, f"http://{host}", f"https://a:b@{host}:8080/x?y#z", f"//{host}/", f"HTTP:{host}"):
                assert _is_accepted(url) is is_public, url


@pytest.mark.parametrize(("hosts", "is_public"), TABLES["ADDRESSES_ARE_PUBLIC_BY_A_TABLE"])
def test_addresses_are_public_by_a_table(hosts: list[str], is_public: bool) -> None:
    """The answer is the same with every version of Python."""
    assert [host for host in hosts if _is_accepted(f"http://{host}/") is not is_public] == []


def test_names_of_the_own_network_are_refused() -> None:
    """Names that never leave the network are refused in any case and width, with a dot behind them, or escaped."""
    for name in ("localhost", "a.localhost", "printer.local", "db.internal", "x.home.arpa"):
        wide = "".join([chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in name])
        for host in (name, name.upper(), f"{name}.", wide, name.replace("l", "%6c").replace("o", "%6F")):
            assert not _is_accepted(f"http://{host}:80/a"), host
            assert not _is_accepted(host), host
    for url in TABLES["NAMES_OF_THE_OWN_NETWORK_ARE_REFUSED"]:
        assert not _is_accepted(url), url
    for url in ("example.org", "exämple.org/ä", "localhost.example.org", "http://mylocal", "[2606:4700::1111]"):
        assert _is_accepted(url), url


def _is_accepted(url: str) -> bool:
    try:
        web_url(url)
    except ValueError:
        return False
    return True
