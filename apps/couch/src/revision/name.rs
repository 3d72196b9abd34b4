//! The name of a revision: the number of edits and a hash of the last one.

use crate::json::write_integer;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The maximum length of a hash in bytes. Servers make 16 bytes; only `new_edits=false` accepts other lengths.
const HASH_BYTES_MAX: usize = 255;

/// The largest generation: the largest integer that JavaScript represents exactly.
const GENERATION_MAX: u64 = 1 << 53;

/// The error of invalid revision text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("Invalid rev format")]
pub struct RevisionError;

/// The hash part of a revision's name.
///
/// Text of 32 hexadecimal digits represents 16 bytes, other text represents itself, as in CouchDB
/// (`couch_doc:parse_revid`). 16 bytes are written as hexadecimal digits. The order is that of the bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RevisionHash(Bytes);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Bytes {
    Digest([u8; 16]),
    /// Never 16 bytes long.
    Other(Box<[u8]>),
}

impl RevisionHash {
    /// Creates a hash from the stored bytes. `None` if they are more than 255, or invalid UTF-8 where they must
    /// be text.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if let Ok(digest) = <[u8; 16]>::try_from(bytes) {
            return Some(digest.into());
        }
        let is_text = bytes.len() <= HASH_BYTES_MAX
            && std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(char::is_control));
        is_text.then(|| RevisionHash(Bytes::Other(bytes.into())))
    }

    /// Whether it is written as hexadecimal digits.
    pub fn is_digest(&self) -> bool {
        matches!(self.0, Bytes::Digest(_))
    }

    /// The bytes as stored and compared.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Digest(digest) => digest,
            Bytes::Other(bytes) => bytes,
        }
    }
}

impl From<[u8; 16]> for RevisionHash {
    fn from(digest: [u8; 16]) -> Self {
        RevisionHash(Bytes::Digest(digest))
    }
}

impl FromStr for RevisionHash {
    type Err = RevisionError;

    fn from_str(text: &str) -> Result<Self, RevisionError> {
        let bytes = text.as_bytes();
        if bytes.len() != 32 {
            return RevisionHash::from_bytes(bytes).ok_or(RevisionError);
        }
        let mut digest = [0; 16];
        for (byte, pair) in digest.iter_mut().zip(bytes.chunks_exact(2)) {
            *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Ok(digest.into())
    }
}

fn hex_digit(byte: u8) -> Result<u8, RevisionError> {
    let digit = char::from(byte).to_digit(16).ok_or(RevisionError)?;
    Ok(digit as u8)
}

/// Writes a digest as hexadecimal digits.
fn digits(digest: &[u8; 16]) -> [u8; 32] {
    let mut text = [0; 32];
    for (pair, byte) in text.chunks_exact_mut(2).zip(digest) {
        pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
        pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
    }
    text
}

impl fmt::Display for RevisionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Bytes::Digest(digest) => {
                f.write_str(std::str::from_utf8(&digits(digest)).unwrap_or_default())
            }
            Bytes::Other(bytes) => f.write_str(std::str::from_utf8(bytes).unwrap_or_default()),
        }
    }
}

impl fmt::Debug for RevisionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for RevisionHash {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for RevisionHash {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A revision's name, written `generation-hash`. The order is that of generations, then of hashes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision {
    /// The number of edits, from 1 to 2^53. 0 for a local document, whose hash is a number.
    pub generation: u64,
    /// The hash of the last edit.
    pub hash: RevisionHash,
}

impl Revision {
    /// Creates a revision. `None` if the generation is out of range.
    pub fn new(generation: u64, hash: RevisionHash) -> Option<Self> {
        (generation <= GENERATION_MAX).then_some(Revision { generation, hash })
    }

    /// Appends the text. The formatter takes several times as long.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_integer(out, self.generation);
        out.push(b'-');
        match &self.hash.0 {
            Bytes::Digest(digest) => out.extend_from_slice(&digits(digest)),
            Bytes::Other(bytes) => out.extend_from_slice(bytes),
        }
    }
}

impl FromStr for Revision {
    type Err = RevisionError;

    fn from_str(text: &str) -> Result<Self, RevisionError> {
        let (generation, hash) = text.split_once('-').ok_or(RevisionError)?;
        if !generation.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(RevisionError);
        }
        let generation = generation.parse().map_err(|_| RevisionError)?;
        Revision::new(generation, hash.parse()?).ok_or(RevisionError)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.generation, self.hash)
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Revision {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Revision {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_as_couchdb_does() {
        let read = |text: &str| {
            let revision = text.parse::<Revision>()?;
            let mut written = Vec::new();
            revision.write(&mut written);
            assert_eq!(written, revision.to_string().as_bytes());
            Ok(revision.to_string())
        };
        let hex = "1-967a00dff5e02add41819138abb3284d";
        assert_eq!(read(hex).as_deref(), Ok(hex));
        assert_eq!(read(&hex.to_uppercase()).as_deref(), Ok(hex));
        assert_eq!(read("3-a").as_deref(), Ok("3-a"));
        assert_eq!(read("10-a").as_deref(), Ok("10-a"));
        assert_eq!(read("1-").as_deref(), Ok("1-"));
        assert_eq!(read("3-a-b").as_deref(), Ok("3-a-b"));
        assert_eq!(
            read("1-abcdefghijklmnop").as_deref(),
            Ok("1-6162636465666768696a6b6c6d6e6f70")
        );
        for bad in ["", "1", "-a", "+1-a", "x-a", "1-a\n"] {
            assert_eq!(read(bad), Err(RevisionError), "{bad}");
        }
        assert!(read("1-zz7a00dff5e02add41819138abb3284d").is_err());
        assert!(read("99999999999999999999-a").is_err());
        assert!(read(&format!("1-{}", "a".repeat(256))).is_err());
    }

    #[test]
    fn a_shorter_hash_that_begins_alike_comes_first() {
        let revision = |text: &str| text.parse::<Revision>().unwrap();
        assert!(revision("1-a") < revision("1-aa"));
        assert!(revision("9-a") < revision("10-a"));
        assert!(revision("1-b") > revision("1-aa"));
    }
}
