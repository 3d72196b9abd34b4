//! W: the watch list.

use super::{
    claim::{Claim, Judgement, On, Verdict},
    evidence::{
        Evidence, Levels, ONE_REPETITION, SAME_BYTES, SAME_TIME, all, judge_at_least, judge_effect,
        judge_ratio, judge_same, not_run, plain,
    },
    post::Post,
};
use crate::{format, results::Trial, statistics::median};

/// The post.
pub const POST: Post = Post {
    name: "watchlist",
    letter: "W",
    author: "nebkor",
    title: "One-part serialized mystery, part 2",
    published: None,
    url: "https://proclamations.nebcorp-hias.com/rnd/one-part-serialized-mystery-part-2/",
};

/// The claims of the post.
pub const CLAIMS: &[Claim] = &[
    Claim::new(
        &POST,
        "W1",
        "Own id as primary key and two indexes: ULID takes far less time than UUIDv4.",
        "5.7 s against 9.8 s",
        w1,
    )
    .on_time()
    .on_every_engine(),
    Claim::new(
        &POST,
        "W2",
        "The same schema: ULID makes a smaller database than UUIDv4.",
        "about 5% less",
        w2,
    ),
    Claim::new(
        &POST,
        "W3",
        "The first schema made WITHOUT ROWID is slower and larger.",
        "about 20% longer, about 5% larger",
        w3,
    )
    .on_time(),
    Claim::new(
        &POST,
        "W4",
        "An id that contains its creation time makes a column created_at unnecessary.",
        "5 to 10% smaller",
        w4,
    ),
    Claim::new(
        &POST,
        "W5",
        "A composite key (user, watch) WITHOUT ROWID is a little better than the first schema.",
        "a little",
        w5,
    )
    .on_time(),
    Claim::new(
        &POST,
        "W6",
        "No explicit key saves a quarter of the size against the composite key.",
        "13 MB against 17 MB; index share 43% against 51%; index bytes 35% less; fan-out 106",
        w6,
    ),
    Claim::new(
        &POST,
        "W7",
        "No explicit key takes less time than the composite key.",
        "5 s against more than 6 s",
        w7,
    )
    .on_time(),
    Claim::new(
        &POST,
        "W8",
        "Without an explicit key ULID and UUIDv4 no longer differ.",
        "same time and size",
        w8,
    )
    .on_time(),
    Claim::new(
        &POST,
        "W9",
        "A composite key on a rowid table: the size of the composite key again, the time of no key.",
        "17 MB, the same rate",
        w9,
    )
    .on_time(),
    Claim::new(
        &POST,
        "W10",
        "Four times the work takes four times as long.",
        "398,119 rows in 20.8 s",
        w10,
    )
    .on_time()
    .answered_by("watchlist-scale"),
    Claim::new(
        &POST,
        "W11",
        "Concurrent writers of about 100 rows per transaction insert about 20,000 rows per second.",
        "about 20,000 rows/s",
        w11,
    )
    .on_time()
    .answered_by("watchlist-scale"),
    Claim::new(
        &POST,
        "W12",
        "WITHOUT ROWID lowers the fan-out.",
        "about 20%",
        w12,
    ),
    Claim::new(
        &POST,
        "W13",
        "Ids made in the same millisecond still sort, when one factory makes them.",
        "(the post's next step)",
        w13,
    )
    .answered_by("same-millisecond")
    .on_every_engine(),
];

const OWN_ID: Levels<'_> = &[("layout", "own-id"), ("key", "ulid")];
const OWN_ID_UUID: Levels<'_> = &[("layout", "own-id"), ("key", "uuid4")];
const CREATED_AT_UUID: Levels<'_> = &[("layout", "own-id-created-at"), ("key", "uuid4")];
const WITHOUT_ROWID: Levels<'_> = &[("layout", "own-id-without-rowid"), ("key", "ulid")];
const PAIR: Levels<'_> = &[("layout", "pair-without-rowid"), ("key", "ulid")];
const COMPOSITE: Levels<'_> = &[("layout", "composite-without-rowid"), ("key", "ulid")];
const NO_KEY: Levels<'_> = &[("layout", "no-key"), ("key", "ulid")];
const NO_KEY_UUID: Levels<'_> = &[("layout", "no-key"), ("key", "uuid4")];
const COMPOSITE_ROWID: Levels<'_> = &[("layout", "composite-rowid"), ("key", "ulid")];

fn evidence(on: On<'_>) -> Evidence<'_> {
    Evidence::new(on, "watchlist")
}

fn w1(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let ratio = e.ratio("cpu_us_per_row", OWN_ID, OWN_ID_UUID);
    e.timed(judge_effect(ratio, 5.7 / 9.8, "CPU of ULID over UUIDv4"))
}

fn w2(on: On<'_>) -> Judgement {
    let ratio = evidence(on).ratio("size_bytes", OWN_ID, OWN_ID_UUID);
    judge_effect(ratio, 0.95, "size of ULID over UUIDv4")
}

fn w3(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let time = e.ratio("cpu_us_per_row", WITHOUT_ROWID, OWN_ID);
    let size = e.ratio("size_bytes", WITHOUT_ROWID, OWN_ID);
    all(vec![
        ("size", judge_effect(size, 1.05, "size")),
        ("time", e.timed(judge_effect(time, 1.2, "CPU"))),
    ])
}

fn w4(on: On<'_>) -> Judgement {
    let ratio = evidence(on).ratio("size_bytes", OWN_ID, CREATED_AT_UUID);
    judge_effect(
        ratio,
        0.925,
        "size of ULID alone over UUIDv4 with created_at",
    )
}

fn w5(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let less = [(0.0, Verdict::Holds), (1.0, Verdict::DoesNot)];
    let size = e.ratio("size_bytes", PAIR, OWN_ID);
    let time = e.ratio("cpu_us_per_row", PAIR, OWN_ID);
    all(vec![
        ("size", judge_ratio(size, "size", &less)),
        ("time", e.timed(judge_ratio(time, "CPU", &less))),
    ])
}

/// Bytes of the measured table's own indexes.
fn quest_index_bytes(trial: &Trial) -> Option<f64> {
    ["index:quests_user", "index:quests_watch"]
        .iter()
        .map(|part| trial.last("size_bytes", part))
        .sum()
}

fn w6(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let size = e.ratio("size_bytes", NO_KEY, COMPOSITE);
    let index = e.ratio_by(quest_index_bytes, NO_KEY, COMPOSITE);
    let share = |levels| {
        let trial = *e.trials(levels).first()?;
        Some(format::percent(
            quest_index_bytes(trial)? / trial.last("size_bytes", "")?,
        ))
    };
    let fanout = e
        .trials(NO_KEY)
        .first()
        .and_then(|trial| trial.last("fanout_children", "index:quests_user"));
    let mut judged = all(vec![
        ("size", judge_effect(size, 13.0 / 17.0, "size")),
        ("index", judge_effect(index, 0.65, "index bytes")),
    ]);
    if let (Some(no_key), Some(composite), Some(fanout)) = (share(NO_KEY), share(COMPOSITE), fanout)
    {
        judged.seen += &format!("; index share {no_key} against {composite}; fan-out {fanout:.0}");
    }
    judged
}

fn w7(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let ratio = e.ratio("cpu_us_per_row", NO_KEY, COMPOSITE);
    e.timed(judge_effect(
        ratio,
        5.0 / 6.0,
        "CPU of no key over composite key",
    ))
}

fn w8(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let time = e.ratio("cpu_us_per_row", NO_KEY, NO_KEY_UUID);
    let size = e.ratio("size_bytes", NO_KEY, NO_KEY_UUID);
    all(vec![
        (
            "size",
            judge_same(size, SAME_BYTES, "size of ULID over UUIDv4"),
        ),
        ("time", e.timed(judge_same(time, SAME_TIME, "CPU"))),
    ])
}

fn w9(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let size = e.ratio("size_bytes", COMPOSITE_ROWID, NO_KEY);
    let time = e.ratio("cpu_us_per_row", COMPOSITE_ROWID, NO_KEY);
    all(vec![
        ("size", judge_effect(size, 17.0 / 13.0, "size over no key")),
        (
            "time",
            e.timed(judge_same(time, SAME_TIME, "CPU over no key")),
        ),
    ])
}

const ONCE: Levels<'_> = &[("rows_per_transaction", "100")];
const FOUR_TIMES: Levels<'_> = &[("rows_per_transaction", "200")];

fn w10(on: On<'_>) -> Judgement {
    let e = Evidence::new(on, "watchlist-scale");
    let ratio = e.ratio("cpu_us_per_row", FOUR_TIMES, ONCE);
    e.timed(judge_same(
        ratio,
        0.25,
        "CPU per row, four times the work over once",
    ))
}

fn w11(on: On<'_>) -> Judgement {
    let e = Evidence::new(on, "watchlist-scale");
    let (Some(rate), Some(retries)) = (e.value("rows_per_s", ONCE), e.value("retries", ONCE))
    else {
        return not_run();
    };
    let seen = format!(
        "{} rows/s with four writers, {} retries",
        format::integer(rate as u64),
        format::integer(retries as u64)
    );
    e.timed(judge_at_least(
        &e.values("rows_per_s", ONCE),
        20_000.0,
        &seen,
    ))
}

/// Levels of a tree from which its fan-out says something: below, one page has all the children.
const DEPTH_MIN: f64 = 3.0;

/// The index by user.
const USER_INDEX: &str = "index:quests_user";

/// Mean children of an interior page of the index by user.
fn fanout(trial: &Trial) -> Option<f64> {
    trial.last("fanout_children", USER_INDEX)
}

/// Mean entries of a leaf page of the index by user. Every page but the root is a child, which gives the number of
/// interior pages.
fn leaf_entries(trial: &Trial) -> Option<f64> {
    let pages = trial.last("pages", USER_INDEX)?;
    let interior_pages = fanout(trial).map_or(0.0, |children| (pages - 1.0) / children);
    Some(trial.last("rows_stored", "")? / (pages - interior_pages))
}

fn w12(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let depths = [WITHOUT_ROWID, OWN_ID].map(|levels| {
        let trials = e.trials(levels).into_iter();
        median(trials.filter_map(|trial| trial.last("depth_levels", USER_INDEX)))
    });
    let [Some(without_rowid), Some(rowid)] = depths else {
        return not_run();
    };
    match without_rowid.min(rowid) {
        DEPTH_MIN.. => judge_effect(
            e.ratio_by(fanout, WITHOUT_ROWID, OWN_ID),
            0.8,
            "fan-out of the user index, WITHOUT ROWID over rowid",
        ),
        // An interior page holds whole entries too, so that its children follow the entries of a leaf page.
        _ => judge_effect(
            e.ratio_by(leaf_entries, WITHOUT_ROWID, OWN_ID),
            0.8,
            "entries of a leaf page of the user index (one interior page at this scale), WITHOUT ROWID over rowid",
        ),
    }
}

/// Share of the ids of one factory that came after a larger one, in each repetition.
fn inversions(e: &Evidence<'_>, key: &str) -> Vec<f64> {
    e.values(
        "inversions_made_share",
        &[("factories", "one"), ("key", key)],
    )
}

/// Judges that no id came after a larger one. It depends on how threads take turns: one repetition without any isn't
/// enough to say so, and one with some isn't either.
fn all_sort(ulid: &[f64], uuid7: &[f64], seen: String) -> Judgement {
    let judged = plain(ulid.iter().chain(uuid7).all(|share| *share == 0.0), seen);
    match ulid.len().min(uuid7.len()) {
        0 | 1 => Judgement {
            verdict: Verdict::Inconclusive,
            reason: ONE_REPETITION.to_owned(),
            ..judged
        },
        _ => judged,
    }
}

fn w13(on: On<'_>) -> Judgement {
    let e = Evidence::new(on, "same-millisecond");
    let share = |metric: &str, factories, key| {
        let value = e.value(metric, &[("factories", factories), ("key", key)]);
        value.map(format::percent)
    };
    let made = |factories, key| share("inversions_made_share", factories, key);
    let committed = |key| share("inversions_committed_share", "one", key);
    let seen = || -> Option<String> {
        Some(format!(
            "ids that come after a larger one: ULID {} with one generator for all writers and {} with one per writer, UUIDv7 {} and {}, UUIDv4 {}; in commit order with one generator: ULID {} and UUIDv7 {}",
            made("one", "ulid")?,
            made("each", "ulid")?,
            made("one", "uuid7")?,
            made("each", "uuid7")?,
            made("one", "uuid4")?,
            committed("ulid")?,
            committed("uuid7")?,
        ))
    };
    match seen() {
        Some(seen) => all_sort(&inversions(&e, "ulid"), &inversions(&e, "uuid7"), seen),
        None => not_run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        claims::fixture::{finish, planned, sample},
        experiment::{Overrides, Scale},
        results::Sample,
    };

    #[test]
    fn ids_sort_where_no_repetition_has_an_inversion() {
        let verdict = |ulid: &[f64], uuid7: &[f64]| all_sort(ulid, uuid7, String::new()).verdict;
        assert_eq!(verdict(&[0.0], &[0.0]), Verdict::Inconclusive);
        assert_eq!(verdict(&[0.1], &[0.1]), Verdict::Inconclusive);
        assert_eq!(verdict(&[0.0, 0.0], &[0.0]), Verdict::Inconclusive);
        assert_eq!(verdict(&[0.0; 2], &[0.0; 2]), Verdict::Holds);
        // The median has none.
        assert_eq!(verdict(&[0.0, 0.0, 0.1], &[0.0; 3]), Verdict::DoesNot);
        assert_eq!(verdict(&[0.0; 3], &[0.0, 0.1, 0.0]), Verdict::DoesNot);
    }

    #[test]
    fn fan_out_is_told_by_leaves_where_trees_differ_in_depth() {
        let of_index = |probe: &str, value| Sample {
            part: USER_INDEX.to_owned(),
            ..sample(probe, 20_000, value)
        };
        let mut run = planned("watchlist", Scale::Quick, Overrides::default()).expect("a plan");
        finish(&mut run, |cell, trial| {
            // 125 and 100 leaf pages, the latter under one root.
            let (depth, children, pages) = match cell.label.starts_with("own-id-without-rowid") {
                true => (3.0, 26.0, 131.0),
                false => (2.0, 100.0, 101.0),
            };
            let rows = 20_000.0 + f64::from(trial.repetition);
            vec![
                of_index("depth_levels", depth),
                of_index("fanout_children", children),
                of_index("pages", pages),
                sample("rows_stored", 20_000, rows),
            ]
        });
        let claim = CLAIMS.iter().find(|claim| claim.id == "W12");
        let judged = claim.expect("W12").judgement(&run);
        assert_eq!(judged.verdict, Verdict::Holds);
        assert!(
            judged.seen.contains("entries of a leaf page"),
            "{}",
            judged.seen
        );
        assert!(judged.seen.contains("0.79"), "{}", judged.seen);
    }
}
