//! Values for the parameters of a query: those that the columns they are compared with hold.

use super::{look_ups::rows_at_random, value::Value};
use crate::{
    ddl::{Kind, Token, quoted, tokens},
    read::{Database, Table},
};
use rusqlite::Connection;
use std::collections::HashMap;

/// Rows that values are taken of.
const ROWS: usize = 25;
/// `LIMIT ?` takes so many rows; `OFFSET ?` leaves out none.
const LIMIT: i64 = 10;
/// Keywords that a table's name follows.
const BEFORE_TABLES: [&str; 3] = ["FROM", "JOIN", "INTO"];
/// Keywords that end the list of tables, or stand behind a table's name and are no alias.
const NO_ALIASES: [&str; 20] = [
    "WHERE",
    "ON",
    "USING",
    "JOIN",
    "LEFT",
    "RIGHT",
    "FULL",
    "INNER",
    "OUTER",
    "CROSS",
    "NATURAL",
    "GROUP",
    "ORDER",
    "LIMIT",
    "HAVING",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "INDEXED",
    "NOT",
];
/// Operators that compare, in one token or two.
const COMPARES: [&str; 4] = ["=", "<", ">", "!"];

/// What a parameter is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Bound {
    /// A column's values: a table by number, and the column.
    Column { table: usize, column: usize },
    /// A number.
    Number(i64),
}

/// The values of a query's parameters.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// What each parameter is bound to, in words: `?1 = film.year`.
    pub(super) words: Vec<String>,
    /// Parameters of which the column can't be told.
    pub(super) unknown: Vec<String>,
    /// Values of all parameters in their order, some sets of them.
    pub(super) sets: Vec<Vec<Value>>,
}

/// Finds values for the parameters of `sql`, whose `names` are in the order of their numbers (SQLite's), from rows of the
/// database.
pub(super) fn values(
    connection: &Connection,
    database: &Database,
    sql: &str,
    names: &[Option<String>],
) -> Values {
    let words = tokens(sql);
    let tables = tables(database, &words);
    let mut bounds: Vec<Option<Bound>> = vec![None; names.len()];
    for (at, number) in numbers(&words, names) {
        if let Some(bound) = bound(&words, at, &tables)
            && let Some(slot) = bounds.get_mut(number)
        {
            slot.get_or_insert(bound);
        }
    }
    let title = |at: usize| {
        let name = names[at].clone();
        name.unwrap_or_else(|| format!("?{}", at + 1))
    };
    let mut found = Values::default();
    for (at, bound) in bounds.iter().enumerate() {
        match bound {
            None => found.unknown.push(title(at)),
            Some(Bound::Number(number)) => found.words.push(format!("{} = {number}", title(at))),
            Some(Bound::Column { table, column }) => {
                let (_, table) = &tables[*table];
                let column = &table.columns[*column].name;
                found
                    .words
                    .push(format!("{} = {}.{column}", title(at), table.name));
            }
        }
    }
    if found.unknown.is_empty() {
        let bounds: Vec<Bound> = bounds.into_iter().flatten().collect();
        found.sets = sets(connection, &tables, &bounds);
    }
    found
}

/// Sets of values: those of one table are of one row, so that a query over several columns finds it.
fn sets(connection: &Connection, tables: &[(String, &Table)], bounds: &[Bound]) -> Vec<Vec<Value>> {
    let mut rows: HashMap<usize, Vec<Vec<Value>>> = HashMap::new();
    for bound in bounds {
        let Bound::Column { table, .. } = bound else {
            continue;
        };
        rows.entry(*table).or_insert_with(|| {
            let own = tables[*table].1;
            let names = own.columns.iter().map(|column| quoted(&column.name));
            let names = names.collect::<Vec<_>>().join(", ");
            rows_at_random(connection, own, &names, ROWS).unwrap_or_default()
        });
    }
    let count = rows.values().map(Vec::len).min().unwrap_or(1);
    let value = |bound: &Bound, at: usize| match bound {
        Bound::Number(number) => Value::Integer(*number),
        Bound::Column { table, column } => rows[table][at][*column].clone(),
    };
    (0..count)
        .map(|at| bounds.iter().map(|bound| value(bound, at)).collect())
        .collect()
}

/// The tables that a query names, each with the name or alias that its columns may have in front.
fn tables<'d>(database: &'d Database, words: &[Token<'_>]) -> Vec<(String, &'d Table)> {
    let mut found: Vec<(String, &Table)> = Vec::new();
    let mut is_list = false;
    let mut at = 0;
    while at < words.len() {
        let word = &words[at];
        at += 1;
        if BEFORE_TABLES.iter().any(|keyword| word.is(keyword)) || word.is("UPDATE") {
            is_list = true;
        } else if !(is_list && word.is_symbol(",")) {
            if word.kind == Kind::Word && NO_ALIASES.iter().any(|keyword| word.is(keyword)) {
                is_list = false;
            }
            continue;
        }
        // A schema's name may stand in front.
        if words.get(at + 1).is_some_and(|word| word.is_symbol(".")) {
            at += 2;
        }
        let name = words.get(at).and_then(Token::name);
        let Some(table) = name.and_then(|name| database.table(&name)) else {
            continue;
        };
        at += 1;
        let has_as = words.get(at).is_some_and(|word| word.is("AS"));
        let alias = words.get(at + usize::from(has_as)).filter(|word| {
            matches!(word.kind, Kind::Word | Kind::Quoted)
                && !NO_ALIASES.iter().any(|keyword| word.is(keyword))
                && !word.is("SET")
        });
        let alias = alias.and_then(Token::name);
        found.push((alias.unwrap_or_else(|| table.name.clone()), table));
    }
    found
}

fn is_parameter(word: &Token<'_>) -> bool {
    let begins = |letter| word.text.starts_with(letter);
    match word.kind {
        Kind::Literal => ['?', ':', '@'].into_iter().any(begins),
        Kind::Word => begins('$'),
        _ => false,
    }
}

/// The places of parameters, and their numbers from 0.
fn numbers(words: &[Token<'_>], names: &[Option<String>]) -> Vec<(usize, usize)> {
    let mut last = 0;
    let mut found = Vec::new();
    for (at, word) in words
        .iter()
        .enumerate()
        .filter(|(_, word)| is_parameter(word))
    {
        let number = match word.text.strip_prefix('?') {
            // `?` is one more than the largest number so far (<https://www.sqlite.org/lang_expr.html#varparam>).
            Some("") => last + 1,
            Some(number) => number.parse().unwrap_or(0),
            None => names
                .iter()
                .position(|name| name.as_deref() == Some(word.text))
                .map_or(0, |at| at + 1),
        };
        last = last.max(number);
        if number > 0 {
            found.push((at, number - 1));
        }
    }
    found
}

/// What the parameter at a place is compared with.
fn bound(words: &[Token<'_>], at: usize, tables: &[(String, &Table)]) -> Option<Bound> {
    let before = |back: usize| at.checked_sub(back).and_then(|at| words.get(at));
    let is_before = |keyword: &str| before(1).is_some_and(|word| word.is(keyword));
    if is_before("LIMIT") {
        return Some(Bound::Number(LIMIT));
    }
    if is_before("OFFSET") {
        return Some(Bound::Number(0));
    }
    let left = left_of(words, at).and_then(|end| column_before(words, end, tables));
    left.or_else(|| right_of(words, at).and_then(|from| column_from(words, from, tables)))
}

/// Where what stands left of a comparison ends: `x =`, `x LIKE`, `x BETWEEN`, `x BETWEEN y AND`, `x IN (y,`.
fn left_of(words: &[Token<'_>], at: usize) -> Option<usize> {
    let mut end = at;
    let is = |at: usize, test: &dyn Fn(&Token<'_>) -> bool| {
        at.checked_sub(1)
            .and_then(|at| words.get(at))
            .is_some_and(test)
    };
    let is_not = |word: &Token<'_>| word.is("NOT");
    // Values of a list before this one.
    while is(end, &|word| word.is_symbol(",")) {
        end = end.checked_sub(2)?;
    }
    if is(end, &|word| word.is_symbol("(")) {
        end -= 1;
        if !is(end, &|word| word.is("IN")) {
            return None;
        }
        end -= 1;
        return Some(end - usize::from(is(end, &is_not)));
    }
    if end < at {
        return None;
    }
    if is(end, &|word| word.is("AND")) {
        let between = words[..end].iter().rposition(|word| word.is("BETWEEN"))?;
        // BETWEEN, one value, AND.
        return (between + 3 == end).then(|| between - usize::from(is(between, &is_not)));
    }
    let operators = ["LIKE", "GLOB", "IS", "BETWEEN", "MATCH", "REGEXP"];
    if is(end, &is_not) && is(end - 1, &|word| word.is("IS")) {
        return Some(end - 2);
    }
    if is(end, &|word| {
        operators.iter().any(|keyword| word.is(keyword))
    }) {
        end -= 1;
        return Some(end - usize::from(is(end, &is_not)));
    }
    let from = end;
    while is(end, &is_compare) {
        end -= 1;
    }
    (end < from).then_some(end)
}

fn is_compare(word: &Token<'_>) -> bool {
    COMPARES.iter().any(|symbol| word.is_symbol(symbol))
}

/// Where what stands right of a comparison begins: `= x`.
fn right_of(words: &[Token<'_>], at: usize) -> Option<usize> {
    let mut from = at + 1;
    while words.get(from).is_some_and(is_compare) {
        from += 1;
    }
    (from > at + 1).then_some(from)
}

/// The column whose name ends before `end`.
fn column_before(words: &[Token<'_>], end: usize, tables: &[(String, &Table)]) -> Option<Bound> {
    let name = words.get(end.checked_sub(1)?)?;
    let has_table = end >= 3 && words[end - 2].is_symbol(".");
    column(has_table.then(|| &words[end - 3]), name, tables)
}

/// The column whose name begins at `from`.
fn column_from(words: &[Token<'_>], from: usize, tables: &[(String, &Table)]) -> Option<Bound> {
    match words.get(from + 1).is_some_and(|word| word.is_symbol(".")) {
        true => column(words.get(from), words.get(from + 2)?, tables),
        false => column(None, words.get(from)?, tables),
    }
}

/// A column by its name: of the table in front of it, or of the only table that has it.
fn column(
    qualifier: Option<&Token<'_>>,
    name: &Token<'_>,
    tables: &[(String, &Table)],
) -> Option<Bound> {
    let name = name
        .name()
        .filter(|_| matches!(name.kind, Kind::Word | Kind::Quoted))?;
    let rowids = ["rowid", "oid", "_rowid_"];
    let is_rowid = rowids.iter().any(|own| own.eq_ignore_ascii_case(&name));
    let mut found = tables
        .iter()
        .enumerate()
        .filter_map(|(at, (alias, table))| {
            let alias_of_rowid = table.rowid_alias.filter(|_| is_rowid);
            let column = table.column(&name).or(alias_of_rowid)?;
            qualifier
                .is_none_or(|word| word.is_name(alias))
                .then_some((at, column))
        });
    let (table, column) = found.next()?;
    // An inner query may name the table again.
    let mut others = found.map(|(other, _)| &tables[other].1.name);
    others
        .all(|other| *other == tables[table].1.name)
        .then_some(Bound::Column { table, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the parameters of a query over two tables are bound to.
    fn said(sql: &str) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE film(id INTEGER PRIMARY KEY, year, title); CREATE TABLE cast(film, person, PRIMARY KEY(film, person));
                 INSERT INTO film VALUES (1, 1999, 'a'), (2, 2000, 'b'); INSERT INTO cast VALUES (1, 7), (2, 8);",
            )
            .unwrap();
        let database = Database::read(&path).unwrap();
        let statement = connection.prepare(sql).unwrap();
        let names: Vec<Option<String>> = (1..=statement.parameter_count())
            .map(|at| statement.parameter_name(at).map(str::to_owned))
            .collect();
        let found = values(&connection, &database, sql, &names);
        assert!(found.unknown.is_empty() != found.sets.is_empty());
        (found.words, found.unknown)
    }

    #[test]
    fn parameters_get_the_values_of_what_they_are_compared_with() {
        for (sql, words) in [
            ("SELECT * FROM film WHERE year = ?", "?1 = film.year"),
            (
                "SELECT * FROM film WHERE year >= ? AND year < ?2",
                "?1 = film.year, ?2 = film.year",
            ),
            ("SELECT * FROM film f WHERE :y = f.year", ":y = film.year"),
            (
                "SELECT * FROM film AS f JOIN cast c ON c.film = f.id WHERE c.person IN (?, ?)",
                "?1 = cast.person, ?2 = cast.person",
            ),
            (
                "SELECT * FROM film, \"cast\" WHERE film = id AND [person] NOT IN (@p)",
                "@p = cast.person",
            ),
            (
                "SELECT * FROM film WHERE year NOT BETWEEN $a AND $b",
                "$a = film.year, $b = film.year",
            ),
            (
                "SELECT * FROM film WHERE title NOT LIKE ? LIMIT ? OFFSET ?",
                "?1 = film.title, ?2 = 10, ?3 = 0",
            ),
            ("SELECT * FROM film WHERE rowid IS NOT ?", "?1 = film.id"),
        ] {
            assert_eq!(
                said(sql),
                (words.split(", ").map(str::to_owned).collect(), Vec::new()),
                "{sql}"
            );
        }
    }

    #[test]
    fn what_can_not_be_told_is_named() {
        for (sql, unknown) in [
            ("SELECT * FROM film WHERE year + ? = 2000", "?1"),
            ("SELECT * FROM film WHERE length(title) = :n", ":n"),
            ("SELECT ? FROM film", "?1"),
        ] {
            assert_eq!(said(sql).1, [unknown], "{sql}");
        }
    }
}
