"""A new format before it is written: its grammar, its cases and their origins."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outspoken import Reply, ToolCall
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import Case
from outspoken.authoring.shared.text import counted

from .sandbox import complaints, differs_in_stream, grammar_in_use


@dataclass
class Draft:
    """What is to be written, and what a person should know of it. `origins` says where each case comes from."""

    name: str
    grammar: str
    cases: list[Case] = field(default_factory=list[Case])
    origins: dict[str, str] = field(default_factory=dict[str, str])
    remarks: list[str] = field(default_factory=list[str])

    def add(self, kind: str, name: str, text: str, origin: str, **options: Any) -> None:
        """Add a case; a name that is taken gets a number, and a text that is there is not added again."""
        if any(case.text == text and case.options == options for case in self.cases):
            return
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "response"
        unique, number = plain, 2
        while unique in self.origins:
            unique, number = f"{plain}_{number}", number + 1
        self.cases.append(Case(self.name, kind, unique, text, options))
        self.origins[unique] = origin


def add_truncated_case(draft: Draft, sandbox: Checkout) -> None:
    """Add a case that breaks off inside of a call's arguments, where the grammar says that something is wrong then."""
    with grammar_in_use(sandbox, draft.name, draft.grammar):
        for case in [case for case in draft.cases if case.kind == "ok"]:
            calls = [call for call in case.parse().tool_calls if call.arguments]
            if not calls:
                continue
            start = case.text.find(next(iter(calls[0].arguments)), calls[0].span[0])
            for place in range(calls[0].span[1] - 1, start, -1):
                reply = case.parse(case.text[:place])
                if reply.status == "truncated" and _inside(calls[0], reply):
                    draft.add("err", "cut_inside_arguments", reply.raw, f"made up: `{case.name}`, cut", **case.options)
                    return
    draft.remarks.append("no case of `err` could be made by cutting a response; write one")


def _inside(call: ToolCall, reply: Reply) -> bool:
    """Whether a reply breaks off where some of a call's arguments are not there yet."""
    return bool(reply.unfinished_tool_calls) and reply.unfinished_tool_calls[0].arguments != call.arguments


def cases_that_differ_in_streams(draft: Draft, sandbox: Checkout) -> list[str]:
    """The names of the cases that are read differently in a stream."""
    with grammar_in_use(sandbox, draft.name, draft.grammar):
        return [case.name for case in draft.cases if differs_in_stream(case)]


def add_responses(draft: Draft, texts: dict[str, str], when: str, sandbox: Checkout) -> None:
    """Add responses: to `ok` where they are read without a diagnostic, to `err` where there is one.

    `when` is said in the origin of each, behind its name.
    """
    with grammar_in_use(sandbox, draft.name, draft.grammar):
        replies = {name: Case(draft.name, "ok", name, text).parse() for name, text in texts.items()}
        found = {name: complaints(reply) for name, reply in replies.items()}
    for name, text in texts.items():
        wrong = found[name]
        kind = "err" if replies[name].diagnostics else "ok"
        draft.add(kind, name, text, f"response {name}, {when}")
        if wrong:
            draft.remarks.append(f"`{name}` is not read as it should be, and lies in `{kind}`:")
            draft.remarks += [f"  {line}" for line in wrong]
    calls = sum(len(reply.tool_calls) for reply in replies.values())
    well = sum(not wrong for wrong in found.values())
    draft.remarks.insert(
        0, f"{well} of {counted(len(texts), 'response')} read without complaint, {counted(calls, 'call')}"
    )


def write(draft: Draft, checkout: Checkout) -> list[Path]:
    """Write the files of a draft, none of which is there yet, and return their paths."""
    folder = checkout.corpus / draft.name
    files: dict[Path, bytes] = {checkout.grammar(draft.name): draft.grammar.encode()}
    for case in draft.cases:
        path = folder / case.kind / f"{case.name}.txt"
        files[path] = case.text.encode()
        if case.options:
            files[path.with_suffix(".toml")] = _options(case.options).encode()
    files[folder / "sources.toml"] = _sources(draft.origins.items()).encode()
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    return list(files)


def _options(options: dict[str, Any]) -> str:
    lines = [f"prefix = {_quoted(options['prefix'])}"] if "prefix" in options else []
    if "tools" in options:
        lines.append(f"tools = {_quoted(json.dumps(options['tools'], ensure_ascii=False))}")
    return "\n".join(lines) + "\n"


def _sources(origins: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"[{name}]\norigin = {_quoted(origin)}\n" for name, origin in sorted(origins))


def _quoted(text: str) -> str:
    """A text as a string of TOML, which reads the strings of JSON."""
    return json.dumps(text, ensure_ascii=False)
