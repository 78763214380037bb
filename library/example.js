/* example.js -- translates its arguments with node: by qkv-translate as a child process, or by qkv-serve over HTTP.
 *
 *     node example.js "qkv-translate --model model.safetensors" "jane visits africa"
 *     node example.js http://127.0.0.1:5000 "jane visits africa"             */
const { spawnSync } = require("child_process");
const [by, ...texts] = process.argv.slice(2);

async function translate(texts) {
  if (by.startsWith("http")) {
    const body = JSON.stringify({ q: texts, source: "en", target: "fr" });
    const answer = await fetch(`${by}/translate`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const { translatedText, error } = await answer.json();
    if (error) throw new Error(error);
    return translatedText;
  }
  const input = texts.map((text, id) => JSON.stringify({ id, text })).join("\n");
  const { stdout } = spawnSync(`${by} --json --quiet`, { input, shell: true, encoding: "utf8" });
  return stdout.trim().split("\n").map((line) => JSON.parse(line).text);
}
translate(texts).then((translations) => translations.forEach((text) => console.log(text)),
  (error) => { console.error(error.message); process.exitCode = 1; });
