//! Operations on the loaded table: reads, updates, upserts and deletes of rows chosen with a skew.

use crate::{
    error::Error,
    experiment::factors::Setup,
    generate::{Chooser, Workload},
    results::Sample,
    trial::{
        group::{Group, Together},
        subject::equals,
    },
};
use inorder_engine::{Batch, Column, Database, Value, Writer};
use std::time::Instant;

/// Sizes that are taken while the operations run.
const SIZES: u64 = 10;
/// Seed of the choices, beside that of the rows.
const SEED: u64 = 0x776f_726b;
/// Upserts of a key that is there, in percent.
const UPSERTS_OF_OLD: u64 = 50;

/// The table after the operations.
pub struct Worked {
    /// The columns of the keys that are in the table.
    pub keys: Batch,
    /// Rows that the table has more, or fewer.
    pub rows_added: i64,
}

/// The table on which operations run.
pub struct Table<'a> {
    /// Its database.
    pub database: &'a dyn Database,
    /// Its name.
    pub name: &'a str,
    /// The columns that rows are found by.
    pub by: &'a [String],
    /// The levels in force.
    pub setup: &'a Setup,
    /// Seed of the trial.
    pub seed: u64,
}

/// Runs the operations of a setup, and samples what they write, their time, and the size of the database. `keys` are the
/// keys of all rows in the order of insertion.
///
/// # Errors
/// If the engine fails.
pub fn run(
    table: &Table<'_>,
    maker: &mut Group,
    keys: Batch,
    samples: &mut Vec<Sample>,
    on_progress: &mut (dyn FnMut(u64) + Send),
) -> Result<Worked, Error> {
    let (database, setup) = (table.database, table.setup);
    if setup.workload == Workload::None {
        return Ok(Worked {
            keys,
            rows_added: 0,
        });
    }
    let mut work = Work::prepare(table, maker, &keys)?;
    let mut push = |probe: &str, part: &str, value: Option<f64>| {
        samples.push(Sample {
            probe: probe.to_owned(),
            part: part.to_owned(),
            rows: setup.rows,
            value,
        });
    };
    let size = || -> Result<Option<f64>, Error> {
        Ok(super::found::observable(database.size_bytes())?.map(|bytes| bytes as f64))
    };
    push("work_size_bytes", "0%", size()?);
    let before = database.io();
    let (mut done, mut seconds) = (0, 0.0);
    for step in 1..=SIZES {
        let until = setup.operations * step / SIZES;
        while done < until {
            let operations = (until - done).min(setup.rows_per_transaction);
            seconds += work.transaction(maker, operations as usize)?;
            done += operations;
            on_progress(setup.rows);
        }
        let share = format!("{}%", step * 100 / SIZES);
        if step < SIZES {
            push("work_size_bytes", &share, size()?);
        }
        for (cause, count) in (database.io() - before.clone()).causes {
            push(
                "work_causes",
                &format!("{cause} {share}"),
                Some(count as f64),
            );
        }
    }
    let (keys, rows_added) = (work.population.keys(), work.population.added);
    drop(work);
    database.quiesce()?;
    push("work_size_bytes", "100%", size()?);
    let io = database.io() - before;
    for (part, file) in io.files.iter().chain(&[("", io.total())]) {
        push(
            "work_written_bytes",
            part,
            file.written_bytes.map(|n| n as f64),
        );
    }
    push("work_operations", "", Some(done as f64));
    push("work_wall_s", "", Some(seconds));
    Ok(Worked { keys, rows_added })
}

/// The keys of a table in the order of insertion, and which of them are there.
struct Population {
    columns: Vec<Vec<Value>>,
    /// The position of the next key that is there, from each position on: its own if it is.
    next: Vec<u32>,
    alive: u64,
    added: i64,
}

impl Population {
    fn new(keys: &Batch) -> Self {
        let rows = keys.rows();
        let values = |column: &Column| (0..rows).map(|row| column.value(row)).collect();
        Population {
            columns: keys.columns.iter().map(values).collect(),
            next: (0..=rows as u32).collect(),
            alive: rows as u64,
            added: 0,
        }
    }

    fn rows(&self) -> usize {
        self.next.len() - 1
    }

    /// The first key that is there at a position or after it, or from the beginning on.
    fn at(&mut self, position: u64) -> usize {
        let mut at = position as usize;
        loop {
            while self.next[at] as usize != at {
                let after = self.next[self.next[at] as usize];
                self.next[at] = after;
                at = after as usize;
            }
            match at < self.rows() {
                true => return at,
                false => at = 0,
            }
        }
    }

    fn remove(&mut self, at: usize) {
        self.next[at] = at as u32 + 1;
        self.alive -= 1;
        self.added -= 1;
    }

    fn push(&mut self, key: Vec<Value>) {
        for (column, value) in self.columns.iter_mut().zip(key) {
            column.push(value);
        }
        self.next.push(self.next.len() as u32);
        self.alive += 1;
        self.added += 1;
    }

    fn key(&self, at: usize) -> Vec<Value> {
        self.columns
            .iter()
            .map(|column| column[at].clone())
            .collect()
    }

    /// The keys that are there.
    fn keys(&self) -> Batch {
        let there: Vec<usize> = (0..self.rows())
            .filter(|&at| self.next[at] as usize == at)
            .collect();
        let column =
            |values: &Vec<Value>| Column::Any(there.iter().map(|&at| values[at].clone()).collect());
        Batch {
            columns: self.columns.iter().map(column).collect(),
        }
    }
}

/// What an operation asks the engine to do.
enum Call {
    /// Runs a statement, numbered by its writer, with the values of its parameters.
    Run(usize, Vec<Value>),
    /// Inserts a row that was made, and those of further tables that belong to it.
    Insert(usize),
    /// Inserts only the latter.
    InsertMembers(usize),
}

/// A connection with the statements of a workload.
struct Work {
    writer: Box<dyn Writer>,
    workload: Workload,
    read_percent: u64,
    population: Population,
    chooser: Chooser,
    /// Positions of the key's columns and of the changed one among those that are made.
    key_at: Vec<usize>,
    changed_at: usize,
    /// Numbers of the statements.
    read: usize,
    update: usize,
    /// Those that delete the rows of further tables come first.
    deletes: Vec<usize>,
    upsert: usize,
}

impl Work {
    fn prepare(table: &Table<'_>, maker: &Group, keys: &Batch) -> Result<Self, Error> {
        let database = table.database;
        let names = maker.root().names();
        let quoted = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| database.quoted(name)).collect()
        };
        let by: Vec<&str> = table.by.iter().map(String::as_str).collect();
        let at = |name: &str| names.iter().position(|other| *other == name);
        let key_at: Vec<usize> = by.iter().filter_map(|name| at(name)).collect();
        let changed_at = changed(table, &names, &key_at)?;
        let (name, by) = (database.quoted(table.name), quoted(&by));
        let (columns, changed) = (quoted(&names), database.quoted(names[changed_at]));
        let (found, places) = (equals(&by), vec!["?"; names.len()].join(","));
        let insert = format!("INSERT INTO {name}({}) VALUES({places})", columns.join(","));
        let upsert = match table.setup.engine.as_str() {
            "mariadb" => format!("{insert} ON DUPLICATE KEY UPDATE {changed} = VALUES({changed})"),
            _ => format!(
                "{insert} ON CONFLICT({}) DO UPDATE SET {changed} = excluded.{changed}",
                by.join(",")
            ),
        };
        let mut writer = maker.writer(database, table.name)?;
        let mut prepare = |sql: String| writer.prepare(&sql);
        let (read, update, upsert) = (
            prepare(format!("SELECT * FROM {name} WHERE {found}"))?,
            prepare(format!("UPDATE {name} SET {changed} = ? WHERE {found}"))?,
            prepare(upsert)?,
        );
        let mut deletes = Vec::new();
        if by.len() == 1 {
            for child in maker.keyed(table.name).iter().skip(1).rev() {
                let (name, column) = (database.quoted(&child.table), &child.column);
                let found = equals(&[database.quoted(column)]);
                deletes.push(prepare(format!("DELETE FROM {name} WHERE {found}"))?);
            }
        }
        deletes.push(prepare(format!("DELETE FROM {name} WHERE {found}"))?);
        let mut chooser = Chooser::new(table.setup.skew, table.seed ^ SEED);
        chooser.add(keys.rows() as u64);
        Ok(Work {
            writer,
            workload: table.setup.workload,
            read_percent: table.setup.read_percent,
            population: Population::new(keys),
            chooser,
            key_at,
            changed_at,
            read,
            update,
            deletes,
            upsert,
        })
    }

    /// Runs a transaction of so many operations. Returns the seconds that the engine took.
    fn transaction(&mut self, maker: &mut Group, operations: usize) -> Result<f64, Error> {
        let mut made = maker.make(operations);
        maker.make_members(&mut made);
        let mut calls: Vec<Call> = Vec::new();
        for row in 0..operations {
            self.add_calls(&made, row, &mut calls);
        }
        let parameters: Vec<Batch> = calls
            .iter()
            .map(|call| match call {
                Call::Run(_, values) => values.clone(),
                Call::Insert(_) | Call::InsertMembers(_) => Vec::new(),
            })
            .map(|values| Batch {
                columns: (values.into_iter())
                    .map(|value| Column::Any(vec![value]))
                    .collect(),
            })
            .collect();
        let began = Instant::now();
        self.writer.begin()?;
        for (call, batch) in calls.iter().zip(&parameters) {
            let writer = self.writer.as_mut();
            match *call {
                Call::Insert(row) => made.insert(writer, row..row + 1)?,
                Call::InsertMembers(row) => made.insert_members(writer, row..row + 1)?,
                Call::Run(statement, _) => {
                    let found = writer.run(statement, batch, 0)?;
                    if statement == self.read && found != 1 {
                        return Err(Error::Trial(format!(
                            "a read of a stored key found {found} rows"
                        )));
                    }
                }
            }
        }
        self.writer.commit()?;
        self.writer.checkpoint_if_due()?;
        Ok(began.elapsed().as_secs_f64())
    }

    /// The calls of an operation, for which a new row was made.
    fn add_calls(&mut self, made: &Together, row: usize, calls: &mut Vec<Call>) {
        let columns = made.root().columns.iter();
        let mut values: Vec<Value> = columns.map(|column| column.value(row)).collect();
        let at = self.chooser.choose();
        let at = self.population.at(at);
        let key = self.population.key(at);
        let update = |values: &[Value], key: Vec<Value>| {
            let changed = std::iter::once(values[self.changed_at].clone());
            Call::Run(self.update, changed.chain(key).collect())
        };
        match self.workload {
            Workload::None => {}
            Workload::Read => calls.push(Call::Run(self.read, key)),
            Workload::Update => calls.push(update(&values, key)),
            Workload::Mixed => {
                let is_read = self.chooser.happens(self.read_percent);
                calls.push(match is_read {
                    true => Call::Run(self.read, key),
                    false => update(&values, key),
                });
            }
            Workload::Delete => {
                // The last row stays.
                if self.population.alive > 1 {
                    self.add_deletes(at, &key, calls);
                }
            }
            Workload::Upsert => {
                let is_new = !self.chooser.happens(UPSERTS_OF_OLD);
                match is_new {
                    true => self.add(&values),
                    false => {
                        for (&place, value) in self.key_at.iter().zip(key) {
                            values[place] = value;
                        }
                    }
                }
                calls.push(Call::Run(self.upsert, values));
                if is_new {
                    calls.push(Call::InsertMembers(row));
                }
            }
            Workload::Churn => {
                self.add_deletes(at, &key, calls);
                self.add(&values);
                calls.push(Call::Insert(row));
            }
        }
    }

    /// Deletes a row, after those of further tables that belong to it.
    fn add_deletes(&mut self, at: usize, key: &[Value], calls: &mut Vec<Call>) {
        self.population.remove(at);
        let deletes = self.deletes.iter();
        calls.extend(deletes.map(|&delete| Call::Run(delete, key.to_vec())));
    }

    /// Notes that a row is inserted.
    fn add(&mut self, values: &[Value]) {
        let key = self.key_at.iter().map(|&at| values[at].clone());
        self.population.push(key.collect());
        self.chooser.add(1);
    }
}

/// The column that updates change: the first one without an index.
fn changed(table: &Table<'_>, names: &[&str], key_at: &[usize]) -> Result<usize, Error> {
    let others = (0..names.len()).filter(|at| !key_at.contains(at));
    let others: Vec<usize> = others.collect();
    for &at in &others {
        let name = names[at].to_owned();
        if !table.database.finds_by_index(table.name, &[name])? {
            return Ok(at);
        }
    }
    others.first().copied().ok_or_else(|| {
        Error::Usage(format!(
            "a workload changes rows: table `{}` needs a column beside its key",
            table.name
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_removed_is_not_found() {
        let keys = Batch {
            columns: vec![Column::Integers((0..5).collect())],
        };
        let mut population = Population::new(&keys);
        for removed in [1, 2, 4] {
            assert_eq!(population.at(removed as u64), removed);
            population.remove(removed);
        }
        let found = |population: &mut Population| -> Vec<usize> {
            (0..population.rows())
                .map(|at| population.at(at as u64))
                .collect()
        };
        assert_eq!(found(&mut population), [0, 3, 3, 3, 0]);
        population.push(vec![Value::Integer(9)]);
        assert_eq!(found(&mut population), [0, 3, 3, 3, 5, 5]);
        let keys = population.keys();
        let all: Vec<Value> = (0..keys.rows())
            .map(|row| keys.columns[0].value(row))
            .collect();
        assert_eq!(all, [0, 3, 9].map(Value::Integer));
        assert_eq!((population.alive, population.added), (3, -2));
    }
}
