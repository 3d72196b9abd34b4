//! Types shared by all reports: format, destination and errors.

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The sentence that answers an experiment has a placeholder that cannot be read.
    #[error("experiment `{experiment}`, answer: {message}")]
    Answer {
        /// The experiment.
        experiment: String,
        /// The fault and its position.
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
    #[error("a comparison cannot be written as {format}; use term, md, html or json")]
    NoComparison {
        /// The requested format.
        format: &'static str,
    },
    /// The page's template does not fit its data.
    #[error("cannot write the report as a page")]
    Page(#[from] minijinja::Error),
}

/// The capabilities of the output device.
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

/// The format of a report.
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

impl Format {
    /// Every format, in the order help lists them.
    pub const ALL: &[Format] = &[
        Format::Term,
        Format::Html,
        Format::Md,
        Format::Csv,
        Format::Json,
    ];

    /// The name used on the command line; also the ending of a file that holds it, but for `term`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Term => "term",
            Format::Html => "html",
            Format::Md => "md",
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }

    /// The format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|format| format.name() == name)
    }
}
