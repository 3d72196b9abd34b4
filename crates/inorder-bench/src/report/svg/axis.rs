//! Axes: where values stand, where ticks stand and what they say.

use super::canvas::{Canvas, Number};
use crate::{format, report::plots::Axis};

/// An axis with its ends and ticks.
pub struct Ruler {
    low: f64,
    high: f64,
    is_log: bool,
    /// The positions and labels of the ticks.
    pub ticks: Vec<(f64, String)>,
    /// The measured quantity and its unit.
    pub title: String,
}

/// Room at the ends of an axis of levels, as a share of the axis.
const LEVEL_ROOM: f64 = 0.04;

/// Widest a character of a tick can be at the type size of a phone.
const CHARACTER: f64 = 9.0;

impl Ruler {
    /// An axis that holds all the values; a linear one starts at 0. On a log axis, 0 stands at the lower end.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, ticks_max: usize) -> Self {
        let is_shown = |value: &f64| value.is_finite() && (*value > 0.0 || !axis.is_log);
        let values: Vec<f64> = values.filter(is_shown).collect();
        let high = values.iter().copied().fold(0.0, f64::max);
        // An axis of nothing but zeros has to end somewhere.
        let high = if high > 0.0 { high } else { 1.0 };
        let low = match axis.is_log {
            true => values.iter().copied().fold(high, f64::min),
            false => 0.0,
        };
        match &axis.ticks {
            Some(ticks) => Ruler::at_levels(axis, ticks, low, high),
            None => Ruler::at_round_numbers(axis, low, high, ticks_max),
        }
    }

    fn at_levels(axis: &Axis, levels: &[f64], low: f64, high: f64) -> Self {
        let say = |level: f64| match axis.unit {
            "rows" | "" => format::short(level),
            unit => format::quantity(level, unit),
        };
        // The first and the last level stand clear of the ends, where the other axis has its ticks.
        let (low, high) = match axis.is_log {
            true => {
                let room = (high / low).powf(LEVEL_ROOM);
                (low / room, high * room)
            }
            false => (low, high + (high - low) * LEVEL_ROOM),
        };
        Ruler {
            low,
            high,
            is_log: axis.is_log,
            ticks: levels.iter().map(|level| (*level, say(*level))).collect(),
            title: title(axis, axis.unit),
        }
    }

    fn at_round_numbers(axis: &Axis, low: f64, high: f64, ticks_max: usize) -> Self {
        // The unit that suits the middle of a log axis, the end of a linear one.
        let typical = if axis.is_log {
            (low * high).sqrt()
        } else {
            high
        };
        let (divisor, unit) = format::axis_scale(typical, axis.unit);
        let (low, high, numbers) = match axis.is_log {
            true => log_ticks(low / divisor, high / divisor, ticks_max),
            false => linear_ticks(high / divisor, ticks_max),
        };
        Ruler {
            low: low * divisor,
            high: high * divisor,
            is_log: axis.is_log,
            ticks: numbers
                .into_iter()
                .map(|number| (number * divisor, format::short(number)))
                .collect(),
            title: title(axis, &unit),
        }
    }

    /// Returns the position of a value between the ends, 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let (low, high, value) = match self.is_log {
            true => (self.low.ln(), self.high.ln(), value.max(self.low).ln()),
            false => (self.low, self.high, value),
        };
        if high > low {
            (value - low) / (high - low)
        } else {
            0.5
        }
    }

    /// Draws it along the bottom, with lines up into the plot.
    pub fn draw_across(&self, canvas: &mut Canvas, left: f64, width: f64, top: f64, bottom: f64) {
        let at = |value: &f64| left + self.share(*value) * width;
        let lines = self.ticks.iter().map(|(value, _)| {
            let (x, top, height) = (Number(at(value)), Number(top), Number(bottom - top));
            format!("M{x} {top}v{height}")
        });
        canvas.path("grid", &lines.collect::<String>());
        let (x, y, width) = (Number(left), Number(bottom), Number(width));
        canvas.path("axis", &format!("M{x} {y}h{width}"));
        canvas.open_at("tick middle", (0.0, bottom + 19.0));
        let mut free_from = f64::NEG_INFINITY;
        for (value, text) in &self.ticks {
            let x = at(value);
            // A text that would run into its neighbour is left out; its line stays.
            let half = text.chars().count() as f64 * CHARACTER / 2.0;
            if x - half >= free_from {
                // At the edge of the drawing it begins at its line: its left half would be cut.
                let class = if x < half { "start" } else { "" };
                canvas.text(class, (x, 0.0), text);
                free_from = x + half + CHARACTER / 2.0;
            }
        }
        canvas.shut();
        let end = (left + width.0, bottom + 38.0);
        canvas.text("axis-title end", end, &self.title);
    }

    /// Draws it up the left side, its title above.
    pub fn draw_up(&self, canvas: &mut Canvas, left: f64, right: f64, top: f64, bottom: f64) {
        let at = |value: &f64| bottom - self.share(*value) * (bottom - top);
        let lines = self.ticks.iter().map(|(value, _)| {
            let (x, y, width) = (Number(left), Number(at(value)), Number(right - left));
            format!("M{x} {y}h{width}")
        });
        canvas.path("grid", &lines.collect::<String>());
        canvas.open_at("tick end", (left - 7.0, 4.5));
        for (value, text) in &self.ticks {
            canvas.text("", (0.0, at(value)), text);
        }
        canvas.shut();
        canvas.text("axis-title", (0.0, 15.0), &self.title);
    }
}

fn title(axis: &Axis, unit: &str) -> String {
    let log = if axis.is_log { "log scale" } else { "" };
    let asides: Vec<&str> = [unit, log].into_iter().filter(|s| !s.is_empty()).collect();
    if asides.is_empty() {
        axis.title.clone()
    } else {
        format!("{} ({})", axis.title, asides.join(", "))
    }
}

/// Round numbers from 0 to the first that is not below `high`.
fn linear_ticks(high: f64, ticks_max: usize) -> (f64, f64, Vec<f64>) {
    let rough = high / ticks_max as f64;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * decade)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(decade * 10.0);
    let steps = (high / step - 1e-9).ceil().max(1.0);
    let ticks = (0..=steps as usize).map(|at| at as f64 * step).collect();
    (0.0, steps * step, ticks)
}

/// A log axis bears this many ticks more than a linear one: its numbers are short.
const TICKS_MORE: usize = 3;

/// Powers of ten, or 1, 2 and 5 times them where the axis is short.
fn log_ticks(low: f64, high: f64, ticks_max: usize) -> (f64, f64, Vec<f64>) {
    const FINE: &[f64] = &[1.0, 2.0, 5.0];
    let steps = |factors: &[f64]| -> Vec<f64> {
        let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        (from..=to)
            .flat_map(|decade| factors.iter().map(move |f| f * 10_f64.powi(decade)))
            .collect()
    };
    // The axis ends at fine steps, independently of its ticks, so that no decade is empty.
    let fine = steps(FINE);
    let start = fine.iter().copied().filter(|t| *t <= low * (1.0 + 1e-9));
    let start = start.fold(f64::NAN, f64::max);
    let end = fine.iter().copied().filter(|t| *t >= high * (1.0 - 1e-9));
    let end = end.fold(f64::NAN, f64::min);
    let inside = |ticks: Vec<f64>| -> Vec<f64> {
        let is_inside = |tick: &f64| (start * (1.0 - 1e-9)..=end * (1.0 + 1e-9)).contains(tick);
        ticks.into_iter().filter(is_inside).collect()
    };
    let choices = [FINE, &[1.0, 3.0], &[1.0]].map(|factors| inside(steps(factors)));
    let [.., coarsest] = &choices;
    let fits = |ticks: &&Vec<f64>| ticks.len() <= ticks_max + TICKS_MORE;
    let ticks = choices.iter().find(fits).unwrap_or(coarsest);
    let every = ticks.len().div_ceil(ticks_max + TICKS_MORE);
    let ticks = ticks.iter().copied().step_by(every.max(1)).collect();
    (start, end, ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_reach_the_end() {
        assert_eq!(
            linear_ticks(9.3, 5),
            (0.0, 10.0, vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
        );
        assert_eq!(linear_ticks(1.0, 5).1, 1.0);
        assert_eq!(
            linear_ticks(0.03, 3),
            (0.0, 0.03, vec![0.0, 0.01, 0.02, 0.03])
        );
    }

    #[test]
    fn log_ticks_are_decades_or_finer() {
        let (low, high, ticks) = log_ticks(0.23, 4.9, 6);
        assert_eq!((low, high), (0.2, 5.0));
        assert_eq!(ticks, [0.2, 0.5, 1.0, 2.0, 5.0]);
        let (low, high, ticks) = log_ticks(3.0, 70_000.0, 4);
        assert_eq!((low, high), (2.0, 100_000.0));
        assert_eq!(ticks, [10.0, 100.0, 1e3, 1e4, 1e5]);
        assert_eq!(
            log_ticks(8.0, 900.0, 4).2,
            [10.0, 30.0, 100.0, 300.0, 1000.0]
        );
    }

    #[test]
    fn titles_name_the_unit() {
        let axis = |values: &[f64]| Axis {
            title: "size".into(),
            unit: "bytes",
            is_log: values.len() > 1,
            ticks: None,
        };
        let title = |values: &[f64]| Ruler::new(&axis(values), values.iter().copied(), 5).title;
        assert_eq!(title(&[3e6]), "size (MiB)");
        assert_eq!(title(&[300.0, 3e6]), "size (KiB, log scale)");
    }

    #[test]
    fn nothing_but_zeros_is_no_panic() {
        let axis = Axis {
            title: "x".into(),
            unit: "us",
            is_log: false,
            ticks: None,
        };
        let ruler = Ruler::new(&axis, [0.0].into_iter(), 5);
        assert_eq!(ruler.share(0.0), 0.0);
    }

    #[test]
    fn a_log_axis_begins_at_the_least_value_above_0() {
        let axis = Axis {
            title: "written".into(),
            unit: "bytes",
            is_log: true,
            ticks: None,
        };
        let ruler = Ruler::new(&axis, [0.0, 3.0, 700.0].into_iter(), 5);
        assert!(ruler.ticks.len() < 10 && ruler.share(3.0) < 0.2);
        assert_eq!(ruler.share(0.0), 0.0);
        let ruler = Ruler::new(&axis, [0.0].into_iter(), 5);
        assert!(ruler.ticks.len() < 10, "{}", ruler.ticks.len());
    }
}
