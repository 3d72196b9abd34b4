//! The plan of a copy: a file that lists tables, columns, their types and what happens to values without an equivalent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize;

use crate::error::Error;
use crate::model::{Column, Dialect, Schema, SqliteType, Storage, Table};
use crate::number::Decimal;
use crate::rules::{Action, Rules};
use crate::source::Source;
use crate::temporal;
use crate::value::{FAULTS, Fault, Kind, Target};

/// A plan.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    #[serde(default)]
    tables: BTreeMap<String, TablePlan>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TablePlan {
    #[serde(default)]
    leave_out: bool,
    #[serde(default)]
    columns: BTreeMap<String, ColumnPlan>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ColumnPlan {
    source_type: Option<String>,
    r#type: Option<String>,
    #[serde(default)]
    leave_out: bool,
    #[serde(default)]
    zero_date: Action,
    #[serde(default)]
    nul: Action,
    #[serde(default)]
    nan: Action,
    #[serde(default)]
    invalid: Action,
}

/// What a column's values have that its type has not: the number of values, and the row of the first one.
type Seen = [(u64, u64); FAULTS.len()];

const HEAD: &str = "\
# The plan of a copy, written by `inorder copy --plan FILE`. Edit it, and run the same command again.
#
# type        the column's type in the copy
# leave-out   true leaves out a table or a column
# What happens to values that the copy can't have, per column:
# zero-date   a date with zeros                      \"refuse\", \"null\" or \"leave-out\" (the row)
# nul         text with a NUL character              \"refuse\", \"null\", \"leave-out\" or \"strip\" (the character)
# nan         NaN in a column of SQLite              \"refuse\", \"null\" or \"leave-out\"
# invalid     a value that is not of a changed type  \"refuse\", \"null\" or \"leave-out\"
";

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The type of a column in the destination.
fn copied(column: &Column) -> &str {
    match &column.sqlite {
        Some(ty) => &ty.declared,
        None => &column.postgres,
    }
}

/// Writes the plan of a copy. Reads all rows, and lists the values that have no equivalent.
///
/// # Errors
/// If the source fails.
pub fn written(source: &mut dyn Source, schema: &Schema, target: Target) -> Result<String, Error> {
    let mut text = HEAD.to_owned();
    for table in &schema.tables {
        let mut seen: Vec<Seen> = vec![Seen::default(); table.columns.len()];
        let mut row = 0;
        source.rows(table, None, &mut |values| {
            row += 1;
            for ((value, column), seen) in values.iter().zip(&table.columns).zip(&mut seen) {
                let fault = value.and_then(|value| column.kind.fault(value, target));
                if let Some(fault) = fault {
                    let (count, first) = &mut seen[fault as usize];
                    *count += 1;
                    if *count == 1 {
                        *first = row;
                    }
                }
            }
            true
        })?;
        write!(
            text,
            "\n[tables.{}]\n# {row} rows\nleave-out = false\n",
            quoted(&table.name)
        )
        .expect("memory");
        for (column, seen) in table.columns.iter().zip(&seen) {
            put(&mut text, table, column, seen);
        }
    }
    Ok(text)
}

fn put(text: &mut String, table: &Table, column: &Column, seen: &Seen) {
    let (of_table, name) = (quoted(&table.name), quoted(&column.name));
    write!(text, "\n[tables.{of_table}.columns.{name}]\n").expect("memory");
    for decision in &column.decisions {
        writeln!(text, "# {decision}").expect("memory");
    }
    if !column.declared.is_empty() {
        writeln!(text, "source-type = {}", quoted(&column.declared)).expect("memory");
    }
    writeln!(text, "type = {}", quoted(copied(column))).expect("memory");
    for (fault, (count, first)) in FAULTS.iter().zip(seen) {
        if *count > 0 {
            let values = if *count == 1 { "value" } else { "values" };
            writeln!(
                text,
                "{} = \"refuse\" # {count} {values}, the first in row {first} by the key",
                fault.name()
            )
            .expect("memory");
        }
    }
}

impl Plan {
    /// Parses a plan.
    ///
    /// # Errors
    /// If it is none, with the line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| Error::Refused(format!("the plan: {error}")))
    }

    /// The tables that it leaves out.
    pub fn left_out(&self) -> impl Iterator<Item = &String> {
        let tables = self.tables.iter();
        tables
            .filter(|(_, plan)| plan.leave_out)
            .map(|(name, _)| name)
    }

    /// Changes the columns as the plan says.
    ///
    /// # Errors
    /// If it names what the source has not, or a rule is not possible.
    pub fn apply(&self, schema: &mut Schema, dialect: Dialect) -> Result<(), Error> {
        for (name, plan) in &self.tables {
            if plan.leave_out {
                continue;
            }
            // A table may be left out by --exclude.
            let Some(table) = schema.tables.iter_mut().find(|table| table.name == *name) else {
                continue;
            };
            for (name, plan) in &plan.columns {
                plan.apply(table, name, dialect)?;
            }
        }
        Ok(())
    }
}

impl ColumnPlan {
    fn apply(&self, table: &mut Table, name: &str, dialect: Dialect) -> Result<(), Error> {
        let refused = |what: String| {
            Error::Refused(format!(
                "the plan, table {}, column `{name}`: {what}",
                table.name
            ))
        };
        let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        let Some(at) = names.iter().position(|own| *own == name) else {
            let nearest = inorder_engine::nearest(name, names);
            return Err(refused(format!("the table has no such column: {nearest}")));
        };
        let column = &table.columns[at];
        if let Some(ty) = self
            .source_type
            .as_ref()
            .filter(|ty| **ty != column.declared)
        {
            return Err(refused(format!(
                "its type in the source is {}, not {ty}; write the plan again",
                column.declared
            )));
        }
        if self.leave_out {
            if table.key.iter().any(|key| key == name) {
                return Err(refused("it is part of the primary key".to_owned()));
            }
            leave_out(table, at);
            return Ok(());
        }
        let is_null = |action: Action| action == Action::Null;
        let actions = [self.zero_date, self.nul, self.nan, self.invalid];
        if column.is_not_null && actions.into_iter().any(is_null) {
            return Err(refused(
                "it refuses NULL: use \"leave-out\", which leaves out the row".to_owned(),
            ));
        }
        for (fault, action) in FAULTS.iter().zip(actions) {
            if action == Action::Strip && *fault != Fault::Nul {
                let name = fault.name();
                return Err(refused(format!("\"strip\" is for nul, not for {name}")));
            }
        }
        let column = &mut table.columns[at];
        let ty = self.r#type.as_ref().filter(|ty| **ty != copied(column));
        table.is_verbatim &= ty.is_none();
        let valid = ty.map(|ty| retype(column, ty, dialect));
        column.rules = Some(Arc::new(Rules::new(actions, valid)));
        Ok(())
    }
}

/// Leaves out a column, and the indexes and foreign keys that it is in.
fn leave_out(table: &mut Table, at: usize) {
    let name = table.columns.remove(at).name;
    table.is_verbatim = false;
    table
        .notes
        .push(format!("column `{name}`: left out, as the plan says"));
    let has = |columns: &[String]| columns.contains(&name);
    for index in table.indexes.extract_if(.., |index| has(&index.columns)) {
        let note = format!(
            "not copied: the index {}, whose column is left out",
            index.name
        );
        table.notes.push(note);
    }
    for key in table.foreign_keys.extract_if(.., |key| has(&key.columns)) {
        let note = format!(
            "not copied: the foreign key {}, whose column is left out",
            key.name
        );
        table.notes.push(note);
    }
}

/// Gives a column another type. Returns what tells whether a value is of that type.
fn retype(column: &mut Column, ty: &str, dialect: Dialect) -> fn(&[u8]) -> bool {
    column
        .decisions
        .push(format!("{ty}, as the plan says, not {}", copied(column)));
    let lower = ty.to_ascii_lowercase();
    let name = lower.split(['(', ' ']).next().unwrap_or_default();
    let is_zoned = lower.contains("with time zone");
    let (kind, valid): (Kind, fn(&[u8]) -> bool) = match name {
        "smallint" | "int2" => (Kind::Plain, is_integer::<i16>),
        "integer" | "int" | "int4" => (Kind::Plain, is_integer::<i32>),
        "bigint" | "int8" => (Kind::Plain, is_integer::<i64>),
        "numeric" | "decimal" => (Kind::Number, |value| Decimal::of(value).is_some()),
        "real" | "float4" => (Kind::Single, is_float),
        "double" | "float8" | "float" => (Kind::Double, is_float),
        "boolean" | "bool" => (Kind::Boolean, |value| {
            crate::value::is_true(value).is_some()
        }),
        "date" => (Kind::Date, |value| temporal::shape(value).is_some()),
        "timestamptz" => (Kind::Instant, |value| temporal::shape(value).is_some()),
        "timestamp" if is_zoned => (Kind::Instant, |value| temporal::shape(value).is_some()),
        "timestamp" | "datetime" => (Kind::Time, |value| temporal::shape(value).is_some()),
        "time" if !is_zoned => (Kind::Clock, |value| {
            temporal::clock_fraction(value).is_some()
        }),
        "uuid" => (Kind::Uuid, crate::value::is_uuid),
        "json" => (Kind::Text, |value| {
            serde_json::from_slice::<serde::de::IgnoredAny>(value).is_ok()
        }),
        "text" | "varchar" | "character" | "char" => {
            (Kind::Text, |value| std::str::from_utf8(value).is_ok())
        }
        "bytea" | "blob" => (Kind::Bytes, |_| true),
        _ => (Kind::Plain, |_| true),
    };
    if dialect == Dialect::Sqlite {
        column.sqlite = Some(SqliteType {
            declared: ty.to_owned(),
            storage: affinity(ty, kind),
        });
        column.kind = match column.kind {
            // Text keeps the digits that the source writes, and bytes are read as the source writes them.
            Kind::HexBytes => Kind::HexBytes,
            _ if kind == Kind::Plain && name != "text" => Kind::Number,
            _ => kind,
        };
        return valid;
    }
    column.postgres = ty.to_owned();
    if column.kind != Kind::HexBytes {
        column.kind = kind;
    }
    valid
}

/// What SQLite stores in a column of a declared type.
fn affinity(ty: &str, kind: Kind) -> Storage {
    let upper = ty.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| upper.contains(word));
    match kind {
        _ if has(&["INT"]) => Storage::Integer,
        _ if has(&["CHAR", "CLOB", "TEXT"]) => Storage::Text,
        _ if has(&["BLOB"]) => Storage::Blob,
        _ if has(&["REAL", "FLOA", "DOUB"]) => Storage::Real,
        Kind::Boolean => Storage::Integer,
        Kind::Number | Kind::Plain | Kind::Single | Kind::Double => Storage::Number,
        _ => Storage::Text,
    }
}

fn is_integer<T: std::str::FromStr>(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_ok_and(|text| text.parse::<T>().is_ok())
}

fn is_float(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_ok_and(|text| text.parse::<f64>().is_ok())
}
