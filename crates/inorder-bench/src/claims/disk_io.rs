//! I: disk I/O of random and sequential ids.

use super::{
    claim::{Claim, Judgement, On, Verdict},
    deviation,
    evidence::{
        Evidence, Levels, ONE_REPETITION, all, judge_ratio, judge_same, needs, not_run, saved,
    },
    post::Post,
};
use crate::{
    analysis::marginal,
    format,
    results::Trial,
    statistics::{Ratio, compare_spreads, median, ratio_of},
};

/// The post.
pub const POST: Post = Post {
    name: "disk-io",
    letter: "I",
    author: "Viktor Dorotovič",
    title: "Choose the right primary key to save a large amount of disk I/O",
    published: Some("2022-10-05"),
    url: "https://www.toomanyafterthoughts.com/primary-key-random-sequential-performance/",
};

/// The claims of the post.
pub const CLAIMS: &[Claim] = &[
    Claim::new(
        &POST,
        "I1",
        "SQLite, clustered: random ids write far more bytes per row than sequential ones.",
        "a curve",
        i1,
    ).on_every_engine(),
    Claim::new(
        &POST,
        "I2",
        "SQLite, not clustered: the difference is much smaller.",
        "a curve",
        i2,
    ).on_every_engine(),
    Claim::new(
        &POST,
        "I3",
        "Bytes per row grow like the logarithm of the rows for random ids and stay flat for sequential ones.",
        "a curve",
        i3,
    ).on_every_engine(),
    Claim::new(
        &POST,
        "I4",
        "InnoDB behaves like SQLite clustered.",
        "a curve",
        i4,
    ),
    Claim::new(
        &POST,
        "I5",
        "PostgreSQL: little difference on small tables, random ids even better there; they lose on larger ones.",
        "a curve",
        i5,
    ),
    Claim::new(
        &POST,
        "I6",
        "Sequential ids save about 1 - 1/(ln n - 1) of the I/O of n rows.",
        "92% at one million rows",
        i6,
    ).on_every_engine(),
    Claim::new(
        &POST,
        "I7",
        "I/O volume is far steadier than time as a measure.",
        "(no figure)",
        i7,
    )
    .on_time().on_every_engine(),
];

const CLUSTERED_RANDOM: Levels<'_> = &[("layout", "clustered"), ("key", "int-random")];
const CLUSTERED_SEQUENTIAL: Levels<'_> = &[("layout", "clustered"), ("key", "int-seq")];
const HEAP_RANDOM: Levels<'_> = &[("layout", "not-clustered"), ("key", "int-random")];
const HEAP_SEQUENTIAL: Levels<'_> = &[("layout", "not-clustered"), ("key", "int-seq")];

const SQLITE_RANDOM: Levels<'_> = &[
    ("engine", "sqlite"),
    ("layout", "clustered"),
    ("key", "int-random"),
];
const SQLITE_SEQUENTIAL: Levels<'_> = &[
    ("engine", "sqlite"),
    ("layout", "clustered"),
    ("key", "int-seq"),
];
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
/// The tolerance of the formula in percentage points.
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

/// Judges that random ids write far more bytes per row than sequential ones.
fn far_more(on: On<'_>, random: Levels<'_>, sequential: Levels<'_>) -> Judgement {
    let ratio = evidence(on).ratio("engine_bytes_per_row", random, sequential);
    let bands = [
        (0.0, Verdict::DoesNot),
        (1.5, Verdict::Depends),
        (FAR_MORE, Verdict::Holds),
    ];
    judge_ratio(ratio, "bytes per row, random over sequential", &bands)
}

/// InnoDB's effect as a share of SQLite's, in logarithms: from where to where they behave alike, and from where to
/// where at least half alike.
const ALIKE: (f64, f64) = (2.0 / 3.0, 1.5);
const HALF_ALIKE: (f64, f64) = (1.0 / 3.0, 3.0);

fn i4(on: On<'_>) -> Judgement {
    let e = evidence(on);
    if e.cell(INNODB_RANDOM).is_none() {
        return needs("MariaDB");
    }
    if e.cell(SQLITE_RANDOM).is_none() {
        return needs("SQLite in the same run, to compare with");
    }
    if let Some(reason) = deviation::at_url(on.run, "mariadb") {
        return Judgement {
            verdict: Verdict::SettingsDiffer,
            reason,
            ..not_run()
        };
    }
    let effects = |random, sequential| e.each_ratio("engine_bytes_per_row", random, sequential);
    let innodb = effects(INNODB_RANDOM, INNODB_SEQUENTIAL);
    let sqlite = effects(SQLITE_RANDOM, SQLITE_SEQUENTIAL);
    let pairs: Vec<(f64, f64)> = innodb
        .iter()
        .filter_map(|(repetition, ratio)| {
            let (_, other) = sqlite.iter().find(|(other, _)| other == repetition)?;
            Some((ratio.ln(), other.ln()))
        })
        .collect();
    let bands = [
        (0.0, Verdict::DoesNot),
        (HALF_ALIKE.0, Verdict::Depends),
        (ALIKE.0, Verdict::Holds),
        (ALIKE.1, Verdict::Depends),
        (HALF_ALIKE.1, Verdict::DoesNot),
    ];
    let what = "logarithm of bytes random over sequential, InnoDB's over SQLite's";
    let mut judged = judge_ratio(ratio_of(&pairs), what, &bands);
    let mean = |effects: &[(u32, f64)]| median(effects.iter().map(|(_, ratio)| *ratio));
    if let (Some(innodb), Some(sqlite)) = (mean(&innodb), mean(&sqlite)) {
        let (innodb, sqlite) = (format::ratio(innodb), format::ratio(sqlite));
        judged.seen += &format!("; InnoDB {innodb}, SQLite {sqlite}");
    }
    judged
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
    if let Some(reason) = deviation::at_url(on.run, "postgres") {
        return Judgement {
            verdict: Verdict::SettingsDiffer,
            reason,
            ..not_run()
        };
    }
    let better = [(0.0, Verdict::Holds), (1.0, Verdict::DoesNot)];
    let loses = [
        (0.0, Verdict::DoesNot),
        (LITTLE, Verdict::Depends),
        (LOSE, Verdict::Holds),
    ];
    let of_small = "bytes of the first twentieth, random over sequential";
    all(vec![
        (
            "little on small tables",
            judge_same(Some(small), LITTLE - 1.0, of_small),
        ),
        (
            "better on small tables",
            judge_ratio(Some(small), of_small, &better),
        ),
        (
            "worse on large tables",
            judge_ratio(
                Some(large),
                "bytes of the second half, random over sequential",
                &loses,
            ),
        ),
    ])
}

fn i2(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let effects = |random, sequential| e.each_ratio("engine_bytes_per_row", random, sequential);
    let clustered = effects(CLUSTERED_RANDOM, CLUSTERED_SEQUENTIAL);
    let heap = effects(HEAP_RANDOM, HEAP_SEQUENTIAL);
    let pairs: Vec<(f64, f64)> = heap
        .iter()
        .filter_map(|(repetition, ratio)| {
            let (_, other) = clustered.iter().find(|(other, _)| other == repetition)?;
            Some((*ratio, *other))
        })
        .collect();
    let bands = [
        (0.0, Verdict::Holds),
        (MUCH_SMALLER, Verdict::Depends),
        (SMALLER, Verdict::DoesNot),
    ];
    let what = "bytes random over sequential, not clustered over clustered";
    let mut judged = judge_ratio(ratio_of(&pairs), what, &bands);
    let middle = |at: fn(&(f64, f64)) -> f64| median(pairs.iter().map(at));
    if let (Some(heap), Some(clustered)) = (middle(|pair| pair.0), middle(|pair| pair.1)) {
        let (heap, clustered) = (format::ratio(heap), format::ratio(clustered));
        judged.seen += &format!("; not clustered {heap}, clustered {clustered}");
    }
    if judged.verdict == Verdict::Depends {
        judged.reason =
            "smaller, but more than half of it: the index alone exceeds the cache too".to_owned();
    }
    judged
}

/// A line through points by least squares: intercept, slope and the share of variance explained, R² (Draper and Smith,
/// "Applied Regression Analysis", third edition, 1998, chapter 1).
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

/// Growth from the first half of a curve to the second, of the means of each.
fn growth(curve: &[(u64, f64)]) -> Option<(f64, f64)> {
    let half = curve.len() / 2;
    let mean =
        |points: &[(u64, f64)]| points.iter().map(|p| p.1).sum::<f64>() / points.len() as f64;
    (half > 0).then(|| (mean(&curve[half..]), mean(&curve[..half])))
}

/// A term in the rows of the table.
type Term = fn(f64) -> f64;

/// What the bytes of a further row may follow as the table of `n` rows grows: its name and the term in `n`. A cache of
/// constant size misses more and more pages until each row costs one: 1 - cache/n.
const SHAPES: [(&str, Term); 3] = [("ln n", f64::ln), ("n", |n| n), ("1 - c/n", |n| -1.0 / n)];

/// Share of variance that each of [`SHAPES`] leaves unexplained.
fn unexplained(curve: &[(u64, f64)]) -> Option<[f64; 3]> {
    let left_by = |(_, of): (&str, Term)| {
        let points: Vec<(f64, f64)> = curve.iter().map(|(n, y)| (of(*n as f64), *y)).collect();
        let (_, _, explained) = fit(&points)?;
        Some((1.0 - explained).max(f64::MIN_POSITIVE))
    };
    let [logarithm, line, saturation] = SHAPES.map(left_by);
    Some([logarithm?, line?, saturation?])
}

/// The largest growth of sequential ids that counts as flat.
const FLAT: f64 = 0.25;

/// Judges that curves grow like the logarithm of the rows: which shape is asked only of what grows.
fn like_a_logarithm(curves: &[Vec<(u64, f64)>]) -> Judgement {
    let below = |verdict, other| [(0.0, verdict), (1.0, other)];
    let growths: Vec<(f64, f64)> = curves.iter().filter_map(|c| growth(c)).collect();
    let grows = judge_ratio(
        ratio_of(&growths),
        "random, second half over first",
        &below(Verdict::DoesNot, Verdict::Holds),
    );
    if grows.verdict != Verdict::Holds {
        return grows;
    }
    let fits: Vec<[f64; 3]> = curves.iter().filter_map(|c| unexplained(c)).collect();
    let shape = |other: usize| {
        let pairs: Vec<(f64, f64)> = fits.iter().map(|left| (left[0], left[other])).collect();
        // Below 1 the logarithm leaves less unexplained.
        let bands = below(Verdict::Holds, Verdict::DoesNot);
        let what = format!("variance unexplained, ln n over {}", SHAPES[other].0);
        judge_ratio(ratio_of(&pairs), &what, &bands)
    };
    let mut logarithm = all(vec![("line", shape(1)), ("saturation", shape(2))]);
    if logarithm.verdict == Verdict::Depends {
        logarithm.reason =
            "it grows more slowly as the table grows, but it approaches one page written per row as the cache holds less of the table"
                .to_owned();
    }
    logarithm
}

fn i3(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let curves = |levels| -> Vec<Vec<(u64, f64)>> {
        let trials = e.trials(levels).into_iter();
        trials
            .map(|t| marginal(&t.curve("engine_written_bytes", "")))
            .collect()
    };
    let (random, sequential) = ordered_by_key(&e);
    let (random, sequential) = (curves(random), curves(sequential));
    let logarithm = like_a_logarithm(&random);
    let flats: Vec<(f64, f64)> = sequential.iter().filter_map(|c| growth(c)).collect();
    let what = "sequential, second half over first";
    let flat = judge_same(ratio_of(&flats), FLAT, what);
    all(vec![
        ("flat for sequential", flat),
        ("logarithm for random", logarithm),
    ])
}

/// Judges the formula for one layout: the saved share may differ by [`FORMULA_POINTS`].
fn by_formula(name: &str, ratio: Ratio, formula_percent: f64) -> Judgement {
    let at = |points: f64| (1.0 - (formula_percent + points) / 100.0).max(0.0);
    let bands = [
        (0.0, Verdict::DoesNot),
        (at(FORMULA_POINTS), Verdict::Holds),
        (at(-FORMULA_POINTS), Verdict::DoesNot),
    ];
    Judgement {
        seen: format!("saved {} {name}", saved(ratio.ratio)),
        ..judge_ratio(Some(ratio), "", &bands)
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
    let parts = ratios
        .iter()
        .map(|(name, ratio)| (*name, by_formula(name, *ratio, formula)));
    let mut judged = all(parts.collect());
    judged.ratio = Some(*first);
    judged.seen += &format!(
        "; the formula gives {formula:.1}% at {} rows",
        format::integer(rows as u64)
    );
    if matches!(judged.verdict, Verdict::DoesNot | Verdict::Depends) {
        judged.reason =
            "the formula ignores cache size, page size and row size, which the saving depends on"
                .to_owned();
    }
    judged
}

/// Times the spread of bytes from which time is "far" less steady.
const FAR_LESS_STEADY: f64 = 2.0;
/// The level of its test.
const SPREAD_LEVEL: f64 = 0.05;

fn i7(on: On<'_>) -> Judgement {
    let e = evidence(on);
    let trials = e.trials(ordered_by_key(&e).0);
    let pairs: Vec<(f64, f64)> = trials
        .iter()
        .filter_map(|t| Some((t.last("engine_written_bytes", "")?, t.last("wall_s", "")?)))
        .collect();
    e.timed_over(pairs.len(), steadier(&pairs))
}

/// Judges that the first of each pair is far steadier than the second: bytes and seconds of trials.
fn steadier(pairs: &[(f64, f64)]) -> Judgement {
    let (bytes, time): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(b, t)| (b.ln(), t.ln())).unzip();
    let Some(compared) = compare_spreads(&bytes, &time) else {
        return match pairs.is_empty() {
            true => not_run(),
            false => Judgement {
                verdict: Verdict::Inconclusive,
                seen: "a spread needs several trials, this run has one".to_owned(),
                reason: ONE_REPETITION.to_owned(),
                ..not_run()
            },
        };
    };
    let seen = format!(
        "from trial to trial bytes vary by {:.2}%, wall time by {:.2}% (standard deviation of the logarithms, {} trials)",
        compared.a * 100.0,
        compared.b * 100.0,
        pairs.len()
    );
    let is_clear = compared.p < SPREAD_LEVEL;
    let (verdict, reason) = match compared.b / compared.a {
        FAR_LESS_STEADY.. if is_clear => (Verdict::Holds, ""),
        ..=1.0 if is_clear => (Verdict::DoesNot, ""),
        _ if is_clear => (Verdict::Depends, "steadier, but less than twice"),
        _ => (
            Verdict::Inconclusive,
            "the two spreads don't differ at the 5% level",
        ),
    };
    Judgement {
        verdict,
        seen,
        reason: reason.to_owned(),
        ..not_run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        claims::fixture::{finish, planned, repeated, sample},
        experiment::Scale,
        results::Run,
    };

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
    fn each_shape_explains_its_own_curve_best() {
        for (at, (name, of)) in SHAPES.iter().enumerate() {
            let curve: Vec<(u64, f64)> = (1..=12)
                .map(|step| (step * 1000, 5.0 + 3.0 * of(step as f64 * 1000.0)))
                .collect();
            let left = unexplained(&curve).unwrap();
            let best = (0..3).min_by(|a, b| left[*a].total_cmp(&left[*b]));
            assert_eq!(best, Some(at), "{name}: {left:?}");
        }
    }

    /// A run of `disk-io` whose trials wrote so many bytes per row in each tenth and took so long.
    fn run_of(repetitions: u32, bytes: impl Fn(u32, usize) -> f64, wall_s: fn(u32) -> f64) -> Run {
        let mut run = planned("disk-io", Scale::Quick, repeated(repetitions)).unwrap();
        finish(&mut run, |_, trial| {
            let until = |tenth| -> f64 {
                let each = (0..=tenth).map(|tenth| bytes(trial.repetition, tenth));
                1000.0 * each.sum::<f64>()
            };
            let rows = |tenth| (tenth as u64 + 1) * 1000;
            let written = |tenth| sample("engine_written_bytes", rows(tenth), until(tenth));
            let wall = sample("wall_s", rows(9), wall_s(trial.repetition));
            (0..10).map(written).chain([wall]).collect()
        });
        run
    }

    fn of(id: &str, run: &Run) -> Judgement {
        let claim = CLAIMS.iter().find(|claim| claim.id == id).unwrap();
        claim.judgement(run)
    }

    #[test]
    fn steadiness_passes_the_noise_gate_and_wants_five_repetitions() {
        let bytes = |repetition, _: usize| 100.0 + f64::from(repetition) / 100.0;
        let wall_s = |repetition| 1.0 + f64::from(repetition * repetition);
        assert_eq!(of("I7", &run_of(5, bytes, wall_s)).verdict, Verdict::Holds);
        for repetitions in 1..5 {
            let few = of("I7", &run_of(repetitions, bytes, wall_s));
            assert_eq!(few.verdict, Verdict::Inconclusive);
            assert!(few.reason.contains("--repetitions 5"), "{}", few.reason);
        }
        let mut busy = run_of(5, bytes, wall_s);
        for trial in &mut busy.trials {
            trial.noise.cpu_pressure = Some(1.0);
        }
        let busy = of("I7", &busy);
        assert_eq!(busy.verdict, Verdict::Inconclusive);
        assert!(busy.reason.contains("busy"), "{}", busy.reason);
    }

    #[test]
    fn what_does_not_grow_is_no_logarithm_but_one_repetition_says_nothing() {
        let logarithm = |run: &Run| {
            let judged = of("I3", run);
            let part = |part: &&crate::claims::Part| part.name == "logarithm for random";
            judged.parts.iter().find(part).unwrap().verdict
        };
        let falls = |repetition, tenth| 100.0 - tenth as f64 + f64::from(repetition) / 100.0;
        // A logarithm, near enough that the other shapes leave more unexplained.
        let grows = |repetition: u32, tenth| {
            let n = tenth as f64 + 1.0;
            100.0 + 50.0 * n.ln() + f64::from(repetition + 4) / 10.0 * (2.0 * n).sin()
        };
        for repetitions in [1, 3, 5] {
            let (falling, growing) = match repetitions {
                1 => (Verdict::Inconclusive, Verdict::Inconclusive),
                _ => (Verdict::DoesNot, Verdict::Holds),
            };
            assert_eq!(logarithm(&run_of(repetitions, falls, |_| 1.0)), falling);
            assert_eq!(logarithm(&run_of(repetitions, grows, |_| 1.0)), growing);
        }
        // Up and down: which it is, isn't known.
        let both = |repetition, tenth| match repetition {
            0 => falls(0, tenth),
            _ => grows(0, tenth),
        };
        assert_eq!(logarithm(&run_of(3, both, |_| 1.0)), Verdict::Inconclusive);
    }
}
