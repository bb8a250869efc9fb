// The text: pieces that are drawn in a window, since a long response has more of them than a browser draws quickly.
const MOST_DRAWN = 24000;
const MOST_PIECES = 3000;
const LONGEST_PIECE = 1500;
const BLOCK = 600;
const LONGEST_INSERT = 40;

let pieces = [];
let shown = { from: 0, to: 0 };
let refusals = []; // the signs of places that were refused
let lit = null;
const leaves = new Map();

// Long pieces are cut, and blocks of lines are made of them: a change in one does not lay out the others again.
function cutPieces() {
  pieces = [];
  let block = 0;
  let begun = 0;
  for (const [start, end, token, segment, edit] of data.pieces) {
    let at = start;
    do {
      let to = Math.min(end, at + LONGEST_PIECE);
      const line = to - begun >= BLOCK ? slice(at, to).indexOf("\n") : -1;
      if (line >= 0) to = at + lengthOf(slice(at, to), line + 1);
      pieces.push({ start: at, end: to, token, segment, edit: edit ?? -1, block, state: null, node: null });
      if (line >= 0) {
        block++;
        begun = to;
      }
      at = to;
    } while (at < end);
  }
}

// How many characters the beginning of a text has, of which so many units are known
const lengthOf = (text, units) => (data.astral ? Array.from(text.slice(0, units)).length : units);

// The pieces round an offset that are drawn
function windowAround(offset) {
  if (data.length <= MOST_DRAWN && pieces.length <= MOST_PIECES) return { from: 0, to: pieces.length };
  let middle = pieces.findIndex((piece) => piece.end >= offset);
  if (middle < 0) middle = pieces.length - 1;
  let from = middle;
  let to = middle + 1;
  while (from > 0 && offset - pieces[from - 1].start <= MOST_DRAWN / 2 && middle - from < MOST_PIECES / 2) from--;
  while (to < pieces.length && pieces[to].end - pieces[from].start <= MOST_DRAWN && to - from < MOST_PIECES) to++;
  while (from > 0 && pieces[to - 1].end - pieces[from - 1].start <= MOST_DRAWN && to - from < MOST_PIECES) from--;
  return { from, to };
}

// Is an offset in the window, and not so near to its edge that what stands round it is missing?
function isShown(offset) {
  const { from, to } = shown;
  if (to <= from || !pieces[from]?.node) return false;
  const margin = MOST_DRAWN / 8;
  const before = from === 0 || offset >= pieces[from].start + margin;
  const behind = to === pieces.length || offset <= pieces[to - 1].end - margin;
  return before && behind;
}

function drawWindow(wanted) {
  for (const piece of pieces.slice(shown.from, shown.to)) piece.node = piece.state = null;
  shown = wanted;
  const refused = new Set(data.refused);
  refusals = [];
  const made = document.createDocumentFragment();
  let block = null;
  let blockNumber = -1;
  for (let number = shown.from; number < shown.to; number++) {
    const piece = pieces[number];
    if (piece.block !== blockNumber) {
      blockNumber = piece.block;
      block = make("div", "block");
      made.append(block);
    }
    if (refused.delete(piece.start)) {
      const mark = make("span", "refusal");
      mark.setAttribute("aria-hidden", "true");
      refusals.push({ node: mark, at: piece.start });
      block.append(mark);
    }
    piece.node = pieceNode(piece);
    piece.node.dataset.piece = number;
    piece.node.tabIndex = number === shown.from ? 0 : -1;
    block.append(piece.node);
  }
  $("text").replaceChildren(made);
  drawLeftOut();
}

function pieceNode(piece) {
  const token = data.tokens[piece.token];
  const kind = data.segments[piece.segment]?.kind ?? "";
  const mark = token?.mark === "text" ? "mark-text" : token?.mark ?? "";
  const edit = data.edits[piece.edit];
  const node = make("span", ["piece", kind, token?.kind ?? "", mark].filter(Boolean).join(" "));
  if (token?.missing && piece.start === piece.end && !edit) node.dataset.glyph = escaped(token.missing);
  if (edit) {
    const [start, end, after, code] = edit;
    node.classList.add(start === end ? "insert" : end - start <= 2 * LONGEST_INSERT ? "edited" : "rewritten");
    if (piece.end === end && after) node.dataset.after = escaped(excerpt(after, LONGEST_INSERT));
    node.title = code;
  }
  piece.classes = node.className;
  return node;
}

function drawLeftOut() {
  const first = pieces[shown.from]?.start ?? 0;
  const last = pieces[shown.to - 1]?.end ?? 0;
  for (const [id, from, to, name] of [["above", 0, first, "before"], ["below", last, data.length, "behind"]]) {
    $(id).replaceChildren();
    $(id).hidden = to <= from;
    if (to <= from) continue;
    const near = name === "before" ? Math.max(0, first - MOST_DRAWN / 4) : Math.min(data.length, last + MOST_DRAWN / 4);
    const move = () => {
      drawWindow(windowAround(near));
      drawStates();
      $("text").scrollTop = name === "before" ? $("text").scrollHeight / 2 : $("text").scrollHeight / 4;
    };
    $(id).append(`${counted(to - from)} characters ${name} these are not drawn `, button("", `Show what is ${name}`, move));
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
  const isLater = piece.start === piece.end && piece.start > moment.arrived;
  const state = `${parts.join(";")}${isLater}`;
  if (state === piece.state) return;
  piece.state = state;
  piece.node.className = piece.classes;
  if (isLater) piece.node.classList.add("future");
  if (piece.node === lit) piece.node.classList.add("lit");
  if (parts.length === 1) {
    const [name, start, end] = parts[0];
    if (name) piece.node.classList.add(name);
    if (piece.node.dataset.whole === "yes") return; // only the state of all of it has changed
    piece.node.replaceChildren(visible(slice(start, end)));
    piece.node.dataset.whole = "yes";
    return;
  }
  piece.node.dataset.whole = "no";
  piece.node.replaceChildren(
    ...parts.map(([name, start, end]) => {
      const part = make("span", name);
      part.append(visible(slice(start, end)));
      return part;
    }),
  );
}

function drawStates() {
  const moment = momentAt(place);
  for (let number = shown.from; number < shown.to; number++) drawPiece(pieces[number], moment);
  for (const { node, at } of refusals) node.classList.toggle("future", at >= moment.arrived);
}

// Keeps the place up to which the text has arrived in view
function follow() {
  const { arrived } = momentAt(place);
  const piece = pieces.slice(shown.from, shown.to).find((one) => one.end >= arrived && one.end > one.start);
  const within = piece?.node.querySelector(".future");
  (within ?? piece?.node)?.scrollIntoView({ block: "nearest" });
}

function pieceOf(event) {
  const node = event.target.closest?.(".piece");
  return node ? pieces[Number(node.dataset.piece)] : null;
}

function focus(number) {
  number = Math.max(0, Math.min(number, pieces.length - 1));
  if (number < shown.from || number >= shown.to) {
    drawWindow(windowAround(pieces[number].start));
    drawStates();
  }
  const piece = pieces[number];
  for (const node of $("text").querySelectorAll('[tabindex="0"]')) node.tabIndex = -1;
  piece.node.tabIndex = 0;
  piece.node.focus();
}

$("text").addEventListener("mouseover", (event) => { const piece = pieceOf(event); if (piece) inspect(piece); });
$("text").addEventListener("focusin", (event) => { const piece = pieceOf(event); if (piece) inspect(piece); });
$("text").addEventListener("keydown", (event) => {
  const piece = pieceOf(event);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!piece || !step) return;
  event.preventDefault();
  focus(pieces.indexOf(piece) + step);
});
