//! From measures to verdicts.

use super::measure::{Measure, Method};
use crate::{
    advice::{ALONE_MIN_PERCENT, MINOR_MIN_PERCENT, Verdict, why_left},
    rules::Class,
    server::rules::{Candidate, Group},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// One action, or the actions of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct Item {
    /// What to do.
    pub verdict: Verdict,
    /// The kind of action.
    pub group: Group,
    /// Bytes less, if that is known.
    pub saved_bytes: Option<i64>,
    /// The same as a share of the tables and indexes that were read; `None` also where their sizes are stale.
    pub percent: Option<f64>,
    /// What it consists of.
    pub parts: Vec<Part>,
}

/// A candidate and what it gives.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// What was proposed or rejected.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// What it gives.
    pub measure: Option<Measure>,
}

impl Part {
    fn saved(&self) -> i64 {
        self.measure
            .as_ref()
            .map_or(0, |measure| measure.saved_bytes)
    }

    /// The share that an insert writes less into the log and the pages, in percent.
    pub fn written_percent(&self) -> Option<f64> {
        let measure = self.measure.as_ref()?;
        let (before, after) = measure.written_per_insert()?;
        (before > 0.0).then(|| 100.0 * (before - after) / before)
    }
}

/// Judges all candidates against `bytes` of tables and indexes, in the order in which a report shows them.
pub fn judge(parts: Vec<Part>, bytes: u64) -> Vec<Item> {
    let percent = |saved: i64| 100.0 * saved as f64 / bytes.max(1) as f64;
    let item = |verdict, parts: Vec<Part>| {
        let is_known = parts.iter().any(|part| part.measure.is_some());
        let saved: i64 = parts.iter().map(Part::saved).sum();
        Item {
            verdict,
            group: parts[0].candidate.group,
            saved_bytes: is_known.then_some(saved),
            percent: is_known.then(|| percent(saved)),
            parts,
        }
    };
    let (mut safe, mut items) = (BTreeMap::<Group, Vec<Part>>::new(), Vec::new());
    for mut part in parts {
        let share = percent(part.saved());
        let written = part.written_percent().unwrap_or(0.0);
        match (part.candidate.class, part.candidate.group) {
            // Nothing is saved in what is there: the log of inserts, or the end of the type, is the reason.
            // It is of no use as it is, however small.
            (Class::Safe, group @ (Group::InvalidIndex | Group::DuplicateConstraint)) => {
                safe.entry(group).or_default().push(part)
            }
            (Class::Safe, Group::IntegerRange) => items.push(item(Verdict::Change, vec![part])),
            (Class::App, Group::IntegerRange) => items.push(item(Verdict::App, vec![part])),
            // Safe are changes of indexes: they are made together and judged together.
            (Class::Safe, group) if part.saved() > 0 => safe.entry(group).or_default().push(part),
            (Class::App, Group::OrderedUuid) if written >= ALONE_MIN_PERCENT => {
                items.push(item(Verdict::App, vec![part]))
            }
            (Class::App, Group::OrderedUuid) => {
                part.candidate.reason = match part.written_percent() {
                    Some(written) => format!("inserts would write {:.1} % less", written.max(0.0)),
                    None => "random; what order would save was not measured".into(),
                };
                items.push(item(Verdict::Leave, vec![part]));
            }
            (Class::App, _) if share >= ALONE_MIN_PERCENT => {
                items.push(item(Verdict::App, vec![part]))
            }
            _ => items.push(item(Verdict::Leave, vec![left(part, share)])),
        }
    }
    for (group, mut parts) in safe {
        parts.sort_by_key(|part| std::cmp::Reverse(part.saved()));
        if matches!(group, Group::InvalidIndex | Group::DuplicateConstraint) {
            items.push(item(Verdict::Change, parts));
            continue;
        }
        match percent(parts.iter().map(Part::saved).sum()) {
            ALONE_MIN_PERCENT.. => items.push(item(Verdict::Change, parts)),
            MINOR_MIN_PERCENT.. => items.push(item(Verdict::Minor, parts)),
            _ => items.extend(parts.into_iter().map(|part| {
                let share = percent(part.saved());
                item(Verdict::Leave, vec![left(part, share)])
            })),
        }
    }
    sort(&mut items);
    items
}

/// Puts items in the order in which a report shows them.
fn sort(items: &mut [Item]) {
    items.sort_by_key(|item| {
        let about = item
            .parts
            .iter()
            .filter_map(|part| part.candidate.bytes)
            .sum::<u64>();
        (
            item.verdict,
            std::cmp::Reverse(item.saved_bytes.unwrap_or(0).max(about as i64)),
        )
    });
}

/// Says why a part is left that could be made.
fn left(mut part: Part, percent: f64) -> Part {
    let is_known = part
        .measure
        .as_ref()
        .is_some_and(|measure| measure.method != Method::Estimated || percent < ALONE_MIN_PERCENT);
    if part.candidate.class != Class::Rejected && is_known {
        part.candidate.reason = why_left(part.candidate.class, percent);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(group: Group, class: Class, saved_bytes: i64, log: Option<(f64, f64)>) -> Part {
        Part {
            candidate: Candidate {
                rule: "",
                group,
                class,
                table: "public.t".into(),
                object: "t".into(),
                actions: Vec::new(),
                bytes: None,
                reason: String::new(),
                notes: Vec::new(),
            },
            measure: Some(Measure {
                saved_bytes,
                method: Method::Server,
                log_bytes_per_insert: log,
                page_bytes_per_insert: None,
                data_bytes_per_insert: None,
                predictions: Vec::new(),
            }),
        }
    }

    fn verdicts(parts: Vec<Part>) -> Vec<(Verdict, usize)> {
        let items = judge(parts, 1000);
        items
            .iter()
            .map(|item| (item.verdict, item.parts.len()))
            .collect()
    }

    #[test]
    fn the_threshold_holds_for_an_action_or_for_its_kind() {
        let index = |saved| part(Group::RedundantIndex, Class::Safe, saved, None);
        assert_eq!(verdicts(vec![index(29)]), [(Verdict::Minor, 1)]);
        assert_eq!(verdicts(vec![index(30)]), [(Verdict::Change, 1)]);
        assert_eq!(verdicts(vec![index(20), index(10)]), [(Verdict::Change, 2)]);
        assert_eq!(verdicts(vec![index(0)]), [(Verdict::Leave, 1)]);
        // 40 indexes of 0.09% each, in 100,000 bytes.
        let small = |count| (0..count).map(|_| index(90)).collect();
        let judged = |parts| {
            let items = judge(parts, 100_000);
            (items[0].verdict, items[0].parts.len())
        };
        assert_eq!(judged(small(40)), (Verdict::Change, 40));
        assert_eq!(judged(small(2)), (Verdict::Minor, 2));
        assert_eq!(judged(small(1)), (Verdict::Leave, 1));
        let rejected = part(Group::RedundantIndex, Class::Rejected, 500, None);
        assert_eq!(verdicts(vec![rejected]), [(Verdict::Leave, 1)]);
    }

    #[test]
    fn the_application_changes_for_the_threshold_alone() {
        let ids = |saved| part(Group::NativeUuid, Class::App, saved, None);
        assert_eq!(verdicts(vec![ids(30)]), [(Verdict::App, 1)]);
        assert_eq!(verdicts(vec![ids(29)]), [(Verdict::Leave, 1)]);
        let ordered = |after| part(Group::OrderedUuid, Class::App, 0, Some((100.0, after)));
        assert_eq!(verdicts(vec![ordered(90.0)]), [(Verdict::App, 1)]);
        assert_eq!(verdicts(vec![ordered(98.0)]), [(Verdict::Leave, 1)]);
    }
}
