//! Latencies side by side: warm and cold, median and tail.

use super::{
    data::{Axis, Data, DotRow, DotSeries, Dots, Plot},
    source::Source,
};
use crate::results::Cell;

/// Probe, id of its plot, title.
const PROBES: &[(&str, &str, &str)] = &[
    (
        "point_lookup_us",
        "latency-point",
        "Latency of a look-up by key",
    ),
    (
        "range_lookup_us",
        "latency-range",
        "Latency of reading 100 rows in key order",
    ),
    (
        "query_us",
        "latency-query",
        "Latency of the experiment's query",
    ),
];

/// A part of those probes.
struct Part {
    name: &'static str,
    part: &'static str,
    group: usize,
    is_tail: bool,
}

const PARTS: &[Part] = &[
    part("warm p50", "warm.p50", 0, false),
    part("warm p99", "warm.p99", 0, true),
    part("cold p50", "cold.p50", 1, false),
    part("cold p99", "cold.p99", 1, true),
];

const fn part(name: &'static str, part: &'static str, group: usize, is_tail: bool) -> Part {
    Part {
        name,
        part,
        group,
        is_tail,
    }
}

const NOTE: &str = "From the median (filled) to the 99th percentile (hollow). Warm: the page cache \
                    holds what earlier look-ups read; cold: it was emptied before.";

/// One plot for each probe that was observed.
pub(super) fn plots(source: &Source) -> Vec<Plot> {
    PROBES
        .iter()
        .filter_map(|(probe, id, title)| {
            Some(Plot {
                id: (*id).to_owned(),
                title: (*title).to_owned(),
                note: NOTE.to_owned(),
                is_withheld: true,
                metric: None,
                data: Data::Dots(dots(source, probe)?),
            })
        })
        .collect()
}

fn dots(source: &Source, probe: &str) -> Option<Dots> {
    let value = |cell: &Cell, part: &Part| source.median(cell, |t| t.last(probe, part.part));
    let is_seen = |part: &&Part| source.cells.iter().any(|c| value(c, part).is_some());
    let parts: Vec<&Part> = PARTS.iter().filter(is_seen).collect();
    let rows: Vec<DotRow> = source
        .cells
        .iter()
        .map(|cell| DotRow {
            label: cell.label.clone(),
            values: parts.iter().map(|part| value(cell, part)).collect(),
        })
        .filter(|row| row.values.iter().any(Option::is_some))
        .collect();
    let all = rows.iter().flat_map(|row| row.values.iter().flatten());
    let value = Axis::new("latency", "us", all.copied());
    let series = parts.iter().map(|part| DotSeries {
        name: part.name.to_owned(),
        group: part.group,
        is_tail: part.is_tail,
    });
    (!rows.is_empty()).then(|| Dots {
        value,
        series: series.collect(),
        rows,
    })
}
