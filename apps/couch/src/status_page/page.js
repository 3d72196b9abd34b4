// The status page: a view for each kind of place, chosen by what follows the # in the address.

const main = document.getElementById("main");
const message = document.getElementById("message");
/// Aborted when the view is left: ends its requests and feeds.
let leaving = new AbortController();

const part = name => main.querySelector(`[data-part="${name}"]`);
const path = (...parts) => "/" + parts.map(encodeURIComponent).join("/");
function documentPath(db, id) {
  const folders = id.startsWith("_design/") ? [db, "_design"] : [db];
  const name = id.slice(folders.length > 1 ? 8 : 0);
  if (name === "." || name === "..") throw new Error(`A browser can't ask for a document of the name ${name}`);
  return path(...folders, name);
}

/// An element with text and children; text is never HTML.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

async function fetched(url, options = {}) {
  const response = await fetch(url, {
    signal: leaving.signal,
    ...options,
    headers: { accept: "application/json", "content-type": "application/json", ...options.headers },
  });
  if (response.ok) return response;
  const body = await response.json();
  if (response.status === 401 && !url.startsWith("/_session")) showLogin();
  throw new Error(body.reason || body.error || response.statusText);
}

const ask = async (url, options) => (await fetched(url, options)).json();

function say(text, isWrong = false) {
  message.textContent = text;
  message.classList.toggle("wrong", isWrong);
}

/// Runs what may fail, and tells if it did.
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

function leave() {
  leaving.abort();
  leaving = new AbortController();
}

function show(name) {
  main.replaceChildren(document.getElementById(`view-${name}`).content.cloneNode(true));
}

function onSubmit(name, work) {
  const form = main.querySelector(`[data-form="${name}"]`);
  form.addEventListener("submit", event => {
    event.preventDefault();
    say("");
    attempt(() => work(new FormData(form), form));
  });
}

function onClick(name, work) {
  const button = main.querySelector(`[data-action="${name}"]`);
  button.addEventListener("click", () => attempt(work));
  return button;
}

function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (count >= 1000 && at < units.length - 1) {
    count /= 1000;
    at += 1;
  }
  return `${count >= 100 || at === 0 ? Math.round(count) : count.toFixed(1)} ${units[at]}`;
}

function where(...steps) {
  const links = steps.map(([text, href]) => element("a", { href }, text, " "));
  document.getElementById("path").replaceChildren(...links);
  document.title = [...steps.map(([text]) => text).reverse(), "inorder-couch"].join(" · ");
}

const place = (...parts) => "#" + path(...parts);

/// What is said once another view is shown.
let later = "";

function go(hash, text) {
  later = text;
  location.hash = hash;
}

/// JSON with a line for each value. Numbers stay as they are written: many are more than JavaScript's numbers can be.
function indented(json) {
  let [text, depth, before] = ["", 0, ""];
  for (const token of json.match(/"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const isEnd = token === "}" || token === "]";
    const isFirst = before === "{" || before === "[";
    if (isEnd) depth -= 1;
    if (isEnd !== isFirst || before === ",") text += "\n" + "  ".repeat(depth);
    text += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return text;
}

async function whoIs() {
  const { userCtx } = await ask("/_session");
  document.getElementById("who").textContent = userCtx.name ?? "";
  document.getElementById("logout").hidden = userCtx.name === null;
  return userCtx.roles.includes("_admin");
}

function showLogin() {
  leave();
  show("login");
  where();
  onSubmit("login", async fields => {
    const body = JSON.stringify(Object.fromEntries(fields));
    await ask("/_session", { method: "POST", body });
    await route();
  });
}

async function showDatabases() {
  show("databases");
  where();
  onSubmit("create", async fields => {
    await ask(path(fields.get("name")), { method: "PUT" });
    location.hash = place(fields.get("name"));
  });
  const [databases, tasks, welcome, system] = await Promise.all(
    ["/_dbs_info", "/_active_tasks", "/", "/_node/_local/_system"].map(url => ask(url)),
  );
  const rows = databases.filter(({ info }) => info).map(({ key, info }) =>
    element("tr", {},
      element("td", {}, element("a", { href: place(key) }, key)),
      element("td", { class: "number" }, info.doc_count.toLocaleString()),
      element("td", { class: "number" }, bytes(info.sizes.file)),
      element("td", { class: "number" }, parseInt(info.update_seq).toLocaleString())));
  part("rows").replaceChildren(...rows);
  if (rows.length === 0) part("rows").append(element("tr", {}, element("td", { colspan: 4 }, "None yet.")));
  const facts = [
    ["Version", welcome.version],
    ["Up", `${Math.floor(system.uptime / 3600)} h ${Math.floor((system.uptime % 3600) / 60)} min`],
    ["Memory", bytes(system.memory.resident_bytes ?? 0)],
    ["Id", welcome.uuid],
  ];
  part("server").replaceChildren(...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  const lines = tasks.map(task => {
    const what = task.database ?? `${task.source} to ${task.target}, ${task.docs_written} documents written`;
    return element("li", {}, `${task.type}: ${what}`);
  });
  part("tasks").replaceChildren(...(lines.length ? lines : [element("li", {}, "None.")]));
}

const PAGE = 25;

async function showDatabase(db) {
  show("database");
  where([db, place(db)]);
  part("name").textContent = db;
  part("new").href = place(db, "", "new");
  let next = "";
  let question = 0;
  const more = onClick("more", list);
  onSubmit("find", async fields => {
    part("rows").replaceChildren();
    next = fields.get("start");
    await list();
  });
  onSubmit("drop", async fields => {
    if (fields.get("name") !== db) throw new Error("That is another name.");
    await ask(path(db), { method: "DELETE" });
    go("#/", `${db} is deleted.`);
  });

  onSubmit("doctor", async fields => {
    const lacking = await compare(db, fields.get("checkpoint"), JSON.parse(fields.get("device")));
    part("verdict").textContent = lacking.length === 0
      ? "The device has everything up to its checkpoint."
      : `${lacking.length} revisions are missing. Delete the checkpoint: the next replication of the device compares all documents.`;
    part("lacking").replaceChildren(...lacking.map(([id, rev, what]) =>
      element("li", {}, element("a", { href: place(db, id) }, id), ` ${rev}: ${what}`)));
  });
  part("doctor").addEventListener("toggle", () => attempt(async () => {
    const { rows } = await ask(`${path(db)}/_local_docs?include_docs=true`);
    const found = rows.map(({ doc }) => [doc._id, doc.last_seq ?? doc.source_last_seq]).filter(([, seq]) => typeof seq === "string");
    part("checkpoints").replaceChildren(...found.map(([id, seq]) =>
      element("option", { value: seq }, `${id} at ${parseInt(seq).toLocaleString()}`)));
  }), { once: true });

  async function list() {
    const from = encodeURIComponent(JSON.stringify(next));
    const current = ++question;
    more.disabled = true;
    const { rows } = await ask(`${path(db)}/_all_docs?include_docs=true&limit=${PAGE + 1}&startkey=${from}`)
      .finally(() => (more.disabled = current !== question));
    if (current !== question) return;
    const items = rows.slice(0, PAGE).map(({ id, doc }) => {
      const { _id, _rev, ...body } = doc;
      return element("li", {},
        element("a", { href: place(db, id) }, id),
        element("span", { class: "quiet" }, JSON.stringify(body).slice(0, 160)));
    });
    part("rows").append(...items);
    if (!part("rows").hasChildNodes()) part("rows").append(element("li", {}, "No documents."));
    more.hidden = rows.length <= PAGE;
    next = rows[PAGE]?.id;
  }

  async function inform() {
    const info = await ask(path(db));
    part("info").textContent =
      `${info.doc_count.toLocaleString()} documents, ${info.doc_del_count.toLocaleString()} deleted, ${bytes(info.sizes.file)}`;
    return info.update_seq;
  }

  const since = await inform();
  await list();
  follow(db, since, async change => {
    const item = element("li", { class: "fresh" },
      element("a", { href: place(db, change.id) }, change.id),
      element("span", { class: "quiet" }, `${change.changes[0].rev}${change.deleted ? ", deleted" : ""}`));
    part("changes").prepend(item);
    while (part("changes").children.length > 20) part("changes").lastChild.remove();
    await attempt(inform);
  });
}

/// The revisions up to a sequence that a device lacks, as `inorder-couch doctor` names them.
async function compare(db, seq, device) {
  if (!Array.isArray(device.results)) throw new Error("That is not what the device lists.");
  const leaves = async since => {
    const { results } = await ask(`${path(db)}/_changes?style=all_docs&since=${encodeURIComponent(since)}`);
    return new Map(results.map(({ id, changes }) => [id, changes.map(({ rev }) => rev)]));
  };
  // Read first: what changes meanwhile is after the checkpoint.
  const wanted = await leaves("0");
  for (const id of (await leaves(seq)).keys()) wanted.delete(id);
  const has = new Map(device.results.map(({ id, changes }) => [id, changes.map(({ rev }) => rev)]));
  const lacking = [];
  for (const [id, revisions] of wanted) {
    const own = has.get(id) ?? [];
    // A leaf that only the device has may be a descendant of one that it does not list any more.
    const newer = own.filter(rev => !revisions.includes(rev));
    for (const rev of revisions.filter(rev => !own.includes(rev))) {
      const at = newer.findIndex(own => parseInt(own) > parseInt(rev));
      if (at >= 0) newer.splice(at, 1);
      else lacking.push([id, rev, own.length ? `the device has ${own.join(", ")}` : "the device does not have the document"]);
    }
  }
  return lacking;
}

/// Tells of changes as long as the view is shown.
function follow(db, since, tell) {
  const feed = new EventSource(`${path(db)}/_changes?feed=eventsource&heartbeat=20000&since=${encodeURIComponent(since)}`);
  feed.addEventListener("message", event => tell(JSON.parse(event.data)));
  leaving.signal.addEventListener("abort", () => feed.close());
}

async function showDocument(db, id) {
  show("document");
  const isNew = id === "";
  where([db, place(db)], [isNew ? "new" : id, location.hash]);
  part("name").textContent = isNew ? "New document" : id;
  const editor = main.querySelector("textarea");
  const remove = onClick("delete", async () => {
    const { _rev } = JSON.parse(editor.value);
    await ask(`${documentPath(db, id)}?rev=${encodeURIComponent(_rev)}`, { method: "DELETE" });
    go(place(db), `${id} is deleted.`);
  });
  onSubmit("save", async () => {
    const body = JSON.parse(editor.value);
    const to = isNew ? body._id : id;
    const saved = to === undefined
      ? await ask(path(db), { method: "POST", body: editor.value })
      : await ask(documentPath(db, to), { method: "PUT", body: editor.value });
    const done = `Saved as ${saved.rev}.`;
    if (isNew) return go(place(db, saved.id), done);
    await load();
    say(done);
  });
  remove.hidden = isNew;
  if (isNew) {
    const { uuids } = await ask("/_uuids");
    editor.value = JSON.stringify({ _id: uuids[0] }, null, 2);
    return;
  }

  async function load() {
    const text = await (await fetched(documentPath(db, id))).text();
    editor.value = indented(text);
    const document = JSON.parse(text);
    const { _conflicts = [] } = await ask(`${documentPath(db, id)}?conflicts=true`);
    const files = Object.entries(document._attachments ?? {}).map(([name, file]) =>
      element("li", {},
        element("a", { href: documentPath(db, id) + path(name), download: name }, name),
        ` ${file.content_type}, ${bytes(file.length)}`));
    part("files").replaceChildren(...files);
    part("attachments").hidden = files.length === 0;
    const leaves = _conflicts.map(rev => element("li", {},
      element("a", { href: `${documentPath(db, id)}?rev=${encodeURIComponent(rev)}` }, rev)));
    part("leaves").replaceChildren(...leaves);
    part("conflicts").hidden = leaves.length === 0;
  }
  await load();
}

async function route() {
  leave();
  const { signal } = leaving;
  await attempt(async () => {
    const steps = location.hash.slice(2).split("/").map(decodeURIComponent);
    if (!(await whoIs())) return showLogin();
    const [db, id, action] = steps;
    if (!db) await showDatabases();
    else if (action === "new") await showDocument(db, "");
    else if (id) await showDocument(db, id);
    else await showDatabase(db);
  });
  if (!signal.aborted) main.dataset.shown = location.hash || "#/";
}

document.getElementById("logout").addEventListener("submit", event => {
  event.preventDefault();
  attempt(async () => {
    // Not ended by a view that is shown meanwhile.
    await ask("/_session", { method: "DELETE", signal: null });
    await route();
  });
});
addEventListener("hashchange", async () => {
  say(later);
  later = "";
  await route();
  main.focus();
});
await route();
