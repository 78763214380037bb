"use strict";
/* engine.js -- the program as WebAssembly, in a page or in node: the functions of library/web/web.c.
 *
 *   const engine = await startEngine({ program, vocabulary, options, weights });   Uint8Arrays and a text
 *   engine.translate("jane visits africa .")     [{score, text}], one for each line
 *   engine.attention("jane visits africa .", "")  the data of a page (explain/page.h), for a translation or the model's own
 *   engine.change("cross.2.1=zero", "scale=1")   until the next change
 *
 * A call that fails throws an Error with the program's reason. */

/* What the C library needs of its system, WASI: a clock, and a place for the text of a failed assertion. */
function wasi(view) {
  const nothing = () => 0;
  const none = (count, bytes) => { view().setUint32(count, 0, true); view().setUint32(bytes, 0, true); return 0; };
  return {
    environ_get: nothing, environ_sizes_get: none, fd_close: nothing, fd_seek: nothing,
    clock_time_get: (clock, precision, at) => {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    fd_write: (file, parts, count, written) => {
      let all = 0;
      for (let at = parts; at < parts + 8 * count; at += 8) {
        const bytes = view().getUint32(at + 4, true);
        console.error(new TextDecoder().decode(new Uint8Array(view().buffer, view().getUint32(at, true), bytes)));
        all += bytes;
      }
      view().setUint32(written, all, true);
      return 0;
    },
    proc_exit: (status) => { throw new Error(`the program ended with status ${status}`); },
  };
}

/* The bytes of a gzip file as base64. */
async function unpack(text) {
  const file = new Blob([Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0))]);
  return new Uint8Array(await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

async function startEngine({ program, source = new Uint8Array(), vocabulary, options, weights }) {
  const view = () => new DataView(c.memory.buffer);
  const { instance } = await WebAssembly.instantiate(program, { wasi_snapshot_preview1: wasi(view) });
  const c = instance.exports;
  c._initialize();

  /* A copy for C, with a NUL behind it. */
  function put(value) {
    const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
    const at = c.malloc(bytes.length + 1);
    if (!at) throw new Error("there is not enough memory");
    new Uint8Array(c.memory.buffer).set(bytes, at);
    view().setUint8(at + bytes.length, 0);
    return at;
  }
  function textAt(at) {
    const bytes = new Uint8Array(c.memory.buffer);
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }
  function call(name, ...values) {
    const copies = values.map((value) => (typeof value === "number" ? value : put(value)));
    const result = c[name](...copies);
    copies.forEach((at, i) => { if (typeof values[i] !== "number") c.free(at); });
    if (!result) throw new Error(textAt(c.web_error()));
    return result;
  }
  function textOf(name, ...values) {
    const at = call(name, ...values), text = textAt(at);
    c.free(at);
    return text;
  }

  call("web_vocabulary", source, source.length, vocabulary, vocabulary.length);
  call("web_model", options);
  if (weights) call("web_weights", weights, weights.length);
  const engine = {
    translate: (lines) => textOf("web_translate", lines).split("\n").slice(0, -1).map((line) => {
      const [score, ...text] = line.split("\t");
      return { score: Number(score), text: text.join("\t") };
    }),
    attention: (sentence, given = "") => JSON.parse(textOf("web_attention", sentence, given)),
    change: (ablate, intervene) => { call("web_change", ablate, intervene); },
    /* All that the page shows of a sentence, and the translation without the changes, if there are any. */
    answer: (text, [ablate, intervene], given) => {
      const unchanged = ablate || intervene ? engine.translate(text)[0] : null;
      engine.change(ablate, intervene);
      try {
        return { ...engine.translate(text)[0], unchanged, data: engine.attention(text, given) };
      } finally {
        engine.change("", "");
      }
    },
    train: (model, training) => { call("web_model", model); call("web_train", training); },
    learningRate: (rate) => c.web_learning_rate(rate),
    update: () => {
      const loss = c.web_update();
      if (Number.isNaN(loss)) throw new Error(textAt(c.web_error()));
      return loss;
    },
    /* W_Q, W_K and W_V of a head as one array of 3·size rows; kind: 0 encoder, 1 decoder, 2 cross. */
    projections: (kind, layer, head, size, width) =>
      new Float32Array(c.memory.buffer, c.web_projections(kind, layer, head), 3 * size * width).slice(),
  };
  return engine;
}
