"""Every command: its help, its examples, its JSON, and what shells complete."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import cast

import click
import pytest

from outspoken import formats
from outspoken.cli.groups import Group
from outspoken.cli.main import main
from outspoken.cli.options import Command
from outspoken.cli.program import EXIT_CODES, program
from outspoken.providers.registry import PROVIDERS
from outspoken.terminal.errors import UsageError
from tests.authoring.checkouts import GRAMMAR
from tests.cli.runner import Cli
from tests.tables import tables

TABLES = tables(__file__)

TOP = Path(__file__).parents[2]
README = (TOP / "src" / "outspoken" / "cli" / "README.md").read_text("utf-8")
#: What has no results to print: it serves, or its output is a script or a drawing in a notation of its own.
WITHOUT_JSON = {"serve", "completion", "grammar diagram"}


def commands(group: Group, path: str = "") -> Iterator[tuple[str, Group, Command]]:
    """All commands below a group, with the groups that they are in."""
    for name in group.commands:
        one = group.load(name)
        if isinstance(one, Group):
            yield from commands(one, f"{path}{name} ")
        else:
            yield f"{path}{name}", group, cast("Command", one)


ALL = {path: (group, one) for path, group, one in commands(program)}


# help


def test_there_are_commands() -> None:
    assert {"parse", "explain", "stats", "serve", "completion", "grammar check"} <= set(ALL)


@pytest.mark.parametrize("path", ALL)
def test_help_has_purpose_examples_and_no_long_line(path: str, cli: Cli) -> None:
    _, one = ALL[path]
    for flag in ("--help", "-h"):
        text = cli.out(*path.split(), flag)
        assert text.startswith(f"Usage: outspoken {path} ")
        assert "\nExamples:\n  # " in text
    assert max(map(len, text.splitlines())) <= 80, path
    purpose = (one.help or "").partition("\n\n")[0]
    assert re.fullmatch(r"[A-Z][^.]*\.", purpose), purpose
    for option in one.params:
        if isinstance(option, click.Option):
            assert option.help, option.opts
            assert len(option.help) <= 110, option.opts


@pytest.mark.parametrize("path", ["", "grammar"])
def test_help_of_groups(path: str, cli: Cli) -> None:
    text = cli.out(*path.split(), "--help")
    assert cli.out(*path.split()) == cli.out(*path.split(), "help") == text
    assert max(map(len, text.splitlines())) <= 80
    for name, (group, _) in ALL.items():
        if name.startswith(path) and (path or " " not in name):
            short = group.commands[name.split()[-1]].short_help
            assert " ".join(f"{name.split()[-1]} {short}".split()) in " ".join(text.split())
    if not path:
        assert [*EXIT_CODES] == ["0", "1", "2", "3", "130, 143"]
        for code, words in EXIT_CODES.items():
            assert " ".join(f"{code} {words}".split()) in " ".join(text.split())
            assert f"| {code} | {words} |" in README


def test_help_of_a_command_by_the_word_help(cli: Cli) -> None:
    assert cli.out("help", "stats") == cli.out("stats", "--help")
    assert cli.out("grammar", "help", "check") == cli.out("grammar", "check", "--help")


@pytest.mark.parametrize("path", ALL)
def test_examples_are_accepted(path: str) -> None:
    """What is written in an example is parsed as it stands; nothing is run."""
    examples = [line for line in (ALL[path][1].epilog or "").splitlines()[2:] if not line.startswith("  # ")]
    assert examples
    for line in examples:
        words = shlex.split(re.sub(r'^ *eval "\$\((.*)\)"$', r"\1", line.partition(" < ")[0].partition(" > ")[0]))
        accept(words[max(at for at, word in enumerate(words) if word == "outspoken") + 1 :])
    assert any(line.split("outspoken ")[-1].startswith(path) for line in examples)


def test_the_guide_names_all_commands() -> None:
    for path in ALL:
        assert f"`outspoken {path}" in README, path


def accept(words: list[str]) -> None:
    """Parse the arguments of a command line; nothing is run. Raises what Click or the group raises."""
    group, name, rest = program, "outspoken", words
    while True:
        context = group.make_context(name, list(rest))
        found, one, rest = group.resolve_command(context, rest)
        name = found or ""
        if not isinstance(one, Group):
            break
        group = one
    cast("Command", one).make_context(name, rest)


def test_command_lines_in_guides_are_accepted() -> None:
    """Every line of a block that begins with `outspoken` can be typed, unless its error stands below it."""
    guides = [TOP / "README.md", *sorted((TOP / "src").rglob("README.md")), TOP / "grammars" / "README.md"]
    count = 0
    for guide in guides:
        for block in re.findall(r"^```\w*\n(.*?)^```", guide.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            lines = [*block.replace("\\\n", " ").splitlines(), ""]
            for line, following in pairwise(lines):
                found = re.match(r"(?:\$ |.*\| )?outspoken ([a-z].*)", line)
                if found and not following.startswith("outspoken: error"):
                    words = shlex.split(re.split(r" [|<>&] ?", found[1])[0], comments=True)
                    try:
                        accept(words)
                    except (click.ClickException, UsageError) as error:
                        pytest.fail(f"{guide}: {line}: {error}")
                    count += 1
    assert count >= 10


# options


def test_shared_options_have_the_same_words() -> None:
    """An option of one name means one thing; what `--json` writes and what a format is for differ."""
    found: dict[str, set[tuple[str, ...]]] = {}
    short: dict[str, set[str]] = {}
    for option in [option for _, one in ALL.values() for option in one.params if isinstance(option, click.Option)]:
        name = max(option.opts, key=len)
        found.setdefault(name, set()).add((*sorted(option.opts), option.metavar or ""))
        for spelled in [spelled for spelled in option.opts if len(spelled) == 2]:
            short.setdefault(spelled, set()).add(name)
    assert {name: long for name, long in short.items() if len(long) > 1} == {"-o": {"--out", "--output"}}
    for name in ("--format", "--tools", "--screen", "--prefix", "--finish-reason", "--repair", "--json", "--color"):
        assert len(found[name]) == 1, (name, found[name])
    reading = {"--format", "--tools", "--screen", "--prefix", "--repair", "--json"}
    for path in ("parse", "explain", "stream", "stats", "batch"):
        assert reading <= {name for option in ALL[path][1].params for name in option.opts}, path


def test_results_are_written_as_json() -> None:
    without = {path for path, (_, one) in ALL.items() if "--json" not in [n for o in one.params for n in o.opts]}
    assert without == WITHOUT_JSON


def test_json_of_commands(cli: Cli) -> None:
    Path("arrows.lark").write_text(GRAMMAR, "utf-8")
    explained, other = map(json.loads, cli.out("explain", "call.txt", "arrows.lark", "--tree", "--json").splitlines())
    assert (explained["file"], other["file"]) == ("call.txt", "arrows.lark")
    assert explained["reply"]["format"] == "hermes"
    assert explained["tree"]["children"][1]["rule"] == "tool_call"
    assert explained["tree"]["children"][0] == {"token": "TEXT", "span": [0, 4], "text": "Hi.\n"}
    (hermes,) = json.loads(cli.out("formats", "qwen3", "--json"))
    assert (hermes["name"], "example" in hermes) == ("hermes", True)
    grammar = json.loads(cli.out("explain", "--tolerant-grammar", "hermes", "--json"))
    assert grammar["format"] == "hermes"
    made = json.loads(cli.out("constrain", "hermes", "--target", "vllm", "--json"))
    assert (made["target"], made["warnings"], bool(made["constraint"])) == ("vllm", [], True)
    new = ["grammar", "new", "--json", "own_tags.lark"]
    assert "own_tags.lark" in json.loads(cli.out(*new))["written"]
    checked = cli("grammar", "check", "own_tags.lark", "--json")
    found = json.loads(checked.out)
    assert (found["name"], checked.code) == ("own_tags", int(not found["sound"]))
    view = json.loads(cli.out("grammar", "show", "own_tags.lark", "call.txt", "--json", "--stream", "9"))
    assert [view["tokens"][0]["name"], view["reply"]["status"], bool(view["events"])] == ["TEXT", "ok", True]
    fuzzed = cli.out("grammar", "fuzz", "own_tags.lark", "--runs", "1", "--json").splitlines()
    assert json.loads(fuzzed[-1])["formats"]["own_tags"]["findings"] == {}


# completion


def completed(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> list[str]:
    """What bash offers for the last word."""
    given = {"_OUTSPOKEN_COMPLETE": "bash_complete", "COMP_WORDS": shlex.join(words), "COMP_CWORD": str(len(words) - 1)}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert main() == 0
    return capfdbinary.readouterr().out.decode().split()


@pytest.mark.parametrize(("words", "offered"), TABLES["WORDS_ARE_COMPLETED"])
def test_words_are_completed(
    words: tuple[str, ...],
    offered: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert completed(monkeypatch, capfdbinary, *words) == offered


def test_formats_and_providers_are_completed(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    names = {name for info in formats() for name in (info.name, *info.aliases)} | {"auto"}
    for words in (("parse", "--format", ""), ("constrain", ""), ("formats", "")):
        found = completed(monkeypatch, capfdbinary, "outspoken", *words)
        assert set(found) >= {f"plain,{name}" for name in names}, words
        assert len(found) == len(set(found))
    for words in (("ui", "-f", "Qwen/qwen-3-c"), ("parse", "-f", "Qwen/Qwen-3-c")):
        assert completed(monkeypatch, capfdbinary, "outspoken", *words) == ["plain,Qwen/qwen-3-coder"]
    found = completed(monkeypatch, capfdbinary, "outspoken", "model", "gpt-os")
    assert found == ["plain,gpt-oss", "file,gpt-os"]
    assert completed(monkeypatch, capfdbinary, "outspoken", "batch", "-P", "") == [
        f"plain,{name}" for name in sorted(PROVIDERS)
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    script = cli.out("completion", shell)
    assert f"_OUTSPOKEN_COMPLETE={shell}_complete" in script
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert cli.out("completion") == script
    found = shutil.which(shell)
    if found:
        subprocess.run([found, "-n"], input=script.encode(), check=True, timeout=20)


# start


def test_the_list_of_commands_needs_none_of_their_packages() -> None:
    """Each command is imported when it is run, so that the list and the version come at once."""
    program = TABLES["THE_LIST_OF_COMMANDS_NEEDS_NONE_OF_THEIR"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
