//! Predicted sizes beside real ones: fills a table on a private server, takes a sample, predicts, applies the change to all
//! rows, and measures.

mod mariadb;
mod postgres;

use inorder_advise::server::{
    model::{ChangeSet, ColumnChange, ColumnTo, Database, Prediction, Sample, Table},
    predict::Predictor,
};
use inorder_engine::{self as engine, Settings, Synchronous};
use std::{
    error::Error,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};

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
    /// What tables and indexes grow by.
    fn unit_bytes(&self) -> u64;
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

/// What is compared.
pub struct Comparison<'a> {
    pub engine: &'a str,
    /// Rows of each table.
    pub rows: u64,
    /// Parts of the names of the schemas.
    pub only: &'a [&'a str],
    /// A file that gets a line per size.
    pub csv: Option<PathBuf>,
}

/// Compares the chosen schemas, prints a table, and returns what is more than 5% off.
pub fn compare(comparison: &Comparison<'_>) -> Fallible<Vec<String>> {
    let Comparison {
        engine,
        rows,
        only,
        csv,
    } = comparison;
    let product: &dyn Product = match *engine {
        "postgres" => &postgres::Postgres,
        "mariadb" => &mariadb::MariaDb,
        _ => return Err("the engine is postgres or mariadb".into()),
    };
    let folder = inorder_testing::reachable_folder();
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
    let (mut sizes, mut units_off, mut off) = (0, 0, Vec::new());
    let is_wanted = |schema: &&Schema| only.iter().any(|part| schema.name.contains(part));
    for schema in product.schemas().iter().filter(is_wanted) {
        let own = on_schema(product, &*server, schema, *rows, &private)?;
        if let Some(file) = csv {
            append(file, comparison, schema, &own)?;
        }
        sizes += own.len();
        let is_off = |one: &Difference| one.relative().abs() > ERROR_MAX;
        let (far, near): (Vec<_>, Vec<_>) = own
            .into_iter()
            .filter(is_off)
            .partition(|one| one.bytes() > product.unit_bytes());
        units_off += near.len();
        off.extend(far.iter().map(|one| {
            format!(
                "{} {} {}: {:+.1}%",
                schema.name,
                one.object,
                one.state,
                one.relative() * 100.0
            )
        }));
    }
    println!(
        "\n{sizes} sizes, {} of them more than 5% off, and {units_off} more than 5% by one unit of {} bytes",
        off.len(),
        product.unit_bytes()
    );
    Ok(off)
}

/// Appends the sizes of one schema.
fn append(
    file: &Path,
    comparison: &Comparison<'_>,
    schema: &Schema,
    sizes: &[Difference],
) -> Fallible<()> {
    let is_new = !file.exists();
    let mut csv = File::options().create(true).append(true).open(file)?;
    if is_new {
        writeln!(
            csv,
            "server,rows,schema,object,state,rebuilt_bytes,predicted_bytes,error_share"
        )?;
    }
    let Comparison { engine, rows, .. } = comparison;
    for size in sizes {
        writeln!(
            csv,
            "{engine},{rows},\"{}\",{},{},{},{},{:.6}",
            schema.name,
            size.object,
            size.state,
            size.real,
            size.predicted,
            size.relative()
        )?;
    }
    Ok(())
}

/// Predicts and measures one schema.
fn on_schema(
    product: &dyn Product,
    server: &dyn engine::Database,
    schema: &Schema,
    rows: u64,
    private: &Path,
) -> Fallible<Vec<Difference>> {
    product.fill(server, schema, rows)?;
    let (database, table) = product.describe(server, rows)?;
    let sample = product.sample(server, &table, rows)?;
    let began = Instant::now();
    let predictor = Predictor::start(&database, private)?;
    let started_s = began.elapsed().as_secs_f64();
    let found = predictor.predict(&table, &sample, &[change_set(schema)])?;
    let took_s = began.elapsed().as_secs_f64();
    drop(predictor);
    let before = product.rebuild(server)?;
    let pages = product.insert(server, schema, rows)? as f64 / INSERTED as f64;
    let page_bytes = found[0]
        .page_bytes_per_insert
        .map_or(0.0, |(before, _)| before);
    product.fill(server, schema, rows)?;
    if !schema.change.is_empty() {
        server.execute(schema.change)?;
    }
    let after = product.rebuild(server)?;
    let notes = found[0].notes.iter().map(|note| format!("\n  {note}"));
    eprintln!(
        "{}: {} sampled rows, {started_s:.1} s to start, {took_s:.1} s in all, {:.0?} bytes of log per insert, {page_bytes:.0} of pages where it is {pages:.0}{}",
        schema.name,
        sample.rows.len(),
        found[0].log_bytes_per_insert,
        notes.collect::<String>()
    );
    Ok(compared(schema, &found[0], &before, &after))
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

/// A prediction and what it should have been.
struct Difference {
    object: String,
    /// Before or after the change.
    state: &'static str,
    predicted: u64,
    real: u64,
}

impl Difference {
    fn relative(&self) -> f64 {
        match self.real {
            0 => self.predicted as f64,
            real => self.predicted as f64 / real as f64 - 1.0,
        }
    }

    fn bytes(&self) -> u64 {
        self.predicted.abs_diff(self.real)
    }
}

/// Prints a line per object, and returns all differences.
fn compared(
    schema: &Schema,
    found: &Prediction,
    before: &[(Option<String>, u64)],
    after: &[(Option<String>, u64)],
) -> Vec<Difference> {
    let mut all = Vec::new();
    for (object, before) in before {
        let name = object.as_deref().unwrap_or("(table)");
        let difference = |state, predicted, real| Difference {
            object: name.to_owned(),
            state,
            predicted,
            real,
        };
        let tree = found.trees.iter().find(|tree| tree.index == *object);
        let Some(tree) = tree else {
            all.push(difference("not predicted", u64::MAX, 0));
            continue;
        };
        let is_it = |(other, _): &&(Option<String>, u64)| other == object;
        let after = after.iter().find(is_it).map_or(0, |(_, bytes)| *bytes);
        let now = difference("before", tree.rebuilt_bytes, *before);
        let then = difference("after", tree.after_bytes, after);
        println!(
            "| {} | {name} | {before} | {} | {:+.1}% | {after} | {} | {:+.1}% |",
            schema.name,
            tree.rebuilt_bytes,
            now.relative() * 100.0,
            tree.after_bytes,
            then.relative() * 100.0
        );
        all.extend([now, then]);
    }
    all
}
