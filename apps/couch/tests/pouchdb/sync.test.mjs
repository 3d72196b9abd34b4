// Stock PouchDB against the server: what its users do.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import PouchDB from "pouchdb";
import { eventually, leaves, scratch, startServer } from "./server.mjs";

let place, server;
before(async () => {
  place = await scratch();
  server = await startServer(place.folder);
});
after(async () => {
  assert.equal(await server.stop(), 0);
  await place.remove();
});

let count = 0;
const local = () => new PouchDB(`${place.folder}/local-${++count}`);
const remote = name => new PouchDB(`${server.url}/${name}`);
const live = (db, url) => db.sync(url, { live: true, retry: true });
const same = (...dbs) =>
  eventually("the same leaves", async () => {
    const all = await Promise.all(dbs.map(leaves));
    return all.every(one => one === all[0]);
  });

test("two PouchDBs share documents, attachments and deletions, live", async () => {
  const url = `${server.url}/live`;
  const [anna, bert] = [local(), local()];
  const syncs = [live(anna, url), live(bert, url)];
  const large = Buffer.alloc(300_000, "attachment ");
  await anna.put({ _id: "film", title: "Alien", year: 1979 });
  await anna.put({
    _id: "poster",
    _attachments: {
      "a.txt": { content_type: "text/plain", data: Buffer.from("hello").toString("base64") },
      "b/ä.bin": { content_type: "application/octet-stream", data: large.toString("base64") },
    },
  });
  await bert.bulkDocs(Array.from({ length: 250 }, (_, at) => ({ _id: `many/${at}`, at })));
  await same(anna, bert, remote("live"));
  assert.equal((await bert.get("film")).title, "Alien");
  const text = await bert.getAttachment("poster", "a.txt");
  assert.equal(text.toString(), "hello");
  assert.ok(large.equals(await bert.getAttachment("poster", "b/ä.bin")));

  const film = await bert.get("film");
  await bert.remove(film);
  await bert.put({ ...(await bert.get("poster")), seen: true });
  await same(anna, bert, remote("live"));
  await assert.rejects(anna.get("film"), { status: 404, reason: "deleted" });
  assert.equal((await anna.get("poster")).seen, true);
  assert.ok(large.equals(await anna.getAttachment("poster", "b/ä.bin")));
  for (const sync of syncs) sync.cancel();
  await Promise.all(syncs);
});

test("edits on both sides are a conflict that both see alike, and that either can solve", async () => {
  const url = `${server.url}/conflicts`;
  const [anna, bert] = [local(), local()];
  await anna.put({ _id: "film", by: "nobody" });
  await anna.sync(url);
  await bert.sync(url);
  await anna.put({ ...(await anna.get("film")), by: "anna" });
  await bert.put({ ...(await bert.get("film")), by: "bert" });
  await bert.put({ ...(await bert.get("film")), by: "bert again" });
  await anna.sync(url);
  await bert.sync(url);
  await anna.sync(url);
  await same(anna, bert, remote("conflicts"));
  const seen = await Promise.all([anna, bert, remote("conflicts")].map(db => db.get("film", { conflicts: true })));
  for (const film of seen) {
    assert.equal(film.by, "bert again");
    assert.equal(film._conflicts.length, 1);
    assert.deepEqual(film, seen[0]);
  }
  await remote("conflicts").remove("film", seen[0]._conflicts[0]);
  await anna.sync(url);
  await bert.sync(url);
  await same(anna, bert, remote("conflicts"));
  assert.equal((await anna.get("film", { conflicts: true }))._conflicts, undefined);
});

test("the same edit on both sides is no conflict", async () => {
  const url = `${server.url}/alike`;
  const [anna, bert] = [local(), local()];
  for (const db of [anna, bert]) {
    const { rev } = await db.put({ _id: "film", year: 1979 });
    await db.put({ _id: "film", _rev: rev, year: 1980 });
  }
  await anna.sync(url);
  await bert.sync(url);
  await same(anna, bert, remote("alike"));
  const film = await remote("alike").get("film", { conflicts: true, revs: true });
  assert.equal(film._conflicts, undefined);
  assert.equal(film._revisions.start, 2);
});

test("a replication goes on where it stopped", async () => {
  const url = `${server.url}/resumed`;
  const db = local();
  await db.bulkDocs(Array.from({ length: 30 }, (_, at) => ({ _id: `${at}` })));
  const first = await db.replicate.to(url);
  assert.equal(first.docs_written, 30);
  await db.put({ _id: "one more" });
  const second = await db.replicate.to(url);
  assert.equal(second.docs_read, 1);
  assert.equal((await db.replicate.to(url)).docs_read, 0);
});

test("some documents are replicated: by id, by selector, by a filter function", async () => {
  const source = remote("filtered");
  await source.bulkDocs([
    { _id: "a", kind: "film" },
    { _id: "b", kind: "book" },
    { _id: "_design/app", filters: { kind: "function (doc, req) { return doc.kind === req.query.kind; }" } },
  ]);
  const ids = async options => {
    const target = local();
    await target.replicate.from(source, options);
    return (await target.allDocs()).rows.map(row => row.id);
  };
  assert.deepEqual(await ids({ doc_ids: ["b"] }), ["b"]);
  assert.deepEqual(await ids({ selector: { kind: "film" } }), ["a"]);
  assert.deepEqual(await ids({ filter: "app/kind", query_params: { kind: "book" } }), ["b"]);
  const changes = await server.json("/filtered/_changes?filter=_design");
  assert.deepEqual(changes.results.map(row => row.id), ["_design/app"]);
});

test("its HTTP adapter finds what it asks for", async () => {
  const db = remote("adapter");
  const { rev } = await db.put({ _id: "a&b/ü?", x: 1 });
  const second = await db.put({ _id: "a&b/ü?", _rev: rev, x: 2 });
  await assert.rejects(db.put({ _id: "a&b/ü?", x: 3 }), { status: 409, name: "conflict" });
  const whole = await db.get("a&b/ü?", { revs: true, revs_info: true, conflicts: true });
  assert.deepEqual(whole._revs_info.map(info => info.status), ["available", "available"]);
  assert.equal((await db.get("a&b/ü?", { rev })).x, 1);
  const open = await db.get("a&b/ü?", { open_revs: [second.rev, "9-none"] });
  assert.deepEqual(open.map(one => Object.keys(one)[0]), ["ok", "missing"]);
  const bulk = await db.bulkGet({ docs: [{ id: "a&b/ü?", rev }], revs: true });
  assert.equal(bulk.results[0].docs[0].ok.x, 1);
  await db.putAttachment("with", "note.txt", Buffer.from("text"), "text/plain");
  const noted = await db.get("with", { attachments: true });
  assert.equal(Buffer.from(noted._attachments["note.txt"].data, "base64").toString(), "text");
  await db.removeAttachment("with", "note.txt", noted._rev);
  assert.equal((await db.get("with"))._attachments, undefined);
  const rows = await db.allDocs({ keys: ["with", "none"], include_docs: true });
  assert.deepEqual(rows.rows.map(row => row.error ?? row.doc._id), ["with", "not_found"]);
  assert.equal((await db.info()).doc_count, 2);
  assert.deepEqual(await db.revsDiff({ with: ["1-none"] }).then(diff => diff.with.missing), ["1-none"]);
  await db.compact();
  await db.destroy();
});

test("a live feed tells each change once and in order", async () => {
  const db = remote("feed");
  await db.put({ _id: "before" });
  const seen = [];
  const feed = db.changes({ live: true, since: "now", include_docs: true });
  feed.on("change", change => seen.push(change.doc.at));
  await new Promise(resolve => setTimeout(resolve, 200));
  for (let at = 0; at < 40; at++) await db.put({ _id: `doc${at}`, at });
  await eventually("40 changes", () => seen.length >= 40);
  feed.cancel();
  assert.deepEqual(seen, Array.from({ length: 40 }, (_, at) => at));
});
