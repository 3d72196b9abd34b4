//! Generated values, copied from MariaDB to PostgreSQL, on to SQLite, and back to PostgreSQL. Each database is asked for
//! the bytes of what it has.

use inorder_copy::{Job, Observer, Stop, run};
use inorder_testing::PrivateServer;
use std::fmt::Write as _;

const ROWS: u64 = 2_000;

#[derive(Default)]
struct Quiet(Stop);

impl Observer for Quiet {
    fn table(&self, _: &str, _: u64) {}

    fn rows(&self, _: u64) {}

    fn stop(&self) -> &Stop {
        &self.0
    }
}

/// A sequence of numbers in no order (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    fn double(&mut self) -> f64 {
        let number = f64::from_bits(self.next());
        if number.is_finite() { number } else { 0.1 }
    }

    fn single(&mut self) -> f32 {
        let number = f32::from_bits(self.next() as u32);
        // MariaDB stores the smallest ones as 0.
        if number.is_normal() { number } else { -2.5 }
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(20)).map(|_| self.next() as u8).collect()
    }

    fn text(&mut self) -> String {
        const CHARS: &[char] = &[
            'a',
            'Z',
            ' ',
            '\t',
            '\n',
            '\r',
            '\\',
            '\'',
            '"',
            'N',
            'ü',
            '€',
            '\u{1f600}',
            '.',
            '\u{1}',
        ];
        (0..self.below(15))
            .map(|_| CHARS[self.below(CHARS.len() as u64) as usize])
            .collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").expect("memory");
        out
    })
}

fn copy(from: &str, to: &str) {
    let job = Job {
        from: from.to_owned(),
        to: to.to_owned(),
        schema: "public".to_owned(),
        tables: Vec::new(),
        excluded: Vec::new(),
        replaces: false,
        plan: None,
        is_dry: false,
    };
    run(&job, &Quiet::default()).unwrap_or_else(|error| panic!("{from}: {error}"));
}

/// Fills a table of MariaDB. Returns each row as its bytes in hexadecimal.
fn fill(server: &PrivateServer) -> Vec<String> {
    server.run("SET sql_mode = 'STRICT_ALL_TABLES'");
    server.run(
        "CREATE TABLE g (id bigint PRIMARY KEY, d double, f float, b varbinary(20), t varchar(20), m datetime(6), n decimal(30,10))
         DEFAULT CHARSET utf8mb4",
    );
    let (mut dice, mut rows) = (Dice(7), Vec::new());
    let mut values = Vec::new();
    for _ in 0..ROWS {
        let id = dice.next() as i64;
        let (d, f, b, t) = (dice.double(), dice.single(), dice.bytes(), dice.text());
        let m = format!(
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}",
            1000 + dice.below(9000),
            1 + dice.below(12),
            1 + dice.below(28),
            dice.below(24),
            dice.below(60),
            dice.below(60),
            dice.below(1_000_000)
        );
        let n = format!("{}.{:010}", dice.next() as i64, dice.below(10_000_000_000));
        values.push(format!(
            "({id}, {d:e}, {f:e}, x'{}', convert(x'{}' USING utf8mb4), '{m}', {n})",
            hex(&b),
            hex(t.as_bytes())
        ));
        rows.push((
            id,
            format!(
                "{id}|{}|{}|{}|{}|{m}|{n}",
                hex(&d.to_be_bytes()),
                hex(&f.to_be_bytes()),
                hex(&b),
                hex(t.as_bytes())
            ),
        ));
    }
    for values in values.chunks(200) {
        server.run(&format!("INSERT INTO g VALUES {}", values.join(", ")));
    }
    rows.sort();
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The rows of a table of PostgreSQL. `single` converts `f` to its type there.
fn in_postgres(server: &PrivateServer, single: &str, time: &str) -> Vec<String> {
    server.rows(&format!(
        "SELECT id, encode(float8send(d), 'hex'), encode(float4send({single}), 'hex'), encode(b, 'hex'),
             encode(convert_to(t, 'UTF8'), 'hex'), {time}, n
         FROM g ORDER BY id"
    ))
}

#[test]
fn generated_values_are_the_same_after_three_copies() {
    let start = |name| PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR"));
    let (Some(maria), Some(one), Some(two)) =
        (start("mariadb"), start("postgres"), start("postgres"))
    else {
        return;
    };
    let expected = fill(&maria);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("g.db").display().to_string();
    copy(&maria.url(), &one.url());
    copy(&one.url(), &file);
    copy(&file, &two.url());
    let time = "to_char(m, 'YYYY-MM-DD HH24:MI:SS.US')";
    for (server, single, time) in [(&one, "f", time), (&two, "f::float4", time)] {
        let found = in_postgres(server, single, time);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
    }
}
