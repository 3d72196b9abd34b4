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

self.addEventListener("fetch", event => {
  const { mode, url } = event.request;
  if (mode === "navigate") event.respondWith(fetch(event.request).catch(() => caches.match(offline)));
  else if (kept.includes(new URL(url).pathname)) {
    event.respondWith(caches.match(event.request).then(found => found ?? fetch(event.request)));
  }
});
