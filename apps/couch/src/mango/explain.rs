//! What `_explain` says of the indexes that were not chosen, and of the fields of a selector.
//!
//! Source: `mango_cursor:extract_candidate_indexes` and `extract_selector_hints`.

use super::plan::{Considered, Plan};
use super::{FindQuery, Selector};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Why an index was not chosen.
struct Verdict {
    is_usable: bool,
    ranking: usize,
    reason: &'static str,
}

/// How far an index came; each stage has its place in the ranking.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Unfavored,
    Excluded,
    Unusable,
    OutOfScope,
    Partial,
}

const STAGES: [Stage; 5] = [
    Stage::Unfavored,
    Stage::Excluded,
    Stage::Unusable,
    Stage::OutOfScope,
    Stage::Partial,
];

impl Stage {
    fn has(self, one: &Considered) -> bool {
        match self {
            Stage::Unfavored => one.is_filtered && !one.is_of_kind,
            Stage::Excluded => one.is_usable() && !one.is_filtered,
            Stage::Unusable => one.is_in_scope && !one.unusable.is_empty(),
            Stage::OutOfScope => one.is_global && !one.is_in_scope,
            Stage::Partial => !one.is_global,
        }
    }

    fn reason(self, one: &Considered) -> &'static str {
        match self {
            Stage::Unfavored => "unfavored_type",
            Stage::Excluded => "excluded_by_user",
            Stage::Unusable => one.unusable.first().unwrap_or(&"field_mismatch"),
            Stage::OutOfScope => "scope_mismatch",
            Stage::Partial => "is_partial",
        }
    }
}

/// The indexes that were not chosen, the last of the alphabet first.
pub fn candidates(plan: &Plan, query: &FindQuery) -> Vec<Value> {
    let place = |one: &&Considered| one.index.place.clone();
    let winner = plan.chosen.as_ref().map(|chosen| &chosen.index.place);
    let others = plan.considered.iter();
    let mut others: Vec<&Considered> = others
        .filter(|one| winner != Some(&one.index.place))
        .collect();
    others.sort_by_key(place);
    others.reverse();
    let candidate = |one: &Considered| {
        let Verdict {
            is_usable,
            ranking,
            reason,
        } = verdict(one, plan);
        let is_special = one.index.place.is_none();
        let is_covering = !query.fields.is_empty() && one.index.covers(query.field_names());
        json!({
            "index": one.index.to_json(),
            "analysis": {
                "usable": is_usable,
                "reasons": [{ "name": reason }],
                "ranking": ranking,
                "covering": (!is_special).then_some(is_covering),
            },
        })
    };
    others.into_iter().map(candidate).collect()
}

fn verdict(one: &Considered, plan: &Plan) -> Verdict {
    let ranked = plan.considered.iter().filter(|it| it.place.is_some());
    let mut ranking = ranked.count().max(1);
    // A partial index that is named may be in a second stage: CouchDB adds their rankings.
    let mut verdict: Option<Verdict> = None;
    for stage in STAGES {
        if stage.has(one) {
            let before = verdict.map_or(0, |verdict| verdict.ranking);
            verdict = Some(Verdict {
                is_usable: matches!(stage, Stage::Unfavored | Stage::Excluded),
                ranking: before + ranking,
                reason: stage.reason(one),
            });
        }
        ranking += usize::from(plan.considered.iter().any(|other| stage.has(other)));
    }
    let Some((place, distance)) = one.place else {
        return verdict.unwrap_or(Verdict {
            is_usable: true,
            ranking,
            reason: "unfavored_type",
        });
    };
    let chosen = plan.chosen.as_ref();
    let width = chosen.map_or(0, |chosen| chosen.index.columns().len());
    let reason = if distance > 0 {
        "less_overlap"
    } else if one.index.columns().len() > width {
        "too_many_fields"
    } else {
        "alphabetically_comes_after"
    };
    match verdict {
        Some(verdict) => Verdict {
            ranking: verdict.ranking + place,
            ..verdict
        },
        None => Verdict {
            is_usable: true,
            ranking: place,
            reason,
        },
    }
}

/// The fields of a selector that an index can narrow, and the others.
pub fn hints(selector: &Selector) -> Value {
    let base = |field: &str| field.split(':').next().unwrap_or_default().to_owned();
    let indexable: BTreeSet<String> = selector.indexable_fields().into_iter().map(base).collect();
    let all = selector.fields().into_iter();
    let others: Vec<&str> = all.filter(|field| !indexable.contains(*field)).collect();
    json!([{
        "type": "json",
        "indexable_fields": indexable,
        "unindexable_fields": others,
    }])
}
