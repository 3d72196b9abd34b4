//! In place of Parquet where this crate was built without it: says so.

use super::Format;
use crate::Error;

pub(super) const FORMAT: Format = Format {
    name: "parquet",
    description: "Parquet (.parquet)",
    recognises: |_, head| head.starts_with(b"PAR1"),
    open: |input, _| {
        Err(Error::Refused {
            what: format!(
                "{} is a Parquet file, and this was built without the library that reads them: build it with \
                 `--features parquet`, or bring the rows as CSV or JSONL",
                input.path().display()
            ),
        })
    },
};
