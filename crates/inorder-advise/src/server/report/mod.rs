//! Advice on a server as text, Markdown, JSON and a page.

mod html;
mod json;
mod markdown;
mod terminal;
mod words;

use super::{
    advice::{Advice, Plan},
    migrate::script,
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

/// The steps of every plan as one script, which says that nobody ran it. `None` if there is no step.
pub fn all_steps(advice: &Advice) -> Option<String> {
    let mut out = format!(
        "-- {}\n-- {}\n-- Steps of inorder advise. They were printed from what the server says and not run by inorder: try them on a\n\
         -- copy first. Send each statement by itself, outside of a transaction, in one session.\n",
        plain(&advice.url),
        plain(&advice.database.version)
    );
    let mut count = 0;
    for plan in &advice.plans {
        match &plan.steps {
            Ok(steps) => {
                out += &format!("\n{}", script(&title(plan), steps));
                count += 1;
            }
            Err(why) => out += &format!("\n{}\n", no_steps(plan, why)),
        }
    }
    (count > 0).then_some(out)
}

/// Why a plan has no steps: one line, which SQL takes as a comment.
fn no_steps(plan: &Plan, why: &str) -> String {
    format!("-- {}: no steps: {}", title(plan), plain(why))
}

/// What a plan does, on one line.
fn title(plan: &Plan) -> String {
    let title = plain(&plan.title);
    match plan.needs_application {
        true => format!("{title} (the application must change with it)"),
        false => title,
    }
}
