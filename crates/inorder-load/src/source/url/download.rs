//! A file that grows while it is downloaded, and readers that wait for its next bytes.

use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::source::meter::Meter;

/// The time between two looks whether the load was stopped.
const LOOK: Duration = Duration::from_millis(200);

/// A download, which may go on.
#[derive(Debug)]
pub(in crate::source) struct Download {
    /// Removed when this is dropped. It has a name for readers that want one.
    file: NamedTempFile,
    bytes_total: Option<u64>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The bytes that the file has.
    bytes: u64,
    end: Option<Result<(), String>>,
}

impl Download {
    #[cfg_attr(not(feature = "url"), expect(dead_code))]
    pub(super) fn new(file: NamedTempFile, bytes_total: Option<u64>) -> Self {
        Download {
            file,
            bytes_total,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// Appends bytes. Only one thread calls this.
    ///
    /// # Errors
    /// If the disk is full, or the file can't be written.
    #[cfg_attr(not(feature = "url"), expect(dead_code))]
    pub(super) fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let at = self.state().bytes;
        self.file.as_file().write_all_at(bytes, at)?;
        self.state().bytes += bytes.len() as u64;
        self.changed.notify_all();
        Ok(())
    }

    /// Ends the download: it is whole, or there is an error.
    #[cfg_attr(not(feature = "url"), expect(dead_code))]
    pub(super) fn end(&self, result: Result<(), String>) {
        self.state().end = Some(result);
        self.changed.notify_all();
    }

    /// Waits for more than these bytes, or the end. Returns how many there are.
    fn wait(&self, bytes: u64, meter: &Meter) -> io::Result<u64> {
        let mut state = self.state();
        while state.bytes <= bytes {
            match &state.end {
                Some(Ok(())) => break,
                Some(Err(what)) => return Err(io::Error::other(what.clone())),
                None if meter.is_stopped() => return Err(io::Error::other("stopped")),
                None => {
                    let waited = self.changed.wait_timeout(state, LOOK);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        Ok(state.bytes)
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// That of the download.
    pub(in crate::source) fn whole(&self, meter: &Meter) -> io::Result<&Path> {
        let mut bytes = 0;
        loop {
            match self.wait(bytes, meter)? {
                all if all == bytes => break,
                more => bytes = more,
            }
        }
        Ok(self.path())
    }
}

/// Reads a download from its beginning.
pub(in crate::source) struct Follower {
    download: Arc<Download>,
    position: u64,
    meter: Meter,
}

impl Follower {
    pub(in crate::source) fn new(download: Arc<Download>, meter: Meter) -> Self {
        Follower {
            download,
            position: 0,
            meter,
        }
    }
}

impl Read for Follower {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let there = self.download.wait(self.position, &self.meter)? - self.position;
        let most = out.len().min(usize::try_from(there).unwrap_or(usize::MAX));
        let read = self
            .download
            .file
            .as_file()
            .read_at(&mut out[..most], self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}
