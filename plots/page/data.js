"use strict";
/* data.js -- the data that the program wrote into the page, and what the views compute from it.
 *
 * DATA.kinds[k].layers[l][h] is a head: weights [rows][columns] and, unless the page would be too
 * large, q [rows][size], k and v [columns][size]. DATA.sides has the tokens of rows and columns. As in the
 * program's pictures, the columns of a word's tokens are added and its rows averaged, and a row without
 * special tokens is rescaled to sum to 1. */
const KINDS = {
  cross: { short: "cross-attention", row_is: "word being generated (query)", column_is: "source word (key)",
    caption: "How much each word of the translation attends to each source word while it is generated. The weights of a word sum to 1." },
  encoder: { short: "encoder self-attention", row_is: "source word (query)", column_is: "source word (key)",
    caption: "How much each source word attends to each source word. The weights of a word sum to 1." },
  decoder: { short: "decoder self-attention", row_is: "word being generated (query)", column_is: "word generated before (key)",
    caption: "How much each word of the translation attends to the words before it while it is generated. The weights of a word sum to 1." },
  "by-hand": { short: "by hand", row_is: "query", column_is: "key",
    caption: "How much each query attends to each key. The weights of a query sum to 1." },
};

/* The data and what is the same in all pages. ./translate --by-hand writes numbers and labels only (explain/byhand.c). */
function prepared(data) {
  if (data.queries) {
    const none = (text) => text.map(() => false);
    const tokens = (text) =>
      ({ text, joined: text, special: none(text), unknown: none(text), probability: text.map(() => null), word: [...text.keys()] });
    Object.assign(data, {
      source: data.model, vectors: true, sides: { query: tokens(data.queries), key: tokens(data.keys) },
      start: { kind: "by-hand", layer: 0, head: 0, heads: [...data.layer.keys()], query: data.query },
      kinds: [{ name: "by-hand", title: "Attention by hand", rows: "query", columns: "key", causal: data.causal, mask: data.mask,
        layers: [data.layer] }],
    });
  }
  for (const kind of data.kinds) Object.assign(kind, KINDS[kind.name]);
  return data;
}

let DATA = prepared(JSON.parse(document.getElementById("data").textContent));
const DARK = matchMedia("(prefers-color-scheme: dark)");

const state = {
  view: "heads",
  kind: DATA.kinds.findIndex((kind) => kind.name === DATA.start.kind),
  layer: DATA.start.layer,
  heads: new Set(DATA.start.heads),
  head: DATA.start.head,       // of the neuron view
  words: DATA.start.words,     // subwords joined
  hide: false,                 // special tokens left out
  chosen: null,                // {side: "rows" | "columns", at}: the word under the pointer
  pinned: false,
  query: DATA.start.query,     // of the neuron view
  dimension: 0,
};

/* Isolated, as a text from right to left beside the arrow would turn its direction. */
const toward = (from, to) => `\u2068${from}\u2069 → \u2068${to}\u2069`;

const kindNow = () => DATA.kinds[state.kind];

/* The words of a side, {text, special, unknown, probability (null: not known)}, and for each token the place of its word; -1 if it is hidden. */
function side(name) {
  const tokens = DATA.sides[name];
  const words = [], place = [];
  tokens.text.forEach((text, i) => {
    const same = state.words && i > 0 && tokens.word[i] === tokens.word[i - 1];
    if (!same) words.push({ text: state.words ? tokens.joined[tokens.word[i]] : text, special: tokens.special[i], unknown: false, probability: 1 });
    const word = words[words.length - 1], p = tokens.probability[i];
    word.unknown ||= tokens.unknown[i];
    word.probability = p === null ? null : word.probability * p;
    place.push(words.length - 1);
  });
  if (!state.hide) return { words, place };
  const kept = words.filter((word) => !word.special);
  return { words: kept, place: place.map((at) => kept.indexOf(words[at])) };
}

/* weights [rows][columns] of one head with joined and hidden tokens applied. */
function shown(weights, rows, columns) {
  const out = rows.words.map(() => new Array(columns.words.length).fill(0));
  const pieces = new Array(rows.words.length).fill(0);
  rows.place.forEach((row, i) => {
    if (row < 0) return;
    pieces[row] += 1;
    columns.place.forEach((column, j) => {
      if (column >= 0) out[row][column] += weights[i][j];
    });
  });
  out.forEach((row, i) => {
    const sum = state.hide ? row.reduce((a, b) => a + b, 0) : pieces[i];
    row.forEach((_, j) => { row[j] = sum > 0 ? row[j] / sum : 0; });
  });
  return out;
}

/* The map of each of these heads, and their mean. */
function maps(heads, kind = kindNow(), layer = state.layer) {
  const rows = side(kind.rows), columns = side(kind.columns);
  const each = heads.map((h) => shown(kind.layers[layer][h].weights, rows, columns));
  const mean = rows.words.map((_, i) => columns.words.map((_, j) =>
    each.reduce((sum, map) => sum + map[i][j], 0) / Math.max(each.length, 1)));
  return { rows: rows.words, columns: columns.words, heads, each, mean };
}

const NOT_KNOWN = "not in this model's vocabulary";
/* The class of a word, or of a token. */
const UNSURE = 0.5;  // a word of the translation with a lower probability is marked
const isKnown = (p) => p !== null && p !== undefined;
const wordClass = (word) => (word.special ? "special" : word.unknown ? "unknown" : isKnown(word.probability) && word.probability < UNSURE ? "unsure" : "");
const wordWithProbability = (word) => (isKnown(word.probability) ? `${word.text} (probability ${word.probability.toFixed(2)})` : word.text);
const wordTitle = (word) => (word.unknown ? `${word.text}: ${NOT_KNOWN}, the model reads <unk>` : wordWithProbability(word));

const chosenHeads = () => [...state.heads].sort((a, b) => a - b);

/* The entropy of the rows in bits, on average. */
function entropy(weights) {
  let bits = 0;
  for (const row of weights) for (const p of row) if (p > 0) bits -= p * Math.log2(p);
  return Math.max(bits / Math.max(weights.length, 1), 0);
}

/* ---- elements; text is never parsed as markup ---- */

function make(tag, properties = {}, ...children) {
  const element = tag === "svg" || tag === "path"
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/* A table that may be wider than the screen; the arrow keys scroll it. */
const scrollable = (name, table) => make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": name }, table);

const byId = (id) => document.getElementById(id);
const say = (text) => { byId("status").textContent = text; };
