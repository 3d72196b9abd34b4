//! The rows of a sample with a change of the table applied, and the statements that store them.

use crate::{
    Error,
    server::model::{ChangeSet, Column, ColumnTo, Product, Sample, Table},
};
use inorder_key::bulk::SplitMix64;
use inorder_key::{Ulid, Uuid};
use std::collections::HashMap;

/// Bytes of values that are used at most; further rows are left out, evenly.
const BYTES_MAX: usize = 48 << 20;
/// Rows and bytes per statement, whichever comes first.
const STATEMENT_ROWS: usize = 500;
const STATEMENT_BYTES: usize = 1 << 20;
/// Of so many rows, one is inserted for the log figure, and the others are there before.
const HELD_OUT: usize = 5;

/// A row, `None` is NULL.
pub(super) type Row = Vec<Option<String>>;

/// Rows of a sample with columns as they are, or changed.
#[derive(Debug, Clone)]
pub(super) struct Rows<'t> {
    /// The columns of the table that the sample has.
    pub columns: Vec<RowColumn<'t>>,
    /// Rows in the order of the sample.
    pub rows: Vec<Row>,
    /// The values of changed columns for rows that are inserted later, by column.
    arrivals: HashMap<usize, Vec<Option<String>>>,
}

/// A column of the rows.
#[derive(Debug, Clone)]
pub(super) struct RowColumn<'t> {
    /// The column as it is.
    pub column: &'t Column,
    /// Its type after the change, if that is another one.
    pub changed: Option<String>,
    /// Whether values are hexadecimal digits of bytes.
    pub is_binary: bool,
}

impl<'t> Rows<'t> {
    /// Takes the sample's rows as they are.
    pub fn of(table: &'t Table, sample: &Sample) -> Result<Self, Error> {
        let mut columns = Vec::new();
        let mut places = Vec::new();
        for column in &table.columns {
            let Some(place) = sample.column(&column.name) else {
                return Err(failed(format!("the sample has no column {}", column.name)));
            };
            places.push(place);
            columns.push(RowColumn {
                column,
                changed: None,
                is_binary: sample.binary.contains(&column.name),
            });
        }
        let bytes = |row: &Row| row.iter().flatten().map(String::len).sum::<usize>();
        let all: usize = sample.rows.iter().map(bytes).sum();
        let share = (BYTES_MAX as f64 / all.max(1) as f64).min(1.0);
        let mut due = 0.0;
        let mut rows = Vec::new();
        for row in &sample.rows {
            due += share;
            if due >= 1.0 {
                due -= 1.0;
                rows.push(places.iter().map(|&place| row[place].clone()).collect());
            }
        }
        Ok(Rows {
            columns,
            rows,
            arrivals: HashMap::new(),
        })
    }

    /// Applies the changes of columns.
    pub fn changed(&self, set: &ChangeSet, product: Product) -> Result<Self, Error> {
        let mut rows = self.clone();
        for change in &set.columns {
            let named = |column: &RowColumn<'_>| column.column.name == change.column;
            let Some(at) = self.columns.iter().position(named) else {
                return Err(failed(format!("there is no column {}", change.column)));
            };
            rows.change(at, change.to, product)?;
        }
        Ok(rows)
    }

    fn change(&mut self, at: usize, to: ColumnTo, product: Product) -> Result<(), Error> {
        let column = &mut self.columns[at];
        let wrong = |value: &str| {
            failed(format!(
                "{}: {value} is not an id of {} bytes",
                column.column.name,
                if let ColumnTo::Bytes { bytes, .. } = to {
                    bytes
                } else {
                    16
                }
            ))
        };
        match to {
            ColumnTo::Uuid | ColumnTo::Binary16 => {
                for row in &mut self.rows {
                    if let Some(value) = &mut row[at] {
                        let id = id_of(value).ok_or_else(|| wrong(value))?;
                        *value = match to {
                            ColumnTo::Uuid => id.to_string(),
                            _ => hex(id),
                        };
                    }
                }
                column.is_binary = to == ColumnTo::Binary16;
                column.changed = Some(match (to, product) {
                    (ColumnTo::Uuid, _) => "uuid".into(),
                    (_, Product::Postgres) => "bytea".into(),
                    (_, Product::Mariadb) => "binary(16)".into(),
                });
            }
            ColumnTo::Bytes { bytes, has_prefix } => {
                for value in self.rows.iter_mut().filter_map(|row| row[at].as_mut()) {
                    let digits = digits_of(value, bytes, has_prefix).ok_or_else(|| wrong(value))?;
                    *value = digits;
                }
                column.is_binary = true;
                column.changed = Some(match product {
                    Product::Postgres => "bytea".into(),
                    Product::Mariadb => format!("binary({bytes})"),
                });
            }
            ColumnTo::Bigint => {
                let mut numbers = HashMap::new();
                for row in &mut self.rows {
                    if let Some(value) = row[at].take() {
                        let next = numbers.len() + 1;
                        row[at] = Some(numbers.entry(value).or_insert(next).to_string());
                    }
                }
                column.is_binary = false;
                column.changed = Some("bigint".into());
            }
            ColumnTo::OrderedUuid => {
                let written = |row: &Row| row[at].as_deref().map(ordered_like);
                let mut ids: Vec<Option<String>> = self.rows.iter().map(written).collect();
                // Made in the order of the rows, so they sort like them.
                ids.sort_by_key(|id| id.is_none());
                self.arrivals.insert(at, ids);
            }
        }
        Ok(())
    }

    /// Divides the rows into those that are there and those that arrive, in the order of their arrival.
    pub fn divided(&self, is_in_order: bool) -> (Vec<Row>, Vec<Row>) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        if !is_in_order {
            SplitMix64::new(0).shuffle(&mut order);
        }
        let arriving = order.split_off(order.len() - order.len() / HELD_OUT);
        let stored = order.into_iter().map(|at| self.rows[at].clone()).collect();
        let arrive = |(number, at): (usize, usize)| {
            let mut row = self.rows[at].clone();
            for (column, ids) in &self.arrivals {
                if row[*column].is_some() {
                    row[*column] = ids[number].clone();
                }
            }
            row
        };
        (
            stored,
            arriving.into_iter().enumerate().map(arrive).collect(),
        )
    }

    /// Statements that insert rows into a table.
    pub fn inserts(&self, into: &str, rows: &[Row], product: Product) -> Vec<String> {
        let mut all = Vec::new();
        let mut statement = String::new();
        let mut in_it = 0;
        for row in rows {
            statement.push_str(match in_it {
                0 => "INSERT INTO ",
                _ => ",(",
            });
            if in_it == 0 {
                statement.push_str(into);
                statement.push_str(" VALUES (");
            }
            for (at, (value, column)) in row.iter().zip(&self.columns).enumerate() {
                if at > 0 {
                    statement.push(',');
                }
                // A bit field's value is a number, and in quotes it would be bytes.
                match (column.column.base_type.as_str(), value) {
                    ("bit", Some(value)) if product == Product::Mariadb => {
                        statement.push_str(value)
                    }
                    _ => write_literal(&mut statement, value.as_deref(), column.is_binary, product),
                }
            }
            statement.push(')');
            in_it += 1;
            if in_it == STATEMENT_ROWS || statement.len() > STATEMENT_BYTES {
                all.push(std::mem::take(&mut statement));
                in_it = 0;
            }
        }
        all.extend(Some(statement).filter(|statement| !statement.is_empty()));
        all
    }

    /// Whether a change concerns this column's type.
    pub fn is_changed(&self, name: &str) -> bool {
        let mut columns = self.columns.iter();
        columns.any(|column| column.column.name == name && column.changed.is_some())
    }
}

/// Makes the error of this module.
pub(super) fn failed(why: impl Into<String>) -> Error {
    Error::Prediction(why.into())
}

/// Writes a value as SQL.
fn write_literal(out: &mut String, value: Option<&str>, is_binary: bool, product: Product) {
    let Some(value) = value else {
        out.push_str("NULL");
        return;
    };
    let (open, close) = match (is_binary, product) {
        (false, _) => ("'", "'"),
        (true, Product::Postgres) => ("'\\x", "'"),
        (true, Product::Mariadb) => ("x'", "'"),
    };
    out.push_str(open);
    match value.contains('\'') {
        true => out.push_str(&value.replace('\'', "''")),
        false => out.push_str(value),
    }
    out.push_str(close);
}

/// Reads an id of 16 bytes: a UUID with or without hyphens or braces, a ULID, or hexadecimal digits.
fn id_of(value: &str) -> Option<Uuid> {
    let value = value.trim_matches(['{', '}']);
    let digits: String = value.chars().filter(|char| *char != '-').collect();
    match digits.len() {
        32 => u128::from_str_radix(&digits, 16)
            .ok()
            .map(|number| Uuid::from_bytes(number.to_be_bytes())),
        26 => {
            let id = Ulid::parse(digits.as_bytes()).ok()?;
            Some(Uuid::from_bytes(id.to_bytes()))
        }
        _ => None,
    }
}

/// The hexadecimal digits of as many bytes.
fn digits_of(value: &str, bytes: u8, has_prefix: bool) -> Option<String> {
    let digits = if has_prefix {
        value.strip_prefix("0x")?
    } else {
        value
    };
    let is_whole = digits.len() == 2 * usize::from(bytes);
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    (is_whole && is_hex).then(|| digits.to_ascii_lowercase())
}

fn hex(id: Uuid) -> String {
    let bytes = id.to_bytes();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes a UUIDv7, written as the id that it stands for.
fn ordered_like(value: &str) -> String {
    let id = Uuid::now_v7();
    let text = match value.len() {
        26 => Ulid::from_bytes(id.to_bytes()).to_string(),
        32 => hex(id),
        _ => id.to_string(),
    };
    match value.chars().any(|char| char.is_ascii_uppercase()) {
        true => text.to_ascii_uppercase(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::model::ColumnChange;

    const ID: &str = "919108f7-52d1-4320-9bac-f847db4148a8";

    fn table() -> Table {
        let column = |name: &str| Column {
            name: name.to_owned(),
            ..Column::default()
        };
        Table {
            columns: vec![column("id"), column("note")],
            ..Table::default()
        }
    }

    fn sample(ids: &[Option<&str>]) -> Sample {
        let row = |id: &Option<&str>| vec![Some("it's".to_owned()), id.map(str::to_owned)];
        Sample {
            // The order of the sample is its own.
            columns: vec!["note".to_owned(), "id".to_owned()],
            rows: ids.iter().map(row).collect(),
            ..Sample::default()
        }
    }

    fn changed(ids: &[Option<&str>], to: ColumnTo, product: Product) -> Result<Vec<String>, Error> {
        let (table, sample) = (table(), sample(ids));
        let set = ChangeSet {
            columns: vec![ColumnChange {
                column: "id".to_owned(),
                to,
            }],
            ..ChangeSet::default()
        };
        let rows = Rows::of(&table, &sample)?.changed(&set, product)?;
        Ok(rows.inserts("t", &rows.rows, product))
    }

    #[test]
    fn ids_of_every_form_become_sixteen_bytes() {
        let digits = ID.replace('-', "");
        let forms = [Some(ID), Some(&digits), None];
        let to_uuid = changed(&forms, ColumnTo::Uuid, Product::Postgres).unwrap();
        let values = format!("('{ID}','it''s'),('{ID}','it''s'),(NULL,'it''s')");
        assert_eq!(to_uuid, [format!("INSERT INTO t VALUES {values}")]);
        let ulid = Ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap();
        let of_ulid = Uuid::from_bytes(ulid.to_bytes());
        let text = ulid.to_string();
        for (product, open) in [(Product::Postgres, "'\\x"), (Product::Mariadb, "x'")] {
            let found = changed(&[Some(&text)], ColumnTo::Binary16, product).unwrap();
            let value = format!("({open}{}','it''s')", hex(of_ulid));
            assert!(found[0].ends_with(&value), "{found:?}");
        }
        let error = changed(&[Some("no id")], ColumnTo::Uuid, Product::Postgres).unwrap_err();
        assert!(
            error.to_string().contains("no id is not an id of 16 bytes"),
            "{error}"
        );
    }

    #[test]
    fn digests_become_bytes() {
        let digits = "aB".repeat(40);
        for (text, has_prefix) in [(digits.clone(), false), (format!("0x{digits}"), true)] {
            let to = ColumnTo::Bytes {
                bytes: 40,
                has_prefix,
            };
            let found = changed(&[Some(&text)], to, Product::Postgres).unwrap();
            assert!(
                found[0].ends_with(&format!("('\\x{}','it''s')", digits.to_lowercase())),
                "{found:?}"
            );
            assert!(changed(&[Some(&text[1..])], to, Product::Mariadb).is_err());
        }
    }

    #[test]
    fn equal_ids_become_equal_numbers() {
        let found = changed(
            &[Some("b"), None, Some("a"), Some("b")],
            ColumnTo::Bigint,
            Product::Mariadb,
        );
        let values = "('1','it''s'),(NULL,'it''s'),('2','it''s'),('1','it''s')";
        assert_eq!(found.unwrap(), [format!("INSERT INTO t VALUES {values}")]);
    }

    #[test]
    fn rows_that_arrive_have_ordered_ids_in_the_form_of_the_others() {
        let (table, upper) = (table(), ID.to_uppercase());
        let sample = sample(&[Some(upper.as_str()); 50]);
        let mut rows = Rows::of(&table, &sample).unwrap();
        rows.change(0, ColumnTo::OrderedUuid, Product::Postgres)
            .unwrap();
        let (stored, arriving) = rows.divided(true);
        assert_eq!((stored.len(), arriving.len()), (40, 10));
        assert!(stored.iter().all(|row| row[0].as_deref() == Some(&upper)));
        let ids: Vec<&str> = arriving
            .iter()
            .filter_map(|row| row[0].as_deref())
            .collect();
        assert!(
            ids.is_sorted()
                && ids
                    .iter()
                    .all(|id| id.len() == 36 && id.as_bytes()[14] == b'7')
        );
        assert!(ids.iter().all(|id| **id == id.to_uppercase()), "{ids:?}");
    }
}
