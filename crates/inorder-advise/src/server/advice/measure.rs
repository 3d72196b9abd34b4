//! What candidates give: the server's sizes of indexes, and predictions of rebuilt samples.

use crate::{
    Error,
    rules::Class,
    server::{
        model::{ChangeSet, ColumnChange, ColumnTo, Database, Prediction, Product, Sample, Table},
        predict::Predictor,
        rules::{Action, Candidate, ColumnName, Group},
    },
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Smaller tables are estimated: a rebuilt sample takes seconds.
pub(super) const SHARE_MIN: f64 = 0.01;
/// Bytes of a B-tree without entries, in pages of PostgreSQL.
const EMPTY_INDEX_PAGES: u64 = 1;
/// Bytes of a UUID as text with the length before it, and of the native type.
const TEXT_BYTES: u64 = 37;
const UUID_BYTES: u64 = 16;

/// How a figure was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The server's own size.
    Server,
    /// The sample was rebuilt with and without the change.
    Predicted,
    /// Calculated from widths and row counts.
    Estimated,
}

/// What a candidate gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// Bytes less.
    pub saved_bytes: i64,
    /// How that was found.
    pub method: Method,
    /// Bytes of log per row inserted into each table, before and after.
    pub log_bytes_per_insert: Option<(f64, f64)>,
    /// Bytes of pages that are written besides, as [`Prediction::page_bytes_per_insert`] has it.
    pub page_bytes_per_insert: Option<(f64, f64)>,
    /// Bytes of data pages besides, as [`Prediction::data_bytes_per_insert`] has it.
    pub data_bytes_per_insert: Option<(f64, f64)>,
    /// The predictions, by table.
    pub predictions: Vec<(ColumnName, Prediction)>,
}

impl Measure {
    /// Everything that is written per inserted row, before and after: log, images of pages, data pages.
    pub fn written_per_insert(&self) -> Option<(f64, f64)> {
        let pages = sum(self.page_bytes_per_insert, self.data_bytes_per_insert);
        self.log_bytes_per_insert
            .and_then(|log| sum(Some(log), pages))
    }
}

/// Predicts sizes: a server that samples are rebuilt on.
pub trait Sizes {
    /// The prediction of each change set, in their order.
    ///
    /// # Errors
    /// If the server fails.
    fn predict(
        &mut self,
        table: &Table,
        sample: &Sample,
        changes: &[ChangeSet],
    ) -> Result<Vec<Prediction>, Error>;
}

/// Measures a candidate. `None` if there is nothing to measure; the second is a note on a prediction that failed. `after` is
/// the database without its samples and with the safe changes of its indexes.
pub fn measure(
    database: &Database,
    after: &Database,
    candidate: &Candidate,
    sizes: &mut Option<Box<dyn Sizes + '_>>,
) -> (Option<Measure>, Option<String>) {
    let of_server = |saved: u64| Measure {
        saved_bytes: saved as i64,
        method: Method::Server,
        log_bytes_per_insert: None,
        page_bytes_per_insert: None,
        data_bytes_per_insert: None,
        predictions: Vec::new(),
    };
    let index = |schema: &str, table: &str, index: &str| {
        let table = database.table(schema, table);
        table
            .and_then(|table| table.index(index))
            .map_or(0, |index| index.bytes)
    };
    match candidate.actions.first() {
        Some(
            Action::DropIndex {
                schema,
                table,
                index: name,
            }
            | Action::DropConstraint {
                schema,
                table,
                index: name,
                ..
            },
        ) => (Some(of_server(index(schema, table, name))), None),
        Some(Action::PartialIndex {
            schema,
            table,
            index: name,
            ..
        }) => {
            let left = EMPTY_INDEX_PAGES * u64::from(database.page_bytes);
            (
                Some(of_server(index(schema, table, name).saturating_sub(left))),
                None,
            )
        }
        Some(Action::Convert { columns, to }) => {
            converted(database, after, candidate, columns, *to, sizes)
        }
        Some(Action::OrderedUuid { column }) => converted(
            database,
            after,
            candidate,
            std::slice::from_ref(column),
            ColumnTo::OrderedUuid,
            sizes,
        ),
        _ => (None, None),
    }
}

fn converted(
    database: &Database,
    after: &Database,
    candidate: &Candidate,
    all: &[ColumnName],
    to: ColumnTo,
    sizes: &mut Option<Box<dyn Sizes + '_>>,
) -> (Option<Measure>, Option<String>) {
    // A rejected conversion needs no figure, but for the alternative that is named with one.
    if candidate.class == Class::Rejected && candidate.group != Group::Bigint {
        return (estimate(after, all, to), None);
    }
    let Some(sizes) = sizes else {
        return (estimate(after, all, to), None);
    };
    let mut tables: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for column in all {
        tables
            .entry((&column.schema, &column.table))
            .or_default()
            .push(&column.column);
    }
    let (mut saved, mut log, mut pages, mut data) = (0, None, None, None);
    let mut predictions = Vec::new();
    let least = (SHARE_MIN * super::base_bytes(database) as f64) as u64;
    for ((schema, name), columns) in tables {
        if !is_large(database, schema, name, least) {
            let own = all
                .iter()
                .filter(|own| own.schema == schema && own.table == name);
            let own: Vec<ColumnName> = own.cloned().collect();
            saved += estimate(after, &own, to).map_or(0, |measure| measure.saved_bytes);
            continue;
        }
        let prediction = match predict(database, after, (schema, name), &columns, to, sizes) {
            Ok(Some(prediction)) => prediction,
            Ok(None) => continue,
            Err(note) => return (estimate(after, all, to), Some(note)),
        };
        for tree in &prediction.trees {
            saved += tree.rebuilt_bytes as i64 - tree.after_bytes as i64;
        }
        // Rows are inserted into each table; their shares are not known, so the figures are of one row each.
        log = sum(log, prediction.log_bytes_per_insert);
        pages = sum(pages, prediction.page_bytes_per_insert);
        data = sum(data, prediction.data_bytes_per_insert);
        let first = ColumnName {
            schema: schema.to_owned(),
            table: name.to_owned(),
            column: columns[0].to_owned(),
        };
        predictions.push((first, prediction));
    }
    if predictions.is_empty() {
        return (estimate(after, all, to), None);
    }
    let measure = Measure {
        saved_bytes: saved,
        method: Method::Predicted,
        log_bytes_per_insert: log,
        page_bytes_per_insert: pages,
        data_bytes_per_insert: data,
        predictions,
    };
    (Some(measure), None)
}

/// Tells whether a table has a share of the database that is worth a prediction.
fn is_large(database: &Database, schema: &str, name: &str, least: u64) -> bool {
    let table = database.table(schema, name);
    table.is_some_and(|table| table.total_bytes() >= least)
}

fn sum(all: Option<(f64, f64)>, own: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (all, own) {
        (Some(all), Some(own)) => Some((all.0 + own.0, all.1 + own.1)),
        (all, own) => all.or(own),
    }
}

/// The prediction for a table, if it has rows. An error is a note.
fn predict(
    database: &Database,
    after: &Database,
    (schema, name): (&str, &str),
    columns: &[&str],
    to: ColumnTo,
    sizes: &mut Box<dyn Sizes + '_>,
) -> Result<Option<Prediction>, String> {
    let whole = database.table(schema, name);
    let sample = whole.and_then(|table| table.sample.as_ref());
    let sample = sample.filter(|sample| !sample.rows.is_empty());
    let (Some(table), Some(sample)) = (after.table(schema, name), sample) else {
        return Ok(None);
    };
    let columns = columns.iter().map(|column| ColumnChange {
        column: (*column).to_owned(),
        to,
    });
    let change = ChangeSet {
        columns: columns.collect(),
        ..ChangeSet::default()
    };
    match sizes.predict(table, sample, &[change]) {
        Ok(found) => Ok(found.into_iter().next()),
        Err(error) => Err(format!("{schema}.{name}: {error}.")),
    }
}

/// The bytes of shorter values, in the rows and in each index that holds them.
fn estimate(database: &Database, columns: &[ColumnName], to: ColumnTo) -> Option<Measure> {
    let shorter = match to {
        ColumnTo::Uuid | ColumnTo::Binary16 => TEXT_BYTES - UUID_BYTES,
        // Both have a length before them.
        ColumnTo::Bytes { bytes, has_prefix } => u64::from(bytes) + 2 * u64::from(has_prefix),
        ColumnTo::OrderedUuid | ColumnTo::Bigint => return None,
    };
    let mut saved = 0;
    for name in columns {
        let Some(table) = database.table(&name.schema, &name.table) else {
            continue;
        };
        let is_key = |term: Option<&String>| term == Some(&name.column);
        let holds = |index: &&crate::server::model::Index| {
            index.terms.iter().any(|term| is_key(term.column.as_ref()))
                || index.include.contains(&name.column)
        };
        // InnoDB's secondary indexes hold the primary key, and its rows are in the primary key's tree.
        let is_clustered = database.product == Product::Mariadb;
        let in_primary = table.clustered().is_some_and(|key| holds(&key));
        let is_tree = |index: &&crate::server::model::Index| match is_clustered {
            true => !index.is_clustered && (in_primary || holds(index)),
            false => index.method == "btree" && holds(index),
        };
        let nulls = table
            .column(&name.column)
            .and_then(|column| column.null_share)
            .unwrap_or(0.0);
        let rows = table.rows as f64;
        let entries: f64 = table
            .indexes
            .iter()
            .filter(is_tree)
            .map(|index| index.entries.map_or(rows, |entries| entries as f64))
            .sum();
        let values = (rows + entries) * (1.0 - nulls);
        saved += (values * shorter as f64) as i64;
    }
    Some(Measure {
        saved_bytes: saved,
        method: Method::Estimated,
        log_bytes_per_insert: None,
        page_bytes_per_insert: None,
        data_bytes_per_insert: None,
        predictions: Vec::new(),
    })
}

impl Sizes for Predictor {
    fn predict(
        &mut self,
        table: &Table,
        sample: &Sample,
        changes: &[ChangeSet],
    ) -> Result<Vec<Prediction>, Error> {
        Predictor::predict(self, table, sample, changes)
    }
}
