"""What the executors share: an action that is not carried out, and why."""

from outspoken import Action
from outspoken.actions import Point


class RefusedError(Exception):
    """An action that was not carried out. The message names it and says what to do instead."""

    def __init__(self, action: Action, reason: str) -> None:
        self.action = action
        super().__init__(f"the action `{action.type}` was not carried out: {reason}")


def require_sound(action: Action) -> None:
    """Raises RefusedError for an action that is cut, damaged beyond use, or not in the format's vocabulary."""
    if action.status in ("truncated", "invalid") or action.type == "unknown":
        raise RefusedError(action, f"it is {action.status}, so ask the model again")


def pixels(action: Action, point: Point) -> tuple[int, int]:
    """A point of an action as whole pixels. Raises RefusedError for other units and for less than zero."""
    if point.space != "px":
        raise RefusedError(action, f"its point is in `{point.space}`, so give the parser a `screen`")
    if point.x < 0 or point.y < 0:
        raise RefusedError(action, f"({point.x:g}, {point.y:g}) is not on the screen")
    return int(point.x), int(point.y)
