//! The table behind a plot: the same numbers, written out.

use super::data::{Bars, Data, Dots, Lines, Plot, Point, Strip};
use crate::format;

/// Headings and rows of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The headings.
    pub headings: Vec<String>,
    /// The rows, each as long as the headings.
    pub rows: Vec<Vec<String>>,
    /// Columns from the left that hold words; the others hold numbers.
    pub words: usize,
}

impl Plot {
    /// The table behind it.
    pub fn table(&self) -> Table {
        match &self.data {
            Data::Lines(lines) => of_lines(lines),
            Data::Bars(bars) => of_bars(bars),
            Data::Dots(dots) => of_dots(dots),
            Data::Strips(strips) => of_strips(strips),
        }
    }
}

impl Lines {
    /// The columns of its table before those of the lines: the panel where there are several, and the place across.
    pub fn words(&self) -> usize {
        1 + usize::from(self.panels.len() > 1)
    }
}

impl Bars {
    /// The columns of its table before those of the segments: the group, and the name of a bar where one has a name.
    pub fn words(&self) -> usize {
        let mut bars = self.groups.iter().flat_map(|group| &group.bars);
        1 + usize::from(bars.any(|bar| !bar.label.is_empty()))
    }
}

/// The median with the smallest and the largest of the repetitions, where they read otherwise.
fn of_point(point: &Point, unit: &str) -> String {
    let [median, low, high] = [point.y, point.low, point.high].map(|y| format::quantity(y, unit));
    if low == high {
        return median;
    }
    // A unit that all three have is said once.
    let unit_of = |text: &str| text.rsplit_once(' ').map(|(_, unit)| unit.to_owned());
    let unit = unit_of(&median).filter(|unit| {
        [&low, &high]
            .into_iter()
            .all(|text| unit_of(text).as_ref() == Some(unit))
    });
    let bare = |text: String| match &unit {
        Some(unit) => text[..text.len() - unit.len() - 1].to_owned(),
        None => text,
    };
    format!("{median} ({} to {})", bare(low), bare(high))
}

fn of_lines(lines: &Lines) -> Table {
    let is_split = lines.panels.len() > 1;
    let mut headings = Vec::new();
    if is_split {
        headings.push(String::new());
    }
    headings.push(lines.x.title.clone());
    headings.extend(lines.names.iter().cloned());
    let mut rows = Vec::new();
    for panel in &lines.panels {
        let points = panel.series.iter().flat_map(|series| &series.points);
        let mut across: Vec<f64> = points.map(|point| point.x).collect();
        across.sort_by(f64::total_cmp);
        across.dedup();
        for x in across {
            let mut row = Vec::new();
            if is_split {
                row.push(panel.title.clone());
            }
            row.push(format::quantity(x, lines.x.unit));
            row.extend((0..lines.names.len()).map(|name| {
                let series = panel.series.iter().find(|series| series.name == name);
                let point = series.and_then(|s| s.points.iter().find(|point| point.x == x));
                point.map_or_else(String::new, |point| of_point(point, lines.y.unit))
            }));
            rows.push(row);
        }
    }
    Table {
        headings,
        rows,
        words: usize::from(is_split),
    }
}

fn of_bars(bars: &Bars) -> Table {
    let words = bars.words();
    let mut headings = vec![String::new(); words];
    headings.extend(bars.segments.iter().cloned());
    headings.push("whole".to_owned());
    let mut rows = Vec::new();
    for group in &bars.groups {
        for bar in &group.bars {
            let mut row = vec![group.label.clone()];
            if words > 1 {
                row.push(bar.label.clone());
            }
            let numbers = bar.values.iter().chain([&bar.total]);
            row.extend(numbers.map(|value| format::quantity(*value, bars.value.unit)));
            rows.push(row);
        }
    }
    Table {
        headings,
        rows,
        words,
    }
}

fn of_dots(dots: &Dots) -> Table {
    let names = dots.series.iter().map(|series| series.name.clone());
    Table {
        headings: [String::new()].into_iter().chain(names).collect(),
        rows: dots
            .rows
            .iter()
            .map(|row| {
                let values = row.values.iter();
                let values = values.map(|value| format::quantity_or_na(*value, dots.value.unit));
                [row.label.clone()].into_iter().chain(values).collect()
            })
            .collect(),
        words: 1,
    }
}

fn of_strips(strips: &[Strip]) -> Table {
    /// From which fill, below which, and the heading.
    const CLASSES: &[(f64, f64, &str)] = &[
        (0.0, 0.5, "below 50%"),
        (0.5, 0.7, "50 to 70%"),
        (0.7, 0.9, "70 to 90%"),
        (0.9, f64::INFINITY, "90% and more"),
    ];
    let classes = CLASSES
        .iter()
        .map(|(.., heading)| format!("leaves {heading}"));
    Table {
        headings: ["", "leaves", "mean fill"]
            .map(String::from)
            .into_iter()
            .chain(classes)
            .collect(),
        rows: strips
            .iter()
            .map(|strip| {
                let count = |from: f64, below: f64| {
                    strip
                        .fills
                        .iter()
                        .filter(|fill| (from..below).contains(*fill))
                        .count()
                };
                let counts = CLASSES
                    .iter()
                    .map(|(from, below, _)| format::integer(count(*from, *below) as u64));
                [
                    strip.label.clone(),
                    format::integer(strip.fills.len() as u64),
                    format::percent(strip.mean()),
                ]
                .into_iter()
                .chain(counts)
                .collect()
            })
            .collect(),
        words: 1,
    }
}
