//! The catalog of a PostgreSQL database. Each query answers one JSON object per row, so that fields have names.

use crate::{
    Error,
    server::{
        model::{
            Backing, BackingKind, Check, Column, ForeignKey, Index, IndexState, Object,
            ReplicaIdentity, Table, TableKind, Term,
        },
        shape::{self, Line},
    },
};
use inorder_engine::remote::ReadOnly;
use serde::{Deserialize, de::DeserializeOwned};
use std::collections::HashMap;

/// Relations of users: no system schemas, no temporary tables, nothing of extensions.
const USERS: &str = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
     AND c.relpersistence <> 't'
     AND NOT EXISTS (SELECT FROM pg_depend x WHERE x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.deptype = 'e')";

const TABLES: &str = "SELECT json_build_object('oid', c.oid::bigint, 'schema', n.nspname, 'name', c.relname, 'kind', c.relkind,
     'is_partition', c.relispartition, 'method', am.amname,
     'fill', (SELECT option_value::int FROM pg_options_to_table(c.reloptions) WHERE option_name = 'fillfactor'),
     'rows', c.reltuples::float8, 'pages', c.relpages, 'replica', c.relreplident, 'has_policies', c.relrowsecurity,
     'has_rules', c.relhasrules AND c.relkind <> 'm', 'may_read', has_table_privilege(c.oid, 'SELECT'),
     'parent', (SELECT pn.nspname || '.' || p.relname FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhparent
         JOIN pg_namespace pn ON pn.oid = p.relnamespace WHERE h.inhrelid = c.oid LIMIT 1),
     'has_children', EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid),
     'is_unlogged', c.relpersistence = 'u',
     'publications', (SELECT count(*) FROM pg_publication_rel r WHERE r.prrelid = c.oid))
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am am ON am.oid = c.relam
     WHERE c.relkind IN ('r', 'p', 'm', 'f') AND {users} ORDER BY n.nspname, c.relname";

const COLUMNS: &str = "SELECT json_build_object('oid', c.oid::bigint, 'number', a.attnum, 'name', a.attname,
     'type', format_type(a.atttypid, a.atttypmod),
     'base', CASE WHEN t.typtype = 'd' THEN (SELECT typname FROM pg_type WHERE oid = t.typbasetype) ELSE t.typname END,
     'is_domain', t.typtype = 'd',
     'length', CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN a.atttypmod - 4 END,
     'is_not_null', a.attnotnull, 'default', pg_get_expr(d.adbin, d.adrelid),
     'collation', quote_ident(cn.nspname) || '.' || quote_ident(co.collname),
     'is_identity', a.attidentity <> '', 'is_generated', a.attgenerated <> '', 'comment', col_description(c.oid, a.attnum),
     'has_sequence', s.names IS NOT NULL, 'sequences', coalesce(s.names, '[]'),
     'width', st.avg_width, 'null_share', st.null_frac, 'correlation', st.correlation, 'distinct', st.n_distinct)
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     JOIN pg_type t ON t.oid = a.atttypid
     LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     LEFT JOIN pg_collation co ON co.oid = a.attcollation LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
     LEFT JOIN LATERAL (SELECT json_agg(x.objid::oid::regclass::text) AS names FROM pg_depend x JOIN pg_class q ON q.oid = x.objid AND q.relkind = 'S'
         WHERE x.classid = 'pg_class'::regclass AND x.refclassid = 'pg_class'::regclass AND x.refobjid = c.oid
         AND x.refobjsubid = a.attnum AND x.deptype IN ('a', 'i')) s ON true
     LEFT JOIN pg_stats st ON st.schemaname = n.nspname AND st.tablename = c.relname AND st.attname = a.attname
         AND NOT st.inherited
     WHERE c.relkind IN ('r', 'p', 'm') AND {users} ORDER BY c.oid, a.attnum";

const DEPENDENTS: &str = "SELECT DISTINCT json_build_object('oid', c.oid::bigint, 'column', a.attname,
     'text', pg_describe_object(x.classid, x.objid, x.objsubid))::text
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_depend x ON x.refclassid = 'pg_class'::regclass AND x.refobjid = c.oid AND x.refobjsubid > 0
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.refobjsubid
     WHERE c.relkind IN ('r', 'p', 'm') AND {users}
     AND NOT (x.classid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_class i WHERE i.oid = x.objid AND i.relkind IN ('i', 'I', 'S')))
     AND NOT (x.classid = 'pg_constraint'::regclass
         AND EXISTS (SELECT FROM pg_constraint k WHERE k.oid = x.objid AND k.contype IN ('p', 'u', 'f', 'n')))
     AND NOT (x.classid = 'pg_attrdef'::regclass
         AND EXISTS (SELECT FROM pg_attrdef d WHERE d.oid = x.objid AND d.adrelid = c.oid AND d.adnum = x.refobjsubid))";

const INDEXES: &str = "SELECT json_build_object('oid', c.oid::bigint, 'index', ic.oid::bigint, 'name', ic.relname, 'method', am.amname,
     'is_unique', i.indisunique, 'is_primary', i.indisprimary, 'is_valid', i.indisvalid AND i.indisready AND i.indislive,
     'state', CASE WHEN i.indisvalid AND i.indisready AND i.indislive THEN 'valid' WHEN NOT i.indislive THEN 'dropping'
         WHEN EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.datname = current_database()
             AND (p.index_relid = ic.oid OR p.index_relid IS NULL)) THEN 'building' ELSE 'invalid' END,
     'options', coalesce(to_json(ic.reloptions), '[]'),
     'is_cluster_order', i.indisclustered, 'is_replica_identity', i.indisreplident,
     'nulls_are_equal', coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::bool, false),
     'predicate', pg_get_expr(i.indpred, i.indrelid), 'definition', pg_get_indexdef(ic.oid),
     'keys', i.indnkeyatts,
     'terms', (SELECT json_agg(json_build_object('column', ia.attname, 'text', pg_get_indexdef(ic.oid, k.n, true),
             'collation', quote_ident(cn.nspname) || '.' || quote_ident(co.collname),
             'class', CASE WHEN o.opcnamespace = 'pg_catalog'::regnamespace THEN quote_ident(o.opcname)
                 ELSE quote_ident(os.nspname) || '.' || quote_ident(o.opcname) END || coalesce((SELECT '(' || array_to_string(x.attoptions, ', ') || ')'
                 FROM pg_attribute x WHERE x.attrelid = ic.oid AND x.attnum = k.n), ''),
             'is_default', o.opcdefault, 'option', CASE WHEN k.n <= i.indnkeyatts THEN i.indoption[k.n - 1] END) ORDER BY k.n)
         FROM generate_series(1, i.indnatts::int) k(n)
         LEFT JOIN pg_attribute ia ON ia.attrelid = c.oid AND ia.attnum = i.indkey[k.n - 1] AND i.indkey[k.n - 1] <> 0
         LEFT JOIN pg_collation co ON k.n <= i.indnkeyatts AND co.oid = i.indcollation[k.n - 1]
         LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace
         LEFT JOIN pg_opclass o ON k.n <= i.indnkeyatts AND o.oid = i.indclass[k.n - 1]
         LEFT JOIN pg_namespace os ON os.oid = o.opcnamespace),
     'constraint', k.conname, 'constraint_type', k.contype, 'is_deferrable', k.condeferrable,
     'parent', (SELECT pn.nspname || '.' || p.relname FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhparent
         JOIN pg_namespace pn ON pn.oid = p.relnamespace WHERE h.inhrelid = ic.oid LIMIT 1),
     'fill', (SELECT option_value::int FROM pg_options_to_table(ic.reloptions) WHERE option_name = 'fillfactor'),
     'deduplicates', coalesce((SELECT option_value::bool FROM pg_options_to_table(ic.reloptions) WHERE option_name = 'deduplicate_items'), true),
     'rows', ic.reltuples::float8, 'scans', pg_stat_get_numscans(ic.oid), 'comment', obj_description(ic.oid, 'pg_class'))
     FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid JOIN pg_am am ON am.oid = ic.relam
     JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_constraint k ON k.conindid = ic.oid AND k.contype IN ('p', 'u', 'x') AND k.conrelid = c.oid
     WHERE {users} ORDER BY c.oid, NOT i.indisprimary, ic.oid";

const FOREIGN_KEYS: &str = "SELECT json_build_object('name', k.conname, 'child_schema', n.nspname, 'child', c.relname,
     'parent_schema', pn.nspname, 'parent', p.relname, 'parent_index', ic.relname,
     'on_delete', k.confdeltype, 'on_update', k.confupdtype, 'definition', pg_get_constraintdef(k.oid),
     'columns', (SELECT json_agg(a.attname ORDER BY u.n) FROM unnest(k.conkey) WITH ORDINALITY u(number, n)
         JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number),
     'parent_columns', (SELECT json_agg(a.attname ORDER BY u.n) FROM unnest(k.confkey) WITH ORDINALITY u(number, n)
         JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.number))
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_class p ON p.oid = k.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace
     LEFT JOIN pg_class ic ON ic.oid = k.conindid
     WHERE k.contype = 'f' AND {users} ORDER BY k.oid";

const OBJECTS: &str = "SELECT json_build_object('oid', c.oid::bigint, 'kind', 'check', 'name', k.conname, 'definition', pg_get_constraintdef(k.oid))::text
         FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE k.contype IN ('c', 'x') AND {users}
     UNION ALL SELECT json_build_object('oid', c.oid::bigint, 'kind', 'trigger', 'name', t.tgname, 'definition', pg_get_triggerdef(t.oid))::text
         FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE NOT t.tgisinternal AND {users}
     UNION ALL SELECT DISTINCT json_build_object('oid', c.oid::bigint, 'kind', 'view', 'name', vn.nspname || '.' || v.relname,
         'definition', pg_get_viewdef(v.oid))::text
         FROM pg_depend x JOIN pg_rewrite r ON x.classid = 'pg_rewrite'::regclass AND r.oid = x.objid
         JOIN pg_class v ON v.oid = r.ev_class AND v.relkind IN ('v', 'm') JOIN pg_namespace vn ON vn.oid = v.relnamespace
         JOIN pg_class c ON x.refclassid = 'pg_class'::regclass AND c.oid = x.refobjid AND c.oid <> v.oid
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'm') AND {users}";

/// A table with what only the reader needs.
pub struct Relation {
    pub oid: u64,
    pub table: Table,
    /// Rows and pages at the last VACUUM or ANALYZE; rows are -1 before the first one.
    pub counted: (f64, u64),
    pub may_read: bool,
    /// The object ids of the indexes, in their order.
    pub index_oids: Vec<u64>,
    /// Distinct values by statistics, per column: negative is a share of the rows.
    pub distinct: Vec<Option<f64>>,
}

#[derive(Deserialize)]
struct TableRow {
    oid: u64,
    schema: String,
    name: String,
    kind: char,
    is_partition: bool,
    method: Option<String>,
    fill: Option<u32>,
    rows: f64,
    pages: i64,
    replica: char,
    has_policies: bool,
    has_rules: bool,
    may_read: bool,
    parent: Option<String>,
    has_children: bool,
    is_unlogged: bool,
    publications: u64,
}

#[derive(Deserialize)]
struct ColumnRow {
    oid: u64,
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    base: String,
    is_domain: bool,
    length: Option<u32>,
    is_not_null: bool,
    default: Option<String>,
    collation: Option<String>,
    is_identity: bool,
    is_generated: bool,
    comment: Option<String>,
    has_sequence: bool,
    sequences: Vec<String>,
    width: Option<u32>,
    null_share: Option<f64>,
    correlation: Option<f64>,
    distinct: Option<f64>,
}

#[derive(Deserialize)]
struct DependentRow {
    oid: u64,
    column: String,
    text: String,
}

#[derive(Deserialize)]
struct IndexRow {
    oid: u64,
    index: u64,
    name: String,
    method: String,
    is_unique: bool,
    is_primary: bool,
    is_valid: bool,
    state: IndexState,
    options: Vec<String>,
    is_cluster_order: bool,
    is_replica_identity: bool,
    nulls_are_equal: bool,
    predicate: Option<String>,
    definition: String,
    keys: usize,
    terms: Vec<TermRow>,
    constraint: Option<String>,
    constraint_type: Option<char>,
    is_deferrable: Option<bool>,
    parent: Option<String>,
    fill: Option<u32>,
    deduplicates: bool,
    rows: f64,
    scans: Option<u64>,
    comment: Option<String>,
}

#[derive(Deserialize)]
struct TermRow {
    column: Option<String>,
    text: Option<String>,
    collation: Option<String>,
    class: Option<String>,
    is_default: Option<bool>,
    option: Option<u32>,
}

#[derive(Deserialize)]
struct ForeignKeyRow {
    name: String,
    child_schema: String,
    child: String,
    parent_schema: String,
    parent: String,
    parent_index: Option<String>,
    on_delete: char,
    on_update: char,
    definition: String,
    columns: Vec<String>,
    parent_columns: Vec<String>,
}

#[derive(Deserialize)]
struct ObjectRow {
    oid: u64,
    kind: String,
    name: String,
    definition: Option<String>,
}

/// Reads tables, columns, indexes and what belongs to them.
///
/// # Errors
/// If the server refuses to show its catalog.
pub fn read(session: &mut ReadOnly) -> Result<Vec<Relation>, Error> {
    let mut relations: Vec<Relation> = objects::<TableRow>(session, TABLES)?
        .into_iter()
        .map(relation)
        .collect();
    let places: HashMap<u64, usize> = relations
        .iter()
        .enumerate()
        .map(|(at, relation)| (relation.oid, at))
        .collect();
    for row in objects::<ColumnRow>(session, COLUMNS)? {
        let Some(&at) = places.get(&row.oid) else {
            continue;
        };
        let relation = &mut relations[at];
        relation.distinct.push(row.distinct);
        relation.table.columns.push(column(row));
    }
    for row in objects::<DependentRow>(session, DEPENDENTS)? {
        let Some(&at) = places.get(&row.oid) else {
            continue;
        };
        let columns = &mut relations[at].table.columns;
        if let Some(column) = columns.iter_mut().find(|column| column.name == row.column) {
            column.dependents.push(row.text);
        }
    }
    for row in objects::<IndexRow>(session, INDEXES)? {
        let Some(&at) = places.get(&row.oid) else {
            continue;
        };
        relations[at].index_oids.push(row.index);
        relations[at].table.indexes.push(index(row));
    }
    for row in objects::<ForeignKeyRow>(session, FOREIGN_KEYS)? {
        let key = foreign_key(row);
        let named = |relation: &Relation, schema: &str, name: &str| {
            relation.table.schema == schema && relation.table.name == name
        };
        for relation in &mut relations {
            if named(relation, &key.parent_schema, &key.parent) {
                relation.table.referenced_by.push(key.clone());
            }
            if named(relation, &key.child_schema, &key.child) {
                relation.table.foreign_keys.push(key.clone());
            }
        }
    }
    for row in objects::<ObjectRow>(session, OBJECTS)? {
        let Some(&at) = places.get(&row.oid) else {
            continue;
        };
        let table = &mut relations[at].table;
        let (name, definition) = (row.name, row.definition.unwrap_or_default());
        match &*row.kind {
            "check" => table.checks.push(Check { name, definition }),
            "trigger" => table.triggers.push(Object { name, definition }),
            _ => table.views.push(Object { name, definition }),
        }
    }
    for relation in &mut relations {
        let checks = &mut relation.table.checks;
        checks.sort_by(|one, other| one.name.cmp(&other.name));
    }
    shapes(session, &places, &mut relations)?;
    Ok(relations)
}

/// What the scripts find each table by.
fn shapes(
    session: &mut ReadOnly,
    places: &HashMap<u64, usize>,
    relations: &mut [Relation],
) -> Result<(), Error> {
    let sql = format!(
        "SELECT s.rel::bigint, s.key, s.line FROM ({}) s ORDER BY 1, 2",
        shape::POSTGRES
    );
    for row in session.rows(&sql)? {
        let [Some(rel), Some(key), text] = &row[..] else {
            continue;
        };
        let place = rel.parse().ok().and_then(|rel: u64| places.get(&rel));
        if let Some(&at) = place {
            relations[at].table.shape.push(Line {
                key: key.clone(),
                text: text.clone().unwrap_or_default(),
            });
        }
    }
    Ok(())
}

/// Runs a query of JSON objects.
pub(super) fn objects<T: DeserializeOwned>(
    session: &mut ReadOnly,
    sql: &str,
) -> Result<Vec<T>, Error> {
    let rows = session.rows(&sql.replace("{users}", USERS))?;
    let texts = rows.into_iter().filter_map(|mut row| row.pop().flatten());
    texts
        .map(|text| {
            serde_json::from_str(&text).map_err(|error| Error::Catalog {
                found: text.chars().take(200).collect(),
                why: error.to_string(),
            })
        })
        .collect()
}

fn relation(row: TableRow) -> Relation {
    let kind = match row.kind {
        'p' => TableKind::Partitioned,
        'm' => TableKind::MaterializedView,
        'f' => TableKind::Foreign,
        _ if row.is_partition => TableKind::Partition,
        _ => TableKind::Ordinary,
    };
    let inherits = kind == TableKind::Ordinary && (row.parent.is_some() || row.has_children);
    let particulars = [
        (row.has_policies, "has row-level security"),
        (row.has_rules, "has rules"),
        (inherits, "takes part in inheritance"),
        (row.is_unlogged, "is unlogged"),
        (row.publications > 0, "is published"),
    ];
    Relation {
        oid: row.oid,
        counted: (row.rows, row.pages.try_into().unwrap_or(0)),
        may_read: row.may_read,
        index_oids: Vec::new(),
        distinct: Vec::new(),
        table: Table {
            schema: row.schema,
            name: row.name,
            kind,
            engine: row.method.unwrap_or_default(),
            fill_percent: row.fill.unwrap_or(100),
            parent: row.parent.filter(|_| row.is_partition),
            replica_identity: match row.replica {
                'i' => ReplicaIdentity::Index,
                'f' => ReplicaIdentity::Full,
                'n' => ReplicaIdentity::Nothing,
                _ => ReplicaIdentity::Default,
            },
            particulars: particulars
                .iter()
                .filter(|(holds, _)| *holds)
                .map(|(_, words)| (*words).to_owned())
                .collect(),
            ..Table::default()
        },
    }
}

fn column(row: ColumnRow) -> Column {
    let (default, generated) = match row.is_generated {
        true => (None, row.default),
        false => (row.default, None),
    };
    Column {
        name: row.name,
        type_name: row.type_name,
        base_type: row.base,
        is_domain: row.is_domain,
        length: row.length,
        is_not_null: row.is_not_null,
        is_serial: row.is_identity || row.has_sequence,
        sequences: row.sequences,
        default,
        generated,
        collation: row.collation,
        comment: row.comment.unwrap_or_default(),
        width_bytes: row.width,
        null_share: row.null_share,
        correlation: row.correlation,
        ..Column::default()
    }
}

fn index(row: IndexRow) -> Index {
    let kind = match row.constraint_type {
        Some('p') => BackingKind::Primary,
        Some('x') => BackingKind::Exclude,
        _ => BackingKind::Unique,
    };
    let mut terms = row.terms;
    let include = terms.split_off(row.keys.min(terms.len()));
    Index {
        name: row.name,
        method: row.method,
        terms: terms.into_iter().map(term).collect(),
        include: include.into_iter().filter_map(|term| term.column).collect(),
        predicate: row.predicate.clone(),
        is_unique: row.is_unique,
        nulls_are_equal: row.nulls_are_equal,
        is_primary: row.is_primary,
        is_clustered: false,
        constraint: row.constraint.map(|name| Backing {
            name,
            kind,
            is_deferrable: row.is_deferrable.unwrap_or(false),
        }),
        is_replica_identity: row.is_replica_identity,
        is_cluster_order: row.is_cluster_order,
        is_valid: row.is_valid,
        state: row.state,
        options: row.options,
        parent: row.parent,
        fill_percent: row.fill,
        deduplicates: row.deduplicates,
        bytes: 0,
        bloat_bytes: None,
        // Before the first VACUUM or ANALYZE it is -1.
        entries: (row.predicate.is_some() && row.rows >= 0.0).then_some(row.rows as u64),
        rows_per_key: Vec::new(),
        scans: row.scans,
        definition: row.definition,
        comment: row.comment.unwrap_or_default(),
    }
}

fn term(row: TermRow) -> Term {
    let option = row.option.unwrap_or(0);
    Term {
        expression: row.text.filter(|_| row.column.is_none()),
        column: row.column,
        collation: row.collation,
        operator_class: row.class,
        is_default_class: row.is_default.unwrap_or(true),
        // INDOPTION_DESC and INDOPTION_NULLS_FIRST of PostgreSQL's catalog/pg_index.h.
        is_descending: option & 1 != 0,
        nulls_first: option & 2 != 0,
        prefix: None,
    }
}

fn foreign_key(row: ForeignKeyRow) -> ForeignKey {
    ForeignKey {
        name: row.name,
        child_schema: row.child_schema,
        child: row.child,
        columns: row.columns,
        parent_schema: row.parent_schema,
        parent: row.parent,
        parent_columns: row.parent_columns,
        parent_index: row.parent_index,
        on_delete: action(row.on_delete).to_owned(),
        on_update: action(row.on_update).to_owned(),
        definition: row.definition,
    }
}

/// What a foreign key does, by the letter of the catalog.
fn action(letter: char) -> &'static str {
    match letter {
        'c' => "CASCADE",
        'n' => "SET NULL",
        'd' => "SET DEFAULT",
        'r' => "RESTRICT",
        _ => "NO ACTION",
    }
}
