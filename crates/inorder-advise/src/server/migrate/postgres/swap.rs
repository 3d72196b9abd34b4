//! The swap of old and new columns: one statement, which proves under its locks that nothing is lost.

use super::{
    beside,
    change::{Change, around_digest, is_identity, sequence},
    group::Group,
    guarded, is_valid_as, lock, name, quote, text,
};
use crate::server::{
    migrate::Step,
    model::{Column, ColumnTo},
    shape,
};

/// The step of the swap. Its proofs read so many bytes per second.
pub(super) fn swap(group: &Group<'_>, bytes_per_s: f64) -> Step {
    let tables = group.tables();
    let mut sql = format!(
        "{}\n{}\n{}\n",
        lock(&tables),
        group.unless_done(),
        group.are_same()
    );
    for change in &group.changes {
        for column in &change.columns {
            sql += &format!(
                "{}\n{}\n",
                change.is_convertible(column).unwrap_or_default(),
                change.is_equal(column)
            );
        }
        sql += &indexes_are_built(change);
    }
    for link in group.links.iter().filter(|link| link.is_valid()) {
        sql += &format!(
            "IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = to_regclass({}) AND conname = {new} AND convalidated) THEN\n  \
             RAISE EXCEPTION USING MESSAGE = format('the foreign key %s is missing or not valid', {new}), HINT = 'Run the file again: it is made then.';\nEND IF;\n",
            text(&name(link.child)),
            new = text(&link.new)
        );
    }
    sql += &actions(group);
    let bytes: u64 = group.changes.iter().map(|change| change.table.bytes).sum();
    Step::new(
        format!(
            "Proves all values once more and swaps the columns, or changes nothing. Tries for 50 ms to lock the tables, then waits and tries again. \
             Holds the locks while it reads all rows, about {:.0} s at {:.0} MB/s: reads and writes wait. The columns are then the last ones of their tables.",
            (2.0 * bytes as f64 / bytes_per_s).ceil(),
            bytes_per_s / 1e6
        ),
        vec![guarded(
            &tables,
            "inorder_label text; inorder_kept text[] := '{}'; inorder_identity text[]; inorder_statement text;",
            &sql,
        )],
    )
}

fn indexes_are_built(change: &Change<'_>) -> String {
    let mut sql = String::new();
    for (at, index) in change.indexes().enumerate() {
        let proof = is_valid_as(
            change.table,
            index,
            &change.new_index(at, index),
            &|column| change.renamed(column),
        );
        sql += &match change.may_be_gone(index) {
            true => format!(
                "IF to_regclass({}) IS NOT NULL THEN\n  {proof}\nEND IF;\n",
                text(&beside(change.table, &index.name))
            ),
            false => format!("{proof}\n"),
        };
    }
    sql
}

/// What happens after the proofs.
fn actions(group: &Group<'_>) -> String {
    let mut sql = String::new();
    for change in &group.changes {
        sql += &format!(
            "DROP TRIGGER {} ON {};\nDROP FUNCTION {};\n",
            quote(&change.trigger()),
            name(change.table),
            change.function()
        );
    }
    for link in &group.links {
        let child = name(link.child);
        sql += &format!(
            "inorder_label := pg_temp.inorder_comment({child_text}, {});\nIF inorder_label <> '' THEN\n  \
             EXECUTE format('COMMENT ON CONSTRAINT %I ON %s IS %L', {}, {child_text}, inorder_label);\nEND IF;\nALTER TABLE {child} DROP CONSTRAINT {};\n",
            text(&link.key.name),
            text(&link.new),
            quote(&link.key.name),
            child_text = text(&child)
        );
    }
    for change in &group.changes {
        sql += &comments(change);
    }
    for change in &group.changes {
        for column in &change.columns {
            sql += &swap_column(change, column);
        }
        sql += &swap_indexes(change);
    }
    for link in &group.links {
        sql += &format!(
            "ALTER TABLE {} RENAME CONSTRAINT {} TO {};\n",
            name(link.child),
            quote(&link.new),
            quote(&link.key.name)
        );
    }
    sql
}

/// Keeps the comments of indexes, and those of their constraints until these are made.
fn comments(change: &Change<'_>) -> String {
    let mut sql = String::new();
    for (at, index) in change.indexes().enumerate() {
        let of = |index: &str| text(&beside(change.table, index));
        let constraint = index.constraint.as_ref().map_or("", |own| &own.name);
        sql += &format!(
            "PERFORM pg_temp.inorder_index_comment({}, {});\ninorder_kept := array_append(inorder_kept, pg_temp.inorder_comment({}, {}));\n",
            of(&index.name),
            of(&change.new_index(at, index)),
            text(&name(change.table)),
            text(constraint)
        );
    }
    sql
}

/// Puts the new column in the place of the old one.
fn swap_column(change: &Change<'_>, column: &Column) -> String {
    let table = name(change.table);
    let (old, new) = (quote(&column.name), quote(&change.fresh(&column.name)));
    let mut sql = format!(
        "inorder_label := pg_temp.inorder_keep({}, {}, {});\n",
        text(&table),
        text(&column.name),
        text(&change.fresh(&column.name))
    );
    if column.is_not_null {
        sql += &format!("ALTER TABLE {table} ALTER COLUMN {new} SET NOT NULL;\n");
    }
    sql += &default(change, column, &new);
    let (before, after) = match is_identity(column) {
        true => (
            format!(
                "inorder_identity := pg_temp.inorder_identity({}, {});\n",
                text(&table),
                text(&column.name)
            ),
            "FOREACH inorder_statement IN ARRAY inorder_identity LOOP\n  EXECUTE inorder_statement;\nEND LOOP;\n",
        ),
        false => (String::new(), ""),
    };
    sql + &format!(
        "{before}ALTER TABLE {table} DROP COLUMN {old};\nALTER TABLE {table} RENAME COLUMN {new} TO {old};\nPERFORM pg_temp.inorder_label({}, {}, inorder_label);\n{after}",
        text(&table),
        text(&column.name)
    )
}

/// The default of a new column.
fn default(change: &Change<'_>, column: &Column, new: &str) -> String {
    let table = name(change.table);
    let set = format!("ALTER TABLE {table} ALTER COLUMN {new} SET DEFAULT");
    let Some(default) = column.default.as_deref() else {
        return String::new();
    };
    if let Some(sequence) = sequence(column) {
        let is_owned = column.sequences.contains(&sequence);
        let key = format!("{}{}", shape::SEQUENCE, column.name);
        let counted = change.table.shape.iter().find(|line| line.key == key);
        let alter = match (change.is_back, is_owned, counted) {
            (false, ..) => " AS bigint".to_owned(),
            (true, true, Some(line)) => format!(" AS {}", line.text),
            // Other tables may use it: it stays as wide as it is.
            _ => String::new(),
        };
        // Without an owner it may be of another schema.
        let owner = match is_owned {
            true => format!(" OWNED BY {table}.{new}"),
            false => String::new(),
        };
        let alter = match alter.is_empty() && owner.is_empty() {
            true => String::new(),
            false => format!("ALTER SEQUENCE {sequence}{alter}{owner};\n"),
        };
        return format!("{alter}{set} {default};\n");
    }
    if change.is_back {
        return format!("{set} {default};\n");
    }
    // Another change may have given it another default.
    let around = |before: &str, after: &str| (format!("{before}("), format!("){after}"));
    let (before, after) = match change.to {
        ColumnTo::Binary16 => around("decode(replace(", "::text, '-', ''), 'hex')"),
        ColumnTo::Bytes { .. } => {
            let (before, after) = around_digest(change.spelling(column));
            around(before, &format!("::text{after}"))
        }
        ColumnTo::Bigint => around("", "::bigint"),
        _ => around("", "::text::uuid"),
    };
    format!(
        "SELECT pg_get_expr(d.adbin, d.adrelid) INTO inorder_row FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum\n  \
         WHERE a.attrelid = to_regclass({}) AND a.attname = {};\nEXECUTE {} || inorder_row || {};\n",
        text(&table),
        text(&column.name),
        text(&format!("{set} {before}")),
        text(&after)
    )
}

/// Gives the new indexes the names and constraints of the old ones, which went with their columns.
fn swap_indexes(change: &Change<'_>) -> String {
    let (table, mut sql) = (name(change.table), String::new());
    for (at, index) in change.indexes().enumerate() {
        let new = change.new_index(at, index);
        let full = beside(change.table, &new);
        let act = match &index.constraint {
            Some(constraint) => format!(
                "ALTER TABLE {table} ADD CONSTRAINT {} {} USING INDEX {};\n  IF inorder_kept[{place}] <> '' THEN\n    \
                 EXECUTE format('COMMENT ON CONSTRAINT %I ON %s IS %L', {}, {}, inorder_kept[{place}]);\n  END IF;",
                quote(&constraint.name),
                if index.is_primary {
                    "PRIMARY KEY"
                } else {
                    "UNIQUE"
                },
                quote(&new),
                text(&constraint.name),
                text(&table),
                place = change.first_index + at + 1
            ),
            None => format!("ALTER INDEX {full} RENAME TO {};", quote(&index.name)),
        };
        sql += &match change.may_be_gone(index) {
            true => format!(
                "IF to_regclass({}) IS NOT NULL THEN\n  {act}\nEND IF;\n",
                text(&full)
            ),
            false => format!("{act}\n"),
        };
    }
    sql
}
