//! Another type for columns: new columns beside the old ones, kept equal by triggers and filled in batches, their indexes
//! and foreign keys, and a swap in one statement, which proves all values under its locks. The same steps take it back, with
//! the types exchanged.

use super::{
    array, beside, block, body, build, definition, guarded,
    links::{Link, end, links},
    lock, name, none, quote, row, same, swap, temporary, text, wait,
};
use crate::server::{
    migrate::{
        Context, INDEX_BYTES_PER_S, READ_BYTES_PER_S, ROWS_BYTES_PER_S, Step, Steps,
        spelling::Spelling,
    },
    model::{Column, ColumnTo, Index, Prediction, Table},
    rules::ColumnName,
    shape::{self, Line},
};
use std::collections::BTreeMap;

/// Pages that one batch fills.
const BATCH_PAGES: u64 = 1000;

/// A table and its columns that change.
pub(super) struct Change<'d> {
    pub table: &'d Table,
    pub columns: Vec<&'d Column>,
    pub to: ColumnTo,
    /// Whether the columns get their old types again.
    pub is_back: bool,
    /// Which of the tables it is: the number of its temporary names. They are cut where they are long.
    number: usize,
    /// The number of its first index.
    pub first_index: usize,
    context: Context<'d>,
}

/// Columns that change together, in one direction.
pub(super) struct Group<'d> {
    pub changes: Vec<Change<'d>>,
    pub links: Vec<Link<'d>>,
}

/// The steps for columns that change together.
pub(in super::super) fn convert(
    context: Context<'_>,
    columns: &[ColumnName],
    to: ColumnTo,
    predictions: &[(ColumnName, Prediction)],
) -> Result<Steps, String> {
    let forward = Group::of(context, columns, to, false)?;
    let back = Group::of(context, columns, to, true)?;
    let index_bytes: u64 = forward
        .changes
        .iter()
        .flat_map(Change::indexes)
        .map(|index| index.bytes)
        .sum();
    let row_bytes = forward.row_bytes();
    let predicted: u64 = predictions
        .iter()
        .flat_map(|(_, prediction)| &prediction.trees)
        .filter(|tree| tree.index.is_some())
        .map(|tree| tree.after_bytes)
        .sum();
    let new_bytes = if predicted > 0 {
        predicted
    } else {
        index_bytes
    };
    let mut undo = vec![forward.taken_back()];
    undo.extend(back.steps());
    Ok(Steps {
        steps: forward.steps(),
        is_online: true,
        extra_bytes: row_bytes + new_bytes,
        seconds: 2.0 * row_bytes as f64 / ROWS_BYTES_PER_S + new_bytes as f64 / INDEX_BYTES_PER_S,
        undo,
    })
}

impl<'d> Group<'d> {
    fn of(
        context: Context<'d>,
        columns: &[ColumnName],
        to: ColumnTo,
        is_back: bool,
    ) -> Result<Self, String> {
        let mut tables: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for column in columns {
            tables
                .entry((&column.schema, &column.table))
                .or_default()
                .push(&column.column);
        }
        let (mut changes, mut first_index) = (Vec::new(), 0);
        for (number, ((schema, table), names)) in tables.into_iter().enumerate() {
            let table = context.table(schema, table)?;
            let change = Change {
                table,
                columns: names.iter().filter_map(|name| table.column(name)).collect(),
                to,
                is_back,
                number,
                first_index,
                context,
            };
            change.check()?;
            first_index += change.indexes().count();
            changes.push(change);
        }
        let links = links(context, &changes)?;
        Ok(Group { changes, links })
    }

    fn row_bytes(&self) -> u64 {
        self.changes.iter().map(|change| change.table.bytes).sum()
    }

    /// The tables, each before those that it refers to: writers lock them in that order.
    pub fn tables(&self) -> Vec<String> {
        let mut left: Vec<&Table> = self.changes.iter().map(|change| change.table).collect();
        let mut found = Vec::new();
        while !left.is_empty() {
            let is_parent = |table: &Table| {
                self.links.iter().any(|link| {
                    std::ptr::eq(link.parent, table)
                        && !std::ptr::eq(link.child, table)
                        && left.iter().any(|own| std::ptr::eq(*own, link.child))
                })
            };
            let at = left.iter().position(|table| !is_parent(table)).unwrap_or(0);
            found.push(name(left.remove(at)));
        }
        found
    }

    /// The condition that the columns have the types from which they change.
    pub fn is_pending(&self) -> String {
        let all = || {
            let changes = self.changes.iter();
            changes.flat_map(|change| change.columns.iter().map(move |column| (change, column)))
        };
        format!(
            "pg_temp.inorder_pending({}, {}, {}, {})",
            array(all().map(|(change, _)| text(&name(change.table)))),
            array(all().map(|(_, column)| text(&column.name))),
            array(all().map(|(change, column)| text(change.old_type(column)))),
            array(all().map(|(change, column)| text(change.new_type(column)))),
        )
    }

    /// Ends a step early where the change was made.
    pub fn unless_done(&self) -> String {
        format!("IF NOT {} THEN\n  EXIT;\nEND IF;", self.is_pending())
    }

    /// Raises unless the tables are as they were read.
    pub fn are_same(&self) -> String {
        let all = self
            .changes
            .iter()
            .map(|change| same(change.table, &change.lines(), self.ignored(change), false));
        all.collect::<Vec<_>>().join("\n")
    }

    /// The keys of lines that other changes make or take away, and of what these steps make.
    fn ignored(&self, change: &Change<'_>) -> Vec<String> {
        let table = change.table;
        let mut keys = vec![text(&format!("trigger {}", change.trigger()))];
        for (at, index) in change.indexes().enumerate() {
            keys.push(text(&format!("index {}", change.new_index(at, index))));
        }
        for link in &self.links {
            let key = format!("constraint {}", link.new);
            if std::ptr::eq(link.child, table) {
                keys.push(text(&key));
            }
            if std::ptr::eq(link.parent, table) {
                keys.push(format!(
                    "{} || to_regclass({})::text",
                    text(&format!("{key} of ")),
                    text(&name(link.child))
                ));
            }
        }
        let retyped = change.context.retyped(table);
        for index in &table.indexes {
            let mut terms = index.terms.iter();
            let is_collated = terms.any(|term| {
                let is_own = term
                    .column
                    .as_deref()
                    .is_some_and(|own| retyped.contains(&own));
                is_own && (term.collation.is_some() || !term.is_default_class)
            });
            if is_collated || change.context.changes_index(table, &index.name) {
                keys.push(text(&format!("index {}", index.name)));
                let backed = index.constraint.iter();
                keys.extend(backed.map(|own| text(&format!("constraint {}", own.name))));
            }
        }
        keys
    }

    /// All steps in their order.
    fn steps(&self) -> Vec<Step> {
        let tables = self.tables();
        let analyze: Vec<String> = tables
            .iter()
            .map(|table| format!("ANALYZE {table};"))
            .collect();
        let mut steps = vec![self.proof_before(), self.add_columns()];
        steps.extend(self.changes.iter().map(|change| self.fill(change)));
        steps.extend(self.indexes());
        steps.extend(self.foreign_keys());
        steps.push(swap::swap(self, READ_BYTES_PER_S));
        steps.push(Step::new(
            "Counts the new columns' values for the planner. A VACUUM returns the space of the rows' old versions.",
            vec![guarded(&tables, "", &analyze.join("\n"))],
        ));
        steps
    }

    /// Proves that all values can be converted, and that what was read is so still.
    fn proof_before(&self) -> Step {
        let mut inner = format!("{}\n{}", self.unless_done(), self.are_same());
        for change in &self.changes {
            for column in &change.columns {
                if let Some(proof) = change.is_convertible(column) {
                    inner += &format!("\n{proof}");
                }
            }
            inner += &change.are_names_free();
        }
        for change in &self.changes {
            inner += &change.are_different();
        }
        let what = "Proves that all values can be converted, and that the tables are as they were read. Reads all rows; reads and writes go on.";
        Step::new(what, vec![guarded(&self.tables(), "", &inner)])
    }

    fn add_columns(&self) -> Step {
        let tables = self.tables();
        let mut inner = format!(
            "{}\n{}\n{}",
            lock(&tables),
            self.unless_done(),
            self.are_same()
        );
        for change in &self.changes {
            inner += &change.add_columns();
        }
        Step::new(
            "Adds empty columns, and triggers that keep them equal in new and changed rows, replicated ones too. A value that can't be converted stays NULL in them. \
             Locks the tables for a moment, within 50 ms or not at all.",
            vec![guarded(&tables, "", &inner)],
        )
    }

    /// Fills the new columns page by page.
    fn fill(&self, change: &Change<'_>) -> Step {
        let table = name(change.table);
        let all = |joined: &str, one: &dyn Fn(&Column) -> String| {
            let texts: Vec<String> = change.columns.iter().map(|column| one(column)).collect();
            texts.join(joined)
        };
        let fresh = |column: &Column| quote(&change.fresh(&column.name));
        let set = all(", ", &|column| {
            format!("{} = {}", fresh(column), change.value("", column))
        });
        let open = all(" OR ", &|column| {
            format!(
                "({} IS NULL AND {} IS NOT NULL)",
                fresh(column),
                quote(&column.name)
            )
        });
        let inner = format!(
            "IF NOT {pending} THEN\n  RETURN;\nEND IF;\n\
             inorder_pages := pg_relation_size({literal}) / current_setting('block_size')::bigint;\n\
             WHILE inorder_page <= inorder_pages LOOP\n  inorder_done := false;\n  BEGIN\n    {same}\n    UPDATE {table} SET {set}\n      WHERE ctid >= format('(%s,0)', inorder_page)::tid AND ctid < format('(%s,0)', inorder_page + {BATCH_PAGES})::tid\n      AND ({open});\n    \
             inorder_done := true;\n  EXCEPTION WHEN lock_not_available OR deadlock_detected THEN\n    inorder_tries := inorder_tries - 1;\n    inorder_failure := SQLERRM;\n  END;\n  COMMIT;\n  \
             IF inorder_done THEN\n    inorder_page := inorder_page + {BATCH_PAGES};\n    inorder_tries := pg_temp.inorder_tries();\n  ELSE\n    PERFORM pg_temp.inorder_wait(inorder_tries, ARRAY[{literal}], inorder_failure);\n  END IF;\nEND LOOP;",
            pending = self.is_pending(),
            same = same(change.table, &change.lines(), self.ignored(change), false),
            literal = text(&table),
        );
        let declared = "inorder_tries int := pg_temp.inorder_tries(); inorder_page bigint := 0; inorder_pages bigint; inorder_done boolean; inorder_failure text;";
        Step::new(
            format!(
                "Fills the new columns of {}, {BATCH_PAGES} pages per transaction. Locks the rows of a batch, those that others change for 50 ms at most.",
                change.table.name
            ),
            vec![block(declared, &inner)],
        )
    }

    fn indexes(&self) -> Option<Step> {
        let mut statements = Vec::new();
        for change in &self.changes {
            for (at, index) in change.indexes().enumerate() {
                let new = change.new_index(at, index);
                let sql = definition(
                    change.table,
                    index,
                    &new,
                    &|column| change.renamed(column),
                    None,
                    change.is_back,
                );
                let is_there = format!(
                    "to_regclass({}) IS NOT NULL",
                    text(&beside(change.table, &index.name))
                );
                let condition = format!("{is_there} AND {}", self.is_pending());
                statements.extend(build(change.table, &new, &sql, &condition));
            }
        }
        (!statements.is_empty()).then(|| {
            Step::new(
                "Builds the indexes of the new columns. Reads and writes go on. What a failed build left is removed first.",
                statements,
            )
        })
    }

    fn foreign_keys(&self) -> Option<Step> {
        let renamed = |table: &Table, column: &String| {
            let mut changes = self.changes.iter();
            let own = changes.find(|change| std::ptr::eq(change.table, table));
            quote(&own.map_or(column.clone(), |change| change.renamed(column)))
        };
        let (mut add, mut validate) = (String::new(), Vec::new());
        for link in &self.links {
            let list = |table: &Table, columns: &[String]| {
                let all: Vec<String> = columns
                    .iter()
                    .map(|column| renamed(table, column))
                    .collect();
                all.join(", ")
            };
            let (table, new) = (name(link.child), quote(&link.new));
            add += &format!(
                "IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = to_regclass({}) AND conname = {}) THEN\n  \
                 ALTER TABLE {table} ADD CONSTRAINT {new} FOREIGN KEY ({}) REFERENCES {} ({}){} NOT VALID;\nEND IF;\n",
                text(&table),
                text(&link.new),
                list(link.child, &link.key.columns),
                name(link.parent),
                list(link.parent, &link.key.parent_columns),
                end(link.key).unwrap_or_default(),
            );
            if link.is_valid() {
                let inner = format!(
                    "{}\nALTER TABLE {table} VALIDATE CONSTRAINT {new};",
                    self.unless_done()
                );
                validate.push(guarded(&[table], "", &inner));
            }
        }
        let tables = self.tables();
        let add = format!(
            "{}\nLOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE;\n{add}",
            self.unless_done(),
            tables.join(", ")
        );
        let is_needed = !self.links.is_empty();
        let statements = std::iter::once(guarded(&tables, "", &add)).chain(validate);
        is_needed.then(|| {
            Step::new(
                "Adds the foreign keys of the new columns. Reads all rows of the referring tables; reads and writes go on but for a moment, within 50 ms or not at all.",
                statements.collect(),
            )
        })
    }

    /// Removes what was begun, before the swap.
    fn taken_back(&self) -> Step {
        let tables = self.tables();
        let mut inner = format!("{}\n{}\n", lock(&tables), self.unless_done());
        for link in &self.links {
            inner += &format!(
                "ALTER TABLE {} DROP CONSTRAINT IF EXISTS {};\n",
                name(link.child),
                quote(&link.new)
            );
        }
        for change in &self.changes {
            let table = name(change.table);
            let drop = change.columns.iter().map(|column| {
                let fresh = quote(&change.fresh(&column.name));
                format!("  ALTER TABLE {table} DROP COLUMN IF EXISTS {fresh};\n")
            });
            // The function is made with the columns: without it they are somebody else's.
            inner += &format!(
                "IF to_regprocedure({}) IS NOT NULL THEN\n  DROP TRIGGER IF EXISTS {} ON {table};\n  DROP FUNCTION {};\n{}END IF;\n",
                text(&change.function()),
                quote(&change.trigger()),
                change.function(),
                drop.collect::<String>(),
            );
        }
        Step::new(
            "Removes what was begun, where the columns have their old types still. Locks the tables for a moment, within 50 ms or not at all.",
            vec![wait(false), guarded(&tables, "", &inner)],
        )
    }
}

impl<'d> Change<'d> {
    /// What these steps don't know how to keep.
    fn check(&self) -> Result<(), String> {
        for column in &self.columns {
            if column.is_serial && column.default.is_none() {
                return Err(format!(
                    "{} is an identity column: its counter can't move to another column",
                    column.name
                ));
            }
            let used = sequence(column);
            if let Some(own) = column
                .sequences
                .iter()
                .find(|own| used.as_ref() != Some(own))
            {
                return Err(format!(
                    "the sequence {own} belongs to {}, whose default doesn't count with it: it would be dropped with the old column",
                    column.name
                ));
            }
        }
        Ok(())
    }

    /// The lines by which the table is found, as they are before these steps.
    fn lines(&self) -> Vec<Line> {
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
    fn place(&self, column: &str) -> usize {
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

    fn converted_type(&self) -> &'static str {
        match self.to {
            ColumnTo::Bigint => "bigint",
            ColumnTo::Binary16 | ColumnTo::Bytes { .. } => "bytea",
            ColumnTo::Uuid | ColumnTo::OrderedUuid => "uuid",
        }
    }

    fn old_type(&self, column: &'d Column) -> &'d str {
        match self.is_back {
            true => self.converted_type(),
            false => &column.type_name,
        }
    }

    fn new_type(&self, column: &'d Column) -> &'d str {
        match self.is_back {
            true => &column.type_name,
            false => self.converted_type(),
        }
    }

    /// The new value from the old one, NULL where there is none.
    pub fn value(&self, of: &str, column: &Column) -> String {
        let old = format!("{of}{}", quote(&column.name));
        let spelling = Spelling::of(self.table, &column.name);
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
            (_, true) => "these are not 16 bytes".into(),
            (_, false) => format!(
                "the text can't become {}: it is not {}{}",
                self.converted_type(),
                Spelling::of(self.table, &column.name).in_words(),
                match Spelling::of(self.table, &column.name).is_known() {
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
    fn are_different(&self) -> String {
        let is_one_to_one = |column: &str| {
            self.is_back
                || self.to == ColumnTo::Bigint
                || Spelling::of(self.table, column).is_known()
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
    fn are_names_free(&self) -> String {
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

    fn add_columns(&self) -> String {
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

/// The sequence that a default counts with, as an expression names it.
pub(super) fn sequence(column: &Column) -> Option<String> {
    let rest = column.default.as_deref()?.strip_prefix("nextval(")?;
    let name = rest
        .strip_suffix("::regclass)")?
        .strip_prefix('\'')?
        .strip_suffix('\'')?;
    Some(name.replace("''", "'"))
}
