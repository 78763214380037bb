/* http.js -- ./serve translates for its page (serve.js). Where it wants a key, there is a field for one. */

const OFFERS = true;
const getJson = async (path) => (await fetch(path)).json();

function askForKey() {
  const key = make("input", { id: "key", type: "password", autocomplete: "off", value: localStorage.getItem("api_key") ?? "",
    oninput: () => { localStorage.setItem("api_key", key.value); translateSoon(); } });
  byId("pair").append(" ", make("label", {}, "API key ", key));
}

/* Behind the targets of a language, /languages has itself. */
async function getPairs() {
  const languages = await getJson("languages");
  const name = (code) => languages.find((l) => l.code === code).name;
  if ((await getJson("frontend/settings")).keyRequired) askForKey();
  return languages.flatMap(({ code, targets }) =>
    targets.slice(0, -1).map((target) => ({ source: code, target, name: `${name(code)} → ${name(target)}` })));
}

async function post(path, body) {
  const { source, target } = pairs[byId("languages").value];
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ source, target, api_key: byId("key")?.value, ...body }) });
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  return data;
}
