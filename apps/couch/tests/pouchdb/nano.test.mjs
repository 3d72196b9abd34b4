// Apache CouchDB's own client for Node against the server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import nano from "nano";
import { eventually, scratch, startServer } from "./server.mjs";

let place, server, couch, db;
before(async () => {
  place = await scratch();
  server = await startServer(place.folder);
  couch = nano(server.url);
  await couch.db.create("films");
  db = couch.use("films");
});
after(async () => {
  assert.equal(await server.stop(), 0);
  await place.remove();
});

const refused = (status, error) => ({ statusCode, error: told }) => statusCode === status && told === error;

test("databases come and go", async () => {
  assert.equal((await couch.info()).couchdb, "Welcome");
  await assert.rejects(couch.db.create("films"), refused(412, "file_exists"));
  await couch.db.create("other/one");
  assert.deepEqual(await couch.db.list(), ["films", "other/one"]);
  await couch.db.destroy("other/one");
  await assert.rejects(couch.db.get("other/one"), refused(404, "not_found"));
  assert.equal((await couch.uuids(3)).uuids.length, 3);
  assert.equal((await couch.session()).ok, true);
});

test("documents are written, read and listed", async () => {
  const first = await db.insert({ title: "Alien" }, "ä/lien +");
  await assert.rejects(db.insert({}, "ä/lien +"), refused(409, "conflict"));
  assert.equal((await db.get("ä/lien +", { revs_info: true }))._revs_info[0].rev, first.rev);
  assert.equal((await db.head("ä/lien +")).etag, `"${first.rev}"`);
  const many = await db.bulk({ docs: [{ _id: "b", year: 1985 }, { _id: "c", year: 1986 }] });
  assert.equal(many[1].id, "c");
  const range = await db.list({ include_docs: true, startkey: "b", endkey: "c" });
  assert.deepEqual(range.rows.map(row => row.doc.year), [1985, 1986]);
  const fetched = await db.fetch({ keys: ["c", "none"] });
  assert.deepEqual(fetched.rows.map(row => row.error ?? row.doc._id), ["c", "not_found"]);
  await db.destroy("b", many[0].rev);
  await assert.rejects(db.get("b"), error => error.statusCode === 404 && error.reason === "deleted");
});

test("attachments go in and come out", async () => {
  const added = await db.attachment.insert("poster", "a.txt", Buffer.from("hello"), "text/plain");
  assert.equal(String(await db.attachment.get("poster", "a.txt")), "hello");
  await db.attachment.destroy("poster", "a.txt", { rev: added.rev });
  const parts = [
    { name: "b.bin", data: Buffer.alloc(70_000, 3), content_type: "application/octet-stream" },
    { name: "c.txt", data: "ä", content_type: "text/plain" },
  ];
  await db.multipart.insert({ title: "with parts" }, parts, "parts");
  assert.deepEqual(await db.attachment.get("parts", "b.bin"), parts[0].data);
  assert.equal(String(await db.attachment.get("parts", "c.txt")), "ä");
});

test("selectors find by index", async () => {
  await db.createIndex({ index: { fields: ["year"] }, name: "by-year" });
  const found = await db.find({ selector: { year: { $gt: 1900 } }, fields: ["_id"], sort: ["year"] });
  assert.deepEqual(found, { docs: [{ _id: "c" }], bookmark: found.bookmark });
  assert.equal((await couch.request({ db: "films", path: "_explain", method: "post", body: { selector: { year: 1 } } })).index.name, "by-year");
});

test("changes are followed", async () => {
  const got = await new Promise((resolve, reject) => {
    const ids = [];
    const reader = db.changesReader.start({ since: "now", timeout: 20_000, wait: false });
    reader.on("error", reject);
    reader.on("change", change => {
      ids.push(change.id);
      if (ids.length === 2) {
        db.changesReader.stop();
        resolve(ids);
      }
    });
    setTimeout(() => db.insert({}, "new/1").then(() => db.insert({}, "new/2")).catch(reject), 300);
  });
  assert.deepEqual(got, ["new/1", "new/2"]);
  await couch.db.replicate("films", "copy", { create_target: true });
  assert.equal((await couch.db.get("copy")).doc_count, (await couch.db.get("films")).doc_count);
});

test("views answer, with and without their reduction", async () => {
  const map = "function (doc) { emit(doc.title ? doc.title[0] : null, 1); }";
  await db.insert({ views: { initial: { map, reduce: "_count" } } }, "_design/by");
  const { total_rows } = await db.view("by", "initial", { reduce: false });
  const { rows } = await db.view("by", "initial", { group: true });
  assert.equal(rows.reduce((sum, row) => sum + row.value, 0), total_rows);
  assert.deepEqual(rows.map(row => row.key), [null, "A", "w"]);
  await assert.rejects(db.view("by", "none"), error => error.statusCode === 404);
});

test("a replication's document is followed to its end", async () => {
  await couch.db.create("_replicator").catch(error => assert.equal(error.statusCode, 412));
  const { id, rev } = await couch.db.replication.enable("films", "enabled", { create_target: true });
  const state = async () => (await couch.db.replication.query(id))._replication_state;
  await eventually("the end of the replication", async () => (await state()) === "completed");
  assert.equal((await couch.db.get("enabled")).doc_count, (await couch.db.get("films")).doc_count);
  const last = await couch.db.replication.query(id);
  assert.notEqual(last._rev, rev);
  await couch.db.replication.disable(id, last._rev);
});

test("a search is refused: it isn't part of this server", async () => {
  await assert.rejects(db.search("d", "s", { q: "*" }), error => error.statusCode === 501);
});
