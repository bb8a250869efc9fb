"""What each deviation from a damaged text costs. The cheapest recovery path wins."""

from __future__ import annotations

#: A marker is missing, lacks a character, or has no place where it stands.
MISSING_MARKER, DAMAGED_MARKER, STRAY_MARKER = 3, 2, 3
#: A name stands right behind itself, with the markup round it.
DOUBLED_UNIT = 2
#: A near miss of a marker is another marker, which is intact.
INTACT_OTHER = 6
#: A near miss of a marker stands where the grammar has it only between other text.
OUT_OF_CONTEXT = 1
#: A bracket opens something that does not begin as the grammar says.
OTHER_BRACKET = 3
#: A marker is part of a JSON string, or of a value without quotes.
MARKER_IN_STRING, MARKER_IN_VALUE = 1, 4
#: A marker is plain text: an opening marker, or another one.
OPENER_AS_TEXT, MARKER_AS_TEXT = 9, 5
#: The name of an action that needs no marker before it is plain text.
NAME_AS_TEXT = 1
#: The name of a payload is plain text. This costs less than to guess its value.
PAYLOAD_AS_TEXT = 7
#: Text stands where only markers may, in a segment that is a call, or that may be text. Each word after the first adds.
STRAY_TEXT, STRAY_TEXT_UNSURE, STRAY_WORD = 5, 11, 4
#: A single character is one too many where only markers may stand.
STRAY_CHARACTER = 2
#: A tool, or an argument of it, does not exist.
UNKNOWN_TOOL, UNKNOWN_ARGUMENT = 4, 2
#: What should stand beside a name does not.
UNCONDITIONAL_NAME = 1
#: A marker is an alternative after the first that fits.
OTHER_MARKER = 2
#: A call is written as only the grammar's rules for damage (`broken_start`) allow.
FOREIGN_NOTATION = 2
#: JSON is taken as cut off although nothing proves that it ended.
CUT_VALUE = 5
#: A JSON value is repaired, by the level of the repair; more if it can be read in two ways.
LEVEL_COSTS = {"exact": 0, "notation": 1, "structure": 2, "strings": 4, "heuristic": 8}
AMBIGUOUS_VALUE = 3
#: An object of a repaired value has a key twice.
REPEATED_KEY = 3
#: A path that costs more is no reading.
MAX_COST = 36
