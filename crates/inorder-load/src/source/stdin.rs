//! Stdin, which can be read again if it is kept.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was read from stdin, in a file without a name; `None` if nothing of it is kept.
static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

struct Kept {
    file: File,
    bytes: u64,
    /// Whether what is read from now on is kept too.
    is_going_on: bool,
    /// Whether bytes after those in the file were read.
    is_incomplete: bool,
}

fn kept() -> MutexGuard<'static, Option<Kept>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what is read from stdin until it is dropped.
pub(crate) struct KeptStdin(());

impl KeptStdin {
    /// Begins to keep it, in a file of this folder.
    ///
    /// # Errors
    /// If the file can't be made.
    pub(crate) fn begin(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        *kept() = Some(Kept {
            file,
            bytes: 0,
            is_going_on: true,
            is_incomplete: false,
        });
        Ok(KeptStdin(()))
    }
}

impl Drop for KeptStdin {
    fn drop(&mut self) {
        *kept() = None;
    }
}

/// Keeps nothing more. The reader that is open reads on.
pub(crate) fn forget_stdin() {
    if let Some(kept) = &mut *kept() {
        kept.is_going_on = false;
    }
}

/// Reads stdin from its beginning if that is kept.
pub(super) struct Stdin {
    position: u64,
}

impl Stdin {
    pub(super) fn open() -> Self {
        Stdin { position: 0 }
    }
}

impl Read for Stdin {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut kept = kept();
        let Some(kept) = &mut *kept else {
            drop(kept);
            return io::stdin().read(out);
        };
        let read = match self.position < kept.bytes {
            true => {
                let left = usize::try_from(kept.bytes - self.position).unwrap_or(usize::MAX);
                let most = out.len().min(left);
                kept.file.read_at(&mut out[..most], self.position)?
            }
            false if kept.is_incomplete && self.position == kept.bytes => {
                return Err(io::Error::other(
                    "stdin was not kept, and can't be read again",
                ));
            }
            false => {
                let read = io::stdin().read(out)?;
                if kept.is_going_on {
                    kept.file.write_all_at(&out[..read], kept.bytes)?;
                    kept.bytes += read as u64;
                } else {
                    kept.is_incomplete |= read > 0;
                }
                read
            }
        };
        self.position += read as u64;
        Ok(read)
    }
}
