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
                "{} is a Parquet file, which this build does not support: build with `--features parquet`, or \
                 convert the rows to CSV or JSONL",
                input.path().display()
            ),
        })
    },
};
