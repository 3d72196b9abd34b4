//! A file's text: decompressed, without a byte order mark, its first bytes known in advance.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::Error;

/// Enough to recognise a format by.
const HEAD_BYTES: u64 = 64;

const BUFFER_BYTES: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// RFC 1952, section 2.3.1.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// An open file. Reads as its text.
pub(super) struct Input {
    path: PathBuf,
    head: Vec<u8>,
    text: Box<dyn BufRead>,
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        Self::try_open(path).map_err(|source| Error::Open {
            path: path.to_owned(),
            source,
        })
    }

    fn try_open(path: &Path) -> io::Result<Self> {
        let file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
        let (magic, file) = peek(file, GZIP_MAGIC.len() as u64)?;
        let text: Box<dyn BufRead> = if magic == GZIP_MAGIC {
            let decoder = MultiGzDecoder::new(file);
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
            path: path.to_owned(),
            head,
            text: Box::new(text),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The first bytes of the text.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The file's extension in lower case, `.gz` left out; empty where there is none.
    pub(super) fn extension(&self) -> String {
        let lower = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match lower(&self.path) {
            Some(gz) if gz == "gz" => lower(&self.path.with_extension("")),
            extension => extension,
        }
        .unwrap_or_default()
    }

    /// The file's path and its text.
    pub(super) fn into_parts(self) -> (PathBuf, Box<dyn BufRead>) {
        (self.path, self.text)
    }
}

/// Up to `bytes` first bytes, and a reader that still begins with them.
fn peek<R: BufRead>(mut reader: R, bytes: u64) -> io::Result<(Vec<u8>, impl BufRead + use<R>)> {
    let mut head = Vec::new();
    reader.by_ref().take(bytes).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}
