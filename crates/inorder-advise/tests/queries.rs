//! Queries and look-ups before and after the changes.

mod common;

use common::{Silent, made, numbers};
use inorder_advise::{
    advice::{Advice, Options, Verdict, advise},
    snapshot::private_folder,
    trial::Query,
};

/// A table with an index that another one replaces, and one whose key becomes the rowid.
fn advised(queries: &[&str]) -> Advice {
    let folder = tempfile::tempdir().unwrap();
    let n = numbers(20_000);
    let path = made(
        folder.path(),
        &format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT, c REAL); CREATE INDEX ta ON t(a);
             CREATE INDEX tab ON t(a, b); {n} INSERT INTO t SELECT i, i % 900, i * 7 % 1000, i / 7.0 FROM n;
             CREATE TABLE k(id INT PRIMARY KEY, name TEXT); {n} INSERT INTO k SELECT i * 3, 'name ' || i FROM n;"
        ),
    );
    let options = Options {
        queries: queries.iter().map(|&sql| sql.to_owned()).collect(),
        ..Options::default()
    };
    let own = private_folder().unwrap();
    advise(&path, own.path(), &options, &Silent).unwrap()
}

fn query<'a>(advice: &'a Advice, sql: &str) -> &'a Query {
    let mut queries = advice.queries.as_ref().unwrap().queries.iter();
    queries.find(|query| query.sql == sql).unwrap()
}

#[test]
fn parametrised_queries_are_timed_and_compared() {
    let sql = [
        "SELECT b FROM t WHERE a = ?",
        "SELECT count(*), sum(c) FROM t WHERE a >= :low AND b < :high",
        "SELECT name FROM k WHERE id = ?1 OR name = ?2",
        "SELECT * FROM t WHERE a + ? = 9",
        "SELECT random() FROM t WHERE a = ?",
        "INSERT INTO k VALUES (?, ?)",
        "SELECT nothing FROM t",
    ];
    let found = advised(&sql);
    let [by_index, sums, either, unknown, random, insert, wrong] =
        sql.map(|sql| query(&found, sql));
    assert_eq!(by_index.parameters, ["?1 = t.a"]);
    for query in [by_index, sums, either] {
        assert!(query.is_compared && query.broken.is_none(), "{query:?}");
        let times = query.times.unwrap();
        assert!(times.ratio_interval[0] <= times.ratio && times.ratio <= times.ratio_interval[1]);
        assert!(times.before_ns > 100.0 && query.ms_after.unwrap() > 0.0);
    }
    assert_eq!(unknown.unknown_parameters, ["?1"]);
    assert!(unknown.times.is_none() && !unknown.plan_before.is_empty());
    assert!(!random.is_compared && random.broken.is_none() && random.ms_before.is_some());
    assert!(insert.times.is_none() && insert.error.is_none());
    assert!(wrong.error.as_ref().unwrap().contains("nothing"));
    assert!(found.together.is_some());
}

#[test]
fn a_query_that_returns_other_rows_with_the_changes_takes_the_plan_away() {
    // The rowid of k is hidden, and becomes the key.
    let sql = "SELECT rowid, name FROM k WHERE name = ?";
    let found = advised(&["SELECT name FROM k", sql]);
    let broken = query(&found, sql);
    assert!(broken.is_compared);
    assert!(
        broken.broken.as_ref().unwrap().contains("other rows"),
        "{broken:?}"
    );
    assert!(query(&found, "SELECT name FROM k").broken.is_none());
    assert!(found.together.is_none() && found.with_minor.is_none());
    // Which of equal rows LIMIT takes is open: the number of rows is compared.
    assert!(advised(&["SELECT name FROM k LIMIT 3"]).together.is_some());
}

/// Two indexes that others replace; a query needs the order of one of them. The other one goes, and so does one more
/// table's rowid.
#[test]
fn a_change_that_makes_a_query_clearly_slower_is_left_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let n = numbers(20_000);
    let path = made(
        folder.path(),
        &format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT, c INT); CREATE INDEX ta ON t(a); CREATE INDEX tab ON t(a, b);
             CREATE INDEX tc ON t(c); CREATE INDEX tcb ON t(c, b);
             {n} INSERT INTO t SELECT i, i % 4, i * 7919 % 20000, i % 5000 FROM n;
             CREATE TABLE k(id INT PRIMARY KEY, name TEXT); {n} INSERT INTO k SELECT i * 3, 'name ' || i FROM n;"
        ),
    );
    let slow = "SELECT * FROM t WHERE a = ? ORDER BY id DESC LIMIT 1";
    let advised = |queries: &[&str]| {
        let options = Options {
            queries: queries.iter().map(|&sql| sql.to_owned()).collect(),
            ..Options::default()
        };
        let own = private_folder().unwrap();
        let found = advise(&path, own.path(), &options, &Silent).unwrap();
        let plan = found.together.as_ref().unwrap().plan.changes.iter();
        let plan: Vec<String> = plan.map(ToString::to_string).collect();
        (found, plan)
    };
    let others = ["drop the index tc", "make k.id INTEGER PRIMARY KEY"];
    let fast = [
        "SELECT * FROM t WHERE a = ?",
        "SELECT name FROM k WHERE id = ?",
        "SELECT b FROM t WHERE c = ?",
    ];
    for queries in [&[][..], &fast] {
        let (_, plan) = advised(queries);
        assert!(plan.contains(&"drop the index ta".to_owned()), "{plan:?}");
        assert!(
            others
                .iter()
                .all(|other| plan.contains(&(*other).to_owned())),
            "{plan:?}"
        );
    }
    for queries in [
        &[slow][..],
        &[fast[0], slow, fast[1], fast[2]],
        &["DELETE FROM k WHERE id = ?", slow, slow],
    ] {
        let (found, plan) = advised(queries);
        assert!(!plan.contains(&"drop the index ta".to_owned()), "{plan:?}");
        assert!(
            others
                .iter()
                .all(|other| plan.contains(&(*other).to_owned())),
            "{plan:?}"
        );
        let left = found
            .items
            .iter()
            .filter(|item| item.verdict == Verdict::Leave);
        let mut parts = left.flat_map(|item| &item.parts);
        let part = parts.find(|part| part.candidate.object == "ta").unwrap();
        let reason = &part.candidate.reason;
        let told = ["ORDER BY id DESC", " ms instead of ", "95% interval"];
        assert!(told.iter().all(|told| reason.contains(told)), "{reason}");
        assert!(query(&found, slow).slower().is_none());
    }
}

#[test]
fn changes_of_layouts_and_indexes_have_look_ups() {
    let found = advised(&[]);
    let changes = found
        .items
        .iter()
        .filter(|item| item.verdict == Verdict::Change);
    let parts: Vec<_> = changes.flat_map(|item| &item.parts).collect();
    let by = |rule: &str| {
        let part = parts
            .iter()
            .find(|part| part.candidate.rule == rule)
            .unwrap();
        let columns = part.look_ups.iter().map(|own| own.columns.join(","));
        columns.collect::<Vec<_>>()
    };
    assert_eq!(by("redundant-index"), ["a"]);
    assert_eq!(by("integer-key"), ["id"]);
    for look_ups in parts.iter().flat_map(|part| &part.look_ups) {
        let times = look_ups.times;
        assert!(look_ups.keys > 1000 && times.pairs >= 6, "{look_ups:?}");
        assert!(
            times.before_ns > 100.0 && times.before_ns < 1e7,
            "{look_ups:?}"
        );
        assert!(times.ratio_interval[0] <= times.ratio && times.ratio <= times.ratio_interval[1]);
    }
}
