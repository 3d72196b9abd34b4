//! Digests of every length as bytes: the steps, what takes them back, and the defaults of new rows.

use crate::server::{Server, parts};
use inorder_advise::server::{
    migrate::Steps,
    model::ColumnTo,
    rules::{Action, Group},
};

/// A digest as text: its bytes, what is before its digits, and whether letters are capitals.
#[derive(Clone, Copy)]
struct Digest {
    bytes: u8,
    prefix: &'static str,
    is_upper: bool,
}

impl Digest {
    /// 40, 56, 64, 80, 96 and 128 digits, with `0x` and without, in both cases by turns.
    fn all() -> Vec<Self> {
        let mut found = Vec::new();
        for (at, bytes) in [20, 28, 32, 40, 48, 64].into_iter().enumerate() {
            for (place, prefix) in ["", "0x"].into_iter().enumerate() {
                found.push(Digest {
                    bytes,
                    prefix,
                    is_upper: (at + place) % 2 == 1,
                });
            }
        }
        found
    }

    fn length(self) -> usize {
        self.prefix.len() + 2 * usize::from(self.bytes)
    }

    /// The text of a number's digest.
    fn text(self, is_postgres: bool, number: &str) -> String {
        let digits = match is_postgres {
            true => format!("encode(sha512(({number})::text::bytea), 'hex')"),
            false => format!("sha2({number}, 512)"),
        };
        let digits = format!("left({digits}, {})", 2 * self.bytes);
        let digits = match self.is_upper {
            true => format!("upper({digits})"),
            false => digits,
        };
        format!("concat('{}', {digits})", self.prefix)
    }

    /// The text of a digest that is stored as bytes.
    fn of_bytes(self, is_postgres: bool, column: &str) -> String {
        let digits = match is_postgres {
            true => format!("encode({column}, 'hex')"),
            false => format!("hex({column})"),
        };
        let case = if self.is_upper { "upper" } else { "lower" };
        format!("concat('{}', {case}({digits}))", self.prefix)
    }
}

fn make(server: &Server, at: usize, digest: Digest) {
    let is_postgres = server.is_postgres();
    let of = match (is_postgres, at % 3) {
        (true, 0) => "text".to_owned(),
        (true, 1) => format!("char({})", digest.length()),
        (true, _) => format!("varchar({})", digest.length() + 3),
        (false, 0) => format!("char({}) CHARACTER SET ascii", digest.length()),
        (false, 1) => format!("char({})", digest.length()),
        (false, _) => format!(
            "varchar({}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            digest.length() + 3
        ),
    };
    let (series, number) = match is_postgres {
        true => ("generate_series(1, 1200) g", "g"),
        false => ("seq_1_to_1200", "seq"),
    };
    let text = digest.text(is_postgres, number);
    server.run(&[
        &format!("CREATE TABLE d{at} (sha {of} NOT NULL PRIMARY KEY, n int NOT NULL)"),
        &format!("CREATE TABLE e{at} (k int PRIMARY KEY, d {of}, CONSTRAINT of_{at} FOREIGN KEY (d) REFERENCES d{at} (sha) ON DELETE CASCADE)"),
        &format!("INSERT INTO d{at} SELECT {text}, {number} FROM {series}"),
        &format!("INSERT INTO e{at} SELECT {number}, CASE WHEN {number} % 7 > 0 THEN {text} END FROM {series}"),
        &match is_postgres {
            true => format!("ANALYZE d{at}, e{at}"),
            false => format!("ANALYZE TABLE d{at}, e{at}"),
        },
    ]);
}

/// All texts of both columns, in the order of their rows.
fn texts(server: &Server, at: usize, own: &dyn Fn(&str) -> String) -> Vec<String> {
    let mut found = server.rows(&format!("SELECT {} FROM d{at} ORDER BY n", own("sha")));
    found.extend(server.rows(&format!(
        "SELECT CASE WHEN d IS NULL THEN '-' ELSE {} END FROM e{at} ORDER BY k",
        own("d")
    )));
    found
}

fn types(server: &Server, at: usize) -> Vec<String> {
    let kind = match server.is_postgres() {
        true => {
            "format_type(a.atttypid, a.atttypmod) FROM pg_attribute a WHERE attrelid IN ('{d}'::regclass, '{e}'::regclass) AND attname IN ('sha', 'd')"
        }
        false => {
            "column_type FROM information_schema.columns WHERE table_schema = database() AND table_name IN ('{d}', '{e}') AND column_name IN ('sha', 'd')"
        }
    };
    let kind = kind
        .replace("{d}", &format!("d{at}"))
        .replace("{e}", &format!("e{at}"));
    server.rows(&format!("SELECT DISTINCT {kind}"))
}

fn check(engine: &str) {
    let Some(server) = Server::start(engine) else {
        return;
    };
    let is_postgres = server.is_postgres();
    let all = Digest::all();
    for (at, &digest) in all.iter().enumerate() {
        make(&server, at, digest);
        let advice = server.advice();
        let told = format!("{} {} of {engine}", digest.prefix, digest.length());
        let is_it = |action: &Action| match action {
            Action::Convert { columns, to } => {
                let to_it = ColumnTo::Bytes {
                    bytes: digest.bytes,
                    has_prefix: !digest.prefix.is_empty(),
                };
                *to == to_it && columns.iter().any(|own| own.table == format!("d{at}"))
            }
            _ => false,
        };
        let part = parts(&advice)
            .find(|(part, _)| part.candidate.actions.iter().any(is_it))
            .unwrap_or_else(|| panic!("{told}"))
            .0;
        assert_eq!(part.candidate.group, Group::BinaryHash, "{told}");
        let title = part.candidate.actions[0].to_string();
        let plan = advice.plans.iter().find(|plan| plan.title == title);
        let steps: &Steps = plan
            .unwrap_or_else(|| panic!("{told}: {part:?}"))
            .steps
            .as_ref()
            .unwrap();
        let plain = |column: &str| column.to_owned();
        let (before, kinds) = (texts(&server, at, &plain), types(&server, at));
        assert_eq!(before.len(), 2400);
        server.carry_out(steps, &mut |_| {});
        let kind = match is_postgres {
            true => "bytea".to_owned(),
            false => format!("binary({})", digest.bytes),
        };
        assert_eq!(types(&server, at), [kind], "{told}");
        let of_bytes = |column: &str| digest.of_bytes(is_postgres, column);
        assert_eq!(texts(&server, at, &of_bytes), before, "{told}");
        server.take_back(steps);
        assert_eq!(texts(&server, at, &plain), before, "{told}");
        assert_eq!(types(&server, at), kinds, "{told}");
        server.run(&[&format!("DROP TABLE e{at}"), &format!("DROP TABLE d{at}")]);
    }
}

#[test]
fn postgres_digests_of_every_length_become_bytes_and_texts_again() {
    check("postgres");
}

#[test]
fn mariadb_digests_of_every_length_become_bytes_and_texts_again() {
    check("mariadb");
}

/// A default makes bytes of the same digests, and texts again.
#[test]
fn postgres_defaults_of_digests_make_bytes() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    let default = "'0x' || encode(sha256(random()::text::bytea), 'hex')";
    server.run(&[
        &format!("CREATE TABLE d (sha text PRIMARY KEY DEFAULT {default}, n int)"),
        "INSERT INTO d (n) SELECT g FROM generate_series(1, 2000) g",
        "ANALYZE",
    ]);
    let expression = "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef";
    let before = server.one(expression);
    let advice = server.advice();
    let mut plans = advice.plans.iter();
    let plan = plans.find(|plan| plan.title.starts_with("bytes"));
    let steps = plan.unwrap().steps.as_ref().unwrap();
    server.carry_out(steps, &mut |_| {});
    server.run(&["INSERT INTO d (n) VALUES (9999)"]);
    assert_eq!(server.rows("SELECT DISTINCT length(sha) FROM d"), ["32"]);
    server.take_back(steps);
    assert_eq!(server.one(expression), before);
    server.run(&["INSERT INTO d (n) VALUES (10000)"]);
    let wrong = "SELECT count(*) FROM d WHERE sha !~ '^0x[0-9a-f]{64}$'";
    assert_eq!(server.one(wrong), "0");
}
