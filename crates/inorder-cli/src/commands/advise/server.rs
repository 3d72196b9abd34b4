//! `inorder advise --url`: advice on a database of a running server.

use super::{Arguments, Progress, format_named, make_folder, readings, refused, settled};
use crate::{interrupt, terminal};
use anyhow::Result;
use inorder_advise::{
    report::Look,
    server::{
        advice::{Advice, Options, Reader, Sizes},
        model::Database,
        predict::Predictor,
        report::{FORMATS, scripts},
    },
    snapshot::private_folder,
};
use inorder_bench::Error;
use std::{env, path::Path, process::ExitCode};

/// The variable with the URL of a server.
const VARIABLE: &str = "INORDER_URL";

/// The URL to advise on: that of the option, or of the variable where no file is named.
pub fn url(arguments: &Arguments) -> Result<Option<String>, Error> {
    match (&arguments.url, &arguments.file) {
        (Some(_), Some(file)) => Err(Error::Usage(format!(
            "both --url and the file {} are given: advise on one of them",
            file.display()
        ))),
        (Some(url), None) => Ok(Some(url.clone())),
        (None, Some(_)) => Ok(None),
        (None, None) => {
            let text = env::var(VARIABLE).unwrap_or_default();
            let mut urls = text.split_whitespace();
            match (urls.next(), urls.next()) {
                (Some(url), None) => Ok(Some(url.to_owned())),
                (Some(_), Some(_)) => Err(Error::Usage(format!(
                    "{VARIABLE} has several URLs: name one by --url"
                ))),
                _ => Err(Error::Usage(
                    "name a database: the file of an SQLite database, or --url postgres://… or mysql://…".into(),
                )),
            }
        }
    }
}

pub fn run(arguments: &Arguments, url: &str) -> Result<ExitCode> {
    let format = format_named(FORMATS.iter().map(|format| format.name), &arguments.format)?;
    if arguments.queries.is_some() || arguments.minor {
        let words = "--queries and --minor are for files: nothing is tried on a server";
        return Err(Error::Usage(words.into()).into());
    }
    if let Some(target) = &arguments.write {
        make_folder(target)?;
    }
    let since = readings(arguments)?;
    let inputs: Vec<&Path> = arguments.since.as_deref().into_iter().collect();
    terminal::refuse_input(arguments.output.as_deref(), &inputs)?;
    let progress = Progress::new(arguments.quiet);
    let settled = settled(arguments.config.as_deref(), None)?.unwrap_or_default();
    let reader = Reader::open(url, Options::default())?
        .since(since)
        .with_settled(settled);
    interrupt::watch(reader.cancel())?;
    let folder = interrupt::removes(|| Ok(private_folder()?), |folder| folder.path())?;
    let starts = |database: &Database| {
        Predictor::start(database, folder.path()).map(|own| Box::new(own) as Box<dyn Sizes>)
    };
    let advice = reader.advise(&starts, &progress).map_err(refused)?;
    if let Some(target) = &arguments.write {
        write_scripts(&advice, target, &progress)?;
    }
    progress.bar.finish_and_clear();
    let terminal = terminal::options();
    let look = Look {
        color: terminal.color && arguments.output.is_none(),
        width: terminal.width,
    };
    let text = (FORMATS[format].write)(&advice, look);
    match &arguments.output {
        Some(path) => terminal::write_file(path, &text)?,
        None => terminal::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write_scripts(advice: &Advice, target: &Path, progress: &Progress) -> Result<()> {
    let scripts = scripts(advice);
    if scripts.is_empty() {
        progress.say("nothing is written: there are no steps");
    }
    let plain = |letter: char| {
        if letter.is_alphanumeric() || "-_.".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    let stem: String = advice.database.name.chars().map(plain).collect();
    for script in scripts {
        let path = target.join(format!("{stem}.{}", script.suffix));
        terminal::write_file(&path, &script.text)?;
        progress.say(&format!("written, not run: {}", path.display()));
    }
    Ok(())
}
