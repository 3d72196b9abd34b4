// PouchDB skips documents in a pull when one `_changes` fails while batches wait. The doctor names them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import PouchDB from "pouchdb";
import { startBrowser } from "./browser.mjs";
import { eventually, scratch, startServer } from "./server.mjs";

let place, server;
before(async () => {
  place = await scratch();
  server = await startServer(place.folder);
});
after(async () => {
  assert.equal(await server.stop(), 0);
  await place.remove();
});

const doctor = (...options) => {
  const run = spawnSync(process.env.INORDER_COUCH, ["doctor", ...options], { encoding: "utf8" });
  return { code: run.status, lines: run.stdout.trim().split("\n"), wrong: run.stderr };
};

/// A PouchDB that has pulled a database of 400 documents while a fault was injected, and what it lacks.
async function pulled(name, fault) {
  const url = `${server.url}/${name}`;
  const source = new PouchDB(url);
  const docs = Array.from({ length: 400 }, (_, at) => ({ _id: `d${String(at).padStart(3, "0")}`, at }));
  await source.bulkDocs(docs);
  let [asked, failed] = [0, false];
  let release;
  const atFault = new Promise(resolve => (release = resolve));
  const slow = new PouchDB(url, {
    fetch: async (to, options) => {
      const isChanges = String(to).includes("_changes");
      if (isChanges) asked += 1;
      // The documents of the first batch come after the fault, so that further batches wait at that time.
      if (!isChanges && /_bulk_get|_revs_diff/.test(to)) {
        if (fault) await atFault;
        await new Promise(done => setTimeout(done, 1000));
      }
      if (fault && isChanges && asked === 4) {
        failed = true;
        release();
        return new Response('{"error":"service_unavailable","reason":"injected"}', { status: 503, headers: { "content-type": "application/json" } });
      }
      return PouchDB.fetch(to, options);
    },
  });
  const device = new PouchDB(`${place.folder}/${name}`);
  // It tries again when the documents of the first batch are there. Usually it does so after a random time, and lacks nothing if that is short.
  const back_off_function = () => 3000;
  const sync = device.replicate.from(slow, { live: true, retry: true, batch_size: 50, back_off_function });
  // The checkpoint on the server reaches the end.
  const { update_seq: end } = await source.info();
  const checkpoints = async () => (await server.json(`/${name}/_local_docs?include_docs=true`)).rows;
  await eventually("the last checkpoint", async () =>
    (await checkpoints()).some(({ doc }) => parseInt(doc.last_seq) >= parseInt(end)));
  sync.cancel();
  assert.equal(failed, Boolean(fault));
  const listing = await device.changes({ style: "all_docs" });
  const has = new Set(listing.results.map(({ id }) => id));
  const lacks = docs.map(({ _id }) => _id).filter(id => !has.has(id));
  await writeFile(`${place.folder}/${name}.json`, JSON.stringify(listing));
  return { url, device, lacks, listing, file: `${place.folder}/${name}.json`, checkpoint: (await checkpoints())[0].id };
}

test("what PouchDB skipped is named, and comes after the checkpoint is deleted", async () => {
  const { url, device, lacks, listing, file, checkpoint } = await pulled("faulty", true);
  console.log(`PouchDB lacks ${lacks.length} of 400 documents`);
  assert.notEqual(lacks.length, 0, "PouchDB has this fault no more: the documentation is out of date");
  const listed = doctor(url);
  assert.equal(listed.code, 0, listed.wrong);
  assert.ok(listed.lines.some(line => line.startsWith(`${checkpoint}: written by pouchdb`)), listed.lines.join("\n"));
  const found = doctor(url, "--device", file);
  assert.equal(found.code, 1, found.wrong);
  assert.deepEqual(found.lines.slice(0, -2).map(line => JSON.parse(line.split(" ")[0])), lacks);
  assert.match(found.lines.at(-2), new RegExp(`: ${lacks.length} revisions up to \\d+ are missing on the device, of 400 documents`));

  // The same on the page.
  const browser = await startBrowser(place.folder);
  try {
    const page = await browser.page(`${server.url}/_utils/#/faulty`);
    await page.until("document.querySelector('[data-part=doctor]')");
    await page.run("document.querySelector('[data-part=doctor]').open = true");
    await page.until("document.querySelector('[name=checkpoint]').options.length === 1");
    await page.run(`document.querySelector('[name=device]').value = ${JSON.stringify(JSON.stringify(listing))};
      document.querySelector('[data-form=doctor]').requestSubmit()`);
    await page.until("document.querySelector('[data-part=verdict]').textContent");
    const shown = await page.run("[...document.querySelectorAll('[data-part=lacking] a')].map(link => link.textContent)");
    assert.deepEqual(shown, lacks);
    assert.deepEqual(page.wrong, []);
  } finally {
    await browser.stop();
  }

  const reset = doctor(url, "--checkpoint", checkpoint, "--reset");
  assert.equal(reset.code, 0, reset.wrong);
  await device.replicate.from(url, { batch_size: 50 });
  assert.equal((await device.allDocs()).rows.length, 400);
  await writeFile(file, JSON.stringify(await device.changes({ style: "all_docs" })));
  const whole = doctor(url, "--device", file);
  assert.equal(whole.code, 0, whole.lines.join("\n"));
});

test("a device that has everything, edits and deletions of its own, lacks nothing", async () => {
  const { url, device, lacks, file } = await pulled("sound", false);
  assert.deepEqual(lacks, []);
  const source = new PouchDB(url);
  await device.put({ ...(await device.get("d001")), edited: true });
  await device.remove(await device.get("d002"));
  // After the checkpoint: not yet read.
  await source.put({ _id: "later" });
  await writeFile(file, JSON.stringify(await device.changes({ style: "all_docs" })));
  const found = doctor(url, "--device", file);
  assert.deepEqual([found.code, found.lines.length], [0, 1], found.lines.join("\n") + found.wrong);
  // A device that is a server answers for itself, and one that pushes has a checkpoint of its own sequences.
  await device.replicate.to(`${server.url}/copy`);
  const push = doctor(`${server.url}/copy`);
  assert.match(push.lines[0], /a push/);
  const none = doctor(`${server.url}/copy`, "--device", file);
  assert.equal(none.code, 1);
  assert.match(none.wrong, /no checkpoint/);
  const wrong = doctor(url, "--device", `${place.folder}/password`);
  assert.equal(wrong.code, 1);
  const body = JSON.stringify({ source: "sound", target: "pulled", create_target: true });
  assert.ok((await server.json("/_replicate", { method: "POST", body })).ok);
  const several = doctor(url, "--device", `${server.url}/pulled`);
  assert.equal(several.code, 2, several.wrong);
  const { rows } = await server.json("/pulled/_local_docs");
  const other = doctor(url, "--device", `${server.url}/pulled`, "--checkpoint", rows[0].id);
  assert.equal(other.code, 0, other.lines.join("\n") + other.wrong);
  const target = new PouchDB(`${server.url}/pulled`);
  await server.json("/pulled/_purge", { method: "POST", body: JSON.stringify({ d007: [(await target.get("d007"))._rev] }) });
  const purged = doctor(url, "--device", `${server.url}/pulled`, "--checkpoint", rows[0].id);
  assert.equal(purged.code, 1, purged.wrong);
  assert.match(purged.lines[0], /^"d007" 1-/);
});
