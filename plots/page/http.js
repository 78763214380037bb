/* http.js -- ./serve translates for its page (serve.js). */

const OFFERS = true;
const getLanguages = async () => (await fetch("/languages")).json();

async function post(path, body) {
  const { source, target } = pairs[byId("languages").value];
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ source, target, ...body }) });
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  return data;
}
