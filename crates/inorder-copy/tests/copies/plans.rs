//! Plans: types and rules that the user gives.

use inorder_copy::{Job, Summary, plan_of, run};

use super::edges::{file_with, run_all, told};
use super::{File, job, start, watch};

/// A copy by a plan.
fn by(from: &str, to: &str, plan: &str) -> Result<Summary, String> {
    let job = Job {
        plan: Some(plan.to_owned()),
        ..job(from, to)
    };
    run(&job, &watch(u64::MAX)).map_err(|error| error.to_string())
}

/// The plan as it is written, with changes.
fn edited(from: &str, to: &str, changes: &[(&str, &str)]) -> String {
    let mut plan = plan_of(&job(from, to)).expect("a plan");
    for (word, other) in changes {
        assert!(plan.contains(word), "{word}: {plan}");
        plan = plan.replace(word, other);
    }
    plan
}

/// Values that no copy can have.
const BAD: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE t (id int PRIMARY KEY, d date, m datetime, s timestamp NULL, x text, must date NOT NULL) DEFAULT CHARSET utf8mb4",
    "INSERT INTO t VALUES (1, '2024-01-01', '2024-01-01', NULL, 'a', '2024-01-01'), (2, '0000-00-00', '2024-00-10', NULL, 'b\\0c', '2024-01-01'),
        (3, '0000-00-00', '2024-01-01', NULL, 'd', '0000-00-00')",
    "CREATE TABLE other (id int PRIMARY KEY)",
];

/// The rules that touched values of a table.
fn touched(summary: &Summary) -> Vec<String> {
    let table = summary.tables.iter().find(|table| table.name == "t");
    let table = table.expect("the table");
    assert_eq!(table.rows, 2);
    table
        .touched
        .iter()
        .map(|one| format!("{} {} {} {}", one.column, one.rule, one.action, one.values))
        .collect()
}

#[test]
fn rules_of_a_plan_change_values_that_the_copy_can_not_have() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    run_all(&from, BAD);
    let file = File::new();
    let (url, sqlite) = (to.url(), file.name());
    let plan = edited(&from.url(), &url, &[]);
    for line in [
        "zero-date = \"refuse\" # 2 values, the first in row 2 by the key",
        "zero-date = \"refuse\" # 1 value, the first in row 2 by the key",
        "nul = \"refuse\" # 1 value, the first in row 2 by the key",
        "source-type = \"datetime\"\ntype = \"timestamp\"",
        "[tables.\"other\"]",
        "# 3 rows",
    ] {
        assert!(plan.contains(line), "{line}: {plan}");
    }
    // Without a rule a copy refuses, and says what can be done.
    let refused = by(&from.url(), &url, &plan).expect_err("no rule");
    assert!(
        refused.contains("row 2") && refused.contains("--plan"),
        "{refused}"
    );
    to.run("DROP TABLE IF EXISTS _inorder_copy, other");
    let changes = [
        ("zero-date = \"refuse\" # 2", "zero-date = \"null\" # 2"),
        (
            "\nzero-date = \"refuse\" # 1 value, the first in row 2",
            "\nzero-date = \"null\" #",
        ),
        (
            "zero-date = \"refuse\" # 1",
            "zero-date = \"leave-out\" # 1",
        ),
        ("nul = \"refuse\"", "nul = \"strip\""),
    ];
    for to_name in [&url, &sqlite] {
        let changes = if to_name == &sqlite {
            &changes[..3]
        } else {
            &changes
        };
        let plan = edited(&from.url(), to_name, changes);
        let summary = by(&from.url(), to_name, &plan).expect("a copy by rules");
        let strips = match to_name == &sqlite {
            true => &[
                "d zero-date null 2",
                "m zero-date null 1",
                "must zero-date leave-out 1",
            ][..],
            false => &[
                "d zero-date null 2",
                "m zero-date null 1",
                "x nul strip 1",
                "must zero-date leave-out 1",
            ],
        };
        assert_eq!(touched(&summary), strips);
        assert_eq!(told(&summary, "changed").len(), strips.len());
    }
    assert_eq!(
        to.rows("SELECT id, d, m, x FROM t ORDER BY id"),
        ["1|2024-01-01|2024-01-01 00:00:00|a", "2|NULL|NULL|bc"]
    );
    assert_eq!(
        file.rows("SELECT id, d, m, hex(x) FROM t WHERE id > 1"),
        ["2|NULL|NULL|620063"]
    );
}

#[test]
fn types_of_a_plan_are_those_of_the_copy() {
    let Some(to) = start("postgres") else { return };
    let from = file_with(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, price decimal(10,2), flag INTEGER, gone TEXT, at datetime);
         CREATE INDEX by_gone ON t(gone);
         INSERT INTO t VALUES (1, 9.5, 1, 'x', '2024-01-01 10:00:00'), (2, 'n/a', 0, 'y', ''), (3, 10.25, NULL, 'z', NULL);
         CREATE TABLE log (n)",
    );
    let plan = edited(
        &from.name(),
        &to.url(),
        &[
            (
                "source-type = \"decimal(10,2)\"\ntype = \"text\"",
                "type = \"numeric(10,2)\"\ninvalid = \"null\"",
            ),
            (
                "columns.\"flag\"]\nsource-type = \"INTEGER\"\ntype = \"bigint\"",
                "columns.\"flag\"]\ntype = \"boolean\"",
            ),
            ("columns.\"gone\"]", "columns.\"gone\"]\nleave-out = true"),
            (
                "source-type = \"datetime\"\ntype = \"text\"",
                "type = \"timestamp\"\ninvalid = \"leave-out\"",
            ),
            (
                "[tables.\"log\"]\n# 0 rows\nleave-out = false",
                "[tables.\"log\"]\nleave-out = true",
            ),
        ],
    );
    let summary = by(&from.name(), &to.url(), &plan).expect("a copy");
    assert_eq!(summary.tables.len(), 1);
    assert_eq!(
        told(&summary, "changed 1 values").len(),
        2,
        "{:?}",
        summary.notes
    );
    assert_eq!(told(&summary, "gone").len(), 2, "{:?}", summary.notes);
    assert_eq!(
        to.rows("SELECT t.*, pg_typeof(price), pg_typeof(flag) FROM t ORDER BY id"),
        [
            "1|9.50|t|2024-01-01 10:00:00|numeric|boolean",
            "3|10.25|NULL|NULL|numeric|boolean"
        ]
    );
}

#[test]
fn a_plan_that_does_not_fit_is_refused() {
    let from = file_with(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n int NOT NULL); INSERT INTO t VALUES (1, 2)",
    );
    let file = File::new();
    for (plan, told) in [
        ("[tables.t.columns.m]", "the table has no such column"),
        (
            "[tables.t.columns.n]\nsource-type = \"text\"",
            "its type in the source is",
        ),
        (
            "[tables.t.columns.n]\nzero-date = \"null\"",
            "it refuses NULL",
        ),
        (
            "[tables.t.columns.n]\ninvalid = \"strip\"",
            "\"strip\" is for nul",
        ),
        ("[tables.t.columns.id]\nleave-out = true", "primary key"),
        ("[tables.t.columns.n]\nzero-dates = \"null\"", "zero-dates"),
        ("[tables.t.columns.n]\nzero-date = \"zero\"", "zero"),
        ("[tables.u]\nleave-out = true", "no table u"),
    ] {
        let error = by(&from.name(), &file.name(), plan).expect_err(plan);
        assert!(error.contains(told), "{plan}: {error}");
    }
}
