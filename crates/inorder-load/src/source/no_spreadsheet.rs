//! In place of worksheets where this crate was built without them: says so.

use super::Format;
use crate::Error;

pub(super) const FORMAT: Format = Format {
    name: "xlsx",
    description: "worksheets (.xlsx, .xlsm, .xlsb, .xls, .ods)",
    recognises: |extension, _| matches!(extension, "xlsx" | "xlsm" | "xlsb" | "xls" | "ods"),
    open: |input, _| {
        Err(Error::Refused {
            what: format!(
                "{} is a spreadsheet, which this build does not support: build with `--features xlsx`, or save the \
                 sheet as CSV",
                input.path().display()
            ),
        })
    },
};
