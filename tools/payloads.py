"""Tool calls as models write them, for `tools/damage.py`: each holds one payload of code, markup or prose.

A payload is made of fragments that a person wrote, in a chosen order and with chosen words, so that hardly two are
alike. The fragments of a language are the paragraphs of its text; `§w` stands for a name, `§n` for a number, `§p` for
a few words, `§f` for the name of a file, `§u` for a host.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple, cast

PYTHON = r'''
print("§p", "§w")

print(f"§w: {row['§w']} of {len(rows)}")

print("Done: %s" % "§p", file=sys.stderr)

config = {"§w": "§p", "§w": §n, "debug": True}
config["§w"] = config.get("§w", "none")

def §w(path, mode="r"):
    """Open "path" and return its lines."""
    with open(path, mode, encoding="utf-8") as handle:
        return [line.rstrip("\n") for line in handle]

class §w:
    """A §w; see "§p"."""
    def __init__(self, name, size=§n):
        self.name = name
        self.size = size

for key, value in {"a": 1, "b": "§w"}.items():
    print(key, "=", value)

if __name__ == "__main__":
    main()

words = ["§w", "§w", "§w"]
assert "§w" not in words, "unexpected word"

pattern = re.compile(r"^(\w+)\s*=\s*\"(\d+)\"$")

data = json.loads('{"§w": [1, 2, 3], "§w": "x"}')

raise ValueError(f"cannot read {path!r}: {error}")

parser.add_argument("--§w", type=int, default=§n, help="how many, at most")

payload = {"path": "§f.txt", "mode": "w", "content": "§p"}
requests.post("https://§u/api/§w", json=payload, timeout=§n)

§w = [x for x in items if x["§w"] and x["kind"] == "§w"]

logger.info("%s took %d ms", "§w", §n)

result = subprocess.run(["git", "log", "-n", "§n"], capture_output=True)
'''

JAVASCRIPT = r"""
const §w = require("./§f");

console.log("§p", §w);

console.log(`${§w.name}: "${§w.value}"`);

const options = { method: "POST", headers: { "Content-Type": "application/json" } };
const reply = await fetch("https://§u/§w", options);

document.querySelector("#§w").innerHTML = "<b class=\"new\">§p</b>";

export function §w(items) {
  return items.map((item) => item["§w"]).join(", ");
}

if (status === "§w" || status === 'none') {
  throw new Error("§p");
}

const text = '{"§w": "§w", "n": §n}';

button.addEventListener("click", () => alert("§p"));

const path = /^\/api\/(\d+)\/"([a-z]+)"$/;

let total = rows.reduce((sum, row) => sum + row.price, 0);

module.exports = { "§w": §n, "§w": ["a", "b"] };

switch (kind) {
  case "§w": return "§p";
  default: return "";
}
"""

HTML = r"""
<!DOCTYPE html>
<html lang="en">

<div class="§w" id="§w-§n" style="color: red; margin: 0 auto">
  <p>§p</p>
</div>

<a href="https://§u/§w?id=§n" target="_blank" rel="noopener">§p</a>

<img src="/img/§f.png" alt="§p, seen from above" width="§n">

<input type="text" name="§w" value="" placeholder="e.g. §w" required>

<script>
  const names = ["§w", "§w"];
  console.log("ready", names);
</script>

<button type="button" onclick="send('§w', {kind: 'a'})">§p</button>

<ul>
  <li class="item" data-id="§n">§p</li>
  <li class="item" data-id="§n">"§w", they say</li>
</ul>

<meta name="description" content="§p">

<table border="1"><tr><td colspan="2">§w</td><td>§n</td></tr></table>

<style>
  .§w { font-family: "Noto Sans", sans-serif; }
</style>

</body>
</html>
"""

MARKDOWN = r"""
# §p

## The "§w" option

Use "§w", not "§w": it is §n times faster.

```python
print("§p")
```

```json
{"§w": §n, "§w": "§w"}
```

- **§w**: the "§p" kind
- *§w*: §n, or "none"

> "§p", as the manual says.

| name | value |
|------|-------|
| "§w" | §n |

See [the guide](https://§u/§w "§p") for more.

1. Open `§f.md`.
2. Look for "§w".
3. Write "§p".

The words "§w", "§w" and "§w" mean the same here.

Set `"§w": true` in the settings; the default is `false`.
"""

SQL = r"""
SELECT "§w", count(*) AS "Total §w" FROM §w WHERE status = 'open' GROUP BY "§w";

SELECT * FROM "§w" WHERE note LIKE '%"§w"%' LIMIT §n;

INSERT INTO §w (name, note) VALUES ('§w', 'says "§p"');

UPDATE §w SET data = '{"§w": §n}' WHERE id = §n;

CREATE TABLE "§w" (
  "id" integer PRIMARY KEY,
  "§w" text DEFAULT ''
);

-- the "§w" table
DELETE FROM "§w" WHERE "§w" < §n;

SELECT a."§w", b."§w" FROM a JOIN b ON a.id = b.id ORDER BY 1, 2;
"""

SHELL = r"""
#!/bin/bash
set -euo pipefail

echo "§p"

echo "Found $(ls "$§w" | wc -l) files in \"$PWD\""

grep -rn "§w" --include="*.py" . | sort -u

if [ "$§w" = "§w" ]; then
  echo "yes"
fi

for f in "$DIR"/*.txt; do
	mv "$f" "${f%.txt}.md"
done

git commit -m "§p" && git push origin "§w"

curl -s -H "Accept: application/json" -d '{"§w": "§w"}' "https://§u/§w"

awk -F "," '{ print $2 ", " $1 }' §f.csv > "out/§f.txt"

export §w="§n"

sed -i 's/"§w"/"§w"/g; s/\t/  /g' §f.json

find . -name "§f*" -exec rm {} \;
"""

ENGLISH = r"""
"§p," she said, "and that is all there is to it."

He called it "the §w", which nobody liked.

Dear Ms Okafor,

The words were "§w", "§w" and "§w", in this order.

It's not what we'd agreed: §n of them, at most.

They wrote: "§p". Then, after a while, they wrote again.

Is it "§w" or "§w"? I can't tell (see page §n).

Please don't reply to "§w@§u", it isn't read.

The sign said "§p"; the other one, "§w".

Kind regards,
Tom

“§p”, he thought, and closed the door.

Remember: "§w" comes first, "§w" second.
"""

GERMAN = r"""
„§p“, sagte er, und ging hinaus.

Er sagte: "Das geht nicht", und legte auf.

Liebe Frau Schäfer,

die Wörter "Straße", "Größe" und "Öl" fehlen noch.

Bitte prüfen Sie den Punkt "§w" (Seite §n).

Das Wort "trotzdem", so scheint es, wird überschätzt.

Mit freundlichen Grüßen
Jürgen

Heißt es "§w" oder "§w"? Ich weiß es nicht.

"Morgen", sagte sie, "bringe ich §n davon mit."
"""

CHINESE = r"""
他说："明天早上九点出发"，然后就走了。

请把"§w"改成"§w"，谢谢。

一共有§n个文件，其中"报告"最重要。

“天气很好”，她写道，“我们去海边吧。”

设置项"语言"、"时区"和"§w"都要检查。

您好，王先生：

她问"§w"是什么意思，没有人回答。

注意：不要删除"备份"文件夹！
"""

YAML = r"""
name: "§w"
version: "1.§n"

services:
  §w:
    image: "§u/§w:latest"
    ports: ["80§n:80", "443:443"]

env:
  - name: §w
    value: "§p"

command: ["python", "-m", "§w"]

# keep "§w" below §n
limit: §n

on:
  push:
    branches: ["main", '§w']

description: >
  §p, "§w"

script: echo "§p"
"""

JSON = r"""
{"§w": "§p", "§w": §n}

{"§w": ["§w", "§w"], "on": true, "off": null}

{"name": "§w", "version": "1.§n.0", "private": true}

{
  "§w": {"§w": "§w"},
  "§w": "§p"
}

[{"id": §n, "label": "§w"}, {"id": §n, "label": "§p"}]

{"path": "C:\\data\\§f", "pattern": "\\d+"}
"""

WINDOWS = r"""
cd C:\Users\§w\Documents

copy "C:\Program Files\§w\§f.dll" D:\backup\

set LOG=\\server\share\§w.log

python C:\tools\§w.py --in "C:\data\§f.csv"

if exist "%TEMP%\§w" del /q "%TEMP%\§w\*.*"

reg add HKCU\Software\§w /v "§w" /d "§n"
"""

REGEX = r"""
^\d{§n}-\w+\s*$

"([^"\\]|\\.)*"

(?P<§w>[A-Z]\w+)\s*=\s*"(?P<value>[^"]*)"

\bclass\s+(\w+)\((.*?)\):

^\[(\d+)\]\s"§w"

C:\\(?:Users|data)\\[^\\]+\.txt$
"""

GO = r"""
package main

func §w(name string) error {
	if name == "" {
		return fmt.Errorf("no name for %q", "§w")
	}
	return nil
}

import (
	"fmt"
	"os"
)

fmt.Println("§p", len(§w))

type §w struct {
	Name string `json:"name"`
	Size int    `json:"§w,omitempty"`
}

for i, word := range []string{"§w", "§w"} {
	fmt.Printf("%d\t%s\n", i, word)
}
"""


class Language(NamedTuple):
    """The fragments of a language, the ending of its files, and how its fragments are joined."""

    fragments: list[str]
    ending: str
    joints: tuple[str, ...]
    most: int


def _language(text: str, ending: str, joints: tuple[str, ...], most: int = 10) -> Language:
    return Language(text.strip("\n").split("\n\n"), ending, joints, most)


LANGUAGES = {
    "python": _language(PYTHON, "py", ("\n", "\n", "\n\n")),
    "javascript": _language(JAVASCRIPT, "js", ("\n", "\n", "\n\n")),
    "html": _language(HTML, "html", ("\n",)),
    "markdown": _language(MARKDOWN, "md", ("\n\n",)),
    "sql": _language(SQL, "sql", ("\n", "\n\n"), 4),
    "shell": _language(SHELL, "sh", ("\n",)),
    "english": _language(ENGLISH, "txt", ("\n", " ", "\n\n")),
    "german": _language(GERMAN, "txt", ("\n", " ", "\n\n")),
    "chinese": _language(CHINESE, "txt", ("\n", "")),
    "yaml": _language(YAML, "yml", ("\n",), 5),
    "json": _language(JSON, "json", ("\n",), 2),
    "windows": _language(WINDOWS, "bat", ("\n",), 4),
    "regex": _language(REGEX, "txt", ("\n",), 2),
    "go": _language(GO, "go", ("\n", "\n\n"), 4),
}

NAMES = ("total", "user", "item", "node", "path", "name", "price", "city", "query", "token", "title", "text", "tags")
PHRASES = (
    "all is well",
    "no such file",
    "the first of many, not the last",
    "red, green and blue",
    "what now?",
    "wait: there is more",
    "it's late",
    "see below",
    "ready in 5 min.",
    "a {small} thing",
    "one [or two] left",
    "Grüße aus Köln",
    "ça va",
    "déjà vu",
    "100 % sure",
    "ok 👍",
)
FILES = ("main", "notes", "data_2024", "read-me", "index", "a b", "report.final")
HOSTS = ("example.com", "api.example.org", "localhost:8080", "shop.example.net")

_BLANK = re.compile("§([wnpfu])")
_FILLINGS: dict[str, Sequence[str]] = {
    "w": [name + end for name in NAMES for end in ("", "", "_id", "s", "2")],
    "n": [str(number) for number in range(2, 100)],
    "p": PHRASES,
    "f": FILES,
    "u": HOSTS,
}


def fill(text: str, random: Random) -> str:
    """A text with its blanks filled."""

    def filling(blank: re.Match[str]) -> str:
        words = _FILLINGS[blank[1]]
        return words[int(random.random() * len(words))]

    return _BLANK.sub(filling, text) if "§" in text else text


def payload(random: Random, language: str) -> str:
    """Some fragments of a language, with their blanks filled; about half of them end their last line."""
    fragments, _, joints, most = LANGUAGES[language]
    chosen = random.sample(fragments, random.randint(2, min(most, len(fragments))))
    text = fill(random.choice(joints).join(chosen), random)
    return text + "\n" if random.random() < 0.5 else text


class Tool(NamedTuple):
    """A tool: its name, the argument that takes the payload, of which languages, and its other arguments."""

    name: str
    payload: str
    languages: tuple[str, ...]
    others: tuple[str, ...]


CODE = ("python", "javascript", "html", "shell", "go", "yaml", "markdown", "json", "sql", "windows")
PROSE = ("english", "english", "german", "chinese", "markdown")
TOOLS = (
    Tool("write_file", "content", CODE, ("path", "language", "mode", "overwrite", "encoding", "tags")),
    Tool("edit_file", "new_string", CODE, ("path", "old_string", "replace_all", "expected_count")),
    Tool("run_python", "code", ("python",), ("timeout", "packages", "env", "interactive", "description")),
    Tool("run_command", "command", ("shell", "windows"), ("cwd", "timeout", "env", "background", "shell")),
    Tool("execute_sql", "query", ("sql",), ("database", "parameters", "read_only", "limit", "timeout")),
    Tool("send_email", "body", PROSE, ("to", "subject", "cc", "priority", "attachments", "options")),
    Tool("create_issue", "body", ("markdown", "english"), ("title", "labels", "assignee", "milestone", "draft")),
    Tool("render_page", "html", ("html",), ("title", "width", "height", "theme", "scale")),
    Tool("save_note", "text", PROSE, ("title", "tags", "pinned", "folder", "metadata")),
    Tool("search_code", "pattern", ("regex",), ("include", "limit", "case_sensitive", "filters", "description")),
    Tool("save_config", "data", ("yaml", "json"), ("path", "format", "backup", "options")),
)
#: arguments, and values they may have; the first one tells the type where the argument is not given
VALUES: dict[str, tuple[Any, ...]] = {
    "path": ("src/§f.§e", "/tmp/§w/§f.§e", "§f.§e", "C:\\Users\\§w\\§f.§e", "docs/Übersicht.§e"),
    "language": ("§l", "en", "plain text"),
    "mode": ("w", "append", "0644"),
    "overwrite": (True, False),
    "encoding": ("utf-8", "latin-1", None),
    "tags": (["§w", "§w"], ["§w"], ["draft", "§p", "v§n"], []),
    "old_string": ("§w = §n", 'x = "§w"', "    return §w\n", "<b>§w</b>"),
    "replace_all": (False, True),
    "expected_count": (1, 2, 17),
    "timeout": (30, 2.5, 0.1, 120, 1e3),
    "packages": (["numpy", "§w==1.§n"], ["requests"], []),
    "env": ({"LANG": "C.UTF-8", "§w": "§n"}, {"DEBUG": "1"}, {}),
    "interactive": (False, True),
    "description": ("§p", 'The "§w" step, again', "§p; §p"),
    "cwd": ("/home/§w", "C:\\work\\§w", "."),
    "background": (False, True),
    "shell": ("bash", "pwsh", None),
    "database": ("main", "§w", None),
    "parameters": ([1, "§w", None], [], [{"name": "§w", "value": -1.5e-7}, {"name": "§p", "value": 0}]),
    "read_only": (True, False),
    "limit": (10, 100, 5),
    "to": (["§w@§u", "§w@§u"], ["§w@§u"]),
    "subject": ("§p", 'About the "§w"', "Fwd: §p"),
    "cc": ([], ["§w@§u"]),
    "priority": (3, 1, -1),
    "attachments": ([{"name": "§f.pdf", "size": 20480, "inline": False}], []),
    "options": ({"retry": {"count": 3, "delay": 0.5}, "notify": ["§w", "ops"]}, {"§w": True, "x": None}),
    "title": ("§p", "§w", '"§w" is slow'),
    "labels": (["bug", "§w"], ["help wanted", "§w", "v§n"]),
    "assignee": (None, "mkeller", "§w"),
    "milestone": (12, 3),
    "draft": (True, False),
    "width": (800, 1280, 99.5),
    "height": (600, 0, 720),
    "theme": ({"dark": True, "accent": "#ff8800", "fonts": ["Inter", "§p"]}, {"dark": False}),
    "scale": (1.5, 2.0, 1),
    "pinned": (False, True),
    "folder": ("§w/§w", "Inbox", None),
    "metadata": ({"source": "https://§u/§w?id=§n", "ids": [[1, 2], [3]]}, {"source": "§f"}, {}),
    "include": (["*.py", "**/§w/*.js"], ["*.md"]),
    "case_sensitive": (False, True),
    "filters": ({"kind": "§w", "since": "2024-05-§n", "sizes": [1, 10, 100]}, {"kind": None}),
    "format": ("§l", "auto"),
    "backup": (True, False),
}


class Document(NamedTuple):
    """A tool call, or only its arguments, as it was meant; with its schema and the payload that it holds."""

    value: dict[str, Any]
    schema: dict[str, Any]
    payload: str


def filled(value: Any, random: Random, language: str) -> Any:
    """A value with the blanks of its strings filled."""
    if isinstance(value, str):
        return fill(value.replace("§e", LANGUAGES[language].ending).replace("§l", language), random)
    if isinstance(value, list):
        return [filled(item, random, language) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {fill(k, random): filled(v, random, language) for k, v in members.items()}
    return value


_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def schema_of(value: Any, loose: bool = False) -> dict[str, Any]:
    """The schema that a value's author would write; `loose` says less of objects."""
    if value is None:
        return {"type": ["string", "null"]}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        kinds = [schema_of(item, loose) for item in items]
        same = bool(kinds) and kinds.count(kinds[0]) == len(kinds)
        return {"type": "array", "items": kinds[0]} if same else {"type": "array"}
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if loose:
            return {"type": "object"}
        return {"type": "object", "properties": {k: schema_of(v) for k, v in members.items()}}
    return {"type": _TYPES[type(value)]}


def arguments_schema(tool: Tool, given: dict[str, Any], random: Random) -> dict[str, Any]:
    """The schema of a tool's arguments, of which some are not given; in some, other arguments are forbidden."""
    loose = random.random() < 0.5
    properties: dict[str, Any] = {}
    for name in (tool.payload, *tool.others):
        sample = given[name] if name in given else filled(VALUES[name][0], random, tool.languages[0])
        properties[name] = schema_of(sample, loose)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": [tool.payload]}
    if random.random() < 0.4:
        schema["additionalProperties"] = False
    return schema


def arguments(random: Random, tool: Tool, language: str, number: int) -> tuple[dict[str, Any], str]:
    """The arguments of a tool in some order, and the payload among them."""
    text = payload(random, language)
    names = [tool.payload, *random.sample(tool.others, min(number, len(tool.others)))]
    random.shuffle(names)
    given: dict[str, Any] = {}
    for name in names:
        given[name] = text if name == tool.payload else filled(random.choice(VALUES[name]), random, language)
    return given, text


def document(random: Random) -> Document:
    """A tool call, or only its arguments."""
    tool = random.choice(TOOLS)
    given, text = arguments(random, tool, random.choice(tool.languages), random.randint(0, 5))
    schema = arguments_schema(tool, given, random)
    if random.random() < 0.25:
        return Document(given, schema, text)
    key = "parameters" if random.random() < 0.15 else "arguments"
    call: dict[str, Any] = {"name": tool.name, key: given}
    parts: dict[str, Any] = {"name": {"type": "string"}, key: schema}
    if random.random() < 0.1:
        call = {key: given, "name": tool.name}
    elif random.random() < 0.1:
        call = {"id": f"call_{random.randint(100, 999)}", **call}
        parts["id"] = {"type": "string"}
    return Document(call, {"type": "object", "properties": parts, "required": ["name", key]}, text)


def again(meant: Document, random: Random) -> Document:
    """Another call of the same tool, with the same arguments in the same order and another payload."""

    def change(value: Any) -> Any:
        if value == meant.payload:
            return text
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            return {k: change(v) for k, v in members.items()}
        return value

    tools = [tool for tool in TOOLS if tool.name == meant.value.get("name")] or list(TOOLS)
    text = payload(random, random.choice(random.choice(tools).languages))
    return Document(change(meant.value), meant.schema, text)
