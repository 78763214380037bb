/* save.js -- what is seen, as an SVG or PNG file: texts, boxes with a colour, lines and thumbnails of the
 * view, where the browser has laid them out. */

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/* The words of a text node as SVG; relative: a rectangle within the picture. Vertical text reads upwards. */
function svgTexts(node, relative) {
  const style = getComputedStyle(node.parentElement), range = document.createRange();
  const vertical = style.writingMode.startsWith("vertical");
  const decoration = style.textDecorationLine === "none" ? "" : ` style="text-decoration: underline ${style.textDecorationStyle}"`;
  const pieces = node.textContent.matchAll(/\S+/g);
  return [...pieces].map((piece) => {
    range.setStart(node, piece.index);
    range.setEnd(node, piece.index + piece[0].length);
    const r = relative(range.getBoundingClientRect()), x = r.x + r.width / 2, y = r.y + r.height / 2;
    if (r.width === 0) return "";
    return `<text x="${x}" y="${y}" fill="${style.color}" font-size="${style.fontSize}" font-weight="${style.fontWeight}"` +
      ` font-family="${escaped(style.fontFamily)}"${decoration} text-anchor="middle" dominant-baseline="central"` +
      `${vertical ? ` transform="rotate(-90 ${x} ${y})"` : ""}>${escaped(piece[0])}</text>`;
  }).join("");
}

function svgElement(element, relative) {
  const style = getComputedStyle(element), r = relative(element.getBoundingClientRect());
  const place = `x="${r.x}" y="${r.y}" width="${r.width}" height="${r.height}"`;
  if (style.display === "none" || element.matches(".sr, summary, select, label, [hidden]")) return "";
  if (element.matches("canvas")) return `<image ${place} preserveAspectRatio="none" href="${element.toDataURL()}"/>`;
  if (element.matches("path")) {
    const { x, y } = relative(element.ownerSVGElement.getBoundingClientRect());
    return `<path d="${element.getAttribute("d")}" transform="translate(${x} ${y})" fill="none" stroke="${style.stroke}"` +
      ` stroke-width="${style.strokeWidth}" opacity="${style.opacity}"/>`;
  }
  const box = /^rgba\(.*, 0\)$/.test(style.backgroundColor) ? "" : `<rect ${place} fill="${style.backgroundColor}"/>`;
  const inside = [...element.childNodes].map((child) =>
    child.nodeType === Node.TEXT_NODE ? svgTexts(child, relative) : child.nodeType === Node.ELEMENT_NODE ? svgElement(child, relative) : "");
  return box + inside.join("");
}

/* {text, width, height} */
function svgOf(root) {
  const margin = 12, corner = root.getBoundingClientRect();
  const width = Math.ceil(Math.max(root.scrollWidth, corner.width)) + 2 * margin, height = Math.ceil(corner.height) + 2 * margin;
  const relative = (r) => ({ x: r.x - corner.x + margin, y: r.y - corner.y + margin, width: r.width, height: r.height });
  const page = getComputedStyle(document.body).backgroundColor;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<title>${escaped(document.title)}</title><rect width="100%" height="100%" fill="${page}"/>${svgElement(root, relative)}</svg>`;
  return { text, width, height };
}

function download(href, format) {
  make("a", { href, download: `attention-${state.view}.${format}` }).click();
}

async function save(format) {
  const svg = svgOf(byId("large").open ? byId("large-map").firstElementChild : byId(state.view));
  const href = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg.text)}`;
  if (format === "svg") return download(href, format);
  const image = make("img", { src: href }), canvas = make("canvas"), scale = 2;
  await image.decode();
  const pen = penOf(canvas, scale * svg.width, scale * svg.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return download(canvas.toDataURL(), format);
}

for (const button of document.querySelectorAll("[data-save]"))
  button.addEventListener("click", () => save(button.dataset.save));
