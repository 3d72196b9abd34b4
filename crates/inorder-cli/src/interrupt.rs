//! Ctrl-C, SIGTERM and SIGHUP: what is removed before they end a command.

use anyhow::{Context as _, Result};
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The exit code of an interrupted command: 128 and the number of SIGINT.
pub const EXIT_CODE: u8 = 130;

/// How often a folder is removed: other threads and servers go on and may make a file while it is emptied.
const REMOVALS_MAX: usize = 100;

static STATE: Mutex<State> = Mutex::new(State {
    folders: Vec::new(),
    stop: None,
});

struct State {
    /// The folders that are removed.
    folders: Vec<PathBuf>,
    /// Set by the first signal, if work ends by itself.
    stop: Option<Arc<AtomicBool>>,
}

/// Ends this process at a signal: calls `before`, removes the folders of [`removes`], and exits with [`EXIT_CODE`].
///
/// # Errors
/// If the signals can't be watched.
pub fn watch(before: impl Fn() + Send + 'static) -> Result<()> {
    let end = move || {
        // Held until the end of the process: see `settle`.
        let mut state = state();
        if let Some(stop) = &state.stop
            && !stop.swap(true, Ordering::Relaxed)
        {
            return;
        }
        before();
        state.folders.drain(..).for_each(|folder| remove(&folder));
        // Stderr is closed if the terminal is.
        let _ = writeln!(std::io::stderr(), "inorder: stopped");
        process::exit(EXIT_CODE.into());
    };
    ctrlc::set_handler(end).context("can't watch for Ctrl-C")
}

/// Makes something with a folder that a signal removes. No signal ends the process while it is made.
pub fn removes<T>(make: impl FnOnce() -> Result<T>, folder: impl Fn(&T) -> &Path) -> Result<T> {
    let mut state = state();
    let made = make()?;
    state.folders.push(folder(&made).to_owned());
    Ok(made)
}

/// From now on the first signal sets the returned flag, and the second one ends the process.
pub fn stops() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    state().stop = Some(Arc::clone(&stop));
    stop
}

/// Returns, unless a signal is ending this process: then errors come from what it removes, and are not reported.
pub fn settle() {
    drop(state());
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove(folder: &Path) {
    for _ in 0..REMOVALS_MAX {
        let _ = fs::remove_dir_all(folder);
        if !folder.exists() {
            break;
        }
    }
}
