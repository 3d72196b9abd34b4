//! The rows of several files, one file after another.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::order::Origin;
use crate::source::{Location, Meter, Row, Rows, STDIN, Settings, open};

/// Bits of an [`Origin`] that are the line; those above are the file.
const LINE_BITS: u32 = 48;

/// What a file says about its columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    pub(super) path: PathBuf,
    /// Their names and places; those left out are not there.
    pub(super) columns: Vec<(String, usize)>,
    /// Further names.
    pub(super) aliases: Vec<(&'static str, &'static str)>,
    /// Whether they have no names: they are the table's, one after another.
    pub(super) is_by_place: bool,
    /// Whether no row to come can name further ones.
    pub(super) is_complete: bool,
    /// Whether the file tells numbers from text.
    pub(super) is_typed: bool,
}

/// The files that rows are read from.
pub(super) struct Inputs<'a> {
    locations: &'a [Location],
    settings: &'a Settings,
    /// Names in place of the inputs' own; an empty one leaves a column out.
    names: Option<&'a [String]>,
    meter: Meter,
    opened: usize,
    current: Option<Box<dyn Rows>>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(
        locations: &'a [Location],
        settings: &'a Settings,
        names: Option<&'a [String]>,
        meter: Meter,
    ) -> Self {
        Inputs {
            locations,
            settings,
            names,
            meter,
            opened: 0,
            current: None,
        }
    }

    /// Opens the next file unless one is open; false where there is none.
    pub(super) fn is_open(&mut self) -> Result<bool, Error> {
        if self.current.is_some() {
            return Ok(true);
        }
        let Some(location) = self.locations.get(self.opened) else {
            return Ok(false);
        };
        let settings = Settings {
            table: location.table.clone().or(self.settings.table.clone()),
            ..self.settings.clone()
        };
        let rows = open(&location.path, &settings, &self.meter)?;
        if let Some(names) = self.names
            && rows.are_columns_known()
            && rows.columns().len() != names.len()
        {
            return Err(Error::Refused {
                what: format!(
                    "{} has {} columns, and --columns names {}: name each, `-` where one is left out",
                    location.path.display(),
                    rows.columns().len(),
                    names.len()
                ),
            });
        }
        self.current = Some(rows);
        self.opened += 1;
        Ok(true)
    }

    /// Reads the next row of the open file; at its end the file is closed.
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub(super) fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        let Some(current) = &mut self.current else {
            return Ok(false);
        };
        let is_there = current.next(row)?;
        if !is_there {
            self.current = None;
        }
        Ok(is_there)
    }

    /// A number that changes whenever the open file's columns do.
    pub(super) fn columns_version(&self) -> (usize, usize) {
        let columns = self.current.as_ref().map_or(0, |rows| rows.columns().len());
        (self.opened, columns)
    }

    /// What the open file says about its columns so far.
    pub(super) fn header(&self) -> Header {
        let Some(current) = &self.current else {
            return Header::default();
        };
        let own = current.columns();
        let is_nameless = self.names.is_none() && !self.settings.has_header && !current.is_typed();
        let names = self.names.unwrap_or(own).iter().zip(0..);
        Header {
            path: self.path().to_owned(),
            columns: names
                .filter(|(name, _)| self.names.is_none() || *name != STDIN)
                .map(|(name, place)| (name.clone(), place))
                .collect(),
            aliases: current.aliases().to_vec(),
            is_by_place: is_nameless,
            is_complete: current.are_columns_known(),
            is_typed: current.is_typed(),
        }
    }

    /// The last row's own bytes.
    pub(super) fn last(&self) -> &[u8] {
        self.current.as_ref().map_or(&[], |rows| rows.last())
    }

    /// The open file, or the last one.
    pub(super) fn path(&self) -> &Path {
        path(self.locations, self.opened.saturating_sub(1))
    }

    /// Where a row of the open file comes from, as one number.
    #[inline]
    pub(super) fn origin(&self, row: &Row) -> Origin {
        (self.opened as u64 - 1) << LINE_BITS | row.line()
    }
}

fn path(locations: &[Location], file: usize) -> &Path {
    match locations.get(file) {
        Some(location) if location.path == Path::new(STDIN) => Path::new("stdin"),
        Some(location) => &location.path,
        None => Path::new(""),
    }
}

/// Says where rows come from.
#[derive(Clone, Debug)]
pub struct Origins(Vec<Location>);

impl Origins {
    /// Of these inputs.
    pub(super) fn new(locations: &[Location]) -> Self {
        Origins(locations.to_vec())
    }

    /// The file and the line.
    pub fn file_and_line(&self, origin: Origin) -> (PathBuf, u64) {
        let file = path(&self.0, (origin >> LINE_BITS) as usize);
        (file.to_owned(), origin & ((1 << LINE_BITS) - 1))
    }

    /// The file and the line in words.
    pub fn words(&self, origin: Origin) -> String {
        let (file, line) = self.file_and_line(origin);
        format!("{}, line {line}", file.display())
    }
}
