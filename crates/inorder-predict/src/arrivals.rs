//! Where the next key of a tree goes.

use inorder_key::KeyKind;
use inorder_key::bulk::{COMPOSITE_BUCKETS, SplitMix64};

/// Bits of a position below those of the bucket.
pub const BUCKET_BITS: u32 = 48;

/// Order in which the keys of a tree arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each key is above all others.
    Ascending,
    /// Uniform over all keys.
    Random,
    /// Ascending within each of so many ranges, and a random range for each key.
    Buckets(u64),
}

impl Order {
    /// The order of keys of this kind.
    pub fn of(kind: KeyKind) -> Self {
        match kind {
            KeyKind::Composite => Order::Buckets(COMPOSITE_BUCKETS as u64),
            kind if kind.is_ordered() => Order::Ascending,
            _ => Order::Random,
        }
    }
}

/// A source of keys as 63-bit positions in the order of the tree.
#[derive(Clone, Debug)]
pub struct Arrivals {
    order: Order,
    random: SplitMix64,
    /// Random keys have so many more leading zeros.
    zeros: u32,
}

impl Arrivals {
    /// A source of keys in this order.
    pub fn new(order: Order, seed: u64) -> Self {
        Arrivals {
            order,
            random: SplitMix64::new(SplitMix64::mix(seed)),
            zeros: 0,
        }
    }

    /// The order.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Limits random keys to the lower half of their range, and returns the bound.
    pub fn halve(&mut self) -> u64 {
        self.zeros += 1;
        (u64::MAX >> 1) >> self.zeros
    }

    /// The rowid that a key stands for: a positive integer of 63 bits, where random ones use all of them.
    pub fn rowid(&self, key: u64) -> u64 {
        match self.order {
            Order::Random => key << self.zeros,
            _ => key,
        }
    }

    /// The key of this row.
    pub fn key(&mut self, row: u64) -> u64 {
        match self.order {
            Order::Ascending => row,
            Order::Random => (self.random.bits() >> 1) >> self.zeros,
            Order::Buckets(buckets) => {
                let bucket = SplitMix64::mix(row) % buckets;
                (bucket << BUCKET_BITS) | (row & ((1 << BUCKET_BITS) - 1))
            }
        }
    }
}
