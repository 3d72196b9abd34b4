//! Reads a file into memory, column by column.

use std::path::{Path, PathBuf};

use inorder_engine::Column;

use super::column::{ColumnBuilder, TooMuchText};
use super::meter::Meter;
use super::row::{Raw, Row};
use super::{ReadOptions, Rows, open_rows};
use crate::Error;

/// The rows of a file, column by column.
#[derive(Clone, Debug)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The number of rows; at least one.
    pub rows: usize,
    /// The columns, in the order of their names, `rows` long each.
    pub values: Vec<Column>,
}

impl Table {
    /// The column with this name, if there is one.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let index = self.columns.iter().position(|column| column == name)?;
        self.values.get(index)
    }
}

/// Reads all rows of a file in one of the [`FORMATS`](super::FORMATS) into memory.
///
/// `columns` names the columns to keep, in this order; `None` keeps all. A column has the smallest form that holds its
/// values: integers, reals or text if all are of that kind, otherwise [`Column::Any`].
///
/// # Errors
/// If the file can't be read, its format is unknown or broken, it has no rows, or a named column doesn't exist.
pub fn read(path: impl AsRef<Path>, columns: Option<&[String]>) -> Result<Table, Error> {
    let path = path.as_ref();
    let mut rows = open_rows(path, &ReadOptions::default(), &Meter::default())?;
    let mut builders: Vec<Option<ColumnBuilder>> = Vec::new();
    let mut row = Row::default();
    let mut count = 0;
    while rows.next(&mut row)? {
        for place in builders.len()..rows.columns().len() {
            builders.push(is_wanted(rows.as_ref(), place, columns).then(ColumnBuilder::default));
        }
        for (place, builder) in builders.iter_mut().enumerate() {
            let Some(builder) = builder else { continue };
            // Columns that are met late are missing before.
            builder.pad(count);
            push(builder, row.field(place))
                .map_err(|_| Error::too_much_text(path, &rows.columns()[place]))?;
        }
        count += 1;
    }
    if count == 0 {
        return Err(Error::NoRows {
            path: PathBuf::from(path),
        });
    }
    let selected = select(path, rows.as_ref(), columns)?;
    let is_typed = rows.is_typed();
    let finished: Vec<Option<Column>> = builders
        .into_iter()
        .map(|builder| Some(finish(builder?, is_typed)))
        .collect();
    let value = |(_, place): &(String, usize)| finished[*place].clone();
    Ok(Table {
        rows: count,
        values: selected.iter().filter_map(value).collect(),
        columns: selected.into_iter().map(|(name, _)| name).collect(),
    })
}

/// Whether a column is requested by its name or by an alias.
fn is_wanted(rows: &dyn Rows, place: usize, columns: Option<&[String]>) -> bool {
    let Some(columns) = columns else { return true };
    let names = rows.names().into_iter().filter(|(_, at)| *at == place);
    names
        .map(|(name, _)| name)
        .any(|name| columns.iter().any(|column| column == name))
}

fn finish(mut builder: ColumnBuilder, is_typed: bool) -> Column {
    if !is_typed {
        builder.recognise_numbers();
    }
    builder.finish()
}

fn push(builder: &mut ColumnBuilder, value: Raw<'_>) -> Result<(), TooMuchText> {
    match value {
        Raw::Missing | Raw::Null => builder.push_null(),
        Raw::Integer(integer) => builder.push_integer(integer),
        Raw::Real(real) => builder.push_real(real),
        Raw::Text(text) => builder.push_text(text)?,
        Raw::Number(number) => builder.push_number(number),
        Raw::Blob(blob) => builder.push_blob(blob)?,
    }
    Ok(())
}

/// The columns to keep, each with its place.
fn select(
    path: &Path,
    rows: &dyn Rows,
    columns: Option<&[String]>,
) -> Result<Vec<(String, usize)>, Error> {
    let present = rows.names();
    let Some(columns) = columns else {
        let owned = |(name, place): (&str, usize)| (name.to_owned(), place);
        return Ok(present.into_iter().map(owned).collect());
    };
    let mut selected: Vec<(String, usize)> = Vec::with_capacity(columns.len());
    for column in columns {
        if selected.iter().any(|(name, _)| name == column) {
            continue;
        }
        let found = present.iter().find(|(name, _)| name == column);
        let names = present.iter().map(|(name, _)| *name);
        let &(_, place) = found.ok_or_else(|| Error::no_such_column(path, column, names))?;
        selected.push((column.clone(), place));
    }
    Ok(selected)
}
