//! `_approx_count_distinct`: the number of different keys, estimated with HyperLogLog.
//!
//! 2,048 registers, as CouchDB has them. The hash is that of a key's Erlang term, so that the estimates are CouchDB's.

use super::distinct_data::{BIASES, ESTIMATES};
use super::{Builtin, Row};
use crate::revision::Term;
use sha1::{Digest, Sha1};

/// Bits of a register's number.
const PRECISION: u32 = 11;
const REGISTERS: usize = 1 << PRECISION;

/// Estimates below it are counts of the registers that are zero.
const LINEAR_MAX: f64 = 1800.0;

/// Near estimates whose biases are averaged.
const NEIGHBOURS: usize = 6;

/// Before every term.
const VERSION: u8 = 131;

/// Levels of arrays and objects in a key.
const DEPTH_MAX: usize = 1000;

#[derive(Debug)]
pub struct Distinct;

/// The registers, kept as all of them or as pairs of number and value, whichever is shorter.
struct Registers([u8; REGISTERS]);

/// Bytes of a register that is not zero, among few.
const PAIR_BYTES: usize = 3;

impl Registers {
    fn new() -> Self {
        Registers([0; REGISTERS])
    }

    fn insert(&mut self, key: &str) {
        let Ok(term) = Term::from_json(key, DEPTH_MAX) else {
            return;
        };
        let mut hash = Sha1::new();
        hash.update([VERSION]);
        hash.update(term.as_bytes());
        let digest: [u8; 20] = hash.finalize().into();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        let bits = u64::from_be_bytes(first);
        let rest = bits << PRECISION;
        let zeros = rest.leading_zeros().min(u64::BITS - PRECISION) as u8 + 1;
        self.raise((bits >> (u64::BITS - PRECISION)) as usize, zeros);
    }

    fn raise(&mut self, number: usize, value: u8) {
        if let Some(register) = self.0.get_mut(number) {
            *register = (*register).max(value);
        }
    }

    fn merge(&mut self, stored: &[u8]) {
        if stored.len() == REGISTERS {
            let all = stored.iter().enumerate();
            all.for_each(|(number, value)| self.raise(number, *value));
            return;
        }
        for pair in stored.chunks_exact(PAIR_BYTES) {
            self.raise(usize::from(pair[0]) << 8 | usize::from(pair[1]), pair[2]);
        }
    }

    fn stored(&self) -> Vec<u8> {
        let set = self.0.iter().enumerate().filter(|(_, value)| **value > 0);
        let pairs: Vec<u8> = set
            .flat_map(|(number, value)| [(number >> 8) as u8, number as u8, *value])
            .collect();
        match pairs.len() < REGISTERS {
            true => pairs,
            false => self.0.to_vec(),
        }
    }

    fn estimate(&self) -> u64 {
        let registers = REGISTERS as f64;
        let sum: f64 = self.0.iter().map(|value| (-f64::from(*value)).exp2()).sum();
        let alpha = 0.7213 / (1.0 + 1.079 / registers);
        let raw = alpha * registers * registers / sum;
        let corrected = match raw <= 5.0 * registers {
            true => raw - bias(raw),
            false => raw,
        };
        let zeros = self.0.iter().filter(|value| **value == 0).count();
        let linear = match zeros {
            0 => corrected,
            _ => registers * (registers / zeros as f64).ln(),
        };
        match linear <= LINEAR_MAX {
            true => linear.round() as u64,
            false => corrected.round() as u64,
        }
    }
}

fn bias(estimate: f64) -> f64 {
    let mut nearest: Vec<(f64, usize)> = ESTIMATES
        .iter()
        .enumerate()
        .map(|(at, known)| ((estimate - known).powi(2), at))
        .collect();
    nearest.sort_by(|one, other| one.0.total_cmp(&other.0));
    let biases = nearest.iter().take(NEIGHBOURS).map(|(_, at)| BIASES[*at]);
    biases.sum::<f64>() / NEIGHBOURS as f64
}

impl Builtin for Distinct {
    fn bytes(&self) -> usize {
        1000
    }

    fn reduce(&self, rows: &[Row<'_>]) -> Vec<u8> {
        let mut registers = Registers::new();
        rows.iter().for_each(|row| registers.insert(row.key));
        registers.stored()
    }

    fn rereduce(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut registers = Registers::new();
        parts.iter().for_each(|part| registers.merge(part));
        registers.stored()
    }

    fn finish(&self, reduction: &[u8]) -> Result<String, String> {
        let mut registers = Registers::new();
        registers.merge(reduction);
        Ok(registers.estimate().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_near_and_parts_add_up() {
        for count in [0_u32, 1, 10, 500, 3000, 40_000] {
            let keys: Vec<String> = (0..count).map(|n| format!("[\"key\",{n}]")).collect();
            let row = |key| Row {
                key,
                id: "a",
                value: "null",
            };
            let rows: Vec<Row<'_>> = keys.iter().chain(&keys).map(|key| row(key)).collect();
            let (one, other) = rows.split_at(rows.len() / 3);
            let parts = [Distinct.reduce(one), Distinct.reduce(other)];
            let joined = Distinct.rereduce(&[&parts[0], &parts[1]]);
            assert_eq!(joined, Distinct.reduce(&rows));
            let estimate: f64 = Distinct.finish(&joined).unwrap().parse().unwrap();
            let error = (estimate - f64::from(count)).abs();
            assert!(error <= f64::from(count) * 0.06, "{count}: {estimate}");
        }
    }
}
