/* worker.js -- trains in a worker of the page: runs the engine (engine.js) and reports to learn.js.
 *
 *   in    {start: {program, vocabulary, model, training, size, width}}, {run: true | false}, {step: true}, {rate},
 *         {look: {sentence, reference, changes, sentences, kind, layer, head}}: what the reports show
 *   out   {update, losses, seconds, answer, translations, projections}, or {error} */
let engine = null, run = null, look = null, losses = [], running = false, update = 0, seconds = 0;

function report() {
  if (!engine || !look) return;
  const kind = { encoder: 0, decoder: 1, cross: 2 }[look.kind];
  postMessage({
    update, losses, seconds,
    answer: engine.answer(look.sentence, look.changes, look.reference),
    translations: engine.translate(look.sentences.join("\n")),
    projections: engine.projections(kind, look.layer, Math.min(look.head, run.width / run.size - 1), run.size, run.width),
  });
  losses = [];
}

function step() {
  const before = performance.now();
  losses.push(engine.update());
  update += 1;
  seconds += (performance.now() - before) / 1000;
}

/* Updates until the page says stop; the report comes at most twice a second. */
async function work() {
  for (let last = 0; running;) {
    step();
    if (performance.now() - last > 500) {
      report();
      last = performance.now();
    }
    await new Promise((next) => setTimeout(next));  // messages come in between
  }
  report();
}

const failed = (error) => {
  running = false;
  engine = null;
  postMessage({ error: error.message });
};

async function take({ start, look: at, step: once, run: on, rate }) {
  if (start) {
    run = start;
    engine = await startEngine({ program: run.program, vocabulary: run.vocabulary, options: run.model });
    engine.train(run.model, run.training);
  }
  if (!engine) return;
  if (rate) engine.learningRate(rate);
  if (at) look = at;
  if (once) step();
  if ((at || once) && !running) report();
  if (on !== undefined && on !== running) {
    running = on;
    if (on) work().catch(failed);
  }
}

let queue = Promise.resolve();
onmessage = ({ data }) => { queue = queue.then(() => take(data)).catch(failed); };
