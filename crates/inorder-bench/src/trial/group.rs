//! The rows of all measured tables: those of the first one, and of each further table the rows that belong to them.

use super::rows::{Inputs, RowMaker};
use crate::{
    error::Error,
    experiment::{Experiment, Table},
    generate::{Presort, presort},
    plan::hash,
};
use inorder_engine::{Batch, ColumnInfo, Database, Retry, Writer};
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
        let owned = |maker: &RowMaker| maker.names().iter().map(|&n| n.to_owned()).collect();
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
        let mut writer = database.writer(root, &self.root.names(), Retry::default())?;
        for member in &self.members {
            writer.add_table(&member.table, &member.maker.names())?;
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

    /// Inserts these rows of the first table, and then those of the others that belong to them.
    ///
    /// # Errors
    /// Those of [`Writer::insert`].
    pub fn insert(
        &self,
        writer: &mut dyn Writer,
        rows: Range<usize>,
    ) -> Result<(), inorder_engine::Error> {
        for (table, (batch, per_root)) in self.batches.iter().zip(&self.per_root).enumerate() {
            writer.insert_into(table, batch, rows.start * per_root..rows.end * per_root)?;
        }
        Ok(())
    }
}
