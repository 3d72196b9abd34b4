//! Prints rows of CSV in no order, for loads of more rows than a disk has room for as a file:
//! `rows 1000000000 | inorder load - my.db --table t --create --key id --memory 2G`.

use std::io::{BufWriter, Write as _};

fn main() -> std::io::Result<()> {
    let rows: Option<u64> = std::env::args().nth(1).and_then(|rows| rows.parse().ok());
    let Some(rows) = rows else {
        eprintln!("rows: name the number of rows");
        std::process::exit(2);
    };
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    out.write_all(b"id,n\n")?;
    for row in 0..rows {
        // No two rows have the same: each step can be undone.
        let mut id = row ^ row >> 31;
        id = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        id ^= id >> 29;
        write_row(&mut out, id, 100_000 + row % 900_000)?;
    }
    out.flush()
}

/// Writes an id of 16 hex digits and a number of 6 digits.
fn write_row(out: &mut impl std::io::Write, id: u64, number: u64) -> std::io::Result<()> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut line = [b','; 24];
    for (at, digit) in line[..16].iter_mut().enumerate() {
        *digit = DIGITS[(id >> (60 - 4 * at)) as usize & 15];
    }
    let mut number = number;
    for digit in line[17..23].iter_mut().rev() {
        *digit = DIGITS[(number % 10) as usize];
        number /= 10;
    }
    line[23] = b'\n';
    out.write_all(&line)
}
