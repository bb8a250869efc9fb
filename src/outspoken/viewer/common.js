"use strict";
// Everything is made as nodes and text; nothing of the response is ever read as HTML.
const $ = (id) => document.getElementById(id);
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

function make(tag, classes, text) {
  const node = document.createElement(tag);
  if (classes) node.className = classes;
  if (text !== undefined) node.textContent = text;
  return node;
}

function button(classes, text, pressed) {
  const node = make("button", classes, text);
  node.type = "button";
  node.addEventListener("click", pressed);
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
const counted = (number) => number.toLocaleString("en");
const plural = (number, word) => `${counted(number)} ${word}${number === 1 ? "" : "s"}`;

// The response that is shown, and its characters. Offsets count characters as Python does; those of a JavaScript
// string are found here.
let data = null;
let chars = "";
const slice = (start, end) => (data.astral ? chars.slice(start, end).join("") : chars.slice(start, end));
const tokenText = (token) => token.text ?? slice(token.start, token.end);

function take(found) {
  data = found;
  chars = data.astral ? Array.from(data.raw) : data.raw;
}

// the theme: that of the system, unless one was chosen

const THEMES = { "": "as the system", light: "light", dark: "dark" };

function kept(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null; // a page of a file may keep nothing
  }
}

function useTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  $("theme").setAttribute("aria-label", `Theme: ${THEMES[name]}`);
  $("theme").title = `Theme: ${THEMES[name]}`;
}

function nextTheme() {
  const names = Object.keys(THEMES);
  const name = names[(names.indexOf(document.documentElement.dataset.theme ?? "") + 1) % names.length];
  kept("outspoken-theme", name);
  useTheme(name);
}

useTheme(kept("outspoken-theme") in THEMES ? kept("outspoken-theme") : "");
$("theme").addEventListener("click", nextTheme);
$("help").addEventListener("click", () => $("shortcuts").showModal());

// keys that mean something outside of text fields

const KEYS = { t: nextTheme, "?": () => $("shortcuts").showModal() };

document.addEventListener("keydown", (event) => {
  const isField = event.target.closest?.("textarea, select, input:not([type=range])");
  if (event.ctrlKey || event.metaKey || event.altKey || isField || $("shortcuts").open) return;
  const pressed = KEYS[event.key];
  if (!pressed) return;
  event.preventDefault();
  pressed();
});
