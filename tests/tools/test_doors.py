"""Every way into the library reads the same text alike."""

from __future__ import annotations

import pytest

from outspoken import parse
from outspoken.contrib.skyvern import parse_api_response
from tests.cases import FORMATS
from tests.semantics.test_fences import OBJECTS
from tools.doors import corpus_of, disagreements, run

_GROUPS = 7


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[str]]:
    return corpus_of()


@pytest.mark.parametrize("group", range(_GROUPS))
def test_every_door_reads_alike(group: int, corpus: dict[str, list[str]]) -> None:
    """Parser, processor, actions, provider responses, command line and proxy, whole and streamed."""
    names = [name for name in FORMATS[group::_GROUPS] if name in corpus][::3]
    count, wrong = run(names, 1, seed=group, corpus=corpus)
    assert count == len(names)
    assert wrong == []


def test_formats_that_are_prompted_json_agree_on_fences(corpus: dict[str, list[str]]) -> None:
    count, wrong = run(list(OBJECTS), 2, seed=7, corpus=corpus)
    assert (count, wrong) == (2 * len(OBJECTS), [])


def test_bare_places_are_read_alike(corpus: dict[str, list[str]]) -> None:
    """An answer that is a place alone, behind reasoning or other answers, and lists that are no place."""
    dict_ = "{'action': 'ENTER', 'value': None, 'position': None}"
    places = ("[0.73, 0.21]", "[.5,1.0]", "[ 0.5 , 0.5 ]", "[0.5,0.5,]", "[0.73, 0.21", "[2, 3]", "`[0.73, 0.21]`")
    texts = [f"{before}{place}{after}" for place in places for before, after in [
        ("", ""), ("At ", " it is."), ("<think>a [0.1, 0.2]</think>\n", "\r\n"), ("[0.1, 0.2]\n", f"\n{dict_}"),
    ]]  # fmt: skip
    assert [found for text in texts for found in disagreements("showui", text)] == []
    assert len(parse("<think>a</think>\n[0.73, 0.21]", "showui").actions) == 1
    assert run(["showui"], 12, corpus=corpus) == (12, [])


@pytest.mark.parametrize("name", ["extract-actions", "decisive-criterion-validate"])
def test_the_object_that_was_asked_for_is_taken(name: str) -> None:
    """Of several objects, that with the actions counts, behind inline code and remarks that are JSON."""
    wanted = {"actions": [{"action_type": "CLICK", "id": "AAB"}]}
    text = '{"actions": [{"action_type": "CLICK", "id": "AAB"}]}'
    remarks = (
        'State: {"step": 1}. ',
        'As `{1}` and `{"x": 1}` say:\n',
        '```\n{"seen": [{"a": 1}]}\n```\n',
        '{"a": 1}{"b": 2}\n',
    )
    for before in remarks:
        for object in (text, f"```json\n{text}\n```", f"~~~\n{text}\n~~~"):
            assert parse_api_response(before + object, prompt_name=name) == wanted, before + object


def test_a_key_of_another_object_makes_no_call() -> None:
    """A condition on what follows an opening brace does not look beyond the object."""
    text = 'Such is {"name": "moss"}. {"name": "find_book", "args": {"title": "Moss"}}'
    assert disagreements("gemini_computer_use", text) == []
    assert [call.name for call in parse(text, "gemini_computer_use").tool_calls] == ["find_book"]
