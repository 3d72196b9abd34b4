//! Changes of indexes of PostgreSQL.

use super::{INDEX_BYTES_PER_S, Step, Steps};
pub(crate) use crate::ddl::{literal as text, quoted as quote};
use crate::server::model::{Database, Index, Table, TableKind};

/// How long a statement waits for a lock before it gives up: other sessions wait behind it as long.
pub const LOCK_WAIT: &str = "SET lock_timeout = '5s'";
/// Statements that work without blocking wait as long as it takes.
pub const NO_LOCK_WAIT: &str = "SET lock_timeout = 0";

/// The qualified name of a table.
pub fn name(table: &Table) -> String {
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}

/// Drops an index, without a lock where the engine can.
pub fn drop_index(table: &Table, index: &str) -> Result<Steps, String> {
    let own = found(table, index)?;
    let full = format!("{}.{}", quote(&table.schema), quote(index));
    let is_partitioned = table.kind == TableKind::Partitioned;
    let steps = match is_partitioned {
        true => Step::new(
            "Drops the index of every partition. Locks the table and its partitions for as long as files are unlinked.",
            vec![LOCK_WAIT.into(), format!("DROP INDEX {full}")],
        ),
        false => Step::new(
            "Drops the index. Reads and writes go on; waits for transactions that use the table.",
            vec![
                NO_LOCK_WAIT.into(),
                format!("DROP INDEX CONCURRENTLY {full}"),
            ],
        ),
    };
    let undo = match is_partitioned {
        true => own.definition.replacen(" ON ONLY ", " ON ", 1),
        false => concurrently(&own.definition),
    };
    Ok(Steps {
        steps: vec![steps],
        is_online: !is_partitioned,
        // Nobody wants an invalid one back.
        undo: Vec::from_iter(own.is_valid.then_some(undo)),
        ..Steps::default()
    })
}

/// Drops a UNIQUE constraint.
pub fn drop_constraint(table: &Table, index: &str) -> Result<Steps, String> {
    let own = found(table, index)?;
    let constraint = own
        .constraint
        .as_ref()
        .ok_or("the index backs no constraint")?;
    let (table_name, constraint_name) = (name(table), quote(&constraint.name));
    Ok(Steps {
        steps: vec![Step::new(
            "Drops the constraint and its index. Locks the table for the change of its definition only.",
            vec![
                LOCK_WAIT.into(),
                format!("ALTER TABLE {table_name} DROP CONSTRAINT {constraint_name}"),
            ],
        )],
        is_online: true,
        undo: vec![
            concurrently(&own.definition),
            format!(
                "ALTER TABLE {table_name} ADD CONSTRAINT {constraint_name} UNIQUE USING INDEX {}",
                quote(index)
            ),
        ],
        ..Steps::default()
    })
}

/// Replaces an index by one with the condition `column IS NOT NULL`.
pub fn partial_index(table: &Table, index: &str, column: &str) -> Result<Steps, String> {
    let own = found(table, index)?;
    let made = definition(
        table,
        own,
        &temporary(index, 0),
        &|name| name.to_owned(),
        Some(&format!("{} IS NOT NULL", quote(column))),
    );
    let schema = quote(&table.schema);
    let swap = format!(
        "BEGIN;\nSET LOCAL lock_timeout = '5s';\nALTER INDEX {schema}.{old} RENAME TO {aside};\n\
         ALTER INDEX {schema}.{new} RENAME TO {old};\nCOMMIT",
        old = quote(index),
        aside = quote(&temporary(index, 1)),
        new = quote(&temporary(index, 0)),
    );
    Ok(Steps {
        steps: vec![
            Step::new(
                "Builds the partial index. Reads and writes go on.",
                vec![NO_LOCK_WAIT.into(), made],
            ),
            Step::new("Gives it the old one's name.", vec![swap]),
            Step::new(
                "Drops the old index. Reads and writes go on.",
                vec![format!(
                    "DROP INDEX CONCURRENTLY {schema}.{}",
                    quote(&temporary(index, 1))
                )],
            ),
        ],
        is_online: true,
        extra_bytes: 8192,
        seconds: table.bytes as f64 / INDEX_BYTES_PER_S,
        undo: vec![
            format!("DROP INDEX CONCURRENTLY {schema}.{}", quote(index)),
            concurrently(&own.definition),
        ],
    })
}

/// Drops a foreign key or a CHECK constraint.
pub fn drop_check_or_reference(table: &Table, constraint: &str) -> Result<Steps, String> {
    let keys = table
        .foreign_keys
        .iter()
        .map(|own| (&own.name, &own.definition));
    let checks = table.checks.iter().map(|own| (&own.name, &own.definition));
    let (_, definition) = keys
        .chain(checks)
        .find(|(own, _)| *own == constraint)
        .ok_or_else(|| format!("the constraint {constraint} was not read"))?;
    let (table, constraint) = (name(table), quote(constraint));
    let valid = definition.trim_end_matches(" NOT VALID");
    Ok(Steps {
        steps: vec![Step::new(
            "Drops the constraint. Locks the table, and the one that it refers to, for the change of its definition only.",
            vec![
                LOCK_WAIT.into(),
                format!("ALTER TABLE {table} DROP CONSTRAINT {constraint}"),
            ],
        )],
        is_online: true,
        undo: vec![
            format!("ALTER TABLE {table} ADD CONSTRAINT {constraint} {valid} NOT VALID"),
            format!("ALTER TABLE {table} VALIDATE CONSTRAINT {constraint}"),
        ],
        ..Steps::default()
    })
}

/// Builds an index again.
pub fn reindex(table: &Table, index: &str) -> Steps {
    let full = format!("{}.{}", quote(&table.schema), quote(index));
    Steps {
        steps: vec![Step::new(
            "Builds the index again. Reads and writes go on; waits for transactions that use the table.",
            vec![
                NO_LOCK_WAIT.into(),
                format!("REINDEX INDEX CONCURRENTLY {full}"),
            ],
        )],
        is_online: true,
        extra_bytes: table.bytes,
        seconds: table.bytes as f64 / INDEX_BYTES_PER_S,
        ..Steps::default()
    }
}

/// Makes the index of a partition a part of that of its table.
fn attach(table: &Table, index: &str, part: &Table, new: &str) -> Step {
    let whole = format!("{}.{}", quote(&table.schema), quote(index));
    let own = format!("{}.{}", quote(&part.schema), quote(new));
    Step::new(
        "Makes it a part of the whole index. Locks the partition for the change of its definition only.",
        vec![
            LOCK_WAIT.into(),
            format!("ALTER INDEX {whole} ATTACH PARTITION {own}"),
        ],
    )
}

/// Gives an index of a partitioned table its missing parts. It is valid when each partition has a valid one.
pub fn attach_indexes(database: &Database, table: &Table, index: &str) -> Result<Steps, String> {
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
                steps.push(Step::new(
                    "Builds the index of a partition. Reads and writes go on.",
                    vec![
                        NO_LOCK_WAIT.into(),
                        format!(
                            "CREATE {unique}INDEX CONCURRENTLY {} ON {} USING {body}",
                            quote(&new),
                            name(part)
                        ),
                    ],
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

/// Gives a sequence a wider type. Its end moves with the type.
pub fn widen_sequence(
    database: &Database,
    schema: &str,
    sequence: &str,
    to: &str,
) -> Result<Steps, String> {
    let mut all = database.sequences.iter();
    let own = all
        .find(|own| own.schema == schema && own.name == sequence)
        .ok_or_else(|| format!("the sequence {schema}.{sequence} was not read"))?;
    let alter = |to: &str| {
        let name = format!("{}.{}", quote(schema), quote(sequence));
        format!("ALTER SEQUENCE {name} AS {to}")
    };
    Ok(Steps {
        steps: vec![Step::new(
            "Gives the sequence the type of its column. Locks the sequence for the change of its definition only.",
            vec![LOCK_WAIT.into(), alter(to)],
        )],
        is_online: true,
        undo: vec![alter(&own.type_name)],
        ..Steps::default()
    })
}

fn found<'t>(table: &'t Table, index: &str) -> Result<&'t Index, String> {
    table
        .index(index)
        .ok_or_else(|| format!("the index {index} was not read"))
}

/// The statement of an index, built without blocking writes.
pub fn concurrently(definition: &str) -> String {
    match definition.strip_prefix("CREATE UNIQUE INDEX ") {
        Some(rest) => format!("CREATE UNIQUE INDEX CONCURRENTLY {rest}"),
        None => definition.replacen("CREATE INDEX ", "CREATE INDEX CONCURRENTLY ", 1),
    }
}

/// Bytes of a name at most (NAMEDATALEN - 1).
const NAME_BYTES: usize = 63;

/// A name for a time, made from another one.
pub fn temporary(name: &str, number: usize) -> String {
    let end = format!("_inorder{number}");
    let mut until = name.len().min(NAME_BYTES - end.len());
    while !name.is_char_boundary(until) {
        until -= 1;
    }
    format!("{}{end}", &name[..until])
}

/// The statement of a B-tree or hash index under another name, with other columns and another condition.
pub fn definition(
    table: &Table,
    index: &Index,
    new: &str,
    renamed: &dyn Fn(&str) -> String,
    predicate: Option<&str>,
) -> String {
    let term = |term: &crate::server::model::Term| {
        let mut out = match (&term.column, &term.expression) {
            (Some(column), _) => quote(&renamed(column)),
            (_, expression) => format!("({})", expression.as_deref().unwrap_or_default()),
        };
        let is_converted = term
            .column
            .as_ref()
            .is_some_and(|column| renamed(column) != *column);
        if !is_converted {
            if let Some(collation) = &term.collation {
                out += &format!(" COLLATE {collation}");
            }
            if let Some(class) = &term.operator_class {
                out += &format!(" {class}");
            }
        }
        if index.method == "btree" {
            out += if term.is_descending { " DESC" } else { "" };
            out += if term.nulls_first {
                " NULLS FIRST"
            } else {
                " NULLS LAST"
            };
        }
        out
    };
    let terms: Vec<String> = index.terms.iter().map(term).collect();
    let mut out = format!(
        "CREATE {}INDEX CONCURRENTLY {} ON {} USING {} ({})",
        if index.is_unique { "UNIQUE " } else { "" },
        quote(new),
        name(table),
        index.method,
        terms.join(", ")
    );
    if !index.include.is_empty() {
        let columns: Vec<String> = index
            .include
            .iter()
            .map(|column| quote(&renamed(column)))
            .collect();
        out += &format!(" INCLUDE ({})", columns.join(", "));
    }
    if index.nulls_are_equal {
        out += " NULLS NOT DISTINCT";
    }
    let fill = index
        .fill_percent
        .map(|fill| format!("fillfactor = {fill}"));
    let equal = (!index.deduplicates).then(|| "deduplicate_items = off".to_owned());
    let options: Vec<String> = fill.into_iter().chain(equal).collect();
    if !options.is_empty() {
        out += &format!(" WITH ({})", options.join(", "));
    }
    if let Some(predicate) = predicate.or(index.predicate.as_deref()) {
        out += &format!(" WHERE {predicate}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::temporary;

    #[test]
    fn a_name_for_a_time_fits_and_keeps_whole_letters() {
        assert_eq!(temporary("orders_pkey", 3), "orders_pkey_inorder3");
        let long = temporary(&"ü".repeat(40), 10);
        assert!(long.len() <= 63 && long.ends_with("_inorder10"), "{long}");
    }
}
