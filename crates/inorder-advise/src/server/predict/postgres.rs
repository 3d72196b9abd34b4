//! Predictions for PostgreSQL.
//!
//! Bytes of index entries follow <https://www.postgresql.org/docs/15/storage-page-layout.html>: 8 bytes, or 16 with a
//! NULL, and the values as a row stores them, aligned to 8 bytes. Sizes of tables include TOAST with its index.
//!
//! The log figure is the difference of `pg_current_wal_insert_lsn()` over single-row INSERTs, each its own transaction.
//! They follow four fifths of the sample, which were inserted in the same order with all indexes. Full-page images are off
//! in it: `full_page_writes` adds a page at the first change of each page after a checkpoint, which the figure of pages is about
//! ([`super::touched`]).

use super::{
    BTREE_FILL_PERCENT, DIFFERENCE_MAX, Inserted, Job, Predictor, Sizes,
    duplicates::{LOOKED_UP_MAX, Seen, population},
    failed, nbtree,
    rows::{Row, Rows},
    touched::Arrivals,
};
use crate::{
    Error,
    ddl::{literal, quoted},
    server::model::{ChangeSet, Database, Index, Product, Table, Term},
};
use std::collections::BTreeSet;

/// Pages that rows are copied to fill, at least, and the rows and bytes of values at most.
const PAGES_MIN: f64 = 2_000.0;
const COPIED_BYTES_MAX: f64 = 64e6;
/// Rows that are looked up.
const LOOKED_UP: u64 = 1500;
/// A statement takes at most this long.
const STATEMENT_MS: u32 = 20_000;
/// Entries of one key that show whether the server keeps posting lists.
const REPEATED: u32 = 4_000;
/// Distinct values of a type that the private server does not know, to stand in as an enum's.
const LABELS_MAX: usize = 200;
const LABEL_BYTES_MAX: usize = 63;

/// Inserts row by row, each in a transaction of its own.
const INSERTS: &str = "DO $$
    DECLARE place record;
    BEGIN
        FOR place IN SELECT ctid FROM arriving ORDER BY ctid LOOP
            INSERT INTO stored SELECT * FROM arriving WHERE ctid = place.ctid;
            COMMIT;
        END LOOP;
    END $$";

/// An index as statements name it.
struct Wanted<'t> {
    index: &'t Index,
    terms: Vec<String>,
    keys: Vec<String>,
    condition: String,
}

impl Predictor {
    pub(super) fn prepare_postgres(&self, database: &Database) -> Result<(), Error> {
        let page = self.number("SELECT current_setting('block_size')")?;
        if f64::from(database.page_bytes) != page && database.page_bytes != 0 {
            return Err(failed(format!(
                "the installed PostgreSQL has pages of {page} bytes, the database has pages of {}",
                database.page_bytes
            )));
        }
        self.run(&format!("SET statement_timeout = {STATEMENT_MS}"))?;
        self.run("SET client_min_messages = error")?;
        self.run("SET max_parallel_maintenance_workers = 0")?;
        if let Some(method) = database.setting("default_toast_compression") {
            // A build may be without lz4.
            let _ = self.run(&format!("SET default_toast_compression = '{method}'"));
        }
        self.run("ALTER SYSTEM SET full_page_writes = off")?;
        self.run("SELECT pg_reload_conf()")
    }

    /// The types of the columns on the private server.
    fn types(&self, rows: &Rows<'_>, notes: &mut Vec<String>) -> Result<Vec<String>, Error> {
        let mut types = Vec::new();
        for (at, column) in rows.columns.iter().enumerate() {
            if let Some(changed) = &column.changed {
                types.push(changed.clone());
                continue;
            }
            let column = column.column;
            let length = column
                .length
                .map_or_else(String::new, |length| format!("({length})"));
            let named = [
                column.type_name.clone(),
                format!("{}{length}", column.base_type),
                column.base_type.clone(),
            ];
            let known = named
                .into_iter()
                .find(|name| !name.is_empty() && self.run(&format!("SELECT NULL::{name}")).is_ok());
            types.push(match known {
                Some(name) => name,
                None => self.stand_in(rows, at, notes)?,
            });
        }
        Ok(types)
    }

    /// A type for one that the private server does not have: an enum of its values if they are few, or text.
    fn stand_in(
        &self,
        rows: &Rows<'_>,
        at: usize,
        notes: &mut Vec<String>,
    ) -> Result<String, Error> {
        let column = rows.columns[at].column;
        let values = rows.rows.iter().filter_map(|row| row[at].as_deref());
        let labels: BTreeSet<&str> = values
            .take_while(|value| value.len() <= LABEL_BYTES_MAX)
            .collect();
        if labels.len() > LABELS_MAX || column.base_type.is_empty() {
            notes.push(format!(
                "{}: the private server has no type {}, and stored its values as text.",
                column.name, column.type_name
            ));
            return Ok("text".to_owned());
        }
        notes.push(format!(
            "{}: the private server has no type {}, and stored its values as an enum's.",
            column.name, column.type_name
        ));
        let labels: Vec<String> = labels.into_iter().map(literal).collect();
        let name = format!("stand_in_{at}");
        self.run(&format!(
            "DROP TYPE IF EXISTS {name} CASCADE; CREATE TYPE {name} AS ENUM ({})",
            labels.join(", ")
        ))?;
        Ok(name)
    }

    fn create(&self, name: &str, rows: &Rows<'_>, types: &[String]) -> Result<(), Error> {
        let columns: Vec<String> = rows
            .columns
            .iter()
            .zip(types)
            .map(|(column, own)| format!("{} {own}", quoted(&column.column.name)))
            .collect();
        self.run(&format!(
            "DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({})",
            columns.join(", ")
        ))
    }

    fn fill(&self, name: &str, rows: &Rows<'_>, values: &[Row]) -> Result<(), Error> {
        self.run_all(rows.inserts(name, values, Product::Postgres))
    }

    pub(super) fn sizes_in_postgres(
        &self,
        job: &Job<'_>,
        rows: &Rows<'_>,
        set: &ChangeSet,
        notes: &mut Vec<String>,
    ) -> Result<Sizes, Error> {
        let types = self.types(rows, notes)?;
        self.create("sample", rows, &types)?;
        self.fill("sample", rows, &rows.rows)?;
        let table = self.table_bytes(job, rows.rows.len() as f64)?;
        let mut indexes = Vec::new();
        for index in &job.table.indexes {
            if set.dropped_indexes.contains(&index.name) {
                indexes.push(Some(0.0));
                continue;
            }
            let wanted = wanted(index, rows, set);
            let bytes = self.index_bytes(job, rows, &wanted, notes);
            indexes.push(match bytes {
                Ok(bytes) => Some(bytes),
                Err(error) => {
                    notes.push(format!("{} is not predicted: {error}", index.name));
                    None
                }
            });
        }
        self.run("DROP TABLE sample")?;
        Ok(Sizes { table, indexes })
    }

    /// Bytes of the whole table with its TOAST.
    fn table_bytes(&self, job: &Job<'_>, rows: f64) -> Result<f64, Error> {
        let page = f64::from(self.page_bytes);
        let pages = |name| format!("SELECT pg_relation_size('{name}')::float8 / {page}");
        let toast = self.number(
            "SELECT coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0) FROM pg_class
             WHERE oid = 'sample'::regclass",
        )?;
        let sampled = self.number(&pages("sample"))?;
        let most = COPIED_BYTES_MAX / (sampled * page + toast);
        let copies = (PAGES_MIN / sampled).min(most).ceil().max(1.0);
        let fill = match job.table.fill_percent {
            0 => 100,
            percent => percent,
        };
        self.run(&format!(
            "CREATE TABLE copied WITH (fillfactor = {fill}) AS
             SELECT sample.* FROM generate_series(1, {copies}), sample"
        ))?;
        let copied = self.number(&pages("copied"))?;
        self.run("DROP TABLE copied")?;
        // The last page is half full in the mean. An empty TOAST table has one page of index.
        let per_row = match copies * rows >= job.all_rows {
            true => copied / (copies * rows),
            false => (copied - 0.5) / (copies * rows),
        };
        let toast_rest = if toast > page { toast } else { 0.0 };
        let toast = (toast_rest / rows * job.all_rows).max(toast.min(page));
        Ok((per_row * job.all_rows).ceil() * page + toast)
    }

    fn index_bytes(
        &self,
        job: &Job<'_>,
        rows: &Rows<'_>,
        wanted: &Wanted<'_>,
        notes: &mut Vec<String>,
    ) -> Result<f64, Error> {
        let index = wanted.index;
        let page = f64::from(self.page_bytes);
        let sampled = rows.rows.len() as f64;
        let built = self.build("sample", "trial", wanted, index.deduplicates)? / page;
        if index.method != "btree" {
            notes.push(format!(
                "{}: a {} index is scaled in proportion to the rows.",
                index.name, index.method
            ));
            return Ok((built * job.all_rows / sampled).max(built).ceil() * page);
        }
        let deduplicates = index.deduplicates
            && !index.is_unique
            && self.release >= (13, 0)
            && self.keeps_lists(wanted)?;
        let seen = self.seen(wanted, deduplicates)?;
        let entries: u64 = seen.iter().map(|some| some.times * some.keys).sum();
        if entries == 0 {
            notes.push(format!("{}: the sample has no entry of it.", index.name));
            return Ok(2.0 * page);
        }
        let mean = seen
            .iter()
            .map(|some| f64::from(some.bytes) * some.keys as f64)
            .sum::<f64>()
            / seen.iter().map(|some| some.keys as f64).sum::<f64>();
        let shape = nbtree::Shape {
            page_bytes: self.page_bytes,
            fill_percent: index.fill_percent.unwrap_or(BTREE_FILL_PERCENT),
            deduplicates,
            pivot_bytes: mean,
        };
        let own = nbtree::pages(&population(&seen, entries as f64, &[]), &shape);
        let difference = built - own;
        let scale = match difference.abs() > 1.0 + DIFFERENCE_MAX * built {
            true => {
                notes.push(format!(
                    "{}: the server built {built} pages from the sample where {own} were computed; the prediction is scaled by this.",
                    index.name
                ));
                built / own
            }
            false => 1.0,
        };
        let all = match index.entries {
            Some(all) if all > 0 => all as f64,
            _ => entries as f64 / sampled * job.all_rows,
        };
        let keys = population(&seen, all.max(entries as f64), &index.rows_per_key);
        Ok((nbtree::pages(&keys, &shape) * scale).ceil() * page)
    }

    /// Builds an index on a table, and returns its bytes.
    fn build(
        &self,
        table: &str,
        name: &str,
        wanted: &Wanted<'_>,
        deduplicates: bool,
    ) -> Result<f64, Error> {
        let index = wanted.index;
        let include: Vec<String> = index.include.iter().map(|name| quoted(name)).collect();
        let include = match include.is_empty() {
            true => String::new(),
            false => format!(" INCLUDE ({})", include.join(", ")),
        };
        let mut with = Vec::new();
        with.extend(
            index
                .fill_percent
                .map(|percent| format!("fillfactor = {percent}")),
        );
        if index.method == "btree" && !deduplicates {
            with.push("deduplicate_items = off".to_owned());
        }
        let with = match with.is_empty() {
            true => String::new(),
            false => format!(" WITH ({})", with.join(", ")),
        };
        let unique = match index.is_unique && table != "repeated" {
            true => "UNIQUE ",
            false => "",
        };
        self.run(&format!("DROP INDEX IF EXISTS {name}"))?;
        self.run(&format!(
            "CREATE {unique}INDEX {name} ON {table} USING {} ({}){include}{with} {}",
            index.method,
            wanted.terms.join(", "),
            wanted.condition
        ))?;
        self.number(&format!("SELECT pg_relation_size('{name}')"))
    }

    /// Whether the server keeps the rows of one key in lists, which it does where equal keys have equal bytes.
    fn keeps_lists(&self, wanted: &Wanted<'_>) -> Result<bool, Error> {
        self.run("DROP TABLE IF EXISTS repeated")?;
        self.run(&format!(
            "CREATE TABLE repeated AS SELECT one.* FROM generate_series(1, {REPEATED}),
             (SELECT * FROM sample {} LIMIT 1) AS one",
            wanted.condition
        ))?;
        let with = self.build("repeated", "trial", wanted, true)?;
        let without = self.build("repeated", "trial", wanted, false)?;
        self.run("DROP TABLE repeated")?;
        Ok(with < without)
    }

    /// Sizes of entries in the sample, and how often their keys occur.
    fn seen(&self, wanted: &Wanted<'_>, is_grouped: bool) -> Result<Vec<Seen>, Error> {
        let include = wanted.index.include.iter().map(|name| quoted(name));
        let values: Vec<String> = wanted.keys.iter().cloned().chain(include).collect();
        let columns = values.len();
        let all = values.join(", ");
        let keys = wanted.keys.join(", ");
        // The header of a row value is aligned to 8 bytes, with a bit per column if one is NULL.
        let with_nulls = (23 + columns.div_ceil(8)).next_multiple_of(8);
        let bytes = format!(
            "((CASE WHEN num_nulls({all}) > 0 THEN 16 - {with_nulls} ELSE 8 - 24 END + pg_column_size(ROW({all})) + 7) / 8) * 8"
        );
        let group = match is_grouped {
            true => format!("GROUP BY {keys}"),
            false => "GROUP BY ctid".to_owned(),
        };
        let rows = self.select(&format!(
            "SELECT bytes, times, has_null::int, count(*) FROM (
                 SELECT max({bytes}) AS bytes, count(*) AS times, bool_or(num_nulls({keys}) > 0) AS has_null
                 FROM sample {} {group}
             ) AS keys GROUP BY bytes, times, has_null ORDER BY bytes, times, has_null",
            wanted.condition
        ))?;
        rows.iter()
            .map(|row| {
                let number = |at: usize| -> Option<u64> { row.get(at)?.as_ref()?.parse().ok() };
                Some(Seen {
                    bytes: number(0)?.try_into().ok()?,
                    times: number(1)?,
                    keys: number(3)?,
                    has_null: number(2)? > 0,
                })
            })
            .collect::<Option<Vec<Seen>>>()
            .ok_or_else(|| failed("sizes of entries are not numbers"))
    }

    /// Log bytes per inserted row.
    pub(super) fn log_in_postgres(
        &self,
        job: &Job<'_>,
        rows: &Rows<'_>,
        set: &ChangeSet,
    ) -> Result<Option<Inserted>, Error> {
        let (stored, arriving) = rows.divided(job.is_in_order);
        if arriving.is_empty() {
            return Ok(None);
        }
        let types = self.types(rows, &mut Vec::new())?;
        self.create("stored", rows, &types)?;
        for (at, index) in job.table.indexes.iter().enumerate() {
            if !set.dropped_indexes.contains(&index.name) {
                let wanted = wanted(index, rows, set);
                // One that can't be built has a note already.
                let _ = self.build("stored", &format!("kept_{at}"), &wanted, index.deduplicates);
            }
        }
        self.fill("stored", rows, &stored)?;
        self.create("arriving", rows, &types)?;
        self.fill("arriving", rows, &arriving)?;
        let mut indexes = Vec::new();
        let names: Vec<String> = rows
            .columns
            .iter()
            .map(|own| quoted(&own.column.name))
            .collect();
        for index in &job.table.indexes {
            let wanted = wanted(index, rows, set);
            let is_ordered = index.method == "btree" && !set.dropped_indexes.contains(&index.name);
            let condition = wanted.condition.trim_start_matches("WHERE ");
            let condition = if condition.is_empty() {
                "true"
            } else {
                condition
            };
            indexes.push(match is_ordered {
                true => self
                    .arrivals(&wanted.keys, condition, &names.join(", "))
                    .ok(),
                false => None,
            });
        }
        const POSITION: &str = "SELECT pg_current_wal_insert_lsn() - '0/0'";
        let before = self.number(POSITION)?;
        let inserted = self.run(INSERTS);
        let after = self.number(POSITION)?;
        self.run("DROP TABLE stored, arriving")?;
        inserted?;
        Ok(Some(Inserted {
            log_bytes: (after - before) / arriving.len() as f64,
            table: Arrivals::at_the_end(),
            indexes,
        }))
    }
}

/// Returns the query of [`super::rows_per_key`].
pub(super) fn rows_per_key(table: &Table, index: &Index, page_bytes: u32) -> Option<String> {
    if index.method != "btree"
        || index.is_unique
        || !index.deduplicates
        || !index.include.is_empty()
    {
        return None;
    }
    let key = |term: &Term| match (&term.column, &term.expression) {
        (Some(column), _) => Some(quoted(column)),
        (None, expression) => expression.as_ref().map(|text| format!("({text})")),
    };
    let keys: Vec<String> = index.terms.iter().map(key).collect::<Option<_>>()?;
    let named = |(at, key): (usize, &String)| format!("{key} AS key_{at}");
    let same = |(at, key): (usize, &String)| format!("{key} = one.key_{at}");
    let listed: Vec<String> = keys.iter().enumerate().map(named).collect();
    let equal: Vec<String> = keys.iter().enumerate().map(same).collect();
    let condition = index.predicate.as_ref();
    let condition = condition.map_or_else(String::new, |text| format!(" AND ({text})"));
    let from = match table.schema.is_empty() {
        true => quoted(&table.name),
        false => format!("{}.{}", quoted(&table.schema), quoted(&table.name)),
    };
    let entries = index
        .entries
        .unwrap_or(table.rows)
        .clamp(1, table.rows.max(1));
    // Half as many again: chance decides.
    let wanted = LOOKED_UP as f64 * 1.5 * table.rows as f64 / entries as f64;
    let pages = (table.bytes / u64::from(page_bytes.max(1))).max(1) as f64;
    let share_of_pages = (wanted / pages).min(1.0);
    let share_of_rows = (wanted / (table.rows as f64 * share_of_pages)).min(1.0);
    Some(format!(
        "SELECT (SELECT count(*) FROM (SELECT FROM ONLY {from} WHERE {}{condition} LIMIT {LOOKED_UP_MAX}) AS same)
         FROM (SELECT {} FROM ONLY {from} TABLESAMPLE SYSTEM ({:.6}) REPEATABLE (2)
               WHERE num_nulls({}) = 0{condition} AND (hashtext(ctid::text || 'look') & 1048575) < {:.0}
               LIMIT {LOOKED_UP}) AS one",
        equal.join(" AND "),
        listed.join(", "),
        share_of_pages * 100.0,
        keys.join(", "),
        share_of_rows * 1_048_576.0
    ))
}

fn wanted<'t>(index: &'t Index, rows: &Rows<'_>, set: &ChangeSet) -> Wanted<'t> {
    let key = |term: &Term| match (&term.column, &term.expression) {
        (Some(column), _) => quoted(column),
        (None, expression) => format!("({})", expression.as_deref().unwrap_or_default()),
    };
    let term = |term: &Term| {
        let is_changed = term
            .column
            .as_deref()
            .is_some_and(|name| rows.is_changed(name));
        let class = term
            .operator_class
            .as_deref()
            .filter(|_| !term.is_default_class && !is_changed);
        format!("{} {}", key(term), class.unwrap_or_default())
    };
    let mut conditions: Vec<String> = Vec::new();
    conditions.extend(index.predicate.as_ref().map(|text| format!("({text})")));
    for (name, column) in &set.partial_indexes {
        if *name == index.name {
            conditions.push(format!("{} IS NOT NULL", quoted(column)));
        }
    }
    Wanted {
        index,
        terms: index.terms.iter().map(term).collect(),
        keys: index.terms.iter().map(key).collect(),
        condition: match conditions.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", conditions.join(" AND ")),
        },
    }
}
