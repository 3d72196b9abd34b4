//! Formats whose readers a feature compiles. Without it, a file of that format is named and refused.

use super::Format;
#[cfg(not(all(feature = "parquet", feature = "xlsx")))]
use super::Rows;
#[cfg(not(all(feature = "parquet", feature = "xlsx")))]
use super::input::Input;
#[cfg(not(all(feature = "parquet", feature = "xlsx")))]
use crate::Error;

pub(super) const PARQUET: Format = Format {
    name: "parquet",
    description: "Parquet (.parquet)",
    recognises: |_, head| head.starts_with(b"PAR1"),
    #[cfg(feature = "parquet")]
    open: super::parquet::open,
    #[cfg(not(feature = "parquet"))]
    open: |input, _| {
        let remedy = "convert the rows to CSV or JSONL";
        refused(&input, "a Parquet file", "parquet", remedy)
    },
};

pub(super) const SPREADSHEET: Format = Format {
    name: "xlsx",
    description: "worksheets (.xlsx, .xlsm, .xlsb, .xls, .ods)",
    recognises: |extension, head| {
        matches!(extension, "xlsx" | "xlsm" | "xlsb" | "xls" | "ods") || is_spreadsheet(head)
    },
    #[cfg(feature = "xlsx")]
    open: super::spreadsheet::open,
    #[cfg(not(feature = "xlsx"))]
    open: |input, _| refused(&input, "a spreadsheet", "xlsx", "save the sheet as CSV"),
};

/// Whether a ZIP archive has the parts of a workbook, whatever its name is.
fn is_spreadsheet(head: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(head, part).is_some();
    head.starts_with(b"PK\x03\x04") && (has(b"xl/") || has(b"opendocument.spreadsheet"))
}

#[cfg(not(all(feature = "parquet", feature = "xlsx")))]
fn refused(input: &Input, what: &str, feature: &str, remedy: &str) -> Result<Box<dyn Rows>, Error> {
    Err(Error::Refused {
        what: format!(
            "{} is {what}, which this build does not support: build with `--features {feature}`, or {remedy}",
            input.path().display()
        ),
    })
}
