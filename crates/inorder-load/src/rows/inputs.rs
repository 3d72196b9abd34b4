//! The rows of several files, one file after another.

use std::path::{Path, PathBuf};

use super::origins::{self, Origins};
use super::rejects::Rejects;
use crate::Error;
use crate::destination::{Sample, Typing};
use crate::job::Job;
use crate::note::{Note, NoteKind};
use crate::order::Origin;
use crate::source::{
    Dated, Meter, Raw, ReadOptions, Row, Rows, STDIN, Tally, is_url, open_rows, orders_of,
};

/// Rows that types are guessed from.
const SAMPLE_ROWS: usize = 10_000;

/// The most bytes of them.
const SAMPLE_BYTES: usize = 1 << 24;

/// The most remarks about files.
const REMARKS_MAX: usize = 10;

/// The columns of a file, as its header or first row names them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    pub(crate) path: PathBuf,
    /// Their names and places; those left out are not there.
    pub(crate) columns: Vec<(String, usize)>,
    /// Further names.
    pub(crate) aliases: Vec<(&'static str, &'static str)>,
    /// Whether they have no names: they are the table's, one after another.
    pub(crate) is_by_place: bool,
    /// Whether no row to come can name further ones.
    pub(crate) is_complete: bool,
    /// What the file says of its values.
    pub(crate) typing: Typing,
}

/// Rows of a file, which another thread can read beside those that follow.
pub(super) struct Part {
    rows: Box<dyn Rows>,
    bytes: usize,
    file: usize,
    path: PathBuf,
}

impl Part {
    /// Reads the next row. Returns its origin; `None` if there is none.
    ///
    /// # Errors
    /// Those of [`Rows::next`].
    #[inline]
    pub(super) fn next(&mut self, row: &mut Row) -> Result<Option<Origin>, Error> {
        let is_there = self.rows.next(row)?;
        Ok(is_there.then(|| origins::origin(self.file, row.line())))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// About how many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The text of the row that was read last.
    pub(super) fn last(&self) -> &[u8] {
        self.rows.last()
    }

    /// The memory, to be used again.
    pub(super) fn into_memory(self) -> Vec<u8> {
        self.rows.into_memory()
    }
}

/// The inputs of a job, read one after another.
pub(crate) struct Inputs<'a> {
    job: &'a Job,
    meter: Meter,
    opened: usize,
    current: Option<Box<dyn Rows>>,
    remarks: Vec<Note>,
    /// What is counted in each file.
    tallies: Vec<(PathBuf, Tally)>,
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(job: &'a Job, meter: Meter) -> Self {
        Inputs {
            job,
            meter,
            opened: 0,
            current: None,
            remarks: Vec::new(),
            tallies: Vec::new(),
        }
    }

    /// Reads the first rows of the first input, and what it says about its columns.
    ///
    /// # Errors
    /// Those of [`Inputs::is_open`] and [`Inputs::read`]; a malformed row is rejected.
    pub(crate) fn sample(&mut self, rejects: &mut Rejects) -> Result<(Sample, Header), Error> {
        let mut sample = Sample::default();
        let mut header = Header::default();
        if self.is_open()? {
            header = self.header();
            let mut bytes = 0;
            while sample.rows.len() < SAMPLE_ROWS && bytes < SAMPLE_BYTES {
                let mut row = Row::default();
                match self.read(&mut row) {
                    Ok(true) => {
                        bytes += row.bytes_len();
                        sample.rows.push(row);
                    }
                    Ok(false) => break,
                    Err(error) => rejects.unreadable(&self.path(), self.last(), error)?,
                }
                header = self.header();
            }
        }
        sample.names = header.columns.clone();
        sample.typing = header.typing;
        sample.is_by_place = header.is_by_place;
        sample.is_complete = header.is_complete;
        let told = REMARKS_MAX.saturating_sub(self.remarks.len());
        self.remarks
            .extend(dates_told(&sample).into_iter().take(told));
        Ok((sample, header))
    }

    /// The text of the row that was read last, if its format has one.
    pub(super) fn last(&self) -> &[u8] {
        self.current.as_ref().map_or(&[][..], |rows| rows.last())
    }

    /// Whether there may be further rows.
    pub(crate) fn has_more(&self) -> bool {
        self.current.is_some() || self.opened < self.job.inputs.len()
    }

    /// Opens the next file unless one is open; false where there is none.
    pub(crate) fn is_open(&mut self) -> Result<bool, Error> {
        if self.current.is_some() {
            return Ok(true);
        }
        let Some(location) = self.job.inputs.get(self.opened) else {
            return Ok(false);
        };
        let options = ReadOptions {
            table: location
                .table
                .clone()
                .or(self.job.read_options.table.clone()),
            ..self.job.read_options.clone()
        };
        let rows = open_rows(&location.path, &options, &self.meter)?;
        if let Some(names) = &self.job.columns
            && rows.are_columns_known()
            && rows.columns().len() != names.len()
        {
            return Err(Error::Refused {
                what: format!(
                    "{} has {} columns, and --columns names {}: name each, with `-` for an omitted one",
                    location.name().display(),
                    rows.columns().len(),
                    names.len()
                ),
            });
        }
        let rows = match self.job.dates.is_empty() {
            true => rows,
            false => {
                let names = self.job.columns.as_deref();
                Box::new(Dated::new(rows, location.name(), &self.job.dates, names)?)
            }
        };
        let told = REMARKS_MAX.saturating_sub(self.remarks.len());
        // Names that are given take the place of those in the header.
        let is_told =
            |note: &&Note| self.job.columns.is_none() || note.kind != NoteKind::ColumnRenamed;
        let remarks = rows.remarks().iter().filter(is_told);
        self.remarks.extend(remarks.take(told).cloned());
        if let Some(tally) = rows.tally() {
            self.tallies.push((location.name(), tally));
        }
        self.current = Some(rows);
        self.opened += 1;
        Ok(true)
    }

    /// Reads the next row of the open file; at its end the file is closed.
    ///
    /// # Errors
    /// Those of [`Rows::next`].
    pub(crate) fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        let Some(current) = &mut self.current else {
            return Ok(false);
        };
        let is_there = current.next(row)?;
        if !is_there {
            self.current = None;
        }
        Ok(is_there)
    }

    /// Splits a part off the rows of the open file (see [`Rows::part`]).
    pub(super) fn part(
        &mut self,
        bytes: usize,
        memory: &mut Vec<u8>,
    ) -> Result<Option<Part>, Error> {
        let Some(current) = &mut self.current else {
            return Ok(None);
        };
        let rows = current.part(bytes, memory)?;
        Ok(rows.map(|rows| Part {
            rows,
            bytes,
            file: self.opened - 1,
            path: self.path(),
        }))
    }

    /// A number that changes whenever the open file's columns do.
    pub(crate) fn columns_version(&self) -> (usize, usize) {
        let columns = self.current.as_ref().map_or(0, |rows| rows.columns().len());
        (self.opened, columns)
    }

    /// The columns of the open file so far.
    pub(crate) fn header(&self) -> Header {
        let Some(current) = &self.current else {
            return Header::default();
        };
        let own = current.columns();
        let given = self.job.columns.as_deref();
        let is_nameless = given.is_none() && current.are_columns_nameless();
        let names = given.unwrap_or(own).iter().zip(0..);
        Header {
            path: self.path(),
            columns: names
                .filter(|(name, _)| given.is_none() || *name != STDIN)
                .map(|(name, place)| (name.clone(), place))
                .collect(),
            aliases: current.aliases().to_vec(),
            is_by_place: is_nameless,
            is_complete: current.are_columns_known(),
            typing: Typing {
                is_typed: current.is_typed(),
                has_decimals: current.has_decimals(),
            },
        }
    }

    /// The open file, or the last one.
    pub(super) fn path(&self) -> PathBuf {
        origins::path(&self.job.inputs, self.opened.saturating_sub(1))
    }

    /// The origin of a row of the open file, as one number.
    #[inline]
    pub(crate) fn origin(&self, row: &Row) -> Origin {
        origins::origin(self.opened - 1, row.line())
    }

    /// What was found from the content of the files and is not the usual.
    pub(crate) fn remarks(&self) -> Vec<Note> {
        let counted = self.tallies.iter().filter_map(|(path, tally)| {
            let remark = tally.remark()?;
            Some(remark.in_file(path.display()))
        });
        let remarks = self.remarks.iter().cloned();
        remarks.chain(counted.take(REMARKS_MAX)).collect()
    }

    /// The origins of the rows of all inputs.
    pub(crate) fn origins(&self) -> Origins {
        Origins::new(&self.job.inputs)
    }
}

/// What is said of columns whose values are dates that SQLite and servers do not read.
fn dates_told(sample: &Sample) -> Vec<Note> {
    let mut told = Vec::new();
    for (name, place) in &sample.names {
        let texts = sample
            .rows
            .iter()
            .filter_map(|row| match row.field(*place) {
                Raw::Text(text) => Some(std::str::from_utf8(text).unwrap_or_default()),
                Raw::Missing | Raw::Null => None,
                _ => Some(""),
            });
        let orders = orders_of(texts.clone());
        if let (false, Some(first)) = (orders.is_empty(), texts.clone().next()) {
            let flags: Vec<String> = orders
                .iter()
                .map(|order| format!("--date {name}={order}"))
                .collect();
            let text = format!(
                "dates of `{name}` such as {first} are stored as they are; {} stores them in ISO 8601",
                flags.join(" or ")
            );
            told.push(Note::new(NoteKind::DatesKept, text).of_column(name));
        }
    }
    told
}

/// Bytes of all inputs; 0 if one of them is a pipe, or a URL of several inputs.
pub(crate) fn bytes_total(job: &Job) -> u64 {
    let bytes = |path: &Path| match path {
        _ if path == Path::new(STDIN) => None,
        _ if is_url(path) && job.inputs.len() == 1 => job.read_options.downloads.bytes_of(path),
        _ => path.metadata().ok().map(|metadata| metadata.len()),
    };
    let all: Option<u64> = job.inputs.iter().map(|input| bytes(&input.path)).sum();
    all.unwrap_or(0)
}
