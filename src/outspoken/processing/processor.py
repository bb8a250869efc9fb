"""`ResponseProcessor`: reads and evaluates responses, with retries, a cache and statistics."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from itertools import count
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, TypedDict

from outspoken.actions.page import PageContext
from outspoken.grammar import registry
from outspoken.parsing.options import ParserChanges, finish_reason_of, prefix_of
from outspoken.parsing.parser import Parser
from outspoken.providers.registry import Provider
from outspoken.results.arguments import check_count, check_optional, check_type
from outspoken.results.construct import construct
from outspoken.results.finish_reasons import is_filtered
from outspoken.results.snippet import visible

from .cache import FingerprintError, ResponseCache, fingerprint
from .evaluation import Request, Strategies, evaluate
from .responses import ResponseLike, read_response
from .results import Answer, Check, Processed, RetryRequest
from .settings import ProcessorSettings
from .stats import ParseStats

if TYPE_CHECKING:
    from typing_extensions import Unpack

_log = logging.getLogger("outspoken")

#: The most characters of a diagnostic in the log.
_MAX_LOGGED = 300
_numbers = count(1)
#: What pickle raises for objects that it does not support.
_PICKLE_ERRORS = (PicklingError, AttributeError, TypeError, RecursionError)


class ResponseFacts(TypedDict, total=False):
    """What is known of a response, as keyword arguments of `process` and `aprocess`."""

    prefix: str | None
    finish_reason: str | None
    context: Any
    page: PageContext | None
    given: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    provider: Provider


class ResponseProcessor:
    """Reads responses with a parser, evaluates whether they are usable, and keeps statistics.

    `parser` is the parser of the responses; by default, it detects the format. Its `on_error` does not matter.
    `settings` control the processing. `checks` are functions of a reply and the context of its response; their
    diagnostics count like those of the parser. Processors may share a `cache`; without one, every response is read.
    `stats` counts every response, including retries and cache hits, and may be shared as well.

    All methods are thread-safe. Raises TypeError for an argument of a wrong type.
    """

    def __init__(
        self,
        parser: Parser | None = None,
        *,
        settings: ProcessorSettings | None = None,
        checks: Iterable[Check] = (),
        cache: ResponseCache | None = None,
        stats: ParseStats | None = None,
    ) -> None:
        self.parser = check_optional(parser, Parser, "parser") or Parser()
        self.settings = check_optional(settings, ProcessorSettings, "settings") or ProcessorSettings()
        self.cache = check_optional(cache, ResponseCache, "cache")
        found = check_optional(stats, ParseStats, "stats")
        self.stats = ParseStats() if found is None else found
        check_type(checks, Iterable, "checks")
        self._checks = tuple(checks)
        self._strategies = Strategies(self.parser, self.settings)
        #: Checks have no fingerprint, so a processor with checks does not share results with others.
        self._number = next(_numbers) if self._checks else 0

    def replace(self, **changes: Unpack[ParserChanges]) -> ResponseProcessor:
        """A processor for a parser with some of its arguments changed; see `Parser.replace`. The rest is shared."""
        parser = self.parser.replace(**changes)
        return ResponseProcessor(
            parser, settings=self.settings, checks=self._checks, cache=self.cache, stats=self.stats
        )

    def process(
        self,
        response: ResponseLike,
        *,
        attempt: int = 1,
        retry: Callable[[RetryRequest], Answer] | None = None,
        **known: Unpack[ResponseFacts],
    ) -> Processed:
        """Read and evaluate a response.

        `response` is its text, or the response of a provider as a dict or an object of its SDK; None is an empty one.
        The API is recognised for chat completions, responses of OpenAI, Anthropic and Gemini; name any other with
        `provider`. Calls that the provider sent apart from the text count like those in it.

        `known` is what is known of the response: `prefix` and `finish_reason`, as in `Parser.parse`; `context`, which
        is passed to the checks; `page` and `given` arguments, as in `Parser`; and `metadata`, such as the task and the
        step, which the result and its actions keep.

        `retry` asks the model again, at most `max_retry_attempts` times for one response, and returns its answer, alone
        or with its finish reason, or None to give up. Without `retry`, check `needs_retry` of the result; if you ask
        the model yourself, pass the number of the response as `attempt` (the first is 1).

        Raises ProviderFormatError for a response that no provider sends, LimitError for a response over the limit,
        ValueError for an `attempt` below 1, TypeError for an argument of a wrong type, and whatever a check or `retry`
        raises.
        """
        attempts = self._attempts(response, known, attempt, is_asked=retry is not None)
        try:
            request = next(attempts)
            while True:
                assert retry is not None  # else none is requested
                request = attempts.send(retry(request))
        except StopIteration as end:
            return end.value

    async def aprocess(
        self,
        response: ResponseLike,
        *,
        attempt: int = 1,
        retry: Callable[[RetryRequest], Awaitable[Answer]] | None = None,
        **known: Unpack[ResponseFacts],
    ) -> Processed:
        """`process` with an asynchronous `retry`."""
        attempts = self._attempts(response, known, attempt, is_asked=retry is not None)
        try:
            request = next(attempts)
            while True:
                assert retry is not None  # else none is requested
                request = attempts.send(await retry(request))
        except StopIteration as end:
            return end.value

    def _request(self, response: ResponseLike, known: ResponseFacts) -> Request:
        """The arguments of `process`. Raises TypeError for those of a wrong type."""
        if unknown := known.keys() - ResponseFacts.__annotations__:
            name = min(unknown)
            raise TypeError(f"process() has no argument `{name}`; for the parser's, use `ResponseProcessor.replace`")
        for name, kind in (("page", PageContext), ("given", Mapping), ("metadata", Mapping)):
            check_optional(known.get(name), kind, name)
        page_values, metadata = known.get("given"), known.get("metadata")
        content = read_response(response, known.get("provider", "openai"), self.parser, "response")
        return Request(
            content,
            prefix_of(known.get("prefix")),
            finish_reason_of(known.get("finish_reason")) or content.finish_reason,
            known.get("context"),
            known.get("page"),
            None if page_values is None else dict(page_values),
            None if metadata is None else dict(metadata),
        )

    def _attempts(
        self, response: ResponseLike, known: ResponseFacts, attempt: int, *, is_asked: bool
    ) -> Generator[RetryRequest, Answer, Processed]:
        """Read responses until one is usable or no more retries are allowed; yields the retries, if any are wanted."""
        request, provider = self._request(response, known), known.get("provider", "openai")
        check_count(attempt, "attempt", 1)
        earlier: tuple[Processed, ...] = ()
        while True:
            result = self._read(request)
            self.stats.record(result.format, result.status, result.categories)
            may_retry = attempt <= self.settings.max_retry_attempts and not is_filtered(request.finish_reason)
            result = _with_retries(result, may_retry=may_retry, attempts=attempt, earlier=earlier)
            if not result.is_usable and self.settings.log_failed_parses:
                self._log_failure(result)
            if not result.needs_retry or not is_asked:
                return result
            answer = yield RetryRequest(attempt, result.retry_message(), result)
            if answer is None:
                return _with_retries(result, may_retry=False, attempts=attempt, earlier=earlier)
            answer, reason = answer if isinstance(answer, tuple) else (answer, None)
            content = read_response(answer, provider, self.parser, "retry(...)")
            reason = finish_reason_of(reason) or content.finish_reason
            request = request._replace(response=content, finish_reason=reason)
            earlier, attempt = (*earlier, construct(Processed, {**result.__dict__, "earlier": ()})), attempt + 1

    def _read(self, request: Request) -> Processed:
        """Evaluate one response, or get its result from the cache."""
        key = self._key(request)
        if key is None or self.cache is None:
            return evaluate(request, self._strategies, self.settings, self._checks)
        processed = self.cache.get(key)
        if processed is None:
            processed = evaluate(request, self._strategies, self.settings, self._checks)
            with suppress(*_PICKLE_ERRORS):  # a check may add objects of any class
                self.cache.put(key, processed)
        elif self.parser.tools is not None:
            for segment in processed.reply.segments:  # a pickle does not hold the types of tools
                self.parser.tools.attach_type(segment)
        return processed

    def _key(self, request: Request) -> str | None:
        """The digest of everything that a result depends on; None without a cache, and if there is no digest."""
        if self.cache is None:
            return None
        try:
            return fingerprint(self._base_key, registry.edition(), *request)
        except FingerprintError:
            return None

    @cached_property
    def _base_key(self) -> str:
        """The digest of the parser and the settings. Raises FingerprintError."""
        return fingerprint(self.settings, *self.parser.options.parts(), self._number)

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
