"""A response is read, evaluated, retried, cached and counted: `ResponseProcessor`; and actions checked on a page.

Knows no application: what belongs to one is in `contrib`. May import the rooms from `results` to `providers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.codes import ErrorCategory as ErrorCategory

    from .answers import (
        TypedAnswer as TypedAnswer,
        aread_answer as aread_answer,
        read_answer as read_answer,
    )
    from .cache import CacheInfo as CacheInfo, ResponseCache as ResponseCache
    from .page_actions import ActionsLike as ActionsLike, parse_action as parse_action, parse_actions as parse_actions
    from .partial_calls import PartialCalls as PartialCalls
    from .processor import ResponseProcessor as ResponseProcessor
    from .results import Processed as Processed, RetryRequest as RetryRequest
    from .settings import ProcessorSettings as ProcessorSettings
    from .stats import ParseStats as ParseStats

export_lazily(__name__)
