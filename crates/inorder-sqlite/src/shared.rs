//! Order over all processes that share a database: a high-water mark in one of its tables.
//!
//! The mark is the milliseconds and the counter of the last id, as in a [`Factory`](inorder_key::Factory). Whoever
//! raises it holds the write lock of the database until its transaction ends, so ids are in the order of the commits.

use crate::Error;
use inorder_key::{Clock as _, SystemClock, TimeId, fill_random};
use rusqlite::Connection;

/// The table of the mark. WITHOUT ROWID, so that raising it does not change `last_insert_rowid()`.
pub(crate) const TABLE: &str = "CREATE TABLE inorder_high_water(\
    one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) WITHOUT ROWID";

/// Not RETURNING: SQLite 3.34 has none.
const RAISE: &str = "INSERT INTO main.inorder_high_water(one, last) VALUES (1, ?1) \
    ON CONFLICT (one) DO UPDATE SET last = max(last + 1, excluded.last)";
const READ: &str = "SELECT last FROM main.inorder_high_water";

/// Bits of the counter after the milliseconds.
const COUNTER_BITS: u32 = 16;
/// Where a millisecond starts counting is random below 2^12: most counts are left.
const START_MASK: u64 = 0xfff;

/// Raises the mark and gives it: greater than all before it in this database.
pub(crate) fn next_count(connection: &Connection) -> Result<u64, Error> {
    let now = SystemClock.read(1).time;
    let first = now.ms << COUNTER_BITS | random::<8>() as u64 & START_MASK;
    let raise = || {
        connection.execute(RAISE, [first as i64])?;
        connection.query_row(READ, [], |row| row.get::<_, i64>(0))
    };
    raise()
        .map(|count| count as u64)
        .map_err(|source| Error::Shared { source })
}

/// The id of a count.
pub(crate) fn id<I: TimeId>(count: u64) -> Result<I, Error> {
    let below = I::TAIL_BITS - COUNTER_BITS;
    let random = random::<8>() & ((1 << below) - 1);
    let tail = u128::from(count) << below | random;
    Ok(I::from_parts(count >> COUNTER_BITS, tail)?)
}

/// Random bits, of so many bytes.
fn random<const N: usize>() -> u128 {
    let mut bytes = [0; 16];
    fill_random(&mut bytes[..N]);
    u128::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_key::{Ulid, UnixTime, Uuid};

    #[test]
    fn ids_of_counts_are_in_their_order() {
        let count = 1_700_000_000_000 << COUNTER_BITS | 0xffff;
        assert_eq!(id::<Ulid>(count).unwrap().ms(), 1_700_000_000_000);
        assert!(id::<Ulid>(count).unwrap() < id::<Ulid>(count + 1).unwrap());
        assert!(id::<Uuid>(count).unwrap() < id::<Uuid>(count + 1).unwrap());
        assert_eq!(id::<Uuid>(count + 1).unwrap().ms(), Some(1_700_000_000_001));
        assert!(id::<Ulid>(UnixTime::MS_MAX << COUNTER_BITS | 0xffff).is_ok());
    }
}
