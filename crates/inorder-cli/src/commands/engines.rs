//! `inorder engines`: which databases are there to be measured.

use crate::terminal;
use anyhow::Result;
use inorder_bench::engines::{Engines, Presence, presences};
use serde_json::json;
use std::process::ExitCode;

/// Lists the engines with their versions and paths, and how to install the missing ones.
#[derive(clap::Args)]
pub struct Arguments {
    /// Describe the server at this URL instead: postgres://user:password@host:port/database or mysql://…
    #[arg(
        long,
        value_name = "URL",
        env = "INORDER_URL",
        hide_env_values = true,
        value_delimiter = ' '
    )]
    url: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if !arguments.url.is_empty() {
        return tell_of_servers(arguments);
    }
    let engines = presences()?;
    let text = match arguments.json {
        true => format!("{}\n", serde_json::to_string_pretty(&as_json(&engines))?),
        false => as_text(&engines),
    };
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What servers that run already are, what they lack, and what of inorder's is on them. What
/// processes that are gone left there is removed.
fn tell_of_servers(arguments: &Arguments) -> Result<ExitCode> {
    let mut text = String::new();
    let mut servers = Vec::new();
    for remote in Engines::at(&arguments.url)?.remotes() {
        let in_use = remote.clean_up()?;
        let lacks: Vec<&str> = remote
            .dialect
            .lacks
            .iter()
            .map(|lack| lack.name())
            .collect();
        let advice = remote.dialect.advice;
        servers.push(
            json!({"engine": remote.dialect.engine, "version": remote.version(),
            "url": remote.url.to_string(), "lacks": lacks, "advice": advice, "in_use": in_use}),
        );
        let version = remote.version();
        text += &format!("{}  {version}  {}\n", remote.dialect.engine, remote.url);
        let facts = [
            ("lacks", lacks.join(", ")),
            ("documented rules for keys", advice.to_owned()),
            ("in use, or created by another machine", in_use.join(", ")),
        ];
        for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
            text += &format!("    {name}: {fact}\n");
        }
    }
    if arguments.json {
        text = format!("{}\n", serde_json::to_string_pretty(&servers)?);
    }
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

/// Returns one line per installed version, the one used first, or the command that installs one.
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
