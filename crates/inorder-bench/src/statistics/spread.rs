//! Which of two quantities of the same trials varies more.
//!
//! The test of Pitman ("A note on normal correlation", Biometrika 31, 1939) and Morgan ("A test for the significance of
//! the difference between the two variances in a sample from a normal bivariate population", the same volume): two
//! variances are equal where the sum and the difference of the two quantities don't correlate.

use super::student;

/// Two spreads of the same trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spreads {
    /// Standard deviation of the first.
    pub a: f64,
    /// Standard deviation of the second.
    pub b: f64,
    /// Probability of spreads as far apart where they are equal.
    pub p: f64,
}

/// Compares the spreads of two quantities, one value of each per trial. `None` of fewer than two trials.
pub fn compare_spreads(a: &[f64], b: &[f64]) -> Option<Spreads> {
    let n = a.len().min(b.len());
    if n < 2 {
        return None;
    }
    let centred = |values: &[f64]| -> Vec<f64> {
        let mean = values[..n].iter().sum::<f64>() / n as f64;
        values[..n].iter().map(|value| value - mean).collect()
    };
    let (a, b) = (centred(a), centred(b));
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let deviation = |x: &[f64]| (dot(x, x) / (n - 1) as f64).sqrt();
    let sums: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
    let scale = (dot(&sums, &sums) * dot(&differences, &differences)).sqrt();
    let p = match (n, scale) {
        (2, _) | (_, 0.0) => 1.0,
        _ => {
            let r = (dot(&sums, &differences) / scale).clamp(-1.0, 1.0);
            let degrees = n - 2;
            let t = r * (degrees as f64 / (1.0 - r * r)).sqrt();
            student::two_sided_p(t, degrees)
        }
    };
    Some(Spreads {
        a: deviation(&a),
        b: deviation(&b),
        p,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::simulation::Noise;

    /// Returns how often five trials are called different if the second varies by this factor.
    fn called_different(times: f64) -> f64 {
        const ROUNDS: usize = 2000;
        let mut random = Noise::new(11);
        let called = (0..ROUNDS).filter(|_| {
            let mut five =
                |spread: f64| -> Vec<f64> { (0..5).map(|_| spread * random.normal()).collect() };
            let (a, b) = (five(1.0), five(times));
            compare_spreads(&a, &b).unwrap().p < 0.05
        });
        called.count() as f64 / ROUNDS as f64
    }

    #[test]
    fn equal_spreads_are_called_different_at_the_level() {
        let seen = called_different(1.0);
        assert!((0.04..0.06).contains(&seen), "{seen}");
        assert!(called_different(30.0) > 0.95);
    }

    #[test]
    fn two_trials_say_nothing() {
        assert_eq!(compare_spreads(&[1.0, 2.0], &[1.0, 9.0]).unwrap().p, 1.0);
        assert_eq!(compare_spreads(&[1.0], &[1.0]), None);
    }
}
