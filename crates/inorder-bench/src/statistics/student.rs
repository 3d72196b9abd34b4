//! Student's t distribution with whole degrees of freedom.
//!
//! Sources: Student, "The probable error of a mean", Biometrika 6, 1908; the closed forms are 26.7.3 and 26.7.4 of
//! Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964.

use std::{f64::consts::FRAC_2_PI, sync::OnceLock};

/// The probability that a t variable is farther from 0 than `t`, on either side. 1 without degrees of freedom.
pub fn two_sided_p(t: f64, degrees: usize) -> f64 {
    if degrees == 0 || t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    let angle = (t.abs() / (degrees as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    // 1 + (2/3) cos² + (2·4)/(3·5) cos⁴ … for odd degrees, with 1/2, (1·3)/(2·4) … for even ones.
    let first = if degrees % 2 == 1 { 2 } else { 1 };
    let mut term = if degrees % 2 == 1 { cosine } else { 1.0 };
    let mut sum = if degrees == 1 { 0.0 } else { term };
    let mut numerator = first;
    while numerator + 3 <= degrees {
        term *= cosine * cosine * numerator as f64 / (numerator + 1) as f64;
        sum += term;
        numerator += 2;
    }
    let inside = match degrees % 2 {
        1 => FRAC_2_PI * (angle + sine * sum),
        _ => sine * sum,
    };
    (1.0 - inside).clamp(0.0, 1.0)
}

/// Degrees of freedom whose quantiles are kept once they are known: repetitions are fewer.
const KEPT: usize = 64;

/// The half-width of the middle 95% of the distribution; infinite without degrees of freedom.
pub fn quantile_95(degrees: usize) -> f64 {
    static QUANTILES: [OnceLock<f64>; KEPT] = [const { OnceLock::new() }; KEPT];
    match QUANTILES.get(degrees) {
        Some(kept) => *kept.get_or_init(|| quantile(0.95, degrees)),
        None => quantile(0.95, degrees),
    }
}

/// The same of the middle `confidence`.
fn quantile(confidence: f64, degrees: usize) -> f64 {
    if degrees == 0 {
        return f64::INFINITY;
    }
    let wanted = 1.0 - confidence;
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while two_sided_p(high, degrees) > wanted {
        high *= 2.0;
    }
    // Halved until neighbouring numbers are reached.
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        match two_sided_p(middle, degrees) > wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Abramowitz and Stegun, table 26.10: 95% two-sided.
        for (degrees, wanted) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (6, 2.447),
            (7, 2.365),
            (10, 2.228),
            (15, 2.131),
            (30, 2.042),
            (120, 1.980),
        ] {
            let seen = quantile_95(degrees);
            assert!((seen - wanted).abs() < 6e-4, "{degrees}: {seen}");
        }
        assert!((quantile(0.99, 3) - 5.841).abs() < 1e-3);
        assert!((quantile(0.99, 4) - 4.604).abs() < 1e-3);
        assert_eq!(quantile_95(0), f64::INFINITY);
    }

    #[test]
    fn probabilities_fall_from_one_to_nothing() {
        for degrees in 1..40 {
            assert!((two_sided_p(0.0, degrees) - 1.0).abs() < 1e-12);
            assert!(two_sided_p(1.0, degrees) > two_sided_p(1.1, degrees));
            assert_eq!(two_sided_p(f64::INFINITY, degrees), 0.0);
        }
        // Cauchy: 1/2 lies within 1.
        assert!((two_sided_p(1.0, 1) - 0.5).abs() < 1e-12);
        assert_eq!(two_sided_p(5.0, 0), 1.0);
    }
}
