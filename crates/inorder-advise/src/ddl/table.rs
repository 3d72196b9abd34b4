//! The parts of a CREATE TABLE statement as `sqlite_schema` has it.

use std::ops::Range;

use super::token::{Kind, Token, tokens};

/// A CREATE TABLE statement taken apart. Ranges are of tokens.
pub(crate) struct TableText<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    /// The table's name.
    pub(crate) name: usize,
    pub(crate) columns: Vec<ColumnText>,
    pub(crate) constraints: Vec<Range<usize>>,
    /// The parenthesis after the last column or constraint.
    pub(crate) close: usize,
}

/// A column's definition.
pub(crate) struct ColumnText {
    pub(crate) name: usize,
    /// Its type, which may be empty.
    pub(crate) kind: Range<usize>,
    /// Its constraints.
    pub(crate) constraints: Range<usize>,
}

/// What a table constraint begins with. None of these is a name without quotes.
const TABLE_CONSTRAINTS: [&str; 5] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];

/// What ends a column's type.
const COLUMN_CONSTRAINTS: [&str; 12] = [
    "CONSTRAINT",
    "PRIMARY",
    "NOT",
    "NULL",
    "UNIQUE",
    "CHECK",
    "DEFAULT",
    "COLLATE",
    "REFERENCES",
    "GENERATED",
    "AS",
    "DEFERRABLE",
];

impl<'a> TableText<'a> {
    /// Takes a statement apart; `None` where it isn't CREATE TABLE with columns in parentheses.
    pub(crate) fn parse(sql: &'a str) -> Option<Self> {
        let tokens = tokens(sql);
        let is_table = tokens.first()?.is("CREATE") && tokens.get(1)?.is("TABLE");
        tokens.get(2)?.name()?;
        if !is_table || !tokens.get(3)?.is_symbol("(") {
            return None;
        }
        let close = closing(&tokens, 3)?;
        let (mut columns, mut constraints) = (Vec::new(), Vec::new());
        for item in split(&tokens, 4..close) {
            let first = tokens.get(item.start)?;
            match TABLE_CONSTRAINTS.iter().any(|word| first.is(word)) {
                true => constraints.extend(table_constraints(&tokens, item)),
                false => columns.push(column(&tokens, item)?),
            }
        }
        Some(TableText {
            tokens,
            name: 2,
            columns,
            constraints,
            close,
        })
    }

    pub(crate) fn column(&self, name: &str) -> Option<&ColumnText> {
        let is_named = |column: &&ColumnText| self.tokens[column.name].is_name(name);
        self.columns.iter().find(is_named)
    }

    /// The place of a keyword among tokens, outside of parentheses.
    pub(crate) fn find(&self, range: Range<usize>, keyword: &str) -> Option<usize> {
        outer(&self.tokens, range)
            .into_iter()
            .find(|at| self.tokens[*at].is(keyword))
    }

    /// The names in the parentheses that follow a place: the columns of a constraint.
    pub(crate) fn names_after(&self, at: usize) -> Option<Vec<String>> {
        let open = (at..self.close).find(|at| self.tokens[*at].is_symbol("("))?;
        let items = split(&self.tokens, open + 1..closing(&self.tokens, open)?);
        items
            .into_iter()
            .map(|item| self.tokens[item.start].name())
            .collect()
    }
}

/// The parenthesis that closes this one.
pub(crate) fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth += i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"));
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The places of tokens that are in no parentheses of this range.
fn outer(tokens: &[Token<'_>], range: Range<usize>) -> Vec<usize> {
    let mut depth = 0;
    let mut found = Vec::new();
    for at in range {
        depth -= i32::from(tokens[at].is_symbol(")"));
        if depth == 0 && !tokens[at].is_symbol(")") {
            found.push(at);
        }
        depth += i32::from(tokens[at].is_symbol("("));
    }
    found
}

/// The parts between commas.
fn split(tokens: &[Token<'_>], range: Range<usize>) -> Vec<Range<usize>> {
    let mut start = range.start;
    let mut parts = Vec::new();
    for at in outer(tokens, range.clone()) {
        if tokens[at].is_symbol(",") {
            parts.push(start..at);
            start = at + 1;
        }
    }
    parts.push(start..range.end);
    parts
}

/// Table constraints, which SQLite takes without commas between them too.
fn table_constraints(tokens: &[Token<'_>], item: Range<usize>) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut is_named = false;
    for at in outer(tokens, item.clone()) {
        let is_name = tokens[at].is("CONSTRAINT");
        if TABLE_CONSTRAINTS.iter().any(|word| tokens[at].is(word)) {
            if !is_named {
                starts.push(at);
            }
            is_named = is_name;
        }
    }
    let ends = starts.iter().skip(1).copied().chain([item.end]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| *start..end)
        .collect()
}

fn column(tokens: &[Token<'_>], item: Range<usize>) -> Option<ColumnText> {
    tokens.get(item.start)?.name()?;
    let mut at = item.start + 1;
    let is_of_kind = |token: &Token<'_>| {
        token.kind != Kind::Symbol
            && token.kind != Kind::Literal
            && !COLUMN_CONSTRAINTS.iter().any(|word| token.is(word))
    };
    while at < item.end && is_of_kind(&tokens[at]) {
        at += 1;
    }
    if at > item.start + 1 && at < item.end && tokens[at].is_symbol("(") {
        at = closing(tokens, at)? + 1;
    }
    Some(ColumnText {
        name: item.start,
        kind: item.start + 1..at,
        constraints: at..item.end,
    })
}
