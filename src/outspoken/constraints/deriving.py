"""`constraint`: what a model may write, as a grammar for constrained decoding and as the fields of requests.

vLLM (0.33): `structured_outputs` is `StructuredOutputsParams` of `vllm/sampling_params.py`, with one kind of
constraint, a structural tag as JSON text; it is a field of `ChatCompletionRequest` in
`vllm/entrypoints/openai/chat_completion/protocol.py`. If the server has no parser for calls, `tool_choice` must be
"none", or it refuses the request. The tools are in the prompt all the same, unless the server runs with
`--exclude-tools-when-tool-choice-none`.

SGLang (0.5.23): `response_format` is xgrammar's `StructuralTag`, and `ebnf` a field of its own, both of
`ChatCompletionRequest` in `python/sglang/srt/entrypoints/openai/protocol.py`. They count before the server's own
constraint for calls (`to_sampling_params`, in the same file). Which engine reads them is an option of the server.

llama.cpp: `grammar`, described in `tools/server/README.md`; beside tools, it is refused unless `tool_choice` is "none"
(`oaicompat_chat_params_parse` in `tools/server/server-common.cpp`).

Markers of formats may be special tokens, which vLLM and SGLang leave out of the text unless `skip_special_tokens` is
false.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from outspoken.actions.mapping import normalize_word
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.models.tokens import added_tokens
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.arguments import check_choice, check_optional, check_type
from outspoken.results.errors import ConstraintError
from outspoken.results.geometry import Screen

from .action_paths import ActionPaths
from .action_skeleton import learned_actions, merged_skeleton
from .action_words import acting_tools, nested_words
from .builder import Actions, Builder, ReasoningMode, Wishes
from .forms import Grammar

#: The engines by which vLLM and SGLang constrain a response.
ServerBackend = Literal["xgrammar", "llguidance"]
#: What a constraint can be written as without another package: by the names of `Constraint.to_…`.
TARGETS = ("llguidance", "xgrammar", "ebnf", "gbnf", "vllm", "sglang", "llama_cpp")


@dataclass(frozen=True)
class Constraint:
    """What a model may write in a format: text, reasoning, and calls of the given tools.

    `warnings` says what the constraint does not enforce, or leaves out, each with the tool and the argument. The
    `to_…` methods write it for an engine. None of them needs the engine to be installed.
    """

    format: str
    grammar: Grammar = field(repr=False)
    special_tokens: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the constraint does not enforce."""
        return tuple(self.grammar.warnings)

    def accepts(self, text: str) -> bool:
        """May a model write exactly this text? Reads it character by character, without an engine."""
        from .matcher import reads

        return reads(self.grammar, text)

    def to_llguidance(self) -> str:
        """A Lark grammar of llguidance (1.7 and newer)."""
        from .targets.llguidance import LarkWriter

        return LarkWriter(self.grammar, self.special_tokens).write()

    def to_ebnf(self) -> str:
        """A grammar in xgrammar's EBNF (0.2)."""
        from .targets.bnf import BnfWriter

        return BnfWriter(self.grammar).write()

    def to_gbnf(self) -> str:
        """A grammar of llama.cpp."""
        return self.to_ebnf()

    def to_xgrammar(self) -> dict[str, Any]:
        """A structural tag of xgrammar (0.2), which JSON can hold.

        Its format is `{"type": "grammar", "grammar": …}` with the grammar of `to_ebnf`: free text that holds no match
        of a pattern is more than the other formats can say.
        """
        return {"type": "structural_tag", "format": {"type": "grammar", "grammar": self.to_ebnf()}}

    def to_vllm(self, backend: ServerBackend = "xgrammar") -> dict[str, Any]:
        """The fields of a request to vLLM's chat completions (0.33), for `extra_body` of OpenAI's client.

        `structured_outputs` holds the constraint: a structural tag, or a Lark grammar for a server that runs with
        `--structured-outputs-config.backend guidance`. `tool_choice` is "none", so that the server neither parses nor
        constrains calls itself, and `skip_special_tokens` is false, so that markers stay in the text. If the server
        has a reasoning parser, the constraint begins behind the reasoning: make it with `reasoning="none"`.
        """
        check_choice(backend, get_args(ServerBackend), "backend")
        if backend == "llguidance":
            kind = {"grammar": self.to_llguidance()}
        else:
            kind = {"structural_tag": json.dumps(self.to_xgrammar(), ensure_ascii=False)}
        return {"structured_outputs": kind, "tool_choice": "none", "skip_special_tokens": False}

    def to_sglang(self, backend: ServerBackend = "xgrammar") -> dict[str, Any]:
        """The fields of a request to SGLang's chat completions (0.5.23), for `extra_body` of OpenAI's client.

        `response_format` is the structural tag; with "llguidance", `ebnf` is the Lark grammar, for a server that runs
        with `--grammar-backend llguidance`. `skip_special_tokens` is false, so that markers stay in the text. Leave
        `tool_choice` at "auto": with "none" the tools are not in the prompt, and with anything else the server expects
        calls in a notation of its own. If it has a reasoning parser, the constraint begins behind the reasoning.
        """
        check_choice(backend, get_args(ServerBackend), "backend")
        kind = {"ebnf": self.to_llguidance()} if backend == "llguidance" else {"response_format": self.to_xgrammar()}
        return {**kind, "skip_special_tokens": False}

    def to_llama_cpp(self) -> dict[str, Any]:
        """The fields of a request to llama.cpp's server, for `extra_body` of OpenAI's client.

        `grammar` holds the constraint. `tool_choice` is "none", since the server refuses a grammar beside tools that it
        parses itself; the tools are in the prompt all the same.
        """
        return {"grammar": self.to_gbnf(), "tool_choice": "none"}


def constraint(
    format: str,
    *,
    tools: Tools | Sequence[ToolLike] | None = None,
    actions: bool | Sequence[str] | None = None,
    screen: Screen | None = None,
    tool_choice: str = "auto",
    parallel: bool = True,
    max_calls: int | None = None,
    reasoning: ReasoningMode = "free",
    prefix: str | None = None,
    special_tokens: Sequence[str] = (),
    tokenizer: Any = None,
    strict: bool = False,
) -> Constraint:
    """Make the constraint of a response in a format.

    What the constraint lets a model write is read by `parse` as `ok`, and what `render` writes of the same tools in the
    order of their properties is let through. Each call has the arguments that its tool's schema admits. Properties that
    a schema does not name are left out, unless it has `additionalProperties`.

    `tool_choice` is "auto", "none", "required" (calls without text), or the name of the tool that is called. With
    `parallel=False`, there is at most one call; `max_calls` sets another bound. `reasoning` says whether the response
    may reason ("free"), does not, or begins with it ("required"). `prefix` is the end of the prompt, if it opens the
    reasoning.

    `actions` are the GUI actions that the response may have: True for all that the format has words for, or a list of
    their types (`"click"`) and of the format's own words (`"left_double"`). By default, there are all if there are no
    `tools`; a tool that is the format's own, such as `computer_use`, stands for the actions of its name. Actions count
    as calls in `tool_choice`, `parallel` and `max_calls`. Points lie on the `screen`, if it is given, and in the
    format's coordinate space.

    `special_tokens` are the markers that are single tokens of the model, such as `<tool_call>`; or pass the
    `tokenizer`: the path of a tokenizer.json, its content, or an object with `get_added_vocab` or
    `get_added_tokens_decoder`.

    Raises ConstraintError if the format cannot write what is asked for, or, with `strict`, if something of the schemas
    is not enforced; UnknownFormatError and ToolError as `parse` does; ValueError for an option that is not valid.
    """
    name = registry.resolve(check_type(format, str, "format"))
    automaton, skeleton = merged_skeleton(name)
    known_tools = Tools.of(tools)
    check_type(tool_choice, str, "tool_choice")
    check_optional(max_calls, int, "max_calls")
    called = acting_tools(automaton.tables.header, known_tools) if skeleton.has("name") else frozenset[str]()
    acted = _actions(automaton, known_tools, called, actions, tool_choice, check_optional(screen, Screen, "screen"))
    wishes = _wishes(known_tools, acted, tool_choice, max_calls if parallel else 1, reasoning)
    if known_tools is not None and called:
        known_tools = known_tools.only(*[name for name in known_tools.names if name not in called])
    if wishes.least and acted is None and not skeleton.has("name"):
        raise ConstraintError(name, ["the format has no way to write tool calls"])
    if reasoning == "required" and not skeleton.has("reasoning"):
        raise ConstraintError(name, ["the format has no way to write reasoning"])
    if known_tools is not None and tool_choice not in ("auto", "none", "required"):
        known_tools = known_tools.only(*known_tools.names & {tool_choice})
    if isinstance(special_tokens, str):
        raise TypeError("`special_tokens` is a str; expected a list of markers")
    special = (*special_tokens, *added_tokens(tokenizer))
    opened = check_optional(prefix, str, "prefix")
    grammar = Builder(skeleton, automaton, known_tools, wishes, special, opened, acted).build()
    if not grammar.has_texts([grammar.root]):
        words = "no response can be written that the schemas of the tools and the options admit"
        raise ConstraintError(name, grammar.warnings or [words])
    if strict and grammar.warnings:
        raise ConstraintError(name, grammar.warnings)
    return Constraint(name, grammar, special)


def _actions(
    automaton: Automaton,
    tools: Tools | None,
    called: frozenset[str],
    actions: bool | Sequence[str] | None,
    tool_choice: str,
    screen: Screen | None,
) -> Actions | None:
    """The actions that are asked for; None for none. `called` are the tools that are actions.

    Raises ConstraintError for an action that the format does not have.
    """
    if isinstance(actions, str):
        raise TypeError("`actions` is a str; expected a list of types and words of actions, or a bool")
    if tool_choice not in ("auto", "required"):
        actions, called = False, called & {tool_choice}
    if actions is None:
        actions = tools is None
    if actions is False and not called:
        return None
    header, learned = automaton.tables.header, learned_actions(automaton)
    if actions is True:
        missing = [f"{word}: actions that hold others are left out" for word in nested_words(header)]
        return Actions(learned, screen, missing) if learned else None
    listed = actions or []
    known_words = {word for paths in learned for word in _words(paths)}
    if unknown := [word for word in listed if word not in known_words]:
        raise ConstraintError(header.format, [f"the format has no action `{word}`" for word in unknown])
    names = {normalize_word(name, header.any_case) for name in called}
    kept = [
        paths
        for paths in learned
        if _words(paths) & {*listed} or normalize_word(paths.usage.name, header.any_case) in names
    ]
    own = "calls of it are actions, whose arguments are those of the format's words"
    return Actions(tuple(kept), screen, [f"{name}: {own}" for name in sorted(called)])


def _words(paths: ActionPaths) -> set[str]:
    """What a caller may call an action."""
    return {paths.usage.type, paths.usage.word, paths.usage.name} - {""}


def _wishes(
    tools: Tools | None, actions: Actions | None, tool_choice: str, most: int | None, reasoning: ReasoningMode
) -> Wishes:
    """What the options ask for. Raises ValueError for an option that is not valid."""
    if reasoning not in get_args(ReasoningMode):
        raise ValueError(
            f"`reasoning` is {reasoning!r}; expected one of {', '.join(map(repr, get_args(ReasoningMode)))}"
        )
    if most is not None and most < 1:
        raise ValueError(f"`max_calls` is {most}; expected a number from 1 on")
    if tool_choice == "none" or (tools is None and actions is None and tool_choice == "auto"):
        return Wishes(0, 0, True, reasoning)
    if tool_choice == "auto":
        return Wishes(0, most, True, reasoning)
    names = list(tools.names) if tools is not None else []
    if not names and actions is None:
        raise ValueError(f"`tool_choice` is {tool_choice!r}, but there are no `tools`")
    if tool_choice != "required" and tool_choice not in names:
        listed = ", ".join([repr(name) for name in ("auto", "none", "required", *names)])
        raise ValueError(f"`tool_choice` is {tool_choice!r}; expected one of {listed}")
    return Wishes(1, most, False, reasoning)
