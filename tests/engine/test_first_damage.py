"""The first damaged text of a process compiles few patterns and visits few configurations."""

import json
import subprocess
import sys

import pytest

TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
COUNT = """
import json, re, sys
from outspoken import Parser, render
from outspoken.grammar.registry import automaton
name, tool = sys.argv[1], json.loads(sys.argv[2])
text = render([{"name": "f", "arguments": {"a": "one two"}}], name, tools=[tool])
parser = Parser(name, tools=[tool])
parser.parse(text)
compiled, real = [], re.compile
def compile(pattern, flags=0):
    compiled.append(pattern)
    return real(pattern, flags)
re.compile = compile
at = text.index("one two") + len("one two")
parser.parse(text[:at] + text[at + 1 :])
made = automaton(name, lenient=True)
print(sum(map(len, set(compiled))), len(made._configs), "regex" in sys.modules)
"""


@pytest.mark.parametrize(
    ("name", "characters", "configurations"),
    [
        ("hermes", 12_000, 200),
        ("harmony", 37_000, 60),
        ("hy_v3", 34_000, 160),
        ("minimax_m2", 14_000, 120),
        ("react_json", 60_000, 1_200),
    ],
)
def test_the_first_damaged_text_of_a_process_takes_little_work(name: str, characters: int, configurations: int) -> None:
    """By the patterns that are compiled, since the time of one text is no measure."""
    command = [sys.executable, "-W", "ignore", "-c", COUNT, name, json.dumps(TOOL)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(found[0]) <= characters
    assert int(found[1]) <= configurations
    assert found[2] == "False"
