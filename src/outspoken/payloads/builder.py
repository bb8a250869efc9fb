"""The builder of responses with payloads: it also makes payloads that never end, or cannot be read."""

from __future__ import annotations

from outspoken.results.construct import construct
from outspoken.results.events import PayloadUnfinished
from outspoken.results.replies import Payload, Span, Status
from outspoken.semantics.builder import Builder
from outspoken.semantics.open_node import OpenNode

from .types import Page, PayloadType


class PayloadBuilder(Builder):
    """A builder that knows the types of payloads of a page."""

    #: gives the type of a payload by its marker
    page: Page | None = None

    def type_of(self, node: OpenNode | None) -> PayloadType | None:
        """The type of a payload; None if the page has no such payload."""
        if node is None or self.page is None:
            return None
        return self.page.of(self.header.payload(node.name or ""))

    def open_payload(self) -> OpenNode | None:
        """The payload that is being read, once its marker was read."""
        return next((node for node in self.nodes if node.kinds == "payload" and node.name), None)

    def cut(self, end: int) -> None:
        """The text ends inside a node."""
        node = self.open_payload()
        if node is None:
            super().cut(end)
        else:
            self.unfinished(node, end, "truncated")

    def unfinished(self, node: OpenNode, end: int, status: Status) -> None:
        """A payload never ended (`truncated`), or cannot be read up to `end` (`invalid`)."""
        output = self.output
        output.flush()
        self.nodes.clear()
        self.recorder.edits.clear()
        span = (max(node.start, 0), end)
        name = self.header.payload(node.name or "")
        if self.type_of(node) is None:
            status = "invalid"  # a payload that the page does not have is text, so there is nothing to report
        else:
            self.recorder.lower_status(status)
            self._report(name, status, span)
        data = None
        if status == "truncated":
            from outspoken.json.read import read_partial

            data = read_partial(self.source.slice(*span), self.context.settings)
        values = {"kind": "payload", "type": name, "data": data, "status": status, "span": span, "repairs": ()}
        payload = construct(Payload, values)
        output.segments.append(payload)
        output.send(PayloadUnfinished(payload))
        self.state.close_node(node, end)

    def _report(self, name: str, status: Status, span: Span) -> None:
        if status == "truncated":
            self.recorder.report("unclosed-payload", f"the payload of `{name}` never ends", span)
        else:
            self.recorder.report("broken-payload", f"the payload of `{name}` cannot be read", span)
