//! Edits of CREATE TABLE and CREATE INDEX statements. What an edit doesn't concern is kept byte for byte.
//!
//! An edit is `None` where the text isn't what it expects. Whether the edited text means what it should is for
//! [`prove`](super::prove) to say.

use std::ops::Range;

use super::table::{TableText, closing};
use super::token::{Token, tokens};

/// A part of a text and what replaces it.
type Edit = (Range<usize>, String);

fn apply(sql: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut edited = sql.to_owned();
    let is_in_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    for (range, mut text) in edits.into_iter().rev() {
        let before = text
            .chars()
            .next_back()
            .or(edited[..range.start].chars().next_back());
        if is_in_name(before) && is_in_name(edited[range.end..].chars().next()) {
            text.push(' ');
        }
        edited.replace_range(range, &text);
    }
    edited
}

/// The bytes of a token and of the white space before it.
fn with_space(sql: &str, token: &Token<'_>) -> Range<usize> {
    let before = &sql[..token.start];
    before
        .trim_end_matches(|c: char| c.is_ascii_whitespace())
        .len()..token.end()
}

/// Takes tokens out and leaves the comments between them.
fn removal(sql: &str, table: &TableText<'_>, range: Range<usize>) -> Vec<Edit> {
    let remove = |token| (with_space(sql, token), String::new());
    table.tokens[range].iter().map(remove).collect()
}

/// A name in double quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Text in single quotes.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Whether two statements are the same but for the quotes of the name of what they make, white space and comments.
pub(crate) fn same(a: &str, b: &str) -> bool {
    let (a, b) = (tokens(a), tokens(b));
    let is_equal = |(at, (a, b)): (usize, (&Token<'_>, &Token<'_>))| match at {
        2 => a.name() == b.name(),
        _ => a.text == b.text,
    };
    a.len() == b.len() && a.iter().zip(&b).enumerate().all(is_equal)
}

/// Gives the table another name.
pub(crate) fn renamed(sql: &str, name: &str) -> Option<String> {
    let table = TableText::parse(sql)?;
    Some(apply(
        sql,
        vec![(table.tokens[table.name].span(), quoted(name))],
    ))
}

/// Adds WITHOUT ROWID.
pub(crate) fn without_rowid(sql: &str) -> Option<String> {
    let table = TableText::parse(sql)?;
    let end = table.tokens.last()?.end();
    let has_options = table.close + 1 < table.tokens.len();
    let option = if has_options {
        ", WITHOUT ROWID"
    } else {
        " WITHOUT ROWID"
    };
    Some(apply(sql, vec![(end..end, option.to_owned())]))
}

/// Removes WITHOUT ROWID, and adds NOT NULL to these columns of its key, which it implied.
pub(crate) fn with_rowid(sql: &str, key: &[String]) -> Option<String> {
    let table = TableText::parse(sql)?;
    let mut options = table.close + 1..table.tokens.len();
    let without = options.find(|at| table.tokens[*at].is("WITHOUT"))?;
    if !table.tokens.get(without + 1)?.is("ROWID") {
        return None;
    }
    let mut range = without..without + 2;
    let is_comma = |at: usize| {
        table
            .tokens
            .get(at)
            .is_some_and(|token| token.is_symbol(","))
    };
    if is_comma(range.end) {
        range.end += 1;
    } else if is_comma(range.start - 1) {
        range.start -= 1;
    }
    let mut edits = removal(sql, &table, range);
    for name in key {
        let column = table.column(name)?;
        let is_told = |at: usize| table.tokens[at].is("NOT") && table.tokens[at + 1].is("NULL");
        if column.constraints.clone().any(is_told) {
            continue;
        }
        let end = table.tokens[column.constraints.start - 1].end();
        edits.push((end..end, " NOT NULL".to_owned()));
    }
    let mut edited = apply(sql, edits);
    // A comment between the words is the end now. SQLite keeps a definition up to its last token.
    let end = tokens(&edited).last()?.end();
    edited.truncate(end);
    Some(edited)
}

/// Gives a column another type. DESC after its own PRIMARY KEY is removed where `is_ascending`.
pub(crate) fn retyped(sql: &str, column: &str, kind: &str, is_ascending: bool) -> Option<String> {
    let table = TableText::parse(sql)?;
    let column = table.column(column)?;
    let mut edits = Vec::new();
    match column.kind.clone() {
        range if range.is_empty() => {
            let end = table.tokens[column.name].end();
            edits.push((end..end, format!(" {kind}")));
        }
        range => {
            let (first, last) = (&table.tokens[range.start], &table.tokens[range.end - 1]);
            edits.push((first.start..last.end(), kind.to_owned()));
        }
    }
    let primary = table.find(column.constraints.clone(), "PRIMARY");
    if let (Some(at), true) = (primary, is_ascending)
        && at + 2 < column.constraints.end
        && table.tokens[at + 2].is("DESC")
    {
        edits.extend(removal(sql, &table, at + 2..at + 3));
    }
    Some(apply(sql, edits))
}

/// The UNIQUE constraints with exactly these columns.
fn uniques(table: &TableText<'_>, columns: &[String]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if let [name] = columns
        && let Some(column) = table.column(name)
    {
        let mut from = column.constraints.start;
        while let Some(at) = table.find(from..column.constraints.end, "UNIQUE") {
            from = at + 1;
            let end = match is_on_conflict(table, from, column.constraints.end) {
                true => from + 3,
                false => from,
            };
            found.push(with_name(table, at, column.constraints.start)..end);
        }
    }
    for range in &table.constraints {
        let Some(at) = table.find(range.clone(), "UNIQUE") else {
            continue;
        };
        let names = table.names_after(at).unwrap_or_default();
        let is_same = names.len() == columns.len()
            && names
                .iter()
                .zip(columns)
                .all(|(a, b)| a.eq_ignore_ascii_case(b));
        if is_same {
            found.push(range.clone());
        }
    }
    found
}

fn is_on_conflict(table: &TableText<'_>, at: usize, end: usize) -> bool {
    at + 2 < end && table.tokens[at].is("ON") && table.tokens[at + 1].is("CONFLICT")
}

/// The place of the CONSTRAINT that names what begins here.
fn with_name(table: &TableText<'_>, at: usize, start: usize) -> usize {
    match at >= start + 2 && table.tokens[at - 2].is("CONSTRAINT") {
        true => at - 2,
        false => at,
    }
}

/// Removes the UNIQUE constraints with exactly these columns.
pub(crate) fn without_unique(sql: &str, columns: &[String]) -> Option<String> {
    let table = TableText::parse(sql)?;
    let mut edits = Vec::new();
    for mut range in uniques(&table, columns) {
        let is_last = table.tokens[range.end].is_symbol(",") || range.end == table.close;
        if is_last && table.tokens[range.start - 1].is_symbol(",") {
            range.start -= 1;
        }
        edits.extend(removal(sql, &table, range));
    }
    (!edits.is_empty()).then(|| apply(sql, edits))
}

/// Makes the UNIQUE constraint with these columns the primary key.
pub(crate) fn unique_as_key(sql: &str, columns: &[String]) -> Option<String> {
    let table = TableText::parse(sql)?;
    let mut edits = Vec::new();
    for (number, mut range) in uniques(&table, columns).into_iter().enumerate() {
        let unique = table.find(range.clone(), "UNIQUE")?;
        if number == 0 {
            edits.push((table.tokens[unique].span(), "PRIMARY KEY".to_owned()));
            continue;
        }
        if table.constraints.contains(&range) && table.tokens[range.start - 1].is_symbol(",") {
            range.start -= 1;
        }
        edits.extend(removal(sql, &table, range));
    }
    (!edits.is_empty()).then(|| apply(sql, edits))
}

/// Gives a table the primary key that an index has the terms of.
pub(crate) fn index_as_key(sql: &str, index: &str) -> Option<String> {
    let table = TableText::parse(sql)?;
    let words = tokens(index);
    let open = words.iter().position(|word| word.is_symbol("("))?;
    let close = closing(&words, open)?;
    let terms = &index[words[open].start..words[close].end()];
    // A comment in it may reach to the end of a line.
    let end = table.tokens[table.close - 1].end();
    let terms = terms.replace('\n', " ");
    let has_comment = terms.contains("--") || terms.contains("/*");
    (!has_comment).then(|| apply(sql, vec![(end..end, format!(", PRIMARY KEY {terms}"))]))
}

/// Gives an index the condition that a column is not NULL.
pub(crate) fn partial(sql: &str, column: &str) -> Option<String> {
    let tokens = tokens(sql);
    let open = tokens.iter().position(|token| token.is_symbol("("))?;
    let close = closing(&tokens, open)?;
    if !tokens.first()?.is("CREATE") || close + 1 != tokens.len() {
        return None;
    }
    let end = tokens[close].end();
    let condition = format!(" WHERE {} IS NOT NULL", quoted(column));
    Some(apply(sql, vec![(end..end, condition)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn without_rowid_follows_strict_after_a_comma() {
        let sql = "CREATE TABLE t(a PRIMARY KEY -- WITHOUT ROWID\n) STRICT -- end";
        let edited =
            "CREATE TABLE t(a PRIMARY KEY -- WITHOUT ROWID\n) STRICT, WITHOUT ROWID -- end";
        assert_eq!(without_rowid(sql).unwrap(), edited);
        // SQLite keeps no comment at the end.
        let back = "CREATE TABLE t(a NOT NULL PRIMARY KEY -- WITHOUT ROWID\n) STRICT";
        assert_eq!(with_rowid(edited, &names(&["A"])).unwrap(), back);
    }

    #[test]
    fn options_in_any_order() {
        let with = |options: &str| with_rowid(&format!("CREATE TABLE t(a){options}"), &[]).unwrap();
        assert_eq!(with(" WITHOUT -- x\n rowid"), "CREATE TABLE t(a)");
        assert_eq!(
            with(" STRICT /* s */, WITHOUT /* x */ rowid"),
            "CREATE TABLE t(a) STRICT"
        );
        assert_eq!(with(" without\n/*x*/ rowid"), "CREATE TABLE t(a)");
        assert_eq!(with("WITHOUT ROWID , STRICT"), "CREATE TABLE t(a) STRICT");
        assert_eq!(with("STRICT , WITHOUT ROWID"), "CREATE TABLE t(a)STRICT");
        let told = "CREATE TABLE t(a NOT NULL PRIMARY KEY) WITHOUT ROWID";
        let edited = "CREATE TABLE t(a NOT NULL PRIMARY KEY)";
        assert_eq!(with_rowid(told, &names(&["a"])).unwrap(), edited);
    }

    #[test]
    fn types_of_several_words_and_none() {
        let integer = |sql: &str| retyped(sql, "id", "INTEGER", true).unwrap();
        let sql = "CREATE TABLE t([id] UNSIGNED BIG INT (20, 3) CONSTRAINT k PRIMARY KEY desc ON CONFLICT FAIL, b)";
        let edited = "CREATE TABLE t([id] INTEGER CONSTRAINT k PRIMARY KEY ON CONFLICT FAIL, b)";
        assert_eq!(integer(sql), edited);
        assert_eq!(
            integer("CREATE TABLE t('ID'PRIMARY KEY)"),
            "CREATE TABLE t('ID' INTEGER PRIMARY KEY)"
        );
    }

    #[test]
    fn unique_constraints_of_columns_and_tables() {
        let without = |sql: &str, columns: &[&str]| without_unique(sql, &names(columns));
        let sql = "CREATE TABLE t(a TEXT CONSTRAINT \"u\" UNIQUE NOT NULL, b CHECK(b IN ('UNIQUE')), UNIQUE(a, b) ON CONFLICT FAIL, CHECK(a))";
        assert_eq!(
            without(sql, &["A"]).unwrap(),
            sql.replace(" CONSTRAINT \"u\" UNIQUE", "")
        );
        assert_eq!(
            without(sql, &["a", "b"]).unwrap(),
            sql.replace(", UNIQUE(a, b) ON CONFLICT FAIL", "")
        );
        assert_eq!(without(sql, &["b", "a"]), None);
        let unseparated = "CREATE TABLE t(a, UNIQUE(a) CHECK(a))";
        assert_eq!(
            without(unseparated, &["a"]).unwrap(),
            "CREATE TABLE t(a, CHECK(a))"
        );
    }

    #[test]
    fn a_unique_constraint_becomes_the_key() {
        let key = |sql: &str, columns: &[&str]| unique_as_key(sql, &names(columns));
        let sql = "CREATE TABLE t(a INT NOT NULL CONSTRAINT u UNIQUE ON CONFLICT FAIL, b, UNIQUE(b, a DESC) -- UNIQUE\n)";
        assert_eq!(
            key(sql, &["A"]).unwrap(),
            sql.replacen("UNIQUE", "PRIMARY KEY", 1)
        );
        assert_eq!(
            key(sql, &["b", "a"]).unwrap(),
            sql.replace("UNIQUE(b", "PRIMARY KEY(b")
        );
        assert_eq!(key(sql, &["b"]), None);
        let twice = "CREATE TABLE t(a INT NOT NULL UNIQUE, b UNIQUE, UNIQUE(a))";
        let once = "CREATE TABLE t(a INT NOT NULL PRIMARY KEY, b UNIQUE)";
        assert_eq!(key(twice, &["a"]).unwrap(), once);
    }

    #[test]
    fn a_unique_index_becomes_the_key() {
        let sql = "CREATE TABLE t(a, \"b)\", CHECK (a) -- end\n)";
        let index = "CREATE UNIQUE INDEX i ON t (\"b)\" COLLATE NOCASE, a DESC)";
        let edited = "CREATE TABLE t(a, \"b)\", CHECK (a), PRIMARY KEY (\"b)\" COLLATE NOCASE, a DESC) -- end\n)";
        assert_eq!(index_as_key(sql, index).unwrap(), edited);
        assert_eq!(
            index_as_key(sql, "CREATE UNIQUE INDEX i ON t(a /* x */)"),
            None
        );
    }

    #[test]
    fn a_condition_follows_the_last_term() {
        let sql = "CREATE INDEX i ON t(a, lower(b) DESC) -- c";
        let edited = "CREATE INDEX i ON t(a, lower(b) DESC) WHERE \"a\" IS NOT NULL -- c";
        assert_eq!(partial(sql, "a").unwrap(), edited);
        assert_eq!(partial(edited, "a"), None);
    }
}
