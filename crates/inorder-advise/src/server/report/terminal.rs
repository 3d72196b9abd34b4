//! Advice for a terminal.

use super::{STEPS, outline, words};
use crate::{
    advice::Verdict,
    report::{Lines, Look, verdict},
    server::advice::{Advice, Item, Part},
};

/// Lines of one kind that are shown.
const PARTS_MAX: usize = 12;
/// Lines of what is left that are shown, the largest.
const LEFT_MAX: usize = 24;
/// Columns of ids that are shown.
const IDS_MAX: usize = 40;

pub(super) fn write(advice: &Advice, look: Look) -> String {
    let mut out = Lines::new(look);
    for line in words::alerts(advice) {
        out.wrapped(0, &line);
    }
    for line in words::heading(advice) {
        out.wrapped(0, &line);
    }
    out.blank();
    ids(advice, &mut out);
    for item in advice
        .items
        .iter()
        .filter(|item| item.verdict != Verdict::Leave)
    {
        action(advice, item, &mut out);
        out.blank();
    }
    leave(advice, &mut out);
    for line in words::summary(advice) {
        out.wrapped(0, &line);
    }
    steps(advice, &mut out);
    out.text()
}

fn ids(advice: &Advice, out: &mut Lines) {
    let widths = advice.ids.iter().map(|line| line.column.chars().count());
    let width = widths.max().unwrap_or(0).min(40);
    for (at, line) in advice.ids.iter().take(IDS_MAX).enumerate() {
        let begin = if at == 0 { "ids" } else { "" };
        let text = format!(
            "{:<width$}  {}  {}",
            line.column,
            line.in_words(),
            line.note
        );
        out.entry(begin, "1", text.trim_end());
    }
    more(advice.ids.len(), IDS_MAX, out);
    if !advice.ids.is_empty() {
        out.blank();
    }
    out.doubts(&advice.ids);
}

fn more(count: usize, shown: usize, out: &mut Lines) {
    if count > shown {
        out.indented(&format!(
            "and {} more (--format json lists them)",
            count - shown
        ));
    }
}

fn action(advice: &Advice, item: &Item, out: &mut Lines) {
    let color = match item.verdict {
        Verdict::Change => "32",
        Verdict::App => "33",
        _ => "36",
    };
    let line = format!("{}   {}", words::title(item), words::figures(item));
    out.entry(verdict(item.verdict), color, line.trim_end());
    let widths = item
        .parts
        .iter()
        .map(|part| part.candidate.object.chars().count());
    let width = widths.max().unwrap_or(0).min(40);
    for part in item.parts.iter().take(PARTS_MAX) {
        let candidate = &part.candidate;
        match item.parts.len() {
            1 if words::title(item).contains(&candidate.object) => {
                out.indented(&format!("{}.", candidate.reason))
            }
            _ => out.indented(&format!(
                "{:<width$}  {:>9}  {}",
                candidate.object,
                words::figure(part),
                candidate.reason
            )),
        }
    }
    more(item.parts.len(), PARTS_MAX, out);
    for measure in item.parts.iter().filter_map(|part| part.measure.as_ref()) {
        for line in words::predicted(advice, measure) {
            out.indented(&line);
        }
    }
    for note in words::notes(item) {
        out.indented(note);
    }
}

fn leave(advice: &Advice, out: &mut Lines) {
    let left = advice
        .items
        .iter()
        .filter(|item| item.verdict == Verdict::Leave);
    let parts: Vec<&Part> = left.flat_map(|item| &item.parts).collect();
    let widths = parts.iter().map(|part| words::action(part).chars().count());
    let width = widths.max().unwrap_or(0).min(36);
    for (at, part) in parts.iter().take(LEFT_MAX).enumerate() {
        let begin = if at == 0 { "LEAVE" } else { "" };
        let tried = words::tried(advice, part);
        let text = format!(
            "{:<width$}  {tried:>17}  {}",
            words::action(part),
            part.candidate.reason
        );
        out.entry(begin, "2", &text);
    }
    more(parts.len(), LEFT_MAX, out);
    if !parts.is_empty() {
        out.blank();
    }
}

/// What each change does, step by step. The statements are in the scripts.
fn steps(advice: &Advice, out: &mut Lines) {
    if advice.plans.is_empty() {
        return;
    }
    out.blank();
    out.wrapped(0, STEPS);
    for line in outline(advice) {
        let indent = line.len() - line.trim_start().len();
        match line.is_empty() {
            true => out.blank(),
            false => out.wrapped(indent, line.trim_start()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::IdLine;
    use crate::server::report::scripts;
    use crate::server::{
        advice::Plan,
        migrate::{Step, Steps},
        model::Database,
    };

    /// Names of tables move no cursor and clear no screen.
    #[test]
    fn names_do_not_control_the_terminal() {
        let name = "orders\u{1b}[2J\rall is well";
        let plan = |steps| Plan {
            title: name.into(),
            needs_application: true,
            steps,
        };
        let steps = Steps {
            steps: vec![Step {
                what: name.into(),
                statements: vec![format!("SELECT \"{name}\"")],
            }],
            ..Steps::default()
        };
        let ids = IdLine {
            column: name.into(),
            kind: "UUIDv4".into(),
            note: name.into(),
            class: None,
            settles: Some(name.into()),
        };
        let advice = Advice {
            url: name.into(),
            database: Database {
                name: name.into(),
                notes: vec![name.into()],
                ..Database::default()
            },
            ids: vec![ids],
            counters: Vec::new(),
            read_at_s: 0,
            items: Vec::new(),
            plans: vec![plan(Ok(steps)), plan(Err(name.into()))],
            unpredicted: name.into(),
            rows_read: 0,
            sizes_are_stale: false,
        };
        let look = Look {
            color: false,
            width: 100,
        };
        let text = write(&advice, look);
        let is_control = |letter: char| letter.is_control() && letter != '\n';
        assert!(!text.contains(is_control), "{text:?}");
        let scripts = scripts(&advice);
        let mut lines = scripts.iter().flat_map(|script| script.text.lines());
        assert!(!lines.any(|line| line.starts_with("--") && line.contains(is_control)));
    }
}
