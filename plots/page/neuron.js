/* neuron.js -- the neuron view: the attention of one word in one head.
 *
 *   1   q · k = Σ q_d k_d      scaled      softmax over the keys that the causal mask allows
 *       (or another comparison that is a sum of terms, one a dimension)
 *   2   o = Σ softmax_j v_j
 *   3   the gradients do, dv, dP, dS, dk and dq, only with --backward
 *
 * A strip is a vector and a bar is one of its numbers: blue above 0, orange below, more opaque the
 * larger it is. A column's heading says which number is fully opaque. */

const STRIP_HEIGHT = 16;
const number = (value) => value.toFixed(2).replace(/^-(?!0\.00)/, "\u2212").replace("-", "");

function drawStrip(canvas, values, most) {
  const bar = Math.max(3, Math.min(7, Math.floor(260 / values.length)));
  canvas.width = bar * values.length;
  canvas.height = STRIP_HEIGHT;
  canvas.style.width = `${canvas.width}px`;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const colors = [style.getPropertyValue("--negative"), style.getPropertyValue("--positive")];
  pen.fillStyle = style.getPropertyValue("--panel");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  values.forEach((value, d) => {
    pen.globalAlpha = Math.min(1, Math.abs(value) / most);
    pen.fillStyle = colors[value > 0 ? 1 : 0];
    pen.fillRect(d * bar, 0, bar, canvas.height);
  });
  pen.globalAlpha = 1;
  pen.strokeStyle = style.getPropertyValue("--ink");
  pen.lineWidth = 1;
  pen.strokeRect(state.dimension * bar + 0.5, 0.5, bar - 1, canvas.height - 1);
}

/* The terms of each comparison of model/scorefunction.c, and what a column of them is called. */
const lengthOf = (x) => Math.sqrt(x.reduce((sum, value) => sum + value * value, 1e-5));
const COMPARISONS = {
  "q·k": { name: "q × k", terms: (q, k) => k.map((value, d) => value * q[d]) },
  "cos(q,k)": { name: "q × k ÷ lengths", terms: (q, k) => k.map((value, d) => value * q[d] / (lengthOf(q) * lengthOf(k))) },
  "-‖q-k‖₁": { name: "−|q − k|", terms: (q, k) => k.map((value, d) => -Math.abs(q[d] - value)) },
};
const comparison = COMPARISONS[DATA.comparison];

/* What one head computes for one query: for every key that the causal mask allows, the terms
 * of the comparison, their sum, the scaled score, the softmax, and the value weighted with it; and the output. */
function attend(head, query, causal) {
  const q = head.q[query];
  const keys = head.k.slice(0, causal ? query + 1 : head.k.length).map((k, j) => {
    const terms = comparison.terms(q, k);
    const sum = terms.reduce((a, b) => a + b, 0);
    return { k, v: head.v[j], terms, sum, score: sum * head.scale };
  });
  const largest = Math.max(...keys.map((key) => key.score));
  const sum = keys.reduce((total, key) => total + Math.exp(key.score - largest), 0);
  for (const key of keys) {
    key.probability = Math.exp(key.score - largest) / sum;
    key.weighted = key.v.map((value) => key.probability * value);
  }
  const output = q.map((_, d) => keys.reduce((total, key) => total + key.weighted[d], 0));
  return { q, keys, output };
}

const largestOf = (vectors) => Math.max(1e-9, ...vectors.flat().map(Math.abs));

/* Moving the pointer over a strip chooses the dimension. `draw` are the functions that redraw
 * what depends on it. */
function strip(values, most, { draw, update }) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  draw.push(() => drawStrip(canvas, values, most));
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const d = Math.floor(((event.clientX - box.left) / box.width) * values.length);
    state.dimension = Math.max(0, Math.min(values.length - 1, d));
    update();
  });
  return make("td", { class: "strip" }, canvas);
}

/* The number of the chosen dimension. */
function chosenNumber(values, { draw }) {
  const cell = make("td", {}, "");
  draw.push(() => { cell.textContent = number(values[state.dimension]); });
  return cell;
}

function meter(probability) {
  const width = `${Math.round(120 * probability)}px`;
  const bar = make("i", { style: { width, background: headColor(state.head) } });
  return make("td", { class: "probability" }, make("span", { class: "meter" }, bar, probability.toFixed(3)));
}

const columnHead = (text, left) => make("th", { scope: "col", class: left ? "strip" : "" }, text);
const rowHead = (words, j) => make("th", { scope: "row", class: wordClass({ special: words.special[j], unknown: words.unknown[j] }) }, words.text[j]);
const scaleOf = (text, most) => columnHead(`${text} (±${number(most)})`, true);

function dimensionHead({ draw }) {
  const head = columnHead("");
  draw.push(() => { head.textContent = `dimension ${state.dimension + 1}`; });
  return head;
}

function stepTable(text, heading, rows) {
  return make("table", { class: "neuron" }, make("caption", {}, text),
    make("thead", {}, make("tr", {}, ...heading)), make("tbody", {}, ...rows));
}

/* Step 1: the query and each key give the attention weights. */
function weightTable({ q, keys }, word, columns, live) {
  const k = largestOf(keys.map((key) => key.k)), terms = largestOf(keys.map((key) => key.terms));
  const query = make("tr", { class: "query" }, make("th", { scope: "row" }, word), strip(q, largestOf([q]), live),
    make("td", { class: "strip quiet" }, "the query q, the same for all keys"), chosenNumber(q, live),
    make("td"), make("td"), make("td"));
  const rows = keys.map((key, j) => make("tr", {}, rowHead(columns, j), strip(key.k, k, live),
    strip(key.terms, terms, live), chosenNumber(key.terms, live), make("td", {}, number(key.sum)),
    make("td", {}, number(key.score)), meter(key.probability)));
  return stepTable("1  The query and the keys give the attention weights",
    [columnHead(""), scaleOf("key k", k), scaleOf(comparison.name, terms), dimensionHead(live),
     columnHead(`${DATA.comparison} (sum)`), columnHead(DATA.score), columnHead("softmax", true)], [query, ...rows]);
}

/* Step 2: the weights and each value give the output. */
function outputTable({ keys, output }, word, columns, live) {
  const v = largestOf(keys.map((key) => key.v)), weighted = largestOf([output, ...keys.map((key) => key.weighted)]);
  const rows = keys.map((key, j) => make("tr", {}, rowHead(columns, j), meter(key.probability),
    strip(key.v, v, live), strip(key.weighted, weighted, live), chosenNumber(key.weighted, live)));
  const sum = make("tr", { class: "query" }, make("th", { scope: "row" }, word),
    make("td", { class: "strip quiet" }, "the output o"), make("td", { class: "strip quiet" }, "the sum of this column:"),
    strip(output, weighted, live), chosenNumber(output, live));
  return stepTable("2  The weights and the values give the output",
    [columnHead(""), columnHead("attention weight", true), scaleOf("value v", v), scaleOf("weight × v", weighted),
     dimensionHead(live)], [...rows, sum]);
}

/* A function that writes numbers of these vectors in units of a power of ten, and its name. */
function unitOf(vectors) {
  const power = Math.floor(Math.log10(Math.max(1e-30, ...vectors.flat().map(Math.abs))));
  return { text: (value) => number(value / 10 ** power), name: ` × 1e${power}` };
}

/* Step 3: the gradients of the loss. Those of keys and values are sums over all queries. */
function gradientTable(head, { keys }, word, columns, live) {
  const dP = head.dP[state.query].slice(0, keys.length), dS = head.dS[state.query].slice(0, keys.length);
  const [unitP, unitS] = [dP, dS].map((row) => unitOf([row]));
  const most = { v: largestOf([head.do[state.query], ...head.dv]), k: largestOf([head.dq[state.query], ...head.dk]) };
  const signed = (value, unit) => make("td", { style: { color: `var(--${value < 0 ? "negative" : "positive"})` } }, unit.text(value));
  const rows = keys.map((key, j) => make("tr", {}, rowHead(columns, j), strip(head.dv[j], most.v, live), meter(key.probability),
    signed(dP[j], unitP), signed(dS[j], unitS), strip(head.dk[j], most.k, live)));
  const query = make("tr", { class: "query" }, make("th", { scope: "row" }, word), strip(head.do[state.query], most.v, live),
    make("td", { class: "quiet strip" }, "← do, from the loss"), make("td"), make("td", { class: "quiet" }, "dq →"),
    strip(head.dq[state.query], most.k, live));
  return stepTable("3  Back from the loss: the gradients of output o, values, weights, scores, keys and query q",
    [columnHead(""), columnHead(`dv (±${most.v.toExponential(1)})`, true), columnHead("attention weight P", true),
     columnHead(`dP = do · v${unitP.name}`), columnHead(`dS = P (dP − Σ P dP)${unitS.name}`),
     columnHead(`dk (±${most.k.toExponential(1)})`, true)], [query, ...rows]);
}

function strips(head, live) {
  const kind = kindNow(), word = DATA.sides[kind.rows].text[state.query], columns = DATA.sides[kind.columns];
  const all = attend(head, state.query, kind.causal);
  const most = all.keys.reduce((best, key) => (key.probability > best.probability ? key : best));
  const name = columns.text[all.keys.indexOf(most)];
  say(`${word} attends most to ${name}, ${most.probability.toFixed(2)}`);
  return [weightTable(all, word, columns, live), outputTable(all, word, columns, live),
    ...(DATA.backward ? [gradientTable(head, all, word, columns, live)] : [])];
}

const legend = () => make("span", { class: "legend quiet" }, "negative ", make("i", { "aria-hidden": "true" }), " positive");

function showNeuron(panel) {
  const kind = kindNow(), rows = DATA.sides[kind.rows], head = kind.layers[state.layer][state.head];
  state.query = Math.min(state.query, rows.text.length - 1);
  state.dimension = Math.min(state.dimension, DATA.size - 1);
  const range = make("input", { type: "range", min: 1, max: DATA.size, step: 1 });
  const live = {
    draw: [],
    update: () => {
      range.value = state.dimension + 1;
      live.draw.forEach((draw) => draw());
    },
  };
  range.addEventListener("input", () => { state.dimension = range.value - 1; live.update(); });
  const select = make("select", { id: "query" }, ...rows.text.map((text, i) =>
    make("option", { value: i, selected: i === state.query }, `${i + 1}  ${text}`)));
  select.addEventListener("change", () => {
    state.query = Number(select.value);
    showNeuron(panel);
    byId("query").focus();
  });
  panel.replaceChildren(
    make("div", { class: "neuron-controls" }, make("label", {}, `${kind.row_is} `, select),
      make("label", {}, "dimension ", range), legend()),
    ...strips(head, live).map((table) => make("div", { class: "scroll" }, table)));
  live.update();
}
