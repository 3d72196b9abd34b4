//! A database with changes, made by statements: what `VACUUM` does, with another schema.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, functions::FunctionFlags};

use super::draft::Draft;
use super::ids;
use super::schema::{Object, Schema};
use super::settings::Settings;
use crate::ddl::{Catalog, quoted};
use crate::{Error, IdForm};

/// Fills a new database at `target`, which is empty or doesn't exist, from the database at `source`.
pub(crate) fn copy(
    source: &Path,
    target: &Path,
    settings: &Settings,
    draft: &Draft,
) -> Result<(), Error> {
    let unpacked = Unpacked::beside(target)?;
    fill(source, &unpacked.path, settings, draft)?;
    // Keys that rows don't come in the order of have pages half empty. VACUUM alone would also count the rowids of
    // tables without an index anew; VACUUM INTO keeps them.
    let connection = inorder_sqlite::open(&unpacked.path, OpenFlags::default())?;
    connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
    Ok(())
}

/// What the name of the file ends with that statements fill.
pub(crate) const UNPACKED: &str = "-unpacked";

/// A file of this process's user alone, which is removed when this is dropped.
struct Unpacked {
    path: PathBuf,
}

impl Unpacked {
    fn beside(target: &Path) -> Result<Self, Error> {
        let mut name = target.as_os_str().to_owned();
        name.push(UNPACKED);
        let path = PathBuf::from(name);
        _ = std::fs::remove_file(&path);
        let mut options = File::options();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        match file {
            Ok(_) => Ok(Unpacked { path }),
            Err(source) => Err(Error::File { path, source }),
        }
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.path);
    }
}

fn fill(source: &Path, target: &Path, settings: &Settings, draft: &Draft) -> Result<(), Error> {
    let connection = inorder_sqlite::open(target, OpenFlags::default())?;
    connection.execute_batch(&format!(
        "PRAGMA page_size = {}; PRAGMA auto_vacuum = {}; PRAGMA encoding = '{}';
         PRAGMA user_version = {}; PRAGMA application_id = {};",
        settings.page_bytes,
        settings.auto_vacuum as u8,
        settings.encoding.name(),
        settings.user_version,
        settings.application_id
    ))?;
    connection.execute("ATTACH ?1 AS source", [source.to_string_lossy()])?;
    register(&connection)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF;
         PRAGMA main.journal_mode = OFF; BEGIN",
    )?;
    // The first table writes the encoding to the header. Views, which are rows of the schema, don't.
    connection.execute_batch("CREATE TABLE main.first(a); DROP TABLE main.first")?;
    for table in draft.new.tables() {
        make_table(&connection, table)?;
    }
    for table in draft.new.tables() {
        copy_rows(&connection, table, draft)?;
    }
    for object in &draft.new.objects {
        if let Some(sql) = object.sql.as_deref().filter(|_| object.kind == "index") {
            connection.execute_batch(sql)?;
        }
    }
    for statement in draft.statistics() {
        connection.execute_batch(&statement)?;
    }
    copy_the_rest(&connection, &draft.new)?;
    connection.execute_batch("COMMIT; DETACH source")?;
    Ok(())
}

/// Adds the function that turns ids into blobs.
fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("inorder_id_blob", 2, flags, |context| {
        let form = context.get::<u8>(1)?;
        let form = IdForm::ALL[usize::from(form)];
        match context.get_raw(0) {
            ValueRef::Text(text) => Ok(ids::to_blob(text, form)),
            _ => Ok(None),
        }
    })
}

fn make_table(connection: &Connection, table: &Object) -> Result<(), Error> {
    match (&*table.name.to_ascii_lowercase(), &table.sql) {
        // SQLite makes these itself.
        ("sqlite_sequence", _) => {}
        (name, _) if name.starts_with("sqlite_stat") => {
            if !connection.table_exists(Some("main"), &*table.name)? {
                connection.execute_batch("ANALYZE main.sqlite_schema")?;
            }
        }
        (_, Some(sql)) => connection.execute_batch(sql)?,
        (_, None) => {}
    }
    Ok(())
}

fn copy_rows(connection: &Connection, table: &Object, draft: &Draft) -> Result<(), Error> {
    let name = &table.name;
    if !connection.table_exists(Some("main"), &**name)? {
        // `sqlite_sequence` without an AUTOINCREMENT table, or the statistics of another SQLite.
        return Ok(());
    }
    let catalog = Catalog::read(connection, name)?;
    let columns: Vec<&str> = catalog
        .columns
        .iter()
        .filter(|column| column.hidden == 0)
        .map(|column| &*column.name)
        .collect();
    let conversions = draft.conversions.get(name);
    let value = |column: &&str| {
        let conversion = conversions.and_then(|all| all.iter().find(|(name, _)| name == column));
        let form = conversion.and_then(|(_, form)| IdForm::ALL.iter().position(|own| own == form));
        match form {
            Some(form) => format!("inorder_id_blob({}, {form})", quoted(column)),
            None => quoted(column),
        }
    };
    let mut to: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
    let mut from: Vec<String> = columns.iter().map(value).collect();
    let keeps_rowid = !catalog.is_without_rowid && !draft.rekeyed.contains(name);
    if let Some(rowid) = catalog.rowid_name().filter(|_| keeps_rowid) {
        to.push(rowid.to_owned());
        from.push(rowid.to_owned());
    }
    let key: Vec<String> = catalog
        .key()
        .iter()
        .map(|column| quoted(&column.name))
        .collect();
    let order = match draft.rekeyed.contains(name) {
        true => format!(" ORDER BY {}", key.join(", ")),
        false => String::new(),
    };
    let name = quoted(name);
    connection.execute_batch(&format!(
        "DELETE FROM main.{name}; INSERT INTO main.{name}({}) SELECT {} FROM source.{name}{order}",
        to.join(", "),
        from.join(", ")
    ))?;
    Ok(())
}

/// Adds virtual tables, views and triggers to the schema without running them, as `VACUUM` does.
fn copy_the_rest(connection: &Connection, schema: &Schema) -> Result<(), Error> {
    connection.execute_batch("PRAGMA writable_schema = ON")?;
    let add = "INSERT INTO main.sqlite_schema(type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, 0, ?4)";
    for object in &schema.objects {
        if object.is_virtual() || matches!(&*object.kind, "view" | "trigger") {
            let Object {
                kind,
                name,
                table,
                sql,
                ..
            } = object;
            connection.execute(add, (kind, name, table, sql))?;
        }
    }
    connection.execute_batch("PRAGMA writable_schema = OFF")?;
    Ok(())
}
