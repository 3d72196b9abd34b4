// Keeps a copy of the list on the device, and changes that were made without a connection until they are sent. The server's
// documentation has the rule by which it merges them (apps/watch/docs/features.md, Offline).
"use strict";
const device = (() => {
  // copy: a user's list with its versions. queue: operations that wait. refused: operations that the server can't merge.
  // seen: films of pages by id, those that were seen last. meta: who is signed in, the last id that was made, and how often
  // the device forgot its list.
  const STORES = { copy: "user", queue: "id", refused: "id", seen: "film", meta: "name" };
  const SEEN_MAX = 500, OPERATIONS_MAX = 100, CHARACTERS_MAX = 30_000, FRESH_MS = 60_000, SOON_MS = 2_000;
  const DAYS_MAX = 100, TAGS_MAX = 20, NAME_MAX = 60, NOTE_MAX = 2_000;
  const EMPTY = { listed: false, priority: 3, public: true, watched: { watched: false, watched_on: null, earlier: [], seasons_watched: 0, rating: null }, note: null, place: null, tags: [] };

  // Whether the page was made before the server had a change of the device.
  let isOld = false;

  // An element with properties, and what is in it.
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children.filter(child => child !== null));
    return element;
  };

  const result = request => new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
  let opened = null;
  const open = () => opened ??= new Promise((done, failed) => {
    const request = indexedDB.open("watch", 1);
    request.onupgradeneeded = () => {
      for (const [name, keyPath] of Object.entries(STORES)) request.result.createObjectStore(name, { keyPath });
    };
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });

  // Runs work in one transaction, and returns when it is on the disk.
  const within = async work => {
    const transaction = (await open()).transaction(Object.keys(STORES), "readwrite", { durability: "strict" });
    const ended = new Promise((done, failed) => {
      transaction.oncomplete = done;
      transaction.onabort = () => failed(transaction.error);
    });
    const stores = {};
    for (const name of Object.keys(STORES)) stores[name] = transaction.objectStore(name);
    const value = await work(stores);
    await ended;
    return value;
  };

  const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const timeOf = id => [...id.slice(0, 10)].reduce((ms, digit) => ms * 32 + DIGITS.indexOf(digit), 0);
  // A new ULID, later than these.
  const ulidAfter = ids => {
    let ms = ids.reduce((ms, id) => Math.max(ms, timeOf(id) + 1), Date.now()), text = "";
    for (let i = 0; i < 10; i++, ms = Math.floor(ms / 32)) text = DIGITS[ms % 32] + text;
    for (const byte of crypto.getRandomValues(new Uint8Array(16))) text += DIGITS[byte & 31];
    return text;
  };

  // Values as text; the keys of objects in one order.
  const textOf = value => JSON.stringify(value && typeof value === "object" ? Object.entries(value).sort() : value);
  const placeOf = film => film.fields.place ?? film.added_ms;

  // The list as this device has it: the copy with what waits on top.
  const view = async ({ copy, queue, refused, seen, meta }) => {
    const user = (await result(meta.get("user")))?.value;
    if (!user) return null;
    const [known, waiting, titles, bad] = [await result(copy.get(user)), await result(queue.getAll()), await result(seen.getAll()), await result(refused.getAll())];
    const films = new Map((known?.films ?? []).map(film => [film.film, film]));
    for (const { film, title, year, kind, seasons } of titles) {
      if (!films.has(film)) films.set(film, { film, title, year, kind, seasons, fields: { ...EMPTY }, versions: {}, conflicts: [], added_ms: 0 });
    }
    const own = waiting.filter(operation => operation.user === user);
    for (const { id, film: at, set } of own) {
      const film = films.get(at) ?? { film: at, title: at, fields: { ...EMPTY }, versions: {}, conflicts: [], added_ms: 0 };
      films.set(at, film);
      film.added_ms ||= timeOf(id);
      Object.assign(film.fields, set);
      for (const field of Object.keys(set)) film.versions[field] = [id];
    }
    return { user, films, pulled: known?.pulled, waiting: own, refused: bad.filter(operation => operation.user === user) };
  };

  // Films of the list in its order.
  const ordered = films => [...films.values()].filter(film => film.fields.listed && !film.fields.watched.watched)
    .sort((one, other) => other.fields.priority - one.fields.priority || placeOf(one) - placeOf(other));

  // Keeps an operation: the fields that differ from what the device has, or all.
  const write = async ({ queue, meta }, { user, films }, at, wanted, all = false) => {
    const film = films.get(at), set = {}, base = {};
    if (!film) return false;
    for (const [field, value] of Object.entries(wanted)) {
      if (all || !film.fields.listed || textOf(film.fields[field]) !== textOf(value)) set[field] = value;
    }
    if (Object.keys(set).length === 0 || (set.listed === false && !film.fields.listed)) return false;
    if (Object.keys(set).some(field => field !== "place") && set.listed === undefined) set.listed = true;
    for (const field of Object.keys(set)) base[field] = film.versions[field] ?? [];
    const last = (await result(meta.get("last")))?.value;
    const known = [...Object.values(film.versions), ...film.conflicts.map(conflict => conflict.versions)].flat();
    const id = ulidAfter(last ? [last, ...known] : known);
    meta.put({ name: "last", value: id });
    isOld = true;
    queue.put({ id, user, film: at, title: film.title, set, base });
    Object.assign(film.fields, set);
    for (const field of Object.keys(set)) film.versions[field] = [id];
    return true;
  };

  // Writes what brings the film at `index` of the films of one priority there. Where there is no room,
  // films before it move too, as few as possible. As the server does it (apps/watch/src/db/entries/order.rs).
  const settle = async (stores, seen, group, index, priority) => {
    const [before, film, after] = [group[index - 1], group[index], group[index + 1]];
    const put = (film, place) => write(stores, seen, film.film, film === group[index] ? { priority, place } : { place });
    if (!after) return put(film, before ? placeOf(before) + 1 : film.fields.place);
    const high = placeOf(after);
    if (!before) return put(film, high - 1);
    if (high - placeOf(before) > 1 / 16) return put(film, (placeOf(before) + high) / 2);
    await put(film, high - 1);
    for (let i = index - 1, next = high - 1; i >= 0 && placeOf(group[i]) >= next; i--) await put(group[i], next -= 1);
    return true;
  };

  // Moves a film: "top", "up", "down", or "to" another.
  const move = async (stores, seen, at, direction, other) => {
    const all = ordered(seen.films), film = all.find(film => film.film === at);
    if (!film) return false;
    const target = direction === "top" ? all[0] : all.find(film => film.film === other);
    const own = film.fields.priority;
    const step = { up: 1, down: -1 }[direction];
    let priority = step ? own : target?.fields.priority ?? own;
    const group = of => all.filter(film => film.fields.priority === of);
    const place = group(own).indexOf(film);
    let index = step ? place - step : group(priority).indexOf(target);
    if (step && (index < 0 || index >= group(own).length)) {
      priority = own + step;
      if (priority < 1 || priority > 5) return false;
      index = step > 0 ? group(priority).length : 0;
    } else if (!step && own > priority) index += 1;
    const films = group(priority).filter(other => other !== film);
    films.splice(index, 0, film);
    return settle(stores, seen, films, index, priority);
  };

  // The fields of an entry that were changed in a form of a page. The page may be newer than the copy.
  const NAMES = { priority: "priority", private: "public", watched: "watched", watched_on: "watched", seasons_watched: "watched", rating: "watched", earlier: "watched", note: "note", tags: "tags" };
  const fieldsOf = form => [...form.elements].filter(element => element.matches("input, select, textarea"));
  const touched = form => new Set(fieldsOf(form).filter(({ options, selectedIndex, type, checked, defaultChecked, value, defaultValue }) =>
    options ? selectedIndex !== Math.max(0, [...options].findIndex(option => option.defaultSelected))
      : ["checkbox", "radio"].includes(type) ? checked !== defaultChecked : value !== defaultValue).map(({ name }) => NAMES[name]));

  // Whether a form of the page has something typed or chosen that was neither sent nor kept. A search stays in the address.
  const isTyped = () => [...document.forms].some(form => !form.matches("[data-live]") && touched(form).size > 0);

  // What the fields have is kept, and not touched any more.
  const untouch = form => {
    for (const field of fieldsOf(form)) {
      if (field.options) for (const option of field.options) option.defaultSelected = option.selected;
      else if (["checkbox", "radio"].includes(field.type)) field.defaultChecked = field.checked;
      else field.defaultValue = field.value;
    }
  };

  // Names with commas between them, in the order of the server, which compares bytes.
  const order = text => [...text].map(letter => letter.codePointAt(0).toString(16).padStart(6, "0")).join("");
  const tagsOf = text => {
    const names = split(text).map(name => name.replace(/\s+/g, " "));
    return [...new Set(names)].sort((one, other) => order(one) < order(other) ? -1 : 1);
  };

  const split = text => text.split(",").map(part => part.trim()).filter(Boolean);
  // That a film was watched on these days, or so many seasons of a series. As the server has it (apps/watch/src/db/entries/entry.rs).
  const seenOn = (film, watched, days, rating, begun = film.fields.watched.seasons_watched ?? 0) => {
    const isSeries = film.kind === "series", seasons = film.seasons?.length ?? 0;
    watched ||= isSeries && seasons > 0 && begun >= seasons;
    const seasons_watched = !isSeries ? 0 : !watched ? begun : seasons || Math.max(begun, 1);
    const isSaid = watched || isSeries, all = isSaid ? [...new Set(days.filter(Boolean))].sort() : [];
    return { watched, watched_on: watched ? all.pop() ?? null : null, earlier: all, seasons_watched, rating: isSaid ? rating : null };
  };

  const days = film => [...film.fields.watched.earlier ?? [], film.fields.watched.watched_on];

  // The day where the user is, as 2026-01-31.
  const today = () => {
    const now = new Date(), two = number => String(number).padStart(2, "0");
    return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  };

  // The language of the pages, as written where the user is.
  const { lang } = document.documentElement;
  const locale = navigator.languages.find(one => one.split("-")[0] === lang) ?? lang;

  // A day or a time as the user's language writes days.
  const day = text => {
    const date = new Date(text.length === 10 ? `${text}T12:00` : text);
    return isNaN(date) ? text : date.toLocaleDateString(locale, { dateStyle: "medium" });
  };

  // What the server would refuse in a form of a film, in words (apps/watch/src/db/entries).
  const isDay = text => /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00Z`).toJSON()?.slice(0, 10) === text;
  const isName = text => /[\p{L}\p{N}\p{P}\p{S}]/u.test(text) && [...text].length <= NAME_MAX;
  const wrongIn = data => {
    const days = [...split(data.get("earlier") ?? ""), data.get("watched_on")].filter(Boolean), tags = tagsOf(data.get("tags") ?? "");
    if (!days.every(isDay) || new Set(days).size > DAYS_MAX) return words("days-wrong", { most: DAYS_MAX });
    if (!tags.every(isName) || tags.length > TAGS_MAX) return words("lists-wrong", { most: TAGS_MAX, length: NAME_MAX });
    return [...data.get("note") ?? ""].length > NOTE_MAX ? words("note-wrong", { most: NOTE_MAX }) : null;
  };

  // Keeps what a form of a page would have changed. Returns whether the device could. A RangeError says what the server would refuse.
  const keep = (action, data, form = null) => within(async stores => {
    const wrong = wrongIn(data);
    if (wrong) throw new RangeError(wrong);
    const [, at, verb, other] = new URL(action, location).pathname.match(/^\/list\/([^/]+)\/([a-z]+)(?:\/([^/]+))?$/) ?? [];
    const seen = at && await view(stores), film = seen?.films.get(at);
    if (!film) return false;
    const text = name => data.get(name) || null, number = name => Number(data.get(name)) || null;
    switch (verb) {
      case "add":
      case "save": {
        if (verb === "add" && film.fields.listed) return false;
        const [watched_on, rating] = [text("watched_on"), number("rating")];
        const earlier = data.has("earlier") ? split(data.get("earlier")) : film.fields.watched.earlier ?? [];
        const seasons = film.kind === "series" ? film.seasons.length : 0, begun = data.has("seasons_watched") ? Number(data.get("seasons_watched")) || 0 : null;
        // Where the seasons are known, the number of those that were watched says all.
        const hasSaid = data.has("watched") || watched_on !== null || rating !== null;
        const watched = begun !== null && seasons > 0 ? false : begun > 0 ? data.has("watched") : hasSaid;
        const set = {
          listed: true, priority: number("priority") ?? 3, public: !data.has("private"),
          watched: seenOn(film, watched, [...earlier, watched_on], rating, begun ?? undefined), note: text("note")?.trim() || null,
        };
        if (data.has("tags")) set.tags = tagsOf(data.get("tags"));
        if (form || set.priority !== film.fields.priority) set.place = null;
        if (!form || !film.fields.listed) return await write(stores, seen, at, set), true;
        const changed = touched(form);
        if (changed.has("priority")) changed.add("place");
        const chosen = Object.entries(set).filter(([field]) => changed.has(field));
        await write(stores, seen, at, Object.fromEntries(chosen), true);
        return true;
      }
      case "watched": return write(stores, seen, at, { watched: seenOn(film, true, [...days(film), today()], film.fields.watched.rating) });
      case "season": {
        const begun = Number(other), isLast = film.seasons?.length > 0 && begun >= film.seasons.length;
        return write(stores, seen, at, { watched: seenOn(film, false, [...days(film), isLast ? today() : null], film.fields.watched.rating, begun) });
      }
      case "remove": return write(stores, seen, at, { listed: false });
      case "top": case "up": case "down": case "to": return move(stores, seen, at, verb, other);
      default: return false;
    }
  });

  // Whoever has signed out leaves no list behind. What waits stays until they sign in again.
  // The epoch tells a synchronisation that began before, in another tab, to keep nothing.
  const epochOf = async meta => (await result(meta.get("epoch")))?.value ?? 0;
  const forget = () => within(async ({ copy, seen, meta }) => {
    copy.clear();
    seen.clear();
    meta.delete("user");
    meta.put({ name: "epoch", value: await epochOf(meta) + 1 });
  });

  const ask = async (method, body) => {
    const headers = body ? { "content-type": "application/json" } : {};
    const response = await fetch("/sync", { method, headers, body: body && JSON.stringify(body), redirect: "manual", credentials: "same-origin", cache: "no-store" });
    if (response.type === "opaqueredirect") { await forget(); return null; }
    if (!response.ok) throw new Error(`the answer is ${response.status}`);
    return response.json();
  };

  // The next operations that fit into one transmission.
  const part = operations => {
    let characters = 0;
    const fits = (operation, i) => i === 0 || (i < OPERATIONS_MAX && (characters += JSON.stringify(operation).length * 2) < CHARACTERS_MAX);
    const end = operations.findIndex((operation, i) => !fits(operation, i));
    return operations.slice(0, end < 0 ? operations.length : end);
  };

  // Sends what waits, and takes a new copy. An operation leaves the queue with the copy that has it, so that what comes later
  // knows of it. Returns how many were sent; null without a session, or if it ended meanwhile.
  const run = async () => {
    const change = sessionStorage.changed, epoch = await within(({ meta }) => epochOf(meta));
    let copy = await ask("GET");
    if (!copy) return null;
    const waiting = (await within(({ queue }) => result(queue.getAll()))).filter(operation => operation.user === copy.user);
    const reasons = new Map();
    for (let rest = waiting; rest.length > 0;) {
      const sent = part(rest);
      const operations = sent.map(({ id, film, set, base }) => ({ id, film, set, base }));
      const told = await ask("POST", { token: copy.token, user: copy.user, operations });
      if (!told) return null;
      for (const { id, refused } of told.results) reasons.set(id, refused);
      rest = rest.slice(sent.length);
    }
    if (waiting.length > 0) copy = await ask("GET");
    if (!copy) return null;
    const { token, ...kept } = copy;
    const isKept = await within(async stores => {
      for (const operation of waiting) {
        const reason = reasons.get(operation.id);
        if (reason) stores.refused.put({ ...operation, reason });
        stores.queue.delete(operation.id);
      }
      if (await epochOf(stores.meta) !== epoch) return false;
      stores.meta.put({ name: "user", value: copy.user });
      stores.copy.clear();
      stores.copy.put({ ...kept, pulled: Date.now() });
      return true;
    });
    if (!isKept) return null;
    // A page that is left before, or a change meanwhile: the copy is still old.
    if (sessionStorage.changed === change) delete sessionStorage.changed;
    return waiting.length;
  };
  // One page at a time, of all that are open.
  const sync = () => navigator.locks ? navigator.locks.request("sync", run) : run();

  // The page once more. Never by `reload`, which sends a form again; and without the part, which alone would load nothing.
  const again = () => location.replace(location.pathname + location.search);

  // Whether the page shows films of the list. Others must not be loaded anew: they may show a secret once.
  const hasFilms = () => location.pathname === "/" || document.querySelector("#offline, li.film[id], form[action^='/list/']") !== null;

  // The page once more with what was sent; where something is typed, only when the user says so.
  const renew = () => {
    if (!hasFilms()) return;
    if (!isTyped()) return again();
    if (document.getElementById("renew")) return;
    const load = make("button", { type: "button", className: "small", onclick: again }, words("load"));
    document.getElementById("main").prepend(make("div", { id: "renew", className: "notice" }, make("p", {}, words("back")), load));
    document.getElementById("live").textContent = words("back");
  };

  // Fails without a connection. Changes nothing on the device.
  const reach = () => fetch("/sync", { method: "HEAD", redirect: "manual", credentials: "same-origin", cache: "no-store" });

  // What the server has refused of the user's operations.
  const refused = () => within(async ({ refused, meta }) => {
    const user = (await result(meta.get("user")))?.value;
    return (await result(refused.getAll())).filter(operation => operation.user === user);
  });

  // A refused operation in words, with what was typed, until it is discarded.
  const refusal = ({ id, film, title, reason, set: { note, tags = [], watched } }, after) => {
    const typed = [note, tags.join(", "), [...watched?.earlier ?? [], watched?.watched_on].filter(Boolean).join(", ")].filter(Boolean);
    const link = document.getElementById("offline") ? null : make("a", { className: "button", href: `/films/${film}` }, words("to-film"));
    return make("div", { className: "problem" },
      make("p", {}, words("refused", { film: title, reason })),
      ...typed.map(text => make("p", { className: "note", dir: "auto" }, text)),
      make("p", { className: "buttons" }, link,
        make("button", { type: "button", onclick: () => within(({ refused }) => refused.delete(id)).then(after) }, words("discard"))));
  };

  // The films on a page, so that they can be added later. Of a series a page says how many seasons it has.
  const look = () => {
    const of = (film, title, year) => {
      const { seasons } = title?.dataset ?? {};
      const kind = seasons === undefined ? { kind: "film" } : { kind: "series", seasons: Array(Number(seasons)).fill(0) };
      return { film, title: title?.textContent, year: parseInt(year?.textContent) || null, ...kind, seen_ms: Date.now() };
    };
    const films = [...document.querySelectorAll("li.film[id]")].map(row => of(row.id.slice(1), row.querySelector(".title"), row.querySelector(".year")));
    const [, film] = location.pathname.match(/^\/films\/([0-9A-Z]{26})$/) ?? [];
    if (film) films.push(of(film, document.querySelector("h1"), document.querySelector(".heading .year")));
    return films.filter(film => film.title);
  };
  const remember = () => within(async ({ seen, meta }) => {
    // Somebody has signed out in another tab.
    if ((await result(meta.get("user")))?.value !== document.body.dataset.user) return;
    for (const film of look()) seen.put(film);
    const films = (await result(seen.getAll())).sort((one, other) => (one.seen_ms ?? 0) - (other.seen_ms ?? 0));
    for (const { film } of films.slice(0, Math.max(0, films.length - SEEN_MAX))) seen.delete(film);
  });

  // What a page does: the user's script calls it once.
  const begin = async () => {
    const { user } = document.body.dataset;
    if (document.getElementById("offline")) return;
    if (location.pathname === "/sign-in") return forget();
    if (!user) return;
    await within(({ meta }) => meta.put({ name: "user", value: user }));
    await remember();
    const now = await within(view);
    const isFresh = now.pulled > Date.now() - FRESH_MS && !sessionStorage.changed && !document.querySelector("main [role=status]");
    if (now.waiting.length === 0 && isFresh) return;
    isOld = now.waiting.length > 0;
    const isHere = location.pathname === "/" || document.querySelector("form[action^='/list/'][action$='/save']");
    if (await sync() > 0 && isHere) renew();
  };

  // Saves the fields of a form that were changed, by the versions of the device. Returns whether the device could, and has
  // shown the page anew. A form that is older than what the device has sent would overwrite it.
  const save = async (action, data, form) => {
    if (!isOld || !/^\/list\/[^/]+\/save$/.test(action) || await keep(action, data, form) !== true) return false;
    untouch(form);
    await sync();
    renew();
    return true;
  };

  // The list was changed at the server: the copy is old.
  let later = 0;
  const changed = () => {
    sessionStorage.changed = ulidAfter([]);
    clearTimeout(later);
    later = setTimeout(() => sync().catch(() => {}), SOON_MS);
  };

  return { again, begin, changed, day, isTyped, keep, make, ordered, reach, refusal, refused, remember, renew, save, sync, today, untouch, view: () => within(view), change: (film, set) => within(async stores => write(stores, await view(stores), film, set)) };
})();
