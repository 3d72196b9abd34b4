// Fauxton, served with --utils, in a real browser.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startBrowser } from "./browser.mjs";
import { basic, scratch, startServer, withAdmin } from "./server.mjs";

const WWW = join(dirname(fileURLToPath(import.meta.url)), "node_modules/pouchdb-fauxton/www");
let place, server, browser;
before(async () => {
  place = await scratch();
  server = await startServer(place.folder, ...(await withAdmin(place.folder)), "--utils", WWW);
  browser = await startBrowser(place.folder);
});
after(async () => {
  await browser.stop();
  await server.stop();
  await place.remove();
});

const text = "document.body.textContent";

test("log in, list databases and documents, open one", async () => {
  await server.json("/films", { method: "PUT", headers: basic });
  await server.json("/films/alien", { method: "PUT", headers: basic, body: '{"title":"Alien","year":1979}' });
  const script = "globalThis.isStolen = true";
  await server.json("/films/evil", { method: "PUT", headers: basic, body: JSON.stringify({
    _attachments: { "x.js": { content_type: "text/javascript", data: btoa(script) } },
  }) });
  const page = await browser.page(`${server.url}/_utils/`);
  await page.until("document.querySelector('input[type=password]') !== null");
  await page.run(`{
    const set = (selector, value) => {
      const field = document.querySelector(selector);
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, value);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    set("input[type=text]", "anna");
    set("input[type=password]", "secret");
    document.getElementById("submit").click();
  }`);
  await page.until("fetch('/_session').then(answer => answer.json()).then(found => found.userCtx.name === 'anna')");
  await page.run("location.hash = '#/_all_dbs'; 1");
  await page.until(`${text}.includes('films')`);
  await page.run("location.hash = '#/database/films/_all_docs'; 1");
  await page.until(`${text}.includes('alien')`);
  await page.run("location.hash = '#/database/films/alien'; 1");
  await page.until(`document.querySelector('.ace_content')?.textContent.includes('1979') || ${text}.includes('1979')`);
  // Nothing was refused that Fauxton needs, and everything came from this server.
  assert.deepEqual(page.wrong, []);
  const foreign = page.requested.filter(url => !/^(data|blob):/.test(url) && !url.startsWith(server.url));
  assert.deepEqual(foreign, []);

  // A script that somebody stored is refused by the policy.
  const outcome = await page.run(`new Promise(done => {
    const script = document.createElement("script");
    script.src = "/films/evil/x.js";
    script.onload = () => done("loaded");
    script.onerror = () => done("refused");
    document.head.append(script);
  })`);
  assert.equal(outcome, "refused");
  assert.equal(await page.run("globalThis.isStolen === undefined"), true);
});

test("the folder is served and nothing outside of it, and the policy is that of /_utils/ only", async () => {
  const get = path => fetch(server.url + path, { headers: basic, redirect: "manual" });
  const index = await get("/_utils/");
  assert.equal(index.status, 200);
  assert.match(index.headers.get("content-type"), /^text\/html/);
  const policy = index.headers.get("content-security-policy");
  assert.ok(policy.includes(`script-src ${server.url}/_utils/ 'unsafe-eval'`), policy);
  assert.equal((await get("/_utils")).headers.get("location"), "/_utils/");
  assert.equal((await get("/_utils/dashboard.assets/img/loader.gif")).headers.get("content-type"), "image/gif");
  for (const path of ["/_utils/none", "/_utils/../package.json", "/_utils/..%2fpackage.json", "/_utils/%2e%2e/package.json",
    "/_utils/dashboard.assets", "/_utils/dashboard.assets/../../package.json", "/_utils//etc/passwd", "/_utils/..%5cpackage.json"]) {
    const answer = await get(path);
    assert.ok(answer.status >= 300 && !(await answer.text()).includes("pouchdb-fauxton"), `${path}: ${answer.status}`);
  }
  assert.equal((await get("/films/alien")).headers.get("content-security-policy"), null);
});
