/* neuron.js -- the neuron view: scaled dot-product attention of one word in one head.
 *
 *   q · k = Σ q_d k_d      ÷ √d      softmax over the keys that the causal mask allows
 *
 * A strip is a vector and a bar is one of its numbers: blue above 0, orange below, more opaque the
 * larger it is. */

const STRIP_HEIGHT = 16;
const number = (value, digits = 2) => value.toFixed(digits).replace("-", "\u2212");

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

/* For every key that the query may see: the products, their sum, the scaled score, the softmax. */
function attend(head, query, causal) {
  const q = head.q[query];
  const keys = head.k.slice(0, causal ? query + 1 : head.k.length).map((k) => {
    const products = k.map((value, d) => value * q[d]);
    const dot = products.reduce((a, b) => a + b, 0);
    return { k, products, dot, score: dot * DATA.scale };
  });
  const largest = Math.max(...keys.map((key) => key.score));
  const sum = keys.reduce((total, key) => total + Math.exp(key.score - largest), 0);
  for (const key of keys) key.probability = Math.exp(key.score - largest) / sum;
  return { q, keys };
}

const largestOf = (vectors) => Math.max(1e-9, ...vectors.flat().map(Math.abs));

/* Moving the pointer over a strip chooses the dimension. */
function strip(values, most, strips, update) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  strips.push(() => drawStrip(canvas, values, most));
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const d = Math.floor(((event.clientX - box.left) / box.width) * values.length);
    state.dimension = Math.max(0, Math.min(values.length - 1, d));
    update();
  });
  return make("td", { class: "strip" }, canvas);
}

function neuronRow(words, key, j, sizes, strips, update) {
  const cell = make("td", {}, "");
  strips.push(() => { cell.textContent = number(key.products[state.dimension]); });
  const width = `${Math.round(120 * key.probability)}px`;
  const bar = make("i", { style: { width, background: headColor(state.head) } });
  return make("tr", {},
    make("th", { scope: "row", class: words.special[j] ? "special" : "" }, words.text[j]),
    strip(key.k, sizes.k, strips, update), strip(key.products, sizes.products, strips, update), cell,
    make("td", {}, number(key.dot)), make("td", {}, number(key.score)),
    make("td", { class: "probability" }, make("span", { class: "meter" }, bar, key.probability.toFixed(3))));
}

function neuronTable(head, strips, update) {
  const kind = kindNow(), rows = DATA.sides[kind.rows], columns = DATA.sides[kind.columns];
  const { q, keys } = attend(head, state.query, kind.causal);
  const sizes = { q: largestOf([q]), k: largestOf(keys.map((key) => key.k)),
                  products: largestOf(keys.map((key) => key.products)) };
  const of = make("td", {}, "");
  strips.push(() => { of.textContent = number(q[state.dimension]); });
  const one = make("th", { scope: "col" }, "");
  strips.push(() => { one.textContent = `dimension ${state.dimension + 1}`; });
  const column = (text, left) => make("th", { scope: "col", class: left ? "strip" : "" }, text);
  const heading = make("tr", {}, column(""), column("key k", true), column("q × k", true), one,
    column("q · k (sum)"), column(`÷ √${DATA.size}`), column("softmax", true));
  const body = make("tbody", {},
    make("tr", { class: "query" }, make("th", { scope: "row" }, rows.text[state.query]),
      strip(q, sizes.q, strips, update),
      make("td", { class: "strip quiet" }, "the query q, the same for all keys"), of,
      make("td"), make("td"), make("td")),
    ...keys.map((key, j) => neuronRow(columns, key, j, sizes, strips, update)));
  const most = keys.reduce((best, key, j) => (key.probability > keys[best].probability ? j : best), 0);
  say(`${rows.text[state.query]} attends most to ${columns.text[most]}, ${keys[most].probability.toFixed(2)}`);
  return make("table", { class: "neuron" },
    make("caption", { class: "sr" }, `Query of ${rows.text[state.query]} and every key it may see`),
    make("thead", {}, heading), body);
}

function showNeuron(panel) {
  const kind = kindNow(), rows = DATA.sides[kind.rows], head = kind.layers[state.layer][state.head];
  state.query = Math.min(state.query, rows.text.length - 1);
  state.dimension = Math.min(state.dimension, DATA.size - 1);
  const strips = [];
  const range = make("input", { type: "range", min: 1, max: DATA.size, step: 1 });
  const update = () => {
    range.value = state.dimension + 1;
    strips.forEach((draw) => draw());
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
      make("label", {}, "dimension ", range)),
    make("div", { class: "scroll" }, neuronTable(head, strips, update)));
  update();
}
