//! The folders of a private server, and the removal of folders whose owner has ended.
//!
//! The data are in a folder with the engine's name inside the database's folder. If the server's user cannot access
//! that (such as root's `/root`), they are in the run folder. The run folder is in the system's folder for temporary
//! files, because the path of a Unix socket has at most 107 bytes. The name of the run folder contains the owner's
//! process id and start time. The server's command line contains the run folder. A later start can therefore
//! distinguish the remains of a killed process from folders in use.

use super::{children::go_on, owner::Owner, user::User};
use crate::Error;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::{
    env, fs,
    io::ErrorKind,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Name of the folder of prepared data folders, if it exists beside the folder given to [`crate::Engine::create`].
/// The caller that creates it removes it.
pub const TEMPLATES: &str = "templates";

/// Prefix of the names of run folders.
const PREFIX: &str = "inorder-server-";
/// Parents of run folders. The second one is for data, because it is on a disk.
const SHORT: &str = "/tmp";
const ON_DISK: &str = "/var/tmp";
/// Maximum length of the path of a temporary folder, so that a socket's name fits.
const SOCKET_FOLDER_MAX: usize = 50;
/// Maximum time for a leftover server to end.
const END_MAX: Duration = Duration::from_secs(5);

/// The folders of a server. Dropping it removes them.
#[derive(Debug)]
pub struct Home {
    /// Data folder in the database's folder, or an empty folder if the data are in the run folder.
    claim: PathBuf,
    /// Data folder, which is not created yet.
    pub data: PathBuf,
    /// Folder for socket, log, and other files of the running server.
    pub run: PathBuf,
    /// User of the server, if it is not the current one.
    pub user: Option<User>,
}

impl Home {
    /// Creates the folders for the engine `name` in `folder`, and removes leftovers of ended processes.
    pub fn create(folder: &Path, name: &str, user: Option<User>) -> Result<Self, Error> {
        remove_abandoned();
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Io { path, source }
        };
        let folder = folder.canonicalize().map_err(wrong(folder))?;
        let claim = folder.join(name);
        fs::create_dir(&claim).map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => Error::Exists {
                path: claim.clone(),
            },
            _ => wrong(&claim)(source),
        })?;
        let reaches = user.is_none_or(|user| user.reaches(&claim));
        let run = run_folder(reaches);
        let home = Home {
            data: if reaches { &claim } else { &run }.join("data"),
            claim,
            run,
            user,
        };
        fs::create_dir(&home.run).map_err(wrong(&home.run))?;
        for path in [&home.run, &home.claim] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(wrong(path))?;
            user.map_or(Ok(()), |user| user.give(path))?;
        }
        Ok(home)
    }

    /// Returns the folder of prepared data folders, if it exists.
    pub fn templates(&self) -> Option<PathBuf> {
        let folder = self.claim.parent()?.with_file_name(TEMPLATES);
        folder.is_dir().then_some(folder)
    }

    /// Returns whether the data are outside the database's folder.
    fn is_elsewhere(&self) -> bool {
        !self.data.starts_with(&self.claim)
    }

    /// Returns the location of the data for the settings of a trial, if it is outside the database's folder.
    pub fn told(&self) -> Option<(String, String)> {
        let folder = self.run.parent().filter(|_| self.is_elsewhere())?;
        Some(("data_folder".to_owned(), folder.display().to_string()))
    }

    /// Creates a folder that belongs to the server's user.
    pub fn make_folder(&self, path: &Path) -> Result<(), Error> {
        let made = fs::create_dir(path);
        self.given(path, made)
    }

    /// Writes a file that belongs to the server's user.
    pub fn write_file(&self, path: &Path, text: &str) -> Result<(), Error> {
        let written = fs::write(path, text);
        self.given(path, written)
    }

    fn given(&self, path: &Path, made: std::io::Result<()>) -> Result<(), Error> {
        made.map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        self.user.map_or(Ok(()), |user| user.give(path))
    }

    /// Returns the path of the server's log.
    pub fn log(&self) -> PathBuf {
        self.run.join("log")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.claim);
        let _ = fs::remove_dir_all(&self.run);
    }
}

/// Returns the path of a new run folder.
fn run_folder(is_for_socket_only: bool) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let temporary = env::temp_dir();
    let base = match is_for_socket_only {
        false => ON_DISK.into(),
        true if temporary.as_os_str().len() <= SOCKET_FOLDER_MAX => temporary,
        true => SHORT.into(),
    };
    let Owner { pid, began } = Owner::own();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    base.join(format!("{PREFIX}{pid}-{began}-{number}"))
}

/// Returns whether the owner in a run folder's name has ended; `None` for other names.
fn is_abandoned(name: &str) -> Option<bool> {
    let mut numbers = name.strip_prefix(PREFIX)?.split('-');
    let owner = Owner {
        pid: numbers.next()?.parse().ok()?,
        began: numbers.next()?.parse().ok()?,
    };
    Some(owner.is_gone())
}

/// Stops the servers of ended processes and removes their run folders.
pub fn remove_abandoned() {
    let bases = [env::temp_dir(), SHORT.into(), ON_DISK.into()];
    let folders: Vec<PathBuf> = bases
        .iter()
        .flat_map(fs::read_dir)
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| is_abandoned(&entry.file_name().to_string_lossy()) == Some(true))
        .map(|entry| entry.path())
        .collect();
    for folder in folders {
        for pid in running_in(&folder) {
            let _ = kill_process(pid, Signal::QUIT);
            go_on(pid.as_raw_nonzero().get().cast_unsigned());
            end(pid);
        }
        let _ = fs::remove_dir_all(&folder);
    }
}

/// Waits for a process to end, and kills it after the maximum time.
fn end(pid: Pid) {
    let began = Instant::now();
    while test_kill_process(pid).is_ok() {
        if began.elapsed() > END_MAX {
            let _ = kill_process(pid, Signal::KILL);
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the servers whose command line contains this run folder. A watchdog is excluded, because it ends by
/// itself.
fn running_in(folder: &Path) -> Vec<Pid> {
    let wanted = folder.as_os_str().as_encoded_bytes();
    let names_folder = |pid: u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut arguments = line.split(|byte| *byte == 0);
        let is_shell = arguments.next().is_some_and(|first| first.ends_with(b"sh"));
        let named = |argument: &[u8]| argument.windows(wanted.len()).any(|part| part == wanted);
        !is_shell && arguments.any(named)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&pid| names_folder(pid))
        .filter_map(|pid: u32| Pid::from_raw(pid.cast_signed()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_folder_is_abandoned_when_its_owner_is_gone() {
        let Owner { pid, began } = Owner::own();
        let own = format!("{PREFIX}{pid}-{began}-0");
        assert_eq!(is_abandoned(&own), Some(false));
        assert_eq!(is_abandoned(&format!("{PREFIX}999999999-5-0")), Some(true));
        assert_eq!(is_abandoned("something-else"), None);
        assert_eq!(is_abandoned(&format!("{PREFIX}x")), None);
    }

    #[test]
    fn what_a_gone_process_left_is_removed() {
        let left = Path::new(SHORT).join(format!("{PREFIX}999999999-5-0"));
        // Another process that starts a server removes it too, even between its two folders.
        while let Err(error) = fs::create_dir_all(left.join("deep")) {
            assert_eq!(error.kind(), ErrorKind::NotFound);
        }
        remove_abandoned();
        assert!(!left.exists());
    }

    #[test]
    fn a_home_is_made_once_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::create(folder.path(), "x", None).unwrap();
        let (claim, run) = (home.claim.clone(), home.run.clone());
        assert!(claim.is_dir() && run.is_dir() && !home.is_elsewhere());
        let again = Home::create(folder.path(), "x", None).unwrap_err();
        assert!(matches!(again, Error::Exists { .. }));
        drop(home);
        assert!(!claim.exists() && !run.exists());
    }
}
