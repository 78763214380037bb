/* learn.js -- training in this page: the controls, and what the worker (worker.js) reports. While there is a
 * worker, the sentence and the views are those of its model. */

const trainer = { worker: null, losses: [], watched: ["she likes the red car", "we do not see the children", "where does he live ?"] };

/* The loss of every update; the height is that of a loss of 8. */
function drawLosses() {
  const width = 640, height = 240, pen = penOf(byId("losses"), width, height), all = trainer.losses;
  pen.lineWidth = 2;
  pen.strokeStyle = variable("--accent");
  pen.beginPath();
  all.forEach((loss, i) => pen.lineTo((i + 0.5) * width / Math.max(all.length, 50), height * (1 - Math.min(loss, 8) / 8)));
  pen.stroke();
}

/* A matrix as a strip; returns its largest number. */
function drawMatrix(id, numbers, width) {
  const most = numbers.reduce((max, x) => Math.max(max, Math.abs(x)), 1e-9);
  drawBars(penOf(byId(id), width, numbers.length / width), numbers, width, 1, 1, most);
  return most.toFixed(most < 0.01 ? 4 : 2);
}

/* W_Q, W_K and W_V: a row is a number of a query, key or value, a column one of the word's vector. Below each, its
 * change since the last report of the same head. */
function drawProjections(numbers, width) {
  const last = trainer.last, changes = last && last.length === numbers.length ? numbers.map((x, i) => x - last[i]) : numbers.map(() => 0);
  const count = numbers.length / 3;
  ["wq", "wk", "wv"].forEach((id, n) => {
    const part = (all) => all.subarray(n * count, (n + 1) * count), most = drawMatrix(id, part(numbers), width);
    byId(`${id}-is`).textContent = ` ±${most}, change ±${drawMatrix(`${id}-change`, part(changes), width)}`;
  });
  trainer.last = numbers;
}
byId("projections").append(...["wq", "wk", "wv"].map((id) => {
  const name = `W_${id[1].toUpperCase()}`, strip = (at, label, kind) => make("canvas", { id: at, role: "img", "aria-label": label, class: kind });
  return make("figure", {}, strip(id, name, ""), strip(`${id}-change`, `Change of ${name}`, "change"), make("figcaption", {}, name, make("span", { id: `${id}-is` })));
}));

const done = (step) => byId("guide").children[step].classList.add("done");

function reported({ data: report }) {
  if (report.error) {
    stopTraining();
    byId("learned").textContent = report.error;
    return;
  }
  trainer.losses.push(...report.losses);
  if (report.update > 0) done(0);
  if (report.update > 100) done(1);
  if (report.update > 0 && byId("score").value === "dot") done(3);
  const last = trainer.losses.slice(-20), loss = last.reduce((sum, x) => sum + x, 0) / Math.max(last.length, 1);
  byId("learned").textContent = last.length === 0 ? "No update yet: the weights are random." :
    `Update ${report.update}, loss ${loss.toFixed(3)} a token, ${(report.update / report.seconds).toFixed(1)} updates a second`;
  byId("translations").replaceChildren(...report.translations.map(({ text }, i) =>
    make("li", {}, `${trainer.watched[i]} → `, make("b", { lang: "fr" }, text || "(no word)"))));
  byId("progress").hidden = false;
  drawLosses();
  if (!document.querySelector("#controls :active, main :active")) showAnswer(report.answer);  // not while a control is pressed
  const kind = kindNow();
  byId("projections-are").textContent = `${kind.short}, layer ${state.layer + 1}, head ${lookedAt().head + 1}`;
  if (report.projections.length === 3 * DATA.size * DATA.size * DATA.heads)
    drawProjections(report.projections, DATA.size * DATA.heads);
  byId("reference").textContent = `“${DATA.target}”`;
}

const lookedAt = () => ({ kind: kindNow().name, layer: state.layer, head: state.view === "neuron" ? state.head : chosenHeads()[0] });

/* What the reports show. The reference, which the decoder reads and the loss compares with, is the finished model's translation. */
function look() {
  const sentence = byId("sentence").value.trim() || DATA.source, at = lookedAt();
  if (JSON.stringify(at) !== trainer.at) Object.assign(trainer, { at: JSON.stringify(at), last: null });
  trainer.worker.postMessage({ look: { sentence, reference: engine.translate(sentence)[0].text, changes: changes(), sentences: trainer.watched, ...at } });
}

function begin() {
  const value = (id) => byId(id).value, width = Number(value("width"));
  stopTraining();
  const source = `${byId("engine").textContent}\n${byId("worker").textContent}`;
  trainer.worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  trainer.worker.onmessage = reported;
  trainer.losses = [];
  trainer.worker.postMessage({ start: {
    program: engineParts.program, vocabulary: engineParts.vocabulary, size: width / Number(value("model-heads")), width,
    model: `${byId("options").textContent}\nd-model ${width}\nffn ${2 * width}\nheads ${value("model-heads")}\nattention-score ${value("score")}\n`,
    training: `batch-tokens 800\nmicro-tokens 400\naccumulators 2\nwarmup 200\nlearning-rate ${Number(value("rate"))}\n`,
  } });
  look();
}

function setRunning(on) {
  trainer.worker.postMessage({ run: on });
  byId("train").textContent = on ? "Pause" : "Go on";
  byId("step").disabled = on;
}

/* Back to the model that came with the page, without changes: they are of one model. */
function stopTraining() {
  unchange();
  if (trainer.worker) trainer.worker.terminate();
  trainer.worker = null;
  byId("train").textContent = "Train";
  byId("step").disabled = false;
  for (const id of ["width", "model-heads", "score"]) byId(id).disabled = false;
}

/* Begins to train unless that has begun. False if the learning rate is none. */
function started() {
  if (!byId("rate").reportValidity()) return false;
  if (!trainer.worker) begin();
  for (const id of ["width", "model-heads", "score"]) byId(id).disabled = true;
  byId("shipped").disabled = false;
  return true;
}

byId("train").addEventListener("click", () => {
  if (started()) setRunning(byId("train").textContent !== "Pause");
});
byId("rate").addEventListener("input", ({ target }) => {
  if (trainer.worker && target.checkValidity()) trainer.worker.postMessage({ rate: target.valueAsNumber });
});
byId("step").addEventListener("click", () => {
  if (!started()) return;
  trainer.worker.postMessage({ step: true });
  byId("train").textContent = "Go on";
});
byId("shipped").addEventListener("click", () => {
  stopTraining();
  byId("train").focus();
  byId("shipped").disabled = true;
  byId("learned").textContent = "";
  byId("progress").hidden = true;
  update();
});
for (const id of ["kinds", "layers", "choose-heads"])
  byId(id).addEventListener("change", () => {
    if (!trainer.worker) return;
    done(2);
    look();
  });
