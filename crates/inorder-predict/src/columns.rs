//! The columns of a row besides its key and its payload, and the indexes on them.

use crate::arrivals::Order;

/// The values of a column. All have one size, the mean of the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Integers of 64 bits, and others of eight bytes that are aligned alike.
    Integer,
    /// Values of so many bytes in each row.
    Fixed(u64),
    /// Text or bytes: so many, and their length.
    Bytes(u64),
}

impl Values {
    /// Bytes of a value without its length.
    pub fn bytes(self) -> u64 {
        match self {
            Values::Integer => 8,
            Values::Fixed(bytes) | Values::Bytes(bytes) => bytes,
        }
    }
}

/// A secondary index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondaryIndex {
    /// Its name in reports.
    pub name: String,
    /// What it has of each row.
    pub values: Vec<Values>,
    /// The order in which they arrive. Those of a bucket are equal.
    pub order: Order,
}

impl SecondaryIndex {
    /// The order of the entries, where equal values are in the order of what finds their rows.
    pub(crate) fn order_with(&self, locator: Order) -> Order {
        match (self.order, locator) {
            (Order::Buckets(_), Order::Random) => Order::Random,
            (order, _) => order,
        }
    }

    /// Bytes of the values of an entry.
    pub(crate) fn bytes(&self) -> u64 {
        self.values.iter().map(|values| values.bytes()).sum()
    }
}
