//! What the columns of a copy in SQLite are.

use crate::error::Error;
use crate::model::{Column, Dialect, Schema, SqliteType, Storage, Table};
use crate::number::is_kept_by_sqlite;
use crate::source::{Source, quoted};
use crate::value::{Kind, Target};

/// The most digits of a decimal number of which a double has each one.
const DIGITS_KEPT: u32 = 15;

/// Sets the types of all columns in the destination. Reads the values of columns whose types depend on them.
///
/// # Errors
/// If the source fails.
pub fn settle(source: &mut dyn Source, schema: &mut Schema, target: Target) -> Result<(), Error> {
    if target == Target::Postgres {
        return Ok(());
    }
    let is_verbatim = source.dialect() == Dialect::Sqlite;
    if is_verbatim {
        schema.left.retain(|left| !left.ddl.is_empty());
    }
    for table in &mut schema.tables {
        if is_verbatim {
            table.left.clear();
            table.is_verbatim = table.statement.is_some();
        }
        for column in &mut table.columns {
            match is_verbatim {
                true => verbatim(column),
                false => column.set_sqlite(),
            }
        }
        widen(source, table)?;
    }
    Ok(())
}

/// A column of SQLite in another SQLite file: each value keeps its storage class.
fn verbatim(column: &mut Column) {
    column.kind = Kind::Any;
    column.read = quoted(&column.name);
    column.decisions.clear();
    column.sqlite = Some(SqliteType {
        declared: column.declared.clone(),
        storage: Storage::Any,
    });
}

/// The name of a type without parentheses, and the numbers in these.
fn parts(ty: &str) -> (String, Vec<u32>) {
    let Some((name, rest)) = ty.split_once('(') else {
        return (ty.to_owned(), Vec::new());
    };
    let (numbers, end) = rest.split_once(')').unwrap_or((rest, ""));
    let numbers = numbers
        .split(',')
        .filter_map(|number| number.trim().parse().ok());
    (format!("{}{end}", name.trim_end()), numbers.collect())
}

impl Column {
    /// Sets the type that the column has in SQLite by its type in PostgreSQL.
    pub fn set_sqlite(&mut self) {
        let (name, numbers) = parts(&self.postgres);
        let with = |name: &str| match numbers.first() {
            Some(number) => format!("{name}({number})"),
            None => name.to_owned(),
        };
        let text = |declared: &str| (declared.to_owned(), Storage::Text);
        let (declared, storage) = match (&*name, self.kind) {
            ("smallint" | "integer" | "bigint", _) => ("INTEGER".to_owned(), Storage::Integer),
            (_, Kind::Boolean) => ("BOOLEAN".to_owned(), Storage::Integer),
            (_, Kind::Single | Kind::Double) => ("REAL".to_owned(), Storage::Real),
            (_, Kind::Bytes | Kind::HexBytes) => ("BLOB".to_owned(), Storage::Blob),
            ("numeric", _) => {
                self.kind = Kind::Number;
                let declared = match numbers[..] {
                    [digits] => format!("DECIMAL({digits})"),
                    [digits, 0] => format!("DECIMAL({digits})"),
                    [digits, places] => format!("DECIMAL({digits},{places})"),
                    _ => "NUMERIC".to_owned(),
                };
                (declared, Storage::Number)
            }
            ("money", _) => {
                self.kind = Kind::Number;
                self.read = format!("{}::numeric", self.read);
                self.decisions
                    .push("money is a number in the copy, without its currency".to_owned());
                ("NUMERIC".to_owned(), Storage::Number)
            }
            // Names of these types have no affinity to numbers, or their texts are none.
            (_, Kind::Date) => text("DATE"),
            (_, Kind::Time) => text("DATETIME"),
            (_, Kind::Instant) => text("TIMESTAMPTZ"),
            (_, Kind::Clock) => text("TIME"),
            (_, Kind::ZonedClock) => text("TIMETZ"),
            ("uuid", _) => text("UUID"),
            ("json" | "jsonb", _) => text("JSON TEXT"),
            ("varchar" | "character varying", _) if !numbers.is_empty() => text(&with("VARCHAR")),
            ("character" | "char" | "bpchar", _) if !numbers.is_empty() => text(&with("CHAR")),
            _ => {
                let is_text = ["text", "varchar", "character varying", "bpchar", "name"];
                if !is_text.contains(&&*name) {
                    let note = format!("{} is text in SQLite", self.postgres);
                    self.decisions.push(note);
                }
                text("TEXT")
            }
        };
        self.sqlite = Some(SqliteType { declared, storage });
    }

    /// Whether SQLite may have another number for a number of the column.
    fn is_in_doubt(&self) -> bool {
        let is_number = |ty: &SqliteType| ty.storage == Storage::Number;
        let digits = parts(&self.postgres).1;
        self.sqlite.as_ref().is_some_and(is_number)
            && digits.first().is_none_or(|digits| *digits > DIGITS_KEPT)
    }
}

/// Makes text of columns with numbers that SQLite does not have.
fn widen(source: &mut dyn Source, table: &mut Table) -> Result<(), Error> {
    let in_doubt = table.columns.iter().filter(|column| column.is_in_doubt());
    let part = Table {
        columns: in_doubt.cloned().collect(),
        ..table.clone()
    };
    if part.columns.is_empty() {
        return Ok(());
    }
    let mut lost: Vec<(u64, Option<(u64, String)>)> = vec![(0, None); part.columns.len()];
    let mut row = 0;
    source.rows(&part, None, &mut |values| {
        row += 1;
        for (value, (count, first)) in values.iter().zip(&mut lost) {
            let Some(value) = value.filter(|value| !is_kept_by_sqlite(value)) else {
                continue;
            };
            *count += 1;
            first.get_or_insert_with(|| (row, String::from_utf8_lossy(value).into_owned()));
        }
        true
    })?;
    for (column, (count, first)) in part.columns.iter().zip(lost) {
        let (Some((row, value)), Some(own)) = (
            first,
            table.columns.iter_mut().find(|own| own.name == column.name),
        ) else {
            continue;
        };
        // A text keeps the digits that the source writes.
        own.kind = Kind::Plain;
        own.sqlite = Some(SqliteType {
            declared: "TEXT".to_owned(),
            storage: Storage::Text,
        });
        let values = if count == 1 {
            "value has"
        } else {
            "values have"
        };
        own.decisions.push(format!(
            "{} is text in SQLite: {count} {values} more digits than its numbers, the first in row {row}: {value}",
            own.postgres
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_postgresql_have_equivalents_in_sqlite() {
        for (postgres, kind, expected) in [
            ("bigint", Kind::Plain, "INTEGER"),
            ("numeric(10,2)", Kind::Plain, "DECIMAL(10,2)"),
            ("numeric(20)", Kind::Plain, "DECIMAL(20)"),
            ("numeric", Kind::Plain, "NUMERIC"),
            ("boolean", Kind::Boolean, "BOOLEAN"),
            ("real", Kind::Single, "REAL"),
            ("date", Kind::Date, "DATE"),
            ("timestamp(6) without time zone", Kind::Time, "DATETIME"),
            ("timestamp with time zone", Kind::Instant, "TIMESTAMPTZ"),
            ("time(3) without time zone", Kind::Clock, "TIME"),
            ("time with time zone", Kind::ZonedClock, "TIMETZ"),
            ("interval", Kind::Interval, "TEXT"),
            ("interval(2)", Kind::Clock, "TIME"),
            ("uuid", Kind::Plain, "UUID"),
            ("jsonb", Kind::Plain, "JSON TEXT"),
            ("character varying(80)", Kind::Text, "VARCHAR(80)"),
            ("character(3)", Kind::Text, "CHAR(3)"),
            ("text", Kind::Text, "TEXT"),
            ("integer[]", Kind::Plain, "TEXT"),
            ("bit(9)", Kind::Plain, "TEXT"),
            ("bytea", Kind::HexBytes, "BLOB"),
        ] {
            let mut column = Column {
                postgres: postgres.to_owned(),
                kind,
                ..Column::default()
            };
            column.set_sqlite();
            let found = column.sqlite.expect("a type").declared;
            assert_eq!(found, expected, "{postgres}");
        }
    }
}
