//! Schemas at random: a table `t`, what belongs to it, and what is beside it.

use crate::dice::Dice;
use crate::rows::value;
use crate::types::{STRICT_TYPES, TYPES};
use rusqlite::types::Value;

/// A column of the table.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub declared: &'static str,
    /// `AS (…) STORED` and less.
    pub generated: Option<String>,
    pub constraints: Vec<String>,
}

/// The visible identity of a stored row.
#[derive(Clone, Debug, PartialEq)]
pub enum Identity {
    /// A rowid that no column names: the order of writing decides it, so it is not compared.
    Hidden,
    /// A rowid by its other name.
    Alias(usize),
    /// The key of a WITHOUT ROWID table.
    Key(Vec<usize>),
}

#[derive(Clone, Debug)]
pub struct Schema {
    /// Whether nothing in it keeps rows from being written directly.
    pub is_plain: bool,
    pub settings: Vec<String>,
    pub columns: Vec<Column>,
    pub constraints: Vec<String>,
    pub is_strict: bool,
    pub identity: Identity,
    /// Made before `t`: parents.
    pub before: Vec<String>,
    pub indexes: Vec<String>,
    /// Existing rows, as statements; a failing one is omitted.
    pub existing: Vec<String>,
    /// Children with their rows, and triggers.
    pub after: Vec<String>,
}

pub const ENCODINGS: &[&str] = &["UTF-8", "UTF-16le", "UTF-16be"];
pub const CLAUSES: &[&str] = &["ROLLBACK", "ABORT", "FAIL", "IGNORE", "REPLACE"];
pub const RAISES: &[&str] = &[
    "RAISE(IGNORE)",
    "RAISE(ROLLBACK, 'rolled')",
    "RAISE(ABORT, 'aborted')",
    "RAISE(FAIL, 'failed')",
];
const DEFAULTS: &[&str] = &[
    "'x'",
    "7",
    "(1.0 + 1)",
    "x'00'",
    "NULL",
    "given",
    "\"given\"",
    "-3",
    "''",
    "(length('abc'))",
    "TRUE",
];

/// A clause of a constraint; plain schemas have none.
fn clause(dice: &mut Dice, is_plain: bool) -> String {
    match !is_plain && dice.once_in(4) {
        true => format!(" ON CONFLICT {}", dice.pick(CLAUSES)),
        false => String::new(),
    }
}

fn term(dice: &mut Dice, name: &str) -> String {
    let collation = dice.pick(&[
        "",
        "",
        "",
        " COLLATE NOCASE",
        " COLLATE RTRIM",
        " COLLATE BINARY",
    ]);
    let direction = dice.pick(&["", "", " DESC"]);
    format!("{name}{collation}{direction}")
}

impl Schema {
    pub fn new(dice: &mut Dice) -> Self {
        let is_strict = dice.once_in(6);
        let is_plain = dice.once_in(2);
        let count = 2 + dice.below(4);
        let columns = (0..count)
            .map(|at| column(dice, at, is_strict, is_plain))
            .collect();
        let mut schema = Schema {
            is_plain,
            settings: vec![
                format!("PRAGMA encoding = '{}'", dice.pick(ENCODINGS)),
                format!("PRAGMA page_size = {}", 1 << (9 + dice.below(8))),
                format!("PRAGMA auto_vacuum = {}", dice.pick(&[0, 0, 1, 2])),
                format!("PRAGMA journal_mode = {}", dice.pick(&["DELETE", "WAL"])),
            ],
            columns,
            constraints: Vec::new(),
            is_strict,
            identity: Identity::Hidden,
            before: vec![
                "CREATE TABLE beside(x PRIMARY KEY, y)".to_owned(),
                "INSERT INTO beside VALUES (1, zeroblob(5000)), ('a', 2)".to_owned(),
                "CREATE TABLE log(id INTEGER PRIMARY KEY AUTOINCREMENT, what, k)".to_owned(),
            ],
            indexes: Vec::new(),
            existing: Vec::new(),
            after: Vec::new(),
        };
        schema.add_key(dice);
        if !is_plain && dice.once_in(3) {
            schema.add_generated(dice);
        }
        schema.add_constraints(dice);
        schema.add_indexes(dice);
        schema.add_rows(dice);
        if dice.once_in(if is_plain { 20 } else { 4 }) {
            schema.add_foreign_keys(dice);
        }
        if !is_plain && dice.once_in(2) {
            schema.add_triggers(dice);
        }
        schema
    }

    /// Names of columns that may be given a value.
    pub fn settable(&self) -> Vec<usize> {
        let is_settable = |at: &usize| self.columns[*at].generated.is_none();
        (0..self.columns.len()).filter(is_settable).collect()
    }

    /// Whether values that aren't integers are likely to be refused.
    pub fn wants_integers(&self, column: usize) -> bool {
        let declared = self.columns[column].declared;
        self.is_alias(column) || (self.is_strict && declared.starts_with("INT"))
    }

    pub fn is_alias(&self, column: usize) -> bool {
        self.identity == Identity::Alias(column)
    }

    pub fn is_unique(&self, column: usize) -> bool {
        let name = &self.columns[column].name;
        let is_named = |sql: &String| {
            (sql.contains("UNIQUE") || sql.contains("PRIMARY KEY")) && sql.contains(name.as_str())
        };
        let own = &self.columns[column].constraints;
        own.iter()
            .any(|c| c.contains("UNIQUE") || c.contains("PRIMARY KEY"))
            || self.constraints.iter().chain(&self.indexes).any(is_named)
    }

    pub fn is_not_null(&self, column: usize) -> bool {
        let own = &self.columns[column].constraints;
        own.iter().any(|constraint| constraint.contains("NOT NULL"))
            || matches!(&self.identity, Identity::Key(key) if key.contains(&column))
    }

    /// Whether numbers become text in it.
    pub fn is_text(&self, column: usize) -> bool {
        let declared = self.columns[column].declared;
        !declared.contains("INT") && (declared.contains("CHAR") || declared.contains("TEXT"))
    }

    /// The statement that makes the table.
    pub fn table(&self) -> String {
        let column = |column: &Column| {
            let generated = column.generated.iter().map(String::as_str);
            let parts = [column.name.as_str(), column.declared]
                .into_iter()
                .chain(generated)
                .chain(column.constraints.iter().map(String::as_str));
            parts
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut parts: Vec<String> = self.columns.iter().map(column).collect();
        parts.extend(self.constraints.iter().cloned());
        let mut options = Vec::new();
        if matches!(self.identity, Identity::Key(_)) {
            options.push("WITHOUT ROWID");
        }
        if self.is_strict {
            options.push("STRICT");
        }
        format!(
            "CREATE TABLE t({}) {}",
            parts.join(", "),
            options.join(", ")
        )
    }

    /// Every statement that makes the database, with whether it may fail.
    pub fn statements(&self) -> Vec<(String, bool)> {
        let must = |sql: &String| (sql.clone(), false);
        self.settings
            .iter()
            .chain(&["PRAGMA foreign_keys = OFF".to_owned()])
            .chain(&self.before)
            .chain(&[self.table()])
            .chain(&self.indexes)
            .map(must)
            .chain(self.existing.iter().map(|sql| (sql.clone(), true)))
            .chain(self.after.iter().map(must))
            .collect()
    }

    fn name(&self, column: usize) -> &str {
        &self.columns[column].name
    }

    fn any(&self, dice: &mut Dice) -> String {
        self.name(dice.below(self.columns.len())).to_owned()
    }

    fn terms(&self, dice: &mut Dice, from: &[usize]) -> String {
        let chosen = dice.some(from.len(), 1, 3);
        let terms: Vec<String> = chosen
            .into_iter()
            .map(|at| term(dice, self.name(from[at])))
            .collect();
        terms.join(", ")
    }

    fn add_key(&mut self, dice: &mut Dice) {
        let all = self.settable();
        match dice.below(8) {
            0 => {}
            1 | 2 => {
                let (at, clause) = (dice.below(all.len()), clause(dice, self.is_plain));
                let kind = dice.pick(&["", "", " AUTOINCREMENT", " AUTOINCREMENT"]);
                let default = dice.pick(&["", "", "", " DEFAULT 0"]);
                let column = &mut self.columns[at];
                column.declared = "INTEGER";
                column.constraints = vec![format!("PRIMARY KEY{clause}{kind}{default}")];
                self.identity = Identity::Alias(at);
            }
            3 => {
                let at = dice.below(all.len());
                let (direction, clause) = (dice.pick(&["", " DESC"]), clause(dice, self.is_plain));
                let constraint = format!("PRIMARY KEY{direction}{clause}");
                let column = &mut self.columns[at];
                if column.declared == "INTEGER" && direction.is_empty() {
                    self.identity = Identity::Alias(at);
                }
                column.constraints.push(constraint);
            }
            4 => {
                let terms = self.terms(dice, &all);
                let constraint = format!("PRIMARY KEY ({terms}){}", clause(dice, self.is_plain));
                // `PRIMARY KEY (a)` of an INTEGER is its rowid, however it is ordered.
                let sole =
                    (!terms.contains(',')).then(|| terms.split(' ').next().unwrap_or_default());
                let alias = all.iter().find(|at| {
                    Some(self.name(**at)) == sole && self.columns[**at].declared == "INTEGER"
                });
                if let Some(alias) = alias {
                    self.identity = Identity::Alias(*alias);
                }
                self.constraints.push(constraint);
            }
            _ => {
                let key = dice.some(all.len(), 1, 3);
                let terms: Vec<String> = key
                    .iter()
                    .map(|at| term(dice, self.name(all[*at])))
                    .collect();
                let constraint = format!(
                    "PRIMARY KEY ({}){}",
                    terms.join(", "),
                    clause(dice, self.is_plain)
                );
                self.constraints.push(constraint);
                if dice.once_in(4) {
                    let sole = key.len() == 1 && self.columns[all[key[0]]].declared == "INTEGER";
                    if sole {
                        self.identity = Identity::Alias(all[key[0]]);
                    }
                } else {
                    self.identity = Identity::Key(key.iter().map(|at| all[*at]).collect());
                }
            }
        }
    }

    fn add_generated(&mut self, dice: &mut Dice) {
        for number in 0..1 + dice.below(2) {
            let of = self.any(dice);
            let other = self.any(dice);
            let expression = match dice.below(5) {
                0 => format!("lower({of})"),
                1 => format!("{of} + 1"),
                2 => format!("{of} || {other}"),
                3 => format!("nullif({of}, 2)"),
                _ => format!("length({of})"),
            };
            let kind = dice.pick(&["STORED", "VIRTUAL", ""]);
            let at = dice.below(self.columns.len() + 1);
            let mut constraints = Vec::new();
            for constraint in ["UNIQUE", "NOT NULL", "CHECK (g# <> 4)"] {
                if dice.once_in(5) {
                    constraints.push(
                        constraint.replace('#', &number.to_string())
                            + &match constraint {
                                "CHECK (g# <> 4)" => String::new(),
                                _ => clause(dice, self.is_plain),
                            },
                    );
                }
            }
            let column = Column {
                name: format!("g{number}"),
                declared: match self.is_strict {
                    true => "ANY",
                    false => dice.pick(&["", "TEXT", "INT"]),
                },
                generated: Some(format!("AS ({expression}) {kind}")),
                constraints,
            };
            self.columns.insert(at, column);
            let moved = |column: &mut usize| *column += usize::from(*column >= at);
            match &mut self.identity {
                Identity::Hidden => {}
                Identity::Alias(column) => moved(column),
                Identity::Key(key) => key.iter_mut().for_each(moved),
            }
        }
    }

    fn add_constraints(&mut self, dice: &mut Dice) {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let several = [0, 0, 0, 1, 1, 2];
        for _ in 0..dice.pick(if self.is_plain {
            &several[..5]
        } else {
            &several
        }) {
            let constraint = format!(
                "UNIQUE ({}){}",
                self.terms(dice, &all),
                clause(dice, self.is_plain)
            );
            self.constraints.push(constraint);
        }
        if dice.once_in(4) {
            let (a, b) = (self.any(dice), self.any(dice));
            self.constraints.push(match dice.below(6) {
                0 => format!("CHECK ({a} <> 3)"),
                1 => format!("CHECK (length({a}) < 8)"),
                2 => format!("CHECK ({a} IS NOT {b} OR {a} > 1)"),
                3 => format!("CHECK (typeof({a}) <> 'text')"),
                4 => format!("CHECK (abs({a}) < 100)"),
                _ => format!("CHECK ({a} IS NOT NULL)"),
            });
        }
    }

    fn add_indexes(&mut self, dice: &mut Dice) {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        for number in 0..dice.pick(&[0, 0, 1, 1, 2, 3]) {
            let unique = match dice.once_in(if self.is_plain { 12 } else { 3 }) {
                true => "UNIQUE ",
                false => "",
            };
            let of = self.any(dice);
            let terms = match dice.below(8) {
                0 => format!("lower({of})"),
                1 => format!("{}, {of} + 1", self.terms(dice, &all)),
                2 => format!("abs({of}) DESC"),
                _ => self.terms(dice, &all),
            };
            let condition = match dice.below(8) {
                0 => format!(" WHERE {of} IS NOT NULL"),
                1 => format!(" WHERE {of} > 1"),
                _ => String::new(),
            };
            self.indexes.push(format!(
                "CREATE {unique}INDEX i{number} ON t({terms}){condition}"
            ));
        }
    }

    fn add_rows(&mut self, dice: &mut Dice) {
        if self.is_plain && dice.once_in(2) || !dice.once_in(3) {
            return;
        }
        let settable = self.settable();
        let names: Vec<String> = settable
            .iter()
            .map(|at| self.name(*at).to_owned())
            .collect();
        for _ in 0..1 + dice.below(8) {
            let values: Vec<String> = settable
                .iter()
                .map(|at| match self.wants_integers(*at) {
                    true => (dice.below(30) as i64 - 3).to_string(),
                    false => literal(&value(dice)),
                })
                .collect();
            self.existing.push(format!(
                "INSERT OR IGNORE INTO t({}) VALUES ({})",
                names.join(", "),
                values.join(", ")
            ));
        }
        if self.is_plain || dice.once_in(5) {
            self.existing.push("DELETE FROM t".to_owned());
        }
    }

    fn add_foreign_keys(&mut self, dice: &mut Dice) {
        let of = self.any(dice);
        let action = dice.pick(&[
            "",
            " ON DELETE CASCADE",
            " ON DELETE SET NULL",
            " ON DELETE RESTRICT",
        ]);
        match dice.below(3) {
            0 => {
                self.before.push("CREATE TABLE p(x PRIMARY KEY)".to_owned());
                let values: Vec<String> = (-2..20).map(|n| format!("({n})")).collect();
                self.before
                    .push(format!("INSERT INTO p VALUES {}", values.join(", ")));
                self.constraints
                    .push(format!("FOREIGN KEY ({of}) REFERENCES p(x){action}"));
            }
            1 => self.constraints.push(format!(
                "FOREIGN KEY ({of}) REFERENCES t({}){action}",
                self.any(dice)
            )),
            _ => {
                let to = self.any(dice);
                self.after.push(format!(
                    "CREATE TABLE child(c PRIMARY KEY, r REFERENCES t({to}){action})"
                ));
                self.after
                    .push(format!("INSERT INTO child SELECT rank, r FROM (SELECT {to} AS r, row_number() OVER (ORDER BY {to}) AS rank FROM t)"));
            }
        }
        // The target of a foreign key must be unique.
        if let Some(parent) = self
            .constraints
            .iter()
            .chain(&self.after)
            .find_map(|sql| sql.split("REFERENCES t(").nth(1))
        {
            let parent = parent.split(')').next().unwrap_or_default().to_owned();
            self.constraints.push(format!("UNIQUE ({parent})"));
        }
        self.constraints
            .sort_by_key(|constraint| constraint.starts_with("FOREIGN"));
    }

    fn add_triggers(&mut self, dice: &mut Dice) {
        for number in 0..1 + dice.below(2) {
            let of = self.any(dice);
            let time = dice.pick(&["BEFORE", "AFTER"]);
            let event = dice.pick(&["INSERT", "INSERT", "INSERT", "INSERT", "DELETE"]);
            let row = if event == "DELETE" { "OLD" } else { "NEW" };
            let condition = match dice.below(6) {
                0 => String::new(),
                1 => format!("WHEN {row}.{of} IS NULL"),
                2 => format!("WHEN {row}.{of} = 2"),
                3 => format!("WHEN length({row}.{of}) > 3"),
                4 => format!("WHEN typeof({row}.{of}) = 'text'"),
                _ => "WHEN (SELECT count(*) FROM t) % 5 = 3".to_owned(),
            };
            let log = format!("INSERT INTO log(what, k) VALUES ('{time}', {row}.{of});");
            let body = match dice.below(4) {
                0 => log,
                1 => format!("SELECT {};", dice.pick(RAISES)),
                2 => format!("{log} SELECT {};", dice.pick(RAISES)),
                _ => format!(
                    "{log} SELECT CASE WHEN (SELECT count(*) FROM log) % 3 = 1 THEN {} END;",
                    dice.pick(RAISES)
                ),
            };
            self.after.push(format!(
                "CREATE TRIGGER r{number} {time} {event} ON t {condition} BEGIN {body} END"
            ));
        }
    }
}

fn column(dice: &mut Dice, at: usize, is_strict: bool, is_plain: bool) -> Column {
    let name = match dice.below(12) {
        0 => format!("\"c {at}\""),
        1 => format!("\"order{at}\""),
        _ => format!("c{at}"),
    };
    let mut constraints = Vec::new();
    if dice.once_in(5) {
        constraints.push(format!("NOT NULL{}", clause(dice, is_plain)));
    }
    if dice.once_in(3) {
        constraints.push(format!("DEFAULT {}", dice.pick(DEFAULTS)));
    }
    if dice.once_in(8) {
        constraints.push(format!("UNIQUE{}", clause(dice, is_plain)));
    }
    if dice.once_in(6) {
        constraints.push(format!("COLLATE {}", dice.pick(&["NOCASE", "RTRIM"])));
    }
    Column {
        name,
        declared: dice.pick(if is_strict { STRICT_TYPES } else { TYPES }),
        generated: None,
        constraints,
    }
}

/// A value as SQL writes it.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => format!("{real:e}"),
        Value::Text(text) if text.contains('\0') => "'nul'".to_owned(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Blob(blob) => {
            let digits: String = blob.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x'{digits}'")
        }
    }
}
