//! Intervals of predictions cover what they claim: generated tables get a few rows, the growth of each is predicted from its
//! catalog and its rows, then the rows are inserted and the size is compared.
//!
//! `INORDER_FUZZ_CASES` is the number of tables, `INORDER_TEST_ONLY` names engines.

use inorder_bench::schema::{Asked, Catalog, forecast};
use inorder_engine::{Database, Settings};
use inorder_key::bulk::SplitMix64;
use inorder_predict::predict;
use std::fmt::Write as _;

/// Rows that are there, and rows that the table grows to.
const ROWS_NOW: u64 = 2500;
const ROWS: u64 = 25_000;
/// Rows of a statement.
const ROWS_TOGETHER: u64 = 250;
/// Share of the tables whose size an interval of 95% must cover at least: of 50, so few are outside in one run of 25.
const COVERED_MIN: f64 = 0.9;

/// Values of a column.
#[derive(Clone, Copy, Debug)]
enum Fill {
    /// Random integers below a bound.
    Integer(u64),
    /// The number of the row.
    Count,
    /// Texts of a random length up to a bound.
    Text(u64),
    /// One of so many texts.
    Few(u64),
    /// A point in time that ascends.
    Time,
    /// A decimal.
    Decimal,
    /// A random UUID.
    Uuid,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    fill: Fill,
    /// Percent of the rows that have NULL.
    null_percent: u64,
}

/// A generated table: its DDL, its key and its columns.
#[derive(Debug)]
struct Table {
    ddl: String,
    /// What its options are.
    what: String,
    key: Fill,
    columns: Vec<Column>,
}

struct Dice(SplitMix64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.bits() % bound
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn uuid(&mut self) -> String {
        let bits = (u128::from(self.0.bits()) << 64) | u128::from(self.0.bits());
        let bits = bits & !(0xf << 76) & !(3 << 62) | (4 << 76) | (2 << 62);
        let hex = format!("{bits:032x}");
        let parts = [
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..],
        ];
        parts.join("-")
    }

    /// A value as SQL.
    fn value(&mut self, engine: &str, fill: Fill, row: u64) -> String {
        match fill {
            Fill::Integer(bound) => self.below(bound).to_string(),
            Fill::Count => row.to_string(),
            Fill::Text(most) => {
                let length = 1 + self.below(most);
                let letters = (0..length).map(|_| char::from(b'a' + self.below(26) as u8));
                format!("'{}'", letters.collect::<String>())
            }
            Fill::Few(values) => format!("'state {}'", self.below(values)),
            Fill::Time => format!(
                "'2026-01-{:02} {:02}:{:02}:{:02}'",
                1 + row / 86_400,
                row / 3600 % 24,
                row / 60 % 60,
                row % 60
            ),
            Fill::Decimal => format!("{}.{:02}", self.below(100_000), 1 + self.below(99)),
            Fill::Uuid if engine == "sqlite" => format!("x'{}'", self.uuid().replace('-', "")),
            Fill::Uuid => format!("'{}'", self.uuid()),
        }
    }
}

fn column_type(engine: &str, fill: Fill) -> &'static str {
    match (fill, engine) {
        (Fill::Integer(bound), _) if bound <= 1 << 31 => "integer",
        (Fill::Integer(_) | Fill::Count, _) => "bigint",
        (Fill::Text(_) | Fill::Few(_), _) => "varchar(200)",
        (Fill::Time, "postgres") => "timestamp",
        (Fill::Time, _) => "datetime",
        (Fill::Decimal, _) => "numeric(10,2)",
        (Fill::Uuid, "sqlite") => "blob",
        (Fill::Uuid, _) => "uuid",
    }
}

/// Options of PostgreSQL, each with a chance.
struct Options<'d> {
    dice: &'d mut Dice,
    is_postgres: bool,
    what: Vec<String>,
}

impl Options<'_> {
    fn with(&mut self, percent: u64, text: String) -> String {
        if !self.is_postgres || !self.dice.is(percent) {
            return String::new();
        }
        self.what.push(text.clone());
        text
    }

    fn fill(&mut self, percent: u64) -> String {
        let fill = 50 + 10 * self.dice.below(5);
        self.with(percent, format!("WITH (fillfactor = {fill})"))
    }
}

fn columns(dice: &mut Dice) -> Vec<Column> {
    let fills = [
        Fill::Integer(1 << 30),
        Fill::Integer(1 << 40),
        Fill::Integer(1000),
        Fill::Text(20),
        Fill::Text(120),
        Fill::Few(3),
        Fill::Few(40),
        Fill::Time,
        Fill::Decimal,
        Fill::Uuid,
    ];
    let count = 2 + dice.below(6);
    let column = |number| Column {
        name: format!("c{number}"),
        fill: fills[dice.below(fills.len() as u64) as usize],
        null_percent: if dice.is(20) { 30 } else { 0 },
    };
    (0..count).map(column).collect()
}

/// A statement that creates an index.
fn index(engine: &str, number: u64, columns: &[Column], options: &mut Options<'_>) -> String {
    let any = |dice: &mut Dice| &columns[dice.below(columns.len() as u64) as usize].name;
    let (first, second) = (any(options.dice), any(options.dice));
    let list = match first == second || options.dice.is(60) {
        true => first.clone(),
        false => format!("{first}, {second}"),
    };
    let include = match list.contains(second.as_str()) {
        true => String::new(),
        false => options.with(25, format!("INCLUDE ({second})")),
    };
    let mut with = options.fill(25);
    if with.is_empty() {
        with = options.with(25, "WITH (deduplicate_items = off)".to_owned());
    }
    let partial = match engine != "mariadb" && options.dice.is(10) {
        true => format!("WHERE {first} IS NOT NULL"),
        false => String::new(),
    };
    format!(" CREATE INDEX i{number} ON t({list}) {include} {with} {partial};")
}

/// A table with random columns, indexes and options of the engine.
fn table(engine: &str, dice: &mut Dice) -> Table {
    let key = match dice.below(3) {
        0 => Fill::Uuid,
        _ => Fill::Count,
    };
    let columns = columns(dice);
    let is_without_rowid = engine == "sqlite" && matches!(key, Fill::Uuid) && dice.is(50);
    let indexes = 1 + dice.below(3);
    let mut options = Options {
        dice,
        is_postgres: engine == "postgres",
        what: Vec::new(),
    };
    let key_type = match (key, engine) {
        (Fill::Uuid, _) => column_type(engine, key),
        (_, "sqlite") => "INTEGER",
        _ => "bigint",
    };
    let mut ddl = format!("CREATE TABLE t(id {key_type} NOT NULL, ");
    for column in &columns {
        let _ = write!(
            ddl,
            "{} {}, ",
            column.name,
            column_type(engine, column.fill)
        );
    }
    let layout = if is_without_rowid {
        "WITHOUT ROWID"
    } else {
        ""
    };
    let (key_fill, fill) = (options.fill(20), options.fill(30));
    let _ = write!(ddl, "PRIMARY KEY(id) {key_fill}) {fill}{layout};");
    for number in 0..indexes {
        ddl += &index(engine, number, &columns, &mut options);
    }
    Table {
        what: options.what.join(", "),
        ddl,
        key,
        columns,
    }
}

/// Inserts rows after so many others.
fn insert(
    database: &dyn Database,
    engine: &str,
    table: &Table,
    dice: &mut Dice,
    rows: std::ops::Range<u64>,
) {
    let mut first = rows.start;
    while first < rows.end {
        let last = (first + ROWS_TOGETHER).min(rows.end);
        let mut sql = "INSERT INTO t VALUES ".to_owned();
        for row in first..last {
            let key = dice.value(engine, table.key, row + 1);
            let mut values = vec![key];
            for column in &table.columns {
                values.push(match dice.is(column.null_percent) {
                    true => "NULL".to_owned(),
                    false => dice.value(engine, column.fill, row),
                });
            }
            let comma = if row == first { "" } else { ", " };
            let _ = write!(sql, "{comma}({})", values.join(", "));
        }
        database.execute(&sql).unwrap();
        first = last;
    }
}

/// Bytes of the table and its indexes.
fn size(database: &dyn Database, engine: &str) -> u64 {
    database.quiesce().unwrap();
    match engine {
        // With the TOAST table.
        "postgres" => database.size_bytes().unwrap(),
        // The file of InnoDB has free extents besides.
        _ => {
            let trees = database.structure().unwrap();
            let own = trees.iter().filter(|tree| tree.table == "t");
            own.map(|tree| tree.size_bytes).sum()
        }
    }
}

/// A prediction: the size, half of its interval, and what was.
struct Outcome {
    value: f64,
    error: f64,
    real: f64,
    /// Trees with their pages, as predicted and as they are.
    trees: String,
}

impl Outcome {
    fn is_covered(&self) -> bool {
        (self.value - self.real).abs() <= self.error
    }
}

fn outcome(database: &dyn Database, engine: &str, table: &Table, dice: &mut Dice) -> Outcome {
    database.execute(&table.ddl).unwrap();
    insert(database, engine, table, dice, 0..ROWS_NOW);
    match engine {
        "postgres" => database.execute("ANALYZE t").unwrap(),
        "mariadb" => _ = database.select("ANALYZE TABLE t").unwrap(),
        _ => {}
    }
    database.quiesce().unwrap();
    let catalog = Catalog::of_database(&database.location().unwrap()).unwrap();
    let asked = Asked {
        table: Some("t".to_owned()),
        rows: ROWS,
        ..Asked::default()
    };
    let forecast = forecast(&catalog, &asked).unwrap();
    let answer = predict(&forecast.questions[0]).unwrap();
    insert(database, engine, table, dice, ROWS_NOW..ROWS);
    let real = size(database, engine);
    let trees = trees(database, engine, &answer.trees);
    database.execute("DROP TABLE t").unwrap();
    Outcome {
        value: answer.size_bytes.value,
        error: answer.size_bytes.error,
        real: real as f64,
        trees,
    }
}

/// Leaf pages and all pages of each tree, as they are predicted and are.
fn trees(database: &dyn Database, engine: &str, predicted: &[inorder_predict::TreeSize]) -> String {
    if engine == "postgres" {
        return String::new();
    }
    let own = predicted
        .iter()
        .map(|tree| format!("{}: {:.0} of {:.0}", tree.name, tree.leaf_pages, tree.pages));
    let real = database.structure().unwrap();
    let real = real.iter().filter(|tree| tree.table == "t");
    let real = real.map(|tree| {
        let leaves = tree.leaf_pages.unwrap_or_default();
        format!("{}: {leaves} of {}", tree.name, tree.pages)
    });
    let list = |all: Vec<String>| all.join(", ");
    format!("[{}] is [{}]", list(own.collect()), list(real.collect()))
}

#[test]
fn intervals_cover_the_sizes_of_generated_tables() {
    let cases: u64 = std::env::var("INORDER_FUZZ_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(50);
    let only = std::env::var("INORDER_TEST_ONLY").unwrap_or_default();
    let engines: Vec<&str> = ["postgres", "sqlite", "mariadb"]
        .into_iter()
        .filter(|name| only.is_empty() || only.split(',').any(|wanted| wanted == *name))
        .filter(|name| inorder_engine::engine(name).is_some_and(inorder_testing::is_installed))
        .collect();
    let (mut covered, mut all) = (0, 0);
    for (at, name) in engines.iter().enumerate() {
        let engine = inorder_engine::engine(name).unwrap();
        let settings = Settings {
            page_size_bytes: if *name == "mariadb" { 16_384 } else { 4096 },
            ..Settings::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let database = engine.create(folder.path(), &settings).unwrap();
        let own =
            cases / engines.len() as u64 + u64::from((at as u64) < cases % engines.len() as u64);
        for case in 0..own {
            let mut dice = Dice(SplitMix64::new(SplitMix64::mix(case + 1000 * at as u64)));
            let table = table(name, &mut dice);
            let found = outcome(database.as_ref(), name, &table, &mut dice);
            all += 1;
            covered += u32::from(found.is_covered());
            println!(
                "{name} {case}: predicted {:.0} ± {:.1}%, is {:.0} ({:+.1}%){} {} {}",
                found.value,
                100.0 * found.error / found.value,
                found.real,
                100.0 * (found.real / found.value - 1.0),
                if found.is_covered() { "" } else { " OUTSIDE" },
                if found.is_covered() {
                    &table.what
                } else {
                    &table.ddl
                },
                if found.is_covered() { "" } else { &found.trees },
            );
        }
    }
    println!("{covered} of {all} sizes are within their intervals");
    assert!(
        f64::from(covered) >= COVERED_MIN * f64::from(all),
        "{covered} of {all}"
    );
}
