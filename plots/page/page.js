/* page.js -- tabs, controls and colours; render() redraws everything from `state`. */

const views = { heads: showHeads, model: showModel, neuron: showNeuron };
const purposes = {
  heads: "To read one layer: a line from each word to the words that it attends to.",
  model: "For an overview: the maps of all layers and heads. Choose one to enlarge it.",
  neuron: "To follow one weight: the query, the keys and the values of a word in one head, number by number.",
};

/* A row of radio buttons or check boxes; `items` are {text, value, checked, color}. */
function choices(id, type, items, change) {
  const box = byId(id).querySelector(".choices");
  const focused = box.contains(document.activeElement) ? document.activeElement.value : null;
  box.replaceChildren(...items.map(({ text, value, checked, color }) => {
    const input = make("input", { type, name: id, value, onchange: () => change(value, input.checked) });
    input.checked = checked;
    const swatch = color && make("i", { class: "swatch", style: { background: color } });
    return make("label", { class: "choice" }, input, make("span", {}, swatch, text));
  }));
  const again = [...box.querySelectorAll("input")].find((input) => input.value === focused);
  if (again) again.focus({ preventScroll: true });
}

function chooseHead(h, on) {
  if (state.view === "neuron") state.head = h;
  else if (on) state.heads.add(h);
  else state.heads.delete(h);
  if (state.heads.size === 0) state.heads.add(h);
  render();
}

function drawControls() {
  const kind = kindNow(), neuron = state.view === "neuron";
  const restart = (change) => { Object.assign(state, change, { chosen: null, pinned: false }); render(); };
  const radio = (text, value, now) => ({ text, value, checked: value === now });
  choices("kinds", "radio", DATA.kinds.map((k, i) => radio(k.short, i, state.kind)),
    (value) => restart({ kind: value }));
  choices("layers", "radio", kind.layers.map((_, l) => radio(`${l + 1}`, l, state.layer)),
    (value) => { state.layer = value; render(); });
  choices("choose-heads", neuron ? "radio" : "checkbox", Array.from({ length: DATA.heads }, (_, h) => ({
    text: `${h + 1}`, value: h, checked: neuron ? h === state.head : state.heads.has(h), color: headColor(h),
  })), chooseHead);
  const extras = [{ text: "</s> and <pad>", value: "hide", checked: !state.hide }];
  if (DATA.pieces) extras.push({ text: "whole words", value: "words", checked: state.words });
  choices("extras", "checkbox", extras, (name, on) => restart({ [name]: name === "hide" ? !on : on }));
  byId("layers").hidden = byId("choose-heads").hidden = state.view === "model";
  byId("extras").hidden = neuron || Boolean(DATA.queries);
}

/* The share of the words' attention that special tokens receive. The first row of the decoder is
 * left out: it sees nothing else. */
function specialShare(kind) {
  const special = DATA.sides[kind.columns].special, other = DATA.sides[kind.rows].special;
  let share = 0, rows = 0;
  for (const h of chosenHeads())
    kind.layers[state.layer][h].weights.forEach((row, i) => {
      if (other[i] || (kind.causal && i === 0)) return;
      row.forEach((value, j) => { if (special[j]) share += value; });
      rows += 1;
    });
  return share / Math.max(rows, 1);
}

function caption() {
  const kind = kindNow(), token = kind.columns === "read" ? "<pad>" : "</s>";
  const unsure = side(kind.rows).words.some((word) => wordClass(word) === "unsure");
  const text = kind.caption + (unsure ? ` Wavy line: a word whose probability is below ${UNSURE}.` : "");
  if (state.view === "model" || (state.view === "heads" && DATA.queries)) return text;
  if (state.view === "neuron")
    return `The query q of the word and the key k of each word are compared number by number, and the terms are added. ` +
           `The score is ${DATA.score}${DATA.comparison === "q·k" ? `, with d_k = ${DATA.size}` : ""}. The softmax turns the scores ` +
           `into attention weights, which sum to 1. The head's output is the sum of the values v, each ` +
           `multiplied by its weight.`;
  const percent = `${Math.round(100 * specialShare(kind))}\u00a0%`;
  return state.hide
    ? `${text} ${token} is left out; the words gave it ${percent}. The remaining weights of a row are rescaled to sum to 1.`
    : `${text} The words give ${token}, in grey, ${percent}: a head that finds nothing to attend to puts its weight there.`;
}

/* Draws a panel again. Focus and scrolling stay where they were. */
function redraw(panel, show) {
  const boxes = () => [...panel.querySelectorAll(".scroll, .grid")];
  const path = [], scrolled = boxes().map((box) => box.scrollLeft);
  for (let at = document.activeElement; panel.contains(at) && at !== panel; at = at.parentNode)
    path.unshift([...at.parentNode.children].indexOf(at));
  show(panel);
  boxes().forEach((box, i) => { box.scrollLeft = scrolled[i] || 0; });
  if (path.length > 0) path.reduce((at, i) => at?.children[i], panel)?.focus({ preventScroll: true });
}

function render() {
  state.layer = Math.min(state.layer, kindNow().layers.length - 1);
  drawControls();
  byId("purpose").textContent = purposes[state.view];
  byId("caption").textContent = caption();
  for (const tab of byId("views").children) {
    const on = tab.dataset.view === state.view;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
  }
  for (const [name, show] of Object.entries(views)) {
    byId(name).hidden = name !== state.view;
    if (name === state.view) redraw(byId(name), show);
    else byId(name).replaceChildren();
  }
}

/* A box that is wider than the screen says so; see .more in page.css. */
function hintScrolling() {
  for (const box of document.querySelectorAll(".scroll, .grid"))
    box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
}

function selectTab(tab) {
  if (!tab || tab.disabled) return;
  state.view = tab.dataset.view;
  render();
  tab.focus();
}

byId("views").addEventListener("click", (event) => selectTab(event.target.closest("[role=tab]")));
byId("views").addEventListener("keydown", (event) => {
  const tabs = [...byId("views").children].filter((tab) => !tab.disabled);
  const at = tabs.indexOf(document.activeElement), last = tabs.length - 1;
  const before = at > 0 ? at - 1 : last, behind = at < last ? at + 1 : 0;
  const to = { ArrowLeft: before, ArrowRight: behind, Home: 0, End: last }[event.key];
  if (to !== undefined) selectTab(tabs[to]);
});

function applyTheme() {
  const choice = byId("theme").value;
  document.documentElement.dataset.theme = choice !== "auto" ? choice : DARK.matches ? "dark" : "light";
  render();
}

new ResizeObserver(() => requestAnimationFrame(hintScrolling)).observe(document.body);
document.addEventListener("scroll", hintScrolling, true);

/* The texts around the views. */
function describe() {
  const pair = DATA.queries ? DATA.source : toward(DATA.source, DATA.target);
  document.title = `Attention: ${pair}`;
  byId("title").textContent = pair;
  byId("title").classList.toggle("long", pair.length > 120);
  const unknown = Object.values(DATA.sides).some((tokens) => tokens.unknown.includes(true));
  byId("subtitle").textContent =
    (DATA.queries ? "Attention by hand" : `Attention weights, for the ${DATA.given ? "given" : "model's"} translation`) +
    (unknown ? `. Underlined: ${NOT_KNOWN}` : "");
  byId("made").textContent =
    `Drawn by qkv from ${DATA.model}: ${DATA.heads} head${DATA.heads === 1 ? "" : "s"}, vectors of ${DATA.size} numbers a head.`;
  const tab = byId("tab-neuron");
  tab.disabled = !DATA.vectors || !comparisonNow();
  tab.title = !comparisonNow() ? `Disabled: this page cannot show ${DATA.comparison}` :
    tab.disabled ? "Disabled: these sentences have too many vectors for a page" : "";
  if (tab.disabled && state.view === "neuron") state.view = "heads";
}

/* Shows other data. The views keep what was chosen, except the word. */
function showData(data) {
  const { heads, source } = DATA;
  if (data.source !== source) Object.assign(state, { chosen: null, pinned: false });
  DATA = prepared(data);
  if (DATA.heads !== heads) Object.assign(state, { heads: new Set(DATA.start.heads), head: 0 });
  describe();
  render();
}

describe();
byId("theme").addEventListener("change", applyTheme);
DARK.addEventListener("change", applyTheme);
applyTheme();
