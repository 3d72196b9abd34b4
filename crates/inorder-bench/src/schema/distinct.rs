//! Which columns keep the rows of a table apart, so that its unique keys refuse none.

use std::collections::BTreeMap;

/// The most values that a column takes in turn.
const IN_TURN_MAX: u64 = 1_000_000;

/// What a column can do to keep rows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It does: no two rows have the same value.
    Distinct,
    /// It can have so many different values, without an order of theirs.
    Random(u64),
    /// It can have so many different numbers.
    Numbers(u64),
    /// It refers to a table that is filled before, with so many rows.
    Parent(u64),
    /// It refers to the row that its row belongs to: so many consecutive rows have the same value.
    Owner(u64),
    /// Nothing.
    None,
}

/// How a column has to be filled to keep rows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinct {
    /// No two rows have the same value.
    Always,
    /// So many values in turn, each for `repeat` rows.
    InTurn {
        /// The values.
        values: u64,
        /// Consecutive rows with the same value.
        repeat: u64,
    },
    /// The rows that belong to one row of the root refer to different rows.
    WithinRoot,
}

/// How the rows of a table are kept apart.
#[derive(Debug, Default)]
pub struct Plan<'a> {
    /// Columns that have to be filled in a certain way.
    pub columns: BTreeMap<&'a str, Distinct>,
    /// Unique keys that refuse rows nevertheless, and the rows that they allow.
    pub unmet: Vec<(&'a [String], u64)>,
}

/// Plans for `rows` rows, of which `per_root` belong to one row of the root.
pub fn plan<'a>(
    mut keys: Vec<&'a [String]>,
    (rows, per_root): (u64, u64),
    room: impl Fn(&str) -> Room,
) -> Plan<'a> {
    // What keeps the rows of a short key apart does so for longer ones.
    keys.sort_by_key(|key| key.len());
    let mut plan = Plan::default();
    let mut met: Vec<&[String]> = Vec::new();
    for key in keys {
        let rooms: Vec<(&str, Room)> = key.iter().map(|c| (c.as_str(), room(c))).collect();
        let is_within = |other: &&[String]| other.iter().all(|column| key.contains(column));
        let is_always = |(column, room): &(&str, Room)| {
            matches!(room, Room::Distinct | Room::Owner(1))
                || plan.columns.get(column) == Some(&Distinct::Always)
        };
        if rows <= 1 || met.iter().any(is_within) || rooms.iter().any(is_always) {
            met.push(key);
            continue;
        }
        let free = rooms.iter().filter(|(c, _)| !plan.columns.contains_key(c));
        let free: Vec<(&str, Room)> = free.copied().collect();
        let owner = rooms.iter().find_map(|(_, room)| match room {
            Room::Owner(repeat) => Some(*repeat),
            _ => None,
        });
        match alone(&free, rows, owner, per_root).map_or_else(
            || in_turn(&free, owner.unwrap_or(rows)),
            |(column, distinct)| Ok(vec![(column, distinct)]),
        ) {
            Ok(columns) => {
                plan.columns.extend(columns);
                met.push(key);
            }
            Err(most) => plan.unmet.push((key, most)),
        }
    }
    plan
}

/// A column that keeps rows apart alone: all of them, or those that belong to one owner.
fn alone<'a>(
    free: &[(&'a str, Room)],
    rows: u64,
    owner: Option<u64>,
    per_root: u64,
) -> Option<(&'a str, Distinct)> {
    let wanted = owner.unwrap_or(rows);
    let of = |found: &dyn Fn(Room) -> bool| free.iter().find(|(_, room)| found(*room));
    if let Some((column, _)) = of(&|room| matches!(room, Room::Random(most) if most >= wanted)) {
        return Some((column, Distinct::Always));
    }
    if let Some((column, _)) = of(&|room| matches!(room, Room::Numbers(most) if most >= wanted)) {
        let numbers = Distinct::InTurn {
            values: wanted,
            repeat: 1,
        };
        return Some((column, owner.map_or(Distinct::Always, |_| numbers)));
    }
    let (column, _) = of(&|room| matches!(room, Room::Parent(most) if most >= per_root))?;
    owner.map(|_| (*column, Distinct::WithinRoot))
}

/// Columns that keep so many consecutive rows apart together: the values of each change when those of the ones before it
/// have been through. The error is the number of rows that they keep apart.
fn in_turn<'a>(free: &[(&'a str, Room)], wanted: u64) -> Result<Vec<(&'a str, Distinct)>, u64> {
    let is_random = |(_, room): &&(&str, Room)| matches!(room, Room::Random(_));
    // The values of these can't be held for some rows.
    let random = free.iter().filter(is_random).take(1);
    let others = free.iter().filter(|column| !is_random(column));
    let mut found = Vec::new();
    let mut repeat = 1_u64;
    for (column, room) in random.chain(others) {
        let (values, distinct) = match *room {
            Room::Random(values) => (values, Distinct::Always),
            Room::Numbers(values) | Room::Parent(values) => {
                let values = values.min(IN_TURN_MAX);
                (values, Distinct::InTurn { values, repeat })
            }
            _ => continue,
        };
        found.push((*column, distinct));
        repeat = repeat.saturating_mul(values);
        if repeat >= wanted {
            return Ok(found);
        }
    }
    Err(repeat)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of a plan for keys that are written as the names of their columns, one letter each.
    fn planned(
        keys: &[&str],
        rows: (u64, u64),
        rooms: &[(&str, Room)],
    ) -> (Vec<(String, Distinct)>, Vec<u64>) {
        let keys: Vec<Vec<String>> = (keys.iter())
            .map(|key| key.chars().map(String::from).collect())
            .collect();
        let room = |name: &str| {
            let mut rooms = rooms.iter();
            rooms.find(|(own, _)| *own == name).unwrap().1
        };
        let plan = plan(keys.iter().map(Vec::as_slice).collect(), rows, room);
        let columns = plan.columns.iter();
        (
            columns.map(|(name, d)| ((*name).to_owned(), *d)).collect(),
            plan.unmet.iter().map(|(_, most)| *most).collect(),
        )
    }

    fn turn(values: u64, repeat: u64) -> Distinct {
        Distinct::InTurn { values, repeat }
    }

    #[test]
    fn one_column_keeps_rows_apart_if_it_can() {
        let found = |keys: &[&str], rooms: &[(&str, Room)]| planned(keys, (1000, 1), rooms);
        let one = |name: &str, distinct| (vec![(name.to_owned(), distinct)], vec![]);
        let (a, b) = (("a", Room::Parent(5)), ("b", Room::Numbers(1000)));
        assert_eq!(found(&["ab"], &[a, b]), one("b", Distinct::Always));
        let c = ("c", Room::Random(1000));
        assert_eq!(found(&["abc"], &[a, b, c]), one("c", Distinct::Always));
        // What a shorter key does is enough for a longer one.
        assert_eq!(found(&["abc", "b"], &[a, b, c]), one("b", Distinct::Always));
        let d = ("d", Room::Distinct);
        assert_eq!(found(&["ad"], &[a, d]), (vec![], vec![]));
    }

    #[test]
    fn columns_keep_rows_apart_together_or_say_how_many() {
        let rooms = [
            ("a", Room::Parent(10)),
            ("b", Room::Numbers(10)),
            ("c", Room::Random(7)),
            ("d", Room::Numbers(2)),
            ("e", Room::None),
        ];
        let found = |keys: &[&str], rows| planned(keys, (rows, 1), &rooms);
        let both = vec![
            ("a".to_owned(), turn(10, 1)),
            ("b".to_owned(), turn(10, 10)),
        ];
        assert_eq!(found(&["abd"], 100), (both.clone(), vec![]));
        let random = vec![
            ("a".to_owned(), turn(10, 7)),
            ("c".to_owned(), Distinct::Always),
        ];
        assert_eq!(found(&["abc"], 70), (random, vec![]));
        assert_eq!(found(&["ab"], 101), (vec![], vec![100]));
        // Columns of one key aren't filled in another way for a second one.
        assert_eq!(found(&["ab", "bd"], 100), (both, vec![2]));
        assert_eq!(found(&["ce"], 100), (vec![], vec![7]));
        assert_eq!(found(&["e"], 2), (vec![], vec![1]));
        assert_eq!(found(&["e"], 1), (vec![], vec![]));
    }

    #[test]
    fn rows_of_one_owner_are_kept_apart() {
        let o = ("o", Room::Owner(3));
        let found = |key: &str, room| planned(&[key], (3_000_000, 6), &[o, ("a", room)]);
        let one = |distinct| (vec![("a".to_owned(), distinct)], vec![]);
        assert_eq!(found("oa", Room::Numbers(99)), one(turn(3, 1)));
        assert_eq!(found("oa", Room::Random(99)), one(Distinct::Always));
        assert_eq!(found("oa", Room::Parent(6)), one(Distinct::WithinRoot));
        // Too few for the rows of a root row, but enough for those of an owner.
        assert_eq!(found("oa", Room::Parent(5)), one(turn(5, 1)));
        assert_eq!(found("oa", Room::Numbers(2)), (vec![], vec![2]));
        assert_eq!(found("o", Room::None), (vec![], vec![1]));
    }
}
