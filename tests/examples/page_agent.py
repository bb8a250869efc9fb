"""A browser agent in the manner of Skyvern: actions as JSON, checked against the elements of the page."""

from collections.abc import Callable

from outspoken import Action, Parser
from outspoken.actions import PageContext
from outspoken.processing import ProcessorSettings, ResponseProcessor


def run(
    ask: Callable[[str], str],
    look: Callable[[], PageContext],
    perform: Callable[[Action], object],
    goal: str,
    turns: int = 10,
) -> Action | None:
    """Perform what the model answers to a goal, until it says that the goal is reached or cannot be."""
    processor = ResponseProcessor(Parser("skyvern"), settings=ProcessorSettings(expect="actions"))
    for _ in range(turns):
        result = processor.process(ask(goal), page=look(), retry=lambda request: ask(f"{goal}\n\n{request.message}"))
        for action in result.actions:
            if action.type in ("complete", "fail"):
                return action
            perform(action)
    return None
