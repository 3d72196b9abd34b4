//! I: disk I/O of random and sequential ids.

use super::{
    Claim, Judgement, On, Verdict,
    evidence::{Evidence, Levels, judge_ratio, needs, not_run, plain, saved},
};
use crate::{
    analysis::{Point, Ratio},
    report::format,
    results::Trial,
};

/// The claims of the post.
pub const CLAIMS: &[Claim] = &[
    Claim::new(
        "disk-io",
        "I1",
        "SQLite, clustered: random ids write far more bytes a row than sequential ones.",
        "a curve",
        i1,
    ).on_every_engine(),
    Claim::new(
        "disk-io",
        "I2",
        "SQLite, not clustered: the difference is much smaller.",
        "a curve",
        i2,
    ).on_every_engine(),
    Claim::new(
        "disk-io",
        "I3",
        "Bytes a row grow like the logarithm of the rows for random ids and stay flat for sequential ones.",
        "a curve",
        i3,
    ).on_every_engine(),
    Claim::new(
        "disk-io",
        "I4",
        "InnoDB behaves like SQLite clustered.",
        "a curve",
        i4,
    ),
    Claim::new(
        "disk-io",
        "I5",
        "PostgreSQL: little difference on small tables, random ids lose on larger ones.",
        "a curve",
        i5,
    ),
    Claim::new(
        "disk-io",
        "I6",
        "Sequential ids save about 1 - 1/(ln n - 1) of the I/O of n rows.",
        "92% at one million rows",
        i6,
    ).on_every_engine(),
    Claim::new(
        "disk-io",
        "I7",
        "I/O volume is far steadier than time as a measure.",
        "(no figure)",
        i7,
    ).on_every_engine(),
];

const CLUSTERED_RANDOM: Levels<'_> = &[("layout", "clustered"), ("key", "int-random")];
const CLUSTERED_SEQUENTIAL: Levels<'_> = &[("layout", "clustered"), ("key", "int-seq")];
const HEAP_RANDOM: Levels<'_> = &[("layout", "not-clustered"), ("key", "int-random")];
const HEAP_SEQUENTIAL: Levels<'_> = &[("layout", "not-clustered"), ("key", "int-seq")];

const INNODB_RANDOM: Levels<'_> = &[
    ("engine", "mariadb"),
    ("layout", "clustered"),
    ("key", "int-random"),
];
const INNODB_SEQUENTIAL: Levels<'_> = &[
    ("engine", "mariadb"),
    ("layout", "clustered"),
    ("key", "int-seq"),
];
const POSTGRES_RANDOM: Levels<'_> = &[
    ("engine", "postgres"),
    ("layout", "not-clustered"),
    ("key", "int-random"),
];
const POSTGRES_SEQUENTIAL: Levels<'_> = &[
    ("engine", "postgres"),
    ("layout", "not-clustered"),
    ("key", "int-seq"),
];

/// Times as many bytes up to which the difference is "little", and from which random ids "lose".
const LITTLE: f64 = 1.25;
const LOSE: f64 = 1.5;
/// The part of the load in which the table is "small": its first twentieth, two of the forty samples.
const SMALL_SHARE: f64 = 0.05;

/// Times as many bytes from which random ids write "far more".
const FAR_MORE: f64 = 5.0;
/// Share of the clustered ratio below which the other is "much smaller", and below which smaller.
const MUCH_SMALLER: f64 = 0.5;
const SMALLER: f64 = 0.9;
/// How far the formula may be off, in points of a hundred.
const FORMULA_POINTS: f64 = 3.0;

fn evidence(on: On<'_>) -> Evidence<'_> {
    Evidence::new(on, "disk-io")
}

/// The random and the sequential cell of the tree that the key orders: the clustered table, but on
/// another engine that clusters none its heap and index.
fn ordered_by_key(e: &Evidence<'_>) -> (Levels<'static>, Levels<'static>) {
    match e.cell(CLUSTERED_RANDOM) {
        None if !e.is_published() => (HEAP_RANDOM, HEAP_SEQUENTIAL),
        _ => (CLUSTERED_RANDOM, CLUSTERED_SEQUENTIAL),
    }
}

fn i1(on: On<'_>) -> Judgement {
    let (random, sequential) = ordered_by_key(&evidence(on));
    far_more(on, random, sequential)
}

/// Judges that random ids write far more bytes a row than sequential ones.
fn far_more(on: On<'_>, random: Levels<'_>, sequential: Levels<'_>) -> Judgement {
    let ratio = evidence(on).ratio("engine_bytes_per_row", random, sequential);
    judge_ratio(
        ratio,
        "bytes a row, random over sequential",
        |seen| match seen {
            FAR_MORE.. => Verdict::Holds,
            1.5.. => Verdict::Depends,
            _ => Verdict::DoesNot,
        },
    )
}

fn i4(on: On<'_>) -> Judgement {
    match evidence(on).cell(INNODB_RANDOM) {
        Some(_) => far_more(on, INNODB_RANDOM, INNODB_SEQUENTIAL),
        None => needs("MariaDB"),
    }
}

/// Bytes written by the load of a trial: those of its first rows, and those of its second half.
fn early_and_late(trial: &Trial) -> Option<(f64, f64)> {
    let curve = trial.curve("engine_written_bytes", "");
    let (rows, all) = *curve.last()?;
    let until = |share: f64| {
        let is_there = |(at, _): &&(u64, f64)| *at as f64 >= share * rows as f64;
        curve.iter().find(is_there).map(|(_, bytes)| *bytes)
    };
    Some((until(SMALL_SHARE)?, all - until(0.5)?))
}

fn i5(on: On<'_>) -> Judgement {
    let e = evidence(on);
    if e.cell(POSTGRES_RANDOM).is_none() {
        return needs("PostgreSQL");
    }
    let ratio = |of: fn((f64, f64)) -> f64| {
        let of = |trial: &Trial| early_and_late(trial).map(of);
        e.ratio_by(of, POSTGRES_RANDOM, POSTGRES_SEQUENTIAL)
    };
    let (Some(small), Some(large)) = (ratio(|(early, _)| early), ratio(|(_, late)| late)) else {
        return not_run();
    };
    let small_is_little = small.ratio <= LITTLE;
    let mut judged = judge_ratio(
        Some(large),
        "bytes of the second half, random over sequential",
        |seen| match seen {
            LOSE.. if small_is_little => Verdict::Holds,
            LITTLE.. => Verdict::Depends,
            _ => Verdict::DoesNot,
        },
    );
    judged.seen += &format!("; of the first twentieth {}", format::ratio(small.ratio));
    if judged.verdict == Verdict::Depends {
        judged.reason = match small_is_little {
            true => "the same direction, but random ids lose little yet".to_owned(),
            false => "random ids lose from the start".to_owned(),
        };
    }
    judged
}

fn i2(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let clustered = e.ratio(
        "engine_bytes_per_row",
        CLUSTERED_RANDOM,
        CLUSTERED_SEQUENTIAL,
    );
    let heap = e.ratio("engine_bytes_per_row", HEAP_RANDOM, HEAP_SEQUENTIAL);
    let (Some(clustered), Some(heap)) = (clustered, heap) else {
        return not_run();
    };
    let mut judged =
        judge_ratio(
            Some(heap),
            "bytes a row, random over sequential",
            |seen| match seen / clustered.ratio {
                ..MUCH_SMALLER => Verdict::Holds,
                ..SMALLER => Verdict::Depends,
                _ => Verdict::DoesNot,
            },
        );
    if judged.verdict == Verdict::Depends {
        judged.reason =
            "smaller, but more than half of it: the index alone outgrows the cache too".to_owned();
    }
    judged.seen += &format!("; clustered {}", format::ratio(clustered.ratio));
    judged
}

/// Least squares of y on x: intercept, slope and the share of variance explained.
fn fit(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        points
            .iter()
            .map(|(x, y)| of(x - mean_x, y - mean_y))
            .sum::<f64>()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if points.len() < 4 || xx == 0.0 || yy == 0.0 {
        return None;
    }
    let slope = xy / xx;
    Some((mean_y - slope * mean_x, slope, slope * xy / yy))
}

/// Growth from the first half of a curve to the second, of the medians of each.
fn growth(curve: &[Point]) -> Option<f64> {
    let half = curve.len() / 2;
    let middle = |points: &[Point]| crate::analysis::median(points.iter().map(|p| p.median));
    Some(middle(&curve[half..])? / middle(&curve[..half])?)
}

fn i3(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let curve = |levels| {
        e.cell(levels)
            .map(|cell| e.run.marginal_curve(cell.id, "engine_written_bytes", ""))
            .unwrap_or_default()
    };
    let (random, sequential) = ordered_by_key(&e);
    let (random, sequential) = (curve(random), curve(sequential));
    let points = |x: fn(u64) -> f64| -> Vec<(f64, f64)> {
        random.iter().map(|p| (x(p.rows), p.median)).collect()
    };
    let logarithm = fit(&points(|rows| (rows as f64).ln()));
    let line = fit(&points(|rows| rows as f64));
    let (Some(logarithm), Some(line), Some(flat)) = (logarithm, line, growth(&sequential)) else {
        return not_run();
    };
    let is_flat = (0.8..1.25).contains(&flat);
    let is_logarithm = logarithm.1 > 0.0 && logarithm.2 > line.2 && logarithm.2 > 0.8;
    let seen = format!(
        "random: {} more bytes a row for every doubling, R² {:.3} on ln n, {:.3} on n; sequential: {} times from the first half to the second",
        format::quantity(logarithm.1 * std::f64::consts::LN_2, "bytes"),
        logarithm.2,
        line.2,
        format::ratio(flat)
    );
    Judgement {
        verdict: match (is_flat, is_logarithm) {
            (true, true) => Verdict::Holds,
            (false, false) => Verdict::DoesNot,
            _ => Verdict::Depends,
        },
        reason: match (is_flat, is_logarithm) {
            (true, false) => "flat for sequential ids; for random ids it isn't a logarithm: it nears the price of a page a row as the cache holds less of the table".to_owned(),
            (false, true) => "a logarithm for random ids, but not flat for sequential ones".to_owned(),
            _ => String::new(),
        },
        seen,
        ratio: None,
    }
}

fn i6(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let layouts = [
        ("clustered", CLUSTERED_SEQUENTIAL, CLUSTERED_RANDOM),
        ("not clustered", HEAP_SEQUENTIAL, HEAP_RANDOM),
    ];
    let ratios: Vec<(&str, Ratio)> = layouts
        .iter()
        .filter_map(|(name, a, b)| Some((*name, e.ratio("engine_bytes_per_row", a, b)?)))
        .collect();
    let random = e.trials(ordered_by_key(&e).0);
    let rows = random.first().and_then(|t| t.last("rows_stored", ""));
    let (Some(rows), false) = (rows, ratios.len() < 2 && e.is_published()) else {
        return not_run();
    };
    let Some((_, first)) = ratios.first() else {
        return not_run();
    };
    let formula = 100.0 * (1.0 - 1.0 / (rows.ln() - 1.0));
    let fits = |ratio: f64| (100.0 * (1.0 - ratio) - formula).abs() <= FORMULA_POINTS;
    let fitting = ratios.iter().filter(|(_, ratio)| fits(ratio.ratio)).count();
    let verdict = match fitting {
        0 => Verdict::DoesNot,
        all if all == ratios.len() => Verdict::Holds,
        _ => Verdict::Depends,
    };
    let shown = |(name, ratio): &(&str, Ratio)| format!("{} {name}", saved(ratio.ratio));
    let shown: Vec<String> = ratios.iter().map(shown).collect();
    Judgement {
        verdict,
        seen: format!(
            "saved {}; the formula says {formula:.1}% at {} rows",
            shown.join(", "),
            format::integer(rows as u64)
        ),
        ratio: Some(*first),
        reason: match verdict {
            Verdict::Holds => String::new(),
            _ => "the formula knows neither the cache, the page nor the row: what is saved depends on them".to_owned(),
        },
    }
}

/// Standard deviation over mean.
fn spread(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (values.len() > 1 && mean > 0.0).then(|| variance.sqrt() / mean)
}

fn i7(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let trials = e.trials(ordered_by_key(&e).0);
    let of = |probe: &str| -> Option<f64> {
        let last = |trial: &&Trial| trial.last(probe, "");
        spread(&trials.iter().filter_map(last).collect::<Vec<_>>())
    };
    let (Some(bytes), Some(wall)) = (of("engine_written_bytes"), of("wall_s")) else {
        return not_run();
    };
    let seen = format!(
        "from trial to trial bytes vary by {:.2}%, wall time by {:.2}% (standard deviation over mean, {} trials)",
        bytes * 100.0,
        wall * 100.0,
        trials.len()
    );
    plain(bytes * 2.0 < wall, seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fitted_exactly() {
        let points: Vec<(f64, f64)> = (1..10)
            .map(|x| (f64::from(x), 3.0 + 2.0 * f64::from(x)))
            .collect();
        let (intercept, slope, explained) = fit(&points).unwrap();
        assert!((intercept - 3.0).abs() < 1e-9 && (slope - 2.0).abs() < 1e-9);
        assert!((explained - 1.0).abs() < 1e-9);
        assert!(fit(&points[..3]).is_none());
    }

    #[test]
    fn spread_is_relative() {
        assert_eq!(spread(&[2.0, 2.0, 2.0]), Some(0.0));
        assert_eq!(spread(&[1.0]), None);
        assert!((spread(&[9.0, 11.0]).unwrap() - 0.1414).abs() < 1e-3);
    }
}
