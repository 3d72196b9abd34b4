//! SQL that all server engines share, and values for its parameters.

use super::find::numbers;
use crate::{Batch, batch::Cell};
use inorder_key::{Encoding, KeyKind};
use std::ops::Range;

/// Checks that a batch has the statement's parameters as its columns, and rows up to `end`. Returns the reason if
/// not.
pub fn fits(parameters: usize, batch: &Batch, end: usize) -> Result<(), String> {
    let columns = batch.columns.len();
    if columns != parameters {
        return Err(format!(
            "the statement has {parameters} parameters, the batch {columns} columns"
        ));
    }
    match batch.columns.iter().position(|column| column.len() < end) {
        Some(short) => Err(format!(
            "the batch has {} rows in column {short}, but {end} were requested",
            batch.columns[short].len()
        )),
        None => Ok(()),
    }
}

/// Maximum rows per multi-row INSERT: enough to share its cost, and few enough for a small statement.
const ROWS_TOGETHER: usize = 100;
/// Maximum parameters of a statement in PostgreSQL and in MariaDB.
const PARAMETERS_MAX: usize = 65_535;

/// Returns the number of rows per multi-row INSERT.
pub fn rows_together(columns: usize) -> usize {
    ROWS_TOGETHER.min(PARAMETERS_MAX / columns.max(1)).max(1)
}

/// Returns the INSERT of this number of rows into columns, whose names are quoted.
pub fn insert_into(table: &str, columns: &[String], rows: usize) -> String {
    let places = format!("({})", vec!["?"; columns.len()].join(","));
    let (names, rows) = (columns.join(","), vec![places; rows].join(","));
    format!("INSERT INTO {table}({names}) VALUES{rows}")
}

/// Returns the values of rows, one row after the other.
pub fn cells(batch: &Batch, rows: Range<usize>) -> impl Iterator<Item = Cell<'_>> {
    let row_cells = |row| batch.columns.iter().map(move |column| column.cell(row));
    rows.flat_map(row_cells)
}

/// The first version that generates a kind of UUID, and its column definition.
type Made<'a> = (KeyKind, &'a [u64], &'static str);

/// Returns the column of UUIDs that a server of this version generates, or why there is none.
pub fn made(
    engine: &str,
    version: &str,
    kind: KeyKind,
    encoding: Encoding,
    known: &[Made<'_>],
) -> Result<&'static str, String> {
    let name = kind.name();
    let Some((_, since, column)) = known.iter().find(|(known, ..)| *known == kind) else {
        return Err(format!("{engine} generates no {name}"));
    };
    if encoding != Encoding::Native {
        return Err(format!(
            "{engine} generates {name} in its native type only: encoding=native"
        ));
    }
    if numbers(version).as_slice() < *since {
        let since: Vec<String> = since.iter().map(u64::to_string).collect();
        return Err(format!(
            "{engine} {version} generates no {name}: version {} does",
            since.join(".")
        ));
    }
    Ok(column)
}

/// Returns whether a look-up by these columns can use an index: they must be its first columns, in any order.
pub fn serves(indexes: &[Vec<String>], columns: &[String]) -> bool {
    indexes.iter().any(|index| {
        index.len() >= columns.len()
            && index[..columns.len()]
                .iter()
                .all(|name| columns.contains(name))
    })
}

/// Replaces each `?` outside of quotes with `$1`, `$2`, ….
pub fn numbered(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 8);
    let mut quote = None;
    let mut places = 0;
    for char in sql.chars() {
        match (char, quote) {
            ('?', None) => {
                places += 1;
                out += &format!("${places}");
                continue;
            }
            ('\'' | '"', None) => quote = Some(char),
            (_, Some(open)) if char == open => quote = None,
            _ => {}
        }
        out.push(char);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_numbered_outside_of_quotes() {
        assert_eq!(
            numbered(r#"SELECT '?', "a?" FROM t WHERE a = ? AND b IN (?, ?)"#),
            r#"SELECT '?', "a?" FROM t WHERE a = $1 AND b IN ($2, $3)"#
        );
    }

    #[test]
    fn a_server_makes_uuids_from_a_version_on() {
        let known: &[Made<'_>] = &[(KeyKind::Uuid7, &[11, 7], "UUID DEFAULT (UUID_v7())")];
        let made = |version, kind, encoding| made("it", version, kind, encoding, known);
        let native = |version| made(version, KeyKind::Uuid7, Encoding::Native);
        assert_eq!(native("11.7.2-MariaDB"), Ok("UUID DEFAULT (UUID_v7())"));
        assert!(native("12.0.1").is_ok());
        let old = native("10.11.19-MariaDB-0+deb12u1").unwrap_err();
        assert!(
            old.ends_with("generates no uuid7: version 11.7 does"),
            "{old}"
        );
        let blob = made("12.0.1", KeyKind::Uuid7, Encoding::Blob).unwrap_err();
        assert!(blob.contains("encoding=native"), "{blob}");
        assert!(made("12.0.1", KeyKind::Ulid, Encoding::Native).is_err());
    }

    #[test]
    fn an_insert_of_many_rows_stays_within_the_parameters() {
        let names = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            insert_into("t", &names, 2),
            "INSERT INTO t(a,b) VALUES(?,?),(?,?)"
        );
        assert_eq!(rows_together(2), 100);
        assert_eq!(rows_together(1000), 65);
        assert_eq!(rows_together(100_000), 1);
    }

    #[test]
    fn an_index_serves_what_it_begins_with() {
        let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let indexes = [names(&["a", "b"]), names(&["c"])];
        assert!(serves(&indexes, &names(&["b", "a"])));
        assert!(serves(&indexes, &names(&["a"])));
        assert!(serves(&indexes, &names(&["c"])));
        assert!(!serves(&indexes, &names(&["b"])));
        assert!(!serves(&indexes, &names(&["c", "a"])));
    }
}
