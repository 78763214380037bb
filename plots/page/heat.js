/* heat.js -- the colour of an attention weight, and maps in these colours: a table, which screen readers
 * can read, and a thumbnail. The colours are those of the program's pictures. */

const theme = () => document.documentElement.dataset.theme;
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

function penOf(canvas, width, height) {
  canvas.width = width;
  canvas.height = height;
  return canvas.getContext("2d");
}

/* Numbers as bars of width x height, `across` in a row: blue above 0, orange below, more opaque the larger they are. */
function drawBars(pen, numbers, across, width, height, most) {
  const colors = [variable("--negative"), variable("--positive")];
  numbers.forEach((x, i) => {
    pen.globalAlpha = Math.min(1, Math.abs(x) / most);
    pen.fillStyle = colors[x > 0 ? 1 : 0];
    pen.fillRect(i % across * width, Math.floor(i / across) * height, width, height);
  });
  pen.globalAlpha = 1;
}

const linear = (code) => (code <= 10.31475 ? code / 3294.6 : ((code / 255 + 0.055) / 1.055) ** 2.4);
const encode = (y) => Math.round(255 * (y <= 0.0031308 ? 12.92 * y : 1.055 * y ** (1 / 2.4) - 0.055));
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);

/* [r, g, b] of the 256 colours of a theme, which are written as RRGGBB. */
const tables = {};
for (const [name, text] of Object.entries(DATA.colors))
  tables[name] = text.match(/.{6}/g).map((hex) => hex.match(/../g).map((part) => parseInt(part, 16)));

/* The weight of the last colour: that of the program's pictures, which is lower in a long sentence. */
const high = () => kindNow().high ?? 1;

/* [r, g, b]; special: grey of the same lightness. */
function heat(value, special = false) {
  const color = tables[theme()][Math.round(255 * Math.min(Math.max(value / high(), 0), 1))];
  return special ? new Array(3).fill(encode(luminance(color))) : color;
}

const css = (color) => `rgb(${color.join(" ")})`;
const contrast = (color) => (luminance(color) > 0.179 ? "#000" : "#fff");

/* The colour of a head: evenly spaced hues of the same lightness. */
const headColor = (h) =>
  `oklch(var(--head-light) var(--head-chroma) ${(250 + (360 * h) / DATA.heads) % 360})`;

/* Masked: without <pad>, the first column is the word of the first row. */
const unseen = (kind, i, j, value) => kind.causal && j + Number(state.hide) > i && value === 0;

function heatTable(map, description) {
  const kind = kindNow();
  const small = map.columns.length > 40 || map.rows.length > 60;
  const top = map.columns.map((word) =>
    make("th", { scope: "col", class: wordClass(word) }, make("span", { title: wordTitle(word) }, word.text)));
  const cell = (i, j) => {
    const value = map.mean[i][j], blank = unseen(kind, i, j, value);
    const color = heat(value, map.columns[j].special);
    const style = blank ? {} : { background: css(color), color: contrast(color) };
    const title = `${toward(map.rows[i].text, map.columns[j].text)}: ${value.toFixed(3)}`;
    return make("td", { style, title }, blank || small ? "" : value.toFixed(2));
  };
  const rows = map.rows.map((word, i) => make("tr", {},
    make("th", { scope: "row", class: wordClass(word), title: wordTitle(word) }, word.text), ...map.columns.map((_, j) => cell(i, j))));
  return make("table", { class: small ? "map small" : "map" }, make("caption", { class: "sr" }, description),
    make("thead", {}, make("tr", {}, make("td"), ...top)), make("tbody", {}, ...rows));
}

function drawThumbnail(canvas, weights, columns) {
  const rows = weights.length, kind = kindNow();
  const pen = penOf(canvas, columns.length, rows), image = pen.createImageData(columns.length, rows);
  weights.forEach((row, i) => row.forEach((value, j) => {
    const color = unseen(kind, i, j, value) ? [0, 0, 0, 0] : [...heat(value, columns[j].special), 255];
    image.data.set(color, 4 * (i * columns.length + j));
  }));
  pen.putImageData(image, 0, 0);
}

function colorBar() {
  const canvas = make("canvas", { "aria-hidden": "true" }), pen = penOf(canvas, 256, 1);
  for (let i = 0; i < 256; i++) {
    pen.fillStyle = css(heat(high() * i / 255));
    pen.fillRect(i, 0, 1, 1);
  }
  return make("div", { class: "bar" }, "attention weight  0", canvas, (high() < 1 ? "≥ " : "") + high());
}
