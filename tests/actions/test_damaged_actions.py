"""Actions obey the rule of proof: what is damaged, cut, guessed, thought about or quoted is not run, or is reported."""

from functools import cache
from random import Random

import pytest

from outspoken import RenderError, Reply, formats, parse, render
from outspoken.actions import Action, Batch, Click, PressKeys, TypeText
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.authoring.fuzz.damage import CHARACTERS, TAGS
from outspoken.authoring.fuzz.sound import sound_of
from outspoken.grammar import registry
from outspoken.results.geometry import Point
from tests.cases import CASES
from tests.invariants.replies import check_chunks
from tests.loops import SEED, some
from tools.damage.judging import Reading, damaged_texts
from tools.damage.judging import read as read_damaged

ACTING = sorted(info.name for info in formats() if registry.header(info.name).actions)

#: So many texts are damaged for each format.
_TEXTS = 24
#: Of all texts, so many may run something else in silence, or lose an action: each is listed when there are more.
_MOST_WRONG, _MOST_LOST = 0.01, 0.005


def test_damaged_actions() -> None:
    """The sound texts of the corpus with one mistake of a character or a tag."""
    readings: list[Reading] = []
    for format in ACTING:
        texts = [case.text for case in CASES if (case.format, case.kind) == (format, "ok") and len(case.text) < 2000]
        made = [base for base in [sound_of(format, text, None) for text in texts] if base is not None]
        cases = damaged_texts(made, Random(f"{SEED} {format}"), _TEXTS, kinds=(*CHARACTERS, *TAGS))
        readings += [read_damaged(case) for case in cases]
    assert len(readings) > 600
    for outcome, most in (("wrong, ok", _MOST_WRONG), ("lost", _MOST_LOST)):
        found = [(reading.case.base.format, reading.case.text) for reading in readings if reading.outcome == outcome]
        assert len(found) <= most * len(readings), found


def read(text: str, format: str, random: Random) -> Reply:
    """The reply to a text, which is the same in pieces, with events that add up to it."""
    args = ParseArguments(format, reason="stop")
    reply = args.parse(text)
    check_chunks(text, args, reply, random)
    return reply


def written(action: Action, format: str) -> str | None:
    try:
        return render([action], format=format)
    except RenderError:
        return None


@cache
def samples(format: str) -> list[str]:
    """Some actions as a format writes them."""
    space = registry.header(format).space
    point = Point(x=0.25, y=0.5, space=space) if space == "unit" else Point(x=250, y=500, space=space)
    actions: list[Action] = [Click(point=point), TypeText(text="grey owl"), PressKeys(keys=["ctrl", "c"])]
    texts = [written(action, format) for action in actions]
    return [text for text in texts if text and len(parse(text, format=format, finish_reason="stop").actions) == 1]


QUOTED = [
    'I would write "{}" then.', "It is <pre>{}</pre> there.", "<!-- {} -->\nNo.", "See:\n> {}\n\nNo.",
    "See:\n<tool_response>\n{}\n</tool_response>\nNo.", "<code>{}</code> is how.",
]  # fmt: skip


def test_quoted_actions_are_not_run() -> None:
    """At most 2 % of quoted actions are run."""
    random, count, ran = Random(SEED), 0, list[str]()
    for format in ACTING:
        for sample in samples(format):
            for frame in random.sample(QUOTED, 2):
                text = frame.format(sample)
                count += 1
                ran += [text] if read(text, format, random).actions else []
    assert count >= 100
    assert len(ran) <= count // 50, ran


def test_actions_that_were_thought_about_are_reasoning() -> None:
    random, count = Random(SEED), 0
    for format in ACTING:
        thinks = parse("<think>Hm.</think>\nNo.", format=format).reasoning == "Hm."
        for sample in samples(format) if thinks and registry.header(format).reasoned_calls != "run" else ():
            reply = read(f"<think>\nI must not: {sample}\n</think>\nNo.", format, random)
            count += 1
            assert reply.actions == [], (format, sample)
    assert count >= 40


def test_a_cut_never_changes_an_action() -> None:
    """Cut at every character, what runs is what was written."""
    random = Random(SEED)
    for format in some(ACTING, "cut actions", 0.5):
        for sample in samples(format):
            meant = [
                (type(one), one.model_dump(include={"point", "text", "keys"}))
                for one in parse(sample, format=format).actions
            ]
            for end in random.sample(range(1, len(sample)), min(3, len(sample) - 1)):
                for one in parse(sample[:end], format=format, finish_reason="stop").actions:
                    assert (type(one), one.model_dump(include={"point", "text", "keys"})) in meant, sample[:end]


BATCH = (
    '{"type": "computer_call", "call_id": "call_02", "actions": [{"type": "click", "button": "left", '
    '"x": 512, "y": 84}, {"type": "wait"}, {"type": "type", "text": "moss"}]}'
)


@pytest.mark.parametrize("kind", ["lost", "doubled", "swapped", "replaced"])
def test_batch_runs_with_all_its_parts(kind: str) -> None:
    """With one character changed, its parts run one by one, or all of it is refused."""
    random = Random(f"{kind}{SEED}")
    for at in range(random.randrange(6), len(BATCH), 6):
        char = BATCH[at]
        new = {
            "lost": "",
            "doubled": char * 2,
            "swapped": BATCH[at : at + 2][::-1],
            "replaced": random.choice("x,\"{}[]:' "),
        }
        text = BATCH[:at] + new[kind] + BATCH[at + (2 if kind == "swapped" else 1) :]
        reply = read(text, "openai_computer_use", random)
        batches = [action for action in reply.actions if isinstance(action, Batch)]
        assert all(len(batch.actions) == 3 or len(reply.actions) == 4 - len(batch.actions) for batch in batches), text
        assert len(reply.actions) in (1, 3) or reply.diagnostics, text


def test_batch_whose_list_never_ends_is_not_run() -> None:
    for end in some(range(BATCH.index("{", 9), len(BATCH) - 2), "ends of a batch", 0.34):
        reply = read(BATCH[:end], "openai_computer_use", Random(end))
        assert not any(isinstance(action, Batch) for action in reply.actions), BATCH[:end]
