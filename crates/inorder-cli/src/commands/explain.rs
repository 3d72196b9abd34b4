//! `inorder explain`: the words of experiments and reports, from the lists that the program itself
//! works with.

use crate::terminal;
use anyhow::Result;
use inorder_bench::{
    Error,
    claims::CLAIMS,
    experiment::{
        RECIPES,
        factors::{FACTORS, Setup},
    },
    metrics::METRICS,
    nearest,
    probes::PROBES,
    rules::{RULES, Rule},
};
use serde_json::json;
use std::process::ExitCode;

/// Explains the words that experiments and reports use.
#[derive(clap::Args)]
pub struct Arguments {
    /// factors, recipes, probes, metrics, claims or rules; default: all
    topic: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A term, its meaning, and the default level of a factor.
struct Word {
    name: &'static str,
    what: String,
    default: Option<String>,
}

fn word(name: &'static str, what: impl Into<String>) -> Word {
    Word {
        name,
        what: what.into(),
        default: None,
    }
}

/// The topics, each with its words.
fn topics() -> Vec<(&'static str, Vec<Word>)> {
    let setup = Setup::default();
    let factors = FACTORS.iter().map(|f| Word {
        default: Some((f.get)(&setup)),
        ..word(f.name, f.what)
    });
    let recipes = RECIPES.iter().map(|(name, what)| word(name, *what));
    let probes = PROBES
        .iter()
        .map(|p| word(p.id, format!("[{}] {}", p.unit, p.what)));
    let metrics = METRICS
        .iter()
        .map(|m| word(m.id, format!("[{}] {}", m.unit, m.title)));
    let claims = CLAIMS.iter().map(|c| {
        let source = format!("{}, {}", c.post, c.post.url);
        word(
            c.id,
            format!("{} (published: {}; {source})", c.statement, c.figure),
        )
    });
    let rules = RULES.iter().map(|r| {
        let Rule { engine, rule, .. } = *r;
        word(engine, format!("{rule} ({}; {})", r.basis(), r.source))
    });
    vec![
        ("factors", factors.collect()),
        ("recipes", recipes.collect()),
        ("probes", probes.collect()),
        ("metrics", metrics.collect()),
        ("claims", claims.collect()),
        ("rules", rules.collect()),
    ]
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut topics = topics();
    if let Some(wanted) = &arguments.topic {
        let known: Vec<&str> = topics.iter().map(|(name, _)| *name).collect();
        if !known.contains(&wanted.as_str()) {
            let nearest = nearest(wanted, known);
            return Err(Error::Usage(format!("unknown topic `{wanted}`: {nearest}")).into());
        }
        topics.retain(|(name, _)| name == wanted);
    }
    if arguments.json {
        let value: serde_json::Map<_, _> = topics
            .into_iter()
            .map(|(name, words)| {
                let words: Vec<_> = words
                    .into_iter()
                    .map(|word| match word.default {
                        Some(default) => {
                            json!({"name": word.name, "what": word.what, "default": default})
                        }
                        None => json!({"name": word.name, "what": word.what}),
                    })
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
        for word in words {
            text += &format!("  {:<22} {}", word.name, word.what);
            if let Some(default) = word.default {
                text += &format!(" [{default}]");
            }
            text.push('\n');
        }
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
