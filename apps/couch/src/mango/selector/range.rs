//! The range of a field that a selector allows.
//!
//! Source: `mango_idx_view:field_ranges`. Only what `$and` combines narrows a range; all else is left to the comparison of the
//! documents that are found.

use super::Selector;
use super::node::{Comparison, Condition, Node};
use crate::mango::collate;
use serde_json::Value;
use std::cmp::Ordering;

/// The values of a field from where to where, in the order of collation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// The lowest value and whether it is outside of the range; none for no bound.
    pub low: Option<(Value, bool)>,
    /// The highest value and whether it is outside of the range; none for no bound.
    pub high: Option<(Value, bool)>,
}

/// Follows all texts with the same beginning, in the order of collation.
pub const LAST_CHARACTER: char = '\u{ffff}';

/// Where a value is in relation to a range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    AtLow,
    Within,
    AtHigh,
    After,
}

impl Selector {
    /// The range of each indexable field, in the order of their names. One field without any range is the whole answer:
    /// nothing matches.
    pub(in crate::mango) fn ranges(&self) -> Vec<(&str, Option<Range>)> {
        let mut ranges = Vec::new();
        for field in self.indexable_fields() {
            match narrowed(&self.node, field, Some(Range::default())) {
                None => return vec![(field, None)],
                range => ranges.push((field, range)),
            }
        }
        ranges
    }
}

fn narrowed(node: &Node, field: &str, range: Option<Range>) -> Option<Range> {
    match node {
        Node::And(parts) => parts
            .iter()
            .fold(range, |range, part| narrowed(part, field, range)),
        Node::Field(path, condition) if path.as_str() == field => range?.and(condition),
        _ => range,
    }
}

impl Range {
    /// Whether it is one value.
    pub fn is_one_value(&self) -> bool {
        matches!((&self.low, &self.high), (Some((low, false)), Some((high, false)))
            if collate::compare(low, high).is_eq())
    }

    fn and(self, condition: &Condition) -> Option<Range> {
        match condition {
            Condition::Compare(comparison, value) => self.compared(*comparison, value.clone()),
            Condition::BeginsWith(start) => {
                let end = Value::from(format!("{start}{LAST_CHARACTER}"));
                let range = self.compared(Comparison::Gte, Value::from(start.as_str()))?;
                range.compared(Comparison::Lte, end)
            }
            _ => Some(self),
        }
    }

    fn place(&self, value: &Value) -> Place {
        let low = self
            .low
            .as_ref()
            .map(|(low, _)| collate::compare(value, low));
        match low {
            Some(Ordering::Less) => return Place::Before,
            Some(Ordering::Equal) => return Place::AtLow,
            _ => {}
        }
        let high = self.high.as_ref();
        match high.map(|(high, _)| collate::compare(value, high)) {
            Some(Ordering::Equal) => Place::AtHigh,
            Some(Ordering::Greater) => Place::After,
            _ => Place::Within,
        }
    }

    /// The part of the range that passes a comparison; none if that is nothing.
    fn compared(mut self, comparison: Comparison, value: Value) -> Option<Range> {
        let is_low_in = self.low.as_ref().is_some_and(|(_, is_open)| !is_open);
        let is_high_in = self.high.as_ref().is_some_and(|(_, is_open)| !is_open);
        let place = self.place(&value);
        match (comparison, place) {
            (Comparison::Ne, _) => return Some(self),
            (Comparison::Lt, Place::Before | Place::AtLow) => return None,
            (Comparison::Lt, Place::Within | Place::AtHigh) => self.high = Some((value, true)),
            (Comparison::Lte, Place::Within) => self.high = Some((value, false)),
            (Comparison::Gt, Place::AtLow | Place::Within) => self.low = Some((value, true)),
            (Comparison::Gt, Place::AtHigh | Place::After) => return None,
            (Comparison::Gte, Place::Within) => self.low = Some((value, false)),
            (Comparison::Lt | Comparison::Lte, Place::After) => {}
            (Comparison::Lte, Place::AtHigh) => {}
            (Comparison::Gt | Comparison::Gte, Place::Before) => {}
            (Comparison::Gte, Place::AtLow) => {}
            (Comparison::Lte | Comparison::Eq, Place::Before) => return None,
            (Comparison::Gte | Comparison::Eq, Place::After) => return None,
            (_, Place::AtLow) if !is_low_in => return None,
            (_, Place::AtHigh) if !is_high_in => return None,
            // One value is left.
            _ => {
                self.low = Some((value.clone(), false));
                self.high = Some((value, false));
            }
        }
        Some(self)
    }
}
