//! Plots as data.

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Unique in its experiment; letters, digits and hyphens.
    pub id: String,
    /// The title.
    pub title: String,
    /// The caption.
    pub note: String,
    /// It shows times, and the noise gate withholds times.
    pub is_withheld: bool,
    /// The metric whose value of each cell it draws; `None` where it draws something else, such as growth.
    pub metric: Option<&'static str>,
    /// The content.
    pub data: Data,
}

/// The content of a plot.
#[derive(Clone, Debug)]
pub enum Data {
    /// Values against numbers.
    Lines(Lines),
    /// Totals and their parts.
    Bars(Bars),
    /// Values side by side.
    Dots(Dots),
    /// Pages in key order.
    Strips(Vec<Strip>),
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The measured quantity.
    pub title: String,
    /// The unit of the values, known to [`crate::format::quantity`].
    pub unit: &'static str,
    /// Logarithmic: its values span more than `LOG_FROM`.
    pub is_log: bool,
    /// The positions of the ticks, if not at round numbers.
    pub ticks: Option<Vec<f64>>,
}

/// Lines in one or more panels with the same axes.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// Names of the lines: the same name looks the same in every panel.
    pub names: Vec<String>,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// One panel of lines.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The common properties of the lines; empty for a single panel.
    pub title: String,
    /// Its lines.
    pub series: Vec<Series>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// Index of its name.
    pub name: usize,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// One point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up: the median over the repetitions.
    pub y: f64,
    /// The smallest of them.
    pub low: f64,
    /// The largest of them.
    pub high: f64,
}

/// Stacked bars.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Along the bars.
    pub value: Axis,
    /// Names of the segments.
    pub segments: Vec<String>,
    /// Groups of bars, one per cell.
    pub groups: Vec<Group>,
}

/// Bars that belong together.
#[derive(Clone, Debug)]
pub struct Group {
    /// The cell's name.
    pub label: String,
    /// Its bars.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The name within its group; may be empty.
    pub label: String,
    /// One value per segment.
    pub values: Vec<f64>,
    /// The whole as it was measured: the median of sums, which need not be the sum of medians.
    pub total: f64,
}

/// Dots side by side.
#[derive(Clone, Debug)]
pub struct Dots {
    /// Along the rows.
    pub value: Axis,
    /// The meaning of the dots.
    pub series: Vec<DotSeries>,
    /// The rows, one per cell.
    pub rows: Vec<DotRow>,
}

/// The meaning of a dot.
#[derive(Clone, Debug)]
pub struct DotSeries {
    /// Its name.
    pub name: String,
    /// Dots of one group share a colour and a line.
    pub group: usize,
    /// The far end of its group's line.
    pub is_tail: bool,
}

/// A row of dots.
#[derive(Clone, Debug)]
pub struct DotRow {
    /// The cell's name.
    pub label: String,
    /// One value per series; `None` where it was not observed.
    pub values: Vec<Option<f64>>,
}

/// The leaf pages of a tree in key order.
#[derive(Clone, Debug)]
pub struct Strip {
    /// The names of cell and tree.
    pub label: String,
    /// Fill of each leaf, 0 to 1.
    pub fills: Vec<f64>,
}

/// From this ratio of largest to smallest on, an axis is logarithmic.
pub const LOG_FROM: f64 = 20.0;

impl Axis {
    /// An axis for these values: logarithmic where they span far.
    pub(super) fn new(
        title: impl Into<String>,
        unit: &'static str,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        Axis {
            is_log: low > 0.0 && high > low * LOG_FROM,
            ..Axis::linear(title, unit)
        }
    }

    /// An axis that starts at 0: lengths are compared along it.
    pub(super) fn linear(title: impl Into<String>, unit: &'static str) -> Self {
        Axis {
            title: title.into(),
            unit,
            is_log: false,
            ticks: None,
        }
    }
}

impl Data {
    /// Whether it is bars of one segment, which only repeat the table of the experiment.
    pub fn is_undivided(&self) -> bool {
        matches!(self, Data::Bars(bars) if bars.segments.len() == 1)
    }

    /// The word JSON has for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Lines(_) => "lines",
            Data::Bars(_) => "bars",
            Data::Dots(_) => "dots",
            Data::Strips(_) => "strips",
        }
    }
}
