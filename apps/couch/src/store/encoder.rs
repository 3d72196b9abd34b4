//! Compresses and hashes the bytes of an attachment.
//!
//! CouchDB compresses what compresses well, with zlib at level 8, and names the revision by the MD5 of what it stored. The
//! same edit is the same revision here only if the same bytes come out: hence zlib itself and no other deflate.

use super::{Encoding, Error, Facts, Result};
use flate2::{Compression, GzBuilder, write::GzDecoder, write::GzEncoder};
use md5::{Digest, Md5};
use sha2::Sha256;
use std::io::{self, Write};

/// The media types that CouchDB compresses (`compressible_types`); a type that ends with `/` includes all its subtypes.
const COMPRESSIBLE: &[&str] = &[
    "text/",
    "application/javascript",
    "application/json",
    "application/xml",
];

/// CouchDB's `compression_level`.
const LEVEL: u32 = 8;

/// The code for Unix in a gzip header, as zlib writes it there.
const UNIX: u8 = 3;

/// Whether attachments of this type are compressed.
pub fn is_compressible(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    COMPRESSIBLE.iter().any(|kind| match kind.ends_with('/') {
        true => essence.starts_with(kind),
        false => essence == *kind,
    })
}

/// An attachment's bytes as they are stored, or the last of them, and what is known of all.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// Stored bytes that were not taken before.
    pub rest: Vec<u8>,
    pub sha256: [u8; 32],
    /// MD5 of the bytes as they came.
    pub received_md5: [u8; 16],
    pub facts: Facts,
}

/// Takes bytes as they come and gives them as they are stored.
#[derive(Debug)]
pub struct Encoder {
    sink: Sink,
    sha256: Sha256,
    md5: Md5,
    received_md5: Md5,
    received_length: u64,
    stored_length: u64,
}

#[derive(Debug)]
enum Sink {
    Plain(Vec<u8>),
    Compress(GzEncoder<Vec<u8>>),
    /// Compressed already: decoded only to count and check.
    Compressed {
        stored: Vec<u8>,
        decoder: GzDecoder<Counter>,
    },
}

#[derive(Debug, Default)]
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Encoder {
    /// For bytes of this media type that come encoded like this.
    pub fn new(content_type: &str, encoding: Encoding) -> Self {
        let sink = match encoding {
            Encoding::Gzip => Sink::Compressed {
                stored: Vec::new(),
                decoder: GzDecoder::new(Counter::default()),
            },
            Encoding::Identity if is_compressible(content_type) => {
                let builder = GzBuilder::new().operating_system(UNIX);
                Sink::Compress(builder.write(Vec::new(), Compression::new(LEVEL)))
            }
            Encoding::Identity => Sink::Plain(Vec::new()),
        };
        Encoder {
            sink,
            sha256: Sha256::new(),
            md5: Md5::new(),
            received_md5: Md5::new(),
            received_length: 0,
            stored_length: 0,
        }
    }

    /// Takes a piece.
    pub fn write(&mut self, piece: &[u8]) -> Result<()> {
        self.received_md5.update(piece);
        self.received_length += piece.len() as u64;
        match &mut self.sink {
            Sink::Plain(stored) => stored.extend_from_slice(piece),
            Sink::Compress(encoder) => encoder.write_all(piece).map_err(not_gzip)?,
            Sink::Compressed { stored, decoder } => {
                stored.extend_from_slice(piece);
                decoder.write_all(piece).map_err(not_gzip)?;
            }
        }
        Ok(())
    }

    /// Bytes so far, as they came or decoded, whichever is more.
    pub fn length(&self) -> u64 {
        match &self.sink {
            Sink::Compressed { decoder, .. } => self.received_length.max(decoder.get_ref().0),
            _ => self.received_length,
        }
    }

    /// Stored bytes that wait to be taken.
    pub fn waiting(&self) -> usize {
        match &self.sink {
            Sink::Plain(stored) | Sink::Compressed { stored, .. } => stored.len(),
            Sink::Compress(encoder) => encoder.get_ref().len(),
        }
    }

    /// Takes the first `count` stored bytes that wait.
    pub fn take(&mut self, count: usize) -> Vec<u8> {
        let stored = match &mut self.sink {
            Sink::Plain(stored) | Sink::Compressed { stored, .. } => stored,
            Sink::Compress(encoder) => encoder.get_mut(),
        };
        let rest = stored.split_off(count.min(stored.len()));
        let taken = std::mem::replace(stored, rest);
        self.count(&taken);
        taken
    }

    /// Ends it.
    pub fn finish(mut self) -> Result<Encoded> {
        let (rest, length, encoding) =
            match std::mem::replace(&mut self.sink, Sink::Plain(Vec::new())) {
                Sink::Plain(stored) => (stored, self.received_length, Encoding::Identity),
                Sink::Compress(encoder) => {
                    let stored = encoder.finish().map_err(not_gzip)?;
                    (stored, self.received_length, Encoding::Gzip)
                }
                Sink::Compressed { stored, decoder } => {
                    let counter = decoder.finish().map_err(not_gzip)?;
                    (stored, counter.0, Encoding::Gzip)
                }
            };
        self.count(&rest);
        Ok(Encoded {
            rest,
            sha256: self.sha256.finalize().into(),
            received_md5: self.received_md5.finalize().into(),
            facts: Facts {
                md5: self.md5.finalize().into(),
                length,
                stored_length: self.stored_length,
                encoding,
            },
        })
    }

    fn count(&mut self, stored: &[u8]) {
        self.md5.update(stored);
        self.sha256.update(stored);
        self.stored_length += stored.len() as u64;
    }
}

fn not_gzip(error: io::Error) -> Error {
    Error::BadRequest(format!("the attachment is not what gzip makes: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decompress(stored: &[u8]) -> Result<Vec<u8>> {
        let mut decoder = GzDecoder::new(Vec::new());
        decoder.write_all(stored).map_err(not_gzip)?;
        decoder.finish().map_err(not_gzip)
    }

    fn encode(content_type: &str, encoding: Encoding, bytes: &[u8]) -> Encoded {
        let mut encoder = Encoder::new(content_type, encoding);
        let mut stored = Vec::new();
        for piece in bytes.chunks(777) {
            encoder.write(piece).unwrap();
            stored.extend(encoder.take(100));
        }
        let mut encoded = encoder.finish().unwrap();
        stored.append(&mut encoded.rest);
        encoded.rest = stored;
        encoded
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Words of a small vocabulary, in an order that repeats late.
    fn text(words: u64) -> Vec<u8> {
        let mut state = 1u64;
        let mut text = String::new();
        for _ in 0..words {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            text.push_str(&format!("w{} ", (state >> 33) % 1000));
        }
        text.into_bytes()
    }

    #[test]
    fn text_is_compressed_to_the_bytes_of_zlib() {
        // Digests by zlib 1.2.13 at level 8, with the header that deflateInit2 writes for windowBits 31.
        for (words, expected) in ZLIB {
            let encoded = encode(
                "text/plain; charset=utf-8",
                Encoding::Identity,
                &text(*words),
            );
            assert_eq!(hex(&encoded.facts.md5), *expected, "{words} words");
            assert_eq!(decompress(&encoded.rest).unwrap(), text(*words));
            assert_eq!(encoded.facts.stored_length, encoded.rest.len() as u64);
        }
    }

    const ZLIB: &[(u64, &str)] = &[
        (0, "7029066c27ac6f5ef18d660d5741979a"),
        (1, "6be30849562d7555c6919d2e90316ecb"),
        (100, "e0071dfbc5776660a870f530cacc4c32"),
        (10000, "a5716479dfe5d74aafd37d21fd1bd31d"),
        (200000, "19cedecb776f340aea621c9b0038ef5c"),
    ];

    #[test]
    fn other_types_are_stored_as_they_come() {
        let encoded = encode("image/png", Encoding::Identity, b"hello");
        assert_eq!(encoded.rest, b"hello");
        assert_eq!(hex(&encoded.facts.md5), "5d41402abc4b2a76b9719d911017c592");
        assert_eq!(encoded.facts.encoding, Encoding::Identity);
    }

    #[test]
    fn what_comes_compressed_is_checked_and_kept() {
        let compressed = encode("text/plain", Encoding::Identity, b"hello").rest;
        let encoded = encode("image/png", Encoding::Gzip, &compressed);
        assert_eq!(encoded.rest, compressed);
        let Facts {
            length, encoding, ..
        } = encoded.facts;
        assert_eq!((length, encoding), (5, Encoding::Gzip));
        let mut encoder = Encoder::new("image/png", Encoding::Gzip);
        let is_refused =
            encoder.write(b"this is not compressed").is_err() || encoder.finish().is_err();
        assert!(is_refused);
        let mut cut = Encoder::new("image/png", Encoding::Gzip);
        cut.write(&compressed[..compressed.len() - 1]).unwrap();
        assert!(cut.finish().is_err());
    }
}
