//! `inorder engines`: which databases are there to be measured.

use crate::terminal;
use anyhow::Result;
use inorder_bench::engines::{Presence, presences};
use serde_json::json;
use std::process::ExitCode;

/// Lists the engines: versions, where they are, and how to install what is missing.
#[derive(clap::Args)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let engines = presences()?;
    let text = match arguments.json {
        true => format!("{}\n", serde_json::to_string_pretty(&as_json(&engines))?),
        false => as_text(&engines),
    };
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(engines: &[Presence]) -> serde_json::Value {
    let engine = |presence: &Presence| {
        let found: Vec<_> = presence
            .found
            .iter()
            .map(|one| json!({"version": one.version, "path": one.path}))
            .collect();
        json!({"engine": presence.engine, "found": found, "install": presence.install})
    };
    engines.iter().map(engine).collect()
}

/// A line for each version found, the one that is used first, or the command that installs one.
fn as_text(engines: &[Presence]) -> String {
    let mut rows = Vec::new();
    for presence in engines {
        for one in &presence.found {
            let place = match &one.path {
                Some(path) => path.display().to_string(),
                None => "part of this program".to_owned(),
            };
            rows.push((presence.engine, one.version.clone(), place));
        }
        if let Some(install) = &presence.install {
            rows.push((presence.engine, "not installed".to_owned(), install.clone()));
        }
    }
    let width = |of: fn(&(&str, String, String)) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let (names, versions) = (width(|row| row.0.len()), width(|row| row.1.len()));
    rows.iter()
        .map(|(name, version, place)| format!("{name:names$}  {version:versions$}  {place}\n"))
        .collect()
}
