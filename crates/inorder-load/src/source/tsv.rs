//! Tab-separated values with a header, quoted as in CSV.

use super::Format;
use super::delimited::Dialect;

const DIALECT: Dialect = Dialect {
    delimiter: b'\t',
    quotes: true,
    null: "",
    is_found: true,
    aliases: &[],
};

pub(super) const FORMAT: Format = Format {
    name: "tsv",
    description: "tab-separated values with a header (.tsv, .tab)",
    recognises: |extension, _| matches!(extension, "tsv" | "tab"),
    open: |input, settings| DIALECT.rows(input, settings),
};
