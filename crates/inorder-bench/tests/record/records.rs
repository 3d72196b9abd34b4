//! The folders of `record/`: a result file of `inorder bench`, or CSV files of another program and where they come from.

use inorder_bench::{
    claims::CLAIMS,
    report::view::{ExperimentView, Report},
    results::{Run, Store},
};
use serde::Deserialize;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

/// The result file of a record of `inorder bench`.
const RESULT: &str = "result.db";
/// The description of any other record.
const SOURCE: &str = "source.toml";

/// `record/`, with what was read from it so far.
pub struct Records {
    root: PathBuf,
    reports: RefCell<BTreeMap<String, Rc<Report>>>,
}

/// The origin of the figures of a record without a result file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The measurement, in one sentence.
    pub what: String,
    /// The command that writes its files.
    pub command: String,
    /// Revision of the program that was measured.
    pub revision: String,
    /// Whether the files have every sample.
    pub samples: Samples,
    /// The machine, and the versions of what took part: name and value.
    pub machine: toml::Table,
    /// Further notes for readers.
    #[serde(default)]
    pub note: String,
}

/// The columns of a record's files.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Samples {
    /// Every sample.
    Kept,
    /// Figures of an earlier table: their samples were not kept.
    Transcribed,
}

/// A record in words.
pub enum Record {
    Run(Rc<Report>),
    Other(Source),
}

impl Records {
    /// The records of this repository.
    pub fn of_repository() -> Self {
        Records {
            root: super::root().join("record"),
            reports: RefCell::default(),
        }
    }

    /// The names of all records, oldest first.
    pub fn names(&self) -> Vec<String> {
        let folders = fs::read_dir(&self.root).expect("record/ can be listed");
        let paths = folders.map(|entry| entry.expect("an entry").path());
        let mut names: Vec<String> = paths
            .filter(|path| path.is_dir())
            .map(|path| {
                path.file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into()
            })
            .collect();
        names.sort();
        names
    }

    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        match self.names().iter().any(|known| known == name) {
            true => Ok(self.root.join(name)),
            false => Err(format!("record/ has no `{name}`")),
        }
    }

    /// The kind of a record.
    pub fn record(&self, name: &str) -> Result<Record, String> {
        match self.folder(name)?.join(RESULT).is_file() {
            true => self.report(name).map(Record::Run),
            false => self.source(name).map(Record::Other),
        }
    }

    /// The report of a record of `inorder bench`.
    pub fn report(&self, name: &str) -> Result<Rc<Report>, String> {
        if let Some(known) = self.reports.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let run = self.run(name)?;
        let report = Report::new(&run, &CLAIMS).map_err(|error| error.to_string())?;
        let report = Rc::new(report);
        let mut reports = self.reports.borrow_mut();
        reports.insert(name.to_owned(), Rc::clone(&report));
        Ok(report)
    }

    /// A run of `inorder bench`.
    pub fn run(&self, name: &str) -> Result<Run, String> {
        Store::read(&self.folder(name)?.join(RESULT)).map_err(|error| error.to_string())
    }

    /// The origin of the figures of a record without a result file.
    fn source(&self, name: &str) -> Result<Source, String> {
        let path = self.folder(name)?.join(SOURCE);
        let text = read_text(&path)?;
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The text of a CSV, given as `RECORD/FILE`.
    pub fn csv(&self, path: &str) -> Result<String, String> {
        let (name, file) = path
            .split_once('/')
            .ok_or_else(|| format!("`{path}` isn't RECORD/FILE"))?;
        read_text(&self.folder(name)?.join(file))
    }
}

/// An experiment of a report.
pub fn experiment<'a>(report: &'a Report, name: &str) -> Result<&'a ExperimentView, String> {
    let mut experiments = report.experiments.iter();
    experiments
        .find(|view| view.name == name)
        .ok_or_else(|| format!("the record has no experiment `{name}`"))
}

fn read_text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
