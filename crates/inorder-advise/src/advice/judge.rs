//! From measures to verdicts.

use crate::{
    Change,
    read::{Program, Reliance},
    rules::{Candidate, Class, Group},
    trial::{Inserts, LookUps, Measure, Method},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// An action, or a group of one kind, is worth making from this share of the vacuumed file.
pub const ALONE_MIN_PERCENT: f64 = 3.0;
/// Safe changes that save less than this are left; indexes of one kind are dropped together and judged together.
pub(crate) const MINOR_MIN_PERCENT: f64 = 0.1;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Make it.
    Change,
    /// Safe, and worth less than the threshold.
    Minor,
    /// Worth it if the application changes with it.
    App,
    /// For the authors of the program whose file it is.
    Authors,
    /// Leave it.
    Leave,
}

/// One action, or the actions of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct Item {
    /// What to do.
    pub verdict: Verdict,
    /// The kind of action.
    pub group: Group,
    /// Bytes less after VACUUM, if it was measured.
    pub saved_bytes: Option<i64>,
    /// The same as a share of the vacuumed file.
    pub percent: Option<f64>,
    /// What it consists of.
    pub parts: Vec<Part>,
}

/// A candidate and what it gave.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// What was proposed or rejected.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// What it gave.
    pub measure: Option<Measure>,
    /// What inserting cost before and after.
    pub inserts: Option<Inserts>,
    /// Look-ups by the keys and indexes that it is about, before and after.
    pub look_ups: Vec<LookUps>,
    /// Whether only the rows of a sample speak for it. What the catalog says holds for all rows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_of_sample: bool,
}

impl Part {
    fn saved(&self) -> i64 {
        self.measure.map_or(0, |measure| measure.saved_bytes)
    }
}

impl Item {
    /// The changes of all parts.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.parts.iter().flat_map(|part| &part.candidate.changes)
    }
}

/// A file against whose bytes parts are judged.
struct Scale {
    bytes: u64,
}

impl Scale {
    fn percent(&self, saved: i64) -> f64 {
        100.0 * saved as f64 / self.bytes.max(1) as f64
    }

    fn percent_of(&self, parts: &[Part]) -> f64 {
        self.percent(parts.iter().map(Part::saved).sum())
    }

    fn item(&self, verdict: Verdict, parts: Vec<Part>) -> Item {
        let is_measured = parts.iter().any(|part| part.measure.is_some());
        let saved: i64 = parts.iter().map(Part::saved).sum();
        Item {
            verdict,
            group: parts[0].candidate.group,
            saved_bytes: is_measured.then_some(saved),
            percent: is_measured.then(|| self.percent(saved)),
            parts,
        }
    }

    fn left(&self, part: Part) -> Item {
        let share = self.percent(part.saved());
        self.item(Verdict::Leave, vec![left(part, share)])
    }

    /// Safe changes of one kind: those that reach the threshold each by itself, unless they are one action, and the
    /// others together.
    fn safe(&self, group: Group, parts: Vec<Part>) -> Vec<Item> {
        let (alone, rest): (Vec<Part>, Vec<Part>) = match is_one_action(group) {
            true => (Vec::new(), parts),
            false => parts
                .into_iter()
                .partition(|part| self.percent(part.saved()) >= ALONE_MIN_PERCENT),
        };
        let alone = alone
            .into_iter()
            .map(|part| self.item(Verdict::Change, vec![part]));
        let mut items: Vec<Item> = alone.collect();
        if rest.is_empty() {
            return items;
        }
        match self.percent_of(&rest) {
            ALONE_MIN_PERCENT.. => items.push(self.item(Verdict::Change, rest)),
            // What another page size costs inserts is only measured for one that saves enough.
            MINOR_MIN_PERCENT.. if group != Group::PageSize => {
                items.push(self.item(Verdict::Minor, rest));
            }
            _ => items.extend(rest.into_iter().map(|part| self.left(part))),
        }
        items
    }

    /// Changes of one kind that need the application and don't reach the threshold each by itself.
    fn of_application(&self, parts: Vec<Part>) -> Vec<Item> {
        match self.percent_of(&parts) >= ALONE_MIN_PERCENT {
            true => vec![self.item(Verdict::App, parts)],
            false => parts.into_iter().map(|part| self.left(part)).collect(),
        }
    }
}

/// Judges all candidates against a file of `bytes`, in the order in which a report shows them.
pub(super) fn judge(parts: Vec<Part>, bytes: u64, program: Option<&Program>) -> Vec<Item> {
    let scale = Scale { bytes };
    let mut safe = BTreeMap::<Group, Vec<Part>>::new();
    let mut of_application = BTreeMap::<Group, Vec<Part>>::new();
    let mut items = Vec::new();
    for part in only_best(parts) {
        let share = scale.percent(part.saved());
        let group = part.candidate.group;
        match part.candidate.class {
            Class::Safe if is_worth_a_line(&part, share) && !is_bound(&part) => {
                safe.entry(group).or_default().push(part);
            }
            Class::App if part.candidate.changes.is_empty() => items.push(without_change(part)),
            Class::App if share >= ALONE_MIN_PERCENT => {
                items.push(scale.item(Verdict::App, vec![part]));
            }
            Class::App if share >= MINOR_MIN_PERCENT => {
                of_application.entry(group).or_default().push(part);
            }
            _ => items.push(scale.left(part)),
        }
    }
    let by_size = |parts: &mut Vec<Part>| parts.sort_by_key(|part| std::cmp::Reverse(part.saved()));
    safe.values_mut().for_each(by_size);
    of_application.values_mut().for_each(by_size);
    items.extend(
        safe.into_iter()
            .flat_map(|(group, parts)| scale.safe(group, parts)),
    );
    items.extend(
        of_application
            .into_values()
            .flat_map(|parts| scale.of_application(parts)),
    );
    if program.is_some_and(|program| program.reliance == Reliance::Format) {
        for item in items
            .iter_mut()
            .filter(|item| item.verdict != Verdict::Leave)
        {
            item.verdict = Verdict::Authors;
        }
    }
    items.sort_by_key(|item| {
        (
            item.verdict,
            std::cmp::Reverse(item.saved_bytes.unwrap_or(0)),
        )
    });
    items
}

/// An item of which nothing changes in the file: inserts are what it saves, if it is about ids.
fn without_change(mut part: Part) -> Item {
    let saved = part.inserts.as_ref().map(Inserts::saved_percent);
    let is_worth_it = match part.candidate.group {
        Group::RandomIds => saved.is_some_and(|saved| saved >= ALONE_MIN_PERCENT),
        _ => true,
    };
    if !is_worth_it {
        part.candidate.reason = match saved {
            Some(saved) => format!("inserting would write {:.1} % less", saved.max(0.0)),
            None => "the table is too small to measure".into(),
        };
    }
    Item {
        verdict: if is_worth_it {
            Verdict::App
        } else {
            Verdict::Leave
        },
        group: part.candidate.group,
        saved_bytes: None,
        percent: None,
        parts: vec![part],
    }
}

/// IntegerKey is preferred to WITHOUT ROWID if it saves at least this share of what that saves: rowids stay.
const NEARLY: f64 = 0.8;

/// Whether changes of this kind are made all or none: dropping one more index costs nothing.
fn is_one_action(group: Group) -> bool {
    matches!(
        group,
        Group::RedundantIndex | Group::UniquePrefix | Group::ImpliedUnique | Group::NullIndex
    )
}

/// Whether a safe change is named with the others of its kind.
fn is_worth_a_line(part: &Part, percent: f64) -> bool {
    match is_one_action(part.candidate.group) {
        true => part.saved() > 0,
        false => percent >= MINOR_MIN_PERCENT,
    }
}

/// Says why a part is left that could be made.
fn left(mut part: Part, percent: f64) -> Part {
    if part.candidate.class != Class::Rejected && part.measure.is_some() {
        part.candidate.reason = why_left(part.candidate.class, percent);
    }
    part
}

/// Why a change is left that saves this share.
pub(crate) fn why_left(class: Class, percent: f64) -> String {
    match (class, percent) {
        (_, ..0.0) => "it would grow".into(),
        (_, 0.0) => "saves nothing".into(),
        (Class::App, MINOR_MIN_PERCENT..) => {
            "saves too little for a change of the application".into()
        }
        (_, MINOR_MIN_PERCENT..) => format!("saves less than {ALONE_MIN_PERCENT:.0} %"),
        _ => format!("saves less than {MINOR_MIN_PERCENT} %"),
    }
}

fn is_bound(part: &Part) -> bool {
    part.measure
        .is_some_and(|measure| measure.method == Method::Bound)
}

/// Of safe changes that exclude each other, the one that saves most stays safe.
fn only_best(mut parts: Vec<Part>) -> Vec<Part> {
    let excludes = |a: &Candidate, b: &Candidate| {
        let layout = [Group::WithoutRowid, Group::IntegerKey];
        (layout.contains(&a.group) && layout.contains(&b.group) && a.table == b.table)
            || (a.group == Group::PageSize && b.group == Group::PageSize)
    };
    for at in 0..parts.len() {
        let (own, saved) = (&parts[at].candidate, parts[at].saved());
        if own.class != Class::Safe || saved <= 0 {
            continue;
        }
        let better = parts.iter().enumerate().find(|(other, part)| {
            *other != at
                && part.candidate.class == Class::Safe
                && excludes(own, &part.candidate)
                && is_better((*other, part), (at, &parts[at]))
        });
        if let Some((_, better)) = better {
            let reason = format!("saves less than {}", name(&better.candidate));
            let candidate = &mut parts[at].candidate;
            candidate.class = Class::Rejected;
            candidate.reason = reason;
        }
    }
    parts
}

/// Tells whether the first of two changes is to be made instead of the other. Of equal layouts the first
/// is.
fn is_better((place, part): (usize, &Part), (other_place, other): (usize, &Part)) -> bool {
    let (own, others) = (part.saved() as f64, other.saved() as f64);
    match (part.candidate.group, other.candidate.group) {
        (Group::IntegerKey, Group::WithoutRowid) => own > 0.0 && own >= NEARLY * others,
        (Group::WithoutRowid, Group::IntegerKey) => others <= 0.0 || others < NEARLY * own,
        (Group::PageSize, Group::PageSize) => own > others,
        _ => own > others || (own == others && place < other_place),
    }
}

fn name(candidate: &Candidate) -> String {
    match candidate.changes.first() {
        Some(Change::WithoutRowid { .. }) => "WITHOUT ROWID".into(),
        Some(Change::WithoutRowidByUnique { columns, .. }) => {
            format!("WITHOUT ROWID by UNIQUE({})", columns.join(", "))
        }
        Some(Change::IntegerPrimaryKey { column, .. }) => {
            format!("{column} as INTEGER PRIMARY KEY")
        }
        _ => candidate.object.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(group: Group, table: &str, class: Class, saved_bytes: i64) -> Part {
        let change = match group {
            Group::WithoutRowid => Change::WithoutRowid {
                table: table.into(),
            },
            Group::IntegerKey => Change::IntegerPrimaryKey {
                table: table.into(),
                column: "id".into(),
            },
            _ => Change::DropIndex {
                index: table.into(),
            },
        };
        Part {
            candidate: Candidate {
                rule: "",
                group,
                class,
                table: table.into(),
                object: table.into(),
                changes: vec![change],
                reason: String::new(),
                notes: Vec::new(),
            },
            measure: Some(Measure {
                saved_bytes,
                method: Method::Rebuilt,
            }),
            inserts: None,
            look_ups: Vec::new(),
            is_of_sample: false,
        }
    }

    /// Verdicts of parts in a file of 1000 bytes, with the number of parts.
    fn verdicts(parts: Vec<Part>) -> Vec<(Verdict, usize)> {
        let items = judge(parts, 1000, None);
        items
            .iter()
            .map(|item| (item.verdict, item.parts.len()))
            .collect()
    }

    #[test]
    fn the_threshold_holds_for_an_action_or_for_its_kind() {
        let index = |saved| part(Group::RedundantIndex, "t", Class::Safe, saved);
        let table = |name, saved| part(Group::WithoutRowid, name, Class::Safe, saved);
        assert_eq!(verdicts(vec![index(29)]), [(Verdict::Minor, 1)]);
        assert_eq!(verdicts(vec![index(30)]), [(Verdict::Change, 1)]);
        assert_eq!(verdicts(vec![index(20), index(10)]), [(Verdict::Change, 2)]);
        assert_eq!(
            verdicts(vec![table("t", 40), table("u", 10)]),
            [(Verdict::Change, 1), (Verdict::Minor, 1)]
        );
        assert_eq!(
            verdicts(vec![table("t", 20), table("u", 10)]),
            [(Verdict::Change, 2)]
        );
        assert_eq!(verdicts(vec![table("t", -20)]), [(Verdict::Leave, 1)]);
        assert_eq!(verdicts(vec![index(0)]), [(Verdict::Leave, 1)]);
    }

    #[test]
    fn small_indexes_of_one_kind_count_together() {
        // 40 indexes of 0.09% each, in a file of 100,000 bytes.
        let indexes = |group, count| (0..count).map(move |_| part(group, "t", Class::Safe, 90));
        let judged = |parts: Vec<Part>| {
            let items = judge(parts, 100_000, None);
            let items = items.into_iter();
            items
                .map(|item| (item.verdict, item.parts.len()))
                .collect::<Vec<_>>()
        };
        for group in [
            Group::RedundantIndex,
            Group::UniquePrefix,
            Group::ImpliedUnique,
            Group::NullIndex,
        ] {
            assert_eq!(
                judged(indexes(group, 40).collect()),
                [(Verdict::Change, 40)]
            );
            assert_eq!(judged(indexes(group, 2).collect()), [(Verdict::Minor, 2)]);
            assert_eq!(judged(indexes(group, 1).collect()), [(Verdict::Leave, 1)]);
        }
        // A table is rebuilt for it: each has to save something.
        let tables = judged(indexes(Group::WithoutRowid, 2).collect());
        assert_eq!(tables, [(Verdict::Leave, 1), (Verdict::Leave, 1)]);
    }

    #[test]
    fn another_page_size_is_never_minor() {
        let size = |saved| part(Group::PageSize, "", Class::Safe, saved);
        assert_eq!(verdicts(vec![size(29)]), [(Verdict::Leave, 1)]);
        assert_eq!(verdicts(vec![size(30)]), [(Verdict::Change, 1)]);
        let left = judge(vec![size(29)], 1000, None);
        assert_eq!(left[0].parts[0].candidate.reason, "saves less than 3 %");
    }

    #[test]
    fn a_table_gets_one_layout_and_keeps_its_rowid_where_that_costs_little() {
        let both = |key, layout| {
            let parts = vec![
                part(Group::IntegerKey, "t", Class::Safe, key),
                part(Group::WithoutRowid, "t", Class::Safe, layout),
            ];
            let items = judge(parts, 1000, None);
            items
                .into_iter()
                .filter(|item| item.verdict == Verdict::Change)
                .map(|item| item.group)
                .collect::<Vec<_>>()
        };
        assert_eq!(both(90, 100), [Group::IntegerKey]);
        assert_eq!(both(50, 100), [Group::WithoutRowid]);
        assert_eq!(both(-5, 100), [Group::WithoutRowid]);
        assert_eq!(both(50, -5), [Group::IntegerKey]);
    }

    #[test]
    fn the_application_changes_for_the_threshold() {
        let ids = |saved| part(Group::IdsToBlobs, "t", Class::App, saved);
        assert_eq!(verdicts(vec![ids(30)]), [(Verdict::App, 1)]);
        assert_eq!(verdicts(vec![ids(29)]), [(Verdict::Leave, 1)]);
        assert_eq!(
            verdicts(vec![ids(20), ids(40), ids(10), ids(0)]),
            [(Verdict::App, 1), (Verdict::App, 2), (Verdict::Leave, 1)]
        );
        assert_eq!(
            verdicts(vec![ids(20), ids(9)]),
            [(Verdict::Leave, 1), (Verdict::Leave, 1)]
        );
        assert_eq!(
            verdicts(vec![part(Group::RedundantIndex, "t", Class::Rejected, 500)]),
            [(Verdict::Leave, 1)]
        );
    }
}
