//! Copies into databases that have tables, and copies that continue.

use inorder_copy::{Error, Job, run};

use super::edges::file_with;
use super::{File, assert_told, copy, job, start, watch};

/// Two parents, each with a child, and two tables that refer to each other.
const REFERRING: &str = "
    CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b(id));
    CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id));
    CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE sub (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id));
    INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1); INSERT INTO parent VALUES (1); INSERT INTO sub VALUES (1, 1)";

#[test]
fn tables_that_refer_to_each_other_are_replaced_all_or_none() {
    let Some(to) = start("postgres") else { return };
    let from = file_with(REFERRING);
    copy(&from.name(), &to.url()).expect("a copy");
    let replacing = Job {
        replaces: true,
        ..job(&from.name(), &to.url())
    };
    run(&replacing, &watch(u64::MAX)).expect("a copy in place of the first one");
    let keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'f'";
    assert_eq!(to.rows(keys), ["3"]);

    // A table that is not copied needs one that would be dropped.
    to.run("CREATE TABLE other (sub bigint REFERENCES sub(id))");
    to.run("CREATE VIEW seen AS SELECT id FROM a");
    let error = run(&replacing, &watch(u64::MAX)).expect_err("a table of others");
    let told = error.to_string();
    assert!(
        told.contains("the foreign key other_sub_fkey of table other to sub")
            && told.contains("the view seen of table a"),
        "{told}"
    );
    assert_eq!(to.rows(keys), ["4"]);
    let rows = "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM sub)";
    assert_eq!(to.rows(rows), ["1|1"]);
    let state = "SELECT relname FROM pg_class WHERE relname = '_inorder_copy'";
    assert_eq!(to.rows(state), Vec::<String>::new());
}

#[test]
fn finished_tables_are_not_forgotten_by_a_copy_of_others() {
    let from = file_with(&format!(
        "{REFERRING}; CREATE TABLE d (n INTEGER); INSERT INTO d VALUES (1)"
    ));
    let file = File::new();
    let server = start("postgres");
    let urls = server.iter().map(|server| server.url());
    for to in urls.chain([file.name()]) {
        let stopped = run(&job(&from.name(), &to), &watch(3)).expect_err("stopped");
        assert!(matches!(stopped, Error::Stopped), "{to}: {stopped}");
        let one = Job {
            tables: vec!["d".to_owned()],
            ..job(&from.name(), &to)
        };
        let refused = run(&one, &watch(u64::MAX)).expect_err("it has a and b");
        let told = refused.to_string();
        assert!(
            told.contains("a, b") && told.contains("_inorder_copy"),
            "{to}: {told}"
        );
        let summary = copy(&from.name(), &to).expect("the rest");
        assert_eq!(summary.tables.len(), 5);
    }
    let Some(to) = server else { return };
    let keys = "SELECT count(*) FROM pg_constraint WHERE contype = 'f'";
    assert_eq!(to.rows(keys), ["3"]);
}

#[test]
fn notes_of_finished_tables_are_told_by_the_copy_that_continues() {
    let Some(to) = start("postgres") else { return };
    let from = file_with(
        "CREATE TABLE a (i INTEGER DEFAULT 'one\ntwo'); INSERT INTO a VALUES (1);
         CREATE TABLE b (i INTEGER DEFAULT 'x'); INSERT INTO b VALUES (1)",
    );
    run(&job(&from.name(), &to.url()), &watch(2)).expect_err("stopped");
    let summary = copy(&from.name(), &to.url()).expect("the rest");
    assert!(summary.tables[0].was_finished);
    assert_told(
        &summary,
        &[
            "table a: column `i`: not copied: DEFAULT 'one\ntwo'",
            "table b: column `i`: not copied: DEFAULT 'x'",
        ],
    );

    // Earlier versions recorded no notes.
    let folder = tempfile::tempdir().expect("a folder");
    let earlier = folder.path().join("to.db").display().to_string();
    run(&job(&from.name(), &earlier), &watch(2)).expect_err("stopped");
    let db = rusqlite::Connection::open(&earlier).expect("a database");
    let content = "SELECT content FROM _inorder_copy WHERE name = 'a'";
    let content: String = db
        .query_row(content, [], |row| row.get(0))
        .expect("a record");
    let summary = copy(&from.name(), &earlier).expect("the rest");
    assert_eq!(summary.tables[0].content, content);
    assert!(summary.tables[0].was_finished);
}
