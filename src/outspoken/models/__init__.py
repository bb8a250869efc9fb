"""What is known of a model: the format of its responses and the end of its prompts, by its id or its chat template.

`find_model` takes an id, a tokenizer, a folder, a template or a client. Patterns of ids are in the headers of grammars
(`grammar.model_ids`). May import the rooms from `results` to `detection`; what reads a text is handed in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from .finding import Model as Model, find_model as find_model
    from .tokens import special_spans as special_spans

export_lazily(__name__)
