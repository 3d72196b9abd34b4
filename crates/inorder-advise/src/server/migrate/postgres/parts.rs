//! Changes of PostgreSQL's constraints, sequences, and the indexes of partitions.

use super::{
    array, beside, build, guarded, is_valid, lines_of, lock, name, quote, same, temporary, text,
    wait,
};
use crate::server::{
    migrate::{INDEX_BYTES_PER_S, Step, Steps, found},
    model::{Database, Table, TableKind},
};

/// Drops a foreign key or a CHECK constraint that another one repeats.
pub(in super::super) fn drop_check_or_reference(
    table: &Table,
    constraint: &str,
) -> Result<Steps, String> {
    let keys = table
        .foreign_keys
        .iter()
        .map(|own| (&own.name, &own.definition));
    let checks = table.checks.iter().map(|own| (&own.name, &own.definition));
    let all: Vec<(&String, &String)> = keys.chain(checks).collect();
    let (_, definition) = all
        .iter()
        .find(|(own, _)| *own == constraint)
        .ok_or_else(|| format!("the constraint {constraint} was not read"))?;
    let valid = definition.trim_end_matches(" NOT VALID");
    let twin = all
        .iter()
        .find(|(own, other)| *own != constraint && other.trim_end_matches(" NOT VALID") == valid);
    let mut lines = vec![format!("constraint {constraint}")];
    lines.extend(twin.map(|(own, _)| format!("constraint {own}")));
    let of = name(table);
    let mut tables = vec![of.clone()];
    let key = table.foreign_keys.iter().find(|own| own.name == constraint);
    let parent = key.map(|key| format!("{}.{}", quote(&key.parent_schema), quote(&key.parent)));
    tables.extend(parent.filter(|parent| *parent != of));
    let is_there = format!(
        "EXISTS (SELECT FROM pg_constraint WHERE conrelid = to_regclass({}) AND conname = {})",
        text(&of),
        text(constraint)
    );
    let named = quote(constraint);
    let forward = format!(
        "{}\nIF NOT {is_there} THEN\n  EXIT;\nEND IF;\n{}\nALTER TABLE {of} DROP CONSTRAINT {named};",
        lock(&tables),
        same(table, &lines_of(table, &lines), Vec::new(), true)
    );
    let add = format!(
        "IF NOT {is_there} THEN\n  ALTER TABLE {of} ADD CONSTRAINT {named} {valid} NOT VALID;\nEND IF;"
    );
    let mut back = vec![guarded(&tables, "", &add)];
    if valid == *definition {
        let validate = format!("ALTER TABLE {of} VALIDATE CONSTRAINT {named};");
        back.push(guarded(&tables, "", &validate));
    }
    Ok(Steps {
        steps: vec![Step::new(
            "Drops the constraint where the one that repeats it is as it was read. Locks the table, and the one that it refers to, for a moment, within 50 ms or not at all.",
            vec![guarded(&tables, "", &forward)],
        )],
        is_online: true,
        undo: vec![Step::new(
            "Adds the constraint again and checks all rows. Reads and writes go on but for a moment.",
            back,
        )],
        ..Steps::default()
    })
}

/// Builds an invalid index again.
pub(in super::super) fn reindex(table: &Table, index: &str) -> Steps {
    let full = beside(table, index);
    let rebuild = format!(
        "SELECT {} FROM pg_index WHERE indexrelid = to_regclass({}) AND NOT (indisvalid AND indisready) \\gexec",
        text(&format!("REINDEX INDEX CONCURRENTLY {full}")),
        text(&full)
    );
    let mut statements = vec![wait(true), rebuild, wait(false)];
    if let Some(own) = table.index(index) {
        statements.push(guarded(&[name(table)], "", &is_valid(table, own, index)));
    }
    Steps {
        steps: vec![Step::new(
            "Builds the index again where it is invalid. Reads and writes go on; waits for transactions that use the table.",
            statements,
        )],
        is_online: true,
        extra_bytes: table.bytes,
        seconds: table.bytes as f64 / INDEX_BYTES_PER_S,
        ..Steps::default()
    }
}

/// Gives an index of a partitioned table its missing parts. It is valid when each partition has a valid one.
pub(in super::super) fn attach_indexes(
    database: &Database,
    table: &Table,
    index: &str,
) -> Result<Steps, String> {
    let own = found(table, index)?;
    let whole = format!("{}.{}", table.schema, index);
    let of = format!("{}.{}", table.schema, table.name);
    if own.constraint.is_some() {
        return Err(format!(
            "{index} backs a constraint: ALTER TABLE … ADD CONSTRAINT for each partition, then ALTER INDEX … ATTACH PARTITION"
        ));
    }
    let (_, body) = own
        .definition
        .split_once(" USING ")
        .ok_or("the index is written in an unknown way")?;
    let unique = if own.is_unique { "UNIQUE " } else { "" };
    let (mut steps, mut bytes) = (Vec::new(), 0);
    let parts = database
        .tables
        .iter()
        .filter(|part| part.parent.as_ref() == Some(&of));
    for part in parts {
        if part.kind == TableKind::Partitioned {
            return Err(format!(
                "{}.{} is partitioned itself",
                part.schema, part.name
            ));
        }
        let attached = part
            .indexes
            .iter()
            .find(|own| own.parent.as_ref() == Some(&whole));
        let new = match attached {
            // Attaching it again is how the server is told that it is valid now.
            Some(attached) if !attached.is_valid => {
                steps.extend(reindex(part, &attached.name).steps);
                attached.name.clone()
            }
            Some(attached) => attached.name.clone(),
            None => {
                let new = temporary(&format!("{}_{index}", part.name), 0);
                let sql = format!(
                    "CREATE {unique}INDEX CONCURRENTLY {} ON {} USING {body}",
                    quote(&new),
                    name(part)
                );
                steps.push(Step::new(
                    "Builds the index of a partition. Reads and writes go on. What a failed build left is removed first.",
                    build(part, &new, &sql, "true"),
                ));
                bytes += part.bytes;
                new
            }
        };
        steps.push(attach(table, index, part, &new));
    }
    Ok(Steps {
        steps,
        is_online: true,
        extra_bytes: bytes,
        seconds: bytes as f64 / INDEX_BYTES_PER_S,
        ..Steps::default()
    })
}

/// Makes the index of a partition a part of that of its table. The server refuses another one.
fn attach(table: &Table, index: &str, part: &Table, new: &str) -> Step {
    let inner = format!(
        "ALTER INDEX {} ATTACH PARTITION {};",
        beside(table, index),
        beside(part, new)
    );
    Step::new(
        "Makes it a part of the whole index. Locks the partition for a moment, within 50 ms or not at all.",
        vec![guarded(&[name(part), name(table)], "", &inner)],
    )
}

/// Gives a sequence a wider type. Its end moves with the type.
pub(in super::super) fn widen_sequence(
    database: &Database,
    schema: &str,
    sequence: &str,
    to: &str,
) -> Result<Steps, String> {
    let mut all = database.sequences.iter();
    let own = all
        .find(|own| own.schema == schema && own.name == sequence)
        .ok_or_else(|| format!("the sequence {schema}.{sequence} was not read"))?;
    let full = format!("{}.{}", quote(schema), quote(sequence));
    let alter = |from: &str, to: &str| {
        let is_now = format!(
            "SELECT seqtypid::regtype::text INTO inorder_row FROM pg_sequence WHERE seqrelid = to_regclass({});",
            text(&full)
        );
        let known = array([text(from), text(to)]);
        let inner = format!(
            "{is_now}\nIF inorder_row IS NULL OR inorder_row <> ALL ({known}) THEN\n  \
             RAISE EXCEPTION USING MESSAGE = format('the sequence %s is %s', {}, coalesce('now ' || inorder_row, 'missing')), HINT = 'Run inorder advise again.';\nEND IF;\n\
             IF inorder_row <> {} THEN\n  ALTER SEQUENCE {full} AS {to};\nEND IF;",
            text(&full),
            text(to)
        );
        guarded(std::slice::from_ref(&full), "", &inner)
    };
    Ok(Steps {
        steps: vec![Step::new(
            "Gives the sequence the type of its column. Locks the sequence for a moment, within 50 ms or not at all.",
            vec![alter(&own.type_name, to)],
        )],
        is_online: true,
        undo: vec![Step::new(
            "Gives the sequence its type again, if that has room for its numbers.",
            vec![alter(to, &own.type_name)],
        )],
        ..Steps::default()
    })
}
