//! Compares the intervals of CPU ratios as measured with those corrected by the reference work.
//!
//! ```text
//! cargo run --release -p inorder-bench --example reference -- RESULT.db --csv intervals.csv
//! ```
//! Each row is a cell of an experiment against its baseline: how many times as large the upper end of the 95% interval of the ratio
//! of CPU time per row is as the ratio, as measured and corrected, and the exponent of the correction.

use inorder_bench::{analysis, metrics::metric_named, results::Store, statistics::Ratio};
use std::{error::Error, path::Path};

/// Fewer pairs have an interval that says more of them than of the machine.
const PAIRS_MIN: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [result, "--csv", file] = words[..] else {
        return Err("usage: reference RESULT.db --csv FILE".into());
    };
    let run = Store::read(Path::new(result))?;
    let metric = metric_named("cpu_us_per_row").ok_or("no such metric")?;
    let mut out = csv::Writer::from_path(file)?;
    out.write_record([
        "experiment",
        "cell",
        "pairs",
        "exponent",
        "measured_times",
        "corrected_times",
    ])?;
    for experiment in &run.experiments {
        let exponent = analysis::reference_exponent(&run, &experiment.name, metric);
        let others = run.cells_of(&experiment.name).into_iter();
        for cell in others.filter(|cell| cell.id != experiment.baseline) {
            let measured = analysis::ratio_as_measured(&run, cell.id, experiment.baseline, metric);
            let corrected = analysis::ratio(&run, cell.id, experiment.baseline, metric);
            let (Some(measured), Some(corrected)) = (measured, corrected) else {
                continue;
            };
            if measured.pairs >= PAIRS_MIN {
                let reach = |ratio: &Ratio| format!("{:.4}", ratio.high / ratio.ratio);
                out.write_record([
                    &experiment.name,
                    &cell.label,
                    &measured.pairs.to_string(),
                    &format!("{exponent:.3}"),
                    &reach(&measured),
                    &reach(&corrected),
                ])?;
            }
        }
    }
    Ok(out.flush()?)
}
