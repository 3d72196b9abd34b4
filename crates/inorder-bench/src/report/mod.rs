//! Reports of a run: for a terminal, a browser, a script.
//!
//! [`view::Report`] is built once from a [`Run`]; every format only lays it out, so that all show the
//! same numbers. Adding a format is one file and one line in `FORMATS`.

pub mod answer;
pub mod compare;
mod csv;
pub mod format;
mod html;
pub mod json;
pub mod level;
mod markdown;
pub mod plan;
pub mod plots;
mod sheet;
mod svg;
mod term;
pub mod verdicts;
pub mod view;

use crate::{
    claims::{CLAIMS, Claim},
    results::Run,
};

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The sentence that answers an experiment has a placeholder that cannot be read.
    #[error("experiment `{experiment}`, answer: {message}")]
    Answer {
        /// The experiment.
        experiment: String,
        /// What is wrong, and at which character.
        message: String,
    },
    /// The JSON could not be written.
    #[error("cannot write the report as JSON")]
    Json(#[from] serde_json::Error),
    /// The samples could not be written as CSV.
    #[error("cannot write the samples as CSV")]
    Csv(#[from] ::csv::Error),
    /// Memory for the CSV could not be had.
    #[error("cannot write the samples as CSV")]
    Io(#[from] std::io::Error),
    /// A comparison of two runs has no such format.
    #[error("a comparison cannot be written as {format}; use term, md or json")]
    NoComparison {
        /// The format asked for.
        format: &'static str,
    },
    /// The page's template does not fit its data.
    #[error("cannot write the report as a page")]
    Page(#[from] minijinja::Error),
}

/// What the place the report goes to can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Colours and box-drawing characters; plain ASCII without.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            color: false,
            width: 100,
        }
    }
}

/// A way to write a report down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Tables for a terminal.
    Term,
    /// One self-contained page with plots.
    Html,
    /// Tables in Markdown.
    Md,
    /// Everything, structured.
    Json,
    /// Every sample.
    Csv,
}

/// A format: what it is called and how it is made.
struct FormatInfo {
    format: Format,
    name: &'static str,
    render: fn(&Run, &[Claim], &Options) -> Result<String, Error>,
}

/// Every format.
const FORMATS: &[FormatInfo] = &[
    FormatInfo {
        format: Format::Term,
        name: "term",
        render: |run, claims, options| Ok(term::render(&view::Report::new(run, claims)?, options)),
    },
    FormatInfo {
        format: Format::Html,
        name: "html",
        render: |run, claims, _| html::render(&view::Report::new(run, claims)?),
    },
    FormatInfo {
        format: Format::Md,
        name: "md",
        render: |run, claims, _| Ok(markdown::render(&view::Report::new(run, claims)?)),
    },
    FormatInfo {
        format: Format::Csv,
        name: "csv",
        render: |run, _, _| csv::render(run),
    },
    FormatInfo {
        format: Format::Json,
        name: "json",
        render: |run, claims, _| json::render(&view::Report::new(run, claims)?),
    },
];

impl Format {
    /// Every format, in the order help lists them.
    pub const ALL: &[Format] = &{
        let mut all = [Format::Term; FORMATS.len()];
        let mut at = 0;
        while at < FORMATS.len() {
            all[at] = FORMATS[at].format;
            at += 1;
        }
        all
    };

    /// The name used on the command line; also the ending of a file that holds it, but for `term`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name)
    }

    fn info(self) -> &'static FormatInfo {
        FORMATS
            .iter()
            .find(|info| info.format == self)
            .unwrap_or(&FORMATS[0])
    }
}

/// The report of a run with the verdicts on the published claims.
///
/// # Errors
/// When an experiment's answer has a bad placeholder, or the text cannot be written.
pub fn render(run: &Run, format: Format, options: &Options) -> Result<String, Error> {
    render_with(run, &CLAIMS, format, options)
}

/// The same with the claims of your choice.
///
/// # Errors
/// As [`render`].
pub fn render_with(
    run: &Run,
    claims: &[Claim],
    format: Format,
    options: &Options,
) -> Result<String, Error> {
    (format.info().render)(run, claims, options)
}
