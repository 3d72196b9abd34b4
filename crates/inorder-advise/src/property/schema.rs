//! Random schemas with constraints, traps, and every way to write a name.

use super::dice::Dice;
use crate::{Change, Conversion, IdForm};

/// A table that was made up.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    key: Vec<usize>,
    uniques: Vec<Vec<usize>>,
    /// Whether it has unique keys and no primary key.
    is_keyless: bool,
}

pub(super) struct Column {
    pub(super) name: String,
    pub(super) is_id: bool,
    is_generated: bool,
    /// Whether all its values are different integers.
    is_counted: bool,
    kind: &'static str,
}

/// Statements, and the changes that may be tried.
#[derive(Default)]
pub(super) struct Schema {
    pub(super) settings: String,
    pub(super) statements: Vec<String>,
    pub(super) tables: Vec<Table>,
    indexes: Vec<(String, String)>,
}

const NAMES: [&str; 10] = [
    "id", "a", "B", "c d", "e\"f", "select", "g]h", "Été", "rowid", "check",
];
const TYPES: [&str; 12] = [
    "TEXT",
    "INT",
    "INTEGER",
    "BIGINT",
    "REAL",
    "BLOB",
    "",
    "VARCHAR(10)",
    "NUMERIC (5, 2)",
    "UUID",
    "DATE",
    "ANY THING",
];
const STRICT_TYPES: [&str; 6] = ["TEXT", "INT", "INTEGER", "REAL", "BLOB", "ANY"];

/// Writes a name in one of SQLite's ways.
fn written(dice: &mut Dice, name: &str) -> String {
    let is_plain =
        name.chars().all(|c| c.is_ascii_alphanumeric()) && !matches!(name, "select" | "check");
    match dice.below(5) {
        0 if !name.contains(']') => format!("[{name}]"),
        1 => format!("`{name}`"),
        2 if is_plain => name.to_ascii_uppercase(),
        3 | 2 if is_plain => name.to_owned(),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Joins parts by white space and comments.
fn spaced(dice: &mut Dice, parts: &[String]) -> String {
    let mut out = String::new();
    for part in parts {
        if !out.is_empty() {
            out += match dice.below(12) {
                0 => " /* UNIQUE, WITHOUT ROWID ) */ ",
                1 => " -- it's (STRICT\n",
                2 => "\n\t",
                _ => " ",
            };
        }
        out += part;
    }
    out
}

/// The parts of a column's definition.
fn column_parts(
    dice: &mut Dice,
    table: &mut Table,
    at: usize,
    first: usize,
    is_key: bool,
) -> Vec<String> {
    let mut parts = vec![
        written(dice, &table.columns[at].name),
        table.columns[at].kind.to_owned(),
    ];
    if table.columns[at].is_generated {
        let of = written(dice, &table.columns[first].name);
        let stored = dice.pick(&["", "STORED", "VIRTUAL"]);
        parts.push(format!("GENERATED ALWAYS AS (length({of})) {stored}"));
    } else {
        if is_key {
            table.key = vec![at];
            let on = dice.pick(&[
                "",
                "",
                "",
                "DESC",
                "ON CONFLICT REPLACE",
                "CONSTRAINT k2 NOT NULL",
            ]);
            parts.push(format!("CONSTRAINT \"key\" PRIMARY KEY {on}"));
        }
        let is_unique = table.is_keyless && at == first;
        if is_unique || (table.is_keyless && dice.percent(50)) {
            parts.push("NOT NULL".to_owned());
        } else if dice.percent(20) {
            parts.push((*dice.pick(&["NOT NULL", "NULL"])).to_owned());
        }
        if is_unique && dice.percent(40) {
            let on = *dice.pick(&["", "ON CONFLICT REPLACE", "ON CONFLICT FAIL", "", ""]);
            parts.push(format!("CONSTRAINT u UNIQUE {on}"));
            table.uniques.push(vec![at]);
        } else if dice.percent(10) {
            parts.push("UNIQUE".to_owned());
            table.uniques.push(vec![at]);
        }
        if dice.percent(15) {
            parts.push(
                (*dice.pick(&["COLLATE NOCASE", "COLLATE \"rtrim\"", "collate binary"])).to_owned(),
            );
        }
        if dice.percent(10) {
            parts.push(
                (*dice.pick(&["DEFAULT NULL", "DEFAULT 7", "DEFAULT ('x' || 'y')"])).to_owned(),
            );
        }
        if dice.percent(8) {
            let of = written(dice, &table.columns[at].name);
            parts.push(format!("CHECK ({of} IS NOT 'never, )')"));
        }
    }
    parts
}

/// A PRIMARY KEY, where no column is one, and a UNIQUE of the table, or neither.
fn table_constraints(
    dice: &mut Dice,
    table: &mut Table,
    plain: &[usize],
    has_column_key: bool,
) -> Vec<String> {
    let mut items = Vec::new();
    if table.is_keyless && dice.percent(60) {
        let mut columns = vec![plain[0]];
        columns.extend(plain.iter().skip(1).take(dice.below(3)));
        if dice.percent(30) {
            columns.reverse();
        }
        let mut terms = Vec::new();
        for at in &columns {
            let order = *dice.pick(&["", "", "", "DESC", "COLLATE NOCASE"]);
            terms.push(format!(
                "{} {order}",
                written(dice, &table.columns[*at].name)
            ));
        }
        items.push(format!("UNIQUE -- it's\n({})", terms.join(", ")));
        table.uniques.push(columns);
    }
    if !table.is_keyless && !has_column_key && dice.percent(60) {
        table.key = plain.iter().copied().take(1 + dice.below(2)).collect();
        let mut terms = Vec::new();
        for at in table.key.clone() {
            let order = *dice.pick(&["", "", "DESC", "COLLATE NOCASE"]);
            terms.push(format!(
                "{} {order}",
                written(dice, &table.columns[at].name)
            ));
        }
        items.push(spaced(
            dice,
            &[
                "PRIMARY".into(),
                "KEY".into(),
                format!("({})", terms.join(", ")),
            ],
        ));
    }
    if dice.percent(30) {
        let mut columns = vec![*dice.pick(plain)];
        let other = *dice.pick(plain);
        if other != columns[0] {
            columns.push(other);
        }
        let names: Vec<String> = columns
            .iter()
            .map(|at| written(dice, &table.columns[*at].name))
            .collect();
        let on = dice.pick(&["", "", "ON CONFLICT IGNORE"]);
        items.push(format!("UNIQUE({}) {on}", names.join(" , ")));
        table.uniques.push(columns);
    }
    items
}

impl Table {
    /// The change that makes a unique key the primary key.
    fn keyed_by(&self, dice: &mut Dice, key: &[usize]) -> Change {
        let columns = key.iter().map(|at| self.columns[*at].name.clone());
        let (table, columns) = (self.name.clone(), columns.collect::<Vec<_>>());
        match &columns[..] {
            [column] if dice.percent(50) => Change::IntegerPrimaryKey {
                table,
                column: column.clone(),
            },
            _ => Change::WithoutRowidByUnique { table, columns },
        }
    }
}

impl Schema {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let mut schema = Schema {
            settings: format!(
                "PRAGMA foreign_keys = OFF; PRAGMA page_size = {}; PRAGMA auto_vacuum = {}; PRAGMA encoding = '{}';",
                dice.pick(&[512, 1024, 4096]),
                dice.pick(&[0, 0, 1, 2]),
                dice.pick(&["UTF-8", "UTF-8", "UTF-8", "UTF-16le", "UTF-16be"]),
            ),
            ..Schema::default()
        };
        for number in 0..1 + dice.below(3) {
            schema.add_table(dice, number);
        }
        for _ in 0..dice.below(5) {
            schema.add_index(dice);
        }
        schema.add_unique_indexes(dice);
        schema
    }

    fn add_table(&mut self, dice: &mut Dice, number: usize) {
        let name = format!("{}{number}", dice.pick(&["t", "Table ", "x\"y"]));
        let is_strict = dice.percent(15);
        let is_keyless = dice.percent(30);
        let mut names: Vec<&str> = NAMES.to_vec();
        let mut columns = Vec::new();
        for at in 0..2 + dice.below(5) {
            let name = names.remove(dice.below(names.len()));
            let is_generated = at > 1 && dice.percent(10);
            let is_counted = at == 0 && (is_keyless || dice.percent(30));
            columns.push(Column {
                name: name.to_owned(),
                is_id: !is_generated && !is_counted && dice.percent(20),
                is_generated,
                is_counted,
                kind: match is_strict {
                    _ if is_counted => dice.pick::<&'static str>(&["INT", "INTEGER"]),
                    true => dice.pick::<&'static str>(&STRICT_TYPES),
                    false => dice.pick::<&'static str>(&TYPES),
                },
            });
        }
        let mut table = Table {
            name,
            columns,
            key: Vec::new(),
            uniques: Vec::new(),
            is_keyless,
        };
        let sql = self.table_text(dice, &mut table, is_strict);
        self.statements.push(sql);
        self.tables.push(table);
    }

    fn table_text(&self, dice: &mut Dice, table: &mut Table, is_strict: bool) -> String {
        let own = |columns: &[Column], dice: &mut Dice, at: usize| written(dice, &columns[at].name);
        let mut items = Vec::new();
        let has_column_key = !table.is_keyless && dice.percent(45);
        let plain: Vec<usize> = (0..table.columns.len())
            .filter(|at| !table.columns[*at].is_generated)
            .collect();
        for at in 0..table.columns.len() {
            let is_key = has_column_key && at == plain[0];
            let parts = column_parts(dice, table, at, plain[0], is_key);
            items.push(spaced(dice, &parts));
        }
        items.extend(table_constraints(dice, table, &plain, has_column_key));
        if let Some(parent) = self.tables.first().filter(|_| dice.percent(40))
            && let [key] = parent.key[..]
        {
            let at = *dice.pick(&plain);
            let from = own(&table.columns, dice, at);
            let to = match dice.percent(50) {
                true => String::new(),
                false => format!("({})", written(dice, &parent.columns[key].name)),
            };
            let parent = written(dice, &parent.name);
            items.push(format!(
                "FOREIGN KEY ({from}) REFERENCES {parent} {to} DEFERRABLE INITIALLY DEFERRED"
            ));
        }
        let options = match (is_strict, !table.key.is_empty() && dice.percent(25)) {
            (true, true) => "STRICT, WITHOUT ROWID",
            (true, false) => "strict",
            (false, true) => "WITHOUT -- x\n rowid",
            (false, false) => "",
        };
        let name = written(dice, &table.name);
        format!(
            "CREATE TABLE {name} ({}) {options}",
            spaced(dice, &[items.join(", ")])
        )
    }

    fn add_index(&mut self, dice: &mut Dice) {
        let table = dice.below(self.tables.len());
        let table = &self.tables[table];
        let name = format!("{} i{}", table.name, self.indexes.len());
        let mut terms = Vec::new();
        for _ in 0..1 + dice.below(3) {
            let column = &dice.pick(&table.columns).name;
            let column = written(dice, column);
            terms.push(match dice.below(8) {
                0 => format!("{column} DESC"),
                1 => format!("{column} COLLATE NOCASE"),
                2 => format!("lower({column})"),
                _ => column,
            });
        }
        let first = written(dice, &table.columns[0].name);
        let condition = match dice.below(6) {
            0 => format!("WHERE {first} > 'm' -- some"),
            _ => String::new(),
        };
        let unique = if dice.percent(15) { "UNIQUE" } else { "" };
        let sql = format!(
            "CREATE {unique} INDEX {} ON {} ({}) {condition}",
            written(dice, &name),
            written(dice, &table.name),
            terms.join(", ")
        );
        self.statements.push(sql);
        self.indexes.push((name, table.columns[0].name.clone()));
    }

    /// Unique indexes of tables without a primary key.
    fn add_unique_indexes(&mut self, dice: &mut Dice) {
        let indexes = self.indexes.len();
        for table in self.tables.iter_mut().filter(|table| table.is_keyless) {
            if dice.percent(60) {
                continue;
            }
            let count = 1 + dice.below(2.min(table.columns.len()));
            let columns: Vec<usize> = (0..table.columns.len())
                .filter(|at| !table.columns[*at].is_generated)
                .take(count)
                .collect();
            let mut terms = Vec::new();
            for at in &columns {
                let order = *dice.pick(&["", "", "desc", "COLLATE rtrim"]);
                terms.push(format!(
                    "{} {order}",
                    written(dice, &table.columns[*at].name)
                ));
            }
            let name = format!("{} u{indexes}", table.name);
            self.statements.push(format!(
                "CREATE UNIQUE INDEX {} ON {} ({})",
                written(dice, &name),
                written(dice, &table.name),
                terms.join(", ")
            ));
            table.uniques.push(columns);
        }
    }

    /// Statements that may fail: views, triggers, and columns that are added after the rows.
    pub(super) fn later(&self, dice: &mut Dice) -> Vec<String> {
        let mut later = Vec::new();
        for table in &self.tables {
            let name = written(dice, &table.name);
            let column = &dice.pick(&table.columns).name;
            let column = written(dice, column);
            if dice.percent(15) {
                let value = *dice.pick(&["DEFAULT 5", "", "DEFAULT 'late'"]);
                later.push(format!(
                    "ALTER TABLE {name} ADD COLUMN \"added {}\" {value}",
                    later.len()
                ));
            }
            if dice.percent(15) {
                let what = dice.pick(&["rowid, *", "*", "_rowid_", "max(oid)"]);
                later.push(format!(
                    "CREATE VIEW \"view {}\" AS SELECT {what}, {column} FROM {name}",
                    later.len()
                ));
            }
            if dice.percent(10) {
                let what = *dice.pick(&["old.rowid", "1"]);
                later.push(format!(
                    "CREATE TRIGGER \"trigger {}\" BEFORE UPDATE ON {name} BEGIN SELECT {what}; END",
                    later.len()
                ));
            }
        }
        later
    }

    /// Changes that rules might propose, right or wrong.
    pub(super) fn changes(&self, dice: &mut Dice) -> Vec<Change> {
        let mut changes = Vec::new();
        for (index, column) in &self.indexes {
            match dice.below(4) {
                0 => changes.push(Change::DropIndex {
                    index: index.clone(),
                }),
                1 => changes.push(Change::PartialIndex {
                    index: index.clone(),
                    column: column.clone(),
                }),
                _ => {}
            }
        }
        for table in &self.tables {
            let name = table.name.clone();
            let key = match table.is_keyless && !table.uniques.is_empty() {
                true => Some(dice.pick(&table.uniques).clone()),
                false => None,
            };
            for columns in &table.uniques {
                if key.is_none() && dice.percent(60) {
                    let columns = columns.iter().map(|at| table.columns[*at].name.clone());
                    changes.push(Change::DropUnique {
                        table: name.clone(),
                        columns: columns.collect(),
                    });
                }
            }
            let ids = table.columns.iter().filter(|column| column.is_id);
            let columns = ids.map(|column| Conversion {
                table: name.clone(),
                column: column.name.clone(),
                form: IdForm::Uuid,
            });
            let columns: Vec<Conversion> = columns.collect();
            if !columns.is_empty() && dice.percent(70) {
                changes.push(Change::IdsToBlobs { columns });
            }
            if let Some(key) = key {
                changes.push(table.keyed_by(dice, &key));
                continue;
            }
            match (dice.below(4), table.key.first()) {
                (0 | 1, _) => changes.push(Change::WithoutRowid { table: name }),
                (2, _) => changes.push(Change::Rowid { table: name }),
                (_, Some(key)) => changes.push(Change::IntegerPrimaryKey {
                    table: name,
                    column: table.columns[*key].name.clone(),
                }),
                _ => {}
            }
        }
        if dice.percent(20) {
            changes.push(Change::PageSize {
                bytes: *dice.pick(&[512, 2048, 8192]),
            });
        }
        changes
    }
}

/// A random value as SQL.
pub(super) fn value(dice: &mut Dice, column: &Column, row: usize) -> String {
    if column.is_counted {
        return (row * 7919 % 10007).to_string();
    }
    if column.is_id && !dice.percent(3) {
        let (high, low) = (row as u64 * 7919, dice.below(40) as u64);
        return format!("'{high:08x}-d2e3-7abc-8def-{low:012x}'");
    }
    match dice.below(10) {
        0 if dice.percent(40) => "NULL".to_owned(),
        1 => format!(
            "'{}'",
            dice.pick(&["x", "X", "é", "", "x  ", "10", "1e3", "it''s"])
        ),
        2 => format!("{}.5", dice.below(50)),
        3 => format!("x'{:04x}'", dice.below(65536)),
        4 => format!("printf('%.*c', {}, 'long')", dice.below(900)),
        5 => format!("'text {}'", dice.below(1000)),
        _ => (row as i64 * 31 - dice.below(30) as i64).to_string(),
    }
}
