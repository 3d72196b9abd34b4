//! Streams of keys: order, uniqueness, reproducibility and shape.

use std::collections::HashSet;

use inorder_key::bulk::{CountingClock, KeyBuffer, KeyStream};
use inorder_key::{Encoding, Error, KeyKind};
use proptest::prelude::*;

fn seeded(kind: KeyKind, encoding: Encoding) -> KeyStream {
    KeyStream::seeded(kind, encoding, 42).unwrap()
}

fn every_pair() -> impl Iterator<Item = (KeyKind, Encoding)> {
    KeyKind::ALL
        .iter()
        .flat_map(|&kind| kind.encodings().iter().map(move |&e| (kind, e)))
}

/// Every key as bytes that sort like the key.
fn keys(buffer: &KeyBuffer) -> Vec<Vec<u8>> {
    match buffer {
        KeyBuffer::Assigned(n) => (0..*n).map(|i| i.to_be_bytes().to_vec()).collect(),
        KeyBuffer::Integers(v) => v.iter().map(|i| i.to_be_bytes().to_vec()).collect(),
        KeyBuffer::Pairs(a, b) => a
            .iter()
            .zip(b)
            .map(|(a, b)| [a.to_be_bytes(), b.to_be_bytes()].concat())
            .collect(),
        KeyBuffer::Bytes {
            width_bytes, bytes, ..
        } => bytes.chunks(*width_bytes).map(<[u8]>::to_vec).collect(),
    }
}

fn ids(kind: KeyKind, n: usize) -> Vec<u128> {
    keys(&seeded(kind, Encoding::Blob).fill(n))
        .iter()
        .map(|key| u128::from_be_bytes(key[..].try_into().unwrap()))
        .collect()
}

#[test]
fn every_kind_is_unique_and_the_ordered_ones_are_in_order() {
    for (kind, encoding) in every_pair() {
        let keys = keys(&seeded(kind, encoding).fill(20_000));
        assert_eq!(keys.len(), 20_000);
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 20_000);
        assert_eq!(keys.is_sorted(), kind.is_ordered(), "{kind:?} {encoding:?}");
    }
}

#[test]
fn real_streams_are_unique_and_in_order_too() {
    for (kind, encoding) in every_pair() {
        let keys = keys(&KeyStream::real(kind, encoding).unwrap().fill(20_000));
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 20_000);
        assert_eq!(keys.is_sorted(), kind.is_ordered(), "{kind:?} {encoding:?}");
    }
}

#[test]
fn seeds_decide_what_is_random() {
    for (kind, encoding) in every_pair() {
        let again = seeded(kind, encoding).fill(100);
        assert_eq!(again, seeded(kind, encoding).fill(100));
        let other = KeyStream::seeded(kind, encoding, 43).unwrap().fill(100);
        let is_random = !matches!(kind, KeyKind::Serial | KeyKind::IntSeq | KeyKind::Composite);
        assert_eq!(again != other, is_random, "{kind:?} {encoding:?}");
    }
}

#[test]
fn buffers_have_the_width_the_kind_declares() {
    for (kind, encoding) in every_pair() {
        match seeded(kind, encoding).fill(3) {
            KeyBuffer::Bytes {
                width_bytes,
                bytes,
                is_text,
            } => {
                assert_eq!(Some(width_bytes), kind.width_bytes(encoding));
                assert_eq!(bytes.len(), 3 * width_bytes);
                let texts = [Encoding::Text, Encoding::Hex];
                assert_eq!(is_text, texts.contains(&encoding));
            }
            _ => assert_eq!(kind.width_bytes(encoding), None),
        }
    }
}

#[test]
fn encodings_of_one_stream_hold_the_same_ids() {
    for kind in [KeyKind::Uuid4, KeyKind::Uuid7, KeyKind::Ulid] {
        let blob = seeded(kind, Encoding::Blob).fill(50);
        let KeyBuffer::Bytes { bytes: native, .. } = seeded(kind, Encoding::Native).fill(50) else {
            panic!("bytes");
        };
        assert!(matches!(&blob, KeyBuffer::Bytes { bytes, .. } if *bytes == native));
    }
    let blob = seeded(KeyKind::Uuid7, Encoding::Blob).fill(50);
    for encoding in [Encoding::Text, Encoding::Hex] {
        let text = seeded(KeyKind::Uuid7, encoding).fill(50);
        for (blob, text) in keys(&blob).iter().zip(keys(&text)) {
            let hex: String = blob.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(String::from_utf8(text).unwrap().replace('-', ""), hex);
        }
    }
}

#[test]
fn uuids_carry_version_and_variant() {
    for (kind, version) in [(KeyKind::Uuid4, 4), (KeyKind::Uuid7, 7)] {
        for id in ids(kind, 1000) {
            assert_eq!((id >> 76 & 0xf, id >> 62 & 0b11), (version, 0b10));
        }
    }
}

#[test]
fn a_millisecond_holds_twenty_keys() {
    for kind in [KeyKind::Uuid7, KeyKind::Ulid] {
        for (i, id) in ids(kind, 1000).into_iter().enumerate() {
            assert_eq!(id >> 80, (CountingClock::START_MS + i as u64 / 20).into());
        }
    }
    for ulids in ids(KeyKind::Ulid, 1000).chunks(20) {
        assert!(ulids.windows(2).all(|pair| pair[1] == pair[0] + 1));
    }
}

#[test]
fn integers_are_positive_and_sequences_count() {
    let KeyBuffer::Integers(random) = seeded(KeyKind::IntRandom, Encoding::Integer).fill(1000)
    else {
        panic!("integers");
    };
    assert!(random.iter().all(|&i| i > 0) && random.iter().any(|&i| i > i64::MAX / 2));
    let KeyBuffer::Pairs(buckets, sequence) =
        seeded(KeyKind::Composite, Encoding::Integer).fill(6400)
    else {
        panic!("pairs");
    };
    assert_eq!(sequence, (1..=6400).collect::<Vec<_>>());
    for bucket in 0..64 {
        let size = buckets.iter().filter(|&&b| b == bucket).count();
        assert!((50..=150).contains(&size), "bucket {bucket} has {size}");
    }
}

#[test]
fn streams_move_between_threads() {
    fn sendable<T: Send>(value: T) -> T {
        value
    }
    sendable(seeded(KeyKind::Ulid, Encoding::Text));
}

#[test]
fn an_impossible_pair_names_the_possible_ones() {
    for kind in KeyKind::ALL {
        for encoding in Encoding::ALL {
            let stream = KeyStream::seeded(*kind, *encoding, 0);
            assert_eq!(stream.is_ok(), kind.encodings().contains(encoding));
        }
    }
    let error: Error = KeyStream::seeded(KeyKind::Token160, Encoding::Native, 0)
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "a token160 key cannot be stored as native: choose blob or text"
    );
}

#[test]
fn a_buffer_of_another_shape_is_emptied_first() {
    let mut buffer = seeded(KeyKind::Ulid, Encoding::Text).fill(5);
    let mut stream = seeded(KeyKind::Ulid, Encoding::Blob);
    stream.fill_into(2, &mut buffer);
    assert_eq!(buffer, seeded(KeyKind::Ulid, Encoding::Blob).fill(2));
    buffer.clear();
    assert!(buffer.is_empty());
}

proptest! {
    #[test]
    fn a_stream_split_anywhere_is_the_same_stream(
        pair in 0..every_pair().count(),
        parts in prop::collection::vec(0usize..90, 0..8),
        seed: u64,
    ) {
        let (kind, encoding) = every_pair().nth(pair).unwrap();
        let mut split = KeyStream::seeded(kind, encoding, seed).unwrap();
        let mut buffer = KeyBuffer::new(kind, encoding);
        for &part in &parts {
            split.fill_into(part, &mut buffer);
        }
        let keys = parts.iter().sum();
        prop_assert_eq!(buffer.len(), keys);
        let whole = KeyStream::seeded(kind, encoding, seed).unwrap().fill(keys);
        prop_assert_eq!(buffer, whole);
    }

    #[test]
    fn ordered_ids_survive_any_clock(
        times in prop::collection::vec(0u64..40, 1..60),
        kind in prop::sample::select(vec![KeyKind::Uuid7, KeyKind::Ulid]),
    ) {
        use inorder_key::{Clock, Reading, UnixTime};
        struct Jumpy(std::vec::IntoIter<u64>);
        impl Clock for Jumpy {
            fn read(&mut self, _: usize) -> Reading {
                Reading { time: UnixTime::from_ms(self.0.next().unwrap()), ids: 1 }
            }
        }
        let n = times.len();
        let clock = Jumpy(times.into_iter());
        let made = keys(&seeded(kind, Encoding::Blob).with_clock(clock).fill(n));
        prop_assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
