//! The report as JSON.
//!
//! The names below stay what they are while `format_version` does. `null` is "could not be
//! observed", or an end of an interval that there is none of. A ratio is `{ratio, low, high, pairs}`: the
//! geometric mean of the pairs' ratios, the ends of its 95% interval, and the pairs of trials it rests on.
//!
//! | field | what |
//! | --- | --- |
//! | `format`, `format_version` | `inorder-report`, 2 |
//! | `meta` | version, revision, seed, scale, command, times in Unix seconds, host, engines |
//! | `claims[]` | `id`, `post` (its short name), `source` (`author`, `title`, `published`, `url` of the post), `statement`, `figure`, `experiment`, `verdict`, `seen`, `ratio`, `reason`, `parts[]` (`name`, `verdict`, `ratio`, `reason`: what the claim says of sizes and times apart), `elsewhere[]` (`engine` and the last five again) |
//! | `left_out[]` | what a time budget left out: `experiment`, `repetitions_run`, `repetitions_planned`, `command` that runs them all |
//! | `experiments[]` | see below |
//! | `.name` `.title` `.question` `.expect` `.answer` `.claims[]` | texts |
//! | `.varied` | factor → levels |
//! | `.fixed` | factor → level |
//! | `.metrics[]` | `id`, `title`, `unit`, `is_withheld` (a time on a noisy machine) |
//! | `.cells[]` | `id`, `label`, `is_baseline`, `trials_done`, `trials_planned`, `metrics` |
//! | `.cells[].metrics` | metric's id → `{median, low, high, ratio}`, the ratio against the baseline |
//! | `.rankings[]` | `engine`, `metrics[]` (ids, the deciding one first), `cells[]` (`id`, `label`, `is_baseline`, `metrics`: id → `{median, ratio}`; the one that costs least first), `advice[]` |
//! | `.migrations[]` | `cell` (its label), `phases[]` (`name`, `written_bytes`, `log_bytes`, `wall_s`, `cpu_s`, `writer_wait_ms`, `reader_wait_ms`), `lines[]` |
//! | `.noise` | `withheld` (a reason or `null`), `floor` (metric's id → ratio), `reference_spread` (longest over shortest time of the reference work, or `null`), `reference_exponent` (`k`: the CPU time of a load was corrected by the reference work's to the power of `k`) |
//! | `.layers[]` | `engine`, `layer` (`write-calls` or `block`), `low`, `high` (the kernel's count over the engine's, less 1), `agrees`, `gap` |
//! | `.plots[]` | `id`, `title`, `note`, `is_withheld`, `kind`, and by kind: |
//! | … `lines` | `x`, `y` (`title`, `unit`), `series[]`: `panel`, `name`, `points[]`: `[x, median, low, high]` |
//! | … `bars` | `value` (`title`, `unit`), `segments[]`, `bars[]`: `cell`, `bar`, `values[]`, `total` |
//! | … `dots` | `value` (`title`, `unit`), `series[]`, `rows[]`: `cell`, `values[]` |
//! | … `strips` | `strips[]`: `cell`, `fills[]` (0 to 1, in key order) |
//! | `.failed[]` | `cell`, `repetition`, `error` |
//! | `.trials_missing` | trials that have not run |
//! | `.settings[]` | `cells`, `settings`: as read back from the engine |
//! | `.texts[]` | `cells`, `name`, `text`: query plans and the like |

use super::{
    answer,
    output::Error,
    plots::{Axis, Data, Plot},
    view::{ClaimRow, ExperimentView, Migration, Ranked, Ranking, Report, Row, Summary},
};
use crate::{
    analysis::LayerCheck,
    claims::{Judgement, Part, Post},
    results::left_out::LeftOut,
};
use inorder_engine::Layer;
use serde_json::{Map, Value, json};

/// Version of the names above.
pub const FORMAT_VERSION: u32 = 2;

/// Writes a report down.
///
/// # Errors
/// If a value cannot be written as JSON.
pub fn render(report: &Report) -> Result<String, Error> {
    let claims: Vec<Value> = report.claims.iter().map(claim).collect();
    let experiments: Vec<Value> = report.experiments.iter().map(experiment).collect();
    let all = json!({
        "format": "inorder-report",
        "format_version": FORMAT_VERSION,
        "meta": report.meta,
        "claims": claims,
        "experiments": experiments,
        "left_out": report.left_out.iter().map(left_out).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

fn left_out(left: &LeftOut) -> Value {
    json!({
        "experiment": left.experiment,
        "repetitions_run": left.repetitions_run,
        "repetitions_planned": left.repetitions_planned,
        "command": left.command,
    })
}

fn claim(claim: &ClaimRow) -> Value {
    json!({
        "id": claim.id,
        "post": claim.post.name,
        "source": source(claim.post),
        "statement": claim.statement,
        "figure": claim.figure,
        "experiment": claim.experiment,
        "verdict": claim.judgement.verdict.name(),
        "seen": claim.judgement.seen,
        "ratio": claim.judgement.ratio,
        "reason": claim.judgement.reason,
        "parts": parts(&claim.judgement),
        "elsewhere": claim.elsewhere.iter().map(|(engine, judgement)| json!({
            "engine": engine,
            "verdict": judgement.verdict.name(),
            "seen": judgement.seen,
            "ratio": judgement.ratio,
            "reason": judgement.reason,
            "parts": parts(judgement),
        })).collect::<Vec<_>>(),
    })
}

/// Author, title, day and address of a post.
pub fn source(post: &Post) -> Value {
    json!({
        "author": post.author,
        "title": post.title,
        "published": post.published,
        "url": post.url,
    })
}

fn parts(judgement: &Judgement) -> Vec<Value> {
    let part = |part: &Part| {
        json!({
            "name": part.name,
            "verdict": part.verdict.name(),
            "ratio": part.ratio,
            "reason": part.reason,
        })
    };
    judgement.parts.iter().map(part).collect()
}

fn experiment(experiment: &ExperimentView) -> Value {
    let noise = &experiment.noise;
    let metrics: Vec<Value> = experiment
        .summary
        .columns
        .iter()
        .map(|column| {
            json!({
                "id": column.id,
                "title": column.title,
                "unit": column.unit,
                "is_withheld": column.is_withheld,
            })
        })
        .collect();
    let rows = experiment.summary.rows.iter();
    let cells: Vec<Value> = rows.map(|row| cell(&experiment.summary, row)).collect();
    json!({
        "name": experiment.name,
        "title": experiment.title,
        "question": experiment.question,
        "expect": experiment.expect,
        "answer": answer::text(&experiment.answer),
        "claims": experiment.claims,
        "varied": object(experiment.varied.iter().map(|(k, v)| (k.clone(), json!(v)))),
        "fixed": object(experiment.fixed.iter().map(|(k, v)| (k.clone(), json!(v)))),
        "metrics": metrics,
        "cells": cells,
        "migrations": experiment.migrations.iter().map(migration).collect::<Vec<_>>(),
        "rankings": experiment.rankings.iter().map(ranking).collect::<Vec<_>>(),
        "noise": {
            "withheld": noise.withheld,
            "reference_spread": noise.reference_spread,
            "reference_exponent": noise.reference_exponent,
            "floor": object(noise.floor.iter().map(|(id, _, ratio)| ((*id).into(), json!(ratio)))),
        },
        "layers": experiment.layers.iter().map(layer).collect::<Vec<_>>(),
        "plots": experiment.plots.iter().map(plot).collect::<Vec<_>>(),
        "failed": experiment.failed.iter().map(|trial| json!({
            "cell": trial.label,
            "repetition": trial.repetition,
            "error": trial.error,
        })).collect::<Vec<_>>(),
        "trials_missing": experiment.missing,
        "settings": experiment.settings.iter().map(|shared| json!({
            "cells": shared.cells,
            "settings": object(shared.what.iter().map(|(k, v)| (k.clone(), json!(v)))),
        })).collect::<Vec<_>>(),
        "texts": experiment.texts.iter().map(|shared| json!({
            "cells": shared.cells,
            "name": shared.what.0,
            "text": shared.what.1,
        })).collect::<Vec<_>>(),
    })
}

fn cell(summary: &Summary, row: &Row) -> Value {
    let metrics = summary.columns.iter().zip(&row.readings);
    let metrics = metrics.map(|(column, reading)| {
        let value = json!({
            "median": reading.median,
            "low": reading.low,
            "high": reading.high,
            "ratio": reading.ratio,
        });
        (column.id.to_owned(), value)
    });
    json!({
        "id": row.cell,
        "label": row.label,
        "is_baseline": row.is_baseline,
        "trials_done": row.done,
        "trials_planned": row.planned,
        "metrics": object(metrics),
    })
}

fn migration(migration: &Migration) -> Value {
    let phase = |(name, numbers): &(&str, Vec<(&str, Option<f64>)>)| {
        let numbers = numbers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)));
        let mut all = Map::from_iter(numbers);
        all.insert("name".to_owned(), json!(name));
        Value::Object(all)
    };
    json!({
        "cell": migration.label,
        "phases": migration.phases.iter().map(phase).collect::<Vec<_>>(),
        "lines": migration.lines,
    })
}

fn ranking(ranking: &Ranking) -> Value {
    let cell = |row: &Ranked| {
        let values = ranking.metrics.iter().zip(&row.values);
        let metrics = values.map(|(metric, value)| {
            let value = json!({ "median": value.median, "ratio": value.ratio });
            (metric.id.to_owned(), value)
        });
        json!({
            "id": row.cell,
            "label": row.label,
            "is_baseline": row.is_baseline,
            "metrics": object(metrics),
        })
    };
    json!({
        "engine": ranking.engine,
        "metrics": ranking.metrics.iter().map(|metric| metric.id).collect::<Vec<_>>(),
        "cells": ranking.rows.iter().map(cell).collect::<Vec<_>>(),
        "advice": ranking.all_advice(),
    })
}

fn layer(found: &LayerCheck) -> Value {
    json!({
        "engine": found.engine,
        "layer": match found.check.layer {
            Layer::WriteCalls => "write-calls",
            Layer::Block => "block",
        },
        "low": found.low,
        "high": found.high,
        "agrees": found.agrees(),
        "gap": found.check.gap,
    })
}

fn plot(plot: &Plot) -> Value {
    let mut value = json!({
        "id": plot.id,
        "title": plot.title,
        "note": plot.note,
        "is_withheld": plot.is_withheld,
        "kind": plot.data.kind(),
    });
    if let (Value::Object(all), Value::Object(data)) = (&mut value, plot_data(&plot.data)) {
        all.extend(data);
    }
    value
}

fn plot_data(data: &Data) -> Value {
    let axis = |axis: &Axis| json!({ "title": axis.title, "unit": axis.unit });
    match data {
        Data::Lines(lines) => json!({
            "x": axis(&lines.x),
            "y": axis(&lines.y),
            "series": lines.panels.iter().flat_map(|panel| panel.series.iter().map(|series| json!({
                "panel": panel.title,
                "name": lines.names[series.name],
                "points": series.points.iter().map(|p| [p.x, p.y, p.low, p.high]).collect::<Vec<_>>(),
            }))).collect::<Vec<_>>(),
        }),
        Data::Bars(bars) => json!({
            "value": axis(&bars.value),
            "segments": bars.segments,
            "bars": bars.groups.iter().flat_map(|group| group.bars.iter().map(|bar| json!({
                "cell": group.label,
                "bar": bar.label,
                "values": bar.values,
                "total": bar.total,
            }))).collect::<Vec<_>>(),
        }),
        Data::Dots(dots) => json!({
            "value": axis(&dots.value),
            "series": dots.series.iter().map(|series| &series.name).collect::<Vec<_>>(),
            "rows": dots.rows.iter().map(|row| json!({
                "cell": row.label,
                "values": row.values,
            })).collect::<Vec<_>>(),
        }),
        Data::Strips(strips) => json!({
            "strips": strips.iter().map(|strip| json!({
                "cell": strip.label,
                "fills": strip.fills,
            })).collect::<Vec<_>>(),
        }),
    }
}

fn object(fields: impl Iterator<Item = (String, Value)>) -> Map<String, Value> {
    fields.collect()
}
