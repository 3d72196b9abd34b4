// A page with PouchDB in a real browser: it goes offline, edits, comes back, and all agree again.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { test } from "node:test";
import PouchDB from "pouchdb";
import { startBrowser } from "./browser.mjs";
import { eventually, leaves, scratch, startServer } from "./server.mjs";

const PAGE = `<!doctype html><meta charset="utf-8"><title>films</title><script src="/pouchdb.js"></script>`;

/// The page's own server: another origin than the database's.
async function pages() {
  const script = await readFile(new URL("node_modules/pouchdb/dist/pouchdb.min.js", import.meta.url));
  const server = createServer((request, response) => {
    const isScript = request.url === "/pouchdb.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : PAGE);
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

test("a page goes offline, edits, comes back and converges", async () => {
  const place = await scratch();
  const site = await pages();
  const server = await startServer(place.folder, "--cors-origin", site.url);
  const browser = await startBrowser(place.folder);
  try {
    const page = await browser.page(site.url);
    await page.until("typeof PouchDB === 'function'");
    await page.run(`
      globalThis.db = new PouchDB("films");
      globalThis.sync = db.sync(${JSON.stringify(server.url + "/films")}, { live: true, retry: true, back_off_function: () => 200 });
      1`);
    const other = new PouchDB(`${place.folder}/other`);
    const theirs = other.sync(`${server.url}/films`, { live: true, retry: true });
    await other.put({ _id: "alien", title: "Alien", seen: 0 });
    await page.until("(await db.get('alien')).title === 'Alien'");

    await page.offline(true);
    await page.run(`(async () => {
      await db.put({ ...(await db.get("alien")), seen: 1 });
      await db.put({ ...(await db.get("alien")), seen: 2 });
      await db.put({ _id: "brazil", title: "Brazil", _attachments: {
        "note.txt": { content_type: "text/plain", data: btoa("written offline") } } });
    })()`);
    await other.put({ ...(await other.get("alien")), seen: "by another" });
    await other.put({ _id: "casablanca", title: "Casablanca" });
    await eventually("the other's edit", async () => (await server.json("/films")).doc_count === 2);
    assert.equal(await page.run("db.get('casablanca').then(() => true, () => false)"), false);

    await page.offline(false);
    const remote = new PouchDB(`${server.url}/films`);
    await page.until("(await db.get('casablanca')).title === 'Casablanca'");
    await eventually("what was written offline", async () => (await server.json("/films/brazil")).title === "Brazil");
    const inPage = `db.changes({ style: "all_docs", return_docs: true }).then(changes => JSON.stringify(
      changes.results.map(row => [row.id, row.changes.map(change => change.rev).sort()]).sort()))`;
    await eventually("the same leaves everywhere", async () => {
      const all = await Promise.all([leaves(remote), leaves(other), page.run(inPage)]);
      return all.every(one => one === all[0]);
    });
    const film = await remote.get("alien", { conflicts: true });
    assert.equal(film.seen, 2, "two edits beat one");
    assert.equal(film._conflicts.length, 1);
    assert.equal((await other.getAttachment("brazil", "note.txt")).toString(), "written offline");
    theirs.cancel();
    await theirs;
    assert.deepEqual(page.wrong, []);
  } finally {
    await browser.stop();
    await server.stop();
    site.stop();
    await place.remove();
  }
});
