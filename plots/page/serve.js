/* serve.js -- the page of ./serve, and that of ./translate --page: a text and its translation, which follows as one
 * types. A sentence of it is chosen, whose attention the views below show; its words say which source words they attend
 * to, and, when they are clicked, how the translation could go on from there.
 *
 * Who translates is in http.js, or in own.js:
 *
 *   getPairs()           [{source, target, name}]
 *   post(path, body)     as POST /translate and POST /attention, without the slash: the page may be in a folder
 *   OFFERS               whether there are alternatives */

let pairs = [];
let asked = 0;       // the number of the last request: answers of earlier ones come too late
let sentences = [];  // {source, target, element}, target: as chosen among the alternatives
let chosen = 0;      // the index of one

/* ---- one sentence: its words, what they attend to, and alternatives ---- */

/* The head that aligns words best, or the mean of the last layer: its map, as words. */
function alignment() {
  const cross = DATA.kinds.find((kind) => kind.name === "cross"), { layer, head } = DATA.best;
  const last = cross.layers.length - 1, all = cross.layers[last].map((_, h) => h), before = { ...state };
  Object.assign(state, { words: true, hide: true });
  const map = head < 0 ? maps(all, cross, last) : maps([head], cross, layer);
  Object.assign(state, before);
  return map;
}

function pointAt(row, map) {
  byId("source-words").replaceChildren(...map.columns.map((word, j) => make("span", {
    style: { background: row === null ? "" : `color-mix(in srgb, var(--accent) ${Math.round(70 * map.mean[row][j])}%, transparent)` },
    title: row === null ? undefined : `attention weight ${map.mean[row][j].toFixed(2)}`,
  }, word.text)));
}

async function showAlternatives(at, begins) {
  const { source, target } = sentences[at], mine = asked, box = byId("alternatives");
  const { translatedText, alternatives } = await post("translate", { q: source, prefix: begins, alternatives: 5 });
  if (mine !== asked || at !== chosen) return;
  const others = [translatedText, ...alternatives].filter((text) => text !== target);
  box.replaceChildren(...others.map((text) =>
    make("button", { type: "button", onclick: () => replaceSentence(at, text) },
      text.startsWith(begins) ? make("span", {}, begins) : "", text.startsWith(begins) ? text.slice(begins.length) : text)));
  if (others.length === 0) box.textContent = "The model knows no other way from here.";
  else box.firstChild.focus({ preventScroll: true });
}

/* Puts an alternative in the place of a sentence's translation. */
function replaceSentence(at, text) {
  sentences[at].target = text;
  sentences[at].element.textContent = text;
  look(at).catch(fail);
}

/* The words of the chosen sentence as elements. */
function showWords(at, map) {
  const { element, target } = sentences[at], parts = [];
  let from = 0;
  map.rows.forEach((word, row) => {
    const begin = target.indexOf(word.text, from);
    if (begin < 0) return;
    const begins = target.slice(0, begin);
    const open = () => { if (OFFERS) showAlternatives(at, begins).catch(fail); };
    parts.push(target.slice(from, begin), make("span", {
      class: `word ${wordClass(word)}`, tabindex: 0, role: OFFERS && "button",
      title: `${wordTitle(word)}${OFFERS ? ": other ways from here" : ""}`,
      onpointerenter: () => pointAt(row, map), onfocus: () => pointAt(row, map),
      onclick: (event) => { event.stopPropagation(); open(); },
      onkeydown: (event) => { if (event.key === "Enter") open(); },
    }, word.text));
    from = begin + word.text.length;
  });
  element.replaceChildren(...parts, target.slice(from));
}

/* Chooses a sentence and shows its attention. */
async function look(at) {
  const mine = asked, { source, target } = sentences[at];
  chosen = at;
  byId("alternatives").replaceChildren();
  sentences.forEach((s, i) => {
    s.element.classList.toggle("on", i === at && sentences.length > 1);
    if (i !== at) s.element.textContent = s.target;
  });
  const data = await post("attention", { q: source, prefix: target, format: "json" });
  if (mine !== asked || at !== chosen) return;
  showData(data);
  const map = alignment();
  showWords(at, map);
  pointAt(null, map);
}

/* ---- the whole text ---- */

function showDoubts({ cut, limit, doubtful, missing, unknown }) {
  const list = [];
  if (unknown.length > 0) list.push(`The model does not know: ${unknown.join(", ")}`);
  if (missing.length > 0) list.push(`Missing in the translation: ${missing.join(", ")}`);
  if (cut > 0) list.push(`A sentence of ${cut} tokens is too long: only its beginning is translated. Make shorter sentences of it.`);
  if (limit) list.push("A translation did not end by itself.");
  if (doubtful) list.push("A translation is doubtful: its probability is lower than usual.");
  byId("doubts").replaceChildren(...list.map((text) => make("li", {}, text)));
}

function showTranslation(text, { translatedText, details }) {
  const source = Array.from(text), target = Array.from(translatedText), parts = [];
  let from = 0;
  sentences = details.sentences.map((range, at) => {
    const own = { source: source.slice(...range.source).join(""), target: target.slice(...range.target).join("") };
    own.element = make("span", { class: "sentence", onclick: () => { if (at !== chosen) look(at).catch(fail); } }, own.target);
    parts.push(target.slice(from, range.target[0]).join(""), own.element);
    from = range.target[1];
    return own;
  });
  byId("translation").replaceChildren(...parts, target.slice(from).join(""));
  showDoubts(details);
}

function fail(error) {
  byId("translation").replaceChildren(make("span", { class: "waits" }, error.message));
}

async function translateText() {
  const text = byId("text").value, mine = ++asked;
  byId("alternatives").replaceChildren();
  if (!text.trim()) {
    for (const id of ["translation", "source-words", "doubts"]) byId(id).replaceChildren();
    return;
  }
  const answer = await post("translate", { q: text, details: true });
  if (mine !== asked) return;
  showTranslation(text, answer);
  if (sentences.length > 0) await look(0);
}

let timer = 0;
function translateSoon() {
  clearTimeout(timer);
  timer = setTimeout(() => translateText().catch(fail), 200);
}

async function startServe() {
  pairs = await getPairs();
  byId("languages").append(...pairs.map(({ name }, i) => make("option", { value: i }, name)));
  const languageChosen = () => {
    const { source, target } = pairs[byId("languages").value];
    byId("text").lang = source;
    byId("translation").lang = target;
    translateSoon();
  };
  byId("text").dir = byId("translation").dir = "auto";
  byId("languages").addEventListener("change", languageChosen);
  byId("text").addEventListener("input", translateSoon);
  languageChosen();
  byId("text").focus();
}
startServe().catch(fail);
