/* own.js -- the page translates by itself (serve.js), with the model that ./translate --page put into it. */

const OFFERS = false;
let engine = null;

async function getPairs() {
  const bytes = {};
  for (const name of ["program", "source", "vocabulary", "weights"]) bytes[name] = await unpack(byId(name).textContent);
  engine = await startEngine({ ...bytes, options: byId("options").textContent });
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const [source, target] = byId("codes").textContent.trim().split(" ");
  return [{ source, target, name: `${names.of(source)} → ${names.of(target)}` }];
}

/* The sentences of a text, [begin, end] in characters: none of them has white space around it. */
function sentencesOf(text, language) {
  const found = [];
  let at = 0;
  for (const line of text.split(/(?<=\n)/))
    for (const { segment } of new Intl.Segmenter(language === "und" ? "en" : language, { granularity: "sentence" }).segment(line)) {
      const before = Array.from(segment.match(/^\s*/)[0]).length, own = Array.from(segment.trim()).length;
      if (/\p{L}/u.test(segment)) found.push([at + before, at + before + own]);
      at += Array.from(segment).length;
    }
  return found;
}

async function post(path, { q }) {
  if (path === "attention") return engine.attention(q);  // of its own translation
  const text = Array.from(q), ranges = sentencesOf(q, pairs[byId("languages").value].source);
  const answers = ranges.length > 0 ? engine.translate(ranges.map((range) => text.slice(...range).join("")).join("\n")) : [];
  const out = [], sentences = [];
  let from = 0;
  ranges.forEach((source, i) => {
    out.push(...text.slice(from, source[0]));
    const begin = out.length;
    out.push(...answers[i].text);
    sentences.push({ source, target: [begin, out.length], score: answers[i].score });
    from = source[1];
  });
  return { translatedText: [...out, ...text.slice(from)].join(""),
    details: { sentences, unknown: [], missing: [], cut: 0, limit: false, doubtful: false } };
}
