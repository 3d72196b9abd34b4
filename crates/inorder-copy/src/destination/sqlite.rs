//! SQLite.

use std::collections::BTreeMap;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};

use super::{Destination, NextRows, SOURCE, STATE, content, list, next_row};
use crate::error::Error;
use crate::model::{Column, Default_, Table};
use crate::source::{self, Mark, quoted};
use crate::value::{Content, Kind, Target};

pub struct Sqlite {
    path: String,
    db: Connection,
}

/// The declared type of a column.
fn declared(column: &Column) -> &'static str {
    match (column.kind, &*column.postgres) {
        (_, "smallint" | "integer" | "bigint") | (Kind::Boolean, _) => "INTEGER",
        (Kind::Single | Kind::Double, _) => "REAL",
        (Kind::Bytes | Kind::HexBytes, _) => "BLOB",
        _ => "TEXT",
    }
}

impl Sqlite {
    pub fn open(path: &str) -> Result<Self, Error> {
        let failed = |source| Error::Sqlite {
            path: path.to_owned(),
            source,
        };
        let db = Connection::open(path).map_err(failed)?;
        db.execute_batch("PRAGMA foreign_keys = OFF")
            .map_err(failed)?;
        Ok(Sqlite {
            path: path.to_owned(),
            db,
        })
    }

    fn failed(&self, source: rusqlite::Error) -> Error {
        Error::Sqlite {
            path: self.path.clone(),
            source,
        }
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.db
            .execute_batch(sql)
            .map_err(|error| self.failed(error))
    }

    fn insert(&self, table: &Table, rows: NextRows<'_>) -> rusqlite::Result<()> {
        let places = vec!["?"; table.columns.len()].join(",");
        let insert = format!("INSERT INTO {} VALUES ({places})", quoted(&table.name));
        let mut insert = self.db.prepare(&insert)?;
        let types: Vec<&str> = table.columns.iter().map(declared).collect();
        while let Some(rows) = rows() {
            let (mut rows, mut values) = (&*rows, Vec::new());
            while next_row(&mut rows, types.len(), &mut values) {
                for (at, (value, ty)) in values.iter().zip(&types).enumerate() {
                    let bound = bound(*value, ty);
                    insert.raw_bind_parameter(at + 1, &bound)?;
                }
                insert.raw_execute()?;
            }
        }
        Ok(())
    }
}

/// A value to bind.
enum Bound<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

fn bound<'a>(value: Option<&'a [u8]>, ty: &str) -> Bound<'a> {
    let Some(value) = value else {
        return Bound::Null;
    };
    let text = || std::str::from_utf8(value).unwrap_or_default();
    match ty {
        "INTEGER" => text().parse().map_or(Bound::Text(value), Bound::Integer),
        "REAL" => match text() {
            "Infinity" => Bound::Real(f64::INFINITY),
            "-Infinity" => Bound::Real(f64::NEG_INFINITY),
            number => number.parse().map_or(Bound::Text(value), Bound::Real),
        },
        "BLOB" => Bound::Blob(value),
        _ => Bound::Text(value),
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Bound::Null => ValueRef::Null,
            Bound::Integer(integer) => ValueRef::Integer(*integer),
            Bound::Real(real) => ValueRef::Real(*real),
            Bound::Text(text) => ValueRef::Text(text),
            Bound::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}

impl Destination for Sqlite {
    fn target(&self) -> Target {
        Target::Sqlite
    }

    fn mark(&mut self) -> Result<Mark, Error> {
        let path = std::fs::canonicalize(&self.path);
        Ok(Mark::File(
            path.unwrap_or_else(|_| self.path.clone().into()),
        ))
    }

    fn tables(&mut self) -> Result<Vec<String>, Error> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut list = self
                .db
                .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")?;
            let names = list.query_map([], |row| row.get(0))?;
            names.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    fn state(&mut self) -> Result<BTreeMap<String, String>, Error> {
        if !self.tables()?.iter().any(|name| name == STATE) {
            return Ok(BTreeMap::new());
        }
        let read = || -> rusqlite::Result<BTreeMap<String, String>> {
            let mut list = self
                .db
                .prepare(&format!("SELECT name, content FROM {STATE}"))?;
            let rows = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    fn begin(&mut self, source: &str) -> Result<(), Error> {
        self.run(&format!(
            "BEGIN IMMEDIATE; CREATE TABLE {STATE} (name TEXT PRIMARY KEY, content TEXT NOT NULL)"
        ))?;
        let insert = format!("INSERT INTO {STATE} VALUES (?1, ?2)");
        let inserted = self.db.execute(&insert, [SOURCE, source]);
        inserted.map_err(|error| self.failed(error))?;
        self.run("COMMIT")
    }

    fn forget(&mut self, table: &str) -> Result<(), Error> {
        let has_state = self.tables()?.iter().any(|name| name == STATE);
        self.run(&format!(
            "BEGIN IMMEDIATE; DROP TABLE IF EXISTS {}",
            quoted(table)
        ))?;
        if has_state {
            let forgotten = self
                .db
                .execute(&format!("DELETE FROM {STATE} WHERE name = ?1"), [table]);
            forgotten.map_err(|error| self.failed(error))?;
        }
        self.run("COMMIT")
    }

    fn statements(&self, table: &Table) -> Vec<String> {
        let is_counted = |name: &str| {
            let mut columns = table.columns.iter();
            columns.any(|column| {
                column.name == name && column.next.is_some() && declared(column) == "INTEGER"
            })
        };
        let alias = match &table.key[..] {
            [only] if is_counted(only) => Some(only),
            _ => None,
        };
        let mut lines: Vec<String> = Vec::new();
        for column in &table.columns {
            let mut line = format!("{} {}", quoted(&column.name), declared(column));
            if alias == Some(&column.name) {
                line += " PRIMARY KEY AUTOINCREMENT";
            }
            match &column.default {
                Some(Default_::Number(number)) => line += &format!(" DEFAULT {number}"),
                Some(Default_::Text(text)) => {
                    line += &format!(" DEFAULT '{}'", text.replace('\'', "''"))
                }
                Some(Default_::Now) => line += " DEFAULT CURRENT_TIMESTAMP",
                Some(Default_::Postgres(_)) | None => {}
            }
            if column.is_not_null {
                line += " NOT NULL";
            }
            lines.push(line);
        }
        if alias.is_none() && !table.key.is_empty() {
            lines.push(format!("PRIMARY KEY ({})", list(&table.key)));
        }
        for key in &table.foreign_keys {
            lines.push(format!(
                "FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {} ON UPDATE {}",
                list(&key.columns),
                quoted(&key.parent),
                list(&key.parent_columns),
                key.on_delete,
                key.on_update
            ));
        }
        let end = match alias.is_some() || table.key.is_empty() {
            true => "",
            false => " WITHOUT ROWID",
        };
        let own = quoted(&table.name);
        let mut statements = vec![format!(
            "CREATE TABLE {own} (\n  {}\n){end}",
            lines.join(",\n  ")
        )];
        for index in &table.indexes {
            let unique = if index.is_unique { "UNIQUE " } else { "" };
            let name = quoted(&format!("{}_{}", table.name, index.name));
            statements.push(format!(
                "CREATE {unique}INDEX {name} ON {own} ({})",
                list(&index.columns)
            ));
        }
        statements
    }

    fn write(&mut self, table: &Table, rows: NextRows<'_>) -> Result<Vec<String>, Error> {
        let statements = self.statements(table);
        let (create, indexes) = statements.split_first().expect("the table");
        self.run("BEGIN IMMEDIATE")?;
        self.run(create)?;
        self.insert(table, rows)
            .map_err(|error| self.failed(error))?;
        for sql in indexes {
            self.run(sql)?;
        }
        let mut notes: Vec<String> = Vec::new();
        for check in &table.checks {
            notes.push(format!("not copied: CHECK ({})", check.condition));
        }
        for column in &table.columns {
            if let Some(Default_::Postgres(expression)) = &column.default {
                notes.push(format!(
                    "column `{}`: not copied: DEFAULT {expression}",
                    column.name
                ));
            }
        }
        if let Some(comment) = &table.comment {
            notes.push(format!("not copied: the comment `{comment}`"));
        }
        Ok(notes)
    }

    fn read_back(&mut self, table: &Table) -> Result<Content, Error> {
        let as_read = |kind| match kind {
            Kind::HexBytes => Kind::Bytes,
            kind => kind,
        };
        content(table, Target::Sqlite, as_read, |sql, each| {
            source::each_row(&self.db, sql, each).map_err(|error| self.failed(error))
        })
    }

    fn keep(&mut self, table: &str, content: &str) -> Result<(), Error> {
        let insert = format!("INSERT INTO {STATE} VALUES (?1, ?2)");
        let kept = self.db.execute(&insert, [table, content]);
        kept.map_err(|error| self.failed(error))?;
        self.run("COMMIT")
    }

    fn discard(&mut self) {
        // A transaction that failed may have ended.
        _ = self.db.execute_batch("ROLLBACK");
    }

    fn finish(&mut self, tables: &[Table]) -> Result<Vec<String>, Error> {
        self.run("BEGIN IMMEDIATE")?;
        for table in tables {
            let counted = table.columns.iter().find_map(|column| column.next.as_ref());
            let Some(next) = counted.and_then(|next| next.parse::<i64>().ok()) else {
                continue;
            };
            let set = |sql: &str| {
                let last = next.saturating_sub(1);
                self.db.execute(sql, rusqlite::params![table.name, last])
            };
            let has_counter = self.statements(table)[0].contains("AUTOINCREMENT");
            if has_counter {
                let set = set("DELETE FROM sqlite_sequence WHERE name = ?1 AND ?2 IS NOT NULL")
                    .and_then(|_| set("INSERT INTO sqlite_sequence(name, seq) VALUES (?1, ?2)"));
                set.map_err(|error| self.failed(error))?;
            }
        }
        let orphans = self.db.query_row(
            "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1",
            [],
            |row| row.get::<_, String>(0),
        );
        if let Ok(table) = orphans {
            self.discard();
            return Err(Error::Refused(format!(
                "table {table}: a row has no parent; copy the parent table too, or leave this one out"
            )));
        }
        self.run(&format!("DROP TABLE {STATE}"))?;
        self.run("COMMIT")?;
        Ok(Vec::new())
    }
}
