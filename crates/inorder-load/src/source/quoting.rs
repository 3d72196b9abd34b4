//! Checks the quoting of records that contain quotes.

/// The position of a quoting error.
#[derive(Debug, PartialEq)]
pub(super) struct Broken {
    /// The field, from 0.
    pub(super) field: usize,
    /// The byte of the record, from 0: the quote that is never closed, or the text after a closing quote.
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// Finds the quoted fields of a record.
///
/// A quote inside a field that does not begin with one is an ordinary character, as for the parser and most tools.
///
/// # Errors
/// [`Broken`] if a quote is never closed, or a closing quote is not followed by a delimiter. Parsers accept both, but
/// the intended value is unknown.
pub(super) fn look(
    record: &[u8],
    delimiter: u8,
    quote: u8,
    is_quoted: &mut Vec<bool>,
) -> Result<(), Broken> {
    is_quoted.clear();
    let mut at = 0;
    loop {
        let field = is_quoted.len();
        let starts_quoted = record.get(at) == Some(&quote);
        is_quoted.push(starts_quoted);
        let end = if starts_quoted {
            end_of_quoted(record, at, quote).ok_or(Broken {
                field,
                at,
                what: "a double quote is never closed",
            })?
        } else {
            let rest = &record[at..];
            at + memchr::memchr(delimiter, rest).unwrap_or(rest.len())
        };
        match record.get(end) {
            None => return Ok(()),
            Some(&byte) if byte == delimiter => at = end + 1,
            Some(b'\r' | b'\n') => return Ok(()),
            Some(_) => {
                return Err(Broken {
                    field,
                    at: end,
                    what: "text follows the closing double quote of the field",
                });
            }
        }
    }
}

/// The byte after the quote that closes the field which opens at `at`; two in a row stand for one.
fn end_of_quoted(record: &[u8], at: usize, quote: u8) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr::memchr(quote, record.get(at..)?)? + 1;
        if record.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(record: &str) -> Result<Vec<bool>, (usize, usize)> {
        let mut is_quoted = Vec::new();
        look(record.as_bytes(), b',', b'"', &mut is_quoted)
            .map(|()| is_quoted)
            .map_err(|broken| (broken.field, broken.at))
    }

    #[test]
    fn fields_in_quotes_are_known() {
        assert_eq!(looked("\"a\",b\"c,\"\"\n"), Ok(vec![true, false, true]));
        assert_eq!(looked("\"a\"\"b\nc\"\r\n"), Ok(vec![true]));
        assert_eq!(looked("a,\"b,c\""), Ok(vec![false, true]));
        assert_eq!(looked("\"a\","), Ok(vec![true, false]));
    }

    #[test]
    fn broken_quotes_are_found_where_they_are() {
        assert_eq!(looked("a,\"b"), Err((1, 2)));
        assert_eq!(looked("a,\"b\"\""), Err((1, 2)));
        assert_eq!(looked("\"a\"b,c"), Err((0, 3)));
        assert_eq!(looked("x,\"a\" ,c"), Err((1, 5)));
    }
}
