//! Another type for columns that hold the same ids, while `LOCK TABLES` keeps all others out: proofs of all values, then the
//! foreign keys go, each table is copied with the new type, and the foreign keys come back. Each of these statements does
//! its work or nothing, and what was done is found by the next run. The same steps take it back, with the types exchanged.

use super::{Dialect, constraint::declared, name, quote, text};
use crate::server::{
    migrate::{Context, INDEX_BYTES_PER_S, ROWS_BYTES_PER_S, Step, Steps, spelling::Spelling},
    model::{Column, ColumnTo, ForeignKey, Table},
    rules::ColumnName,
    shape::{COLUMN, Line},
};
use std::collections::BTreeMap;

/// Bytes of a UUID.
const UUID_BYTES: u8 = 16;

type Tables<'d> = Vec<(&'d Table, Vec<&'d Column>)>;

/// Columns that change together, in one direction.
struct Group<'d> {
    dialect: Dialect<'d>,
    context: Context<'d>,
    tables: Tables<'d>,
    to: ColumnTo,
    /// Whether the columns get their old types again.
    is_back: bool,
}

/// The steps for columns that change together. The server copies each table and blocks its writes.
pub(in super::super) fn convert(
    context: Context<'_>,
    columns: &[ColumnName],
    to: ColumnTo,
) -> Result<Steps, String> {
    let tables = by_table(context, columns)?;
    let defaults = tables
        .iter()
        .flat_map(|(table, columns)| columns.iter().map(move |column| (table, column)));
    for (table, column) in defaults {
        let is_bytes = matches!(to, ColumnTo::Binary16 | ColumnTo::Bytes { .. });
        if is_bytes && column.default.is_some() {
            return Err(format!("{}.{} has a default", table.name, column.name));
        }
    }
    let rows: u64 = tables.iter().map(|(table, _)| table.bytes).sum();
    let indexes: u64 = tables
        .iter()
        .flat_map(|(table, _)| &table.indexes)
        .map(|index| index.bytes)
        .sum();
    let mut group = Group {
        dialect: Dialect {
            database: context.database,
        },
        context,
        tables,
        to,
        is_back: false,
    };
    let steps = group.steps();
    group.is_back = true;
    Ok(Steps {
        steps,
        is_online: false,
        extra_bytes: rows + indexes,
        seconds: rows as f64 / ROWS_BYTES_PER_S + indexes as f64 / INDEX_BYTES_PER_S,
        undo: group.steps(),
    })
}

fn by_table<'d>(context: Context<'d>, columns: &[ColumnName]) -> Result<Tables<'d>, String> {
    let mut names: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for column in columns {
        names
            .entry((&column.schema, &column.table))
            .or_default()
            .push(&column.column);
    }
    names
        .into_iter()
        .map(|((schema, table), names)| {
            let table = context.table(schema, table)?;
            Ok((
                table,
                names.iter().filter_map(|name| table.column(name)).collect(),
            ))
        })
        .collect()
}

impl Group<'_> {
    fn steps(&self) -> Vec<Step> {
        let Some((first, _)) = self.tables.first() else {
            return Vec::new();
        };
        let locks: Vec<String> = self
            .tables
            .iter()
            .map(|(table, _)| format!("{} WRITE", name(table)))
            .collect();
        let lock = format!("LOCK TABLES {}", locks.join(", "));
        let inner = [
            self.is_locked(),
            self.are_same(),
            self.proofs(),
            self.actions(),
        ]
        .concat();
        vec![Step::new(
            "Locks the tables, or gives up after 2 s. Proves that they are as they were read and that all values can be converted, then copies each table with the new type. \
             Reads and writes wait. gh-ost and pt-online-schema-change copy without that where no foreign keys are.",
            self.dialect.block(first, Some(&lock), &inner),
        )]
    }

    /// Raises unless LOCK TABLES is in force: a table that is not there is then one that was not locked.
    fn is_locked(&self) -> String {
        let Some((first, _)) = self.tables.first() else {
            return String::new();
        };
        let probe = format!("{}.inorder_no_table", quote(&first.schema));
        let missing = self
            .dialect
            .raise("'the tables are not locked: nothing was changed'");
        format!(
            "BEGIN\nDECLARE CONTINUE HANDLER FOR 1100 SET inorder_n = 1;\nDECLARE CONTINUE HANDLER FOR 1146 SET inorder_n = 0;\n\
             SET @inorder_probe = {};\nPREPARE inorder_probe FROM @inorder_probe;\nEND;\nIF inorder_n <> 1 THEN\n  {missing}\nEND IF;\n",
            text(&format!("SELECT 1 FROM {probe}"))
        )
    }

    /// Raises unless the tables are as they were read, or as a run that did not end left them.
    fn are_same(&self) -> String {
        let mut out = String::new();
        let keys: Vec<String> = self.keys().iter().map(|key| key.name.clone()).collect();
        for (table, columns) in &self.tables {
            let (mut lines, mut ignored) = (Vec::<Line>::new(), Vec::new());
            let others = table.shape.iter();
            lines.extend(others.filter(|line| !line.key.starts_with(COLUMN)).cloned());
            for index in &table.indexes {
                if self.context.changes_index(table, &index.name) {
                    ignored.push(format!("index {}", index.name));
                }
            }
            let is_link = |line: &Line| {
                let rest = line.key.strip_prefix("foreign key ").unwrap_or_default();
                keys.iter()
                    .any(|key| rest == key || rest.starts_with(&format!("{key} of ")))
            };
            let links: Vec<String> = lines
                .iter()
                .filter(|line| is_link(line))
                .map(|line| line.key.clone())
                .collect();
            out += &self.dialect.same(table, &lines, &links, &ignored, false);
            for column in columns {
                out += &self.has_known_type(table, column);
            }
        }
        out
    }

    /// The condition that a column has one of these types.
    fn has_type(&self, table: &Table, column: &Column, types: &[String]) -> String {
        let list: Vec<String> = types.iter().map(|own| text(own)).collect();
        format!(
            "EXISTS (SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} AND COLUMN_NAME = {} AND COLUMN_TYPE IN ({}))",
            text(&table.schema),
            text(&table.name),
            text(&column.name),
            list.join(", ")
        )
    }

    /// Raises if a column is neither as it was read nor as these steps leave it.
    fn has_known_type(&self, table: &Table, column: &Column) -> String {
        let key = format!("{COLUMN}{}", column.name);
        let own: Vec<Line> = table
            .shape
            .iter()
            .filter(|line| line.key == key)
            .cloned()
            .collect();
        let types = [vec![self.converted(column)], self.between()].concat();
        format!(
            "IF NOT {} THEN\n{}END IF;\n",
            self.has_type(table, column, &types),
            self.dialect.same(table, &own, &[], &[], true)
        )
    }

    /// The types that columns have while a table is changed.
    fn between(&self) -> Vec<String> {
        match self.to {
            ColumnTo::Bytes { bytes, .. } => vec![between_bytes(bytes)],
            _ => vec![between_bytes(UUID_BYTES), "varchar(37)".into()],
        }
    }

    /// The type of a column after the change, as the server prints it.
    fn converted(&self, column: &Column) -> String {
        match self.to {
            ColumnTo::Binary16 => "binary(16)".into(),
            ColumnTo::Bytes { bytes, .. } => format!("binary({bytes})"),
            ColumnTo::Bigint => wide(column, true),
            _ => "uuid".into(),
        }
    }

    fn old_type(&self, column: &Column) -> String {
        match self.is_back {
            true => self.converted(column),
            false => column.type_name.clone(),
        }
    }

    fn new_type(&self, column: &Column) -> String {
        match self.is_back {
            true => column.type_name.clone(),
            false => self.converted(column),
        }
    }

    /// Raises if a value of a column that has its old type can't be converted, or two become one.
    fn proofs(&self) -> String {
        let mut out = String::new();
        for (table, columns) in &self.tables {
            for column in columns {
                if let Some((condition, words)) = self.is_wrong(table, column) {
                    out += &format!(
                        "IF {} THEN\n{}END IF;\n",
                        self.has_type(table, column, &[self.old_type(column)]),
                        self.dialect.none(table, &column.name, &condition, &words)
                    );
                }
            }
            out += &self.are_different(table, columns);
        }
        out
    }

    /// The condition of values that can't be converted and come back the same, and why.
    fn is_wrong(&self, table: &Table, column: &Column) -> Option<(String, String)> {
        let own = quote(&column.name);
        match (self.to, self.is_back) {
            (ColumnTo::Bigint, true) => {
                let (min, max) = range(column);
                Some((
                    format!("{own} NOT BETWEEN {min} AND {max}"),
                    format!("it does not fit into {}", column.type_name),
                ))
            }
            (ColumnTo::Bigint, false) | (_, true) => None,
            (_, false) => {
                let spelling = Spelling::of(table, &column.name, self.to);
                let all = match spelling.prefix() {
                    "" => own.clone(),
                    prefix => format!("SUBSTR({own}, {})", prefix.len() + 1),
                };
                let case = match spelling.capitals {
                    Some(true) => format!(" AND BINARY {all} = BINARY UPPER({all})"),
                    Some(false) => format!(" AND BINARY {own} = BINARY LOWER({own})"),
                    None => String::new(),
                };
                // A comparison without regard to case takes `0X` for `0x`.
                let case = match spelling.prefix() {
                    "" => case,
                    prefix => format!(
                        "{case} AND BINARY LEFT({own}, {}) = '{prefix}'",
                        prefix.len()
                    ),
                };
                // The type refuses some values of the right form, such as versions that the release doesn't know.
                let is_taken = match self.to {
                    ColumnTo::Binary16 | ColumnTo::Bytes { .. } => String::new(),
                    _ => format!(" AND CAST({own} AS UUID) IS NOT NULL"),
                };
                let words = match spelling.is_known() {
                    true => format!("not {}, as all others are", spelling.in_words()),
                    false => format!("not {} of the new type", spelling.in_words()),
                };
                Some((
                    format!(
                        "{own} IS NOT NULL AND NOT ({own} RLIKE {}{case}{is_taken})",
                        text(&spelling.pattern())
                    ),
                    words,
                ))
            }
        }
    }

    /// Raises if texts that are different become one value of a unique index.
    fn are_different(&self, table: &Table, columns: &[&Column]) -> String {
        let mut out = String::new();
        if self.is_back || self.to == ColumnTo::Bigint {
            return out;
        }
        let changed = |name: &str| columns.iter().find(|column| column.name == name);
        for index in table.indexes.iter().filter(|index| index.is_unique) {
            let terms = index.terms.iter().filter_map(|term| term.column.as_deref());
            let mut own = terms.clone().filter_map(changed);
            let Some(first) = own.find(|own| !Spelling::of(table, &own.name, self.to).is_known())
            else {
                continue;
            };
            let keys: Vec<String> = terms
                .clone()
                .map(|column| match changed(column) {
                    Some(_) => format!("REPLACE(LOWER({}), '-', '')", quote(column)),
                    None => quote(column),
                })
                .collect();
            let rows = terms
                .clone()
                .map(|column| format!("QUOTE({})", quote(column)));
            let is_not_null = terms.map(|column| format!("{} IS NOT NULL", quote(column)));
            let query = format!(
                "SELECT COUNT(*), MIN(r) INTO inorder_n, inorder_row FROM (SELECT GROUP_CONCAT(CONCAT_WS(', ', {}) SEPARATOR ' and ') AS r FROM {} WHERE {} GROUP BY {} HAVING COUNT(*) > 1) x",
                rows.collect::<Vec<_>>().join(", "),
                name(table),
                is_not_null.collect::<Vec<_>>().join(" AND "),
                keys.join(", ")
            );
            out += &format!(
                "IF {} THEN\n{}END IF;\n",
                self.has_type(table, first, &[self.old_type(first)]),
                self.dialect.nothing(
                    table,
                    &query,
                    &format!("one value of the unique index {}", index.name)
                )
            );
        }
        out
    }

    /// What happens after the proofs.
    fn actions(&self) -> String {
        let all = self
            .tables
            .iter()
            .flat_map(|(table, columns)| columns.iter().map(move |column| (table, column)));
        let is_open: Vec<String> = all
            .map(|(table, column)| {
                format!(
                    "NOT {}",
                    self.has_type(table, column, &[self.new_type(column)])
                )
            })
            .collect();
        let keys = self.keys();
        let is_there = |key: &ForeignKey| {
            format!(
                "EXISTS (SELECT 1 FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = {} AND TABLE_NAME = {} AND CONSTRAINT_NAME = {})",
                text(&key.child_schema),
                text(&key.child),
                text(&key.name)
            )
        };
        let mut out = format!("IF {} THEN\n", is_open.join(" OR "));
        for key in &keys {
            out += &format!(
                "IF {} THEN\n  ALTER TABLE {} DROP FOREIGN KEY {};\nEND IF;\n",
                is_there(key),
                child(key),
                quote(&key.name)
            );
        }
        for (table, columns) in &self.tables {
            out += &self.change(table, columns);
        }
        out += "END IF;\n";
        for key in &keys {
            out += &format!(
                "IF NOT {} THEN\n  {};\nEND IF;\n",
                is_there(key),
                added(key)
            );
        }
        out
    }

    /// Gives the columns of a table their new types.
    fn change(&self, table: &Table, columns: &[&Column]) -> String {
        let open: Vec<&&Column> = columns.iter().collect();
        let Some(first) = open.first() else {
            return String::new();
        };
        let to_new = modify(table, columns, &|column| {
            let charset = match (&column.character_set, &column.collation) {
                (Some(set), Some(collation)) if self.is_back => {
                    format!(" CHARACTER SET {set} COLLATE {collation}")
                }
                _ => String::new(),
            };
            let new = match self.to {
                ColumnTo::Bigint if !self.is_back => wide(column, false),
                _ => self.new_type(column),
            };
            format!("{new}{charset}")
        });
        let values: Vec<(&&Column, String)> = columns
            .iter()
            .filter_map(|column| Some((column, self.between_value(table, column)?)))
            .collect();
        let is_old = self.has_type(table, first, &[self.old_type(first)]);
        let is_new = self.has_type(table, first, &[self.new_type(first)]);
        if values.is_empty() {
            return format!("IF NOT {is_new} THEN\n  {to_new};\nEND IF;\n");
        }
        let between = match (self.to, self.is_back) {
            (ColumnTo::Binary16, _) => between_bytes(UUID_BYTES),
            (ColumnTo::Bytes { bytes, .. }, _) => between_bytes(bytes),
            _ => "varchar(37) CHARACTER SET ascii".to_owned(),
        };
        let to_between = modify(table, columns, &|_| between.clone());
        // A time that is set explicitly is not set to the present one.
        let times = table.columns.iter().filter(|own| own.is_set_on_update);
        let keep = times.map(|own| format!("{0} = {0}", quote(&own.name)));
        let set: Vec<String> = values
            .iter()
            .map(|(column, value)| format!("{} = {value}", quote(&column.name)))
            .chain(keep)
            .collect();
        format!(
            "IF NOT {is_new} THEN\nIF {is_old} THEN\n  {to_between};\nEND IF;\nUPDATE {} SET {};\n{to_new};\nEND IF;\n",
            name(table),
            set.join(", ")
        )
    }

    /// The new value of a column that has the type between, from the old or the new one. `None` if its type makes it.
    fn between_value(&self, table: &Table, column: &Column) -> Option<String> {
        let own = quote(&column.name);
        let spelling = Spelling::of(table, &column.name, self.to);
        let has_room = column.length.is_none_or(|length| length >= 36);
        let is_parted = spelling.hyphens.unwrap_or(has_room);
        let is_capital = spelling.capitals == Some(true);
        match (self.to, self.is_back) {
            (ColumnTo::Binary16, false) => Some(format!(
                "IF(LENGTH({own}) = 16, {own}, UNHEX(REPLACE({own}, '-', '')))"
            )),
            (ColumnTo::Bytes { bytes, .. }, false) => {
                let from = spelling.prefix().len() + 1;
                Some(format!(
                    "IF(LENGTH({own}) = {bytes}, {own}, UNHEX(SUBSTR({own}, {from})))"
                ))
            }
            (ColumnTo::Bytes { bytes, .. }, true) => {
                let digits = match is_capital {
                    true => format!("HEX({own})"),
                    false => format!("LOWER(HEX({own}))"),
                };
                let prefix = spelling.prefix();
                Some(format!(
                    "IF(LENGTH({own}) = {bytes}, CONCAT('{prefix}', {digits}), {own})"
                ))
            }
            (ColumnTo::Binary16, true) => {
                let digits = match is_capital {
                    true => format!("HEX({own})"),
                    false => format!("LOWER(HEX({own}))"),
                };
                let parted = [9, 14, 19, 24].iter().fold(digits.clone(), |text, at| {
                    format!("INSERT({text}, {at}, 0, '-')")
                });
                let value = if is_parted { parted } else { digits };
                Some(format!("IF(LENGTH({own}) = 16, {value}, {own})"))
            }
            (ColumnTo::Uuid | ColumnTo::OrderedUuid, true) if !is_parted || is_capital => {
                let value = if is_parted {
                    own
                } else {
                    format!("REPLACE({own}, '-', '')")
                };
                Some(if is_capital {
                    format!("UPPER({value})")
                } else {
                    value
                })
            }
            _ => None,
        }
    }

    /// The foreign keys over columns that change, each once.
    fn keys(&self) -> Vec<&ForeignKey> {
        let mut keys: Vec<&ForeignKey> = Vec::new();
        for (table, columns) in &self.tables {
            let has = |names: &[String]| columns.iter().any(|column| names.contains(&column.name));
            keys.extend(table.foreign_keys.iter().filter(|key| has(&key.columns)));
            keys.extend(
                table
                    .referenced_by
                    .iter()
                    .filter(|key| has(&key.parent_columns)),
            );
        }
        keys.sort_by_key(|key| (&key.child_schema, &key.child, &key.name));
        keys.dedup();
        keys
    }
}

/// The type that holds ids of so many bytes and the longest of their texts: it is no type of texts, and longer than both.
fn between_bytes(bytes: u8) -> String {
    format!("varbinary({})", 2 * u32::from(bytes) + 5)
}

fn child(key: &ForeignKey) -> String {
    format!("{}.{}", quote(&key.child_schema), quote(&key.child))
}

/// The statement that adds a foreign key, which checks all rows.
fn added(key: &ForeignKey) -> String {
    format!("ALTER TABLE {} ADD {}", child(key), declared(key))
}

/// The type bigint for an integer column. Leading zeros fill the declared width as before. `is_printed`: as MariaDB prints it.
fn wide(column: &Column, is_printed: bool) -> String {
    let declared = &column.type_name;
    // MySQL 8 prints no widths.
    let has_width = declared.contains('(') && is_printed;
    match declared.split_once('(') {
        Some((_, width)) if declared.contains("zerofill") => format!("bigint({width}"),
        _ if declared.contains("zerofill") => "bigint unsigned zerofill".into(),
        _ if declared.contains("unsigned") && has_width => "bigint(20) unsigned".into(),
        _ if declared.contains("unsigned") => "bigint unsigned".into(),
        _ if has_width => "bigint(20)".into(),
        _ => "bigint".into(),
    }
}

/// The smallest and the largest value of an integer column.
fn range(column: &Column) -> (i64, u64) {
    let bits: u32 = match column.base_type.as_str() {
        "tinyint" => 8,
        "smallint" => 16,
        "mediumint" => 24,
        _ => 32,
    };
    match column.type_name.contains("unsigned") {
        true => (0, (1 << bits) - 1),
        false => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

/// The statement that gives columns another type and keeps what else is declared.
fn modify(table: &Table, columns: &[&Column], to: &dyn Fn(&Column) -> String) -> String {
    let parts: Vec<String> = columns
        .iter()
        .map(|column| {
            let mut out = format!("MODIFY COLUMN {} {}", quote(&column.name), to(column));
            out += if column.is_not_null {
                " NOT NULL"
            } else {
                " NULL"
            };
            if column.is_serial {
                out += " AUTO_INCREMENT";
            }
            if let Some(default) = &column.default {
                out += &format!(" DEFAULT {default}");
            }
            if column.is_invisible {
                out += " INVISIBLE";
            }
            if !column.comment.is_empty() {
                out += &format!(" COMMENT {}", text(&column.comment));
            }
            out
        })
        .collect();
    format!(
        "ALTER TABLE {} {}, ALGORITHM=COPY, LOCK=SHARED",
        name(table),
        parts.join(", ")
    )
}
