//! `_count`: the number of rows.

use super::{Builtin, Row};

#[derive(Debug)]
pub struct Count;

impl Builtin for Count {
    fn bytes(&self) -> usize {
        4
    }

    fn reduce(&self, rows: &[Row<'_>]) -> Vec<u8> {
        rows.len().to_string().into_bytes()
    }

    fn rereduce(&self, parts: &[&[u8]]) -> Vec<u8> {
        let counts = parts
            .iter()
            .filter_map(|part| std::str::from_utf8(part).ok()?.parse::<u64>().ok());
        counts.sum::<u64>().to_string().into_bytes()
    }

    fn finish(&self, reduction: &[u8]) -> Result<String, String> {
        String::from_utf8(reduction.to_vec()).map_err(|error| error.to_string())
    }
}
