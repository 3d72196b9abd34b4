//! What the catalog of SQLite has as text only.

use crate::model::Check;

/// A token of a statement, and where it ends.
fn token(sql: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let Some(first) = sql.chars().next() else {
        return 0;
    };
    let after = |start: usize, end: &str| {
        let found = sql[start..].find(end);
        found.map_or(sql.len(), |at| start + at + end.len())
    };
    match first {
        '\'' | '"' | '`' => {
            let mut end = after(1, &sql[..1]);
            // A quote that is doubled is a part of the text.
            while sql[end..].starts_with(first) {
                end += 1 + sql[end + 1..]
                    .find(first)
                    .map_or(sql.len() - end - 1, |at| at + 1);
            }
            end
        }
        '[' => after(1, "]"),
        '-' if sql.starts_with("--") => after(2, "\n"),
        '/' if sql.starts_with("/*") => after(2, "*/"),
        _ if is_word(first) => sql.find(|c| !is_word(c)).unwrap_or(sql.len()),
        _ => first.len_utf8(),
    }
}

/// The end of what is in the parentheses at the beginning of a text, after the closing one.
fn closed(sql: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0);
    while at < sql.len() {
        let length = token(&sql[at..]);
        match &sql[at..at + length] {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        at += length;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The CHECK constraints of a CREATE TABLE statement. Those without a name are numbered.
pub fn checks(sql: &str, table: &str) -> Vec<Check> {
    let mut found = Vec::new();
    let (mut at, mut words): (usize, Vec<&str>) = (0, Vec::new());
    while at < sql.len() {
        let length = token(&sql[at..]);
        let word = &sql[at..at + length];
        at += length;
        if word.trim().is_empty() || word.starts_with("--") || word.starts_with("/*") {
            continue;
        }
        let is_check = word == "("
            && words
                .last()
                .is_some_and(|last| last.eq_ignore_ascii_case("check"));
        if is_check && let Some(end) = closed(&sql[at - 1..]) {
            let condition = &sql[at..at + end - 2];
            let named =
                words.len() >= 3 && words[words.len() - 3].eq_ignore_ascii_case("constraint");
            let name = match named {
                true => words[words.len() - 2]
                    .trim_matches(['"', '`', '[', ']', '\''])
                    .to_owned(),
                false => format!("{table}_check{}", found.len() + 1),
            };
            found.push(Check {
                name,
                condition: condition.trim().to_owned(),
                is_valid: true,
                is_enforced: true,
            });
            at += end - 1;
        }
        words.push(word);
    }
    found
}

/// What follows the table in a CREATE INDEX statement.
pub fn parts(sql: &str) -> Option<String> {
    let (mut at, mut has_on) = (0, false);
    while at < sql.len() {
        let length = token(&sql[at..]);
        let word = &sql[at..at + length];
        if has_on && word == "(" {
            return Some(sql[at..].to_owned());
        }
        has_on |= word.eq_ignore_ascii_case("on");
        at += length;
    }
    None
}

/// The module of a virtual table.
pub fn module(sql: &str) -> &str {
    let upper = sql.to_ascii_uppercase();
    let Some(start) = upper.find(" USING ") else {
        return "";
    };
    let rest = sql[start + " USING ".len()..].trim_start();
    &rest[..token(rest)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_and_parts_are_found() {
        let sql =
            "CREATE TABLE t(a INT CHECK (a > 0), \"check\" TEXT DEFAULT 'check (1)', -- check (2)
            CONSTRAINT [of b] CHECK((a + (1)) < 9 AND \"check\" <> ')'), check/**/(1))";
        let found: Vec<(String, String)> = checks(sql, "t")
            .into_iter()
            .map(|check| (check.name, check.condition))
            .collect();
        let expected = [
            ("t_check1", "a > 0"),
            ("of b", "(a + (1)) < 9 AND \"check\" <> ')'"),
            ("t_check3", "1"),
        ];
        assert_eq!(
            found,
            expected.map(|(name, text)| (name.to_owned(), text.to_owned()))
        );
        assert_eq!(
            parts("CREATE INDEX \"on\" ON t(lower(a)) WHERE a > 0").as_deref(),
            Some("(lower(a)) WHERE a > 0")
        );
        assert_eq!(module("CREATE VIRTUAL TABLE f USING fts5(a, b)"), "fts5");
    }
}
