//! Every rule, with what it must propose and what it must not.

mod common;

use common::{candidates, numbers, of, safe, uuid};
use inorder_advise::{
    Change,
    rules::{Class, Group},
};
use rusqlite::Connection;

/// Two indexes on `t(a, b, c)`: the terms and the tail of each, and whether the first is replaced by the second.
const PAIRS: &[(&str, &str, &str, &str, bool)] = &[
    ("(a)", "", "(a, b)", "", true),
    ("(a, b)", "", "(a, b, c)", "", true),
    ("(a DESC)", "", "(a, b)", "", true),
    ("(a)", "", "(a DESC, b)", "", true),
    ("(a DESC, b DESC)", "", "(a, b, c)", "", true),
    ("(a, b DESC)", "", "(a, b DESC, c)", "", true),
    ("(a COLLATE NOCASE)", "", "(a COLLATE nocase, b)", "", true),
    ("(lower(a))", "", "(lower( a ), b)", "", true),
    ("(a)", "WHERE b = 'x'", "(a, c)", "WHERE \"b\" = 'x'", true),
    (
        "(a)",
        "WHERE (b = 'x')",
        "(a, c)",
        "WHERE b='x' -- the same",
        true,
    ),
    ("(a, b)", "", "(b, a)", "", false),
    ("(b)", "", "(a, b)", "", false),
    ("(a DESC, b)", "", "(a, b, c)", "", false),
    ("(a, b DESC)", "", "(a, b)", "", false),
    ("(a COLLATE NOCASE)", "", "(a, b)", "", false),
    ("(a)", "", "(a COLLATE NOCASE, b)", "", false),
    ("(lower(a))", "", "(a, b)", "", false),
    ("(a)", "", "(lower(a), b)", "", false),
    ("(lower(a))", "", "(upper(a), b)", "", false),
    ("(a)", "WHERE b = 'x'", "(a, c)", "WHERE b = 'X'", false),
    ("(a)", "WHERE b = 'x'", "(a, c)", "", false),
    ("(a)", "", "(a, c)", "WHERE b = 'x'", false),
    ("(a, b)", "", "(a, c, b)", "", false),
];

/// Names as they may be written, and the same within an expression.
const QUOTES: &[fn(&str) -> String] = &[
    |sql| sql.to_owned(),
    |sql| in_quotes(sql, "\"", "\""),
    |sql| in_quotes(sql, "[", "]"),
    |sql| in_quotes(sql, "`", "`"),
];

fn in_quotes(sql: &str, open: &str, close: &str) -> String {
    let mut out = String::new();
    for (at, part) in sql.split('\'').enumerate() {
        let mut text = part.to_owned();
        if at % 2 == 0 {
            for name in ["a", "b", "c"] {
                let words: Vec<String> = split(&text)
                    .into_iter()
                    .map(|word| {
                        if word == name {
                            format!("{open}{name}{close}")
                        } else {
                            word
                        }
                    })
                    .collect();
                text = words.concat();
            }
        }
        out += &text;
        out.push('\'');
    }
    out.pop();
    out
}

/// Words and what is between them. Names in quotes stay.
fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_word = false;
    for letter in text.chars() {
        let is_word = letter.is_alphanumeric() || "_\"[]`".contains(letter);
        match words.last_mut() {
            Some(last) if is_word == was_word => last.push(letter),
            _ => words.push(letter.into()),
        }
        was_word = is_word;
    }
    words
}

#[test]
fn an_index_is_redundant_if_another_begins_with_it() {
    for &(own, own_tail, other, other_tail, expected) in PAIRS {
        for quote in QUOTES {
            for layout in [
                "k INTEGER PRIMARY KEY",
                "k TEXT PRIMARY KEY",
                "k TEXT NOT NULL",
            ] {
                let sql = format!(
                    "CREATE TABLE t({layout}, a TEXT, b TEXT, c TEXT); INSERT INTO t VALUES (1, 2, 3, 4), (2, 'x', 3, 5);
                     CREATE INDEX own ON t {} {}; CREATE INDEX other ON t {other} {other_tail};",
                    quote(own),
                    quote(own_tail)
                );
                let found = safe(&sql, Group::RedundantIndex);
                assert_eq!(found.contains(&"own".to_owned()), expected, "{sql}");
                assert!(!found.contains(&"other".to_owned()), "{sql}");
            }
        }
    }
}

#[test]
fn a_unique_index_is_replaced_by_a_unique_one_on_the_same_columns_alone() {
    for (own, other, dropped) in [
        (
            "UNIQUE INDEX own ON t(a)",
            "INDEX other ON t(a, b)",
            &[][..],
        ),
        (
            "UNIQUE INDEX own ON t(a)",
            "UNIQUE INDEX other ON t(a, b)",
            &[],
        ),
        (
            "UNIQUE INDEX own ON t(a)",
            "INDEX other ON t(a)",
            &["other"],
        ),
        ("INDEX own ON t(a)", "UNIQUE INDEX other ON t(a)", &["own"]),
        (
            "UNIQUE INDEX own ON t(a)",
            "UNIQUE INDEX other ON t(a)",
            &["other"],
        ),
        (
            "INDEX own ON t(a)",
            "UNIQUE INDEX other ON t(a, b)",
            &["own"],
        ),
        (
            "UNIQUE INDEX own ON t(a) WHERE b > 1",
            "UNIQUE INDEX other ON t(a)",
            &[],
        ),
    ] {
        let sql = format!(
            "CREATE TABLE t(k INTEGER PRIMARY KEY, a TEXT, b TEXT); CREATE {own}; CREATE {other};
             INSERT INTO t VALUES (1, 2, 3)"
        );
        assert_eq!(safe(&sql, Group::RedundantIndex), dropped, "{sql}");
    }
}

#[test]
fn the_index_that_a_constraint_made_stays_and_an_on_conflict_clause_keeps_both() {
    for (constraint, dropped) in [
        ("a TEXT UNIQUE", &["own"][..]),
        ("a TEXT, UNIQUE(a)", &["own"]),
        ("a TEXT UNIQUE ON CONFLICT ABORT", &["own"]),
        ("a TEXT UNIQUE ON CONFLICT REPLACE", &[]),
        ("a TEXT UNIQUE ON CONFLICT IGNORE", &[]),
        ("a TEXT, UNIQUE(a) ON CONFLICT FAIL", &[]),
    ] {
        let sql = format!(
            "CREATE TABLE t(k, {constraint}); CREATE UNIQUE INDEX own ON t(a); INSERT INTO t VALUES(1, 2)"
        );
        assert_eq!(safe(&sql, Group::RedundantIndex), dropped, "{sql}");
        // One that is not UNIQUE checks nothing.
        let sql = sql.replace("UNIQUE INDEX", "INDEX");
        assert_eq!(safe(&sql, Group::RedundantIndex), ["own"], "{sql}");
    }
}

#[test]
fn keys_of_tables_and_rowids_replace_indexes() {
    for (table, index, is_dropped) in [
        (
            "t(a TEXT, b TEXT, PRIMARY KEY(a, b)) WITHOUT ROWID",
            "t(a)",
            true,
        ),
        (
            "t(a TEXT, b TEXT, PRIMARY KEY(a, b)) WITHOUT ROWID",
            "t(b)",
            false,
        ),
        ("t(a TEXT, b TEXT, PRIMARY KEY(a, b))", "t(a, b)", true),
        ("t(a INTEGER PRIMARY KEY, b TEXT)", "t(a)", true),
        ("t(a INT PRIMARY KEY, b TEXT)", "t(a)", true),
        ("t(a INTEGER, b TEXT)", "t(a)", false),
    ] {
        let sql = format!(
            "CREATE TABLE {table}; CREATE INDEX own ON {index}; INSERT INTO t VALUES(1, 2)"
        );
        assert_eq!(
            safe(&sql, Group::RedundantIndex) == ["own"],
            is_dropped,
            "{sql}"
        );
    }
}

#[test]
fn of_a_chain_of_indexes_the_widest_stays() {
    let sql = "CREATE TABLE t(k INTEGER PRIMARY KEY, a, b, c); CREATE INDEX i1 ON t(a); CREATE INDEX i3 ON t(a, b, c);
               CREATE INDEX i2 ON t(a, b); CREATE INDEX j3 ON t(a, b, c); INSERT INTO t VALUES (1, 2, 3, 4)";
    let mut dropped = safe(sql, Group::RedundantIndex);
    dropped.sort();
    assert_eq!(dropped, ["i1", "i2", "j3"]);
}

#[test]
fn an_index_that_a_view_or_trigger_demands_stays() {
    let sql = "CREATE TABLE t(k INTEGER PRIMARY KEY, a, b); CREATE INDEX own ON t(a); CREATE INDEX other ON t(a, b);
               CREATE VIEW v AS SELECT a FROM t INDEXED BY own WHERE a > 1; INSERT INTO t VALUES (1, 2, 3)";
    assert_eq!(safe(sql, Group::RedundantIndex), [""; 0]);
}

/// A table, an index on it, and what of a kind is implied by another key.
const IMPLIED: &[(&str, &str, Group, &[&str])] = &[
    (
        "t(k INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE, b)",
        "INDEX own ON t(a, b)",
        Group::UniquePrefix,
        &["own"],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE, b)",
        "INDEX own ON t(b, a)",
        Group::UniquePrefix,
        &[],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a TEXT UNIQUE, b)",
        "INDEX own ON t(a, b)",
        Group::UniquePrefix,
        &[],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE NOT NULL UNIQUE, b)",
        "INDEX own ON t(a COLLATE BINARY, b)",
        Group::UniquePrefix,
        &[],
    ),
    // The rows of a condition are listed by their index alone.
    (
        "t(k INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE, b)",
        "INDEX own ON t(a, b) WHERE b = 'pending'",
        Group::UniquePrefix,
        &[],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a, b)",
        "INDEX own ON t(k) WHERE b = 'pending'",
        Group::UniquePrefix,
        &[],
    ),
    // The key finds rows by b, the index by a.
    (
        "t(k INTEGER PRIMARY KEY, a NOT NULL, b NOT NULL, c, UNIQUE(b, a))",
        "INDEX own ON t(a, b, c)",
        Group::UniquePrefix,
        &[],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a NOT NULL, b NOT NULL, c, UNIQUE(a, b DESC))",
        "INDEX own ON t(a, b, c)",
        Group::UniquePrefix,
        &[],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a NOT NULL, b NOT NULL, c, UNIQUE(a, b DESC))",
        "INDEX own ON t(a DESC, b, c)",
        Group::UniquePrefix,
        &["own"],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE, b)",
        "INDEX own ON t(a COLLATE NOCASE, b)",
        Group::UniquePrefix,
        &[],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a, UNIQUE(k, a))",
        "INDEX own ON t(a)",
        Group::ImpliedUnique,
        &["UNIQUE(k, a)"],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a, UNIQUE(a, k))",
        "INDEX own ON t(k, a)",
        Group::ImpliedUnique,
        &[],
    ),
    (
        "t(k INTEGER PRIMARY KEY UNIQUE, a)",
        "INDEX own ON t(a)",
        Group::ImpliedUnique,
        &["UNIQUE(k)"],
    ),
    (
        "t(k INTEGER PRIMARY KEY, a, UNIQUE(k, a) ON CONFLICT IGNORE)",
        "INDEX own ON t(a)",
        Group::ImpliedUnique,
        &[],
    ),
];

#[test]
fn a_unique_key_implies_wider_ones() {
    for &(table, index, group, objects) in IMPLIED {
        let sql = format!("CREATE TABLE {table}; CREATE {index}");
        assert_eq!(safe(&sql, group), objects, "{sql}");
    }
}

#[test]
fn foreign_keys_keep_their_indexes() {
    let parent = "CREATE TABLE p(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT NOT NULL, UNIQUE(id, a));
                  CREATE UNIQUE INDEX pa ON p(a); CREATE UNIQUE INDEX pab ON p(a, b); INSERT INTO p VALUES (1, 'x', 'y');";
    let with = |child: &str| {
        candidates(&format!(
            "{parent} CREATE TABLE c(id INTEGER PRIMARY KEY, a TEXT, b TEXT, {child});"
        ))
    };
    let dropped = |child: &str| {
        let mut found: Vec<String> = with(child)
            .into_iter()
            .filter(|candidate| candidate.class == Class::Safe && candidate.table == "p")
            .map(|candidate| candidate.object)
            .collect();
        found.sort();
        found
    };
    assert_eq!(dropped("CHECK (1)"), ["UNIQUE(id, a)", "pab"]);
    assert_eq!(
        dropped("FOREIGN KEY(a, b) REFERENCES P(A, B)"),
        ["UNIQUE(id, a)"]
    );
    assert_eq!(
        dropped("FOREIGN KEY(b, a) REFERENCES p(b, a)"),
        ["UNIQUE(id, a)"]
    );
    assert_eq!(dropped("FOREIGN KEY(id, a) REFERENCES p(id, a)"), ["pab"]);
    assert_eq!(
        dropped("FOREIGN KEY(id) REFERENCES p"),
        ["UNIQUE(id, a)", "pab"]
    );
    // Of two parent keys one stays, though either could go without the other.
    let twice = parent.replace("'y');", "'y'); CREATE UNIQUE INDEX pia ON p(id, a);");
    let child = "CREATE TABLE c(x, y, FOREIGN KEY(x, y) REFERENCES p(id, a))";
    let found = candidates(&format!("{twice} {child}"));
    let gone: Vec<&str> = found
        .iter()
        .filter(|candidate| candidate.class == Class::Safe && candidate.table == "p")
        .map(|candidate| &*candidate.object)
        .collect();
    assert_eq!(gone, ["pia", "pab"]);
    // A partial index with the same rows finds the children, too.
    let some = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p_id REFERENCES p, x);
                CREATE INDEX cp ON c(p_id) WHERE p_id IS NOT NULL; CREATE INDEX cpx ON c(p_id, x) WHERE p_id IS NOT NULL;";
    assert_eq!(safe(some, Group::RedundantIndex), ["cp"]);
    // A child's index may go if another one begins with its columns.
    let child = "CREATE TABLE c(id INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE, b TEXT, FOREIGN KEY(a, b) REFERENCES p(a, b));
                 CREATE INDEX cab ON c(a, b);";
    assert_eq!(
        safe(&format!("{parent} {child}"), Group::UniquePrefix),
        [""; 0]
    );
    let more = format!(
        "{parent} {child} CREATE INDEX cabi ON c(b, a, id); INSERT INTO c VALUES (1, 'x', 'y');"
    );
    assert_eq!(safe(&more, Group::UniquePrefix), ["cabi", "cab"][1..]);
}

#[test]
fn an_index_of_nulls_becomes_partial() {
    let sql = |table: &str, index: &str| {
        format!(
            "CREATE TABLE t(k INTEGER PRIMARY KEY, {table}); CREATE {index}; INSERT INTO t(k, b) VALUES (1, 2), (2, 2)"
        )
    };
    let partial = |table: &str, index: &str| safe(&sql(table, index), Group::NullIndex);
    assert_eq!(partial("a, b", "INDEX i ON t(a)"), ["i"]);
    // Soft deletion: all rows have a NULL, and the index finds them in order.
    assert_eq!(partial("a, b", "INDEX i ON t(a, b)"), [""; 0]);
    assert_eq!(partial("a, b, c", "INDEX i ON t(a, c)"), ["i"]);
    assert_eq!(partial("a, b", "INDEX i ON t(a, k)"), ["i"]);
    let with_other = "INDEX j ON t(b, a); CREATE INDEX i ON t(a, b)";
    assert_eq!(partial("a, b", with_other), ["i"]);
    let descending = "INDEX j ON t(b DESC); CREATE INDEX i ON t(a, b)";
    assert_eq!(partial("a, b", descending), ["i"]);
    let other_collation = "INDEX j ON t(b COLLATE NOCASE); CREATE INDEX i ON t(a, b)";
    assert_eq!(partial("a, b", other_collation), [""; 0]);
    assert_eq!(partial("a, b", "UNIQUE INDEX i ON t(a)"), [""; 0]);
    assert_eq!(partial("a, b, c AS (b)", "INDEX i ON t(a, c)"), [""; 0]);
    assert_eq!(partial("a, b", "INDEX i ON t(b, a)"), [""; 0]);
    assert_eq!(partial("a, b", "INDEX i ON t(a) WHERE b > 1"), [""; 0]);
    assert_eq!(partial("a UNIQUE, b", "INDEX i ON t(b)"), [""; 0]);
    let with_child = "a REFERENCES t(k) ON DELETE CASCADE, b";
    let found = of(&sql(with_child, "INDEX i ON t(a)"), Group::NullIndex);
    assert_eq!(found[0].class, Class::Safe);
    assert!(
        found[0]
            .notes
            .iter()
            .any(|note| note.starts_with("Not dropped: FOREIGN KEY(a)")),
        "{found:?}"
    );
}

#[test]
fn integer_keys_that_are_not_the_rowid() {
    let of_key = |key: &str, value: &str| {
        let sql = format!(
            "CREATE TABLE t({key}, b); {} INSERT INTO t SELECT i, i FROM n; INSERT INTO t VALUES ({value}, 'x')",
            numbers(50)
        );
        safe(&sql, Group::IntegerKey)
    };
    for key in [
        "id INT PRIMARY KEY",
        "id BIGINT PRIMARY KEY",
        "[id] INTEGER PRIMARY KEY DESC",
        "id UNSIGNED BIG INT NOT NULL PRIMARY KEY",
    ] {
        assert_eq!(of_key(key, "77"), ["t.id"], "{key}");
    }
    assert_eq!(of_key("id INTEGER PRIMARY KEY", "77"), [""; 0]);
    assert_eq!(of_key("id INT PRIMARY KEY", "'x-legacy'"), [""; 0]);
    assert_eq!(of_key("id INT PRIMARY KEY", "NULL"), [""; 0]);
    assert_eq!(of_key("id INT PRIMARY KEY", "7.5"), [""; 0]);
    // With one key there is nothing to be checked in another order.
    let replacing = "id INT PRIMARY KEY ON CONFLICT REPLACE";
    assert_eq!(of_key(replacing, "77"), ["t.id"]);
    let with_other = format!("{replacing}, c UNIQUE DEFAULT NULL");
    let sql = format!(
        "CREATE TABLE t({with_other}); {} INSERT INTO t SELECT i, i FROM n",
        numbers(50)
    );
    assert_eq!(safe(&sql, Group::IntegerKey), [""; 0]);
}

#[test]
fn autoincrement_stays() {
    let found = of(
        "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT)",
        Group::IntegerKey,
    );
    assert_eq!(found[0].class, Class::Rejected);
}

#[test]
fn a_table_whose_rowids_are_used_keeps_them() {
    let table = "CREATE TABLE t(k TEXT PRIMARY KEY, body TEXT); INSERT INTO t VALUES ('a', 'b');";
    let layout = |rest: &str| safe(&format!("{table} {rest}"), Group::WithoutRowid);
    assert_eq!(layout("CREATE VIEW v AS SELECT k FROM t; -- rowid"), ["t"]);
    assert_eq!(
        layout("CREATE VIEW v AS SELECT k, 1 AS oids /* rowid */ FROM t"),
        ["t"]
    );
    for user in [
        "CREATE VIEW v AS SELECT rowid, k FROM T",
        "CREATE VIEW v AS SELECT max(\"oid\") FROM t",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT new._ROWID_; END",
        "CREATE TABLE u(x); CREATE TRIGGER g AFTER INSERT ON u BEGIN DELETE FROM t WHERE rowid = new.x; END",
        "CREATE VIRTUAL TABLE f USING fts5(body, content='t')",
        "CREATE VIRTUAL TABLE f USING fts5(body, content=T, content_rowid=rowid)",
        "CREATE VIRTUAL TABLE f USING fts4(body, content=\"t\")",
    ] {
        assert_eq!(layout(user), [""; 0], "{user}");
    }
    let rowids_of_others = [
        "CREATE TABLE u(oid INTEGER PRIMARY KEY, k); CREATE VIEW v AS SELECT u.oid, t.k FROM t JOIN u USING (k)",
        "CREATE TABLE u(x); CREATE VIEW v AS SELECT u.rowid FROM u, t WHERE u.x = t.k",
        "CREATE TABLE u(x); CREATE TRIGGER g AFTER INSERT ON u BEGIN UPDATE u SET x = (SELECT k FROM t) WHERE rowid = new.rowid; END",
        "CREATE VIRTUAL TABLE f USING fts5(t, body); CREATE TABLE c(y)",
        "CREATE VIRTUAL TABLE f USING fts5(k UNINDEXED, body)",
        "CREATE VIRTUAL TABLE f USING fts5(name)",
    ];
    for other in rowids_of_others {
        assert_eq!(layout(other)[..1], ["t"], "{other}");
    }
    for user in [
        "CREATE TABLE u(x); CREATE VIEW v AS SELECT (SELECT rowid FROM t) FROM u",
        "CREATE TABLE log(id INTEGER); CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (last_insert_rowid()); END",
        "CREATE VIRTUAL TABLE f USING fts5(body)",
        "CREATE VIRTUAL TABLE f USING fts5(body, content='')",
        "CREATE VIEW v AS SELECT mine(rowid) FROM t",
    ] {
        assert_eq!(layout(user), [""; 0], "{user}");
    }
    for own in [
        "k TEXT PRIMARY KEY, body CHECK (rowid > 0)",
        "k TEXT PRIMARY KEY, body TEXT AS (_rowid_)",
    ] {
        let sql = format!("CREATE TABLE t({own}); INSERT INTO t(k) VALUES ('a')");
        let made = Connection::open_in_memory().unwrap().execute_batch(&sql);
        if made.is_ok() {
            assert_eq!(safe(&sql, Group::WithoutRowid), [""; 0], "{own}");
        }
    }
    let texts = "CREATE TABLE t(k TEXT PRIMARY KEY, body CHECK (body <> 'rowid'), u REFERENCES u(oid)); INSERT INTO t VALUES ('a', 'b', 1)";
    assert_eq!(safe(texts, Group::WithoutRowid), ["t"]);
    // A column of that name is no rowid.
    let own = "CREATE TABLE t(rowid TEXT PRIMARY KEY, body TEXT); INSERT INTO t VALUES ('a', 'b'); CREATE VIEW v AS SELECT rowid FROM t";
    assert_eq!(safe(own, Group::WithoutRowid), ["t"]);
}

#[test]
fn null_in_the_key_and_conflict_clauses_bar_without_rowid() {
    let layout = |columns: &str, row: &str| {
        safe(
            &format!("CREATE TABLE t({columns}); INSERT INTO t VALUES ({row})"),
            Group::WithoutRowid,
        )
    };
    assert_eq!(layout("a, b, PRIMARY KEY(a, b)", "1, 2"), ["t"]);
    assert_eq!(layout("a, b, PRIMARY KEY(a, b)", "1, NULL"), [""; 0]);
    assert_eq!(
        layout("a PRIMARY KEY ON CONFLICT REPLACE, b UNIQUE", "1, 2"),
        [""; 0]
    );
    let one_key = "a PRIMARY KEY ON CONFLICT REPLACE, b NOT NULL ON CONFLICT IGNORE";
    assert_eq!(layout(one_key, "1, 2"), ["t"]);
    let other_clause = "a PRIMARY KEY, b UNIQUE NOT NULL ON CONFLICT IGNORE";
    assert_eq!(layout(other_clause, "1, 2"), ["t"]);
    assert_eq!(layout("a INTEGER PRIMARY KEY, b", "1, 2"), [""; 0]);
    assert_eq!(layout("a UNIQUE NOT NULL, b", "1, 2"), ["t by UNIQUE(a)"]);
}

#[test]
fn tables_without_rowid_are_tried_by_rowid() {
    let layout = |bytes: u32| {
        safe(
            &format!(
                "CREATE TABLE t(k TEXT PRIMARY KEY, b) WITHOUT ROWID; {} INSERT INTO t SELECT i, zeroblob({bytes}) FROM n",
                numbers(100)
            ),
            Group::Rowid,
        )
    };
    // No rule of thumb tells which layout is smaller, so both are tried.
    assert_eq!(layout(1500), ["t"]);
    assert_eq!(layout(20), ["t"]);
}

/// A table of ids with the same ids in another one.
fn id_tables(key: &str, id: &str, rest: &str) -> String {
    format!(
        "CREATE TABLE t({key}, b TEXT); CREATE TABLE u(id INTEGER PRIMARY KEY, t_id TEXT);
         {} INSERT INTO t SELECT {id}, 'x' FROM n; INSERT INTO u SELECT NULL, k FROM t; CREATE INDEX u_t ON u(t_id); {rest}",
        numbers(2000)
    )
}

#[test]
fn text_ids_are_converted_with_every_column_that_holds_them() {
    for (id, form) in [
        (uuid(4), "uuid"),
        (uuid(7), "uuid"),
        (format!("upper({})", uuid(4)), "uuid-upper"),
        ("lower(hex(randomblob(16)))".to_owned(), "hex"),
        ("hex(randomblob(16))".to_owned(), "hex-upper"),
    ] {
        let sql = id_tables("k TEXT PRIMARY KEY", &id, "");
        let found = of(&sql, Group::IdsToBlobs);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].class, Class::App);
        let Change::IdsToBlobs { columns } = &found[0].changes[0] else {
            panic!("{found:?}")
        };
        let mut names: Vec<String> = columns
            .iter()
            .map(|column| format!("{}.{}", column.table, column.column))
            .collect();
        names.sort();
        assert_eq!(names, ["t.k", "u.t_id"]);
        let written = serde_json::to_value(columns[0].form).unwrap();
        assert_eq!(written, form);
    }
}

#[test]
fn text_ids_are_converted_where_code_only_compares_them() {
    let id = uuid(4);
    for rest in [
        "CREATE TRIGGER g AFTER UPDATE ON t BEGIN UPDATE t SET b = 'now' || NEW.b WHERE k = NEW.k; END",
        "CREATE TRIGGER g AFTER DELETE ON t BEGIN DELETE FROM u WHERE t_id = OLD.k; END",
        "CREATE TABLE log(x); CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (lower(NEW.b)); END",
        "CREATE TRIGGER g BEFORE UPDATE OF b ON t BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT k, lower(b) AS c, u.id || 'x' FROM t JOIN u ON t.k = u.t_id",
        "CREATE INDEX i ON t(k, b) WHERE b IS NOT NULL",
    ] {
        let sql = id_tables("k TEXT PRIMARY KEY", &id, rest);
        let folder = tempfile::tempdir().unwrap();
        let found = common::advice(&common::made(folder.path(), &sql)).unwrap();
        let mut parts = found.items.iter().flat_map(|item| &item.parts);
        let part = parts.find(|part| part.candidate.group == Group::IdsToBlobs);
        let candidate = &part.unwrap().candidate;
        assert_eq!(candidate.class, Class::App, "{rest}: {candidate:?}");
    }
}

/// A child without rows, or without values, has to take the ids of its parent as it takes rows.
#[test]
fn ids_without_values_are_converted_with_their_parents() {
    let rest = "CREATE TABLE empty(id INTEGER PRIMARY KEY, t_id TEXT REFERENCES t, other TEXT);
                CREATE TABLE nulls(id INTEGER PRIMARY KEY, parent TEXT REFERENCES t(k)); INSERT INTO nulls VALUES (1, NULL);";
    let found = of(
        &id_tables("k TEXT PRIMARY KEY", &uuid(4), rest),
        Group::IdsToBlobs,
    );
    assert_eq!(found[0].class, Class::App, "{found:?}");
    let Change::IdsToBlobs { columns } = &found[0].changes[0] else {
        panic!("{found:?}")
    };
    let names: Vec<String> = columns
        .iter()
        .map(|column| format!("{}.{}", column.table, column.column))
        .collect();
    assert_eq!(names, ["t.k", "u.t_id", "nulls.parent", "empty.t_id"]);
}

#[test]
fn text_ids_stay_where_anything_treats_them_as_text() {
    let id = uuid(4);
    for rest in [
        "CREATE VIEW v AS SELECT k AS key FROM t; CREATE VIEW w AS SELECT substr(key, 1, 8) FROM v",
        "CREATE VIEW v AS SELECT 1 FROM t WHERE k IN ('a', 'b')",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE u SET t_id = NEW.k WHERE id = 1; END",
        "CREATE TRIGGER g AFTER INSERT ON u BEGIN INSERT OR IGNORE INTO t(k) VALUES (NEW.t_id); END",
        "CREATE TRIGGER g AFTER INSERT ON u BEGIN UPDATE t SET k = upper(k); END",
        "INSERT INTO t VALUES ('admin', 'x')",
        "UPDATE t SET k = upper(k) WHERE rowid = 3",
        "CREATE VIEW v AS SELECT k || 'x' FROM t",
        "CREATE VIEW v AS SELECT b FROM t WHERE k LIKE 'a%'",
        "CREATE TRIGGER g BEFORE UPDATE ON t BEGIN SELECT 1; END",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO u(t_id) VALUES (json_array(new.k)); END",
        "CREATE INDEX i ON t(substr(k, 1, 8))",
        "CREATE INDEX i ON t(b) WHERE k > 'f'",
    ] {
        let found = of(
            &id_tables("k TEXT PRIMARY KEY", &id, rest),
            Group::IdsToBlobs,
        );
        assert!(
            found
                .iter()
                .all(|candidate| candidate.class == Class::Rejected),
            "{rest}: {found:?}"
        );
    }
    for key in [
        "k TEXT PRIMARY KEY CHECK (length(k) = 36)",
        "k TEXT PRIMARY KEY CHECK (typeof(k) = 'text')",
        "k TEXT PRIMARY KEY DEFAULT (lower(hex(randomblob(16))))",
    ] {
        let sql =
            id_tables(key, &id, "").replace("INSERT INTO t SELECT", "INSERT INTO t(k, b) SELECT");
        let found = of(&sql, Group::IdsToBlobs);
        assert!(
            found
                .iter()
                .all(|candidate| candidate.class == Class::Rejected),
            "{key}: {found:?}"
        );
    }
}

#[test]
fn ids_that_became_numbers_are_lost() {
    let of_type = |declared: &str, id: &str, more: &str| {
        let sql = format!(
            "CREATE TABLE t(id {declared}, b); {} INSERT INTO t SELECT {id}, i FROM n; {more}",
            numbers(400)
        );
        of(&sql, Group::LostIds)
            .into_iter()
            .map(|candidate| candidate.class)
            .collect::<Vec<_>>()
    };
    let hex = "lower(hex(randomblob(16)))";
    for declared in ["UUID", "STRING", "GUID", "DATETIME", "POINT"] {
        assert_eq!(
            of_type(
                declared,
                hex,
                "INSERT INTO t VALUES ('12345678901234567890123456789012', 1)"
            ),
            [Class::Lost],
            "{declared}"
        );
        assert_eq!(
            of_type(
                declared,
                hex,
                "INSERT INTO t VALUES ('1234567890123456789012345678e999', 1)"
            ),
            [Class::Lost],
            "{declared}"
        );
    }
    for declared in ["TEXT", "VARCHAR(32)", "BLOB", ""] {
        assert_eq!(
            of_type(
                declared,
                hex,
                "INSERT INTO t VALUES ('12345678901234567890123456789012', 1)"
            ),
            [],
            "{declared}"
        );
    }
    // Short ids of 24 digits, such as MongoDB's.
    assert_eq!(
        of_type(
            "STRING",
            "lower(hex(randomblob(12)))",
            "INSERT INTO t VALUES ('507100001234567890123456', 1)"
        ),
        [Class::Lost]
    );
    // A column of numbers with some texts is deliberate.
    assert_eq!(
        of_type("NUMERIC", "i * 1.5", "INSERT INTO t VALUES ('n/a', 1)"),
        []
    );
    assert_eq!(of_type("UUID", &uuid(4), ""), [Class::Rejected]);
}

#[test]
fn an_index_of_one_value_is_named_and_stays() {
    let sql = format!(
        "CREATE TABLE t(k INTEGER PRIMARY KEY, a, b); {} INSERT INTO t SELECT i, 7, i FROM n; CREATE INDEX i ON t(a); CREATE INDEX j ON t(b)",
        numbers(2000)
    );
    let found = of(&sql, Group::OneValue);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].object.as_str(), found[0].class),
        ("i", Class::Rejected)
    );
}

#[test]
fn new_ids_in_order_are_proposed_for_keys_that_grant_no_access() {
    let of_column = |name: &str| {
        let sql = format!(
            "CREATE TABLE t({name} TEXT PRIMARY KEY, a); {} INSERT INTO t SELECT {}, i FROM n",
            numbers(10_000),
            uuid(4)
        );
        let found = of(&sql, Group::RandomIds);
        found.iter().map(|one| one.class).collect::<Vec<_>>()
    };
    assert_eq!(of_column("id"), [Class::App]);
    assert_eq!(of_column("access_Token"), [Class::Rejected]);
}

#[test]
fn a_wider_index_is_said_to_sort() {
    let notes = |wide: &str, key: &str| {
        let sql = format!(
            "CREATE TABLE t({key}, chat, state); CREATE INDEX own ON t(chat); CREATE INDEX wide ON t({wide})"
        );
        let found = of(&sql, Group::RedundantIndex);
        let own = found.iter().find(|candidate| candidate.object == "own");
        own.unwrap().notes.clone()
    };
    let note = "A query by such an index with ORDER BY id would sort its rows.";
    assert_eq!(notes("chat, state", "id INTEGER PRIMARY KEY"), [note]);
    assert_eq!(notes("chat, id", "id INTEGER PRIMARY KEY"), [""; 0]);
    assert_eq!(notes("chat, state", "id TEXT PRIMARY KEY"), [""; 0]);
}
