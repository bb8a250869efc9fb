"""Decorators that run a test over many inputs in one item: an item costs more than most inputs do.

Every input is tried, whatever fails before it. The failure names each input that failed, with its traceback.
"""

import inspect
import os
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from random import Random
from typing import Any, TypeVar

import pytest

from tests.cases import CASES, FORMATS, Case

__all__ = [
    "DRAWN", "IN_TURN", "by_format", "every_case", "for_each", "in_one_item", "in_threads", "some", "sound_cases",
]  # fmt: skip

T = TypeVar("T")
Test = Callable[..., None]

#: What shares of cases and places are drawn with; continuous integration gives each run a seed of its own.
SEED = os.environ.get("OUTSPOKEN_TEST_SEED", "0")

#: How many failures are shown with a traceback; of the others, only the input is named.
_SHOWN = 10


def some(items: Iterable[T], name: object, share: float) -> list[T]:
    """A share of the items in their order, one of them at least, drawn for a name and the seed of this run."""
    drawn = list(items)
    count = min(len(drawn), max(1, round(len(drawn) * share)))
    return [drawn[at] for at in sorted(Random(f"{SEED} {name}").sample(range(len(drawn)), count))]


#: The formats of which this run asks what takes many steps with each.
IN_TURN = some(FORMATS, "turn", 0.5)
#: The cases that this run reads in other ways than the snapshots do. All tests draw from the same ones, since what is
#: made of a format for one text is there for the next. A sound and a damaged text of every format are among them.
DRAWN = [case for _, own in groupby(CASES, lambda case: (case.format, case.kind)) for case in some(own, "cases", 0.2)]


def for_each(items: Iterable[T], check: Callable[[T], None], name: Callable[[T], str] = str) -> None:
    """Call `check` with every item, then fail with the names and tracebacks of those for which it raised."""
    __tracebackhide__ = True
    failures: list[str] = []
    items = list(items)
    for item in items:
        try:
            check(item)
        except (Exception, pytest.fail.Exception) as error:
            trace = traceback.format_exception(type(error), error, error.__traceback__)
            failures.append(f"{name(item)}:\n{''.join(trace[2:])}" if len(failures) < _SHOWN else name(item))
    if failures:
        pytest.fail(
            "\n".join([f"{len(failures)} of {len(items)} fail with OUTSPOKEN_TEST_SEED={SEED}", *failures]),
            pytrace=False,
        )


def in_one_item(names: str, values: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test with all sets of arguments in one item; otherwise like `pytest.mark.parametrize`.

    Fixtures are made once for all of them.
    """
    arguments = [name.strip() for name in names.split(",")]
    sets = [dict(zip(arguments, value if len(arguments) > 1 else (value,), strict=True)) for value in values]
    assert sets

    def decorate(test: Test) -> Test:
        def run(**fixtures: object) -> None:
            __tracebackhide__ = True
            for_each(sets, lambda chosen: test(**chosen, **fixtures), _described)

        return _named_like(run, test, without=arguments)

    return decorate


def by_format(cases: Iterable[Case]) -> Callable[[Test], Test]:
    """Run a test of a `case` as one item for each format, over those cases of the format that are given."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.format, []).append(case)
    assert groups

    def decorate(test: Test) -> Test:
        def run(format_: str, **fixtures: object) -> None:
            __tracebackhide__ = True
            for_each(groups[format_], lambda case: test(case=case, **fixtures))

        return pytest.mark.parametrize("format_", groups)(_named_like(run, test, without=["case"], more=["format_"]))

    return decorate


def in_threads(works: Iterable[Callable[[], object]]) -> None:
    """Run functions at once, each in a thread of its own. Raises what one of them raises."""
    given = [*works]
    with ThreadPoolExecutor(len(given)) as pool:
        for done in [pool.submit(work) for work in given]:
            done.result()


every_case = by_format(CASES)
sound_cases = by_format([case for case in DRAWN if case.kind == "ok"])


def _named_like(run: Callable[..., None], test: Test, without: Iterable[str], more: Iterable[str] = ()) -> Test:
    """Let pytest collect `run` as if it were `test`, with other parameters."""
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in more]
    parameters += [p for p in inspect.signature(test).parameters.values() if p.name not in without]
    run.__dict__.update(test.__dict__)
    run.__dict__.update(__signature__=inspect.Signature(parameters), place_as=test)
    run.__module__, run.__name__, run.__qualname__, run.__doc__ = (
        test.__module__,
        test.__name__,
        test.__qualname__,
        test.__doc__,
    )
    return run


def _described(chosen: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r:.200}" for name, value in chosen.items())
