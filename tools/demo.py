"""Shows what the library does, one thing after another, each with a line that says why it matters."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

from outspoken import Done, Screen, parse, render, stream
from outspoken.constraints import constraint
from outspoken.payloads import PayloadRegistry, PayloadType
from outspoken.results.printing import one_line

TOOL = {
    "name": "run_python",
    "parameters": {
        "type": "object",
        "properties": {"code": {"type": "string"}, "version": {"type": "string"}, "timeout": {"type": "integer"}},
        "required": ["code"],
    },
}


def _read(name: str) -> str:
    """A response, which is printed behind a line in the margin."""
    text = Path(__file__).with_name("demo_texts").joinpath(f"{name}.txt").read_text("utf-8")
    print(textwrap.indent(text, "  │ ", lambda _: True), end="\n\n")
    return text


def show_calls() -> None:
    """Reasoning, text and calls.

    The format is one of many and was detected: you write no parser for each model.
    """
    print(parse(_read("calls")))


def show_types() -> None:
    """Arguments that are only text.

    The tool's schema decides that the version is '3.10' and not 3.1, and the code may hold a closing tag.
    """
    text = _read("xml")
    print(f"without the tool  {parse(text).tool_calls[0].arguments['version']!r}")
    print(f"with the tool     {parse(text, tools=[TOOL]).tool_calls[0].arguments['version']!r}\n")
    print(parse(text, tools=[TOOL]))


def show_damage() -> None:
    """Damage.

    Each repair is listed with its place, and a call that was cut off is never among those to run.
    """
    reply = parse(_read("damaged"))
    print(f"run      {reply.tool_calls}")
    for repair in reply.tool_calls[0].repairs:
        print(f"         {repair}")
    print(f"do not   {reply.unfinished_tool_calls}")
    print(f"         {reply.diagnostics[-1]}")


def show_actions() -> None:
    """GUI actions.

    Every computer-use model gets the same actions, in the pixels of your screen.
    """
    screen = Screen(1920, 1080)
    reply = parse(_read("action"), format="ui_tars_1_0", screen=screen)
    for action in reply.actions:
        print(action)
    print(f"\nthe same for another model:\n{render(reply.actions, format='seed_gui', screen=screen)}")


def show_stream() -> None:
    """A stream.

    The answer is shown while its JSON is still open; what was sent is never taken back.
    """
    text, arrived = _read("streamed"), 0

    def chunks() -> Iterator[str]:
        nonlocal arrived
        for start in range(0, len(text), 12):
            arrived = min(start + 12, len(text))
            yield text[start:arrived]

    for event in stream(chunks(), format="react_json"):
        if not isinstance(event, Done):
            print(f"{arrived:>4} of {len(text)} characters  {one_line(event)}")


def show_payloads() -> None:
    """Payloads of your own.

    Users see the message without markup, and your client gets validated data.
    """
    registry = PayloadRegistry([PayloadType("suggested_values", "SUGGESTED_VALUES:", dict[str, str], kind="array")])
    message = registry.parse(_read("payload")).to_message()
    for key, value in message.items():
        print(f"{key:<16} {value!r}")


def show_constraint() -> None:
    """A constraint for decoding.

    The grammar that reads a format also keeps a model to it, and to the schemas of its tools.
    """
    found = constraint("hermes", tools=[TOOL], tool_choice="required")
    rules = len(found.to_gbnf().splitlines())
    print(f"{rules} rules for llama.cpp; also for vLLM, SGLang, xgrammar, llguidance and others\n")
    for arguments in (
        '{"code": "print(1)", "timeout": 3}',
        '{"code": "print(1)", "timeout": "soon"}',
        '{"timeout": 3}',
    ):
        call = f'<tool_call>\n{{"name": "run_python", "arguments": {arguments}}}\n</tool_call>'
        print(f"{'allowed' if found.accepts(call) else 'ruled out':<10} {arguments}")


SECTIONS = (show_calls, show_types, show_damage, show_actions, show_stream, show_payloads, show_constraint)


def main() -> None:
    """Print everything."""
    began = time.perf_counter()
    for number, show in enumerate(SECTIONS, 1):
        print(f"── {number}. {(show.__doc__ or '').replace(chr(10) * 2, chr(10)).replace('    ', '   ').rstrip()}\n")
        show()
        print()
    print(f"That took {time.perf_counter() - began:.1f} seconds. Go on with README.md, or try a response: outspoken ui")


if __name__ == "__main__":
    sys.exit(main())
