//! Properties of a table that a load needs, from the catalog.

use super::intake::Form;
use crate::{ColumnInfo, Error, LoadColumn, LoadShape, server::Connection as _};
use postgres::{Client, Row, types::Type};
use std::sync::Arc;

/// An existing table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its object identifier.
    pub oid: u32,
    /// Its name, without the schema.
    pub name: String,
    /// Its name with the schema, as SQL writes it.
    pub quoted: String,
    /// Whether inserted rows fire user triggers, of the table itself or of a partition.
    pub has_triggers: bool,
    /// Whether a foreign key refers to the table itself. Rows may then precede the rows they refer to, if one
    /// statement inserts both.
    pub leads_to_itself: bool,
    /// Its columns.
    pub columns: Vec<TableColumn>,
}

/// A column of the table.
#[derive(Clone, Debug)]
pub struct TableColumn {
    info: ColumnInfo,
    /// Its type, domains resolved.
    pub ty: Type,
    /// Type of an array's elements with domains resolved, and their delimiter.
    element: Option<(Type, u8)>,
    is_exact: bool,
    is_counted: bool,
}

/// Query for the table of a name: first as a literal name without a schema, then as an identifier in SQL syntax.
const TABLE: &str = "
    SELECT pg_class.oid, relname::text, format('%I.%I', nspname, relname),
        EXISTS (SELECT FROM pg_trigger WHERE tgrelid IN (SELECT pg_class.oid UNION SELECT relid FROM pg_partition_tree(pg_class.oid))
            AND NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 4 <> 0),
        EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND confrelid = conrelid AND contype = 'f')
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = to_regclass(";

/// Columns that [`column_info`] reads. Source: <https://www.postgresql.org/docs/15/catalog-pg-attribute.html>.
pub const COLUMN_INFO: &str = "attname::text, format_type(atttypid, atttypmod),
    NOT attnotnull OR atthasdef OR attidentity <> '',
    coalesce(array_position(indkey::int2[], attnum) + 1, 0)";

/// Joins the primary key that [`COLUMN_INFO`] needs.
pub const PRIMARY_KEY: &str = "LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary";

/// Query for a table's columns. `base` and `elements` are the underlying types of domains.
fn columns_query() -> String {
    format!(
        "WITH RECURSIVE own(of, ty) AS (
        SELECT DISTINCT atttypid, atttypid FROM pg_attribute
            WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
        UNION ALL SELECT of, typbasetype FROM own JOIN pg_type ON oid = ty WHERE typtype = 'd'
    ), base AS (SELECT of, pg_type.* FROM own JOIN pg_type ON pg_type.oid = ty WHERE typtype <> 'd'),
    element(of, ty) AS (
        SELECT DISTINCT typelem, typelem FROM base WHERE typcategory = 'A'
        UNION ALL SELECT of, typbasetype FROM element JOIN pg_type ON oid = ty WHERE typtype = 'd'
    ), elements AS (
        SELECT of, pg_type.oid FROM element JOIN pg_type ON pg_type.oid = ty WHERE typtype <> 'd')
    SELECT {COLUMN_INFO},
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
    {PRIMARY_KEY}
    WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum"
    )
}

/// Error code of a name that is not valid SQL.
const INVALID_NAME: &str = "42602";

impl Table {
    /// Returns the table of a name: a literal name without a schema, an identifier in SQL syntax with or without one, or
    /// the literal names of schema and table with a point between them.
    pub fn find(client: &mut Client, name: &str) -> Result<Option<Self>, postgres::Error> {
        let found = client.query_opt(&format!("{TABLE}quote_ident($1))"), &[&name])?;
        let found = match found {
            None => match client.query_opt(&format!("{TABLE}$1)"), &[&name]) {
                Err(error) if error.code().is_some_and(|code| code.code() == INVALID_NAME) => None,
                found => found?,
            },
            found => found,
        };
        let found = match (found, name.split_once('.')) {
            (None, Some(parts)) => {
                let both = format!("{TABLE}quote_ident($1) || '.' || quote_ident($2))");
                client.query_opt(&both, &[&parts.0, &parts.1])?
            }
            (found, _) => found,
        };
        found.map(|row| Table::read(client, &row)).transpose()
    }

    fn read(client: &mut Client, row: &Row) -> Result<Self, postgres::Error> {
        let oid: u32 = row.try_get(0)?;
        let columns = client.query(&columns_query(), &[&oid])?;
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

    /// Returns the error for a missing table.
    pub fn missing(name: &str) -> Error {
        Error::Database {
            doing: format!("describing the table {name}"),
            message: "it doesn't exist".to_owned(),
        }
    }

    /// Returns the properties that a load needs.
    pub fn shape(self) -> LoadShape {
        LoadShape {
            columns: self.columns.into_iter().map(TableColumn::into).collect(),
            created: None,
            why_in_input_order: self
                .has_triggers
                .then(|| "the table has triggers, which run in the order of arrival".to_owned()),
        }
    }

    /// Returns the columns of the primary key, in order.
    pub fn key(&self) -> Vec<&str> {
        let columns = self.columns.iter().map(|column| &column.info);
        let mut key: Vec<_> = columns.filter(|info| info.primary_key > 0).collect();
        key.sort_by_key(|info| info.primary_key);
        key.into_iter().map(|info| &*info.name).collect()
    }

    /// Returns the column of this name.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| column.info.name == name)
    }

    /// Formats column names for SQL.
    pub fn list(columns: &[&str]) -> String {
        let names: Vec<String> = columns.iter().map(|name| Client::quoted(name)).collect();
        names.join(",")
    }
}

impl TableColumn {
    fn read(row: &Row) -> Result<Self, postgres::Error> {
        let element: Option<u32> = row.try_get(5)?;
        let delimiter: String = row.try_get(6)?;
        Ok(TableColumn {
            info: column_info(row)?,
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

/// Reads a column from a row that begins with [`COLUMN_INFO`].
pub fn column_info(row: &Row) -> Result<ColumnInfo, postgres::Error> {
    let primary_key: i32 = row.try_get(3)?;
    Ok(ColumnInfo {
        name: row.try_get(0)?,
        declared_type: row.try_get(1)?,
        is_optional: row.try_get(2)?,
        primary_key: primary_key.unsigned_abs(),
    })
}

/// Returns the built-in type with this id. All other types are treated as unknown.
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
