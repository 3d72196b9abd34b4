//! SQLite.

use std::collections::BTreeMap;

use inorder_engine::remote::TextRows;
use inorder_load::{GivenRow, GivenRows, run_rows};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::{Destination, SOURCE, STATE, content, list, next_value};
use crate::defaults::in_sqlite;
use crate::error::Error;
use crate::incoming::Incoming;
use crate::model::{Column, Default_, Dialect, ForeignKey, Index, Storage, Table, with_ddl};
use crate::source::{Mark, quoted};
use crate::sqlite::{Database, each_row, failed, of_letter, tagged};
use crate::stop::Stop;
use crate::translate::translate;
use crate::value::{Content, Kind, Target};

pub struct Sqlite {
    file: Database,
}

/// The declared type of a column.
fn declared(column: &Column) -> &str {
    column.sqlite.as_ref().map_or("", |ty| &ty.declared)
}

/// What a column stores.
fn storage(column: &Column) -> Storage {
    column
        .sqlite
        .as_ref()
        .map_or(Storage::Text, |ty| ty.storage)
}

/// The column whose numbers SQLite counts: an INTEGER PRIMARY KEY with AUTOINCREMENT.
fn counter(table: &Table) -> Option<&Column> {
    let [key] = &table.key[..] else {
        return None;
    };
    let is_counted = |column: &&Column| {
        column.next.is_some() && declared(column).eq_ignore_ascii_case("INTEGER")
    };
    let mut columns = table.columns.iter().filter(is_counted);
    columns.find(|column| column.name == *key)
}

impl Sqlite {
    pub fn open(path: &str) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let file = Database::open(path, flags)?;
        file.run("PRAGMA foreign_keys = OFF")?;
        Ok(Sqlite { file })
    }
}

/// Whether SQLite generates the values of a column of a copy.
fn is_generated(table: &Table, column: &Column) -> bool {
    table.is_verbatim && column.generated.is_some()
}

/// The value that is stored in a column.
fn stored(value: Option<&[u8]>, storage: Storage) -> ValueRef<'_> {
    let Some(value) = value else {
        return ValueRef::Null;
    };
    let text = || std::str::from_utf8(value).unwrap_or_default();
    let integer = || text().parse().map(ValueRef::Integer);
    let real = || match text() {
        "Infinity" => ValueRef::Real(f64::INFINITY),
        "-Infinity" => ValueRef::Real(f64::NEG_INFINITY),
        number => number.parse().map_or(ValueRef::Text(value), ValueRef::Real),
    };
    match storage {
        Storage::Integer => integer().unwrap_or(ValueRef::Text(value)),
        Storage::Number => integer().unwrap_or_else(|_| real()),
        Storage::Real => real(),
        Storage::Blob => ValueRef::Blob(value),
        Storage::Text => ValueRef::Text(value),
        Storage::Any => of_letter(value),
    }
}

/// The content of a table in the transaction that wrote it.
fn read_back(path: &str, db: &Connection, table: &Table, stop: &Stop) -> Result<Content, Error> {
    let as_read = |kind| match kind {
        Kind::HexBytes => Kind::Bytes,
        kind => kind,
    };
    content(table, Target::Sqlite, stop, as_read, |sql, each| {
        each_row(db, sql, &tagged(table), each).map_err(|source| failed(path, source))
    })
}

/// The rows of a table for the loader.
struct Rows<'a, 's> {
    path: &'a str,
    table: &'a Table,
    /// What each column stores, and whether SQLite generates its values.
    storages: Vec<(Storage, bool)>,
    incoming: &'a mut Incoming<'s>,
    /// Rows in canonical form, and where the next one begins.
    block: Vec<u8>,
    next: usize,
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

impl GivenRows for Rows<'_, '_> {
    fn next(&mut self, row: &mut GivenRow<'_>) -> Result<bool, Cause> {
        if self.next == self.block.len() {
            let Some(block) = self.incoming.next()? else {
                return Ok(false);
            };
            self.block = block;
            self.next = 0;
        }
        let mut rest = &self.block[self.next..];
        for (storage, is_generated) in &self.storages {
            let value = next_value(&mut rest).expect("whole rows");
            if !is_generated {
                row.push(stored(value, *storage));
            }
        }
        self.next = self.block.len() - rest.len();
        Ok(true)
    }

    fn prove(&mut self, db: &Connection) -> Result<(), Cause> {
        let stored = read_back(self.path, db, self.table, self.incoming.stop())?;
        let record = self.incoming.prove(&stored)?;
        let insert = format!("INSERT INTO {STATE} VALUES (?1, ?2)");
        let kept = db.execute(&insert, [&self.table.name, &record]);
        kept.map_err(|source| failed(self.path, source))?;
        Ok(())
    }
}

/// The error of a copy for that of a load.
fn told(error: inorder_load::Error, table: &Table) -> Error {
    let source = match error {
        inorder_load::Error::Caller(cause) => match cause.downcast::<Error>() {
            Ok(own) => return *own,
            Err(other) => inorder_load::Error::Caller(other),
        },
        inorder_load::Error::Duplicate {
            first,
            second,
            table,
        } => {
            return Error::Refused(format!(
                "table {table}: {first} and {second} have the same key in SQLite, which compares bytes; change one of them in the source"
            ));
        }
        inorder_load::Error::Stopped => return Error::Stopped,
        other => other,
    };
    Error::Load {
        table: table.name.clone(),
        source: Box::new(source),
    }
}

/// What a copy in SQLite has beyond columns, and what it can't have.
#[derive(Default)]
struct Extras {
    /// The texts of CHECK constraints.
    checks: Vec<String>,
    /// The statements of indexes with expressions or conditions.
    indexes: Vec<String>,
    /// The defaults per column.
    defaults: Vec<Option<String>>,
    lost: Vec<String>,
}

/// A database in memory, in which the expressions of a table are tried.
struct Scratch<'a> {
    db: Option<Connection>,
    table: &'a Table,
    own: String,
    /// The columns without types.
    names: String,
}

/// Tries each expression of a table.
fn extras(table: &Table) -> Extras {
    let names = table.columns.iter().map(|column| column.name.clone());
    let names: Vec<String> = names.collect();
    let scratch = Scratch {
        db: inorder_sqlite::open_in_memory().ok(),
        table,
        own: quoted(&table.name),
        names: list(&names),
    };
    let mut extras = Extras::default();
    scratch.checks(&mut extras);
    scratch.indexes(&mut extras);
    for column in &table.columns {
        scratch.column(column, &mut extras);
    }
    for (name, definition) in &table.constraints {
        let what = format!("CONSTRAINT {} {definition}", quoted(name));
        let note = format!("not copied: CONSTRAINT {name} {definition}");
        extras.lose(&note, &format!("-- a constraint needs a new table: {what}"));
    }
    if let Some(definition) = &table.key_definition {
        let note = format!("its primary key has its columns only, not {definition}");
        extras.lose(&note, "");
    }
    extras
}

impl Extras {
    fn lose(&mut self, note: &str, ddl: &str) {
        self.lost.push(with_ddl(note, ddl));
    }
}

impl Scratch<'_> {
    /// Whether SQLite accepts a table with more than its columns, and what follows.
    fn accepts(&self, more: &str, after: &str) -> bool {
        let (own, names) = (&self.own, &self.names);
        let sql =
            format!("DROP TABLE IF EXISTS {own}; CREATE TABLE {own} ({names}{more}); {after}");
        let db = self.db.as_ref();
        db.is_some_and(|db| db.execute_batch(&sql).is_ok())
    }

    fn checks(&self, extras: &mut Extras) {
        let table = self.table;
        for check in &table.checks {
            let (name, condition) = (quoted(&check.name), &check.condition);
            let translated = table
                .dialect
                .and_then(|from| translate(condition, from, Dialect::Sqlite, table));
            let text = translated.map(|text| format!("CONSTRAINT {name} CHECK ({text})"));
            let is_kept = check.is_valid && check.is_enforced;
            match text.filter(|text| is_kept && self.accepts(&format!(", {text}"), "")) {
                Some(text) => extras.checks.push(text),
                None => {
                    let end = if check.is_enforced {
                        ""
                    } else {
                        " NOT ENFORCED"
                    };
                    extras.lose(
                        &format!("not copied: CHECK ({condition}){end}"),
                        &format!("-- a constraint needs a new table: CONSTRAINT {name} CHECK ({condition})"),
                    );
                }
            }
        }
    }

    fn indexes(&self, extras: &mut Extras) {
        for index in &self.table.indexes {
            let Some(definition) = &index.definition else {
                continue;
            };
            let unique = if index.is_unique { "UNIQUE " } else { "" };
            let (name, own) = (quoted(&index.name), &self.own);
            let statement = |parts: &str| format!("CREATE {unique}INDEX {name} ON {own} {parts}");
            let parts = of_index(definition, self.table);
            match parts.filter(|parts| self.accepts("", &statement(parts))) {
                Some(parts) => extras.indexes.push(statement(&parts)),
                None => extras.lose(
                    &format!("not copied: the index {} {definition}", index.name),
                    &statement(definition),
                ),
            }
        }
    }

    /// Tries the default of a column, and lists the expression that generates its values.
    fn column(&self, column: &Column, extras: &mut Extras) {
        let name = &column.name;
        let default = in_sqlite(column, self.table);
        let more = |default: &String| format!(", \"a default\" DEFAULT {default}");
        let default = default.filter(|default| self.accepts(&more(default), ""));
        if let (None, Some(Default_::Postgres(text) | Default_::Expression(text))) =
            (&default, &column.default)
        {
            extras.lose(
                &format!("column `{name}`: not copied: DEFAULT {text}"),
                &format!(
                    "-- a default needs a new table: column {} DEFAULT {text}",
                    quoted(name)
                ),
            );
        }
        extras.defaults.push(default);
        let generated = column.generated.as_ref();
        if let Some((expression, _)) = generated.filter(|(text, _)| !text.is_empty()) {
            extras.lose(
                &format!("column `{name}`: its values are copied, and the expression that generates them is not: {expression}"),
                &format!("-- a generated column needs a new table: column {} AS ({expression})", quoted(name)),
            );
        }
    }
}

/// What follows the table in the statement of an index.
fn of_index(definition: &str, table: &Table) -> Option<String> {
    let parts = definition
        .strip_prefix("USING btree ")
        .unwrap_or(definition);
    if parts.starts_with("USING ") || parts.contains(" INCLUDE ") {
        return None;
    }
    let (list, condition) = match parts.split_once(" WHERE ") {
        Some((list, condition)) => (list, Some(condition)),
        None => (parts, None),
    };
    let list = translate(list, table.dialect?, Dialect::Sqlite, table)?;
    Some(match condition {
        Some(condition) => {
            let condition = translate(condition, table.dialect?, Dialect::Sqlite, table)?;
            format!("{list} WHERE {condition}")
        }
        None => list,
    })
}

/// When a foreign key is checked.
fn deferral(key: &ForeignKey) -> &'static str {
    let options = key.postgres.as_deref().unwrap_or_default();
    match options.contains("DEFERRABLE INITIALLY DEFERRED") {
        true => " DEFERRABLE INITIALLY DEFERRED",
        false => "",
    }
}

/// What SQLite does not have of counters, indexes and foreign keys.
fn simplified(table: &Table) -> Vec<String> {
    let mut notes = Vec::new();
    let alias = counter(table).map(|column| &column.name);
    for column in &table.columns {
        let name = &column.name;
        if column.next.is_some() && alias != Some(name) {
            notes.push(format!(
                "column `{name}`: not copied: its counter, because SQLite counts integers that are the primary key only"
            ));
        } else if !column.counting.is_empty() {
            notes.push(format!(
                "column `{name}`: its counter continues by 1, not by {}",
                column.counting
            ));
        }
        if column.is_always {
            notes.push(format!("column `{name}`: not copied: GENERATED ALWAYS"));
        }
        if let Some(collation) = &column.collation {
            notes.push(format!("column `{name}`: not copied: COLLATE {collation}"));
        }
    }
    for index in &table.indexes {
        let name = &index.name;
        match (&index.postgres, index.has_prefix, index.is_unique) {
            (_, true, true) => notes.push(format!(
                "not copied: the unique index {name}, because it has the beginnings of values"
            )),
            (_, true, false) => notes.push(format!("the index {name} has whole values")),
            (Some(parts), false, _) => {
                notes.push(format!(
                    "the index {name} has its columns only, not {parts}"
                ));
            }
            (None, false, _) => {}
        }
    }
    for key in &table.foreign_keys {
        let options = key.postgres.as_deref().unwrap_or_default();
        let is_lost = |word: &&str| options.contains(word);
        if key.has_period {
            notes.push(format!(
                "the foreign key {} to {} has its columns only, without PERIOD",
                key.name, key.parent
            ));
        }
        if ["MATCH", "(", "NOT "].iter().any(is_lost) {
            notes.push(format!(
                "the foreign key {} to {} has its actions only, not {options}",
                key.name, key.parent
            ));
        }
    }
    notes
}

impl Destination for Sqlite {
    fn target(&self) -> Target {
        Target::Sqlite
    }

    fn answers(&mut self, sql: &str) -> Result<TextRows, Error> {
        self.file.answers(sql)
    }

    fn mark(&mut self) -> Result<Mark, Error> {
        Ok(Mark::File(self.file.place()))
    }

    fn tables(&mut self) -> Result<Vec<String>, Error> {
        let list = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')";
        self.file.with(|db| {
            let mut list = db.prepare(list)?;
            let names = list.query_map([], |row| row.get(0))?;
            names.collect()
        })
    }

    fn state(&mut self) -> Result<BTreeMap<String, String>, Error> {
        if !self.tables()?.iter().any(|name| name == STATE) {
            return Ok(BTreeMap::new());
        }
        self.file.with(|db| {
            let mut list = db.prepare(&format!("SELECT name, content FROM {STATE}"))?;
            let rows = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    fn begin(&mut self, source: &str, replaced: &[&str]) -> Result<(), Error> {
        self.file.run("BEGIN IMMEDIATE")?;
        for table in replaced {
            self.file
                .run(&format!("DROP TABLE IF EXISTS {}", quoted(table)))?;
        }
        self.file.run(&format!(
            "CREATE TABLE {STATE} (name TEXT PRIMARY KEY, content TEXT NOT NULL)"
        ))?;
        let insert = format!("INSERT INTO {STATE} VALUES (?1, ?2)");
        self.file.with(|db| db.execute(&insert, [SOURCE, source]))?;
        self.file.run("COMMIT")
    }

    fn forget(&mut self, table: &str) -> Result<(), Error> {
        let has_state = self.tables()?.iter().any(|name| name == STATE);
        self.file.run(&format!(
            "BEGIN IMMEDIATE; DROP TABLE IF EXISTS {}",
            quoted(table)
        ))?;
        if has_state {
            let delete = format!("DELETE FROM {STATE} WHERE name = ?1");
            self.file.with(|db| db.execute(&delete, [table]))?;
        }
        self.file.run("COMMIT")
    }

    fn statements(&self, table: &Table) -> Vec<String> {
        if table.is_verbatim {
            let indexes = table
                .indexes
                .iter()
                .filter_map(|index| index.statement.clone());
            return table.statement.iter().cloned().chain(indexes).collect();
        }
        let alias = counter(table).map(|column| &column.name);
        let mut lines: Vec<String> = Vec::new();
        let extras = extras(table);
        for (column, default) in table.columns.iter().zip(&extras.defaults) {
            let mut line = format!("{} {}", quoted(&column.name), declared(column));
            if alias == Some(&column.name) {
                line += " PRIMARY KEY AUTOINCREMENT";
            }
            if let Some(default) = default {
                line += &format!(" DEFAULT {default}");
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
                "FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {} ON UPDATE {}{}",
                list(&key.columns),
                quoted(&key.parent),
                list(&key.parent_columns),
                key.on_delete,
                key.on_update,
                deferral(key)
            ));
        }
        lines.extend(extras.checks);
        let end = match alias.is_some() || table.key.is_empty() {
            true => "",
            false => " WITHOUT ROWID",
        };
        let own = quoted(&table.name);
        let mut statements = vec![format!(
            "CREATE TABLE {own} (\n  {}\n){end}",
            lines.join(",\n  ")
        )];
        let is_whole =
            |index: &&Index| !(index.has_prefix && index.is_unique) && index.definition.is_none();
        for index in table.indexes.iter().filter(is_whole) {
            let unique = if index.is_unique { "UNIQUE " } else { "" };
            let name = quoted(&index.name);
            statements.push(format!(
                "CREATE {unique}INDEX {name} ON {own} ({})",
                list(&index.columns)
            ));
        }
        statements.extend(extras.indexes);
        statements
    }

    fn obstacle(&self, table: &Table) -> Option<&'static str> {
        let is_empty = table.columns.is_empty();
        is_empty.then_some("it has no columns, and each table of SQLite has one")
    }

    fn left_out(&self, table: &Table) -> Vec<String> {
        if table.is_verbatim {
            return Vec::new();
        }
        let mut notes = simplified(table);
        notes.extend(extras(table).lost);
        if let Some(comment) = &table.comment {
            notes.push(format!("not copied: the comment `{comment}`"));
        }
        notes
    }

    fn write(&mut self, table: &Table, rows: &mut Incoming<'_>) -> Result<Vec<String>, Error> {
        let path = &self.file.path;
        let job = inorder_load::Job::new(Vec::new(), path.clone(), table.name.clone());
        let create = self.statements(table).join(";\n");
        let mut rows = Rows {
            path,
            table,
            storages: table
                .columns
                .iter()
                .map(|column| (storage(column), is_generated(table, column)))
                .collect(),
            incoming: rows,
            block: Vec::new(),
            next: 0,
        };
        let progress = rows.incoming.stop().of_load();
        let loaded = run_rows(&job, &create, &mut rows, &progress);
        let summary = loaded.map_err(|error| told(error, table))?;
        let why = summary.why_not_direct.into_iter();
        let notes = why.map(|why| format!("rows were inserted by statements: {why}"));
        Ok(notes.collect())
    }

    fn finish(&mut self, tables: &[Table], _stop: &Stop) -> Result<Vec<String>, Error> {
        self.file.run("BEGIN IMMEDIATE")?;
        for table in tables {
            let is_counted =
                |statement: &String| statement.to_uppercase().contains("AUTOINCREMENT");
            if table.is_verbatim && !table.statement.as_ref().is_some_and(is_counted) {
                continue;
            }
            let next = counter(table).and_then(|column| column.next.as_ref());
            let Some(next) = next.and_then(|next| next.parse::<i64>().ok()) else {
                continue;
            };
            let insert = "INSERT INTO sqlite_sequence(name, seq) VALUES (?1, ?2)";
            self.file.with(|db| {
                db.execute("DELETE FROM sqlite_sequence WHERE name = ?1", [&table.name])?;
                db.execute(insert, (&table.name, next.saturating_sub(1)))
            })?;
        }
        let mut notes = Vec::new();
        let orphans = "SELECT parent, count(*) FROM pragma_foreign_key_check(?1) GROUP BY 1";
        for table in tables {
            let parents: Vec<(String, i64)> = self.file.with(|db| {
                let mut orphans = db.prepare(orphans)?;
                let rows =
                    orphans.query_map([&table.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
                rows.collect()
            })?;
            notes.extend(parents.into_iter().map(|(parent, rows)| {
                format!(
                    "table {}: {rows} rows have no parent in {parent}",
                    table.name
                )
            }));
        }
        self.file.run(&format!("DROP TABLE {STATE}"))?;
        self.file.run("COMMIT")?;
        Ok(notes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::thread;

    use super::*;
    use crate::value::Row;

    /// A column of integers.
    fn column(name: &str, next: Option<&str>) -> Column {
        let mut column = Column {
            name: name.to_owned(),
            kind: Kind::Plain,
            postgres: "bigint".to_owned(),
            next: next.map(str::to_owned),
            ..Column::default()
        };
        column.set_sqlite();
        column
    }

    fn table() -> Table {
        Table {
            name: "t".to_owned(),
            columns: vec![column("n", None)],
            ..Table::default()
        }
    }

    /// Writes rows with these values, as a source that then ends with this result.
    fn write(
        destination: &mut Sqlite,
        values: &[&str],
        end: Result<(), Error>,
    ) -> Result<(), Error> {
        let table = table();
        let (sender, receiver) = sync_channel(1);
        thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let (mut content, mut row) = (Content::default(), Row::default());
                for value in values {
                    row.begin();
                    let value = Some(value.as_bytes());
                    row.push(Kind::Plain, value, Target::Sqlite)
                        .expect("a value");
                    content.add(&row);
                    _ = sender.send(row.framed().to_vec());
                }
                end.map(|()| content)
            });
            let stop = Stop::default();
            let mut incoming = Incoming::new(&table, &stop, receiver, reader);
            let written = destination.write(&table, &mut incoming);
            incoming.end(written).map(|_| ())
        })
    }

    #[test]
    fn a_table_is_kept_only_if_its_rows_are_those_of_the_source() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("to.db").display().to_string();
        let mut destination = Sqlite::open(&path).expect("a database");
        destination.begin("source", &[]).expect("begun");
        let has_table = |destination: &mut Sqlite| {
            let tables = destination.tables().expect("tables");
            let state = destination.state().expect("a state");
            let is_recorded = state.contains_key("t");
            assert_eq!(tables.iter().any(|name| name == "t"), is_recorded);
            is_recorded
        };
        // SQLite makes the integer 7 of it, which is another text.
        let error = write(&mut destination, &["5", "07"], Ok(())).expect_err("another text");
        let Error::Differs {
            read, stored, what, ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!((*read, *stored, what.as_str()), (2, 2, "`n`"));
        assert!(!has_table(&mut destination));
        let stopped = write(&mut destination, &["5"], Err(Error::Stopped)).expect_err("stopped");
        assert!(matches!(stopped, Error::Stopped));
        assert!(!has_table(&mut destination));
        write(&mut destination, &["5", "7"], Ok(())).expect("a copy");
        assert!(has_table(&mut destination));
        // What fails in SQLite is told with the name of the table.
        let error = write(&mut destination, &["5"], Ok(())).expect_err("it exists");
        assert!(error.to_string().starts_with("table t: "), "{error}");
    }

    #[test]
    fn a_counter_continues_that_of_the_key_and_of_no_other_column() {
        let mut destination = Sqlite::open(":memory:").expect("a database");
        destination.begin("source", &[]).expect("begun");
        let table = Table {
            columns: vec![column("other", Some("5")), column("id", Some("100"))],
            key: vec!["id".to_owned()],
            ..table()
        };
        for sql in destination.statements(&table) {
            destination.file.run(&sql).expect("created");
        }
        destination
            .finish(&[table], &Stop::default())
            .expect("finished");
        let last = "SELECT seq FROM sqlite_sequence WHERE name = 't'";
        let last = destination
            .file
            .with(|db| db.query_row(last, [], |row| row.get::<_, i64>(0)));
        assert_eq!(last.expect("a number"), 99);
    }
}
