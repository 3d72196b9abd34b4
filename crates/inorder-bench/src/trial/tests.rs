//! Every guard of a trial, seen failing: SQLite behind an engine with one fault.

use super::*;
use inorder_engine::{
    Column, ColumnInfo, EngineInfo, Error as EngineError, Found, Io, KernelCheck, PageFill, Reader,
    Retry, Settings, TableShape, Tree, Writer,
};
use inorder_key::{Encoding, KeyKind};
use std::ops::Range;

/// The fault of the engine.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Nothing,
    LosesARow,
    StoresARowTwice,
    StoresAnotherKey,
    CountsOneRowLess,
    /// Finds no row by the key once rows are counted.
    FindsNoKey,
    FindsAKeyTwice,
    /// Loses sight of rows after they were read back.
    FindsNothingInLookUps,
    /// Can't say how large it is, how its trees lie, nor what it does.
    IsBlind,
}
use Fault::*;

/// The row of the load that the fault is in.
const FAULTY_ROW: u64 = 42;

/// SQLite with a fault.
struct Faulty(Fault);

fn sqlite() -> &'static dyn Engine {
    inorder_engine::engine("sqlite").unwrap()
}

impl Engine for Faulty {
    fn name(&self) -> &'static str {
        sqlite().name()
    }
    fn found(&self) -> Result<Vec<Found>, EngineError> {
        sqlite().found()
    }
    fn kernel_check(&self) -> KernelCheck {
        sqlite().kernel_check()
    }
    fn info(&self) -> Result<EngineInfo, EngineError> {
        sqlite().info()
    }
    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        sqlite().key_type(kind, encoding)
    }
    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String> {
        sqlite().create_table(shape)
    }
    fn create(&self, folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, EngineError> {
        let database = sqlite().create(folder, settings)?;
        Ok(Box::new(FaultyDatabase(self.0, database)))
    }
}

struct FaultyDatabase(Fault, Box<dyn Database>);

impl FaultyDatabase {
    /// SQLite's answer, or an error from an engine without the feature.
    fn seen<T>(
        &self,
        see: impl FnOnce(&dyn Database) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        if self.0 == IsBlind {
            return Err(EngineError::Unsupported {
                engine: "blind",
                what: "see".to_owned(),
            });
        }
        see(self.1.as_ref())
    }
}

impl Database for FaultyDatabase {
    fn execute(&self, sql: &str) -> Result<(), EngineError> {
        self.1.execute(sql)
    }
    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, EngineError> {
        self.1.columns(table)
    }
    fn settings(&self) -> Result<Vec<(String, String)>, EngineError> {
        self.1.settings()
    }
    fn writer(
        &self,
        table: &str,
        columns: &[&str],
        retry: Retry,
    ) -> Result<Box<dyn Writer>, EngineError> {
        Ok(Box::new(FaultyWriter {
            fault: self.0,
            writer: self.1.writer(table, columns, retry)?,
            rows: 0,
        }))
    }
    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, EngineError> {
        self.1.finds_by_index(table, columns)
    }
    fn is_in_sight(&self) -> bool {
        self.0 != IsBlind
    }
    fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, EngineError> {
        let reader = self.1.reader(sql)?;
        let is_look_up = sql.starts_with("SELECT *");
        Ok(match self.0 {
            FindsNoKey => Box::new(FaultyReader(reader, |_| 0)),
            FindsNothingInLookUps if is_look_up => Box::new(FaultyReader(reader, |_| 0)),
            FindsAKeyTwice => Box::new(FaultyReader(reader, |found| 2 * found)),
            _ => reader,
        })
    }
    fn io(&self) -> Io {
        self.seen(|database| Ok(database.io())).unwrap_or_default()
    }
    fn quiesce(&self) -> Result<(), EngineError> {
        self.1.quiesce()
    }
    fn count(&self, table: &str) -> Result<u64, EngineError> {
        let rows = self.1.count(table)?;
        Ok(rows - u64::from(self.0 == CountsOneRowLess))
    }
    fn size_bytes(&self) -> Result<u64, EngineError> {
        self.seen(|database| database.size_bytes())
    }
    fn structure(&self) -> Result<Vec<Tree>, EngineError> {
        self.seen(|database| database.structure())
    }
    fn page_fill(&self, tree: &str) -> Result<PageFill, EngineError> {
        self.1.page_fill(tree)
    }
    fn vacuum(&self) -> Result<(), EngineError> {
        self.seen(|database| database.vacuum())
    }
    fn query_plan(&self, sql: &str) -> Result<Vec<String>, EngineError> {
        self.1.query_plan(sql)
    }
}

struct FaultyWriter {
    fault: Fault,
    writer: Box<dyn Writer>,
    rows: u64,
}

impl Writer for FaultyWriter {
    fn begin(&mut self) -> Result<(), EngineError> {
        self.writer.begin()
    }
    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), EngineError> {
        let first = self.rows;
        self.rows += rows.len() as u64;
        if !(first..self.rows).contains(&FAULTY_ROW) {
            return self.writer.insert(batch, rows);
        }
        let at = rows.start + (FAULTY_ROW - first) as usize;
        self.writer.insert(batch, rows.start..at)?;
        match self.fault {
            LosesARow => {}
            StoresAnotherKey => {
                let mut other = batch.clone();
                let Column::Fixed {
                    width_bytes, bytes, ..
                } = &mut other.columns[0]
                else {
                    panic!("the key is bytes");
                };
                bytes[at * *width_bytes] ^= 0xff;
                self.writer.insert(&other, at..at + 1)?;
            }
            _ => self.writer.insert(batch, at..at + 1)?,
        }
        if self.fault == StoresARowTwice {
            self.writer.insert(batch, at..at + 1)?;
        }
        self.writer.insert(batch, at + 1..rows.end)
    }
    fn commit(&mut self) -> Result<(), EngineError> {
        self.writer.commit()
    }
    fn rollback(&mut self) -> Result<(), EngineError> {
        self.writer.rollback()
    }
    fn checkpoint_if_due(&mut self) -> Result<bool, EngineError> {
        self.writer.checkpoint_if_due()
    }
    fn retries(&self) -> u64 {
        self.writer.retries()
    }
}

/// Reads, and says that it found another number of rows.
struct FaultyReader(Box<dyn Reader>, fn(u64) -> u64);

impl Reader for FaultyReader {
    fn query(&mut self, batch: &Batch, row: usize) -> Result<u64, EngineError> {
        self.0.query(batch, row).map(self.1)
    }
}

/// A trial of 100 rows on an engine with a fault.
fn run_with(fault: Fault, layout: &str) -> Result<Outcome, Error> {
    let text =
        "title = \"t\"\nquestion = \"q\"\nexpect = \"e\"\n[reads]\npoints = 10\nranges = 10\n";
    let folder = tempfile::tempdir().unwrap();
    let levels = [
        ("rows", "100"),
        ("rows_per_transaction", "30"),
        ("key", "uuid7"),
        ("layout", layout),
    ];
    let spec = TrialSpec {
        file: "faulty.toml".to_owned(),
        text: text.to_owned(),
        scale: Scale::Quick,
        overrides: Overrides::default(),
        levels: levels
            .map(|(factor, level)| (factor.to_owned(), level.to_owned()))
            .into(),
        repetition: 0,
        seed: 1,
        folder: folder.path().to_owned(),
        is_rehearsal: false,
    };
    let experiment = spec.experiment()?;
    let setup = confined_setup(&spec, &experiment)?;
    run_on(&Faulty(fault), &spec, &experiment, &setup, &mut |_| {})
}

#[test]
fn a_trial_without_a_fault_passes() {
    for layout in ["rowid", "without-rowid", "no-key"] {
        let outcome = run_with(Nothing, layout).unwrap();
        let stored = |s: &&Sample| s.probe == "rows_stored";
        let sample = outcome.samples.iter().find(stored).unwrap();
        assert_eq!(sample.value, Some(100.0));
    }
}

#[test]
fn a_trial_fails_where_rows_or_keys_are_wrong() {
    for (fault, layout, message) in [
        (
            LosesARow,
            "rowid",
            "table `event` holds 99 rows after 100 were inserted",
        ),
        (
            StoresARowTwice,
            "no-key",
            "table `event` holds 101 rows after 100 were inserted",
        ),
        (
            StoresARowTwice,
            "rowid",
            "row 43 of table `event` violates a constraint: UNIQUE constraint failed",
        ),
        (
            CountsOneRowLess,
            "rowid",
            "table `event` holds 99 rows after 100 were inserted",
        ),
        (
            StoresAnotherKey,
            "without-rowid",
            "a key that was inserted into `event` isn't found again (id = ",
        ),
        (
            FindsNoKey,
            "rowid",
            "a key that was inserted into `event` isn't found again (id = ",
        ),
        (
            FindsAKeyTwice,
            "rowid",
            "a key that was inserted into `event` is found more than once (id = ",
        ),
        (
            FindsNothingInLookUps,
            "rowid",
            "a look-up of a stored key found no row (",
        ),
    ] {
        let error = run_with(fault, layout).expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn what_an_engine_cannot_see_is_null() {
    let seen = run_with(Nothing, "rowid").unwrap().samples;
    let blind = run_with(IsBlind, "rowid").unwrap().samples;
    let of = |samples: &[Sample], probe: &str| -> Vec<Option<f64>> {
        let whole = |s: &&Sample| s.probe == probe && s.part.is_empty();
        samples.iter().filter(whole).map(|s| s.value).collect()
    };
    for probe in [
        "cpu_s",
        "engine_written_bytes",
        "engine_syncs_calls",
        "process_written_bytes",
        "block_written_bytes",
        "peak_memory_bytes",
        "size_bytes",
        "size_vacuumed_bytes",
    ] {
        let values = of(&blind, probe);
        assert!(!values.is_empty(), "{probe} isn't sampled");
        assert!(values.iter().all(Option::is_none), "{probe}: {values:?}");
        let is_observed = of(&seen, probe).iter().any(Option::is_some);
        assert!(is_observed, "{probe} is seen where the engine isn't blind");
    }
    // Wall time and rows can be seen of any engine.
    for probe in ["wall_s", "rows_stored", "user_bytes"] {
        assert!(of(&blind, probe).iter().all(Option::is_some), "{probe}");
    }
}

/// An order with its items, and the items with their notes, in one transaction.
const SHOP: &str = r#"
title = "t"
question = "q"
expect = "e"
[reads]
points = 10
[[table]]
name = "product"
rows = 7
create = "CREATE TABLE product(id BLOB PRIMARY KEY, at TEXT NOT NULL, day TEXT NOT NULL)"
columns = { id = { fill = "key", kind = "ulid" }, at = { fill = "times", start = 0, step_ms = 1500 }, day = { fill = "times", start = 86400, step_ms = 0, date = true } }
[[table]]
name = "orders"
measured = true
create = "CREATE TABLE orders(id {key} PRIMARY KEY, state TEXT CHECK (state IN ('new', 'paid')))"
columns = { id = "key", state = { fill = "values", values = ["new", "paid"], null_share = 0.5 } }
[[table]]
name = "item"
measured = true
create = "CREATE TABLE item(orders {key} NOT NULL REFERENCES orders(id), line INT CHECK (line BETWEEN 1 AND 3), product BLOB NOT NULL REFERENCES product(id), PRIMARY KEY (orders, line), UNIQUE (orders, product))"
columns = { orders = { fill = "each", from = "orders.id", repeat = 3 }, line = { fill = "cycle", low = 1, high = 3 }, product = { fill = "pick", from = "product.id", distinct = true } }
[[table]]
name = "note"
measured = true
create = "CREATE TABLE note(orders {key} NOT NULL, line INT, n INT, FOREIGN KEY (orders, line) REFERENCES item(orders, line), UNIQUE (orders, line, n))"
columns = { orders = { fill = "each", from = "item.orders", repeat = 2 }, line = { fill = "each", from = "item.line" }, n = { fill = "cycle", low = 1, high = 2 } }
"#;

fn run_shop(text: &str, levels: &[(&str, &str)]) -> Result<Outcome, Error> {
    let folder = tempfile::tempdir().unwrap();
    let mut all = BTreeMap::from([("rows".to_owned(), "100".to_owned())]);
    all.extend(
        levels
            .iter()
            .map(|&(name, level)| (name.to_owned(), level.to_owned())),
    );
    let spec = TrialSpec {
        file: "shop.toml".to_owned(),
        text: text.to_owned(),
        scale: Scale::Quick,
        overrides: Overrides::default(),
        levels: all,
        repetition: 0,
        seed: 1,
        folder: folder.path().to_owned(),
        is_rehearsal: false,
    };
    run(&spec, &Engines::default(), &mut |_| {})
}

#[test]
fn tables_that_belong_together_are_filled_together() {
    for levels in [
        &[("rows_per_transaction", "1")][..],
        &[("rows_per_transaction", "30"), ("key", "uuid7")],
        &[("rows_per_transaction", "30"), ("presort", "key")],
        &[("rows_per_transaction", "7"), ("writers", "3")],
        &[("key", "int-seq"), ("key_after", "same")],
    ] {
        // Foreign keys, CHECK and UNIQUE constraints refuse what does not belong together.
        let outcome = run_shop(SHOP, levels).unwrap_or_else(|error| panic!("{levels:?}: {error}"));
        let stored = |part: &str| {
            let found = |s: &&Sample| s.probe == "rows_stored" && s.part == part;
            outcome.samples.iter().find(found).and_then(|s| s.value)
        };
        assert_eq!(stored(""), Some(100.0));
        assert_eq!((stored("item"), stored("note")), (Some(300.0), Some(600.0)));
    }
}

/// Each note belongs to an order and to one of its three items: one note of none or several of each.
#[test]
fn rows_that_two_tables_have_unequally_often_belong_together() {
    for repeat in [1, 2, 5, 7] {
        let owner = format!(r#"from = "orders.id", repeat = {repeat}"#);
        let text = SHOP
            .replace(r#"from = "item.orders", repeat = 2"#, &owner)
            .replace("low = 1, high = 2", "low = 1, high = 7");
        assert_ne!(text, SHOP);
        let levels = [("rows_per_transaction", "30")];
        run_shop(&text, &levels).unwrap_or_else(|error| panic!("{repeat}: {error}"));
    }
}

#[test]
fn names_of_tables_may_have_points() {
    let text = SHOP
        .replace("\"product\"", "\"our.product\"")
        .replace("product(", "[our.product](")
        .replace("product.id", "our.product.id");
    run_shop(&text, &[]).unwrap();
}

#[test]
fn keys_of_one_kind_may_be_null() {
    let with = |check: &str| {
        let tag = r#"tag = { fill = "key", kind = "uuid7", null_share = 0.5 }, at ="#;
        SHOP.replace(
            "TABLE product(",
            &format!("TABLE product(tag BLOB CHECK ({check}), "),
        )
        .replacen("at =", tag, 1)
    };
    run_shop(&with("tag IS NULL OR length(tag) = 16"), &[]).unwrap();
    for check in ["tag IS NULL", "tag IS NOT NULL"] {
        let error = run_shop(&with(check), &[]).unwrap_err().to_string();
        assert!(error.contains("CHECK constraint failed"), "{error}");
    }
}

#[test]
fn a_row_of_a_further_table_is_told_with_its_values() {
    let wrong = SHOP.replace("low = 1, high = 3", "low = 2, high = 4");
    let error = run_shop(&wrong, &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("row 3 of table `item` violates a constraint"),
        "{error}"
    );
    assert!(error.contains("line = 4"), "{error}");
}

#[test]
fn keys_that_the_engine_assigns_cannot_be_referred_to_in_the_same_transaction() {
    let error = run_shop(SHOP, &[("key", "serial")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("int-seq in place of serial"), "{error}");
}

#[test]
fn measured_tables_say_how_they_belong_together() {
    let refusal = |from: &str, to: &str| {
        let text = SHOP.replacen(from, to, 1);
        let parsed = Experiment::parse("x.toml", &text, Scale::Quick, &Overrides::default());
        parsed.expect_err(to).to_string()
    };
    let error = refusal(
        r#"{ fill = "each", from = "orders.id", repeat = 3 }"#,
        "\"sequence\"",
    );
    assert!(
        error.contains("`item` is measured with `orders`"),
        "{error}"
    );
    let error = refusal(
        r#"{ fill = "pick", from = "product.id""#,
        r#"{ fill = "pick", from = "orders.id""#,
    );
    assert!(error.contains("use `each`"), "{error}");
    let error = refusal("name = \"item\"\nmeasured = true", "name = \"item\"");
    assert!(error.contains("say `measured = true` here, too"), "{error}");
    let error = refusal(r#"kind = "ulid""#, r#"kind = "serial""#);
    assert!(error.contains("for the factor `key` only"), "{error}");
    let error = refusal("null_share = 0.5", "null_share = 1.5");
    assert!(error.contains("from 0 to 1"), "{error}");
}

/// Such a batch has no column, and so no rows to count.
#[test]
fn a_serial_key_without_other_columns_stores_all_rows() {
    let text = "title = \"t\"\nquestion = \"q\"\nexpect = \"e\"\n";
    let levels = [
        ("key", "serial"),
        ("payload_bytes", "0"),
        ("rows_per_transaction", "30"),
    ];
    let outcome = run_shop(text, &levels).unwrap();
    let stored = |s: &&Sample| s.probe == "rows_stored";
    let sample = outcome.samples.iter().find(stored).unwrap();
    assert_eq!(sample.value, Some(100.0));
}
