"""Frameworks that read raw text of models with Outspoken: a module for each, of the framework's name.

Import the module of your framework (`outspoken.integrations.pydantic_ai`); it needs the extra of the same name. May
import every room but `serving` and `cli`. What they share is in `messages` and `assembler`. What methods without a
docstring take and return is documented by the framework, whose interface they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.errors import MissingPackageError as MissingPackageError

export_lazily(__name__)
