//! Who relies on a table's rowids.

use crate::{
    ddl::{mentions, tokens},
    read::{Database, Table, TableKind},
};

/// The rowid's names (<https://www.sqlite.org/rowidtable.html>).
const NAMES: [&str; 3] = ["rowid", "oid", "_rowid_"];

/// What relies on the rowids of a table that is no alias's, as far as the schema says.
pub(super) fn on_rowid(database: &Database, table: &Table) -> Option<String> {
    if let Some(content) = content_of(database, table) {
        return Some(format!(
            "the virtual table {content} has its rowids (content)"
        ));
    }
    let says_rowid = |sql: &str| {
        NAMES
            .iter()
            .find(|&&name| table.column(name).is_none() && mentions(sql, name))
            .copied()
    };
    for object in &database.objects {
        let is_about =
            object.table.eq_ignore_ascii_case(&table.name) || mentions(&object.sql, &table.name);
        if is_about && let Some(name) = says_rowid(&object.sql) {
            let kind = if object.is_trigger { "trigger" } else { "view" };
            return Some(format!("the {kind} {} uses {name}", object.name));
        }
    }
    let own = std::iter::once(&table.sql).chain(table.indexes.iter().map(|index| &index.sql));
    if let Some(name) = own
        .filter_map(|sql| says_rowid_in_expression(sql, &says_rowid))
        .next()
    {
        return Some(format!("its own definition uses {name}"));
    }
    let (child, _) = database.references(table).find(|(_, key)| {
        let columns = database.parent_columns(key);
        columns.iter().any(|column| {
            NAMES.iter().any(|name| name.eq_ignore_ascii_case(column))
                && table.column(column).is_none()
        })
    })?;
    Some(format!(
        "a foreign key of {} refers to its rowid",
        child.name
    ))
}

/// `WITHOUT ROWID` names no rowid.
fn says_rowid_in_expression<'n>(
    sql: &str,
    says: &impl Fn(&str) -> Option<&'n str>,
) -> Option<&'n str> {
    let words = tokens(sql);
    let is_layout = words
        .windows(2)
        .any(|pair| pair[0].is("WITHOUT") && pair[1].is("ROWID"));
    says(sql).filter(|_| !is_layout)
}

/// The full-text index whose content is this table.
pub(super) fn content_of<'d>(database: &'d Database, table: &Table) -> Option<&'d str> {
    let is_content = |sql: &str| {
        let words = tokens(sql);
        words.windows(3).any(|words| {
            words[0].is_name("content")
                && words[1].is_symbol("=")
                && words[2]
                    .name()
                    .is_some_and(|name| name.eq_ignore_ascii_case(&table.name))
        })
    };
    database
        .tables
        .iter()
        .find(|other| other.kind == TableKind::Virtual && is_content(&other.sql))
        .map(|other| other.name.as_str())
}
