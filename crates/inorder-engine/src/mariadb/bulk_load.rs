//! Deferred index build for an empty table with secondary indexes. The rows go to a shadow table without the
//! secondary indexes. The indexes are built after the rows, and the shadow table then replaces the table. DDL
//! statements commit implicitly, so dropping the indexes of the table itself would expose a part of the load. With
//! the shadow table, no session sees a part of the load, and an interrupted load leaves none.

use super::{
    change::{self, Updater},
    session::quoted,
    strict::{self, StrictWriter},
    table::Table,
};
use crate::{
    Batch, Error, Load, LoadShape, NewTable, Start, TableChange, Writer,
    server::{Failure, session::Session},
};
use mysql::{Conn, Row, prelude::Queryable as _};
use std::ops::Range;

/// Prefix of the name of a shadow table. An existing one is from a killed load.
const BESIDE: &str = "inorder_load_";
/// Prefix of the name of the empty table until it is dropped.
const BEFORE: &str = "inorder_before_";
/// Maximum length of a table name in characters.
const NAME_MAX: usize = 64;
/// Maximum wait for another load into the same table, in seconds.
const LOCK_SECONDS_MAX: u8 = 10;

/// A table as its `CREATE TABLE` statement.
struct Definition(String);

impl Definition {
    fn read(conn: &mut Conn, table: &str) -> Result<Self, mysql::Error> {
        let show = format!("SHOW CREATE TABLE {}", quoted(table));
        let row: Option<Row> = conn.query_first(show)?;
        let text = row.and_then(|row| row.get::<String, _>(1));
        Ok(Definition(text.unwrap_or_default()))
    }

    /// Returns the lines of the statement, without the first one, which has the name, and without the AUTO_INCREMENT
    /// counter.
    fn lines(&self) -> impl Iterator<Item = String> {
        self.0.lines().skip(1).map(|line| {
            let words = line.trim().trim_end_matches(',').split(' ');
            let words: Vec<&str> = words
                .filter(|word| !word.starts_with("AUTO_INCREMENT="))
                .collect();
            words.join(" ")
        })
    }

    /// Returns the definitions of the secondary indexes.
    fn indexes(&self) -> Vec<String> {
        const KINDS: [&str; 4] = ["KEY `", "UNIQUE KEY `", "FULLTEXT KEY `", "SPATIAL KEY `"];
        let is_index = |line: &String| KINDS.iter().any(|kind| line.starts_with(kind));
        self.lines().filter(is_index).collect()
    }

    /// Returns the start of the column list of an index on the AUTO_INCREMENT column, which must have an index.
    fn counted(&self) -> Option<String> {
        let is_counted = |line: &String| line.starts_with('`') && line.contains(" AUTO_INCREMENT");
        let line = self.lines().find(is_counted)?;
        Some(format!("` ({}`", line.split_once("` ")?.0))
    }

    /// Returns the next AUTO_INCREMENT number, if it is not the first one. Earlier numbers may be in use elsewhere.
    fn counter(&self) -> Option<u64> {
        let options = self.0.lines().rfind(|line| line.starts_with(')'))?;
        let mut words = options.split(' ');
        let next = words.find_map(|word| word.strip_prefix("AUTO_INCREMENT="))?;
        next.parse().ok()
    }

    fn has_foreign_keys(&self) -> bool {
        self.lines().any(|line| line.contains("` FOREIGN KEY ("))
    }

    /// Returns whether the table is system-versioned. An empty table may then have old rows.
    fn has_history(&self) -> bool {
        self.0.contains("WITH SYSTEM VERSIONING")
    }
}

/// Returns the quoted name in an index definition.
fn index_name(definition: &str) -> &str {
    let from = definition.find('`').unwrap_or_default();
    let end = definition.find("` (").unwrap_or(definition.len() - 1);
    &definition[from..=end]
}

/// What a shadow table replaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replaced {
    /// A table, which must have no rows.
    Empty,
    /// A table with any rows, or none.
    Any,
    /// Nothing: the table must not exist.
    Nothing,
}

/// A shadow table.
struct Beside {
    table: String,
    name: String,
    before: String,
    indexes: Vec<String>,
    replaced: Replaced,
}

/// Returns whether a table has rows, or `None` if it is missing.
pub fn has_rows(conn: &mut Conn, table: &str) -> Result<Option<bool>, mysql::Error> {
    let there: Option<u8> = conn.exec_first(
        "SELECT 1 FROM information_schema.tables WHERE table_schema = database() AND table_name = ?",
        (table,),
    )?;
    match there {
        None => Ok(None),
        Some(_) => conn.query_first(format!("SELECT EXISTS (SELECT 1 FROM {})", quoted(table))),
    }
}

/// Returns whether other objects depend on the table and would not depend on its replacement.
fn is_held(conn: &mut Conn, table: &str) -> Result<bool, mysql::Error> {
    let held: Option<bool> = conn.exec_first(
        "SELECT EXISTS (SELECT 1 FROM information_schema.key_column_usage
                 WHERE referenced_table_schema = database() AND referenced_table_name = ?)
             OR EXISTS (SELECT 1 FROM information_schema.triggers
                 WHERE event_object_schema = database() AND event_object_table = ?)",
        (table, table),
    )?;
    Ok(held.unwrap_or(true))
}

impl Beside {
    fn new(table: &str, indexes: Vec<String>, replaced: Replaced) -> Self {
        Beside {
            name: format!("{BESIDE}{table}"),
            before: format!("{BEFORE}{table}"),
            table: table.to_owned(),
            indexes,
            replaced,
        }
    }

    /// Locks the names, and removes what a killed load left. Returns why it cannot.
    fn reserve(&self, conn: &mut Conn) -> Result<Option<String>, mysql::Error> {
        if self.before.chars().count() > NAME_MAX {
            let why = "the table's name leaves no room for the suffix of the temporary table";
            return Ok(Some(why.to_owned()));
        }
        // The connection holds the lock until it is closed.
        let lock: Option<Option<bool>> = conn.exec_first(
            "SELECT GET_LOCK(md5(concat(database(), '.', ?)), ?)",
            (&self.name, LOCK_SECONDS_MAX),
        )?;
        if lock != Some(Some(true)) {
            return Ok(Some("another load into it is running".to_owned()));
        }
        if has_rows(conn, &self.before)? == Some(true) {
            let why = format!(
                "{before} exists and has rows: the connection of a load ended when it had put the rows of {table} there. \
                 Keep the rows you need and drop {before}",
                before = self.before,
                table = self.table
            );
            return Ok(Some(why));
        }
        for left in [&self.name, &self.before] {
            conn.query_drop(format!("DROP TABLE IF EXISTS {}", quoted(left)))?;
        }
        Ok(None)
    }

    /// Creates the shadow table of a table that the load creates. Returns it with the statement for messages.
    fn create(
        conn: &mut Conn,
        table: &str,
        (new, replaced): (&NewTable, Replaced),
    ) -> Result<(Self, String), Failure> {
        let (statement, indexes) = change::create(conn, table, new)?;
        let beside = Beside::new(table, indexes, replaced);
        if let Some(why_not) = beside.reserve(conn)? {
            return Err(told(why_not));
        }
        let (own, name) =
            change::create(conn, &beside.name, new).map(|(own, _)| (own, &beside.name))?;
        conn.query_drop(own).map_err(|error| {
            let mut failure = Failure::from(error);
            failure.message = failure.message.replace(name.as_str(), table);
            failure
        })?;
        let adds = beside.indexes.iter();
        let adds = adds.map(|index| format!(";\nALTER TABLE {} ADD {index}", quoted(table)));
        let told = format!("{statement}{}", adds.collect::<String>());
        Ok((beside, told))
    }

    /// Creates a shadow table like the table, or returns why it cannot.
    fn make(
        conn: &mut Conn,
        table: &str,
        replaced: Replaced,
    ) -> Result<Result<Self, String>, mysql::Error> {
        let definition = Definition::read(conn, table)?;
        let counted = definition.counted();
        let mut indexes = definition.indexes();
        indexes.retain(|index| {
            !counted
                .as_ref()
                .is_some_and(|column| index.contains(column))
        });
        let beside = Beside::new(table, indexes, replaced);
        let why_not = |what: &str| Ok(Err(what.to_owned()));
        if beside.indexes.is_empty() && replaced == Replaced::Empty {
            return why_not("");
        }
        if replaced == Replaced::Empty && has_rows(conn, table)? != Some(false) {
            return why_not("the table has rows");
        }
        if definition.has_history() {
            return why_not("the table is system-versioned");
        }
        if definition.has_foreign_keys() || is_held(conn, table)? {
            return why_not(
                "the table has foreign keys, is referenced by foreign keys, or has triggers",
            );
        }
        if let Some(why) = beside.reserve(conn)? {
            return Ok(Err(why));
        }
        let (own, other) = (quoted(&beside.name), quoted(table));
        conn.query_drop(format!("CREATE TABLE {own} LIKE {other}"))?;
        let made = Definition::read(conn, &beside.name)?;
        if !made.lines().eq(definition.lines()) {
            beside.remove(conn)?;
            return why_not("the server can't create an identical table");
        }
        let drops = beside.indexes.iter();
        let drops = drops.map(|index| format!("DROP INDEX {}", index_name(index)));
        let counter = definition.counter();
        let counter = counter.map(|next| format!("AUTO_INCREMENT = {next}"));
        let changes = drops.chain(counter).collect::<Vec<_>>().join(", ");
        let changed = match changes.is_empty() {
            true => Ok(()),
            false => conn.query_drop(format!("ALTER TABLE {own} {changes}")),
        };
        if let Err(error) = changed.and_then(|()| beside.try_trigger(conn)) {
            beside.remove(conn)?;
            return Err(error);
        }
        Ok(Ok(beside))
    }

    /// Creates a trigger and drops it, because a user without the right to create triggers does not see the existing
    /// ones. An invisible trigger would be lost with the empty table.
    fn try_trigger(&self, conn: &mut Conn) -> Result<(), mysql::Error> {
        let name = quoted(&self.name);
        conn.query_drop(format!(
            "CREATE TRIGGER {name} BEFORE INSERT ON {name} FOR EACH ROW SET @inorder = 1"
        ))?;
        conn.query_drop(format!("DROP TRIGGER {name}"))
    }

    fn remove(&self, conn: &mut Conn) -> Result<(), mysql::Error> {
        conn.query_drop(format!("DROP TABLE IF EXISTS {}", quoted(&self.name)))
    }

    fn make_indexes(&self, conn: &mut Conn) -> Result<(), mysql::Error> {
        let adds = self.indexes.iter().map(|index| format!("ADD {index}"));
        let adds = adds.collect::<Vec<_>>().join(", ");
        match adds.is_empty() {
            true => Ok(()),
            false => conn.query_drop(format!("ALTER TABLE {} {adds}", quoted(&self.name))),
        }
    }

    /// Returns the keys of two rows with equal values in a unique index, as in the server's message.
    fn equal_rows(&self, conn: &mut Conn, message: &str) -> Result<Option<String>, mysql::Error> {
        let index = message.rsplit_once("for key '").and_then(|(_, name)| {
            let name = name.trim_end_matches('\'');
            // MySQL prefixes the name with the table.
            name.strip_prefix(&format!("{}.", self.name)).or(Some(name))
        });
        let unique = self.columns_of(conn, index.unwrap_or_default())?;
        let primary = self.columns_of(conn, "PRIMARY")?;
        if unique.is_empty() || primary.is_empty() {
            return Ok(None);
        }
        let list = unique.join(", ");
        let are_given: Vec<String> = unique
            .iter()
            .map(|of| format!("{of} IS NOT NULL"))
            .collect();
        let (own, are_given) = (quoted(&self.name), are_given.join(" AND "));
        let rows: Vec<String> = conn.query(format!(
            "SELECT concat_ws(', ', {}) FROM {own} WHERE ({list}) = (SELECT {list} FROM {own}
                 WHERE {are_given} GROUP BY {list} HAVING count(*) > 1 LIMIT 1) LIMIT 2",
            primary.join(", ")
        ))?;
        Ok((rows.len() == 2).then(|| rows.join(" and ")))
    }

    /// Returns the columns of one index of the table, as an expression.
    fn columns_of(&self, conn: &mut Conn, index: &str) -> Result<Vec<String>, mysql::Error> {
        let parts: Vec<(String, Option<u32>, bool)> = conn.exec(
            "SELECT s.column_name, sub_part, data_type LIKE '%binary' FROM information_schema.statistics AS s
             JOIN information_schema.columns AS c
                 ON c.table_schema = s.table_schema AND c.table_name = s.table_name
                 AND c.column_name = s.column_name
             WHERE s.table_schema = database() AND s.table_name = ? AND index_name = ? ORDER BY seq_in_index",
            (&self.table, index),
        )?;
        let part = |(name, characters, is_binary): (String, Option<u32>, bool)| {
            let name = quoted(&name);
            match (characters, is_binary) {
                (Some(characters), _) => format!("left({name}, {characters})"),
                (None, true) => format!("hex({name})"),
                (None, false) => name,
            }
        };
        Ok(parts.into_iter().map(part).collect())
    }

    /// Replaces the table atomically. Rows that another session wrote in the meantime are kept.
    fn put_in_place(&self, conn: &mut Conn) -> Result<(), Failure> {
        let names = [&self.table, &self.before, &self.name].map(|name| quoted(name));
        let [table, before, name] = names;
        if self.replaced == Replaced::Nothing {
            // It fails if the table exists by now.
            return Ok(conn.query_drop(format!("RENAME TABLE {name} TO {table}"))?);
        }
        if self.replaced == Replaced::Empty && has_rows(conn, &self.table)? == Some(true) {
            return Err(told(format!(
                "{table} received rows during the load; run the load again"
            )));
        }
        conn.query_drop(format!(
            "RENAME TABLE {table} TO {before}, {name} TO {table}"
        ))?;
        if self.replaced == Replaced::Empty && has_rows(conn, &self.before)? == Some(true) {
            return Err(told(format!(
                "the loaded rows are in {table}; rows that others wrote at the same moment are in {before}"
            )));
        }
        let Err(error) = conn.query_drop(format!("DROP TABLE {before}")) else {
            return Ok(());
        };
        // A foreign key that is invisible to this user references the table.
        conn.query_drop(format!(
            "RENAME TABLE {table} TO {name}, {before} TO {table}"
        ))?;
        self.remove(conn)?;
        Err(error.into())
    }
}

fn told(message: String) -> Failure {
    Failure {
        message,
        is_of_the_row: false,
        is_conflict: false,
    }
}

/// Writes rows to the shadow table.
struct Loader {
    writer: StrictWriter,
    beside: Beside,
    is_complete: bool,
}

/// A load to begin.
pub struct Wanted<'a> {
    pub table: &'a str,
    pub columns: &'a [&'a str],
    /// Whether a shadow table may take the rows of an existing table.
    pub has_later_keys: bool,
    /// Whether LOAD DATA may be used.
    pub goes_by_file: bool,
    pub change: Option<&'a TableChange>,
}

/// Where rows go.
enum Into {
    Table,
    Beside(Beside),
    /// A temporary table, and the statements that store its rows.
    Updates([String; 2]),
}

/// Begins a load.
///
/// # Errors
/// If the table's properties cannot be read, or the load could not be undone after a refused row.
pub fn begin(mut session: Session<Conn>, wanted: &Wanted<'_>) -> Result<Load, Error> {
    let table = wanted.table;
    let conn = &mut session.connection;
    let doing = |failure: Failure| failure.doing(format!("loading into {table}"));
    strict::prepare(conn).map_err(|error| doing(error.into()))?;
    let (found, into, told) = prepare(conn, wanted).map_err(doing)?;
    let is_emptied = matches!(into, Into::Table)
        && wanted
            .change
            .is_some_and(|change| change.start == Start::Emptied);
    let name = match &into {
        Into::Table => table,
        Into::Beside(beside) => &beside.name,
        Into::Updates(_) => change::UPDATES,
    };
    let mut writer =
        StrictWriter::open(session, &found, name, wanted.columns, wanted.goes_by_file)?;
    writer.begin()?;
    if is_emptied {
        writer
            .session()
            .run(&format!("DELETE FROM {}", quoted(table)))?;
    }
    let writer: Box<dyn Writer> = match into {
        Into::Table => Box::new(writer),
        Into::Beside(beside) => Box::new(Loader {
            writer,
            beside,
            is_complete: false,
        }),
        Into::Updates(merge) => Box::new(Updater {
            writer,
            merge,
            is_complete: false,
        }),
    };
    Ok(Load {
        writer,
        told,
        survives_refusals: true,
        is_one_statement: false,
    })
}

/// Changes the table, and decides where the rows go. Returns the table, and messages.
fn prepare(conn: &mut Conn, wanted: &Wanted<'_>) -> Result<(Table, Into, Vec<String>), Failure> {
    let table = wanted.table;
    let mut said = Vec::new();
    if let Some(change) = wanted.change {
        change::limit_locks(conn, change)?;
        change::set_time_zone(conn, change)?;
        if let Some(new) = replacement(change) {
            let (beside, _) = Beside::create(conn, table, new)?;
            let found = Table::find(conn, &beside.name)?.map(|found| found.named(table));
            let found = found.ok_or_else(|| told("there is no such table".to_owned()))?;
            return Ok((found, Into::Beside(beside), said));
        }
        for sql in change::additions(table, &change.added) {
            conn.query_drop(sql)?;
            said.push(
                "MariaDB commits ALTER TABLE at once: the columns stay if the load fails"
                    .to_owned(),
            );
        }
        said.dedup();
    }
    let found = Table::find(conn, table)?;
    let found = found.ok_or_else(|| told("there is no such table".to_owned()))?;
    if let Some(obstacle) = found.obstacle() {
        return Err(told(obstacle));
    }
    if wanted.change.is_some_and(|change| change.updates) {
        let merge = change::updates(conn, &found, wanted.columns)?;
        return Ok((found, Into::Updates(merge), said));
    }
    let replaced = match wanted.change {
        Some(change) if change.start == Start::Emptied => Replaced::Any,
        _ => Replaced::Empty,
    };
    let made = match wanted.has_later_keys {
        true => Beside::make(conn, table, replaced)
            .unwrap_or_else(|error| Err(Failure::from(error).message)),
        false => Err(String::new()),
    };
    let into = match made {
        Ok(beside) => {
            let names: Vec<&str> = beside
                .indexes
                .iter()
                .map(|index| index_name(index))
                .collect();
            if !names.is_empty() {
                said.push(format!("built after the load: {}", names.join(", ")));
            }
            Into::Beside(beside)
        }
        Err(why_not) => {
            if !why_not.is_empty() {
                said.push(format!("the indexes of {table} are kept: {why_not}"));
            }
            Into::Table
        }
    };
    Ok((found, into, said))
}

/// Returns the table that a change creates, and what it replaces.
fn replacement(change: &TableChange) -> Option<(&NewTable, Replaced)> {
    match &change.start {
        Start::Created(new) => Some((new, Replaced::Nothing)),
        Start::Replaced(new) => Some((new, Replaced::Any)),
        Start::Kept | Start::Emptied => None,
    }
}

/// Returns the properties that a table has after a change, from a shadow table that is dropped again.
pub fn shape_after(
    conn: &mut Conn,
    table: &str,
    change: &TableChange,
) -> Result<LoadShape, Failure> {
    strict::prepare(conn)?;
    change::limit_locks(conn, change)?;
    let is_moved = change::set_time_zone(conn, change)?;
    let (beside, created) = match replacement(change) {
        Some(new) => {
            let (beside, created) = Beside::create(conn, table, new)?;
            (beside, Some(created))
        }
        None if change.added.is_empty() => {
            let found = Table::find(conn, table)?;
            let found = found.map(|found| found.moved_to_utc(is_moved));
            return Ok(found.map(Table::shape).unwrap_or_default());
        }
        None => {
            let beside = Beside::new(table, Vec::new(), Replaced::Empty);
            if let Some(why_not) = beside.reserve(conn)? {
                return Err(told(why_not));
            }
            let (own, other) = (quoted(&beside.name), quoted(table));
            conn.query_drop(format!("CREATE TABLE {own} LIKE {other}"))?;
            (beside, None)
        }
    };
    let described = change::additions(&beside.name, &change.added)
        .into_iter()
        .try_for_each(|sql| conn.query_drop(sql))
        .and_then(|()| Table::find(conn, &beside.name));
    beside.remove(conn)?;
    let shape = described?.map(|found| found.named(table).moved_to_utc(is_moved).shape());
    Ok(LoadShape {
        created,
        ..shape.unwrap_or_default()
    })
}

impl Loader {
    fn control(
        &mut self,
        doing: &str,
        work: impl FnOnce(&Beside, &mut Conn) -> Result<(), Failure>,
    ) -> Result<(), Error> {
        work(&self.beside, &mut self.writer.session().connection)
            .map_err(|failure| failure.doing(format!("{doing} {}", self.beside.table)))
    }
}

impl Writer for Loader {
    fn begin(&mut self) -> Result<(), Error> {
        self.writer.begin()
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        self.writer.insert(batch, rows)
    }

    fn complete(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_complete, true) {
            return Ok(());
        }
        self.writer.commit()?;
        let Loader { writer, beside, .. } = self;
        let made = beside.make_indexes(&mut writer.session().connection);
        made.map_err(|error| {
            let mut error = writer.refusal(error, None);
            if let Error::Refused { message, .. } = &mut error
                && let Ok(Some(rows)) = beside.equal_rows(&mut writer.session().connection, message)
            {
                message.push_str(&format!(", in the rows with the primary keys {rows}"));
            }
            error
        })
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.complete()?;
        self.control("renaming the loaded table to", Beside::put_in_place)
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.writer.rollback()?;
        self.control("removing the temporary table of", |beside, conn| {
            Ok(beside.remove(conn)?)
        })
    }

    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        self.writer.checkpoint_if_due()
    }

    fn retries(&self) -> u64 {
        self.writer.retries()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_read_off_a_definition() {
        let definition = Definition(
            "CREATE TABLE `t` (\n  `id` uuid NOT NULL,\n  `KEY` int(11) DEFAULT NULL COMMENT 'KEY `x` (',\n  \
             `m` bigint(20) NOT NULL AUTO_INCREMENT,\n  PRIMARY KEY (`id`),\n  UNIQUE KEY `a b` (`KEY`,`id`) USING BTREE,\n  KEY `c``d` (`KEY` DESC),\n  \
             FULLTEXT KEY `f` (`note`)\n) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4"
                .to_owned(),
        );
        let indexes = definition.indexes();
        assert_eq!(
            indexes,
            [
                "UNIQUE KEY `a b` (`KEY`,`id`) USING BTREE",
                "KEY `c``d` (`KEY` DESC)",
                "FULLTEXT KEY `f` (`note`)"
            ]
        );
        let names: Vec<&str> = indexes.iter().map(|index| index_name(index)).collect();
        assert_eq!(names, ["`a b`", "`c``d`", "`f`"]);
        assert_eq!(definition.counted().as_deref(), Some("` (`m`"));
        assert_eq!(definition.counter(), Some(7));
        assert!(!definition.has_foreign_keys());
        assert_eq!(
            definition.lines().last().as_deref(),
            Some(") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4")
        );
    }
}
