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
#[derive(Clone, Debug, PartialEq)]
pub struct SecondaryIndex {
    /// Its name in reports.
    pub name: String,
    /// What it has of each row.
    pub values: Vec<Values>,
    /// The order in which they arrive. Those of a bucket are equal.
    pub order: Order,
    /// What entries of leaf pages have besides (INCLUDE of PostgreSQL).
    pub included: Vec<Values>,
    /// Percent of a page that a split at the end leaves full (PostgreSQL); `None`: its default.
    pub fill_percent: Option<u32>,
    /// Rows of each value, where equal values are stored once with a list of rows (deduplication of PostgreSQL).
    pub rows_per_value: Option<f64>,
}

impl SecondaryIndex {
    /// An index with an entry for each row, and the defaults of its engine.
    pub fn new(name: impl Into<String>, values: Vec<Values>, order: Order) -> Self {
        SecondaryIndex {
            name: name.into(),
            values,
            order,
            included: Vec::new(),
            fill_percent: None,
            rows_per_value: None,
        }
    }

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
