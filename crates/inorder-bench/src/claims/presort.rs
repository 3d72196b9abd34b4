//! P: sorting each batch before it is inserted.

use super::{
    claim::{Claim, Judgement, On, Verdict},
    evidence::{
        Bands, Evidence, Levels, SAME_BYTES, SAME_TIME, all, judge_ratio, judge_same, not_run,
        saved,
    },
    post::Post,
};
use crate::{
    core_time::{self, CoreTime},
    format,
    results::Trial,
    statistics::ratio_of,
};

/// The post.
pub const POST: Post = Post {
    name: "presort",
    letter: "P",
    author: "Anders Murphy",
    title: "SQLite improving performance with pre-sort",
    published: Some("2026-06-07"),
    url: "https://andersmurphy.com/2026/06/07/sqlite-improving-performance-with-pre-sort.html",
};

/// The claims of the post, and its readers' doubts.
pub const CLAIMS: &[Claim] = &[
    Claim::new(
        &POST,
        "P1",
        "Unsorted random keys: the time of a batch grows.",
        "2,478 to 11,103 ms from the 1st batch to the 10th",
        p1,
    )
    .on_time()
    .on_every_engine(),
    Claim::new(
        &POST,
        "P2",
        "Sorted first, the time of a batch grows little.",
        "2,638 to 4,332 ms",
        p2,
    )
    .on_time()
    .on_every_engine(),
    Claim::new(
        &POST,
        "P3",
        "Sorting gains 2 to 2.5 times from the third batch on.",
        "2 to 2.5 times",
        p3,
    )
    .on_time()
    .on_every_engine(),
    Claim::new(
        &POST,
        "P4",
        "The first 8 bytes are enough to sort by.",
        "(no figure)",
        p4,
    )
    .on_time(),
    Claim::new(
        &POST,
        "P5",
        "Doubt: is it the sort, or only the batching?",
        "(asked by readers)",
        p5,
    )
    .answered_by("presort-batch"),
    Claim::new(
        &POST,
        "P6",
        "Doubt: WITHOUT ROWID hurts with large rows.",
        "(asked by readers)",
        p6,
    )
    .answered_by("payload"),
    Claim::new(
        &POST,
        "P7",
        "Doubt: is it only the small page cache?",
        "(asked by readers)",
        p7,
    )
    .on_time()
    .answered_by("presort-cache"),
];

const NONE: Levels<'_> = &[("presort", "none")];
const PREFIX: Levels<'_> = &[("presort", "prefix8")];
const KEY: Levels<'_> = &[("presort", "key")];
/// Batches of the post.
const BATCHES: usize = 10;

/// CPU seconds of one batch of a trial, from 0, and of the reference work at that time.
fn batch_cpu(trial: &Trial, batch: usize) -> Option<CoreTime> {
    let curve = trial.curve("cpu_s", "");
    if curve.len() != BATCHES {
        return None;
    }
    let (rows, until_s) = curve[batch];
    let (rows_before, before_s) = match batch.checked_sub(1) {
        Some(earlier) => curve[earlier],
        None => (0, 0.0),
    };
    let reference_s = core_time::of_rows(trial, rows_before, rows);
    Some((until_s - before_s, reference_s))
}

/// The growth of the time of a batch from the first to the last, compared with the post's figures.
fn growth(on: On<'_>, levels: Levels<'_>, bands: Bands<'_>) -> Judgement {
    let e = Evidence::new(on, "presort");
    let exponent = e.reference_exponent("cpu_us_per_row");
    let pairs: Vec<(f64, f64)> = e
        .trials(levels)
        .iter()
        .filter_map(|trial| {
            let (last, first) = (batch_cpu(trial, BATCHES - 1)?, batch_cpu(trial, 0)?);
            Some(core_time::pair(last, first, exponent))
        })
        .collect();
    let ratio = ratio_of(&pairs);
    e.timed(judge_ratio(
        ratio,
        "CPU of the 10th batch over the 1st",
        bands,
    ))
}

fn p1(on: On<'_>) -> Judgement {
    let grows = [
        (0.0, Verdict::DoesNot),
        (1.2, Verdict::Depends),
        (1.8, Verdict::Holds),
    ];
    growth(on, NONE, &grows)
}

fn p2(on: On<'_>) -> Judgement {
    let grows_little = [
        (0.0, Verdict::Holds),
        (2.0, Verdict::Depends),
        (2.5, Verdict::DoesNot),
    ];
    growth(on, PREFIX, &grows_little)
}

/// The third batch and the last: a verdict takes both, so that neither interval is picked for what it says, and
/// none needs a correction (Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24, 1982).
fn p3(on: On<'_>) -> Judgement {
    let e = Evidence::new(on, "presort");
    let bands = [
        (0.0, Verdict::DoesNot),
        (1.3, Verdict::Depends),
        (1.8, Verdict::Holds),
    ];
    let exponent = e.reference_exponent("cpu_us_per_row");
    let gain = |batch: usize, what| {
        let of = |a: &Trial, b: &Trial| {
            let (a, b) = (batch_cpu(a, batch)?, batch_cpu(b, batch)?);
            Some(core_time::pair(a, b, exponent))
        };
        let ratio = e.ratio_of_pairs(of, NONE, PREFIX);
        let mut judged = judge_ratio(ratio, what, &bands);
        if judged.verdict == Verdict::Depends {
            judged.reason = "sorting gains, but less than twice at some batch".to_owned();
        }
        e.timed(judged)
    };
    all(vec![
        ("3rd batch", gain(2, "gain in CPU at the 3rd batch")),
        ("10th batch", gain(BATCHES - 1, "at the 10th")),
    ])
}

fn p4(on: On<'_>) -> Judgement {
    let e = Evidence::new(on, "presort");
    let bytes = e.ratio("engine_bytes_per_row", PREFIX, KEY);
    let time = e.ratio("cpu_us_per_row", PREFIX, KEY);
    all(vec![
        (
            "bytes",
            judge_same(bytes, SAME_BYTES, "bytes, 8 bytes over whole key"),
        ),
        ("time", e.timed(judge_same(time, SAME_TIME, "CPU"))),
    ])
}

/// From this ratio of bytes down something saves.
const SAVES: f64 = 0.9;

fn p5(on: On<'_>) -> Judgement {
    let e = Evidence::new(on, "presort-batch");
    let sizes = e.levels("rows_per_transaction");
    let sorts = e.levels("rows_per_sort");
    let (Some(&small), Some(&large), Some(&sort)) = (sizes.first(), sizes.last(), sorts.last())
    else {
        return not_run();
    };
    let unsorted = |size| [("presort", "none"), ("rows_per_transaction", size)];
    let sorted = [
        ("presort", "key"),
        ("rows_per_transaction", small),
        ("rows_per_sort", sort),
    ];
    let metric = "engine_bytes_per_row";
    let sort_alone = e.ratio(metric, &sorted, &unsorted(small));
    let batch_alone = e.ratio(metric, &unsorted(large), &unsorted(small));
    let cpu = e.ratio("cpu_us_per_row", &sorted, &unsorted(small));
    let (Some(sort_alone), Some(batch_alone), Some(cpu)) = (sort_alone, batch_alone, cpu) else {
        return not_run();
    };
    // What is asked is which of the two saves: the sort wins where it saves more than the batch.
    let saves = [(0.0, Verdict::Holds), (SAVES, Verdict::DoesNot)];
    let of_sort = judge_ratio(Some(sort_alone), "", &saves);
    let of_batch = judge_ratio(Some(batch_alone), "", &saves);
    let (verdict, reason) = match (of_sort.verdict, of_batch.verdict) {
        (Verdict::Holds, Verdict::Holds) => (Verdict::Depends, "both save, each without the other"),
        (Verdict::Holds, Verdict::DoesNot) => (Verdict::Holds, "it is the sort"),
        (Verdict::DoesNot, Verdict::Holds) => (Verdict::DoesNot, "it is the batch"),
        (Verdict::DoesNot, Verdict::DoesNot) => (Verdict::DoesNot, "neither saves here"),
        (Verdict::Inconclusive, _) => (Verdict::Inconclusive, of_sort.reason.as_str()),
        _ => (Verdict::Inconclusive, of_batch.reason.as_str()),
    };
    Judgement {
        verdict,
        seen: format!(
            "bytes saved by the sort alone {} ({} rows together, transactions of {}), by the batch alone {} (transactions of {} instead); CPU with the sort alone {} times",
            saved(sort_alone.ratio),
            thousands(sort),
            thousands(small),
            saved(batch_alone.ratio),
            thousands(large),
            format::ratio(cpu.ratio)
        ),
        ratio: Some(sort_alone),
        reason: reason.to_owned(),
        parts: Vec::new(),
        published: None,
    }
}

fn thousands(level: &str) -> String {
    level
        .parse()
        .map_or_else(|_| level.to_owned(), format::integer)
}

/// Levels of a factor with the ratio of a metric between two levels of another.
fn along<'a>(
    e: &Evidence<'a>,
    factor: &'a str,
    metric: &str,
    a: (&str, &str),
    b: (&str, &str),
) -> Vec<(&'a str, f64)> {
    e.levels(factor)
        .into_iter()
        .filter_map(|level| {
            let ratio = e.ratio(metric, &[(factor, level), a], &[(factor, level), b])?;
            Some((level, ratio.ratio))
        })
        .collect()
}

fn p6(on: On<'_>) -> Judgement {
    let e = Evidence::new(on, "payload");
    let layouts = (("layout", "without-rowid"), ("layout", "rowid"));
    let along = along(
        &e,
        "payload_bytes",
        "engine_bytes_per_row",
        layouts.0,
        layouts.1,
    );
    let (Some(first), Some(last)) = (along.first(), along.last()) else {
        return not_run();
    };
    let turn = along.iter().find(|(_, ratio)| *ratio > 1.0);
    let largest = [("payload_bytes", last.0), layouts.0];
    let ratio = e.ratio(
        "engine_bytes_per_row",
        &largest,
        &[("payload_bytes", last.0), layouts.1],
    );
    let hurts = [
        (0.0, Verdict::DoesNot),
        (1.0, Verdict::Depends),
        (1.1, Verdict::Holds),
    ];
    let what = "bytes per row at the largest payload, WITHOUT ROWID over rowid";
    let mut judged = judge_ratio(ratio, what, &hurts);
    judged.seen += &format!(
        "; {} at {} bytes",
        format::ratio(first.1),
        thousands(first.0)
    );
    if let Some((payload, _)) = turn {
        judged.seen += &format!("; it costs more from {} bytes on", thousands(payload));
    }
    judged
}

fn p7(on: On<'_>) -> Judgement {
    let e = Evidence::new(on, "presort-cache");
    let caches = e.levels("cache_kib");
    let (Some(&small), Some(&large)) = (caches.first(), caches.last()) else {
        return not_run();
    };
    let cell = |cache, presort| [("cache_kib", cache), ("presort", presort)];
    let bytes = |cache| {
        e.ratio(
            "engine_bytes_per_row",
            &cell(cache, "key"),
            &cell(cache, "none"),
        )
    };
    let gain = e.ratio("cpu_us_per_row", &cell(large, "none"), &cell(large, "key"));
    let Some(with_small) = bytes(small) else {
        return not_run();
    };
    // The doubt is right where nothing is left to gain with a cache that holds the table.
    let left = [(0.0, Verdict::DoesNot), (0.95, Verdict::Holds)];
    let gained = [(0.0, Verdict::Holds), (1.2, Verdict::DoesNot)];
    let kib = thousands(large);
    let mut of_bytes = judge_ratio(
        bytes(large),
        &format!("bytes with {kib} KiB, sorted over unsorted"),
        &left,
    );
    of_bytes.seen += &format!(
        "; saved {} with {} KiB",
        saved(with_small.ratio),
        thousands(small)
    );
    let what = format!("CPU with {kib} KiB, unsorted over sorted");
    let of_time = e.timed(judge_ratio(gain, &what, &gained));
    let mut judged = all(vec![("bytes", of_bytes), ("time", of_time)]);
    if judged.verdict == Verdict::Depends {
        judged.reason =
            "bytes: yes, a cache that holds the whole table leaves no difference; CPU: only in part"
                .to_owned();
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        claims::fixture::{finish, planned, repeated, sample},
        experiment::Scale,
        results::Run,
    };

    /// A run of `presort` in which a sorted batch takes a second, and an unsorted one as often as sorting gains.
    fn run_of(repetitions: u32, gain: fn(usize) -> f64) -> Run {
        let mut run = planned("presort", Scale::Quick, repeated(repetitions)).unwrap();
        finish(&mut run, |cell, trial| {
            let is_sorted = cell.levels["presort"] != "none";
            let unsteady = 1.0 + f64::from(trial.repetition) / 100.0;
            let of_batch = |batch| {
                if is_sorted {
                    1.0
                } else {
                    unsteady * gain(batch)
                }
            };
            let until = |batch| (0..=batch).map(of_batch).sum();
            let batches = 0..BATCHES;
            batches
                .map(|batch| sample("cpu_s", (batch as u64 + 1) * 25_000, until(batch)))
                .collect()
        });
        run
    }

    #[test]
    fn sorting_gains_where_the_third_and_the_last_batch_say_so() {
        let verdict = |repetitions, gain| {
            let claim = CLAIMS.iter().find(|claim| claim.id == "P3").unwrap();
            claim.judgement(&run_of(repetitions, gain)).verdict
        };
        assert_eq!(verdict(5, |_| 2.2), Verdict::Holds);
        assert_eq!(verdict(5, |_| 1.5), Verdict::Depends);
        assert_eq!(verdict(5, |_| 1.0), Verdict::DoesNot);
        let later = |batch| if batch < 5 { 1.0 } else { 2.2 };
        assert_eq!(verdict(5, later), Verdict::Depends);
        // One of the batches between, picked from six for being the least, refutes nothing.
        let once = |batch| if batch == 6 { 1.0 } else { 2.2 };
        assert_eq!(verdict(5, once), Verdict::Holds);
        for few in 1..5 {
            assert_eq!(verdict(few, |_| 2.2), Verdict::Inconclusive);
        }
    }
}
