//! Advice on a server as text, Markdown, JSON and a page.

mod html;
mod json;
mod markdown;
mod terminal;
mod words;

use super::{
    advice::{Advice, Plan},
    migrate::{Steps, cost, script},
    model::Product,
};
use crate::report::{Format, plain};

/// Every format; the names are those of reports on files.
pub const FORMATS: &[Format<Advice>] = &[
    Format {
        name: "text",
        write: terminal::write,
    },
    Format {
        name: "json",
        write: json::write,
    },
    Format {
        name: "md",
        write: markdown::write,
    },
    Format {
        name: "html",
        write: html::write,
    },
];

/// What stands above the outline of the steps.
const STEPS: &str = "Steps, none of which was run (--write FOLDER writes them as scripts, which prove what they rely on and stop at the first error):";

/// A script to run with the client of the server.
pub struct Script {
    /// What its file is called after the database's name.
    pub suffix: &'static str,
    /// Its text.
    pub text: String,
}

/// The scripts of all plans: those that the application doesn't notice and those that it must change with, each with one
/// that takes them back. No script without a step.
pub fn scripts(advice: &Advice) -> Vec<Script> {
    let kinds = [
        (false, false, "advise.sql"),
        (false, true, "advise-undo.sql"),
        (true, false, "advise-app.sql"),
        (true, true, "advise-app-undo.sql"),
    ];
    kinds
        .into_iter()
        .filter_map(|(needs_application, is_undo, suffix)| {
            let plans = advice
                .plans
                .iter()
                .filter(|plan| plan.needs_application == needs_application);
            let changes: Vec<(String, &Steps)> = plans
                .filter_map(|plan| Some((plan.title.clone(), plan.steps.as_ref().ok()?)))
                .collect();
            (!changes.is_empty()).then(|| Script {
                suffix,
                text: script(
                    &advice.database,
                    &about(advice, needs_application, is_undo),
                    &changes,
                    is_undo,
                ),
            })
        })
        .collect()
}

/// The first lines of a script.
fn about(advice: &Advice, needs_application: bool, is_undo: bool) -> Vec<String> {
    let client = match advice.database.product {
        Product::Postgres => "psql -f",
        Product::Mariadb => "mariadb <",
    };
    let whom = match needs_application {
        true => "The application must change with these steps: read what the report says of each.",
        false => "The application goes on as before.",
    };
    let what = match is_undo {
        true => "Takes back the steps of inorder advise, from any state.",
        false => "Steps of inorder advise, which ran none of them. Try them on a copy first.",
    };
    [
        advice.url.as_str(),
        &advice.database.version,
        what,
        whom,
        &format!("Run it by: {client} FILE. It stops at its first error. It may be run again, and does then what is left to do."),
    ]
    .map(str::to_owned)
    .to_vec()
}

/// What every plan does, step by step, in lines.
fn outline(advice: &Advice) -> Vec<String> {
    let mut lines = Vec::new();
    for plan in &advice.plans {
        lines.push(String::new());
        lines.extend(outline_of(plan));
    }
    lines
}

fn outline_of(plan: &Plan) -> Vec<String> {
    let steps = match &plan.steps {
        Ok(steps) => steps,
        Err(why) => return vec![format!("{}: no steps: {}", title(plan), plain(why))],
    };
    let mut lines = vec![title(plan), format!("  {}", cost(steps))];
    let numbered = steps.steps.iter().enumerate();
    lines.extend(numbered.map(|(at, step)| format!("  {}. {}", at + 1, plain(&step.what))));
    lines
}

/// What a plan does, on one line.
fn title(plan: &Plan) -> String {
    let title = plain(&plan.title);
    match plan.needs_application {
        true => format!("{title} (the application must change with it)"),
        false => title,
    }
}
