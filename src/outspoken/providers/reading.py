"""What the readers of all providers have in common."""

from __future__ import annotations

from typing import Any

from outspoken.notations.coerce import to_json
from outspoken.results.replies import STATUSES, Status

from .assembly import Assembly
from .nodes import Node, shown
from .replies import ProviderError

#: The key of what a protocol has no word for, in answers that were written here; see `out.py`.
EXTENSION = "outspoken"
#: In it, says of a blank line of reasoning that it stands between two blocks.
BREAKS = "breaks"


class Reader:
    """Reads the objects of one provider's API, whole responses and chunks of streams alike."""

    def __init__(self, to: Assembly) -> None:
        self._to = to

    def read(self, node: Node) -> None:
        """Read one object. Raises ProviderFormatError where it is none of the API's."""
        raise NotImplementedError

    def beyond(self, node: Node) -> None:
        """What stands in the extension of an answer that this library wrote: payloads, and signatures.

        Unfinished calls and actions are left out: they cannot be told from what the provider's own end says of them.
        """
        found = node.value.get(EXTENSION)
        if not isinstance(found, dict):
            return
        extension = Node(found, EXTENSION)
        for item in extension.nodes("payloads"):
            status = item.text("status")
            if item.has("type", "data"):
                known: Status = status if status in STATUSES else "ok"
                self._to.other(item.text("type") or "payload", item.get("data"), aside=True, status=known)
        for item in extension.nodes("signatures"):
            self._to.sign(item.text("data"), redacted=bool(item.get("redacted")))

    def end(self) -> None:
        """The response has ended. What a reader still collects is kept as far as it came."""


def arguments_of(node: Node, *keys: str) -> str | None:
    """Arguments as JSON text: as they were sent, or written from the object that was."""
    found = node.get(*keys)
    return found if found is None or isinstance(found, str) else to_json(found)


def error_of(found: Any) -> ProviderError:
    """An error of any shape: a text, or an object with what it says."""
    if not isinstance(found, dict):
        return ProviderError(message=str(found), raw=found)
    node = Node(found)
    said = node.get("message", "Message", "detail", "status_msg", "msg", "error")
    message = said if isinstance(said, str) else to_json(said) if said else shown(node.value)
    kind, code, status = node.get("type", "__type", "status"), node.get("code", "status_code"), node.get("status_code")
    numbers = [number for number in (status, code) if isinstance(number, int) and 400 <= number <= 599]
    return ProviderError(
        message=message,
        type=kind if isinstance(kind, str) else None,
        code=str(code) if isinstance(code, (str, int)) else None,
        status=numbers[0] if numbers else None,
        raw=node.value,
    )


def find_error(node: Node) -> ProviderError | None:
    """The error that an object is, in any of the ways in which servers and their gateways say so."""
    found = node.get("error", "errors")
    if found:
        return error_of(node.value if isinstance(found, str) else found)
    told = node.value.get("base_resp")
    if isinstance(told, dict) and Node(told).get("status_code") not in (None, 0):
        return error_of(told)
    if node.value.get("object") == "error" or any(
        isinstance(node.get(k), str) for k in ("detail", "message", "Message")
    ):
        return error_of(node.value)
    return error_of(node.value) if node.has("detail") else None
