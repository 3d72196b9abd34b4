//! Sequences, how far each has counted, and which columns it counts.

use super::{
    catalog::{Relation, objects},
    quote,
};
use crate::{
    Error,
    server::model::{CountedColumn, Database, Sequence},
};
use inorder_engine::remote::ReadOnly;
use serde::Deserialize;
use std::collections::HashMap;

/// The columns of a sequence are those that own it (also as identity), and those whose defaults depend on it.
const SEQUENCES: &str = "SELECT json_build_object('oid', c.oid::bigint, 'schema', n.nspname, 'name', c.relname,
     'type', format_type(s.seqtypid, NULL), 'start', s.seqstart, 'increment', s.seqincrement, 'minimum', s.seqmin,
     'maximum', s.seqmax, 'cycles', s.seqcycle, 'may_read', has_sequence_privilege(c.oid, 'SELECT'),
     'columns', coalesce((SELECT json_agg(json_build_object('oid', a.attrelid::bigint, 'column', a.attname)) FROM (
         SELECT x.refobjid AS relation, x.refobjsubid AS number FROM pg_depend x
             WHERE x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.refclassid = 'pg_class'::regclass
             AND x.refobjsubid > 0 AND x.deptype IN ('a', 'i')
         UNION SELECT d.adrelid, d.adnum FROM pg_depend x JOIN pg_attrdef d ON d.oid = x.objid
             WHERE x.classid = 'pg_attrdef'::regclass AND x.refclassid = 'pg_class'::regclass AND x.refobjid = c.oid) k
         JOIN pg_attribute a ON a.attrelid = k.relation AND a.attnum = k.number AND NOT a.attisdropped), '[]'))
     FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE {users} ORDER BY n.nspname, c.relname";

/// Sequences that are read by one statement.
const AT_ONCE: usize = 50;

#[derive(Deserialize)]
struct Row {
    oid: u64,
    schema: String,
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    start: i64,
    increment: i64,
    minimum: i64,
    maximum: i64,
    cycles: bool,
    may_read: bool,
    columns: Vec<ColumnOf>,
}

#[derive(Deserialize)]
struct ColumnOf {
    oid: u64,
    column: String,
}

/// Reads all sequences. Those that may not be read become a note.
pub(super) fn read(
    session: &mut ReadOnly,
    relations: &[Relation],
    database: &mut Database,
) -> Result<(), Error> {
    let rows = objects::<Row>(session, SEQUENCES)?;
    let tables: HashMap<u64, &Relation> = relations.iter().map(|own| (own.oid, own)).collect();
    let reached = values(session, &rows)?;
    let secret: Vec<String> = rows
        .iter()
        .filter(|row| !reached.contains_key(&row.oid))
        .map(|row| format!("{}.{}", row.schema, row.name))
        .collect();
    if !secret.is_empty() {
        database.notes.push(format!(
            "How far these sequences have counted may not be read (GRANT SELECT ON them TO the user of the URL): {}.",
            secret.join(", ")
        ));
    }
    for row in rows {
        let columns = row.columns.iter().filter_map(|own| {
            let table = &tables.get(&own.oid)?.table;
            Some(CountedColumn {
                schema: table.schema.clone(),
                table: table.name.clone(),
                column: own.column.clone(),
            })
        });
        database.sequences.push(Sequence {
            columns: columns.collect(),
            reached: reached.get(&row.oid).copied().flatten(),
            schema: row.schema,
            name: row.name,
            type_name: row.type_name,
            start: row.start,
            increment: row.increment,
            minimum: row.minimum,
            maximum: row.maximum,
            cycles: row.cycles,
        });
    }
    by_text(relations, &mut database.sequences);
    for own in &mut database.sequences {
        own.columns.sort();
        own.columns.dedup();
    }
    Ok(())
}

/// The last number of each sequence that may be read, by object id; `None` if it gave none yet. A sequence that was set to
/// a number that it will give next (RESTART, or `setval` with false) has reached the number before it.
fn values(session: &mut ReadOnly, rows: &[Row]) -> Result<HashMap<u64, Option<i64>>, Error> {
    let mut found = HashMap::new();
    let open: Vec<&Row> = rows.iter().filter(|row| row.may_read).collect();
    for some in open.chunks(AT_ONCE) {
        let read = match values_of(session, some) {
            Ok(read) => read,
            Err(error) if !session.is_open() => return Err(error),
            // A lock is in the way of one of them.
            Err(_) => {
                let mut read = Vec::new();
                for row in some {
                    match values_of(session, &[row]) {
                        Ok(own) => read.extend(own),
                        Err(error) if !session.is_open() => return Err(error),
                        Err(_) => {}
                    }
                }
                read
            }
        };
        found.extend(read);
    }
    Ok(found)
}

fn values_of(session: &mut ReadOnly, rows: &[&Row]) -> Result<Vec<(u64, Option<i64>)>, Error> {
    let selects: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "SELECT {}, last_value, is_called::int FROM {}.{}",
                row.oid,
                quote(&row.schema),
                quote(&row.name)
            )
        })
        .collect();
    let by_oid: HashMap<u64, &Row> = rows.iter().map(|row| (row.oid, *row)).collect();
    let read = session.rows(&selects.join(" UNION ALL "))?;
    let value = |row: &Vec<Option<String>>| {
        let number = |at: usize| row.get(at)?.as_ref()?.parse::<i64>().ok();
        let of = by_oid.get(&(number(0)? as u64))?;
        let (last, is_called) = (number(1)?, number(2)? == 1);
        Some((
            of.oid,
            match (is_called, last == of.start) {
                (true, _) => Some(last),
                (false, true) => None,
                (false, false) => Some(last.saturating_sub(of.increment)),
            },
        ))
    };
    Ok(read.iter().filter_map(value).collect())
}

/// Finds sequences that defaults name by text, which the catalog keeps no dependency for: `nextval('s'::text)`.
fn by_text(relations: &[Relation], sequences: &mut [Sequence]) {
    for table in relations.iter().map(|relation| &relation.table) {
        for column in &table.columns {
            let named = column.default.as_deref().and_then(named_by_text);
            let Some((schema, name)) = named else {
                continue;
            };
            let is_it = |own: &&mut Sequence| {
                own.name == name && schema.as_ref().is_none_or(|schema| *schema == own.schema)
            };
            let mut own: Vec<&mut Sequence> = sequences.iter_mut().filter(is_it).collect();
            // Without a schema the search path decides.
            if let [own] = &mut own[..] {
                own.columns.push(CountedColumn {
                    schema: table.schema.clone(),
                    table: table.name.clone(),
                    column: column.name.clone(),
                });
            }
        }
    }
}

/// The schema, if it is given, and the name of the sequence that a default names as text.
fn named_by_text(default: &str) -> Option<(Option<String>, String)> {
    let (_, rest) = default.split_once("nextval(")?;
    let rest = rest.trim_start_matches('(').strip_prefix('\'')?;
    let (text, end) = rest.split_once('\'')?;
    if !end.starts_with("::text") && !end.starts_with("::character varying") {
        return None;
    }
    let (mut parts, mut part, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '.' if !is_quoted => parts.push(std::mem::take(&mut part)),
            _ if is_quoted => part.push(letter),
            _ => part.extend(letter.to_lowercase()),
        }
    }
    Some((parts.pop(), part))
}

#[cfg(test)]
mod tests {
    use super::named_by_text;

    #[test]
    fn sequences_are_found_by_text() {
        let of = |default| {
            let (schema, name) = named_by_text(default)?;
            Some(format!("{}|{name}", schema.unwrap_or_default()))
        };
        assert_eq!(
            of("nextval(('Shop.\"A.b\"'::text)::regclass)").unwrap(),
            "shop|A.b"
        );
        assert_eq!(of("nextval('s'::character varying)").unwrap(), "|s");
        assert_eq!(of("nextval('s'::regclass)"), None);
        assert_eq!(of("now()"), None);
    }
}
