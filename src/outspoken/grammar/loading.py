"""`load_format`: formats that a caller brings along, as a grammar or as a response template."""

from __future__ import annotations

import json
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import Any, cast

from outspoken.results.errors import GrammarError

from . import registry


def load_format(source: str | PathLike[str] | dict[str, Any], name: str | None = None) -> str:
    """Add a format while the program runs, and return its name: the one that `format=` takes from then on.

    `source` is the path of a grammar file (`.lark`), a response template of Hugging Face as a dict, or the path of a
    JSON file that is one or has one under `response_template` (`tokenizer_config.json`). A grammar says itself how it
    is called; a template is called `name`. A grammar may import what the library's own formats share. The message that
    a template makes of a response is what `parse_message` returns.

    Raises GrammarError for what cannot be used, with the line or the key, and ValueError where the name is that of
    another format. To load the same format once more does nothing. It may be called from any thread, and while other
    threads parse.
    """
    if isinstance(source, dict):
        return _template(source, name)
    path = Path(source)
    if path.suffix == ".lark":
        return _grammar(path, name)
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise GrammarError(str(path), f"it cannot be read: {error}") from error
    found = cast("dict[str, Any]", data).get("response_template", data) if isinstance(data, dict) else data
    return _template(found, name)


def _template(template: Any, name: str | None) -> str:
    from .response_template import grammar_of
    from .template_fields import Template

    if not name:
        raise ValueError("a response template has no name of its own; pass `name`")
    known = registry.normalized(name)
    path = registry.grammars_folder() / f"{known}.lark"
    checked = Template(deepcopy(template), known)
    return registry.add(known, grammar_of(checked, known), path, checked)


def _grammar(path: Path, name: str | None) -> str:
    from .header import read_header

    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise GrammarError(str(path), f"it cannot be read: {error}") from error
    known = read_header(text, str(path)).format
    if name is not None and registry.normalized(name) != known:
        raise ValueError(f"the grammar calls itself `{known}`, not `{name}`")
    return registry.add(known, text, path)
