//! Comma-separated values with a header, RFC 4180.

use super::Format;
use super::delimited::Dialect;

pub(super) const DIALECT: Dialect = Dialect {
    delimiter: b',',
    quotes: true,
    null: "",
    is_found: true,
    aliases: &[],
};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    description: "comma-separated values with a header (.csv)",
    recognises: |extension, _| extension == "csv",
    open: |input, settings| DIALECT.rows(input, settings),
};
