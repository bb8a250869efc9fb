"""`ResponseProcessor`: reads and evaluates responses, with retries, a cache and statistics."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pickle import PicklingError
from typing import Any

from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.results.construct import construct
from outspoken.results.settings import DEFAULT, Settings
from outspoken.results.snippet import visible

from .cache import FingerprintError, ResponseCache, fingerprint
from .categories import CONTENT_FILTER
from .evaluation import evaluate
from .results import Answer, Check, Processed, RetryRequest
from .settings import ProcessorSettings
from .stats import ParseStats
from .strategies import ParseRequest

_log = logging.getLogger("outspoken")

#: The most characters of a diagnostic in the log.
_MAX_LOGGED = 300
_numbers = count(1)
#: What pickle raises for objects that it does not support.
_PICKLE_ERRORS = (PicklingError, AttributeError, TypeError, RecursionError)


class ResponseProcessor:
    """Reads responses like `parse`, evaluates whether they are usable, and keeps statistics.

    `config` controls the processing, `settings` the limits of the reader. `tools` are the default tools; do not change
    them afterwards. `checks` are functions of a reply and the context of its response; their diagnostics count like
    those of the reader. Processors may share a `cache`; without one, every response is read. `stats` counts every
    response, including retries and cache hits, and may be shared as well.

    All methods are thread-safe.
    """

    def __init__(
        self,
        config: ProcessorSettings | None = None,
        *,
        tools: Any = None,
        checks: Iterable[Check] = (),
        cache: ResponseCache | None = None,
        stats: ParseStats | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.config = config or ProcessorSettings()
        self.cache = cache
        self.stats = stats if stats is not None else ParseStats()
        self._tools = Tools.of(tools)
        self._checks = tuple(checks)
        self._settings = settings or DEFAULT
        #: Checks have no fingerprint, so a processor with checks does not share results with others.
        self._base_key = fingerprint(self.config, self._settings, next(_numbers) if self._checks else 0)
        self._tools_key: str | None = None

    def process(
        self,
        text: str,
        format: str = "auto",
        *,
        tools: Any = None,
        prefix: str | None = None,
        finish_reason: str | None = None,
        context: Any = None,
        attempt: int = 1,
        retry: Callable[[RetryRequest], Answer] | None = None,
    ) -> Processed:
        """Read and evaluate a response.

        `format`, `tools`, `prefix` and `finish_reason` are as in `parse`; `context` is passed to the checks. `retry`
        asks the model again, at most `max_retry_attempts` times for one response, and returns its answer, alone or
        with its finish reason, or None to give up. Without `retry`, check `needs_retry` of the result; if you ask the
        model yourself, pass the number of the response as `attempt` (the first is 1).

        Raises LimitError for a response over the limit, UnknownFormatError, ToolError, ValueError for an `attempt`
        below 1, and whatever a check or `retry` raises.
        """
        attempts = self._attempts(self._request(text, format, tools, prefix, finish_reason, context), attempt, retry)
        try:
            request = next(attempts)
            while retry is not None:
                request = attempts.send(retry(request))
        except StopIteration as end:
            return end.value
        raise AssertionError("the generator requests retries only if there is a `retry`")

    async def aprocess(
        self,
        text: str,
        format: str = "auto",
        *,
        tools: Any = None,
        prefix: str | None = None,
        finish_reason: str | None = None,
        context: Any = None,
        attempt: int = 1,
        retry: Callable[[RetryRequest], Awaitable[Answer]] | None = None,
    ) -> Processed:
        """`process` with an asynchronous `retry`."""
        attempts = self._attempts(self._request(text, format, tools, prefix, finish_reason, context), attempt, retry)
        try:
            request = next(attempts)
            while retry is not None:
                request = attempts.send(await retry(request))
        except StopIteration as end:
            return end.value
        raise AssertionError("the generator requests retries only if there is a `retry`")

    def _request(
        self, text: str, format: str, tools: Any, prefix: str | None, finish_reason: str | None, context: Any
    ) -> ParseRequest:
        name = format if format == "auto" else registry.resolve(format)
        given = self._tools if tools is None else Tools.of(tools)
        return ParseRequest(text, name, given, prefix, finish_reason, context)

    def _attempts(
        self, request: ParseRequest, attempt: int, retry: object
    ) -> Generator[RetryRequest, Answer, Processed]:
        """Read responses until one is usable or no more retries are allowed; yields the retries."""
        if type(attempt) is not int or attempt < 1:
            raise ValueError(f"`attempt` is {attempt!r}; expected an integer of at least 1")
        earlier: tuple[Processed, ...] = ()
        while True:
            result = self._read(request)
            self.stats.record(result.format, result.status, result.categories)
            may_retry = attempt <= self.config.max_retry_attempts and request.reason not in CONTENT_FILTER
            result = _with_retries(result, may_retry=may_retry, attempts=attempt, earlier=earlier)
            if not result.is_usable and self.config.log_failed_parses:
                self._log_failure(result)
            if not result.needs_retry or retry is None:
                return result
            answer = yield RetryRequest(attempt, result.retry_message(), result)
            if answer is None:
                return _with_retries(result, may_retry=False, attempts=attempt, earlier=earlier)
            text, reason = (answer, None) if isinstance(answer, str) else answer
            request = request._replace(text=text, finish_reason=reason)
            earlier, attempt = (*earlier, construct(Processed, {**result.__dict__, "earlier": ()})), attempt + 1

    def _read(self, request: ParseRequest) -> Processed:
        """Evaluate one response, or get its result from the cache."""
        key = self._key(request)
        if key is None or self.cache is None:
            return evaluate(request, self.config, self._settings, self._checks)
        found = self.cache.get_parsed_response(key)
        if found is None:
            found = evaluate(request, self.config, self._settings, self._checks)
            with suppress(*_PICKLE_ERRORS):  # a check may add objects of any class
                self.cache.cache_parsed_response(key, found)
        return found

    def _key(self, request: ParseRequest) -> str | None:
        """The digest of everything that a result depends on; None without a cache, and if there is no digest."""
        if self.cache is None:
            return None
        try:
            if request.tools is not self._tools or request.tools is None:
                tools = request.tools and fingerprint(request.tools)
            else:
                tools = self._tools_key = self._tools_key or fingerprint(request.tools)
            return fingerprint(self._base_key, registry.edition(), tools, *request._replace(tools=None))
        except FingerprintError:
            return None

    def _log_failure(self, result: Processed) -> None:
        """Log a response that is not usable: its problem, length and digest, but not its text."""
        raw = result.reply.raw.encode("utf-8", "surrogatepass")
        first = next((d for d in result.problems if d.severity == "error"), result.problems[0])
        more = f" and {len(result.problems) - 1} more" if len(result.problems) > 1 else ""
        place = f"{len(result.reply.raw):,} characters, sha256 {sha256(raw).hexdigest()[:12]}"
        line = f"response {result.attempts} is {result.status} ({result.format}, {place}): {visible(str(first))}"
        _log.warning(
            "%s%s; %s", line[:_MAX_LOGGED], more, "may be retried" if result.needs_retry else "will not be retried"
        )


def _with_retries(result: Processed, *, may_retry: bool, attempts: int, earlier: tuple[Processed, ...]) -> Processed:
    """A result with what is to be done next, and the responses before it."""
    failed = not result.is_usable
    retries = {"needs_retry": failed and may_retry, "needs_manual": failed and not may_retry}
    return construct(Processed, {**result.__dict__, **retries, "attempts": attempts, "earlier": earlier})
