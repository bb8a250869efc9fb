"""What a user does first with the installed package. `test_wheel.py` runs it where nothing else is installed."""

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import outspoken
from outspoken import Done, Screen, TextDelta, ToolCallEnd, detect, formats, load_format, parse, render, stream
from outspoken.results.errors import MissingPackageError

CALL = 'One moment.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'

#: A format that a user adds. It imports from the grammars in the package.
GRAMMAR = """\
// format:  own_tags
// title:   JSON in tags of our own
// models:  none
// source:  made up
// trim:    text, reasoning
// example:
//   <own_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</own_call>

start: (TEXT | tool_call)*
tool_call: _CALL_OPEN _json_call _CALL_CLOSE

_CALL_OPEN: "<own_call>"
_CALL_CLOSE: "</own_call>"

%import .shared.text.TEXT
%import .shared.json_call._json_call
%import common.WS
%ignore WS
"""


def reads_whole_texts() -> None:
    """A named and a detected format, sound and damaged text, and what `render` writes."""
    for reply in (parse(CALL, format="hermes"), parse(CALL)):
        assert (reply.text, reply.format) == ("One moment.", "hermes")
        assert reply.tool_calls[0].arguments == {"city": "Paris"}
    damaged = parse(CALL.replace('"}}', '",}'))
    assert (damaged.status, damaged.tool_calls[0].arguments) == ("repaired", {"city": "Paris"})
    assert detect(CALL)[0].format == "hermes"
    for name in ("kimi_k2", "qwen3_coder", "harmony", "glm_4_5"):
        written = render(damaged.tool_calls[0], format=name)
        assert parse(written, format=name).tool_calls[0].arguments == {"city": "Paris"}
    acting = parse("Action: click(start_box='(500,250)')", format="ui_tars_1_0", screen=Screen(1920, 1080))
    assert [action.type for action in acting.actions] == ["click"]


def needs_no_lark(cut: set[str]) -> None:
    """Every format has its compiled tables in the package: nothing compiles a grammar to read, nor the `cut` examples.

    Lark reads only what the format refuses and the recovery search cannot read.
    """
    assert len(formats()) > 90
    for info in formats():
        parse(info.example, format=info.name)
        if info.name in cut:
            parse(info.example[:-1], format=info.name)
    for name in ("hermes", "auto"):
        assert parse(CALL.replace('"}}', '",}'), format=name).status == "repaired"
    assert "lark" not in sys.modules


def adds_a_format() -> None:
    """A grammar is loaded at run time, then parsed, detected and streamed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "own_tags.lark"
        path.write_text(GRAMMAR, "utf-8")
        assert load_format(path) == "own_tags"
    text = 'Hi.<own_call>{"name": "save", "arguments": {"to": "disk"}}</own_call>'
    events = stream(iter(text), format="own_tags")
    taken = [*events]
    assert "".join([event.text for event in taken if isinstance(event, TextDelta)]) == "Hi."
    assert [event.call.name for event in taken if isinstance(event, ToolCallEnd)] == ["save"]
    assert taken[-1] == Done(parse(text, format="own_tags"))
    for reply in (parse(text, format="own_tags"), parse(text), events.reply):
        assert reply.format == "own_tags"
        assert reply.tool_calls[0].arguments == {"to": "disk"}


def imports_every_module() -> None:
    """Each module imports with the required dependencies alone, or lacks what its extra installs."""
    missing: set[tuple[str, str | None]] = set()
    for module in pkgutil.walk_packages(outspoken.__path__, "outspoken."):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except MissingPackageError as error:  # says which extra to install
                room = module.name.split(".")[1]
                missing |= {(room, error.package)} if room != "integrations" else set()
            except ModuleNotFoundError as error:
                missing.add((module.name.split(".")[1], error.name))
    extras = {
        "serving": ("anyio", "httpx", "starlette", "uvicorn"),
        "playground": ("anyio", "starlette", "uvicorn"),
        "authoring": ("hypothesis", "jinja2", "railroad", "rich", "tomli"),
        "batch": ("jinja2", "pyarrow"),
        "models": ("jinja2",),
    }
    assert missing <= {(room, extra) for room, names in extras.items() for extra in names}, missing


if __name__ == "__main__":
    print(outspoken.__file__)
    needs_no_lark({*sys.argv[1:]})  # first: `detect` asks formats to read the texts of others
    reads_whole_texts()
    adds_a_format()
    imports_every_module()
