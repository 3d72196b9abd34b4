//! Properties of a table that a load needs: its columns, and how it handles rows.

use super::session::{is_utc, quoted};
use crate::{ColumnInfo, Given, Intake, LoadColumn, LoadShape, Taken, batch::Cell};
use inorder_key::Uuid;
use mysql::{Conn, prelude::Queryable as _};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Bytes of a UUID.
const UUID_BYTES: usize = 16;
/// Characters of a UUID with its hyphens.
const UUID_CHARS: usize = 36;

/// Groups of types that convert values in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// Integers and DECIMAL.
    Exact,
    /// FLOAT and DOUBLE.
    Real,
    /// CHAR, VARCHAR and the TEXT types.
    Text,
    /// BINARY, VARBINARY and the BLOB types.
    Binary,
    /// BIT: text is the bits of its characters.
    Bit,
    /// UUID.
    Uuid,
    /// TIMESTAMP.
    Timestamp,
    /// All other types.
    #[default]
    Other,
}

/// The types of each group by their names in `information_schema`.
const FAMILIES: &[(Family, &[&str])] = &[
    (
        Family::Exact,
        &[
            "tinyint",
            "smallint",
            "mediumint",
            "int",
            "bigint",
            "decimal",
        ],
    ),
    (Family::Real, &["float", "double"]),
    (
        Family::Text,
        &[
            "char",
            "varchar",
            "tinytext",
            "text",
            "mediumtext",
            "longtext",
        ],
    ),
    (
        Family::Binary,
        &[
            "binary",
            "varbinary",
            "tinyblob",
            "blob",
            "mediumblob",
            "longblob",
        ],
    ),
    (Family::Bit, &["bit"]),
    (Family::Uuid, &["uuid"]),
    (Family::Timestamp, &["timestamp"]),
];

impl Family {
    fn of(data_type: &str) -> Self {
        let data_type = data_type.to_ascii_lowercase();
        let known = FAMILIES
            .iter()
            .find(|(_, types)| types.contains(&data_type.as_str()));
        known.map_or(Family::Other, |(family, _)| *family)
    }
}

/// The value is sorted and sent unchanged, with two exceptions that take less space: integers become their shortest
/// digits, and UUIDs become bytes.
impl Intake for Family {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String> {
        let digits;
        let text: &[u8] = match given {
            Given::Null => return Ok(Taken::Null),
            // A text column stores the digits.
            Given::Bool(bool) if *self == Family::Text => match bool {
                true => b"1",
                false => b"0",
            },
            Given::Integer(integer) if *self == Family::Text => {
                digits = integer.to_string();
                digits.as_bytes()
            }
            Given::Bool(bool) => return Ok(Taken::Integer(bool.into())),
            Given::Integer(integer) => return Ok(Taken::Integer(integer)),
            Given::Real(real) if real.is_finite() => return Ok(Taken::Real(real)),
            Given::Real(real) => return Err(format!("the server can't store the number {real}")),
            Given::Blob(bytes) => {
                out.extend_from_slice(bytes);
                return Ok(Taken::Blob);
            }
            Given::Number(digits) => match (integer(digits), self) {
                (_, Family::Text) => digits,
                (Some(integer), _) => return Ok(Taken::Integer(integer)),
                (None, Family::Bit) => {
                    let digits = String::from_utf8_lossy(digits);
                    return Err(format!("{digits} is not an integer of up to 63 bits"));
                }
                (None, _) => digits,
            },
            Given::Text(text)
            | Given::Instant(text)
            | Given::JsonString(text)
            | Given::Json(text) => text,
        };
        match self {
            Family::Exact => {
                if let Some(integer) = integer(text) {
                    return Ok(Taken::Integer(integer));
                }
            }
            Family::Uuid => {
                if let Some(uuid) = uuid(text) {
                    out.extend_from_slice(&uuid.to_u128().to_be_bytes());
                    return Ok(Taken::Blob);
                }
            }
            _ => {}
        }
        if let Err(error) = std::str::from_utf8(text) {
            let at = error.valid_up_to();
            let byte = text.get(at).copied().unwrap_or_default();
            return Err(format!(
                "the text is not UTF-8: byte {at} of it is 0x{byte:02x}"
            ));
        }
        out.extend_from_slice(text);
        Ok(Taken::Text)
    }

    fn is_numeric(&self) -> bool {
        matches!(self, Family::Exact | Family::Real)
    }
}

/// Conversion for a TIMESTAMP column. The server reads text in the time zone of the session.
#[derive(Debug)]
struct Moment {
    /// Whether that is UTC.
    is_utc: bool,
    /// Whether the load has changed it to UTC.
    is_moved: bool,
}

impl Intake for Moment {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String> {
        match given {
            Given::Instant(_) if !self.is_utc => Err(
                "the value is in UTC, and the time zone of the session is another one: none of the first rows has such \
                 a value, or the table is new; set time_zone of the server to +00:00"
                    .to_owned(),
            ),
            Given::Text(_) if self.is_moved => Err(
                "the value has no time zone, and others of the input are in UTC: load the columns separately"
                    .to_owned(),
            ),
            given => Family::Timestamp.take(given, out),
        }
    }

    fn needs_utc(&self) -> bool {
        !self.is_utc
    }
}

/// Conversion for a BINARY column. Shorter values are filled up with zeros, so that values are equal here if they are
/// equal on the server.
#[derive(Debug)]
struct Padded(usize);

impl Intake for Padded {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String> {
        let end = out.len() + self.0;
        let taken = Family::Binary.take(given, out)?;
        if matches!(taken, Taken::Text | Taken::Blob) && out.len() < end {
            out.resize(end, 0);
        }
        Ok(taken)
    }
}

/// Conversion for an AUTO_INCREMENT column. Sorting puts the rows without a number first. Otherwise the server would
/// assign other numbers than INSERTs in the order of the input.
#[derive(Debug, Default)]
struct Counted {
    family: Family,
    /// Whether 0 is stored as a number instead of requesting the next one (NO_AUTO_VALUE_ON_ZERO).
    has_zero: bool,
    /// Whether the primary key has further columns. Rows without a number then do not keep the order of the input.
    is_apart: bool,
    seen_given: AtomicBool,
    seen_asked: AtomicBool,
}

impl Intake for Counted {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String> {
        let taken = match self.family.take(given, out)? {
            Taken::Integer(0) if !self.has_zero => Taken::Null,
            taken => taken,
        };
        if taken == Taken::Null && self.is_apart {
            return Err(
                "the server would number this row in the order of the primary key, and not of the input: \
                 omit the column from the input, for example with --columns"
                    .to_owned(),
            );
        }
        let (this, other) = match taken {
            Taken::Null => (&self.seen_asked, &self.seen_given),
            _ => (&self.seen_given, &self.seen_asked),
        };
        this.store(true, Relaxed);
        match other.load(Relaxed) {
            true => Err(
                "the server would not number the rows in the order of the input: \
                 load rows with a number separately from rows without one"
                    .to_owned(),
            ),
            false => Ok(taken),
        }
    }

    fn is_numeric(&self) -> bool {
        self.family.is_numeric()
    }
}

/// Returns the integer of a text that consists of its shortest digits.
fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_shortest = match digits {
        b"0" => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let text = is_shortest.then(|| std::str::from_utf8(text).ok());
    text.flatten()?.parse().ok()
}

/// Returns the UUID of a text in its usual form, in upper or lower case.
fn uuid(text: &[u8]) -> Option<Uuid> {
    let is_usual = text.len() == UUID_CHARS;
    let text = is_usual.then(|| std::str::from_utf8(text).ok());
    text.flatten()?.parse().ok()
}

/// Returns the maximum length of a BINARY or VARBINARY column in bytes. An INSERT refuses longer text, which may be
/// an encoded form of the bytes.
fn text_bytes_max(declared_type: &str) -> Option<usize> {
    let (name, width) = declared_type.strip_suffix(')')?.split_once('(')?;
    let is_limited = ["binary", "varbinary"].contains(&name);
    is_limited.then(|| width.parse().ok()).flatten()
}

/// Properties of a column that decide whether LOAD DATA stores a value as an INSERT does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Column {
    pub family: Family,
    /// An INSERT refuses a value for the column, and LOAD DATA skips it without a warning.
    pub is_generated: bool,
    /// LOAD DATA leaves larger gaps between assigned numbers.
    pub is_counted: bool,
    pub is_nullable: bool,
    /// Length in bytes to which a BINARY column fills its values.
    padded_bytes: Option<usize>,
    /// Whether the primary key contains only a prefix of the column.
    is_prefix: bool,
}

impl Column {
    /// Returns whether two values are equal on the server only if their conversions are equal.
    fn is_exact(self, declared_type: &str) -> bool {
        let is_exact = match self.family {
            Family::Exact => !declared_type.starts_with("decimal"),
            family => matches!(family, Family::Uuid | Family::Binary),
        };
        is_exact && !self.is_prefix
    }

    /// Returns whether LOAD DATA stores this value as an INSERT does, or raises a warning if the INSERT refuses it.
    /// Every type stores text in the same way, as a test of all types shows. Numbers and bytes become text in a file.
    pub fn takes_by_file(self, cell: Cell<'_>) -> bool {
        let takes = match (cell, self.family) {
            // The server's version and settings decide how it stores NULL in a TIMESTAMP that is NOT NULL.
            (Cell::Null, Family::Timestamp) => self.is_nullable,
            (Cell::Null | Cell::Text(_), _) => true,
            (Cell::Integer(_), family) => matches!(family, Family::Exact | Family::Real),
            (Cell::Real(real), Family::Real) => real.is_finite(),
            (Cell::Blob(_), Family::Binary) => true,
            // It is sent as text.
            (Cell::Blob(bytes), Family::Uuid) => bytes.len() == UUID_BYTES,
            _ => false,
        };
        // The server assigns a number if none is given, or one that rounds to 0.
        let is_given = matches!(cell, Cell::Integer(1..));
        takes && !self.is_generated && (!self.is_counted || is_given)
    }
}

/// A table.
pub struct Table {
    pub name: String,
    columns: Vec<(ColumnInfo, Column)>,
    kind: String,
    engine: Option<String>,
    has_transactions: bool,
    /// Whether the table has triggers, as far as the user may see them.
    pub has_triggers: bool,
    /// Whether this session stores 0 in an AUTO_INCREMENT column as a number.
    has_zero: bool,
    /// Whether the time zone of this session is UTC.
    is_utc: bool,
    /// Whether the load has changed it to UTC.
    is_moved: bool,
}

/// A row of [`COLUMNS`]. Source: <https://mariadb.com/kb/en/information-schema-columns-table/>.
type FoundColumn = (String, String, String, String, bool, bool, u32, bool);

const COLUMNS: &str =
    "SELECT c.column_name, column_type, data_type, upper(extra), is_nullable = 'YES',
         is_nullable = 'YES' OR column_default IS NOT NULL OR extra <> '', coalesce(seq_in_index, 0),
         sub_part IS NOT NULL
     FROM information_schema.columns AS c
     LEFT JOIN information_schema.statistics AS s
         ON s.table_schema = c.table_schema AND s.table_name = c.table_name
         AND s.column_name = c.column_name AND index_name = 'PRIMARY'
     WHERE c.table_schema = database() AND c.table_name = ?
     ORDER BY ordinal_position";

const TABLE: &str = "SELECT table_type, t.engine, coalesce(e.transactions, '') = 'YES',
         EXISTS (SELECT 1 FROM information_schema.triggers
             WHERE event_object_schema = database() AND event_object_table = t.table_name),
         find_in_set('NO_AUTO_VALUE_ON_ZERO', @@SESSION.sql_mode) > 0
     FROM information_schema.tables AS t
     LEFT JOIN information_schema.engines AS e ON e.engine = t.engine
     WHERE table_schema = database() AND table_name = ?";

/// Returns the columns of a table in order, or none if the table is missing.
pub fn columns(conn: &mut Conn, table: &str) -> Result<Vec<(ColumnInfo, Column)>, mysql::Error> {
    let found: Vec<FoundColumn> = conn.exec(COLUMNS, (table,))?;
    let column = |found: FoundColumn| {
        let (name, declared_type, data_type, extra, is_nullable, is_optional, place, is_prefix) =
            found;
        let info = ColumnInfo {
            name,
            declared_type,
            is_optional,
            primary_key: place,
        };
        let says = |word: &&str| extra.contains(*word);
        let column = Column {
            family: Family::of(&data_type),
            is_generated: ["VIRTUAL", "PERSISTENT", "STORED"].iter().any(says),
            is_counted: extra.contains("AUTO_INCREMENT"),
            is_nullable,
            padded_bytes: text_bytes_max(&info.declared_type).filter(|_| data_type == "binary"),
            is_prefix,
        };
        (info, column)
    };
    Ok(found.into_iter().map(column).collect())
}

impl Table {
    /// Returns the table of this name, if there is one.
    pub fn find(conn: &mut Conn, name: &str) -> Result<Option<Self>, mysql::Error> {
        let found: Option<(String, Option<String>, bool, bool, bool)> =
            conn.exec_first(TABLE, (name,))?;
        let Some((kind, engine, has_transactions, has_triggers, has_zero)) = found else {
            return Ok(None);
        };
        Ok(Some(Table {
            name: name.to_owned(),
            columns: columns(conn, name)?,
            kind,
            engine,
            has_transactions,
            has_triggers,
            has_zero,
            is_utc: is_utc(conn)?,
            is_moved: false,
        }))
    }

    /// Returns the table in a session whose time zone the load has changed to UTC, or not.
    pub fn moved_to_utc(self, is_moved: bool) -> Self {
        Table { is_moved, ..self }
    }

    /// Returns the properties that a load needs.
    pub fn shape(self) -> LoadShape {
        let has_zero = self.has_zero;
        let (is_utc, is_moved) = (self.is_utc, self.is_moved);
        let mut key = self.columns.iter().filter(|(info, _)| info.primary_key > 0);
        let is_apart = key.any(|(_, column)| !column.is_counted);
        let intake = |column: Column| -> Arc<dyn Intake> {
            let family = column.family;
            match (column.is_counted, column.padded_bytes) {
                (true, _) => Arc::new(Counted {
                    family,
                    has_zero,
                    is_apart,
                    ..Counted::default()
                }),
                (_, Some(bytes)) => Arc::new(Padded(bytes)),
                _ if family == Family::Timestamp => Arc::new(Moment { is_utc, is_moved }),
                _ => Arc::new(family),
            }
        };
        let column = |(info, column): (ColumnInfo, Column)| LoadColumn {
            guesses_bytes: text_bytes_max(&info.declared_type),
            is_exact: column.is_exact(&info.declared_type),
            is_counted: column.is_counted,
            intake: intake(column),
            info,
        };
        LoadShape {
            why_in_input_order: self.has_triggers.then(|| "triggers run per row".to_owned()),
            columns: self.columns.into_iter().map(column).collect(),
            created: None,
        }
    }

    fn column(&self, name: &str) -> Option<Column> {
        let mut columns = self.columns.iter();
        let found = columns.find(|(info, _)| info.name.eq_ignore_ascii_case(name));
        found.map(|(_, column)| *column)
    }

    /// Returns whether the type of each of these columns is UUID.
    pub fn are_uuids(&self, names: &[&str]) -> Vec<bool> {
        let of = |name: &&str| self.column(name).map(|column| column.family);
        names
            .iter()
            .map(|name| of(name) == Some(Family::Uuid))
            .collect()
    }

    /// Returns the columns of these names, or `None` if one is missing or the server generates another one.
    pub fn columns(&self, names: &[&str]) -> Option<Vec<Column>> {
        let is_named = |name: &str| names.iter().any(|named| named.eq_ignore_ascii_case(name));
        let counts_unnamed = self
            .columns
            .iter()
            .any(|(info, column)| column.is_counted && !is_named(&info.name));
        match counts_unnamed {
            true => None,
            false => names.iter().map(|name| self.column(name)).collect(),
        }
    }

    /// Returns it under another name.
    pub fn named(self, name: &str) -> Self {
        Table {
            name: name.to_owned(),
            ..self
        }
    }

    /// Returns the columns of the primary key, in order.
    pub fn key(&self) -> Vec<String> {
        let columns = self.columns.iter().map(|(info, _)| info);
        let mut key: Vec<&ColumnInfo> = columns.filter(|info| info.primary_key > 0).collect();
        key.sort_by_key(|info| info.primary_key);
        key.into_iter().map(|info| info.name.clone()).collect()
    }

    /// Returns the reason why the table cannot be loaded: the load could not be undone after a refused row.
    pub fn obstacle(&self) -> Option<String> {
        let name = quoted(&self.name);
        if self.kind.contains("VIEW") {
            return Some(format!("{name} is a view: load into its table"));
        }
        let engine = self.engine.as_deref().unwrap_or("its engine");
        (!self.has_transactions).then(|| {
            format!(
                "the engine {engine} has no transactions, so rows could not be taken back when a later one is \
                 refused: load into a table of InnoDB, and copy that (INSERT INTO {name} SELECT …)"
            )
        })
    }
}
