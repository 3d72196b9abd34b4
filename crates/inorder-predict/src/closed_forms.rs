//! The simulation against closed forms, and at other scales.

use crate::arrivals::{Arrivals, Order};
use crate::lru::Lists;
use crate::question::{Engine, Question};
use crate::simulate::simulate;
use inorder_key::KeyKind;
use inorder_key::bulk::SplitMix64;

/// Page reads of a cache of so many pages that starts empty and keeps the pages used last.
fn reads(pages: impl Iterator<Item = u32>, cache: u64) -> f64 {
    let mut lists = Lists::<1>::new();
    let mut reads = 0.0;
    for page in pages {
        if lists.list(page).is_none() {
            reads += 1.0;
            if lists.weight(0) == cache {
                let oldest = lists.oldest(0).unwrap();
                lists.remove(oldest);
            }
        }
        lists.push(0, page, 1);
    }
    reads
}

fn is_near(value: f64, wanted: f64, bound: f64, what: &str) {
    assert!(
        (value / wanted - 1.0).abs() < bound,
        "{what}: {value} for {wanted}"
    );
}

/// L. F. Mackert and G. M. Lohman, "Index scans using a finite LRU buffer", TODS 1989: page reads of so many random look-ups. Their
/// formula is an approximation, 6% above the exact value where it is furthest off.
#[test]
fn random_look_ups_read_as_many_pages_as_mackert_and_lohman_say() {
    let (pages, cache) = (10_000u32, 4_000.0);
    for look_ups in [2_000u64, 5_000, 20_000, 100_000] {
        let mut random = SplitMix64::new(look_ups);
        let chosen = (0..look_ups).map(|_| random.below(u64::from(pages)) as u32);
        let simulated = reads(chosen, cache as u64);
        let (t, x) = (f64::from(pages), look_ups as f64);
        let filled = 2.0 * t * cache / (2.0 * t - cache);
        let formula = match x <= filled {
            true => 2.0 * t * x / (2.0 * t + x),
            false => cache + (x - filled) * (t - cache) / t,
        };
        is_near(simulated, formula, 0.06, &format!("{look_ups} look-ups"));
    }
}

/// R. Fagin, "Asymptotic miss ratios over independent references", JCSS 1977: pages whose frequencies differ.
#[test]
fn skewed_look_ups_miss_as_often_as_fagin_says() {
    let pages = 5_000;
    let shares: Vec<f64> = (1..=pages).map(|rank| 1.0 / f64::from(rank)).collect();
    let sum: f64 = shares.iter().sum();
    let shares: Vec<f64> = shares.iter().map(|share| share / sum).collect();
    let mut bounds = Vec::new();
    for share in &shares {
        bounds.push(bounds.last().copied().unwrap_or(0.0) + share);
    }
    for cache in [200.0, 1000.0, 3000.0] {
        // The window of references in which as many pages occur as the cache has.
        let occurring = |window: f64| -> f64 {
            let occurs = |share: &f64| 1.0 - (-share * window).exp();
            shares.iter().map(occurs).sum()
        };
        let (mut low, mut high) = (1.0, 1e9);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            match occurring(middle) < cache {
                true => low = middle,
                false => high = middle,
            }
        }
        let missed: f64 = shares
            .iter()
            .map(|share| share * (-share * low).exp())
            .sum();
        let mut random = SplitMix64::new(7);
        let mut choose = || {
            let at = random.bits() as f64 / u64::MAX as f64 * bounds[bounds.len() - 1];
            bounds
                .partition_point(|&bound| bound < at)
                .min(bounds.len() - 1) as u32
        };
        let count = 400_000;
        let warm: Vec<u32> = (0..count).map(|_| choose()).collect();
        let both: Vec<u32> = warm
            .iter()
            .copied()
            .chain((0..count).map(|_| choose()))
            .collect();
        let before = reads(warm.into_iter(), cache as u64);
        let all = reads(both.into_iter(), cache as u64);
        is_near(
            (all - before) / f64::from(count),
            missed,
            0.02,
            &format!("{cache} pages"),
        );
    }
}

/// A table four times as large costs as much per row, if the cache, the transactions and the log between checkpoints are four times
/// as large too.
#[test]
fn costs_do_not_depend_on_the_scale() {
    for (engine, kind) in [
        (Engine::Sqlite, KeyKind::Uuid4),
        (Engine::Sqlite, KeyKind::Uuid7),
        (Engine::Postgres, KeyKind::Uuid4),
        (Engine::Postgres, KeyKind::Uuid7),
        (Engine::Mariadb, KeyKind::Uuid4),
        (Engine::Mariadb, KeyKind::Uuid7),
    ] {
        let cost = |factor: u64| {
            let mut question = Question::new(engine, kind, 150_000 * factor);
            // The first and the last page of a transaction are parts: they have to be few.
            question.rows_per_transaction = 5000 * factor;
            question.page_bytes = question.page_bytes.min(8192);
            question.cache_bytes = match engine {
                // The page cleaner leaves as many pages free in a large pool as in a small one: the log alone decides.
                Engine::Mariadb => 1 << 30,
                _ => (3 << 20) * factor,
            };
            question.checkpoint_bytes = match engine {
                Engine::Sqlite => (2 << 20) * factor,
                // Whole files: 19 MiB are ten between checkpoints.
                Engine::Postgres => (19 << 20) * factor,
                Engine::Mariadb => (16 << 20) * factor,
            };
            let course = simulate(&question);
            let point = course.points[course.points.len() - 1].clone();
            // Allocated pages are a step function in InnoDB.
            let size: f64 = point.trees.iter().map(|tree| tree.leaf_pages).sum();
            (
                point.total.written_bytes() / point.total.rows,
                size / question.rows as f64,
            )
        };
        let (small, large) = (cost(1), cost(4));
        let what = format!("{} {}", engine.name(), kind.name());
        // InnoDB keeps some pages of the log and of the pool free, whatever their size is.
        let bound = match engine {
            Engine::Mariadb => 0.06,
            _ => 0.04,
        };
        is_near(large.0, small.0, bound, &what);
        is_near(large.1, small.1, 0.01, &what);
    }
}

/// Random keys reach all of their range.
#[test]
fn arrivals_are_uniform() {
    let mut arrivals = Arrivals::new(Order::Random, 3);
    let below = (0..100_000u64)
        .filter(|&row| arrivals.key(row) < 1 << 62)
        .count();
    is_near(below as f64, 50_000.0, 0.02, "keys of the lower half");
}
