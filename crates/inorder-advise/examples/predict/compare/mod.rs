//! Predicted sizes beside real ones: fills a table on a private server, takes a sample, predicts, applies the change to all
//! rows, and measures.

mod mariadb;
mod postgres;

use inorder_advise::server::{
    model::{ChangeSet, ColumnChange, ColumnTo, Database, Prediction, Sample, Table},
    predict::Predictor,
};
use inorder_engine::{self as engine, Settings, Synchronous};
use std::{error::Error, time::Instant};

/// Rows of a sample.
const SAMPLE_ROWS: u64 = 10_000;
/// Rows that are inserted to count pages.
const INSERTED: u64 = 10_000;
/// Largest relative error that passes.
const ERROR_MAX: f64 = 0.05;

/// A table to predict.
struct Schema {
    name: &'static str,
    /// Columns, as in CREATE TABLE. `{rows}` is the number of rows.
    columns: &'static str,
    /// What stands after the closing parenthesis.
    options: &'static str,
    /// An expression per column, over the row's number `i`.
    values: &'static str,
    /// Index name, and what stands after the table's name, such as `USING btree (a)`; `UNIQUE` before it.
    indexes: &'static [(&'static str, &'static str)],
    /// Columns that change, to what, and the statement that does it.
    columns_to: &'static [(&'static str, ColumnTo)],
    dropped: &'static [&'static str],
    partial: &'static [(&'static str, &'static str)],
    change: &'static str,
}

/// A schema without anything.
const NONE: Schema = Schema {
    name: "",
    columns: "",
    options: "",
    values: "",
    indexes: &[],
    columns_to: &[],
    dropped: &[],
    partial: &[],
    change: "",
};

/// What the server's tables are, and how they are changed.
trait Product {
    fn engine(&self) -> &'static str;
    fn schemas(&self) -> &'static [Schema];
    fn fill(&self, server: &dyn engine::Database, schema: &Schema, rows: u64) -> Fallible<()>;
    fn describe(&self, server: &dyn engine::Database, rows: u64) -> Fallible<(Database, Table)>;
    fn sample(&self, server: &dyn engine::Database, table: &Table, rows: u64) -> Fallible<Sample>;
    /// Inserts so many further rows after a checkpoint, and returns the bytes of pages that this writes.
    fn insert(&self, server: &dyn engine::Database, schema: &Schema, rows: u64) -> Fallible<u64>;
    /// Rebuilds the table `t`, and returns the bytes of the table (`None`) and of each index.
    fn rebuild(&self, server: &dyn engine::Database) -> Fallible<Vec<(Option<String>, u64)>>;
}

/// What can fail in any way.
pub type Fallible<T> = Result<T, Box<dyn Error>>;

/// Compares all schemas whose name contains `only`, prints a table, and returns what is more than 5% off.
pub fn compare(engine: &str, rows: u64, only: &[&str]) -> Fallible<Vec<String>> {
    let product: &dyn Product = match engine {
        "postgres" => &postgres::Postgres,
        "mariadb" => &mariadb::MariaDb,
        _ => return Err("the engine is postgres or mariadb".into()),
    };
    let folder = tempfile::tempdir()?;
    let [user, private] = ["user", "private"].map(|name| folder.path().join(name));
    std::fs::create_dir(&user)?;
    std::fs::create_dir(&private)?;
    let settings = Settings {
        page_size_bytes: 16_384,
        cache_kib: 256 << 10,
        synchronous: Synchronous::Off,
        checkpoint_pages: 0,
        ..Settings::default()
    };
    let engine = engine::engine(product.engine()).ok_or("no engine")?;
    let server = engine.create(&user, &settings)?;
    println!("| schema | object | rebuilt | predicted | error | after | predicted | error |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    let (mut sizes, mut off) = (0, Vec::new());
    let is_wanted = |schema: &&Schema| only.iter().any(|part| schema.name.contains(part));
    for schema in product.schemas().iter().filter(is_wanted) {
        product.fill(&*server, schema, rows)?;
        let (database, table) = product.describe(&*server, rows)?;
        let sample = product.sample(&*server, &table, rows)?;
        let began = Instant::now();
        let predictor = Predictor::start(&database, &private)?;
        let started_s = began.elapsed().as_secs_f64();
        let found = predictor.predict(&table, &sample, &[change_set(schema)])?;
        let took_s = began.elapsed().as_secs_f64();
        drop(predictor);
        let before = product.rebuild(&*server)?;
        let pages = product.insert(&*server, schema, rows)? as f64 / INSERTED as f64;
        let page_bytes = found[0]
            .page_bytes_per_insert
            .map_or(0.0, |(before, _)| before);
        product.fill(&*server, schema, rows)?;
        if !schema.change.is_empty() {
            server.execute(schema.change)?;
        }
        let after = product.rebuild(&*server)?;
        let own = compared(schema, &found[0], &before, &after);
        sizes += own.len();
        let is_off = |(_, off): &(String, f64)| off.abs() > ERROR_MAX;
        off.extend(own.into_iter().filter(is_off));
        eprintln!(
            "{}: {} sampled rows, {started_s:.1} s to start, {took_s:.1} s in all, {:.0?} bytes of log per insert, {page_bytes:.0} of pages where it is {pages:.0}{}",
            schema.name,
            sample.rows.len(),
            found[0].log_bytes_per_insert,
            found[0]
                .notes
                .iter()
                .map(|note| format!("\n  {note}"))
                .collect::<String>()
        );
    }
    println!("\n{sizes} sizes, {} of them more than 5% off", off.len());
    let line = |(what, off): (String, f64)| format!("{what}: {:+.1}%", off * 100.0);
    Ok(off.into_iter().map(line).collect())
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}

fn change_set(schema: &Schema) -> ChangeSet {
    let owned = |text: &&str| (*text).to_owned();
    ChangeSet {
        columns: schema
            .columns_to
            .iter()
            .map(|(column, to)| ColumnChange {
                column: (*column).to_owned(),
                to: *to,
            })
            .collect(),
        dropped_indexes: schema.dropped.iter().map(owned).collect(),
        partial_indexes: schema
            .partial
            .iter()
            .map(|(index, column)| (owned(index), owned(column)))
            .collect(),
    }
}

/// Prints a line per object, and returns what is off by how much.
fn compared(
    schema: &Schema,
    found: &Prediction,
    before: &[(Option<String>, u64)],
    after: &[(Option<String>, u64)],
) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    for (object, before) in before {
        let of_object = |tree: &&_| {
            let tree: &inorder_advise::server::model::TreePrediction = tree;
            tree.index == *object
        };
        let name = object.as_deref().unwrap_or("(table)");
        let Some(tree) = found.trees.iter().find(of_object) else {
            all.push((format!("{} {name}: no prediction", schema.name), 1.0));
            continue;
        };
        let is_it = |(other, _): &&(Option<String>, u64)| other == object;
        let after = after.iter().find(is_it).map_or(0, |(_, bytes)| *bytes);
        let off = |predicted: u64, real: u64| match real {
            0 => predicted as f64,
            _ => predicted as f64 / real as f64 - 1.0,
        };
        let errors = [
            off(tree.rebuilt_bytes, *before),
            off(tree.after_bytes, after),
        ];
        println!(
            "| {} | {name} | {before} | {} | {:+.1}% | {after} | {} | {:+.1}% |",
            schema.name,
            tree.rebuilt_bytes,
            errors[0] * 100.0,
            tree.after_bytes,
            errors[1] * 100.0
        );
        all.extend(errors.map(|off| (format!("{} {name}", schema.name), off)));
    }
    all
}
