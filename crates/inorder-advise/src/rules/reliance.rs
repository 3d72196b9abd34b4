//! Who relies on a table's rowids.

use crate::{
    ddl::{Token, tokens, within_expression},
    read::{Database, Table, TableKind},
};

/// The rowid's names (<https://www.sqlite.org/rowidtable.html>).
const NAMES: [&str; 3] = ["rowid", "oid", "_rowid_"];

/// What relies on the rowids of a table that has no name for them, as far as the schema says. `key` is what finds its rows
/// otherwise.
pub(super) fn on_rowid(database: &Database, table: &Table, key: &[usize]) -> Option<String> {
    if let Some(user) = database.rowid_users.get(&table.name.to_ascii_lowercase()) {
        return Some(user.clone());
    }
    let own = std::iter::once(&table.sql).chain(table.indexes.iter().map(|index| &index.sql));
    let mut names = NAMES.iter().filter(|name| table.column(name).is_none());
    let used = names.find(|name| own.clone().any(|sql| within_expression(sql, name)));
    if let Some(name) = used {
        return Some(format!("its own definition uses {name}"));
    }
    if let Some(index) = index_without_key(database, table, key) {
        return Some(format!(
            "the full-text index {index} has its columns and not its key: the application may look rows up by rowid"
        ));
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

/// The full-text index that has columns of a table and rows of its own, but not the key: then only rowids can join the
/// two.
fn index_without_key<'d>(database: &'d Database, table: &Table, key: &[usize]) -> Option<&'d str> {
    let is_of = |other: &&Table| {
        let words = tokens(&other.sql);
        let is_full_text = words.iter().any(|word| {
            ["fts3", "fts4", "fts5"]
                .iter()
                .any(|module| word.is(module))
        });
        let Some(columns) = full_text_columns(&words).filter(|_| is_full_text) else {
            return false;
        };
        let is_shared = |name: &String| table.column(name).is_some();
        let has_key = |&at: &usize| {
            let key = &table.columns[at].name;
            columns.iter().any(|name| name.eq_ignore_ascii_case(key))
        };
        columns.iter().all(is_shared) && !columns.is_empty() && !key.iter().all(has_key)
    };
    let mut virtuals = database
        .tables
        .iter()
        .filter(|other| other.kind == TableKind::Virtual);
    virtuals.find(is_of).map(|other| other.name.as_str())
}

/// The columns of a full-text index with rows of its own; nothing where another table has the content.
fn full_text_columns(words: &[Token<'_>]) -> Option<Vec<String>> {
    let open = words.iter().position(|word| word.is_symbol("("))?;
    let mut columns = Vec::new();
    let mut is_first = true;
    for (at, word) in words.iter().enumerate().skip(open + 1) {
        let is_option = words.get(at + 1).is_some_and(|next| next.is_symbol("="));
        let has_content = || {
            let content = words.get(at + 2).and_then(Token::name);
            word.is_name("content") && content.is_some_and(|name| !name.is_empty())
        };
        match word.name() {
            Some(_) if is_first && is_option && has_content() => return None,
            Some(name) if is_first && !is_option => columns.push(name),
            _ => {}
        }
        is_first = word.is_symbol(",");
    }
    Some(columns)
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
