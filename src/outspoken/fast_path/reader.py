"""The fast path of a format: a generated function that reads complete, sound text.

It reads what most responses are, several times as fast as the parser, and returns None for everything else. It lies in
`grammars/compiled/<format>.py`, where `python -m tools.compile` puts it.
"""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from outspoken.grammar import registry
from outspoken.grammar.sources import is_current
from outspoken.notations.tools import Tools
from outspoken.results.construct import given, make, set_extra, set_given, set_private, set_values
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Reply
from outspoken.results.settings import Settings

from .runtime import INSIDE, SEGMENT, WHOLE

#: Increase it when the generated functions are called in another way, so that no old one is used.
VERSION = 1
#: Is the fast path used at all?
ENABLED = True

_REPLY = given(Reply)


class FastPath:
    """The fast path of one format. Threads may share it."""

    def __init__(self, module: Any) -> None:
        #: the name of the format
        self.format: str = module.FORMAT
        #: does white space round text belong to the markers?
        self.trims_text: bool = module.TRIMS_TEXT
        #: matches the markers that may precede all text, or None
        self.match_leading: Any = module.match_leading
        self._prompt_end: str = module.PROMPT_END
        self._read: Any = module.read_sound

    def read(self, text: str, prefix: str | None, tools: Tools | None, depth: int) -> list[Any] | None:
        """The segments of a text; None if only the parser can tell.

        `prefix` is as for `parse`; `depth` is the greatest depth of nested values.
        """
        names = None if tools is None else tools.names
        end = self._prompt_end
        if not end or prefix is not None or text.lstrip().startswith(end.strip()):
            found = self._read(text, 0, 0, tools, names, depth, WHOLE, 0, 0, True)
            return found if found.__class__ is list else None
        found = self._read(end + text, 0, 0, tools, names, depth, WHOLE, len(end), 0, True)
        return found if found.__class__ is list and (not found or found[0].span[0] >= 0) else None

    def read_head(self, text: str, tools: Tools | None, depth: int) -> Any:
        """Read what precedes all text; returns what `read_segment` does."""
        return self._read(text, 0, 0, tools, None if tools is None else tools.names, depth, INSIDE, 0, 0, True)

    def read_segment(self, text: str, pos: int, tools: Tools | None, depth: int) -> Any:
        """Read what begins with an opening marker at `pos`.

        Returns its segments, where they end, the end of what is certain, and whether they end with text. Returns None
        if only the parser can tell. Returns a bool if the grammar refuses the text: has a stream passed on any of it by
        then?
        """
        names = None if tools is None else tools.names
        return self._read(text, pos, 1, tools, names, depth, SEGMENT, 0, pos, True)

    def read_in_text(self, text: str, pos: int, tools: Tools | None, depth: int, safe: int, after_text: bool) -> Any:
        """The same for a marker in text that is known to be of the format.

        Everything up to `safe` is in segments already; `after_text` tells whether the last of them is text.
        """
        names = None if tools is None else tools.names
        return self._read(text, pos, 1, tools, names, depth, INSIDE, 0, safe, after_text)


@registry.cached
def fast_path_of(format: str, edition: int) -> FastPath | None:
    """The fast path of a format, by its name or an alias; None if it has none that is current."""
    name = registry.resolve(format)
    folder = registry.grammars_folder()
    path = registry.generated_path(folder / f"{name}.lark")
    if registry.is_added(name) or not path.is_file():
        return None
    module = _module(name, path)
    return FastPath(module) if module.VERSION == VERSION and is_current(folder, module.SOURCES) else None


def _module(name: str, path: Path) -> Any:
    spec = spec_from_file_location(f"outspoken.grammars.compiled.{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(text: str, format: str, prefix: str | None, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a complete text; None if only the parser can tell. The arguments are those of `parse`."""
    if prefix or len(text) > settings.max_chars or not (text.isascii() or replace_surrogates(text) is text):
        return None
    path = fast_path_of(format, registry.edition())
    if path is None:
        return None
    known = tools if tools is None or tools.__class__ is Tools else Tools.of(tools)
    segments = path.read(text, prefix, known, settings.max_depth)
    return None if segments is None else reply_of(text, path.format, segments)


def reply_of(text: str, format: str | None, segments: list[Any]) -> Reply:
    """The reply to a sound text."""
    made = make(Reply)
    set_values(
        made,
        {
            "raw": text,
            "format": format,
            "segments": segments,
            "status": "ok",
            "diagnostics": [],
            "repairs": [],
            "envelope": False,
            "envelope_content": None,
            "needs_more_work": None,
            "final_answer_streamed": False,
        },
    )
    set_given(made, _REPLY)
    set_extra(made, None)
    set_private(made, None)
    return made
