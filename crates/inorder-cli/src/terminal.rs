//! Detects the properties of stdout: a terminal with colours and a width, or a pipe.

use anyhow::{Context as _, Result};
use inorder_bench::{Error, report::Options};
use std::{
    fs::{self, File},
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io::{self, IsTerminal as _, Write as _},
    os::{fd::AsFd as _, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
};

/// Columns where no terminal says how many.
const WIDTH_WITHOUT_TERMINAL: usize = 120;

/// The style of a report for this stdout. `NO_COLOR` is honoured.
pub fn options() -> Options {
    let is_terminal = io::stdout().is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let (_, columns) = console::Term::stdout().size_checked().unwrap_or((0, 0));
    Options {
        color: is_terminal && !no_color,
        width: match (is_terminal, columns) {
            (true, 1..) => usize::from(columns),
            _ => WIDTH_WITHOUT_TERMINAL,
        },
    }
}

/// Prints data.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// An error and its causes. A message that ends with its cause's own words says them once.
pub fn in_words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if words.is_empty() {
            words = cause;
        } else if !words.contains(&cause) {
            words += &format!(": {cause}");
        }
    }
    words
}

/// Refuses an output that is one of the inputs, by any name, or the journal of one. Inputs that are no files are passed
/// over.
///
/// # Errors
/// [`Error::Usage`] with both names.
pub fn refuse_input(output: Option<&Path>, inputs: &[&Path]) -> Result<(), Error> {
    let Some((output, written)) = output.and_then(|path| Some((path, path.metadata().ok()?)))
    else {
        return Ok(());
    };
    for (input, suffix) in inputs
        .iter()
        .flat_map(|input| SUFFIXES.map(|suffix| (input, suffix)))
    {
        let mut read = input.as_os_str().to_owned();
        read.push(suffix);
        let read = Path::new(&read);
        let is_same = |own: fs::Metadata| own.is_file() && identity(&own) == identity(&written);
        if read.metadata().is_ok_and(is_same) {
            return Err(Error::Usage(format!(
                "the output {} would replace {}, which is read: name another file",
                output.display(),
                read.display()
            )));
        }
    }
    Ok(())
}

/// What the names of an SQLite database and of its journals end with.
const SUFFIXES: [&str; 4] = ["", "-journal", "-wal", "-shm"];

/// The device and inode of a file.
fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Writes a file whole or not at all: what was there stays until the new text is complete. Links are followed. Pipes,
/// devices and open files below /proc are written to; stdout by any name is printed to.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let written = match path.metadata() {
        Ok(found) if is_stdout(&found) => return print(text),
        Ok(found) if found.is_file() => match regular(path) {
            Ok(Some(target)) => replace(&target, text, Some(found.permissions())),
            Ok(None) => append(path, text),
            Err(error) => Err(error),
        },
        Ok(_) => fs::write(path, text),
        Err(_) => {
            regular(path).and_then(|target| replace(target.as_deref().unwrap_or(path), text, None))
        }
    };
    written.with_context(|| format!("can't write {}", path.display()))
}

fn is_stdout(found: &fs::Metadata) -> bool {
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let own = stdout.and_then(|stdout| stdout.metadata());
    own.is_ok_and(|own| identity(&own) == identity(found))
}

/// The most links that lead from a name to a file, as on Linux.
const LINKS_MAX: u32 = 40;

/// The file that a name leads to by links, whether it exists or not; none if one of the links is below /proc, where links
/// are files that are open.
fn regular(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(link) = fs::read_link(&path) else {
            return Ok(Some(path));
        };
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize()?;
        if folder.starts_with("/proc") {
            return Ok(None);
        }
        path = folder.join(link);
    }
    Err(io::Error::other("too many links"))
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().append(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Puts a new file in the place of one, or where none is.
fn replace(path: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let (mut file, part) = loop {
        let random = RandomState::new().build_hasher().finish();
        let part = path.with_file_name(format!(".inorder-{random:016x}.part"));
        match File::create_new(&part) {
            Ok(file) => break (file, part),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    };
    file.write_all(text.as_bytes())
        .and_then(|()| permissions.map_or(Ok(()), |own| file.set_permissions(own)))
        .and_then(|()| fs::rename(&part, path))
        .inspect_err(|_| _ = fs::remove_file(&part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::{fd::AsRawFd as _, unix::fs::symlink};

    #[test]
    fn a_cause_is_said_once() {
        let cause = || io::Error::other("no room");
        let said = anyhow::Error::new(Error::Io {
            path: "a".into(),
            source: cause(),
        });
        assert_eq!(in_words(&said), "a: no room");
        assert_eq!(
            in_words(&anyhow::Error::new(cause()).context("b")),
            "b: no room"
        );
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_file(&path, "old").unwrap();
        write_file(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_file(folder.path(), "text").is_err());
    }

    #[test]
    fn no_other_file_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.part"), "precious").unwrap();
        write_file(&at("a"), "new").unwrap();
        assert_eq!(fs::read_to_string(at("a.part")).unwrap(), "precious");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("below")).unwrap();
        symlink("below/link", at("link")).unwrap();
        symlink("file", at("below/link")).unwrap();
        for text in ["made", "replaced"] {
            write_file(&at("link"), text).unwrap();
            assert!(at("link").is_symlink() && at("below/link").is_symlink());
            assert_eq!(fs::read_to_string(at("below/file")).unwrap(), text);
        }
        symlink("round", at("round")).unwrap();
        assert!(write_file(&at("round"), "text").is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_open_file_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "old ").unwrap();
        let open = File::options().append(true).open(at("a")).unwrap();
        let name = format!("/proc/self/fd/{}", open.as_raw_fd());
        symlink(name, at("link")).unwrap();
        write_file(&at("link"), "new").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(fs::read_to_string(at("a")).unwrap(), "old new");
        assert_eq!(open.metadata().unwrap().len(), 7);
    }

    #[test]
    fn an_input_is_no_output() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "a-wal", "other"] {
            fs::write(at(name), name).unwrap();
        }
        symlink("a", at("link")).unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        let refused = |name: &str| refuse_input(Some(&at(name)), &[&at("b"), &at("a")]).is_err();
        let names = ["a", "link", "hard", "a-wal", "other", "new"];
        assert_eq!(names.map(refused), [true, true, true, true, false, false]);
    }
}
