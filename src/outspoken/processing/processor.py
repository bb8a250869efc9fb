"""`ResponseProcessor`: from a response to what may be done, with settings, retries, a cache and statistics."""

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

from .cache import ResponseCache
from .config import ParserConfig
from .evaluation import judge
from .fingerprint import NoFingerprint, fingerprint
from .finish_reasons import CONTENT_FILTER
from .results import Answer, Check, Processed, RetryRequest
from .stats import ParseStats
from .strategies import Question

_log = logging.getLogger("outspoken")

#: The longest line that the log is told of a response.
_LOGGED = 300
_numbers = count(1)
#: What pickle raises for what it cannot take.
_UNPICKLED = (PicklingError, AttributeError, TypeError, RecursionError)


class ResponseProcessor:
    """Reads responses as `parse` does, decides which are of use, and keeps count.

    `config` says how (`ParserConfig`), `settings` sets the limits of the reader. `tools` are those of all responses for
    which no others are given; they must not be changed afterwards. `checks` are functions of a reply and of the context
    of its response; what they find counts like what the reader itself finds. `cache` may be shared between processors;
    without one, every response is read. `stats` counts every response, those of retries and of the cache, too; it may
    be shared as well.

    A processor may be used from several threads at once.
    """

    def __init__(
        self,
        config: ParserConfig | None = None,
        *,
        tools: Any = None,
        checks: Iterable[Check] = (),
        cache: ResponseCache | None = None,
        stats: ParseStats | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.config = config or ParserConfig()
        self.cache = cache
        self.stats = stats if stats is not None else ParseStats()
        self._tools = Tools.of(tools)
        self._checks = tuple(checks)
        self._settings = settings or DEFAULT
        #: What checks do is not seen in them: results that depend on some are no other processor's.
        self._own = fingerprint(self.config, self._settings, next(_numbers) if self._checks else 0)
        self._given: str | None = None

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
        """Read a response, and say what may be done.

        `format`, `tools`, `prefix` and `finish_reason` are those of `parse`; `context` is handed to the checks. `retry`
        asks the model again, at most `max_retry_attempts` times for one response, and returns what it answers, alone
        or with its finish reason, or None to give up. Without it, `needs_retry` says that the model may be asked; who
        then does so himself says with `attempt` which one it is (the first is 1).

        Nothing that a model can write raises but for LimitError, nor does anything else but UnknownFormatError,
        ToolError, and what a check or `retry` raises.
        """
        rounds = self._rounds(self._question(text, format, tools, prefix, finish_reason, context), attempt, retry)
        try:
            request = next(rounds)
            while retry is not None:
                request = rounds.send(retry(request))
        except StopIteration as end:
            return end.value
        raise AssertionError("nothing is asked where there is nobody to ask")

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
        """`process` with a `retry` that is asynchronous."""
        rounds = self._rounds(self._question(text, format, tools, prefix, finish_reason, context), attempt, retry)
        try:
            request = next(rounds)
            while retry is not None:
                request = rounds.send(await retry(request))
        except StopIteration as end:
            return end.value
        raise AssertionError("nothing is asked where there is nobody to ask")

    def _question(
        self, text: str, format: str, tools: Any, prefix: str | None, finish_reason: str | None, context: Any
    ) -> Question:
        name = format if format == "auto" else registry.resolve(format)
        given = self._tools if tools is None else Tools.of(tools)
        return Question(text, name, given, prefix, finish_reason, context)

    def _rounds(self, asked: Question, attempt: int, retry: object) -> Generator[RetryRequest, Answer, Processed]:
        """Read a response, and as long as it is of no use and that may be done, ask for another one."""
        if type(attempt) is not int or attempt < 1:
            raise ValueError(f"`attempt` is {attempt!r}; expected an integer of at least 1")
        earlier: tuple[Processed, ...] = ()
        while True:
            result = self._read(asked)
            self.stats.record(result.format, result.outcome, result.categories)
            more = attempt <= self.config.max_retry_attempts and asked.reason not in CONTENT_FILTER
            route = ("retry" if more else "manual") if result.outcome == "failed" else result.route
            given = {"route": route, "attempts": attempt, "earlier": earlier}
            result = construct(Processed, {**result.__dict__, **given})
            if result.outcome == "failed" and self.config.log_failed_parses:
                self._tell(result)
            if route != "retry" or retry is None:
                return result
            answer = yield RetryRequest(attempt, result.retry_message(), result)
            if answer is None:
                return construct(Processed, {**result.__dict__, "route": "manual"})
            text, reason = (answer, None) if isinstance(answer, str) else answer
            asked = asked._replace(text=text, finish_reason=reason)
            earlier, attempt = (*earlier, construct(Processed, {**result.__dict__, "earlier": ()})), attempt + 1

    def _read(self, asked: Question) -> Processed:
        """Read one response, or take it from the cache."""
        key = self._key(asked)
        if key is None or self.cache is None:
            return judge(asked, self.config, self._settings, self._checks)
        found = self.cache.get_parsed_response(key)
        if found is None:
            found = judge(asked, self.config, self._settings, self._checks)
            with suppress(*_UNPICKLED):  # what a check adds may be of any class
                self.cache.cache_parsed_response(key, found)
        return found

    def _key(self, asked: Question) -> str | None:
        """The digest of all that a result depends on; None where nothing is kept, or where that cannot be said."""
        if self.cache is None:
            return None
        try:
            if asked.tools is not self._tools or asked.tools is None:
                tools = asked.tools and fingerprint(asked.tools)
            else:
                tools = self._given = self._given or fingerprint(asked.tools)
            return fingerprint(self._own, registry.edition(), tools, *asked._replace(tools=None))
        except NoFingerprint:
            return None

    def _tell(self, result: Processed) -> None:
        """Tell the log that a response is of no use: what is wrong, its length and digest, but not what it says."""
        raw = result.reply.raw.encode("utf-8", "surrogatepass")
        first = next((d for d in result.problems if d.severity == "error"), result.problems[0])
        more = f" and {len(result.problems) - 1} more" if len(result.problems) > 1 else ""
        place = f"{len(result.reply.raw):,} characters, sha256 {sha256(raw).hexdigest()[:12]}"
        line = f"response {result.attempts} is of no use ({result.format}, {place}): {visible(str(first))}"
        _log.warning("%s%s; %s", line[:_LOGGED], more, "to be asked again" if result.needs_retry else "given up")
