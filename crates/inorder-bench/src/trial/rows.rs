//! Makes the rows of a table, batch by batch, from its recipes.

use crate::{
    error::{Error, nearest},
    experiment::{Recipe, Table, TableRows, factors::Setup},
    generate::{Fill, Filler},
    plan::hash,
};
use inorder_engine::{Batch, Column, ColumnInfo, Value};
use inorder_key::bulk::{KeyBuffer, KeyStream, SplitMix64};
use inorder_key::{Encoding, KeyKind};
use std::{collections::HashMap, sync::Arc};

/// Columns of tables filled before, by table and column: what `pick` and `each` draw from.
pub type Parents = HashMap<(String, String), Arc<Column>>;

#[derive(Clone, Copy)]
/// The sources of rows besides the recipes.
pub struct Inputs<'a> {
    /// The levels in force.
    pub setup: &'a Setup,
    /// Seed of the trial.
    pub seed: u64,
    /// Tables filled before.
    pub parents: &'a Parents,
    /// The data file, where one was given.
    pub data: Option<&'a inorder_load::Table>,
    /// Measured tables that are filled at the same time, each with the columns that are made.
    pub together: &'a [(String, Vec<String>)],
    /// Consecutive rows in which `distinct` values differ.
    pub distinct_within: u64,
}

/// The generator of a column, or of the two columns of a composite key.
enum Maker {
    Key(Box<Keys>),
    /// Keys of one kind, and NULL in a share of the rows.
    SomeKeys {
        keys: Box<Keys>,
        null_share: f64,
        random: SplitMix64,
    },
    Fill(Filler),
    /// A column of a table that is filled at the same time: its rows, each as often as its row has rows here.
    Parent {
        table: usize,
        column: usize,
    },
}

/// A stream of keys that may change to another at some row.
struct Keys {
    stream: KeyStream,
    after: Option<(u64, KeyStream)>,
    made: u64,
}

/// Makes rows: columns in the order of [`RowMaker::names`].
pub struct RowMaker {
    names: Vec<String>,
    makers: Vec<Maker>,
    key_columns: Vec<usize>,
    /// The keys that rows get when the table moves to another key.
    next: Option<Box<Keys>>,
}

impl RowMaker {
    /// The rows of the built-in table.
    ///
    /// # Errors
    /// If the key can't be made.
    pub fn built_in(inputs: &Inputs<'_>) -> Result<Self, Error> {
        let mut maker = RowMaker::empty();
        let setup = inputs.setup;
        match setup.key {
            _ if setup.is_assigned() => {}
            KeyKind::Composite => maker.push_key(&["bucket", "id"], inputs)?,
            _ => maker.push_key(&["id"], inputs)?,
        }
        if setup.payload_bytes > 0 {
            maker.push("payload", &Recipe::Payload { is_text: false }, inputs)?;
        }
        for n in 1..=setup.indexes {
            let recipe = Recipe::Made(Fill::RandomInt {
                low: 0,
                high: i64::MAX,
            });
            maker.push(&format!("a{n}"), &recipe, inputs)?;
        }
        Ok(maker)
    }

    /// The rows of a table of the experiment's own, which the engine describes as `columns`.
    ///
    /// # Errors
    /// If a column has no recipe and can't do without, a recipe's data is missing, or a recipe
    /// names a column that no layout has.
    pub fn of_table(
        table: &Table,
        columns: &[ColumnInfo],
        inputs: &Inputs<'_>,
    ) -> Result<Self, Error> {
        let mut maker = RowMaker::empty();
        for column in columns {
            let recipe = table.columns.iter().find(|(name, _)| *name == column.name);
            match recipe {
                Some((_, Recipe::Key)) if inputs.setup.is_assigned() => {}
                Some((name, Recipe::Key)) => maker.push_key(&[name], inputs)?,
                Some((name, Recipe::KeyOf { kind, encoding })) => {
                    let stream = keys_of(name, *kind, *encoding, inputs)?;
                    maker.push_stream(&[name], stream, None);
                }
                Some((name, Recipe::Each { table, column, .. }))
                    if inputs.together.iter().any(|(own, _)| own == table) =>
                {
                    maker.push_parent(name, table, column, inputs)?;
                }
                Some((name, recipe)) => maker.push(name, recipe, inputs)?,
                None if column.is_optional => {}
                None => {
                    return Err(Error::Usage(format!(
                        "the column `{}` of table `{}` has no recipe, no default and may not be NULL: \
                         add it to [table.columns]",
                        column.name, table.name
                    )));
                }
            }
        }
        let layouts_differ = table.create.layouts().len() > 1;
        for (name, _) in &table.columns {
            if !layouts_differ && !columns.iter().any(|column| column.name == *name) {
                return Err(Error::Usage(format!(
                    "table `{}` has no column `{name}`: {}",
                    table.name,
                    nearest(name, columns.iter().map(|column| column.name.as_str()))
                )));
            }
        }
        Ok(maker)
    }

    fn empty() -> Self {
        RowMaker {
            names: Vec::new(),
            makers: Vec::new(),
            key_columns: Vec::new(),
            next: None,
        }
    }

    fn push_key(&mut self, names: &[&str], inputs: &Inputs<'_>) -> Result<(), Error> {
        let setup = inputs.setup;
        let seed = inputs.seed ^ hash(names.concat().as_bytes());
        self.key_columns
            .extend(self.names.len()..self.names.len() + names.len());
        let after = match setup.key_after {
            Some(kind) => Some((
                setup.rows_before + setup.rows / 2,
                keys(kind, setup.encoding(), seed ^ 1)?,
            )),
            None => None,
        };
        let stream = keys(setup.key, setup.encoding(), seed)?;
        self.push_stream(names, stream, after);
        self.next = match (setup.migrate_to, inorder_engine::engine(&setup.engine)) {
            (Some(key), Some(engine)) => {
                // The same kind in another encoding: the same ids.
                let is_same = key.kind == setup.key;
                let seed = if is_same { seed } else { seed ^ 2 };
                let stream = keys(key.kind, key.encoding_in(engine), seed)?;
                Some(Box::new(Keys::new(stream, None)))
            }
            _ => None,
        };
        Ok(())
    }

    fn push_stream(&mut self, names: &[&str], stream: KeyStream, after: Option<(u64, KeyStream)>) {
        self.names.extend(names.iter().map(|&name| name.to_owned()));
        self.makers
            .push(Maker::Key(Box::new(Keys::new(stream, after))));
    }

    fn push_parent(
        &mut self,
        name: &str,
        table: &str,
        column: &str,
        inputs: &Inputs<'_>,
    ) -> Result<(), Error> {
        let at = inputs.together.iter().position(|(own, _)| own == table);
        let of_table = at.and_then(|at| {
            let names = &inputs.together[at].1;
            Some((at, names.iter().position(|made| made == column)?))
        });
        let Some((table, column)) = of_table else {
            return Err(Error::Usage(format!(
                "`{name}` takes each `{table}.{column}`, which the engine assigns when the row is inserted: \
                 use a key that the application makes, such as int-seq in place of serial"
            )));
        };
        self.names.push(name.to_owned());
        self.makers.push(Maker::Parent { table, column });
        Ok(())
    }

    fn push(&mut self, name: &str, recipe: &Recipe, inputs: &Inputs<'_>) -> Result<(), Error> {
        let seed = inputs.seed ^ hash(name.as_bytes());
        let maker = if let Recipe::Nullable { share, recipe } = recipe
            && let Recipe::KeyOf { kind, encoding } = **recipe
        {
            Maker::SomeKeys {
                keys: Box::new(Keys::new(keys_of(name, kind, encoding, inputs)?, None)),
                null_share: *share,
                random: SplitMix64::new(seed),
            }
        } else {
            Maker::Fill(Filler::new(fill(recipe, inputs)?, seed)?)
        };
        self.names.push(name.to_owned());
        self.makers.push(maker);
        Ok(())
    }

    /// The columns' names.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Which columns hold the key; none where the engine assigns it.
    pub fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// The keys that the next rows get when the table moves to another key: in the order of the rows, from the first one on.
    pub fn next_keys(&mut self, rows: usize) -> Option<Column> {
        self.next.as_mut()?.next_columns(rows).pop()
    }

    /// Which column repeats a column of a table that is filled at the same time, given by their numbers.
    pub fn repeats(&self, table: usize, column: usize) -> Option<usize> {
        let own = self.makers.iter();
        let mut own = own.enumerate().filter(|(_, maker)| {
            matches!(maker, Maker::Parent { table: t, column: c } if (*t, *c) == (table, column))
        });
        own.next().map(|(at, _)| at)
    }

    /// The next rows. `together` has the rows that those of other tables belong to.
    pub fn make(&mut self, rows: usize, together: &[Batch]) -> Batch {
        let mut columns = Vec::with_capacity(self.names.len());
        for maker in &mut self.makers {
            match maker {
                Maker::Key(keys) => columns.extend(keys.next_columns(rows)),
                Maker::SomeKeys {
                    keys,
                    null_share,
                    random,
                } => columns.extend(keys.next_columns(rows).iter().map(|keys| {
                    let value = |row| match random.unit() < *null_share {
                        true => Value::Null,
                        false => keys.value(row),
                    };
                    Column::Any((0..rows).map(value).collect())
                })),
                Maker::Fill(filler) => columns.push(filler.fill(rows)),
                Maker::Parent { table, column } => {
                    // The rows of one row of the first table stay together, also if neither number divides the other.
                    let from = &together[*table].columns[*column];
                    let pick = |row: usize| row * from.len() / rows;
                    let picks: Vec<u32> = (0..rows).map(|row| pick(row) as u32).collect();
                    columns.push(from.gather(&picks));
                }
            }
        }
        Batch { columns }
    }
}

/// The keys of a column of one kind; `None` is the kind's first encoding.
fn keys_of(
    column: &str,
    kind: KeyKind,
    encoding: Option<Encoding>,
    inputs: &Inputs<'_>,
) -> Result<KeyStream, Error> {
    let encoding = encoding.unwrap_or(kind.encodings()[0]);
    keys(kind, encoding, inputs.seed ^ hash(column.as_bytes()))
}

fn keys(kind: KeyKind, encoding: Encoding, seed: u64) -> Result<KeyStream, Error> {
    KeyStream::seeded(kind, encoding, seed).map_err(|error| Error::Usage(error.to_string()))
}

impl Keys {
    fn new(stream: KeyStream, after: Option<(u64, KeyStream)>) -> Self {
        Keys {
            stream,
            after,
            made: 0,
        }
    }

    /// The next keys, from the second stream past its switch.
    fn next_columns(&mut self, rows: usize) -> Vec<Column> {
        let before_switch = match &self.after {
            Some((switch_at, _)) => switch_at.saturating_sub(self.made).min(rows as u64) as usize,
            None => rows,
        };
        self.made += rows as u64;
        let mut keys = self.stream.fill(before_switch);
        if let Some((_, later)) = &mut self.after {
            later.fill_into(rows - before_switch, &mut keys);
        }
        match keys {
            KeyBuffer::Assigned(_) => Vec::new(),
            KeyBuffer::Integers(values) => vec![Column::Integers(values)],
            KeyBuffer::Pairs(buckets, ids) => {
                vec![Column::Integers(buckets), Column::Integers(ids)]
            }
            KeyBuffer::Bytes {
                width_bytes,
                bytes,
                is_text,
            } => vec![Column::Fixed {
                width_bytes,
                bytes,
                is_text,
            }],
        }
    }
}

/// Returns the filler's description of a recipe.
fn fill(recipe: &Recipe, inputs: &Inputs<'_>) -> Result<Fill, Error> {
    let setup = inputs.setup;
    let payload_bytes = setup.payload_bytes as usize;
    Ok(match recipe {
        Recipe::Key | Recipe::KeyOf { .. } => unreachable!("keys have makers of their own"),
        Recipe::Nullable { share, recipe } => Fill::Nullable {
            share: *share,
            fill: Box::new(fill(recipe, inputs)?),
        },
        Recipe::Payload { is_text: true } => Fill::RandomText {
            length_min: payload_bytes,
            length_max: payload_bytes,
        },
        Recipe::Payload { is_text: false } => Fill::RandomBlob {
            length_min: payload_bytes,
            length_max: payload_bytes,
        },
        Recipe::Made(fill) => fill.clone(),
        Recipe::File { column, otherwise } => match (inputs.data, otherwise) {
            (Some(data), _) => Fill::Each {
                from: Arc::new(file_column(data, column)?),
                repeat: 1,
            },
            (None, Some(otherwise)) => fill(otherwise, inputs)?,
            (None, None) => {
                return Err(Error::Usage(format!(
                    "the column `{column}` comes from a data file: name it with --data FILE \
                     or `data = \"FILE\"` in the experiment"
                )));
            }
        },
        Recipe::Pick {
            table,
            column,
            distinct,
        } => Fill::Pick {
            from: parent(inputs, table, column)?,
            distinct_within: distinct.then_some(inputs.distinct_within as usize),
        },
        Recipe::Each {
            table,
            column,
            repeat,
        } => Fill::Each {
            from: parent(inputs, table, column)?,
            repeat: repeat.unwrap_or(setup.rows_per_transaction) as usize,
        },
    })
}

fn parent(inputs: &Inputs<'_>, table: &str, column: &str) -> Result<Arc<Column>, Error> {
    inputs
        .parents
        .get(&(table.to_owned(), column.to_owned()))
        .cloned()
        .ok_or_else(|| Error::Usage(format!("`{table}.{column}` wasn't filled before")))
}

fn file_column(data: &inorder_load::Table, column: &str) -> Result<Column, Error> {
    data.columns
        .iter()
        .position(|name| name == column)
        .map(|at| data.values[at].clone())
        .ok_or_else(|| {
            Error::Usage(format!(
                "the data file has no column `{column}`: {}",
                nearest(column, data.columns.iter().map(String::as_str))
            ))
        })
}

/// Rows that a table of the experiment's own gets.
///
/// # Errors
/// If it takes them from a data file and none was given.
pub fn rows_of(
    table: &Table,
    setup: &Setup,
    data: Option<&inorder_load::Table>,
) -> Result<u64, Error> {
    match (table.rows, data) {
        (TableRows::Factor, _) => Ok(setup.rows),
        (TableRows::Fixed(rows), _) => Ok(rows),
        (TableRows::File, Some(data)) => Ok(data.rows as u64),
        (TableRows::File, None) => Err(Error::Usage(format!(
            "table `{}` takes its rows from a data file: name it with --data FILE",
            table.name
        ))),
    }
}

/// An even sample of rows, kept while batches go by.
pub struct Kept {
    columns: Vec<usize>,
    stride: u64,
    seen: u64,
    rows: Vec<Vec<Value>>,
}

impl Kept {
    /// Keeps these columns of about `most` of `rows` rows.
    pub fn new(columns: &[usize], rows: u64, most: u64) -> Self {
        Kept {
            columns: columns.to_vec(),
            stride: rows.div_ceil(most).max(1),
            seen: 0,
            rows: vec![Vec::new(); columns.len()],
        }
    }

    /// Records the rows of a batch.
    pub fn look(&mut self, batch: &Batch) {
        let rows = batch.rows() as u64;
        let first = self.seen.next_multiple_of(self.stride) - self.seen;
        self.seen += rows;
        for row in (first..rows).step_by(self.stride as usize) {
            for (kept, &at) in self.rows.iter_mut().zip(&self.columns) {
                kept.push(batch.columns[at].value(row as usize));
            }
        }
    }

    /// The kept rows, one column per requested column.
    pub fn into_batch(self) -> Batch {
        Batch {
            columns: self.rows.into_iter().map(Column::Any).collect(),
        }
    }
}
