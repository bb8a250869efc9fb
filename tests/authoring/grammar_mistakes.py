"""A sound format with its corpus, and mistakes in it, each with the snippet that `python -m tools.check` prints."""

from __future__ import annotations

from typing import NamedTuple

GRAMMAR = r"""// format:  arrows
// title:   Calls between arrows
// models:  Example-7B
// aliases: arrow_calls
// source:  made up
// trim:    text
// example:
//   Wait.
//   =>get_weather
//   city: Paris
//   <=

start: (TEXT | think | tool_call)*
tool_call: _CALL_OPEN TOOL_NAME argument* _CALL_CLOSE
argument: _LINE_OPEN ARG_NAME _COLON ARG_VALUE

_CALL_OPEN: "\n=>" | /=>(?=\w{1,64}\n)/
_CALL_CLOSE: "\n<="
_LINE_OPEN: "\n" | /\n(?=\w{1,64}:)/
_COLON: ": "
ARG_NAME: /\w{1,64}/

%import .shared.text (TEXT, TOOL_NAME, ARG_VALUE)
%import .shared.think.think
"""
OK = "tests/corpus/arrows/ok/one_call.txt"
ERR = "tests/corpus/arrows/err/cut.txt"
SOURCES = "tests/corpus/arrows/sources.toml"
FILES = {
    "grammars/arrows.lark": GRAMMAR,
    OK: "Look.\n=>get_weather\ncity: Paris\n<=",
    ERR: "Look.\n=>get_weather\ncity: Par",
    SOURCES: '[one_call]\norigin = "made up"\n\n[cut]\norigin = "made up"\n',
    "snapshots/test_formats/arrows.ambr": "# name: test_case[arrows-err-cut]\n# name: test_case[arrows-ok-one_call]\n",
}
LARK = "grammars/arrows.lark"


class Seed(NamedTuple):
    """A mistake: other text in one of the files, and the frames that it gets."""

    name: str
    path: str
    before: str
    after: str
    expected: str


SEEDS = [
    Seed(
        "unknown field",
        LARK,
        "// title:   Calls",
        "// titel:   Calls",
        """
        error[unknown-field]: the header has no field `titel`
          --> grammars/arrows.lark:2:4 (offset 22)
           |
         2 | // titel:   Calls between arrows
           |    ^^^^^
           |
           = help: did you mean `title`?
        """,
    ),
    Seed(
        "missing field",
        LARK,
        "// models:  Example-7B\n",
        "",
        """
        error[missing-field]: the header has no `models`
          --> grammars/arrows.lark:1:1 (offset 0)
           |
         1 | // format:  arrows
           | ^^^^^^^^^^^^^^^^^^
           |
           = help: `models` is the models that write it, separated by commas
        """,
    ),
    Seed(
        "empty field",
        LARK,
        "// source:  made up",
        "// source:",
        """
        error[missing-field]: the header's `source` is empty
          --> grammars/arrows.lark:5:4 (offset 102)
           |
         5 | // source:
           |    ^^^^^^^
           |
           = help: `source` is where it is defined: a chat template, a vendor's parser, a document
        """,
    ),
    Seed(
        "duplicate field",
        LARK,
        "// trim:    text\n",
        "// trim:    text\n// title:   Arrows\n",
        """
        error[duplicate-field]: the header has `title` twice
          --> grammars/arrows.lark:7:4 (offset 139)
           |
         7 | // title:   Arrows
           |    ^^^^^ the first one is in line 2
           |
           = help: join them, or take one out
        """,
    ),
    Seed(
        "no format",
        LARK,
        "// format:  arrows\n",
        "",
        """
        error[missing-field]: the header has no `format`
          --> grammars/arrows.lark:1:1 (offset 0)
           |
         1 | // title:   Calls between arrows
           | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           |
           = help: the first line is `// format:  arrows`
        """,
    ),
    Seed(
        "a line that is no field",
        LARK,
        "// trim:    text\n",
        "// trim:    text\n//  and more\n",
        """
        error[bad-header]: a header line is `// key: value`, or is indented by three spaces
          --> grammars/arrows.lark:7:1 (offset 136)
           |
         7 | //  and more
           | ^^^^^^^^^^^^
        """,
    ),
    Seed(
        "other name",
        LARK,
        "// format:  arrows",
        "// format:  arrow",
        """
        error[other-name]: the header's `format` is `arrow`, but the file is `arrows.lark`
          --> grammars/arrows.lark:1:13 (offset 12)
           |
         1 | // format:  arrow
           |             ^^^^^
           |
           = help: write `arrows` here, or call the file `arrow.lark`
        """,
    ),
    Seed(
        "long title",
        LARK,
        "Calls between arrows",
        "Calls between arrows, each argument on a line of its own",
        """
        error[long-title]: the title has 56 characters
          --> grammars/arrows.lark:2:13 (offset 31)
           |
         2 | // title:   Calls between arrows, each argument on a line of its own
           |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           |
           = help: say it in 40 characters; the rest can go to `source`
        """,
    ),
    Seed(
        "malformed alias",
        LARK,
        "arrow_calls",
        "Arrow-Calls",
        """
        error[bad-alias]: the alias `Arrow-Calls` is no name
          --> grammars/arrows.lark:4:13 (offset 87)
           |
         4 | // aliases: Arrow-Calls
           |             ^^^^^^^^^^^
           |
           = help: write it in small letters, with `_` for `-` and `.`: callers may write either
        """,
    ),
    Seed(
        "taken alias",
        LARK,
        "arrow_calls",
        "arrow_calls, qwen3",
        """
        error[taken-alias]: the alias `qwen3` already means `hermes`
          --> grammars/arrows.lark:4:26 (offset 100)
           |
         4 | // aliases: arrow_calls, qwen3
           |                          ^^^^^
           |
           = help: a name means one format; leave it to one of the two
        """,
    ),
    Seed(
        "needless alias",
        LARK,
        "arrow_calls",
        "arrows",
        """
        error[needless-alias]: the alias `arrows` says nothing new
          --> grammars/arrows.lark:4:13 (offset 87)
           |
         4 | // aliases: arrows
           |             ^^^^^^
           |
           = help: take it out
        """,
    ),
    Seed(
        "wrong trim",
        LARK,
        "// trim:    text",
        "// trim:    text, values",
        """
        error[bad-header]: `trim` names values
          --> grammars/arrows.lark:6:1 (offset 119)
           |
         6 | // trim:    text, values
           | ^^^^^^^^^^^^^^^^^^^^^^^^
        """,
    ),
    Seed(
        "wrong values",
        LARK,
        "// trim:    text",
        "// values:  yaml",
        """
        error[bad-header]: `values` is one of json, text
          --> grammars/arrows.lark:6:1 (offset 119)
           |
         6 | // values:  yaml
           | ^^^^^^^^^^^^^^^^
        """,
    ),
    Seed(
        "wrong spelling of what is written",
        LARK,
        "// trim:    text",
        "// written: yaml",
        """
        error[bad-header]: `written` is one of json, words, python
          --> grammars/arrows.lark:6:1 (offset 119)
           |
         6 | // written: yaml
           | ^^^^^^^^^^^^^^^^
        """,
    ),
    Seed(
        "wrong indent",
        LARK,
        "// trim:    text",
        "// indent:  deep",
        """
        error[bad-header]: `indent` is a number of spaces
          --> grammars/arrows.lark:6:1 (offset 119)
           |
         6 | // indent:  deep
           | ^^^^^^^^^^^^^^^^
        """,
    ),
    Seed(
        "wrong space",
        LARK,
        "// trim:    text",
        "// trim:    text\n// space:   pixels",
        """
        error[bad-header]: there is no space of coordinates `pixels`
          --> grammars/arrows.lark:7:13 (offset 148)
           |
         7 | // space:   pixels
           |             ^^^^^^
           |
           = help: `space` is `px`, `px_sent`, `px_smart28`, `px_smart32`, `rel1000`, `rel999`, `unit`, `mark` or `desc`
        """,
    ),
    Seed(
        "wrong action",
        LARK,
        "// trim:    text",
        "// trim:    text\n// actions:\n//   tap = touch(point=at)",
        """
        error[bad-action]: the action `tap` means nothing
          --> grammars/arrows.lark:8:6 (offset 153)
           |
         8 | //   tap = touch(point=at)
           |      ^^^^^^^^^^^^^^^^^^^^^
           |
           = note: `touch(point=at)` is not an action; did you mean batch?
           = help: write `name = action(field=argument)`; `grammars/vocabulary` says which there are
        """,
    ),
    Seed(
        "half an action",
        LARK,
        "// trim:    text",
        "// trim:    text\n// actions:\n//   tap",
        """
        error[bad-header]: `tap` is not `name = action(...)`
          --> grammars/arrows.lark:8:1 (offset 148)
           |
         8 | //   tap
           | ^^^^^^^^
        """,
    ),
    Seed(
        "example of text only",
        LARK,
        "//   =>get_weather\n//   city: Paris\n//   <=\n",
        "",
        """
        error[bad-example]: the example is read as nothing but text
          --> grammars/arrows.lark:8:6 (offset 153)
           |
         8 | //   Wait.
           |      ^^^^^
           |
           = help: show a call, or whatever the format is there for
        """,
    ),
    Seed(
        "damaged example",
        LARK,
        "//   <=\n",
        "",
        """
        error[bad-example]: the example has a diagnostic: the call of `get_weather` never ends
           --> grammars/arrows.lark:9:6 (offset 164)
            |
          9 | //   =>get_weather
            |      ^^^^^^^^^^^^^ opened here, and the text ends inside it (to offset 194)
         10 | //   city: Paris
            |
            = help: an example is sound: mend it, or the grammar
        """,
    ),
    Seed(
        "unnamed marker",
        LARK,
        "ARG_NAME _COLON ARG_VALUE",
        'ARG_NAME ": " ARG_VALUE',
        """
        error[unnamed-marker]: a marker in `argument` has no name
           --> grammars/arrows.lark:15:31 (offset 323)
            |
         15 | argument: _LINE_OPEN ARG_NAME ": " ARG_VALUE
            |                               ^^^^
            |
            = help: define a terminal and name it here: `_NAME: ": "`

        error[unused]: nothing uses the terminal `_COLON`
           --> grammars/arrows.lark:20:1 (offset 436)
            |
         20 | _COLON: ": "
            | ^^^^^^
            |
            = help: use it in a rule that `start` leads to, or take it out
        """,
    ),
    Seed(
        "marker without underscore",
        LARK,
        "argument* _CALL_CLOSE\n",
        'argument* _CALL_CLOSE | _CALL_OPEN TOOL_NAME END\nEND: "\\n=."\n',
        r"""
        error[marker-name]: `END` is a marker, and its name does not begin with `_`
           --> grammars/arrows.lark:15:1 (offset 320)
            |
         15 | END: "\n=."
            | ^^^
            |
            = help: call it `_END`, or take a name of the vocabulary in `grammars/vocabulary`
        """,
    ),
    Seed(
        "unbounded repetition",
        LARK,
        "/=>(?=\\w{1,64}\\n)/",
        "/=>(?=\\w+\\n)/",
        r"""
        error[unbounded-repeat]: the marker `_CALL_OPEN` has a repetition without a limit
           --> grammars/arrows.lark:17:30 (offset 370)
            |
         17 | _CALL_OPEN: "\n=>" | /=>(?=\w+\n)/
            |                              ^
            |
            = note: what may still grow is looked at again with every chunk of a stream
            = help: give it a limit: `{0,99}`
        """,
    ),
    Seed(
        "unsafe pattern",
        LARK,
        '"\\n<="',
        '"\\n<=" | /\\n<=(?:end)?/',
        r"""
        error[unsafe-pattern]: `_CALL_CLOSE` cannot be read in a stream
           --> grammars/arrows.lark:18:14 (offset 394)
            |
         18 | _CALL_CLOSE: "\n<=" | /\n<=(?:end)?/
            |              ^^^^^^^^^^^^^^^^^^^^^^^
            |
            = note: an optional tail of several characters; make it a terminal of its own
            = help: `grammars/notation` says under `What to avoid` what to write instead
        """,
    ),
    Seed(
        "end of text in a pattern",
        LARK,
        '"\\n<="',
        '"\\n<=" | /\\n<=$/',
        r"""
        error[unsafe-pattern]: `_CALL_CLOSE` cannot be read in a stream
           --> grammars/arrows.lark:18:14 (offset 394)
            |
         18 | _CALL_CLOSE: "\n<=" | /\n<=$/
            |              ^^^^^^^^^^^^^^^^
            |
            = note: `$` is true at the end of every chunk; the end of the text needs no marker
            = help: `grammars/notation` says under `What to avoid` what to write instead
        """,
    ),
    Seed(
        "what is ignored has no name",
        LARK,
        "%import .shared.think.think\n",
        "%import .shared.think.think\n%ignore / /\n",
        """
        error[unnamed-marker]: what is ignored has no name
           --> grammars/arrows.lark:25:9 (offset 559)
            |
         25 | %ignore / /
            |         ^^^
            |
            = help: define a terminal and name it here: `_NAME: / /`
        """,
    ),
    Seed(
        "unused terminal",
        LARK,
        '_COLON: ": "\n',
        '_COLON: ": "\n_EQUALS: "="\n',
        """
        error[unused]: nothing uses the terminal `_EQUALS`
           --> grammars/arrows.lark:21:1 (offset 451)
            |
         21 | _EQUALS: "="
            | ^^^^^^^
            |
            = help: use it in a rule that `start` leads to, or take it out
        """,
    ),
    Seed(
        "unused import",
        LARK,
        "(TEXT, TOOL_NAME",
        "(TEXT, REASONING, TOOL_NAME",
        """
        error[unused]: `REASONING` is imported and not used
           --> grammars/arrows.lark:23:29 (offset 501)
            |
         23 | %import .shared.text (TEXT, REASONING, TOOL_NAME, ARG_VALUE)
            |                             ^^^^^^^^^
            |
            = help: take it out of the import
        """,
    ),
    Seed(
        "rules that only use each other",
        LARK,
        '_COLON: ": "\n',
        '_COLON: ": "\n_a: _b _COLON\n_b: _COLON | _a\n',
        """
        error[unused]: nothing uses the rule `_a`
           --> grammars/arrows.lark:21:1 (offset 451)
            |
         21 | _a: _b _COLON
            | ^^
            |
            = help: use it in a rule that `start` leads to, or take it out

        error[unused]: nothing uses the rule `_b`
           --> grammars/arrows.lark:22:1 (offset 465)
            |
         22 | _b: _COLON | _a
            | ^^
            |
            = help: use it in a rule that `start` leads to, or take it out
        """,
    ),
    Seed(
        "undefined name",
        LARK,
        "TOOL_NAME argument*",
        "TOOL_NAME arguments*",
        """
        error[undefined]: `arguments` is not defined
           --> grammars/arrows.lark:14:33 (offset 271)
            |
         14 | tool_call: _CALL_OPEN TOOL_NAME arguments* _CALL_CLOSE
            |                                 ^^^^^^^^^
            |
            = help: did you mean `argument`?
        """,
    ),
    Seed(
        "undefined name that is shared",
        LARK,
        "(TEXT | think",
        "(TEXT | code | think",
        """
        error[undefined]: `code` is not defined
           --> grammars/arrows.lark:13:16 (offset 219)
            |
         13 | start: (TEXT | code | think | tool_call)*
            |                ^^^^
            |
            = help: `%import .shared.code.code`
        """,
    ),
    Seed(
        "ignored and not defined",
        LARK,
        "%import .shared.think.think\n",
        "%import .shared.think.think\n%ignore WS\n",
        """
        error[undefined]: `WS` is ignored, but not defined
           --> grammars/arrows.lark:25:9 (offset 559)
            |
         25 | %ignore WS
            |         ^^
            |
            = help: `%import common.WS`
        """,
    ),
    Seed(
        "defined twice",
        LARK,
        '_COLON: ": "\n',
        '_COLON: ": "\n_COLON: ":"\n',
        """
        error[defined-twice]: `_COLON` is defined twice
           --> grammars/arrows.lark:21:1 (offset 451)
            |
         21 | _COLON: ":"
            | ^^^^^^ the first time is in line 20
            |
            = help: take one of them out; alternatives of one rule are separated by `|`
        """,
    ),
    Seed(
        "imported and defined",
        LARK,
        '_COLON: ": "\n',
        '_COLON: ": "\nTEXT: /\\w{1,9}/\n',
        """
        error[defined-twice]: `TEXT` is imported and defined
           --> grammars/arrows.lark:24:23 (offset 511)
            |
         24 | %import .shared.text (TEXT, TOOL_NAME, ARG_VALUE)
            |                       ^^^^ it is defined in line 21
            |
            = help: take one of them out, or import it by another name: `-> MY_TEXT`
        """,
    ),
    Seed(
        "import of no file",
        LARK,
        ".shared.think.think",
        ".shared.thoughts.think",
        """
        error[missing-import]: there is no file `grammars/shared/thoughts.lark` to import from
           --> grammars/arrows.lark:24:26 (offset 548)
            |
         24 | %import .shared.thoughts.think
            |                          ^^^^^
            |
            = help: a path begins with `.` and ends in the imported name
        """,
    ),
    Seed(
        "import of nothing",
        LARK,
        ".shared.think.think",
        ".shared.think.thinks",
        """
        error[missing-import]: `grammars/shared/think.lark` defines no `thinks`
           --> grammars/arrows.lark:24:23 (offset 545)
            |
         24 | %import .shared.think.thinks
            |                       ^^^^^^
            |
            = help: did you mean `think`?
        """,
    ),
    Seed(
        "name outside the vocabulary",
        LARK,
        "argument* _CALL_CLOSE\nargument:",
        "value* _CALL_CLOSE\nvalue:",
        """
        error[meaningless-name]: `value` is no rule of the vocabulary
           --> grammars/arrows.lark:15:1 (offset 290)
            |
         15 | value: _LINE_OPEN ARG_NAME _COLON ARG_VALUE
            | ^^^^^
            |
            = help: call it `_value` if it is only structure, or take a name of the vocabulary in `grammars/vocabulary`

        warning[writes-no-calls]: `arrows` can write no calls
          --> grammars/arrows.lark:1:1 (offset 0)
           |
         1 | // format:  arrows
           | ^^^^^^^^^^^^^^^^^^
           |
           = note: `arrows` has no way to write the call of `get_weather`
           = help: give the markers of a call a spelling: `"written" | /read/`
        """,
    ),
    Seed(
        "alias outside the vocabulary",
        LARK,
        "ARG_VALUE\n",
        "ARG_VALUE -> parameter\n",
        """
        error[meaningless-name]: `parameter` is no rule of the vocabulary
           --> grammars/arrows.lark:15:51 (offset 343)
            |
         15 | argument: _LINE_OPEN ARG_NAME _COLON ARG_VALUE -> parameter
            |                                                   ^^^^^^^^^
            |
            = help: take the `-> parameter` out, or take a name of the vocabulary in `grammars/vocabulary`

        warning[writes-no-calls]: `arrows` can write no calls
          --> grammars/arrows.lark:1:1 (offset 0)
           |
         1 | // format:  arrows
           | ^^^^^^^^^^^^^^^^^^
           |
           = note: `arrows` has no way to write the call of `get_weather`
           = help: give the markers of a call a spelling: `"written" | /read/`
        """,
    ),
    Seed(
        "mixed case",
        LARK,
        "argument: _LINE",
        "argumentPair: _LINE",
        """
        error[mixed-case]: `argumentPair` is neither in small letters nor in capitals
           --> grammars/arrows.lark:15:1 (offset 293)
            |
         15 | argumentPair: _LINE_OPEN ARG_NAME _COLON ARG_VALUE
            | ^^^^^^^^^^^^
            |
            = help: rules are in small letters, terminals in capitals
        """,
    ),
    Seed(
        "tab",
        LARK,
        '_COLON: ": "',
        '_COLON:\t": "',
        r"""
        error[tab]: a line has a tab in it
           --> grammars/arrows.lark:20:8 (offset 445)
            |
         20 | _COLON:\t": "
            |        ^^
            |
            = help: write blanks, or `\t`
        """,
    ),
    Seed(
        "blanks at the end",
        LARK,
        '_COLON: ": "\n',
        '_COLON: ": "  \n',
        """
        error[blank-end]: a line ends in blanks
           --> grammars/arrows.lark:20:13 (offset 450)
            |
         20 | _COLON: ": "
            |             ^^
            |
            = help: take them out
        """,
    ),
    Seed(
        "no start",
        LARK,
        "start: ",
        "text: ",
        """
        error[meaningless-name]: `text` is no rule of the vocabulary
           --> grammars/arrows.lark:13:1 (offset 204)
            |
         13 | text: (TEXT | think | tool_call)*
            | ^^^^
            |
            = help: call it `_text` if it is only structure, or take `is_text`

        error[no-start]: the grammar has no rule `start`
          --> grammars/arrows.lark:1:1 (offset 0)
           |
         1 | // format:  arrows
           | ^^^^^^^^^^^^^^^^^^
           |
           = help: begin with `start: (TEXT | tool_call)*`
        """,
    ),
    Seed(
        "an open string",
        LARK,
        '_COLON: ": "',
        '_COLON: ": ',
        r"""
        error[grammar-syntax]: a string is never closed
           --> grammars/arrows.lark:20:9 (offset 446)
            |
         20 | _COLON: ":
            |         ^
            |
            = help: a string ends on its own line; a quote in it is `\"`
        """,
    ),
    Seed(
        "an open parenthesis",
        LARK,
        "(TEXT | think | tool_call)*",
        "(TEXT | think | tool_call",
        """
        error[grammar-syntax]: `(` is never closed
           --> grammars/arrows.lark:13:33 (offset 236)
            |
         13 | start: (TEXT | think | tool_call
            |                                 ^
            |
            = help: close it on its line, or begin the next line with `|`
        """,
    ),
    Seed(
        "no colon",
        LARK,
        "argument: _LINE",
        "argument _LINE",
        """
        error[grammar-syntax]: a definition has no colon
           --> grammars/arrows.lark:15:10 (offset 302)
            |
         15 | argument _LINE_OPEN ARG_NAME _COLON ARG_VALUE
            |          ^^^^^^^^^^
            |
            = help: a definition is `name: what it is made of`
        """,
    ),
    Seed(
        "a terminal that may be empty",
        LARK,
        '_COLON: ": "',
        "_COLON: /:?/",
        """
        error[empty-terminal]: `_COLON` can match nothing at all
           --> grammars/arrows.lark:20:9 (offset 446)
            |
         20 | _COLON: /:?/
            |         ^^^^ this can be empty
            |
            = help: a terminal reads one character at least; what may be missing is `NAME?` in a rule
        """,
    ),
    Seed(
        "no regular expression",
        LARK,
        '_COLON: ": "',
        "_COLON: /:(/",
        """
        error[bad-pattern]: `_COLON` is no regular expression
           --> grammars/arrows.lark:20:9 (offset 446)
            |
         20 | _COLON: /:(/
            |         ^^^^ missing ), unterminated subpattern
            |
            = help: Python's `re` has to understand the pattern
        """,
    ),
    Seed(
        "a rule in a terminal",
        LARK,
        '_COLON: ": "',
        '_COLON: ":" argument',
        """
        error[rule-in-terminal]: the terminal `_COLON` is made of the rule `argument`
           --> grammars/arrows.lark:20:9 (offset 446)
            |
         20 | _COLON: ":" argument
            |         ^^^^^^^^^^^^
            |
            = help: make `_COLON` a rule, in small letters, or `argument` a terminal
        """,
    ),
    Seed(
        "the same alternative twice",
        LARK,
        "ARG_VALUE\n",
        "ARG_VALUE -> argument | _LINE_OPEN ARG_NAME _COLON ARG_VALUE -> arguments\n",
        """
        error[same-alternative]: `argument` has the same alternative twice
           --> grammars/arrows.lark:15:1 (offset 293)
            |
         15 | argument: _LINE_OPEN ARG_NAME _COLON ARG_VALUE -> argument | _LINE_OPEN ARG_NAME _COLON ARG_VALU...
            | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (to offset 403)
            |
            = help: take one of them out; `X?` and `X*` are also nothing at all
        """,  # noqa: E501
    ),
    Seed(
        "a rule without end",
        LARK,
        "argument: _LINE_OPEN",
        "argument: argument _LINE_OPEN",
        """
        error[endless-rule]: `argument` has no end: it always needs itself again
           --> grammars/arrows.lark:15:1 (offset 293)
            |
         15 | argument: argument _LINE_OPEN ARG_NAME _COLON ARG_VALUE
            | ^^^^^^^^
            |
            = help: give it an alternative that ends
        """,
    ),
    Seed(
        "real ambiguity",
        LARK,
        "argument: _LINE_OPEN ARG_NAME _COLON ARG_VALUE",
        "argument: _LINE_OPEN ARG_NAME _COLON ARG_VALUE | _LINE_OPEN ARG_NAME (_LINE_OPEN ARG_NAME)*",
        r"""
        error[grammar-conflict]: `argument` can end or the repetition in `argument` begin where `_LINE_OPEN` comes next
           --> grammars/arrows.lark:15:71 (offset 363)
            |
         15 | argument: _LINE_OPEN ARG_NAME _COLON ARG_VALUE | _LINE_OPEN ARG_NAME (_LINE_OPEN ARG_NAME)*
            |                                                                       ^^^^^^^^^^ the repetition in `argument` begins here
            |
            = note: shortest text that shows it: `\n=>f\na\n`; `\n=>f\na\na\n<=` is read in both ways to its end
            = note: either `argument: _LINE_OPEN ARG_NAME .` (line 15), or `argument: . _LINE_OPEN ARG_NAME` (line 15)
            = help: two ways to read one text are one too many: take one of them out, or give them different markers
            = help: `python -m tools.check arrows --explain` prints both derivations

        error[grammar-conflict]: `argument` can end or the repetition in `argument` go on where `_LINE_OPEN` comes next
           --> grammars/arrows.lark:15:71 (offset 363)
            |
         15 | argument: _LINE_OPEN ARG_NAME _COLON ARG_VALUE | _LINE_OPEN ARG_NAME (_LINE_OPEN ARG_NAME)*
            |                                                                       ^^^^^^^^^^ the repetition in `argument` goes on here
            |
            = note: shortest text that shows it: `\n=>f\na\na\n`; `\n=>f\na\na\na\n<=` is read in both ways to its end
            = note: either `argument: _LINE_OPEN ARG_NAME (_LINE_OPEN ARG_NAME)+ .` (line 15), or `argument: (_LINE_OPEN ARG_NAME)+ . _LINE_OPEN ARG_NAME` (line 15)
            = help: two ways to read one text are one too many: take one of them out, or give them different markers
            = help: `python -m tools.check arrows --explain` prints both derivations
        """,  # noqa: E501
    ),
    Seed(
        "two terminals for one text",
        LARK,
        "ARG_NAME _COLON ARG_VALUE",
        "(ARG_NAME | _NUMBER) _COLON ARG_VALUE\n_NUMBER: /\\d{1,3}/",
        r"""
        warning[same-text]: `ARG_NAME` and `_NUMBER` can stand in the same place, and both read `1`
           --> grammars/arrows.lark:22:1 (offset 482)
            |
         22 | ARG_NAME: /\w{1,64}/
            | ^^^^^^^^
            |
            = note: the one with the longer pattern is tried first, which is chance
            = help: give one of them a priority (`ARG_NAME.1`), or exclude from one what the other one reads
        """,
    ),
    Seed(
        "one pattern in two terminals",
        LARK,
        "(TEXT | think | tool_call)*\n",
        "(TEXT | think | tool_call | other)*\nother: _OTHER_OPEN TOOL_NAME _CALL_CLOSE -> tool_call\n\n"
        '_OTHER_OPEN: "\\n=>" | /=>(?=\\w{1,64}\\n)/\n',
        r"""
        warning[same-pattern]: `_CALL_OPEN` and `_OTHER_OPEN` can stand in the same place, and have the same pattern
           --> grammars/arrows.lark:16:1 (offset 302)
            |
         16 | _OTHER_OPEN: "\n=>" | /=>(?=\w{1,64}\n)/
            | ^^^^^^^^^^^
            |
            = note: `_CALL_OPEN` is always read there, and the other one never
            = help: use one terminal in both rules, or let each pattern show what follows: `(?=...)`
        """,
    ),
    Seed(
        "an opener that is read as text",
        OK,
        "=>get_weather",
        "=>get weather",
        r"""
        warning[read-as-text]: `=>` opens nothing in this `ok` case: it is read as text
          --> tests/corpus/arrows/ok/one_call.txt:2:1 (offset 6)
           |
         2 | =>get weather
           | ^^
           |
           = note: a marker opens something only where all that its pattern looks ahead at follows it
           = help: mend the grammar; `python -m tools.show arrows tests/corpus/arrows/ok/one_call.txt --trace` shows what was expected
           = help: if it is meant as text, write `prose = true` for `one_call` into `sources.toml`
        """,  # noqa: E501
    ),
    Seed(
        "a call without an end",
        LARK,
        "argument* _CALL_CLOSE",
        "argument* _CALL_CLOSE | _CALL_OPEN TOOL_NAME",
        r"""
        warning[ends-late]: `tool_call` may end only with the text behind it
           --> grammars/arrows.lark:14:1 (offset 239)
            |
         14 | tool_call: _CALL_OPEN TOOL_NAME argument* _CALL_CLOSE | _CALL_OPEN TOOL_NAME
            | ^^^^^^^^^
            |
            = note: another part of it may follow where it could end, so only `TEXT` shows that it ended
            = help: end each alternative of it with a marker, or write one rule for each of its forms
        """,
    ),
    Seed(
        "a name outside of a call",
        LARK,
        "(TEXT | think | tool_call)*\n",
        '(TEXT | think | tool_call | _WORD TOOL_NAME)*\n_WORD: "@@"\n',
        r"""
        error[no-owner]: `TOOL_NAME` can be read where no call, action or payload is open
           --> grammars/arrows.lark:13:42 (offset 245)
            |
         13 | start: (TEXT | think | tool_call | _WORD TOOL_NAME)*
            |                                          ^^^^^^^^^
            |
            = note: behind `TOOL_NAME`, there is nothing that it belongs to
            = help: use it inside of a rule such as `tool_call`, or give it a name that begins with `_`
        """,
    ),
    Seed(
        "calls that cannot be written",
        LARK,
        '"\\n<="',
        "/\\n<=/",
        r"""
        warning[writes-no-calls]: `arrows` can write no calls
           --> grammars/arrows.lark:18:1 (offset 381)
            |
         18 | _CALL_CLOSE: /\n<=/
            | ^^^^^^^^^^^^^^^^^^^ this is only read
            |
            = note: `arrows` has no way to write the call of `get_weather`
            = note: never written: `_CALL_CLOSE`
            = help: give the markers of a call a spelling: `"written" | /read/`
        """,
    ),
    Seed(
        "no source",
        SOURCES,
        '[cut]\norigin = "made up"\n',
        "",
        """
        error[no-source]: nothing says where the case `cut` is from
          --> tests/corpus/arrows/sources.toml:1:1 (offset 0)
           |
         1 | [one_call]
           | ^^^^^^^^^^
           |
           = help: add a table `[cut]` with `origin = "..."`
        """,
    ),
    Seed(
        "source of nothing",
        SOURCES,
        "[cut]",
        '[other]\norigin = "made up"\n\n[cut]',
        """
        error[source-of-nothing]: there is no case `other`
          --> tests/corpus/arrows/sources.toml:4:1 (offset 31)
           |
         4 | [other]
           | ^^^^^^^
           |
           = help: take it out, or rename it as the file is named
        """,
    ),
    Seed(
        "source without origin",
        SOURCES,
        '[cut]\norigin = "made up"\n',
        "[cut]\n",
        """
        error[no-source]: nothing says where the case `cut` is from
          --> tests/corpus/arrows/sources.toml:4:1 (offset 31)
           |
         4 | [cut]
           | ^^^^^
           |
           = help: add `origin = "..."`: a model and when, a document, or that it is made up
        """,
    ),
    Seed(
        "sources that are no TOML",
        SOURCES,
        "[cut]",
        "[cut",
        """
        error[bad-sources]: this file is no TOML
          --> tests/corpus/arrows/sources.toml:4:1 (offset 31)
           |
         4 | [cut
           | ^^^^
           |
           = note: Expected ']' at the end of a table declaration (at line 4, column 5)
        """,
    ),
    Seed(
        "ok with a diagnostic",
        OK,
        "Paris\n<=",
        "Paris",
        """
        error[ok-with-diagnostic]: an `ok` case has a diagnostic: the call of `get_weather` never ends
          --> tests/corpus/arrows/ok/one_call.txt:2:1 (offset 6)
           |
         2 | =>get_weather
           | ^^^^^^^^^^^^^ opened here, and the text ends inside it (to offset 31)
         3 | city: Paris
           |
           = help: mend the grammar, or move the case to `err` if its text is damaged
        """,
    ),
    Seed(
        "err without a diagnostic",
        ERR,
        "city: Par",
        "city: Par\n<=",
        """
        error[err-without-diagnostic]: an `err` case is read without a diagnostic
          --> tests/corpus/arrows/err/cut.txt:1:1 (offset 0)
           |
         1 | Look.
           | ^^^^^
           |
           = help: move it to `ok`, or make sure that the damage is still in the file
        """,
    ),
    Seed(
        "another spelling of the example",
        LARK,
        '_COLON: ": "',
        '_COLON: ":" | /:[ ]?/',
        r"""
        note[other-spelling]: the example is not spelled as the format writes it
           --> grammars/arrows.lark:10:11 (offset 188)
            |
         10 | //   city: Paris
            |           ^ the format writes `Paris\n<=`
            |
            = help: let the example be what `render` writes, or let the grammar write what the example shows
        """,
    ),
]
