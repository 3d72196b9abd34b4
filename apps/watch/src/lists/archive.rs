//! A zip archive of several files, with limits against archives that unpack to more than a machine holds.

use crate::{
    Error, Result,
    words::{Arg, say},
};
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// Files of an archive. Letterboxd writes a file per list.
const FILES_MAX: usize = 5000;

/// Bytes of all files that are read, unpacked.
const UNPACKED_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Whether these are the bytes of a zip archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

/// The files of an archive.
pub struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// The names, without a folder that contains all.
    names: Vec<(usize, String)>,
    unpacked_bytes: u64,
}

impl<'a> Archive<'a> {
    /// Reads the directory of the archive.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is no zip archive, or has too many files.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| bad("archive", error))?;
        if zip.len() > FILES_MAX {
            return Err(Error::Invalid(say::archive_files_max(FILES_MAX)));
        }
        let names = (0..zip.len()).filter_map(|at| {
            let name = zip.name_for_index(at)?.ok()?.replace('\\', "/");
            let is_junk = name.starts_with("__MACOSX/") || name.ends_with('/');
            (!is_junk && !name.ends_with(".DS_Store")).then_some((at, name))
        });
        Ok(Archive {
            names: without_root(names.collect()),
            zip,
            unpacked_bytes: 0,
        })
    }

    /// The files: their places in the archive, and their names.
    pub fn names(&self) -> &[(usize, String)] {
        &self.names
    }

    /// Unpacks a file.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the file is damaged or encrypted, or all files together are too large.
    pub fn unpack(&mut self, at: usize) -> Result<Vec<u8>> {
        let left = UNPACKED_BYTES_MAX - self.unpacked_bytes;
        let file = self.zip.by_index(at).map_err(|error| bad("file", error))?;
        let mut bytes = Vec::new();
        let read = file.take(left + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| bad("file", error))? as u64;
        if read > left {
            return Err(Error::Invalid(say::archive_bytes_max(
                UNPACKED_BYTES_MAX >> 20,
            )));
        }
        self.unpacked_bytes += read;
        Ok(bytes)
    }
}

fn bad(what: &'static str, error: impl std::fmt::Display) -> Error {
    Error::Invalid(say::archive_bad(Arg::key(what), error.to_string()))
}

/// The names without the folder that contains them all, which some programs add.
fn without_root(names: Vec<(usize, String)>) -> Vec<(usize, String)> {
    let root = names.first().and_then(|(_, name)| name.split_once('/'));
    let Some((root, _)) = root.map(|(root, rest)| (format!("{root}/"), rest)) else {
        return names;
    };
    let is_own = ["lists/", "likes/", "deleted/", "orphaned/"].contains(&root.as_str());
    if is_own || !names.iter().all(|(_, name)| name.starts_with(&root)) {
        return names;
    }
    let cut = |(at, name): (usize, String)| (at, name[root.len()..].to_owned());
    names.into_iter().map(cut).collect()
}
