// What is read: the fields beside the view
const LIVE = JSON.parse($("data").textContent).live;
const OWN = "*"; // the format of a grammar that was opened from a file
const CHUNKS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096];
const field = (name) => $(`given-${name}`);
const EDITORS = ["text", "tools", "grammar"];
const originals = new Map(); // the grammars of formats
const edited = new Map(); // and what was made of them
let sourceName = LIVE.given.name;

for (const [name, title] of [["auto", "detect it"], ...LIVE.formats]) field("format").append(new Option(`${name} · ${title}`, name));
field("chunk").append(new Option("the smallest", "0"), ...CHUNKS.map((size) => new Option(plural(size, "character"), size)));

function given() {
  const chosen = field("format").value;
  const ends = $("prompt").value;
  return {
    name: sourceName,
    text: field("text").value,
    format: chosen === OWN ? "auto" : chosen,
    grammar: edited.get(chosen) ?? null,
    tools: field("tools").value,
    screen: field("screen").value,
    prefix: ends === "usual" ? null : ends === "none" ? "" : field("prefix").value,
    finish_reason: field("finish_reason").value.trim(),
    chunk: Number(field("chunk").value),
  };
}

function choose(format) {
  if (![...field("format").options].some((option) => option.value === format)) return false;
  field("format").value = format;
  return true;
}

// Fills the fields with what a file holds, or the page begins with
function fillIn(found) {
  sourceName = found.name || "response";
  edited.clear();
  if (!choose(found.format ?? "auto")) choose("auto");
  if (found.grammar) useGrammar(found.grammar, found.format);
  for (const name of ["text", "tools", "screen", "finish_reason"]) field(name).value = found[name] ?? "";
  if (found.chunk && !CHUNKS.includes(found.chunk)) field("chunk").append(new Option(plural(found.chunk, "character"), found.chunk));
  field("chunk").value = found.chunk ?? 0;
  $("prompt").value = found.prefix === null || found.prefix === undefined ? "usual" : found.prefix === "" ? "none" : "this";
  field("prefix").value = found.prefix ?? "";
  $("prefix-field").hidden = $("prompt").value !== "this";
  for (const name of EDITORS) mark(name, []);
}

// A grammar in place of that of a format, or of none
function useGrammar(text, format) {
  if (!format || format === "auto" || format === OWN) {
    if (!choose(OWN)) field("format").prepend(new Option("your grammar", OWN));
    format = OWN;
  }
  choose(format);
  edited.set(format, text);
  field("grammar").dataset.format = "";
}

// The lines of an editor, and those in which something is wrong
function mark(name, places) {
  const gutter = field(name).parentElement.querySelector(".gutter");
  field(name).setAttribute("aria-invalid", String(places.length > 0));
  if (!gutter) return;
  const bad = new Set(places.map((one) => one.line));
  const count = field(name).value.split("\n").length;
  const made = document.createDocumentFragment();
  for (let line = 1; line <= Math.min(count, 5000); line++) made.append(make("span", bad.has(line) ? "bad" : "", `${line}\n`));
  gutter.replaceChildren(made);
  gutter.scrollTop = field(name).scrollTop;
}

function selectPlace(name, one) {
  const editor = field(name);
  openTab($(`tab-${name}`));
  const text = editor.value;
  // offsets count characters as Python does
  const units = (offset) => Array.from(text).slice(0, offset).join("").length;
  editor.focus();
  editor.setSelectionRange(units(one.start), Math.max(units(one.end), units(one.start)));
  editor.scrollTop = Math.max(0, (one.line - 4) * parseFloat(getComputedStyle(editor).lineHeight));
}

function drawWrong(error) {
  $("wrong").replaceChildren();
  for (const name of EDITORS) mark(name, error?.field === name ? error.places : []);
  for (const name of ["format", "screen", "prefix"]) field(name).setAttribute("aria-invalid", String(error?.field === name));
  if (!error) return;
  $("wrong").append(make("span", "error", error.message));
  const list = make("ul");
  for (const one of error.places) {
    const item = make("li");
    item.append(button("", `line ${one.line}, column ${one.column}`, () => selectPlace(error.field, one)), one.message);
    for (const help of one.helps) item.append(make("span", "help", help));
    list.append(item);
  }
  if (error.places.length) $("wrong").append(list);
}

for (const name of EDITORS) {
  const gutter = field(name).parentElement.querySelector(".gutter");
  if (gutter) field(name).addEventListener("scroll", () => { gutter.scrollTop = field(name).scrollTop; });
  field(name).addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) $("at").focus();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      readNow().then(() => $("at").focus());
    }
  });
}

function edit(name) {
  openTab($(`tab-${name}`));
  field(name).focus();
}

Object.assign(KEYS, {
  1: () => edit("text"), 2: () => edit("tools"), 3: () => edit("grammar"), f: () => field("format").focus(),
  o: () => $("file").click(), s: () => saveJson(), p: () => savePage(),
});
