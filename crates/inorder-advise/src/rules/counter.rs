//! Counters that come to their end: AUTOINCREMENT and rowids, and integers whose declared type says how far programs count.
//!
//! SQLite stores 64 bits whatever is declared. With the rowid 9223372036854775807, AUTOINCREMENT gives no further one, and a
//! table without it gets random ones (<https://www.sqlite.org/autoinc.html>).

use super::{Candidate, Class, Group};
use crate::{
    counter::Counter,
    read::{Column, Database, ORDERED_MIN, Table, TableKind},
};

/// The largest rowid,
const ROWID_MAX: i128 = i64::MAX as i128;
/// and up to where a double has every integer.
const DOUBLE_MAX: i128 = 1 << 53;
/// The longest chain of references that is followed.
const REFERENCES_MAX: usize = 8;
/// What bounds numbers that programs read into doubles.
const OF_DOUBLES: &str = "a double, as JavaScript and JSON readers have it,";

/// Finds all counters.
pub(crate) fn counters(database: &Database) -> Vec<Counter> {
    let mut found = Vec::new();
    for table in database.tables.iter().filter(|table| table.is_ordinary()) {
        found.extend(of_rowid(database, table));
        let columns = 0..table.columns.len();
        let columns = columns.filter(|&at| table.rowid_alias != Some(at));
        found.extend(columns.filter_map(|at| of_column(database, table, at)));
    }
    found
}

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let near = database.counters.iter().filter(|own| own.is_warning());
    near.map(|own| Candidate {
        rule: "",
        group: Group::IntegerRange,
        class: Class::App,
        table: own.object.split('.').next().unwrap_or_default().to_owned(),
        object: own.object.clone(),
        changes: Vec::new(),
        reason: own.in_words(),
        notes: vec![
            format!("Counted by {}; {}.", own.counted_by, own.left_in_words()),
            what_happens(own).into(),
        ],
    })
    .collect()
}

fn what_happens(own: &Counter) -> &'static str {
    match (own.last, own.counted_by.as_str()) {
        (ROWID_MAX, "AUTOINCREMENT") => {
            "Behind the last number an INSERT without an id fails (SQLITE_FULL)."
        }
        (ROWID_MAX, "the rowid") => {
            "Behind the last number SQLite gives random free numbers, and rows are not in order any more."
        }
        (DOUBLE_MAX, _) => "Programs that read ids into doubles confuse neighbours behind it.",
        _ => {
            "SQLite itself stores larger numbers; programs that read this type as it is declared, and servers that the table is copied to, don't."
        }
    }
}

/// How far the numbers of a column have come, and what counts them.
struct Source {
    counted_by: String,
    reached: i128,
}

/// What counts the rowids of a table.
fn rowid(database: &Database, table: &Table) -> Option<Source> {
    if table.kind != TableKind::Rowid {
        return None;
    }
    let mut all = database.reached.iter();
    let reached = all.find(|own| own.table == table.name)?;
    let alias = table.rowid_alias.map(|at| &table.columns[at].values);
    let sequence = reached.sequence.filter(|_| table.is_autoincrement);
    let random = alias.is_some_and(|values| values.looks_random(table.rows));
    let largest = reached.rowid.filter(|_| !random);
    let counted_by = match table.is_autoincrement {
        true => "AUTOINCREMENT",
        false => "the rowid",
    };
    Some(Source {
        counted_by: counted_by.into(),
        reached: largest.max(sequence)?.into(),
    })
}

fn of_rowid(database: &Database, table: &Table) -> Vec<Counter> {
    let Some(source) = rowid(database, table) else {
        return Vec::new();
    };
    let object = match table.rowid_alias {
        Some(at) => format!("{}.{}", table.name, table.columns[at].name),
        None => format!("{} (rowid)", table.name),
    };
    let new = |bound: &str, last| {
        Counter::new(
            &*object,
            &*source.counted_by,
            bound,
            (1, source.reached, last),
        )
    };
    let whole = new("a rowid", ROWID_MAX);
    // Programs see the rowid only under a name. One that is larger already is meant to be.
    let is_seen = table.rowid_alias.is_some() && source.reached <= DOUBLE_MAX;
    let double = is_seen.then(|| new(OF_DOUBLES, DOUBLE_MAX));
    let mut found = vec![whole];
    found.extend(double.filter(Counter::is_warning));
    found
}

/// The counter of a column that is not the rowid: a key or a reference.
fn of_column(database: &Database, table: &Table, at: usize) -> Option<Counter> {
    let column = &table.columns[at];
    let (last, bound) = declared(column)?;
    let all = sources(database, table, at, REFERENCES_MAX);
    let source = all.into_iter().max_by_key(|source| source.reached)?;
    Some(Counter::new(
        format!("{}.{}", table.name, column.name),
        source.counted_by,
        bound,
        (1, source.reached, last),
    ))
}

/// Everything that numbers of a column come from.
fn sources(database: &Database, table: &Table, at: usize, depth: usize) -> Vec<Source> {
    let column = &table.columns[at];
    if table.rowid_alias == Some(at) {
        return rowid(database, table).into_iter().collect();
    }
    let mut found = Vec::new();
    let largest = column
        .values
        .integer_range
        .map(|(_, high)| i128::from(high));
    if is_sole_key(table, at)
        && let Some(reached) = largest
        && looks_counted(table, column)
    {
        found.push(Source {
            counted_by: "the largest value".into(),
            reached,
        });
    }
    if depth == 0 {
        return found;
    }
    for key in &table.foreign_keys {
        let Some(parent) = database.table(&key.parent) else {
            continue;
        };
        let names = database.parent_columns(key);
        let pairs = key.columns.iter().zip(&names);
        for (_, name) in pairs.filter(|(own, _)| own.eq_ignore_ascii_case(&column.name)) {
            let Some(of) = parent.column(name) else {
                continue;
            };
            if parent.name == table.name && of == at {
                continue;
            }
            for source in sources(database, parent, of, depth - 1) {
                found.push(Source {
                    counted_by: format!("reference to {}.{name}", parent.name),
                    reached: source.reached.max(largest.unwrap_or(source.reached)),
                });
            }
        }
    }
    found
}

fn is_sole_key(table: &Table, at: usize) -> bool {
    let mut indexes = table.indexes.iter();
    table.key == [at]
        || indexes.any(|index| {
            index.is_unique && index.condition.is_none() && index.columns() == Some(vec![at])
        })
}

/// Whether the integers of a key look counted: in the order of insertion or, where that isn't known, not random.
fn looks_counted(table: &Table, column: &Column) -> bool {
    let values = &column.values;
    match values
        .correlation()
        .filter(|_| table.kind == TableKind::Rowid)
    {
        Some(correlation) => correlation >= ORDERED_MIN,
        None => !values.looks_random(table.rows),
    }
}

/// The largest number of an integer type as it is declared, and its words. INTEGER is SQLite's own, of 64 bits.
fn declared(column: &Column) -> Option<(i128, String)> {
    let declared = column.declared.to_ascii_uppercase();
    let is_unsigned = declared.contains("UNSIGNED");
    let mut words = declared
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !["UNSIGNED", "SIGNED"].contains(word));
    let bits = match words.next()? {
        "TINYINT" | "INT1" => 8,
        "SMALLINT" | "INT2" | "SMALLSERIAL" => 16,
        "MEDIUMINT" | "INT3" => 24,
        "INT" | "INT4" | "INT32" | "SERIAL" => 32,
        "BIGINT" | "INT8" | "INT64" | "BIGSERIAL" | "INTEGER" => 64,
        _ => return None,
    };
    let last = (1i128 << (bits - u32::from(!is_unsigned || bits == 64))) - 1;
    Some((last, column.declared.clone()))
}
