/* heads.js -- the head view: lines from each word to the words it attends to. A head has a colour; a
 * line is the stronger the larger its attention weight. A word under the pointer or in focus shows only
 * its own lines. */

const OTHER = { rows: "columns", columns: "rows" };
const MOST_LINES = 6000;  // more cannot be told apart and are slow to draw

/* [{i, j, n (index of the head), weight}], at most MOST_LINES, the strongest last. */
function linesOf(map, chosen) {
  const lines = [];
  const least = chosen ? 0.005 : Math.min(0.03, Math.max(0.01, 0.9 / map.columns.length));
  map.each.forEach((weights, n) => weights.forEach((row, i) => row.forEach((weight, j) => {
    const other = chosen && chosen.at !== (chosen.side === "rows" ? i : j);
    if (weight >= least && !other) lines.push({ i, j, n, weight });
  })));
  lines.sort((a, b) => b.weight - a.weight);
  return lines.slice(0, MOST_LINES).reverse();
}

function drawLines(svg, map, step) {
  const width = 400, count = map.heads.length;
  const height = step * Math.max(map.rows.length, map.columns.length);
  const apart = Math.min(2.6, (step - 8) / Math.max(count, 1));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = `${height}px`;
  svg.replaceChildren();
  for (const { i, j, n, weight } of linesOf(map, state.chosen)) {
    const shift = (n - (count - 1) / 2) * apart;
    const from = (i + 0.5) * step + shift, to = (j + 0.5) * step + shift;
    svg.append(make("path", {
      d: `M0 ${from}C${width * 0.4} ${from} ${width * 0.6} ${to} ${width} ${to}`, "vector-effect": "non-scaling-stroke",
      style: { stroke: headColor(map.heads[n]), "stroke-width": 0.8 + 1.7 * weight,
        opacity: Math.min(1, 0.04 + (state.chosen ? 1.1 : 0.9) * weight) },
    }));
  }
}

/* For each word opposite the chosen one the weights [heads] between the two, and their mean. */
function opposite(map) {
  const { side: from, at } = state.chosen;
  const between = (weights, k) => (from === "rows" ? weights[at][k] : weights[k][at]);
  return map[OTHER[from]].map((word, k) =>
    ({ word, mean: between(map.mean, k), each: map.each.map((weights) => between(weights, k)) }));
}

function readout(map) {
  if (!state.chosen) return "Point at a word, or move to it with the keys, to see only its lines.";
  const { side: from, at } = state.chosen;
  const name = wordWithProbability(map[from][at]);
  const most = opposite(map).filter((o) => o.mean >= 0.005).sort((a, b) => b.mean - a.mean).slice(0, 6);
  const list = most.map((o) => `${o.word.text} ${o.mean.toFixed(2)}`).join(", ") || "nothing";
  const of = map.heads.length === 1 ? `head ${map.heads[0] + 1}` : `mean of ${map.heads.length} heads`;
  return `${name} ${from === "rows" ? "attends to" : "is attended to by"}: ${list} (${of})`;
}

/* Redraws what depends on the chosen word. The buttons are kept, and so is the focus. */
function choose(view, chosen, pinned) {
  if (state.pinned && !pinned && chosen !== "free") return;
  state.chosen = chosen === "free" ? null : chosen;
  state.pinned = Boolean(pinned) && state.chosen !== null;
  const { map } = view, from = state.chosen;
  drawLines(view.svg, map, view.step);
  for (const name of ["rows", "columns"])
    view[name].forEach(({ button, share }, at) => {
      const on = from?.side === name && from.at === at, pressed = on && state.pinned;
      button.classList.toggle("on", on);
      button.classList.toggle("pinned", pressed);
      button.setAttribute("aria-pressed", String(pressed));
      share.replaceChildren();
    });
  if (from)
    opposite(map).forEach((o, k) => {
      if (o.mean < 0.005) return;
      const marks = o.each.map((weight, n) =>
        make("i", { style: { background: headColor(map.heads[n]), opacity: 0.06 + 0.94 * weight } }));
      view[OTHER[from.side]][k].share.append(make("b", {}, o.mean.toFixed(2)), ...marks);
    });
  view.readout.textContent = readout(map);
  if (from) say(view.readout.textContent);
}

/* The words of one side as a list of buttons; only one of them is reached with Tab. */
function wordList(view, name, words) {
  const list = make("ul", { class: "words" });
  view[name] = words.map((word, at) => {
    const here = { side: name, at };
    const share = make("span", { class: "share", "aria-hidden": "true" });
    const button = make("button", {
      class: wordClass(word), tabindex: at === 0 ? 0 : -1, title: wordTitle(word), "aria-pressed": "false",
      onmouseenter: () => choose(view, here),
      onmouseleave: () => choose(view, null),
      onfocus: () => choose(view, here),
      onblur: () => choose(view, null),
      onclick: () => {
        const pin = button.getAttribute("aria-pressed") === "false";
        choose(view, "free");
        choose(view, here, pin);
      },
    }, word.text);
    list.append(name === "rows" ? make("li", {}, share, button) : make("li", {}, button, share));
    return { button, share };
  });
  list.addEventListener("keydown", (event) => moveFocus(view, name, event));
  return list;
}

function moveFocus(view, name, event) {
  const buttons = view[name].map((word) => word.button);
  const at = buttons.indexOf(document.activeElement);
  const other = view[OTHER[name]].map((word) => word.button);
  const to = {
    ArrowDown: buttons[Math.min(at + 1, buttons.length - 1)],
    ArrowUp: buttons[Math.max(at - 1, 0)],
    Home: buttons[0],
    End: buttons[buttons.length - 1],
    [name === "rows" ? "ArrowRight" : "ArrowLeft"]: other[Math.min(at, other.length - 1)],
  }[event.key];
  if (event.key === "Escape") choose(view, "free");
  if (!to || at < 0) return;
  event.preventDefault();
  buttons[at].tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

function showHeads(panel) {
  const kind = kindNow(), map = maps(chosenHeads());
  const count = Math.max(map.rows.length, map.columns.length);
  const step = count > 60 ? 20 : count > 30 ? 24 : 30;
  const view = { map, step, svg: make("svg", { "aria-hidden": "true", preserveAspectRatio: "none" }), readout: make("p", { class: "readout" }) };
  const left = make("div", { class: "left" }, make("h2", {}, kind.row_is), wordList(view, "rows", map.rows));
  const right = make("div", {}, make("h2", {}, kind.column_is), wordList(view, "columns", map.columns));
  const middle = make("div", {}, make("h2", { "aria-hidden": "true" }, "\u00a0"), view.svg);
  const lines = make("div", {
    class: "lines", style: { "--step": `${step}px`, "--word": `${step > 24 ? 15 : step > 20 ? 13 : 12}px` },
  }, left, middle, right);
  const names = map.heads.map((h) => h + 1).join(", ");
  const table = make("details", {}, make("summary", {}, "The same as a table"));
  const fill = () => {
    if (!table.open || table.querySelector("table")) return;
    const description = `Mean of heads ${names} of layer ${state.layer + 1}`;
    table.append(scrollable(description, heatTable(map, description)));
  };
  table.open = panel.querySelector("details")?.open;
  table.addEventListener("toggle", fill);
  fill();
  panel.replaceChildren(view.readout, make("div", { class: "scroll" }, lines), table);
  choose(view, state.chosen && view[state.chosen.side][state.chosen.at] ? state.chosen : "free", state.pinned);
}
