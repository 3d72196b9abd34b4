//! What becomes of each column of a file that is imported.

use crate::{
    lists::{Answers, Column, Kind, Mapped, Meaning, Planned, Question, Reading},
    web::parts,
    words::{Arg, Message, say},
};
use inorder_key::Ulid;
use maud::{Markup, html};

/// What the page of an import shows.
pub struct Check<'a> {
    /// The import.
    pub id: Ulid,
    /// What the sender said of the file.
    pub answers: &'a Answers,
    /// What was read.
    pub reading: &'a Reading,
    /// What would be done.
    pub planned: &'a [Planned],
    /// How many films that are not known here can be added.
    pub addable: usize,
    /// What was wrong with what was sent before.
    pub problem: Option<&'a Message>,
}

/// What only the sender knows.
pub fn questions(reading: &Reading) -> Markup {
    html! {
        div.problem role="alert" {
            p { (say::ask()) }
            ul { @for question in &reading.questions { li { (asked(question)) } } }
        }
    }
}

/// A question, in which the name of a column is text of the file.
fn asked(question: &Question) -> Message {
    match question {
        Question::Scale(column) => say::ask_scale(html! { bdi lang="" { (column) } }),
        other => other.words(),
    }
}

/// The form: each column with what it becomes, which can be changed.
pub fn form(check: &Check<'_>, token: &str) -> Markup {
    let reading = check.reading;
    html! {
        form.card method="post" action={ "/import/" (check.id) "/columns" } {
            (parts::hidden(token, ""))
            h2 { (say::columns()) }
            p.hint { (say::columns_hint()) }
            @for (number, mapped) in reading.mapped.iter().enumerate() { (table(number, mapped)) }
            (rest(check))
            p.buttons { button { (say::columns_button()) } }
        }
    }
}

/// The columns of files that have the same ones.
fn table(number: usize, mapped: &Mapped) -> Markup {
    let unread = mapped
        .columns
        .iter()
        .filter(|column| column.meaning == Meaning::Unread);
    let unread: Vec<&Column> = unread.collect();
    let rows = match mapped.rows {
        Kind::Watched => "watched",
        Kind::ToWatch => "to_watch",
    };
    html! {
        h3 {
            @match mapped.format {
                Some(name) => { (say::columns_format(name)) }
                None => { (say::columns_unknown()) }
            }
        }
        p.hint {
            @for (at, name) in mapped.files.iter().enumerate() { @if at > 0 { ", " } bdi lang="" { (name) } }
            ". " (say::columns_rows(Arg::key(rows)))
        }
        @if !unread.is_empty() {
            p { strong { (say::columns_unread()) } " " @for (at, column) in unread.iter().enumerate() { @if at > 0 { ", " } bdi lang="" { (column.name) } } }
        }
        div.scroll { table {
            thead { tr { th scope="col" { (say::columns_name()) } th scope="col" id={ "becomes-" (number) } { (say::columns_becomes()) } th scope="col" colspan="3" { (say::columns_samples()) } } }
            tbody { @for (at, column) in mapped.columns.iter().enumerate() { (line(number, at, column, mapped.is_fixed)) } }
        } }
    }
}

fn line(number: usize, at: usize, column: &Column, is_fixed: bool) -> Markup {
    let place = Answers::place(number, at);
    let samples = (0..3).map(|row| column.samples.get(row).map_or("", String::as_str));
    let means = |meaning: Meaning| say::means(Arg::key(meaning.name()));
    // A field of a known form is read as it is, or not at all.
    let choices: Vec<Meaning> = match (is_fixed, column.usual) {
        (true, Meaning::Unread) => Vec::new(),
        (true, usual) => vec![usual, Meaning::Unread],
        (false, _) => Meaning::all()
            .filter(|meaning| *meaning != Meaning::Rating || column.meaning == Meaning::Rating)
            .collect(),
    };
    html! {
        tr {
            th scope="row" id={ "column-" (place) } { bdi lang="" { (column.name) } }
            td {
                @if choices.is_empty() {
                    (means(Meaning::Unread))
                } @else {
                    select name={ "column-" (place) } aria-labelledby={ "becomes-" (number) " column-" (place) } {
                        @for meaning in choices {
                            option value=(meaning.name()) selected[meaning == column.meaning] { (means(meaning)) }
                        }
                    }
                    @if column.is_proved { " " (say::columns_proved()) }
                }
            }
            @for sample in samples { td { bdi lang="" { (sample) } } }
        }
    }
}

/// What is said of all files.
fn rest(check: &Check<'_>) -> Markup {
    let (answers, reading) = (check.answers, check.reading);
    let day = reading
        .questions
        .iter()
        .find_map(|question| match question {
            Question::DayFirst(day) => Some(day),
            _ => None,
        });
    let profiles = reading
        .questions
        .iter()
        .find_map(|question| match question {
            Question::Profile(names) => Some(names),
            _ => None,
        });
    html! {
        label.field {
            span { (say::import_kind()) }
            select name="rows" {
                option value="" selected[answers.rows.is_none()] { (say::import_kind_file()) }
                option value="watched" selected[answers.rows == Some(Kind::Watched)] { (say::import_kind_watched()) }
                option value="to_watch" selected[answers.rows == Some(Kind::ToWatch)] { (say::import_kind_to_watch()) }
            }
        }
        @if let Some(day) = day {
            label.field {
                span { (say::ask_day_first(day.as_str())) }
                select name="day_first" {
                    option value="" {}
                    option value="1" { (say::day_first()) }
                    option value="0" { (say::month_first()) }
                }
            }
        }
        @if let Some(names) = profiles {
            label.field {
                span { (say::ask_profile()) }
                select name="profile" {
                    option value="" {}
                    @for name in names { option value=(name) lang="" { (name) } }
                }
            }
        }
        @if let Some(zone) = &reading.zone {
            label.field {
                span { (say::import_zone()) }
                input name="zone" value=(zone) autocomplete="off";
            }
        }
    }
}
