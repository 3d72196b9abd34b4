//! What a script must find as it was read: one line per column, index, constraint and trigger of a table.
//!
//! The same query runs when a database is read and in the script that changes it, so that a difference is one of the database.

use serde::Serialize;

/// One line of a table's shape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it is about, such as `index orders_pkey`.
    pub key: String,
    /// Its definition as the server prints it.
    pub text: String,
}

/// The keys of a column's lines begin with these. Columns that a change is not about may come and go.
pub const COLUMN: &str = "column ";
/// See [`COLUMN`].
pub const DEFAULT: &str = "default of ";
/// See [`COLUMN`]. The type of the sequence that a column owns.
pub const SEQUENCE: &str = "sequence of ";
/// What stands between the parts of a column's line. The first part is its type.
pub const PART: &str = " | ";

/// The shape of PostgreSQL's tables: object id, key and text. The search path must be empty.
pub const POSTGRES: &str =
    "SELECT c.oid AS rel, 'the table'::text AS key, concat_ws(' ', c.relkind, c.relpersistence, c.relreplident,
         CASE WHEN c.relrowsecurity THEN 'row security' END,
         (SELECT 'child of ' || string_agg(h.inhparent::regclass::text, ', ' ORDER BY 1) FROM pg_inherits h WHERE h.inhrelid = c.oid)) AS line
     FROM pg_class c WHERE c.relkind IN ('r', 'p', 'm')
     UNION ALL SELECT h.inhparent, 'child ' || h.inhrelid::regclass::text, '' FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent AND c.relkind = 'r'
     UNION ALL SELECT a.attrelid, CASE WHEN a.attgenerated <> '' THEN 'generated ' ELSE '' END || 'column ' || a.attname,
         concat_ws(' | ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' ELSE 'NULL' END,
             CASE WHEN a.attidentity <> '' THEN 'identity' END, CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END)
     FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attnum > 0 AND NOT a.attisdropped
     UNION ALL SELECT d.adrelid, 'default of ' || a.attname, pg_get_expr(d.adbin, d.adrelid)
     FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated = ''
     UNION ALL SELECT x.refobjid, 'sequence of ' || a.attname, min(q.seqtypid::regtype::text) FROM pg_depend x JOIN pg_sequence q ON q.seqrelid = x.objid
     JOIN pg_attribute a ON a.attrelid = x.refobjid AND a.attnum = x.refobjsubid
     WHERE x.classid = 'pg_class'::regclass AND x.refclassid = 'pg_class'::regclass AND x.deptype IN ('a', 'i') GROUP BY x.refobjid, a.attname
     UNION ALL SELECT i.indrelid, 'index ' || ic.relname, concat_ws(' ', pg_get_indexdef(ic.oid),
         CASE WHEN NOT (i.indisvalid AND i.indisready AND i.indislive) THEN 'INVALID' END,
         CASE WHEN i.indisreplident THEN 'REPLICA IDENTITY' END, CASE WHEN i.indisclustered THEN 'CLUSTER' END)
     FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid
     UNION ALL SELECT k.conrelid, 'constraint ' || k.conname, pg_get_constraintdef(k.oid)
     FROM pg_constraint k WHERE k.contype IN ('c', 'f', 'p', 'u', 'x')
     UNION ALL SELECT k.confrelid, 'constraint ' || k.conname || ' of ' || k.conrelid::regclass::text, pg_get_constraintdef(k.oid)
     FROM pg_constraint k WHERE k.contype = 'f' AND k.confrelid <> k.conrelid
     UNION ALL SELECT t.tgrelid, 'trigger ' || t.tgname, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled) FROM pg_trigger t WHERE NOT t.tgisinternal
     UNION ALL SELECT r.ev_class, 'rule ' || r.rulename, pg_get_ruledef(r.oid) FROM pg_rewrite r WHERE r.rulename <> '_RETURN'
     UNION ALL SELECT p.polrelid, 'policy ' || p.polname, concat_ws(' ', p.polcmd, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
     FROM pg_policy p
     UNION ALL SELECT s.stxrelid, 'statistics ' || s.stxname, pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext s";

/// The shape of tables of MariaDB and MySQL: schema, table, key and text. `{ignored}` is the expression of
/// `information_schema.STATISTICS` that tells whether queries ignore an index.
const MARIADB: &str =
    "SELECT TABLE_SCHEMA AS s, TABLE_NAME AS t, CONCAT('column ', COLUMN_NAME) AS k, CONCAT_WS(' | ', COLUMN_TYPE, IF(IS_NULLABLE = 'NO', 'NOT NULL', 'NULL'),
         COLLATION_NAME, COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION, COLUMN_COMMENT) AS x FROM information_schema.COLUMNS WHERE {where}
     UNION ALL SELECT TABLE_SCHEMA, TABLE_NAME, CONCAT('index ', INDEX_NAME), CONCAT_WS(' ', INDEX_TYPE, IF(NON_UNIQUE, '', 'UNIQUE'), {ignored},
         GROUP_CONCAT(CONCAT_WS(' ', COLUMN_NAME, SUB_PART, COLLATION) ORDER BY SEQ_IN_INDEX SEPARATOR ', '))
     FROM information_schema.STATISTICS WHERE {where} GROUP BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, INDEX_TYPE, NON_UNIQUE, {ignored}
     UNION ALL SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONCAT('foreign key ', CONSTRAINT_NAME), CONCAT_WS(' ', 'ON DELETE', DELETE_RULE, 'ON UPDATE', UPDATE_RULE,
         UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE {where of keys}
     UNION ALL SELECT UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME, CONCAT('foreign key ', CONSTRAINT_NAME, ' of ', CONSTRAINT_SCHEMA, '.', TABLE_NAME), ''
     FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE {where of parents}
     UNION ALL SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, CONCAT('trigger ', TRIGGER_NAME), CONCAT_WS(' ', ACTION_TIMING, EVENT_MANIPULATION, ACTION_STATEMENT)
     FROM information_schema.TRIGGERS WHERE {where of triggers}";

/// The query of `MARIADB` for a schema, or for one of its tables. `has_ignored` is the column that tells whether queries
/// ignore an index, if the release has one.
pub fn mariadb(which: &str, has_ignored: Option<&str>) -> String {
    let of = |schema: &str, table: &str| {
        which
            .replace("TABLE_SCHEMA", schema)
            .replace("TABLE_NAME", table)
    };
    MARIADB
        .replace("{ignored}", has_ignored.unwrap_or("''"))
        .replace("{where of keys}", &of("CONSTRAINT_SCHEMA", "TABLE_NAME"))
        .replace(
            "{where of parents}",
            &of("UNIQUE_CONSTRAINT_SCHEMA", "REFERENCED_TABLE_NAME"),
        )
        .replace(
            "{where of triggers}",
            &of("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"),
        )
        .replace("{where}", which)
}
