//! Time on a core in multiples of the reference work's time then, so that the ratio of two trials does not depend on how
//! fast the machine was during each (METHODOLOGY.md, "The reference work").

use crate::results::Trial;

/// Two times on a core, each with the CPU time of the reference work then, as their ratio is formed of them: in multiples
/// of it, where both are known.
pub fn pair(a: (f64, Option<f64>), b: (f64, Option<f64>)) -> (f64, f64) {
    match (a, b) {
        ((a, Some(reference_a)), (b, Some(reference_b))) => (a / reference_a, b / reference_b),
        ((a, _), (b, _)) => (a, b),
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
        let (a, b) = metric_named("cpu_us_per_row").unwrap().pair(a, b).unwrap();
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
        assert_eq!(metric.pair(&size(4.0), &size(2.0)), Some((4.0, 2.0)));
    }
}
