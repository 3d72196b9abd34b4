//! TSIDs and TypeIDs: their text, their order and their limits.

use ferroid::base32::Base32SnowExt;
use ferroid::id::SnowflakeTwitterId;
use inorder_key::{Error, Tsid, TsidFactory, TypeId, UnixTime, Uuid};
use proptest::prelude::*;
use std::collections::HashSet;

#[test]
fn the_first_and_the_last_tsid() {
    let (first, last) = (Tsid::default(), Tsid::from_i64(i64::MAX).unwrap());
    assert_eq!(
        UnixTime::from(first).to_string(),
        "2020-01-01T00:00:00.000Z"
    );
    assert_eq!(UnixTime::from(last).to_string(), "2089-09-06T15:47:35.551Z");
    assert_eq!((last.node(), last.counter()), (1023, 4095));
    assert_eq!(
        [first, last].map(|id| id.to_string()),
        ["0000000000000", "7ZZZZZZZZZZZZ"]
    );
    assert_eq!(Tsid::last_at(Tsid::MS_MAX), Ok(last));
    for ms in [0, Tsid::EPOCH_MS - 1, Tsid::MS_MAX + 1] {
        assert!(matches!(Tsid::first_at(ms), Err(Error::TsidTime { .. })));
    }
    for (text, message) in [
        (
            "8000000000000",
            "a TSID begins with 0 to 7, not '8': it would exceed 63 bits",
        ),
        ("000000000000U", "a TSID cannot have 'U' at position 13"),
        ("000000000000", "a TSID has 13 characters, not 12"),
    ] {
        assert_eq!(Tsid::parse(text).unwrap_err().to_string(), message);
    }
    assert!(Tsid::from_i64(-1).is_err() && TsidFactory::new(1024).is_err());
}

#[test]
fn tsids_of_eight_threads_are_in_order_and_unique() {
    const IDS: usize = 20_000;
    let factory = TsidFactory::new(5).unwrap();
    let before = UnixTime::from(std::time::SystemTime::now());
    let threads: Vec<Vec<Tsid>> = std::thread::scope(|scope| {
        let make = || (0..IDS).map(|_| factory.next()).collect();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let after = UnixTime::from(std::time::SystemTime::now());
    assert!(threads.iter().all(|ids| ids.is_sorted_by(|a, b| a < b)));
    let all: HashSet<Tsid> = threads.into_iter().flatten().collect();
    assert_eq!(all.len(), 8 * IDS);
    // No id is ahead of the clock. A thread reads the clock once per part of a millisecond.
    assert!(
        all.iter()
            .all(|id| (before.ms.saturating_sub(1)..=after.ms).contains(&id.ms()))
    );
    assert!(all.iter().all(|id| id.node() == 5));
    let residues: HashSet<i64> = all.iter().map(|id| id.to_i64() % 64).collect();
    assert_eq!(residues.len(), 64);
}

#[test]
fn a_process_has_one_node() {
    let nodes: HashSet<u16> = (0..1000).map(|_| Tsid::now().node()).collect();
    assert_eq!(nodes.len(), 1);
    let nodes: HashSet<u16> = (0..200)
        .map(|_| TsidFactory::with_random_node().next().node())
        .collect();
    assert!(nodes.len() > 100, "{} nodes", nodes.len());
}

#[test]
fn type_ids_are_in_the_order_of_their_uuids() {
    let ids: Vec<TypeId> = (0..1000).map(|_| TypeId::now("user").unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert!(ids.iter().all(|id| id.uuid().version() == Some(7)));
    for wrong in ["", "_", "user", "user_", "_01h455vb4pex5vsknk084sn02q"] {
        assert!(TypeId::parse(wrong).is_err(), "{wrong}");
    }
    let bare = TypeId::parse("01h455vb4pex5vsknk084sn02q").unwrap();
    assert_eq!((bare.prefix(), bare.to_string().len()), ("", 26));
    assert_eq!(format!("{bare:?}"), "TypeId(01h455vb4pex5vsknk084sn02q)");
}

proptest! {
    #[test]
    fn the_text_of_a_tsid_is_that_of_a_snowflake_id(integer in 0..=i64::MAX) {
        let id = Tsid::from_i64(integer).unwrap();
        let peer = SnowflakeTwitterId::from_raw(integer as u64).encode();
        prop_assert_eq!(id.to_string(), peer.as_str());
        prop_assert_eq!(Tsid::parse(id.to_string().to_lowercase()), Ok(id));
        prop_assert_eq!(Tsid::from_parts(id.ms(), integer as u32), Ok(id));
    }

    #[test]
    fn a_type_id_is_its_prefix_and_its_uuid(
        prefix in "([a-z]([a-z_]{0,61}[a-z])?)?",
        other in "([a-z]([a-z_]{0,61}[a-z])?)?",
        bits: [u128; 2],
    ) {
        let ids = [TypeId::new(&prefix, Uuid::from_u128(bits[0])), TypeId::new(&other, Uuid::from_u128(bits[1]))];
        let [id, other] = ids.map(Result::unwrap);
        prop_assert_eq!(TypeId::parse(id.to_string()), Ok(id));
        prop_assert_eq!((id.prefix(), id.uuid().to_u128()), (prefix.as_str(), bits[0]));
        prop_assert_eq!(id.cmp(&other), id.to_string().cmp(&other.to_string()));
    }

    #[test]
    fn other_prefixes_are_refused(prefix in "[a-zA-Z0-9_.é ]{0,70}") {
        let is_valid = prefix.len() <= 63
            && prefix.chars().all(|c| matches!(c, 'a'..='z' | '_'))
            && !prefix.starts_with('_')
            && !prefix.ends_with('_');
        prop_assert_eq!(TypeId::new(&prefix, Uuid::NIL).is_ok(), is_valid);
        let text = format!("{prefix}_00000000000000000000000000");
        prop_assert_eq!(TypeId::parse(text).is_ok(), is_valid && !prefix.is_empty());
    }
}
