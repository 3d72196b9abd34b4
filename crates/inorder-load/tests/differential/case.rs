//! A case: a schema, rows for its table, and the options of the load.

use std::fmt::Write as _;

use crate::dice::Dice;
use crate::rows::{self, Field, Format};
use crate::schema::Schema;
use inorder_load::{OnDuplicate, RowOrder, WriterChoice};

#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub schema: Schema,
    /// The columns that the input gives, in its order.
    pub given: Vec<usize>,
    pub rows: Vec<Vec<Field>>,
    pub format: Format,
    pub options: Options,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub on_duplicate: OnDuplicate,
    pub errors_max: u64,
    pub order: RowOrder,
    pub writer: WriterChoice,
    pub memory_bytes: usize,
}

pub const ORDERS: &[RowOrder] = &[
    RowOrder::Full,
    RowOrder::Full,
    RowOrder::Full,
    RowOrder::Input,
    RowOrder::Batch {
        rows: 7,
        is_by_prefix: false,
    },
    RowOrder::Batch {
        rows: 50,
        is_by_prefix: true,
    },
];

pub const MEMORY: &[usize] = &[
    64 << 10,
    100_000,
    128 << 10,
    300_001,
    1 << 20,
    3 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
];

/// More rows than a case usually has.
pub const MANY: usize = 500;

pub const WRITERS: &[WriterChoice] = &[
    WriterChoice::Auto,
    WriterChoice::Auto,
    WriterChoice::Statements,
    WriterChoice::Direct,
];

impl Case {
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let dice = &mut dice;
        let schema = Schema::new(dice);
        let format = dice.pick(Format::ALL);
        let settable = schema.settable();
        let least = if dice.once_in(4) { 1 } else { settable.len() };
        let given: Vec<usize> = dice
            .some(settable.len(), least, settable.len())
            .into_iter()
            .map(|at| settable[at])
            .collect();
        let mut rows = rows::rows(dice, &schema, &given, format);
        let on_duplicates: Vec<OnDuplicate> = ways().map(|(_, way)| *way).collect();
        let on_duplicate = match rows.len() > MANY {
            // Following which rows are replaced takes too long.
            true => dice.pick(&[OnDuplicate::Error, OnDuplicate::Ignore, OnDuplicate::Report]),
            false => dice.pick(&on_duplicates),
        };
        if on_duplicate == OnDuplicate::Replace {
            rows.truncate(100);
        }
        Case {
            seed,
            given,
            format,
            options: Options {
                on_duplicate,
                errors_max: dice.pick(&[0, 0, 3, u64::MAX, u64::MAX]),
                order: match schema.is_plain && !dice.once_in(4) {
                    true => RowOrder::Full,
                    false => dice.pick(ORDERS),
                },
                writer: dice.pick(WRITERS),
                memory_bytes: match rows.len() > MANY {
                    true => dice.pick(&MEMORY[..4]),
                    false => dice.pick(MEMORY),
                },
            },
            rows,
            schema,
        }
    }

    /// The names of the columns that the input gives.
    pub fn names(&self) -> Vec<&str> {
        let name = |at: &usize| self.schema.columns[*at].name.trim_matches('"');
        self.given.iter().map(name).collect()
    }

    /// The case as SQL and files.
    pub fn shown(&self) -> String {
        let mut out = format!("seed {}: {:?}\n", self.seed, self.options);
        for (sql, _) in self.schema.statements() {
            _ = writeln!(out, "{sql};");
        }
        _ = writeln!(
            out,
            "-- {} with {} rows",
            self.format.file(),
            self.rows.len()
        );
        if self.format == Format::Sqlite {
            _ = writeln!(out, "{}", self.names().join(","));
            for row in &self.rows {
                _ = writeln!(out, "{row:?}");
            }
        } else {
            let (text, _) = rows::text(self.format, &self.names(), &self.rows);
            out += &String::from_utf8_lossy(&text);
        }
        out
    }

    /// Cases that are a little smaller, the boldest first.
    pub fn smaller(&self) -> Vec<Case> {
        let mut found = Vec::new();
        let mut part = self.rows.len() / 2;
        while part > 0 {
            for start in (0..self.rows.len()).step_by(part) {
                let mut case = self.clone();
                case.rows.drain(start..(start + part).min(self.rows.len()));
                found.push(case);
            }
            part /= 2;
        }
        type List = fn(&mut Schema) -> &mut Vec<String>;
        let lists: &[List] = &[
            |schema| &mut schema.after,
            |schema| &mut schema.existing,
            |schema| &mut schema.indexes,
            |schema| &mut schema.constraints,
            |schema| &mut schema.before,
            |schema| &mut schema.settings,
        ];
        for list in lists {
            for at in 0..list(&mut self.schema.clone()).len() {
                let mut case = self.clone();
                list(&mut case.schema).remove(at);
                found.push(case);
            }
        }
        for column in 0..self.schema.columns.len() {
            for at in 0..self.schema.columns[column].constraints.len() {
                let mut case = self.clone();
                case.schema.columns[column].constraints.remove(at);
                found.push(case);
            }
            if self.schema.columns[column].generated.is_some() {
                let mut case = self.clone();
                case.schema.columns[column].generated = None;
                found.push(case);
            }
        }
        found.extend(self.simpler());
        found
    }

    /// Cases with options that are nearer to the usual ones.
    fn simpler(&self) -> Vec<Case> {
        let mut found = Vec::new();
        let usual = Options {
            on_duplicate: OnDuplicate::Error,
            errors_max: 0,
            order: RowOrder::Full,
            writer: WriterChoice::Auto,
            memory_bytes: 64 << 20,
        };
        let options = &self.options;
        for simpler in [
            Options {
                on_duplicate: usual.on_duplicate,
                ..options.clone()
            },
            Options {
                errors_max: usual.errors_max,
                ..options.clone()
            },
            Options {
                order: usual.order,
                ..options.clone()
            },
            Options {
                writer: usual.writer,
                ..options.clone()
            },
            Options {
                memory_bytes: usual.memory_bytes,
                ..options.clone()
            },
        ] {
            if simpler != *options {
                found.push(Case {
                    options: simpler,
                    ..self.clone()
                });
            }
        }
        found
    }
}

/// The treatments of duplicates that the cases have. `tests/update.rs` has those of updates.
pub fn ways() -> impl Iterator<Item = &'static (&'static str, OnDuplicate)> {
    let all = OnDuplicate::ALL.iter();
    all.filter(|(_, way)| *way != OnDuplicate::Update)
}
