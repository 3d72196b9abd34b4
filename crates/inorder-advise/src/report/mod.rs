//! Advice as text, Markdown, JSON and a page.

mod html;
mod json;
mod lines;
mod markdown;
mod terminal;
mod words;

pub(crate) use html::{STYLE, doubts as doubts_in_html};
pub(crate) use lines::Lines;
pub use lines::plain;
pub(crate) use words::{
    bytes, change_of_bytes, change_of_percent, doubts, escaped_html, escaped_markdown, plural,
    verdict,
};

use crate::advice::Advice;

/// How a report is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether verdicts have colours.
    pub color: bool,
    /// Columns of a line.
    pub width: usize,
}

/// A format of reports on advice of the type `A`.
pub struct Format<A> {
    /// Its name on the command line.
    pub name: &'static str,
    /// Writes a report.
    pub write: fn(&A, Look) -> String,
}

/// Every format.
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
