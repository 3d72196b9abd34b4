//! A table as a load has to know it, read off the catalog.

use super::intake::Form;
use crate::{ColumnInfo, Error, LoadColumn, LoadShape, server::Connection as _};
use postgres::{Client, Row, types::Type};
use std::sync::Arc;

/// A table that is there.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its object identifier.
    pub oid: u32,
    /// Its name, without the schema.
    pub name: String,
    /// Its name with the schema, as SQL writes it.
    pub quoted: String,
    /// Whether rows that come have triggers of somebody's to pass, on the table itself or a partition.
    pub has_triggers: bool,
    /// Whether a foreign key leads to the table itself: rows may come before those they lead to, as long as it is in
    /// one statement.
    pub leads_to_itself: bool,
    /// Its columns.
    pub columns: Vec<TableColumn>,
}

/// A column of it.
#[derive(Clone, Debug)]
pub struct TableColumn {
    info: ColumnInfo,
    /// Its type, domains resolved.
    pub ty: Type,
    /// The type of an array's elements, domains resolved, and what stands between them.
    element: Option<(Type, u8)>,
    is_exact: bool,
    is_counted: bool,
}

/// The table that a name means. First it is a name without a schema, whatever is in it; then one as SQL writes it.
const TABLE: &str = "
    SELECT pg_class.oid, relname::text, format('%I.%I', nspname, relname),
        EXISTS (SELECT FROM pg_trigger WHERE tgrelid IN (SELECT pg_class.oid UNION SELECT relid FROM pg_partition_tree(pg_class.oid))
            AND NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 4 <> 0),
        EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND confrelid = conrelid AND contype = 'f')
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = to_regclass(";

/// Its columns. `base` and `elements` have what domains are made of.
const COLUMNS: &str = "
    WITH RECURSIVE own(of, ty) AS (
        SELECT DISTINCT atttypid, atttypid FROM pg_attribute
            WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
        UNION ALL SELECT of, typbasetype FROM own JOIN pg_type ON oid = ty WHERE typtype = 'd'
    ), base AS (SELECT of, pg_type.* FROM own JOIN pg_type ON pg_type.oid = ty WHERE typtype <> 'd'),
    element(of, ty) AS (
        SELECT DISTINCT typelem, typelem FROM base WHERE typcategory = 'A'
        UNION ALL SELECT of, typbasetype FROM element JOIN pg_type ON oid = ty WHERE typtype = 'd'
    ), elements AS (
        SELECT of, pg_type.oid FROM element JOIN pg_type ON pg_type.oid = ty WHERE typtype <> 'd')
    SELECT attname::text, format_type(atttypid, atttypmod),
        NOT attnotnull OR atthasdef OR attidentity <> '',
        coalesce(array_position(indkey::int2[], attnum) + 1, 0),
        base.oid, elements.oid, base.typdelim::text,
        base.oid = atttypid AND (base.typname IN ('int2', 'int4', 'int8', 'uuid')
            OR base.typname IN ('text', 'varchar') AND atttypmod = -1
                AND (SELECT collisdeterministic FROM pg_collation WHERE oid = attcollation)),
        attidentity <> '' OR EXISTS (SELECT FROM pg_attrdef
            JOIN pg_depend ON classid = 'pg_attrdef'::regclass AND objid = pg_attrdef.oid
            JOIN pg_class ON refclassid = 'pg_class'::regclass AND refobjid = pg_class.oid
            WHERE adrelid = attrelid AND adnum = attnum AND relkind = 'S')
    FROM pg_attribute
    JOIN base ON base.of = atttypid
    LEFT JOIN elements ON elements.of = base.typelem AND base.typcategory = 'A'
    LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary
    WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum";

/// The code of a name that SQL can't read.
const INVALID_NAME: &str = "42602";

impl Table {
    /// The table that a name means: a name without a schema, or one as SQL writes it, with a schema or not.
    pub fn find(client: &mut Client, name: &str) -> Result<Option<Self>, postgres::Error> {
        let found = client.query_opt(&format!("{TABLE}quote_ident($1))"), &[&name])?;
        let found = match found {
            None => match client.query_opt(&format!("{TABLE}$1)"), &[&name]) {
                Err(error) if error.code().is_some_and(|code| code.code() == INVALID_NAME) => None,
                found => found?,
            },
            found => found,
        };
        found.map(|row| Table::read(client, &row)).transpose()
    }

    fn read(client: &mut Client, row: &Row) -> Result<Self, postgres::Error> {
        let oid: u32 = row.try_get(0)?;
        let columns = client.query(COLUMNS, &[&oid])?;
        Ok(Table {
            oid,
            name: row.try_get(1)?,
            quoted: row.try_get(2)?,
            has_triggers: row.try_get(3)?,
            leads_to_itself: row.try_get(4)?,
            columns: columns
                .iter()
                .map(TableColumn::read)
                .collect::<Result<_, _>>()?,
        })
    }

    /// The error that there is none.
    pub fn missing(name: &str) -> Error {
        Error::Database {
            doing: format!("looking for the table {name}"),
            message: "there is none of this name".to_owned(),
        }
    }

    /// What a load has to know of it.
    pub fn shape(self) -> LoadShape {
        LoadShape {
            columns: self.columns.into_iter().map(TableColumn::into).collect(),
            why_in_input_order: self
                .has_triggers
                .then(|| "the table has triggers, which see rows as they come".to_owned()),
        }
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| column.info.name == name)
    }

    /// Columns as SQL writes them.
    pub fn list(columns: &[&str]) -> String {
        let names: Vec<String> = columns.iter().map(|name| Client::quoted(name)).collect();
        names.join(",")
    }
}

impl TableColumn {
    fn read(row: &Row) -> Result<Self, postgres::Error> {
        let primary_key: i32 = row.try_get(3)?;
        let element: Option<u32> = row.try_get(5)?;
        let delimiter: String = row.try_get(6)?;
        Ok(TableColumn {
            info: ColumnInfo {
                name: row.try_get(0)?,
                declared_type: row.try_get(1)?,
                is_optional: row.try_get(2)?,
                primary_key: primary_key.unsigned_abs(),
            },
            ty: known(row.try_get(4)?),
            element: element.map(|element| {
                let delimiter = delimiter.bytes().next().unwrap_or(b',');
                (known(element), delimiter)
            }),
            is_exact: row.try_get(7)?,
            is_counted: row.try_get(8)?,
        })
    }
}

/// A type that comes with the server; any other is as good as unknown.
fn known(oid: u32) -> Type {
    Type::from_oid(oid).unwrap_or(Type::UNKNOWN)
}

impl From<TableColumn> for LoadColumn {
    fn from(column: TableColumn) -> Self {
        let intake = match &column.element {
            Some((element, delimiter)) => Form::Array(Box::new(Form::of(element)), *delimiter),
            None => Form::of(&column.ty),
        };
        LoadColumn {
            info: column.info,
            intake: Arc::new(intake),
            guesses_bytes: None,
            is_exact: column.is_exact,
            is_counted: column.is_counted,
        }
    }
}
