// What the page asks the server, and what it does with the answers. An answer that came too late is not used.
const WAIT = 250;
const asking = new Map();

class Refused extends Error {
  constructor(error) {
    super(error.message);
    this.error = error;
  }
}

// Asks for one thing; what was asked for under the same name before is given up
async function ask(what, more = {}) {
  asking.get(what)?.abort();
  const control = new AbortController();
  asking.set(what, control);
  let answer;
  try {
    answer = await fetch(`/api/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ given: given(), ...more }),
      signal: control.signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ field: "", message: "the playground does not answer; is `outspoken ui` still running?", places: [] });
  }
  const found = await answer.json();
  if (control.signal.aborted) throw new DOMException("", "AbortError");
  if (!answer.ok) throw new Refused(found.error);
  return found;
}

// The error of a refusal; null if something newer was asked for
function refusal(error) {
  if (error.name === "AbortError") return null;
  if (error instanceof Refused) return error.error;
  throw error;
}

// reading

let timer = 0;
let begun = false;
let reads = 0;

function readSoon() {
  hideCandidates();
  clearTimeout(timer);
  timer = setTimeout(readNow, WAIT);
}

async function readNow() {
  clearTimeout(timer);
  const number = ++reads;
  $("view").ariaBusy = "true";
  const wanted = given();
  keep(wanted);
  if (Array.from(wanted.text).length > LIVE.most) {
    asking.get("read")?.abort();
    refuse({ field: "text", message: `the response has ${counted(wanted.text.length)} characters; the playground reads at most ${counted(LIVE.most)}`, places: [] });
    return;
  }
  try {
    const found = await ask("read");
    const start = performance.now();
    const atEnd = !data || place === data.moments.length - 1;
    show(found, begun ? (atEnd ? Infinity : momentAt(place).arrived) : undefined);
    begun = true;
    drawWrong(null);
    $("view").classList.remove("stale");
    say();
    await Promise.all([loadGrammar(), askOpen()]);
    $("view").dataset.drawn = String(Math.round(performance.now() - start));
  } catch (error) {
    const wrong = refusal(error);
    if (!wrong) return;
    refuse(wrong);
  }
  if (number === reads) $("view").ariaBusy = "false";
}

function refuse(wrong) {
  drawWrong(wrong);
  $("view").classList.add("stale");
  $("view").ariaBusy = "false";
  $("said").textContent = "Below is what was read before.";
}

function say() {
  const size = data.moments.length > 2 ? data.moments[1][0] : data.length;
  const parts = [`${data.format}, ${data.status}`, plural(data.segments.length, "segment"), plural(data.repairs.length, "repair")];
  $("said").textContent = parts.join(", ") + (size ? `; chunks of ${plural(size, "character")}` : "");
  const wanted = field("format").options[field("format").selectedIndex];
  if (wanted?.value === "auto") wanted.textContent = data.format === "none" ? "auto · nothing detected" : `auto · detected ${data.format}`;
}

function keep(wanted) {
  try {
    if (wanted.text.length < 300000) sessionStorage.setItem("outspoken-given", JSON.stringify(wanted));
  } catch {
    // a response that is too long for it is not kept over a reload
  }
}

function beginWith() {
  try {
    const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
    const found = isReload && sessionStorage.getItem("outspoken-given");
    return found ? JSON.parse(found) : LIVE.given;
  } catch {
    return LIVE.given;
  }
}

// the grammar of the format that is chosen or was detected

function grammarFormat() {
  const chosen = field("format").value;
  if (chosen !== "auto") return chosen;
  return data && data.format !== "none" ? data.format : "";
}

async function loadGrammar() {
  const format = grammarFormat();
  const editor = field("grammar");
  if (editor.dataset.format === format && format) return;
  if (!isOpen("grammar")) return;
  if (format && format !== OWN && !originals.has(format)) {
    editor.disabled = true; // what is typed now would be lost
    try {
      originals.set(format, (await ask("grammar", { given: { format } })).grammar);
    } catch (error) {
      const wrong = refusal(error);
      if (wrong) drawWrong(wrong);
      return;
    }
  }
  editor.dataset.format = format;
  editor.disabled = !format;
  editor.value = format ? edited.get(format) ?? originals.get(format) ?? "" : "";
  drawGrammarState();
  mark("grammar", []);
}

function drawGrammarState() {
  const format = field("grammar").dataset.format;
  const isEdited = edited.has(format);
  $("restore").disabled = !isEdited || format === OWN;
  $("grammar-said").textContent = !format
    ? "Choose a format, or let one be detected."
    : format === OWN ? "Your grammar." : isEdited ? `${format}, edited: it is read with instead.` : `${format}, as it is.`;
}

field("grammar").addEventListener("input", () => {
  const format = field("grammar").dataset.format;
  if (!format) return;
  if (field("grammar").value === originals.get(format)) edited.delete(format);
  else edited.set(format, field("grammar").value);
  choose(format); // what is edited is not detected any more
  drawGrammarState();
  mark("grammar", []);
  readSoon();
});

$("restore").addEventListener("click", () => {
  edited.delete(field("grammar").dataset.format);
  field("grammar").dataset.format = "";
  loadGrammar();
  readNow();
});

// the constraint, and the reply in another format: asked for when they are seen

$("target").append(...LIVE.targets.map((name) => new Option(name)));
$("written-in").append(new Option("the same format", ""), ...LIVE.formats.map(([name, title]) => new Option(`${name} · ${title}`, name)));

async function askFor(kind, select) {
  $(`${kind}-said`).replaceChildren(make("span", "quiet", "…"));
  try {
    drawAnswer(kind, await ask(kind, { choice: $(select).value }));
  } catch (error) {
    const wrong = refusal(error);
    if (wrong) drawAnswer(kind, { text: "", error: wrong.message });
  }
}

const SELECTS = { constraint: "target", rendered: "written-in" };
const renderedIn = new Set();

async function askOpen() {
  for (const [kind, select] of Object.entries(SELECTS)) if (isOpen(kind)) await askFor(kind, select);
}

for (const [kind, select] of Object.entries(SELECTS)) {
  $(`tab-${kind}`).hidden = false;
  $(`tab-${kind}`).addEventListener("opened", () => askFor(kind, select));
  $(select).addEventListener("change", () => askFor(kind, select));
}
$("written-in").addEventListener("change", () => { if ($("written-in").value) renderedIn.add($("written-in").value); });
$("tab-grammar").addEventListener("opened", loadGrammar);

// which formats may it be?

async function drawCandidates() {
  $("which").setAttribute("aria-expanded", "true");
  $("candidates").hidden = false;
  $("candidates").replaceChildren(make("span", "quiet", "every format reads it …"));
  try {
    const { candidates, read } = await ask("candidates");
    const rows = candidates.map(({ format, status, covered }) =>
      button("", `${format} · ${status}, ${Math.round(covered * 100)} %`, () => { choose(format); changed(); }));
    if (!rows.length) rows.push(make("span", "quiet", "every format reads it as plain text"));
    if (read < Array.from(field("text").value).length) rows.push(make("span", "quiet", `of the first ${counted(read)} characters`));
    $("candidates").replaceChildren(...rows);
  } catch (error) {
    const wrong = refusal(error);
    if (wrong) $("candidates").replaceChildren(make("span", "error", wrong.message));
  }
}

function hideCandidates() {
  asking.get("candidates")?.abort();
  $("candidates").hidden = true;
  $("which").setAttribute("aria-expanded", "false");
}

$("which").addEventListener("click", () => ($("candidates").hidden ? drawCandidates() : hideCandidates()));

$("example").addEventListener("click", () => {
  const format = grammarFormat();
  const found = LIVE.formats.find(([name]) => name === format);
  if (!found?.[2]) {
    $("said").textContent = format ? `${format} has no example.` : "Choose a format first.";
    return;
  }
  field("text").value = found[2];
  sourceName = `the example of ${format}`;
  changed();
});

function changed() {
  readNow();
  loadGrammar();
}

field("text").addEventListener("input", () => { if (sourceName !== "response") sourceName = "response"; readSoon(); });
field("tools").addEventListener("input", () => { mark("tools", []); readSoon(); });
for (const name of ["screen", "finish_reason", "prefix"]) field(name).addEventListener("input", readSoon);
for (const name of ["format", "chunk"]) field(name).addEventListener("change", changed);
$("prompt").addEventListener("change", () => {
  $("prefix-field").hidden = $("prompt").value !== "this";
  readNow();
});
