//! Stacked bars: the parts of a cell's total.

use super::{
    data::{Axis, Bar, Bars, Data, Group, Plot},
    facets::place,
    source::Source,
};
use crate::results::{Cell, Trial};

/// The distribution of rows over servers.
pub(super) fn shards(source: &Source) -> Vec<Plot> {
    by_part(source, "shard_rows", &[], 1.0, |data| Plot {
        id: "shards".into(),
        title: "Rows by shard".into(),
        note:
            "How the rows are spread over the servers; a bar of one colour is one server that has \
               them all."
                .into(),
        is_withheld: false,
        metric: None,
        data: Data::Bars(Bars {
            value: Axis::linear("share of the rows", "share"),
            ..data
        }),
    })
}

/// Size by what fills it, before and after VACUUM.
pub(super) fn size(source: &Source) -> Vec<Plot> {
    const BARS: &[(&str, &str)] = &[
        ("loaded", "size_bytes"),
        ("vacuumed", "size_vacuumed_bytes"),
    ];
    let segments = ["tables", "indexes", "free", "other"].map(String::from);
    let groups = source.cells.iter().map(|cell| Group {
        label: cell.label.clone(),
        bars: BARS
            .iter()
            .filter_map(|(label, probe)| {
                Some(Bar {
                    label: (*label).to_owned(),
                    values: size_segments(source, cell, probe),
                    total: source.median(cell, |trial| trial.last(probe, ""))?,
                })
            })
            .collect(),
    });
    bars(Plot {
        id: "size".into(),
        title: "Size, as loaded and after VACUUM".into(),
        note: "What the database holds once the load is done; the second bar after VACUUM rewrote \
               it."
        .into(),
        is_withheld: false,
        metric: Some("size_bytes"),
        data: Data::Bars(Bars {
            value: Axis::linear("size", "bytes"),
            segments: segments.to_vec(),
            groups: groups.collect(),
        }),
    })
}

/// Bytes of tables, of indexes, free, and what no part accounts for.
fn size_segments(source: &Source, cell: &Cell, probe: &str) -> Vec<f64> {
    let sum = |trial: &Trial, is_part: fn(&str) -> bool| -> f64 {
        trial
            .parts(probe)
            .into_iter()
            .filter(|part| is_part(part))
            .filter_map(|part| trial.last(probe, part))
            .sum()
    };
    let of = |value: &dyn Fn(&Trial) -> f64| {
        // Not every repetition takes every size.
        source
            .median(cell, |trial| trial.last(probe, "").map(|_| value(trial)))
            .unwrap_or(0.0)
    };
    let named: [fn(&str) -> bool; 3] = [
        |part| part.starts_with("table:"),
        |part| part.starts_with("index:"),
        |part| part == "free",
    ];
    let mut values: Vec<f64> = named
        .iter()
        .map(|is_part| of(&|trial| sum(trial, *is_part)))
        .collect();
    values.push(of(&|trial| {
        let known: f64 = named.iter().map(|is_part| sum(trial, *is_part)).sum();
        (trial.last(probe, "").unwrap_or(known) - known).max(0.0)
    }));
    values
}

/// Bytes written per row, by the file they went to.
pub(super) fn bytes_by_file(source: &Source) -> Vec<Plot> {
    let parts = &["main", "wal", "journal", "temp"];
    by_part(source, "engine_written_bytes", parts, 1.0, |data| Plot {
        id: "bytes-by-file".into(),
        title: "Bytes written per row, by file".into(),
        note: "Where the engine's writes went: the database itself, its log, its journal, \
               temporary files."
            .into(),
        is_withheld: false,
        metric: Some("engine_bytes_per_row"),
        data: Data::Bars(Bars {
            value: Axis::linear("bytes written per row", "bytes"),
            ..data
        }),
    })
}

/// CPU time per row, by phase of the load.
pub(super) fn cpu_by_phase(source: &Source) -> Vec<Plot> {
    let parts = &["generate", "sort", "insert", "commit", "checkpoint"];
    by_part(source, "cpu_s", parts, 1e6, |data| Plot {
        id: "cpu-by-phase".into(),
        title: "CPU time per row, by phase".into(),
        note: "What the load's CPU time went into.".into(),
        is_withheld: true,
        metric: Some("cpu_us_per_row"),
        data: Data::Bars(Bars {
            value: Axis::linear("CPU time per row", "us"),
            ..data
        }),
    })
}

/// One bar per cell: a probe's parts, each per row and times `worth`. Parts that are not among
/// the known ones follow them.
fn by_part(
    source: &Source,
    probe: &str,
    known: &[&str],
    worth: f64,
    plot: impl Fn(Bars) -> Plot,
) -> Vec<Plot> {
    let mut segments: Vec<String> = known.iter().map(|part| (*part).to_owned()).collect();
    for cell in &source.cells {
        for trial in source.run.trials_of(cell.id) {
            for part in trial.parts(probe).into_iter().filter(|p| !p.is_empty()) {
                place(&mut segments, part.to_owned());
            }
        }
    }
    let per_row = |cell: &Cell, part: &str| {
        source.median(cell, |trial| {
            let rows = crate::metrics::rows(trial)?;
            Some(trial.last(probe, part)? * worth / rows)
        })
    };
    let groups = source.cells.iter().map(|cell| {
        let values: Vec<Option<f64>> = segments.iter().map(|part| per_row(cell, part)).collect();
        let is_split = values.iter().any(Option::is_some);
        let values: Vec<f64> = values.into_iter().map(|v| v.unwrap_or(0.0)).collect();
        let total = per_row(cell, "").unwrap_or_else(|| values.iter().sum());
        let bar = Bar {
            label: String::new(),
            values,
            total,
        };
        Group {
            label: cell.label.clone(),
            bars: is_split.then_some(bar).into_iter().collect(),
        }
    });
    let groups = groups.collect();
    bars(plot(Bars {
        value: Axis::linear("", ""),
        segments,
        groups,
    }))
}

/// The plot without groups and segments that are empty; nothing if nothing is left.
fn bars(mut plot: Plot) -> Vec<Plot> {
    let Data::Bars(data) = &mut plot.data else {
        return Vec::new();
    };
    data.groups.retain(|group| !group.bars.is_empty());
    for at in (0..data.segments.len()).rev() {
        let bars = data.groups.iter().flat_map(|group| &group.bars);
        if bars.map(|bar| bar.values[at]).all(|value| value <= 0.0) {
            data.segments.remove(at);
            for bar in data.groups.iter_mut().flat_map(|group| &mut group.bars) {
                bar.values.remove(at);
            }
        }
    }
    if data.segments.is_empty() {
        return Vec::new();
    }
    vec![plot]
}
