"use strict";
// Everything is made as nodes and text; nothing of the response is ever read as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const MOST_EVENTS = 200;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function make(tag, classes, text) {
  const node = document.createElement(tag);
  if (classes) node.className = classes;
  if (text !== undefined) node.textContent = text;
  return node;
}

// What a character that cannot be seen is shown as
function glyph(char) {
  const code = char.codePointAt(0);
  if (char === "\t") return "⇥";
  if (char === "\r") return "\\r";
  if (code < 256) return "\\x" + code.toString(16).padStart(2, "0");
  return code < 0x10000 ? "\\u" + code.toString(16).padStart(4, "0") : "\\U" + code.toString(16).padStart(8, "0");
}

// A text as nodes whose text it is, to the character, with a sign for what cannot be seen
function visible(text) {
  const made = document.createDocumentFragment();
  let at = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > at) made.append(text.slice(at, match.index));
    const shown = make("span", match[0] === "\n" ? "break" : "glyph");
    if (match[0] === "\n") {
      shown.append("\n");
    } else {
      shown.dataset.glyph = glyph(match[0]);
      shown.append(make("span", "", match[0]));
    }
    made.append(shown);
    at = match.index + match[0].length;
  }
  if (at < text.length) made.append(text.slice(at));
  return made;
}

// The same on one line, for what is no text of the response itself
const escaped = (text) => text.replace(UNSEEN, (char) => (char === "\n" ? "↵" : glyph(char)));
const excerpt = (text, most = 48) => (text.length <= most ? text : `${text.slice(0, most)} …`);
// Offsets count characters as Python does; those of a JavaScript string are found here.
const chars = data.astral ? Array.from(data.raw) : data.raw;
const slice = (start, end) => (data.astral ? chars.slice(start, end).join("") : chars.slice(start, end));
const tokenText = (token) => token.text ?? slice(token.start, token.end);

// the text

const pieces = data.pieces.map(([start, end, token, segment]) => ({ start, end, token, segment, state: null }));

function drawText() {
  const refused = new Set(data.refused);
  for (const [number, piece] of pieces.entries()) {
    if (refused.delete(piece.start)) {
      const mark = make("span", "refusal");
      mark.setAttribute("aria-hidden", "true");
      $("text").append(mark);
    }
    const token = data.tokens[piece.token];
    const kind = data.segments[piece.segment]?.kind ?? "";
    const mark = token?.mark === "text" ? "mark-text" : token?.mark ?? "";
    piece.node = make("span", ["piece", kind, token?.kind ?? "", mark].filter(Boolean).join(" "));
    piece.classes = piece.node.className;
    piece.node.dataset.piece = number;
    piece.node.tabIndex = number ? -1 : 0;
    if (token?.missing) piece.node.dataset.glyph = escaped(token.missing);
    $("text").append(piece.node);
  }
}

// What of a piece has arrived, and what is held back: its parts, each with its state
function states(piece, moment) {
  if (piece.start >= moment.arrived && piece.end > piece.start) return [["future", piece.start, piece.end]];
  const parts = [];
  let at = piece.start;
  const add = (state, end) => {
    if (end > at) parts.push([state, at, end]);
    at = Math.max(at, end);
  };
  for (const [start, end] of moment.held) {
    if (end <= piece.start || start >= piece.end) continue;
    add("", Math.max(start, piece.start));
    add("held", Math.min(end, piece.end));
  }
  add("", Math.min(piece.end, moment.arrived));
  add("future", piece.end);
  return parts;
}

function drawPiece(piece, moment) {
  const parts = states(piece, moment);
  const state = parts.join(";");
  if (state === piece.state) return;
  piece.state = state;
  piece.node.className = piece.classes;
  if (piece.node === lit) piece.node.classList.add("lit");
  if (parts.length === 1) {
    const [name, start, end] = parts[0];
    if (name) piece.node.classList.add(name);
    piece.node.replaceChildren(visible(slice(start, end)));
    return;
  }
  piece.node.replaceChildren(
    ...parts.map(([name, start, end]) => {
      const part = make("span", name);
      part.append(visible(slice(start, end)));
      return part;
    }),
  );
}

// the stream

let place = -1;

function momentAt(number) {
  const [arrived, held, events, places] = data.moments[number];
  return { arrived, held, events, places: typeof places === "number" ? [["", places]] : places };
}

function go(number) {
  number = Math.max(0, Math.min(number, data.moments.length - 1));
  if (number === place) return;
  place = number;
  const moment = momentAt(number);
  const ended = number === data.moments.length - 1;
  const count = moment.held.reduce((sum, [start, end]) => sum + end - start, 0);
  for (const piece of pieces) drawPiece(piece, moment);
  $("at").value = number;
  const said = `${moment.arrived} of ${data.length} characters${ended ? ", ended" : ""} · ${count} held back`;
  $("now").textContent = said;
  $("at").setAttribute("aria-valuetext", said);
  drawHeld(moment);
  drawConfigs(moment.places, ended);
  drawEvents(moment, number ? momentAt(number - 1).events : 0);
}

function drawHeld(moment) {
  $("held").replaceChildren();
  if (!moment.held.length) $("held").append(make("span", "quiet", "nothing"));
  for (const [start, end] of moment.held) {
    const part = make("div");
    const text = make("span", "held mono");
    text.append(visible(slice(start, end)));
    part.append(make("span", "quiet", `${start}–${end} `), text);
    $("held").append(part);
  }
}

function drawConfigs(places, ended) {
  $("config").replaceChildren();
  for (const [format, number] of places) {
    const config = data.configs[number];
    const title = make("div");
    title.append(make("b", "", config.name), ` ${config.inside ? `in ${config.inside}` : "outside"}`);
    if (format) title.append(make("span", "quiet", ` (tried as ${format})`));
    const list = make("ul");
    if (config.free) list.append(make("li", "mono", `${config.free} up to`));
    for (const expected of config.expected) list.append(make("li", "mono", expected));
    if (ended) title.append(make("span", "quiet", config.mayEnd ? " — it may end here" : " — it may not end here"));
    $("config").append(title, list);
  }
}

function drawEvents(moment, before) {
  const first = Math.max(0, moment.events - MOST_EVENTS);
  const rows = data.events.slice(first, moment.events).map((event, n) => make("li", first + n >= before ? "new" : "", event));
  if (first) rows.unshift(make("li", "quiet", `… ${first} before`));
  if (!rows.length) rows.push(make("li", "quiet", "none"));
  $("events").replaceChildren(...rows);
  $("events").scrollTop = $("events").scrollHeight;
}

// The number in #at= counts characters; "end" is behind the last one.
function fromHash() {
  const wanted = /^#at=(\d+|end)$/.exec(location.hash);
  if (!wanted || wanted[1] === "end") return data.moments.length - 1;
  const number = data.moments.findIndex(([arrived]) => arrived >= Number(wanted[1]));
  return number < 0 ? data.moments.length - 1 : number;
}

// Keeps the place up to which the text has arrived in view
function follow() {
  const { arrived } = momentAt(place);
  const piece = pieces.find((one) => one.end >= arrived && one.end > one.start);
  piece?.node.scrollIntoView({ block: "nearest" });
}

let waiting = 0;
function remember() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const at = place === data.moments.length - 1 ? "end" : data.moments[place][0];
    history.replaceState(null, "", `#at=${at}`);
  }, 200);
}

// what stands at a place

let lit = null;
const leaves = new Map();

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
  const list = make("dl");
  row(list, "token", token ? [token.name || "no token", token.mark && `(${token.mark})`].filter(Boolean).join(" ") : "white space");
  row(list, "span", `${token?.start ?? piece.start}–${token?.end ?? piece.end} (${lineOf(token?.start ?? piece.start)})`);
  row(list, "text", excerpt(token ? tokenText(token) : slice(piece.start, piece.end), 300), "mono");
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
  piece.node.classList.add("lit");
  leaves.get(piece.token)?.parentElement.classList.add("lit");
}

function pieceOf(event) {
  const node = event.target.closest?.(".piece");
  return node ? pieces[Number(node.dataset.piece)] : null;
}

function focus(number) {
  const piece = pieces[Math.max(0, Math.min(number, pieces.length - 1))];
  for (const node of $("text").querySelectorAll('[tabindex="0"]')) node.tabIndex = -1;
  piece.node.tabIndex = 0;
  piece.node.focus();
}

// below

function drawTree(nodes) {
  const list = make("ul");
  for (const node of nodes) {
    const item = make("li");
    item.append(typeof node === "number" ? leaf(node) : branch(node));
    list.append(item);
  }
  return list;
}

function leaf(number) {
  const token = data.tokens[number];
  const button = make("button", "leaf");
  button.type = "button";
  button.append(token.name || "—", token.mark ? make("span", "flag", ` (${token.mark})`) : "", " ");
  button.append(make("i", "", escaped(excerpt(tokenText(token)))));
  const show = () => {
    const piece = pieces.find((one) => one.token === number);
    if (piece) inspect(piece);
  };
  button.addEventListener("mouseenter", show);
  button.addEventListener("focus", show);
  leaves.set(number, button);
  return button;
}

function branch([name, complete, meaningful, children]) {
  const details = make("details");
  details.open = true;
  const summary = make("summary", meaningful ? "rule" : "rule structure", name);
  if (!complete) summary.append(make("span", "open", " not completed"));
  details.append(summary, drawTree(children));
  return details;
}

function drawSegments() {
  for (const segment of data.segments) {
    const card = make("article", `card ${segment.kind}`);
    const value = make("div", "mono");
    value.append(visible(segment.value));
    card.append(make("h3", "", segment.title), value);
    $("segments").append(card);
  }
  if (!data.segments.length) $("segments").append(make("p", "quiet", "none"));
}

function drawFrames(id, frames) {
  $(id).hidden = !frames.length;
  for (const frame of frames) {
    const drawn = make("pre", /^\w*/.exec(frame)[0], frame);
    drawn.tabIndex = 0;
    $(id).append(drawn);
  }
}

function drawHead() {
  $("source").textContent = data.source;
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
  for (const kind of [...kinds, "held", "future"]) {
    const name = { held: "held back", future: "not arrived yet" }[kind] ?? kind.replace("_", " ");
    const item = make("li");
    item.append(make("span", `swatch ${kind}`), name);
    $("legend").append(item);
  }
}

drawHead();
drawFrames("refusals", data.refusals);
drawText();
$("tree").append(drawTree(data.tree));
drawSegments();
drawFrames("repairs", data.repairs);
drawFrames("diagnostics", data.diagnostics);
drawFrames("difference", data.difference.length ? [data.difference.join("\n")] : []);
$("at").max = data.moments.length - 1;
go(fromHash());
if (location.hash) follow();

$("at").addEventListener("input", () => { go(Number($("at").value)); follow(); });
$("at").addEventListener("change", remember);
for (const [id, to] of [["first", () => 0], ["back", () => place - 1], ["on", () => place + 1], ["last", () => data.moments.length - 1]]) {
  $(id).addEventListener("click", () => { go(to()); follow(); remember(); });
}
window.addEventListener("hashchange", () => { go(fromHash()); follow(); });
$("text").addEventListener("mouseover", (event) => { const piece = pieceOf(event); if (piece) inspect(piece); });
$("text").addEventListener("focusin", (event) => { const piece = pieceOf(event); if (piece) inspect(piece); });
$("text").addEventListener("keydown", (event) => {
  const piece = pieceOf(event);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!piece || !step) return;
  event.preventDefault();
  focus(pieces.indexOf(piece) + step);
});
