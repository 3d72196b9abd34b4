//! Describes the origin of a record's figures.

use super::records::{Samples, Source};
use inorder_bench::{
    format,
    report::view::{ExperimentView, Report},
};

/// The experiments of a run.
pub fn subject(report: &Report) -> String {
    let names: Vec<&str> = report
        .experiments
        .iter()
        .map(|view| view.name.as_str())
        .collect();
    names.join(", ")
}

/// The trials of a run, compared with its plan.
pub fn trials(report: &Report) -> String {
    let missing: usize = report.experiments.iter().map(|view| view.missing).sum();
    match missing {
        0 => "every trial".to_owned(),
        missing => format!(
            "every trial that ran; {} did not",
            format::count(missing, "trial")
        ),
    }
}

/// The command of a run.
pub fn command(report: &Report) -> String {
    format!("inorder {}", report.meta.command.join(" "))
}

/// A run: the command, the machine, and how far its times can be trusted.
pub fn of_run(report: &Report) -> Vec<String> {
    let meta = &report.meta;
    let host = meta
        .host
        .iter()
        .map(|(name, value)| format!("{name} {value}"));
    let host: Vec<String> = host.collect();
    let engines = meta
        .engines
        .iter()
        .map(|engine| format!("{} {}", engine.name, engine.version));
    let engines: Vec<String> = engines.collect();
    let mut lines = vec![
        format!(
            "`{}`, {}, seed {}, revision {}",
            command(report),
            format::moment(meta.started_unix_s),
            meta.seed,
            meta.revision
        ),
        format!(
            "Engines: {}. Machine: {}.",
            engines.join(", "),
            host.join(", ")
        ),
    ];
    let is_noisy = |view: &&ExperimentView| view.noise.withheld.is_some();
    let noisy = report.experiments.iter().filter(is_noisy);
    let noisy: Vec<&str> = noisy.map(|view| view.name.as_str()).collect();
    if !noisy.is_empty() {
        let of = match noisy.len() == report.experiments.len() {
            true => String::new(),
            false => format!(" of {}", noisy.join(", ")),
        };
        lines.push(format!("The times{of} were measured on a loaded machine."));
    }
    lines
}

/// A record of another program.
pub fn of_source(source: &Source) -> Vec<String> {
    let machine = source.machine.iter().map(|(name, value)| match value {
        toml::Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    });
    let machine: Vec<String> = machine.collect();
    let mut lines = vec![
        format!(
            "{}. `{}`, revision {}",
            source.what, source.command, source.revision
        ),
        format!("Machine: {}.", machine.join(", ")),
    ];
    if source.samples == Samples::Transcribed {
        lines.push(
            "The figures are those of an earlier table. Their samples were not kept.".to_owned(),
        );
    }
    if !source.note.is_empty() {
        lines.push(source.note.clone());
    }
    lines
}
