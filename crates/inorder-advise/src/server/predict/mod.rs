//! Predicts what a change does to the sizes of a table and its indexes, and to the log bytes per insert.
//!
//! A private server of this machine stores a sample of the rows twice: as the table is, and with the change. The user's
//! server is not used. Sizes are those of a table and indexes that were built anew from all rows (`VACUUM FULL`,
//! `REINDEX`; `ALTER TABLE … FORCE`), before and after, so that free space is not counted as the effect of a change.
//!
//! # Method
//! 1. The server stores the sample, and says how many bytes each row and each index entry takes.
//! 2. Rows of PostgreSQL are copied until they fill enough pages that a part of a page does not count, and counted.
//! 3. An index of a sample has tens of pages, and keys repeat less often in it than in the whole. So the entries of the
//!    whole index are estimated (`duplicates`), and laid out in pages as the server's bulk build does (`nbtree`,
//!    `innodb`).
//! 4. The layout of the sample itself is compared with the index that the server built from it. Where they differ by more
//!    than a page and `DIFFERENCE_MAX`, the result is scaled by the difference and a note says so.
//!
//! # Bounds
//! - Mean sizes of entries have the error of the sample: with a relative standard deviation of 1 between rows, 1% from
//!   10,000 rows. A partial index with 100 sampled entries has an error of 10% in their number.
//! - How often keys repeat matters where PostgreSQL keeps posting lists. With [`rows_per_key`] the standard error is about
//!   2% of the index's size. From the sample alone the error is 5% with 5% of the rows. With 1% of the rows it is 15% where
//!   keys have some rows each, and up to 40% where a part of the rows has keys of its own.
//! - InnoDB allocates extents of 1 MiB, so an index of less than 10 MiB may be one extent off, which is more than 5% of it.
//!   No sample says which: a leaf page more is an extent more.
//! - Rows of the sample must be chosen independently. Rows of whole pages are alike where rows of one time are.
//! - Bytes of pages per insert are computed from where rows of the sample go. Leaf pages of an index with entries in random
//!   order are taken to be 72% full, and full-page images leave the free space out. On PostgreSQL 15.18 the log of inserts with
//!   random UUIDs, images included, is told within 10% for 50,000 and 200,000 rows. Indexes with several ends, where rows
//!   come in groups, are told at 0.65 to 2.1 times their images. On MariaDB 10.11.19 pages are half to twice the count,
//!   because full pages split and undo pages are written too.
//! - Other access methods than B-tree are scaled in proportion on PostgreSQL, and left out on MariaDB.
//! - Time: 4 to 26 s per table and change in a debug build on a loaded machine with 2 cores, and at most 30 s per statement. Disk: the sample
//!   and up to 64 MB of copies, below 300 MB with the server's own files, removed with it.
//!
//! `examples/predict` compares with real rebuilds.

mod duplicates;
mod innodb;
mod mariadb;
mod nbtree;
mod postgres;
mod rows;
mod touched;

use super::model::{
    ChangeSet, Database, Index, Prediction, Product, Sample, Table, TreePrediction,
};
use crate::Error;
use inorder_engine::{self as engine, Settings, Synchronous};
use rows::{Rows, failed};
use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use touched::Arrivals;

/// Relative difference between the layout of the sample and the server's that is put down to rounding.
const DIFFERENCE_MAX: f64 = 0.015;
/// Rows that are inserted between two checkpoints, for the bytes of pages.
const INSERTS_PER_CHECKPOINT: f64 = 10_000.0;
/// How full PostgreSQL builds the leaf pages of a B-tree that has no `fillfactor`.
const BTREE_FILL_PERCENT: u32 = 90;
/// How full InnoDB builds pages.
const INNODB_FILL: f64 = 15.0 / 16.0;
/// Cache of the private server in KiB.
const CACHE_KIB: u64 = 384 << 10;
/// The bytes of InnoDB's redo log, which takes its place on the disk at the start. A rebuild of samples needs less between two
/// checkpoints.
const REDO_LOG_BYTES: u64 = 1 << 30;

/// A private server for predictions. Dropping it stops the server and removes its data; so does the end of this process.
pub struct Predictor {
    server: Box<dyn engine::Database>,
    product: Product,
    page_bytes: u32,
    release: (u32, u32),
    /// Whether the user's server writes pages twice: as full-page images, or into the doublewrite buffer.
    writes_pages_twice: bool,
    /// What to know of every figure.
    notes: Vec<String>,
    /// The last table as it is: its description, what was measured, and notes.
    last: Mutex<Option<Last>>,
}

type Last = (String, Arc<(Sizes, Option<Inserted>)>, Vec<String>);

impl Predictor {
    /// Starts a private server of the database's kind in an existing folder.
    ///
    /// # Errors
    /// [`Error::Prediction`] if its programs are not installed, it does not start, or it has another page size.
    pub fn start(database: &Database, folder: &Path) -> Result<Self, Error> {
        let (name, product) = match database.product {
            Product::Postgres => ("postgres", "PostgreSQL"),
            Product::Mariadb => ("mariadb", "MariaDB"),
        };
        let engine = engine::engine(name).ok_or_else(|| failed("there is no such engine"))?;
        let found = engine.found().map_err(|error| match error {
            engine::Error::NotInstalled { install, .. } => failed(format!(
                "{product}'s server programs are not installed: {install}"
            )),
            other => failed(other.to_string()),
        })?;
        let page_size_bytes = match database.page_bytes {
            0 => 16_384,
            bytes => bytes,
        };
        let settings = Settings {
            page_size_bytes,
            cache_kib: CACHE_KIB,
            synchronous: Synchronous::Off,
            checkpoint_pages: match database.product {
                Product::Postgres => 0,
                Product::Mariadb => (REDO_LOG_BYTES / u64::from(page_size_bytes)) as u32,
            },
            foreign_keys: false,
            ..Settings::default()
        };
        let server = engine.create(folder, &settings).map_err(refused)?;
        let version = found
            .into_iter()
            .next()
            .map_or_else(String::new, |one| one.version);
        let mut notes = Vec::new();
        if !database
            .version
            .contains(version.split(['-', ' ']).next().unwrap_or_default())
        {
            notes.push(format!(
                "Measured with {product} {version}; the database runs on {}.",
                database.version
            ));
        }
        let compression = database.setting("wal_compression");
        if let Some(method) = compression.filter(|own| *own != "off") {
            notes.push(format!(
                "wal_compression is {method}: page images are smaller than told where values are alike."
            ));
        }
        let predictor = Predictor {
            page_bytes: settings.page_size_bytes,
            server,
            product: database.product,
            release: database.release,
            writes_pages_twice: match database.product {
                Product::Postgres => database.setting("full_page_writes") != Some("off"),
                Product::Mariadb => !database
                    .setting("innodb_doublewrite")
                    .is_some_and(|value| value.eq_ignore_ascii_case("off")),
            },
            notes,
            last: Mutex::new(None),
        };
        match predictor.product {
            Product::Postgres => predictor.prepare_postgres(database)?,
            Product::Mariadb => predictor.prepare_mariadb(database)?,
        }
        Ok(predictor)
    }

    /// Predicts each change set by itself, from a sample of the table's rows.
    ///
    /// # Errors
    /// [`Error::Prediction`] if the sample is empty, values do not fit a change, or the private server refuses the table.
    pub fn predict(
        &self,
        table: &Table,
        sample: &Sample,
        sets: &[ChangeSet],
    ) -> Result<Vec<Prediction>, Error> {
        if sample.rows.is_empty() {
            return Err(failed(format!(
                "{} has no rows to predict from",
                table.name
            )));
        }
        let mut rows = Rows::of(table, sample)?;
        let is_in_order = match self.product {
            Product::Postgres => sample.is_in_storage_order,
            Product::Mariadb => {
                mariadb::put_in_order_of_arrival(table, &mut rows, sample.is_in_storage_order)
            }
        };
        let all_rows = match sample.is_whole {
            true => sample.rows.len() as u64,
            false => table.rows.max(sample.rows.len() as u64),
        };
        let job = Job {
            table,
            all_rows: all_rows as f64,
            is_in_order,
        };
        let mut notes = self.notes.clone();
        let before = self.as_it_is(&job, &rows, &mut notes)?;
        let (before, log_before) = (&before.0, before.1.as_ref());
        let inserted = rows.divided(true).1.len() as u64;
        let mut all = Vec::new();
        for set in sets {
            let mut notes = notes.clone();
            let changed = rows.changed(set, self.product)?;
            let after = self.sizes(&job, &changed, set, &mut notes)?;
            let log_after = self.log(&job, &changed, set, &mut notes);
            let mut seen = BTreeSet::new();
            notes.retain(|note| seen.insert(note.clone()));
            let pages = self
                .pages_per_insert(&job, before, log_before)
                .zip(self.pages_per_insert(&job, &after, log_after.as_ref()));
            let images = pages.map(|(before, after)| (before.images, after.images));
            let all_of = pages
                .map(|(before, after)| (before.changed + before.new, after.changed + after.new));
            let (images, data) = match self.product {
                Product::Postgres => (images.filter(|_| self.writes_pages_twice), all_of),
                Product::Mariadb => (all_of, all_of.filter(|_| self.writes_pages_twice)),
            };
            all.push(Prediction {
                trees: trees(&job, before, &after),
                page_bytes_per_insert: images,
                data_bytes_per_insert: data,
                log_bytes_per_insert: log_before
                    .zip(log_after)
                    .map(|(before, after)| (before.log_bytes, after.log_bytes)),
                inserted_rows: inserted,
                notes,
            });
        }
        Ok(all)
    }

    /// Measures the table without a change, or returns what was measured for the last prediction if that was of the same
    /// table.
    fn as_it_is(
        &self,
        job: &Job<'_>,
        rows: &Rows<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Arc<(Sizes, Option<Inserted>)>, Error> {
        let table = job.table;
        let key = format!(
            "{} {} {} {:?} {:?}",
            table.schema, table.name, job.all_rows, table.columns, table.indexes
        );
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found, own_notes)) = last.as_ref().filter(|(of, ..)| *of == key) {
            notes.extend(own_notes.iter().cloned());
            return Ok(Arc::clone(found));
        }
        let mut own_notes = Vec::new();
        let nothing = ChangeSet::default();
        let sizes = self.sizes(job, rows, &nothing, &mut own_notes)?;
        let log = self.log(job, rows, &nothing, &mut own_notes);
        let found = Arc::new((sizes, log));
        notes.extend(own_notes.iter().cloned());
        *last = Some((key, Arc::clone(&found), own_notes));
        Ok(found)
    }

    fn sizes(
        &self,
        job: &Job<'_>,
        rows: &Rows<'_>,
        set: &ChangeSet,
        notes: &mut Vec<String>,
    ) -> Result<Sizes, Error> {
        match self.product {
            Product::Postgres => self.sizes_in_postgres(job, rows, set, notes),
            Product::Mariadb => self.sizes_in_mariadb(job, rows, set, notes),
        }
    }

    /// Log bytes per inserted row. What prevents them is a note.
    fn log(
        &self,
        job: &Job<'_>,
        rows: &Rows<'_>,
        set: &ChangeSet,
        notes: &mut Vec<String>,
    ) -> Option<Inserted> {
        let found = match self.product {
            Product::Postgres => self.log_in_postgres(job, rows, set),
            Product::Mariadb => self.log_in_mariadb(job, rows, set),
        };
        found.unwrap_or_else(|error| {
            notes.push(format!(
                "The log bytes per insert are not measured: {error}"
            ));
            None
        })
    }

    /// Bytes of pages per insert, over the table and the indexes whose size is predicted.
    fn pages_per_insert(
        &self,
        job: &Job<'_>,
        sizes: &Sizes,
        inserted: Option<&Inserted>,
    ) -> Option<PagesPerInsert> {
        let inserted = inserted?;
        let page_bytes = f64::from(self.page_bytes);
        let of_tree = |bytes: f64, arrivals: &Arrivals, built: f64| {
            let fill = arrivals.fill(built);
            let pages = bytes / page_bytes * built / fill;
            let changed = arrivals.pages(pages, INSERTS_PER_CHECKPOINT);
            let changed = changed * page_bytes / INSERTS_PER_CHECKPOINT;
            PagesPerInsert {
                changed,
                images: changed * fill,
                new: arrivals.appended() * bytes / job.all_rows,
            }
        };
        let built = |index: &Index| match self.product {
            Product::Postgres => {
                f64::from(index.fill_percent.unwrap_or(BTREE_FILL_PERCENT)) / 100.0
            }
            Product::Mariadb => INNODB_FILL,
        };
        let indexes = job.table.indexes.iter().zip(&sizes.indexes);
        let indexes = indexes.zip(&inserted.indexes);
        let indexes = indexes.filter_map(|((index, bytes), arrivals)| {
            Some(of_tree((*bytes)?, arrivals.as_ref()?, built(index)))
        });
        let of_table = match self.product {
            Product::Postgres => 1.0,
            Product::Mariadb => INNODB_FILL,
        };
        let table = of_tree(sizes.table, &inserted.table, of_table);
        Some(indexes.fold(table, |all, own| PagesPerInsert {
            changed: all.changed + own.changed,
            images: all.images + own.images,
            new: all.new + own.new,
        }))
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.server.execute(sql).map_err(refused)
    }

    /// Runs statements in one transaction, which is rolled back if one of them fails.
    fn run_all(&self, statements: impl IntoIterator<Item = String>) -> Result<(), Error> {
        self.run("BEGIN")?;
        for statement in statements {
            if let Err(error) = self.run(&statement) {
                let _ = self.run("ROLLBACK");
                return Err(error);
            }
        }
        self.run("COMMIT")
    }

    fn select(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        self.server.select(sql).map_err(refused)
    }

    /// Where arriving rows go by an order of columns or expressions. `condition` is the index's, or `true`.
    fn arrivals(&self, keys: &[String], condition: &str, names: &str) -> Result<Arrivals, Error> {
        let order = keys.join(", ");
        let rows = self.select(&format!(
            "SELECT arrives, place, count(*) FROM (
                 SELECT arrives, sum(1 - arrives) OVER (ORDER BY {order}, arrives) AS place
                 FROM (SELECT 0 AS arrives, {names} FROM stored WHERE {condition}
                       UNION ALL SELECT 1, {names} FROM arriving WHERE {condition}) AS rows_of_both
             ) AS places GROUP BY arrives, place"
        ))?;
        let count = |row: &Vec<Option<String>>| row.get(2)?.as_ref()?.parse::<u64>().ok();
        let is_arriving = |row: &&Vec<Option<String>>| row[0].as_deref() == Some("1");
        let arriving: Vec<u64> = rows.iter().filter(is_arriving).filter_map(count).collect();
        let stored: u64 = rows
            .iter()
            .filter(|row| !is_arriving(row))
            .filter_map(count)
            .sum();
        let all = self.number("SELECT count(*) FROM arriving")? as u64;
        let entries = arriving.iter().sum();
        Ok(Arrivals::of(&arriving, all.saturating_sub(entries), stored))
    }

    /// The number in the first row and column; NULL is 0.
    fn number(&self, sql: &str) -> Result<f64, Error> {
        let rows = self.select(sql)?;
        let value = rows.into_iter().flatten().next().flatten();
        value.map_or(Ok(0.0), |value| {
            value
                .parse()
                .map_err(|_| failed(format!("{sql}: {value} is not a number")))
        })
    }
}

/// Returns a query for the user's server that fills [`Index::rows_per_key`]: 1,500 rows of random pages, each with at
/// most 150 rows of its key, counted by the index. `None` if the prediction does not need it.
pub fn rows_per_key(database: &Database, table: &Table, index: &Index) -> Option<String> {
    match database.product {
        Product::Postgres => postgres::rows_per_key(table, index, database.page_bytes),
        Product::Mariadb => None,
    }
}

/// Bytes of pages that inserts write between two checkpoints, per row.
#[derive(Clone, Copy)]
struct PagesPerInsert {
    /// Pages that were there.
    changed: f64,
    /// The filled parts of those: PostgreSQL's full-page images leave the free space of a page out.
    images: f64,
    /// Pages that are new. They are no full-page images.
    new: f64,
}

/// What a prediction is about.
struct Job<'t> {
    table: &'t Table,
    /// Rows of the whole table.
    all_rows: f64,
    /// Whether the sample is in the order in which rows arrived.
    is_in_order: bool,
}

/// What inserts cost.
struct Inserted {
    log_bytes: f64,
    /// Where rows go in the table.
    table: Arrivals,
    /// Where they go in each index, `None` for one without order, and one that is dropped.
    indexes: Vec<Option<Arrivals>>,
}

/// Sizes of a table, and of its indexes in their order, `None` for one that can't be predicted.
struct Sizes {
    table: f64,
    indexes: Vec<Option<f64>>,
}

fn trees(job: &Job<'_>, before: &Sizes, after: &Sizes) -> Vec<TreePrediction> {
    let mut trees = vec![TreePrediction {
        index: None,
        rebuilt_bytes: before.table as u64,
        after_bytes: after.table as u64,
    }];
    let sizes = before.indexes.iter().zip(&after.indexes);
    for (index, (before, after)) in job.table.indexes.iter().zip(sizes) {
        if let (Some(before), Some(after)) = (before, after) {
            trees.push(TreePrediction {
                index: Some(index.name.clone()),
                rebuilt_bytes: *before as u64,
                after_bytes: *after as u64,
            });
        }
    }
    trees
}

/// Turns an error of the private server into one of the prediction, shortened to its message.
fn refused(error: engine::Error) -> Error {
    match error {
        engine::Error::Database { doing, message } => {
            let doing: String = doing.chars().take(120).collect();
            failed(format!("{message} ({doing})"))
        }
        other => failed(other.to_string()),
    }
}
