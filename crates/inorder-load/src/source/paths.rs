//! The inputs that a command line names: files, patterns, stdin, a table of a database.

use std::path::{Path, PathBuf};

use super::STDIN;
use crate::Error;

/// An input of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, or [`STDIN`].
    pub path: PathBuf,
    /// The table, if the file is a database.
    pub table: Option<String>,
}

/// Returns the inputs that command-line arguments name, in their order.
///
/// A pattern (`*`, `?`, `[…]`, `**`) names the files that match it, sorted by name; `file.db:table` names a table of a
/// database, and `-` stdin.
///
/// # Errors
/// [`Error::Pattern`] if a pattern is wrong or nothing matches it.
pub fn expand(arguments: &[String]) -> Result<Vec<Location>, Error> {
    let mut locations = Vec::new();
    for argument in arguments {
        if argument == STDIN || Path::new(argument).exists() {
            locations.push(file(argument.into()));
        } else if let Some((path, table)) = database(argument) {
            locations.push(Location {
                path,
                table: Some(table),
            });
        } else if argument.contains(['*', '?', '[']) {
            locations.extend(matches(argument)?);
        } else {
            // Opening it says what is wrong.
            locations.push(file(argument.into()));
        }
    }
    Ok(locations)
}

fn file(path: PathBuf) -> Location {
    Location { path, table: None }
}

/// `file.db:table`, where there is such a file.
fn database(argument: &str) -> Option<(PathBuf, String)> {
    let (path, table) = argument.rsplit_once(':')?;
    let is_there = !table.is_empty() && Path::new(path).is_file();
    is_there.then(|| (path.into(), table.to_owned()))
}

fn matches(pattern: &str) -> Result<Vec<Location>, Error> {
    let wrong = |what: String| Error::Pattern {
        pattern: pattern.to_owned(),
        what,
    };
    let paths = glob::glob(pattern).map_err(|error| wrong(error.to_string()))?;
    let found: Vec<Location> = paths
        .filter(|path| !path.as_ref().is_ok_and(|path| path.is_dir()))
        .map(|path| path.map(file).map_err(|error| wrong(error.to_string())))
        .collect::<Result<_, _>>()?;
    match found.is_empty() {
        true => Err(wrong("no file matches it".to_owned())),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_databases_and_stdin_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b.csv", "a.csv", "c.db", "odd[1].csv"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let path = |name: &str| folder.path().join(name).display().to_string();
        let names = |argument: &str| -> Vec<String> {
            let found = expand(&[argument.to_owned()]).expect("locations");
            let name = |path: &Path| {
                path.file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned()
            };
            found.iter().map(|found| name(&found.path)).collect()
        };
        assert_eq!(names(&path("?.csv")), ["a.csv", "b.csv"]);
        assert_eq!(names(&path("odd[1].csv")), ["odd[1].csv"]);
        assert_eq!(names("-"), ["-"]);
        let table = expand(&[path("c.db:films")]).expect("a table");
        assert_eq!(table[0].table.as_deref(), Some("films"));
        let error = expand(&[path("*.tsv")]).expect_err("nothing matches");
        assert!(error.to_string().contains("no file matches it"), "{error}");
    }
}
