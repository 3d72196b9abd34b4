//! What can go wrong between an experiment file and a report.

use std::path::PathBuf;

/// An error of the workbench: what was wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The experiment file is wrong.
    #[error("{file}:{line}: {message}")]
    Experiment {
        /// The file, or the name of a built-in experiment.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong and what would be right.
        message: String,
    },
    /// The command asks for something that isn't there.
    #[error("{0}")]
    Usage(String),
    /// A trial could not be run to its end.
    #[error("{0}")]
    Trial(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] inorder_engine::Error),
    /// The data file can't be used.
    #[error(transparent)]
    Load(#[from] inorder_load::Error),
    /// The result file can't be used.
    #[error("{path}: {message}")]
    Results {
        /// The result file.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// A report can't be written.
    #[error("{0}")]
    Report(String),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether the command was wrong (exit code 2) rather than the work (exit code 1).
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Usage(_) | Error::Experiment { .. })
    }

    /// Whether the disk or a running server stood in the way, whatever the experiment says.
    pub fn is_of_the_place(&self) -> bool {
        use inorder_engine::Error as Engine;
        matches!(
            self,
            Error::Io { .. }
                | Error::Engine(Engine::DiskFull { .. } | Engine::Io { .. } | Engine::Url { .. })
        )
    }
}

/// Whether a name is so close to a known one that it may have been meant.
pub(crate) fn is_near(wrong: &str, known: &str) -> bool {
    distance(wrong, known) <= 1 + wrong.chars().count() / 3
}

fn distance(wrong: &str, known: &str) -> usize {
    strsim::damerau_levenshtein(&wrong.to_lowercase(), &known.to_lowercase())
}

/// The known names closest to a wrong one, as the end of an error message.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let begins = |name: &str| name.chars().next().map(|char| char.to_ascii_lowercase());
    // Of names equally near, the one that begins alike, else the first listed.
    let order = |name: &&&str| (distance(wrong, name), begins(name) != begins(wrong));
    let listed = known.join(", ");
    match known.iter().min_by_key(order) {
        Some(name) if is_near(wrong, name) => format!("did you mean `{name}`? (known: {listed})"),
        Some(_) => format!("known: {listed}"),
        None => "none is known here".to_owned(),
    }
}
