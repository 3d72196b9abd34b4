//! The origin of a row: a file and a line, as one number.

use std::path::PathBuf;

use crate::order::Origin;
use crate::source::Location;

/// Bits of an [`Origin`] that are the line; those above are the file.
const LINE_BITS: u32 = 48;

/// The origin of a line, from 1, of the file at this place among the inputs.
#[inline]
pub(super) fn origin(file: usize, line: u64) -> Origin {
    (file as u64) << LINE_BITS | line
}

/// The path of the file at this place among the inputs, for messages.
pub(super) fn path(locations: &[Location], file: usize) -> PathBuf {
    locations
        .get(file)
        .map_or_else(PathBuf::new, Location::name)
}

/// Turns an [`Origin`] back into a file and a line. Without inputs, the lines are the numbers of rows.
#[derive(Clone, Debug)]
pub struct Origins(Vec<Location>);

impl Origins {
    /// Creates the origins for these inputs.
    pub(crate) fn new(locations: &[Location]) -> Self {
        Origins(locations.to_vec())
    }

    /// The file and the line.
    pub fn file_and_line(&self, origin: Origin) -> (PathBuf, u64) {
        let file = path(&self.0, (origin >> LINE_BITS) as usize);
        (file, origin & ((1 << LINE_BITS) - 1))
    }

    /// Formats the file and the line.
    pub fn words(&self, origin: Origin) -> String {
        let (file, line) = self.file_and_line(origin);
        if self.0.is_empty() {
            return format!("row {line}");
        }
        format!("{}, line {line}", file.display())
    }
}
