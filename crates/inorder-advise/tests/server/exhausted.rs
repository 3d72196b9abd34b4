//! Counters near their end: every width of column and counter, in both directions, at shares of their range.

use crate::server::{Server, advice, parts};
use inorder_advise::{
    advice::Verdict,
    counter::{Counter, Readings},
    report::Look,
    server::{
        advice::{Advice, Options, Reader},
        report::FORMATS,
        rules::{Action, Group},
    },
};
use std::collections::BTreeMap;

/// Shares of the range: nothing is said of the first, the second is a warning, the third begins the report.
const SHARES: [f64; 3] = [0.2, 0.6, 0.9];

const LOOK: Look = Look {
    color: false,
    width: 10_000,
};

/// What must be found: by object, the share and the last number.
type Expected = BTreeMap<String, (f64, i128)>;

/// The number at a share of a range.
fn at(share: f64, first: i128, last: i128) -> i128 {
    first + ((last - first) as f64 * share) as i128
}

fn counter<'a>(found: &'a Advice, object: &str) -> &'a Counter {
    let mut all = found.counters.iter();
    all.find(|own| own.object == object)
        .unwrap_or_else(|| panic!("no counter {object}"))
}

/// Compares counters, items and the first lines of every format with what is expected.
fn check(found: &Advice, expected: &Expected) {
    let warned: BTreeMap<&str, Verdict> = parts(found)
        .filter(|(part, _)| part.candidate.group == Group::IntegerRange)
        .map(|(part, verdict)| (part.candidate.object.as_str(), verdict))
        .collect();
    let begins: Vec<String> = FORMATS
        .iter()
        .map(|format| {
            let text = (format.write)(found, LOOK);
            let until = match format.name {
                "text" => text.find(" · ").unwrap(),
                "json" => text.find("read_at_s").unwrap(),
                "md" => text.find("# ").unwrap(),
                _ => text.find("<h1>").unwrap(),
            };
            text[..until].replace('\\', "")
        })
        .collect();
    let mut alerts = 0;
    for (object, &(share, last)) in expected {
        let own = counter(found, object);
        assert!(
            (own.used_percent - 100.0 * share).abs() < 1.0 && own.last == last,
            "{object}: {own:?}, expected {share} of {last}"
        );
        assert_eq!(own.left, (last - own.reached).abs(), "{object}");
        assert_eq!(
            warned.contains_key(&**object),
            share >= 0.5,
            "{object} {own:?}"
        );
        assert!(
            warned
                .get(&**object)
                .is_none_or(|verdict| *verdict != Verdict::Leave)
        );
        alerts += usize::from(share >= 0.8);
    }
    for (format, begin) in FORMATS.iter().zip(&begins) {
        let lines = begin.matches("COUNTER NEAR ITS END").count();
        assert_eq!(lines, alerts.min(8), "{}: {begin}", format.name);
        assert_eq!(begin.contains("more counters are near"), alerts > 8);
    }
    let json = (FORMATS[1].write)(found, LOOK);
    assert!(json.starts_with("{\n  \"alerts\""));
    assert!(Readings::parse(&json).is_ok());
}

/// A column and a sequence, each with its type and the bits of its numbers.
struct Case {
    column: (&'static str, u32),
    sequence: (&'static str, u32),
    is_descending: bool,
    declared: Option<i128>,
    share: f64,
}

impl Case {
    /// Adds the statements of the case, and what must be found.
    fn add(&self, place: usize, sql: &mut String, expected: &mut Expected) {
        let n = expected.len();
        // MINVALUE of a type is one further than MAXVALUE.
        let end = |bits: u32| (1i128 << bits) - i128::from(!self.is_descending);
        let of_sequence = self.declared.unwrap_or(end(self.sequence.1));
        let last = of_sequence.min(end(self.column.1));
        let sign = if self.is_descending { -1 } else { 1 };
        let (first, last) = (sign, sign * last);
        let value = at(self.share, first, last);
        let options = match (self.is_descending, self.declared) {
            (false, None) => String::new(),
            (false, Some(own)) => format!(" MAXVALUE {own}"),
            (true, None) => " INCREMENT -1".into(),
            (true, Some(own)) => format!(" INCREMENT -1 MINVALUE -{own}"),
        };
        let cycle = if n.is_multiple_of(5) { " CYCLE" } else { "" };
        *sql += &format!(
            "CREATE SEQUENCE s{n} AS {}{options}{cycle};
             CREATE TABLE t{n} (id {} PRIMARY KEY DEFAULT nextval('s{n}'), a text);",
            self.sequence.0, self.column.0
        );
        // What is set is the last number, or the next one.
        *sql += &match place {
            0 => format!("SELECT setval('s{n}', {value});"),
            1 => format!("ALTER SEQUENCE s{n} RESTART WITH {value};"),
            _ => format!("SELECT setval('s{n}', {value}, false);"),
        };
        expected.insert(format!("t{n}.id"), (self.share, last));
    }
}

#[test]
fn counters_of_postgresql_are_read_at_every_width() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    let widths = [("smallint", 15), ("integer", 31), ("bigint", 63)];
    let (mut expected, mut sql) = (Expected::new(), String::new());
    for column in widths {
        for sequence in widths {
            for is_descending in [false, true] {
                for declared in [None, Some(20_000i128)] {
                    for (place, share) in SHARES.into_iter().enumerate() {
                        let case = Case {
                            column,
                            sequence,
                            is_descending,
                            declared,
                            share,
                        };
                        case.add(place, &mut sql, &mut expected);
                    }
                }
            }
        }
    }
    server.run(
        &sql.split(';')
            .map(str::trim)
            .filter(|one| !one.is_empty())
            .collect::<Vec<_>>(),
    );
    let found = server.advice();
    check(&found, &expected);
    assert_eq!(expected.len(), 108);
    // A sequence that is narrower than its column gets the column's type.
    let mut widened = 0;
    for (part, verdict) in parts(&found) {
        if let [Action::WidenSequence { .. }] = &part.candidate.actions[..] {
            assert_eq!(verdict, Verdict::Change, "{part:?}");
            widened += 1;
        }
    }
    assert_eq!(widened, 3 * 2 * 2);
    for plan in &found.plans {
        if plan.title.starts_with("sequence ") {
            server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
        }
    }
    let after = server.advice();
    let left = parts(&after)
        .filter(|(part, _)| matches!(part.candidate.actions[..], [Action::WidenSequence { .. }]));
    assert_eq!(left.count(), 0);
}

/// Tables of PostgreSQL that are counted in different ways.
const WAYS: &[&str] = &[
    // The migration that forgot the sequence.
    "CREATE TABLE orders (id serial PRIMARY KEY)",
    "ALTER TABLE orders ALTER id TYPE bigint",
    "SELECT setval('orders_id_seq', 2140000000)",
    // A reference that stayed narrow, with and without rows.
    "CREATE TABLE users (id bigserial PRIMARY KEY)",
    "SELECT setval('users_id_seq', 1900000000)",
    "CREATE TABLE item (number bigserial PRIMARY KEY, user_id int REFERENCES users, other smallint)",
    "CREATE TABLE deep (user_id int UNIQUE REFERENCES users)",
    "CREATE TABLE deeper (user_id int REFERENCES deep (user_id))",
    // An identity, also of a partitioned table.
    "CREATE TABLE ident (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
    "ALTER TABLE ident ALTER id RESTART WITH 1500000000",
    "CREATE TABLE part (id int GENERATED BY DEFAULT AS IDENTITY, a int, PRIMARY KEY (id, a)) PARTITION BY RANGE (a)",
    "CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100)",
    "ALTER TABLE part ALTER id RESTART WITH 1500000000",
    // One sequence for several tables, by name and by text, and one that no default names.
    "CREATE SEQUENCE shared",
    "SELECT setval('shared', 30000)",
    "CREATE TABLE one (id smallint PRIMARY KEY DEFAULT nextval('shared'))",
    "CREATE TABLE two (id int PRIMARY KEY DEFAULT nextval('shared'))",
    "CREATE TABLE three (id smallint PRIMARY KEY DEFAULT nextval('shared'::text))",
    "CREATE SEQUENCE of_program AS int",
    "SELECT setval('of_program', 2000000000)",
    "CREATE SEQUENCE whole START 9000000000000000000",
    "SELECT nextval('whole')",
    // Domains, and numbers of other types.
    "CREATE DOMAIN small AS smallint",
    "CREATE SEQUENCE of_domain",
    "CREATE TABLE domained (id small PRIMARY KEY DEFAULT nextval('of_domain'))",
    "SELECT setval('of_domain', 20000)",
    "CREATE SEQUENCE of_numeric",
    "CREATE TABLE numbered (id numeric(5) PRIMARY KEY DEFAULT nextval('of_numeric'))",
    "SELECT setval('of_numeric', 60000)",
    // A key that the application counts, and one of random numbers.
    "CREATE TABLE counted (id int PRIMARY KEY)",
    "INSERT INTO counted SELECT g FROM generate_series(2000000000, 2000003000) g",
    "CREATE TABLE random (id int PRIMARY KEY)",
    "INSERT INTO random SELECT DISTINCT hashtext(g::text) & 2147483647 FROM generate_series(1, 3000) g",
    // A sequence that begins in the middle of the type has used what is below.
    "CREATE TABLE imported (id serial PRIMARY KEY)",
    "ALTER SEQUENCE imported_id_seq START 2000000000 RESTART",
    // The whole range, from the lowest number on.
    "CREATE TABLE doubled (id int PRIMARY KEY)",
    "CREATE SEQUENCE from_below AS int MINVALUE -2147483648 START -2147483648",
    "ALTER TABLE doubled ALTER id SET DEFAULT nextval('from_below')",
    "SELECT setval('from_below', 0)",
    "CREATE TABLE unused (id serial PRIMARY KEY)",
];

/// What must be found of them.
fn expected_of_ways() -> Expected {
    let int = i128::from(i32::MAX);
    let big = i128::from(i64::MAX);
    let share = |value: i128, last: i128| value as f64 / last as f64;
    [
        ("orders.id", share(2_140_000_000, int), int),
        ("users.id", 0.0, big),
        ("item.user_id", share(1_900_000_000, int), int),
        ("deep.user_id", share(1_900_000_000, int), int),
        ("deeper.user_id", share(1_900_000_000, int), int),
        ("ident.id", share(1_500_000_000, int), int),
        ("part.id", share(1_500_000_000, int), int),
        ("one.id", share(30_000, 32_767), 32_767),
        ("two.id", 0.0, int),
        ("three.id", share(30_000, 32_767), 32_767),
        ("sequence public.of_program", share(2_000_000_000, int), int),
        (
            "sequence public.whole",
            share(9_000_000_000_000_000_000, big),
            big,
        ),
        ("domained.id", share(20_000, 32_767), 32_767),
        ("numbered.id", share(60_000, 99_999), 99_999),
        ("counted.id", share(2_000_003_000, int), int),
        ("doubled.id", 0.5, int),
        ("unused.id", 0.0, int),
    ]
    .into_iter()
    .map(|(object, share, last)| (object.to_owned(), (share, last)))
    .filter(|(object, _)| !["deep.user_id", "deeper.user_id"].contains(&&**object))
    .collect()
}

#[test]
fn counters_of_postgresql_are_found_however_they_count() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(WAYS);
    let found = server.advice();
    let expected = expected_of_ways();
    for object in ["random.id", "part_1.id"] {
        assert!(found.counters.iter().all(|own| own.object != object));
    }
    assert!(counter(&found, "deeper.user_id").is_alert());
    assert_eq!(
        counter(&found, "orders.id").bounded_by,
        "the sequence public.orders_id_seq (integer)"
    );
    let begin = (FORMATS[0].write)(&found, LOOK);
    assert!(
        begin.starts_with("COUNTER NEAR ITS END: orders.id has reached 2140000000, 99.7 % of what"),
        "{begin:.300}"
    );
    for (object, &(share, last)) in &expected {
        let own = counter(&found, object);
        assert!(
            (own.used_percent - 100.0 * share).abs() < 0.2 && own.last == last,
            "{own:?}"
        );
    }
    // The printed steps of a narrow reference work.
    let plan = found
        .plans
        .iter()
        .find(|plan| plan.title == "bigint: item.user_id")
        .unwrap();
    server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
    let kind = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'item'::regclass AND attname = 'user_id'";
    assert_eq!(server.one(kind), "bigint");
    assert!(
        server
            .database
            .execute("INSERT INTO item (user_id) VALUES (7)")
            .is_err()
    );
}

#[test]
fn days_that_are_left_are_told_from_two_reports() {
    for name in ["postgres", "mariadb"] {
        let Some(server) = Server::start(name) else {
            continue;
        };
        match name {
            "postgres" => server.run(&[
                "CREATE TABLE t (id serial PRIMARY KEY)",
                "SELECT setval('t_id_seq', 2000000000)",
            ]),
            _ => server.run(&[
                "CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT=2000000001",
            ]),
        }
        let object = match name {
            "postgres" => "t.id".to_owned(),
            _ => format!("{}.t.id", server.one("SELECT database()")),
        };
        let mut report: serde_json::Value =
            serde_json::from_str(&(FORMATS[1].write)(&server.advice(), LOOK)).unwrap();
        // Ten days and a million numbers ago.
        let then = report["read_at_s"].as_u64().unwrap() - 864_000;
        report["read_at_s"] = then.into();
        for own in report["counters"].as_array_mut().unwrap() {
            own["reached"] = 1_999_000_000.into();
        }
        let readings = Readings::parse(&report.to_string()).unwrap();
        let starts = |_: &_| {
            Err(inorder_advise::Error::Prediction(
                "the test has none".into(),
            ))
        };
        let reader = Reader::open(&server.url(), Options::default()).unwrap();
        let found = reader
            .since(Some(readings))
            .advise(&starts, &crate::server::Quiet)
            .unwrap();
        let own = counter(&found, &object);
        let (rate, days) = (own.per_day.unwrap(), own.days_left.unwrap());
        assert!((rate / 100_000.0 - 1.0).abs() < 0.01, "{own:?}");
        assert!((days / 1474.8 - 1.0).abs() < 0.01, "{own:?}");
        for format in FORMATS {
            let text = (format.write)(&found, LOOK);
            let words = "numbers are left: about 147";
            assert!(text.contains(words), "{}: {text:.400}", format.name);
        }
    }
}

const MORE: &[&str] = &[
    // References have the type of their key, and sequences their own end.
    "CREATE TABLE parent (id int unsigned AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT=4000000000",
    "CREATE TABLE child (parent int unsigned, FOREIGN KEY (parent) REFERENCES parent (id))",
    "CREATE SEQUENCE numbers MAXVALUE 1000",
    "SELECT setval(numbers, 900)",
    "CREATE TABLE numbered (id bigint PRIMARY KEY DEFAULT nextval(numbers))",
    "CREATE SEQUENCE falling INCREMENT -1 MINVALUE -1000 MAXVALUE -1",
    "SELECT setval(falling, -600)",
    "CREATE TABLE fell (id int PRIMARY KEY DEFAULT nextval(falling))",
    // One that is full.
    "CREATE TABLE full (id tinyint unsigned AUTO_INCREMENT PRIMARY KEY)",
    "INSERT INTO full VALUES (255)",
    "CREATE TABLE full_too (id tinyint AUTO_INCREMENT PRIMARY KEY)",
    "INSERT INTO full_too VALUES (127)",
];

#[test]
fn counters_of_mariadb_are_read_at_every_width() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    let schema = server.one("SELECT database()");
    let (mut expected, mut statements) = (Expected::new(), Vec::new());
    let widths = [
        ("tinyint", 8),
        ("smallint", 16),
        ("mediumint", 24),
        ("int", 32),
        ("bigint", 64),
    ];
    for (kind, bits) in widths {
        for unsigned in ["", " unsigned"] {
            for share in SHARES {
                for engine in ["InnoDB", "MyISAM", "Aria"] {
                    let n = statements.len();
                    let last = (1i128 << (bits - i32::from(unsigned.is_empty()))) - 1;
                    let next = at(share, 1, last) + 1;
                    statements.push(format!(
                        "CREATE TABLE t{n} (id {kind}{unsigned} AUTO_INCREMENT PRIMARY KEY, a int) ENGINE={engine} AUTO_INCREMENT={next}"
                    ));
                    expected.insert(format!("{schema}.t{n}.id"), (share, last));
                }
            }
        }
    }
    statements.extend(MORE.iter().map(|own| (*own).to_owned()));
    for (object, share, last) in [
        ("parent.id", 4e9 / 4_294_967_295.0, u32::MAX.into()),
        ("numbered.id", 0.9, 1000),
        ("fell.id", 0.6, -1000),
        ("full.id", 1.0, 255),
        ("full_too.id", 1.0, 127),
    ] {
        expected.insert(format!("{schema}.{object}"), (share, last));
    }
    server.run(&statements.iter().map(String::as_str).collect::<Vec<_>>());
    let found = advice(&server.url());
    // The reference gets the wider type with its key.
    let child = counter(&found, &format!("{schema}.child.parent"));
    assert!(
        child.is_alert() && child.counted_by.contains("parent.id"),
        "{child:?}"
    );
    let plan = found
        .plans
        .iter()
        .find(|plan| plan.title.contains("child.parent"))
        .unwrap();
    assert_eq!(plan.title, "bigint: child.parent, parent.id");
    // It has a line of its own among the first ones.
    expected.insert(
        child.object.clone(),
        (4e9 / 4_294_967_295.0, u32::MAX.into()),
    );
    let is_own = |object: &str| object != child.object;
    let without: Expected = expected
        .clone()
        .into_iter()
        .filter(|(object, _)| is_own(object))
        .collect();
    check(&found, &without);
    assert!(expected.len() >= 96);
}
