//! Keys in bulk.

use crate::buffer::KeyBuffer;
use crate::counting_clock::CountingClock;
use crate::rng::KeyRng;
use crate::sequence::{Rules, Sequence};
use crate::split_mix::SplitMix64;
use crate::text::{write_hex, write_ulid, write_uuid};
use crate::time_id::Numbered;
use crate::{
    Clock, Encoding, Error, KeyKind, Method, Overflow, SystemClock, TsidFactory, Ulid, Uuid,
};

/// Bytes of one token.
const TOKEN_BYTES: usize = 20;
/// Buckets of a composite key, a power of two.
const BUCKETS_LOG2: u32 = 6;
/// Buckets of a composite key: 0 to one less.
pub const COMPOSITE_BUCKETS: i64 = 1 << BUCKETS_LOG2;

/// An endless stream of keys of one kind and encoding, read in bulk.
///
/// `fill(3)` and then `fill(4)` return the keys of `fill(7)`. Time-ordered ids follow the generators of this crate:
/// within a millisecond, a ULID or TSID is the last one plus one, and a UUIDv7 takes a random step
/// ([`Method::default`]). The node of TSIDs is random.
/// Integers and sequences of composite keys start at 1; a composite key's bucket is 0 to 63, a hash of its sequence.
pub struct KeyStream {
    kind: KeyKind,
    encoding: Encoding,
    rng: KeyRng,
    clock: Box<dyn Clock + Send>,
    sequence: Sequence,
    tsids: TsidFactory,
    /// Number of keys made so far.
    made: usize,
}

impl KeyStream {
    /// Creates a reproducible stream: the same kind, encoding and seed give the same keys on every machine.
    ///
    /// The seed is the key of ChaCha8. The time starts at 2024-01-01T00:00:00Z and advances 1 ms per 20 keys
    /// ([`CountingClock`]). The keys are predictable: use them for measurements, never for production.
    ///
    /// # Errors
    /// [`Error::Encoding`] if the kind cannot be stored in the encoding.
    pub fn seeded(kind: KeyKind, encoding: Encoding, seed: u64) -> Result<Self, Error> {
        let clock = Box::new(CountingClock::default());
        Self::new(kind, encoding, KeyRng::seeded(seed), clock)
    }

    /// Creates a stream with the system clock and random bytes of the operating system.
    ///
    /// # Errors
    /// [`Error::Encoding`] if the kind cannot be stored in the encoding, [`Error::Entropy`] if the system gives no
    /// random bytes.
    pub fn real(kind: KeyKind, encoding: Encoding) -> Result<Self, Error> {
        Self::new(
            kind,
            encoding,
            KeyRng::from_system()?,
            Box::new(SystemClock),
        )
    }

    /// Returns the same stream with another clock.
    pub fn with_clock(self, clock: impl Clock + Send + 'static) -> Self {
        Self {
            clock: Box::new(clock),
            ..self
        }
    }

    fn new(
        kind: KeyKind,
        encoding: Encoding,
        rng: KeyRng,
        clock: Box<dyn Clock + Send>,
    ) -> Result<Self, Error> {
        if !kind.encodings().contains(&encoding) {
            return Err(Error::Encoding { kind, encoding });
        }
        let (method, tail_bits) = match kind {
            KeyKind::Ulid => (Method::ULID_SPEC, Ulid::TAIL_BITS),
            _ => (Method::default(), Uuid::TAIL_BITS),
        };
        let rules = Rules::new(method, Overflow::RunAhead, tail_bits)?;
        Ok(Self {
            kind,
            encoding,
            rng,
            clock,
            sequence: Sequence::new(rules),
            tsids: TsidFactory::with_random_node(),
            made: 0,
        })
    }

    /// Returns the kind of key of this stream.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the storage format of the keys.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the next `keys` keys.
    ///
    /// # Panics
    /// If the stream outlives the last id there is, in the year 10889 (TSIDs: 2089), or if the system gives no random bytes after a
    /// fork.
    pub fn fill(&mut self, keys: usize) -> KeyBuffer {
        let mut buffer = KeyBuffer::new(self.kind, self.encoding);
        self.fill_into(keys, &mut buffer);
        buffer
    }

    /// Appends the next `keys` keys to `buffer` and reuses its allocation.
    ///
    /// Empties a buffer of another shape first.
    ///
    /// # Panics
    /// Those of [`KeyStream::fill`].
    pub fn fill_into(&mut self, keys: usize, buffer: &mut KeyBuffer) {
        let empty = KeyBuffer::new(self.kind, self.encoding);
        if !buffer.has_shape_of(&empty) {
            *buffer = empty;
        }
        if let Err(error) = self.rng.rekey_if_forked() {
            panic!("{error}");
        }
        let numbers = self.made as i64 + 1..=(self.made + keys) as i64;
        self.made += keys;
        match buffer {
            KeyBuffer::Assigned(assigned) => *assigned += keys,
            KeyBuffer::Pairs(buckets, sequence) => {
                buckets.extend(numbers.clone().map(bucket));
                sequence.extend(numbers);
            }
            KeyBuffer::Integers(integers) if self.kind == KeyKind::IntSeq => {
                integers.extend(numbers);
            }
            KeyBuffer::Integers(integers) if self.kind == KeyKind::Tsid => {
                self.push_tsids(keys, integers);
            }
            KeyBuffer::Integers(integers) => {
                integers.extend((0..keys).map(|_| positive(&mut self.rng)));
            }
            KeyBuffer::Bytes {
                width_bytes, bytes, ..
            } => {
                let start = bytes.len();
                bytes.resize(start + keys * *width_bytes, 0);
                self.write_bytes(&mut bytes[start..]);
            }
        }
    }

    fn push_tsids(&mut self, mut keys: usize, out: &mut Vec<i64>) {
        while keys > 0 {
            let reading = self.clock.read(keys);
            let ids = reading.ids.clamp(1, keys);
            keys -= ids;
            for _ in 0..ids {
                let next = self.tsids.next_ahead(reading.time.ms, &mut self.rng);
                out.push(next.expect("a time from 2020 to 2089").to_i64());
            }
        }
    }

    fn write_bytes(&mut self, out: &mut [u8]) {
        match (self.kind, self.encoding) {
            (KeyKind::Token160, Encoding::Text) => {
                for text in out.as_chunks_mut::<{ 2 * TOKEN_BYTES }>().0 {
                    let mut token = [0; TOKEN_BYTES];
                    self.rng.fill(&mut token);
                    write_hex(&token, text);
                }
            }
            (KeyKind::Token160, _) => self.rng.fill(out),
            (KeyKind::Ulid, Encoding::Text) => self.write_ids(out, write_ulid),
            (_, Encoding::Text) => self.write_ids(out, write_uuid),
            (_, Encoding::Hex) => self.write_ids(out, |id, out: &mut [u8; 32]| {
                write_hex(&id.to_be_bytes(), out);
            }),
            _ => self.write_ids(out, |id, out: &mut [u8; 16]| *out = id.to_be_bytes()),
        }
    }

    fn write_ids<const N: usize>(&mut self, out: &mut [u8], write: impl Fn(u128, &mut [u8; N])) {
        let out = out.as_chunks_mut::<N>().0;
        let (clock, rng) = (&mut *self.clock, &mut self.rng);
        let done = match self.kind {
            KeyKind::Uuid4 => {
                for out in out {
                    write(Uuid::v4_of(rng.bits(128)).to_u128(), out);
                }
                Ok(())
            }
            KeyKind::Uuid7 => self.sequence.fill(clock, rng, out, |number, out| {
                write(Uuid::from_number(number).to_u128(), out);
            }),
            _ => self.sequence.fill(clock, rng, out, write),
        };
        done.expect("an id before the year 10889");
    }
}

/// Returns a uniformly random integer from 1 to 2^63 - 1.
#[inline]
fn positive(rng: &mut KeyRng) -> i64 {
    loop {
        let random = rng.bits(63) as i64;
        if random != 0 {
            return random;
        }
    }
}

/// Returns the bucket of a sequence number: the top bits of SplitMix64's finalizer.
#[inline]
fn bucket(sequence: i64) -> i64 {
    (SplitMix64::mix(sequence as u64) >> (64 - BUCKETS_LOG2)) as i64
}
