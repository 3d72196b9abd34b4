//! Another type for columns of PostgreSQL, online: new columns beside the old ones, kept equal by triggers and filled in
//! batches, their indexes and foreign keys, and a swap in one short transaction.

use super::{
    INDEX_BYTES_PER_S, ROWS_BYTES_PER_S, Step, Steps, find,
    postgres::{LOCK_WAIT, NO_LOCK_WAIT, definition, name, quote, temporary, text},
};
use crate::server::{
    model::{Column, ColumnTo, Database, ForeignKey, Index, Prediction, Table},
    rules::ColumnName,
};
use std::collections::BTreeMap;

/// Pages that one batch fills.
const BATCH_PAGES: u64 = 1000;

/// A table and its columns that change.
struct Change<'d> {
    table: &'d Table,
    columns: Vec<&'d Column>,
    to: ColumnTo,
    /// Which of the tables it is: the number of its temporary names. They are cut where they are long.
    number: usize,
    /// The number of its first index.
    first_index: usize,
}

/// A foreign key that goes over to the new columns.
struct Link<'d> {
    key: &'d ForeignKey,
    child: &'d Table,
    parent: &'d Table,
    /// Its name until it has the old one's.
    new: String,
}

/// The steps for columns that change together.
pub fn steps(
    database: &Database,
    columns: &[ColumnName],
    to: ColumnTo,
    predictions: &[(ColumnName, Prediction)],
) -> Result<Steps, String> {
    let mut tables: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for column in columns {
        tables
            .entry((&column.schema, &column.table))
            .or_default()
            .push(&column.column);
    }
    let (mut changes, mut first_index) = (Vec::new(), 0);
    for (number, ((schema, table), names)) in tables.into_iter().enumerate() {
        let table = find(database, schema, table)?;
        let change = Change {
            table,
            columns: names.iter().filter_map(|name| table.column(name)).collect(),
            to,
            number,
            first_index,
        };
        change.check()?;
        first_index += change.indexes().count();
        changes.push(change);
    }
    let links = links(database, &changes)?;
    let mut steps = vec![checks(&changes)];
    steps.push(add_columns(&changes));
    steps.extend(changes.iter().map(Change::fill));
    steps.extend(not_null(&changes));
    steps.extend(indexes(&changes));
    steps.extend(foreign_keys(&links, &changes));
    steps.push(proof_of_values(&changes));
    steps.push(swap(&changes, &links));
    let tables: Vec<String> = changes
        .iter()
        .map(|change| format!("ANALYZE {}", name(change.table)))
        .collect();
    steps.push(Step::new(
        "Counts the new columns' values for the planner. A VACUUM returns the space of the rows' old versions.",
        tables,
    ));
    let index_bytes: u64 = changes
        .iter()
        .flat_map(Change::indexes)
        .map(|index| index.bytes)
        .sum();
    let row_bytes: u64 = changes.iter().map(|change| change.table.bytes).sum();
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
    Ok(Steps {
        steps,
        is_online: true,
        extra_bytes: row_bytes + new_bytes,
        seconds: 2.0 * row_bytes as f64 / ROWS_BYTES_PER_S + new_bytes as f64 / INDEX_BYTES_PER_S,
        undo: undo(&changes),
    })
}

/// What takes it back before the swap. After it, the columns change back by the same steps with the types exchanged.
fn undo(changes: &[Change<'_>]) -> Vec<String> {
    changes
        .iter()
        .flat_map(|change| {
            let columns = change.columns.iter();
            let drop: Vec<String> = columns
                .map(|column| format!("DROP COLUMN {} CASCADE", quote(&change.fresh(&column.name))))
                .collect();
            [
                format!("DROP FUNCTION {} CASCADE", change.function()),
                format!("ALTER TABLE {} {}", name(change.table), drop.join(", ")),
            ]
        })
        .collect()
}

/// Quotes a body of PL/pgSQL with dollars, by a tag that no name in it has. A body ends with a blank.
fn body(text: &str) -> String {
    let mut tag = "$inorder$".to_owned();
    let mut number = 0;
    while text.contains(&tag) {
        number += 1;
        tag = format!("$inorder{number}$");
    }
    format!("{tag}{text}{tag}")
}

impl Change<'_> {
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

    /// The new column of an old one.
    fn fresh(&self, column: &str) -> String {
        temporary(column, self.place(column))
    }

    /// The check that proves a new column NOT NULL without a scan under the lock of the swap.
    fn proof(&self, column: &Column) -> String {
        temporary(
            &format!("{}_not_null", column.name),
            self.place(&column.name),
        )
    }

    /// Which of the columns that change one is.
    fn place(&self, column: &str) -> usize {
        let mut columns = self.columns.iter();
        columns.position(|own| own.name == column).unwrap_or(0)
    }

    /// The name of an index of the new columns until it has the old one's.
    fn new_index(&self, at: usize, index: &Index) -> String {
        temporary(&index.name, self.first_index + at)
    }

    fn changes(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own.name == column)
    }

    /// The name of a column after the new ones are there.
    fn renamed(&self, column: &str) -> String {
        match self.changes(column) {
            true => self.fresh(column),
            false => column.to_owned(),
        }
    }

    /// The indexes that hold a column that changes.
    fn indexes(&self) -> impl Iterator<Item = &Index> {
        self.table.indexes.iter().filter(|index| {
            let mut columns = index
                .terms
                .iter()
                .filter_map(|term| term.column.as_ref())
                .chain(&index.include);
            columns.any(|column| self.changes(column))
        })
    }

    fn type_name(&self) -> &'static str {
        match self.to {
            ColumnTo::Bigint => "bigint",
            ColumnTo::Binary16 => "bytea",
            ColumnTo::Uuid | ColumnTo::OrderedUuid => "uuid",
        }
    }

    /// The new value from the old one.
    fn value(&self, of: &str, column: &Column) -> String {
        self.converted(&format!("{of}{}", quote(&column.name)))
    }

    /// The new value of an expression for the old one.
    fn converted(&self, old: &str) -> String {
        match self.to {
            ColumnTo::Bigint => format!("{old}::bigint"),
            ColumnTo::Binary16 => format!("decode(replace({old}::text, '-', ''), 'hex')"),
            ColumnTo::Uuid | ColumnTo::OrderedUuid => format!("{old}::text::uuid"),
        }
    }

    /// Puts the new column in the place of the old one.
    fn swap_column(&self, column: &Column) -> String {
        let (table, mut sql) = (name(self.table), String::new());
        let (old, new) = (quote(&column.name), quote(&self.fresh(&column.name)));
        if column.is_not_null {
            sql += &format!(
                "ALTER TABLE {table} ALTER COLUMN {new} SET NOT NULL, DROP CONSTRAINT {};\n",
                quote(&self.proof(column))
            );
        }
        match (&column.default, sequence(column)) {
            (_, Some(sequence)) => {
                // Without an owner it may be of another schema, and other tables may use it.
                let owner = match column.sequences.contains(&sequence) {
                    true => format!(" OWNED BY {table}.{new}"),
                    false => String::new(),
                };
                sql += &format!(
                    "ALTER SEQUENCE {sequence} AS bigint{owner};\nALTER TABLE {table} ALTER COLUMN {new} SET DEFAULT {};\n",
                    column.default.as_deref().unwrap_or_default()
                );
            }
            (Some(default), None) => {
                let default = match self.to {
                    ColumnTo::Binary16 => self.converted(&format!("({default})")),
                    _ => format!("({default})::{}", self.type_name()),
                };
                sql += &format!("ALTER TABLE {table} ALTER COLUMN {new} SET DEFAULT {default};\n");
            }
            _ => {}
        }
        if !column.comment.is_empty() {
            sql += &format!(
                "COMMENT ON COLUMN {table}.{new} IS {};\n",
                text(&column.comment)
            );
        }
        sql += &format!(
            "ALTER TABLE {table} DROP COLUMN {old};\nALTER TABLE {table} RENAME COLUMN {new} TO {old};\n"
        );
        sql
    }

    /// Gives the new indexes the names and constraints of the old ones, which went with their columns.
    fn swap_indexes(&self) -> String {
        let (table, mut sql) = (name(self.table), String::new());
        for (at, index) in self.indexes().enumerate() {
            let (schema, new) = (quote(&self.table.schema), quote(&self.new_index(at, index)));
            sql += &match &index.constraint {
                Some(constraint) => format!(
                    "ALTER TABLE {table} ADD CONSTRAINT {} {} USING INDEX {new};\n",
                    quote(&constraint.name),
                    if index.is_primary {
                        "PRIMARY KEY"
                    } else {
                        "UNIQUE"
                    },
                ),
                None => format!(
                    "ALTER INDEX {schema}.{new} RENAME TO {};\n",
                    quote(&index.name)
                ),
            };
        }
        sql
    }

    fn function(&self) -> String {
        format!("{}.{}()", quote(&self.table.schema), self.trigger())
    }

    /// The trigger that fills the new columns, and the name of its function.
    fn trigger(&self) -> String {
        let name = format!("{}_convert", self.table.name);
        quote(&temporary(&name, self.number))
    }

    /// Fills the new columns page by page.
    fn fill(&self) -> Step {
        let table = name(self.table);
        let set: Vec<String> = self
            .columns
            .iter()
            .map(|column| {
                format!(
                    "{} = {}",
                    quote(&self.fresh(&column.name)),
                    self.value("", column)
                )
            })
            .collect();
        let open: Vec<String> = self
            .columns
            .iter()
            .map(|column| {
                format!(
                    "({} IS NULL AND {} IS NOT NULL)",
                    quote(&self.fresh(&column.name)),
                    quote(&column.name)
                )
            })
            .collect();
        let block = format!(
            "\nDECLARE\n  page bigint := 0;\n  pages bigint := pg_relation_size({literal}) / current_setting('block_size')::bigint;\n\
             BEGIN\n  WHILE page <= pages LOOP\n    UPDATE {table} SET {set}\n      WHERE ctid >= format('(%s,0)', page)::tid AND ctid < format('(%s,0)', page + {BATCH_PAGES})::tid\n      AND ({open});\n    \
             COMMIT;\n    page := page + {BATCH_PAGES};\n  END LOOP;\nEND ",
            literal = text(&table),
            set = set.join(", "),
            open = open.join(" OR "),
        );
        Step::new(
            format!(
                "Fills the new columns of {}, {BATCH_PAGES} pages per transaction. Locks the rows of a batch. May be run again.",
                self.table.name
            ),
            vec![NO_LOCK_WAIT.into(), format!("DO {}", body(&block))],
        )
    }
}

/// The foreign keys over columns that change.
fn links<'d>(database: &'d Database, changes: &[Change<'d>]) -> Result<Vec<Link<'d>>, String> {
    let mut links = Vec::new();
    // Their numbers are not those of the proofs of NOT NULL, which are constraints too.
    let first: usize = changes.iter().map(|change| change.columns.len()).sum();
    for change in changes {
        for key in &change.table.foreign_keys {
            if !key.columns.iter().any(|column| change.changes(column)) {
                continue;
            }
            let end = end(key)?;
            if end.contains('(') {
                return Err(format!(
                    "the foreign key {} sets some of its columns",
                    key.name
                ));
            }
            links.push(Link {
                key,
                child: change.table,
                parent: find(database, &key.parent_schema, &key.parent)?,
                new: temporary(&key.name, first + links.len()),
            });
        }
    }
    Ok(links)
}

/// What follows the columns in a foreign key's definition: its actions and when it is checked.
fn end(key: &ForeignKey) -> Result<&str, String> {
    let (mut is_quoted, mut closed) = (false, 0);
    for (at, letter) in key.definition.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ')' if !is_quoted => closed += 1,
            _ => {}
        }
        if closed == 2 {
            let end = &key.definition[at + 1..];
            return Ok(end.trim_end().trim_end_matches("NOT VALID").trim_end());
        }
    }
    Err(format!(
        "the foreign key {} is written in an unknown way",
        key.name
    ))
}

/// Counts values that can't be converted.
fn checks(changes: &[Change<'_>]) -> Step {
    let digits =
        "^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}$";
    let counts: Vec<String> = changes
        .iter()
        .filter(|change| change.to != ColumnTo::Bigint)
        .flat_map(|change| {
            let table = name(change.table);
            change.columns.iter().map(move |column| {
                format!(
                    "(SELECT count(*) FROM {table} WHERE {}::text !~ '{digits}')",
                    quote(&column.name)
                )
            })
        })
        .collect();
    Step {
        what: "Counts values that are not 32 hexadecimal digits, with or without hyphens. Reads all rows.".into(),
        statements: vec![format!(
            "SELECT {}",
            if counts.is_empty() {
                "0".to_owned()
            } else {
                counts.join(" + ")
            }
        )],
        expected: Some("0".into()),
    }
}

fn add_columns(changes: &[Change<'_>]) -> Step {
    let mut statements = vec![LOCK_WAIT.to_owned()];
    for change in changes {
        let table = name(change.table);
        let function = change.function();
        let columns: Vec<String> = change
            .columns
            .iter()
            .map(|column| {
                format!(
                    "ADD COLUMN {} {}",
                    quote(&change.fresh(&column.name)),
                    change.type_name()
                )
            })
            .collect();
        let set: Vec<String> = change
            .columns
            .iter()
            .map(|column| {
                format!(
                    "NEW.{} := {};",
                    quote(&change.fresh(&column.name)),
                    change.value("NEW.", column)
                )
            })
            .collect();
        let trigger = change.trigger();
        statements.push(format!(
            "BEGIN;\nSET LOCAL lock_timeout = '5s';\nALTER TABLE {table} {columns};\n\
             CREATE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS {body};\n\
             CREATE TRIGGER {trigger} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {function};\n\
             ALTER TABLE {table} ENABLE ALWAYS TRIGGER {trigger};\nCOMMIT",
            columns = columns.join(", "),
            body = body(&format!("\nBEGIN {} RETURN NEW; END ", set.join(" "))),
        ));
    }
    Step::new(
        "Adds empty columns, and triggers that keep them equal in new and changed rows, replicated ones too. Locks each table for the change of its definition only.",
        statements,
    )
}

fn not_null(changes: &[Change<'_>]) -> Option<Step> {
    let (mut add, mut validate) = (Vec::new(), Vec::new());
    for change in changes {
        for column in change.columns.iter().filter(|column| column.is_not_null) {
            let (table, proof) = (name(change.table), quote(&change.proof(column)));
            add.push(format!(
                "ALTER TABLE {table} ADD CONSTRAINT {proof} CHECK ({} IS NOT NULL) NOT VALID",
                quote(&change.fresh(&column.name))
            ));
            validate.push(format!("ALTER TABLE {table} VALIDATE CONSTRAINT {proof}"));
        }
    }
    let is_needed = !add.is_empty();
    let statements = std::iter::once(LOCK_WAIT.to_owned())
        .chain(add)
        .chain(validate);
    is_needed.then(|| {
        Step::new(
            "Proves that the new columns are filled. Reads all rows; reads and writes go on.",
            statements.collect(),
        )
    })
}

/// Counts rows whose new values aren't those of the old columns. None may be lost with these.
fn proof_of_values(changes: &[Change<'_>]) -> Step {
    let counts = changes.iter().map(|change| {
        let differs = change.columns.iter().map(|column| {
            let new = quote(&change.fresh(&column.name));
            format!("{new} IS DISTINCT FROM {}", change.value("", column))
        });
        format!(
            "(SELECT count(*) FROM {} WHERE {})",
            name(change.table),
            differs.collect::<Vec<_>>().join(" OR ")
        )
    });
    Step {
        what: "Counts rows whose new values differ from the old ones. Reads all rows; reads and writes go on.".into(),
        statements: vec![format!("SELECT {}", counts.collect::<Vec<_>>().join(" + "))],
        expected: Some("0".into()),
    }
}

fn indexes(changes: &[Change<'_>]) -> Option<Step> {
    let mut statements = vec![NO_LOCK_WAIT.to_owned()];
    for change in changes {
        for (at, index) in change.indexes().enumerate() {
            let new = change.new_index(at, index);
            statements.push(definition(
                change.table,
                index,
                &new,
                &|column| change.renamed(column),
                None,
            ));
        }
    }
    let is_needed = statements.len() > 1;
    is_needed.then(|| {
        Step::new(
            "Builds the indexes of the new columns. Reads and writes go on. An index that fails is left invalid: drop it and build it again.",
            statements,
        )
    })
}

fn foreign_keys(links: &[Link<'_>], changes: &[Change<'_>]) -> Option<Step> {
    let renamed = |table: &Table, column: &String| {
        let mut changes = changes.iter();
        let own = changes.find(|change| std::ptr::eq(change.table, table));
        quote(&own.map_or(column.clone(), |change| change.renamed(column)))
    };
    let (mut add, mut validate) = (Vec::new(), Vec::new());
    for link in links {
        let columns: Vec<String> = link
            .key
            .columns
            .iter()
            .map(|column| renamed(link.child, column))
            .collect();
        let parents: Vec<String> = link
            .key
            .parent_columns
            .iter()
            .map(|column| renamed(link.parent, column))
            .collect();
        let (table, new) = (name(link.child), quote(&link.new));
        add.push(format!(
            "ALTER TABLE {table} ADD CONSTRAINT {new} FOREIGN KEY ({}) REFERENCES {} ({}){} NOT VALID",
            columns.join(", "),
            name(link.parent),
            parents.join(", "),
            end(link.key).unwrap_or_default(),
        ));
        if !link.key.definition.ends_with("NOT VALID") {
            validate.push(format!("ALTER TABLE {table} VALIDATE CONSTRAINT {new}"));
        }
    }
    let is_needed = !add.is_empty();
    let statements = std::iter::once(LOCK_WAIT.to_owned())
        .chain(add)
        .chain(validate);
    is_needed.then(|| Step::new("Adds the foreign keys of the new columns. Reads all rows of the referring tables; reads and writes go on.", statements.collect()))
}

/// The sequence that a default counts with, as an expression names it.
fn sequence(column: &Column) -> Option<String> {
    let rest = column.default.as_deref()?.strip_prefix("nextval(")?;
    let name = rest
        .strip_suffix("::regclass)")?
        .strip_prefix('\'')?
        .strip_suffix('\'')?;
    Some(name.replace("''", "'"))
}

fn swap(changes: &[Change<'_>], links: &[Link<'_>]) -> Step {
    let tables: Vec<String> = changes.iter().map(|change| name(change.table)).collect();
    let mut sql = format!(
        "BEGIN;\nSET LOCAL lock_timeout = '5s';\nLOCK TABLE {} IN ACCESS EXCLUSIVE MODE;\n",
        tables.join(", ")
    );
    for change in changes {
        sql += &format!("DROP FUNCTION {} CASCADE;\n", change.function());
    }
    for link in links {
        sql += &format!(
            "ALTER TABLE {} DROP CONSTRAINT {};\n",
            name(link.child),
            quote(&link.key.name)
        );
    }
    for change in changes {
        for column in &change.columns {
            sql += &change.swap_column(column);
        }
        sql += &change.swap_indexes();
    }
    for link in links {
        sql += &format!(
            "ALTER TABLE {} RENAME CONSTRAINT {} TO {};\n",
            name(link.child),
            quote(&link.new),
            quote(&link.key.name)
        );
    }
    Step::new(
        "Swaps the columns. Locks the tables for the change of their definitions, or gives up after 5 s: then run it again. \
         The columns are then the last ones of their tables; rights on single columns must be granted again.",
        vec![sql + "COMMIT"],
    )
}

#[cfg(test)]
mod tests {
    use super::body;

    #[test]
    fn a_body_is_quoted_by_a_tag_that_it_does_not_have() {
        assert_eq!(body("BEGIN END "), "$inorder$BEGIN END $inorder$");
        let text = "UPDATE \"$inorder$; $inorder1$\" ";
        assert_eq!(body(text), format!("$inorder2${text}$inorder2$"));
    }
}
