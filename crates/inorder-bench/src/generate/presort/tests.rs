use std::cmp::Ordering;
use std::sync::Arc;

use inorder_engine::Value;
use proptest::prelude::*;

use super::*;

/// A column that names the rows, to see where they went.
fn row_numbers(rows: usize) -> Column {
    Column::Integers((0..rows as i64).collect())
}

/// The order in which the rows of `columns`, all of them key, are written.
fn order_of(columns: &[Column], how: Presort) -> Vec<usize> {
    let mut batch = Batch {
        columns: columns.to_vec(),
    };
    batch.columns.push(row_numbers(batch.rows()));
    let key: Vec<usize> = (0..columns.len()).collect();
    presort(&mut batch, &key, how);
    let Some(Column::Integers(order)) = batch.columns.pop() else {
        panic!("the last column changed its variant");
    };
    let order: Vec<usize> = order.into_iter().map(|row| row as usize).collect();
    for (before, after) in columns.iter().zip(&batch.columns) {
        let moved: Vec<Cell> = order.iter().map(|&row| cell(before, row)).collect();
        let found: Vec<Cell> = (0..order.len()).map(|row| cell(after, row)).collect();
        assert_eq!(found, moved, "a column moved otherwise than its rows");
    }
    order
}

/// A value in a form whose order is plain to see.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Null,
    Number(Value),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

fn cell(column: &Column, row: usize) -> Cell {
    let of_bytes = |bytes: &[u8], is_text: bool| match is_text {
        true => Cell::Text(bytes.to_vec()),
        false => Cell::Blob(bytes.to_vec()),
    };
    match column {
        Column::Integers(values) => Cell::Number(Value::Integer(values[row])),
        Column::Reals(values) if values[row].is_nan() => Cell::Null,
        Column::Reals(values) => Cell::Number(Value::Real(values[row])),
        Column::Fixed {
            width_bytes,
            bytes,
            is_text,
        } => of_bytes(&bytes[row * width_bytes..][..*width_bytes], *is_text),
        Column::Spans {
            pool,
            spans,
            is_text,
        } => of_bytes(compare::span(pool, spans[row]), *is_text),
        Column::Any(values) => match &values[row] {
            Value::Null => Cell::Null,
            Value::Real(real) if real.is_nan() => Cell::Null,
            Value::Text(text) => Cell::Text(text.as_bytes().to_vec()),
            Value::Blob(blob) => Cell::Blob(blob.to_vec()),
            number => Cell::Number(number.clone()),
        },
    }
}

fn rank(cell: &Cell) -> u8 {
    match cell {
        Cell::Null => 0,
        Cell::Number(_) => 1,
        Cell::Text(_) => 2,
        Cell::Blob(_) => 3,
    }
}

/// The order of two cells by other means than the crate's: reals as fractions of exact integers.
fn compare_cells(a: &Cell, b: &Cell) -> Ordering {
    match (a, b) {
        (Cell::Number(a), Cell::Number(b)) => compare_numbers(a, b),
        (Cell::Text(a), Cell::Text(b)) | (Cell::Blob(a), Cell::Blob(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn compare_numbers(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(b).expect("no NaN"),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Real(_), Value::Integer(_)) => compare_numbers(b, a).reverse(),
        (Value::Integer(a), Value::Real(b)) if b.abs() > 1e30 => {
            0.0f64.partial_cmp(&(b - *a as f64)).expect("no NaN")
        }
        (Value::Integer(a), Value::Real(b)) => {
            let (whole, part) = (b.floor(), b - b.floor());
            let whole_order = i128::from(*a).cmp(&(whole as i128));
            whole_order.then(if part > 0.0 {
                Ordering::Less
            } else {
                Ordering::Equal
            })
        }
        other => panic!("not numbers: {other:?}"),
    }
}

/// Sorted stably with `compare`, row by row.
fn naive(columns: &[Column], compare: impl Fn(&Cell, &Cell) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..columns[0].len()).collect();
    order.sort_by(|&a, &b| {
        columns
            .iter()
            .map(|column| compare(&cell(column, a), &cell(column, b)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    order
}

fn compare_prefixes(a: &Cell, b: &Cell) -> Ordering {
    let prefix = |bytes: &[u8]| {
        let mut prefix = [0; 8];
        let length = bytes.len().min(8);
        prefix[..length].copy_from_slice(&bytes[..length]);
        prefix
    };
    match (a, b) {
        (Cell::Text(a), Cell::Text(b)) | (Cell::Blob(a), Cell::Blob(b)) => {
            prefix(a).cmp(&prefix(b))
        }
        _ => compare_cells(a, b),
    }
}

/// Bytes with long common beginnings, zeros among them.
fn keys() -> impl Strategy<Value = Vec<u8>> {
    (0..4usize, prop::collection::vec(0u8..3, 0..12)).prop_map(|(beginning, mut rest)| {
        let mut key = vec![0; [0, 7, 24, 80][beginning]];
        key.append(&mut rest);
        key
    })
}

fn spans_of(keys: &[Vec<u8>]) -> Column {
    let mut pool = Vec::new();
    let mut spans = Vec::new();
    for key in keys {
        spans.push((pool.len() as u32, key.len() as u32));
        pool.extend_from_slice(key);
    }
    Column::Spans {
        pool: pool.into(),
        spans,
        is_text: false,
    }
}

fn fixed_of(keys: &[Vec<u8>], width_bytes: usize) -> Column {
    let mut bytes = Vec::new();
    for key in keys {
        bytes.extend((0..width_bytes).map(|i| key.get(i).copied().unwrap_or(0)));
    }
    Column::Fixed {
        width_bytes,
        bytes,
        is_text: false,
    }
}

fn integers() -> impl Strategy<Value = i64> {
    prop_oneof![-3i64..3, any::<i64>(), (1i64 << 53) - 2..(1 << 53) + 4]
}

fn reals() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(9_223_372_036_854_775_808.0),
        Just(-0.0),
        -3.0f64..3.0,
        integers().prop_map(|integer| integer as f64),
        any::<f64>(),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        integers().prop_map(Value::Integer),
        reals().prop_map(Value::Real),
        keys().prop_map(|key| Value::Text(String::from_utf8(key).expect("ASCII").into())),
        keys().prop_map(|key| Value::Blob(key.into())),
    ]
}

/// Up to three key columns of any variants and one length, with many equal values.
fn key_columns() -> impl Strategy<Value = Vec<Column>> {
    let row = (integers(), reals(), keys(), keys(), values());
    let rows = prop::collection::vec(row, 1..120);
    let picks = prop::collection::vec(0..5usize, 1..4);
    (rows, picks, 1..45usize).prop_map(|(rows, picks, width)| {
        let column = |pick: usize| match pick {
            0 => Column::Integers(rows.iter().map(|row| row.0).collect()),
            1 => Column::Reals(rows.iter().map(|row| row.1).collect()),
            2 => fixed_of(
                &rows.iter().map(|row| row.2.clone()).collect::<Vec<_>>(),
                width,
            ),
            3 => spans_of(&rows.iter().map(|row| row.3.clone()).collect::<Vec<_>>()),
            _ => Column::Any(rows.iter().map(|row| row.4.clone()).collect()),
        };
        picks.into_iter().map(column).collect()
    })
}

proptest! {
    #[test]
    fn key_is_the_order_of_a_plain_sort(columns in key_columns()) {
        prop_assert_eq!(order_of(&columns, Presort::Key), naive(&columns, compare_cells));
    }

    #[test]
    fn prefix8_is_the_stable_order_of_the_first_8_bytes(columns in key_columns()) {
        let expected = naive(&columns[..1], compare_prefixes);
        prop_assert_eq!(order_of(&columns, Presort::Prefix8), expected);
    }
}

/// A batch large enough for long runs of equal prefixes, with keys of every distribution.
#[test]
fn a_large_batch_is_in_the_order_of_a_plain_sort() {
    let mut rng = inorder_key::bulk::SplitMix64::new(1);
    let mut column =
        |make: fn(u64) -> i64| Column::Integers((0..20_000).map(|_| make(rng.bits())).collect());
    let random = column(|bits| bits as i64);
    let few = column(|bits| (bits % 3) as i64);
    let skewed = column(|bits| {
        if bits % 7 == 0 {
            i64::MAX
        } else {
            (bits % 1000) as i64
        }
    });
    let tokens: Vec<Vec<u8>> = (0..20_000)
        .map(|_| [[b'a'; 16].as_slice(), &(rng.bits() as u32).to_be_bytes()].concat())
        .collect();
    let tokens = fixed_of(&tokens, 20);
    for columns in [
        vec![random.clone()],
        vec![skewed.clone()],
        vec![tokens.clone()],
        vec![few.clone(), random],
        vec![few.clone(), few, skewed, tokens],
    ] {
        assert_eq!(
            order_of(&columns, Presort::Key),
            naive(&columns, compare_cells)
        );
    }
}

#[test]
fn none_and_no_key_column_leave_the_rows_alone() {
    let columns = [Column::Integers(vec![3, 1, 2])];
    assert_eq!(order_of(&columns, Presort::None), [0, 1, 2]);
    let mut batch = Batch {
        columns: columns.to_vec(),
    };
    presort(&mut batch, &[], Presort::Key);
    assert!(matches!(&batch.columns[0], Column::Integers(values) if *values == [3, 1, 2]));
}

#[test]
fn an_empty_batch_is_sorted() {
    assert!(order_of(&[Column::Integers(vec![])], Presort::Key).is_empty());
    assert!(order_of(&[Column::Any(vec![])], Presort::Prefix8).is_empty());
}

#[test]
fn kinds_sort_as_sqlite_sorts_them() {
    let text = |text: &str| Value::Text(Arc::from(text));
    let column = Column::Any(vec![
        Value::Blob(Arc::from(&b"a"[..])),
        text("b"),
        Value::Real(2.5),
        text("B"),
        Value::Integer(3),
        Value::Null,
        Value::Integer(2),
    ]);
    assert_eq!(order_of(&[column], Presort::Key), [5, 6, 2, 4, 3, 1, 0]);
}
