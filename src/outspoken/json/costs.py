"""What a reading of damaged JSON costs. The cheapest is taken; one that costs nearly as much makes it ambiguous.

All costs have one unit: how unlikely the damage is, so that 30 is a bracket that is missing or wrong. What models write
often costs 1 or 2 (other quotes, a comma at the end), a quote or a comma that is missing costs most. A cost is paid for
what a reading repairs, for a quote that it keeps inside a string although the string might end there, for what is left
behind the value, and for what the schema does not have.
"""

from __future__ import annotations

from typing import Final

#: What each repair costs, by its code; the others cost 2.
REPAIRS: Final = {
    "missing-comma": 40, "missing-colon": 40, "wrong-closer": 30, "extra-closer": 30, "stray-quote": 30,
    "bare-value": 25, "missing-value": 60, "missing-closer": 30, "extra-comma": 25, "extra-colon": 25,
    "doubled-brace": 10, "thousands-separator": 10, "other-separator": 25, "comment": 12, "ellipsis": 15,
    "quote-style": 1, "bare-key": 5, "lost-quote": 60, "missing-opener": 30, "not-finite": 10, "wide-punctuation": 1,
}  # fmt: skip
LOST_QUOTE: Final = REPAIRS["lost-quote"]

# -- where a reading ends
#: The text ends inside the value.
TRUNCATED: Final = 25
#: The text ends inside a string that holds loose quotes.
TRUNCATED_QUOTES: Final = 30
#: Text behind the value rules the reading out, from here on.
BAD_REST: Final = 100
#: A surplus bracket behind the value; a surplus quote costs twice as much.
SURPLUS: Final = 30
#: Text behind the value that is dropped, if the value stands in a region of its own, and in prose.
DROPPED_REST, PROSE_BEHIND = 60, 10
#: A comma before the next value.
NEXT_VALUE: Final = 15

# -- strings with loose quotes
#: A value that ends behind an even number of loose quotes, in brackets that are closed; behind others; behind an odd
#: number; in a list behind one.
PAIRED_QUOTES, LOOSE_QUOTES, ODD_QUOTES, ITEM_QUOTE = 30, 45, 55, 60
#: A key with loose quotes, and each of them; a key that the schema does not have; one that is no name.
KEY_QUOTES, KEY_QUOTE, ODD_KEY, NO_NAME = 40, 5, 25, 15
#: Loose quotes in a string without a closing quote, and each of them; such a string ends before a key that the schema
#: does not have, or in open brackets; so much each.
LOST_QUOTES, LOST_QUOTE_EACH, LOST_DOUBT = 30, 10, 10

# -- a quote that is kept inside a string, by what is behind it
#: A key of the schema; a key that the schema does not have; any key, without a schema, at the first quote; at another
#: one; that could be part of what the string says.
KEPT_KNOWN, KEPT_UNKNOWN, KEPT_FIRST, KEPT_LATER, KEPT_INSIDE = 45, 1, 70, 25, 4
#: The closing bracket of the text, or another one; each in balanced quotes, and otherwise.
KEPT_LAST, KEPT_LAST_ODD, KEPT_CLOSE, KEPT_CLOSE_ODD = 40, 15, 12, 3
#: The comma of a list in balanced quotes, and otherwise; any comma behind the first quote; the end of the text.
KEPT_ITEM, KEPT_ITEM_ODD, KEPT_COMMA, KEPT_END = 14, 4, 20, 20
#: The colon of a key that begins inside the string: one of the schema, another one, any without a schema.
KEPT_COLON_KNOWN, KEPT_COLON_UNKNOWN, KEPT_COLON = 40, 10, 18
#: Any quote in a key.
KEPT_IN_KEY: Final = 10

# -- what is compared
#: So much more may another reading cost and be as likely: at least, at least with a schema, and a share of the cost.
MARGIN, SCHEMA_MARGIN, SHARE = 4, 30, 5
#: A reading of the brackets that costs more is compared with readings of the strings: any; one that is truncated; one
#: with a stray quote.
COMPARED, COMPARED_TRUNCATED, COMPARED_STRAY = 180, 80, 30
#: A key directly behind a string; a key that the schema does not have; a part that does not fit the schema.
GLUED_KEY, INVENTED_KEY, MISFIT = 60, 45, 15


def tolerance(cost: int) -> int:
    """How much more than a reading of this cost another one may cost and still be as likely."""
    return max(MARGIN, cost // SHARE)
