"""`load_format`: formats of the caller, from a grammar or a response template."""

from __future__ import annotations

import json
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import Any, cast

from outspoken.results.errors import GrammarError

from . import registry


def load_format(source: str | PathLike[str] | dict[str, Any], name: str | None = None) -> str:
    """Add a format while the program runs, and return its name, which `format=` accepts from then on.

    `source` is the path of a grammar file (`.lark`), a response template of Hugging Face as a dict, or the path of a
    JSON file that is a template or has one under `response_template` (such as `tokenizer_config.json`). A grammar has
    its own name; a template is called `name`. A grammar may import what the library's own formats share. For a
    template, `parse_message` returns the message that it makes of a response.

    Loading the same format again does nothing. You may call this from any thread, also while other threads parse.

    Raises GrammarError, with the line or the key, if the source cannot be used, and ValueError if another format has
    the name.
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
