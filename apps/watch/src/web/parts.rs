//! Parts that several pages have.

use crate::{
    date,
    db::{
        entries::{PRIORITIES, RATINGS, State},
        films::{Facts, Film, Kind, YEARS},
    },
    text,
    words::{Arg, EachLanguage, Message, say},
};
use inorder_key::Ulid;
use maud::{Markup, PreEscaped, Render, html};
use std::fmt::Display;

/// Returns the name of a priority.
pub fn priority_name(priority: i64) -> Message {
    say::priority_name(priority)
}

/// The marks of all priorities, the lowest first.
static PIPS: EachLanguage<Vec<Markup>> = EachLanguage::new();

/// A priority as five marks, with its name for those who don't see them.
pub fn pips(priority: i64) -> PreEscaped<&'static str> {
    let all = PIPS.get(|| PRIORITIES.map(new_pips).collect());
    let pips = usize::try_from(priority - PRIORITIES.start()).map(|at| all.get(at));
    PreEscaped(pips.ok().flatten().map_or("", |PreEscaped(pips)| pips))
}

fn new_pips(priority: i64) -> Markup {
    html! {
        span.pips role="img" aria-label=(say::priority_label(priority, priority_name(priority))) title=(priority_name(priority)) {
            @for at in PRIORITIES {
                i.on[at <= priority] {}
            }
        }
    }
}

/// The colour of a film's poster, one of twelve, and its shape, one of four.
fn poster_look(title: &str) -> (u32, u32) {
    let hash = title
        .bytes()
        .fold(7u32, |hash, b| hash.wrapping_mul(31).wrapping_add(b.into()));
    (hash % 12, hash / 12 % 4)
}

/// The first letter of a title, without an article.
fn initial(title: &str) -> impl Display {
    let articles = ["The ", "A ", "An "];
    let rest = articles.iter().find_map(|it| title.strip_prefix(it));
    let mut letters = rest.unwrap_or(title).chars();
    let first = letters.find(|c| c.is_alphanumeric());
    first.unwrap_or('·').to_uppercase()
}

/// A small poster for a row: the first letter.
pub fn tile(film: &Film) -> Markup {
    let title = film.facts.title.as_str();
    let (colour, shape) = poster_look(title);
    html! {
        span class={ "poster h" (colour) " s" (shape) } aria-hidden="true" { b { (initial(title)) } (picture(film, "3rem")) }
    }
}

/// A poster with title and year. The style sheet shows the first letter instead where it is small.
pub fn poster(film: &Film) -> Markup {
    let title = film.facts.title.as_str();
    let (colour, shape) = poster_look(title);
    html! {
        span class={ "poster h" (colour) " s" (shape) } aria-hidden="true" {
            b { (initial(title)) }
            bdi { (title) }
            @if film.facts.year.is_some() { i { (years(&film.facts)) } }
            (picture(film, "(max-width: 40rem) 30vw, 11rem"))
        }
    }
}

/// The picture that lies over a poster of type, where there is one. Its width is that of the style sheet.
fn picture(film: &Film, width: &str) -> Markup {
    let address = |size: &str, asked_ms: i64| format!("/posters/{}/{size}?{asked_ms}", film.id);
    html! {
        @if let Some(asked_ms) = film.poster_ms {
            @let small = address("small", asked_ms);
            @let both = format!("{small} 154w, {} 342w", address("large", asked_ms));
            img src=(small) srcset=(both) sizes=(width) alt="" loading="lazy" decoding="async";
        }
    }
}

/// The day of an id's time. A script shows it in the time zone and the language of the browser.
pub fn day_of(id: Ulid) -> Markup {
    day_of_ms(id.ms())
}

/// The day of a time in milliseconds since 1970. A script shows it like that of [`day_of`].
pub fn day_of_ms(ms: u64) -> Markup {
    html! { time datetime=(date::time(ms)) { (day_words(&date::day(ms))) } }
}

/// A day, such as the one on which a film was watched.
pub fn day(day: &str) -> Markup {
    html! { time datetime=(day) { (day_words(day)) } }
}

/// A day, `YYYY-MM-DD`, as the language writes it.
fn day_words(day: &str) -> Message {
    let mut parts = day.splitn(3, '-');
    let year = parts.next().unwrap_or_default().to_owned();
    let mut number = || parts.next().and_then(|part| part.parse::<i64>().ok());
    match (number(), number()) {
        (Some(month), Some(day)) => say::day(month, day, Arg::key(year)),
        _ => say::as_is(day),
    }
}

/// How often a film was watched, if more than once.
pub fn times(state: &State) -> Markup {
    html! { @if !state.earlier.is_empty() { (say::times(state.earlier.len() + 1)) } }
}

/// The address of a film's page.
pub fn film_address(film: &Film) -> String {
    format!("/films/{}", film.id)
}

/// The address of a friend's list. Letters of the name that are not ASCII are percent-encoded.
pub fn person_address(name: &str) -> String {
    let encoded = serde_urlencoded::to_string([("", name)]).unwrap_or_default();
    format!("/people/{}", encoded.trim_start_matches('='))
}

/// A film's id, in which nothing has to be escaped.
pub fn film_id(film: &Film) -> PreEscaped<String> {
    PreEscaped(film.id.to_string())
}

/// A title as a part of the plain text of an attribute.
pub fn attribute(title: &str) -> String {
    let mut markup = String::with_capacity(title.len() + 16);
    text::isolated(title).render_to(&mut markup);
    markup
}

/// Title and year, with a link.
pub fn title(film: &Film) -> Markup {
    html! {
        // What a device needs to know of a series that is changed without a connection.
        a.title href={ "/films/" (film_id(film)) } data-seasons=[film.facts.series()] { bdi { (film.facts.title) } }
        // Most are films, whose year is not made as a text of its own.
        @match (film.facts.kind, film.facts.year) {
            (Kind::Film, Some(year)) => { " " span.year { (year) } }
            (Kind::Series, Some(_)) => { " " span.year { (years(&film.facts)) } }
            _ => {}
        }
    }
}

/// The year of a film, or the first and the last one of a series.
pub fn years(facts: &Facts) -> Markup {
    html! {
        @match (facts.kind, facts.year) {
            (Kind::Film, Some(year)) => (year),
            _ => @if let Some(years) = facts.years() { bdi { (years) } }
        }
    }
}

/// What a series is, with the number of its seasons; nothing for a film.
pub fn series(facts: &Facts) -> Markup {
    html! {
        @if let Some(seasons) = facts.series() { span.kind { (say::series_seasons(seasons)) } }
    }
}

/// How many seasons of a series were watched, if it was begun, and whether there is a new one. `series` is the number of its seasons, as in
/// [`Facts::series`].
pub fn progress(series: Option<usize>, state: &State) -> Markup {
    let Some(seasons) = series else {
        return html! {};
    };
    let watched = i64::from(state.seasons_watched);
    let is_left = (state.seasons_watched as usize) < seasons;
    // It was watched whole before.
    let is_new = watched > 0 && is_left && (state.watched || !state.earlier.is_empty());
    html! {
        @if !state.watched && watched > 0 {
            span { @if seasons > 0 { (say::season_progress(watched, seasons)) } @else { (say::season_progress_open(watched)) } }
        }
        @if is_new { span { (say::season_new()) } }
    }
}

/// Genres and the first of the people, in a line.
pub fn line(film: &Film) -> Markup {
    let Facts {
        original,
        genres,
        people,
        minutes,
        ..
    } = &film.facts;
    html! {
        (series(&film.facts))
        @if let Some(original) = original { span { bdi { (original) } } }
        @if let Some(minutes) = minutes { span.minutes { (say::minutes(*minutes)) } }
        @if !genres.is_empty() { span.genres { (names(genres)) } }
        @if !people.is_empty() { span.people { (names(people.get(..3).unwrap_or(people))) } }
    }
}

/// Names with commas between them.
pub fn names(names: &[String]) -> Markup {
    html! {
        @for (i, name) in names.iter().enumerate() {
            @if i > 0 { ", " }
            bdi { (name) }
        }
    }
}

/// The fields of every form: its token, and the address to return to.
pub fn hidden(token: &str, back: &str) -> Markup {
    html! {
        input type="hidden" name="token" value=(token);
        @if !back.is_empty() { input type="hidden" name="back" value=(back); }
    }
}

/// A field to choose one of these values; the empty one comes first.
pub fn choice<V: Render + PartialEq, N: Render>(
    name: &str,
    label: Message,
    empty: Option<Message>,
    values: impl IntoIterator<Item = (V, N)>,
    chosen: Option<&V>,
) -> Markup {
    html! {
        label.field {
            span { (label) }
            select name=(name) {
                @if let Some(empty) = empty { option value="" { (empty) } }
                @for (value, shown) in values {
                    option value=(value) selected[Some(&value) == chosen] { (shown) }
                }
            }
        }
    }
}

/// A field to choose one of the genres.
pub fn genre_choice(genres: &[String], chosen: Option<&String>) -> Markup {
    html! {
        label.field {
            span { (say::genre()) }
            select name="genre" dir="auto" {
                option value="" { (say::any()) }
                // Without a value attribute, the browser sends the text.
                @for genre in genres { option dir="auto" selected[Some(genre) == chosen] { (genre) } }
            }
        }
    }
}

/// A field to choose films or series.
pub fn kind_choice(chosen: Option<Kind>) -> Markup {
    let kinds = Kind::ALL.map(|(_, name)| (name, say::kind_choice(Arg::key(name))));
    let chosen = chosen.map(Kind::name);
    choice(
        "kind",
        say::kind(),
        Some(say::any()),
        kinds,
        chosen.as_ref(),
    )
}

/// The first years of the decades in which films can have come out, and their names.
static DECADES: EachLanguage<Vec<(i64, Markup)>> = EachLanguage::new();

/// A field to choose one of the decades since films have been made.
pub fn decade_choice(chosen: Option<i64>) -> Markup {
    let now = date::now_ms() / 1000 / 31_556_952 + 1970;
    let name = |year: i64| html! { (say::decade_of(Arg::key(year.to_string()))) };
    let all = DECADES.get(|| {
        let years = (1890..=*YEARS.end()).step_by(10);
        years.map(|year| (year, name(year))).collect()
    });
    let decades = all.iter().rev().filter(|(year, _)| *year <= now);
    let decades = decades.map(|(year, PreEscaped(name))| (*year, PreEscaped(name.as_str())));
    choice(
        "decade",
        say::decade(),
        Some(say::any()),
        decades,
        chosen.as_ref(),
    )
}

/// A field for a priority.
pub fn priority_choice(chosen: i64) -> Markup {
    html! {
        fieldset.priority {
            legend { (say::priority()) }
            @for value in PRIORITIES {
                label {
                    input type="radio" name="priority" value=(value) checked[value == chosen];
                    b { (value) }
                    small { (priority_name(value)) }
                }
            }
        }
    }
}

/// A field for a rating.
pub fn rating_choice(chosen: Option<i64>) -> Markup {
    let values = RATINGS
        .rev()
        .map(|rating| (rating, format!("{rating} / 10")));
    choice(
        "rating",
        say::rating(),
        Some(say::none()),
        values,
        chosen.as_ref(),
    )
}

/// A field for a line of text.
pub fn text(name: &str, label: Message, value: &str, hint: Option<Message>) -> Markup {
    let hint_id = format!("{name}-hint");
    html! {
        label.field for=(name) { (label) }
        input id=(name) name=(name) value=(value) dir="auto" aria-describedby=[hint.is_some().then_some(&hint_id)];
        @if let Some(hint) = hint { p.hint id=(hint_id) { (hint) } }
    }
}

/// A password field. Browsers distinguish new passwords from existing ones.
pub fn password(name: &str, label: Message, is_new: bool) -> Markup {
    password_of(name, name, label, is_new, true)
}

/// A field for one's password, on a page with several forms that ask for it.
pub fn own_password(id: &str) -> Markup {
    password_of(id, "confirm", say::password_yours(), false, true)
}

/// The same, for a form that needs the password for some changes only. The label says for which.
pub fn password_for_change(id: &str, label: Message) -> Markup {
    password_of(id, "confirm", label, false, false)
}

fn password_of(id: &str, name: &str, label: Message, is_new: bool, is_required: bool) -> Markup {
    let autocomplete = if is_new {
        "new-password"
    } else {
        "current-password"
    };
    html! {
        label.field for=(id) { (label) }
        input id=(id) name=(name) type="password" required[is_required] autocomplete=(autocomplete)
            minlength=[is_new.then_some(crate::password::CHARACTERS_MIN)] aria-describedby=[is_new.then_some(format!("{id}-hint"))];
        @if is_new { p.hint id={ (id) "-hint" } { (say::password_hint(crate::password::CHARACTERS_MIN)) } }
    }
}

/// A notice with what is to be copied, and isn't shown again.
pub fn shown_once(id: &str, words: Message, value: &impl Display) -> Markup {
    html! {
        div.notice role="status" {
            label.field for=(id) { (words) }
            input.wide id=(id) readonly value=(value.to_string()) data-select;
            // A script shows the buttons that work in this browser.
            p.buttons {
                button type="button" data-copy=(id) hidden { (say::copy()) }
                button type="button" data-share=(id) hidden { (say::share()) }
            }
        }
    }
}

/// A field for the name at sign-in.
pub fn user_name(value: &str) -> Markup {
    html! {
        label.field for="name" { (say::name()) }
        input id="name" name="name" value=(value) dir="auto" required autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="30";
    }
}

/// The error of the submitted form.
pub fn problem(words: Option<&Message>) -> Markup {
    html! {
        @if let Some(words) = words {
            p.problem role="alert" { (super::answer::sentence(words)) }
        }
    }
}
