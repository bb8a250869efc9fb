"""The clients: each asks for one stream after another, and compares what comes with the story."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass, field

from .apis import PATHS, Received, request
from .http_client import Connection
from .stories import Story

#: How long a slow reader waits before each read, in seconds; after how many events a client leaves.
_SLOW, _LEAVE_AFTER = 0.01, 12


@dataclass
class Tally:
    """What all clients have seen."""

    kinds: Counter[str] = field(default_factory=Counter[str])
    #: the statuses of responses, by endpoint
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    #: the first pieces' delays in seconds, without those of refused streams
    first: list[float] = field(default_factory=list[float])
    events: int = 0
    problems: list[str] = field(default_factory=list[str])
    open: int = 0
    most_open: int = 0


async def work(worker: int, port: int, end: float, tally: Tally) -> None:
    """Ask for streams until the time is over; finish the last one."""
    number = 0
    while time.monotonic() < end:
        story = Story(worker, number)
        number += 1
        tally.open += 1
        tally.most_open = max(tally.open, tally.most_open)
        try:
            problem = await asyncio.wait_for(_one(story, port, tally), 120)
        except (OSError, ValueError, IndexError, KeyError, asyncio.IncompleteReadError, TimeoutError) as error:
            problem = f"{type(error).__name__}: {error}"
        tally.open -= 1
        tally.kinds[story.kind] += 1
        if problem:
            tally.problems.append(f"{story.identity} ({story.kind}, {story.api}): {problem}")


async def _one(story: Story, port: int, tally: Tally) -> str | None:
    """Receive one stream, and say what is wrong with it."""
    start = time.monotonic()
    headers = {"content-type": "application/json", "x-request-id": story.identity}
    slow = story.kind == "slow"
    connection = await Connection.ask(port, PATHS[story.api], request(story), headers, slow)
    tally.statuses[story.api, connection.status] += 1
    found = Received()
    received = bytearray()
    try:
        async for piece in connection.pieces(_SLOW if slow else 0):
            if not received and story.kind != "refused":
                tally.first.append(time.monotonic() - start)
            received += piece
            if story.kind == "leaving" and received.count(b"data: ") >= _LEAVE_AFTER:
                break
    finally:
        if story.kind == "leaving":
            connection.hang_up()
        else:
            await connection.close()
    if connection.headers.get("x-request-id") != story.identity:
        return f"the request id is {connection.headers.get('x-request-id')!r}"
    if story.kind == "refused":
        return _check_refusal(story, connection.status, bytes(received))
    if connection.status != 200:
        return f"the status is {connection.status}: {bytes(received[:200])!r}"
    return check(story, found, received.decode(), tally)


def _check_refusal(story: Story, status: int, body: bytes) -> str | None:
    message = json.loads(body)["error"]["message"]
    expected = (story.status, f"no {story.identity}")
    return None if (status, message) == expected else f"refused with {status} and {message!r}, not {expected}"


def check(story: Story, found: Received, text: str, tally: Tally) -> str | None:
    *blocks, rest = text.split("\n\n")
    if rest and story.kind != "leaving":
        return f"the stream ends inside of an event: {rest[:80]!r}"
    for block in blocks:
        found.feed(story.api, block)
    tally.events += found.events
    if found.ended == (story.kind == "leaving"):
        return f"it {'has ended before the client left' if found.ended else 'has no end'}: {found}"[:400]
    calls = [(name, json.dumps(arguments)) for name, arguments in story.calls]
    received = list(zip(found.names, found.arguments, strict=True))
    if story.kind in ("sound", "slow"):
        same = (found.reasoning, found.text, received) == (story.reasoning, story.text, calls)
        ended = (found.finish, found.usage if story.api != "chat_completions" else story.usage, found.error)
        return None if same and ended == ("tool_calls", story.usage, None) else f"it has {found}"[:400]
    if not _is_beginning(story, found, received, calls):
        return f"it has {found}"[:400]
    if story.kind == "leaving":
        return f"it has {found}"[:400] if found.error or found.finish else None
    return _check_failure(story, found, received, calls)


def _is_beginning(story: Story, found: Received, received: list[tuple[str, str]], calls: list[tuple[str, str]]) -> bool:
    """Is everything the beginning of what the story says?"""
    pairs = [(found.reasoning, story.reasoning), (found.text, story.text)]
    pairs += [(got, made) for (_, got), (_, made) in zip(received, calls, strict=False)]
    names = [name for name, _ in calls][: len(received)]
    return all(made.startswith(got) for got, made in pairs) and found.names == names


def _check_failure(
    story: Story, found: Received, received: list[tuple[str, str]], calls: list[tuple[str, str]]
) -> str | None:
    """What came before the failure is complete, the last call is not, and the error is told."""
    whole = (found.reasoning, found.text, received[:1]) == (story.reasoning, story.text, calls[:1])
    words = f"failed {story.identity}" if story.kind == "failing" else "the upstream broke off"
    is_cut = len(received) == 2 and len(received[1][1]) < len(calls[1][1])
    told = found.finish is None and found.error is not None and words in found.error
    return None if whole and is_cut and told else f"it has {found}"[:400]
