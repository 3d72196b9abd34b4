// The status page in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startBrowser } from "./browser.mjs";
import { basic, scratch, startServer, withAdmin } from "./server.mjs";

let place, server, browser;
before(async () => {
  place = await scratch();
  server = await startServer(place.folder, ...(await withAdmin(place.folder)));
  browser = await startBrowser(place.folder);
});
after(async () => {
  await browser.stop();
  await server.stop();
  await place.remove();
});

const fill = (name, value) => `(document.querySelector('[name="${name}"]').value = ${JSON.stringify(value)})`;
const submit = form => `document.querySelector('[data-form="${form}"]').requestSubmit()`;
const text = "document.getElementById('main').textContent";

test("log in, make a database, write a document, see changes live, delete", async () => {
  const page = await browser.page(`${server.url}/_utils/`);
  await page.until("document.querySelector('[data-form=login]')");
  await page.run(fill("name", "anna") + fill("password", "wrong").replace(/^/, ";") + ";" + submit("login"));
  await page.until("document.getElementById('message').textContent.includes('incorrect')");
  await page.run(fill("password", "secret") + ";" + submit("login"));
  await page.until("document.querySelector('[data-form=create]')");
  await page.run(fill("name", "films") + ";" + submit("create"));
  await page.until("document.querySelector('[data-part=new]')?.href.endsWith('#/films//new')");
  await page.until(`${text}.includes('No documents.')`);

  // Someone else's edit, as it happens; its id is no HTML.
  const id = "<b>x</b> & y";
  await server.json(`/films/${encodeURIComponent(id)}`, { method: "PUT", headers: basic, body: '{"a":1}' });
  await page.until(`document.querySelector('[data-part=changes]').textContent.includes(${JSON.stringify(id)})`);
  await page.until("document.querySelector('[data-part=info]').textContent.startsWith('1 documents')");

  await page.run("location.hash = document.querySelector('[data-part=new]').hash");
  await page.until("document.querySelector('textarea')?.value.includes('_id')");
  await page.run(fill("json", '{"_id":"alien","title":"Alien"}') + ";" + submit("save"));
  await page.until("location.hash === '#/films/alien' && document.querySelector('textarea')?.value.includes('_rev')");
  await page.run(`document.querySelector('textarea').value = document.querySelector('textarea').value.replace('Alien', 'Aliens');${submit("save")}`);
  await page.until("document.getElementById('message').textContent.startsWith('Saved as 2-')");
  assert.equal((await server.json("/films/alien", { headers: basic })).title, "Aliens");
  // A click while the page draws what was saved anew hits what is no longer there.
  await page.until("(document.querySelector('[data-action=delete]')?.click(), location.hash === '#/films')");
  assert.equal((await server.json("/films/alien", { headers: basic })).reason, "deleted");
  await page.run("document.getElementById('logout').requestSubmit()");
  await page.until("document.querySelector('[data-form=login]')");
  assert.deepEqual(page.wrong, []);
  const foreign = page.requested.filter(url => !url.startsWith(server.url) && !url.startsWith("data:"));
  assert.deepEqual(foreign, []);
});

test("a view that is drawn meanwhile does not end a log-out", async () => {
  const page = await browser.page(`${server.url}/_utils/`);
  await page.until("document.querySelector('form')");
  await page.run(`fetch("/_session", { method: "POST", body: new URLSearchParams({ name: 'anna', password: 'secret' }) })`);
  await page.reload();
  await page.until("document.querySelector('[data-form=create]')");
  // The server takes its time.
  await page.run(`{
    const real = fetch;
    globalThis.fetch = async (url, options) => {
      if (options?.method === "DELETE") await new Promise(done => setTimeout(done, 500));
      return real(url, options);
    };
  }`);
  await page.run("document.getElementById('logout').requestSubmit(); location.hash = '#/films'");
  await page.until("document.querySelector('[data-form=login]')");
  assert.equal(await page.run("fetch('/_session').then(answer => answer.json()).then(found => found.userCtx.name)"), null);
});

test("numbers stay as they are, rows come once, and messages are seen", async () => {
  const page = await browser.page(`${server.url}/_utils/`);
  await page.until("document.querySelector('form')");
  await page.run(`fetch("/_session", { method: "POST", body: new URLSearchParams({ name: 'anna', password: 'secret' }) })`);
  await server.json("/kept", { method: "PUT", headers: basic });
  const numbers = '"n":12345678901234567891,"f":1.0,"e":1e-400,"list":[[],{},"a \\"}]"]';
  await server.json("/kept/a", { method: "PUT", headers: basic, body: `{${numbers},"t":"x"}` });
  const docs = Array.from({ length: 70 }, (_, number) => ({ _id: `b${100 + number}` }));
  await server.json("/kept/_bulk_docs", { method: "POST", headers: basic, body: JSON.stringify({ docs }) });
  const message = "document.getElementById('message').textContent";

  await page.run("location.hash = '#/kept/a'");
  await page.until("document.querySelector('textarea')?.value.includes('_rev')");
  const lines = (await page.run("document.querySelector('textarea').value")).split("\n");
  assert.deepEqual(lines.slice(3, 11), ['  "n": 12345678901234567891,', '  "f": 1.0,', '  "e": 1e-400,', '  "list": [', "    [],", "    {},", '    "a \\"}]"', "  ],"]);
  await page.run(`document.querySelector('textarea').value = document.querySelector('textarea').value.replace('"x"', '"y"');${submit("save")}`);
  await page.until(`${message}.startsWith('Saved as 2-')`);
  const stored = await (await fetch(`${server.url}/kept/a`, { headers: basic })).text();
  assert.ok(stored.includes(`${numbers},"t":"y"`), stored);
  await page.run("document.querySelector('[data-action=delete]').click()");
  await page.until(`location.hash === '#/kept' && ${message} === 'a is deleted.'`);

  const rows = "[...document.querySelectorAll('[data-part=rows] a')].map(row => row.textContent)";
  await page.until(`${rows}.length === 25`);
  await page.run("document.querySelector('[data-action=more]').click(); document.querySelector('[data-action=more]').click()");
  await page.until(`${rows}.length === 50`);
  await page.run(`${fill("start", "b110")}; ${submit("find")}; ${fill("start", "b150")}; ${submit("find")}`);
  await page.until(`${rows}[0] === 'b150'`);
  assert.deepEqual(await page.run(rows), docs.slice(50).map(({ _id }) => _id));
  for (const [hash, said] of [["#/kept/100%", "malformed"], ["#/kept/..", "a document of the name .."]]) {
    await page.run(`location.hash = ${JSON.stringify(hash)}; 1`);
    await page.until(`${message}.includes(${JSON.stringify(said)})`);
  }
  assert.deepEqual(page.wrong, []);
});

test("what is stored is not run by the page, however it gets there", async () => {
  const page = await browser.page(`${server.url}/_utils/`);
  await page.until("document.querySelector('form')");
  await page.run(`fetch("/_session", { method: "POST", body: new URLSearchParams({ name: 'anna', password: 'secret' }) })`);
  await server.json("/stored", { method: "PUT", headers: basic });
  const files = { "evil.js": ["text/javascript", "window.evil = true"], "evil.css": ["text/css", "body { --evil: 1 }"] };
  for (const [name, [type, body]] of Object.entries(files)) {
    const headers = { ...basic, "content-type": type };
    const put = await fetch(`${server.url}/stored/${name}/${name}`, { method: "PUT", headers, body });
    assert.equal(put.status, 201);
  }
  const inserted = make => page.run(`new Promise(done => {
    const element = ${make};
    element.onload = () => done("loaded");
    element.onerror = () => done("refused");
    document.head.append(element);
  })`);
  assert.equal(await page.run(`fetch("/stored/evil.js/evil.js").then(answer => answer.status)`), 200);
  const script = `Object.assign(document.createElement("script"), { src: "/stored/evil.js/evil.js" })`;
  assert.equal(await inserted(script), "refused");
  const style = `Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/stored/evil.css/evil.css" })`;
  assert.equal(await inserted(style), "refused");
  const inline = `Object.assign(document.createElement("script"), { textContent: "window.evil = true" })`;
  await page.run(`document.head.append(${inline}); 1`);
  assert.equal(await page.run("typeof window.evil"), "undefined");
});

for (const [width, scheme] of [[360, "light"], [360, "dark"], [1280, "light"], [1280, "dark"]]) {
  test(`nothing is cut and all can be read, ${width} wide, ${scheme}`, async () => {
    const page = await browser.page("about:blank");
    await page.ask("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: width < 500 });
    await page.ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    await server.json("/shown", { method: "PUT", headers: basic });
    const id = "a".repeat(200);
    await server.json(`/shown/${id}`, { method: "PUT", headers: basic, body: JSON.stringify({ text: "b".repeat(500) }) });
    await page.ask("Page.navigate", { url: `${server.url}/_utils/` });
    await page.until("document.querySelector('form')");
    await page.run(`fetch("/_session", { method: "POST", body: new URLSearchParams({ name: 'anna', password: 'secret' }) })`);
    for (const hash of ["#/", "#/shown", `#/shown/${id}`, "#/shown//new"]) {
      await page.run(`location.hash = ${JSON.stringify(hash)}; 1`);
      await page.reload();
      await page.until(`document.getElementById('main')?.dataset.shown === ${JSON.stringify(hash)}`);
      const found = await page.run(`(() => {
        const wrong = [];
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth > clientWidth) wrong.push("the page is " + scrollWidth + " wide");
        for (const field of document.querySelectorAll("input, textarea"))
          if (field.labels.length === 0) wrong.push("no label: " + field.name);
        for (const button of document.querySelectorAll("button, a, .button"))
          if (!button.textContent.trim()) wrong.push("no text: " + button.outerHTML);
        const light = color => {
          const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(c => (c /= 255, c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = light(getComputedStyle(document.body).backgroundColor);
        if (${scheme === "dark"} !== ground < 0.2) wrong.push("not ${scheme}");
        for (const some of document.querySelectorAll("h1, p, a:not(.button), .quiet, label")) {
          const text = light(getComputedStyle(some).color);
          const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
          if (contrast < 4.5) wrong.push("contrast " + contrast.toFixed(1) + ": " + some.outerHTML.slice(0, 80));
        }
        if (document.querySelectorAll("h1").length !== 1) wrong.push("one h1 a page");
        return wrong;
      })()`);
      assert.deepEqual(found, [], hash);
    }
    assert.deepEqual(page.wrong, []);
  });
}
