//! Sizes of FULLTEXT indexes: InnoDB keeps each in tables of its own, and some that all of a table share.

use super::{Flavour, catalog::fields};
use crate::{Error, server::model::Database};
use inorder_engine::remote::{ReadOnly, TextRows};
use std::collections::HashMap;

/// The hidden index over the numbers of rows that FULLTEXT indexes need.
const OF_NUMBERS: &str = "FTS_DOC_ID_INDEX";
/// Hexadecimal digits of an identifier in a name.
const DIGITS: usize = 16;

/// Adds the sizes of the auxiliary tables to their indexes and tables. What may not be read becomes a note.
pub(super) fn read(
    session: &mut ReadOnly,
    flavour: &Flavour,
    database: &mut Database,
) -> Result<(), Error> {
    let has = |index: &crate::server::model::Index| index.method == "fulltext";
    if !database
        .tables
        .iter()
        .flat_map(|table| &table.indexes)
        .any(has)
    {
        return Ok(());
    }
    hidden_indexes(session, flavour, database)?;
    let prefix = if flavour.is_mysql {
        "INNODB"
    } else {
        "INNODB_SYS"
    };
    let sizes = format!(
        "SELECT LOWER(NAME), FILE_SIZE FROM information_schema.{prefix}_TABLESPACES WHERE LOWER(NAME) LIKE '%/fts\\_%'"
    );
    let indexes = format!(
        "SELECT t.NAME, i.NAME, LOWER(LPAD(HEX(t.TABLE_ID), {DIGITS}, '0')), LOWER(LPAD(HEX(i.INDEX_ID), {DIGITS}, '0'))
         FROM information_schema.{prefix}_TABLES t JOIN information_schema.{prefix}_INDEXES i ON i.TABLE_ID = t.TABLE_ID"
    );
    let (Ok(sizes), Ok(indexes)) = (session.rows(&sizes), session.rows(&indexes)) else {
        if !session.is_open() {
            // The next query says why.
            return Ok(());
        }
        database.notes.push(
            "Sizes of FULLTEXT indexes are not known: the user of the URL may not read them (GRANT PROCESS).".into(),
        );
        return Ok(());
    };
    let mut names = Names::new();
    for row in fields(indexes) {
        names.insert((row.text(2), row.text(3)), (row.text(0), row.text(1)));
    }
    add(sizes, &names, database);
    Ok(())
}

/// Tables and indexes by their identifiers, as names of auxiliary tables have them.
type Names = HashMap<(String, String), (String, String)>;

/// Adds the sizes of auxiliary tables to their indexes and tables.
fn add(sizes: TextRows, names: &Names, database: &mut Database) {
    for row in fields(sizes) {
        let name = row.text(0);
        let Some((_, own)) = name.split_once("/fts_") else {
            continue;
        };
        let (Some(of_table), rest) = (own.get(..DIGITS), own.get(DIGITS + 1..).unwrap_or_default())
        else {
            continue;
        };
        // Names of shared tables have no index, such as `…_config`.
        let of_index = rest.get(..DIGITS).filter(|_| rest.contains("_index_"));
        let found = names.iter().find(|((table, index), _)| {
            table == of_table && of_index.is_none_or(|own| own == index)
        });
        let Some((_, (table, index))) = found else {
            continue;
        };
        let Some((schema, table)) = table.split_once('/') else {
            continue;
        };
        let (schema, table) = (decoded(schema), decoded(table));
        let mut tables = database.tables.iter_mut();
        let Some(table) = tables.find(|own| own.schema == schema && own.name == table) else {
            continue;
        };
        let bytes = row.number(1);
        let mut indexes = table.indexes.iter_mut();
        match indexes.find(|own| of_index.is_some() && own.name == *index) {
            Some(own) => own.bytes += bytes,
            None => table.toast_bytes += bytes,
        }
    }
}

/// Adds the hidden indexes over row numbers, which the statistics have beside the declared ones.
fn hidden_indexes(
    session: &mut ReadOnly,
    flavour: &Flavour,
    database: &mut Database,
) -> Result<(), Error> {
    let rows = session.rows(&format!(
        "SELECT database_name, table_name, stat_value FROM mysql.innodb_index_stats
         WHERE {} AND stat_name = 'size' AND index_name = '{OF_NUMBERS}'",
        flavour.schemas().replace("TABLE_SCHEMA", "database_name")
    ));
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) if !session.is_open() => return Err(error.into()),
        Err(_) => return Ok(()),
    };
    for row in fields(rows) {
        let (schema, name) = (row.text(0), row.text(1));
        let mut tables = database.tables.iter_mut();
        let table = tables.find(|own| own.schema == schema && own.name == name);
        // A table may declare the index itself.
        if let Some(table) = table.filter(|table| table.index(OF_NUMBERS).is_none()) {
            table.toast_bytes += row.number(2) * u64::from(database.page_bytes);
        }
    }
    Ok(())
}

/// A name as InnoDB writes it for files: other characters than letters and digits are `@` and four hexadecimal digits.
fn decoded(name: &str) -> String {
    let (mut out, mut rest) = (String::new(), name);
    while let Some((before, after)) = rest.split_once('@') {
        out += before;
        let letter = after
            .get(..4)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .and_then(char::from_u32);
        match letter {
            Some(letter) => {
                out.push(letter);
                rest = &after[4..];
            }
            None => {
                out.push('@');
                rest = after;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn names_of_files_are_decoded() {
        assert_eq!(decoded("my@0020table"), "my table");
        assert_eq!(decoded("plain_name"), "plain_name");
        assert_eq!(decoded("a@b"), "a@b");
    }
}
