//! The input of a source: a file or stdin, decompressed, without a byte order mark. Its first bytes are known in
//! advance.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use super::encoding::TextEncoding;
use super::meter::Meter;
use super::stdin::Stdin;
use super::url::{Download, Follower, is_url, public};
use super::{ReadOptions, WrittenBy};
use crate::Error;

/// Enough to recognise a format by, and the delimiter and the header of text.
pub(super) const HEAD_BYTES: u64 = 1 << 16;

/// Less than formats ask for at a time, so that what they read goes to them past the buffer.
const BUFFER_BYTES: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Enough to tell UTF-16.
const START_BYTES: u64 = 16;

/// RFC 1952, section 2.3.1.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// RFC 8878, section 3.1.1.
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The extensions of compressed files, in lower case.
const COMPRESSED: &[&str] = &["gz", "zst"];

/// The path that means stdin.
pub const STDIN: &str = "-";

/// A file that its format reads here and there, not from front to back.
pub(super) struct PlainFile {
    /// The path for messages.
    pub(super) shown: PathBuf,
    /// The path to open.
    pub(super) real: PathBuf,
    pub(super) meter: Meter,
}

/// An open file. Reads as its text.
pub(super) struct Input {
    /// The path for messages.
    path: PathBuf,
    /// The download, if the path is a URL.
    download: Option<Arc<Download>>,
    head: Vec<u8>,
    is_head_whole: bool,
    text: Box<dyn BufRead + Send>,
    is_plain_file: bool,
    meter: Meter,
    /// The encoding of the text, if that is not UTF-8 and the first bytes told it.
    found_encoding: Option<TextEncoding>,
    lines_skipped: u64,
}

impl Input {
    pub(super) fn open(path: &Path, settings: &ReadOptions, meter: &Meter) -> Result<Self, Error> {
        let encoding = settings.encoding.as_deref().map(|name| {
            TextEncoding::named(name).ok_or_else(|| Error::Refused {
                what: format!(
                    "--encoding: unknown `{name}`; write a name such as utf-8, utf-16le, latin1, windows-1252 or \
                     shift_jis"
                ),
            })
        });
        let encoding = encoding.transpose()?;
        let opened = Self::try_open(path, encoding, settings, meter);
        opened.map_err(|source| match source.kind() {
            io::ErrorKind::InvalidData => Error::Refused {
                what: format!("{}: {source}", shown(path).display()),
            },
            _ => Error::Open {
                path: shown(path),
                source,
            },
        })
    }

    fn try_open(
        path: &Path,
        encoding: Option<TextEncoding>,
        settings: &ReadOptions,
        meter: &Meter,
    ) -> io::Result<Self> {
        let is_stdin = path == Path::new(STDIN);
        let download = match is_url(path) {
            true => Some(settings.downloads.open(path)?),
            false => None,
        };
        let file: Box<dyn Read + Send> = match &download {
            Some(download) => Box::new(Follower::new(Arc::clone(download), meter.clone())),
            None if is_stdin => Box::new(Stdin::open()),
            None => Box::new(File::open(path)?),
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
        let (start, text) = peek(text, START_BYTES)?;
        let encoding = encoding
            .map(|encoding| encoding.for_text(&start))
            .transpose()?;
        let mut found_encoding = TextEncoding::of(&start).filter(|_| encoding.is_none());
        let mut text: Box<dyn BufRead + Send> = Box::new(text);
        if settings.dialect == Some(WrittenBy::Excel) && encoding.or(found_encoding).is_none() {
            (text, found_encoding) = assume(text)?;
        }
        let mut text: Box<dyn BufRead + Send> = match encoding.or(found_encoding) {
            Some(encoding) => {
                let decoded = encoding.reader(Box::new(text));
                Box::new(BufReader::with_capacity(BUFFER_BYTES, decoded))
            }
            None => Box::new(text),
        };
        if found_encoding.or(encoding).is_none() && start.starts_with(BYTE_ORDER_MARK) {
            text.consume(BYTE_ORDER_MARK.len());
        }
        for _ in 0..settings.lines_skipped {
            skip_line(&mut text)?;
        }
        let (head, text) = peek(text, HEAD_BYTES)?;
        Ok(Input {
            path: shown(path),
            download,
            is_head_whole: (head.len() as u64) < HEAD_BYTES,
            head,
            text: Box::new(text),
            is_plain_file: !is_stdin && !is_compressed,
            meter: meter.clone(),
            found_encoding,
            lines_skipped: settings.lines_skipped,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The first bytes of the text.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether [`head`](Self::head) is the whole text.
    pub(super) fn is_head_whole(&self) -> bool {
        self.is_head_whole
    }

    /// The name of the encoding that the first bytes told, if that is not UTF-8.
    pub(super) fn found_encoding(&self) -> Option<&'static str> {
        self.found_encoding.map(TextEncoding::name)
    }

    /// The lines before the text, which were skipped.
    pub(super) fn lines_skipped(&self) -> u64 {
        self.lines_skipped
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

    /// Leaves out the first line.
    ///
    /// # Errors
    /// If the file can't be read.
    pub(super) fn skip_line(&mut self) -> io::Result<()> {
        let end = memchr::memchr(b'\n', &self.head);
        self.head
            .drain(..end.map_or(self.head.len(), |end| end + 1));
        self.lines_skipped += 1;
        skip_line(&mut self.text)
    }

    /// The file's path and its text.
    pub(super) fn into_parts(self) -> (PathBuf, Box<dyn BufRead + Send>) {
        (self.path, self.text)
    }

    /// The file, for a format that does not read it from front to back. Waits for the end of a download.
    ///
    /// # Errors
    /// The input is stdin or compressed, or the download fails.
    pub(super) fn into_file(self) -> Result<PlainFile, Error> {
        if !self.is_plain_file {
            return Err(Error::NotAFile { path: self.path });
        }
        let real = match &self.download {
            Some(download) => {
                download
                    .whole(&self.meter)
                    .map(Path::to_owned)
                    .map_err(|source| Error::Download {
                        path: self.path.clone(),
                        source,
                    })?
            }
            None => self.path.clone(),
        };
        Ok(PlainFile {
            shown: self.path,
            real,
            meter: self.meter,
        })
    }
}

/// The path of an input, for messages.
pub(super) fn shown(path: &Path) -> PathBuf {
    match path {
        _ if path == Path::new(STDIN) => PathBuf::from("stdin"),
        _ if is_url(path) => public(path),
        _ => path.to_owned(),
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

/// A text of Excel, and its encoding if that is not UTF-8.
type Assumed = (Box<dyn BufRead + Send>, Option<TextEncoding>);

/// Looks whether the beginning of a text is UTF-8, or else windows-1252.
fn assume(text: Box<dyn BufRead + Send>) -> io::Result<Assumed> {
    let (start, text) = peek(text, HEAD_BYTES)?;
    // A character at the end may be cut off.
    let is_other = std::str::from_utf8(&start).is_err_and(|error| error.error_len().is_some());
    let encoding = is_other.then(|| TextEncoding::named("windows-1252"));
    Ok((Box::new(text), encoding.flatten()))
}

/// Reads to the end of a line.
fn skip_line(text: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = text.fill_buf()?;
        let (bytes, is_end) = match memchr::memchr(b'\n', buffer) {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        text.consume(bytes);
        if is_end {
            return Ok(());
        }
    }
}

/// Up to `bytes` first bytes, and a reader that still begins with them.
fn peek<R: BufRead>(mut reader: R, bytes: u64) -> io::Result<(Vec<u8>, impl BufRead + use<R>)> {
    let mut head = Vec::new();
    reader.by_ref().take(bytes).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}
