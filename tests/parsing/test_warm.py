"""What a parser loads before the first response, so that no response waits for it."""

import subprocess
import sys

import pytest

#: Prints how many patterns a damaged response compiles, and its stream.
PROGRAM = """
import sys
import regex
from outspoken import Parser

text = {text!r}
parser = Parser({format_!r})
if {warm}:
    parser.warm()
made = []
compile_pattern = regex.compile
regex.compile = lambda *args, **options: made.append(1) or compile_pattern(*args, **options)
assert parser.parse(text, finish_reason="stop").tool_calls[0].name == "get_weather"
session = parser.session()
for char in text:
    session.feed(char)
assert session.close("stop")
print(len(made))
"""


@pytest.mark.parametrize(
    ("format_", "text"),
    [
        ("hermes", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tol_call>'),
        ("mistral", '[TOOL_CALLS]get_weather[ARG]{"city": "Paris"}'),
    ],
)
def test_a_warm_parser_compiles_few_patterns_for_a_damaged_response(format_: str, text: str) -> None:
    def compiled(warm: bool) -> int:
        program = PROGRAM.format(format_=format_, text=text, warm=warm)
        return int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)

    assert 3 * compiled(warm=True) < compiled(warm=False)
