"""The mapping from a format's words to actions, as the `actions` lines of its grammar header define it.

    click|left_single = click(point=start!)
    left_double       = click(point=start!, clicks=2)
    computer_use(action=terminate, status=success) = complete

The left side of a line holds the words, with conditions on the arguments in parentheses; the right side holds an action
model and the sources of its fields. The first line that fits applies. `encode_action` uses the same lines in reverse.
See `grammars/vocabulary/README.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from outspoken.grammar.header import Header
from outspoken.grammar.registry import is_added
from outspoken.patterns.near_miss import lacks_middle, near_misses
from outspoken.results.actions.base import BaseAction
from outspoken.results.actions.models import TYPES, model_of
from outspoken.results.edits import shown
from outspoken.results.schemas.schema import is_object

from .rule_fields import PATH, STRING, FieldSource, Groups, matches, read_fields, unquoted

if TYPE_CHECKING:
    from outspoken.notations.tools import Tools

_SIDE = re.compile(r"([^()]*?)\s*(?:\((.*)\))?", re.DOTALL)
_VALUE = rf"(?:{STRING}|[\w.+\-]+)"
_CONDITION = re.compile(rf"\s*(?:!([\w.$]+)|([\w.$]+)\s*(?:(!?=|<)\s*({_VALUE}(?:\|{_VALUE})*))?)\s*(?:,|$)")
_WORD = re.compile(rf"{STRING}|[^|]+")

#: Words for yes.
_FLAGS = frozenset({"true", "True", "yes", "1"})
#: The left side of the line whose fields all actions have.
ALL_ACTIONS = "*"
#: Shorter words are the beginning of others.
_SHORTEST_WORD = 4
#: The argument with the actions that the grammar reads inside an action.
PARTS = "*"


class Condition(NamedTuple):
    """A condition on the first argument in `keys` that is present.

    Its value must be one of `words`, or any value if there are no words; with `expected=False`, it must not. With
    `below`, it must be a lower number.
    """

    keys: tuple[str, ...]
    words: tuple[str, ...]
    expected: bool
    below: float | None = None

    def holds(self, arguments: dict[str, Any], *, any_case: bool = False) -> bool:
        """True if the arguments satisfy the condition."""
        _, value = find_argument(self.keys, arguments)
        if self.below is not None:
            return isinstance(value, (int, float)) and value < self.below
        if not self.words:
            return (value is not None) is self.expected
        text = str(value).lower() if isinstance(value, bool) else str(value)
        word = normalize_word(text.strip(), any_case)
        return any(word == normalize_word(one, any_case) for one in self.words) is self.expected

    def lists(self, value: Any) -> bool:
        """Must a value, which is text, be one of several words, of which none stands for yes?"""
        return self.expected and isinstance(value, str) and bool(self.words) and _FLAGS.isdisjoint(self.words)


class MappingRule:
    """One line of a mapping: words, conditions, the type of the action, and the constants and sources of its fields.

    The fields are read when the line first applies, because that needs the action model. `shared` are those that all
    actions have. Raises ValueError for an invalid line: here, or from `check` and the properties for its fields.
    """

    def __init__(self, left: str, right: str, named: Groups, shared: MappingRule | None = None) -> None:
        side = _SIDE.fullmatch(left.strip())
        if side is None:
            raise ValueError(f"`{left}` is not `name` or `name(argument=word)`")
        self.names = tuple([unquoted(word.strip()) for word in _WORD.findall(side[1])]) or ("",)
        self.conditions = tuple(_conditions(side[2] or "", named))
        self._named, self._shared = named, shared
        side = _SIDE.fullmatch(right.strip())
        self.type, self.fields = (side[1], side[2] or "") if side else ("", "")
        if left == ALL_ACTIONS and not self.type:
            self.type = ALL_ACTIONS
        elif self.type not in TYPES:
            raise _unknown_type(right, self.type)

    @cached_property
    def model(self) -> type[BaseAction]:
        """The action model."""
        return BaseAction if self.type == ALL_ACTIONS else model_of(self.type)

    @cached_property
    def constants(self) -> dict[str, Any]:
        """The fields that have the same value in all actions of the line."""
        return self._values[0]

    @cached_property
    def origins(self) -> dict[str, FieldSource]:
        """The fields that arguments give."""
        return self._values[1]

    @cached_property
    def _values(self) -> tuple[dict[str, Any], dict[str, FieldSource]]:
        constants, origins = read_fields(self.fields, self.type, self.model, self._named)
        shared = self._shared.origins if self._shared is not None else {}
        return constants, {**origins, **{field: one for field, one in shared.items() if field not in origins}}

    def check(self) -> None:
        """Read all of the line. Raises ValueError if it is invalid."""
        _ = self._values

    def is_path(self, field: str) -> bool:
        """True for `path`, which stands for all points of a drag, unless the model has such a field."""
        return field == PATH and field not in self.model.model_fields

    @property
    def shared_sources(self) -> set[str]:
        """The arguments of the fields that all actions have."""
        shared = self._shared.origins.values() if self._shared is not None else ()
        return {source[0] for origin in shared for source in origin.sources}


class ActionMapping:
    """All mapping rules of a format, by word."""

    def __init__(self, header: Header) -> None:
        self.any_case = header.any_case
        self.rules: list[MappingRule] = []
        self._by_name: dict[str, list[MappingRule]] = {}
        named = _groups(tuple(header.arguments.items()))
        shared: MappingRule | None = None
        for left, right in header.actions.items():
            rule = MappingRule(left, right, named, shared)
            if left == ALL_ACTIONS:
                shared = rule
                continue
            self.rules.append(rule)
            for name in rule.names:
                self._by_name.setdefault(normalize_word(name, self.any_case), []).append(rule)
        unnamed = [rule.conditions[0] for rule in self._by_name.get("", ()) if rule.conditions]
        #: the arguments that name the action if it has no other name
        self.naming = tuple(dict.fromkeys([key for condition in unnamed for key in condition.keys]))
        self._words = {
            *self._by_name,
            *[normalize_word(word, self.any_case) for group in unnamed for word in group.words],
        }

    def name_of(self, name: str, arguments: dict[str, Any]) -> str:
        """The name of an action: its own, or the value of the argument that names it."""
        found = None if name or not self.naming else find_argument(self.naming, arguments)[1]
        return found if isinstance(found, str) else name

    def is_name(self, word: str) -> bool:
        """True if the word is the name of an action, not only the value of an argument that names one."""
        return bool(self._rules_of(word))

    def _rules_of(self, word: str) -> Sequence[MappingRule]:
        return self._by_name.get(normalize_word(word, self.any_case), ())

    def knows(self, word: str) -> bool:
        """True if the word names an action, as its name or in an argument, possibly with other arguments."""
        return normalize_word(word, self.any_case) in self._words

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """Finds the beginning of an action that is written as a call in Python."""
        words = sorted((word for word in self._by_name if word), key=len, reverse=True)
        return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, words)) or '(?!)'})\(", re.IGNORECASE)

    def is_taken(self, name: str, tools: Tools | None) -> bool:
        """True if a name is that of a given tool that is no action, though the format has an action of this name.

        Its schema shows it: it requires an argument that the action does not have, or all of its arguments are others.
        """
        if tools is None or name not in tools:
            return False
        known = self.arguments_of(name)
        arguments = tools.arguments(name)
        listed = arguments.properties
        return not known.issuperset(arguments.required) or (bool(listed) and known.isdisjoint(listed))

    def arguments_of(self, name: str) -> set[str]:
        """The arguments that the actions of a name may have."""
        found = self.keys_of_conditions(name)
        for rule in self._rules_of(name):
            found.update([key for origin in rule.origins.values() for source in origin.sources for key in source])
        return {key.partition(".")[0] for key in found}

    def keys_of_conditions(self, name: str) -> set[str]:
        """The arguments that decide which of the actions of a name it is."""
        return {key for rule in self._rules_of(name) for condition in rule.conditions for key in condition.keys}

    def find(self, name: str, arguments: dict[str, Any]) -> MappingRule | None:
        """The first rule of a word whose conditions the arguments satisfy."""
        return next((rule for rule in self._rules_of(name) if self._hold(rule.conditions, arguments)), None)

    def undecided(self, rule: MappingRule, name: str, arguments: dict[str, Any], unread: Mapping[str, Any]) -> str:
        """What is wrong if an `unread` argument may decide which action it is; or "".

        It has a word of an absent argument that decides, or decides with a word that no line lists.
        """
        unlisted = ""
        for other in self._rules_of(name):
            for condition in other.conditions if other is not rule else ():
                key, value = find_argument(condition.keys, arguments)
                words = [word for word in condition.words if condition.lists(word)]
                misplaced = next((key for key, word in unread.items() if word in words), "") if value is None else ""
                if misplaced:
                    return f"has {shown(unread[misplaced])} in `{misplaced}`, which may stand for `{condition.keys[0]}`"
                remaining = [rest for rest in other.conditions if rest is not condition]
                if not unlisted and key in unread and condition.lists(value) and self._hold(remaining, arguments):
                    unlisted = f"does not say what {shown(unread[key])} means in `{key}`"
        return unlisted

    def mistake_in(self, name: str, arguments: dict[str, Any]) -> str:
        """Why a call that is no action may be one: it has the name of one, or that or its arguments with a mistake."""
        if not self.is_name(name):
            word = next((word for word in self._by_name if word and is_alike(name, word)), "")
            if word:
                return f"the name may stand for `{word}`"
            word = next((word for word in self._by_name if word and self._decides(word, arguments)), "")
            return f"its arguments are those of `{word}`" if word else ""
        argument_names = self.arguments_of(name)
        absent = sorted(argument_names - arguments.keys())
        for key in [key for key in arguments if key not in argument_names]:
            word = next((word for word in absent if not key or is_alike(key, word)), "")
            if word:
                return f"`{key}` may stand for `{word}`"
        for condition in [condition for rule in self._rules_of(name) for condition in rule.conditions]:
            value = find_argument(condition.keys, arguments)[1]
            if isinstance(value, str) and (not value or any(is_alike(value, word) for word in condition.words)):
                return f"{shown(value)} may stand for `{'` or `'.join(condition.words)}`"
        return "its arguments are those of no action"

    def _decides(self, name: str, arguments: dict[str, Any]) -> bool:
        """Do the words of some arguments tell which action of a name it is?"""
        return any(
            any(condition.words and condition.expected for condition in rule.conditions)
            and self._hold(rule.conditions, arguments)
            for rule in self._rules_of(name)
        )

    def _hold(self, conditions: Iterable[Condition], arguments: dict[str, Any]) -> bool:
        return all(condition.holds(arguments, any_case=self.any_case) for condition in conditions)

    def types_text(self, name: str, argument: str) -> bool:
        """True if an argument of this word is the text to type, whatever the other arguments are."""
        return any(
            rule.type == "type_text"
            and "text" in rule.origins
            and (argument,) in rule.origins["text"].sources
            and not rule.conditions
            for rule in self._rules_of(name)
        )


def is_alike(written: str, word: str) -> bool:
    """Is a text another one with a mistake, in another case, or twice, but not that itself?"""
    quoted, low = f'"{written}"', written.strip().lower()
    return written != word and (
        low in (word.lower(), 2 * word.lower())
        or _stutters(low, word.lower())
        or _takes_in(low, word.lower())
        or _is_left_of(low, word.lower())
        or any(end == len(quoted) for end, _ in near_misses(quoted, 0, f'"{word}"'))
    )


def _takes_in(written: str, word: str) -> bool:
    """Does a text begin with a word, and go on with letters of another one?"""
    return len(word) >= _SHORTEST_WORD and written.startswith(word) and written[len(word) : len(word) + 1].isalpha()


def _is_left_of(written: str, word: str) -> bool:
    """Is a text more than half of a word, of which letters in the middle are missing?"""
    is_long = len(written) >= _SHORTEST_WORD and 2 * len(written) > len(word)
    return is_long and lacks_middle(written, word) and written[-1] == word[-1] and written not in word


def _stutters(written: str, word: str) -> bool:
    """Is a text a word of which some letters in a row are written twice?"""
    more = len(written) - len(word)
    return 1 < more <= len(word) and any(
        written == word[:end] + word[end - more :] for end in range(more, len(word) + 1)
    )


def normalize_word(word: str, any_case: bool) -> str:
    """A word in the form in which it is compared."""
    return word.strip().lower() if any_case else word


def mapping_of(header: Header) -> ActionMapping | None:
    """The mapping of a format; None if it has no actions. Raises ValueError for an invalid line."""
    if not header.actions:
        return None
    actions, arguments = tuple(header.actions.items()), tuple(header.arguments.items())
    return _mapping(actions, arguments, header.any_case, is_added(header.format))


@lru_cache(maxsize=256)
def _mapping(
    actions: tuple[tuple[str, str], ...], arguments: tuple[tuple[str, str], ...], any_case: bool, is_checked: bool
) -> ActionMapping:
    mapping = ActionMapping(Header("", actions=dict(actions), arguments=dict(arguments), any_case=any_case))
    for rule in mapping.rules if is_checked else ():  # `tools.check` has checked the library's own formats
        rule.check()
    return mapping


def find_argument(keys: tuple[str, ...], arguments: dict[str, Any]) -> tuple[str, Any]:
    """The first of these arguments that is present and not null, and its value; `a.b` is `b` of the object `a`."""
    for key in keys:
        value: Any = arguments.get(key)
        if value is None and "." in key:
            value = arguments
            for part in key.split("."):
                value = value.get(part) if is_object(value) else None
        if value is not None:
            return key, value
    return keys[0], None


# parsing the lines


def parse_rule(left: str, right: str, groups: tuple[tuple[str, str], ...] = ()) -> MappingRule:
    """Parse a line of a mapping, with the header's `arguments` as groups. Raises ValueError for an invalid line."""
    rule = MappingRule(left, right, _groups(groups))
    rule.check()
    return rule


def _groups(groups: tuple[tuple[str, str], ...]) -> Groups:
    """The arguments of each group; a group may name groups before it."""
    named: Groups = {}
    for name, members in groups:
        listed = [part for member in members.split("|") for part in named.get(member.strip(), (member.strip(),))]
        named[name] = tuple(dict.fromkeys(listed))
    return named


def _unknown_type(right: str, type: str) -> ValueError:
    """The error for a line whose right side names no action."""
    from difflib import get_close_matches  # takes long to import

    near = get_close_matches(type or right, TYPES, 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; see `outspoken.actions`"
    return ValueError(f"`{right}` is not an action{hint}")


def _conditions(text: str, named: Groups) -> Iterator[Condition]:
    for match in matches(_CONDITION, text, "`argument`, `!argument` or `argument=word|word`"):
        name = match[1] or match[2]
        keys = named.get(name, (name,))
        if match[3] == "<":
            yield Condition(keys, (), True, float(match[4]))
        else:
            words = tuple([unquoted(word) for word in _WORD.findall(match[4] or "")])
            yield Condition(keys, words, match[3] != "!=" and not match[1])
