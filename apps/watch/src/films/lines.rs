//! The lines of a file, plain or gzipped.

use crate::{Error, Result, words::say};
use flate2::read::MultiGzDecoder;
use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The maximum length of a line in bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Reads a file line by line.
pub struct Lines {
    path: PathBuf,
    lines: Box<dyn BufRead + Send>,
    line_number: u64,
    read: Arc<AtomicU64>,
    /// Bytes of the file, as it lies on the disk.
    pub bytes: u64,
}

/// Counts what passes.
struct Counting<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.inner.read(out)?;
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

impl Lines {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let read = Arc::new(AtomicU64::new(0));
        let file = File::open(path).map_err(|error| named(path, &error))?;
        let bytes = file.metadata()?.len();
        let counting = Counting {
            inner: file,
            read: Arc::clone(&read),
        };
        let mut packed = BufReader::with_capacity(1 << 16, counting);
        let is_gzip = packed.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let lines: Box<dyn BufRead + Send> = match is_gzip {
            true => Box::new(BufReader::with_capacity(
                1 << 16,
                MultiGzDecoder::new(packed),
            )),
            false => Box::new(packed),
        };
        Ok(Lines {
            path: path.to_owned(),
            lines,
            line_number: 0,
            read,
            bytes,
        })
    }

    /// The lines of a text.
    pub fn of_text(text: &'static str) -> Self {
        Lines {
            path: "the text".into(),
            lines: Box::new(text.as_bytes()),
            line_number: 0,
            read: Arc::default(),
            bytes: text.len() as u64,
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The beginning of what was not read yet.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn start(&mut self) -> Result<&[u8]> {
        let path = &self.path;
        self.lines.fill_buf().map_err(|error| named(path, &error))
    }

    /// Bytes of the file read so far, which many threads may ask.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.read)
    }

    /// Reads the next line into a text. Returns whether there is one.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Invalid`] for a line that is too long or isn't UTF-8. Reading continues after it.
    pub fn read(&mut self, line: &mut String) -> Result<bool> {
        let mut bytes = std::mem::take(line).into_bytes();
        bytes.clear();
        let read = (&mut self.lines)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut bytes);
        let count = read.map_err(|error| named(&self.path, &error))?;
        self.line_number += 1;
        if count as u64 == LINE_BYTES_MAX {
            return Err(self.bad("it is longer than a megabyte"));
        }
        *line = String::from_utf8(bytes).map_err(|_| self.bad("it isn't UTF-8"))?;
        Ok(count > 0)
    }

    /// The error of the line that was read last.
    pub fn bad(&self, why: &str) -> Error {
        let (path, line) = (self.path.display(), self.line_number);
        Error::Invalid(say::as_is(format!("{path}, line {line}: {why}")))
    }
}

fn named(path: &Path, error: &std::io::Error) -> Error {
    let words = format!("{}: {error}", path.display());
    Error::Io(std::io::Error::new(error.kind(), words))
}
