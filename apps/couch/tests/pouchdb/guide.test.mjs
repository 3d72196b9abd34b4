// Runs the steps of docs/guides/sync-a-pouchdb-app.md: its requests with curl, and its code in PouchDB.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { pbkdf2Sync } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import PouchDB from "pouchdb";
import { eventually, scratch, startServer } from "./server.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const PAGE = await readFile(join(HERE, "../../../../docs/guides/sync-a-pouchdb-app.md"), "utf8");

/// The code under a heading, in one text.
function code(heading, language) {
  const section = PAGE.split(`\n## ${heading}\n`)[1].split("\n## ")[0];
  const blocks = [...section.matchAll(/```(\w+)\n(.*?)```/gs)].filter(block => block[1] === language);
  assert.notEqual(blocks.length, 0, heading);
  return blocks.map(block => block[2]).join("\n");
}

let place, server, app;
before(async () => {
  place = await scratch();
  // Few rounds, because an unoptimised build takes seconds for the usual 600,000.
  await mkdir(join(place.folder, "data"));
  await writeFile(join(place.folder, "data/local.ini"), "[chttpd_auth]\niterations = 1000\n");
  const hash = pbkdf2Sync("secret of admin", "salt", 1000, 32, "sha256").toString("hex");
  process.env.INORDER_COUCH_PASSWORD = `-pbkdf2:sha256-${hash},salt,1000`;
  server = await startServer(place.folder, "--admin", "admin", "--cors-origin", "https://app.example.com");
});
after(async () => {
  app?.sync.cancel();
  // PouchDB does not tell when the requests that were under way are answered: one that meets the server's end fails the test.
  await setTimeout(2000);
  assert.equal(await server.stop(), 0);
  await place.remove();
});

test("the app of the guide synchronises, and merges a conflict", async () => {
  const admin = server.url.replace("http://", "http://admin:secret%20of%20admin@");
  const requests = code("A user and a database", "sh").replaceAll("curl ", "curl -sS --fail-with-body -H content-type:application/json ");
  execFileSync("bash", ["-e", "-c", requests], { env: { ...process.env, ADMIN: admin } });
  assert.equal((await fetch(`${server.url}/notes`)).status, 401);

  // In this folder, so that `pouchdb` is found; its database is in the scratch folder.
  const file = join(HERE, `guide-${process.pid}.mjs`);
  const text = `${code("The app", "js")}\n${code("Conflicts", "js")}`
    .replaceAll("http://127.0.0.1:5984", server.url)
    .replace('new PouchDB("notes")', `new PouchDB(${JSON.stringify(join(place.folder, "notes"))})`);
  await writeFile(file, text);
  try {
    app = await import(pathToFileURL(file));
  } finally {
    await rm(file);
  }
  const { notes } = app;
  const remote = new PouchDB(`${server.url}/notes`, { auth: { username: "anna", password: "secret of anna" } });
  await eventually("the first note", async () => (await remote.allDocs()).rows.length === 1);
  const { id } = (await remote.allDocs()).rows[0];

  // Two edits of one revision.
  const { _rev } = await notes.get(id);
  const edit = (rev, note) => ({ _id: id, _rev: rev, text: note, _revisions: { start: 2, ids: [rev.slice(2), _rev.slice(2)] } });
  const edits = [edit("2-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "milk and tea"), edit("2-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "milk and bread")];
  await remote.bulkDocs(edits, { new_edits: false });
  await eventually("the conflict", async () => (await notes.get(id, { conflicts: true }))._conflicts);
  await app.merge(id);
  const merged = await eventually("the merged note", async () => {
    const note = await remote.get(id, { conflicts: true });
    return !note._conflicts && note.text.includes("\n") && note;
  });
  assert.equal(merged.text, "milk and bread\nmilk and tea");
});
