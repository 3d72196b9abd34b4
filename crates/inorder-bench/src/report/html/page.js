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

  // Tooltips: every <title> of a drawing becomes one of our own, which a finger and the arrow keys
  // reach as well. Without this script the browser shows the titles itself.
  const tip = document.getElementById("tip");
  const texts = new Map();
  for (const title of document.querySelectorAll(".panel svg title")) {
    texts.set(title.parentNode, title.textContent);
    title.remove();
  }
  let near = null;

  const line = (tag, text, parent) => {
    const element = document.createElement(tag);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  // The title of a point of a line is "name, place: value".
  const said = (point) => {
    const text = texts.get(point).slice(point.parentNode.dataset.name.length + 2);
    const at = text.indexOf(": ");
    return { x: text.slice(0, at), value: text.slice(at + 2) };
  };
  // A point of a line tells of all lines at the same place.
  const tell = (mark) => {
    tip.replaceChildren();
    if (!mark.classList.contains("point")) {
      const [first, ...rest] = texts.get(mark).split("\n");
      line("b", first, tip);
      tip.append(rest.join("\n"));
      return;
    }
    const { x } = said(mark);
    line("b", x, tip);
    const table = document.createElement("table");
    const middle = (point) => { const box = point.getBoundingClientRect(); return box.top + box.height / 2; };
    [...mark.ownerSVGElement.querySelectorAll(".point")]
      .filter((point) => said(point).x === x)
      .sort((a, b) => middle(a) - middle(b))
      .forEach((point) => {
        const row = table.insertRow();
        row.classList.toggle("chosen", point === mark);
        line("td", point.parentNode.dataset.name, row);
        line("td", said(point).value, row);
      });
    tip.append(table);
  };
  const show = (mark) => {
    if (mark === near) return;
    hide();
    near = mark;
    mark.classList.add("near");
    tell(mark);
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    // Beside the mark where there is room, so that it hides no line; else above or below.
    const [wide, high, page] = [tip.offsetWidth, tip.offsetHeight, root.clientWidth];
    const [center, middle] = [box.left + box.width / 2, box.top + box.height / 2];
    const isBeside = box.width < 40 && (box.right + wide + 20 < page || box.left - wide - 20 > 0);
    const left = !isBeside ? center - wide / 2 : box.right + wide + 20 < page ? box.right + 12 : box.left - wide - 12;
    const above = box.top - high - 10;
    const top = isBeside ? middle - high / 2 : above > 4 ? above : box.bottom + 10;
    tip.style.left = `${Math.max(8, Math.min(left, page - wide - 8)) + scrollX}px`;
    tip.style.top = `${Math.max(4, top) + scrollY}px`;
  };
  const hide = () => {
    near?.classList.remove("near");
    near = null;
    tip.hidden = true;
  };
  const marksOf = (svg) => [...svg.querySelectorAll("*")].filter((element) => texts.has(element));
  const nearest = (svg, event) => {
    let best = null;
    let least = 60 * 60;
    for (const mark of marksOf(svg)) {
      const box = mark.getBoundingClientRect();
      const dx = box.left + box.width / 2 - event.clientX;
      const dy = box.top + box.height / 2 - event.clientY;
      if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = mark; }
    }
    return best;
  };
  for (const svg of document.querySelectorAll(".panel svg")) {
    const isLines = svg.classList.contains("lines");
    const point = (event) => {
      const mark = isLines ? nearest(svg, event) : event.target.closest("*");
      if (mark && texts.has(mark)) show(mark); else hide();
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
      const at = marks.indexOf(near);
      show(marks[at < 0 ? 0 : (at + step + marks.length) % marks.length]);
    });
  }

  // A name in a legend sets its line apart.
  for (const entry of document.querySelectorAll(".lines .legend li")) {
    const lines = [...entry.closest("figure").querySelectorAll("svg g[data-name]")];
    const dim = (on) => lines.forEach((g) => g.classList.toggle("dim", on && g.dataset.name !== entry.dataset.name));
    entry.addEventListener("pointerenter", () => dim(true));
    entry.addEventListener("pointerleave", () => dim(false));
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
        const text = (row) => (row.cells[at].querySelector(".value") ?? row.cells[at]).textContent;
        const isEmpty = (row) => /^\s*(n\/a)?$/.test(text(row));
        const rows = [...body.rows].sort((a, b) =>
          isEmpty(a) - isEmpty(b) || (turned ? -1 : 1) * compare(text(a), text(b)));
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
