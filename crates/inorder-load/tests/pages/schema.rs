//! Schemas and rows at random.

use inorder_btree::{Collation, TextEncoding};
use proptest::prelude::*;
use rusqlite::types::Value;

use super::types::{STRICT_TYPES, TYPES};

/// A table, what is beside it, and rows for it.
#[derive(Debug, Clone)]
pub struct Case {
    pub columns: usize,
    /// Statements that make the database, with its settings.
    pub settings: String,
    pub table: String,
    pub indexes: Vec<String>,
    /// Whether rowids are part of what is the same.
    pub are_rowids_kept: bool,
    /// Statements that leave the table empty, but not as it was made.
    pub before: String,
    pub rows: Vec<Vec<Value>>,
    /// The number of columns that the rows supply.
    pub given: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    NoKey,
    Alias,
    Counted,
    Keyed,
    WithoutRowid,
}

fn pick(from: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(from)
}

/// `COLLATE x DESC` and less.
fn order() -> impl Strategy<Value = String> {
    let collation = prop::option::of(prop::sample::select(Collation::ALL));
    (collation, any::<bool>()).prop_map(|(collation, is_descending)| {
        let collation = collation.map_or(String::new(), |c| format!(" COLLATE {}", c.name()));
        format!("{collation}{}", if is_descending { " DESC" } else { "" })
    })
}

/// Columns of an index or key, each once.
fn terms(columns: usize) -> impl Strategy<Value = String> {
    let all: Vec<usize> = (0..columns).collect();
    let some = prop::sample::subsequence(all, 1..=columns.min(3)).prop_shuffle();
    (some, prop::collection::vec(order(), 3)).prop_map(|(columns, orders)| {
        let terms = columns
            .iter()
            .zip(orders)
            .map(|(c, order)| format!("c{c}{order}"));
        terms.collect::<Vec<_>>().join(", ")
    })
}

fn index(columns: usize) -> impl Strategy<Value = String> {
    let condition = pick(&["", "", "", " WHERE c0 IS NOT NULL"]);
    (any::<bool>(), terms(columns), condition, 0..8u8).prop_map(
        |(is_unique, terms, condition, odd)| {
            let terms = match odd {
                0 => format!("{terms}, abs(c1)"),
                1 => format!("lower(c1), {terms}"),
                _ => terms,
            };
            let is_plain = condition.is_empty() && odd > 1;
            let unique = if is_unique && is_plain { "UNIQUE " } else { "" };
            format!("CREATE {unique}INDEX i# ON t({terms}){condition}")
        },
    )
}

fn column() -> impl Strategy<Value = (String, String)> {
    let plain = pick(TYPES);
    let constraint = pick(&[
        "",
        "",
        "",
        "",
        " NOT NULL",
        " DEFAULT 'x'",
        " DEFAULT (1.0 + 1)",
        " UNIQUE",
        " COLLATE NOCASE",
        " COLLATE RTRIM DEFAULT x'00'",
        " NOT NULL DEFAULT 7",
        " DEFAULT bare",
        " DEFAULT \"two words\"",
        " DEFAULT [c0]",
        " DEFAULT -1.50",
        " DEFAULT ('a' || x'00' || 'b')",
    ]);
    (plain, pick(STRICT_TYPES), constraint).prop_map(|(plain, strict, constraint)| {
        (
            format!("{plain}{constraint}"),
            format!("{strict}{constraint}"),
        )
    })
}

fn table(columns: usize) -> impl Strategy<Value = (String, Kind)> {
    let kind = prop::sample::select(
        &[
            Kind::NoKey,
            Kind::Alias,
            Kind::Counted,
            Kind::Keyed,
            Kind::WithoutRowid,
        ][..],
    );
    let definitions = prop::collection::vec(column(), columns);
    (kind, definitions, terms(columns), prop::bool::weighted(0.3)).prop_map(
        |(kind, definitions, key, is_strict)| {
            let definitions =
                definitions
                    .iter()
                    .enumerate()
                    .map(|(i, (plain, strict))| match kind {
                        Kind::Alias if i == 0 => "c0 INTEGER PRIMARY KEY".to_owned(),
                        Kind::Counted if i == 0 => {
                            "c0 INTEGER PRIMARY KEY AUTOINCREMENT".to_owned()
                        }
                        _ if is_strict => format!("c{i} {strict}"),
                        _ => format!("c{i} {plain}"),
                    });
            let mut all: Vec<String> = definitions.collect();
            if matches!(kind, Kind::Keyed | Kind::WithoutRowid) {
                all.push(format!("PRIMARY KEY({key})"));
            }
            let options = match (kind, is_strict) {
                (Kind::WithoutRowid, true) => " WITHOUT ROWID, STRICT",
                (Kind::WithoutRowid, false) => " WITHOUT ROWID",
                (_, true) => " STRICT",
                (_, false) => "",
            };
            (format!("CREATE TABLE t({}){options}", all.join(", ")), kind)
        },
    )
}

fn value() -> impl Strategy<Value = Value> {
    let text = pick(&[
        "12",
        " 12 ",
        "-0",
        "1e3",
        "0x10",
        "1.0",
        "9223372036854775807",
        "9223372036854775808",
        ".5",
        "5.",
        "+3",
        "1e400",
        "nan",
        "inf",
        "",
        " ",
        "a",
        "A",
        "a ",
        "ab\u{0}c",
        "é",
        "12abc",
        "1_000",
        "1234567890123456789012",
        "0.1",
        "123456789.123456789",
        "4.35",
        "1e-7",
        "179769313486231580793e289",
        "\u{fffe}",
        "A\u{ffff}a",
        "\u{10ffff}",
        "7\0x",
        "7\0\u{100}",
    ]);
    prop_oneof![
        1 => Just(Value::Null),
        2 => (-3..3i64).prop_map(Value::Integer),
        2 => (0..64u32, any::<i64>()).prop_map(|(shift, bits)| Value::Integer(bits >> shift)),
        2 => prop_oneof![
            (-20..20i32).prop_map(|n| f64::from(n) / 4.0),
            any::<i64>().prop_map(|n| n as f64),
            any::<f64>().prop_filter("NaN is NULL", |real| !real.is_nan()),
        ].prop_map(Value::Real),
        3 => text.prop_map(|text| Value::Text(text.to_owned())),
        1 => "[a-zA-Z ]{0,9}".prop_map(Value::Text),
        1 => prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Blob),
        1 => (0..20_000usize, any::<u8>()).prop_map(|(n, byte)| Value::Blob(vec![byte; n])),
    ]
}

/// Rows whose first columns are different from row to row, so that most of them have a key of their own.
fn rows(columns: usize, is_first_an_integer: bool) -> impl Strategy<Value = Vec<Vec<Value>>> {
    let row = prop::collection::vec(value(), columns);
    let salt = any::<[u8; 3]>();
    let is_mixed = prop::bool::weighted(0.8);
    (
        prop::collection::vec((row, any::<i64>(), salt), 0..120),
        is_mixed,
    )
        .prop_map(move |(rows, is_mixed)| {
            let rows = rows
                .into_iter()
                .enumerate()
                .map(|(i, (mut row, key, salt))| {
                    for (at, value) in row.iter_mut().enumerate() {
                        *value = match (at, i % 3) {
                            // A generated column between supplied ones.
                            (0, _) if is_first_an_integer && key % 5 == 0 => Value::Null,
                            (0, _) if is_first_an_integer => Value::Integer(key >> (i % 60)),
                            _ if !is_mixed => value.clone(),
                            (_, 0) => Value::Integer(key.wrapping_add(at as i64)),
                            (_, 1) => Value::Text(format!(
                                "{}{i}-{salt:?}",
                                if at == 1 { "x" } else { "Y" }
                            )),
                            _ => Value::Blob([&salt[..], &key.to_le_bytes()].concat()),
                        };
                    }
                    row
                });
            rows.collect()
        })
}

fn settings() -> impl Strategy<Value = String> {
    let page_bytes = (9..=16u32).prop_map(|log| 1u32 << log);
    let encoding = prop::sample::select(TextEncoding::ALL);
    let journal = pick(&["DELETE", "WAL"]);
    (page_bytes, encoding, 0..3u8, journal).prop_map(|(page_bytes, encoding, auto_vacuum, journal)| {
        format!(
            "PRAGMA encoding = '{}'; PRAGMA page_size = {page_bytes}; PRAGMA auto_vacuum = {auto_vacuum}; \
             PRAGMA journal_mode = {journal}; CREATE TABLE beside(x PRIMARY KEY, y); \
             INSERT INTO beside VALUES (1, zeroblob(5000)), ('a', 2); CREATE VIEW v AS SELECT 1;",
            encoding.name()
        )
    })
}

pub fn case() -> impl Strategy<Value = Case> {
    (2..=5usize).prop_flat_map(|columns| {
        let indexes = prop::collection::vec(index(columns), 0..3);
        (
            table(columns),
            indexes,
            settings(),
            prop::bool::weighted(0.2),
            (any::<bool>(), 0..i64::MAX),
        )
            .prop_flat_map(
                move |((table, kind), indexes, settings, is_short, deleted)| {
                    let has_unique = indexes
                        .iter()
                        .chain([&table])
                        .any(|sql| sql.contains("UNIQUE"));
                    let is_alias = matches!(kind, Kind::Alias | Kind::Counted);
                    let number = |(i, sql): (usize, &String)| sql.replace('#', &i.to_string());
                    let case = Case {
                        columns,
                        settings,
                        table,
                        indexes: indexes.iter().enumerate().map(number).collect(),
                        // Rows with another key are counted in its order.
                        are_rowids_kept: is_alias || (kind == Kind::NoKey && !has_unique),
                        before: match (kind, deleted) {
                            (Kind::Counted, (true, rowid)) => format!(
                                "INSERT INTO sqlite_sequence VALUES ('t', {})",
                                rowid >> (rowid % 63)
                            ),
                            _ => String::new(),
                        },
                        rows: Vec::new(),
                        given: if is_short { columns - 1 } else { columns },
                    };
                    rows(columns, is_alias).prop_map(move |rows| Case {
                        rows,
                        ..case.clone()
                    })
                },
            )
    })
}
