//! `inorder explain`: the words of experiments and reports, from the lists that the program itself
//! works with.

use crate::terminal;
use anyhow::Result;
use inorder_bench::{
    Error, claims::CLAIMS, experiment::RECIPES, experiment::factors::FACTORS, metrics::METRICS,
    probes::PROBES,
};
use serde_json::json;
use std::process::ExitCode;

/// Explains the words that experiments and reports use.
#[derive(clap::Args)]
pub struct Arguments {
    /// factors, recipes, probes, metrics or claims; all of them where none is named
    topic: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A word and what it means.
type Word = (&'static str, String);

/// The topics, each with its words.
fn topics() -> Vec<(&'static str, Vec<Word>)> {
    vec![
        (
            "factors",
            FACTORS
                .iter()
                .map(|f| (f.name, f.what.to_owned()))
                .collect(),
        ),
        (
            "recipes",
            RECIPES
                .iter()
                .map(|(name, what)| (*name, (*what).to_owned()))
                .collect(),
        ),
        (
            "probes",
            PROBES
                .iter()
                .map(|p| (p.id, format!("[{}] {}", p.unit, p.what)))
                .collect(),
        ),
        (
            "metrics",
            METRICS
                .iter()
                .map(|m| (m.id, format!("[{}] {}", m.unit, m.title)))
                .collect(),
        ),
        (
            "claims",
            CLAIMS
                .iter()
                .map(|c| (c.id, format!("{} (the post: {})", c.statement, c.figure)))
                .collect(),
        ),
    ]
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut topics = topics();
    if let Some(wanted) = &arguments.topic {
        let known: Vec<&str> = topics.iter().map(|(name, _)| *name).collect();
        if !known.contains(&wanted.as_str()) {
            return Err(
                Error::Usage(format!("unknown topic `{wanted}`: {}", known.join(", "))).into(),
            );
        }
        topics.retain(|(name, _)| name == wanted);
    }
    if arguments.json {
        let value: serde_json::Map<_, _> = topics
            .into_iter()
            .map(|(name, words)| {
                let words: Vec<_> = words
                    .into_iter()
                    .map(|(word, what)| json!({"name": word, "what": what}))
                    .collect();
                (name.to_owned(), json!(words))
            })
            .collect();
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&value)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for (name, words) in topics {
        text += &format!("{name}\n");
        for (word, what) in words {
            text += &format!("  {word:<22} {what}\n");
        }
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
