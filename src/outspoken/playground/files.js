// Files: a response, a grammar or tools that are opened or dropped, and what is saved
const SHARED = "outspoken-playground";
const MOST_BYTES = 24e6;

function save(name, type, text) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  $("said").textContent = `Saved as ${name}.`;
}

const fileName = () => sourceName.replace(/\.\w+$/, "").replace(/[^\w-]+/g, "-").replace(/^-+|-+$/g, "") || "response";

function saveJson() {
  save(`${fileName()}.json`, "application/json", `${JSON.stringify({ kind: SHARED, version: 1, given: given() }, null, 2)}\n`);
}

async function savePage() {
  $("said").textContent = "The page is being made …";
  try {
    const { html } = await ask("file", { formats: [...renderedIn] });
    save(`${fileName()}.html`, "text/html", html);
  } catch (error) {
    const wrong = refusal(error);
    if (wrong) drawWrong(wrong);
  }
}

// What a shared file holds; null for any other file
function shared(text) {
  const found = (json) => {
    try {
      return JSON.parse(json);
    } catch {
      return null;
    }
  };
  if (/^\s*\{/.test(text)) {
    const held = found(text);
    return held?.kind === SHARED ? held.given ?? {} : null;
  }
  if (!/^\s*<!doctype html>/i.test(text)) return null;
  const holder = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(text); // nothing of it is run
  const held = holder && found(holder[1]);
  if (typeof held?.raw !== "string") return null;
  return held.given ?? { name: held.source, text: held.raw, format: held.format === "none" ? "auto" : held.format };
}

const isText = (value) => value === undefined || typeof value === "string";
const isKept = (value) => value === null || isText(value);
const CHECKS = {
  name: isText, text: (value) => typeof value === "string", format: isText, grammar: isKept, tools: isText, screen: isText,
  prefix: isKept, finish_reason: isText, chunk: (value) => value === undefined || (Number.isInteger(value) && value >= 0),
};

// What is wrong with what a shared file holds; "" if nothing is
function damage(held) {
  const wrong = Object.keys(CHECKS).find((name) => !CHECKS[name](held[name]));
  if (wrong) return `its \`${wrong}\` is not what the playground saves`;
  const isKnown = !held.format || held.grammar || [...field("format").options].some((one) => one.value === held.format);
  return isKnown ? "" : `there is no format \`${held.format}\` here`;
}

// UTF-8, or what the byte order mark says
function decoded(bytes) {
  const [first, second] = bytes;
  const name = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(name).decode(bytes);
}

async function open(file, target) {
  if (file.size > MOST_BYTES) {
    drawWrong({ field: "", message: `${file.name} has ${counted(file.size)} bytes; that is too much for the playground`, places: [] });
    return;
  }
  const text = decoded(new Uint8Array(await file.arrayBuffer()));
  const held = shared(text);
  const wrong = held ? damage(held) : "";
  if (wrong) {
    drawWrong({ field: "", message: `${file.name} cannot be opened: ${wrong}`, places: [] });
    return;
  }
  if (held) {
    fillIn(held);
    field("grammar").dataset.format = "";
  } else if (target === field("grammar") || file.name.endsWith(".lark")) {
    useGrammar(text);
    openTab($("tab-grammar"));
  } else if (target === field("tools")) {
    field("tools").value = text;
  } else {
    field("text").value = text;
    sourceName = file.name;
    openTab($("tab-text"));
  }
  begun = false;
  await readNow();
  await loadGrammar();
}

$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => {
  const [file] = $("file").files;
  if (file) open(file);
  $("file").value = "";
});
$("save-json").addEventListener("click", saveJson);
$("save-page").addEventListener("click", savePage);

let within = 0;
const hasFile = (event) => event.dataTransfer?.types.includes("Files");
const dropping = (change) => {
  within = change === 0 ? 0 : within + change;
  document.body.classList.toggle("dropping", within > 0);
};
document.addEventListener("dragenter", (event) => { if (hasFile(event)) dropping(1); });
document.addEventListener("dragleave", (event) => { if (hasFile(event)) dropping(-1); });
document.addEventListener("dragover", (event) => { if (hasFile(event)) event.preventDefault(); });
document.addEventListener("drop", (event) => {
  if (!hasFile(event)) return;
  event.preventDefault();
  dropping(0);
  const [file] = event.dataTransfer.files;
  if (file) open(file, event.target.closest?.("textarea"));
});

$("eyebrow").textContent = "Outspoken playground";
fillIn(beginWith());
readNow();
