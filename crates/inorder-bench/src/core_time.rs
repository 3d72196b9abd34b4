//! Time on a core, corrected by the reference work's time then, so that the ratio of two trials does not depend on how fast
//! the machine was during each (METHODOLOGY.md, "The reference work").

use crate::results::Trial;

/// Degrees of freedom from which the exponent is fitted.
const FREEDOM_MIN: usize = 8;

/// A time on a core, and the CPU time of the reference work then, in seconds, where it is known.
pub type CoreTime = (f64, Option<f64>);

/// The times of two trials as their ratio is formed of them: over the reference work's to the power of the exponent, where
/// both are known.
pub fn pair(a: CoreTime, b: CoreTime, exponent: f64) -> (f64, f64) {
    match (a, b) {
        ((a, Some(reference_a)), (b, Some(reference_b))) => (
            a / reference_a.powf(exponent),
            b / reference_b.powf(exponent),
        ),
        ((a, _), (b, _)) => (a, b),
    }
}

/// How far times follow the reference work: `k`, where a trial takes `x^k` times as long while the reference work takes `x`
/// times as long.
///
/// It is the slope of the logarithms within the cells, by least squares, within 0 and 1. It is 1 if there are too few trials
/// to fit it.
pub fn exponent(cells: impl IntoIterator<Item = Vec<CoreTime>>) -> f64 {
    let (mut freedom, mut both, mut squares) = (0, 0.0, 0.0);
    for cell in cells {
        let known = cell.into_iter().filter_map(|(time, reference_s)| {
            let reference_s = reference_s.filter(|reference_s| *reference_s > 0.0)?;
            (time > 0.0).then(|| (time.ln(), reference_s.ln()))
        });
        let points: Vec<(f64, f64)> = known.collect();
        let mean =
            |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        let (time, reference) = (mean(|p| p.0), mean(|p| p.1));
        for (y, x) in &points {
            both += (y - time) * (x - reference);
            squares += (x - reference).powi(2);
        }
        freedom += points.len().saturating_sub(1);
    }
    // One more for the slope itself.
    if freedom > FREEDOM_MIN && squares > 0.0 {
        (both / squares).clamp(0.0, 1.0)
    } else {
        1.0
    }
}

/// CPU seconds of the reference work while the rows from one number to another were inserted: its mean, weighted by the
/// multiples of the work that the CPU time of the trial was.
pub fn of_rows(trial: &Trial, from: u64, to: u64) -> Option<f64> {
    let references = trial.curve("reference_cpu_s", "load");
    let (mut cpu_s, mut multiples) = (0.0, 0.0);
    let mut before = (0, 0.0);
    for (rows, until_s) in trial.curve("cpu_s", "") {
        if rows > from && rows <= to {
            let spent_s = until_s - before.1;
            cpu_s += spent_s;
            multiples += spent_s / at(&references, (before.0 + rows) as f64 / 2.0)?;
        }
        before = (rows, until_s);
    }
    (multiples > 0.0).then(|| cpu_s / multiples)
}

/// CPU seconds of the reference work during the whole load.
pub fn of_load(trial: &Trial) -> Option<f64> {
    of_rows(trial, 0, u64::MAX)
}

/// CPU seconds of the reference work during the look-ups: the mean of before and after them.
pub fn of_reads(trial: &Trial) -> Option<f64> {
    let references = trial.curve("reference_cpu_s", "reads");
    let sum: f64 = references.iter().map(|(_, reference_s)| reference_s).sum();
    (!references.is_empty()).then(|| sum / references.len() as f64)
}

/// The reference work's time at this number of rows, between the times before and after; `None` where it was not done.
fn at(references: &[(u64, f64)], rows: f64) -> Option<f64> {
    let after = references.partition_point(|(at, _)| (*at as f64) < rows);
    let (before, after) = (after.checked_sub(1), references.get(after));
    match (before.map(|before| references[before]), after) {
        (Some((from, low)), Some((to, high))) => {
            let share = (rows - from as f64) / (to - from) as f64;
            Some(low + share * (high - low))
        }
        (Some((_, last)), None) => Some(last),
        (None, first) => first.map(|(_, reference_s)| *reference_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{metrics::metric_named, results::Sample};

    /// A trial of 100 rows per sample, with this CPU time of each hundred, and the reference work at these numbers of rows.
    fn trial(cpu_s: &[f64], references: &[(u64, f64)]) -> Trial {
        let sample = |probe: &str, part: &str, rows, value| Sample {
            probe: probe.to_owned(),
            part: part.to_owned(),
            rows,
            value: Some(value),
        };
        let mut until_s = 0.0;
        let mut samples: Vec<Sample> = (1..)
            .zip(cpu_s)
            .map(|(hundreds, spent_s)| {
                until_s += spent_s;
                sample("cpu_s", "", 100 * hundreds, until_s)
            })
            .collect();
        let load = |&(rows, value)| sample("reference_cpu_s", "load", rows, value);
        samples.extend(references.iter().map(load));
        samples.push(sample(
            "rows_stored",
            "",
            100 * cpu_s.len() as u64,
            100.0 * cpu_s.len() as f64,
        ));
        Trial {
            samples,
            ..Trial::default()
        }
    }

    fn ratio(a: &Trial, b: &Trial) -> f64 {
        let metric = metric_named("cpu_us_per_row").unwrap();
        let (a, b) = metric.pair(a, b, 1.0).unwrap();
        a / b
    }

    #[test]
    fn a_machine_half_as_fast_leaves_a_ratio_as_it_is() {
        let fast = trial(&[1.0, 2.0, 3.0], &[(0, 0.01), (300, 0.01)]);
        let slow = trial(&[4.0, 8.0, 12.0], &[(0, 0.02), (300, 0.02)]);
        assert!((ratio(&slow, &fast) - 2.0).abs() < 1e-12);
        // Slow in the last third only: the sample before it is the last of the fast ones.
        let later = trial(
            &[2.0, 4.0, 12.0],
            &[(0, 0.01), (200, 0.01), (201, 0.02), (300, 0.02)],
        );
        assert!((ratio(&later, &fast) - 2.0).abs() < 1e-12);
        assert_eq!(of_rows(&later, 0, 100), Some(0.01));
        assert_eq!(of_rows(&later, 200, 300), Some(0.02));
    }

    #[test]
    fn between_two_times_the_speed_changes_evenly() {
        let slower = trial(&[1.0; 4], &[(0, 0.01), (400, 0.05)]);
        for (hundred, wanted_s) in (0..4).zip([0.015, 0.025, 0.035, 0.045]) {
            let seen_s = of_rows(&slower, 100 * hundred, 100 * (hundred + 1)).unwrap();
            assert!((seen_s - wanted_s).abs() < 1e-12, "{hundred}: {seen_s}");
        }
    }

    #[test]
    fn without_the_reference_work_a_ratio_is_that_of_the_times() {
        let (with, without) = (trial(&[2.0], &[(0, 0.01), (100, 0.03)]), trial(&[1.0], &[]));
        assert_eq!(of_load(&without), None);
        assert_eq!(ratio(&with, &without), 2.0);
        assert_eq!(ratio(&without, &without), 1.0);
        assert_eq!(of_reads(&with), None);
    }

    #[test]
    fn only_times_on_a_core_are_corrected() {
        let slow = trial(&[2.0], &[(0, 0.02), (100, 0.02)]);
        let size = |bytes| {
            let mut trial = slow.clone();
            trial.samples.push(Sample {
                probe: "size_bytes".to_owned(),
                value: Some(bytes),
                ..Sample::default()
            });
            trial
        };
        let metric = metric_named("size_bytes").unwrap();
        assert_eq!(metric.pair(&size(4.0), &size(2.0), 1.0), Some((4.0, 2.0)));
    }

    /// Five trials of a cell that takes this long where the reference work takes 1 s, and follows it with this exponent.
    fn cell(time: f64, exponent: f64) -> Vec<CoreTime> {
        let of = |reference_s: f64| (time * reference_s.powf(exponent), Some(reference_s));
        [1.0, 1.1, 1.8, 1.7, 1.2].map(of).to_vec()
    }

    #[test]
    fn the_exponent_is_found_in_cells_that_take_differently_long() {
        let found = exponent([cell(1.0, 0.7), cell(30.0, 0.7), cell(9.0, 0.7)]);
        assert!((found - 0.7).abs() < 1e-9, "{found}");
        let ((slow, slow_s), (fast, fast_s)) = (cell(2.0, 0.7)[2], cell(1.0, 0.7)[0]);
        let (a, b) = pair((slow, slow_s), (fast, fast_s), found);
        assert!((a / b - 2.0).abs() < 1e-9, "{}", a / b);
    }

    #[test]
    fn the_exponent_is_from_0_to_1() {
        assert_eq!(
            exponent([cell(1.0, 1.4), cell(2.0, 1.4), cell(3.0, 1.4)]),
            1.0
        );
        assert_eq!(
            exponent([cell(1.0, -0.4), cell(2.0, -0.4), cell(3.0, -0.4)]),
            0.0
        );
    }

    #[test]
    fn few_trials_have_no_exponent_of_their_own() {
        assert_eq!(exponent([cell(1.0, 0.7), cell(2.0, 0.7)]), 1.0);
        assert_eq!(exponent([vec![(1.0, None); 5], vec![(1.0, None); 9]]), 1.0);
        assert_eq!(exponent([vec![(1.0, Some(2.0)); 20]]), 1.0);
        assert_eq!(exponent([]), 1.0);
    }
}
