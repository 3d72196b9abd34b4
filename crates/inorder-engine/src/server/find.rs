//! Finds a server's program: in the folder of an environment variable, otherwise in PATH and in the folders of
//! distributions, the newest version first.

use super::environment;
use crate::{Error, Found};
use std::{
    collections::BTreeSet,
    env, fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The location of a server's program, and the commands that install it.
pub struct Programs {
    /// The engine's name.
    pub engine: &'static str,
    /// File names of the server's program.
    pub names: &'static [&'static str],
    /// A word that its output for `--version` must contain (MySQL's program is also called mysqld).
    pub says: &'static str,
    /// Environment variable with the only folder to search.
    pub variable: &'static str,
    /// Folders besides PATH. A `*` matches the rest of a folder's name.
    pub folders: &'static [&'static str],
    /// Commands that install the server: a word of `/etc/os-release`'s ID and ID_LIKE, and the command. Errors show
    /// the first command if none matches.
    pub install: &'static [(&'static str, &'static str)],
    /// Result of the first search, which is kept while this process runs.
    pub found: OnceLock<Vec<Found>>,
}

impl Programs {
    /// Returns every program found, the newest first.
    ///
    /// # Errors
    /// [`Error::NotInstalled`] if there is none.
    pub fn find(&self) -> Result<Vec<Found>, Error> {
        match self.found.get_or_init(|| self.look()).as_slice() {
            [] => Err(Error::NotInstalled {
                engine: self.engine,
                install: install_command(self.install),
            }),
            found => Ok(found.to_vec()),
        }
    }

    fn look(&self) -> Vec<Found> {
        let folders = match env::var_os(self.variable) {
            Some(folder) => vec![PathBuf::from(folder)],
            None => {
                let path = env::var_os("PATH").unwrap_or_default();
                let usual = self.folders.iter().flat_map(|pattern| matching(pattern));
                env::split_paths(&path).chain(usual).collect()
            }
        };
        let candidates: BTreeSet<PathBuf> = folders
            .iter()
            .flat_map(|folder| self.names.iter().map(move |name| folder.join(name)))
            // Symbolic links lead to the folder with the other programs of the same version.
            .filter_map(|program| program.canonicalize().ok())
            .filter(|program| program.is_file())
            .collect();
        let mut found: Vec<Found> = candidates.iter().filter_map(|p| self.ask(p)).collect();
        found.sort_by_key(|one| std::cmp::Reverse(numbers(&one.version)));
        found
    }

    /// Returns the newest program.
    ///
    /// # Errors
    /// Those of [`Programs::find`].
    pub fn newest(&self) -> Result<(PathBuf, String), Error> {
        let newest = self.find()?.swap_remove(0);
        Ok((newest.path.unwrap_or_default(), newest.version))
    }

    fn ask(&self, program: &Path) -> Option<Found> {
        // Ctrl-C ends this process, which says so. Without an answer it would say that nothing is installed.
        let mut command = Command::new(program);
        environment::clean(&mut command);
        let answer = command.arg("--version").process_group(0).output().ok()?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let version = version_in(&text).filter(|_| text.contains(self.says))?;
        Some(Found {
            version,
            path: Some(program.to_owned()),
        })
    }
}

/// Returns the command for this machine: the one whose word is in `/etc/os-release`'s ID or ID_LIKE, or the first
/// one.
pub fn install_command(commands: &[(&str, &str)]) -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let ids: Vec<&str> = release
        .lines()
        .filter_map(|line| line.strip_prefix("ID=").or(line.strip_prefix("ID_LIKE=")))
        .flat_map(|ids| ids.trim_matches('"').split_whitespace())
        .chain(cfg!(target_os = "macos").then_some("macos"))
        .collect();
    let fits = |(id, _): &&(&str, &str)| ids.contains(id);
    let command = commands.iter().find(fits).or(commands.first());
    command.map_or_else(String::new, |(_, command)| (*command).to_owned())
}

/// Returns the folders that match a pattern. It has at most one `*`, at the end of a folder's name.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else {
        return vec![pattern.into()];
    };
    let (parent, begin) = before.rsplit_once('/').unwrap_or(("", before));
    let entries = fs::read_dir(format!("{parent}/")).into_iter().flatten();
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(begin))
        .map(|entry| entry.path().join(after.trim_start_matches('/')))
        .collect()
}

/// Returns the first word that begins with a digit and contains a point.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let word = text.split_whitespace().find(is_version)?;
    Some(word.to_owned())
}

/// Returns the numbers at the beginning of a version.
pub fn numbers(version: &str) -> Vec<u64> {
    version
        .split(['.', '-'])
        .map_while(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_by_number() {
        let version = |text| version_in(text).map(|version| numbers(&version));
        let old = version("postgres (PostgreSQL) 9.6.24");
        let new = version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)");
        assert_eq!(new, Some(vec![15, 18]));
        assert!(old < new);
        let maria = version("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu");
        assert_eq!(maria, Some(vec![10, 11, 19]));
    }

    #[test]
    fn a_star_stands_for_the_rest_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["pgsql-15", "pgsql-16", "other"] {
            fs::create_dir_all(folder.path().join(name).join("bin")).unwrap();
        }
        let found = matching(&format!("{}/pgsql-*/bin", folder.path().display()));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|path| path.is_dir()));
        assert_eq!(matching("/nowhere/x*/bin"), [] as [PathBuf; 0]);
    }

    #[test]
    fn what_is_missing_comes_with_the_command_that_installs_it() {
        let programs = Programs {
            engine: "nosuch",
            names: &["no-such-server"],
            says: "",
            variable: "INORDER_NO_SUCH",
            folders: &["/nowhere/*/bin"],
            install: &[("debian", "apt-get install nosuch")],
            found: OnceLock::new(),
        };
        let error = programs.find().unwrap_err().to_string();
        assert_eq!(error, "nosuch isn't installed: apt-get install nosuch");
    }
}
