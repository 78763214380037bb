/* page-checks.js -- put behind the page's own scripts by tests/page.sh: uses the page as people
 * do, with pointer and keys, and writes "ok NAME" or "not ok NAME: why" lines into #checks. */
const results = [];
const check = (name, good, why = "") => results.push(good ? `ok ${name}` : `not ok ${name}: ${why}`);
const all = (selector) => [...document.querySelectorAll(selector)];
const opacity = () => all("#heads path").reduce((sum, path) => sum + Number(path.style.opacity), 0);
const press = (element, key) =>
  element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const point = (element, type) => element.dispatchEvent(new MouseEvent(type));
const input = (id, at) => byId(id).querySelectorAll("input")[at];
const readoutText = () => document.querySelector(".readout").textContent;

function checks() {
  const hostile = "<script>document.title='gone'<\/script>";
  check("the title is the pair, as text", byId("title").textContent.includes(hostile), byId("title").textContent);
  check("no text of the corpus is markup", all("script").length === 4 && all("img, b:not(.share b)").length === 0,
    `${all("script").length} scripts, ${all("img").length} images`);
  check("the three views are there", all("[role=tab]").length === 3 && !byId("heads").hidden && byId("model").hidden);

  /* heads */
  const words = all("#heads .left button"), rows = words.length;
  check("a word for each token", rows === DATA.sides.target.text.length, `${rows}`);
  check("words say what they are", words.every((word, i) => word.textContent === DATA.sides.target.text[i]));
  const lines = all("#heads path").length, strong = opacity();
  check("lines are drawn", lines > 0);
  point(words[1], "mouseenter");
  const hovered = all("#heads path");
  const step = parseFloat(getComputedStyle(document.querySelector(".lines")).getPropertyValue("--step"));
  const row = (path) => Math.floor(parseFloat(path.getAttribute("d").slice(2)) / step);
  check("pointing at a word leaves its lines only", hovered.length > 0 && hovered.every((path) => row(path) === 1) &&
    opacity() < strong, hovered.slice(0, 20).map(row).join());
  check("and marks the word", words[1].classList.contains("on"));
  check("and says what it looks at", readoutText().startsWith(`${words[1].textContent} looks at:`), readoutText());
  check("and tells a screen reader", byId("status").textContent === readoutText());
  check("and shows shares opposite", all("#heads .right .share i, #heads .share i").length > 0);
  point(words[1], "mouseleave");
  check("leaving it brings all lines back", all("#heads path").length === lines, `${all("#heads path").length}`);
  words[2].click();
  point(words[2], "mouseleave");
  check("a click keeps a word", words[2].getAttribute("aria-pressed") === "true" && all("#heads path").every((path) => row(path) === 2));
  press(words[2], "Escape");
  check("Escape lets it go", all("#heads path").length === lines && words[2].getAttribute("aria-pressed") === "false");
  words[0].focus();
  press(words[0], "ArrowDown");
  check("arrow keys go from word to word", document.activeElement === words[1] && words[1].tabIndex === 0 && words[0].tabIndex === -1);
  press(words[1], "ArrowRight");
  const right = all("#heads .words")[1].querySelectorAll("button");
  check("and to the other side", [...right].includes(document.activeElement));
  check("where it is looked at", readoutText().includes("is looked at by:"), readoutText());
  document.activeElement.blur();
  input("choose-heads", 0).click();
  check("a head can be left out", all("#heads path").every((path) => path.style.stroke.includes("oklch")) && state.heads.size === DATA.heads - 1);
  input("choose-heads", 0).click();
  for (let layer = 0; layer < DATA.kinds[0].layers.length; layer++) {
    input("layers", layer).click();
    check(`layer ${layer + 1} can be chosen`, state.layer === layer && input("layers", layer).checked);
  }
  for (const [k, kind] of DATA.kinds.entries()) {
    input("kinds", k).click();
    const now = all("#heads .left button").length;
    check(`attention ${kind.name} can be chosen`, now === DATA.sides[kind.rows].text.length, `${now} words`);
  }
  check("nothing looks ahead", maps(chosenHeads()).each.every((map) => map.every((row, i) => row.every((p, j) => j <= i || p === 0))));
  input("kinds", 0).click();
  const marked = maps(chosenHeads()).rows.length;
  input("extras", 0).click();
  const without = maps(chosenHeads());
  check("marks can be left out", without.rows.length === marked - 1);
  check("then rows still add up to 1", without.mean.every((row) => Math.abs(row.reduce((a, b) => a + b, 0) - 1) < 1e-9));
  input("extras", 0).click();
  input("extras", 1).click();
  const joined = maps(chosenHeads());
  check("pieces can be joined to words", joined.rows.length < marked && joined.rows.some((word) => word.text.includes(hostile)),
    joined.rows.map((word) => word.text).join(" "));
  check("and their rows add up to 1", joined.mean.every((row) => Math.abs(row.reduce((a, b) => a + b, 0) - 1) < 0.01));
  input("extras", 1).click();
  document.querySelector("details").open = true;

  /* model */
  byId("tab-heads").focus();
  press(byId("tab-heads"), "ArrowRight");
  check("an arrow key opens the next view", !byId("model").hidden && byId("heads").hidden && document.activeElement === byId("tab-model"));
  const maps_ = all(".grid button");
  check("a thumbnail for each layer and head", maps_.length === DATA.kinds[0].layers.length * DATA.heads, `${maps_.length}`);
  check("one of them aligns best", all(".grid button.best").length === 1);
  maps_[1].click();
  const cells = all("#large-map td[title]");
  check("a click enlarges it", byId("large").open && cells.length > 0 && byId("large-title").textContent.includes("head 2"));
  const first = maps([1]).mean[0][0].toFixed(2);
  check("a cell has its number", cells[0].textContent === first || cells[0].textContent === "", cells[0].textContent);
  byId("large-open").click();
  check("and opens its lines", !byId("large").open && state.view === "heads" && state.heads.size === 1);

  /* neurons */
  byId("tab-neuron").click();
  const table = () => document.querySelector("table.neuron");
  check("a row for each key", table() && table().tBodies[0].rows.length === 1 + DATA.sides.source.text.length);
  let worst = 0;
  for (const [k, kind] of DATA.kinds.entries())
    kind.layers.forEach((heads) => heads.forEach((head) => head.weights.forEach((row, i) =>
      walk(head, i, kind.causal).keys.forEach((key, j) => { worst = Math.max(worst, Math.abs(key.probability - row[j])); }))));
  check("q, k, sum and softmax give the weights", worst < 1e-3, `${worst}`);
  const number = () => [...table().tHead.rows[0].cells][3].textContent;
  const before = number();
  const range = document.querySelector("input[type=range]");
  range.value = 3;
  range.dispatchEvent(new Event("input"));
  check("the slider chooses a number of the vectors", number() !== before && number() === "of number 3", number());
  const select = byId("query");
  select.value = 2;
  select.dispatchEvent(new Event("change"));
  check("another word can ask", table().querySelector(".query th").textContent === DATA.sides.target.text[2]);

  /* colours */
  const paper = () => getComputedStyle(document.body).backgroundColor;
  const seen = {};
  for (const name of ["light", "dark"]) {
    byId("theme").value = name;
    byId("theme").dispatchEvent(new Event("change"));
    seen[name] = paper();
  }
  check("light and dark differ", seen.light === "rgb(255, 255, 255)" && seen.dark !== seen.light, JSON.stringify(seen));
  byId("theme").value = "auto";
  byId("theme").dispatchEvent(new Event("change"));
  check("else it is as the system", paper() === (DARK.matches ? seen.dark : seen.light));

  /* what a screen reader gets */
  const names = all("button, input, select, summary").filter((element) => element.offsetParent !== null);
  const nameless = names.filter((element) => !(element.textContent.trim() || element.labels && element.labels[0]?.textContent.trim()));
  check("everything that can be used has a name", nameless.length === 0, nameless.map((e) => e.outerHTML).join());
  check("panels are named by their tabs", all("[role=tabpanel]").every((panel) => byId(panel.getAttribute("aria-labelledby"))));
  check("nothing was fetched", performance.getEntriesByType("resource").length === 0);
}

try {
  checks();
} catch (error) {
  check("the checks run to their end", false, String(error.stack).replace(/\s+/g, " "));
}
check("no error", window.troubles.length === 0, window.troubles.join());
document.body.append(make("pre", { id: "checks" }, `\n${results.join("\n")}\n`));
