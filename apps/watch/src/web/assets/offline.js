// The list without a connection: what the device has of it, and forms to change it.
"use strict";
(() => {
  const ROWS = 100, AGAIN_MS = 15_000;
  let isWatched = false, rows = ROWS;

  const { make } = device;
  const option = (value, text, chosen) => make("option", { value, defaultSelected: String(value) === String(chosen ?? "") }, text);
  const field = (text, input) => make("label", { className: "field" }, make("span", {}, text), input);
  const tick = (name, text, checked) => make("label", { className: "tick" }, make("input", { type: "checkbox", name, defaultChecked: checked }), make("span", {}, text));
  const numbers = (from, to) => Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => from + Math.sign(to - from) * i);

  const act = async (film, verb, data = new FormData(), form = null) => {
    await device.keep(`/list/${film.film}/${verb}`, data, form);
    await show();
    document.getElementById("live").textContent = words("kept-here");
  };

  // The number of seasons of a series, 0 if it isn't known; null for a film.
  const seasonsOf = film => film.kind === "series" ? film.seasons.length : null;
  const years = ({ kind, year, end_year }) => kind === "series" && year && end_year !== year ? `${year}–${end_year ?? ""}` : year;

  // How far a series was watched.
  const howFar = film => {
    const seasons = seasonsOf(film), { watched, seasons_watched: begun = 0 } = film.fields.watched;
    if (seasons === null) return [tick("watched", words("have-watched"), watched)];
    const input = seasons > 0
      ? make("select", { name: "seasons_watched" }, ...numbers(0, seasons).map(n => option(n, n, watched ? seasons : begun)))
      : make("input", { type: "number", name: "seasons_watched", min: 0, max: 200, defaultValue: begun });
    return [seasons > 0 ? null : tick("watched", words("have-watched"), watched), field(words("seasons-watched"), input)];
  };

  const form = film => {
    const { priority, watched, note, tags = [] } = film.fields;
    const button = (verb, text) => make("button", { type: "button", onclick: () => act(film, verb) }, text);
    const moves = watched.watched ? [] : [button("top", words("top")), button("up", words("up")), button("down", words("down"))];
    const made = make("form", {},
      field(words("priority"), make("select", { name: "priority" }, ...numbers(5, 1).map(n => option(n, n, priority)))),
      tick("private", words("private"), !film.fields.public),
      ...howFar(film),
      field(words("on"), make("input", { type: "date", name: "watched_on", defaultValue: watched.watched_on ?? "" })),
      watched.watched || watched.earlier?.length ? field(words("earlier"), make("input", { name: "earlier", defaultValue: (watched.earlier ?? []).join(", ") })) : null,
      field(words("rating"), make("select", { name: "rating" }, option("", words("none"), watched.rating), ...numbers(10, 1).map(n => option(n, n, watched.rating)))),
      field(words("note"), make("textarea", { name: "note", rows: 3, maxLength: 2000, dir: "auto", defaultValue: note ?? "" })),
      field(words("lists"), make("input", { name: "tags", dir: "auto", defaultValue: tags.join(", ") })),
      make("p", { className: "buttons" }, make("button", { className: "primary" }, words("save")), ...moves, button("remove", words("take-off"))));
    made.addEventListener("submit", event => {
      event.preventDefault();
      act(film, "save", new FormData(made), made).catch(wrong => {
        made.querySelector(".problem")?.remove();
        made.prepend(make("p", { className: "problem", role: "alert" }, wrong.message));
      });
    });
    return made;
  };

  const row = film => {
    const { priority, watched, note, tags = [] } = film.fields;
    const said = watched.watched
      ? [words("watched"), watched.watched_on && device.day(watched.watched_on), watched.earlier?.length && words("times", { count: watched.earlier.length + 1 }), watched.rating && `${watched.rating} / 10`].filter(Boolean).join(" ")
      : words("priority-of", { priority });
    const seasons = seasonsOf(film), begun = watched.seasons_watched ?? 0, next = begun + 1;
    const progress = seasons === null || watched.watched || begun === 0 ? null
      : seasons > 0 ? words("season-progress", { watched: begun, seasons }) : words("season-progress-open", { watched: begun });
    const season = seasons === null || watched.watched || (seasons > 0 && next > seasons) ? null
      : make("p", { className: "buttons" }, make("button", { type: "button", onclick: () => act(film, `season/${next}`) }, words("season", { season: next })));
    const details = make("details", {}, make("summary", {}, words("change")));
    details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(form(film)); });
    return make("li", { className: "film offline", id: `f${film.film}` },
      make("div", { className: "what" },
        make("p", {}, make("bdi", { className: "title" }, film.title), film.year ? make("span", { className: "year" }, ` ${years(film)}`) : null),
        make("p", { className: "marks" }, make("span", {}, said), progress && make("span", {}, progress), film.fields.public ? null : make("span", { className: "private" }, words("private"))),
        tags.length ? make("p", { className: "chips" }, ...tags.map(tag => make("bdi", {}, tag))) : null,
        note ? make("p", { className: "note", dir: "auto" }, note) : null,
        season, details));
  };

  const adder = films => {
    const known = [...films.values()].filter(film => !film.fields.listed);
    const named = film => film.year ? `${film.title} (${film.year})` : film.title;
    const list = make("datalist", { id: "known" }, ...known.map(film => make("option", { value: named(film) })));
    const input = make("input", { id: "add", autocomplete: "off" });
    input.setAttribute("list", "known");
    const made = make("form", {}, make("label", { className: "field" }, make("span", {}, words("add-seen")), input), list, make("p", { className: "buttons" }, make("button", {}, words("add"))));
    made.addEventListener("submit", event => {
      event.preventDefault();
      const film = known.find(film => [named(film), film.title].includes(input.value));
      if (film) act(film, "add");
    });
    return known.length > 0 ? made : null;
  };

  const show = async () => {
    const now = await device.view();
    if (!now?.pulled) return;
    const watched = [...now.films.values()].filter(film => film.fields.listed && film.fields.watched.watched)
      .sort((one, other) => (other.fields.watched.watched_on ?? "").localeCompare(one.fields.watched.watched_on ?? ""));
    const films = isWatched ? watched : device.ordered(now.films);
    const tab = (of, text) => make("button", { type: "button", ariaPressed: String(isWatched === of), onclick: () => { isWatched = of; rows = ROWS; show(); } }, text);
    const count = now.waiting.length;
    const more = films.length > rows ? make("button", { type: "button", onclick: () => { rows += ROWS; show(); } }, words("more")) : null;
    document.getElementById("offline").replaceChildren(
      make("h1", {}, words("list")),
      make("div", { className: "notice" }, make("p", { id: "waits" }, words("offline"), " ", count === 0 ? words("copy") : words("waits", { count }))),
      ...now.refused.map(operation => device.refusal(operation, show)),
      make("p", { className: "buttons" }, tab(false, words("to-watch")), tab(true, words("watched"))),
      make("ol", { className: "films" }, ...films.slice(0, rows).map(row)),
      ...[more, adder(now.films)].filter(Boolean));
  };

  // While something is typed the copy stays the one that it was typed on: the server merges by its versions.
  const back = () => (device.isTyped() ? device.reach() : device.sync()).then(device.renew, () => {});
  addEventListener("online", back);
  setInterval(back, AGAIN_MS);
  show();
})();
