//! The first page of a file, read without SQLite: <https://www.sqlite.org/fileformat2.html#the_database_header>.

use crate::Error;
use inorder_btree::Sizes;
use inorder_load::files::{Access, open_for_good};
use std::{fs::File, io, os::unix::fs::FileExt as _, path::Path};

const MAGIC: &[u8] = b"SQLite format 3\0";
/// A write-ahead log begins with one of these (<https://www.sqlite.org/fileformat2.html#walformat>).
const WAL_MAGICS: [&[u8]; 2] = [&[0x37, 0x7f, 0x06, 0x82], &[0x37, 0x7f, 0x06, 0x83]];
/// A rollback journal begins so.
const JOURNAL_MAGIC: &[u8] = &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// The newest schema format and the newest file format.
const SCHEMA_FORMAT_MAX: u32 = 4;
const FILE_FORMAT_MAX: u32 = 2;
/// The text encodings by their numbers from 1.
const ENCODINGS: [&str; 3] = ["UTF-8", "UTF-16le", "UTF-16be"];
/// Bytes that tell what a file is.
const PROBED_BYTES: usize = 4096;
/// So many different bytes within [`PROBED_BYTES`] are those of random or compressed data.
const RANDOM_BYTES_MIN: usize = 240;

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Whether the file is in WAL mode.
    pub is_wal: bool,
    /// Bytes per page.
    pub page_bytes: u32,
    /// The text encoding, as PRAGMA encoding has it.
    pub encoding: &'static str,
    /// `PRAGMA application_id`.
    pub application_id: i32,
    /// Bytes of all pages, where it says how many there are.
    pub bytes: u64,
}

impl Header {
    /// What the name of the database's log ends in.
    pub(super) fn log(&self) -> &'static str {
        if self.is_wal { "-wal" } else { "-journal" }
    }
}

/// The first bytes of a file, as many as there are.
fn beginning(file: &File) -> io::Result<Vec<u8>> {
    let (mut bytes, mut read) = (vec![0; PROBED_BYTES], 0);
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

/// Reads the header of a file and refuses what SQLite couldn't read.
pub(super) fn read(path: &Path) -> Result<Header, Error> {
    if path.is_dir() {
        return Err(Error::NotADatabase {
            path: path.into(),
            found: "it is a folder. Name the file".into(),
        });
    }
    let bytes = open_for_good(path, Access::Read)
        .and_then(|file| beginning(&file))
        .map_err(Error::io(path))?;
    if bytes.is_empty() {
        return Ok(Header {
            is_wal: false,
            page_bytes: 4096,
            encoding: ENCODINGS[0],
            application_id: 0,
            bytes: 0,
        });
    }
    if !bytes.starts_with(MAGIC) || bytes.len() < 100 {
        return Err(Error::NotADatabase {
            path: path.into(),
            found: looks_like(&bytes),
        });
    }
    let newer = |found, known| Error::NewerFormat {
        path: path.into(),
        found,
        known,
    };
    let file_format = u32::from(bytes[19]);
    if file_format > FILE_FORMAT_MAX {
        return Err(newer(format!("file format {file_format}"), FILE_FORMAT_MAX));
    }
    let number = |at: usize| {
        bytes[at..at + 4]
            .iter()
            .fold(0, |all, &byte| all << 8 | u32::from(byte))
    };
    let schema_format = number(44);
    if schema_format > SCHEMA_FORMAT_MAX {
        return Err(newer(
            format!("schema format {schema_format}"),
            SCHEMA_FORMAT_MAX,
        ));
    }
    Ok(Header {
        is_wal: file_format == 2,
        page_bytes: match number(16) >> 16 {
            1 => 65536,
            bytes => bytes,
        },
        encoding: ENCODINGS[(number(56).clamp(1, 3) - 1) as usize],
        application_id: number(68) as i32,
        bytes: Sizes::of(&bytes).map_or(0, |sizes| {
            u64::from(sizes.pages) * u64::from(sizes.page_bytes)
        }),
    })
}

/// What bytes that are no database look like, and what to do.
fn looks_like(bytes: &[u8]) -> String {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let mut seen = [false; 256];
    bytes
        .iter()
        .for_each(|&byte| seen[usize::from(byte)] = true);
    let different = seen.iter().filter(|&&seen| seen).count();
    let found = if WAL_MAGICS.into_iter().any(begins) {
        "it is the write-ahead log of one. Name the database, the same file without -wal; a log alone can't be read"
    } else if begins(JOURNAL_MAGIC) {
        "it is the rollback journal of one. Name the database, the same file without -journal"
    } else if begins(&[0x1f, 0x8b]) || begins(b"PK") || begins(&[0x28, 0xb5, 0x2f, 0xfd]) {
        "it is compressed. Unpack it first"
    } else if begins(MAGIC) {
        "it ends within its header"
    } else if bytes.len() == PROBED_BYTES && different >= RANDOM_BYTES_MIN {
        "its bytes look random. If it is encrypted, decrypt it with the program that made it and advise on that copy"
    } else {
        "it begins with other bytes than `SQLite format 3`"
    };
    found.to_owned()
}
