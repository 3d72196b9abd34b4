//! Every function that takes a time, with times in every unit: one that could be another unit is refused.

use inorder_sqlite::{FUNCTIONS, register};
use rusqlite::Connection;

/// Arguments, and the milliseconds that they are. `bindings/sql/tests/test_sql.py` has those of the servers.
const RIGHT: &[(&str, &[(&str, i64)])] = &[
    (
        "t",
        &[
            ("1714521600000", 1_714_521_600_000),
            ("1714521600000.0", 1_714_521_600_000),
            ("'1714521600000'", 1_714_521_600_000),
            ("unixepoch('2024-05-01') * 1000", 1_714_521_600_000),
            ("'2024-05-01'", 1_714_521_600_000),
            ("'2024-05-01 02:00+02:00'", 1_714_521_600_000),
            ("datetime(1714521600, 'unixepoch')", 1_714_521_600_000),
            (
                "strftime('%Y-%m-%dT%H:%M:%fZ', 1714521600.25, 'unixepoch')",
                1_714_521_600_250,
            ),
            ("1577836800000", 1_577_836_800_000),
        ],
    ),
    (
        "s",
        &[
            ("1714521600", 1_714_521_600_000),
            ("1714521600.0", 1_714_521_600_000),
            ("'1714521600'", 1_714_521_600_000),
            ("unixepoch('2024-05-01')", 1_714_521_600_000),
            ("strftime('%s', '2024-05-01')", 1_714_521_600_000),
            ("1714521600.123", 1_714_521_600_123),
            ("1714521600.9999", 1_714_521_600_999),
            ("'1714521600.2599'", 1_714_521_600_259),
            ("'1714521600.5'", 1_714_521_600_500),
            ("1577836800", 1_577_836_800_000),
        ],
    ),
];

/// Arguments that are no time in the unit of the function.
const WRONG: &[(&str, &[&str])] = &[
    (
        "t",
        &[
            "1",
            "1714521600",
            "1714521600.0",
            "1714521600.5",
            "99999999999",
            "unixepoch('2024-05-01')",
            "unixepoch('now', '+1 day')",
            "unixepoch('now', 'subsec')",
            "strftime('%s', 'now')",
            "'1714521600'",
            "'1714521600.5'",
            "1714521600000000",
            "1714521600000000.0",
            "'1714521600000000'",
            "1714521600000000000",
            "1.714521600e18",
            "-1",
            "-1714521600000",
            "'-1714521600000'",
            "281474976710656",
            "9223372036854775807",
            "-9223372036854775808",
            "20240501",
            "'20240501'",
            "202405011230",
            "20240501123045",
            "'20240501123045'",
            "2024",
            "'2024'",
            "19844",
            "2460431.5",
            "julianday('now')",
            "time('now')",
            "'now'",
            "'today'",
            "''",
            "' '",
            "'x'",
            "x'ff'",
            "1e300",
            "'1714521600000 '",
            "'2024-13-01'",
            "'1969-12-31'",
        ],
    ),
    (
        "s",
        &[
            "1",
            "0.5",
            "1714521600000",
            "1714521600000.0",
            "'1714521600000'",
            "99999999",
            "281474976711",
            "1714521600000000",
            "1714521600000000000",
            "-1",
            "-1714521600",
            "'-1714521600'",
            "20240501",
            "202405011230",
            "20240501123045",
            "2024",
            "19844",
            "2460431.5",
            "julianday('now')",
            "'2024-05-01'",
            "datetime('now')",
            "'now'",
            "''",
            "'1714521600.'",
            "'.5'",
            "'01714521600'",
            "'1714521600 '",
            "'x'",
            "x'ff'",
            "1e300",
            "9223372036854775807",
            "-9223372036854775808",
        ],
    ),
];

fn of<T>(table: &'static [(&str, T)], argument: &str) -> &'static T {
    &table.iter().find(|(unit, _)| *unit == argument).unwrap().1
}

#[test]
fn every_wrong_unit_is_refused_and_the_error_says_what_to_do() {
    let db = Connection::open_in_memory().unwrap();
    register(&db).unwrap();
    let (mut functions, mut asked) = (0, 0);
    for function in FUNCTIONS
        .iter()
        .filter(|f| matches!(f.argument, Some("t" | "s")))
    {
        let (name, unit) = (function.name, function.argument.unwrap());
        functions += 1;
        let ask = |time: &str, sql: &str| {
            let sql = sql.replace("{}", &format!("{name}({time})"));
            db.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0))
        };
        let read = match name.split('_').next().unwrap() {
            "tsid" => "SELECT tsid_timestamp({})",
            _ => "SELECT ulid_timestamp(ulid_blob({}))",
        };
        for (time, ms) in of(RIGHT, unit).iter() {
            // SQLite before 3.38 has no unixepoch().
            assert_eq!(ask(time, read), Ok(Some(*ms)), "{name}({time})");
        }
        for wrong in of(WRONG, unit).iter() {
            let error = match ask(wrong, "SELECT {} IS NULL") {
                Ok(_) => panic!("{name}({wrong}) has a value"),
                Err(error) => error.to_string(),
            };
            assert!(error.starts_with(&format!("{name}(): ")), "{error}");
            let says_what = ["since 1970", "write 2024-01-31", "begin in 1970"];
            assert!(
                says_what.iter().any(|words| error.contains(words)),
                "{error}"
            );
            asked += 1;
        }
        assert_eq!(ask("NULL", read), Ok(None), "{name}");
        // 0 is 1970 in each unit. TSIDs begin in 2020.
        match name.starts_with("tsid") {
            true => assert!(ask("0", read).is_err(), "{name}"),
            false => assert_eq!(ask("0", read), Ok(Some(0)), "{name}"),
        }
    }
    assert_eq!((functions, asked), (16, 8 * (43 + 32)));
}

/// What the functions without `_s` and with it give for the same time is the same.
#[test]
fn seconds_are_milliseconds_divided_by_1000() {
    let db = Connection::open_in_memory().unwrap();
    register(&db).unwrap();
    let mut pairs = 0;
    for function in FUNCTIONS
        .iter()
        .filter(|f| f.argument == Some("t") && f.is_deterministic)
    {
        let name = function.name;
        let sql = format!(
            "WITH times AS MATERIALIZED (SELECT 1577836800123 + abs(random() % 100000000) * 1000 AS ms FROM keys('tsid', 1000))
             SELECT count(*) FROM times WHERE {name}(ms) IS NOT {name}_s(ms / 1000.0) OR {name}(ms / 1000 * 1000) IS NOT {name}_s(ms / 1000)
             OR {name}(ms) IS NOT {name}_s((ms / 1000) || '.123')"
        );
        let different = db.query_row(&sql, [], |row| row.get::<_, i64>(0));
        assert_eq!(different, Ok(0), "{name}");
        pairs += 1;
    }
    assert_eq!(pairs, 6);
}
