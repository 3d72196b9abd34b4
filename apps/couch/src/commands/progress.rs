//! The progress of a command on stderr, if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// Shows so many of a total; what is shorter than a moment shows nothing.
pub fn bar(total: Option<u64>, what: &'static str) -> ProgressBar {
    let bar = match total {
        Some(total) => ProgressBar::new(total),
        None => ProgressBar::no_length(),
    };
    let template = match total {
        Some(_) => "{bar:30} {human_pos} of {human_len} {msg}, {eta} left",
        None => "{spinner} {human_pos} {msg}, {per_sec}",
    };
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    bar.with_style(style).with_message(what)
}
