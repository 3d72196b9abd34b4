// Shows a page of this site's own without a connection. Its script has the list (device.js); pages are not kept.
"use strict";
const version = location.search.slice(1);
const files = ["app.js", "device.js", "logo.svg", "offline.js", "style.css"];
const kept = ["/offline", ...files.map(file => `/assets/${version}/${file}`)];

self.addEventListener("install", event => {
  event.waitUntil(caches.open(version).then(cache => cache.addAll(kept)));
});

self.addEventListener("activate", event => {
  const isOld = name => name !== version;
  event.waitUntil(caches.keys().then(names => Promise.all(names.filter(isOld).map(name => caches.delete(name)))));
});

self.addEventListener("fetch", event => {
  const { mode, url } = event.request;
  if (mode === "navigate") event.respondWith(fetch(event.request).catch(() => caches.match("/offline")));
  else if (kept.includes(new URL(url).pathname)) {
    event.respondWith(caches.match(event.request).then(found => found ?? fetch(event.request)));
  }
});
