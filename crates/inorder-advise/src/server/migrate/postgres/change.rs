//! A table whose columns get another type: its names, values and proofs.

use super::{beside, body, name, none, quote, row, temporary, text};
use crate::server::{
    migrate::{Context, spelling::Spelling},
    model::{Column, ColumnTo, Index, Table},
    shape::{self, Line},
};

/// A table and its columns that change.
pub(super) struct Change<'d> {
    pub table: &'d Table,
    pub columns: Vec<&'d Column>,
    pub to: ColumnTo,
    /// Whether the columns get their old types again.
    pub is_back: bool,
    /// Which of the tables it is: the number of its temporary names. They are cut where they are long.
    pub number: usize,
    /// The number of its first index.
    pub first_index: usize,
    pub context: Context<'d>,
}

impl<'d> Change<'d> {
    /// What these steps don't know how to keep.
    pub fn check(&self) -> Result<(), String> {
        for column in &self.columns {
            let used = sequence(column);
            // The sequence of an identity is made again.
            let is_own = |own: &String| match is_identity(column) {
                true => column.sequences.len() == 1,
                false => used.as_ref() == Some(own),
            };
            if let Some(own) = column.sequences.iter().find(|own| !is_own(own)) {
                return Err(format!(
                    "the sequence {own} belongs to {}, whose default doesn't count with it: it would be dropped with the old column",
                    column.name
                ));
            }
        }
        Ok(())
    }

    /// The lines by which the table is found, as they are before these steps.
    pub fn lines(&self) -> Vec<Line> {
        let of_column = |key: &str| {
            let prefixes = [shape::COLUMN, shape::DEFAULT, shape::SEQUENCE];
            let found = prefixes
                .iter()
                .find_map(|prefix| Some((*prefix, key.strip_prefix(prefix)?)));
            found.map(|(prefix, name)| (prefix, name.to_owned()))
        };
        let mut lines = Vec::new();
        for line in &self.table.shape {
            let Some((prefix, own)) = of_column(&line.key) else {
                lines.push(line.clone());
                continue;
            };
            let Some(column) = self.columns.iter().find(|column| column.name == own) else {
                continue;
            };
            let other_default = self.is_back || self.context.changes_default(self.table, &own);
            let text = match prefix {
                shape::COLUMN => {
                    let rest = line
                        .text
                        .strip_prefix(&column.type_name)
                        .unwrap_or_default();
                    format!("{}{rest}", self.old_type(column))
                }
                shape::DEFAULT if !other_default => line.text.clone(),
                _ => continue,
            };
            lines.push(Line {
                key: line.key.clone(),
                text,
            });
        }
        lines
    }

    /// The new column of an old one.
    pub fn fresh(&self, column: &str) -> String {
        temporary(column, self.place(column))
    }

    /// Which of the columns that change one is.
    pub fn place(&self, column: &str) -> usize {
        let mut columns = self.columns.iter();
        columns.position(|own| own.name == column).unwrap_or(0)
    }

    /// The name of an index of the new columns until it has the old one's.
    pub fn new_index(&self, at: usize, index: &Index) -> String {
        temporary(&index.name, self.first_index + at)
    }

    pub fn changes(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own.name == column)
    }

    /// The name of a column after the new ones are there.
    pub fn renamed(&self, column: &str) -> String {
        match self.changes(column) {
            true => self.fresh(column),
            false => column.to_owned(),
        }
    }

    /// The indexes that hold a column that changes.
    pub fn indexes(&self) -> impl Iterator<Item = &'d Index> {
        self.table.indexes.iter().filter(|index| {
            let mut columns = index
                .terms
                .iter()
                .filter_map(|term| term.column.as_ref())
                .chain(&index.include);
            columns.any(|column| self.changes(column))
        })
    }

    /// Whether another change may have taken an index away.
    pub fn may_be_gone(&self, index: &Index) -> bool {
        self.context.changes_index(self.table, &index.name)
    }

    pub fn converted_type(&self) -> &'static str {
        match self.to {
            ColumnTo::Bigint => "bigint",
            ColumnTo::Binary16 | ColumnTo::Bytes { .. } => "bytea",
            ColumnTo::Uuid | ColumnTo::OrderedUuid => "uuid",
        }
    }

    pub fn old_type(&self, column: &'d Column) -> &'d str {
        match self.is_back {
            true => self.converted_type(),
            false => &column.type_name,
        }
    }

    pub fn new_type(&self, column: &'d Column) -> &'d str {
        match self.is_back {
            true => &column.type_name,
            false => self.converted_type(),
        }
    }

    /// How the column's texts are written.
    pub fn spelling(&self, column: &Column) -> Spelling {
        Spelling::of(self.table, &column.name, self.to)
    }

    /// The new value from the old one, NULL where there is none.
    pub fn value(&self, of: &str, column: &Column) -> String {
        let old = format!("{of}{}", quote(&column.name));
        let spelling = self.spelling(column);
        match (self.to, self.is_back) {
            (ColumnTo::Bigint, false) => format!("{old}::bigint"),
            (ColumnTo::Bigint, true) => {
                let max = if column.base_type == "int2" {
                    i64::from(i16::MAX)
                } else {
                    i64::from(i32::MAX)
                };
                format!(
                    "CASE WHEN {old} BETWEEN {} AND {max} THEN {old}::{} END",
                    -max - 1,
                    column.type_name
                )
            }
            (ColumnTo::Binary16, false) => format!(
                "CASE WHEN {old}::text ~ '{}' THEN decode(replace({old}::text, '-', ''), 'hex') END",
                spelling.pattern()
            ),
            (ColumnTo::Bytes { .. }, false) => {
                let (before, after) = around_digest(spelling);
                let pattern = spelling.pattern();
                format!("CASE WHEN {old}::text ~ '{pattern}' THEN {before}{old}::text{after} END")
            }
            (ColumnTo::Bytes { bytes, .. }, true) => {
                let digits = format!("encode({old}, 'hex')");
                let digits = match spelling.capitals {
                    Some(true) => format!("upper({digits})"),
                    _ => digits,
                };
                format!(
                    "CASE WHEN length({old}) = {bytes} THEN '{}' || {digits} END",
                    spelling.prefix()
                )
            }
            (_, false) => format!(
                "CASE WHEN {old}::text ~ '{}' THEN {old}::text::uuid END",
                spelling.pattern()
            ),
            (_, true) => spelled(
                spelling,
                column,
                &match self.to {
                    ColumnTo::Binary16 => format!(
                        "CASE WHEN length({old}) = 16 THEN encode({old}, 'hex')::uuid::text END"
                    ),
                    _ => format!("{old}::text"),
                },
            ),
        }
    }

    /// Raises if a value can't be converted. `None` if all can be.
    pub fn is_convertible(&self, column: &Column) -> Option<String> {
        let old = quote(&column.name);
        let words = match (self.to, self.is_back) {
            (ColumnTo::Bigint, false) | (ColumnTo::Uuid, true) => return None,
            (ColumnTo::Bigint, true) => {
                format!("the number does not fit into {}", column.type_name)
            }
            (_, true) => format!("these are not {} bytes", self.spelling(column).bytes),
            (_, false) => format!(
                "the text can't become {}: it is not {}{}",
                self.converted_type(),
                self.spelling(column).in_words(),
                match self.spelling(column).is_known() {
                    true => ", as all others are",
                    false => "",
                }
            ),
        };
        let condition = format!("{old} IS NOT NULL AND ({}) IS NULL", self.value("", column));
        Some(none(self.table, &column.name, &condition, &words))
    }

    /// Raises if new values aren't those of the old ones.
    pub fn is_equal(&self, column: &Column) -> String {
        let new = quote(&self.fresh(&column.name));
        let condition = format!("{new} IS DISTINCT FROM ({})", self.value("", column));
        none(
            self.table,
            &column.name,
            &condition,
            "its new value is not that of the old one",
        )
    }

    /// Raises if texts that are different become one value of a unique index.
    pub fn are_different(&self) -> String {
        let is_one_to_one = |column: &str| {
            self.is_back
                || self.to == ColumnTo::Bigint
                || Spelling::of(self.table, column, self.to).is_known()
        };
        let mut out = String::new();
        for index in self.table.indexes.iter().filter(|index| index.is_unique) {
            let columns = index.terms.iter().filter_map(|term| term.column.as_deref());
            let own: Vec<&str> = columns.filter(|column| self.changes(column)).collect();
            if own.iter().all(|column| is_one_to_one(column)) {
                continue;
            }
            let keys = index.terms.iter().map(|term| match term.column.as_deref() {
                Some(column) if self.changes(column) => {
                    let found = self.columns.iter().find(|own| own.name == column);
                    found.map_or(String::new(), |own| self.value("", own))
                }
                Some(column) => quote(column),
                None => format!("({})", term.expression.as_deref().unwrap_or_default()),
            });
            let keys: Vec<String> = keys.collect();
            let is_not_null = keys.iter().map(|key| format!("({key}) IS NOT NULL"));
            let is_not_null = match index.nulls_are_equal {
                true => "true".to_owned(),
                false => is_not_null.collect::<Vec<_>>().join(" AND "),
            };
            out += &format!(
                "\nSELECT count(*), min(rows) INTO inorder_n, inorder_row FROM (SELECT string_agg({}, ' and ') AS rows FROM {} WHERE {} AND {is_not_null} GROUP BY {} HAVING count(*) > 1) x;\n\
                 PERFORM pg_temp.inorder_none({}, inorder_n, inorder_row, {});",
                row(self.table),
                name(self.table),
                index.predicate.as_deref().unwrap_or("true"),
                keys.join(", "),
                text(&name(self.table)),
                text(&format!(
                    "they become one value of the unique index {}",
                    index.name
                )),
            );
        }
        out
    }

    /// Raises if somebody else's column has the name of a new one.
    pub fn are_names_free(&self) -> String {
        let names = self
            .columns
            .iter()
            .map(|column| text(&self.fresh(&column.name)));
        format!(
            "\nIF to_regprocedure({}) IS NULL AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass({table}) AND NOT attisdropped AND attname IN ({})) THEN\n  \
             RAISE EXCEPTION USING MESSAGE = format('%s has a column with a name that these steps need: %s', {table}, {});\nEND IF;",
            text(&self.function()),
            names.clone().collect::<Vec<_>>().join(", "),
            names.collect::<Vec<_>>().join(" || ', ' || "),
            table = text(&name(self.table)),
        )
    }

    pub fn add_columns(&self) -> String {
        let (table, function) = (name(self.table), self.function());
        let add = self.columns.iter().map(|column| {
            let collation = match &column.collation {
                Some(collation) if self.is_back => format!(" COLLATE {collation}"),
                _ => String::new(),
            };
            format!(
                "ADD COLUMN {} {}{collation}",
                quote(&self.fresh(&column.name)),
                self.new_type(column)
            )
        });
        let set = self.columns.iter().map(|column| {
            format!(
                "NEW.{} := {};",
                quote(&self.fresh(&column.name)),
                self.value("NEW.", column)
            )
        });
        let trigger = quote(&self.trigger());
        format!(
            "{}\nIF to_regprocedure({}) IS NULL THEN\n  ALTER TABLE {table} {add};\n  \
             CREATE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS {body};\nEND IF;\n\
             IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass({}) AND tgname = {}) THEN\n  \
             CREATE TRIGGER {trigger} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {function};\nEND IF;\n\
             ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger};",
            self.are_names_free(),
            text(&function),
            text(&table),
            text(&self.trigger()),
            add = add.collect::<Vec<_>>().join(", "),
            body = body(&format!(
                "\nBEGIN {} RETURN NEW; END ",
                set.collect::<Vec<_>>().join(" ")
            )),
        )
    }

    pub fn function(&self) -> String {
        format!("{}()", beside(self.table, &self.trigger()))
    }

    /// The trigger that fills the new columns, and the name of its function.
    pub fn trigger(&self) -> String {
        temporary(&format!("{}_convert", self.table.name), self.number)
    }
}

/// What is before and after the text of a digest in the expression of its bytes.
pub(super) fn around_digest(spelling: Spelling) -> (&'static str, String) {
    match spelling.prefix() {
        "" => ("decode(", ", 'hex')".to_owned()),
        prefix => ("decode(substr(", format!(", {}), 'hex')", prefix.len() + 1)),
    }
}

/// The text of 16 bytes in a column's spelling, from that of a UUID. Where the sample has several, it is the server's.
fn spelled(spelling: Spelling, column: &Column, uuid: &str) -> String {
    let has_room = column.length.is_none_or(|length| length >= 36);
    let parted = match spelling.hyphens.unwrap_or(has_room) {
        true => uuid.to_owned(),
        false => format!("replace({uuid}, '-', '')"),
    };
    match spelling.capitals {
        Some(true) => format!("upper({parted})"),
        _ => parted,
    }
}

/// Whether a column is an identity: the server counts it, and no default does.
pub(super) fn is_identity(column: &Column) -> bool {
    column.is_serial && column.default.is_none()
}

/// The sequence that a default counts with, as an expression names it.
pub(super) fn sequence(column: &Column) -> Option<String> {
    let rest = column.default.as_deref()?.strip_prefix("nextval(")?;
    let name = rest
        .strip_suffix("::regclass)")?
        .strip_prefix('\'')?
        .strip_suffix('\'')?;
    Some(name.replace("''", "'"))
}
