//! Sorts records that stay where they are, such as in a file that is mapped into memory.

use std::sync::Arc;

use inorder_btree::{KeyOrder, Mapped};

use super::arena::Records;
use super::in_memory::{InMemory, Pair};
use super::sorter::sort_part;

/// Bytes of memory per record: the prefix of its key and its place.
pub const PLACE_BYTES: usize = size_of::<Pair>();

impl Records for Arc<Mapped> {
    #[inline]
    fn record(&self, place: u64) -> &[u8] {
        Mapped::record(self, place)
    }
}

/// Sorts the places of records by their keys. Records with equal keys are in the order of their places.
pub struct PlaceSorter<R> {
    records: R,
    order: KeyOrder,
    pairs: Vec<Pair>,
}

impl<R: Records> PlaceSorter<R> {
    /// An empty sorter of records that are here.
    pub fn new(order: KeyOrder, records: R) -> Self {
        PlaceSorter {
            records,
            order,
            pairs: Vec::new(),
        }
    }

    /// Adds a record, which is at this place.
    #[inline]
    pub fn push(&mut self, record: &[u8], place: u64) {
        self.pairs.push((self.order.prefix(record), place));
    }

    /// The records in the order in which they were added.
    pub fn unsorted(&self) -> impl Iterator<Item = &[u8]> {
        let places = self.pairs.iter();
        places.map(|(_, place)| self.records.record(*place))
    }

    /// The records in order.
    pub fn finish(mut self) -> SortedPlaces<R> {
        sort_part(&self.records, &self.order, &mut self.pairs);
        SortedPlaces(InMemory::new(self.records, self.pairs))
    }
}

/// Records in the order of their keys.
pub struct SortedPlaces<R>(InMemory<R>);

impl<R: Records> SortedPlaces<R> {
    /// The next record.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Option<&[u8]> {
        self.0.advance().then(|| self.0.record())
    }
}

#[cfg(test)]
mod tests {
    use inorder_btree::record::{self, KeyColumn};
    use inorder_btree::{TextEncoding, Value};
    use proptest::prelude::*;

    use super::*;

    impl Records for &[Vec<u8>] {
        fn record(&self, place: u64) -> &[u8] {
            &self[place as usize]
        }
    }

    proptest! {
        #[test]
        fn records_come_in_the_order_of_their_keys_and_places(
            keys in prop::collection::vec((0..9i64, "[ab]{0,12}"), 0..300),
        ) {
            let encoded = |(number, text): &(i64, String)| {
                let mut record = Vec::new();
                record::encode(&[Value::Text(text.as_bytes()), Value::Integer(*number)], &mut record);
                record
            };
            let records: Vec<Vec<u8>> = keys.iter().map(encoded).collect();
            let columns = vec![KeyColumn::ascending(0), KeyColumn::ascending(1)];
            let order = KeyOrder::new(columns, TextEncoding::Utf8);
            let mut sorter = PlaceSorter::new(order, &records[..]);
            for (place, record) in (0..).zip(&records) {
                sorter.push(record, place);
            }
            prop_assert!(sorter.unsorted().eq(records.iter().map(Vec::as_slice)));
            let mut expected: Vec<_> = keys.iter().map(|(number, text)| (text, *number)).collect();
            expected.sort();
            let (mut sorted, mut found) = (sorter.finish(), Vec::new());
            while let Some(record) = sorted.next() {
                found.push(record.to_vec());
            }
            let expected: Vec<_> = expected.iter().map(|(text, number)| encoded(&(*number, (*text).clone()))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
