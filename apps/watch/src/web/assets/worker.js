// Shows a page of this site's own without a connection. Its script has the list (device.js); pages are not kept.
"use strict";
// The version of the files and the language of the pages, which the page names.
const cache = location.search.slice(1);
const [version, language] = cache.split("_");
const files = ["app.js", "device.js", "logo.svg", "offline.js", "style.css", `words.${language}.js`];
const offline = `/offline?language=${language}`;
const kept = [offline, ...files.map(file => `/assets/${version}/${file}`)];

self.addEventListener("install", event => {
  event.waitUntil(caches.open(cache).then(opened => opened.addAll(kept)));
});

self.addEventListener("activate", event => {
  const isOld = name => name !== cache;
  event.waitUntil(caches.keys().then(names => Promise.all(names.filter(isOld).map(name => caches.delete(name)))));
});

// What is shown without an answer. A form's page must not stay in place of a page: loading it anew would send the form again.
const instead = ({ method, referrer }) => {
  if (method === "GET") return caches.match(offline);
  const page = new URL(referrer || "/", location.origin);
  for (const name of ["done", "change"]) page.searchParams.delete(name);
  page.searchParams.set("unsent", "1");
  return Response.redirect(page.origin === location.origin ? page : "/?unsent=1", 303);
};

self.addEventListener("fetch", event => {
  const { mode, url } = event.request;
  if (mode === "navigate") event.respondWith(fetch(event.request).catch(() => instead(event.request)));
  else if (kept.includes(new URL(url).pathname)) {
    event.respondWith(caches.match(event.request).then(found => found ?? fetch(event.request)));
  }
});
