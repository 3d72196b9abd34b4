//! IMDb's `title.basics.tsv`: tab-separated, never quoted, `\N` for what is missing.
//!
//! Source: <https://developer.imdb.com/non-commercial-datasets/>.

use super::Format;
use super::delimited::Dialect;

const DIALECT: Dialect = Dialect {
    delimiter: b'\t',
    quotes: false,
    null: "\\N",
    is_found: false,
    aliases: &[("title", "primaryTitle"), ("year", "startYear")],
};

pub(super) const FORMAT: Format = Format {
    name: "imdb",
    description: "IMDb's title.basics.tsv",
    recognises: |_, head| head.starts_with(b"tconst\ttitleType\t"),
    open: |input, settings| DIALECT.rows(input, settings),
};
