/* model.js -- the model view: a thumbnail for every layer and head of one kind of attention. */

function openLarge(layer, head) {
  state.layer = layer;
  const map = maps([head]);
  const name = `${kindNow().title}, layer ${layer + 1}, head ${head + 1}`;
  byId("large-title").textContent = name;
  byId("large-map").replaceChildren(heatTable(map, `${name}: ${kindNow().caption}`));
  byId("large-open").onclick = () => {
    byId("large").close();
    state.heads = new Set([head]);
    state.view = "heads";
    render();
    byId("tab-heads").focus();
  };
  byId("large").showModal();
  hintScrolling();
}

function showModel(panel) {
  const kind = kindNow(), rows = side(kind.rows), columns = side(kind.columns);
  const grid = make("div", { class: "grid", style: { "--columns": DATA.heads } });
  kind.layers.forEach((heads, l) => heads.forEach((head, h) => {
    const weights = shown(head.weights, rows, columns);
    const best = kind.name === "cross" && l === DATA.best.layer && h === DATA.best.head;
    const words = `layer ${l + 1} · head ${h + 1}`;
    const note = `entropy ${entropy(weights).toFixed(2)} bits${best ? " · best alignment" : ""}`;
    const canvas = make("canvas", { "aria-hidden": "true" });
    drawThumbnail(canvas, weights, columns.words);
    grid.append(make("button", { class: best ? "best" : "", onclick: () => openLarge(l, h) },
      make("span", {}, words), canvas, make("span", { class: "quiet" }, note)));
  }));
  grid.addEventListener("keydown", (event) => {
    const all = [...grid.children], at = all.indexOf(document.activeElement);
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -DATA.heads, ArrowDown: DATA.heads }[event.key];
    if (by === undefined || !all[at + by]) return;
    event.preventDefault();
    all[at + by].focus();
  });
  panel.replaceChildren(colorBar(), grid);
}
