// The stream: the slider, and what is known after each piece
const MOST_EVENTS = 200;
const MOST_CARDS = 12;
const MOST_OF_VALUE = 800;

let place = -1;

function momentAt(number) {
  const [arrived, held, events, places] = data.moments[number];
  return { arrived, held, events, places: typeof places === "number" ? [["", places]] : places };
}

function go(number) {
  if (!data) return;
  number = Math.max(0, Math.min(number, data.moments.length - 1));
  if (number === place) return;
  place = number;
  const moment = momentAt(number);
  const ended = number === data.moments.length - 1;
  const count = moment.held.reduce((sum, [start, end]) => sum + end - start, 0);
  if (!isShown(moment.arrived)) drawWindow(windowAround(moment.arrived));
  drawStates();
  $("at").value = number;
  const said = `${moment.arrived} of ${data.length} characters${ended ? ", ended" : ""} · ${count} held back`;
  $("now").textContent = said;
  $("at").setAttribute("aria-valuetext", said);
  drawHeld(moment);
  drawConfigs(moment.places, ended);
  drawEvents(moment, number ? momentAt(number - 1).events : 0);
  drawReply(moment.events, ended);
}

function drawHeld(moment) {
  $("held").replaceChildren();
  if (!moment.held.length) $("held").append(make("span", "quiet", "nothing"));
  for (const [start, end] of moment.held) {
    const part = make("div");
    const text = make("span", "held mono");
    const from = Math.max(start, end - 5000);
    text.append(visible(slice(from, end)));
    part.append(make("span", "quiet", `${start}–${end} `));
    if (from > start) part.append(make("span", "quiet", `… ${plural(from - start, "character")} `));
    part.append(text);
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
    if (ended) title.append(make("span", "quiet", config.may_end ? " — it may end here" : " — it may not end here"));
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

// the reply so far, as the events have told it

let told = { count: 0, items: [], open: new Map() };

function add(change) {
  const colon = change.indexOf(":");
  const [kind, index, text] = [change[0], change.slice(1, colon), change.slice(colon + 1)];
  const last = told.items.at(-1);
  const begin = (name, title, value = "", state = "") => {
    const item = { kind: name, title, value, state };
    told.items.push(item);
    return item;
  };
  const open = (key, name, title) => {
    if (!told.open.has(key)) told.open.set(key, begin(name, title, "", "arriving"));
    return told.open.get(key);
  };
  if (kind === "t") (last?.kind === "text" ? last : begin("text", "text")).value += text;
  else if (kind === "r") open("reasoning", "reasoning", "reasoning").value += text;
  else if (kind === "R") {
    if (told.open.has("reasoning")) told.open.get("reasoning").state = "";
    told.open.delete("reasoning");
  } else if (kind === "c") open(`call ${index}`, "tool_call", `tool call: ${text}`);
  else if (kind === "a") open(`call ${index}`, "tool_call", "tool call").value += text;
  else if (kind === "e") open(`call ${index}`, "tool_call", "tool call").state = "complete";
  else if (kind === "u") open(`call ${index}`, "tool_call", "tool call").state = text;
  else if (kind === "x") open(`action ${index}`, "action", "action").value += text;
  else if (kind === "A") Object.assign(open(`action ${index}`, "action", "action"), { value: text, state: "" });
  else if (kind === "P") begin("payload", "payload", text);
}

function drawReply(count, ended) {
  if (count < told.count) told = { count: 0, items: [], open: new Map() };
  for (; told.count < count; told.count++) if (data.deltas[told.count]) add(data.deltas[told.count]);
  const rows = told.items.slice(-MOST_CARDS).map((item) => {
    const row = make("div", `part ${item.kind}`);
    const title = make("b", "", item.title);
    const value = make("div", "mono");
    const from = Math.max(0, item.value.length - MOST_OF_VALUE);
    if (from) value.append(make("span", "quiet", `… ${plural(from, "character")} before `));
    value.append(visible(item.value.slice(from)));
    row.append(title, item.state ? make("span", "quiet", ` ${item.state}`) : "", value);
    return row;
  });
  if (told.items.length > MOST_CARDS) rows.unshift(make("div", "quiet", `… ${told.items.length - MOST_CARDS} before`));
  if (ended) rows.push(make("div", "quiet", `ended, status ${data.status}`));
  if (!rows.length) rows.push(make("div", "quiet", "nothing yet"));
  $("far").replaceChildren(...rows);
  $("far").scrollTop = $("far").scrollHeight;
}

// The number in #at= counts characters; "end" is behind the last one.
function fromHash() {
  const wanted = /^#at=(\d+|end)$/.exec(location.hash);
  if (!wanted || wanted[1] === "end") return data.moments.length - 1;
  return momentOf(Number(wanted[1]));
}

function momentOf(offset) {
  const number = data.moments.findIndex(([arrived]) => arrived >= offset);
  return number < 0 ? data.moments.length - 1 : number;
}

let waiting = 0;
function remember() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const at = place === data.moments.length - 1 ? "end" : data.moments[place][0];
    history.replaceState(null, "", `#at=${at}`);
  }, 200);
}

function step(to) {
  if (!data) return;
  go(to());
  follow();
  remember();
}

const STEPS = [
  ["first", () => 0], ["back", () => place - 1], ["on", () => place + 1], ["last", () => data.moments.length - 1],
];
for (const [id, to] of STEPS) $(id).addEventListener("click", () => step(to));
for (const key of "[,") KEYS[key] = () => step(() => place - 1);
for (const key of "].") KEYS[key] = () => step(() => place + 1); // some keyboards have no key for brackets
$("at").addEventListener("input", () => { go(Number($("at").value)); if (data) follow(); });
$("at").addEventListener("change", () => { if (data) remember(); });
window.addEventListener("hashchange", () => { if (data) { go(fromHash()); follow(); } });
