//! The rows of all measured tables: those of the first one, and of each further table the rows that belong to them.

use super::rows::{Inputs, RowMaker};
use crate::{
    error::Error,
    experiment::{Experiment, Table},
    generate::{Presort, presort},
    plan::hash,
};
use inorder_engine::{Batch, Column, ColumnInfo, Database, Retry, Writer};
use std::ops::Range;

/// Makes the rows of the measured tables together.
pub struct Group {
    root: RowMaker,
    members: Vec<Member>,
}

/// A further table.
struct Member {
    table: String,
    /// Its rows per row of the first table.
    per_root: usize,
    maker: RowMaker,
}

impl Group {
    /// A table alone.
    pub fn alone(root: RowMaker) -> Self {
        Group {
            root,
            members: Vec::new(),
        }
    }

    /// The measured tables of an experiment, of which `root` is the first and has these columns.
    ///
    /// # Errors
    /// Those of [`RowMaker::of_table`].
    pub fn of_tables(
        experiment: &Experiment,
        (root, columns): (&Table, &[ColumnInfo]),
        inputs: &Inputs<'_>,
        database: &dyn Database,
    ) -> Result<Self, Error> {
        let mut group = Group::alone(RowMaker::of_table(root, columns, inputs)?);
        let mut together = vec![(root.name.clone(), owned(&group.root))];
        for (table, per_root) in members(experiment) {
            let columns = database.columns(&table.name)?;
            let maker = RowMaker::of_table(
                table,
                &columns,
                &Inputs {
                    seed: inputs.seed ^ hash(table.name.as_bytes()),
                    together: &together,
                    distinct_within: per_root,
                    ..*inputs
                },
            )?;
            together.push((table.name.clone(), owned(&maker)));
            group.members.push(Member {
                table: table.name.clone(),
                per_root: per_root as usize,
                maker,
            });
        }
        Ok(group)
    }

    /// The maker of the first table.
    pub fn root(&self) -> &RowMaker {
        &self.root
    }

    /// Whether it is a further table.
    pub fn is_member(&self, table: &str) -> bool {
        self.members.iter().any(|member| member.table == table)
    }

    /// The columns' names and the rows of one of the tables.
    pub fn part<'a>(&self, table: &str, rows: &'a Together) -> (Vec<&str>, &'a Batch) {
        let at = self.members.iter().position(|member| member.table == table);
        match at {
            Some(at) => (self.members[at].maker.names(), &rows.batches[at + 1]),
            None => (self.root.names(), rows.root()),
        }
    }

    /// Opens a connection that writes to all of the tables.
    ///
    /// # Errors
    /// If a table or a column isn't there.
    pub fn writer(&self, database: &dyn Database, root: &str) -> Result<Box<dyn Writer>, Error> {
        self.open(database, root, |_, maker| owned(maker))
    }

    /// Opens a connection that writes these columns of each table, which are those of the batch with that number.
    fn open(
        &self,
        database: &dyn Database,
        root: &str,
        columns: impl Fn(usize, &RowMaker) -> Vec<String>,
    ) -> Result<Box<dyn Writer>, Error> {
        let own = columns(0, &self.root);
        let mut writer = database.writer(root, &borrowed(&own), Retry::default())?;
        for (at, member) in self.members.iter().enumerate() {
            let own = columns(at + 1, &member.maker);
            writer.add_table(&member.table, &borrowed(&own))?;
        }
        Ok(writer)
    }

    /// The next rows of the first table.
    pub fn make(&mut self, rows: usize) -> Together {
        Together {
            rows,
            batches: vec![self.root.make(rows, &[])],
            per_root: vec![1],
        }
    }

    /// Sorts the rows of the first table.
    pub fn sort(&self, rows: &mut Together, presorted: Presort) {
        presort(&mut rows.batches[0], self.root.key_columns(), presorted);
    }

    /// Makes the rows of the further tables.
    pub fn make_members(&mut self, rows: &mut Together) {
        let count = rows.rows;
        for member in &mut self.members {
            let own = count * member.per_root;
            rows.batches.push(member.maker.make(own, &rows.batches));
            rows.per_root.push(member.per_root);
        }
    }
}

/// Which of two keys rows are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The one that the table had.
    Old,
    /// Both.
    Both,
    /// The one that it moves to.
    New,
}

/// A table that has the key of the first one, which may be that one.
pub struct Keyed {
    /// Its name.
    pub table: String,
    /// The column of the key.
    pub column: String,
    /// All columns that are written.
    pub columns: Vec<String>,
    /// Which batch has its rows, and which column of that the key.
    place: (usize, usize),
}

impl Keyed {
    /// The name of the column of the new key.
    pub fn next(&self) -> String {
        format!("{}_next", self.column)
    }

    /// The columns that are written.
    fn columns_at(&self, stage: Stage) -> Vec<String> {
        let mut columns = self.columns.clone();
        match stage {
            Stage::Old => {}
            Stage::Both => columns.push(self.next()),
            Stage::New => columns[self.place.1] = self.next(),
        }
        columns
    }
}

impl Group {
    /// The tables that have the key of the first one, which comes first.
    pub fn keyed(&self, root: &str) -> Vec<Keyed> {
        let keyed = |table: &str, maker: &RowMaker, place: (usize, usize)| Keyed {
            table: table.to_owned(),
            column: maker.names()[place.1].to_owned(),
            columns: owned(maker),
            place,
        };
        let own = self.root.key_columns().first().copied().unwrap_or(0);
        let mut found = vec![keyed(root, &self.root, (0, own))];
        for (at, member) in self.members.iter().enumerate() {
            let repeats = |other: &Keyed| member.maker.repeats(other.place.0, other.place.1);
            if let Some(column) = found.iter().find_map(repeats) {
                found.push(keyed(&member.table, &member.maker, (at + 1, column)));
            }
        }
        found
    }

    /// The keys that rows get when the table moves to another key.
    pub fn next_keys(&mut self, rows: usize) -> Option<Column> {
        self.root.next_keys(rows)
    }

    /// Opens a connection that writes to all of the tables; those that have the key, with the keys of a stage.
    ///
    /// # Errors
    /// If a table or a column isn't there.
    pub fn writer_at(
        &self,
        database: &dyn Database,
        keyed: &[Keyed],
        stage: Stage,
    ) -> Result<Box<dyn Writer>, Error> {
        self.open(database, &keyed[0].table, |at, maker| {
            let found = keyed.iter().find(|keyed| keyed.place.0 == at);
            found.map_or_else(|| owned(maker), |keyed| keyed.columns_at(stage))
        })
    }
}

fn owned(maker: &RowMaker) -> Vec<String> {
    maker.names().into_iter().map(str::to_owned).collect()
}

fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// The further measured tables, each with its rows per row of the first.
pub fn members(experiment: &Experiment) -> Vec<(&Table, u64)> {
    let mut found: Vec<(&Table, u64)> = Vec::new();
    for table in experiment.tables.iter().filter(|table| table.is_measured) {
        if let Some((parent, per_parent)) = &table.belongs_to {
            let of_parent = found.iter().find(|(other, _)| other.name == *parent);
            let per_root = of_parent.map_or(1, |(_, per_root)| *per_root);
            found.push((table, per_root * per_parent));
        }
    }
    found
}

/// Rows of several tables that belong together.
pub struct Together {
    /// Rows of the first table. If the engine assigns its only column, its batch has no columns to count.
    rows: usize,
    /// One for each table.
    batches: Vec<Batch>,
    /// Rows of each table per row of the first.
    per_root: Vec<usize>,
}

impl Together {
    /// The number of rows of the first table.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns of the first table.
    pub fn root(&self) -> &Batch {
        &self.batches[0]
    }

    /// The rows of each table.
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// The rows with the keys of a stage; `next` has the new keys of the rows of the first table.
    pub fn at(&self, keyed: &[Keyed], next: &Column, stage: Stage) -> Self {
        let mut batches = self.batches.clone();
        for Keyed { place, .. } in keyed {
            let (table, column) = *place;
            let per_root = self.per_root[table];
            let rows = 0..self.rows * per_root;
            let picks: Vec<u32> = rows.map(|row| (row / per_root) as u32).collect();
            let columns = &mut batches[table].columns;
            match stage {
                Stage::Old => {}
                Stage::Both => columns.push(next.gather(&picks)),
                Stage::New => columns[column] = next.gather(&picks),
            }
        }
        Together {
            rows: self.rows,
            batches,
            per_root: self.per_root.clone(),
        }
    }

    /// The keys of the rows of the first table.
    pub fn keys(&self, keyed: &[Keyed]) -> &Column {
        &self.batches[0].columns[keyed[0].place.1]
    }

    /// Inserts these rows of the first table, and then those of the others that belong to them.
    ///
    /// # Errors
    /// Those of [`Writer::insert`].
    pub fn insert(
        &self,
        writer: &mut dyn Writer,
        rows: Range<usize>,
    ) -> Result<(), inorder_engine::Error> {
        writer.insert(&self.batches[0], rows.clone())?;
        self.insert_members(writer, rows)
    }

    /// Inserts only the rows of the other tables.
    ///
    /// # Errors
    /// Those of [`Writer::insert`].
    pub fn insert_members(
        &self,
        writer: &mut dyn Writer,
        rows: Range<usize>,
    ) -> Result<(), inorder_engine::Error> {
        let tables = self.batches.iter().zip(&self.per_root).enumerate();
        for (table, (batch, per_root)) in tables.skip(1) {
            writer.insert_into(table, batch, rows.start * per_root..rows.end * per_root)?;
        }
        Ok(())
    }
}
