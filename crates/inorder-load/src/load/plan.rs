//! Which field goes into which column.

use std::path::Path;

use inorder_btree::KeyOrder;
use inorder_key::Encoding;

use super::batch::OnDuplicate;
use super::inputs::Header;
use super::job::Job;
use crate::Error;
use crate::destination::{ColumnInfo, Create, Destination, Sample};
use crate::encode::{Decode, Encoder, From, Maker, Rules, Slot, Strict};
use crate::nearest::nearest;
use crate::target::Choice;

/// How text stands for bytes in a column, where that is said and not found.
pub type DecodeAs = (String, Option<Decode>);

/// The columns of a record and where their values come from.
pub(super) struct Plan {
    /// The columns, by their places in the destination.
    pub(super) record: Vec<usize>,
    /// What rows are sorted by.
    pub(super) order: Option<KeyOrder>,
    /// Whether columns that the table doesn't have are left out.
    is_lenient: bool,
}

impl Plan {
    /// The columns that the inputs give, as far as the header of the first says.
    pub(super) fn given(
        destination: &Destination,
        create: Option<&Create>,
        header: &Header,
    ) -> Vec<usize> {
        let named: Vec<usize> = header
            .columns
            .iter()
            .filter_map(|(name, place)| column(destination, header, name, *place))
            .collect();
        let is_given = |column: &usize| {
            let info = &destination.columns[*column];
            // A row to come may name it, and no default would be lost.
            let may_come =
                !header.is_complete && info.default.is_none() && destination.rowid != Some(*column);
            named.contains(column) || made(create, &info.name).is_some() || may_come
        };
        destination
            .physical
            .iter()
            .copied()
            .filter(is_given)
            .collect()
    }

    /// Records of these columns, sorted by the key unless they stay in the order of the input.
    pub(super) fn new(
        destination: &Destination,
        record: Vec<usize>,
        is_lenient: bool,
        is_in_input_order: bool,
    ) -> Self {
        Plan {
            order: destination.order(&record).filter(|_| !is_in_input_order),
            record,
            is_lenient,
        }
    }

    /// The encoder of the plan's records.
    pub(super) fn encoder(
        &self,
        destination: &Destination,
        sample: &Sample,
        header: &Header,
        job: &Job,
        choice: &Choice,
    ) -> Result<Encoder, Error> {
        let create = job.create.as_ref();
        for (name, _) in &job.decode {
            if destination.column(name).is_none() {
                let names = destination
                    .columns
                    .iter()
                    .map(|column| column.name.as_str());
                let (_, names) = nearest(name, names);
                return Err(Error::Refused {
                    what: format!(
                        "--decode: there is no column `{name}`: {}",
                        names.join(", ")
                    ),
                });
            }
        }
        let places = self.places(destination, header)?;
        let mut slots = Vec::with_capacity(self.record.len());
        for (&column, place) in self.record.iter().zip(places) {
            let info = &destination.columns[column];
            let said = job
                .decode
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(&info.name));
            let decode = match said {
                Some((_, decode)) => *decode,
                None if info.is_blob() => place.and_then(|place| sample.decode(place, info)),
                None => None,
            };
            let constant = choice.constants.iter().find(|(of, _)| *of == column);
            let from = match (made(create, &info.name), constant) {
                (Some((kind, encoding)), _) => {
                    let maker = Maker::new(kind, encoding);
                    let maker = maker.map_err(|error| Error::Refused {
                        what: error.to_string(),
                    })?;
                    From::Made(Box::new(maker))
                }
                (None, Some((_, value))) => From::Constant(value.clone()),
                (None, None) => From::Field(usize::MAX),
            };
            slots.push(Slot {
                name: info.name.clone(),
                from,
                decode,
                rules: rules(info, destination.rowid == Some(column), job, choice),
                intake: info.intake.clone(),
            });
        }
        Encoder::new(slots, destination.encoding).map_err(|source| Error::Database {
            path: "SQLite".into(),
            source,
        })
    }

    /// Where the open file has the value of each column of a record.
    ///
    /// # Errors
    /// Where the file has a column that the table or the record doesn't, or one twice.
    pub(super) fn places(
        &self,
        destination: &Destination,
        header: &Header,
    ) -> Result<Vec<Option<usize>>, Error> {
        let mut places = vec![None; self.record.len()];
        for &(ref name, place) in &header.columns {
            match column(destination, header, name, place)
                .map(|column| self.record.iter().position(|of| *of == column))
            {
                Some(Some(at)) => {
                    if let Some(other) = places[at].replace(place) {
                        let column = &destination.columns[self.record[at]].name;
                        return Err(twice(header, column, [other, place]));
                    }
                }
                _ if self.is_lenient => {}
                Some(None) => return Err(late(&header.path, name)),
                None => return Err(unknown(&header.path, name, destination)),
            }
        }
        Ok(places)
    }
}

/// What is refused before the database sees it.
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

fn made(create: Option<&Create>, name: &str) -> Option<(inorder_key::KeyKind, Encoding)> {
    let key = create?.key.iter().find(|key| key.column == name)?;
    key.made
        .filter(|(kind, _)| *kind != inorder_key::KeyKind::Serial)
}

fn late(path: &Path, name: &str) -> Error {
    Error::Refused {
        what: format!(
            "{}: column `{name}` wasn't in the rows read first, whose default is used: put a row that has it first",
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
             leaves one out",
            header.path.display(),
        ),
    }
}

fn unknown(path: &Path, name: &str, destination: &Destination) -> Error {
    let (are_alike, names) = nearest(
        name,
        destination
            .columns
            .iter()
            .map(|column| column.name.as_str()),
    );
    let known = match are_alike {
        true => format!("did you mean `{}`?", names.join("`, `")),
        false => format!("it has `{}`", names.join("`, `")),
    };
    Error::Refused {
        what: format!(
            "{}: the table {} has no column `{name}`; {known} (--columns renames columns, --skip-unknown leaves them out)",
            path.display(),
            destination.table
        ),
    }
}
