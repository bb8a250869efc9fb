"""When a process of tests looks for garbage: between tests, since looking takes seconds, for which a test would wait.

The automata of all formats and the modules of a framework are many objects that stay.
"""

import gc

#: So many new objects are looked through behind a test. In a test, several times as many may come.
_OBJECTS = 1_000_000
gc.set_threshold(5 * _OBJECTS, 10, 100)


def pytest_runtest_logfinish() -> None:
    """Look through the objects that the last tests have left."""
    if gc.get_count()[0] > _OBJECTS:
        gc.collect(1)
