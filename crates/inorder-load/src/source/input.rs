//! The input of a source: a file or stdin, decompressed, without a byte order mark. Its first bytes are known in
//! advance.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::Error;

/// Enough to recognise a format by.
const HEAD_BYTES: u64 = 64;

/// Less than formats ask for at a time, so that what they read goes to them past the buffer.
const BUFFER_BYTES: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// RFC 1952, section 2.3.1.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// RFC 8878, section 3.1.1.
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The extensions of compressed files, in lower case.
const COMPRESSED: &[&str] = &["gz", "zst"];

/// The path that means stdin.
pub const STDIN: &str = "-";

/// Bytes read so far, compressed as they are, for a progress bar in another thread.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<AtomicU64>);

impl Meter {
    /// The bytes.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// An open file. Reads as its text.
pub(super) struct Input {
    path: PathBuf,
    head: Vec<u8>,
    text: Box<dyn BufRead + Send>,
    is_plain_file: bool,
    meter: Meter,
}

impl Input {
    pub(super) fn open(path: &Path, meter: &Meter) -> Result<Self, Error> {
        Self::try_open(path, meter).map_err(|source| Error::Open {
            path: path.to_owned(),
            source,
        })
    }

    fn try_open(path: &Path, meter: &Meter) -> io::Result<Self> {
        let is_stdin = path == Path::new(STDIN);
        let file: Box<dyn Read + Send> = match is_stdin {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path)?),
        };
        let metered = Metered {
            inner: file,
            meter: meter.clone(),
        };
        let file = BufReader::with_capacity(BUFFER_BYTES, metered);
        let (magic, file) = peek(file, ZSTD_MAGIC.len() as u64)?;
        let is_compressed = magic.starts_with(GZIP_MAGIC) || magic == ZSTD_MAGIC;
        let text: Box<dyn BufRead + Send> = if magic.starts_with(GZIP_MAGIC) {
            let decoder = MultiGzDecoder::new(file);
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        } else if magic == ZSTD_MAGIC {
            let decoder = zstd::stream::read::Decoder::with_buffer(file)?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        } else {
            Box::new(file)
        };
        let (mark, mut text) = peek(text, BYTE_ORDER_MARK.len() as u64)?;
        if mark == BYTE_ORDER_MARK {
            text.consume(mark.len());
        }
        let (head, text) = peek(text, HEAD_BYTES)?;
        Ok(Input {
            path: match is_stdin {
                true => PathBuf::from("stdin"),
                false => path.to_owned(),
            },
            head,
            text: Box::new(text),
            is_plain_file: !is_stdin && !is_compressed,
            meter: meter.clone(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The first bytes of the text.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The file's extension in lower case, that of a compression left out; empty where there is none.
    pub(super) fn extension(&self) -> String {
        let lower = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match lower(&self.path) {
            Some(outer) if COMPRESSED.contains(&&*outer) => lower(&self.path.with_extension("")),
            extension => extension,
        }
        .unwrap_or_default()
    }

    /// The file's path and its text.
    pub(super) fn into_parts(self) -> (PathBuf, Box<dyn BufRead + Send>) {
        (self.path, self.text)
    }

    /// The path of a file that its format reads here and there, not from front to back.
    ///
    /// # Errors
    /// The input is stdin or compressed.
    pub(super) fn into_file(self) -> Result<(PathBuf, Meter), Error> {
        match self.is_plain_file {
            true => Ok((self.path, self.meter)),
            false => Err(Error::NotAFile { path: self.path }),
        }
    }
}

/// Counts what is read.
struct Metered<R> {
    inner: R,
    meter: Meter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.meter.add(read as u64);
        Ok(read)
    }
}

/// Up to `bytes` first bytes, and a reader that still begins with them.
fn peek<R: BufRead>(mut reader: R, bytes: u64) -> io::Result<(Vec<u8>, impl BufRead + use<R>)> {
    let mut head = Vec::new();
    reader.by_ref().take(bytes).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}
