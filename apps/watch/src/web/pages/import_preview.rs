//! What an import would do, before it is done.

use crate::{
    db::{entries::State, films::Film},
    lists::{Imported, ListRow, Outcome, Planned, Reading},
    web::{
        layout::{self, Place},
        parts,
        visitor::Member,
    },
};
use inorder_key::Ulid;
use maud::{Markup, html};

/// Films that a part of the page shows.
const SHOWN_MAX: usize = 100;

/// Unclear films that can be decided at once.
const DECIDED_MAX: usize = 200;

/// The page.
pub fn page(
    Member { me, secret }: &Member,
    id: Ulid,
    reading: &Reading,
    planned: &[Planned],
    problem: Option<&str>,
) -> Markup {
    let counts = Imported::of(planned);
    let unclear: Vec<&Planned> = planned.iter().filter(|p| !p.offered.is_empty()).collect();
    let token = secret.form_token();
    let body = html! {
        section.narrow {
            h1 { "Check the import" }
            (parts::problem(problem))
            p { "Nothing is changed yet. The file names " (films(planned.len())) "." }
            form method="post" action={ "/import/" (id) } {
                (parts::hidden(&token, ""))
                div.card {
                    (new(planned, counts.added))
                    (changed(planned, counts.changed))
                    p { "As before: " (counts.present) }
                    @if !unclear.is_empty() { (decide(&unclear)) }
                    @if !counts.missing.is_empty() { (missing(planned, counts.missing.len())) }
                }
                (choices(planned))
                p.buttons { button.primary { "Import" } }
            }
            form method="post" action={ "/import/" (id) "/cancel" } {
                (parts::hidden(&token, ""))
                p.buttons { button { "Cancel" } }
            }
            (unread(reading))
        }
    };
    layout::Page::new("Check the import")
        .of(me)
        .at(Place::Account)
        .show(body)
}

fn films(count: usize) -> String {
    match count {
        1 => "1 film".to_owned(),
        count => format!("{count} films"),
    }
}

/// A part of the page that can be opened: its films, of which the first are shown.
fn part<'a>(
    words: &str,
    count: usize,
    planned: impl Iterator<Item = &'a Planned>,
    line: impl Fn(&Planned) -> Markup,
) -> Markup {
    html! {
        @if count == 0 {
            p { (words) ": 0" }
        } @else {
            details {
                summary { (words) ": " (count) }
                ul.plain { @for film in planned.take(SHOWN_MAX) { li { (line(film)) } } }
                @if count > SHOWN_MAX { p.hint { "And " (count - SHOWN_MAX) " more." } }
            }
        }
    }
}

fn new(planned: &[Planned], count: usize) -> Markup {
    let is_new = |planned: &&Planned| matches!(planned.outcome, Outcome::New(..));
    part(
        "New on your list",
        count,
        planned.iter().filter(is_new),
        |planned| {
            html! {
                (row_title(&planned.row))
                p.line { (state(&planned.row.said.state())) }
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
            p.line { "Before: " (state(before)) }
            p.line { "Then: " (state(after)) }
        }
    };
    part(
        "Changed on your list",
        count,
        planned.iter().filter(is_changed),
        line,
    )
}

/// Title and year as the file has them.
fn row_title(row: &ListRow) -> Markup {
    html! {
        bdi { (row.facts.title) }
        @if let Some(year) = row.facts.year { " " span.year { (year) } }
    }
}

/// A state in words.
fn state(state: &State) -> Markup {
    html! {
        @if state.watched {
            span { "watched" @if let Some(day) = &state.watched_on { " " (parts::day(day)) } (parts::times(state)) }
        } @else {
            span { "to watch" }
        }
        @if let Some(rating) = state.rating { span { (rating) " / 10" } }
        @if state.note.is_some() { span { "with a note" } }
        @if !state.tags.is_empty() { span { (parts::names(&state.tags)) } }
    }
}

/// The films that the user decides.
fn decide(unclear: &[&Planned]) -> Markup {
    html! {
        h2 { "Unclear: " (unclear.len()) }
        p.hint { "The year is another or missing, or several films have this title. Choose which film is meant." }
        @for planned in unclear.iter().take(DECIDED_MAX) {
            label.field {
                span { (row_title(&planned.row)) @if planned.row.facts.year.is_none() { " (no year)" } }
                select name={ "film-" (planned.at) } dir="auto" {
                    option value="" { "Leave it out" }
                    @for film in &planned.offered {
                        option value=(film.id) selected[planned.film().is_some_and(|taken| taken.id == film.id)] { (named(film)) }
                    }
                    option value="new" { "Another film: add it to the catalogue" }
                }
            }
        }
        @if unclear.len() > DECIDED_MAX {
            p.hint { "The file has " (unclear.len() - DECIDED_MAX) " more. Import it again afterwards to decide on them." }
        }
    }
}

/// A film in an option, which has no markup.
fn named(film: &Film) -> String {
    let facts = &film.facts;
    let mut words = facts.title.clone();
    if let Some(year) = facts.year {
        words += &format!(" ({year})");
    }
    if let Some(name) = facts.people.first() {
        words += &format!(", {name}");
    }
    if let Some(minutes) = facts.minutes {
        words += &format!(", {minutes} min");
    }
    words
}

fn missing(planned: &[Planned], count: usize) -> Markup {
    let is_missing = |planned: &&Planned| matches!(planned.outcome, Outcome::Missing);
    let films = planned.iter().filter(is_missing);
    html! {
        (part("Not known here", count, films, |planned| row_title(&planned.row)))
        label.tick {
            input type="checkbox" name="add_missing" value="1";
            span { "Add films that are not known here" }
        }
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
                legend { (films(different.len())) " with something else in the file than here" }
                label.tick { input type="radio" name="prefer" value="here" checked; span { "Keep what is here" } }
                label.tick { input type="radio" name="prefer" value="file"; span { "Take what the file says" } }
                (part("Show them", different.len(), different.iter().copied(), difference))
            } }
        }
        @if listed > 0 {
            div.card { fieldset {
                legend { (films(listed)) " that only lists of your own name" }
                label.tick { input type="radio" name="lists" value="1" checked; span { "Put on the list, to be watched" } }
                label.tick { input type="radio" name="lists" value="0"; span { "Leave out" } }
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
                span { (difference.what) }
                span { "here: " bdi { (short(&difference.here)) } }
                span { "in the file: " bdi { (short(&difference.there)) } }
            }
        }
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
                p { "Not read: " (problems) @if problems == 1 { " line" } @else { " lines" } }
                ul { @for problem in reading.problems.iter().take(SHOWN_MAX) { li { bdi { (problem) } } } }
            }
        }
        details {
            summary { "What was read" }
            ul.plain {
                @for (name, rows) in &reading.files { li { bdi { (name) } ": " (rows) @if *rows == 1 { " row" } @else { " rows" } } }
                @if reading.no_films > 0 { li { "Series, episodes and other rows that are no film: " (reading.no_films) } }
                @for name in reading.others.iter().take(SHOWN_MAX) { li { "Not read: " bdi { (name) } } }
            }
        }
    }
}
