//! The counters of a server's database: AUTO_INCREMENT, sequences, keys that are counted without either, and references
//! to counted keys, which their own types bound.

use super::{
    ids::IdColumn,
    model::{Column, CountedColumn, Database, Product, Sequence, Table, TableKind, shown},
    undeclared::{self, Undeclared},
};
use crate::counter::Counter;

/// The longest chain of references that is followed.
const REFERENCES_MAX: usize = 8;
/// Integers up to which floating-point types have each.
const FLOAT_MAX: i128 = 1 << 24;
const DOUBLE_MAX: i128 = 1 << 53;
/// Digits of decimal types that 64 bits hold.
const DIGITS_MAX: u32 = 18;

/// A counter, and what ends it.
#[derive(Debug, Clone)]
pub struct ServerCounter {
    /// How far it has come.
    pub counter: Counter,
    /// The column; `None` for a sequence that no column names.
    pub column: Option<CountedColumn>,
    /// What ends it.
    pub end: End,
    /// The column that it refers to, if it is a reference.
    pub refers_to: Option<CountedColumn>,
    /// Whether the sequence begins again at its end.
    pub cycles: bool,
}

/// What ends a counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The column's type, which has fewer than 64 bits.
    Narrow,
    /// The column's type, than which no integer type is wider.
    Wide,
    /// The type of a sequence, which is narrower than the column's.
    SequenceType {
        /// The schema of the sequence.
        schema: String,
        /// Its name.
        name: String,
        /// The type that it could have.
        to: String,
    },
    /// The declared end of a sequence: MAXVALUE or MINVALUE.
    Declared,
}

/// Numbers that reach a column.
#[derive(Clone)]
struct Source {
    counted_by: String,
    first: i128,
    /// `None` if no number was given yet.
    reached: Option<i128>,
    /// The end of the sequence; a column's type may end it before.
    last: Option<i128>,
    sequence: Option<usize>,
    is_descending: bool,
    /// False if only values say so.
    is_declared: bool,
}

/// The range of a column's type.
struct Range {
    low: i128,
    high: i128,
    is_narrow: bool,
}

/// What counters are found in.
struct CounterFacts<'d> {
    database: &'d Database,
    ids: &'d [IdColumn],
    undeclared: Undeclared,
}

/// Finds all counters, those that are nearest to their end first.
pub fn find(database: &Database, ids: &[IdColumn]) -> Vec<ServerCounter> {
    let mut found = Vec::new();
    let is_integer = |column: &Column| integers(&column.base_type).is_some();
    let facts = CounterFacts {
        database,
        ids,
        undeclared: undeclared::find(database, &is_integer, &is_sole_key),
    };
    for table in database
        .tables
        .iter()
        .filter(|table| is_told(database, table))
    {
        for column in &table.columns {
            found.extend(of_column(&facts, table, column));
        }
    }
    let alone = database
        .sequences
        .iter()
        .filter(|own| own.columns.is_empty());
    found.extend(alone.filter_map(|own| of_sequence(database, own)));
    found.sort_by(|one, other| {
        let by_use = other
            .counter
            .used_percent
            .total_cmp(&one.counter.used_percent);
        by_use.then_with(|| one.counter.object.cmp(&other.counter.object))
    });
    found
}

/// Partitions count as their partitioned table does, which is told.
fn is_told(database: &Database, table: &Table) -> bool {
    let is_parent = |own: &Table| table.parent == Some(format!("{}.{}", own.schema, own.name));
    match table.kind {
        TableKind::Foreign | TableKind::MaterializedView => false,
        TableKind::Partition => !database.tables.iter().any(is_parent),
        TableKind::Ordinary | TableKind::CatalogOnly | TableKind::Partitioned => true,
    }
}

fn place(table: &Table, column: &Column) -> CountedColumn {
    CountedColumn {
        schema: table.schema.clone(),
        table: table.name.clone(),
        column: column.name.clone(),
    }
}

/// The counter of a column that is nearest to its end.
fn of_column(facts: &CounterFacts<'_>, table: &Table, column: &Column) -> Option<ServerCounter> {
    let range = range(column)?;
    let all = sources(facts, table, column, REFERENCES_MAX);
    let counters = all.into_iter().filter_map(|(source, refers_to)| {
        let is_declared = source.is_declared;
        let found = bounded(
            facts.database,
            (table, column, &range),
            &source,
            refers_to.filter(|_| is_declared),
        );
        // Values that may be there by chance are worth a line only near the end.
        (is_declared || found.counter.is_warning()).then_some(found)
    });
    counters.max_by(|one, other| {
        let (one, other) = (&one.counter, &other.counter);
        one.used_percent.total_cmp(&other.used_percent)
    })
}

/// How far a source has come in a column.
fn bounded(
    database: &Database,
    (table, column, range): (&Table, &Column, &Range),
    source: &Source,
    refers_to: Option<CountedColumn>,
) -> ServerCounter {
    let of_type = if source.is_descending {
        range.low
    } else {
        range.high
    };
    let last = match source.last {
        Some(last) if source.is_descending => last.max(of_type),
        Some(last) => last.min(of_type),
        None => of_type,
    };
    let reached = source.reached.unwrap_or(match source.is_descending {
        true => source.first + 1,
        false => source.first - 1,
    });
    let sequence = source.sequence.map(|at| &database.sequences[at]);
    let (end, bounded_by) = match sequence {
        Some(own) if last != of_type => end_of(own, &column.type_name, column.type_name.clone()),
        _ if range.is_narrow => (End::Narrow, column.type_name.clone()),
        _ => (End::Wide, column.type_name.clone()),
    };
    ServerCounter {
        counter: Counter::new(
            format!("{}.{}", shown(table), column.name),
            &source.counted_by,
            bounded_by,
            (source.first, reached, last),
        ),
        column: Some(place(table, column)),
        end,
        refers_to,
        cycles: sequence.is_some_and(|own| own.cycles),
    }
}

/// What ends a sequence before the type of its column does, and its words.
fn end_of(own: &Sequence, to: &str, wider: String) -> (End, String) {
    let name = format!("{}.{}", own.schema, own.name);
    let (low, high) = integers(&own.type_name).unwrap_or((i64::MIN.into(), i64::MAX.into()));
    let (is_of_type, declared) = match own.increment < 0 {
        true => (
            i128::from(own.minimum) == low,
            format!("MINVALUE {}", own.minimum),
        ),
        false => (
            i128::from(own.maximum) == high,
            format!("MAXVALUE {}", own.maximum),
        ),
    };
    match is_of_type && own.type_name != wider {
        true => (
            End::SequenceType {
                schema: own.schema.clone(),
                name: own.name.clone(),
                to: to.to_owned(),
            },
            format!("the sequence {name} ({})", own.type_name),
        ),
        false => (End::Declared, format!("{declared} of the sequence {name}")),
    }
}

/// A sequence that no column names: programs take its numbers.
fn of_sequence(database: &Database, own: &Sequence) -> Option<ServerCounter> {
    let source = of_own_sequence(database, own);
    let name = format!("{}.{}", own.schema, own.name);
    let (end, bounded_by) = match own.type_name.as_str() {
        "bigint" => match end_of(own, "bigint", "bigint".into()) {
            (End::Declared, words) if is_whole(own) => (End::Wide, words),
            other => other,
        },
        _ => end_of(own, "bigint", "bigint".into()),
    };
    Some(ServerCounter {
        counter: Counter::new(
            format!("sequence {name}"),
            source.counted_by,
            bounded_by,
            (source.first, source.reached?, source.last?),
        ),
        column: None,
        end,
        refers_to: None,
        cycles: own.cycles,
    })
}

/// Whether a sequence ends where 64 bits end. MariaDB's end one number before.
fn is_whole(own: &Sequence) -> bool {
    own.maximum >= i64::MAX - 1 && own.increment > 0
        || own.minimum <= i64::MIN + 1 && own.increment < 0
}

fn of_own_sequence(database: &Database, own: &Sequence) -> Source {
    let is_descending = own.increment < 0;
    // What lies behind the start is used only by a sequence that begins there.
    let first = match is_descending {
        false if own.start > 1 => own.minimum.max(1).min(own.start),
        true if own.start < -1 => own.maximum.min(-1).max(own.start),
        _ => own.start,
    };
    let at = database.sequences.iter().position(|other| other == own);
    Source {
        counted_by: format!("the sequence {}.{}", own.schema, own.name),
        first: first.into(),
        reached: own.reached.map(i128::from),
        last: Some(
            if is_descending {
                own.minimum
            } else {
                own.maximum
            }
            .into(),
        ),
        sequence: at,
        is_descending,
        is_declared: true,
    }
}

/// Everything that numbers of a column come from, each with the column that it refers to if it is a reference.
fn sources(
    facts: &CounterFacts<'_>,
    table: &Table,
    column: &Column,
    depth: usize,
) -> Vec<(Source, Option<CountedColumn>)> {
    let (database, ids) = (facts.database, facts.ids);
    let own = place(table, column);
    let mut found = Vec::new();
    for sequence in database
        .sequences
        .iter()
        .filter(|other| other.columns.contains(&own))
    {
        found.push((of_own_sequence(database, sequence), None));
    }
    if let Some(reached) = column.counted_to {
        found.push((counted("AUTO_INCREMENT", reached.into()), None));
    }
    let largest = || largest(ids, &own);
    if found.is_empty()
        && let Some(reached) = largest().filter(|_| is_sole_key(table, column))
        && ids_of(ids, &own).is_some_and(|ids| ids.looks_counted(table.rows))
    {
        found.push((counted("the largest value that was read", reached), None));
    }
    if depth == 0 {
        return found;
    }
    // What values say is followed by one step: the values of a longer way are in each of its keys.
    let by_values = depth == REFERENCES_MAX;
    for (of, is_declared) in parents(facts, table, column, by_values) {
        // A column that refers to itself, such as the parent of a tree, has no numbers of its own.
        if of == own {
            continue;
        }
        let parent = database.table(&of.schema, &of.table);
        let Some((parent, key)) = parent.and_then(|own| Some((own, own.column(&of.column)?)))
        else {
            continue;
        };
        for (mut source, _) in sources(facts, parent, key, depth - 1) {
            let end = if is_declared { "" } else { ", by its values" };
            source.counted_by = format!("reference to {}.{}{end}", shown(parent), of.column);
            source.is_declared &= is_declared;
            // Its own type bounds it: the sequence's end is that of the parent.
            source.last = None;
            source.sequence = None;
            if !source.is_descending {
                source.reached = source.reached.max(largest());
            }
            found.push((source, Some(of.clone())));
        }
    }
    found
}

/// The columns that a column refers to, by a foreign key or by its values.
fn parents(
    facts: &CounterFacts<'_>,
    table: &Table,
    column: &Column,
    by_values: bool,
) -> Vec<(CountedColumn, bool)> {
    let mut found = Vec::new();
    for key in &table.foreign_keys {
        let pairs = key.columns.iter().zip(&key.parent_columns);
        for (_, name) in pairs.filter(|(child, _)| **child == column.name) {
            let parent = CountedColumn {
                schema: key.parent_schema.clone(),
                table: key.parent.clone(),
                column: name.clone(),
            };
            found.push((parent, true));
        }
    }
    let undeclared = facts.undeclared.get(&place(table, column));
    found.extend(
        undeclared
            .filter(|_| by_values)
            .into_iter()
            .flatten()
            .map(|of| (of.clone(), false)),
    );
    found
}

fn counted(by: &str, reached: i128) -> Source {
    Source {
        counted_by: by.to_owned(),
        first: 1,
        reached: Some(reached),
        last: None,
        sequence: None,
        is_descending: false,
        is_declared: true,
    }
}

fn ids_of<'i>(ids: &'i [IdColumn], own: &CountedColumn) -> Option<&'i IdColumn> {
    ids.iter().find(|ids| {
        (&ids.schema, &ids.table, &ids.column) == (&own.schema, &own.table, &own.column)
    })
}

fn largest(ids: &[IdColumn], own: &CountedColumn) -> Option<i128> {
    ids_of(ids, own)?.largest.map(i128::from)
}

/// Whether a column alone is unique.
fn is_sole_key(table: &Table, column: &Column) -> bool {
    let mut unique = table.indexes.iter().filter(|index| index.is_unique);
    unique.any(|index| {
        index.predicate.is_none()
            && index
                .columns()
                .is_some_and(|own| own == [column.name.as_str()])
    })
}

/// The range of a type of integers in PostgreSQL's and MariaDB's spelling without UNSIGNED.
fn integers(base_type: &str) -> Option<(i128, i128)> {
    let bits = match base_type {
        "tinyint" => 8,
        "int2" | "smallint" => 16,
        "mediumint" => 24,
        "int4" | "int" | "integer" => 32,
        "int8" | "bigint" => 64,
        _ => return None,
    };
    let half = 1i128 << (bits - 1);
    Some((-half, half - 1))
}

/// The range of a column's type. `None` if it holds no numbers, or more of them than anything counts.
fn range(column: &Column) -> Option<Range> {
    let base = column.base_type.as_str();
    let is_unsigned = column.type_name.contains("unsigned");
    if let Some((low, high)) = integers(base) {
        let is_narrow = !matches!(base, "int8" | "bigint");
        return Some(match is_unsigned {
            true => Range {
                low: 0,
                high: 2 * high + 1,
                is_narrow,
            },
            false => Range {
                low,
                high,
                is_narrow,
            },
        });
    }
    let high = match base {
        "float4" | "float" => FLOAT_MAX,
        "float8" | "double" => DOUBLE_MAX,
        "numeric" | "decimal" => {
            let (_, rest) = column.type_name.split_once('(')?;
            let (digits, scale) = rest.split_once(')')?.0.split_once(',')?;
            let number = |text: &str| text.trim().parse::<u32>().ok();
            let whole = number(digits)?.checked_sub(number(scale)?)?;
            (whole <= DIGITS_MAX).then(|| 10i128.pow(whole) - 1)?
        }
        _ => return None,
    };
    let low = if is_unsigned { 0 } else { -high };
    Some(Range {
        low,
        high,
        is_narrow: true,
    })
}

/// Whether a column's type is an integer type below 64 bits, which bigint can take the place of.
pub fn can_widen(database: &Database, column: &CountedColumn) -> bool {
    let table = database.table(&column.schema, &column.table);
    let column = table.and_then(|table| table.column(&column.column));
    column.is_some_and(|own| {
        integers(&own.base_type).is_some() && range(own).is_some_and(|range| range.is_narrow)
    })
}

/// The words of what the type of a column could be instead, where no integer type is wider.
pub fn wider(product: Product, counter: &ServerCounter, database: &Database) -> Option<String> {
    let own = counter.column.as_ref()?;
    let column = database
        .table(&own.schema, &own.table)?
        .column(&own.column)?;
    let is_signed = !column.type_name.contains("unsigned");
    match (product, column.base_type.as_str()) {
        (Product::Mariadb, "bigint") if is_signed => {
            Some("bigint unsigned holds twice as many.".into())
        }
        (_, "int8" | "bigint") => None,
        (_, base) => Some(format!("A wider {base}, or bigint, holds more.")),
    }
}
