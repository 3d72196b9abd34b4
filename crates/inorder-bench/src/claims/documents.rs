//! D: the document store.

use super::{
    claim::{Claim, Judgement, On},
    evidence::{
        Evidence, Levels, SAME_TIME, judge_at_least, judge_effect, judge_same, not_run, plain,
    },
    post::Post,
};
use crate::{format, statistics::median};

/// The post.
pub const POST: Post = Post {
    name: "documents",
    letter: "D",
    author: "Arve (arve0)",
    title: "Build your own CouchDB, chapter Benchmarking",
    published: None,
    url: "https://arve0.github.io/build-your-own-couchdb/08-benchmarking.html",
};

/// The claims of the post.
pub const CLAIMS: &[Claim] = &[
    Claim::new(
        &POST,
        "D1",
        "An index on id beside the unique constraint changes nothing.",
        "25.99 us against 26.70 us, p = 0.10",
        d1,
    )
    .on_time(),
    Claim::new(
        &POST,
        "D2",
        "WAL halves the time of a fetch.",
        "26 us to 13.6 us",
        d2,
    )
    .on_time(),
    Claim::new(
        &POST,
        "D3",
        "One thread fetches about 70,000 documents per second.",
        "about 70,000 per second",
        d3,
    )
    .on_time(),
    Claim::new(
        &POST,
        "D4",
        "Without an own index the query uses the unique constraint's.",
        "sqlite_autoindex_documents_1",
        d4,
    ),
];

const UNIQUE: Levels<'_> = &[("layout", "unique"), ("journal", "delete")];
const INDEX: Levels<'_> = &[("layout", "unique-and-index"), ("journal", "delete")];
const INDEX_WAL: Levels<'_> = &[("layout", "unique-and-index"), ("journal", "wal")];

fn evidence(on: On<'_>) -> Evidence<'_> {
    Evidence::new(on, "documents")
}

fn d1(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let ratio = e.ratio("query_warm_mean_us", INDEX, UNIQUE);
    e.timed(judge_same(
        ratio,
        SAME_TIME,
        "fetch with an index over without",
    ))
}

fn d2(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let ratio = e.ratio("query_warm_mean_us", INDEX_WAL, INDEX);
    e.timed(judge_effect(
        ratio,
        13.6 / 26.0,
        "fetch with WAL over rollback journal",
    ))
}

fn d3(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let rates: Vec<f64> = e
        .values("query_warm_mean_us", INDEX_WAL)
        .iter()
        .map(|us| 1e6 / us)
        .collect();
    let Some(rate) = median(rates.iter().copied()) else {
        return not_run();
    };
    let seen = format!("{} fetches per second", format::integer(rate as u64));
    e.timed(judge_at_least(&rates, 70_000.0, &seen))
}

/// A query plan is exact: SQLite picks it from the schema alone, the same in every repetition, so that one says it.
fn d4(on: On<'_>) -> Judgement {
    let trials = evidence(on).trials(UNIQUE);
    let Some((_, plan)) = trials.first().and_then(|trial| trial.texts.first()) else {
        return not_run();
    };
    plain(plan.contains("sqlite_autoindex_documents_1"), plan.clone())
}
