//! PostgreSQL. Rows go by COPY.

use std::collections::BTreeMap;

use inorder_engine::postgres::{Exchange, escape};
use inorder_engine::remote::{Cancel, ServerUrl, TextRows};

use super::{Destination, SOURCE, STATE, content, list, next_value, record};
use crate::defaults;
use crate::error::Error;
use crate::incoming::Incoming;
use crate::model::{Column, Default_, Dialect, ForeignKey, Index, Table, with_ddl};
use crate::source::{Mark, quoted};
use crate::stop::Stop;
use crate::temporal::in_postgres;
use crate::translate::translate;
use crate::value::{Content, Kind, Target, hex};

/// The most bytes of a name. The server cuts longer ones off.
const NAME_MAX: usize = 63;

/// What refers to the tables `$1` and is not in them.
const DEPENDENTS: &str = "SELECT format('the foreign key %I of table %s to %s', conname, conrelid::regclass, confrelid::regclass) FROM pg_constraint
        WHERE contype = 'f' AND conparentid = 0 AND confrelid IN ($1) AND conrelid NOT IN ($1)
    UNION SELECT format('the view %s of table %s', ev_class::regclass, refobjid::regclass)
        FROM pg_depend JOIN pg_rewrite ON pg_rewrite.oid = objid AND classid = 'pg_rewrite'::regclass
        WHERE refclassid = 'pg_class'::regclass AND refobjid IN ($1) AND ev_class NOT IN ($1)
    ORDER BY 1";

pub struct Postgres {
    server: Exchange,
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Postgres {
    pub fn open(url: &ServerUrl) -> Result<Self, Error> {
        let mut server = Exchange::open(url)?;
        server.run(
            "SET timezone = 'UTC'; SET datestyle = 'ISO, MDY'; SET intervalstyle = 'postgres'; SET extra_float_digits = 1;
             SET bytea_output = 'hex'; SET client_min_messages = 'warning'; SET standard_conforming_strings = on;
             SET statement_timeout = 0; SET synchronize_seqscans = off",
        )?;
        Ok(Postgres { server })
    }

    /// Makes plain columns of generated ones whose expressions the server refuses. Returns notes about them.
    fn generate(&mut self, table: &mut Table) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        let is_any = table.columns.iter().any(is_generated);
        if !is_any || self.server.attempt(&create(table, true))?.is_none() {
            if is_any {
                self.server
                    .run(&format!("DROP TABLE {}", quoted(&table.name)))?;
            }
            return Ok(notes);
        }
        for at in 0..table.columns.len() {
            let Some((expression, _)) = table.columns[at].generated.take_if(|_| true) else {
                continue;
            };
            let name = &table.columns[at].name;
            let ddl = format!(
                "ALTER TABLE {} ALTER COLUMN {} SET EXPRESSION AS ({expression})",
                quoted(&table.name),
                quoted(name)
            );
            let note = format!(
                "column `{name}`: its values are copied, and the expression that generates them is not: {expression}"
            );
            notes.push(with_ddl(&note, &ddl));
        }
        Ok(notes)
    }

    /// Creates a table without rows. Returns notes about what the server refuses.
    fn create(&mut self, table: &Table) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        if self.server.attempt(&create(table, true))?.is_some() {
            self.server.run(&create(table, false))?;
            let all = table
                .columns
                .iter()
                .flat_map(|column| extras(table, column));
            for (column, what) in all {
                let (own, name) = (quoted(&table.name), quoted(&column.name));
                let change = match what.starts_with("DEFAULT") {
                    true => format!("SET {what}"),
                    false => format!("TYPE {} {what}", column.postgres),
                };
                let alter = format!("ALTER TABLE {own} ALTER COLUMN {name} {change}");
                if let Some(why_not) = self.server.attempt(&alter)? {
                    let name = &column.name;
                    let note = format!("column `{name}`: not copied: {what}: {why_not}");
                    notes.push(with_ddl(&note, &alter));
                }
            }
        }
        for sql in counters(table) {
            self.server.run(&sql)?;
        }
        Ok(notes)
    }

    /// Creates the indexes. Returns notes about those that the server refuses.
    fn index(&mut self, table: &Table, stop: &Stop) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        for index in &table.indexes {
            stop.look()?;
            let name = &index.name;
            if index.definition.is_some() {
                let unique = if index.is_unique { "unique " } else { "" };
                let told = format!("not copied: the {unique}index {name}");
                let refused = match of_definition(table, index) {
                    Some(sql) => self.server.attempt(&sql)?,
                    None => Some("the databases may understand it differently".to_owned()),
                };
                if let Some(why_not) = refused {
                    let ddl = index
                        .statement
                        .clone()
                        .or_else(|| of_definition(table, index));
                    notes.push(with_ddl(
                        &format!("{told}: {why_not}"),
                        &ddl.unwrap_or_default(),
                    ));
                }
                continue;
            }
            let Some(mut why_not) = self.server.attempt(&index_of(table, index, true))? else {
                continue;
            };
            if let Some(parts) = index.postgres.as_ref().filter(|_| !index.has_prefix) {
                match self.server.attempt(&index_of(table, index, false))? {
                    None => {
                        notes.push(format!(
                            "the index {name} has its columns only, not {parts}: {why_not}"
                        ));
                        continue;
                    }
                    Some(other) => why_not = other,
                }
            }
            let unique = if index.is_unique { "unique " } else { "" };
            let note = format!("not copied: the {unique}index {name}: {why_not}");
            notes.push(with_ddl(&note, &index_of(table, index, true)));
        }
        Ok(notes)
    }

    /// Creates the primary key, CHECK constraints and others. Returns notes about those that the server refuses.
    fn constrain(&mut self, table: &Table, stop: &Stop) -> Result<Vec<String>, Error> {
        let own = quoted(&table.name);
        let mut notes = Vec::new();
        let whole = table.key_definition.as_ref();
        let whole = whole.map(|definition| format!("ALTER TABLE {own} ADD {definition}"));
        let refused = match &whole {
            Some(sql) => self.server.attempt(sql)?,
            None => None,
        };
        if (whole.is_none() || refused.is_some())
            && let Some(sql) = primary_key(table)
        {
            self.server.run(&sql)?;
        }
        if let (Some(why_not), Some(definition)) = (refused, &table.key_definition) {
            notes.push(format!(
                "its primary key has its columns only, not {definition}: {why_not}"
            ));
        }
        for (name, definition) in &table.constraints {
            stop.look()?;
            let add = format!(
                "ALTER TABLE {own} ADD CONSTRAINT {} {definition}",
                quoted(&short(name))
            );
            if let Some(why_not) = self.server.attempt(&add)? {
                let note = format!("not copied: CONSTRAINT {name} {definition}: {why_not}");
                notes.push(with_ddl(&note, &add));
            }
        }
        for check in &table.checks {
            stop.look()?;
            let add = |condition: &str| {
                let name = quoted(&short(&check.name));
                let end = match (check.is_enforced, check.is_valid) {
                    (false, _) => " NOT ENFORCED",
                    (true, false) => " NOT VALID",
                    (true, true) => "",
                };
                format!("ALTER TABLE {own} ADD CONSTRAINT {name} CHECK ({condition}){end}")
            };
            let condition = &check.condition;
            let from = table.dialect.unwrap_or(Dialect::Postgres);
            let refused = match translate(condition, from, Dialect::Postgres, table) {
                _ if is_implied(table, condition) => None,
                Some(condition) => self.server.attempt(&add(&condition))?,
                None => Some("the databases may understand it differently".to_owned()),
            };
            if let Some(why_not) = refused {
                let note = format!("not copied: CHECK ({condition}): {why_not}");
                notes.push(with_ddl(&note, &add(condition)));
            }
        }
        Ok(notes)
    }

    /// Creates a table, its rows, keys, indexes and comments. Returns notes.
    fn fill(&mut self, table: &mut Table, rows: &mut Incoming<'_>) -> Result<Vec<String>, Error> {
        let mut notes = self.generate(table)?;
        notes.extend(self.create(table)?);
        let given = table.columns.iter().filter(|column| !is_generated(column));
        let given: Vec<String> = given.map(|column| column.name.clone()).collect();
        // A table without columns has no list.
        let names = match given.is_empty() {
            true => String::new(),
            false => format!(" ({})", list(&given)),
        };
        let copy = format!("COPY {}{names} FROM STDIN", quoted(&table.name));
        let mut read = Ok(());
        self.server.copy_in(&copy, &mut |out| match rows.next() {
            Ok(Some(rows)) => {
                encode(&rows, table, out);
                true
            }
            Ok(None) => false,
            Err(error) => {
                read = Err(error);
                false
            }
        })?;
        read?;
        rows.stop().look()?;
        notes.extend(self.constrain(table, rows.stop())?);
        notes.extend(self.index(table, rows.stop())?);
        for sql in comments(table) {
            self.server.run(&sql)?;
        }
        Ok(notes)
    }

    /// Creates a foreign key, for new rows only if rows have no parent. Returns a note if it is not as it was.
    fn refer(&mut self, table: &Table, key: &ForeignKey) -> Result<Option<String>, Error> {
        let add = foreign_key(table, key);
        let Some(why_not) = self.server.attempt(&add)? else {
            return Ok(None);
        };
        let key = format!("the foreign key {} to {}", key.name, key.parent);
        let is_for_new = self.server.attempt(&format!("{add} NOT VALID"))?.is_none();
        Ok(Some(match is_for_new {
            true => format!("{key} is NOT VALID, because of rows without a parent: {why_not}"),
            false => with_ddl(&format!("not copied: {key}: {why_not}"), &add),
        }))
    }

    fn read_back(&mut self, table: &Table, stop: &Stop) -> Result<Content, Error> {
        let as_read = |kind| match kind {
            Kind::Bytes => Kind::HexBytes,
            kind => kind,
        };
        content(table, Target::Postgres, stop, as_read, |sql, each| {
            Ok(self.server.stream(sql, each)?)
        })
    }

    /// Fails if foreign keys of other tables, or views, need one of these tables.
    fn refuse_dependents(&mut self, tables: &[String]) -> Result<(), Error> {
        let oid = |table: &String| format!("{}::regclass", literal(table));
        let oids: Vec<String> = tables.iter().map(oid).collect();
        let rows = self
            .server
            .rows(&DEPENDENTS.replace("$1", &oids.join(", ")))?;
        let names: Vec<String> = rows.into_iter().flatten().flatten().collect();
        match names.is_empty() {
            true => Ok(()),
            false => Err(Error::Refused(format!(
                "tables can't be dropped, because the destination has {}; drop these first, or copy to another schema",
                names.join(", ")
            ))),
        }
    }

    fn keep(&mut self, table: &str, record: &str) -> Result<(), Error> {
        let (name, record) = (literal(table), literal(record));
        let insert = format!("INSERT INTO {STATE} VALUES ({name}, {record})");
        self.server.run(&insert)?;
        Ok(self.server.run("COMMIT")?)
    }
}

/// The statement that creates a table, with the defaults and collations of its columns or without.
fn create(table: &Table, has_extras: bool) -> String {
    let definition = |column| definition(table, column, has_extras);
    let columns: Vec<String> = table.columns.iter().map(definition).collect();
    let columns = columns.join(",\n  ");
    format!("CREATE TABLE {} (\n  {columns}\n)", quoted(&table.name))
}

/// Whether the server counts the numbers of a column.
fn is_counted(column: &Column) -> bool {
    let next = column.next.as_ref();
    next.is_some_and(|next| next.parse::<i64>().is_ok())
}

/// Whether a counted column is an identity, which refuses NULL and has an integer type. Others have a sequence of their
/// own.
fn is_identity(column: &Column) -> bool {
    column.is_not_null && ["smallint", "integer", "bigint"].contains(&&*column.postgres)
}

/// Whether the server generates the values of a column.
fn is_generated(column: &Column) -> bool {
    let generated = column.generated.as_ref();
    generated.is_some_and(|(expression, _)| !expression.is_empty())
}

/// Whether the type of a column has no other values: `flag IN (0, 1)`.
fn is_implied(table: &Table, condition: &str) -> bool {
    let mut text: String = condition.to_lowercase();
    text.retain(|char| !char.is_whitespace() && !"\"`[]()".contains(char));
    let is_truth = |column: &&Column| column.kind == Kind::Boolean;
    let mut truths = table.columns.iter().filter(is_truth);
    truths.any(|column| {
        let name = column.name.to_lowercase();
        text == format!("{name}in0,1") || text == format!("{name}in1,0")
    })
}

/// The statement that creates an index with expressions or a condition; `None` if it may have another meaning.
fn of_definition(table: &Table, index: &Index) -> Option<String> {
    let definition = index.definition.as_ref()?;
    let from = table.dialect.unwrap_or(Dialect::Postgres);
    let parts = match from {
        Dialect::Postgres => definition.clone(),
        _ => {
            let (list, condition) = match definition.split_once(" WHERE ") {
                Some((list, condition)) => (list, Some(condition)),
                None => (&**definition, None),
            };
            let mut parts = translate(list, from, Dialect::Postgres, table)?;
            if let Some(condition) = condition {
                let condition = translate(condition, from, Dialect::Postgres, table)?;
                parts += &format!(" WHERE {condition}");
            }
            parts
        }
    };
    let unique = if index.is_unique { "UNIQUE " } else { "" };
    let (name, own) = (quoted(&short(&index.name)), quoted(&table.name));
    Some(format!("CREATE {unique}INDEX {name} ON {own} {parts}"))
}

fn definition(table: &Table, column: &Column, has_extras: bool) -> String {
    let name = quoted(&column.name);
    if is_counted(column) && !is_identity(column) {
        return format!("{name} bigserial");
    }
    let mut line = format!("{name} {}", column.postgres);
    if has_extras {
        for (_, what) in extras(table, column) {
            line += &format!(" {what}");
        }
    }
    if is_counted(column) {
        line += match column.is_always {
            true => " GENERATED ALWAYS AS IDENTITY",
            false => " GENERATED BY DEFAULT AS IDENTITY",
        };
        if !column.counting.is_empty() {
            line += &format!(" ({})", column.counting);
        }
    }
    if let Some((expression, is_virtual)) =
        column.generated.as_ref().filter(|_| is_generated(column))
    {
        let end = if *is_virtual { "VIRTUAL" } else { "STORED" };
        line += &format!(" GENERATED ALWAYS AS ({expression}) {end}");
    }
    if column.is_not_null {
        line += " NOT NULL";
    }
    line
}

/// What a server may refuse of a column.
fn extras<'c>(table: &Table, column: &'c Column) -> Vec<(&'c Column, String)> {
    let collation = column.collation.as_ref();
    let collation = collation.map(|name| format!("COLLATE {name}"));
    let default = column.default.as_ref().map(|default| match default {
        Default_::Number(number) => format!("DEFAULT {number}"),
        Default_::Text(text) => format!("DEFAULT {}", literal(text)),
        Default_::Bytes(bytes) => format!("DEFAULT '\\x{}'", hex(bytes)),
        Default_::Now => "DEFAULT CURRENT_TIMESTAMP".to_owned(),
        Default_::Postgres(expression) => format!("DEFAULT {expression}"),
        Default_::Expression(text) => {
            let translated = defaults::in_postgres(column, text, table);
            format!("DEFAULT {}", translated.unwrap_or_else(|| text.clone()))
        }
    });
    let extras = collation.into_iter().chain(default);
    extras.map(|what| (column, what)).collect()
}

/// Statements for the counted columns that are no identities: their types, and how they count.
fn counters(table: &Table) -> Vec<String> {
    let own = quoted(&table.name);
    let mut statements = Vec::new();
    let counted = |column: &&Column| is_counted(column) && !is_identity(column);
    for column in table.columns.iter().filter(counted) {
        let (name, ty) = (quoted(&column.name), &column.postgres);
        let mut alter = format!("ALTER TABLE {own} ALTER COLUMN {name} TYPE {ty} USING NULL::{ty}");
        if !column.is_not_null {
            alter += &format!(", ALTER COLUMN {name} DROP NOT NULL");
        }
        statements.push(alter);
        if !column.counting.is_empty() {
            let body = format!(
                "BEGIN EXECUTE 'ALTER SEQUENCE ' || {} || ' {}'; END",
                sequence(table, column),
                column.counting
            );
            statements.push(format!("DO {}", literal(&body)));
        }
    }
    statements
}

/// The name of the sequence of a column.
fn sequence(table: &Table, column: &Column) -> String {
    let (table, column) = (literal(&quoted(&table.name)), literal(&column.name));
    format!("pg_catalog.pg_get_serial_sequence({table}, {column})")
}

fn primary_key(table: &Table) -> Option<String> {
    let own = quoted(&table.name);
    let key = list(&table.key);
    (!table.key.is_empty()).then(|| format!("ALTER TABLE {own} ADD PRIMARY KEY ({key})"))
}

/// The statement that creates an index, as PostgreSQL writes it or with its columns only.
fn index_of(table: &Table, index: &Index, is_whole: bool) -> String {
    let own = quoted(&table.name);
    let unique = if index.is_unique { "UNIQUE " } else { "" };
    let name = quoted(&short(&index.name));
    let columns = || format!("({})", list(&index.columns));
    let parts = index.postgres.clone().filter(|_| is_whole);
    let parts = parts.unwrap_or_else(columns);
    format!("CREATE {unique}INDEX {name} ON {own} {parts}")
}

fn comments(table: &Table) -> Vec<String> {
    let own = quoted(&table.name);
    let of_table = table.comment.iter();
    let of_table = of_table.map(|text| format!("COMMENT ON TABLE {own} IS {}", literal(text)));
    let of_columns = table.columns.iter().filter_map(|column| {
        let (name, text) = (quoted(&column.name), literal(column.comment.as_ref()?));
        Some(format!("COMMENT ON COLUMN {own}.{name} IS {text}"))
    });
    of_table.chain(of_columns).collect()
}

/// A table whose generated columns of other databases are plain.
fn plain(mut table: Table) -> Table {
    if table
        .dialect
        .is_some_and(|dialect| dialect != Dialect::Postgres)
    {
        for column in &mut table.columns {
            column.generated = None;
        }
    }
    table
}

/// A table with the names that it and its columns have here.
fn named(table: &Table) -> Table {
    let mut table = table.clone();
    let of_keys = table
        .foreign_keys
        .iter_mut()
        .flat_map(|key| key.columns.iter_mut().chain(&mut key.parent_columns));
    let of_indexes = table
        .indexes
        .iter_mut()
        .flat_map(|index| &mut index.columns);
    let of_columns = table.columns.iter_mut().map(|column| &mut column.name);
    let columns = of_columns.chain(&mut table.key).chain(of_indexes);
    for name in columns.chain(of_keys) {
        *name = short(name);
    }
    for key in &mut table.foreign_keys {
        key.parent = short(&key.parent);
    }
    table.name = short(&table.name);
    table
}

/// A name, with a hash of it in place of its end where it is too long.
fn short(name: &str) -> String {
    if name.len() <= NAME_MAX {
        return name.to_owned();
    }
    let hash = twox_hash::XxHash3_64::oneshot(name.as_bytes());
    let mut end = NAME_MAX - 17;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}_{hash:016x}", &name[..end])
}

/// Columns in a list, the last one as a period.
fn periods(names: &[String], has_period: bool) -> String {
    match names.split_last() {
        Some((last, others)) if has_period => format!("{}, PERIOD {}", list(others), quoted(last)),
        _ => list(names),
    }
}

fn foreign_key(table: &Table, key: &ForeignKey) -> String {
    let actions = || format!("ON DELETE {} ON UPDATE {}", key.on_delete, key.on_update);
    format!(
        "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({}) {}",
        quoted(&table.name),
        quoted(&short(&key.name)),
        periods(&key.columns, key.has_period),
        quoted(&key.parent),
        periods(&key.parent_columns, key.has_period),
        key.postgres.clone().unwrap_or_else(actions)
    )
}

/// Appends rows as the text of COPY.
fn encode(mut rows: &[u8], table: &Table, out: &mut Vec<u8>) {
    while !rows.is_empty() {
        let mut is_next = false;
        for column in &table.columns {
            let value = next_value(&mut rows).expect("whole rows");
            if is_generated(column) {
                continue;
            }
            if std::mem::replace(&mut is_next, true) {
                out.push(b'\t');
            }
            match (value, column.kind) {
                (None, _) => out.extend_from_slice(b"\\N"),
                (Some(value), Kind::Bytes | Kind::HexBytes) => {
                    const DIGITS: &[u8; 16] = b"0123456789abcdef";
                    out.extend_from_slice(b"\\\\x");
                    for byte in value {
                        out.push(DIGITS[usize::from(byte >> 4)]);
                        out.push(DIGITS[usize::from(byte & 15)]);
                    }
                }
                (Some(value), Kind::Date | Kind::Time) => in_postgres(value, "", out),
                (Some(value), Kind::Instant) => in_postgres(value, "+00", out),
                (Some(value), _) => escape(value, out),
            }
        }
        out.push(b'\n');
    }
}

impl Destination for Postgres {
    fn target(&self) -> Target {
        Target::Postgres
    }

    fn cancel(&self) -> Option<Cancel> {
        Some(self.server.cancel())
    }

    /// A lock whose number nobody else has, which the source's session can see.
    fn mark(&mut self) -> Result<Mark, Error> {
        let rows = self.server.rows(
            "SELECT current_schema(), number, pg_advisory_lock(number)
             FROM (SELECT (random() * 9e15)::bigint AS number) AS one",
        )?;
        let value = |at: usize| rows[0][at].clone().unwrap_or_default();
        Ok(Mark::Query(format!(
            "SELECT {} = $1 AND EXISTS (SELECT FROM pg_catalog.pg_locks
                 JOIN pg_catalog.pg_database AS d ON d.oid = database
                 WHERE locktype = 'advisory' AND d.datname = pg_catalog.current_database()
                     AND (classid::bigint << 32 | objid::bigint) = {})",
            literal(&value(0)),
            value(1)
        )))
    }

    fn tables(&mut self) -> Result<Vec<String>, Error> {
        let rows = self.server.rows(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')",
        )?;
        Ok(rows
            .into_iter()
            .filter_map(|mut row| row.swap_remove(0))
            .collect())
    }

    fn state(&mut self) -> Result<BTreeMap<String, String>, Error> {
        if !self.tables()?.iter().any(|name| name == STATE) {
            return Ok(BTreeMap::new());
        }
        let rows = self
            .server
            .rows(&format!("SELECT name, content FROM {STATE}"))?;
        let pair = |row: Vec<Option<String>>| {
            let mut values = row.into_iter().map(Option::unwrap_or_default);
            (
                values.next().unwrap_or_default(),
                values.next().unwrap_or_default(),
            )
        };
        Ok(rows.into_iter().map(pair).collect())
    }

    fn begin(&mut self, source: &str, replaced: &[&str]) -> Result<(), Error> {
        let (name, source) = (literal(SOURCE), literal(source));
        let replaced = replaced.iter().map(|table| quoted(&short(table)));
        let replaced: Vec<String> = replaced.collect();
        // One statement drops tables that refer to each other.
        let drop = match replaced.is_empty() {
            true => String::new(),
            false => {
                self.refuse_dependents(&replaced)?;
                format!("DROP TABLE IF EXISTS {};", replaced.join(", "))
            }
        };
        Ok(self.server.run(&format!(
            "BEGIN; {drop} CREATE TABLE {STATE} (name text PRIMARY KEY, content text NOT NULL);
             INSERT INTO {STATE} VALUES ({name}, {source}); COMMIT"
        ))?)
    }

    fn forget(&mut self, table: &str) -> Result<(), Error> {
        let mut sql = format!("DROP TABLE IF EXISTS {};", quoted(&short(table)));
        if self.tables()?.iter().any(|name| name == STATE) {
            sql += &format!("DELETE FROM {STATE} WHERE name = {}", literal(table));
        }
        Ok(self.server.run(&format!("BEGIN; {sql}; COMMIT"))?)
    }

    fn answers(&mut self, sql: &str) -> Result<TextRows, Error> {
        Ok(self.server.rows(sql)?)
    }

    fn named(&self, table: &Table) -> Table {
        named(table)
    }

    fn statements(&self, table: &Table) -> Vec<String> {
        let table = &plain(named(table));
        let mut statements = vec![create(table, true)];
        statements.extend(counters(table));
        statements.extend(primary_key(table));
        let indexes = table.indexes.iter();
        statements.extend(indexes.filter_map(|index| match index.definition {
            Some(_) => of_definition(table, index),
            None => Some(index_of(table, index, true)),
        }));
        let foreign = table.foreign_keys.iter().map(|key| foreign_key(table, key));
        statements.extend(foreign);
        statements
    }

    fn left_out(&self, table: &Table) -> Vec<String> {
        let is_lost = |column: &&Column| column.next.is_some() && !is_counted(column);
        let lost = table.columns.iter().filter(is_lost);
        let note = |column: &Column| {
            let (name, next) = (&column.name, column.next.as_deref().unwrap_or_default());
            format!(
                "column `{name}`: not copied: its counter, because no sequence has the number {next}"
            )
        };
        let mut notes: Vec<String> = lost.map(note).collect();
        let is_other = table.dialect == Some(Dialect::MariaDb);
        for column in table.columns.iter().filter(|_| is_other) {
            if let Some((expression, _)) = &column.generated {
                let name = &column.name;
                let note = format!(
                    "column `{name}`: its values are copied, and the expression that generates them is not: {expression}"
                );
                let ddl = format!(
                    "-- a generated column needs a new one: {} GENERATED ALWAYS AS ({expression}) STORED",
                    quoted(name)
                );
                notes.push(with_ddl(&note, &ddl));
            }
        }
        let of_columns = table.columns.iter().map(|column| &column.name);
        for name in of_columns.filter(|name| name.len() > NAME_MAX) {
            let own = short(name);
            notes.push(format!("column `{name}`: its name in the copy is {own}"));
        }
        if table.name.len() > NAME_MAX {
            let own = short(&table.name);
            notes.push(format!("its name in the copy is {own}"));
        }
        notes
    }

    fn write(&mut self, table: &Table, rows: &mut Incoming<'_>) -> Result<Vec<String>, Error> {
        let own = &mut plain(named(table));
        self.server.run("BEGIN")?;
        let kept = self.fill(own, rows).and_then(|notes| {
            let content = rows.prove(&self.read_back(own, rows.stop())?)?;
            self.keep(&table.name, &record(&content, &notes))?;
            Ok(notes)
        });
        if kept.is_err() {
            // A lost connection rolls back by itself.
            _ = self.server.run("ROLLBACK");
        }
        kept
    }

    fn finish(&mut self, tables: &[Table], stop: &Stop) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        self.server.run("BEGIN")?;
        for table in tables {
            let told = |note| format!("table {}: {note}", table.name);
            let table = &named(table);
            for key in &table.foreign_keys {
                stop.look()?;
                notes.extend(self.refer(table, key)?.map(told));
            }
            for column in table.columns.iter().filter(|column| is_counted(column)) {
                let next = column.next.as_deref().unwrap_or_default();
                let sequence = sequence(table, column);
                let set = format!("SELECT pg_catalog.setval({sequence}, {next}, false)");
                if let Some(why_not) = self.server.attempt(&set)? {
                    // Then it has no further number, as in the source.
                    let end = format!(
                        "SELECT pg_catalog.setval(seqrelid, CASE WHEN {next} > seqmax THEN seqmax ELSE seqmin END)
                         FROM pg_catalog.pg_sequence WHERE seqrelid = {sequence}::pg_catalog.regclass"
                    );
                    self.server.run(&end)?;
                    let name = &column.name;
                    notes.push(told(format!(
                        "column `{name}`: its counter does not continue with {next}: {why_not}"
                    )));
                }
            }
        }
        self.server.run(&format!("DROP TABLE {STATE}"))?;
        self.server.run("COMMIT")?;
        for table in tables {
            self.server
                .run(&format!("ANALYZE {}", quoted(&short(&table.name))))?;
        }
        Ok(notes)
    }
}
