//! Rights of untrusted SQL: it may create, fill and read tables of the main database only.
//!
//! SQLite calls the authorizer for each action while it prepares a statement
//! (<https://www.sqlite.org/c3ref/set_authorizer.html>). [`refusal`] has the rule of each action.

use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

/// Functions that access more than the database, in SQLite itself or in common extensions.
const REACHING_FUNCTIONS: &[&str] = &[
    "load_extension",
    "readfile",
    "writefile",
    "edit",
    "fts3_tokenizer",
];

/// Virtual tables without a file or pages.
const HARMLESS_MODULES: &[&str] = &["json_each", "json_tree"];

/// Error message of a refused statement.
const ALLOWED: &str =
    "the SQL of an experiment may only create, fill and read tables of the trial's database";

/// The last refused action.
#[derive(Clone, Default)]
pub struct Refused(Arc<Mutex<Option<String>>>);

impl Refused {
    /// Returns and clears the description of the last refused action.
    pub fn take(&self) -> Option<String> {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let what = refused.take()?;
        Some(format!("{what} isn't allowed: {ALLOWED}"))
    }

    fn put(&self, what: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }
}

/// Confines all statements that a connection prepares until [`release`].
pub fn confine(connection: &Connection, refused: &Refused) -> rusqlite::Result<()> {
    let modules = modules(connection)?;
    let refused = refused.clone();
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        match refusal(&context, &modules) {
            None => Authorization::Allow,
            Some(what) => {
                refused.put(what);
                Authorization::Deny
            }
        }
    }))
}

/// Ends the confinement.
pub fn release(connection: &Connection) -> rusqlite::Result<()> {
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)
}

/// Names of virtual tables that exist without CREATE VIRTUAL TABLE (eponymous).
fn modules(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    connection
        .prepare("SELECT name FROM pragma_module_list")?
        .query_map((), |row| row.get(0))?
        .collect()
}

/// Returns why an action is not allowed, or `None` if it is.
fn refusal(context: &AuthContext<'_>, modules: &BTreeSet<String>) -> Option<String> {
    use AuthAction as Action;
    let of_main = |what: &str| match context.database_name {
        None | Some("main") => None,
        Some(other) => Some(format!("{what} the schema {other}")),
    };
    match context.action {
        Action::Select | Action::Recursive => None,
        Action::Transaction { .. } | Action::Savepoint { .. } => None,
        Action::Function { function_name } => {
            let name = function_name.to_lowercase();
            let reaches = REACHING_FUNCTIONS.contains(&name.as_str());
            reaches.then(|| format!("the function {name}"))
        }
        // ALTER TABLE searches there for views and triggers that name the table; no other statement can write to it.
        Action::Read { table_name, .. } | Action::Update { table_name, .. }
            if table_name == "sqlite_temp_master" =>
        {
            None
        }
        Action::Read { table_name, .. } => {
            of_module(table_name, modules).or_else(|| of_main("reading"))
        }
        Action::Insert { table_name }
        | Action::Delete { table_name }
        | Action::Update { table_name, .. } => {
            of_module(table_name, modules).or_else(|| of_main("writing to"))
        }
        Action::CreateTable { .. }
        | Action::CreateIndex { .. }
        | Action::CreateTrigger { .. }
        | Action::CreateView { .. }
        | Action::DropTable { .. }
        | Action::DropIndex { .. }
        | Action::DropTrigger { .. }
        | Action::DropView { .. }
        | Action::Reindex { .. }
        | Action::Analyze { .. } => of_main("changing"),
        Action::AlterTable { database_name, .. } => match database_name {
            "main" => None,
            other => Some(format!("changing the schema {other}")),
        },
        Action::CreateTempIndex { .. }
        | Action::CreateTempTable { .. }
        | Action::CreateTempTrigger { .. }
        | Action::CreateTempView { .. }
        | Action::DropTempIndex { .. }
        | Action::DropTempTable { .. }
        | Action::DropTempTrigger { .. }
        | Action::DropTempView { .. } => {
            Some("a temporary table, index, trigger or view".to_owned())
        }
        Action::Pragma { pragma_name, .. } => Some(format!("PRAGMA {pragma_name}")),
        Action::Attach { filename: "" } => Some("VACUUM, or ATTACH".to_owned()),
        Action::Attach { filename } => Some(format!("VACUUM INTO, or ATTACH, of '{filename}'")),
        Action::Detach { .. } => Some("DETACH".to_owned()),
        Action::CreateVtable { module_name, .. } | Action::DropVtable { module_name, .. } => {
            Some(format!("a virtual table of the module {module_name}"))
        }
        Action::Unknown { code, .. } => Some(format!("the action {code}, unknown here,")),
        _ => Some("this".to_owned()),
    }
}

/// Refuses eponymous virtual tables, which show the database's pages, the engine's state or its settings.
fn of_module(table: &str, modules: &BTreeSet<String>) -> Option<String> {
    // SQLite names the table of a pragma as the statement spells it.
    let is_pragma = table.to_ascii_lowercase().starts_with("pragma_");
    let is_module = modules.contains(table) || is_pragma;
    let is_refused = is_module && !HARMLESS_MODULES.contains(&table);
    is_refused.then(|| format!("the virtual table {table}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    /// Every action code of SQLite except `SQLITE_COPY`, which no version uses any more: its name, a statement that
    /// needs it, and whether that statement is allowed.
    const CASES: &[(i32, &str, &str, bool)] = &[
        (
            ffi::SQLITE_CREATE_INDEX,
            "CreateIndex",
            "CREATE INDEX i2 ON t(b)",
            true,
        ),
        (
            ffi::SQLITE_CREATE_TABLE,
            "CreateTable",
            "CREATE TABLE u(a)",
            true,
        ),
        (
            ffi::SQLITE_CREATE_TEMP_INDEX,
            "CreateTempIndex",
            "CREATE INDEX temp.j ON tt(a)",
            false,
        ),
        (
            ffi::SQLITE_CREATE_TEMP_TABLE,
            "CreateTempTable",
            "CREATE TEMP TABLE u(a)",
            false,
        ),
        (
            ffi::SQLITE_CREATE_TEMP_TRIGGER,
            "CreateTempTrigger",
            "CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t; END",
            false,
        ),
        (
            ffi::SQLITE_CREATE_TEMP_VIEW,
            "CreateTempView",
            "CREATE TEMP VIEW x AS SELECT 1",
            false,
        ),
        (
            ffi::SQLITE_CREATE_TRIGGER,
            "CreateTrigger",
            "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t WHERE a = 9; END",
            true,
        ),
        (
            ffi::SQLITE_CREATE_VIEW,
            "CreateView",
            "CREATE VIEW x AS SELECT a FROM t",
            true,
        ),
        (
            ffi::SQLITE_DELETE,
            "Delete",
            "DELETE FROM t WHERE a = 1",
            true,
        ),
        (ffi::SQLITE_DROP_INDEX, "DropIndex", "DROP INDEX i", true),
        (ffi::SQLITE_DROP_TABLE, "DropTable", "DROP TABLE t", true),
        (
            ffi::SQLITE_DROP_TEMP_INDEX,
            "DropTempIndex",
            "DROP INDEX ti",
            false,
        ),
        (
            ffi::SQLITE_DROP_TEMP_TABLE,
            "DropTempTable",
            "DROP TABLE tt",
            false,
        ),
        (
            ffi::SQLITE_DROP_TEMP_TRIGGER,
            "DropTempTrigger",
            "DROP TRIGGER ttr",
            false,
        ),
        (
            ffi::SQLITE_DROP_TEMP_VIEW,
            "DropTempView",
            "DROP VIEW tv",
            false,
        ),
        (
            ffi::SQLITE_DROP_TRIGGER,
            "DropTrigger",
            "DROP TRIGGER tr",
            true,
        ),
        (ffi::SQLITE_DROP_VIEW, "DropView", "DROP VIEW v", true),
        (
            ffi::SQLITE_INSERT,
            "Insert",
            "INSERT INTO t VALUES(1, 2)",
            true,
        ),
        (
            ffi::SQLITE_PRAGMA,
            "Pragma",
            "PRAGMA synchronous = OFF",
            false,
        ),
        (ffi::SQLITE_READ, "Read", "SELECT a FROM t", true),
        (ffi::SQLITE_SELECT, "Select", "SELECT 1", true),
        (ffi::SQLITE_TRANSACTION, "Transaction", "BEGIN", true),
        (ffi::SQLITE_UPDATE, "Update", "UPDATE t SET b = 1", true),
        (
            ffi::SQLITE_ATTACH,
            "Attach",
            "ATTACH '/tmp/canary.db' AS p",
            false,
        ),
        (ffi::SQLITE_DETACH, "Detach", "DETACH p", false),
        (
            ffi::SQLITE_ALTER_TABLE,
            "AlterTable",
            "ALTER TABLE t ADD COLUMN c",
            true,
        ),
        (ffi::SQLITE_REINDEX, "Reindex", "REINDEX i", true),
        (ffi::SQLITE_ANALYZE, "Analyze", "ANALYZE main", true),
        (
            ffi::SQLITE_CREATE_VTABLE,
            "CreateVtable",
            "CREATE VIRTUAL TABLE x USING fts5(a)",
            false,
        ),
        (ffi::SQLITE_DROP_VTABLE, "DropVtable", "DROP TABLE f", false),
        (
            ffi::SQLITE_FUNCTION,
            "Function",
            "SELECT load_extension('/tmp/x')",
            false,
        ),
        (ffi::SQLITE_SAVEPOINT, "Savepoint", "SAVEPOINT s", true),
        (
            ffi::SQLITE_RECURSIVE,
            "Recursive",
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r",
            true,
        ),
    ];

    fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t(a, b); CREATE INDEX i ON t(a); CREATE VIEW v AS SELECT a FROM t;
                 CREATE TRIGGER tr AFTER DELETE ON t BEGIN SELECT 1; END;
                 CREATE TEMP TABLE tt(a); CREATE INDEX temp.ti ON tt(a);
                 CREATE TEMP VIEW tv AS SELECT 1;
                 CREATE TEMP TRIGGER ttr AFTER DELETE ON tt BEGIN SELECT 1; END;
                 CREATE VIRTUAL TABLE f USING fts5(a); ATTACH ':memory:' AS p; CREATE TABLE p.q(a);",
            )
            .unwrap();
        connection
    }

    /// Returns the actions that the preparation of a statement requests.
    fn actions(sql: &str) -> Vec<String> {
        let connection = database();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let hook = move |context: AuthContext<'_>| {
            let shown = format!("{:?}", context.action);
            let name = shown.split([' ', '{']).next().unwrap_or_default();
            log.lock().unwrap().push(name.to_owned());
            Authorization::Allow
        };
        connection.authorizer(Some(hook)).unwrap();
        let _ = connection.prepare(sql).map(drop);
        release(&connection).unwrap();
        Arc::try_unwrap(seen).map_or_else(
            |seen| seen.lock().unwrap().clone(),
            |s| s.into_inner().unwrap(),
        )
    }

    #[test]
    fn every_action_code_has_a_statement_and_its_rule() {
        let codes: Vec<i32> = CASES.iter().map(|case| case.0).collect();
        assert_eq!(codes, (1..=33).collect::<Vec<_>>());
        for (_, action, sql, is_allowed) in CASES {
            let seen = actions(sql);
            assert!(seen.iter().any(|name| name == action), "{sql}: {seen:?}");
            let connection = database();
            let refused = Refused::default();
            confine(&connection, &refused).unwrap();
            let ran = connection.execute_batch(sql);
            assert_eq!(ran.is_ok(), *is_allowed, "{sql}: {ran:?}");
            assert_eq!(refused.take().is_none(), *is_allowed, "{sql}");
        }
    }

    #[test]
    fn other_schemas_files_and_pages_are_out_of_reach() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("copy.db");
        let vacuum_into = format!("VACUUM INTO '{}'", into.display());
        let hostile = [
            "INSERT INTO p.q VALUES(1)",
            "SELECT a FROM p.q",
            "DROP TABLE p.q",
            "CREATE TABLE p.r(a)",
            "INSERT INTO t SELECT a, 1 FROM p.q",
            "SELECT name FROM dbstat",
            "SELECT * FROM pragma_database_list",
            "SELECT * FROM PRAGMA_database_list",
            "SELECT * FROM pragma_table_info('t')",
            "VACUUM",
            &vacuum_into,
            "SELECT 1; ATTACH ':memory:' AS z",
            "CREATE TRIGGER z AFTER INSERT ON t BEGIN SELECT load_extension('x'); END; INSERT INTO t VALUES(1, 1)",
            "CREATE VIEW z AS SELECT file FROM pragma_database_list; SELECT * FROM z",
        ];
        for sql in hostile {
            let connection = database();
            let refused = Refused::default();
            confine(&connection, &refused).unwrap();
            assert!(connection.execute_batch(sql).is_err(), "{sql}");
            let said = refused
                .take()
                .unwrap_or_else(|| panic!("{sql} wasn't refused"));
            assert!(said.contains("isn't allowed"), "{said}");
        }
        assert!(!into.exists());
    }

    #[test]
    fn what_experiments_do_is_allowed() {
        for sql in [
            "CREATE TABLE u(a INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT COLLATE NOCASE CHECK (length(b) > 0),
                 c GENERATED ALWAYS AS (a + 1) STORED, FOREIGN KEY (a) REFERENCES t(a)) STRICT",
            "CREATE TABLE u(a BLOB PRIMARY KEY, b) WITHOUT ROWID; CREATE UNIQUE INDEX ub ON u(lower(b)) WHERE b > 1",
            "ALTER TABLE t RENAME TO s; ALTER TABLE s RENAME COLUMN b TO c; ALTER TABLE s DROP COLUMN c",
            "CREATE TABLE u AS SELECT value FROM json_each('[1, 2]')",
            "SELECT count(*), max(a), date('now'), random() FROM t",
        ] {
            let connection = database();
            let refused = Refused::default();
            confine(&connection, &refused).unwrap();
            let ran = connection.execute_batch(sql);
            assert_eq!(refused.take(), None, "{sql}: {ran:?}");
            // SQLite itself refuses a generated column without a type in a STRICT table, which this test does not
            // check.
            if let Err(error) = ran {
                assert!(!error.to_string().contains("authorized"), "{sql}: {error}");
            }
        }
    }

    #[test]
    fn every_module_and_every_function_with_side_effects_has_its_rule() {
        let connection = database();
        let known = modules(&connection).unwrap();
        assert!(known.contains("dbstat"), "{known:?}");
        for module in &known {
            let refused = of_module(module, &known).is_some();
            assert_eq!(
                refused,
                !HARMLESS_MODULES.contains(&module.as_str()),
                "{module}"
            );
        }
        // SQLITE_DIRECTONLY marks functions with side effects.
        let direct: Vec<String> = connection
            .prepare("SELECT DISTINCT name FROM pragma_function_list WHERE flags & 0x80000")
            .unwrap()
            .query_map((), |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        for name in direct {
            assert!(REACHING_FUNCTIONS.contains(&name.as_str()), "{name}");
        }
    }
}
