"""Constraints of decoding: grammars that keep a model from writing anything but what a format and the tools allow.

`constraint` derives one from the grammar that parses. May import the rooms from `results` to `rendering`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.errors import ConstraintError as ConstraintError

    from .deriving import Constraint as Constraint, constraint as constraint

export_lazily(__name__)
