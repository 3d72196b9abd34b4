//! ON CONFLICT clauses of keys, and whether a change of the keys changes what they do.
//!
//! An INSERT is checked against NOT NULL and CHECK first, then against the rowid, then against the indexes, the last
//! made first. What REPLACE says waits until the others were checked, for the rowid too
//! (<https://www.sqlite.org/src/file?name=src/insert.c>, `sqlite3GenerateConstraintChecks`).

use super::table::TableText;
use super::token::{Token, tokens};

/// What a key does with a row that is there already, unless it fails the statement as every key does (ABORT).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The row that is there goes. It is checked last.
    Replace,
    /// IGNORE, FAIL or ROLLBACK: whichever key is checked first decides.
    InOrder,
}

/// A key with an ON CONFLICT clause other than ABORT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clause {
    /// Its columns; `None` where they can't be told.
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) action: Action,
}

/// The ON CONFLICT clauses of a table's keys. One of NOT NULL or CHECK is none: no key is checked before it.
pub(crate) fn clauses(sql: &str) -> Vec<Clause> {
    let words = tokens(sql);
    let unknown = |at: usize| Clause {
        columns: None,
        action: action(&words[at..]).unwrap_or(Action::InOrder),
    };
    let Some(table) = TableText::parse(sql) else {
        let all = (0..words.len()).filter(|&at| action(&words[at..]).is_some());
        return all.map(unknown).collect();
    };
    let words = &table.tokens;
    let mut found = Vec::new();
    for column in &table.columns {
        let name = words[column.name].name();
        let columns = name.map(|name| vec![name]);
        for at in column.constraints.clone() {
            let end = match (words[at].is("PRIMARY"), words[at].is("UNIQUE")) {
                (true, _) => at + 2,
                (_, true) => at + 1,
                _ => continue,
            };
            let is_sorted = words
                .get(end)
                .is_some_and(|word| word.is("ASC") || word.is("DESC"));
            let end = end + usize::from(is_sorted);
            found.extend(words.get(end..).and_then(action).map(|action| Clause {
                columns: columns.clone(),
                action,
            }));
        }
    }
    for range in &table.constraints {
        let mut key = ["PRIMARY", "UNIQUE"].into_iter();
        let Some(at) = key.find_map(|word| table.find(range.clone(), word)) else {
            continue;
        };
        let clause = table.find(at..range.end, "CONFLICT");
        found.extend(
            clause
                .and_then(|at| action(&words[at - 1..]))
                .map(|action| Clause {
                    columns: table.names_after(at),
                    action,
                }),
        );
    }
    found
}

/// Whether the NOT NULL of a column has an ON CONFLICT clause other than ABORT.
pub(crate) fn null_is_handled(sql: &str, column: &str) -> bool {
    let Some(table) = TableText::parse(sql) else {
        return true;
    };
    let words = &table.tokens;
    table.column(column).is_none_or(|column| {
        let mut places = column.constraints.clone();
        places.any(|at| words[at].is("NOT") && action(&words[at + 2..]).is_some())
    })
}

/// What an ON CONFLICT clause says that begins here, if it isn't ABORT.
fn action(words: &[Token<'_>]) -> Option<Action> {
    match words {
        [on, conflict, what, ..] if on.is("ON") && conflict.is("CONFLICT") => match what {
            what if what.is("ABORT") => None,
            what if what.is("REPLACE") => Some(Action::Replace),
            _ => Some(Action::InOrder),
        },
        _ => None,
    }
}

impl Clause {
    fn is_of(&self, columns: &[&str]) -> bool {
        self.columns.as_ref().is_none_or(|own| {
            own.len() == columns.len()
                && own
                    .iter()
                    .all(|name| columns.iter().any(|other| other.eq_ignore_ascii_case(name)))
        })
    }
}

/// Tells whether an INSERT could end otherwise without a unique key whose rows another one, the `cover`, keeps apart.
/// `rowid` is the column that is the rowid's alias.
pub(crate) fn changes_without(
    clauses: &[Clause],
    key: &[&str],
    cover: &[&str],
    rowid: Option<&str>,
) -> bool {
    let is_rowid = |clause: &Clause| rowid.is_some_and(|rowid| clause.is_of(&[rowid]));
    let cover_is_rowid = rowid.is_some_and(|rowid| cover == [rowid]);
    clauses.iter().any(|clause| {
        let is_of_either = clause.is_of(key) || clause.is_of(cover);
        // The rowid is checked before every index, with and without the key.
        let is_in_between =
            clause.action == Action::InOrder && !cover_is_rowid && !is_rowid(clause);
        is_of_either || is_in_between
    })
}

/// Tells whether an INSERT could end otherwise where a table of `keys` unique keys gets another layout, which checks
/// them in another order.
pub(crate) fn changes_in_other_order(clauses: &[Clause], keys: usize) -> bool {
    !clauses.is_empty() && keys > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn of(sql: &str) -> Vec<(Option<String>, Action)> {
        let all = clauses(sql).into_iter();
        all.map(|clause| {
            let columns = clause.columns.map(|columns| columns.join(","));
            (columns, clause.action)
        })
        .collect()
    }

    #[test]
    fn clauses_of_columns_and_tables() {
        let sql = "CREATE TABLE t([a b] INT CONSTRAINT k PRIMARY KEY DESC ON CONFLICT replace, \
                   c NOT NULL ON CONFLICT IGNORE UNIQUE ON CONFLICT ABORT, d UNIQUE /* x */ ON CONFLICT FAIL, \
                   CHECK (c <> 'ON CONFLICT REPLACE') ON CONFLICT ROLLBACK, UNIQUE(c, \"d\" DESC) ON CONFLICT IGNORE)";
        assert_eq!(
            of(sql),
            [
                (Some("a b".into()), Action::Replace),
                (Some("d".into()), Action::InOrder),
                (Some("c,d".into()), Action::InOrder),
            ]
        );
        let none = "CREATE TABLE t(a PRIMARY KEY, b NOT NULL ON CONFLICT REPLACE)";
        assert_eq!(of(none), []);
    }

    /// The rows and errors after INSERTs of every pair of rows that are in conflict in every way.
    fn outcomes(schema: &str) -> Vec<String> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(schema).unwrap();
        let mut found = Vec::new();
        let rows: Vec<String> = (0..27)
            .map(|at| format!("({}, {}, {})", at % 3, at / 3 % 3, at / 9))
            .collect();
        for row in &rows {
            let sql = format!(
                "DELETE FROM t; INSERT INTO t(id, a, b) VALUES (0, 0, 0), (1, 1, 1); BEGIN; INSERT INTO t(id, a, b) VALUES (2, 2, 2), {row}"
            );
            let is_ok = connection.execute_batch(&sql).is_ok();
            let is_open = !connection.is_autocommit();
            _ = connection.execute_batch("COMMIT");
            let content =
                "SELECT group_concat(id || a || b, ' ') FROM (SELECT * FROM t ORDER BY 1, 2, 3)";
            let content: String = connection.query_row(content, (), |row| row.get(0)).unwrap();
            found.push(format!("{row} {is_ok} {is_open} {content}"));
        }
        found
    }

    const CLAUSES: [&str; 6] = ["", "ABORT", "REPLACE", "IGNORE", "FAIL", "ROLLBACK"];

    fn clause(at: usize) -> String {
        match CLAUSES[at] {
            "" => String::new(),
            what => format!(" ON CONFLICT {what}"),
        }
    }

    /// Every combination of clauses: where the answer is no, SQLite's INSERT does the same without the key.
    #[test]
    fn what_changes_nothing_changes_nothing_in_sqlite() {
        let (mut same, mut others) = (0, 0);
        for at in 0..CLAUSES.len().pow(3) {
            let [of_id, of_a, of_b] = [at % 6, at / 6 % 6, at / 36].map(clause);
            for (keys, key, cover) in [
                ("UNIQUE(a)", "a", "a"),
                ("UNIQUE(b), UNIQUE(a)", "a", "a"),
                ("UNIQUE(a), UNIQUE(b)", "a", "a"),
                ("UNIQUE(b)", "id,a", "id"),
                ("UNIQUE(a), UNIQUE(b)", "a,b", "a"),
                ("UNIQUE(b), UNIQUE(a)", "a,b", "a"),
            ] {
                let keys = keys
                    .replace("(a)", &format!("(a){of_a}"))
                    .replace("(b)", &format!("(b){of_b}"));
                let table = format!(
                    "CREATE TABLE t(id INTEGER PRIMARY KEY{of_id}, a INT NOT NULL, b INT NOT NULL, {keys});"
                );
                let with = format!("{table} CREATE UNIQUE INDEX i ON t({key})");
                let split = |names: &'static str| names.split(',').collect::<Vec<_>>();
                let changes =
                    changes_without(&clauses(&table), &split(key), &split(cover), Some("id"));
                let is_same = outcomes(&table) == outcomes(&with);
                assert!(changes || is_same, "{with}");
                *(if is_same { &mut same } else { &mut others }) += 1;
            }
        }
        assert!(same > 100 && others > 100, "{same} {others}");
    }

    /// A table with one key does the same in every layout; so does one whose keys all fail the statement.
    #[test]
    fn what_changes_nothing_in_another_layout_changes_nothing_in_sqlite() {
        let mut others = 0;
        for at in 0..CLAUSES.len().pow(2) {
            let [of_id, of_b] = [at % 6, at / 6].map(clause);
            for unique in [String::new(), format!(", UNIQUE(b){of_b}")] {
                let table = |kind: &str, options: &str| {
                    format!(
                        "CREATE TABLE t(id {kind} NOT NULL PRIMARY KEY{of_id}, a INT, b INT{unique}){options}"
                    )
                };
                let old = table("INT", "");
                let keys = 1 + usize::from(!unique.is_empty());
                let changes = changes_in_other_order(&clauses(&old), keys);
                for new in [table("INTEGER", ""), table("INT", " WITHOUT ROWID")] {
                    let is_same = outcomes(&old) == outcomes(&new);
                    assert!(changes || is_same, "{old} -> {new}");
                    others += usize::from(!is_same);
                }
            }
        }
        assert!(others > 0);
    }
}
