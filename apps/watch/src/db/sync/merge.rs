//! The rule by which changes of several devices become one state.
//!
//! A field keeps every write that no other write has replaced. A write replaces those that its device knew. Which writes are
//! left, and which of them is shown, depends on the writes only, not on their order: a device sends its own in order.

use inorder_key::Ulid;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A field of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// Whether the film is on the list.
    Listed,
    /// The priority.
    Priority,
    /// Whether friends see the entry.
    Public,
    /// Whether the film was watched, with days, rating and seasons: all of them depend on each other.
    Watched,
    /// The note.
    Note,
    /// The position within the priority.
    Place,
    /// The names of lists.
    Tags,
}

impl Field {
    /// All fields.
    pub const ALL: [Field; 7] = [
        Field::Listed,
        Field::Priority,
        Field::Public,
        Field::Watched,
        Field::Note,
        Field::Place,
        Field::Tags,
    ];

    /// The name, as in the database and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Field::Listed => "listed",
            Field::Priority => "priority",
            Field::Public => "public",
            Field::Watched => "watched",
            Field::Note => "note",
            Field::Place => "place",
            Field::Tags => "tags",
        }
    }
}

/// A write of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The version: the id of the operation.
    pub id: Ulid,
    /// The value.
    pub value: Value,
}

/// The writes of a field that no other has replaced; the one that is shown comes last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Register(Vec<Write>);

impl Register {
    /// Adds a write, which replaces those in `base`.
    pub fn write(&mut self, field: Field, write: Write, base: &[Ulid]) {
        // Two places can't be compared by a user: the later one replaces the other.
        let is_replaced = |old: &Write| match field {
            Field::Place => old.id < write.id,
            _ => base.contains(&old.id),
        };
        self.0.retain(|old| !is_replaced(old));
        if field == Field::Place && !self.0.is_empty() {
            return;
        }
        self.0.push(write);
        // A film that one device takes off and another changes stays.
        let rank = |write: &Write| (field == Field::Listed && write.value == true, write.id);
        self.0.sort_by_key(rank);
    }

    /// Returns the value that is shown; `None` before the first write.
    pub fn value(&self) -> Option<&Value> {
        self.0.last().map(|write| &write.value)
    }

    /// Returns all writes.
    pub fn writes(&self) -> &[Write] {
        &self.0
    }

    /// Returns the versions of the value that is shown.
    pub fn versions(&self) -> Vec<Ulid> {
        self.value().map_or_else(Vec::new, |value| self.of(value))
    }

    /// Returns each value that is not shown, once, with its versions; the latest last.
    pub fn lost(&self) -> Vec<(&Value, Vec<Ulid>)> {
        let mut lost: Vec<(&Value, Vec<Ulid>)> = Vec::new();
        for Write { value, .. } in &self.0 {
            if self.value() != Some(value) && lost.iter().all(|(other, _)| *other != value) {
                lost.push((value, self.of(value)));
            }
        }
        lost
    }

    fn of(&self, value: &Value) -> Vec<Ulid> {
        let same = self.0.iter().filter(|write| write.value == *value);
        same.map(|write| write.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(n: u128) -> Ulid {
        Ulid::from_u128(n)
    }

    /// What one device does, before the other has heard of it.
    #[derive(Clone, Debug)]
    struct Session {
        /// Values, each written over the one before; with the time since the last.
        writes: Vec<(u8, u128)>,
        start: u128,
    }

    /// The writes of a session, in order, each with the versions that it replaces.
    fn writes(session: &Session, parity: u128, known: &[Ulid]) -> Vec<(Write, Vec<Ulid>)> {
        let (mut at, mut base) = (session.start, known.to_vec());
        let write = |(value, later): &(u8, u128)| {
            at += later;
            // No two devices make the same id.
            let id = id(at * 2 + parity);
            let value = Value::from(*value);
            (Write { id, value }, std::mem::replace(&mut base, vec![id]))
        };
        session.writes.iter().map(write).collect()
    }

    fn session() -> impl Strategy<Value = Session> {
        let writes = proptest::collection::vec((0u8..3, 1u128..50), 0..5);
        (writes, 100u128..200).prop_map(|(writes, start)| Session { writes, start })
    }

    fn merged(field: Field, register: &Register, parts: [&[(Write, Vec<Ulid>)]; 2]) -> Register {
        let mut register = register.clone();
        for (write, base) in parts.into_iter().flatten() {
            register.write(field, write.clone(), base);
        }
        register
    }

    proptest! {
        #[test]
        fn both_orders_give_the_same_and_nothing_is_lost(
            rounds in proptest::collection::vec((session(), session()), 1..4),
            at in 0..Field::ALL.len(),
        ) {
            let field = Field::ALL[at];
            let mut register = Register::default();
            for (round, (one, other)) in rounds.iter().enumerate() {
                let known = register.versions();
                let later = |session: &Session| Session {
                    start: session.start + 1000 * round as u128,
                    ..session.clone()
                };
                let (one, other) = (writes(&later(one), 0, &known), writes(&later(other), 1, &known));
                let there = merged(field, &register, [&one, &other]);
                prop_assert_eq!(&there, &merged(field, &register, [&other, &one]));
                let mut values: Vec<&Value> = there.lost().into_iter().map(|(value, _)| value).collect();
                values.extend(there.value());
                if field != Field::Place {
                    for last in [one.last(), other.last()].into_iter().flatten() {
                        prop_assert!(values.contains(&&last.0.value), "{:?} is lost in {:?}", last, there);
                    }
                    for (lost, _) in register.lost() {
                        prop_assert!(values.contains(&lost), "an old conflict is lost");
                    }
                }
                register = there;
            }
        }
    }

    #[test]
    fn a_write_replaces_what_its_device_knew_and_no_more() {
        let write = |n, value: &str| Write {
            id: id(n),
            value: value.into(),
        };
        let mut register = Register::default();
        register.write(Field::Note, write(1, "a"), &[]);
        register.write(Field::Note, write(3, "b"), &[id(1)]);
        register.write(Field::Note, write(2, "c"), &[id(1)]);
        assert_eq!(register.value(), Some(&"b".into()));
        assert_eq!(register.lost(), [(&Value::from("c"), vec![id(2)])]);
        register.write(Field::Note, write(4, "c"), &[id(2), id(3)]);
        assert_eq!(
            (register.value(), register.lost()),
            (Some(&"c".into()), vec![])
        );
    }

    #[test]
    fn a_film_that_another_device_changes_is_not_taken_off() {
        let write = |n, value: bool| Write {
            id: id(n),
            value: value.into(),
        };
        let mut register = Register::default();
        register.write(Field::Listed, write(1, true), &[]);
        register.write(Field::Listed, write(2, true), &[id(1)]);
        register.write(Field::Listed, write(3, false), &[id(1)]);
        assert_eq!(register.value(), Some(&true.into()));
        assert_eq!(register.lost(), [(&false.into(), vec![id(3)])]);
    }
}
