//! Text in an unnamed format whose delimiter is found from the content.

use super::csv::DIALECT;
use super::input::HEAD_BYTES;
use super::sniff::{self, Known};
use super::{Format, csv};

pub(super) const FORMAT: Format = Format {
    name: "text",
    description: "any text whose lines have the same number of fields, separated by a comma, semicolon, tab or |",
    recognises: |_, head| {
        let known = Known {
            delimiter: None,
            quote: None,
            has_header: None,
            comment: None,
            escapes: None,
        };
        let is_whole = (head.len() as u64) < HEAD_BYTES;
        !head.contains(&0) && sniff::sniff(head, is_whole, DIALECT.delimiter, &known).is_sure
    },
    open: csv::FORMAT.open,
};
