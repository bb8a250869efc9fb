"""The fragments that `documents.py` makes payloads of: the paragraphs of a text for each language.

`§w` stands for a name, `§n` for a number, `§p` for a few words, `§f` for the name of a file, `§u` for a host.
"""

from __future__ import annotations

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
