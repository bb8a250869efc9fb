"""Operations: what a transition of the automaton does to the reply, and the handlers that carry it out.

The grammar knows operations by name only. `outspoken.semantics.handlers` has a handler for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: What a step means, and of what: ("begin", "json tool_call"), ("token", "TOOL_NAME"), ("field", "arguments"),
#: ("end", "tool_call"), ("reopen", "tool_calls"), ("drop", ""), ("embedded_string", ""), ("insert", "<tool_call>").
Operation = tuple[str, str]
Operations = tuple[Operation, ...]

#: An operation: the name of its handler, its argument, and the group of the match that is its token.
NamedOperation = tuple[str, str, int]

#: Carries out an operation. It is called as `handler(builder, argument, match, group, base)`; only the rooms above know
#: the builder. A fused handler gets the groups of all its operations.
Handler = Callable[..., None]
BoundOperation = tuple[Handler, str, int | tuple[int, ...]]


class Handlers:
    """The handlers of operations, by name.

    `fused` lists sequences of handlers that occur often, each with one handler that does what they do.
    """

    __slots__ = ("_by_name", "fused")

    def __init__(self, by_name: dict[str, Handler], fused: tuple[tuple[tuple[Handler, ...], Handler], ...]) -> None:
        self._by_name, self.fused = by_name, fused

    def __getitem__(self, name: str) -> Handler:
        return self._by_name[name]

    def bind(self, operations: Sequence[NamedOperation]) -> tuple[BoundOperation, ...]:
        """The handlers of operations in order, fused where they can be."""
        bound: list[tuple[Handler, str, int]] = [(self[name], arg, group) for name, arg, group in operations]
        found: list[BoundOperation] = []
        at = 0
        while at < len(bound):
            for pattern, handler in self.fused:
                part = bound[at : at + len(pattern)]
                if tuple([op[0] for op in part]) == pattern:
                    found.append((handler, part[0][1], tuple([op[2] for op in part])))
                    at += len(pattern)
                    break
            else:
                found.append(bound[at])
                at += 1
        return tuple(found)


def named_operation(operation: Operation, group: int, *, before: bool = False) -> NamedOperation:
    """An operation by the name of its handler; `before` tells that it precedes the shift of its terminal."""
    name, arg = operation
    key = f"{name}_{arg}" if name in ("end", "field", "token") else name
    return ("before_" if before and name in ("end", "reopen") else "") + key, arg, group
