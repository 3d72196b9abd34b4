//! The same bytes as the engine counts them and as the kernel does.

use super::{
    data::{Axis, Data, DotRow, DotSeries, Dots, Plot},
    source::Source,
};

/// Probe and name of each layer.
const LAYERS: &[(&str, &str)] = &[
    ("engine_written_bytes", "engine-issued"),
    ("process_written_bytes", "write calls"),
    ("block_written_bytes", "block layer"),
];

const NOTE: &str = "Engine-issued: counted by the engine itself. Write calls and block layer: counted by the kernel over the \
                    trial's and its server's processes; MariaDB's asynchronous writes are in the block layer alone, and \
                    the block layer of others depends on when the kernel writes its cache back.";

/// One plot where engines are compared.
pub(super) fn plot(source: &Source) -> Vec<Plot> {
    let is_compared = source.experiment.varied.iter().any(|f| f == "engine");
    let rows: Vec<DotRow> = source
        .cells
        .iter()
        .map(|cell| DotRow {
            label: cell.label.clone(),
            values: LAYERS
                .iter()
                .map(|(probe, _)| {
                    source.median(cell, |trial| {
                        let rows = crate::metrics::rows(trial)?;
                        Some(trial.last(probe, "")? / rows)
                    })
                })
                .collect(),
        })
        .filter(|row| row.values.iter().any(Option::is_some))
        .collect();
    if !is_compared || rows.is_empty() {
        return Vec::new();
    }
    let all = rows.iter().flat_map(|row| row.values.iter().flatten());
    let value = Axis::new("bytes written per row", "bytes", all.copied());
    let series = LAYERS
        .iter()
        .enumerate()
        .map(|(group, (_, name))| DotSeries {
            name: (*name).to_owned(),
            group,
            is_tail: false,
        });
    vec![Plot {
        id: "layers".to_owned(),
        title: "Bytes written per row, by the layer that counts".to_owned(),
        note: NOTE.to_owned(),
        is_withheld: false,
        metric: None,
        data: Data::Dots(Dots {
            value,
            series: series.collect(),
            rows,
        }),
    }]
}
