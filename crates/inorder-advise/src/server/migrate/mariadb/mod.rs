//! Scripts for MariaDB and MySQL. A definition can't be changed in a transaction: a step proves and acts in one compound
//! statement, and one that changes several tables does so while `LOCK TABLES` keeps all others out.

mod constraint;
mod convert;

pub(super) use constraint::drop_check_or_reference;
pub(super) use convert::convert;

use super::{Context, ROWS_BYTES_PER_S, Step, Steps, found, where_as_read};
use crate::server::{
    model::{Column, Database, Index, Table, TableKind},
    named::{self, escaped_literal as text},
    shape::{self, Line},
};

/// Characters of a message at most: those of MySQL's MESSAGE_TEXT, and what MariaDB takes.
const MESSAGE_MAX: (u32, u32) = (128, 500);
/// How often a lock is tried; every tenth try waits for a second.
const TRIES: u32 = 200;

/// What a script begins with: settings of its session.
pub(super) fn begin() -> String {
    include_str!("begin.sql").to_owned()
}

/// Quotes a name.
fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The qualified name of a table.
fn name(table: &Table) -> String {
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}

/// Compound statements as the client takes them.
#[derive(Clone, Copy)]
struct Dialect<'d> {
    database: &'d Database,
}

impl Dialect<'_> {
    fn is_mysql(self) -> bool {
        !self.database.version.contains("MariaDB")
    }

    /// Statements that run a compound statement. MySQL knows these in procedures alone. `lock` keeps others out meanwhile.
    fn block(self, table: &Table, lock: Option<&str>, inner: &str) -> Vec<String> {
        let inner = format!(
            "DECLARE inorder_n BIGINT DEFAULT 0;\nDECLARE inorder_row TEXT;\nDECLARE inorder_message TEXT;\n{inner}"
        );
        let mut end = "//".to_owned();
        while inner.contains(&end) {
            end.push('/');
        }
        let procedure = format!("{}.inorder_step", quote(&table.schema));
        let lock = lock.map(|lock| format!("{lock};"));
        let unlock = lock.as_ref().map(|_| "UNLOCK TABLES;".to_owned());
        match self.is_mysql() {
            true => [
                Some(format!("DROP PROCEDURE IF EXISTS {procedure};")),
                Some(format!("DELIMITER {end}\nCREATE PROCEDURE {procedure}()\nBEGIN\n{inner}\nEND{end}\nDELIMITER ;")),
                lock,
                Some(format!("CALL {procedure}();")),
                unlock,
                Some(format!("DROP PROCEDURE {procedure};")),
            ]
            .into_iter()
            .flatten()
            .collect(),
            false => [
                lock,
                Some(format!("DELIMITER {end}\nBEGIN NOT ATOMIC\n{inner}\nEND{end}\nDELIMITER ;")),
                unlock,
            ]
            .into_iter()
            .flatten()
            .collect(),
        }
    }

    /// Ends the script with a message, which is an expression.
    fn raise(self, message: &str) -> String {
        let max = match self.is_mysql() {
            true => MESSAGE_MAX.0,
            false => MESSAGE_MAX.1,
        };
        format!(
            "SET inorder_message = LEFT({message}, {max});\nSIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = inorder_message;"
        )
    }

    /// Tries something again while others hold locks on a table.
    fn guarded(self, table: &Table, inner: &str) -> String {
        let no_wait = u8::from(self.is_mysql());
        let message = format!(
            "CONCAT({}, inorder_failure, '. Nothing was changed by this step: run the file again')",
            text(&format!("no lock on {}: ", name(table)))
        );
        format!(
            "BEGIN\nDECLARE inorder_tries INT DEFAULT COALESCE(@inorder_lock_tries, {TRIES});\nDECLARE inorder_done BOOLEAN DEFAULT FALSE;\nDECLARE inorder_failure TEXT;\n\
             WHILE NOT inorder_done DO\nBEGIN\nDECLARE EXIT HANDLER FOR 1205, 1213 BEGIN\n  GET DIAGNOSTICS CONDITION 1 inorder_failure = MESSAGE_TEXT;\n  SET inorder_tries = inorder_tries - 1;\n  \
             IF inorder_tries <= 0 THEN\n    {}\n  END IF;\n  DO SLEEP(0.03 + 0.07 * RAND());\nEND;\n\
             SET SESSION lock_wait_timeout = IF(inorder_tries % 10 = 0, 1, {no_wait});\n{inner}\nSET inorder_done = TRUE;\nEND;\nEND WHILE;\nSET SESSION lock_wait_timeout = 2;\nEND;",
            self.raise(&message)
        )
    }

    /// The shape of a table as it is.
    fn shape(self, table: &Table) -> String {
        let which = format!(
            "TABLE_SCHEMA = {} AND TABLE_NAME = {}",
            text(&table.schema),
            text(&table.name)
        );
        shape::mariadb(&which, self.database.ignored_column)
    }

    /// Raises unless lines of a table are as they were read. Those of `may_be_missing` only must not be others, and those
    /// of `ignored` may be anything. `is_part`: others may have come.
    fn same(
        self,
        table: &Table,
        lines: &[Line],
        may_be_missing: &[String],
        ignored: &[String],
        is_part: bool,
    ) -> String {
        let shape = self.shape(table);
        let of = text(&name(table));
        let list = |keys: &[String]| {
            let all: Vec<String> = keys
                .iter()
                .map(|key| text(key))
                .chain(["''".to_owned()])
                .collect();
            all.join(", ")
        };
        let mut out = String::new();
        let wanted: Vec<String> = lines
            .iter()
            .map(|line| format!("SELECT {} AS k, {} AS x", text(&line.key), text(&line.text)))
            .collect();
        let wanted = match wanted.is_empty() {
            true => "SELECT '' AS k, '' AS x FROM DUAL WHERE FALSE".to_owned(),
            false => wanted.join(" UNION ALL "),
        };
        out += &format!(
            "SET inorder_row = NULL;\nSELECT CONCAT(e.k, ' is ', COALESCE(CONCAT('now: ', a.x), 'missing'), ', and was: ', e.x) INTO inorder_row FROM ({wanted}) e\n  \
             LEFT JOIN ({shape}) a ON BINARY a.k = BINARY e.k\n  WHERE NOT (BINARY a.x <=> BINARY e.x) AND NOT (a.k IS NULL AND e.k IN ({})) AND e.k NOT IN ({}) LIMIT 1;\n\
             IF inorder_row IS NOT NULL THEN\n  {}\nEND IF;\n",
            list(may_be_missing),
            list(ignored),
            self.raise(&format!(
                "CONCAT({of}, ' is not as it was when inorder advise read it: ', inorder_row)"
            ))
        );
        if !is_part {
            out += &format!(
                "SELECT a.k INTO inorder_row FROM ({shape}) a LEFT JOIN ({wanted}) e ON BINARY a.k = BINARY e.k\n  \
                 WHERE e.k IS NULL AND a.k NOT LIKE 'column %' AND a.k NOT IN ({}) LIMIT 1;\nIF inorder_row IS NOT NULL THEN\n  {}\nEND IF;\n",
                list(ignored),
                self.raise(&format!("CONCAT({of}, ' is not as it was when inorder advise read it: ', inorder_row, ' is new')"))
            );
        }
        out
    }

    /// Raises if rows of a table have a value of a column that stands in the way.
    fn none(self, table: &Table, column: &str, condition: &str, what: &str) -> String {
        let key = table.primary().and_then(Index::columns).unwrap_or_default();
        let others = (!key.contains(&column)).then_some(column);
        let parts: Vec<String> = key
            .into_iter()
            .chain(others)
            .map(|own| {
                format!(
                    "CONCAT({}, QUOTE({}))",
                    text(&format!("{own} = ")),
                    quote(own)
                )
            })
            .collect();
        self.nothing(
            table,
            &format!(
                "SELECT COUNT(*), MIN(CONCAT_WS(', ', {})) INTO inorder_n, inorder_row FROM {} WHERE {condition}",
                parts.join(", "),
                name(table)
            ),
            what,
        )
    }

    /// Raises if a query counts rows that stand in the way.
    fn nothing(self, table: &Table, query: &str, what: &str) -> String {
        let of = text(&format!("{}.{}: ", table.schema, table.name));
        format!(
            "{query};\nIF inorder_n > 0 THEN\n  {}\nEND IF;\n",
            self.raise(&format!("CONCAT({of}, 'the row ', inorder_row, {}, ' (', inorder_n, IF(inorder_n = 1, ' row)', ' rows)'))", text(&format!(": {what}"))))
        )
    }
}

/// The condition that a table has an index.
fn has_index(table: &Table, index: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} AND INDEX_NAME = {})",
        text(&table.schema),
        text(&table.name),
        text(index)
    )
}

/// Raises if something in the database names an index.
fn unnamed(dialect: Dialect<'_>, table: &Table, index: &str) -> String {
    // A server without routines or events may have no table of them.
    let queries = named::mariadb(table, index).into_iter().map(|query| {
        format!("BEGIN\nDECLARE CONTINUE HANDLER FOR 1146, 1577 SET inorder_n = 0;\nSELECT x.* INTO inorder_row FROM ({query}) x;\nEND;\n")
    });
    format!(
        "SET inorder_row = NULL;\n{}IF inorder_row IS NOT NULL THEN\n  {}\nEND IF;\n",
        queries.collect::<String>(),
        dialect.raise(&format!("CONCAT(inorder_row, ' names ', {})", text(index)))
    )
}

/// Drops a secondary index.
pub(super) fn drop_index(
    context: Context<'_>,
    table: &Table,
    index: &str,
    cover: Option<&str>,
) -> Result<Steps, String> {
    let dialect = Dialect {
        database: context.database,
    };
    let own = found(table, index)?;
    let mut keys = vec![format!("index {index}")];
    keys.extend(cover.map(|cover| format!("index {cover}")));
    let lines: Vec<Line> = table
        .shape
        .iter()
        .filter(|line| keys.contains(&line.key))
        .cloned()
        .collect();
    let named = unnamed(dialect, table, index);
    // Other engines copy the table; InnoDB builds other trees under a lock.
    let is_copied = table.kind == TableKind::CatalogOnly;
    let alter = |what: &str, lock: &str| match is_copied {
        true => format!("ALTER TABLE {} {what};", name(table)),
        false => format!(
            "ALTER TABLE {} {what}, ALGORITHM=INPLACE, LOCK={lock};",
            name(table)
        ),
    };
    let lock_of_build = match own.method.as_str() {
        "btree" => "NONE",
        _ => "SHARED",
    };
    let forward = format!(
        "IF {} THEN\n{}{named}{}\nEND IF;",
        has_index(table, index),
        dialect.same(table, &lines, &[], &[], true),
        alter(&format!("DROP INDEX {}", quote(index)), "NONE")
    );
    let back = format!(
        "IF NOT {} THEN\n{}\nEND IF;",
        has_index(table, index),
        alter(&format!("ADD {}", own.definition), lock_of_build)
    );
    let step = |what: String, inner: &str| {
        Step::new(
            what,
            dialect.block(table, None, &dialect.guarded(table, inner)),
        )
    };
    let (extra_bytes, seconds, locks) = match is_copied {
        true => (
            table.total_bytes(),
            table.bytes as f64 / ROWS_BYTES_PER_S,
            "Copies the table, and writes wait.",
        ),
        false => (
            0,
            0.0,
            "Reads and writes go on; locks the table for the change of its definition only.",
        ),
    };
    let what = format!("Drops the index{}. {locks}", where_as_read(cover));
    Ok(Steps {
        steps: vec![step(what, &forward)],
        is_online: !is_copied,
        extra_bytes,
        seconds,
        undo: vec![step("Builds the index again.".into(), &back)],
    })
}

/// The default of a column that makes UUIDv7.
pub(super) fn ordered(
    context: Context<'_>,
    table: &Table,
    column: &Column,
    default: &str,
) -> Steps {
    let dialect = Dialect {
        database: context.database,
    };
    let step = |what: &str, from: &str, to: &str| {
        let is_now = format!(
            "SET inorder_row = NULL;\nSELECT COLUMN_DEFAULT INTO inorder_row FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} AND COLUMN_NAME = {};\n",
            text(&table.schema),
            text(&table.name),
            text(&column.name)
        );
        let differs = dialect.raise(&format!(
            "CONCAT({}, COALESCE(inorder_row, 'missing'), {})",
            text(&format!(
                "the default of {}.{} is ",
                name(table),
                column.name
            )),
            text(&format!(", and was {from} when inorder advise read it"))
        ));
        let inner = format!(
            "{is_now}IF NOT (inorder_row <=> {}) THEN\nIF NOT (inorder_row <=> {}) THEN\n  {differs}\nEND IF;\nALTER TABLE {} ALTER COLUMN {} SET DEFAULT ({to});\nEND IF;",
            text(to),
            text(from),
            name(table),
            quote(&column.name)
        );
        Step::new(
            what,
            dialect.block(table, None, &dialect.guarded(table, &inner)),
        )
    };
    Steps {
        steps: vec![step(
            "New rows get UUIDv7. Locks the table for the change of its definition only.",
            default,
            "uuid_v7()",
        )],
        is_online: true,
        undo: vec![step("New rows get ids as before.", "uuid_v7()", default)],
        ..Steps::default()
    }
}
