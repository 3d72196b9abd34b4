//! Predictions as a plot.

use inorder_bench::report::{
    plots::{Axis, Data, Lines, Panel, Plot, Point, Series},
    svg,
};
use inorder_predict::Answer;

/// Draws the bytes written per insert against the rows, one line for each key.
pub fn svg(answers: &[Answer]) -> String {
    let axis = |title: &str, unit| Axis {
        title: title.to_owned(),
        unit,
        is_log: true,
        ticks: None,
    };
    let title = "Bytes written per insert";
    let plot = Plot {
        id: "predict".to_owned(),
        title: title.to_owned(),
        note: "A simulation, not a measurement.".to_owned(),
        is_withheld: false,
        metric: None,
        data: Data::Lines(Lines {
            x: axis("rows of the table", "rows"),
            y: axis("bytes per insert", "bytes"),
            names: answers
                .iter()
                .map(|answer| super::report::shortest(answer, answers))
                .collect(),
            panels: vec![Panel {
                title: String::new(),
                series: answers.iter().enumerate().map(series).collect(),
            }],
        }),
    };
    svg::file(&[&plot], title)
}

fn series((name, answer): (usize, &Answer)) -> Series {
    let error = answer.last_bytes.error / answer.last_bytes.value.max(f64::MIN_POSITIVE);
    let points = answer.points.iter().map(|point| {
        let y = point.last.written_bytes() / point.last.rows.max(1.0);
        Point {
            x: point.rows as f64,
            y,
            low: y * (1.0 - error),
            high: y * (1.0 + error),
        }
    });
    Series {
        name,
        points: points.collect(),
    }
}
