//! Ratios of trials and their confidence intervals.
//!
//! A ratio is the geometric mean of the ratios of pairs (Fleming and Wallace, "How not to lie with statistics: the
//! correct way to summarize benchmark results", Communications of the ACM 29, 1986); its interval is Student's,
//! on the logarithms of those ratios, as for repeated runs in Georges, Buytaert and Eeckhout, "Statistically rigorous
//! Java performance evaluation", OOPSLA 2007. A percentile bootstrap of so few repetitions would not keep its level:
//! the interval of n values never reaches beyond their extremes, so it can't cover a median more often than
//! 1 - 2^(1-n): 50% with two, 75% with three, 94% with five.

use super::student;
use serde::Serialize;

/// A ratio between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Geometric mean of A over B of each pair.
    pub ratio: f64,
    /// Lower end of the 95% interval; 0 where one pair says nothing of the spread.
    pub low: f64,
    /// Upper end of it; infinite (`null` in JSON) where one pair says nothing of the spread.
    pub high: f64,
    /// Pairs it rests on.
    pub pairs: usize,
}

impl Ratio {
    /// Whether the whole interval lies on one side of 1.
    pub fn differs(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// Whether there is an interval: one pair has none.
    pub fn has_interval(&self) -> bool {
        self.high.is_finite()
    }

    /// The ratio whose logarithm is `mean`, with this standard error.
    fn new(mean: f64, error: f64, degrees: usize, pairs: usize) -> Self {
        let reach = match error == 0.0 && degrees > 0 {
            true => 0.0,
            false => student::quantile_95(degrees) * error,
        };
        let unknown = degrees == 0;
        Ratio {
            ratio: mean.exp(),
            low: if unknown { 0.0 } else { (mean - reach).exp() },
            high: if unknown {
                f64::INFINITY
            } else {
                (mean + reach).exp()
            },
            pairs,
        }
    }

    /// Of values that have no logarithms: exact where all pairs say the same, else unknown.
    fn of_zeros(pairs: &[(f64, f64)]) -> Option<Self> {
        let sum = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
        let (a, b) = (sum(|pair| pair.0), sum(|pair| pair.1));
        let is_exact = pairs.len() > 1 && pairs.iter().all(|(a, b)| *a == 0.0 && *b > 0.0);
        (b > 0.0).then(|| Ratio {
            ratio: a / b,
            low: 0.0,
            high: if is_exact { 0.0 } else { f64::INFINITY },
            pairs: pairs.len(),
        })
    }
}

/// The geometric mean of A over B of each pair (Fleming and Wallace) with Student's interval. Pairs with a value that is not finite are left out; `None` without pairs or where B
/// is 0.
pub fn ratio_of(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let pairs: Vec<(f64, f64)> = pairs
        .iter()
        .copied()
        .filter(|(a, b)| a.is_finite() && b.is_finite())
        .collect();
    if pairs.is_empty() {
        return None;
    }
    if pairs.iter().any(|(a, b)| *a <= 0.0 || *b <= 0.0) {
        return Ratio::of_zeros(&pairs);
    }
    let sample = Sample::of(pairs.iter().map(|(a, b)| (a / b).ln()));
    Some(Ratio::new(
        sample.mean,
        sample.error(),
        pairs.len() - 1,
        pairs.len(),
    ))
}

/// The same for two samples without pairs, such as the trials of two runs with other seeds, by Welch's test (Welch,
/// "The generalization of Student's problem when several different population variances are involved", Biometrika 34,
/// 1947) with the fewest degrees of freedom it can have. `pairs` is the size of the smaller sample.
pub fn ratio_unpaired(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let logs = |values: &[f64]| -> Option<Vec<f64>> {
        let finite = values.iter().filter(|value| value.is_finite());
        finite.map(|v| (*v > 0.0).then(|| v.ln())).collect()
    };
    let (a, b) = (logs(a)?, logs(b)?);
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let pairs = a.len().min(b.len());
    let (a, b) = (Sample::of(a.into_iter()), Sample::of(b.into_iter()));
    let (of_a, of_b) = (a.error().powi(2), b.error().powi(2));
    Some(Ratio::new(
        a.mean - b.mean,
        (of_a + of_b).sqrt(),
        pairs - 1,
        pairs,
    ))
}

/// The probability of a ratio as far from 1 as this one where nothing differs: Student's two-sided t test ("The
/// probable error of a mean", Biometrika 6, 1908) on the logarithms. 1 where that can't be said.
pub fn p_of_no_change(ratio: &Ratio) -> f64 {
    let degrees = ratio.pairs.saturating_sub(1);
    if !ratio.has_interval() || ratio.low <= 0.0 {
        return 1.0;
    }
    let reach = (ratio.high.ln() - ratio.low.ln()) / 2.0;
    let mean = ratio.ratio.ln();
    if reach == 0.0 {
        return if mean == 0.0 { 1.0 } else { 0.0 };
    }
    let error = reach / student::quantile_95(degrees);
    student::two_sided_p(mean / error, degrees)
}

/// Which of many tests, by their probabilities, are significant together. Holm's procedure ("A simple sequentially
/// rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979) keeps the probability of even one
/// false alarm at `level`.
pub fn holm(p: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut significant = vec![false; p.len()];
    for (rank, at) in order.into_iter().enumerate() {
        if p[at] > level / (p.len() - rank) as f64 {
            break;
        }
        significant[at] = true;
    }
    significant
}

/// Mean and spread of some logarithms.
struct Sample {
    n: usize,
    mean: f64,
    variance: f64,
}

impl Sample {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let n = values.clone().count();
        let mean = values.clone().sum::<f64>() / n as f64;
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        // What is left of equal values is rounding.
        let rounding = (n as f64) * (mean.abs().max(1.0) * 1e-15).powi(2);
        let squares = if squares <= rounding { 0.0 } else { squares };
        Sample {
            n,
            mean,
            variance: if n > 1 { squares / (n - 1) as f64 } else { 0.0 },
        }
    }

    /// Standard error of the mean.
    fn error(&self) -> f64 {
        (self.variance / self.n as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::simulation::Noise;

    #[test]
    fn equal_pairs_have_a_degenerate_interval() {
        let ratio = ratio_of(&[(3.0, 6.0); 5]).unwrap();
        assert_eq!((ratio.ratio, ratio.low, ratio.high), (0.5, 0.5, 0.5));
        assert_eq!(p_of_no_change(&ratio), 0.0);
    }

    #[test]
    fn one_pair_has_no_interval() {
        let ratio = ratio_of(&[(1.0, 4.0)]).unwrap();
        assert_eq!(
            (ratio.ratio, ratio.low, ratio.high),
            (0.25, 0.0, f64::INFINITY)
        );
        assert!(!ratio.has_interval() && !ratio.differs());
        assert_eq!(p_of_no_change(&ratio), 1.0);
        let ratio = ratio_unpaired(&[1.0], &[4.0, 5.0]).unwrap();
        assert!(!ratio.has_interval());
    }

    #[test]
    fn nothing_to_divide_is_none() {
        assert_eq!(ratio_of(&[]), None);
        assert_eq!(ratio_of(&[(1.0, 0.0), (2.0, 0.0)]), None);
        assert_eq!(ratio_of(&[(f64::NAN, 1.0)]), None);
        assert_eq!(ratio_unpaired(&[], &[1.0]), None);
        // Nothing against something is exact, something against now nothing, now something isn't.
        assert_eq!(ratio_of(&[(0.0, 2.0), (0.0, 3.0)]).unwrap().high, 0.0);
        assert!(!ratio_of(&[(1.0, 2.0), (1.0, 0.0)]).unwrap().has_interval());
    }

    #[test]
    fn an_interval_is_students_on_the_logarithms() {
        // Logarithms 0, ln 2, ln 4: mean ln 2, standard deviation ln 2, t of 2 degrees 4.303.
        let ratio = ratio_of(&[(1.0, 1.0), (2.0, 1.0), (4.0, 1.0)]).unwrap();
        let reach = 4.3027_f64 * 2.0_f64.ln() / 3.0_f64.sqrt();
        assert!((ratio.ratio - 2.0).abs() < 1e-12);
        assert!(
            (ratio.high.ln() - 2.0_f64.ln() - reach).abs() < 1e-3,
            "{ratio:?}"
        );
        assert!(
            (ratio.low.ln() - 2.0_f64.ln() + reach).abs() < 1e-3,
            "{ratio:?}"
        );
        let p = p_of_no_change(&ratio);
        let t = 2.0_f64.ln() / (2.0_f64.ln() / 3.0_f64.sqrt());
        assert!((p - student::two_sided_p(t, 2)).abs() < 1e-9, "{p}");
    }

    #[test]
    fn holm_steps_down() {
        // 0.01 against 0.05/4, 0.013 against 0.05/3, 0.03 against 0.05/2: no, and so none after it.
        let seen = holm(&[0.04, 0.01, 0.03, 0.013], 0.05);
        assert_eq!(seen, [false, true, false, true]);
        assert_eq!(holm(&[], 0.05), [false; 0]);
        assert_eq!(holm(&[0.0, 1.0], 0.05), [true, false]);
    }

    #[test]
    fn pairing_removes_what_a_repetition_has_in_common() {
        let pairs: Vec<(f64, f64)> = (1..=9)
            .map(|n| (f64::from(n) * 2.0, f64::from(n)))
            .collect();
        let paired = ratio_of(&pairs).unwrap();
        assert_eq!((paired.ratio, paired.low, paired.high), (2.0, 2.0, 2.0));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let unpaired = ratio_unpaired(&a, &b).unwrap();
        assert!((unpaired.ratio - 2.0).abs() < 1e-9);
        assert!(unpaired.low < 1.5 && unpaired.high > 2.5, "{unpaired:?}");
    }

    /// Returns the share of intervals of `n` pairs that cover the true ratio.
    fn coverage(n: usize, noise: fn(&mut Noise) -> f64) -> f64 {
        const ROUNDS: usize = 4000;
        let mut random = Noise::new(n as u64);
        let covered = (0..ROUNDS).filter(|_| {
            let pairs: Vec<(f64, f64)> = (0..n)
                .map(|_| (1.5 * noise(&mut random), noise(&mut random)))
                .collect();
            let ratio = ratio_of(&pairs).unwrap();
            ratio.low <= 1.5 && 1.5 <= ratio.high
        });
        covered.count() as f64 / ROUNDS as f64
    }

    #[test]
    fn the_interval_keeps_its_level_with_few_repetitions() {
        for n in [2, 3, 5, 7, 10] {
            let normal = coverage(n, |random| (0.1 * random.normal()).exp());
            assert!((0.938..0.962).contains(&normal), "{n}: {normal}");
            // Times have a floor and a long tail upwards.
            let skewed = coverage(n, |random| 1.0 + 0.2 * random.exponential());
            assert!(skewed > 0.935, "{n}: {skewed}");
        }
    }
}
