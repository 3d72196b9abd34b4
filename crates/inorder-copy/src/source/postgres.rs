//! PostgreSQL. Rows are read by COPY.

use inorder_engine::remote::{EachRow, ReadOnly, ServerUrl, TextRows};

use super::{Mark, Source, quoted, select};
use crate::error::Error;
use crate::model::{Check, Column, Default_, ForeignKey, Index, Schema, Table};
use crate::value::Kind;

pub struct Postgres {
    name: String,
    session: ReadOnly,
    schema: String,
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn text(row: &[Option<String>], at: usize) -> String {
    row.get(at).cloned().flatten().unwrap_or_default()
}

fn is_true(row: &[Option<String>], at: usize) -> bool {
    text(row, at) == "t"
}

impl Postgres {
    pub fn new(url: &ServerUrl, session: ReadOnly, schema: &str) -> Self {
        Postgres {
            name: format!("{url} ({schema})"),
            session,
            schema: schema.to_owned(),
        }
    }

    fn about(&mut self, query: &str, oid: &str) -> Result<TextRows, Error> {
        Ok(self.session.rows(&query.replace("$1", oid))?)
    }

    fn table(&mut self, about: &[Option<String>]) -> Result<Table, Error> {
        let (oid, name) = (text(about, 0), text(about, 1));
        let mut table = Table {
            rows_estimated: text(about, 3)
                .parse::<f64>()
                .map_or(0, |rows| rows.max(0.0) as u64),
            comment: about.get(4).cloned().flatten(),
            ..Table::default()
        };
        if text(about, 2) == "p" {
            table
                .notes
                .push("it is one table, without partitions".to_owned());
        }
        for row in self.about(COLUMNS, &oid)? {
            let mut column = column(&row, &mut table.notes);
            if column.next.is_some() {
                column.next = Some(self.next(&oid, &text(&row, 8))?);
            }
            table.columns.push(column);
        }
        for row in self.about(INDEXES, &oid)? {
            let (index, definition) = (text(&row, 0), text(&row, 4));
            let columns: Vec<String> = text(&row, 3).lines().map(str::to_owned).collect();
            match (is_true(&row, 1), is_true(&row, 5)) {
                (true, _) => table.key = columns,
                (false, true) => table.indexes.push(Index {
                    name: index,
                    is_unique: is_true(&row, 2),
                    columns,
                }),
                (false, false) => table.notes.push(format!("not copied: {definition}")),
            }
        }
        for row in self.about(FOREIGN_KEYS, &oid)? {
            if !is_true(&row, 6) {
                table.notes.push(format!(
                    "not copied: the foreign key {} to another schema",
                    text(&row, 0)
                ));
                continue;
            }
            let lines = |at: usize| text(&row, at).lines().map(str::to_owned).collect();
            table.foreign_keys.push(ForeignKey {
                name: text(&row, 0),
                columns: lines(1),
                parent: text(&row, 2),
                parent_columns: lines(3),
                on_delete: action(&text(&row, 4)),
                on_update: action(&text(&row, 5)),
            });
        }
        for row in self.about(CHECKS, &oid)? {
            table.checks.push(Check {
                name: text(&row, 0),
                condition: text(&row, 1),
            });
        }
        table.name = name;
        Ok(table)
    }

    /// The next number of a column's sequence.
    fn next(&mut self, oid: &str, column: &str) -> Result<String, Error> {
        let found = self.session.rows(&format!(
            "SELECT pg_catalog.pg_get_serial_sequence({oid}::pg_catalog.regclass::text, {})",
            literal(column)
        ))?;
        let Some(sequence) = found.first().and_then(|row| row[0].clone()) else {
            return Ok("1".to_owned());
        };
        let rows = self.session.rows(&format!(
            "SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM {sequence}"
        ))?;
        Ok(rows.first().map_or("1".to_owned(), |row| text(row, 0)))
    }
}

const COLUMNS: &str = "SELECT attname, pg_catalog.format_type(base.oid, CASE WHEN own.typtype = 'd' THEN own.typtypmod ELSE atttypmod END),
        base.typname, attnotnull,
        pg_catalog.pg_get_expr(adbin, adrelid), attidentity, attgenerated, pg_catalog.col_description(attrelid, attnum), attname,
        base.typnamespace = 'pg_catalog'::pg_catalog.regnamespace AND base.typtype IN ('b', 'r', 'm'), own.typname
    FROM pg_catalog.pg_attribute
    JOIN pg_catalog.pg_type AS own ON own.oid = atttypid
    JOIN pg_catalog.pg_type AS base ON base.oid = CASE WHEN own.typtype = 'd' THEN own.typbasetype ELSE own.oid END
    LEFT JOIN pg_catalog.pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
const INDEXES: &str = "SELECT c.relname, indisprimary, indisunique,
        (SELECT string_agg(attname, E'\\n' ORDER BY place) FROM unnest(indkey::int2[]) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = indrelid AND attnum = number WHERE place <= indnkeyatts),
        pg_catalog.pg_get_indexdef(indexrelid),
        indpred IS NULL AND indexprs IS NULL AND amname = 'btree' AND indnatts = indnkeyatts
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conindid = indexrelid AND condeferrable)
    FROM pg_catalog.pg_index JOIN pg_catalog.pg_class AS c ON c.oid = indexrelid JOIN pg_catalog.pg_am ON pg_am.oid = relam
    WHERE indrelid = $1 AND indisvalid ORDER BY indisprimary DESC, c.relname";
const FOREIGN_KEYS: &str = "SELECT conname,
        (SELECT string_agg(attname, E'\\n' ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = conrelid AND attnum = number),
        p.relname,
        (SELECT string_agg(attname, E'\\n' ORDER BY place) FROM unnest(confkey) WITH ORDINALITY AS k(number, place)
            JOIN pg_catalog.pg_attribute ON attrelid = confrelid AND attnum = number),
        confdeltype, confupdtype, p.relnamespace = c.relnamespace
    FROM pg_catalog.pg_constraint JOIN pg_catalog.pg_class AS p ON p.oid = confrelid
    JOIN pg_catalog.pg_class AS c ON c.oid = conrelid
    WHERE conrelid = $1 AND contype = 'f' AND conparentid = 0 ORDER BY conname";
const CHECKS: &str =
    "SELECT conname, pg_catalog.pg_get_expr(conbin, conrelid) FROM pg_catalog.pg_constraint
    WHERE conrelid = $1 AND contype = 'c' ORDER BY conname";

/// The words of a foreign key's action.
fn action(letter: &str) -> String {
    let words = match letter {
        "c" => "CASCADE",
        "n" => "SET NULL",
        "d" => "SET DEFAULT",
        "r" => "RESTRICT",
        _ => "NO ACTION",
    };
    words.to_owned()
}

fn column(row: &[Option<String>], notes: &mut Vec<String>) -> Column {
    let (name, declared, base) = (text(row, 0), text(row, 1), text(row, 2));
    let kind = match &*base {
        "text" | "varchar" | "bpchar" | "name" => Kind::Text,
        "bytea" => Kind::HexBytes,
        "float4" => Kind::Single,
        "float8" => Kind::Double,
        "bool" => Kind::Boolean,
        _ => Kind::Plain,
    };
    let is_known = is_true(row, 9);
    let postgres = match is_known {
        true => declared.clone(),
        false => {
            notes.push(format!(
                "column `{name}`: the type {declared} is text in the copy"
            ));
            "text".to_owned()
        }
    };
    if !text(row, 6).is_empty() {
        notes.push(format!(
            "column `{name}`: its values are copied, and the expression that generates them is not"
        ));
    }
    let given = row[4].clone().filter(|_| text(row, 6).is_empty());
    let is_counted = !text(row, 5).is_empty()
        || given
            .as_deref()
            .is_some_and(|given| given.starts_with("nextval("));
    let own = quoted(&name);
    Column {
        kind,
        read: match is_known {
            true => own,
            false => format!("{own}::text"),
        },
        postgres,
        is_not_null: is_true(row, 3),
        default: given
            .filter(|_| !is_counted && is_known)
            .map(Default_::Postgres),
        next: is_counted.then(String::new),
        comment: row[7].clone(),
        name,
        declared,
    }
}

impl Source for Postgres {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn has(&mut self, mark: &Mark) -> Result<bool, Error> {
        let Mark::Query(query) = mark else {
            return Ok(false);
        };
        let query = query.replace("$1", &literal(&self.schema));
        let rows = self.session.rows(&query)?;
        Ok(rows.first().is_some_and(|row| is_true(row, 0)))
    }

    fn schema(&mut self) -> Result<Schema, Error> {
        let schema_name = literal(&self.schema);
        let tables = self.session.rows(&format!(
            "SELECT oid, relname, relkind, reltuples, pg_catalog.obj_description(oid, 'pg_class')
             FROM pg_catalog.pg_class WHERE relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {schema_name})
                 AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname"
        ))?;
        let mut schema = Schema::default();
        for row in tables {
            schema.tables.push(self.table(&row)?);
        }
        let others = self.session.rows(&format!(
            "SELECT CASE relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view ' ELSE 'foreign table ' END || relname
             FROM pg_catalog.pg_class WHERE relkind IN ('v', 'm', 'f')
                 AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {schema_name})
             UNION ALL SELECT 'trigger ' || tgname FROM pg_catalog.pg_trigger JOIN pg_catalog.pg_class ON pg_class.oid = tgrelid
                 WHERE NOT tgisinternal AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {schema_name})
             UNION ALL SELECT 'function ' || proname FROM pg_catalog.pg_proc
                 WHERE pronamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {schema_name})
             ORDER BY 1"
        ))?;
        for row in others {
            schema.notes.push(format!("not copied: {}", text(&row, 0)));
        }
        Ok(schema)
    }

    fn rows(
        &mut self,
        table: &Table,
        rows_max: Option<u64>,
        each: EachRow<'_>,
    ) -> Result<(), Error> {
        let from = format!("{}.{}", quoted(&self.schema), quoted(&table.name));
        let sql = select(table, &from, quoted, rows_max);
        Ok(self.session.stream(&sql, each)?)
    }
}
