//! What an import would do, before it is done.

use super::import_columns::{self, Check};
use crate::{
    db::{
        entries::State,
        films::{Film, Kind},
    },
    lists::{self, Difference, Imported, ListRow, Outcome, Planned, Reading},
    web::{
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::{Arg, Message, say},
};
use maud::{Markup, html};

/// Films that a part of the page shows.
const SHOWN_MAX: usize = 100;

/// Unclear films that can be decided at once.
const DECIDED_MAX: usize = 200;

/// The page.
pub fn page(Member { me, secret }: &Member, check: &Check<'_>) -> Markup {
    let (id, planned, reading) = (check.id, check.planned, check.reading);
    let counts = Imported::of(planned);
    let token = secret.form_token();
    let body = html! {
        section.narrow {
            h1 { (say::preview()) }
            (parts::problem(check.problem))
            p { (say::preview_hint(say::films(planned.len()))) }
            @if !reading.questions.is_empty() { (import_columns::questions(reading)) }
            (import_columns::form(check, &token))
            @if reading.questions.is_empty() {
                form method="post" action={ "/import/" (id) } {
                    (parts::hidden(&token, ""))
                    (plan(check, &counts))
                    (choices(planned))
                    p.buttons { button.primary { (say::preview_button()) } }
                }
            } @else {
                (plan(check, &counts))
            }
            form method="post" action={ "/import/" (id) "/cancel" } {
                (parts::hidden(&token, ""))
                p.buttons { button { (say::cancel()) } }
            }
            (unread(reading))
        }
    };
    layout::Page::new(say::preview())
        .of(me)
        .at(Place::Account)
        .show(body)
}

/// What would be done.
fn plan(check: &Check<'_>, counts: &Imported) -> Markup {
    let planned = check.planned;
    let unclear = |planned: &&Planned| {
        !planned.offered.is_empty() || matches!(planned.outcome, Outcome::Unclear)
    };
    let unclear: Vec<&Planned> = planned.iter().filter(unclear).collect();
    html! {
        div.card {
            (new(planned, counts.added))
            (changed(planned, counts.changed))
            p { (say::preview_present(counts.present)) }
            @if !unclear.is_empty() { (decide(&unclear)) }
            @if !counts.missing.is_empty() { (missing(check, counts.missing.len())) }
            @if !counts.no_room.is_empty() { (no_room(planned, counts.no_room.len())) }
        }
    }
}

/// A part of the page that can be opened: its films, of which the first are shown.
fn part<'a>(
    words: Message,
    count: usize,
    planned: impl Iterator<Item = &'a Planned>,
    line: impl Fn(&Planned) -> Markup,
) -> Markup {
    let words = say::preview_part(words, count);
    html! {
        @if count == 0 {
            p { (words) }
        } @else {
            details {
                summary { (words) }
                ul.plain { @for film in planned.take(SHOWN_MAX) { li { (line(film)) } } }
                @if count > SHOWN_MAX { p.hint { (say::and_more(count - SHOWN_MAX)) } }
            }
        }
    }
}

fn new(planned: &[Planned], count: usize) -> Markup {
    let is_new = |planned: &&Planned| matches!(planned.outcome, Outcome::New(..));
    part(
        say::preview_new(),
        count,
        planned.iter().filter(is_new),
        |planned| {
            html! {
                (row_title(&planned.row))
                @if let Outcome::New(_, said) = &planned.outcome { p.line { (state(said)) } }
            }
        },
    )
}

fn changed(planned: &[Planned], count: usize) -> Markup {
    let is_changed = |planned: &&Planned| match &planned.outcome {
        Outcome::Present { before, after, .. } => before != after,
        _ => false,
    };
    let line = |planned: &Planned| {
        let Outcome::Present { before, after, .. } = &planned.outcome else {
            return html! {};
        };
        html! {
            (row_title(&planned.row))
            p.line { (say::preview_before(state(before))) }
            p.line { (say::preview_then(state(after))) }
        }
    };
    part(
        say::preview_changed(),
        count,
        planned.iter().filter(is_changed),
        line,
    )
}

/// Title and year as the file has them.
fn row_title(row: &ListRow) -> Markup {
    html! {
        bdi { (row.facts.title) }
        @if row.facts.year.is_some() { " " span.year { (parts::years(&row.facts)) } }
        @if row.facts.kind == Kind::Series { " " (parts::series(&row.facts)) }
    }
}

/// A state in words.
fn state(state: &State) -> Markup {
    html! {
        @if state.watched {
            span { (say::preview_watched()) @if let Some(day) = &state.watched_on { " " (parts::day(day)) } (parts::times(state)) }
        } @else {
            span { (say::preview_to_watch()) }
            @if state.seasons_watched > 0 { span { (say::season_progress_open(state.seasons_watched)) } }
        }
        @if let Some(rating) = state.rating { span { (rating) " / 10" } }
        @if state.note.is_some() { span { (say::preview_note()) } }
        @if !state.tags.is_empty() { span { (parts::names(&state.tags)) } }
    }
}

/// The films that the user decides.
fn decide(unclear: &[&Planned]) -> Markup {
    html! {
        h2 { (say::preview_unclear(unclear.len())) }
        p.hint { (say::preview_unclear_hint()) }
        @for planned in unclear.iter().take(DECIDED_MAX) {
            label.field {
                span { (row_title(&planned.row)) @if planned.row.facts.year.is_none() { " " (say::preview_no_year()) } }
                select name={ "film-" (planned.at) } dir="auto" {
                    option value="" { (say::preview_leave_out()) }
                    @for film in &planned.offered {
                        option value=(film.id) selected[planned.film().is_some_and(|taken| taken.id == film.id)] { (named(film)) }
                    }
                    option value="new" { (say::preview_other()) }
                }
            }
        }
        @if unclear.len() > DECIDED_MAX {
            p.hint { (say::preview_unclear_more(unclear.len() - DECIDED_MAX)) }
        }
    }
}

/// A film in an option, which has no markup.
fn named(film: &Film) -> String {
    let facts = &film.facts;
    let mut words = facts.title.clone();
    if let Some(years) = facts.years() {
        words += &format!(" ({years})");
    }
    if let Some(seasons) = facts.series() {
        words += ", ";
        words += &say::series_seasons(seasons).plain();
    }
    if let Some(name) = facts.people.first() {
        words += &format!(", {name}");
    }
    if let Some(minutes) = facts.minutes {
        words += ", ";
        words += &say::minutes(minutes).plain();
    }
    words
}

fn missing(check: &Check<'_>, count: usize) -> Markup {
    let is_missing = |planned: &&Planned| matches!(planned.outcome, Outcome::Missing);
    let films = check.planned.iter().filter(is_missing);
    html! {
        (part(say::preview_missing(), count, films, |planned| row_title(&planned.row)))
        label.tick {
            input type="checkbox" name="add_missing" value="1";
            span { (say::preview_add_missing()) }
        }
        @if check.addable < count { p.hint { (lists::no_room(count - check.addable)) } }
    }
}

fn no_room(planned: &[Planned], count: usize) -> Markup {
    let is_left = |planned: &&Planned| matches!(planned.outcome, Outcome::NoRoom);
    html! {
        (part(say::preview_no_room(), count, planned.iter().filter(is_left), |planned| row_title(&planned.row)))
        p.hint { (lists::no_room(count)) }
    }
}

/// What is chosen for many films at once.
fn choices(planned: &[Planned]) -> Markup {
    let listed = planned.iter().filter(|planned| planned.row.is_listed_only);
    let listed = listed.count();
    let differences = |planned: &Planned| match &planned.outcome {
        Outcome::Present { differences, .. } => !differences.is_empty(),
        _ => false,
    };
    let different: Vec<&Planned> = planned.iter().filter(|p| differences(p)).collect();
    html! {
        @if !different.is_empty() {
            div.card { fieldset {
                legend { (say::preview_different(say::films(different.len()))) }
                label.tick { input type="radio" name="prefer" value="here" checked; span { (say::preview_keep()) } }
                label.tick { input type="radio" name="prefer" value="file"; span { (say::preview_take()) } }
                (part(say::preview_show(), different.len(), different.iter().copied(), difference))
            } }
        }
        @if listed > 0 {
            div.card { fieldset {
                legend { (say::preview_listed(say::films(listed))) }
                label.tick { input type="radio" name="lists" value="1" checked; span { (say::preview_listed_put()) } }
                label.tick { input type="radio" name="lists" value="0"; span { (say::preview_listed_leave()) } }
            } }
        }
    }
}

fn difference(planned: &Planned) -> Markup {
    let Outcome::Present { differences, .. } = &planned.outcome else {
        return html! {};
    };
    html! {
        (row_title(&planned.row))
        @for difference in differences {
            p.line {
                span { (say::preview_what(Arg::key(difference.what))) }
                span { (say::preview_here(shown(difference, &difference.here))) }
                span { (say::preview_there(shown(difference, &difference.there))) }
            }
        }
    }
}

/// A value of an entry in words.
fn shown(difference: &Difference, value: &str) -> Markup {
    match difference.what {
        "public" => html! { (say::preview_seen_by(Arg::key(value.to_owned()))) },
        _ => html! { bdi { (short(value)) } },
    }
}

/// The beginning of a text.
fn short(text: &str) -> String {
    const CHARACTERS: usize = 80;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What was read, and what was not.
fn unread(reading: &Reading) -> Markup {
    let problems = reading.problems.len() + reading.more_problems;
    html! {
        @if problems > 0 {
            div.problem {
                p { (say::preview_unread(problems)) }
                ul { @for problem in reading.problems.iter().take(SHOWN_MAX) { li { (problem) } } }
            }
        }
        details {
            summary { (say::preview_read()) }
            ul.plain {
                @for (name, rows) in &reading.files { li { (say::preview_rows(name, *rows)) } }
                @if reading.dropped > 0 { li { (say::preview_dropped(reading.dropped)) } }
                @if reading.no_films > 0 { li { (say::preview_no_films(reading.no_films)) } }
                @for name in reading.others.iter().take(SHOWN_MAX) { li { (say::preview_unread_file(name)) } }
            }
        }
    }
}
