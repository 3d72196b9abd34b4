//! What in a database names an index or a constraint: the bodies of functions, views, triggers and events, and the
//! statements that the server remembers. Where it goes, these fail.

use super::model::{Product, Table};
use crate::{Error, ddl::literal};
use inorder_engine::remote::ReadOnly;

/// Schemas of MariaDB and MySQL that hold nothing of users.
const MARIADB_SYSTEM: &str = "'mysql', 'information_schema', 'performance_schema', 'sys'";

/// The query of what names an index or constraint of a PostgreSQL table, in words.
pub fn postgres(table: &Table, names: &[&str]) -> String {
    let like = |text: &str| matches_postgres(table, names, text);
    let list: Vec<String> = names.iter().map(|name| literal(name)).collect();
    let of = literal(&format!(
        "\"{}\".\"{}\"",
        table.schema.replace('"', "\"\""),
        table.name.replace('"', "\"\"")
    ));
    format!(
        "SELECT 'the function ' || p.oid::regprocedure::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang JOIN pg_namespace n ON n.oid = p.pronamespace
           WHERE l.lanname NOT IN ('c', 'internal') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND ({})
           AND NOT EXISTS (SELECT FROM pg_depend x WHERE x.classid = 'pg_proc'::regclass AND x.objid = p.oid AND x.deptype = 'e')
         UNION ALL SELECT pg_describe_object(x.classid, x.objid, x.objsubid) FROM pg_depend x
           WHERE x.classid IN ('pg_proc'::regclass, 'pg_rewrite'::regclass) AND (
             (x.refclassid = 'pg_constraint'::regclass AND x.refobjid IN (SELECT k.oid FROM pg_constraint k WHERE k.conrelid = to_regclass({of}) AND k.conname IN ({list})))
             OR (x.refclassid = 'pg_class'::regclass AND x.refobjid IN (SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
               WHERE i.indrelid = to_regclass({of}) AND c.relname IN ({list}))))
         UNION ALL SELECT 'a statistics target of its own' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_attribute a ON a.attrelid = c.oid
           WHERE i.indrelid = to_regclass({of}) AND c.relname IN ({list}) AND (to_jsonb(a) ->> 'attstattarget')::int >= 0",
        like("p.prosrc"),
        list = list.join(", "),
    )
}

/// The condition that a text names one of them. A name that a column has too counts where an index or constraint is named.
fn matches_postgres(table: &Table, names: &[&str], text: &str) -> String {
    let all = names.iter().map(|name| {
        let own = escaped(name);
        let pattern = match table.column(name) {
            None => format!("(^|[^[:alnum:]_$]){own}($|[^[:alnum:]_$])"),
            Some(_) => format!(
                "(constraints?|index(\\s+concurrently)?(\\s+if\\s+(not\\s+)?exists)?|using)\\s+(\"?[[:alnum:]_$]+\"?\\.)?\"?{own}\"?($|[^[:alnum:]_$])|/\\*\\+[^*]*[^[:alnum:]_$]{own}($|[^[:alnum:]_$])|'([^']*\\.)?\"?{own}\"?'"
            ),
        };
        format!("{text} ~* {}", literal(&pattern))
    });
    all.collect::<Vec<_>>().join(" OR ")
}

/// The queries of what names an index of a table of MariaDB or MySQL, in words. A server without one of the tables that
/// they read has no such objects.
pub fn mariadb(table: &Table, name: &str) -> Vec<String> {
    let of = |kind: &str, schema: &str, name_of: &str, text: &str, from: &str| {
        format!(
            "SELECT CONCAT('{kind} ', {schema}, '.', {name_of}, IF(COALESCE({text}, '') = '', ', whose text may not be read,', '')) FROM information_schema.{from} \
             WHERE {schema} NOT IN ({MARIADB_SYSTEM}) AND (COALESCE({text}, '') = '' OR {}) LIMIT 1",
            matches_mariadb(table, name, text)
        )
    };
    vec![
        of(
            "the view",
            "TABLE_SCHEMA",
            "TABLE_NAME",
            "VIEW_DEFINITION",
            "VIEWS",
        ),
        of(
            "the routine",
            "ROUTINE_SCHEMA",
            "ROUTINE_NAME",
            "ROUTINE_DEFINITION",
            "ROUTINES",
        ),
        of(
            "the trigger",
            "TRIGGER_SCHEMA",
            "TRIGGER_NAME",
            "ACTION_STATEMENT",
            "TRIGGERS",
        ),
        of(
            "the event",
            "EVENT_SCHEMA",
            "EVENT_NAME",
            "EVENT_DEFINITION",
            "EVENTS",
        ),
    ]
}

/// The condition that a text names an index of a table, as hints and HANDLER do. Index names are those of columns often.
fn matches_mariadb(table: &Table, name: &str, text: &str) -> String {
    let (own, of) = (
        escaped(&name.to_lowercase()),
        escaped(&table.name.to_lowercase()),
    );
    let no_name = "[^[:alnum:]_$]";
    let word = |own: &str| format!("(^|{no_name}){own}($|{no_name})");
    let pattern = match table.column(name) {
        None => word(&own),
        Some(_) => format!(
            "(force|use|ignore)[[:space:]]+(index|key)[^(]*[(]([^)]*{no_name})?{own}({no_name}[^)]*)?[)]|(index|key)[[:space:]]+(if[[:space:]]+exists[[:space:]]+)?`?{own}($|{no_name})\
             |read[[:space:]]+`?{own}($|{no_name})|/[*][+][^*]*{no_name}{own}($|{no_name})"
        ),
    };
    let of = format!("LOWER({text}) RLIKE {}", escaped_literal(&word(&of)));
    // Dynamic SQL may put the table's name together.
    let where_of = match table.column(name) {
        None => format!("({of} OR LOWER({text}) RLIKE 'prepare|execute')"),
        Some(_) => of,
    };
    format!(
        "LOWER({text}) RLIKE {} AND {where_of}",
        escaped_literal(&pattern)
    )
}

/// A name within a regular expression.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_punctuation() && letter != '_' {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// A literal of MariaDB and MySQL.
pub fn escaped_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Looks for what names one of these, and says what was found.
///
/// # Errors
/// If the connection is lost, or the catalog can't be read.
pub fn find(
    session: &mut ReadOnly,
    product: Product,
    table: &Table,
    names: &[&str],
) -> Result<Option<String>, Error> {
    let first =
        |rows: inorder_engine::remote::TextRows| rows.into_iter().flatten().flatten().next();
    if product == Product::Mariadb {
        for query in mariadb(table, names[0]) {
            if let Some(found) = optional(session, &query)?.and_then(first) {
                return Ok(Some(found));
            }
        }
        let digests = format!(
            "SELECT 'a statement that the server remembers' FROM performance_schema.events_statements_summary_by_digest WHERE {} \
             AND LOWER(DIGEST_TEXT) RLIKE '(force|use|ignore)[[:space:]]+(index|key)|handler|/[*][+]' LIMIT 1",
            matches_mariadb(table, names[0], "DIGEST_TEXT")
        );
        return optional(session, &digests).map(|rows| first(rows.unwrap_or_default()));
    }
    if let Some(found) = first(session.rows(&postgres(table, names))?) {
        return Ok(Some(found));
    }
    // Tables of extensions, which not every database has.
    let extensions = "SELECT quote_ident(n.nspname) || '.' || c.relname, c.relname FROM pg_extension e JOIN pg_namespace n ON true \
         JOIN pg_class c ON c.relnamespace = n.oid JOIN pg_depend x ON x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.refobjid = e.oid AND x.deptype = 'e' \
         WHERE (e.extname, c.relname) IN (('pg_stat_statements', 'pg_stat_statements'), ('pg_hint_plan', 'hints'), ('pg_cron', 'job'))";
    for row in session.rows(extensions)? {
        let [Some(full), Some(name)] = &row[..] else {
            continue;
        };
        let (column, words, of) = match name.as_str() {
            "hints" => ("hints", "a hint of pg_hint_plan", ""),
            "job" => ("command", "a job of pg_cron", ""),
            _ => (
                "query",
                "a statement that the server remembers",
                "on\\s+constraint|/\\*\\+",
            ),
        };
        let sql = format!(
            "SELECT {} FROM {full} s WHERE ({}) AND s.{column} ~* {} LIMIT 1",
            literal(words),
            matches_postgres(table, names, &format!("s.{column}")),
            literal(of)
        );
        if let Some(found) = optional(session, &sql)?.and_then(first) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The rows of what the user may not be allowed to read.
fn optional(
    session: &mut ReadOnly,
    sql: &str,
) -> Result<Option<inorder_engine::remote::TextRows>, Error> {
    match session.rows(sql) {
        Ok(rows) => Ok(Some(rows)),
        Err(error) if !session.is_open() => Err(error.into()),
        Err(_) => Ok(None),
    }
}
