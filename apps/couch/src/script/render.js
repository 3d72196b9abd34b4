// Calls functions that answer requests: shows, lists, updates and rewrites, in the surroundings CouchDB gives them.
(function () {
  "use strict";
  const types = new Map();
  const keys = new Map();
  let provided, contentType, chunks, begun, rows, head;

  // The first type of a key is the one that is sent.
  function registerType(key, ...names) {
    types.set(key, names);
    for (const name of names) keys.set(name, key);
  }

  registerType("all", "*/*");
  registerType("text", "text/plain; charset=utf-8", "txt");
  registerType("html", "text/html; charset=utf-8");
  registerType("xhtml", "application/xhtml+xml", "xhtml");
  registerType("xml", "application/xml", "text/xml", "application/x-xml");
  registerType("js", "text/javascript", "application/javascript", "application/x-javascript");
  registerType("css", "text/css");
  registerType("ics", "text/calendar");
  registerType("csv", "text/csv");
  registerType("rss", "application/rss+xml");
  registerType("atom", "application/atom+xml");
  registerType("yaml", "application/x-yaml", "text/yaml");
  registerType("multipart_form", "multipart/form-data");
  registerType("url_encoded_form", "application/x-www-form-urlencoded");
  registerType("json", "application/json", "text/x-json");

  Object.assign(globalThis, {
    registerType,
    provides: (key, answer) => { provided.push([key, answer]); },
    start: response => { begun = response || {}; },
    send: chunk => { chunks.push(String(chunk)); },
    getRow: () => {
      if (head === undefined && chunks.length > 0) head = begun;
      return rows.length > 0 ? rows.shift() : null;
    },
  });

  function reset(given) {
    provided = [];
    contentType = null;
    chunks = [];
    begun = {};
    rows = given;
    head = undefined;
  }

  function fail(name, reason) {
    throw ["error", name, reason];
  }

  const media = text => text.split(";")[0].trim().toLowerCase();

  // The best of some media types for an Accept header; the later one of two that are as good.
  function best(names, accept) {
    let found = null, quality = 0;
    for (const name of names) {
      const [kind, detail] = media(name).split("/");
      for (const range of accept.split(",")) {
        const [rangeKind, rangeDetail] = media(range).split("/");
        const weight = /;\s*q=([0-9.]+)/.exec(range);
        const exact = (rangeKind === kind ? 2 : 0) + (rangeDetail === detail ? 1 : 0);
        const fits = (rangeKind === "*" || rangeKind === kind) && (rangeDetail === "*" || rangeDetail === detail);
        const value = (weight ? Number(weight[1]) : 1) + exact / 1000;
        if (fits && (!weight || Number(weight[1]) > 0) && value >= quality) [found, quality] = [name, value];
      }
    }
    return found;
  }

  function runProvided(request, design) {
    const accept = request.headers && request.headers.Accept;
    let key;
    if (request.query && request.query.format) {
      key = request.query.format;
      contentType = (types.get(key) || [null])[0];
    } else if (accept) {
      const names = provided.slice().reverse().flatMap(([key]) => types.get(key) || []);
      contentType = best(names, accept);
      key = keys.get(contentType);
    } else {
      key = provided[0][0];
      contentType = (types.get(key) || [null])[0];
    }
    const chosen = provided.find(([other]) => other === key);
    if (chosen) return chosen[1].call(design);
    const known = provided.map(([key]) => (types.get(key) || [key]).join(", "));
    fail("not_acceptable", "Content-Type " + (accept || key) + " not supported, try one of: " + known.join(", "));
  }

  const wrapped = response => (typeof response === "string" ? { body: response } : response);

  function withType(response) {
    response.headers = response.headers || {};
    if (contentType) response.headers["Content-Type"] = response.headers["Content-Type"] || contentType;
    return response;
  }

  function requireAnswer(response, what) {
    if (response === null || typeof response !== "object" || Array.isArray(response)) {
      fail("render_error", "undefined response from " + what + " function");
    }
    return response;
  }

  const calls = {
    show(run, design, request, doc) {
      reset([]);
      let response = wrapped(run.call(design, doc, request) || {});
      if (chunks.length > 0) {
        // As in CouchDB, what start() is given are headers by themselves.
        const { headers, ...others } = begun;
        response.headers = Object.assign(response.headers || {}, others, headers);
        response.body = chunks.join("") + (response.body || "");
        chunks = [];
      }
      if (provided.length > 0) {
        const more = wrapped(runProvided(request, design) || {});
        response.body = (response.body || "") + chunks.join("") + (more.body || "");
        response = withType(response);
      }
      return { answer: requireAnswer(response, "show") };
    },
    update(run, design, request, doc) {
      if (request.method === "GET") fail("method_not_allowed", "Update functions do not allow GET");
      const [changed, response] = run.call(design, doc, request);
      return { doc: changed, answer: requireAnswer(wrapped(response), "update") };
    },
    list(run, design, request, input) {
      reset(input.rows);
      let tail = run.call(design, input.head, request);
      if (provided.length > 0) tail = runProvided(request, design);
      if (typeof tail !== "undefined") chunks.push(String(tail));
      const answer = withType(head === undefined ? begun : head);
      answer.body = chunks.join("");
      return { answer };
    },
    rewrite(run, design, request) {
      const result = run.call(design, request);
      if (!result) return { rewrite: null };
      return { rewrite: typeof result === "string" ? { path: result, method: request.method } : result };
    },
  };

  // What was thrown, as a name and a reason.
  function thrownError(kind, thrown) {
    if (Array.isArray(thrown) && (thrown[0] === "error" || thrown[0] === "fatal")) {
      return [String(thrown[1]), String(thrown[2])];
    }
    if (thrown && thrown.error && thrown.reason) return [String(thrown.error), String(thrown.reason)];
    const text = thrown instanceof Error ? thrown.name + ": " + thrown.message : JSON.stringify(thrown);
    return [kind === "rewrite" ? "rewrite_error" : "render_error", "function raised error: " + text];
  }

  return (kind, run, design, request, input) => {
    try {
      return calls[kind](run, design, request, input);
    } catch (thrown) {
      // A show function that expects a document and has none.
      if (kind === "show" && input === null && request.path.length > 5) {
        return { error: ["not_found", "document not found"] };
      }
      return { error: thrownError(kind, thrown) };
    }
  };
})()
