//! Reports of a run: for a terminal, a browser, a script.
//!
//! [`view::Report`] is built once from a [`Run`]; every format only lays it out, so that all show the
//! same numbers. Adding a format is one file and a variant of [`Format`].

pub mod answer;
pub mod compare;
mod csv;
mod html;
pub mod json;
pub mod markdown;
mod output;
pub mod plan;
pub mod plots;
mod ranking;
mod sheet;
pub mod svg;
mod term;
pub mod verdicts;
pub mod view;

pub use output::{Error, Format, Options};

use crate::{
    claims::{CLAIMS, Claim},
    results::Run,
};

/// The report of a run with the verdicts on the published claims.
///
/// # Errors
/// If an experiment's answer has a bad placeholder, or the text cannot be written.
pub fn render(run: &Run, format: Format, options: &Options) -> Result<String, Error> {
    render_with(run, &CLAIMS, format, options)
}

/// The same with the claims of your choice.
///
/// # Errors
/// Those of [`render`].
pub fn render_with(
    run: &Run,
    claims: &[Claim],
    format: Format,
    options: &Options,
) -> Result<String, Error> {
    let report = || view::Report::new(run, claims);
    match format {
        Format::Term => Ok(term::render(&report()?, options)),
        Format::Html => html::render(&report()?),
        Format::Md => Ok(markdown::render(&report()?)),
        Format::Json => json::render(&report()?),
        Format::Csv => csv::render(run),
    }
}
