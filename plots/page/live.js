/* live.js -- the page that translates by itself: a sentence, and changes of the model that act at once. */

const engineParts = {};  // of the engine, as bytes
let engine = null;

/* What of the model the controls change, as engine.change takes it. */
function changes() {
  const temperature = 2 ** Number(byId("temperature").value), divided = byId("divided").checked;
  const scale = DATA.kinds[0].layers[0][0].scale * (divided ? 1 : Math.sqrt(DATA.size)) / temperature;
  const list = [];
  byId("temperature-is").textContent = temperature.toFixed(2).replace(/\.?0+$/, "");
  if (!byId("positions").checked) list.push("positions=0");
  byId("scale-note").hidden = divided || trainer.worker !== null;
  if (!divided || temperature !== 1) list.push(`scale=${scale}`);
  return [byId("off").value && `${byId("off").value}=zero`, list.join(" ")];
}

/* Shows what engine.answer found. */
function showAnswer({ score, text, unchanged, data }) {
  const heads = DATA.heads;
  showData(data);
  if (DATA.heads !== heads) listHeads();
  byId("answer").replaceChildren(make("b", { lang: "fr" }, text || "(no word)"), make("span", {}, `score ${number(score, 3)} (0 means certain)`));
  byId("unchanged").textContent = unchanged ? `without the changes: ${unchanged.text}, score ${number(unchanged.score, 3)}` : "";
  byId("undo").disabled = !unchanged;
  byId("temperature").disabled = DATA.comparison !== "q·k";  // other scores have no one scale to change
  byId("divided").disabled = DATA.score !== "q·k/√d_k";
}

/* Translates again. */
function update() {
  const text = byId("sentence").value;
  if (!engine || !text.trim()) return;
  if (trainer.worker) { changes(); look(); return; }
  try {
    showAnswer(engine.answer(text, changes()));
  } catch (error) {
    byId("answer").textContent = error.message;
  }
}

function unchange() {
  byId("temperature").value = 0;
  byId("divided").checked = byId("positions").checked = true;
  byId("off").value = "";
}

function undo() {
  unchange();
  byId("temperature").focus();  // the button becomes disabled
  update();
}

/* Every head, and all heads of a layer. */
function listHeads() {
  byId("off").replaceChildren(make("option", { value: "" }, "no head"));
  for (const kind of DATA.kinds)
    kind.layers.forEach((heads, l) => {
      const name = `${kind.short}, layer ${l + 1}`;
      byId("off").append(...heads.map((_, h) =>
        make("option", { value: `${kind.name}.${l + 1}.${h + 1}` }, `${name}, head ${h + 1}`)),
        make("option", { value: `${kind.name}.${l + 1}.*` }, `${name}, all heads`));
    });
}

async function startLive() {
  byId("sentence").value = DATA.source;
  listHeads();
  try {
    for (const name of ["program", "vocabulary", "weights"]) engineParts[name] = await unpack(byId(name).textContent);
    engine = await startEngine({ ...engineParts, options: byId("options").textContent });
  } catch (error) {
    byId("answer").textContent = `The model does not start in this browser: ${error.message}`;
    return;
  }
  for (const id of ["sentence", "changes"]) byId(id).addEventListener("input", update);
  byId("learning").hidden = false;
  byId("undo").addEventListener("click", undo);
  update();
}
startLive();
