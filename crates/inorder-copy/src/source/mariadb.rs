//! MariaDB and MySQL. Rows are read unbuffered.

use inorder_engine::remote::{EachRow, ReadOnly, ServerUrl, TextRows};

use super::{Mark, Source, select};
use crate::error::Error;
use crate::model::{
    Check, Column, Default_, Dialect, ForeignKey, Index, Schema, StoredIndex, Table, TableStorage,
    is_number,
};
use crate::value::{self, Kind};

/// The type of PostgreSQL for `bigint unsigned`.
const UNSIGNED: &str = "numeric(20)";

/// Bits of the largest number that a bit column is read as.
const BITS: u32 = 64;

pub struct MariaDb {
    name: String,
    session: ReadOnly,
}

const TABLES: &str =
    "SELECT table_name, table_type, engine, auto_increment, table_rows, table_comment,
        create_options LIKE '%partitioned%'
    FROM information_schema.tables WHERE table_schema = database() ORDER BY table_name";
const COLUMNS: &str = "SELECT column_name, column_type, data_type, is_nullable, column_default, upper(extra), column_comment,
        collation_name, generation_expression
    FROM information_schema.columns WHERE table_schema = database() AND table_name = ";
const INDEXES: &str = "SELECT index_name, non_unique, column_name, sub_part, index_type, collation
    FROM information_schema.statistics WHERE table_schema = database() AND table_name = ";
const FOREIGN_KEYS: &str = "SELECT k.constraint_name, k.column_name, k.referenced_table_name, k.referenced_column_name,
        r.delete_rule, r.update_rule, k.referenced_table_schema = database()
    FROM information_schema.key_column_usage AS k
    JOIN information_schema.referential_constraints AS r
        ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name AND r.table_name = k.table_name
    WHERE k.table_schema = database() AND k.referenced_table_name IS NOT NULL AND k.table_name = ";
const CHECKS: &str =
    "SELECT constraint_name, check_clause FROM information_schema.check_constraints
    WHERE constraint_schema = database() AND table_name = ";
const TRIGGERS: &str = "SELECT concat('trigger ', trigger_name) FROM information_schema.triggers
    WHERE trigger_schema = database() ORDER BY 1";
const ROUTINES: &str =
    "SELECT concat(lower(routine_type), ' ', routine_name) FROM information_schema.routines
    WHERE routine_schema = database() ORDER BY 1";
const EVENTS: &str = "SELECT concat('event ', event_name) FROM information_schema.events
    WHERE event_schema = database() ORDER BY 1";

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// A value of a catalog; empty for NULL.
fn text(row: &[Option<String>], at: usize) -> String {
    row.get(at).cloned().flatten().unwrap_or_default()
}

impl MariaDb {
    pub fn new(url: &ServerUrl, mut session: ReadOnly) -> Result<Self, Error> {
        // Points in time are read in UTC. The destination may be slower than the source for minutes.
        session.rows("SET SESSION time_zone = '+00:00', SESSION net_write_timeout = 3600")?;
        Ok(MariaDb {
            name: url.to_string(),
            session,
        })
    }

    fn about(&mut self, query: &str, table: &str, order: &str) -> Result<TextRows, Error> {
        let sql = format!("{query}{} ORDER BY {order}", literal(table));
        Ok(self.session.rows(&sql)?)
    }

    fn table(&mut self, about: &[Option<String>]) -> Result<Table, Error> {
        let name = text(about, 0);
        let mut table = Table {
            rows_estimated: text(about, 4).parse().unwrap_or_default(),
            comment: Some(text(about, 5)).filter(|comment| !comment.is_empty()),
            ..Table::default()
        };
        if text(about, 6) == "1" {
            table
                .notes
                .push("it is one table, without partitions".to_owned());
        }
        let engine = text(about, 2);
        if engine != "InnoDB" {
            table.notes.push(format!(
                "its engine {engine} has no transactions: its rows are not those of the snapshot if others write to it"
            ));
        }
        if text(about, 1) == "SYSTEM VERSIONED" {
            let note = "not copied: its history (SYSTEM VERSIONING)";
            table.notes.push(note.to_owned());
        }
        let statement = format!("SHOW CREATE TABLE {}", quoted(&name));
        let statement = text(&self.session.rows(&statement)?[0], 1);
        let next = about.get(3).cloned().flatten();
        for row in self.about(COLUMNS, &name, "ordinal_position")? {
            match column(&row, next.as_deref(), &mut table.notes) {
                Ok(column) => table.columns.push(column),
                Err(obstacle) => table.obstacles.push(obstacle),
            }
        }
        self.defaults(&name, &mut table);
        self.indexes(&name, &mut table)?;
        self.foreign_keys(&name, &mut table)?;
        for row in self
            .about(CHECKS, &name, "constraint_name")
            .unwrap_or_default()
        {
            table.check(&text(&row, 0), &text(&row, 1), &statement);
        }
        table.notes.extend(periods(&statement));
        table.name = name;
        Ok(table)
    }

    /// Reads the defaults that the catalog does not have. It has `?` in place of bytes that are no text, and of characters
    /// that have four bytes in UTF-8.
    fn defaults(&mut self, name: &str, table: &mut Table) {
        for column in &mut table.columns {
            let Some(Default_::Text(given)) = &column.default else {
                continue;
            };
            let is_bytes = column.kind == Kind::Bytes;
            if !is_bytes && !given.contains('?') {
                continue;
            }
            let own = quoted(&column.name);
            let (value, otherwise, lost) = if is_bytes {
                let value = format!("default({own})");
                (value, as_given(given), "its DEFAULT".to_owned())
            } else {
                let value = format!("convert(default({own}) USING utf8mb4)");
                let given = literal(given);
                let lost = format!("DEFAULT {given}, where ? may be another character");
                (value, None, lost)
            };
            let bytes = self.bytes_of_default(&value, name).or(otherwise);
            column.default = if is_bytes {
                bytes.map(Default_::Bytes)
            } else {
                let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                text.map(Default_::Text)
            };
            if column.default.is_none() {
                let note = format!("column `{}`: not copied: {lost}", column.name);
                table.notes.push(note);
            }
        }
    }

    /// The bytes of an expression of `DEFAULT(column)`.
    fn bytes_of_default(&mut self, value: &str, table: &str) -> Option<Vec<u8>> {
        let table = quoted(table);
        // DEFAULT() needs a table of the query. It is NULL without a row of it, if the column refuses NULL.
        let sources = [
            format!("(SELECT 1) AS one LEFT JOIN {table} ON false"),
            format!("{table} LIMIT 1"),
        ];
        let digits = sources.iter().find_map(|source| {
            let query = format!("SELECT hex({value}) FROM {source}");
            let rows = self.session.rows(&query).ok()?;
            rows.into_iter().flatten().next().flatten()
        })?;
        from_hex(&digits)
    }

    /// Makes `bigint` of the columns of `bigint unsigned` that the database counts, and of those that foreign keys
    /// connect with them, if their values fit.
    fn narrow(&mut self, tables: &mut [Table]) -> Result<(), Error> {
        let mut wanted: Vec<(String, String)> = Vec::new();
        for table in &*tables {
            let counted = table.columns.iter().filter(|column| column.next.is_some());
            wanted.extend(counted.map(|column| (table.name.clone(), column.name.clone())));
        }
        while let Some((of_table, name)) = wanted.pop() {
            let Some(table) = tables.iter_mut().find(|table| table.name == of_table) else {
                continue;
            };
            let own = table.columns.iter_mut().find(|column| column.name == name);
            let Some(column) = own.filter(|column| column.postgres == UNSIGNED) else {
                continue;
            };
            let (own, from) = (quoted(&name), quoted(&of_table));
            let fits = format!("SELECT coalesce(max({own}), 0) <= {} FROM {from}", i64::MAX);
            let is_next = |next: &String| next.parse::<i64>().is_ok();
            if text(&self.session.rows(&fits)?[0], 0) != "1"
                || !column.next.as_ref().is_none_or(is_next)
            {
                continue;
            }
            column.postgres = "bigint".to_owned();
            for key in &table.foreign_keys {
                let pairs = key.columns.iter().zip(&key.parent_columns);
                let refers = pairs.filter(|(own, _)| own.eq_ignore_ascii_case(&name));
                wanted.extend(refers.map(|(_, parent)| (key.parent.clone(), parent.clone())));
            }
            for child in &*tables {
                let keys = child
                    .foreign_keys
                    .iter()
                    .filter(|key| key.parent == of_table);
                for key in keys {
                    let pairs = key.columns.iter().zip(&key.parent_columns);
                    let refers = pairs.filter(|(_, parent)| parent.eq_ignore_ascii_case(&name));
                    wanted.extend(refers.map(|(own, _)| (child.name.clone(), own.clone())));
                }
            }
        }
        Ok(())
    }

    fn indexes(&mut self, name: &str, table: &mut Table) -> Result<(), Error> {
        let rows = self.about(INDEXES, name, "index_name, seq_in_index")?;
        for part in rows.chunk_by(|one, next| one[0] == next[0]) {
            let (index, kind) = (text(&part[0], 0), text(&part[0], 4));
            let columns: Vec<String> = part.iter().map(|row| text(row, 2)).collect();
            let has_prefix = part.iter().any(|row| row[3].is_some());
            let is_unique = text(&part[0], 1) == "0";
            if index == "PRIMARY" && !has_prefix {
                table.key = columns;
            } else if kind != "BTREE" && kind != "HASH" {
                table
                    .notes
                    .push(format!("not copied: the {kind} index {index}"));
            } else {
                let parts: Vec<String> = part.iter().map(|row| in_postgres(row, table)).collect();
                let list: Vec<String> = columns.iter().map(|name| super::quoted(name)).collect();
                table.indexes.push(Index {
                    name: index,
                    is_unique,
                    postgres: (parts != list).then(|| format!("({})", parts.join(", "))),
                    columns,
                    has_prefix,
                    ..Index::default()
                });
            }
        }
        Ok(())
    }

    fn foreign_keys(&mut self, name: &str, table: &mut Table) -> Result<(), Error> {
        let rows = self.about(FOREIGN_KEYS, name, "k.constraint_name, k.ordinal_position")?;
        for part in rows.chunk_by(|one, next| one[0] == next[0]) {
            let first = &part[0];
            if text(first, 6) != "1" {
                let key = text(first, 0);
                table.notes.push(format!(
                    "not copied: the foreign key {key} to another database"
                ));
                continue;
            }
            table.foreign_keys.push(ForeignKey {
                name: text(first, 0),
                columns: part.iter().map(|row| text(row, 1)).collect(),
                parent: text(first, 2),
                parent_columns: part.iter().map(|row| text(row, 3)).collect(),
                on_delete: text(first, 4),
                on_update: text(first, 5),
                ..ForeignKey::default()
            });
        }
        Ok(())
    }
}

impl Table {
    /// Adds a constraint, or a note about it. The one of a JSON column makes it one. The catalog has `?` in place of some
    /// characters, and the statement that creates the table has them.
    fn check(&mut self, name: &str, clause: &str, statement: &str) {
        let of_json =
            |column: &&mut Column| clause == format!("json_valid({})", quoted(&column.name));
        if let Some(column) = self.columns.iter_mut().find(of_json) {
            column.postgres = "json".to_owned();
            return;
        }
        let is_whole = !clause.contains('?') || statement.contains(clause);
        match is_whole {
            true => self.checks.push(Check {
                name: name.to_owned(),
                condition: clause.to_owned(),
                is_valid: true,
                is_enforced: true,
            }),
            false => self.notes.push(format!("not copied: CHECK ({clause})")),
        }
    }
}

impl Source for MariaDb {
    fn storage(&mut self, table: &Table) -> Result<TableStorage, Error> {
        let rows = self.about(INDEXES, &table.name, "index_name, seq_in_index")?;
        let index = |part: &[Vec<Option<String>>]| {
            let (name, kind) = (text(&part[0], 0), text(&part[0], 4));
            let column = |row: &Vec<Option<String>>| (text(row, 2), text(row, 3).parse().ok());
            let special = match part.iter().any(|row| text(row, 2).is_empty()) {
                true => Some("of an expression".to_owned()),
                false => (kind != "BTREE" && kind != "HASH").then_some(kind),
            };
            StoredIndex {
                is_key: name == "PRIMARY",
                is_unique: text(&part[0], 1) == "0",
                columns: part.iter().map(column).collect(),
                special,
                name,
                ..StoredIndex::default()
            }
        };
        let indexes = rows.chunk_by(|one, next| one[0] == next[0]);
        let page = self.session.rows("SELECT @@innodb_page_size")?;
        Ok(TableStorage {
            page_bytes: page.first().and_then(|row| text(row, 0).parse().ok()),
            fill_percent: None,
            indexes: indexes.map(index).collect(),
        })
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn dialect(&self) -> Dialect {
        Dialect::MariaDb
    }

    fn has(&mut self, _: &Mark) -> Result<bool, Error> {
        Ok(false)
    }

    fn schema(&mut self) -> Result<Schema, Error> {
        let mut schema = Schema::default();
        for row in self.session.rows(TABLES)? {
            let (name, kind) = (text(&row, 0), text(&row, 1));
            match &*kind {
                "BASE TABLE" | "SYSTEM VERSIONED" => schema.tables.push(self.table(&row)?),
                _ => {
                    let note = format!("not copied: {} {name}", kind.to_lowercase());
                    schema.notes.push(note);
                }
            }
        }
        self.narrow(&mut schema.tables)?;
        let mut others = self.session.rows(TRIGGERS)?;
        for (query, what) in [(ROUTINES, "functions and procedures"), (EVENTS, "events")] {
            match self.session.rows(query) {
                Ok(found) => others.extend(found),
                Err(error) => schema.notes.push(format!(
                    "not copied: {what}, which can't be listed: {error}"
                )),
            }
        }
        for row in others {
            schema.notes.push(format!("not copied: {}", text(&row, 0)));
        }
        Ok(schema)
    }

    fn answers(&mut self, sql: &str) -> Result<TextRows, Error> {
        Ok(self.session.rows(sql)?)
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
        Ok(self.session.stream(&sql, each)?)
    }
}

/// Returns a column, or why it can't be copied.
fn column(
    row: &[Option<String>],
    next: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Column, String> {
    let (name, declared, data_type) = (text(row, 0), text(row, 1), text(row, 2));
    let extra = text(row, 5);
    let own = quoted(&name);
    let (kind, postgres) = mapped(&declared, &data_type)
        .ok_or_else(|| format!("column `{name}`: the type {declared} has no equivalent"))?;
    let read = match &*data_type {
        _ if attributes(&declared).contains("zerofill") => format!("{own} + 0"),
        // The text of the year 0 is 0000.
        "year" => format!("{own} + 0"),
        // The text of a FLOAT has only six digits.
        "float" => format!("{own} + 0e0"),
        "bit" => {
            let bits = length(&declared).unwrap_or(1).min(BITS);
            format!("lpad(bin({own} + 0), {bits}, '0')")
        }
        _ => own,
    };
    if ["enum", "set"].contains(&&*data_type) {
        notes.push(format!(
            "column `{name}`: {declared} is text, and its values are not checked"
        ));
    }
    let is_generated = ["VIRTUAL", "STORED", "PERSISTENT"]
        .iter()
        .any(|word| extra.contains(word));
    if extra.contains("ON UPDATE") {
        notes.push(format!(
            "column `{name}`: not copied: ON UPDATE CURRENT_TIMESTAMP"
        ));
    }
    let is_counted = extra.contains("AUTO_INCREMENT");
    let given = row[4].as_deref().filter(|given| *given != "NULL");
    let is_called = given.is_some_and(|given| given.ends_with(')'));
    let default = given.and_then(|given| {
        let expression = || is_called.then(|| Default_::Expression(given.to_owned()));
        default(given, kind).or_else(expression)
    });
    if default.is_none()
        && let Some(given) = given
    {
        notes.push(format!("column `{name}`: not copied: DEFAULT {given}"));
    }
    Ok(Column {
        kind,
        read,
        postgres,
        is_not_null: text(row, 3) == "NO",
        default: default.filter(|_| !is_counted),
        next: is_counted.then(|| next.unwrap_or("1").to_owned()),
        counting: String::new(),
        is_always: false,
        collation: None,
        comment: Some(text(row, 6)).filter(|comment| !comment.is_empty()),
        is_case_insensitive: text(row, 7).ends_with("_ci"),
        generated: row[8]
            .clone()
            .filter(|_| is_generated)
            .map(|expression| (expression, extra.contains("VIRTUAL"))),
        name,
        declared,
        ..Column::default()
    })
}

/// Notes about what the statement that creates a table says of periods. No catalog has these.
fn periods(statement: &str) -> Vec<String> {
    let note = |line: &str| {
        let line = line.trim().trim_end_matches(',');
        if line.starts_with("PERIOD FOR `") {
            return Some(format!("not copied: {line}"));
        }
        let key = line.strip_suffix(" WITHOUT OVERLAPS)")?;
        let index = match key.strip_prefix("UNIQUE KEY `") {
            Some(key) => format!("unique index {}", key.split_once("` (")?.0),
            None => key
                .starts_with("PRIMARY KEY (")
                .then(|| "primary key".to_owned())?,
        };
        Some(format!(
            "the {index} has its columns only, without WITHOUT OVERLAPS"
        ))
    };
    statement.lines().filter_map(note).collect()
}

/// A column of an index as PostgreSQL writes it.
fn in_postgres(row: &[Option<String>], table: &Table) -> String {
    let name = text(row, 2);
    let own = super::quoted(&name);
    let column = table.columns.iter().find(|column| column.name == name);
    let mut part = match (&row[3], column.map(|column| column.kind)) {
        (Some(length), Some(Kind::Bytes)) => format!("substr({own}, 1, {length})"),
        (Some(length), _) => format!("left({own}, {length})"),
        (None, _) => own,
    };
    if text(row, 5) == "D" {
        part += " DESC";
    }
    part
}

/// Returns the bytes of a default that the catalog has without changes.
fn as_given(literal: &str) -> Option<Vec<u8>> {
    if let Some(digits) = literal.strip_prefix("0x") {
        return from_hex(digits);
    }
    let text = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    let is_whole = text.is_ascii() && !text.contains(['?', '\\']);
    is_whole.then(|| text.replace("''", "'").into_bytes())
}

/// Returns the bytes of hexadecimal digits.
fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    value::from_hex(digits.as_bytes(), &mut bytes)?;
    Some(bytes)
}

/// The words after the type and its parentheses, which may have any text.
fn attributes(declared: &str) -> &str {
    declared.rsplit(')').next().unwrap_or_default()
}

/// The number in parentheses of a type.
fn length(declared: &str) -> Option<u32> {
    let (_, rest) = declared.split_once('(')?;
    let end = rest.find([')', ','])?;
    rest[..end].parse().ok()
}

/// The kind of a type's values, and its equivalent in PostgreSQL.
fn mapped(declared: &str, data_type: &str) -> Option<(Kind, String)> {
    let is_unsigned = attributes(declared).contains("unsigned");
    let part = declared.find('(').map(|at| {
        let end = declared.find(')').unwrap_or(declared.len() - 1);
        &declared[at..=end]
    });
    let with = |name: &str| format!("{name}{}", part.unwrap_or_default());
    let plain = |name: &str| (Kind::Plain, name.to_owned());
    Some(match (data_type, is_unsigned) {
        ("tinyint" | "year", _) | ("smallint", false) => plain("smallint"),
        ("smallint", true) | ("mediumint", _) | ("int", false) => plain("integer"),
        ("int", true) | ("bigint", false) => plain("bigint"),
        ("bigint", true) => plain(UNSIGNED),
        ("decimal", _) => (Kind::Plain, with("numeric")),
        ("float", _) => (Kind::Single, "real".to_owned()),
        ("double", _) => (Kind::Double, "double precision".to_owned()),
        ("char" | "varchar", _) => (Kind::Text, with("varchar")),
        ("tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set", _) => {
            (Kind::Text, "text".to_owned())
        }
        ("binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob", _) => {
            (Kind::Bytes, "bytea".to_owned())
        }
        ("bit", _) => (Kind::Plain, with("bit")),
        ("json", _) => (Kind::Text, "json".to_owned()),
        ("date", _) => (Kind::Date, "date".to_owned()),
        ("datetime", _) => (Kind::Time, with("timestamp")),
        ("timestamp", _) => (Kind::Instant, with("timestamptz")),
        ("time", _) => (Kind::Clock, with("interval")),
        ("uuid", _) => plain("uuid"),
        ("inet4" | "inet6", _) => plain("text"),
        _ => return None,
    })
}

/// Returns a default that every database has. That of bytes is read later.
fn default(given: &str, kind: Kind) -> Option<Default_> {
    if kind == Kind::Bytes {
        let is_literal = given.starts_with("0x") || given.starts_with('\'');
        return is_literal.then(|| Default_::Text(given.to_owned()));
    }
    let lower = given.to_ascii_lowercase();
    if lower.starts_with("current_timestamp") {
        return Some(Default_::Now);
    }
    if is_number(given) {
        return Some(Default_::Number(given.to_owned()));
    }
    let text = given.strip_prefix('\'')?.strip_suffix('\'')?;
    (!text.contains('\\') && !text.starts_with("0000-00-00"))
        .then(|| Default_::Text(text.replace("''", "'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_equivalents() {
        for (declared, data_type, expected) in [
            ("int(10) unsigned", "int", Some("bigint")),
            ("bigint(20) unsigned", "bigint", Some("numeric(20)")),
            ("decimal(10,2)", "decimal", Some("numeric(10,2)")),
            ("decimal(10,2) unsigned", "decimal", Some("numeric(10,2)")),
            ("varchar(20)", "varchar", Some("varchar(20)")),
            ("datetime(6)", "datetime", Some("timestamp(6)")),
            ("datetime", "datetime", Some("timestamp")),
            ("bit(9)", "bit", Some("bit(9)")),
            ("enum('a)','b unsigned')", "enum", Some("text")),
            ("point", "point", None),
        ] {
            let found = mapped(declared, data_type).map(|(_, ty)| ty);
            assert_eq!(found.as_deref(), expected, "{declared}");
        }
        for (given, kind, expected) in [
            (
                "'it''s'",
                Kind::Text,
                Some(Default_::Text("it's".to_owned())),
            ),
            ("current_timestamp(6)", Kind::Time, Some(Default_::Now)),
            ("(uuid())", Kind::Text, None),
            ("'0000-00-00 00:00:00'", Kind::Time, None),
            ("unhex('ff')", Kind::Bytes, None),
        ] {
            assert_eq!(default(given, kind), expected, "{given}");
        }
        assert_eq!(as_given("0x00ff").as_deref(), Some(&[0, 255][..]));
        assert_eq!(as_given("'a''b'").as_deref(), Some(&b"a'b"[..]));
        assert_eq!(as_given("'?'"), None);
    }
}
