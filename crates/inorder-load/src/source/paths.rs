//! The inputs that a command line names: files, patterns, stdin, a table of a database.

use std::path::{Path, PathBuf};

use super::STDIN;
use super::input::shown;
use super::url::is_url;
use crate::Error;

/// An input of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, [`STDIN`], or a URL.
    pub path: PathBuf,
    /// The table, if the file is a database.
    pub table: Option<String>,
}

impl Location {
    /// The path for messages: a URL without password and parameters, `stdin` for [`STDIN`].
    pub fn name(&self) -> PathBuf {
        shown(&self.path)
    }
}

/// Returns the inputs that command-line arguments name, in their order.
///
/// A folder names the files in it that have an extension of a format of rows, sorted by name. A pattern (`*`, `?`, `[…]`, `**`) names the files that match it, sorted by name; `file.db:table` names a table of a
/// database, or a sheet of a workbook, and `-` stdin. URLs stay as they are.
///
/// # Errors
/// [`Error::Pattern`] if a pattern is wrong or nothing matches it.
pub fn expand(arguments: &[String]) -> Result<Vec<Location>, Error> {
    let mut locations = Vec::new();
    for argument in arguments {
        if Path::new(argument).is_dir() {
            locations.extend(files(argument)?);
        } else if is_url(Path::new(argument)) || argument == STDIN || Path::new(argument).exists() {
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

/// The extensions of files that a folder stands for.
const EXTENSIONS: &[&str] = &[
    "csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "xlsx", "ods",
];

/// The files of rows in a folder.
fn files(folder: &str) -> Result<Vec<Location>, Error> {
    let open = |source| Error::Open {
        path: folder.into(),
        source,
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(open)? {
        let path = entry.map_err(open)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst"));
        let extension = plain.unwrap_or(&name).rsplit_once('.');
        let is_known = extension.is_some_and(|(_, known)| EXTENSIONS.contains(&known));
        if path.is_file() && is_known && !name.starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    match paths.is_empty() {
        true => Err(Error::Pattern {
            pattern: folder.to_owned(),
            what: format!("no file in this folder ends in .{}", EXTENSIONS.join(", .")),
        }),
        false => Ok(paths.into_iter().map(file).collect()),
    }
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
        let all = names(&folder.path().display().to_string());
        assert_eq!(all, ["a.csv", "b.csv", "odd[1].csv"]);
        let table = expand(&[path("c.db:films")]).expect("a table");
        assert_eq!(table[0].table.as_deref(), Some("films"));
        let error = expand(&[path("*.tsv")]).expect_err("nothing matches");
        assert!(error.to_string().contains("no file matches it"), "{error}");
    }
}
