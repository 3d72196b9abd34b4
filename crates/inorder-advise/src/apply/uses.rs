//! Which columns views and triggers read, as SQLite resolves the names in them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::schema::{Object, Schema, uses};
use crate::ddl::Catalog;

/// An access within a view or trigger: its name, and the table and column that it reads or writes.
type Access = (String, Option<[String; 2]>);

/// How SQLite calls the rowid of a table where no column is its alias.
const ROWID: &str = "ROWID";

/// What the views and triggers of a schema read. Names of objects and tables are in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Those that SQLite compiled.
    known: BTreeSet<String>,
    /// View or trigger, table, and column as it is spelled in the table; `*` for the columns of a row that is inserted.
    reads: BTreeSet<[String; 3]>,
}

impl Uses {
    /// Makes the schema in memory and compiles what reads and writes its tables and views.
    pub(crate) fn of(schema: &Schema) -> rusqlite::Result<Self> {
        let memory = inorder_sqlite::open_in_memory()?;
        schema.make(&memory, |_| true)?;
        let accesses: Arc<Mutex<Vec<Access>>> = Arc::default();
        let noted = Arc::clone(&accesses);
        memory.authorizer(Some(move |context: AuthContext<'_>| {
            if let (Some(object), Ok(mut accesses)) = (context.accessor, noted.lock()) {
                accesses.push((object.to_ascii_lowercase(), access(&context.action)));
            }
            Authorization::Allow
        }))?;
        let mut found = Uses::default();
        for object in schema.readable() {
            for statement in uses(&memory, &object.name)? {
                let is_compiled = memory.prepare(&statement).is_ok();
                let Ok(mut accesses) = accesses.lock() else {
                    continue;
                };
                // What doesn't compile was read in part only.
                for (object, read) in accesses.drain(..).filter(|_| is_compiled) {
                    let read = read.map(|[table, column]| [object.clone(), table, column]);
                    found.reads.extend(read);
                    found.known.insert(object);
                }
            }
        }
        Ok(found)
    }

    /// Whether a view or trigger reads or writes a column of a table; nothing where SQLite can't compile it here.
    pub(crate) fn reads(&self, object: &Object, table: &str, column: &str) -> Option<bool> {
        self.has(object, table, |own| {
            own == "*" || own.eq_ignore_ascii_case(column)
        })
    }

    /// The same of the rowid of a table that has no alias for it.
    fn reads_rowid(&self, object: &Object, table: &str) -> Option<bool> {
        self.has(object, table, |own| own == ROWID)
    }

    /// The views, triggers and virtual tables of a schema that use a table's rowid, or that may use it where SQLite can't compile
    /// them here.
    pub(crate) fn users_of_rowid<'s>(
        &self,
        schema: &'s Schema,
        catalog: &Catalog,
    ) -> Vec<&'s Object> {
        let table = &catalog.name;
        let mut names = vec!["rowid", "oid", "_rowid_"];
        names.retain(|name| catalog.column(name).is_none());
        let is_use = |object: &&Object| {
            let is_code = matches!(&*object.kind, "view" | "trigger");
            let is_about = object.is_on(table) || (is_code && object.mentions(table));
            let may_read = || is_about && names.iter().any(|name| object.mentions(name));
            match object.is_virtual() {
                true => !object.is("table", table) && object.is_over(table),
                false if is_code => {
                    let reads = self.reads_rowid(object, table);
                    reads.unwrap_or_else(may_read)
                        || (is_about && object.mentions("last_insert_rowid"))
                }
                false => false,
            }
        };
        schema.objects.iter().filter(is_use).collect()
    }

    fn has(&self, object: &Object, table: &str, is_it: impl Fn(&str) -> bool) -> Option<bool> {
        let object = object.name.to_ascii_lowercase();
        let is_read = |[by, of, column]: &[String; 3]| {
            *by == object && of.eq_ignore_ascii_case(table) && is_it(column)
        };
        let is_known = self.known.contains(&object);
        is_known.then(|| self.reads.iter().any(is_read))
    }
}

/// The function whose value an insert into a rowid table changes, and one into a WITHOUT ROWID table does not.
const LAST_ROWID: &str = "last_insert_rowid";

/// What of a schema may read the rowid of the last insert after a trigger has inserted into this table, or after an
/// insert that fires a trigger of the table. Outside of a trigger the application reads it.
pub(crate) fn user_of_last_rowid<'s>(schema: &'s Schema, table: &str) -> Option<&'s Object> {
    let is_about = |object: &Object| object.is_on(table) || object.mentions(table);
    let mut triggers = schema.objects.iter().filter(|own| own.kind == "trigger");
    let mut users = schema.objects.iter().filter(|own| own.mentions(LAST_ROWID));
    // The reader may be fired, or its default taken, by the trigger that inserts.
    let is_written = triggers.any(is_about);
    users.find(|_| is_written)
}

/// The refusal because of what [`user_of_last_rowid`] finds.
pub(crate) fn uses_last_rowid(object: &Object, table: &str) -> String {
    format!(
        "the {} {} uses {LAST_ROWID}(), which inserts of triggers into {table} would change",
        object.kind, object.name
    )
}

/// The refusal because of the default of a key.
pub(crate) fn ignored_default(column: &str) -> String {
    format!("{column} has a DEFAULT, which an INTEGER PRIMARY KEY ignores")
}

/// The refusal because of what NOT NULL says on conflict.
pub(crate) fn handled_null(column: &str) -> String {
    format!("NOT NULL of {column} has an ON CONFLICT clause, which an INTEGER PRIMARY KEY ignores")
}

fn access(action: &AuthAction<'_>) -> Option<[String; 2]> {
    match action {
        AuthAction::Read {
            table_name,
            column_name,
        }
        | AuthAction::Update {
            table_name,
            column_name,
        } => Some([table_name.to_ascii_lowercase(), (*column_name).to_owned()]),
        AuthAction::Insert { table_name } => Some([table_name.to_ascii_lowercase(), "*".into()]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn schema(sql: &str) -> Schema {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        Schema::read(&connection).unwrap()
    }

    /// SQLite reads the first statement of an object's text; a file that was tampered with may have more.
    #[test]
    fn nothing_but_the_object_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other.db");
        let mut schema = schema("CREATE TABLE t(k)");
        let sql = schema.objects[0].sql.as_mut().unwrap();
        *sql += &format!("; ATTACH '{}' AS o; CREATE TABLE o.x(y)", other.display());
        Uses::of(&schema).unwrap();
        assert!(!other.exists());
    }

    #[test]
    fn names_are_resolved_as_sqlite_does() {
        let schema = schema(
            "CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE TABLE u(k TEXT PRIMARY KEY, oid);
             CREATE VIEW own AS SELECT RowId FROM t;
             CREATE VIEW inner_scope AS SELECT (SELECT rowid FROM t LIMIT 1) FROM u;
             CREATE VIEW outer_scope AS SELECT (SELECT u.rowid FROM t LIMIT 1) FROM u;
             CREATE VIEW column AS SELECT oid FROM u;
             CREATE VIEW over AS SELECT * FROM own;
             CREATE TRIGGER made AFTER INSERT ON t BEGIN DELETE FROM u WHERE rowid = new.rowid; END;
             CREATE TRIGGER set_v AFTER UPDATE OF v ON t BEGIN UPDATE u SET k = new.v WHERE u._rowid_ = 1; END;
             CREATE VIEW broken AS SELECT rowid, nowhere(k) FROM t;",
        );
        let uses = Uses::of(&schema).unwrap();
        let reads = |object: &str, table: &str| {
            let mut objects = schema.objects.iter();
            let object = objects.find(|own| own.name == object).unwrap();
            uses.reads_rowid(object, table)
        };
        for (object, of_t, of_u) in [
            ("own", Some(true), Some(false)),
            ("inner_scope", Some(true), Some(false)),
            ("outer_scope", Some(false), Some(true)),
            ("column", Some(false), Some(false)),
            ("over", Some(false), Some(false)),
            ("made", Some(true), Some(true)),
            ("set_v", Some(false), Some(true)),
            ("broken", None, None),
        ] {
            assert_eq!(
                (reads(object, "t"), reads(object, "U")),
                (of_t, of_u),
                "{object}"
            );
        }
    }
}
