"""Where snapshots lie: `snapshots/<test module>/<format>.ambr`, one file for each format.

`--snapshot-update` writes what the tests that run compare, and deletes the snapshots that have no test any more. What
has one, syrupy judges by what was compared, so it would also delete the snapshots of tests that failed before they
compared, that were left out (`--lf`, `--deselect`, `--ignore`) or that `-x` or Ctrl-C kept from running. Therefore
nothing is deleted but by a run of whole folders or files in which nothing failed: `pytest --snapshot-update`.

The folder is spelled through `tests/` on purpose. Syrupy asks whether a run covered only a part of a snapshot file by
looking for the path of the tests in the path of the file; with any other spelling, a run of one test takes the
snapshots of all others in its file for unused. Update snapshots with Python 3.11 or newer; 3.10 can only compare them.
"""

import gc
import os
import pickle
import re
import ssl
import sys
import zlib
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import cache, partial
from hashlib import sha1
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.amber import AmberSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from outspoken.grammar import registry
from tests.garbage import pytest_runtest_logfinish as pytest_runtest_logfinish
from tests.loops import SEED

TESTS = Path(__file__).resolve().parent

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("ci"), derandomize=False, max_examples=5000)
settings.load_profile("ci")  # `--hypothesis-profile=long` takes the other one


#: Patterns shorter than this one are compiled in less time than a file takes.
SHORT_PATTERN = 100
#: The parts of the compiler of `re`.
PARSER, COMPILER, SRE = (
    import_module(name)
    for name in (("re._parser", "re._compiler") if sys.version_info >= (3, 11) else ("sre_parse", "sre_compile"))
    + ("_sre",)
)

# The syrupy that Python 3.10 can have cannot write these files, so there is nothing to be said of writing them.
collect_ignore = ["test_snapshots.py"] if sys.version_info < (3, 11) else []


@pytest.fixture(scope="session", autouse=True)
def compiled_once(request: pytest.FixtureRequest) -> Generator[None]:
    """Compile each regular expression once in a process, however often the registry forgets its grammars.

    The compilers of `re` and `regex` are written in Python and take half of the time of many tests, so what they make
    is kept in pytest's cache, too, for the other workers and for later runs.
    """
    stored = getattr(request.config, "cache", None)
    compilers: list[tuple[Any, Callable[..., Any], Callable[[Any], Any]]] = [
        (re, code_of, pattern_of),
        (regex, regex.compile, lambda made: made),
    ]
    with pytest.MonkeyPatch.context() as patch:
        for module, make, build in compilers:
            compile_: Callable[..., Any] = module.compile
            if stored is not None:  # it is with `-p no:cacheprovider`
                kept = stored.mkdir(f"{module.__name__}-{regex.__version__}-{sys.implementation.cache_tag}")
                compile_ = partial(compile_or_load, kept, compile_, make, build)
            patch.setattr(module, "compile", cache(compile_))
        # Each client of `httpx` reads the certificates of all authorities, in 80 ms, to ask a server on this machine.
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


def code_of(pattern: Any, flags: int = 0) -> tuple[Any, ...]:
    """What `re` makes of a pattern; unlike those of `regex`, its patterns are pickled without it."""
    tree = PARSER.parse(pattern, int(flags))
    numbers = tree.state.groupdict
    names = {number: name for name, number in numbers.items()}
    code = [int(word) for word in COMPILER._code(tree, int(flags))]
    groups = tree.state.groups
    return pattern, int(flags) | tree.state.flags, code, groups - 1, numbers, tuple(map(names.get, range(groups)))


def pattern_of(code: tuple[Any, ...]) -> re.Pattern[Any]:
    """The pattern of what `re` has made."""
    return SRE.compile(*code)


def compile_or_load(
    folder: Path,
    compile_: Callable[..., Any],
    make: Callable[..., Any],
    build: Callable[..., Any],
    pattern: Any,
    *arguments: Any,
    **named: Any,
) -> Any:
    """A compiled pattern: one that is kept is not compiled again."""
    if not isinstance(pattern, (str, bytes)) or len(pattern) < SHORT_PATTERN:
        return compile_(pattern, *arguments, **named)
    path = folder / sha1(repr((pattern, arguments, named)).encode()).hexdigest()
    with suppress(OSError, zlib.error, EOFError, pickle.UnpicklingError):
        return build(pickle.loads(zlib.decompress(path.read_bytes())))
    made = make(pattern, *arguments, **named)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(zlib.compress(pickle.dumps(made), 1))
    unfinished.replace(path)
    return build(made)


@pytest.fixture(autouse=True)
def only_here() -> Generator[None, None, None]:
    """Formats that a test adds are forgotten after it."""
    before = registry.edition()
    yield
    if registry.edition() != before:
        registry.use(None)


@pytest.fixture
def other_grammars() -> None:
    """Marks a test that adds formats, or makes the registry forget what was made of the grammars in another way."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests so that what is made of a grammar is made once, and no worker waits for a long one at the end.

    Tests with a time limit of their own are long, and come first. Of the others, those of one format follow each other,
    so that one worker of `-n 2 --dist worksteal` gets them: it deals the tests out in order. The registry forgets our
    own grammars for tests that use others, so these come before all that make them, or after.
    """
    names = frozenset(registry.names())

    def place(item: pytest.Item) -> tuple[bool, bool, str]:
        is_short = item.get_closest_marker("timeout") is None
        uses_others = not {"tmp_path", "other_grammars"}.isdisjoint(getattr(item, "fixturenames", ()))
        call = getattr(item, "callspec", None)
        parameters: dict[str, object] = call.params if call is not None else {}
        named = [value for value in parameters.values() if isinstance(value, str) and value in names]
        return is_short, is_short == uses_others, next(iter(named), "")

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Leave what the modules of the tests hold, which is there to the end, out of the search for garbage."""
    gc.collect()
    gc.freeze()


#: The options that leave tests out.
NARROWING = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise")


class FormatSnapshots(AmberSnapshotExtension):
    """Keeps the snapshots of a parametrised test by format: the first part of a test's id, up to the first `-`.

    A test of a format that compares several snapshots names each of them; `test[format]` and `name` are stored as
    `test[format-name]`.
    """

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The folder of the test's module."""
        return f"{TESTS}/../snapshots/{test_location.basename}"

    @classmethod
    def discovery_dirname(cls, *, test_location: PyTestLocation) -> str:
        """All of them, so that those of a format or test module that is gone are found."""
        return f"{TESTS}/../snapshots"

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        """The format; `all` for a test without parameters."""
        _, bracket, parameters = test_location.testname.partition("[")
        return parameters.rstrip("]").partition("-")[0] if bracket else "all"

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """The test's name and parameters, with the name of the snapshot among the parameters."""
        name = super().get_snapshot_name(test_location=test_location, index=index)
        return name.replace("][", "-") if isinstance(index, str) else name

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        """Whether a file is the one that holds the test's snapshots."""
        path = Path(snapshot_location)
        format_ = cls.get_file_basename(test_location=test_location, index=0)
        return path.parent.name == test_location.basename and path.stem == format_


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion, request: pytest.FixtureRequest) -> SnapshotAssertion:
    """Compares a value with the one that lies in `snapshots/`; for tests whose module is directly in `tests/`."""
    if request.path.parent != TESTS:
        pytest.fail(f"{request.path}: a test that uses snapshots lies directly in {TESTS}", pytrace=False)
    return snapshot.use_extension(FormatSnapshots)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """Say what the shares of a run that failed were drawn with."""
    if exitstatus:
        terminalreporter.write_line(f"To repeat this run: OUTSPOKEN_TEST_SEED={SEED}")


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None]:
    """Let no snapshot be deleted but by a whole run in which nothing failed; see above."""
    option = session.config.option
    narrowed = any(getattr(option, name, None) for name in NARROWING)
    narrowed = narrowed or any("::" in path for path in option.file_or_dir)
    if narrowed or exitstatus != pytest.ExitCode.OK:
        option.no_cleanup = True
    chosen, option.keyword = option.keyword, ""  # it chose tests by their formats, not snapshots by their cases
    try:
        return (yield)
    finally:
        option.keyword = chosen
