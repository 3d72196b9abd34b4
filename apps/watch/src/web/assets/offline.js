// The list without a connection: what the device has of it, and forms to change it.
"use strict";
(() => {
  const ROWS = 100, AGAIN_MS = 15_000;
  let isWatched = false, rows = ROWS;

  // An element with properties, and what is in it.
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children.filter(child => child !== null));
    return element;
  };
  const option = (value, words, chosen) => make("option", { value, selected: String(value) === String(chosen ?? "") }, words);
  const field = (words, input) => make("label", { className: "field" }, make("span", {}, words), input);
  const tick = (name, words, checked) => make("label", { className: "tick" }, make("input", { type: "checkbox", name, checked }), make("span", {}, words));
  const numbers = (from, to) => Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => from + Math.sign(to - from) * i);

  const act = async (film, verb, data = new FormData()) => {
    await device.keep(`/list/${film.film}/${verb}`, data);
    await show();
    document.getElementById("live").textContent = "Kept on this device.";
  };

  const form = film => {
    const { priority, watched, note, tags = [] } = film.fields;
    const button = (verb, words) => make("button", { type: "button", onclick: () => act(film, verb) }, words);
    const moves = watched.watched ? [] : [button("top", "To the top"), button("up", "Up"), button("down", "Down")];
    const made = make("form", {},
      field("Priority", make("select", { name: "priority" }, ...numbers(5, 1).map(n => option(n, n, priority)))),
      tick("private", "Private", !film.fields.public),
      tick("watched", "I have watched it", watched.watched),
      field("On", make("input", { type: "date", name: "watched_on", value: watched.watched_on ?? "" })),
      watched.watched ? field("Earlier days, as 2026-01-31, with commas between them", make("input", { name: "earlier", value: (watched.earlier ?? []).join(", ") })) : null,
      field("Rating", make("select", { name: "rating" }, option("", "None", watched.rating), ...numbers(10, 1).map(n => option(n, n, watched.rating)))),
      field("Note", make("textarea", { name: "note", rows: 3, maxLength: 2000, dir: "auto", value: note ?? "" })),
      field("Lists, with commas between them", make("input", { name: "tags", dir: "auto", value: tags.join(", ") })),
      make("p", { className: "buttons" }, make("button", { className: "primary" }, "Save"), ...moves, button("remove", "Take off the list")));
    made.addEventListener("submit", event => {
      event.preventDefault();
      act(film, "save", new FormData(made));
    });
    return made;
  };

  const row = film => {
    const { priority, watched, note, tags = [] } = film.fields;
    const said = watched.watched
      ? ["Watched", watched.watched_on && device.day(watched.watched_on), watched.earlier?.length && `${watched.earlier.length + 1} times`, watched.rating && `${watched.rating} / 10`].filter(Boolean).join(" ")
      : `Priority ${priority}`;
    const details = make("details", {}, make("summary", {}, "Change"));
    details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(form(film)); });
    return make("li", { className: "film offline", id: `f${film.film}` },
      make("div", { className: "what" },
        make("p", {}, make("bdi", { className: "title" }, film.title), film.year ? make("span", { className: "year" }, ` ${film.year}`) : null),
        make("p", { className: "marks" }, make("span", {}, said), film.fields.public ? null : make("span", { className: "private" }, "Private")),
        tags.length ? make("p", { className: "chips" }, ...tags.map(tag => make("bdi", {}, tag))) : null,
        note ? make("p", { className: "note", dir: "auto" }, note) : null,
        details));
  };

  const adder = films => {
    const known = [...films.values()].filter(film => !film.fields.listed);
    const words = film => film.year ? `${film.title} (${film.year})` : film.title;
    const list = make("datalist", { id: "known" }, ...known.map(film => make("option", { value: words(film) })));
    const input = make("input", { id: "add", autocomplete: "off" });
    input.setAttribute("list", "known");
    const made = make("form", {}, make("label", { className: "field" }, make("span", {}, "Add a film that this device has seen"), input), list, make("p", { className: "buttons" }, make("button", {}, "Add")));
    made.addEventListener("submit", event => {
      event.preventDefault();
      const film = known.find(film => [words(film), film.title].includes(input.value));
      if (film) act(film, "add");
    });
    return known.length > 0 ? made : null;
  };

  const refusal = operation => make("div", { className: "problem" },
    make("p", {}, "A change of “", make("bdi", {}, operation.title), `” could not be sent: ${operation.reason}`),
    operation.set.note ? make("p", { className: "note", dir: "auto" }, operation.set.note) : null,
    make("button", { type: "button", onclick: () => device.discard(operation.id).then(show) }, "Discard it"));

  const show = async () => {
    const now = await device.view();
    if (!now?.pulled) return;
    const watched = [...now.films.values()].filter(film => film.fields.listed && film.fields.watched.watched)
      .sort((one, other) => (other.fields.watched.watched_on ?? "").localeCompare(one.fields.watched.watched_on ?? ""));
    const films = isWatched ? watched : device.ordered(now.films);
    const tab = (of, words) => make("button", { type: "button", ariaPressed: String(isWatched === of), onclick: () => { isWatched = of; rows = ROWS; show(); } }, words);
    const count = now.waiting.length;
    const more = films.length > rows ? make("button", { type: "button", onclick: () => { rows += ROWS; show(); } }, "Show more") : null;
    document.getElementById("offline").replaceChildren(
      make("h1", {}, "Your list"),
      make("div", { className: "notice" }, make("p", { id: "waits" }, "No connection. ",
        count === 0 ? "This is the copy on this device." : count === 1 ? "1 change waits on this device." : `${count} changes wait on this device.`)),
      ...now.refused.map(refusal),
      make("p", { className: "buttons" }, tab(false, "To watch"), tab(true, "Watched")),
      make("ol", { className: "films" }, ...films.slice(0, rows).map(row)),
      ...[more, adder(now.films)].filter(Boolean));
  };

  const back = () => device.sync().then(() => location.reload(), () => {});
  addEventListener("online", back);
  setInterval(back, AGAIN_MS);
  show();
})();
