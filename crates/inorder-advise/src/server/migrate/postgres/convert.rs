//! Another type for columns: new columns beside the old ones, kept equal by triggers and filled in batches, their indexes
//! and foreign keys, and a swap in one statement, which proves all values under its locks. The same steps take it back, with
//! the types exchanged.

use super::{
    beside, block, build, change::Change, definition, group::Group, guarded, links::end, lock,
    name, quote, same, swap, text, wait,
};
use crate::server::{
    migrate::{Context, INDEX_BYTES_PER_S, READ_BYTES_PER_S, ROWS_BYTES_PER_S, Step, Steps},
    model::{Column, ColumnTo, Prediction, Table},
    rules::ColumnName,
};

/// Pages that one batch fills.
const BATCH_PAGES: u64 = 1000;

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

impl Group<'_> {
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
            "{}\nLOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE;\n{}\n{add}",
            self.unless_done(),
            tables.join(", "),
            self.are_same()
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
