use inorder_btree::{KeyColumn, KeyOrder, TextEncoding, Value, record};
use proptest::prelude::*;

use super::*;

/// Few different keys, so that there are ties.
fn rows() -> impl Strategy<Value = Vec<(Option<i64>, String)>> {
    proptest::collection::vec((proptest::option::of(-3i64..3), "[ab]{0,12}"), 0..300)
}

fn encoded(rows: &[(Option<i64>, String)]) -> Vec<Vec<u8>> {
    rows.iter()
        .map(|(number, text)| {
            let number = number.map_or(Value::Null, Value::Integer);
            let mut out = Vec::new();
            record::encode(&[number, Value::Text(text.as_bytes())], &mut out);
            out
        })
        .collect()
}

fn limits(memory_bytes: usize) -> SortLimits {
    SortLimits {
        memory_bytes,
        spill_folder: std::env::temp_dir(),
        threads: 1,
    }
}

fn sorted(
    records: &[Vec<u8>],
    order: &KeyOrder,
    memory_bytes: usize,
) -> (Vec<(Vec<u8>, u64)>, u64) {
    let sorter = Sorter::new(Some(order.clone()), limits(memory_bytes));
    let (all, sorted) = read(sorter, records);
    (all, sorted.spilled_bytes())
}

/// The records in the order of a sorter, each with its place among them.
fn read(mut sorter: Sorter, records: &[Vec<u8>]) -> (Vec<(Vec<u8>, u64)>, Sorted) {
    for (origin, record) in (0..).zip(records) {
        sorter.push(record, origin).expect("a spill folder");
    }
    let mut sorted = sorter.finish().expect("a spill folder");
    assert_eq!(sorted.rows(), records.len() as u64);
    let mut all = Vec::new();
    while let Some((record, origin)) = sorted.next().expect("runs that can be read") {
        all.push((record.to_vec(), origin));
    }
    (all, sorted)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Batch by batch, as a load that is not sorted has them.
    #[test]
    fn memory_that_is_used_again_changes_nothing(
        batches in prop::collection::vec(rows(), 0..5),
        memory_bytes in prop_oneof![Just(usize::MAX), 60..40_000usize],
        is_sorted: bool,
    ) {
        let order = KeyOrder::new(vec![KeyColumn::ascending(1)], TextEncoding::Utf8);
        let new = || Sorter::new(is_sorted.then(|| order.clone()), limits(memory_bytes));
        let mut memory: Option<Memory> = None;
        for rows in &batches {
            let records = encoded(rows);
            let again = match memory.take() {
                Some(memory) => new().with_memory(memory),
                None => new(),
            };
            let (all, sorted) = read(again, &records);
            let (expected, _) = read(new(), &records);
            prop_assert_eq!(all, expected);
            prop_assert_eq!(sorted.spilled_bytes() == 0, sorted.into_memory().map(|found| memory = Some(found)).is_some());
        }
    }

    #[test]
    fn every_amount_of_memory_gives_the_stable_order(
        rows in rows(),
        memory_bytes in prop_oneof![Just(1usize), 60..4000usize],
        is_descending: bool,
    ) {
        let records = encoded(&rows);
        let mut columns = vec![KeyColumn::ascending(1), KeyColumn::ascending(0)];
        columns[0].is_descending = is_descending;
        let order = KeyOrder::new(columns, TextEncoding::Utf8);
        let mut expected: Vec<(Vec<u8>, u64)> = records.iter().cloned().zip(0..).collect();
        expected.sort_by(|a, b| order.compare(&a.0, &b.0));
        let (in_memory, spilled_bytes) = sorted(&records, &order, usize::MAX);
        prop_assert_eq!(spilled_bytes, 0);
        prop_assert_eq!(&in_memory, &expected);
        let (merged, spilled_bytes) = sorted(&records, &order, memory_bytes);
        prop_assert_eq!(&merged, &expected);
        prop_assert!(spilled_bytes > 0 || memory_bytes > 60 || records.is_empty());
    }
}

#[test]
fn more_runs_than_can_be_merged_at_once_are_merged_in_steps() {
    // One row per run, and memory for two runs at a time.
    let rows: Vec<(Option<i64>, String)> = (0..100i64)
        .map(|i| (Some(i * 37 % 10), format!("{i:03}")))
        .collect();
    let records = encoded(&rows);
    let order = KeyOrder::new(vec![KeyColumn::ascending(0)], TextEncoding::Utf8);
    let (merged, spilled_bytes) = sorted(&records, &order, 1);
    assert_eq!(merged, sorted(&records, &order, usize::MAX).0);
    let once: usize = records.iter().map(|record| record.len() + 12).sum();
    assert!(spilled_bytes > 3 * once as u64, "{spilled_bytes}");
}

#[test]
fn rows_larger_than_any_buffer_are_merged() {
    let records: Vec<Vec<u8>> = (0..4u8)
        .map(|i| {
            let mut out = Vec::new();
            let payload = vec![i; 3 << 20];
            record::encode(
                &[Value::Integer(i64::from(3 - i)), Value::Blob(&payload)],
                &mut out,
            );
            out
        })
        .collect();
    let order = KeyOrder::new(vec![KeyColumn::ascending(0)], TextEncoding::Utf8);
    let (merged, _) = sorted(&records, &order, 1 << 20);
    let origins: Vec<u64> = merged.iter().map(|(_, origin)| *origin).collect();
    assert_eq!(origins, [3, 2, 1, 0]);
    assert!(
        merged
            .iter()
            .all(|(record, origin)| *record == records[*origin as usize])
    );
}

#[test]
fn by_prefix_rows_with_the_same_one_stay_as_they_came() {
    let record = |key: &[u8]| {
        let mut out = Vec::new();
        record::encode(&[Value::Blob(key)], &mut out);
        out
    };
    let order = KeyOrder::new(vec![KeyColumn::ascending(0)], TextEncoding::Utf8);
    let limits = SortLimits {
        memory_bytes: usize::MAX,
        spill_folder: std::env::temp_dir(),
        threads: 1,
    };
    let mut sorter = Sorter::by_prefix(order, limits);
    let keys: [&[u8]; 4] = [
        b"longer than 8, z",
        b"longer than 8, a",
        b"longer thaa",
        b"a",
    ];
    for (key, origin) in keys.iter().zip(0..) {
        sorter.push(&record(key), origin).expect("memory");
    }
    let mut sorted = sorter.finish().expect("memory");
    let mut origins = Vec::new();
    while let Some((_, origin)) = sorted.next().expect("memory") {
        origins.push(origin);
    }
    // A value's kind takes part of the 8 bytes.
    assert_eq!(origins, [3, 0, 1, 2]);
}

/// Enough rows for several chunks and for runs of several blocks.
#[test]
fn many_rows_come_in_the_stable_order() {
    const MEMORY_BYTES: usize = 16 << 20;
    let mut number = 1u64;
    let mut random = || {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (number >> 40) as i64
    };
    let payload = [7; 700];
    for range in [1, 50, i64::MAX] {
        let records: Vec<Vec<u8>> = (0..30_000)
            .map(|_| {
                let mut out = Vec::new();
                let values = [Value::Integer(random() % range), Value::Blob(&payload)];
                record::encode(&values, &mut out);
                out
            })
            .collect();
        let order = KeyOrder::new(vec![KeyColumn::ascending(0)], TextEncoding::Utf8);
        let mut expected: Vec<(Vec<u8>, u64)> = records.iter().cloned().zip(0..).collect();
        expected.sort_by(|a, b| order.compare(&a.0, &b.0));
        let (in_memory, spilled_bytes) = sorted(&records, &order, usize::MAX);
        assert!(spilled_bytes == 0 && in_memory == expected, "{range}");
        let (merged, spilled_bytes) = sorted(&records, &order, MEMORY_BYTES);
        assert!(spilled_bytes > 0 && merged == expected, "{range}");
    }
}

/// The order of a batch relative to its neighbours decides whether keys are compared.
#[test]
fn rows_of_one_prefix_are_tied() {
    let keys = [1, 1, 2, 3, 3, 3];
    let records = keys.map(|key| {
        let mut out = Vec::new();
        record::encode(&[Value::Integer(key)], &mut out);
        out
    });
    let order = KeyOrder::new(vec![KeyColumn::ascending(0)], TextEncoding::Utf8);
    for memory_bytes in [usize::MAX, 1] {
        let mut sorter = Sorter::new(Some(order.clone()), limits(memory_bytes));
        for record in &records {
            sorter.push(record, 0).expect("a spill folder");
        }
        let mut sorted = sorter.finish().expect("a spill folder");
        for at in 0..keys.len() {
            assert!(sorted.advance().expect("runs that can be read"));
            assert_eq!(sorted.is_tied(), at > 0 && keys[at - 1] == keys[at], "{at}");
            let is_next = keys.get(at + 1) == Some(&keys[at]);
            assert!(sorted.may_tie_next() || !is_next, "{at}");
        }
        assert!(!sorted.advance().expect("runs that can be read"));
    }
}
