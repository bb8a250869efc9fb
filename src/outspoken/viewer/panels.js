// What stands at a place, and the panels below: segments, repairs and problems, tree, tokens
const MOST_NODES = 1500;
const MORE_NODES = 500;
const MOST_SEGMENTS = 100;
const MOST_FRAMES = 60;
const MOST_TOKENS = 150;
const MOST_SHOWN = 6000;
const MOST_OF_ANSWER = 20000;

function row(list, name, value, classes = "") {
  if (!value) return;
  const cell = make("dd", classes);
  cell.append(visible(value));
  list.append(make("dt", "", name), cell);
}

function lineOf(offset) {
  const lines = slice(0, Math.max(offset, 0)).split("\n");
  return `line ${lines.length}, column ${Array.from(lines.at(-1)).length + 1}`;
}

function inspect(piece) {
  const token = data.tokens[piece.token];
  const segment = data.segments[piece.segment];
  const edit = data.edits[piece.edit];
  const list = make("dl");
  row(list, "token", token ? [token.name || "no token", token.mark && `(${token.mark})`].filter(Boolean).join(" ") : "white space");
  row(list, "span", `${token?.start ?? piece.start}–${token?.end ?? piece.end} (${lineOf(token?.start ?? piece.start)})`);
  row(list, "text", excerpt(token ? tokenText(token) : slice(piece.start, piece.end), 300), "mono");
  if (edit) row(list, "repaired", `${edit[3]}: ${excerpt(slice(edit[0], edit[1]), 80) || "nothing"} read as ${excerpt(edit[2], 80) || "nothing"}`);
  if (token) {
    row(list, "rule", token.rules.join(" › ") || "outside");
    row(list, "does", token.operations.join(", "));
    row(list, "repair", token.repairs.join(", "));
    const target = data.configs[token.target]?.name;
    row(list, "configuration", target ? `${data.configs[token.config].name} → ${target}` : data.configs[token.config].name);
  }
  row(list, "segment", segment ? segment.title : "none, it is markup");
  if (segment && segment.kind !== "text") row(list, "value", excerpt(segment.value, 200), "mono");
  $("inspector").replaceChildren(list);
  light(piece);
}

function light(piece) {
  for (const node of document.querySelectorAll(".lit")) node.classList.remove("lit");
  lit = piece.node;
  piece.node?.classList.add("lit");
  leaves.get(piece.token)?.parentElement.classList.add("lit");
}

function inspectToken(number) {
  const token = data.tokens[number];
  const piece = pieces.find((one) => one.token === number);
  if (!piece) return;
  if (!piece.node) {
    drawWindow(windowAround(Math.max(token.start, 0)));
    drawStates();
  }
  inspect(piece);
}

// the tree

let budget = 0;

function drawTree(nodes, from = 0) {
  const list = make("ul");
  fill(list, nodes, from);
  return list;
}

function fill(list, nodes, from) {
  for (let number = from; number < nodes.length; number++) {
    if (budget <= 0) {
      const item = make("li");
      const more = () => {
        budget = MORE_NODES;
        item.remove();
        fill(list, nodes, number);
        list.children[number]?.querySelector("button, summary")?.focus();
      };
      item.append(button("more", `… ${counted(nodes.length - number)} more here`, more));
      list.append(item);
      return;
    }
    budget--;
    const node = nodes[number];
    const item = make("li");
    item.append(typeof node === "number" ? leaf(node) : branch(node));
    list.append(item);
  }
}

function leaf(number) {
  const token = data.tokens[number];
  const made = make("button", "leaf");
  made.type = "button";
  made.append(token.name || "—", token.mark ? make("span", "flag", ` (${token.mark})`) : "", " ");
  made.append(make("i", "", escaped(excerpt(tokenText(token)))));
  const show = () => inspectToken(number);
  made.addEventListener("mouseenter", show);
  made.addEventListener("focus", show);
  leaves.set(number, made);
  return made;
}

function branch([name, complete, meaningful, children]) {
  const details = make("details");
  details.open = true;
  const summary = make("summary", meaningful ? "rule" : "rule structure", name);
  if (!complete) summary.append(make("span", "open", " not completed"));
  details.append(summary, drawTree(children));
  return details;
}

// lists that show some of their items, and more when asked

function drawSome(parent, items, most, draw) {
  const from = parent.children.length;
  for (const item of items.slice(0, most)) parent.append(draw(item));
  if (items.length <= most) return;
  const more = button("more", `… ${counted(items.length - most)} more`, () => {
    more.remove();
    drawSome(parent, items.slice(most), most, draw);
  });
  parent.append(more);
  if (from) parent.children[from].focus?.();
}

function card(segment) {
  const made = make("article", `card ${segment.kind}`);
  const value = make("div", "mono");
  value.append(visible(segment.value.slice(0, MOST_SHOWN)));
  const rest = segment.value.length - MOST_SHOWN;
  if (rest > 0) {
    const all = button("more", `… ${plural(rest, "character")} more`, () => value.replaceChildren(visible(segment.value)));
    value.append(all);
  }
  made.append(make("h3", "", segment.title), value);
  return made;
}

function drawFrames(id, frames) {
  for (const old of [...$(id).children].slice(1)) old.remove();
  $(id).hidden = !frames.length;
  drawSome($(id), frames, MOST_FRAMES, (frame) => {
    const drawn = make("pre", /^\w*/.exec(frame)[0], frame);
    drawn.tabIndex = 0;
    return drawn;
  });
}

// the tokens, a page of them at a time

function drawTokens(from = 0) {
  const to = Math.min(from + MOST_TOKENS, data.tokens.length);
  const table = make("table");
  const head = table.createTHead().insertRow();
  for (const name of ["", "token", "span", "text", "rule"]) {
    const cell = make("th", "", name);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (let number = from; number < to; number++) {
    const token = data.tokens[number];
    const line = body.insertRow();
    const name = token.mark ? `${token.name || "—"} (${token.mark})` : token.name || "—";
    for (const [classes, text] of [
      ["number", number + 1], ["mono", name], ["number", `${token.start}–${token.end}`],
      ["mono", escaped(excerpt(tokenText(token), 60))], ["quiet", token.rules.at(-1) ?? ""],
    ]) line.append(make("td", classes, String(text)));
    line.addEventListener("mouseenter", () => inspectToken(number));
  }
  $("tokens").replaceChildren(table);
  $("token-pages").hidden = data.tokens.length <= MOST_TOKENS;
  const before = button("", "Before", () => drawTokens(Math.max(0, from - MOST_TOKENS)));
  const behind = button("", "Behind", () => drawTokens(to));
  before.disabled = from === 0;
  behind.disabled = to === data.tokens.length;
  $("token-pages").replaceChildren(before, behind, ` tokens ${from + 1} to ${to} of ${counted(data.tokens.length)}`);
}

// tabs

const tabsBeside = (tab) => [...tab.parentElement.querySelectorAll('[role="tab"]')];

function openTab(tab, focused = false) {
  for (const one of tabsBeside(tab)) {
    one.setAttribute("aria-selected", String(one === tab));
    one.tabIndex = one === tab ? 0 : -1;
    $(one.getAttribute("aria-controls")).hidden = one !== tab;
  }
  if (focused) tab.focus();
  tab.dispatchEvent(new Event("opened"));
}

const isOpen = (name) => $(`tab-${name}`).getAttribute("aria-selected") === "true";

for (const tab of document.querySelectorAll('[role="tab"]')) {
  tab.addEventListener("click", () => openTab(tab));
  tab.addEventListener("keydown", (event) => {
    const some = tabsBeside(tab).filter((one) => !one.hidden);
    const at = some.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: some.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    openTab(some[(to + some.length) % some.length], true);
  });
}

// all of it

function drawHead() {
  document.title = `${data.source}: ${data.format}, ${data.status}`;
  $("source").textContent = data.source;
  $("facts").replaceChildren();
  $("legend").replaceChildren();
  const facts = [
    ["format", data.format], ["status", data.status], ["characters", data.length], ["tokens", data.tokens.length],
    ["segments", data.segments.length], ["repairs", data.repairs.length],
  ];
  for (const [name, value] of facts) {
    const fact = make("span", "", `${name} `);
    fact.append(make("b", String(value), String(value)));
    $("facts").append(fact);
  }
  const kinds = [...new Set(data.segments.map((segment) => segment.kind))];
  for (const kind of [...kinds, ...(data.edits.length ? ["edit"] : []), "held", "future"]) {
    const name = { held: "held back", future: "not arrived yet", edit: "repaired" }[kind] ?? kind.replace("_", " ");
    const item = make("li");
    item.append(make("span", `swatch ${kind}`), name);
    $("legend").append(item);
  }
  $("tab-segments").querySelector("b").textContent = counted(data.segments.length);
  $("tab-tokens").querySelector("b").textContent = counted(data.tokens.length);
  const problems = data.refusals.length + data.repairs.length + data.diagnostics.length;
  $("tab-problems").querySelector("b").textContent = problems ? counted(problems) : "";
  $("sound").hidden = problems > 0 || data.difference.length > 0;
}

// Draws a response, with as much of it arrived as before or as the address says
function show(found, offset) {
  const lines = (frames) => (frames.length ? [frames.join("\n")] : []);
  take(found);
  cutPieces();
  leaves.clear();
  place = -1;
  told = { count: 0, items: [], open: new Map() };
  drawHead();
  for (const piece of pieces) piece.node = null;
  shown = { from: 0, to: 0 };
  $("at").max = data.moments.length - 1;
  go(offset === undefined ? fromHash() : momentOf(offset));
  budget = MOST_NODES;
  $("tree").replaceChildren(data.tree.length ? drawTree(data.tree) : make("p", "quiet", "none"));
  $("segments").replaceChildren();
  drawSome($("segments"), data.segments, MOST_SEGMENTS, card);
  if (!data.segments.length) $("segments").append(make("p", "quiet", "none"));
  drawTokens();
  drawFrames("refusals", data.refusals);
  drawFrames("repairs", data.repairs);
  drawFrames("diagnostics", data.diagnostics);
  drawFrames("difference", lines(data.difference));
}

// what was asked of the reply besides: a constraint, the reply in another format

const answers = { constraint: "", rendered: "" };

function drawAnswer(id, { text, notes = [], error = "" }) {
  answers[id] = text;
  const rest = text.length - MOST_OF_ANSWER;
  $(id).textContent = text.slice(0, MOST_OF_ANSWER);
  if (rest > 0) $(id).append(button("more", `… ${plural(rest, "character")} more`, () => { $(id).textContent = text; }));
  $(id).hidden = $(`copy-${id}`).hidden = !text;
  $(`${id}-said`).replaceChildren(...[error, ...notes].filter(Boolean).map((note) => make("span", error ? "error" : "warning", note)));
}

for (const id of Object.keys(answers)) {
  $(`copy-${id}`).addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(answers[id]);
      $(`${id}-said`).replaceChildren(make("span", "quiet", `${plural(answers[id].length, "character")} copied`));
    } catch {
      $(`${id}-said`).replaceChildren(make("span", "error", "the browser does not let this page copy; select the text"));
    }
  });
}
