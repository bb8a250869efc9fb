"""A new format is written from responses or a chat template, and only if it is read back."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from outspoken import parse
from outspoken.authoring.check import check
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.authoring.new_format.drafting import Example, by_examples
from outspoken.authoring.shared.checkout import Case, Checkout, cases, toml
from outspoken.grammar import registry
from outspoken.models.chat_template import ChatTemplate, TemplateError, turn
from outspoken.models.messages import MESSAGES, Message, Tool
from tests.authoring.checkouts import checkout_in
from tests.cli.runner import Cli, Ran
from tests.loops import some
from tests.tables import tables
from tools.shared.command import grammar

TABLES = tables(__file__)

OWN = Checkout()
#: The formats that are there already.
HERE = ("harmony", "hermes", "json", "kimi_k2", "qwen3_coder", "text", "ui_tars")
#: What `check` says of a format that was just written: what its author fills in, and what other tools write.
LEFT = {"missing-field", "no-cases"}

New = Callable[..., Ran]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with some grammars, and no corpus."""
    return checkout_in(tmp_path, *HERE)


@pytest.fixture
def new(checkout: Checkout, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> New:
    """Runs the command; `files` are responses, given with `--from`, and `template` a chat template."""
    tool = Cli(capsys, monkeypatch, partial(grammar, "new_format", checkout))

    def run(*arguments: str, files: dict[str, str] | None = None, template: str = "") -> Ran:
        responses = {checkout.root / f"{name}.txt": text for name, text in (files or {}).items()}
        given = {**responses, **({checkout.root / "vendor.jinja": template} if template else {})}
        for path, text in given.items():
            path.write_bytes(text.encode())
        more = ["--template", str(checkout.root / "vendor.jinja")] if template else []
        return tool(*arguments, *more, *(["--from", *map(str, responses)] if responses else []))

    return run


def sound(checkout: Checkout, name: str) -> dict[str, Case]:
    """The cases of a format that was just written, once all that must hold of them is checked."""
    written = {case.name: case for case in cases(checkout, name)}
    with checkout.in_use():
        assert registry.header(name).format == name
        assert registry.header(name).example in "\n".join(case.text for case in written.values())
        for case in written.values():
            assert bool(case.parse().diagnostics) == (case.kind == "err"), case
            assert ParseArguments(case.format, case.options).stream(case.text)[1] == case.parse(), case
    origins = toml.loads((checkout.corpus / name / "sources.toml").read_text("utf-8"))
    assert sorted(origins) == sorted(written)
    assert all(entry["origin"] for entry in origins.values())
    assert {diagnostic.code for diagnostic in check(checkout, name)} <= LEFT
    return written


class Markup(NamedTuple):
    """How calls are written: one call, an argument of it, and what stands before, between and behind calls."""

    call: str
    pair: str = ""
    open: str = ""
    between: str = ""
    close: str = ""

    def text(self, *calls: tuple[str, dict[str, Any]]) -> str:
        """Calls in this markup."""
        written: list[str] = []
        for name, arguments in calls:
            pairs = "".join(
                self.pair.replace("KEY", key).replace("PYTHON", repr(value)).replace("VALUE", str(value))
                for key, value in arguments.items()
            )
            whole = json.dumps({"name": name, "arguments": arguments})
            text = self.call.replace("CALL", whole).replace("ARGUMENTS", json.dumps(arguments))
            text = text.replace("PAIRS", pairs.removesuffix(", ")).replace("NUMBER", str(len(written)))
            written.append(text.replace("NAME", name))
        return self.open + self.between.join(written) + self.close

    def template(self, thought: str) -> str:
        """A chat template that writes this markup, and reasoning between tags."""
        value = "{{ v if v is string else v | tojson }}"
        pair = self.pair.replace("KEY", "{{ k }}").replace("PYTHON", "{{ v | tojson }}").replace("VALUE", value)
        last = "{{ '' if loop.last else ', ' }}" if pair.endswith(", ") else ""
        each = "{% for k, v in c.function.arguments | items %}" + pair.removesuffix(", ") + last + "{% endfor %}"
        call = self.call.replace("CALL", "{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}")
        call = call.replace("ARGUMENTS", "{{ c.function.arguments | tojson }}").replace("PAIRS", each)
        call = call.replace("NAME", "{{ c.function.name }}").replace("NUMBER", "{{ loop.index0 }}")
        return (
            "{% for m in messages %}{{ '<|turn|>' + m.role + '\\n' }}"
            f"{{% if m.reasoning_content %}}{thought}{{% endif %}}{{{{ m.content or '' }}}}"
            f"{{% if m.tool_calls %}}{self.open}{{% for c in m.tool_calls %}}{call}"
            f"{{{{ '' if loop.last else {self.between!r} }}}}{{% endfor %}}{self.close}{{% endif %}}"
            "{{ '<|over|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|turn|>assistant\\n' }}{% endif %}"
        ).replace("\n", "{{ '\\n' }}")


#: Ways of writing calls, and those that are read from responses only.
SHAPES = {name: Markup(**parts) for name, parts in TABLES["SHAPES"].items()}
RESPONSES = SHAPES | {name: Markup(**parts) for name, parts in TABLES["OTHER_SHAPES"].items()}
ONE, TWO = ("get_weather", {"city": "Paris"}), ("find_hotels", {"area": "Montmartre", "stars": 3})


@pytest.mark.parametrize("shape", some(RESPONSES, "responses", 0.2))
def test_from_responses(shape: str, checkout: Checkout, new: New) -> None:
    one, two = RESPONSES[shape].text(ONE).lstrip(), f"Let me see.{RESPONSES[shape].text(ONE, TWO)}"
    thinks = f"<mythink>I look.</mythink>\n{one}"
    ran = new("mine", files={"one": one, "two": two, "thinks": thinks})
    assert (ran.code, ran.err) == (0, "")
    assert "3 of 3 responses read back" in ran.out
    assert "no response has two calls in a row" not in ran.out
    written = sound(checkout, "mine")
    kinds = {name: case.kind for name, case in written.items()}
    assert kinds == {"one": "ok", "two": "ok", "thinks": "ok", "cut_inside_arguments": "err"}
    with checkout.in_use():
        for name, calls, text, reasoning in (
            ("one", [ONE], "", None),
            ("two", [ONE, TWO], "Let me see.", None),
            ("thinks", [ONE], "", "I look."),
        ):
            reply = written[name].parse()
            assert [(call.name, call.arguments) for call in reply.tool_calls] == calls
            assert (reply.text.strip(), reply.reasoning) == (text, reasoning)
        alone = parse(f"{one} Done.", format="mine")
        assert ([call.name for call in alone.tool_calls], alone.text.strip()) == (["get_weather"], "Done.")


@pytest.mark.parametrize("shape", some(SHAPES, "template", 0.2))
def test_from_a_template(shape: str, checkout: Checkout, new: New) -> None:
    ran = new("mine", template=SHAPES[shape].template("<mull>\n{{ m.reasoning_content }}\n</mull>\n"))
    assert (ran.code, ran.err) == (0, "")
    assert "11 of 11 responses read back" in ran.out
    written = {name: case for name, case in sound(checkout, "mine").items() if case.kind == "ok"}
    assert set(written) == set(MESSAGES)
    with checkout.in_use():
        for name, case in written.items():
            message, reply = MESSAGES[name], case.parse()
            assert [(c.name, c.arguments) for c in reply.tool_calls] == [call[:2] for call in message.calls]
            assert (reply.text.strip(), (reply.reasoning or "").strip()) == (message.text, message.reasoning)


#: Formats of which the drafts from their corpus read at least so many responses of a hundred as they do.
LEFT_OUT = {"glm_4_5": 87, "hermes": 87, "seed_oss": 75}


@pytest.mark.parametrize("format_", LEFT_OUT)
def test_from_the_responses_of_a_format(format_: str) -> None:
    """A grammar is drafted from responses that were not written for it, many of them unusual."""
    given = [case for case in cases(OWN, format_) if case.kind == "ok" and not case.options][:8]
    meant = [[(c.name, c.arguments) for c in case.parse().tool_calls] for case in given]
    draft = by_examples(OWN, "drafted", {case.name: Example(case.text, "") for case in given}, "")
    with OWN.in_use():
        registry.add("drafted", draft.grammar, OWN.grammar("drafted"))
        read = [[(c.name, c.arguments) for c in parse(case.text, format="drafted").tool_calls] for case in given]
    same = [one == other for one, other in zip(meant, read, strict=True) if one]
    assert sum(same) * 100 >= LEFT_OUT[format_] * len(same)


# other sources


def test_blank(checkout: Checkout, new: New) -> None:
    assert new("unknown_one").out == TABLES["BLANK"]
    assert set(sound(checkout, "unknown_one")) == {"one_call", "cut_inside_arguments"}


def test_the_whole_grammar(checkout: Checkout, new: New) -> None:
    markup = SHAPES["keys_in_tags"]
    one = markup.text(ONE).lstrip()
    new("my_use", files={"one": one, "two": f"Well.{markup.text(ONE, TWO)}"})
    text = checkout.grammar("my_use").read_text("utf-8")
    source = text.splitlines()[3]
    assert source.startswith("// source:  responses one.txt, two.txt, read on 20")
    example = "\n".join([f"//   {line}" for line in one.splitlines()])
    assert text == TABLES["THE_WHOLE_GRAMMAR"].replace("SOURCE", source).replace("EXAMPLE", example)


# what is said of responses


def test_a_damaged_response_lies_in_err(checkout: Checkout, new: New) -> None:
    one, two = SHAPES["name_then_json"].text(ONE), SHAPES["name_then_json"].text(TWO)
    ran = new("mixed", files={"one": one, "two": two, "bad": '<|call|>f<|args|>{"a": 1,}<|end|>'})
    assert ran.out.startswith(TABLES["A_DAMAGED_RESPONSE_LIES_IN_ERR"])
    assert sound(checkout, "mixed")["bad"].kind == "err"


def test_bytes_are_kept(checkout: Checkout, new: New) -> None:
    text = SHAPES["json_in_tags"].text(ONE).replace("\n", "\r\n") + "<|im_end|>\n"
    assert new("crlf", files={"a": text}).code == 0
    assert (checkout.corpus / "crlf" / "ok" / "a.txt").read_bytes() == text.encode()
    assert "im_end" not in checkout.grammar("crlf").read_text("utf-8").partition("\n\n")[2]


def test_what_a_format_reads_already(checkout: Checkout, new: New) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    template = Markup("\n<tool_call>\nCALL\n</tool_call>").template("<think>\n{{ m.reasoning_content }}\n</think>\n\n")
    for what, given in (
        ("all 3 responses", {"files": {"a": text, "b": f"{text}\n{text}", "c": "No call."}}),
        ("all that the template writes", {"template": template}),
    ):
        ran = new("known", **given)
        assert ran.code == 0
        assert ran.out.startswith(f"`hermes` reads {what} already: add the model to its header\n")
        assert ran.out.endswith("nothing was written; `--force` writes a format of its own all the same\n")
        assert not checkout.grammar("known").exists()
    ran = new("known", "--force", files={"a": text})
    assert ran.out.startswith("`hermes` reads the response already\na call is a JSON object:\n")


# what is refused


@pytest.mark.parametrize(("texts", "message"), TABLES["UNREAD"].values(), ids=TABLES["UNREAD"])
def test_what_is_not_read_back_is_refused(texts: list[str], message: str, checkout: Checkout, new: New) -> None:
    ran = new("mine", files={str(number): text for number, text in enumerate(texts)})
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"outspoken: nothing was written: {message}")
    assert not checkout.grammar("mine").exists()
    assert not checkout.corpus.exists()


@pytest.mark.parametrize(("arguments", "content", "message"), TABLES["WRONG"].values(), ids=TABLES["WRONG"])
def test_wrong_use(arguments: list[str], content: str, message: str, checkout: Checkout, new: New) -> None:
    path = checkout.root / "given"
    path.write_bytes(content.encode("latin-1"))
    ran = new(*[argument.replace("GIVEN", str(path)) for argument in arguments])
    assert ran == (2, "", f"outspoken: error: {message.replace('GIVEN', str(path))}\n")


def test_nothing_is_overwritten(checkout: Checkout, new: New) -> None:
    (checkout.corpus / "mine").mkdir(parents=True)
    said = "outspoken: error: `tests/corpus/mine` is there already, and nothing is overwritten\n"
    assert new("mine") == (2, "", said)
    assert not checkout.grammar("mine").exists()


# chat templates

HELLO: list[dict[str, Any]] = [{"role": "user", "content": "Grüezi <b>"}]


def rendered(template: Callable[[], ChatTemplate]) -> str:
    """What a template writes, or why it is refused."""
    try:
        return template().render(HELLO)
    except TemplateError as error:
        return str(error)


@pytest.mark.parametrize(("source", "text"), TABLES["RENDERED"].values(), ids=TABLES["RENDERED"])
def test_rendered(source: str, text: str) -> None:
    said = rendered(lambda: ChatTemplate(source))
    assert said.startswith(text.removesuffix("...")) if text.endswith("...") else said == text


@pytest.mark.parametrize(("configuration", "text"), TABLES["CONFIGURED"].values(), ids=TABLES["CONFIGURED"])
def test_configuration(configuration: Any, text: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(configuration), "utf-8")
    assert rendered(lambda: ChatTemplate.of(path)) == text


SAID = {
    "text": Message("Ok."),
    "call": Message("Ok.", calls=(Tool("f", {"a": "é"}),)),
    "thought": Message("Ok.", "Hm."),
}


@pytest.mark.parametrize(("opened", "message", "written"), TABLES["TURNS"])
def test_turn(opened: str, message: str, written: list[str]) -> None:
    """The assistant's turn is told apart from the prompt, and from the reasoning that the prompt opens."""
    source = Markup("<call>NAMEARGUMENTS").template("<think>\n{{ m.reasoning_content }}</think>")
    source = source.replace(
        "assistant\\n' }}{% endif %}",
        f"assistant\\n' }}}}{opened.strip()}" + "{{ '\\n' }}" * bool(opened) + "{% endif %}",
    )
    assert turn(ChatTemplate(source), SAID[message]) == tuple(written)


def test_arguments_as_text(checkout: Checkout, new: New) -> None:
    """Some templates want the arguments as the text of JSON, and some write no reasoning."""
    source = SHAPES["name_then_json"].template("").replace("c.function.arguments | tojson", "'' + c.function.arguments")
    ran = new("mine", template=source)
    assert ran.code == 0
    assert "the template does not write reasoning beside a call\nthe template does not write reasoning\n" in ran.out
    sound(checkout, "mine")
