//! Compares what both databases compute of the columns of a table.
//!
//! Equal bytes may mean something else: a number that is text is greater than all numbers, and a date in another form is
//! none. So both databases are asked for the number of values, the least, the greatest and the sum of each column, and for
//! the order of some rows.

use std::fmt::Write as _;

use inorder_engine::remote::TextRows;

use crate::destination::Destination;
use crate::error::Error;
use crate::model::{Column, Dialect, SqliteType, Storage, Table};
use crate::source::{Source, quoted};
use crate::value::Kind;

/// Columns of a query. A database limits them.
const COLUMNS_TOGETHER: usize = 40;

/// Rows whose order is compared.
const ROWS_ORDERED: u32 = 200;

/// The bytes of texts of which the least and the greatest are compared.
const BYTES_COMPARED: u32 = 64;

/// The share of a sum by which two sums of doubles in another order may differ.
const TOLERANCE: f64 = 1e-9;

/// What both databases say of a column.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// The column.
    pub column: String,
    /// Its type in the source.
    pub declared: String,
    /// Its type in the copy.
    pub copied: String,
    /// Each measure with what the source and the copy say.
    pub measures: Vec<(&'static str, String, String)>,
    /// What can't be compared, and why.
    pub why_not: Option<&'static str>,
}

/// What is computed of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Number,
    Truth,
    Time,
    Clock,
    Text,
    Uuid,
    Bytes,
    /// Values of SQLite of any storage class.
    Any,
    Uncomparable(&'static str),
}

/// One side of a copy.
struct Side<'a> {
    dialect: Dialect,
    /// Whether SQLite has text as UTF-16.
    is_wide: bool,
    /// The table as the side names it.
    from: String,
    columns: Vec<&'a Column>,
    /// The expressions of the columns.
    own: Vec<String>,
}

fn class(column: &Column) -> Class {
    let is_text = |ty: &SqliteType| ty.storage == Storage::Text;
    let is_text = column.sqlite.as_ref().is_some_and(is_text);
    let ty = column.postgres.split(['(', ' ']).next().unwrap_or_default();
    match (column.kind, ty) {
        (Kind::Any, _) => Class::Any,
        (Kind::Boolean, _) => Class::Truth,
        (Kind::Number | Kind::Single | Kind::Double, _) => Class::Number,
        (Kind::Plain, "smallint" | "integer" | "bigint" | "numeric") if !is_text => Class::Number,
        (Kind::Plain, "numeric") => Class::Uncomparable("numbers are text in SQLite"),
        (Kind::Date | Kind::Time | Kind::Instant, _) => Class::Time,
        (Kind::Clock, _) => Class::Clock,
        (Kind::ZonedClock, _) => Class::Uncomparable("SQLite has no times with an offset"),
        (Kind::Interval, _) => Class::Uncomparable("SQLite has no intervals"),
        (Kind::Uuid, _) | (_, "uuid") => Class::Uuid,
        (Kind::Bytes | Kind::HexBytes, _) => Class::Bytes,
        (_, "character" | "char" | "bpchar")
            if !column.postgres.starts_with("character varying") =>
        {
            Class::Uncomparable("blanks at the end of its texts have no meaning in PostgreSQL")
        }
        _ => Class::Text,
    }
}

impl Compared {
    fn of(column: &Column) -> Self {
        Compared {
            column: column.name.clone(),
            declared: column.declared.clone(),
            copied: match &column.sqlite {
                Some(ty) => ty.declared.clone(),
                None => column.postgres.clone(),
            },
            ..Compared::default()
        }
    }
}

impl Side<'_> {
    /// The number by which a value is summed and sorted.
    fn number(&self, at: usize, class: Class) -> String {
        let (x, column) = (&self.own[at], self.columns[at]);
        match (class, self.dialect) {
            (Class::Number, Dialect::Postgres) if column.kind == Kind::Single => {
                format!("{x}::float8")
            }
            (Class::Number | Class::Any, _) => x.clone(),
            (Class::Truth, Dialect::Postgres) => format!("({x})::int"),
            (Class::Truth, _) => format!(
                "CASE WHEN {x} IS NULL THEN NULL WHEN lower({x}) IN ('1', 't', 'true') THEN 1 ELSE 0 END"
            ),
            (Class::Time, dialect) => seconds(x, dialect, column.kind),
            (Class::Clock, Dialect::Postgres) => {
                let second = format!("trunc(extract(epoch FROM {x}))");
                format!("CASE WHEN {x} >= '00:00:00' AND {x} < '24:00:00' THEN {second} END")
            }
            (Class::Clock, Dialect::MariaDb) => format!(
                "CASE WHEN {x} >= '00:00:00' AND {x} < '24:00:00' THEN time_to_sec({x}) END"
            ),
            (Class::Clock, Dialect::Sqlite) => format!(
                "CASE WHEN {x} GLOB '[0-2][0-9]:*' AND substr({x}, 1, 2) < '24' THEN CAST(strftime('%s', '1970-01-01 ' || {x}) AS INTEGER) END"
            ),
            _ => self.bytes(at, class).0,
        }
    }

    /// The beginning of a value as hexadecimal digits, and the number of its bytes.
    fn bytes(&self, at: usize, class: Class) -> (String, String) {
        let x = &self.own[at];
        let part = |value: &str| format!("substr({value}, 1, {BYTES_COMPARED})");
        match (class, self.dialect) {
            (Class::Uuid, Dialect::Postgres) => {
                let digits = format!("replace({x}::text, '-', '')");
                (digits.clone(), format!("length({digits})"))
            }
            (Class::Uuid, Dialect::MariaDb) => {
                let digits = format!("replace({x}, '-', '')");
                (digits.clone(), format!("length({digits})"))
            }
            (Class::Uuid, Dialect::Sqlite) => {
                let digits = format!("CASE typeof({x}) WHEN 'blob' THEN hex({x}) ELSE {x} END");
                let digits = format!("lower(replace({digits}, '-', ''))");
                (digits.clone(), format!("length({digits})"))
            }
            (Class::Bytes, Dialect::Postgres) => (
                format!("encode({}, 'hex')", part(x)),
                format!("octet_length({x})"),
            ),
            (_, Dialect::Postgres) => {
                let bytes = format!("convert_to({x}::text, 'UTF8')");
                (
                    format!("encode({}, 'hex')", part(&bytes)),
                    format!("octet_length({bytes})"),
                )
            }
            (class, Dialect::MariaDb) => {
                let bytes = match class {
                    Class::Bytes => x.clone(),
                    _ => format!("CAST(convert({x} USING utf8mb4) AS BINARY)"),
                };
                (
                    format!("lower(hex({}))", part(&bytes)),
                    format!("length({bytes})"),
                )
            }
            (_, Dialect::Sqlite) => {
                let bytes = format!("CAST({x} AS BLOB)");
                // The digits of NULL are an empty text.
                (
                    format!(
                        "CASE WHEN {x} IS NOT NULL THEN lower(hex({})) END",
                        part(&bytes)
                    ),
                    format!("length({bytes})"),
                )
            }
        }
    }

    /// The measures of a column.
    fn measures(&self, at: usize, class: Class) -> Vec<String> {
        let x = &self.own[at];
        let mut measures = vec![format!("count({x})")];
        let (value, summed) = match class {
            Class::Text | Class::Bytes if self.is_wide => return measures,
            Class::Uncomparable(_) => return measures,
            Class::Text | Class::Uuid | Class::Bytes => self.bytes(at, class),
            Class::Any => (
                format!("CASE WHEN typeof({x}) IN ('integer', 'real') THEN {x} END"),
                format!("CASE WHEN typeof({x}) IN ('integer', 'real') THEN {x} END"),
            ),
            _ => {
                let number = self.number(at, class);
                (number.clone(), number)
            }
        };
        let sum = match self.dialect {
            // The sum of integers may be beyond 64 bits.
            Dialect::Sqlite => "total",
            _ => "sum",
        };
        measures.push(format!("count({value})"));
        measures.push(format!("min({value})"));
        measures.push(format!("max({value})"));
        measures.push(format!("coalesce({sum}({summed}), 0)"));
        measures.push(format!("coalesce({sum}(abs({summed} * 1.0)), 0)"));
        measures
    }

    /// The query of the places of rows in the order of each column, in the order of the key.
    fn order(&self, range: &[(usize, Class)], key: &[(usize, Class)]) -> String {
        let value = |(at, class): &(usize, Class)| match class {
            Class::Time if self.dialect == Dialect::Sqlite => {
                format!("round(julianday({}) * 86400000)", self.own[*at])
            }
            Class::Time if self.dialect == Dialect::Postgres => {
                let x = &self.own[*at];
                format!(
                    "CASE WHEN isfinite({x}) THEN round((extract(epoch FROM {x}) * 1000)::numeric) END"
                )
            }
            Class::Time => format!("{0}, microsecond({0}) DIV 1000", self.own[*at]),
            _ => self.number(*at, *class),
        };
        let keys: Vec<String> = key.iter().map(value).collect();
        let mut inner = String::new();
        let mut outer = String::new();
        for (place, column) in range.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            let value = match column.1 {
                Class::Time if self.dialect == Dialect::MariaDb => self.own[column.0].clone(),
                _ => value(column),
            };
            write!(inner, "{separator}{value} AS c{place}").expect("memory");
            write!(
                outer,
                "{separator}rank() OVER (PARTITION BY c{place} IS NULL ORDER BY c{place})"
            )
            .expect("memory");
        }
        let from = &self.from;
        let keys: Vec<String> = keys
            .into_iter()
            .zip(key)
            .map(|(value, (at, class))| match class {
                Class::Number | Class::Truth => self.own[*at].clone(),
                _ => value,
            })
            .collect();
        let order = keys.join(", ");
        format!(
            "SELECT {outer} FROM (SELECT {inner}, row_number() OVER (ORDER BY {order}) AS place FROM {from} ORDER BY {order} LIMIT {ROWS_ORDERED}) AS sampled ORDER BY place"
        )
    }
}

/// The seconds of a point in time since 1970, of years that every database reads.
fn seconds(x: &str, dialect: Dialect, kind: Kind) -> String {
    match dialect {
        Dialect::Postgres => {
            let value = match kind {
                Kind::Date => format!("{x}::timestamp"),
                _ => x.to_owned(),
            };
            format!(
                "CASE WHEN isfinite({x}) AND {x} >= '0001-01-01' AND {x} < '10000-01-01' THEN floor(extract(epoch FROM {value})) END"
            )
        }
        Dialect::MariaDb => format!("to_seconds({x}) - 62167219200"),
        Dialect::Sqlite => format!(
            "CASE WHEN {x} GLOB '[0-9][0-9][0-9][0-9]-*' AND substr({x}, 1, 4) >= '0001' THEN CAST(strftime('%s', {x}) AS INTEGER) END"
        ),
    }
}

/// The names of the measures, in their order.
const NAMES: [&str; 5] = ["count", "values", "min", "max", "sum"];

/// Compares what both databases say of a table. `is_skipped` tells whether values of a column were changed on purpose.
///
/// # Errors
/// [`Error::Means`] if they say different things.
pub fn compare(
    source: &mut dyn Source,
    destination: &mut dyn Destination,
    table: &Table,
    is_skipped: &dyn Fn(usize) -> bool,
) -> Result<Vec<Compared>, Error> {
    let copied = destination.named(table);
    let read = table.columns.iter().map(|column| column.read.clone());
    let own = Side {
        dialect: source.dialect(),
        is_wide: is_wide(source.dialect(), &mut |sql| source.answers(sql))?,
        from: source.table(table),
        columns: table.columns.iter().collect(),
        own: read.collect(),
    };
    let names = copied.columns.iter().map(|column| quoted(&column.name));
    let other = Side {
        dialect: destination.dialect(),
        is_wide: is_wide(destination.dialect(), &mut |sql| destination.answers(sql))?,
        from: quoted(&copied.name),
        columns: copied.columns.iter().collect(),
        own: names.collect(),
    };
    let columns = table.columns.iter().map(class).enumerate();
    let columns: Vec<(usize, Class)> = columns.filter(|(at, _)| !is_skipped(*at)).collect();
    let mut compared = Vec::new();
    // One after another where a database can't compute all together.
    let mut waiting: Vec<&[(usize, Class)]> = columns.chunks(COLUMNS_TOGETHER).rev().collect();
    while let Some(some) = waiting.pop() {
        let list = |side: &Side<'_>| -> Vec<Vec<String>> {
            let measures = some.iter().map(|(at, class)| side.measures(*at, *class));
            measures.collect()
        };
        let (mut ours, mut theirs) = (list(&own), list(&other));
        for (ours, theirs) in ours.iter_mut().zip(&mut theirs) {
            let both = ours.len().min(theirs.len());
            ours.truncate(both);
            theirs.truncate(both);
        }
        let query = |side: &Side<'_>, lists: &[Vec<String>]| {
            format!("SELECT {} FROM {}", lists.concat().join(", "), side.from)
        };
        let both = source.answers(&query(&own, &ours)).and_then(|said| {
            let copy_says = destination.answers(&query(&other, &theirs))?;
            Ok((said, copy_says))
        });
        let Ok((said, copy_says)) = both else {
            if some.len() > 1 {
                waiting.extend(some.chunks(1).rev());
                continue;
            }
            // Such as a sum beyond the largest number.
            compared.extend(some.iter().map(|(at, _)| Compared {
                why_not: Some("a database can't compute it"),
                ..Compared::of(&table.columns[*at])
            }));
            continue;
        };
        let (mut said, mut copy_says) = (said.concat().into_iter(), copy_says.concat().into_iter());
        for ((at, class), measures) in some.iter().zip(&ours) {
            let count = measures.len();
            let ours: Vec<Option<String>> = said.by_ref().take(count).collect();
            let theirs: Vec<Option<String>> = copy_says.by_ref().take(count).collect();
            let column = &table.columns[*at];
            compared.push(judged(table, column, *class, &ours, &theirs)?);
        }
    }
    ordered(source, destination, table, (&own, &other), &columns)?;
    Ok(compared)
}

/// Whether a database of SQLite has text as UTF-16, whose bytes have another order.
fn is_wide(
    dialect: Dialect,
    ask: &mut dyn FnMut(&str) -> Result<TextRows, Error>,
) -> Result<bool, Error> {
    if dialect != Dialect::Sqlite {
        return Ok(false);
    }
    let encoding = ask("PRAGMA encoding")?.concat().concat_texts();
    Ok(encoding != "UTF-8")
}

/// Texts of a row together.
trait Texts {
    fn concat_texts(self) -> String;
}

impl Texts for Vec<Option<String>> {
    fn concat_texts(self) -> String {
        self.into_iter().flatten().collect()
    }
}

/// Compares the measures of a column.
fn judged(
    table: &Table,
    column: &Column,
    class: Class,
    ours: &[Option<String>],
    theirs: &[Option<String>],
) -> Result<Compared, Error> {
    let number = |values: &[Option<String>], at: usize| {
        let text = values.get(at).and_then(Option::as_deref)?;
        text.trim().parse::<f64>().ok()
    };
    let scale = number(ours, 5).into_iter().chain(number(theirs, 5));
    let scale = scale.fold(0.0_f64, f64::max);
    // Databases round or cut off parts of seconds.
    let rounded = match class {
        Class::Time | Class::Clock => 1.0,
        _ => 0.0,
    };
    let rows = number(ours, 0).unwrap_or_default();
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let mut compared = Compared::of(column);
    if let Class::Uncomparable(why_not) = class {
        compared.why_not = Some(why_not);
    }
    for (at, name) in NAMES.iter().enumerate().take(ours.len()) {
        let (own, other) = (shown(&ours[at]), shown(&theirs[at]));
        let tolerance = match at {
            4 => scale * TOLERANCE + rounded * rows,
            2 | 3 => rounded,
            _ => 0.0,
        };
        let is_equal = match (number(ours, at), number(theirs, at)) {
            (Some(own), Some(other)) => {
                own == other
                    || (own.is_nan() && other.is_nan())
                    || (own - other).abs() <= tolerance.max(own.abs() * f64::EPSILON * 4.0)
            }
            _ => own.eq_ignore_ascii_case(&other),
        };
        if !is_equal {
            return Err(Error::Means {
                table: table.name.clone(),
                column: column.name.clone(),
                measure: name,
                source_says: own,
                copy_says: other,
            });
        }
        compared.measures.push((name, own, other));
    }
    Ok(compared)
}

/// Compares the order of some rows by each column.
fn ordered(
    source: &mut dyn Source,
    destination: &mut dyn Destination,
    table: &Table,
    (own, other): (&Side<'_>, &Side<'_>),
    columns: &[(usize, Class)],
) -> Result<(), Error> {
    let is_sorted = |(_, class): &&(usize, Class)| match class {
        Class::Number | Class::Truth | Class::Time | Class::Clock => true,
        Class::Text | Class::Bytes => !own.is_wide && !other.is_wide,
        Class::Uuid => true,
        Class::Any | Class::Uncomparable(_) => false,
    };
    let place = |name: &String| table.columns.iter().position(|column| column.name == *name);
    let key = table.key.iter().map(|name| {
        let at = place(name)?;
        columns.iter().filter(is_sorted).find(|(own, _)| *own == at)
    });
    let Some(key) = key.map(|part| part.copied()).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let sorted: Vec<(usize, Class)> = columns.iter().filter(is_sorted).copied().collect();
    if key.is_empty() {
        return Ok(());
    }
    for some in sorted.chunks(COLUMNS_TOGETHER) {
        let ours = source.answers(&own.order(some, &key))?;
        let theirs = destination.answers(&other.order(some, &key))?;
        for (place, (at, _)) in some.iter().enumerate() {
            let ranks = |rows: &TextRows| -> Vec<String> {
                let rank = |row: &Vec<Option<String>>| row[place].clone().unwrap_or_default();
                rows.iter().map(rank).collect()
            };
            let (ours, theirs) = (ranks(&ours), ranks(&theirs));
            let differs = ours
                .iter()
                .zip(&theirs)
                .position(|(own, other)| own != other);
            if let Some(row) = differs {
                return Err(Error::Means {
                    table: table.name.clone(),
                    column: table.columns[*at].name.clone(),
                    measure: "order",
                    source_says: format!("place {} of row {}", ours[row], row + 1),
                    copy_says: format!("place {}", theirs[row]),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{destination, source};

    /// What is compared of a table of SQLite and a copy that was made by other means.
    fn compared(table: &str, copy: &str) -> Result<Vec<Compared>, Error> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        for (name, sql) in [("from.db", table), ("to.db", copy)] {
            let db = rusqlite::Connection::open(path(name)).expect("a database");
            db.execute_batch(sql).expect("made");
        }
        let mut source = source::open(&path("from.db"), "").expect("a source");
        let mut destination = destination::open(&path("to.db"), false).expect("a copy");
        let mut schema = source.schema().expect("a schema");
        let table = &mut schema.tables[0];
        table.columns.iter_mut().for_each(Column::set_sqlite);
        compare(&mut *source, &mut *destination, table, &|_| false)
    }

    /// A declared type, values, and the type and the values of a copy.
    const CASES: &[(&str, &str, &str, &str, &str)] = &[
        (
            "decimal(10,2)",
            "9.5, 10.25",
            "decimal(10,2)",
            "9.5, 10.25",
            "",
        ),
        // A text is greater than all numbers, and 9 is greater than 10.
        ("decimal(10,2)", "9.5, 10.25", "text", "9.5, 10.25", "min"),
        ("decimal(10,2)", "9.5, 10.25", "integer", "10, 10", "min"),
        (
            "decimal(10,2)",
            "1, 2, 3",
            "decimal(10,2)",
            "1, 1, 4",
            "max",
        ),
        (
            "decimal(10,2)",
            "1, 2, 4",
            "decimal(10,2)",
            "1, 3, 4",
            "sum",
        ),
        ("integer", "1, 2, 3", "integer", "1, 2", "count"),
        ("integer", "1, 2, 4, 5", "integer", "1, 4, 2, 5", "order"),
        (
            "datetime",
            "'2024-01-01 10:00:00'",
            "datetime",
            "'2024-01-01 10:00:00+00:00'",
            "",
        ),
        (
            "datetime",
            "'2024-01-01 10:00:00'",
            "datetime",
            "'2024-01-01 10:00:00+00'",
            "values",
        ),
        (
            "datetime",
            "'2024-01-01 10:00:00'",
            "datetime",
            "'2024-01-01 10:00:00+02:00'",
            "min",
        ),
        (
            "date",
            "'2024-01-01', '2024-01-03'",
            "date",
            "'2024-01-01', '20240103'",
            "values",
        ),
        ("boolean", "0, 1, 1", "boolean", "0, 0, 1", "sum"),
        ("text", "'a', 'b'", "text", "'a', 'c'", "max"),
        ("text", "'a', 'b', 'c'", "text", "'a', 'bb', 'c'", "sum"),
        ("blob", "x'00ff'", "blob", "x'00fe'", "min"),
        ("time", "'10:00:00'", "time", "'11:00:00'", "min"),
    ];

    #[test]
    fn a_copy_that_means_something_else_is_found() {
        for (declared, values, ty, others, expected) in CASES {
            let table = |ty: &str, values: &str| {
                let values: Vec<String> = values
                    .split(", ")
                    .enumerate()
                    .map(|(at, value)| format!("({at}, {value})"))
                    .collect();
                format!(
                    "CREATE TABLE t(id INTEGER PRIMARY KEY, c {ty}); INSERT INTO t VALUES {}",
                    values.join(", ")
                )
            };
            let case = format!("{declared} {values}: {ty} {others}");
            match compared(&table(declared, values), &table(ty, others)) {
                Ok(found) => {
                    assert_eq!(*expected, "", "{case}: {found:?}");
                    assert_eq!(found.len(), 2);
                }
                Err(Error::Means {
                    table,
                    column,
                    measure,
                    ..
                }) => {
                    let is_whole = *expected == "count" && column == "id";
                    assert_eq!((&*table, measure), ("t", *expected), "{case}");
                    assert!(is_whole || column == "c", "{case}: {column}");
                }
                Err(other) => panic!("{case}: {other}"),
            }
        }
    }
}
