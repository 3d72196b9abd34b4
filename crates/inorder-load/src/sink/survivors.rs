//! Counts the rows of a load that the table still has at its end, if later rows may have replaced earlier ones.

use inorder_btree::{Collation, KeyColumn, KeyOrder, Record, TextEncoding, Value, record};
use rusqlite::Connection;

use crate::Error;
use crate::destination::{Destination, KeyPart};
use crate::encode::{Encoder, Rules, Slot, ValueSource};
use crate::order::{SortLimits, Sorter};
use crate::rows::spilled;
use crate::schema::default_value;
use crate::source::Row;
use crate::sql::{bind, quoted};

/// The keys or rowids of the inserted rows.
pub(super) struct Survivors {
    /// The places of the key in a record; `None` for tables with rowids.
    key: Option<Vec<Option<usize>>>,
    /// A record of the defaults of the key.
    defaults: Vec<u8>,
    /// The query for one row.
    query: String,
    encoding: TextEncoding,
    order: KeyOrder,
    sorter: Sorter,
    /// Rows that can't be distinguished, because their key has a NULL.
    untold: u64,
    scratch: Vec<u8>,
}

impl Survivors {
    /// For records with these columns; `None` if nothing tells rows apart.
    pub(super) fn new(
        connection: &Connection,
        destination: &Destination,
        record: &[usize],
        limits: &SortLimits,
    ) -> rusqlite::Result<Option<Self>> {
        let table = quoted(&destination.table);
        let has_rowid = "SELECT wr = 0 FROM pragma_table_list WHERE schema = 'main' AND name = ?1";
        let has_rowid: bool =
            connection.query_row(has_rowid, [&destination.table], |row| row.get(0))?;
        let mut defaults = Vec::new();
        let (key, condition, columns) = if has_rowid {
            let Some(rowid) = rowid(connection, destination)? else {
                return Ok(None);
            };
            let column = KeyColumn {
                index: 0,
                collation: Collation::Binary,
                is_descending: false,
            };
            (None, format!("{rowid} = ?"), vec![column])
        } else {
            let place = |part: &KeyPart| record.iter().position(|column| *column == part.column);
            let places: Vec<Option<usize>> = destination.key.iter().map(place).collect();
            match key_by_default(destination, &places)? {
                Some(record) => defaults = record,
                None => return Ok(None),
            }
            let (mut conditions, mut columns) = (Vec::new(), Vec::new());
            for (index, part) in destination.key.iter().enumerate() {
                conditions.push(format!(
                    "{} = ? COLLATE {}",
                    quoted(&destination.columns[part.column].name),
                    part.collation.name()
                ));
                columns.push(KeyColumn {
                    index,
                    collation: part.collation,
                    is_descending: part.is_descending,
                });
            }
            (Some(places), conditions.join(" AND "), columns)
        };
        let order = KeyOrder::new(columns, destination.encoding);
        Ok(Some(Survivors {
            key,
            defaults,
            query: format!("SELECT EXISTS (SELECT 1 FROM main.{table} WHERE {condition})"),
            encoding: destination.encoding,
            sorter: Sorter::new(Some(order.clone()), limits.clone()),
            order,
            untold: 0,
            scratch: Vec::new(),
        }))
    }

    /// Adds the row that was inserted last.
    pub(super) fn push(&mut self, connection: &Connection, row: &[u8]) -> Result<(), Error> {
        let values: Vec<Value<'_>> = match &self.key {
            None => vec![Value::Integer(connection.last_insert_rowid())],
            Some(places) => {
                let (all, defaults) = (values(row), values(&self.defaults));
                let given = |place: &Option<usize>| place.map_or(Value::Null, |place| all[place]);
                let filled = |(place, default)| match given(place) {
                    Value::Null => default,
                    value => value,
                };
                places.iter().zip(defaults).map(filled).collect()
            }
        };
        if values.contains(&Value::Null) {
            self.untold += 1;
            return Ok(());
        }
        self.scratch.clear();
        record::encode(&values, &mut self.scratch);
        self.sorter.push(&self.scratch, 0).map_err(spilled)
    }

    /// The number of rows of the load that the table has.
    pub(super) fn count(
        self,
        connection: &Connection,
        failed: impl Fn(rusqlite::Error) -> Error,
    ) -> Result<u64, Error> {
        let mut statement = connection.prepare(&self.query).map_err(&failed)?;
        let mut sorted = self.sorter.finish().map_err(spilled)?;
        let (mut kept, mut last) = (self.untold, Vec::new());
        while let Some((row, _)) = sorted.next().map_err(spilled)? {
            if !last.is_empty() && self.order.compare(&last, row).is_eq() {
                continue;
            }
            row.clone_into(&mut last);
            bind(&mut statement, 0, row, self.encoding).map_err(&failed)?;
            let mut rows = statement.raw_query();
            let found = rows.next().and_then(|row| match row {
                Some(row) => row.get(0),
                None => Ok(false),
            });
            kept += u64::from(found.map_err(&failed)?);
        }
        Ok(kept)
    }
}

fn values(record: &[u8]) -> Vec<Value<'_>> {
    let record = Record::parse(record).expect("an encoded record");
    record.values().collect()
}

/// A record of the defaults of the key's columns; `None` if a default differs from row to row.
fn key_by_default(
    destination: &Destination,
    places: &[Option<usize>],
) -> rusqlite::Result<Option<Vec<u8>>> {
    let scratch = inorder_sqlite::open_in_memory()?;
    let mut slots = Vec::new();
    for (part, place) in destination.key.iter().zip(places) {
        let info = &destination.columns[part.column];
        let default = info.default.as_deref();
        let constant = default.map(|clause| default_value(&scratch, clause));
        if constant == Some(None) && place.is_none() {
            return Ok(None);
        }
        slots.push(Slot {
            name: info.name.clone(),
            from: ValueSource::Default,
            default: constant.flatten().unwrap_or(rusqlite::types::Value::Null),
            is_decode_derived: false,
            is_form_unknown: false,
            decode: None,
            rules: Rules {
                affinity: info.affinity,
                is_not_null: false,
                strict: None,
                is_guessed: false,
                is_derived: false,
                is_undecided: false,
            },
            intake: None,
        });
    }
    let mut encoder = Encoder::new(slots, destination.encoding)?;
    let record = encoder.encode(&Row::default());
    Ok(record.ok().map(<[u8]>::to_vec))
}

/// A name of the rowid that is not the name of a column.
fn rowid(
    connection: &Connection,
    destination: &Destination,
) -> rusqlite::Result<Option<&'static str>> {
    let is_column = "SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1, 'main') WHERE name = ?2 COLLATE NOCASE)";
    for name in ["rowid", "_rowid_", "oid"] {
        let is_taken: bool =
            connection.query_row(is_column, [&destination.table, name], |row| row.get(0))?;
        if !is_taken {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
