//! Tables of random columns, keys and rows, for loads into servers.

// Not all choices are needed here.
#[allow(dead_code)]
#[path = "../differential/dice.rs"]
mod dice;

use inorder_load::RowOrder;

pub use dice::Dice;

/// A type, values that it takes, and whether it may be in a key.
pub type TypeOf = (&'static str, &'static [&'static str], bool);

/// A column, with its place among the types.
pub struct Column {
    pub name: String,
    pub of: usize,
    pub is_not_null: bool,
}

/// A table, and rows for it. Its first column `i` is a number.
pub struct Table {
    pub columns: Vec<Column>,
    /// The columns of the primary key.
    pub key: Vec<String>,
    /// The columns of each index.
    pub indexes: Vec<Vec<String>>,
    /// The columns that the rows give, by their places, in the order of the file.
    pub given: Vec<usize>,
    /// The fields of each row; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Rows that are there before, as values of `i`, which is the only column that they have.
    pub before: Vec<i64>,
}

/// The sizes of files: more rows than go together are among them.
const ROWS: &[usize] = &[0, 1, 12, 12, 120, 120, 1_000, 10_050];

impl Table {
    /// A random table. Values of any type are put among those of its columns where `hostile` says so.
    pub fn random(dice: &mut Dice, types: &[TypeOf], hostile: &[&str]) -> Self {
        let is_nullable = dice.once_in(2);
        let columns: Vec<Column> = (0..=dice.below(6))
            .map(|at| Column {
                name: if at == 0 {
                    "i".to_owned()
                } else {
                    format!("c{at} é")
                },
                of: if at == 0 { 0 } else { dice.below(types.len()) },
                is_not_null: !is_nullable && at > 0 && dice.once_in(4),
            })
            .collect();
        let keyable: Vec<String> = columns
            .iter()
            .filter(|column| types[column.of].2)
            .map(|column| column.name.clone())
            .collect();
        let some = |dice: &mut Dice, least| {
            let places = dice.some(keyable.len(), least, 2);
            let names = places.into_iter().map(|at| keyable[at].clone());
            names.collect::<Vec<String>>()
        };
        let mut key = some(dice, 0);
        if !key.is_empty() && !key.contains(&"i".to_owned()) {
            // Otherwise few tables take their rows.
            key.push("i".to_owned());
        }
        let indexes = (0..dice.below(3)).map(|_| some(dice, 1)).collect();
        let count = dice.pick(ROWS);
        let needs_only_i = is_nullable && key.iter().all(|name| name == "i");
        let before = match needs_only_i && dice.once_in(2) {
            true => vec![-3, -2, -1],
            false => Vec::new(),
        };
        let mut given: Vec<usize> = dice.some(columns.len(), columns.len(), columns.len());
        if dice.once_in(3) {
            let is_left_out = |at: usize| at > 0 && !key.contains(&columns[at].name);
            let out = dice.below(columns.len());
            given.retain(|at| *at != out || !is_left_out(out));
        }
        let hostile = if dice.once_in(2) { hostile } else { &[] };
        let mut table = Table {
            columns,
            key,
            indexes,
            given,
            rows: Vec::new(),
            before,
        };
        table.rows = table.random_rows(dice, types, hostile, count);
        table
    }

    fn random_rows(
        &self,
        dice: &mut Dice,
        types: &[TypeOf],
        hostile: &[&str],
        count: usize,
    ) -> Vec<Vec<Option<String>>> {
        let step = dice.pick(&[1, 7, 7919]);
        (0..count)
            .map(|row| {
                let fields = self.given.iter().map(|at| {
                    let column = &self.columns[*at];
                    if *at == 0 {
                        // A number that is there twice is rare.
                        let number = if dice.once_in(20_000) {
                            0
                        } else {
                            row * step % count
                        };
                        return Some(number.to_string());
                    }
                    let may_be_null = !column.is_not_null && !self.key.contains(&column.name);
                    match dice.below(2_000) {
                        0 if !hostile.is_empty() => Some(dice.pick(hostile).to_owned()),
                        1..300 if may_be_null => None,
                        _ => Some(dice.pick(types[column.of].1).to_owned()),
                    }
                });
                fields.collect()
            })
            .collect()
    }

    /// The names of the columns that the rows give.
    pub fn names(&self) -> Vec<&str> {
        let name = |at: &usize| self.columns[*at].name.as_str();
        self.given.iter().map(name).collect()
    }

    /// The rows as a CSV, in which everything but NULL is quoted.
    pub fn csv(&self) -> String {
        let field = |field: &Option<String>| match field {
            Some(text) => format!("\"{}\"", text.replace('"', "\"\"")),
            None => String::new(),
        };
        let mut csv = self.names().join(",") + "\n";
        for row in &self.rows {
            let fields: Vec<String> = row.iter().map(field).collect();
            csv += &fields.join(",");
            csv.push('\n');
        }
        csv
    }

    /// The columns, key and indexes in SQL. `quoted` quotes names.
    pub fn definition(&self, types: &[TypeOf], quoted: impl Fn(&str) -> String) -> Vec<String> {
        let list = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            names.join(", ")
        };
        let mut columns: Vec<String> = self
            .columns
            .iter()
            .map(|column| {
                let null = if column.is_not_null { " NOT NULL" } else { "" };
                format!("{} {}{null}", quoted(&column.name), types[column.of].0)
            })
            .collect();
        if !self.key.is_empty() {
            columns.push(format!("PRIMARY KEY ({})", list(&self.key)));
        }
        let mut statements = vec![format!("CREATE TABLE t ({})", columns.join(", "))];
        let create = |(at, names): (usize, &Vec<String>)| {
            format!("CREATE INDEX x{at} ON t ({})", list(names))
        };
        statements.extend(self.indexes.iter().enumerate().map(create));
        statements.extend(
            self.before
                .iter()
                .map(|number| format!("INSERT INTO t(i) VALUES ({number})")),
        );
        statements
    }
}

/// An order in which rows are written.
pub fn order(dice: &mut Dice) -> RowOrder {
    let batches = RowOrder::Batch {
        rows: 100,
        is_by_prefix: dice.once_in(2),
    };
    dice.pick(&[RowOrder::Full, RowOrder::Full, RowOrder::Input, batches])
}

/// The seeds of the cases: so many, or the one of `INORDER_FUZZ_SEED`, or as many as `INORDER_FUZZ_CASES` says.
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    match (number("INORDER_FUZZ_SEED"), number("INORDER_FUZZ_CASES")) {
        (Some(seed), _) => seed..seed + 1,
        (None, cases) => 0..cases.unwrap_or(count),
    }
}
