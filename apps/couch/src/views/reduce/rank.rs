//! `_top_N` and `_bottom_N`: the N largest or smallest different values.

use super::{Builtin, Row};
use crate::views::key::Collation;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Rank {
    count: usize,
    is_top: bool,
}

/// The largest N.
const RANK_MAX: usize = 100;

impl Rank {
    pub fn make(count: &str, is_top: bool) -> Result<Box<dyn Builtin>, String> {
        let count: usize = count
            .parse()
            .map_err(|_| "invalid rank reducer".to_owned())?;
        match (1..=RANK_MAX).contains(&count) {
            true => Ok(Box::new(Rank { count, is_top })),
            false => Err(format!("rank value must be between 1 and {RANK_MAX}")),
        }
    }

    fn choose<'a>(&self, values: impl Iterator<Item = &'a str>) -> Vec<u8> {
        let mut ranked = BTreeMap::new();
        for text in values {
            let value = serde_json::from_str(text).unwrap_or_default();
            ranked.entry(Collation::Unicode.key(&value)).or_insert(text);
            if ranked.len() > self.count {
                match self.is_top {
                    true => ranked.pop_first(),
                    false => ranked.pop_last(),
                };
            }
        }
        let mut texts: Vec<&str> = ranked.into_values().collect();
        if self.is_top {
            texts.reverse();
        }
        format!("[{}]", texts.join(",")).into_bytes()
    }
}

impl Builtin for Rank {
    fn bytes(&self) -> usize {
        8 * self.count
    }

    fn reduce(&self, rows: &[Row<'_>]) -> Vec<u8> {
        self.choose(rows.iter().map(|row| row.value))
    }

    fn rereduce(&self, parts: &[&[u8]]) -> Vec<u8> {
        let lists = parts
            .iter()
            .filter_map(|part| serde_json::from_slice::<Vec<&RawValue>>(part).ok());
        let values: Vec<&RawValue> = lists.flatten().collect();
        self.choose(values.into_iter().map(RawValue::get))
    }

    fn finish(&self, reduction: &[u8]) -> Result<String, String> {
        String::from_utf8(reduction.to_vec()).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_values_are_ranked() {
        let row = |value| Row {
            key: "1",
            id: "a",
            value,
        };
        let rows = ["3", "1", "\"a\"", "3", "2", "null"].map(row);
        let top = Rank::make("3", true).unwrap();
        let bottom = Rank::make("2", false).unwrap();
        assert_eq!(top.reduce(&rows), b"[\"a\",3,2]");
        assert_eq!(bottom.reduce(&rows), b"[null,1]");
        let parts = [top.reduce(&rows[..2]), top.reduce(&rows[2..])];
        assert_eq!(top.rereduce(&[&parts[0], &parts[1]]), b"[\"a\",3,2]");
        for wrong in ["0", "101", "x", ""] {
            assert!(Rank::make(wrong, true).is_err());
        }
    }
}
