//! The text of a migration: the steps of <https://www.sqlite.org/lang_altertable.html#otheralter>.

use std::fmt::Write;

use rusqlite::config::DbConfig;

use super::values;
use crate::apply::{Draft, Object, Schema, statistics};
use crate::ddl::{self, Catalog, StoredColumn, literal, quoted, same};
use crate::{Error, IdForm};

/// Where a script leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forth,
    Back,
}

/// A script between two schemas.
pub(super) struct Script<'a> {
    pub(super) name: &'a str,
    pub(super) from: &'a Schema,
    pub(super) to: &'a Schema,
    pub(super) draft: &'a Draft,
    pub(super) direction: Direction,
    /// The page size to set.
    pub(super) page_bytes: Option<u32>,
    pub(super) is_wal: bool,
    /// Whether foreign keys can be checked: SQLite refuses where one leads to columns that are no key.
    pub(super) has_sound_keys: bool,
    /// The functions of this project that the shell needs.
    pub(super) functions: &'a [String],
}

/// The command of the shell that stops it at an error, a line of its own.
pub(super) const BAIL: &str = "\n.bail on\n";

/// The commands that let a shell take text in double quotes, after that.
pub(super) const TEXT_IN_QUOTES: &str = ".dbconfig dqs_ddl on\n.dbconfig dqs_dml on\n";

/// Whether the shell takes a line for the end of a statement.
fn is_terminator(line: &str) -> bool {
    line == "/" || line.eq_ignore_ascii_case("go")
}

/// A statement that a semicolon can follow: a comment at its end may reach to the end of the line.
fn ended(sql: &str) -> String {
    let tokens = ddl::tokens(sql);
    let has_comment = tokens
        .last()
        .is_some_and(|last| last.end() < sql.trim_end().len());
    match has_comment {
        true => format!("{sql}\n"),
        false => sql.trim_end().to_owned(),
    }
}

/// SQLite's own tables, which come and go.
fn is_own(object: &Object) -> bool {
    object.name.to_ascii_lowercase().starts_with("sqlite_")
}

impl Script<'_> {
    /// The whole text.
    pub(super) fn text(&self) -> Result<String, Error> {
        if let Some((change, why)) = self.obstacle() {
            return Err(Error::NotByScript { change, why });
        }
        let mut out = self.beginning()?;
        out += &self.schema_guard();
        let rebuilt: Vec<&Object> = self.rebuilt().collect();
        let is_rebuilt = |object: &Object| rebuilt.iter().any(|table| object.is_on(&table.name));
        if !rebuilt.is_empty() {
            out += if self.has_sound_keys { KEPT } else { "" };
            out += &self.kept_statistics();
        }
        for index in &self.from.objects {
            let stays = self.to.objects.iter().any(|other| is_equal(index, other));
            if is_made(index) && !stays && !is_rebuilt(index) {
                _ = writeln!(out, "DROP INDEX main.{};", quoted(&index.name));
            }
        }
        for table in &rebuilt {
            out += &self.rebuild(table)?;
        }
        for object in &self.to.objects {
            let was = self
                .from
                .objects
                .iter()
                .any(|other| is_equal(object, other));
            let is_lost = is_rebuilt(object) || (object.kind == "index" && !was);
            let is_dependent = is_made(object) || object.kind == "trigger";
            if let Some(sql) = object.sql.as_deref().filter(|_| is_lost && is_dependent) {
                _ = writeln!(out, "{};", ended(sql));
            }
        }
        if !rebuilt.is_empty() {
            out += &self.statistics();
            if self.has_sound_keys {
                out += &violation_guard();
            }
        }
        out += "COMMIT;\n";
        out += &self.end();
        Ok(out)
    }

    /// A change that no script can make, and the reason.
    fn obstacle(&self) -> Option<(String, String)> {
        if let Some(bytes) = self.page_bytes {
            let why = match (self.counted_anew(), self.without_its_code()) {
                (Some(table), _) => Some(format!(
                    "it needs VACUUM, which would give the rows of {table} other rowids"
                )),
                (None, Some(table)) => Some(format!(
                    "it needs VACUUM, and {table} needs a collation or function of the application"
                )),
                (None, None) => None,
            };
            if let Some(why) = why {
                return Some((format!("set the page size to {bytes} by a script"), why));
            }
        }
        let tables: Vec<&Object> = self.rebuilt().collect();
        let is_written = |object: &&Object| {
            let was = self.from.objects.iter().any(|own| is_equal(object, own));
            tables.iter().any(|table| object.is_on(&table.name)) || (object.kind == "index" && !was)
        };
        let has_terminator = |object: &&Object| {
            let sql = object.sql.as_deref().unwrap_or_default();
            sql.lines().map(str::trim).any(is_terminator)
        };
        let mut written = self.to.objects.iter().filter(is_written);
        let object = written.find(has_terminator)?;
        Some((
            format!("make the {} {} by a script", object.kind, object.name),
            "a line of its definition is only `go` or `/`, which ends a statement in the sqlite3 shell"
                .to_owned(),
        ))
    }

    /// Whether a table or index of the schema takes text in double quotes. Shells from 3.41 on don't by default; VACUUM
    /// makes all tables.
    fn has_text_in_quotes(&self) -> rusqlite::Result<bool> {
        let made = |is_allowed| {
            let memory = inorder_sqlite::open_in_memory()?;
            memory.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, is_allowed)?;
            memory.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, is_allowed)?;
            let is_wanted = |object: &Object| {
                matches!(&*object.kind, "table" | "index") && !object.is_virtual()
            };
            self.to.make(&memory, is_wanted)
        };
        let (with, without) = (made(true)?, made(false)?);
        let is_made = |object| with.get(object).is_some_and(Option::is_none);
        Ok(without
            .iter()
            .any(|(object, error)| error.is_some() && is_made(object)))
    }

    fn beginning(&self) -> Result<String, Error> {
        let title = match self.direction {
            Direction::Forth => "Migration",
            Direction::Back => "Undo of the migration",
        };
        let mut out = format!(
            "-- {title} of {}, for the sqlite3 shell: sqlite3 -bail FILE < SCRIPT\n",
            self.name.replace(['\n', '\r'], " ")
        );
        if !self.draft.conversions.is_empty() {
            out += "-- It needs SQLite 3.41 or later, for unhex().\n";
        }
        if !self.functions.is_empty() {
            _ = writeln!(
                out,
                "-- It needs the SQL functions of inorder: sqlite3 -cmd '.load ./libinorder' -bail FILE < SCRIPT"
            );
        }
        for note in self.false_reports() {
            _ = writeln!(out, "-- {}", note.replace(['\n', '\r'], " "));
        }
        out += BAIL.trim_start();
        if self.has_text_in_quotes()? {
            out += TEXT_IN_QUOTES;
        }
        out += "PRAGMA foreign_keys = OFF;\nPRAGMA legacy_alter_table = ON;\nBEGIN IMMEDIATE;\n";
        out += &self.function_guard();
        Ok(out)
    }

    /// What the checks of some versions of SQLite report of the tables that become WITHOUT ROWID.
    fn false_reports(&self) -> Vec<String> {
        let report = |table: &Object| {
            let catalog = self.to.statements(&table.name)?.catalog().ok()?;
            let place = |key: &ddl::Column| {
                let mut columns = catalog.columns.iter();
                columns.position(|own| own.name == key.name)
            };
            let key: Option<Vec<usize>> = catalog.key().into_iter().map(place).collect();
            let columns: Vec<StoredColumn<'_>> = catalog
                .columns
                .iter()
                .map(|column| StoredColumn {
                    name: &column.name,
                    is_not_null: column.is_not_null,
                    has_default: column.default.is_some(),
                    is_virtual: column.hidden == 2,
                })
                .collect();
            let is_keyed = catalog.is_without_rowid;
            ddl::false_report(&table.name, &columns, &key.filter(|_| is_keyed)?)
        };
        self.rebuilt().filter_map(report).collect()
    }

    /// Stops where the shell lacks a function that the schema calls.
    fn function_guard(&self) -> String {
        if self.functions.is_empty() {
            return String::new();
        }
        let names: Vec<String> = self.functions.iter().map(|name| literal(name)).collect();
        let is_right = format!(
            "count(DISTINCT name) = {} FROM pragma_function_list WHERE name IN ({})",
            names.len(),
            names.join(", ")
        );
        guard(
            "load the SQL functions of inorder first, as the first lines of this script say",
            &is_right,
        )
    }

    /// Stops unless the schema is the one that the script was made for.
    fn schema_guard(&self) -> String {
        let mut out =
            String::from("CREATE TEMP TABLE inorder_schema(type, name, tbl_name, sql);\n");
        let is_of_rekey = |object: &&Object| {
            let was = self.from.find(&object.kind, &object.name);
            was.is_some_and(|was| was.sql != object.sql)
        };
        let of_rekey = match self.direction {
            Direction::Forth => &[][..],
            Direction::Back => &self.draft.new.objects[..],
        };
        let of_rekey = of_rekey.iter().filter(is_of_rekey);
        let objects = self.from.objects.iter().chain(of_rekey);
        for Object {
            kind,
            name,
            table,
            sql,
            ..
        } in objects.filter(|object| !is_own(object))
        {
            let sql = sql.as_deref().map_or("NULL".to_owned(), literal);
            _ = writeln!(
                out,
                "INSERT INTO temp.inorder_schema VALUES ({}, {}, {}, {sql});",
                literal(kind),
                literal(name),
                literal(table)
            );
        }
        let own = "SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
        let made = "SELECT type, name, tbl_name, sql FROM temp.inorder_schema";
        // A rekey writes the name of a table in other quotes than ALTER TABLE does.
        let names = |of: &str| of.replace(", sql FROM", " FROM");
        let (other, lost) = (
            format!("{own} EXCEPT {made}"),
            format!("{} EXCEPT {}", names(made), names(own)),
        );
        for (found, what) in [
            (&other, "is new or has another definition"),
            (&lost, "is gone"),
        ] {
            _ = writeln!(
                out,
                "SELECT 'since the script was written: the ' || type || ' ' || name || ' {what}' FROM ({found});"
            );
        }
        out += &guard(
            "the schema has changed since the script was written: a table, index, view or trigger is new or has another \
             definition",
            &format!("NOT EXISTS ({other})"),
        );
        out += &guard(
            "the schema has changed since the script was written: a table, index, view or trigger is gone",
            &format!("NOT EXISTS ({lost})"),
        );
        out + "DROP TABLE temp.inorder_schema;\n"
    }

    /// The tables whose definitions or ids change, as they become.
    fn rebuilt(&self) -> impl Iterator<Item = &Object> {
        self.to.tables().filter(|table| {
            let from = self.from.find("table", &table.name);
            let texts = (
                from.and_then(|from| from.sql.as_deref()),
                table.sql.as_deref(),
            );
            let is_converted = self.draft.conversions.contains_key(&table.name);
            let is_edited = matches!(texts, (Some(from), Some(to)) if !same(from, to));
            (is_edited || is_converted) && !is_own(table)
        })
    }

    fn rebuild(&self, table: &Object) -> Result<String, Error> {
        let unknown = || Error::Refused {
            change: format!("rebuild {}", table.name),
            why: "its definition cannot be read".to_owned(),
        };
        let catalog = |schema: &Schema| -> Result<Catalog, Error> {
            Ok(schema
                .statements(&table.name)
                .ok_or_else(unknown)?
                .catalog()?)
        };
        let (from, to) = (catalog(self.from)?, catalog(self.to)?);
        let (name, new_name) = (&table.name, format!("inorder_new_{}", table.name));
        let sql = table
            .sql
            .as_deref()
            .and_then(|sql| ddl::renamed(sql, &new_name));
        let conversions = self
            .draft
            .conversions
            .get(name)
            .map_or(&[][..], Vec::as_slice);
        let (names, values) = self.columns(&to, conversions);
        let is_rekeyed = self.draft.rekeyed.contains(name);
        let key = match to.key() {
            key if key.is_empty() => from.key(),
            key => key,
        };
        let key: Vec<String> = key.iter().map(|column| quoted(&column.name)).collect();
        let order = match is_rekeyed {
            true => format!(" ORDER BY {}", key.join(", ")),
            false => String::new(),
        };
        let mut out = String::new();
        for (column, form) in conversions {
            out += &self.conversion_guard(name, column, *form);
        }
        out += &self.renamed_statistics(&from, &to);
        if self.direction == Direction::Forth {
            let integers = self.draft.integers_of(name);
            out.extend(integers.map(|column| integer_guard(name, column)));
        }
        let (old, new) = (quoted(name), quoted(&new_name));
        _ = write!(
            out,
            "{};\nINSERT INTO main.{new}({}) SELECT {} FROM main.{old}{order};\n",
            ended(&sql.ok_or_else(unknown)?),
            names.join(", "),
            values.join(", ")
        );
        out += &guard(
            &format!("not every row of {name} was copied"),
            &format!("(SELECT count(*) FROM main.{old}) = (SELECT count(*) FROM main.{new})"),
        );
        if self.from.find("table", "sqlite_sequence").is_some() {
            _ = write!(
                out,
                "DELETE FROM main.sqlite_sequence WHERE name = {0};\n\
                 INSERT INTO main.sqlite_sequence(name, seq) SELECT {0}, seq FROM main.sqlite_sequence WHERE name = {1};\n",
                literal(&new_name),
                literal(name)
            );
        }
        _ = write!(
            out,
            "DROP TABLE main.{old};\nALTER TABLE main.{new} RENAME TO {old};\n"
        );
        Ok(out)
    }

    /// The columns that rows are given, and their values of the old rows.
    fn columns(
        &self,
        to: &Catalog,
        conversions: &[(String, IdForm)],
    ) -> (Vec<String>, Vec<String>) {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for column in to.columns.iter().filter(|column| column.hidden == 0) {
            let conversion = conversions.iter().find(|(name, _)| *name == column.name);
            let column = quoted(&column.name);
            values.push(match conversion {
                None => column.clone(),
                Some((_, form)) => self.converted(&column, *form),
            });
            names.push(column);
        }
        let is_rekeyed = self.draft.rekeyed.contains(&to.name);
        if let Some(rowid) = to
            .rowid_name()
            .filter(|_| !is_rekeyed && !to.is_without_rowid)
        {
            names.push(rowid.to_owned());
            values.push(rowid.to_owned());
        }
        (names, values)
    }

    fn converted(&self, column: &str, form: IdForm) -> String {
        let value = match self.direction {
            Direction::Forth => values::to_blob(column, form),
            Direction::Back => values::to_text(column, form),
        };
        format!("CASE WHEN {column} IS NOT NULL THEN {value} END")
    }

    /// Stops where an id doesn't lead back to the same value.
    fn conversion_guard(&self, table: &str, column: &str, form: IdForm) -> String {
        let named = format!("{table}.{column}");
        let (table, column) = (quoted(table), quoted(column));
        let is_other = match self.direction {
            Direction::Forth => {
                let back = values::to_text("b", form);
                let blob = values::to_blob(&column, form);
                format!(
                    "SELECT 1 FROM (SELECT {column} AS a, {blob} AS b FROM main.{table} WHERE {column} IS NOT NULL) \
                     WHERE typeof(a) <> 'text' OR ({back}) IS NOT a"
                )
            }
            Direction::Back => {
                let size = match form {
                    IdForm::Uuid | IdForm::UuidUpper | IdForm::Ulid => {
                        format!(" OR length({column}) <> 16")
                    }
                    _ => String::new(),
                };
                format!(
                    "SELECT 1 FROM main.{table} WHERE {column} IS NOT NULL AND (typeof({column}) <> 'blob'{size})"
                )
            }
        };
        let why = match self.direction {
            Direction::Forth => format!("{named} has an id that a blob would not keep as it is"),
            Direction::Back => format!("{named} has a value that is no id in a blob"),
        };
        guard(&why, &format!("NOT EXISTS ({is_other})"))
    }

    /// The tables of statistics that are there. The original's in both directions: the SQLite that runs the script need
    /// not make those that this one makes.
    fn statistics_tables(&self) -> impl Iterator<Item = &'static str> {
        let names = statistics::TABLES.into_iter();
        names.filter(|name| self.draft.old.find("table", name).is_some())
    }

    fn kept_statistics(&self) -> String {
        let keep =
            |name| format!("CREATE TEMP TABLE inorder_{name} AS SELECT * FROM main.{name};\n");
        self.statistics_tables().map(keep).collect()
    }

    /// Gives kept statistics of a table the names that its indexes get.
    fn renamed_statistics(&self, from: &Catalog, to: &Catalog) -> String {
        let statements = |name| statistics::renamed(&format!("temp.inorder_{name}"), from, to);
        let all = self.statistics_tables().flat_map(statements);
        all.map(|statement| statement + ";\n").collect()
    }

    /// Puts statistics back, which SQLite removes with a table.
    fn statistics(&self) -> String {
        let mut out = String::new();
        for name in self.statistics_tables() {
            _ = write!(
                out,
                "INSERT INTO main.{name} SELECT * FROM temp.inorder_{name} AS old WHERE (idx IS NULL OR idx = tbl OR EXISTS \
                 (SELECT 1 FROM main.sqlite_master WHERE type = 'index' AND name = old.idx)) AND NOT EXISTS \
                 (SELECT 1 FROM main.{name} AS new WHERE new.tbl = old.tbl AND new.idx IS old.idx);\n\
                 DROP TABLE temp.inorder_{name};\n"
            );
        }
        match out.is_empty() {
            true => out,
            false => format!("{out}ANALYZE main.sqlite_master;\n"),
        }
    }

    /// A table whose rowids VACUUM counts anew: one without an index and without a name for the rowid
    /// (<https://www.sqlite.org/lang_vacuum.html>).
    fn counted_anew(&self) -> Option<&str> {
        let is_counted = |table: &&Object| {
            let catalog = self
                .to
                .statements(&table.name)
                .and_then(|own| own.catalog().ok());
            let has_own = |own: &Catalog| {
                own.is_without_rowid || own.alias().is_some() || !own.indexes.is_empty()
            };
            !is_own(table) && catalog.is_some_and(|own| !has_own(&own))
        };
        let mut tables = self.to.tables();
        tables.find(is_counted).map(|table| &*table.name)
    }

    /// A table that SQLite can't make without a collation or function of the application; nor can VACUUM.
    fn without_its_code(&self) -> Option<&str> {
        let is_foreign = |table: &&Object| {
            let own = self.to.statements(&table.name);
            let has_functions = !self.functions.is_empty();
            !is_own(table) && own.is_some_and(|own| !own.can_be_made(has_functions))
        };
        let mut tables = self.to.tables();
        tables.find(is_foreign).map(|table| &*table.name)
    }

    fn end(&self) -> String {
        let mut out = String::new();
        if let Some(bytes) = self.page_bytes {
            if self.is_wal {
                out += "PRAGMA journal_mode = DELETE;\n";
            }
            _ = writeln!(out, "PRAGMA page_size = {bytes};");
        }
        let one_line = |table: &str| table.replace(['\n', '\r'], " ");
        match (self.counted_anew(), self.without_its_code()) {
            (Some(table), _) => {
                let table = one_line(table);
                _ = writeln!(
                    out,
                    "-- No VACUUM: it would give the rows of {table} other rowids."
                );
            }
            (None, Some(table)) => {
                let table = one_line(table);
                _ = writeln!(
                    out,
                    "-- No VACUUM: {table} needs a collation or function of the application."
                );
            }
            (None, None) => out += "VACUUM;\n",
        }
        if self.page_bytes.is_some() && self.is_wal {
            out += "PRAGMA journal_mode = WAL;\n";
        }
        out
    }
}

/// Stops where a key that becomes the rowid is no integer: SQLite would give a row with NULL in it a number.
fn integer_guard(table: &str, column: &str) -> String {
    let is_right = format!(
        "NOT EXISTS (SELECT 1 FROM main.{} WHERE typeof({}) <> 'integer')",
        quoted(table),
        quoted(column)
    );
    guard(
        &format!("{table}.{column} has a value that is no integer"),
        &is_right,
    )
}

/// Stops the script with a message where a condition does not hold. What SQLite says is the name of the constraint.
fn guard(message: &str, is_right: &str) -> String {
    format!(
        "CREATE TEMP TABLE inorder_guard(is_right CONSTRAINT {} CHECK (is_right));\n\
         INSERT INTO temp.inorder_guard SELECT {is_right};\nDROP TABLE temp.inorder_guard;\n",
        quoted(message)
    )
}

/// Notes what rows violate before, and what the statistics are.
const KEPT: &str = "CREATE TEMP TABLE inorder_violations AS SELECT \"table\", parent, fkid, count(*) AS rows FROM \
                    pragma_foreign_key_check GROUP BY 1, 2, 3;\n";

/// Stops where other rows violate foreign keys than before.
fn violation_guard() -> String {
    let other = "SELECT \"table\", parent, fkid, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2, 3 EXCEPT SELECT * \
                 FROM temp.inorder_violations";
    guard(
        "rows violate foreign keys that did not before",
        &format!("NOT EXISTS ({other})"),
    ) + "DROP TABLE temp.inorder_violations;\n"
}

/// Whether it is an index that CREATE INDEX made.
fn is_made(object: &Object) -> bool {
    object.kind == "index" && object.sql.is_some()
}

fn is_equal(a: &Object, b: &Object) -> bool {
    a.kind == b.kind && a.name == b.name && a.sql == b.sql
}
