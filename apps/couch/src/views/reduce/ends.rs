//! `_first` and `_last`: the value of the first or last row.

use super::{Builtin, Row};
use crate::views::key::Collation;
use serde_json::value::RawValue;

#[derive(Debug)]
pub enum End {
    First,
    Last,
}

/// A row: key, document id and value.
type Kept<'a> = (&'a RawValue, String, &'a RawValue);

impl End {
    fn choose<'a>(&self, kept: impl Iterator<Item = (String, Vec<u8>, String)> + 'a) -> Vec<u8> {
        let mut chosen: Option<((Vec<u8>, String), String)> = None;
        for (id, key, text) in kept {
            let place = (key, id);
            let is_nearer = match &chosen {
                None => true,
                Some((known, _)) => match self {
                    End::First => place < *known,
                    End::Last => place >= *known,
                },
            };
            if is_nearer {
                chosen = Some((place, text));
            }
        }
        chosen
            .map(|(_, text)| text)
            .unwrap_or_default()
            .into_bytes()
    }
}

fn key(text: &str) -> Vec<u8> {
    Collation::Unicode.key(&serde_json::from_str(text).unwrap_or_default())
}

impl Builtin for End {
    fn bytes(&self) -> usize {
        80
    }

    fn reduce(&self, rows: &[Row<'_>]) -> Vec<u8> {
        self.choose(rows.iter().map(|row| {
            let id = serde_json::Value::from(row.id);
            let text = format!("[{},{id},{}]", row.key, row.value);
            (row.id.to_owned(), key(row.key), text)
        }))
    }

    fn rereduce(&self, parts: &[&[u8]]) -> Vec<u8> {
        self.choose(parts.iter().filter_map(|part| {
            let text = std::str::from_utf8(part).ok()?;
            let (own, id, _): Kept<'_> = serde_json::from_str(text).ok()?;
            Some((id, key(own.get()), text.to_owned()))
        }))
    }

    fn finish(&self, reduction: &[u8]) -> Result<String, String> {
        let (_, _, value): Kept<'_> =
            serde_json::from_slice(reduction).map_err(|error| error.to_string())?;
        Ok(value.get().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_found_in_any_order() {
        let row = |key, id, value| Row { key, id, value };
        let rows = [
            row("2", "a", "\"x\""),
            row("1", "b", "\"y\""),
            row("2", "c", "\"z\""),
        ];
        for (end, expected) in [(End::First, "\"y\""), (End::Last, "\"z\"")] {
            let whole = end.reduce(&rows);
            let parts = [end.reduce(&rows[2..]), end.reduce(&rows[..2])];
            let joined = end.rereduce(&[&parts[0], &parts[1]]);
            assert_eq!(end.finish(&whole).unwrap(), expected);
            assert_eq!(end.finish(&joined).unwrap(), expected);
        }
    }
}
