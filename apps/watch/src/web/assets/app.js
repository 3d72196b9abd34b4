// Makes the pages quicker; all of them work without. What is sent and answered is the same: forms, and whole pages.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  // The worker's address says which version of the files it keeps.
  const [, version] = document.currentScript.src.match(/\/assets\/([^/]+)\//) ?? [];
  navigator.serviceWorker?.register(`/worker.js?${version}_${root.lang}`).catch(() => {});

  // Says something to those who don't see the page change.
  const say = text => {
    const live = document.getElementById("live");
    live.textContent = "";
    setTimeout(() => { live.textContent = text; }, 50);
  };

  // Buttons that need a script, where the browser can do what they say.
  const offer = () => {
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
    for (const button of document.querySelectorAll("[data-share]")) button.hidden = !navigator.share;
  };
  const localise = () => {
    for (const time of document.querySelectorAll("main time")) time.textContent = device.day(time.dateTime);
  };
  // A time in a file is a day where its sender is.
  const place = () => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    for (const field of document.querySelectorAll("input[data-zone]")) field.value ||= zone ?? "";
  };
  const dress = () => { offer(); localise(); place(); };
  dress();

  const ask = async (address, options) => {
    const response = await fetch(address, { ...options, credentials: "same-origin" });
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/html")) throw new Error(`the answer is ${type}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return { page, address: response.url, isGood: response.ok };
  };

  // Gets a page. AbortError: another page was asked for, or a form was sent, before the answer.
  let gets = 0, getting = null;
  const get = address => {
    getting?.abort();
    getting = new AbortController();
    gets += 1;
    return ask(address, { signal: getting.signal });
  };

  // Sends a form when the answers to those before it are there. A form that is being sent is never aborted.
  // Browsers refuse to go on with a larger one after the page is left.
  const KEPT_MAX = 60_000;
  let posts = 0, sending = Promise.resolve();
  const post = (address, body) => {
    getting?.abort();
    posts += 1;
    const answer = sending.then(() => ask(address, { method: "POST", body, keepalive: String(body).length < KEPT_MAX })).finally(() => { posts -= 1; });
    sending = answer.catch(() => {});
    return answer;
  };
  addEventListener("beforeunload", event => { if (posts > 0) event.preventDefault(); });

  // What a page says was done or is wrong.
  const saying = ({ page, isGood }) => {
    const told = page.querySelector("main [role=alert], main [role=status]");
    return (told?.querySelector("p") ?? told ?? (isGood ? null : page.querySelector("main p")))?.textContent;
  };

  // Puts the new page's part in place, and the focus where it was.
  const swap = (page, selector) => {
    const fresh = page.querySelector(selector), old = document.querySelector(selector);
    if (!fresh || !old) throw new Error(`the page has no ${selector}`);
    const at = document.activeElement?.id;
    const open = [...old.querySelectorAll("details[open]")].map(details => details.parentElement?.id);
    old.replaceWith(fresh);
    dress();
    for (const id of open) if (id) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
    const again = at && document.getElementById(at);
    if (again && again !== document.activeElement) again.focus({ preventScroll: true });
    return Boolean(again);
  };

  // What the server has refused of what the device sent.
  const showRefused = async () => {
    if (!document.body.dataset.user) return;
    const all = await device.refused();
    document.getElementById("refused")?.remove();
    if (all.length > 0) document.getElementById("main").prepend(device.make("div", { id: "refused" }, ...all.map(one => device.refusal(one, showRefused))));
  };

  // The list is kept on the device, and so are changes that can't be sent.
  device.begin().then(showRefused).catch(() => {});
  addEventListener("online", () => device.sync().then(sent => { if (sent > 0) device.renew(); }, () => {}));
  const tell = (text, className = "notice") => {
    document.querySelector("main > .notice, main > .problem")?.remove();
    document.getElementById("main").prepend(device.make("div", { className }, device.make("p", {}, text)));
    say(text);
  };
  if (new URLSearchParams(location.search).has("unsent")) tell(words("unsent"), "problem");

  // Forms that change something: the page stays where it is. All have the id of the first: what one saves before the answer to another
  // is there replaces it.
  let wrong = null, own = null;
  document.addEventListener("submit", async event => {
    const form = event.target, button = event.submitter;
    if (!form.matches("form[data-enhance]")) return;
    event.preventDefault();
    const data = new URLSearchParams(new FormData(form, button));
    const action = button?.getAttribute("formaction") ?? form.getAttribute("action") ?? location.href;
    const isGet = form.method === "get";
    const typed = data.toString(), isSame = () => String(new URLSearchParams(new FormData(form, button))) === typed;
    if (!isGet) data.set("today", device.today());
    if (data.has("page")) data.set("page", own ??= data.get("page"));
    const row = button?.closest("li");
    const next = (row?.nextElementSibling ?? row?.previousElementSibling)?.id;
    try {
      if (!isGet && await device.save(action, data, form)) return;
      const asked = isGet ? get(`${action}?${data}`) : post(action, data), before = gets;
      const answer = await asked, { page, address } = answer, text = saying(answer);
      if (!isGet) device.changed();
      // Another page was asked for meanwhile: it may be older than this change.
      const live = gets !== before && document.querySelector("form[data-live]");
      if (live) {
        await look(live);
        return text && tell(text, answer.isGood ? "notice" : "problem");
      }
      const isKept = swap(page, "main");
      // The answer to the next form would take the place of what is wrong with this one.
      if (wrong) tell(wrong, "problem");
      wrong = posts > 0 && !answer.isGood ? text : null;
      showRefused().catch(() => {});
      device.remember().catch(() => {});
      document.title = page.title;
      const shown = new URL(address);
      for (const name of ["done", "change", "unsent"]) shown.searchParams.delete(name);
      history.replaceState(null, "", shown);
      // What was acted on is gone: go on with what took its place.
      if (!isKept) {
        const place = (next && document.getElementById(next)?.querySelector("a, button")) || document.getElementById("main");
        place.focus({ preventScroll: true });
      }
      if (text) say(text);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error instanceof TypeError && !isGet) {
        const kept = await device.keep(action, data, form).catch(wrong => wrong);
        if (kept === true) {
          // What was typed since then is not kept.
          if (isSame()) device.untouch(form);
          return tell(words("kept"));
        }
        if (kept instanceof RangeError) return tell(kept.message, "problem");
      }
      // The browser's own way says what is wrong.
      if (isGet) location.href = `${action}?${data}`;
      else if (button) {
        // The answer to another form may have taken its place.
        if (!form.isConnected) { form.hidden = true; document.body.append(form); }
        form.removeAttribute("data-enhance");
        form.requestSubmit(button);
      }
    }
  });

  // Forms that look for something: as it is typed or chosen.
  let waiting = 0;
  const look = async form => {
    const data = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) data.append(name, value);
    const address = `${form.getAttribute("action")}?${data}`;
    try {
      const { page } = await get(address);
      swap(page, document.getElementById("results") ? "#results" : "main");
      document.querySelector("form.filter")?.setAttribute("data-live", "");
      history.replaceState(null, "", address);
      const found = document.getElementById("found");
      say(found ? found.textContent : document.querySelector(".films") ? words("shown") : words("none-fits"));
    } catch (error) {
      if (error.name !== "AbortError") location.href = address;
    }
  };
  document.addEventListener("input", event => {
    const form = event.target.form;
    if (!form?.matches("form[data-live]")) return;
    clearTimeout(waiting);
    waiting = setTimeout(look, event.target.type === "search" ? 150 : 0, form);
  });
  document.addEventListener("submit", event => {
    if (!event.target.matches("form[data-live]")) return;
    event.preventDefault();
    clearTimeout(waiting);
    look(event.target);
  });

  // One menu is open at a time; a click elsewhere and Escape close it.
  const closeMenus = but => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== but) menu.open = false;
  };
  document.addEventListener("click", event => closeMenus(event.target.closest?.("details.menu")));
  document.addEventListener("keydown", event => {
    const menu = event.key === "Escape" && event.target.closest?.("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  // A film is dragged to the place of another; the buttons of its menu do the same.
  let dragged = null;
  const rowAt = event => event.target.closest?.("[data-move] > .film");
  const clearTargets = () => document.querySelectorAll(".film.target").forEach(row => row.classList.remove("target"));
  document.addEventListener("pointerdown", event => {
    const row = rowAt(event);
    if (row) row.draggable = !event.target.closest("a, button, summary, .items");
  });
  document.addEventListener("dragstart", event => {
    dragged = rowAt(event);
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.querySelector(".title").textContent);
    dragged.classList.add("dragged");
  });
  document.addEventListener("dragover", event => {
    const row = dragged && rowAt(event);
    if (!row) return;
    event.preventDefault();
    clearTargets();
    if (row !== dragged) row.classList.add("target");
  });
  document.addEventListener("dragend", () => {
    dragged?.classList.remove("dragged");
    clearTargets();
    dragged = null;
  });
  document.addEventListener("drop", event => {
    const row = dragged && rowAt(event);
    if (!row || row === dragged) return;
    event.preventDefault();
    const button = document.createElement("button");
    button.setAttribute("formaction", `/list/${dragged.id.slice(1)}/to/${row.id.slice(1)}`);
    button.hidden = true;
    dragged.append(button);
    button.form.requestSubmit(button);
  });

  // A slash goes to the search field, as in many places.
  document.addEventListener("keydown", event => {
    const isTyping = event.target.closest?.("input, select, textarea");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    const field = document.getElementById("q");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select();
  });

  // What is shown once is easily copied and sent.
  document.addEventListener("focusin", event => {
    if (event.target.matches?.("[data-select]")) event.target.select();
  });
  document.addEventListener("click", async event => {
    const { copy, share } = event.target.dataset ?? {};
    if (!copy && !share) return;
    const text = document.getElementById(copy ?? share).value;
    try {
      if (share) return await navigator.share(text.startsWith("http") ? { url: text } : { text });
      await navigator.clipboard.writeText(text);
      event.target.textContent = words("copied");
      say(words("copied"));
    } catch (error) {
      document.getElementById(copy ?? share).select();
    }
  });
})();
