/* neuron.js -- the neuron view: the attention of one word in one head.
 *
 *   1   q · k = Σ q_d k_d      scaled      softmax over the keys that the causal mask allows
 *       (or another comparison that is a sum of terms, one a dimension)
 *   2   o = Σ softmax_j v_j
 *   3   the gradients do, dv, dP, dS, dk and dq, only with --backward
 *
 * A strip is a vector and a bar (drawBars) is one of its numbers. A column's heading says which number is fully
 * opaque. */

const STRIP_HEIGHT = 16;
const number = (value, digits = 2) =>
  value.toFixed(digits).replace(/^-(?!0\.0*$)/, "\u2212").replace("-", "").replace("Infinity", "∞");

function drawStrip(canvas, values, most) {
  const bar = Math.max(3, Math.min(7, Math.floor(260 / values.length)));
  const pen = penOf(canvas, bar * values.length, STRIP_HEIGHT);
  canvas.style.width = `${canvas.width}px`;
  pen.fillStyle = variable("--panel");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  drawBars(pen, values, values.length, bar, STRIP_HEIGHT, most);
  pen.strokeStyle = variable("--ink");
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
const comparisonNow = () => COMPARISONS[DATA.comparison];

/* What one head computes for one query: for every key that the causal mask allows (and another, of --by-hand), the terms
 * of the comparison, their sum, the scaled score, the softmax, and the value weighted with it; and the output. */
function attend(head, query, causal, mask) {
  const q = head.q[query];
  const keys = head.k.slice(0, causal ? query + 1 : head.k.length).map((k, j) => {
    const terms = comparisonNow().terms(q, k);
    const sum = terms.reduce((a, b) => a + b, 0);
    return { k, v: head.v[j], terms, sum, score: mask?.[query][j] === 0 ? -Infinity : sum * head.scale };
  });
  const largest = Math.max(...keys.map((key) => key.score));
  const sum = keys.reduce((total, key) => total + Math.exp(key.score - largest), 0);
  for (const key of keys) {
    key.probability = Math.exp(key.score - largest) / sum;
    key.weighted = key.v.map((value) => key.probability * value);
  }
  const output = head.v[0].map((_, d) => keys.reduce((total, key) => total + key.weighted[d], 0));
  return { q, keys, output };
}

const largestOf = (vectors) => vectors.flat().reduce((most, x) => Math.max(most, Math.abs(x)), 1e-9);

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

/* A cell or heading with a text of the chosen dimension. */
function live(element, text, { draw }) {
  draw.push(() => { element.textContent = text(state.dimension); });
  return element;
}

/* ---- the columns of a table: a heading, a cell for each key, and one in the row of the query ---- */

const columnHead = (text, left) => make("th", { scope: "col", class: left ? "strip" : "" }, text);

/* values: of the keys. query: a value as these, a note, or nothing. */
function column(name, values, query, cell, left) {
  const note = make("td", { class: left ? "quiet strip" : "quiet" }, query);
  return { head: columnHead(name, left), cells: values.map(cell), query: Array.isArray(query) ? cell(query) : note };
}

function strips(name, vectors, query, view, text = number) {
  const most = largestOf(Array.isArray(query) ? [...vectors, query] : vectors);
  return column(`${name} (±${text(most)})`, vectors, query, (x) => strip(x, most, view), true);
}

const numbers = (name, values) => column(name, values, null, (value) => make("td", {}, number(value)));

const chosenNumbers = (vectors, query, view) => ({
  ...column("", vectors, query, (x) => live(make("td"), (d) => (d < x.length ? number(x[d]) : ""), view)),
  head: live(columnHead(""), (d) => `dimension ${d + 1}`, view) });

const meters = (name, keys, query) => column(name, keys, query, ({ probability: p }) => {
  const bar = make("i", { style: { width: `${Math.round(120 * p)}px`, background: headColor(state.head) } });
  return make("td", { class: "probability" }, make("span", { class: "meter" }, bar, p.toFixed(3)));
}, true);

/* In units of a power of ten. */
function gradients(name, values, query) {
  const power = Math.floor(Math.log10(Math.max(1e-30, ...values.map(Math.abs))));
  return column(power ? `${name} × 1e${power}` : name, values, query, (value) => make("td",
    { style: { color: `var(--${value < 0 ? "negative" : "positive"})` } }, number(value / 10 ** power)));
}

/* ---- the steps; sum: the row of the query is the last one, a sum. The gradients of keys and values are sums over all queries ---- */

function forwardSteps({ q, keys, output }, view) {
  const of = (name) => keys.map((key) => key[name]);
  return [{ title: "1  The query and the keys give the attention weights", columns: [
    strips("key k", of("k"), q, view), strips(comparisonNow().name, of("terms"), "the query q, the same for all keys", view),
    chosenNumbers(of("terms"), q, view), numbers(`${DATA.comparison} (sum)`, of("sum")), numbers(DATA.score, of("score")),
    meters("softmax", keys)] },
  { title: "2  The weights and the values give the output", sum: true, columns: [
    meters("attention weight", keys, "the output o"), strips("value v", of("v"), "the sum of this column:", view),
    strips("weight × v", of("weighted"), output, view), chosenNumbers(of("weighted"), output, view)] }];
}

function backwardSteps(head, keys, view) {
  const small = (value) => value.toExponential(1), [dO, dq, dP, dS] = ["do", "dq", "dP", "dS"].map((name) => head[name][state.query]);
  return [{ title: "3  Back from the loss: the gradients of output o, values, weights, scores, keys and query q", columns: [
    strips("dv", head.dv.slice(0, keys.length), dO, view, small), meters("attention weight P", keys, "← do, from the loss"),
    gradients("dP = do · v", dP.slice(0, keys.length)), gradients("dS = P (dP − Σ P dP)", dS.slice(0, keys.length), "dq →"),
    strips("dk", head.dk.slice(0, keys.length), dq, view, small)] }];
}

function stepTable({ title, columns, sum }, word, words) {
  const row = (name, part, rest) => make("tr", rest, name, ...columns.map(part));
  const rows = columns[0].cells.map((_, j) => row(make("th",
    { scope: "row", class: wordClass({ special: words.special[j], unknown: words.unknown[j] }) }, words.text[j]), ({ cells }) => cells[j]));
  const query = row(make("th", { scope: "row" }, word), (column) => column.query, { class: "query" });
  return make("table", { class: "neuron" }, make("caption", {}, title),
    make("thead", {}, row(columnHead(""), ({ head }) => head)), make("tbody", {}, ...(sum ? [...rows, query] : [query, ...rows])));
}

function steps(head, view) {
  const kind = kindNow(), word = DATA.sides[kind.rows].text[state.query], words = DATA.sides[kind.columns];
  const all = attend(head, state.query, kind.causal, kind.mask);
  const most = all.keys.reduce((best, key) => (key.probability > best.probability ? key : best));
  say(`${word} attends most to ${words.text[all.keys.indexOf(most)]}, ${most.probability.toFixed(2)}`);
  return [...forwardSteps(all, view), ...(DATA.backward ? backwardSteps(head, all.keys, view) : [])]
    .map((step) => stepTable(step, word, words));
}

const legend = () => make("span", { class: "legend quiet" }, "negative ", make("i", { "aria-hidden": "true" }), " positive");

function showNeuron(panel) {
  const kind = kindNow(), rows = DATA.sides[kind.rows], head = kind.layers[state.layer][state.head];
  state.query = Math.min(state.query, rows.text.length - 1);
  const most = Math.max(DATA.size, head.v[0].length);
  state.dimension = Math.min(state.dimension, most - 1);
  const range = make("input", { type: "range", min: 1, max: most, step: 1 });
  const draw = [];
  const update = () => {
    range.value = state.dimension + 1;
    draw.forEach((redraw) => redraw());
  };
  range.addEventListener("input", () => { state.dimension = range.value - 1; update(); });
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
    ...steps(head, { draw, update }).map((table) => scrollable(table.caption.textContent, table)));
  update();
}
