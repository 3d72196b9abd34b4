//! `[[table]]`: a table of the experiment's own and the recipe of its rows.

use super::{
    fields::{Field, Fields},
    scale::Scale,
};
use crate::{
    error::{Error, nearest},
    generate::Fill,
};
use inorder_engine::{Column, Value};
use inorder_key::{Encoding, KeyKind};
use std::sync::Arc;

/// A table and how its rows are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its rows; the measured table takes the factor `rows`.
    pub rows: TableRows,
    /// Its DDL.
    pub create: Create,
    /// A recipe for each column that is filled, in file order. A column that the table of a layout
    /// doesn't have is left out there.
    pub columns: Vec<(String, Recipe)>,
    /// Whether its load is what is measured.
    pub is_measured: bool,
    /// The measured table that it belongs to and the rows per row of that one, if it is filled with another measured
    /// table.
    pub belongs_to: Option<(String, u64)>,
}

/// The number of rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRows {
    /// The factor `rows`.
    Factor,
    /// This many.
    Fixed(u64),
    /// The number of rows in the data file.
    File,
}

/// DDL, with `{factor}` where a level goes and `{key}`, `{blob}` and `{text}` for the engine's types
/// of the key, of bytes and of long text.
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    /// The statements for engines without their own DDL.
    all: ByLayout,
    /// Engines with their own.
    engines: Vec<(String, ByLayout)>,
}

/// DDL of one engine or of all.
#[derive(Clone, Debug, PartialEq)]
enum ByLayout {
    /// One for every layout.
    One(String),
    /// One a layout.
    Each(Vec<(String, String)>),
}

impl Create {
    /// The DDL of a layout in an engine.
    pub fn of(&self, engine: &str, layout: &str) -> Option<&str> {
        let own = self.engines.iter().find(|(name, _)| name == engine);
        match own.map_or(&self.all, |(_, own)| own) {
            ByLayout::One(sql) => Some(sql),
            ByLayout::Each(all) => {
                let (_, sql) = all.iter().find(|(name, _)| name == layout)?;
                Some(sql)
            }
        }
    }

    /// The layouts it names.
    pub fn layouts(&self) -> Vec<&str> {
        let each = self.engines.iter().map(|(_, own)| own).chain([&self.all]);
        let mut names: Vec<&str> = each
            .flat_map(|by_layout| match by_layout {
                ByLayout::One(_) => &[],
                ByLayout::Each(all) => &all[..],
            })
            .map(|(name, _)| name.as_str())
            .collect();
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }
}

/// Text of a DDL that is no placeholder: its braces are doubled.
pub fn literally(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// DDL with each `{name}` replaced by the name's value, and double braces by single ones.
///
/// # Errors
/// The first name that has no value.
pub fn filled(ddl: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, &str> {
    let (mut out, mut rest) = (String::new(), ddl);
    while let Some(at) = rest.find(['{', '}']) {
        let (text, from_brace) = rest.split_at(at);
        let (brace, behind) = from_brace.split_at(1);
        out += text;
        rest = if let Some(behind) = behind.strip_prefix(brace) {
            out += brace;
            behind
        } else if brace == "}" {
            out += brace;
            behind
        } else {
            let (name, behind) = behind.split_once('}').unwrap_or((behind, ""));
            out += &value(name).ok_or(name)?;
            behind
        };
    }
    Ok(out + rest)
}

/// The content of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Recipe {
    /// A key of the factor `key`.
    Key,
    /// A key of one kind, whatever the factor `key` says.
    KeyOf {
        /// The kind.
        kind: KeyKind,
        /// Its encoding; `None` is the default of the kind.
        encoding: Option<Encoding>,
    },
    /// NULL in a share of the rows, else the values of another recipe.
    Nullable {
        /// The share, from 0 to 1.
        share: f64,
        /// The other recipe.
        recipe: Box<Recipe>,
    },
    /// Random bytes, as many as the factor `payload_bytes` says.
    Payload {
        /// Letters and digits rather than any bytes.
        is_text: bool,
    },
    /// Values made up, or the same in every row.
    Made(Fill),
    /// A column of the data file, row by row, from the beginning again at its end.
    File {
        /// The column.
        column: String,
        /// The remedy if no data file is given.
        otherwise: Option<Box<Recipe>>,
    },
    /// The value of a random row of a table that was filled before.
    Pick {
        /// The table.
        table: String,
        /// Its column.
        column: String,
        /// No value twice within the rows of one transaction.
        distinct: bool,
    },
    /// The value of each row of a table that was filled before, repeated: all rows of one parent
    /// follow one another.
    Each {
        /// The table.
        table: String,
        /// Its column.
        column: String,
        /// Rows of one parent; `None` is a transaction's.
        repeat: Option<u64>,
    },
}

/// Reads every `[[table]]`. The last is the measured one where none says so.
pub(super) fn read_tables(fields: &mut Fields<'_>, scale: Scale) -> Result<Vec<Table>, Error> {
    let mut tables: Vec<Table> = Vec::new();
    for item in fields.take("table").iter().flat_map(Field::list) {
        let mut table = read_table(item.table()?, scale, &tables)?;
        if tables.iter().any(|other| other.name == table.name) {
            return Err(item.error(format!("the table `{}` is there twice", table.name)));
        }
        belong(&mut table, &tables).map_err(|why| item.error(why))?;
        tables.push(table);
    }
    if !tables.iter().any(|table| table.is_measured)
        && let Some(last) = tables.last_mut()
    {
        last.is_measured = true;
    }
    for table in &mut tables {
        if table.is_measured {
            table.rows = TableRows::Factor;
        }
    }
    Ok(tables)
}

/// Finds the measured table whose rows a further measured table belongs to. An error says which recipe is missing or
/// wrong.
fn belong(table: &mut Table, before: &[Table]) -> Result<(), String> {
    let is_measured = |name: &str| before.iter().any(|t| t.is_measured && t.name == name);
    let Some(root) = before.iter().find(|other| other.is_measured) else {
        return Ok(());
    };
    let mut is_counted = false;
    for (column, recipe) in &table.columns {
        match recipe {
            Recipe::Pick { table: from, .. } if is_measured(from) => {
                return Err(format!(
                    "`{column}` of table `{}` can't pick from `{from}`, which is filled at the same time: use `each`",
                    table.name
                ));
            }
            Recipe::Each { table: from, .. } if is_measured(from) && !table.is_measured => {
                return Err(format!(
                    "table `{}` takes rows of `{from}`, which is measured: say `measured = true` here, too",
                    table.name
                ));
            }
            Recipe::Each {
                table: from,
                repeat,
                ..
            // The one that says how many; without any, one row each.
            } if is_measured(from)
                && (table.belongs_to.is_none() || (repeat.is_some() && !is_counted)) =>
            {
                is_counted = repeat.is_some();
                table.belongs_to = Some((from.clone(), repeat.unwrap_or(1)));
            }
            _ => {}
        }
    }
    if !table.is_measured || table.belongs_to.is_some() {
        return Ok(());
    }
    Err(format!(
        "`{0}` is measured with `{1}`: give one of its columns the recipe {{ fill = \"each\", from = \"{1}.…\", repeat = … }}, which says how many rows of `{0}` a row of `{1}` has",
        table.name, root.name
    ))
}

fn read_table(mut fields: Fields<'_>, scale: Scale, before: &[Table]) -> Result<Table, Error> {
    let name = fields.need("name")?.string()?;
    let is_measured = fields.take("measured").map_or(Ok(false), |f| f.boolean())?;
    let rows = match fields.take("rows") {
        Some(field) => read_rows(&field, scale)?,
        None => TableRows::Factor,
    };
    let create = read_create(&fields.need("create")?)?;
    let mut columns = Vec::new();
    for (column, field) in fields.need("columns")?.table()?.take_all() {
        columns.push((column, read_recipe(&field, before)?));
    }
    fields.finish()?;
    Ok(Table {
        name,
        rows,
        create,
        columns,
        is_measured,
        belongs_to: None,
    })
}

fn read_rows(field: &Field<'_>, scale: Scale) -> Result<TableRows, Error> {
    if field.is_string() {
        return match field.string()?.as_str() {
            "file" => Ok(TableRows::File),
            other => Err(field.error(format!(
                "`rows` is an integer or \"file\" (as many as the data file has), not `{other}`"
            ))),
        };
    }
    if let Ok(mut scales) = field.table() {
        let (quick, full) = (scales.need("quick")?, scales.need("full")?);
        scales.finish()?;
        let chosen = if scale == Scale::Quick { quick } else { full };
        return read_rows(&chosen, scale);
    }
    Ok(TableRows::Fixed(field.at_least(1)?))
}

/// `create`: DDL, or a table of DDL by layout; in it, an engine's name leads to that engine's own.
fn read_create(field: &Field<'_>) -> Result<Create, Error> {
    if field.is_string() {
        return Ok(Create {
            all: ByLayout::One(field.string()?),
            engines: Vec::new(),
        });
    }
    let (mut layouts, mut engines) = (Vec::new(), Vec::new());
    for (name, field) in field.table()?.take_all() {
        if inorder_engine::engine(&name).is_none() {
            layouts.push((name, field.string()?));
        } else if field.is_string() {
            engines.push((name, ByLayout::One(field.string()?)));
        } else {
            let mut own = Vec::new();
            for (layout, sql) in field.table()?.take_all() {
                own.push((layout, sql.string()?));
            }
            engines.push((name, ByLayout::Each(own)));
        }
    }
    Ok(Create {
        all: ByLayout::Each(layouts),
        engines,
    })
}

/// Every recipe: its name, and what it fills a column with.
pub const RECIPES: &[(&str, &str)] = &[
    (
        "key",
        "an id of the factor `key`, stored as the factor `encoding` says; fields: kind, encoding (an id of this kind whatever the factors say)",
    ),
    (
        "payload",
        "random bytes, as many as the factor `payload_bytes` says",
    ),
    (
        "payload-text",
        "random letters and digits, as many as `payload_bytes` says",
    ),
    (
        "sequence",
        "start, start + step, …; fields: start (1), step (1)",
    ),
    (
        "cycle",
        "the integers from low to high, over and over; fields: low, high, repeat (the rows that each is in before the next; 1)",
    ),
    (
        "times",
        "points in time, each later than the one before, as text; fields: start (seconds since 1970), step_ms, date (true for the day alone)",
    ),
    (
        "values",
        "a random one of these values; a value that stands twice is twice as likely; fields: values",
    ),
    ("random-int", "a random integer; fields: low, high"),
    ("random-real", "a random number; fields: low, high"),
    (
        "random-text",
        "random letters and digits; fields: length (a number, or [shortest, longest])",
    ),
    (
        "random-blob",
        "random bytes; fields: length (a number, or [shortest, longest])",
    ),
    ("titles", "made-up film titles"),
    ("names", "made-up user names"),
    ("constant", "the same value in every row; fields: value"),
    (
        "file",
        "a column of the data file, row by row; fields: column, otherwise (a recipe for runs without a file)",
    ),
    (
        "pick",
        "the value of a random row of a table filled before; fields: from (\"table.column\"), distinct (no value twice in a transaction)",
    ),
    (
        "each",
        "the value of each row of a table filled before, repeated; fields: from (\"table.column\"), repeat (rows_per_transaction)",
    ),
];

fn is_recipe(name: &str) -> bool {
    RECIPES.iter().any(|(known, _)| *known == name)
}

/// A recipe: a name alone, or a table with `fill = name` and the recipe's own fields.
fn read_recipe(field: &Field<'_>, before: &[Table]) -> Result<Recipe, Error> {
    if field.is_string() {
        let name = field.string()?;
        return match name.as_str() {
            "key" => Ok(Recipe::Key),
            "payload" => Ok(Recipe::Payload { is_text: false }),
            "payload-text" => Ok(Recipe::Payload { is_text: true }),
            "sequence" => Ok(Recipe::Made(Fill::Sequence { start: 1, step: 1 })),
            "titles" => Ok(Recipe::Made(Fill::Words)),
            "names" => Ok(Recipe::Made(Fill::Names)),
            known if is_recipe(known) => Err(field.error(format!(
                "the recipe `{known}` has fields of its own: write {{ fill = \"{known}\", … }}"
            ))),
            _ => Err(unknown_recipe(field, &name)),
        };
    }
    let mut fields = field.table()?;
    let fill = fields.need("fill")?;
    let name = fill.string()?;
    let null_share = fields
        .take("null_share")
        .map(|f| read_share(&f))
        .transpose()?;
    let recipe = match name.as_str() {
        "key" => match fields.take("kind") {
            None => Recipe::Key,
            Some(kind) => read_key(&kind, fields.take("encoding").as_ref())?,
        },
        "file" => Recipe::File {
            column: fields.need("column")?.string()?,
            otherwise: match fields.take("otherwise") {
                Some(field) => Some(Box::new(read_recipe(&field, before)?)),
                None => None,
            },
        },
        "pick" => {
            let (table, column) = read_from(&fields.need("from")?, before)?;
            Recipe::Pick {
                table,
                column,
                distinct: fields.take("distinct").map_or(Ok(false), |f| f.boolean())?,
            }
        }
        "each" => {
            let (table, column) = read_from(&fields.need("from")?, before)?;
            Recipe::Each {
                table,
                column,
                repeat: fields.take("repeat").map(|f| f.at_least(1)).transpose()?,
            }
        }
        made => match read_made(made, &mut fields)? {
            Some(fill) => Recipe::Made(fill),
            // A recipe without fields, or none at all.
            None => read_recipe(&fill, before)?,
        },
    };
    fields.finish()?;
    Ok(match null_share {
        None => recipe,
        Some(_) if matches!(recipe, Recipe::Key) => {
            return Err(fill.error("the key in question has no `null_share`"));
        }
        Some(share) => Recipe::Nullable {
            share,
            recipe: Box::new(recipe),
        },
    })
}

fn read_share(field: &Field<'_>) -> Result<f64, Error> {
    let share = field.real()?;
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(field.error("`null_share` is from 0 to 1")),
    }
}

/// A key of one kind.
fn read_key(kind: &Field<'_>, encoding: Option<&Field<'_>>) -> Result<Recipe, Error> {
    let name = kind.string()?;
    let known = || KeyKind::ALL.iter().map(|kind| kind.name());
    let found = KeyKind::from_name(&name).ok_or_else(|| {
        kind.error(format!(
            "unknown key kind `{name}`: {}",
            nearest(&name, known())
        ))
    })?;
    if [KeyKind::Serial, KeyKind::Composite].contains(&found) {
        return Err(kind.error(format!("`{name}` is for the factor `key` only")));
    }
    let encoding = match encoding {
        None => None,
        Some(field) => {
            let name = field.string()?;
            let known = found.encodings();
            let own = known.iter().find(|encoding| encoding.name() == name);
            Some(*own.ok_or_else(|| {
                let known = known.iter().map(|encoding| encoding.name());
                field.error(format!(
                    "{} is not stored as `{name}`: {}",
                    found.name(),
                    nearest(&name, known)
                ))
            })?)
        }
    };
    Ok(Recipe::KeyOf {
        kind: found,
        encoding,
    })
}

/// The most integers of a cycle.
const CYCLE_MAX: i64 = 1_000_000;

/// Values made up by a recipe with fields; `None` where it has none.
fn read_made(name: &str, fields: &mut Fields<'_>) -> Result<Option<Fill>, Error> {
    Ok(Some(match name {
        "random-int" => {
            let (low, high) = (fields.need("low")?, fields.need("high")?.integer()?);
            if low.integer()? > high {
                return Err(low.error("`low` is above `high`"));
            }
            Fill::RandomInt {
                low: low.integer()?,
                high,
            }
        }
        "random-real" => Fill::RandomReal {
            low: fields.need("low")?.real()?,
            high: fields.need("high")?.real()?,
        },
        "random-text" => {
            let (length_min, length_max) = read_length(&fields.need("length")?)?;
            Fill::RandomText {
                length_min,
                length_max,
            }
        }
        "random-blob" => {
            let (length_min, length_max) = read_length(&fields.need("length")?)?;
            Fill::RandomBlob {
                length_min,
                length_max,
            }
        }
        "sequence" => Fill::Sequence {
            start: fields.take("start").map_or(Ok(1), |f| f.integer())?,
            step: fields.take("step").map_or(Ok(1), |f| f.integer())?,
        },
        "constant" => Fill::Constant(read_value(&fields.need("value")?)?),
        "cycle" => {
            let (low, high) = (fields.need("low")?, fields.need("high")?.integer()?);
            let first = low.integer()?;
            if !(first..first.saturating_add(CYCLE_MAX)).contains(&high) {
                return Err(low.error(format!(
                    "`high` is not below `low`, and there are at most {CYCLE_MAX} integers"
                )));
            }
            Fill::Each {
                from: Arc::new(Column::Integers((first..=high).collect())),
                repeat: fields.take("repeat").map_or(Ok(1), |f| f.at_least(1))? as usize,
            }
        }
        "times" => Fill::Times {
            start_unix_ms: fields.need("start")?.at_least(0)?.saturating_mul(1000),
            step_ms: fields.need("step_ms")?.at_least(0)?,
            is_date: fields.take("date").map_or(Ok(false), |f| f.boolean())?,
        },
        "values" => {
            let values = fields.need("values")?.list();
            let values: Vec<Value> = values.iter().map(read_value).collect::<Result<_, _>>()?;
            Fill::Pick {
                from: Arc::new(Column::Any(values)),
                distinct_within: None,
            }
        }
        _ => return Ok(None),
    }))
}

fn unknown_recipe(field: &Field<'_>, name: &str) -> Error {
    field.error(format!(
        "unknown recipe `{name}`: {}",
        nearest(name, RECIPES.iter().map(|(known, _)| *known))
    ))
}

/// A length: one number, or the shortest and the longest.
fn read_length(field: &Field<'_>) -> Result<(usize, usize), Error> {
    let ends: Vec<u64> = field
        .list()
        .iter()
        .map(|item| item.at_least(0))
        .collect::<Result<_, _>>()?;
    let (low, high) = match ends[..] {
        [both] => (both, both),
        [low, high] if low <= high => (low, high),
        _ => return Err(field.error("`length` is one number, or the shortest and the longest")),
    };
    if high > 1_000_000 {
        return Err(field.error("`length` is at most 1000000"));
    }
    Ok((low as usize, high as usize))
}

fn read_value(field: &Field<'_>) -> Result<Value, Error> {
    if field.is_string() {
        return Ok(Value::Text(Arc::from(field.string()?)));
    }
    if let Ok(value) = field.boolean() {
        return Ok(Value::Integer(i64::from(value)));
    }
    match field.integer() {
        Ok(value) => Ok(Value::Integer(value)),
        Err(_) => Ok(Value::Real(field.real()?)),
    }
}

/// `table.column` of a table that comes before.
fn read_from(field: &Field<'_>, before: &[Table]) -> Result<(String, String), Error> {
    let text = field.string()?;
    // Names may contain points.
    let known = before.iter().find_map(|parent| {
        let column = text.strip_prefix(&parent.name)?.strip_prefix('.')?;
        let mut columns = parent.columns.iter();
        columns.find(|(name, _)| name == column)?;
        Some((parent.name.clone(), column.to_owned()))
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let Some((table, column)) = text.split_once('.') else {
        return Err(field.error(format!("`from` is \"table.column\", not `{text}`")));
    };
    Err(match before.iter().find(|other| other.name == table) {
        Some(parent) => field.error(format!(
            "the table `{table}` has no recipe for `{column}`: {}",
            nearest(column, parent.columns.iter().map(|(name, _)| name.as_str()))
        )),
        None => field.error(format!(
            "no table `{table}` comes before this one: {}",
            nearest(table, before.iter().map(|other| other.name.as_str()))
        )),
    })
}
