//! SQLite. A column has its declared type if all its values are of that type: SQLite stores any value.

mod ddl;
mod declared;
mod survey;

use self::survey::survey;
use inorder_engine::remote::{EachRow, TextRows};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags};

use self::declared::Want;
use super::{Mark, Source, quoted, select};
use crate::error::Error;
use crate::model::{
    Column, Default_, Dialect, ForeignKey, Index, Left, Schema, StoredIndex, Table, TableStorage,
    is_number,
};
use crate::sqlite::{Database, each_row, tagged};
use crate::value::{Kind, Target};

pub struct Sqlite {
    file: Database,
}

impl Sqlite {
    pub fn open(path: &str) -> Result<Self, Error> {
        let file = Database::open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // The first read takes the snapshot.
        file.run("BEGIN; SELECT count(*) FROM sqlite_schema")?;
        Ok(Sqlite { file })
    }

    /// Returns a table, and its columns that have no value.
    fn table(&self, name: &str, sql: &str) -> rusqlite::Result<(Table, Vec<String>)> {
        let mut empty = Vec::new();
        let mut table = Table {
            name: name.to_owned(),
            ..Table::default()
        };
        let mut key = self.columns(&mut table, sql, &mut empty)?;
        key.sort();
        table.key = key.into_iter().map(|(_, column)| column).collect();
        let layout = "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1";
        table.is_without_rowid = self.file.db.query_row(layout, [name], |row| row.get(0))?;
        self.counter(&mut table, sql)?;
        self.indexes(&mut table)?;
        self.foreign_keys(&mut table)?;
        let has_collations = has_word(sql, "COLLATE");
        if has_collations {
            let what = "not copied: the collations (COLLATE) of its columns";
            table.leave(what.to_owned(), sql);
        }
        for column in &mut table.columns {
            // Which columns have them is not known.
            column.is_case_insensitive = has_collations;
        }
        table.checks = ddl::checks(sql, name);
        table.statement = Some(sql.to_owned());
        let count = format!("SELECT count(*) FROM {}", quoted(name));
        table.rows_estimated = self.file.db.query_row(&count, [], |row| row.get(0))?;
        Ok((table, empty))
    }

    /// Reads the columns. Returns those of the primary key with their places.
    fn columns(
        &self,
        table: &mut Table,
        sql: &str,
        empty: &mut Vec<String>,
    ) -> rusqlite::Result<Vec<(i64, String)>> {
        let name = &table.name.clone();
        let mut key: Vec<(i64, String)> = Vec::new();
        let mut columns = self.file.db.prepare("SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1) WHERE hidden <> 1")?;
        let found = columns.query_map([name], |row| {
            let default: Option<String> = row.get(3)?;
            let place: i64 = row.get(4)?;
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                default,
                place,
                row.get(5)?,
            ))
        })?;
        let found: Vec<(String, String, bool, Option<String>, i64, i64)> =
            found.collect::<Result<_, _>>()?;
        let declared: Vec<(&String, &String)> = found
            .iter()
            .map(|(name, declared, ..)| (name, declared))
            .collect();
        let values = survey(&self.file.db, name, &declared)?;
        for (found, values) in found.into_iter().zip(values) {
            let (column, declared, is_not_null, default, place, hidden) = found;
            if place > 0 {
                key.push((place, column.clone()));
            }
            if values.is_empty() {
                empty.push(column.clone());
            }
            if hidden > 1 {
                table.leave(format!("column `{column}`: its values are copied, and the expression that generates them is not"), sql);
            }
            let mut column = Column {
                generated: (hidden > 1).then(|| (String::new(), hidden == 2)),
                read: quoted(&column),
                name: column,
                declared,
                is_not_null,
                ..Column::default()
            };
            values.decide(&mut column);
            if let Some(default) = default {
                column.default = stored(&default, &column);
                if column.default.is_none() && !default.eq_ignore_ascii_case("null") {
                    // A literal that is no value of the column would become another one.
                    match is_literal(&default) {
                        true => table.leave(
                            format!("column `{}`: not copied: DEFAULT {default}", column.name),
                            "",
                        ),
                        false => column.default = Some(Default_::Expression(default)),
                    }
                }
            }
            table.columns.push(column);
        }
        Ok(key)
    }

    /// Counts the rows without a key: SQLite allows NULL in a primary key that is not the rowid.
    fn keyless(&self, table: &Table) -> rusqlite::Result<u64> {
        if table.key.is_empty() {
            return Ok(0);
        }
        let is_null = |column: &String| format!("{} IS NULL", quoted(column));
        let nulls: Vec<String> = table.key.iter().map(is_null).collect();
        let count = format!(
            "SELECT count(*) FROM {} WHERE {}",
            quoted(&table.name),
            nulls.join(" OR ")
        );
        self.file.db.query_row(&count, [], |row| row.get(0))
    }

    /// The next number of an INTEGER PRIMARY KEY.
    fn counter(&self, table: &mut Table, sql: &str) -> rusqlite::Result<()> {
        let [key] = &table.key[..] else {
            return Ok(());
        };
        // A key that is the rowid has no index: INT, INTEGER PRIMARY KEY DESC and WITHOUT ROWID have one.
        let indexed = "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk')";
        let is_indexed: bool = self
            .file
            .db
            .query_row(indexed, [&table.name], |row| row.get(0))?;
        let column = table.columns.iter_mut().find(|column| column.name == *key);
        let Some(column) = column.filter(|_| !is_indexed) else {
            return Ok(());
        };
        let most = format!(
            "SELECT coalesce(max({}), 0) FROM {}",
            quoted(key),
            quoted(&table.name)
        );
        let mut most: i64 = self.file.db.query_row(&most, [], |row| row.get(0))?;
        if has_word(sql, "AUTOINCREMENT") {
            let used = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
            most = most.max(
                self.file
                    .db
                    .query_row(used, [&table.name], |row| row.get(0))?,
            );
        }
        column.next = Some(most.max(0).saturating_add(1).to_string());
        column.is_not_null = true;
        Ok(())
    }

    fn indexes(&self, table: &mut Table) -> rusqlite::Result<()> {
        let mut list = self.file.db.prepare(
            "SELECT i.name, \"unique\", partial, sql FROM pragma_index_list(?1) AS i
             LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = i.name WHERE origin <> 'pk' ORDER BY i.name",
        )?;
        let found = list.query_map([&table.name], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        let found: Vec<(String, bool, bool, Option<String>)> = found.collect::<Result<_, _>>()?;
        let mut parts = self.file.db.prepare(
            "SELECT name, iif(\"desc\", ' DESC', '') || iif(coll = 'BINARY', '', ' COLLATE ' || coll)
             FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno",
        )?;
        for (name, is_unique, is_partial, sql) in found {
            let columns = parts.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let columns: Vec<(Option<String>, String)> = columns.collect::<Result<_, _>>()?;
            let orders: String = columns.iter().map(|(_, order)| &**order).collect();
            let columns: Option<Vec<String>> = columns.into_iter().map(|(name, _)| name).collect();
            match columns.filter(|_| !is_partial) {
                Some(columns) => {
                    if !orders.is_empty() {
                        let note = format!("the index {name}: not copied:{orders}");
                        table.leave(note, sql.as_deref().unwrap_or_default());
                    }
                    table.indexes.push(Index {
                        name: name.trim_start_matches("sqlite_").to_owned(),
                        is_unique,
                        columns,
                        statement: sql,
                        ..Index::default()
                    });
                }
                None => table.indexes.push(Index {
                    name,
                    is_unique,
                    definition: sql.as_deref().and_then(ddl::parts),
                    statement: sql,
                    ..Index::default()
                }),
            }
        }
        Ok(())
    }

    fn foreign_keys(&self, table: &mut Table) -> rusqlite::Result<()> {
        let mut list = self.file.db.prepare(
            "SELECT id, \"table\", \"from\", \"to\", on_delete, on_update FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
        )?;
        let rows = list.query_map([&table.name], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
            ))
        })?;
        type Part = (i64, String, String, Option<String>, String, String);
        let rows: Vec<Part> = rows.collect::<Result<_, _>>()?;
        for parts in rows.chunk_by(|one, next| one.0 == next.0) {
            let (id, parent, _, _, on_delete, on_update) = &parts[0];
            let named: Option<Vec<String>> = parts.iter().map(|part| part.3.clone()).collect();
            let parent_columns = match named {
                Some(columns) => columns,
                None => {
                    let key = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
                    let mut key = self.file.db.prepare(key)?;
                    let key = key.query_map([parent], |row| row.get(0))?;
                    key.collect::<Result<_, _>>()?
                }
            };
            table.foreign_keys.push(ForeignKey {
                name: format!("{}_fk{id}", table.name),
                columns: parts.iter().map(|part| part.2.clone()).collect(),
                parent: parent.clone(),
                parent_columns,
                on_delete: on_delete.clone(),
                on_update: on_update.clone(),
                ..ForeignKey::default()
            });
        }
        Ok(())
    }
}

/// Gives the parents of foreign keys and their columns the names that they have. SQLite does not distinguish upper and
/// lower case in names.
fn name_parents(tables: &mut [Table]) {
    let names: Vec<(String, Vec<String>)> = tables
        .iter()
        .map(|table| {
            let columns = table.columns.iter().map(|column| column.name.clone());
            (table.name.clone(), columns.collect())
        })
        .collect();
    for key in tables.iter_mut().flat_map(|table| &mut table.foreign_keys) {
        let is_parent = |(name, _): &&(String, _)| name.eq_ignore_ascii_case(&key.parent);
        let Some((parent, columns)) = names.iter().find(is_parent) else {
            continue;
        };
        key.parent.clone_from(parent);
        for name in &mut key.parent_columns {
            if let Some(column) = columns
                .iter()
                .find(|column| column.eq_ignore_ascii_case(name))
            {
                name.clone_from(column);
            }
        }
    }
}

/// Whether a type is an integer that is narrower than another.
fn is_narrower(own: &str, other: &str) -> bool {
    let width = |ty: &str| {
        ["smallint", "integer", "bigint"]
            .iter()
            .position(|known| *known == ty)
    };
    width(own)
        .zip(width(other))
        .is_some_and(|(own, other)| own < other)
}

/// Gives columns without values the types of the columns that they refer to, and narrower integers the width of these.
/// `empty` has such columns per table.
fn adopt_types(tables: &mut [Table], empty: &[Vec<String>]) {
    // A parent may be such a child too.
    for _ in 0..tables.len() {
        let mut changes = Vec::new();
        for (at, table) in tables.iter().enumerate() {
            for key in &table.foreign_keys {
                let Some(parent) = tables.iter().find(|parent| parent.name == key.parent) else {
                    continue;
                };
                for (own, of_parent) in key.columns.iter().zip(&key.parent_columns) {
                    let find = |table: &Table, name: &String| {
                        table.columns.iter().position(|column| column.name == *name)
                    };
                    let (Some(own_at), Some(parent_at)) =
                        (find(table, own), find(parent, of_parent))
                    else {
                        continue;
                    };
                    let (child, adopted) = (&table.columns[own_at], &parent.columns[parent_at]);
                    let is_free = empty[at].contains(own) && child.postgres != adopted.postgres;
                    if is_free || is_narrower(&child.postgres, &adopted.postgres) {
                        changes.push((at, own_at, adopted.kind, adopted.postgres.clone()));
                    }
                }
            }
        }
        if changes.is_empty() {
            return;
        }
        for (table, column, kind, postgres) in changes {
            let column = &mut tables[table].columns[column];
            (column.kind, column.postgres) = (kind, postgres);
        }
    }
}

fn has_word(sql: &str, word: &str) -> bool {
    let is_end = |char: char| !char.is_alphanumeric() && char != '_';
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        // A name or text in quotes, and a comment, go to their end, or to that of the statement.
        let (skipped, end) = match first {
            '\'' | '"' | '`' => (1, &rest[..1]),
            '[' => (1, "]"),
            '-' if rest.starts_with("--") => (2, "\n"),
            '/' if rest.starts_with("/*") => (2, "*/"),
            _ => {
                let length = rest.find(is_end).unwrap_or(rest.len());
                if rest[..length].eq_ignore_ascii_case(word) {
                    return true;
                }
                rest = &rest[length.max(first.len_utf8())..];
                continue;
            }
        };
        let after = &rest[skipped..];
        let length = after.find(end).map_or(after.len(), |at| at + end.len());
        rest = &after[length..];
    }
    false
}

/// Whether a default is one literal.
fn is_literal(default: &str) -> bool {
    let is_text = |text: &str| {
        let inner = text
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''));
        inner.is_some_and(|inner| !inner.replace("''", "").contains('\''))
    };
    let is_hex = |text: &str| {
        let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"));
        digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    let is_word = |word: &&str| default.eq_ignore_ascii_case(word);
    is_number(default)
        || is_hex(default.trim_start_matches(['+', '-']))
        || is_text(default)
        || is_text(default.trim_start_matches(['x', 'X']))
        || ["true", "false"].iter().any(is_word)
}

/// The value that SQLite stores for a default; `None` if it is no literal, or no value of the copy's column.
fn stored(default: &str, column: &Column) -> Option<Default_> {
    if !is_literal(default) {
        return None;
    }
    let scratch = inorder_sqlite::open_in_memory().ok()?;
    let declared = quoted(&column.declared);
    let create = format!("CREATE TABLE t(c {declared} DEFAULT {default})");
    let insert = "INSERT INTO t DEFAULT VALUES";
    scratch.execute_batch(&format!("{create}; {insert}")).ok()?;
    let (value, text): (Value, Vec<u8>) = scratch
        .query_row(
            "SELECT c, CAST(CAST(c AS TEXT) AS BLOB) FROM t",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .ok()?;
    let is_of = |want: Want| want.has(ValueRef::from(&value));
    let candidates = declared::candidates(&column.declared);
    let own = candidates
        .iter()
        .find(|candidate| candidate.postgres == column.postgres);
    if own.is_some_and(|own| !is_of(own.want)) {
        return None;
    }
    match (column.kind, value) {
        (Kind::Bytes, Value::Blob(bytes)) => Some(Default_::Bytes(bytes)),
        (Kind::Bytes, _) => Some(Default_::Bytes(text)),
        (Kind::Text, Value::Integer(_) | Value::Real(_) | Value::Text(_)) => {
            String::from_utf8(text).ok().map(Default_::Text)
        }
        (Kind::Plain | Kind::Double | Kind::Number, Value::Integer(integer)) => {
            Some(Default_::Number(integer.to_string()))
        }
        (Kind::Double | Kind::Number, Value::Real(real)) => {
            Some(Default_::Number(format!("{real:?}")))
        }
        (Kind::Plain | Kind::Double | Kind::Number, _) => None,
        (kind, _) if own.is_some() => {
            let mut canonical = Vec::new();
            kind.canonical(&text, Target::Postgres, &mut canonical)
                .ok()?;
            String::from_utf8(canonical).ok().map(Default_::Text)
        }
        _ => None,
    }
}

impl Sqlite {
    fn stored_indexes(db: &Connection, table: &Table) -> rusqlite::Result<Vec<StoredIndex>> {
        let mut list = db.prepare(
            "SELECT name, origin = 'pk', \"unique\", partial FROM pragma_index_list(?1) ORDER BY name",
        )?;
        let mut parts =
            db.prepare("SELECT name FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno")?;
        let indexes = list.query_map([&table.name], |row| {
            let name: String = row.get(0)?;
            let columns = parts.query_map([&name], |row| row.get(0))?;
            let columns: Vec<Option<String>> = columns.collect::<Result<_, _>>()?;
            let special = match (row.get(3)?, columns.iter().any(Option::is_none)) {
                (true, _) => Some("partial"),
                (false, true) => Some("of an expression"),
                (false, false) => None,
            };
            Ok(StoredIndex {
                name: name.trim_start_matches("sqlite_").to_owned(),
                is_key: row.get(1)?,
                is_unique: row.get(2)?,
                columns: columns
                    .into_iter()
                    .flatten()
                    .map(|name| (name, None))
                    .collect(),
                special: special.map(str::to_owned),
                ..StoredIndex::default()
            })
        })?;
        indexes.collect()
    }
}

impl Source for Sqlite {
    fn storage(&mut self, table: &Table) -> Result<TableStorage, Error> {
        let page = |db: &Connection| db.pragma_query_value(None, "page_size", |row| row.get(0));
        Ok(TableStorage {
            page_bytes: Some(self.file.with(page)?),
            fill_percent: None,
            indexes: self.file.with(|db| Self::stored_indexes(db, table))?,
        })
    }

    fn name(&self) -> String {
        self.file.path.clone()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn has(&mut self, mark: &Mark) -> Result<bool, Error> {
        Ok(matches!(mark, Mark::File(path) if self.file.place() == *path))
    }

    fn schema(&mut self) -> Result<Schema, Error> {
        self.file.with(|db| {
            let mut schema = Schema::default();
            let mut list = db.prepare(
                "SELECT type, name, coalesce(sql, '') FROM sqlite_schema
                 WHERE type <> 'index' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
                     AND name NOT IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow') ORDER BY name",
            )?;
            let found = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let found: Vec<(String, String, String)> = found.collect::<Result<_, _>>()?;
            let mut empty = Vec::new();
            for (kind, name, sql) in found {
                let is_virtual = sql
                    .trim_start()
                    .to_ascii_uppercase()
                    .starts_with("CREATE VIRTUAL");
                match (&*kind, is_virtual) {
                    ("table", false) => {
                        let (mut table, of_table) = self.table(&name, &sql)?;
                        table.keyless_rows = self.keyless(&table)?;
                        schema.tables.push(table);
                        empty.push(of_table);
                    }
                    ("table", true) => schema.left.push(Left {
                        note: format!(
                            "not copied: virtual table {name} ({}) and its shadow tables",
                            ddl::module(&sql)
                        ),
                        ddl: sql,
                    }),
                    _ => schema.left.push(Left {
                        note: format!("not copied: {kind} {name}"),
                        ddl: sql,
                    }),
                }
            }
            name_parents(&mut schema.tables);
            adopt_types(&mut schema.tables, &empty);
            Ok(schema)
        })
    }

    fn answers(&mut self, sql: &str) -> Result<TextRows, Error> {
        self.file.answers(sql)
    }

    fn table(&self, table: &Table) -> String {
        quoted(&table.name)
    }

    fn rows(
        &mut self,
        table: &Table,
        rows_max: Option<u64>,
        each: EachRow<'_>,
    ) -> Result<(), Error> {
        let sql = select(table, &quoted(&table.name), quoted, rows_max);
        self.file
            .with(|db| each_row(db, &sql, &tagged(table), each))
    }
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn words_in_names_texts_and_comments_are_none() {
        for sql in [
            "CREATE TABLE t(a CHECK (a > 0))",
            "CREATE TABLE t(a, -- a note\n check(a > 0))",
            "CREATE TABLE t(a DEFAULT 'it''s',Check(a>0))",
            "CREATE TABLE [t](\"a\"\"b\" /**/CHECK(1))",
        ] {
            assert!(has_word(sql, "CHECK"), "{sql}");
        }
        for sql in [
            "",
            "CREATE TABLE t(\"check\", [check], `check`, a DEFAULT ' check ')",
            "CREATE TABLE t(a -- no check here\n, b /* check */)",
            "CREATE TABLE t(checked, a_check, übercheck)",
            "CREATE TABLE t(a) -- check",
            "CREATE TABLE t(a) /* check",
        ] {
            assert!(!has_word(sql, "CHECK"), "{sql}");
        }
    }
}
