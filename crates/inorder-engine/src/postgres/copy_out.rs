//! Rows of a query by COPY, as text.

use crate::{Error, remote::EachRow, server::Failure};
use postgres::Client;
use std::io::{self, BufRead as _};

/// Reads the rows of a query, one after another.
pub fn stream(client: &mut Client, sql: &str, each: EachRow<'_>) -> Result<(), Error> {
    let answer = client.copy_out(&format!("COPY ({sql}) TO STDOUT"));
    let mut lines = answer.map_err(|error| Failure::from(error).doing(sql))?;
    let read = |error: io::Error| {
        let message = error.to_string();
        // The driver's error is within the one of the reader.
        let inner = error
            .into_inner()
            .map(|inner| inner.downcast::<postgres::Error>());
        match inner {
            Some(Ok(inner)) => Failure::from(*inner).doing(sql),
            _ => Error::Database {
                doing: sql.to_owned(),
                message,
            },
        }
    };
    let (mut line, mut fields) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(read)? == 0 {
            return Ok(());
        }
        line.pop();
        split(&mut line, &mut fields);
        let value = |field: &Option<(usize, usize)>| field.map(|(start, end)| &line[start..end]);
        let values: Vec<Option<&[u8]>> = fields.iter().map(value).collect();
        if !each(&values) {
            return Ok(());
        }
    }
}

/// Finds the values of a line, and replaces their escape sequences in place.
fn split(line: &mut [u8], fields: &mut Vec<Option<(usize, usize)>>) {
    fields.clear();
    let (mut from, mut to, mut start, mut is_null) = (0, 0, 0, false);
    while from < line.len() {
        match line[from] {
            b'\t' => {
                fields.push((!is_null).then_some((start, to)));
                (start, is_null) = (to, false);
            }
            b'\\' => {
                from += 1;
                let byte = match line[from] {
                    b'N' => {
                        is_null = true;
                        from += 1;
                        continue;
                    }
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'v' => 11,
                    byte => byte,
                };
                line[to] = byte;
                to += 1;
            }
            byte => {
                line[to] = byte;
                to += 1;
            }
        }
        from += 1;
    }
    fields.push((!is_null).then_some((start, to)));
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn lines_are_split_and_unescaped() {
        let mut line = b"a\\tb\t\\N\t\t\\\\N\\n\\b\tz".to_vec();
        let mut fields = Vec::new();
        split(&mut line, &mut fields);
        let values: Vec<Option<&[u8]>> = fields
            .iter()
            .map(|field| field.map(|(start, end)| &line[start..end]))
            .collect();
        assert_eq!(
            values,
            [
                Some(&b"a\tb"[..]),
                None,
                Some(b""),
                Some(b"\\N\n\x08"),
                Some(b"z")
            ]
        );
    }
}
