"use strict";
(() => {
  const root = document.documentElement;

  // Light or dark: the reader's system decides until the button or the address (#dark) does.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  const keep = (theme) => { try { localStorage.setItem("inorder-theme", theme); } catch { /* a file: page may have no storage */ } };
  const kept = () => { try { return localStorage.getItem("inorder-theme"); } catch { return null; } };
  const asked = /^#(dark|light)$/.exec(location.hash);
  const theme = asked ? asked[1] : kept();
  if (theme) root.dataset.theme = theme;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    keep(root.dataset.theme);
    label();
  });
  system.addEventListener("change", label);
  label();

  // On a narrow page the contents are folded away.
  const contents = document.querySelector(".toc details");
  if (contents && !matchMedia("(min-width: 68rem)").matches) contents.open = false;

  // The contents follow the reader.
  const links = new Map([...document.querySelectorAll(".toc a")].map((a) => [a.hash.slice(1), a]));
  const follow = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.classList.remove("here");
      links.get(entry.target.id)?.classList.add("here");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const section of document.querySelectorAll("main > section")) follow.observe(section);

  // The cells of a table as they came, before a reader sorts it.
  const cellsOf = new WeakMap();
  const cells = (table) => {
    if (!cellsOf.has(table))
      cellsOf.set(table, [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
    return cellsOf.get(table);
  };
  const headings = (table) => [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const isEmpty = (text) => /^\s*(n\/a)?$/.test(text);

  // Tooltips: a finger, a pointer and the arrow keys reach every mark of a drawing. What a mark says is in the table
  // behind the plot: a path of marks names its column, and its places stand in the order of the rows that have a value.
  const numbers = (text) => text.match(/-?\d+/g).map(Number);
  const points = (data) => {
    const [places, all] = [[], numbers(data)];
    for (let x = 0, y = 0, i = 0; i < all.length; i += 2) places.push({ x: x += all[i], y: y += all[i + 1], wide: 0 });
    return places;
  };
  const levels = (data) => data.split("M").slice(1).map(numbers).map(([x, y, wide]) => ({ x, y, wide }));
  const marksOfTable = (svg, table) => {
    const panel = svg.parentNode.querySelector("h4");
    const rows = cells(table).filter((row) => !panel || row[0] === panel.textContent);
    return [...svg.querySelectorAll("[data-c]")].flatMap((path) => {
      const column = Number(path.dataset.c);
      const isBar = path.classList.contains("bar");
      const own = rows.filter((row) => !isEmpty(row[column]));
      const high = isBar ? parseFloat(getComputedStyle(path).strokeWidth) : 0;
      return (isBar ? levels : points)(path.getAttribute("d"))
        .map((place, at) => ({ path, column, row: own[at], places: [place], high }))
        .filter((mark) => mark.row && (!isBar || mark.places[0].wide));
    });
  };
  // A strip has its squares as letters, a row after the other: "j80 dj2" are 80 of the fullest class, then one of the
  // fourth and two of the fullest. A class is a path.
  const runsOf = new Map();
  for (const strip of document.querySelectorAll(".squares")) {
    const classes = [];
    strip.dataset.f.split(" ").forEach((row, y) => {
      let x = 0;
      for (const [, letter, count] of row.matchAll(/([a-j])(\d*)/g)) {
        const wide = Number(count || 1);
        (classes[letter.charCodeAt(0) - 97] ??= []).push({ x, y, wide });
        x += wide;
      }
    });
    strip.replaceChildren();
    classes.forEach((runs, fill) => {
      const path = document.createElementNS(strip.namespaceURI, "path");
      path.setAttribute("class", `h${fill}`);
      path.setAttribute("d", runs.map(({ x, y, wide }) => `M${x} ${y}h${wide}`).join(""));
      strip.append(path);
      runsOf.set(path, runs);
    });
  }
  const marksOfStrips = (svg, table) => [...svg.querySelectorAll(".squares")].flatMap((strip, at) => {
    const row = cells(table)[at];
    const squares = (path) => runsOf.get(path).reduce((sum, run) => sum + run.wide, 0);
    const all = [...strip.children].reduce((sum, path) => sum + squares(path), 0);
    return [...strip.children].map((path) => ({ path, row, places: runsOf.get(path), high: 1, count: squares(path), all }));
  });
  const marksOfDrawing = new WeakMap();
  const tableOf = (svg) => svg.closest("figure").querySelector("table");
  const marksOf = (svg) => {
    if (!marksOfDrawing.has(svg)) {
      const read = svg.classList.contains("strips") ? marksOfStrips : marksOfTable;
      marksOfDrawing.set(svg, read(svg, tableOf(svg)));
    }
    return marksOfDrawing.get(svg);
  };
  // A place of a mark in the window.
  const boxOf = (mark, place, to = mark.path.getScreenCTM()) => {
    const [wide, high] = [place.wide * to.a, mark.high * to.d];
    const [left, top] = [place.x * to.a + to.e, place.y * to.d + to.f - high / 2];
    return { left, top, right: left + wide, bottom: top + high, wide, high };
  };

  const tip = document.getElementById("tip");
  let near = null;
  const line = (tag, text, parent) => {
    const element = document.createElement(tag);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  // A point of a line tells of all lines at the same place.
  const tellLines = (svg, heads, { row, column }) => {
    const x = svg.parentNode.querySelector("h4") ? 1 : 0;
    line("b", `${heads[x]} ${row[x]}`, tip);
    const list = document.createElement("table");
    const isOnTop = (a, b) => boxOf(a, a.places[0]).top - boxOf(b, b.places[0]).top;
    for (const mark of marksOf(svg).filter((mark) => mark.row === row).sort(isOnTop)) {
      const entry = list.insertRow();
      entry.classList.toggle("chosen", mark.column === column);
      line("td", heads[mark.column], entry);
      line("td", row[mark.column], entry);
    }
    tip.append(list);
  };
  const share = (part, whole) => {
    const percent = Math.round(100 * part / whole);
    return percent ? `${percent}%` : "less than 1%";
  };
  const tellBars = (svg, heads, { row, column, places: [{ wide }] }) => {
    const pieces = marksOf(svg).filter((mark) => mark.row === row);
    const whole = pieces.reduce((sum, mark) => sum + mark.places[0].wide, 0);
    const words = svg.querySelector("[data-c]").dataset.c;
    line("b", row.slice(0, words).join(", "), tip);
    tip.append(`${heads[column]}: ${row[column]} of ${row.at(-1)} (${share(wide, whole)})`);
  };
  const tellStrips = (svg, heads, { path, row, count, all }) => {
    const low = 10 * path.classList[0].slice(1);
    line("b", row[0], tip);
    tip.append(`${count} of ${all} squares are ${low}\u2013${low + 10}% full`);
  };
  const tellOne = (svg, heads, { row, column }) => {
    line("b", row[0], tip);
    tip.append(`${heads[column]}: ${row[column]}`);
  };
  const tellers = { lines: tellLines, bars: tellBars, strips: tellStrips };
  const show = (svg, mark, place) => {
    if (mark === near?.mark && place === near.place) return;
    hide();
    const round = mark.high ? 0 : 13;
    const ring = document.createElementNS(svg.namespaceURI, "rect");
    const [wide, high] = [place.wide + 2 * round, mark.high + 2 * round];
    for (const [name, value] of Object.entries({ class: "near", x: place.x - round, y: place.y - high / 2, width: wide, height: high, rx: round }))
      ring.setAttribute(name, value);
    mark.path.parentNode.append(ring);
    near = { mark, place, ring };
    tip.replaceChildren();
    (tellers[svg.classList[0]] ?? tellOne)(svg, headings(tableOf(svg)), mark);
    tip.hidden = false;
    const box = boxOf(mark, place);
    // Beside the mark where there is room, so that it hides no line; else above or below.
    const [wideTip, highTip, page] = [tip.offsetWidth, tip.offsetHeight, root.clientWidth];
    const [center, middle] = [box.left + box.wide / 2, box.top + box.high / 2];
    const isBeside = box.wide < 40 && (box.right + wideTip + 20 < page || box.left - wideTip - 20 > 0);
    const left = !isBeside ? center - wideTip / 2 : box.right + wideTip + 20 < page ? box.right + 12 : box.left - wideTip - 12;
    const above = box.top - highTip - 10;
    const top = isBeside ? middle - highTip / 2 : above > 4 ? above : box.bottom + 10;
    tip.style.left = `${Math.max(8, Math.min(left, page - wideTip - 8)) + scrollX}px`;
    tip.style.top = `${Math.max(4, top) + scrollY}px`;
  };
  const hide = () => {
    near?.ring.remove();
    near = null;
    tip.hidden = true;
  };
  // Lines take the pointer from afar; what has a width has to be hit, or nearly.
  const nearest = (svg, event) => {
    let best = null;
    let least = svg.classList.contains("lines") ? 60 : 8;
    for (const mark of marksOf(svg)) {
      const to = mark.path.getScreenCTM();
      for (const place of mark.places) {
        const box = boxOf(mark, place, to);
        const dx = Math.max(box.left - event.clientX, 0, event.clientX - box.right);
        const dy = Math.max(box.top - event.clientY, 0, event.clientY - box.bottom);
        const away = Math.hypot(dx, dy);
        if (away < least) { least = away; best = [mark, place]; }
      }
    }
    return best;
  };
  for (const svg of document.querySelectorAll(".panel svg")) {
    const point = (event) => {
      const found = nearest(svg, event);
      if (found) show(svg, ...found); else hide();
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      const marks = marksOf(svg);
      const at = marks.indexOf(near?.mark);
      const mark = marks[at < 0 ? 0 : (at + step + marks.length) % marks.length];
      if (mark) show(svg, mark, mark.places[0]);
    });
  }

  // A name in a legend sets its line apart.
  for (const legend of document.querySelectorAll(".lines .legend")) {
    const figure = legend.closest("figure");
    const before = headings(figure.querySelector("table")).length - legend.children.length;
    [...legend.children].forEach((entry, at) => {
      const dim = (on) => {
        for (const path of figure.querySelectorAll("svg [data-c]")) {
          const isOther = Number(path.dataset.c) !== before + at;
          path.classList.toggle("dim", on && isOther);
          const markers = path.nextElementSibling;
          if (markers && !markers.dataset.c) markers.classList.toggle("dim", on && isOther);
        }
      };
      entry.addEventListener("pointerenter", () => dim(true));
      entry.addEventListener("pointerleave", () => dim(false));
    });
  }

  // A wide table scrolls in a frame, which the keyboard reaches.
  for (const table of document.querySelectorAll("main table:not(.claims)")) {
    const frame = document.createElement("div");
    frame.className = "scroll";
    frame.tabIndex = 0;
    table.before(frame);
    frame.append(table);
  }

  // A heading sorts its table: numbers by size whatever their unit, what has none last. A second click turns the order round.
  const units = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
  const size = (text) => {
    const found = /^\s*(-?[\d,.]+)\s*([A-Za-z]*)/.exec(text);
    return found ? parseFloat(found[1].replaceAll(",", "")) * (units[found[2]] ?? 1) : NaN;
  };
  const compare = (a, b) => {
    const [x, y] = [size(a), size(b)];
    if (isNaN(x) && isNaN(y)) return a.localeCompare(b);
    return isNaN(x) ? 1 : isNaN(y) ? -1 : x - y;
  };
  for (const table of document.querySelectorAll(".scroll table")) {
    const body = table.tBodies[0];
    if (body.rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((heading, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const turned = heading.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", turned ? "descending" : "ascending");
        // A ratio follows the number.
        const text = (row) => row.cells[at].firstChild?.textContent ?? "";
        cells(table);
        const rows = [...body.rows].sort((a, b) =>
          isEmpty(text(a)) - isEmpty(text(b)) || (turned ? -1 : 1) * compare(text(a), text(b)));
        body.append(...rows);
      });
    });
  }

  // A field above a long table keeps the rows that have all its words.
  const LONG = 6;
  for (const table of document.querySelectorAll(".scroll table")) {
    const body = table.tBodies[0];
    if (body.rows.length < LONG) continue;
    const field = document.createElement("input");
    field.type = "search";
    field.className = "filter";
    field.placeholder = "Filter rows";
    field.setAttribute("aria-label", "Rows with these words");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of body.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    table.parentElement.before(field);
  }

  // A printed page has nothing to click on: what is folded stays folded, but the contents go.
  addEventListener("beforeprint", hide);
})();
