"""Finds what is known of a model by what people have: an id, a tokenizer, a folder, a chat template, or a client."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from outspoken.grammar import registry
from outspoken.grammar.model_ids import PromptEnds
from outspoken.results.arguments import kind_of
from outspoken.results.errors import UnknownFormatError, UnreadTemplateError

if TYPE_CHECKING:
    from .chat_template import ChatTemplate
    from .proof import Proof, Read

#: The files that hold a chat template, in the order in which `transformers` looks for it.
_FILES = ("chat_template.jinja", "chat_template.json", "tokenizer_config.json")


class Model(NamedTuple):
    """The format of a model's responses, and what its prompts end with.

    `pattern` is what its id matched in a grammar's `ids`. `proof` is there if a chat template was read back, and
    `template` is that template.
    """

    format: str
    ends: PromptEnds
    pattern: str = ""
    proof: Proof | None = None
    template: ChatTemplate | None = None


def find_model(source: Any, read: Read) -> Model:
    """What is known of a model. `read` reads a text in a format.

    `source` is the id of a model, a tokenizer or a processor, the path of a folder, of a `tokenizer_config.json` or of
    a template, the text of a template, or a client of OpenAI, whose server is asked for its models. A template goes
    before an id, since it says what the model is given.

    Raises UnknownFormatError for an id that is not known, UnreadTemplateError for a template that no format reads,
    MissingPackageError for a template without jinja2, FileNotFoundError for a path that is not there, ValueError for a
    server that has no model or models of several formats, and TypeError for another source.
    """
    if isinstance(source, str) and ("{%" in source or "{{" in source):
        return _by_template(source, {}, "", "the chat template", read)
    if isinstance(source, str | PathLike):
        path = Path(cast("str | PathLike[str]", source))
        try:
            exists = path.exists() and (path.is_dir() or path.suffix in (".json", ".jinja"))
        except (OSError, ValueError):
            exists = False
        if exists:
            return _by_path(path, read)
        if isinstance(source, PathLike):
            raise FileNotFoundError(f"there is no file `{path}`")
        return _by_id(source)
    if (template := _template_of(source)) is not None:
        token_map = getattr(source, "special_tokens_map", None)
        tokens = {k: str(v) for k, v in cast("Mapping[str, Any]", token_map or {}).items() if k.endswith("_token")}
        return _by_template(template, tokens, _id_of(source), "the chat template", read)
    if callable(getattr(getattr(source, "models", None), "list", None)):
        return _by_client(source)
    if model_id := _id_of(source):
        return _by_id(model_id)
    raise TypeError(f"`model` is {kind_of(source)}; expected an id, a path, a template, a tokenizer or a client")


def _by_id(model_id: str) -> Model:
    try:
        found = registry.model(model_id)
    except UnknownFormatError:
        return Model(registry.resolve(model_id), PromptEnds())  # it may be the name of a format
    return Model(found.format, found.ends, found.pattern)


def _by_client(client: Any) -> Model:
    """The model that a server has, or the ones that it has, if they are of one format."""
    listed: Any = client.models.list()
    ids = [str(model.id) for model in getattr(listed, "data", listed)]
    by_format: dict[tuple[str, PromptEnds], Model] = {}
    error: UnknownFormatError | None = None
    for model_id in ids:
        try:
            listed_model = _by_id(model_id)
        except UnknownFormatError as unknown:
            error = error or unknown
        else:
            by_format[listed_model.format, listed_model.ends] = listed_model
    if len(by_format) == 1:
        return next(iter(by_format.values()))
    if not by_format and error is not None:
        raise error
    raise ValueError(
        f"the server has models of several formats: name one of {', '.join(ids)}"
        if ids
        else "the server lists no model"
    )


def _by_path(path: Path, read: Read) -> Model:
    if path.is_dir():
        file = next((path / name for name in _FILES if (path / name).is_file()), None)
        if file is None:
            return _by_id(path.resolve().name)
        path, name = file, path.resolve().name
    else:
        name = path.resolve().parent.name
    return _by_template(path, None, name, str(path), read)


def _by_template(source: str | Path, tokens: dict[str, str] | None, model_id: str, name: str, read: Read) -> Model:
    """The model whose template this is, a text or a file: by what is read back, or else by its id."""
    from outspoken.results.packages import Package  # an id needs none

    Package("models", "jinja2", needed_by="reading a chat template").load("jinja2")
    from .chat_template import ChatTemplate, TemplateError
    from .proof import prove

    try:
        template = ChatTemplate.of(source) if isinstance(source, Path) else ChatTemplate(source, tokens)
        proof = prove(template, read, _format_by_id(model_id))
    except TemplateError as error:
        return _or_by_id(model_id, UnreadTemplateError(name, str(error)))
    if proof.format is not None:
        return Model(proof.format, proof.ends, "", proof, template)
    why = "no format reads all that it writes" if proof.has_calls else "it writes no calls that could be read back"
    model = _or_by_id(model_id, UnreadTemplateError(name, why, [*proof.nearest]))
    return model._replace(ends=proof.ends, proof=proof, template=template)


def _or_by_id(model_id: str, error: UnreadTemplateError) -> Model:
    """The model by its id, if that is known; a template that cannot be read back says nothing against it."""
    try:
        return _by_id(model_id)
    except UnknownFormatError:
        raise error from None


def _format_by_id(model_id: str) -> str:
    try:
        return registry.model(model_id).format if model_id else ""
    except UnknownFormatError:
        return ""


def _template_of(source: Any) -> str | None:
    """The chat template of a tokenizer, or of the tokenizer of a processor; that for tools if there are several."""
    for holder in (source, getattr(source, "tokenizer", None)):
        found: Any = getattr(holder, "chat_template", None)
        if isinstance(found, Mapping):
            named = cast("Mapping[str, Any]", found)
            found = named.get("tool_use") or named.get("default")
        if isinstance(found, str):
            return found
    return None


def _id_of(source: Any) -> str:
    """The id of the model of a tokenizer, a processor or a model object; "" if it has none."""
    for holder in (source, getattr(source, "tokenizer", None), getattr(source, "config", None)):
        found: Any = getattr(holder, "name_or_path", None) or getattr(holder, "_name_or_path", None)
        if isinstance(found, str) and found:
            return found
    return ""
