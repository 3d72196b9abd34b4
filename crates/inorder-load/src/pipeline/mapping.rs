//! Maps the fields of the input to the columns of the table.

use std::path::Path;

use inorder_key::Encoding;
use rusqlite::types::Value;

use crate::Error;
use crate::destination::{ColumnInfo, Destination, KeySpec, Sample};
use crate::encode::{Encoder, Maker, Rules, Slot, Strict, ValueSource};
use crate::error::offer;
use crate::job::{DecodeAs, Job, OnDuplicate};
use crate::row_writer::{Choice, WritePlan};
use crate::rows::Header;

/// The columns that the inputs give, as far as the header of the first says.
///
/// # Errors
/// [`Error::Refused`] if there are none.
pub(super) fn given(
    destination: &Destination,
    job: &Job,
    sample: &Sample,
    header: &Header,
) -> Result<Vec<usize>, Error> {
    let named: Vec<usize> = header
        .columns
        .iter()
        .filter_map(|(name, place)| column(destination, header, name, *place))
        .collect();
    // An update changes only what the input gives.
    let is_open = job.on_duplicate != OnDuplicate::Update
        && (!header.is_complete || (job.inputs.len() > 1 && !named.is_empty()));
    let is_given = |column: &usize| {
        let info = &destination.columns[*column];
        // A row to come may name it, and no default would be lost. A server may have one for any column.
        let is_known = !header.is_complete || info.intake.is_none();
        let may_come =
            is_open && is_known && info.default.is_none() && destination.rowid != Some(*column);
        named.contains(column) || made(job, destination, *column).is_some() || may_come
    };
    let physical = &destination.physical;
    let given: Vec<usize> = physical.iter().copied().filter(is_given).collect();
    // Without rows, the columns are unknown and nothing is loaded.
    let is_empty = sample.rows.is_empty() && !header.is_complete;
    match given.is_empty() {
        false => Ok(given),
        true if is_empty => Ok(physical.clone()),
        true => Err(no_columns(header, destination)),
    }
}

/// The encoder of a plan's records.
///
/// # Errors
/// [`Error::Refused`] if the job decodes a column that the table doesn't have, and as [`places`].
pub(super) fn encoder(
    plan: &WritePlan<'_>,
    sample: &Sample,
    header: &Header,
    choice: &Choice,
) -> Result<Encoder, Error> {
    let WritePlan {
        job,
        destination,
        record,
        ..
    } = plan;
    check_decoded(job, destination)?;
    let places = places(plan, header)?;
    let mut slots = Vec::with_capacity(record.len());
    for (&column, place) in record.iter().zip(places) {
        let info = &destination.columns[column];
        let said = job
            .decode
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(&info.name));
        let (decode, is_form_unknown) = match (said, place) {
            (Some((_, decode)), _) => (*decode, false),
            (None, Some(place)) if info.is_blob() && sample.has_text(place) => {
                let decode = sample.decode(place, info);
                (decode, decode.is_none() && sample.may_be_bytes(place))
            }
            (None, _) => (None, info.is_blob()),
        };
        let constant = choice.constants.iter().find(|(of, _)| *of == column);
        let from = match made(job, destination, column) {
            Some((kind, encoding)) => {
                let maker = Maker::new(kind, encoding);
                let maker = maker.map_err(|error| Error::Refused {
                    what: error.to_string(),
                })?;
                ValueSource::Made(Box::new(maker))
            }
            None => ValueSource::Field(usize::MAX),
        };
        slots.push(Slot {
            name: info.name.clone(),
            from,
            default: constant.map_or(Value::Null, |(_, value)| value.clone()),
            decode,
            is_decode_derived: said.is_none(),
            is_form_unknown,
            rules: rules(info, destination.rowid == Some(column), job, choice),
            intake: info.intake.clone(),
        });
    }
    let encoder = Encoder::new(slots, destination.encoding);
    let mut encoder = encoder.map_err(|source| Error::Database {
        path: "SQLite".into(),
        source,
    })?;
    let is_rowid = |column: &usize| destination.rowid == Some(*column);
    if let (Some(place), Some(rowids)) = (record.iter().position(is_rowid), plan.rowids) {
        encoder.count_rowids(place, rowids);
    }
    Ok(encoder)
}

/// Checks that the columns which the job decodes exist.
fn check_decoded(job: &Job, destination: &Destination) -> Result<(), Error> {
    let is_missing = |(name, _): &&DecodeAs| destination.column(name).is_none();
    let Some((name, _)) = job.decode.iter().find(is_missing) else {
        return Ok(());
    };
    let names = destination
        .columns
        .iter()
        .map(|column| column.name.as_str());
    Err(Error::Refused {
        what: format!("--decode: no column `{name}`; {}", offer(name, names)),
    })
}

/// The source of each value of a record, in rows with this header; `None` keeps the source.
///
/// # Errors
/// [`Error::Refused`] if the file has a column that the table or the record doesn't, or one twice, or if it lacks one
/// whose value is not known then.
pub(super) fn sources(
    plan: &WritePlan<'_>,
    header: &Header,
) -> Result<Vec<Option<ValueSource>>, Error> {
    let places = places(plan, header)?;
    let columns = plan.record.iter().zip(places);
    columns
        .map(|(column, place)| source(plan, header, *column, place))
        .collect()
}

/// The source of the value of one column, which has this place in the file.
fn source(
    plan: &WritePlan<'_>,
    header: &Header,
    column: usize,
    place: Option<usize>,
) -> Result<Option<ValueSource>, Error> {
    let WritePlan {
        job, destination, ..
    } = plan;
    let info = &destination.columns[column];
    if made(job, destination, column).is_some() {
        return match place {
            None => Ok(None),
            Some(_) => Err(made_too(&header.path, &info.name)),
        };
    }
    let is_given = plan.given.contains(&column);
    let is_sqlite_default =
        info.default.is_some() && info.intake.is_none() && destination.rowid != Some(column);
    Ok(Some(match place {
        // Whether a row comes before or after the first one with the name makes no difference.
        Some(place) if !is_given && !header.is_complete => ValueSource::FieldOrDefault(place),
        Some(place) => ValueSource::Field(place),
        None if !is_given => ValueSource::Default,
        None if !header.is_complete => ValueSource::Field(usize::MAX),
        None if job.on_duplicate == OnDuplicate::Update => {
            return Err(lacks(&header.path, &info.name, "updates rows with it"));
        }
        None if !is_sqlite_default => ValueSource::Field(usize::MAX),
        None if plan.defaulted.contains(&column) => ValueSource::Default,
        None => {
            let why = "gives it, and its default is computed per row";
            return Err(lacks(&header.path, &info.name, why));
        }
    }))
}

/// The place in a row of the open file of each column of a record.
///
/// # Errors
/// [`Error::Refused`] if the file has a column that the table or the record doesn't, or one twice.
fn places(plan: &WritePlan<'_>, header: &Header) -> Result<Vec<Option<usize>>, Error> {
    let WritePlan {
        destination,
        record,
        ..
    } = plan;
    let mut places = vec![None; record.len()];
    for &(ref name, place) in &header.columns {
        match column(destination, header, name, place)
            .map(|column| record.iter().position(|of| *of == column))
        {
            Some(Some(at)) => {
                if let Some(other) = places[at].replace(place) {
                    let column = &destination.columns[record[at]].name;
                    return Err(twice(header, column, [other, place]));
                }
            }
            Some(None) => return Err(late(&header.path, name)),
            None if plan.job.skips_unknown => {}
            None => return Err(unknown(header, name, destination)),
        }
    }
    Ok(places)
}

/// Returns the rules by which the loader refuses values before the database does.
fn rules(info: &ColumnInfo, is_rowid: bool, job: &Job, choice: &Choice) -> Rules {
    let is_left_to_sqlite = choice.why_in_input_order.is_some();
    // INSERT OR REPLACE puts the default there.
    let is_filled = job.on_duplicate == OnDuplicate::Replace && info.default.is_some();
    Rules {
        affinity: info.affinity,
        // SQLite makes a rowid where there is none, NOT NULL or not.
        is_not_null: info.is_not_null && !is_rowid && !is_filled && !is_left_to_sqlite,
        strict: match is_rowid {
            _ if is_left_to_sqlite => None,
            true => Some(Strict::Integer),
            false => info.strict,
        },
        is_guessed: info.is_guessed,
        is_derived: info.is_derived,
        is_undecided: info.is_undecided,
    }
}

/// The column that a field of the input is for.
fn column(destination: &Destination, header: &Header, name: &str, place: usize) -> Option<usize> {
    if header.is_by_place {
        return (place < destination.columns.len()).then_some(place);
    }
    let alias = header.aliases.iter().find(|(_, of)| *of == name);
    destination
        .column(name)
        .or_else(|| destination.column(alias?.0))
}

/// The ids that the load makes for a column.
fn made(
    job: &Job,
    destination: &Destination,
    column: usize,
) -> Option<(inorder_key::KeyKind, Encoding)> {
    let is_it = |key: &&KeySpec| destination.column(&key.column) == Some(column);
    let key = job.create.as_ref()?.key.iter().find(is_it)?;
    key.made
        .filter(|(kind, _)| *kind != inorder_key::KeyKind::Serial)
}

fn late(path: &Path, name: &str) -> Error {
    Error::Refused {
        what: format!(
            "{}: column `{name}` is missing from the rows read first, so it has its default: put a row with this column first",
            path.display()
        ),
    }
}

/// The error of a file with ids for a column that the load makes ids for.
fn made_too(path: &Path, name: &str) -> Error {
    Error::Refused {
        what: format!(
            "{}: column `{name}` is the key that the loader makes: load files with keys without a kind in --key, or omit \
             the column with --columns",
            path.display()
        ),
    }
}

/// The error of a later file without a column of the first.
fn lacks(path: &Path, name: &str, why: &str) -> Error {
    Error::Refused {
        what: format!(
            "{}: column `{name}` is missing, and the load {why}: load this file by itself",
            path.display()
        ),
    }
}

/// The error of two columns of a file that are the same of the table: one of them would be lost.
fn twice(header: &Header, column: &str, places: [usize; 2]) -> Error {
    let has_place = |place: usize| header.columns.iter().find(move |(_, of)| *of == place);
    let [first, second] =
        places.map(|place| has_place(place).map_or("", |(name, _)| name.as_str()));
    Error::Refused {
        what: format!(
            "{}: `{first}` and `{second}` both name the table's column `{column}`; --columns renames columns, and `-` \
             omits one",
            header.path.display(),
        ),
    }
}

fn unknown(header: &Header, name: &str, destination: &Destination) -> Error {
    let (path, table) = (header.path.display(), &destination.table);
    let names = destination
        .columns
        .iter()
        .map(|column| column.name.as_str());
    let what = match header.is_by_place {
        true => format!(
            "{path} has no header (--no-header): its {} columns are those of the table {table} in order, and that has {}; \
             --columns names them, also for --alter, --skip-unknown omits the last ones, --header reads names from the \
             first line",
            header.columns.len(),
            destination.columns.len(),
        ),
        false => format!(
            "{path}: the table {table} has no column `{name}`; {} (--columns renames columns, --skip-unknown omits unknown \
             ones, --alter adds them)",
            offer(name, names)
        ),
    };
    match destination.columns.iter().any(|column| column.is_guessed) {
        true => Error::NewColumn { what },
        false => Error::Refused { what },
    }
}

fn no_columns(header: &Header, destination: &Destination) -> Error {
    let names = destination
        .columns
        .iter()
        .map(|column| column.name.as_str());
    let all: Vec<&str> = names.collect();
    Error::Refused {
        what: format!(
            "{}: none of its columns is in the table {}, which has {}",
            header.path.display(),
            destination.table,
            all.join(", ")
        ),
    }
}
