use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn filler(fill: Fill) -> Filler {
    Filler::new(fill, 42).expect("a good fill")
}

fn refusal(fill: Fill) -> String {
    let error = Filler::new(fill, 42).expect_err("a bad fill");
    error.to_string()
}

fn integers(column: Column) -> Vec<i64> {
    match column {
        Column::Integers(values) => values,
        other => panic!("not integers: {other:?}"),
    }
}

/// The texts or blobs of a column of spans.
fn slices(column: &Column) -> Vec<&[u8]> {
    match column {
        Column::Spans { pool, spans, .. } => spans
            .iter()
            .map(|&(offset, length)| &pool[offset as usize..][..length as usize])
            .collect(),
        other => panic!("not spans: {other:?}"),
    }
}

fn parent(rows: i64) -> Arc<Column> {
    Arc::new(Column::Integers((0..rows).map(|row| row * 10).collect()))
}

#[test]
fn a_sequence_goes_on_between_calls() {
    let mut filler = filler(Fill::Sequence { start: 5, step: -2 });
    assert_eq!(integers(filler.fill(3)), [5, 3, 1]);
    assert_eq!(integers(filler.fill(2)), [-1, -3]);
}

#[test]
fn random_integers_reach_both_bounds_and_nothing_beyond() {
    let mut few = filler(Fill::RandomInt { low: -1, high: 2 });
    let seen: HashSet<i64> = integers(few.fill(1000)).into_iter().collect();
    assert_eq!(seen, HashSet::from([-1, 0, 1, 2]));
    let (low, high) = (i64::MIN, i64::MAX);
    let all = integers(filler(Fill::RandomInt { low, high }).fill(1000));
    assert!(all.iter().any(|n| *n < 0) && all.iter().any(|n| *n > 0));
}

#[test]
fn random_reals_stay_within_their_bounds() {
    let (low, high) = (-1.0, 0.5);
    let Column::Reals(reals) = filler(Fill::RandomReal { low, high }).fill(1000) else {
        panic!("not reals");
    };
    assert!(reals.iter().all(|real| (low..high).contains(real)));
}

#[test]
fn random_text_is_alphanumeric_and_of_every_length() {
    let (length_min, length_max) = (0, 3);
    let column = filler(Fill::RandomText {
        length_min,
        length_max,
    })
    .fill(1000);
    let texts = slices(&column);
    let lengths: HashSet<usize> = texts.iter().map(|text| text.len()).collect();
    assert_eq!(lengths, HashSet::from([0, 1, 2, 3]));
    assert!(texts.concat().iter().all(u8::is_ascii_alphanumeric));
    assert!(matches!(column, Column::Spans { is_text: true, .. }));
}

#[test]
fn random_blobs_are_spread_over_the_pool() {
    let length = 100;
    let column = filler(Fill::RandomBlob {
        length_min: length,
        length_max: length,
    })
    .fill(1000);
    let blobs = slices(&column);
    assert!(blobs.iter().all(|blob| blob.len() == length));
    let distinct: HashSet<&[u8]> = blobs.into_iter().collect();
    assert!(distinct.len() > 990);
}

#[test]
fn short_random_values_do_not_repeat() {
    for (length, is_text) in [(20, false), (FRESH_BYTES_MAX, false), (20, true)] {
        let (length_min, length_max) = (length, length);
        let column = filler(match is_text {
            true => Fill::RandomText {
                length_min,
                length_max,
            },
            false => Fill::RandomBlob {
                length_min,
                length_max,
            },
        })
        .fill(100_000);
        let values = slices(&column);
        assert!(values.iter().all(|value| value.len() == length));
        let distinct: HashSet<&[u8]> = values.into_iter().collect();
        assert_eq!(distinct.len(), 100_000, "{length} {is_text}");
    }
}

#[test]
fn empty_random_values_are_rows_too() {
    let (length_min, length_max) = (0, 0);
    let column = filler(Fill::RandomBlob {
        length_min,
        length_max,
    })
    .fill(3);
    assert_eq!(slices(&column), [b"", b"", b""]);
}

#[test]
fn words_and_names_are_text() {
    for fill in [Fill::Words, Fill::Names] {
        let column = filler(fill).fill(50);
        let texts = slices(&column);
        assert!(
            texts
                .iter()
                .all(|text| std::str::from_utf8(text).is_ok_and(|t| t.len() > 3))
        );
    }
}

#[test]
fn a_constant_keeps_its_kind() {
    let fill = |value| filler(Fill::Constant(value)).fill(3);
    assert_eq!(integers(fill(Value::Integer(7))), [7, 7, 7]);
    assert_eq!(slices(&fill(Value::Text("ab".into()))), [b"ab"; 3]);
    assert!(matches!(fill(Value::Real(0.5)), Column::Reals(reals) if reals == [0.5; 3]));
    assert!(matches!(fill(Value::Null), Column::Any(nulls) if nulls == [const { Value::Null }; 3]));
}

#[test]
fn cycle_and_each_keep_the_order_and_start_again() {
    let mut cycle = filler(Fill::Each {
        from: parent(3),
        repeat: 1,
    });
    assert_eq!(integers(cycle.fill(2)), [0, 10]);
    assert_eq!(integers(cycle.fill(3)), [20, 0, 10]);
    let mut each = filler(Fill::Each {
        from: parent(2),
        repeat: 3,
    });
    assert_eq!(integers(each.fill(4)), [0, 0, 0, 10]);
    assert_eq!(integers(each.fill(4)), [10, 10, 0, 0]);
}

#[test]
fn picks_keep_the_variant_of_their_column() {
    let from = Arc::new(Column::Fixed {
        width_bytes: 2,
        bytes: b"aabbcc".to_vec(),
        is_text: true,
    });
    let picked = filler(Fill::Pick {
        from,
        distinct_within: Some(3),
    })
    .fill(3);
    let Column::Fixed {
        width_bytes: 2,
        bytes,
        is_text: true,
    } = picked
    else {
        panic!("another variant");
    };
    let rows: HashSet<&[u8]> = bytes.chunks(2).collect();
    assert_eq!(rows.len(), 3);
}

#[test]
fn picks_reach_every_row_about_equally_often() {
    for distinct_within in [None, Some(1), Some(7), Some(10)] {
        let from = parent(10);
        let picks = integers(
            filler(Fill::Pick {
                from,
                distinct_within,
            })
            .fill(70_000),
        );
        for row in 0..10 {
            let count = picks.iter().filter(|pick| **pick == row * 10).count();
            assert!(
                (6_500..7_500).contains(&count),
                "{distinct_within:?} {row} {count}"
            );
        }
    }
}

#[test]
fn bad_bounds_are_refused_with_a_remedy() {
    assert_eq!(
        refusal(Fill::RandomInt { low: 2, high: 1 }),
        "a column cannot be filled: there is nothing from 2 to 1; \
         give finite bounds, the lower first"
    );
    let pick = |rows, distinct_within| {
        refusal(Fill::Pick {
            from: parent(rows),
            distinct_within,
        })
    };
    assert_eq!(
        pick(99, Some(100)),
        "a column cannot be filled: 100 distinct rows of 99; ask for fewer, or bring more"
    );
    assert!(pick(0, None).contains("has none"));
    assert!(pick(1, Some(0)).contains("distinct within 0 rows"));
    let from = parent(0);
    assert!(refusal(Fill::Each { from, repeat: 1 }).contains("has none"));
    let from = parent(1);
    assert!(refusal(Fill::Each { from, repeat: 0 }).contains("0 times"));
    let (low, high) = (0.0, f64::NAN);
    assert!(refusal(Fill::RandomReal { low, high }).contains("from 0 to NaN"));
    let (length_min, length_max) = (1, 2_000_000_000);
    let text = Fill::RandomText {
        length_min,
        length_max,
    };
    assert!(refusal(text).contains("2000000000 bytes"));
}

fn fills() -> impl Strategy<Value = Fill> {
    prop_oneof![
        any::<(i64, i64)>().prop_map(|(start, step)| Fill::Sequence { start, step }),
        any::<(i64, i64)>().prop_map(|(a, b)| Fill::RandomInt {
            low: a.min(b),
            high: a.max(b),
        }),
        Just(Fill::RandomReal {
            low: 0.0,
            high: 1.0
        }),
        Just(Fill::RandomBlob {
            length_min: 1,
            length_max: 9
        }),
        Just(Fill::RandomText {
            length_min: 60,
            length_max: 90
        }),
        Just(Fill::Words),
        Just(Fill::Names),
        (1..9i64, 1..4usize).prop_map(|(rows, repeat)| Fill::Each {
            from: parent(rows),
            repeat
        }),
        (3..9i64, prop::option::of(1..4usize)).prop_map(|(rows, distinct_within)| Fill::Pick {
            from: parent(rows),
            distinct_within,
        }),
    ]
}

/// The rows of a column, whatever way it holds them.
fn rows(column: &Column) -> Vec<String> {
    match column {
        Column::Integers(values) => values.iter().map(i64::to_string).collect(),
        Column::Reals(values) => values.iter().map(f64::to_string).collect(),
        spans => slices(spans)
            .iter()
            .map(|slice| format!("{slice:?}"))
            .collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn calls_may_be_split_anywhere(fill in fills(), seed: u64, first in 0..30usize, second in 0..30usize) {
        let new = || Filler::new(fill.clone(), seed).expect("a good fill");
        let (mut whole, mut split) = (new(), new());
        let mut halves = rows(&split.fill(first));
        halves.extend(rows(&split.fill(second)));
        prop_assert_eq!(rows(&whole.fill(first + second)), halves);
    }

    #[test]
    fn no_pick_comes_twice_in_a_group(rows in 1..50usize, group in 1..50usize, seed: u64) {
        prop_assume!(group <= rows);
        let fill = Fill::Pick { from: parent(rows as i64), distinct_within: Some(group) };
        let mut filler = Filler::new(fill, seed).expect("a good fill");
        let picks = integers(filler.fill(group * 10));
        for picks in picks.chunks(group) {
            let distinct: HashSet<&i64> = picks.iter().collect();
            prop_assert_eq!(distinct.len(), group);
        }
    }
}
