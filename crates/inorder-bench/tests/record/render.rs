//! Renders blocks: tables, sentences and plots of a record.

use super::{
    about,
    block::Order,
    predictions,
    records::{Record, Records, Samples, experiment},
    samples,
};
use inorder_bench::{
    claims::{POSTS, published::Replay},
    format,
    report::{
        Format, Options, answer, markdown,
        plots::Plot,
        render_with, svg,
        view::{ClaimRow, ExperimentView, Report},
    },
};
use std::{collections::BTreeMap, path::Path};

/// Renders the blocks of one Markdown file.
pub struct Renderer<'a> {
    pub records: &'a Records,
    /// The file's path from the root of the repository.
    pub page: &'a Path,
    /// Files that the blocks refer to: path from the root, and text.
    pub files: BTreeMap<String, String>,
}

type Result<T> = std::result::Result<T, String>;

/// Every kind of block, for the error message of another one.
const KINDS: &str = "records | posts | runs RECORD… | claims RECORD CLAIM…, of one record after the other | \
    experiment RECORD EXPERIMENT [METRIC…] | answer RECORD EXPERIMENT | terminal RECORD EXPERIMENT | replay RECORD ENGINE/LAYOUT… | \
    distances RECORD | predictions [shares | worst COUNT | cells] RECORD… | samples RECORD/FILE.csv | plot RECORD EXPERIMENT PLOT… FILE.svg";

impl Renderer<'_> {
    /// The text of a block.
    pub fn render(&mut self, order: &Order<'_>) -> Result<String> {
        match order.words.as_slice() {
            ["records"] => self.list(),
            ["posts"] => Ok(markdown::sources(POSTS).trim_start().to_owned()),
            ["runs", records @ ..] => self.runs(records),
            ["claims", words @ ..] => self.claims(words),
            ["experiment", record, name, metrics @ ..] => self.experiment(record, name, metrics),
            ["answer", record, name] => {
                let report = self.records.report(record)?;
                Ok(answer::text(&experiment(&report, name)?.answer))
            }
            ["terminal", record, name] => self.terminal(record, name),
            ["replay", record, curves @ ..] => self.replay(record, curves),
            ["distances", record] => self.distances(record),
            ["predictions", words @ ..] => self.predictions(words),
            ["samples", file] => samples::table(&self.records.csv(file)?, order),
            ["plot", record, name, ids @ .., path] => self.plot(record, name, ids, path),
            other => Err(format!("`{}` is none of: {KINDS}", other.join(" "))),
        }
    }

    /// A link from the page to a file of the repository.
    fn link(&self, text: &str, target: &str) -> String {
        format!("[{text}]({})", self.address(target))
    }

    fn address(&self, target: &str) -> String {
        let folders = self.page.components().count().saturating_sub(1);
        format!("{}{target}", "../".repeat(folders))
    }

    /// All records.
    fn list(&self) -> Result<String> {
        let headings = ["record", "what", "command", "revision", "samples"].map(str::to_owned);
        let row = |name: String| -> Result<Vec<String>> {
            let (what, command, revision, samples) = match self.records.record(&name)? {
                Record::Run(report) => (
                    about::subject(&report),
                    about::command(&report),
                    report.meta.revision.clone(),
                    about::trials(&report),
                ),
                Record::Other(source) => {
                    let samples = match source.samples {
                        Samples::Kept => "every sample",
                        Samples::Transcribed => "not kept: figures of an earlier table",
                    };
                    (
                        source.what,
                        source.command,
                        source.revision,
                        samples.to_owned(),
                    )
                }
            };
            let link = format!("[{name}]({name})");
            Ok(vec![link, what, format!("`{command}`"), revision, samples])
        };
        let rows: Vec<Vec<String>> = self
            .records
            .names()
            .into_iter()
            .map(row)
            .collect::<Result<_>>()?;
        Ok(markdown::table(&headings, &rows, headings.len()))
    }

    /// Describes the runs of some records, and their machines.
    fn runs(&self, records: &[&str]) -> Result<String> {
        let mut out = String::new();
        for name in records {
            let lines = match self.records.record(name)? {
                Record::Run(report) => about::of_run(&report),
                Record::Other(source) => about::of_source(&source),
            };
            out += &format!(
                "- {}: {}\n",
                self.link(name, &format!("record/{name}")),
                lines[0]
            );
            out.extend(lines[1..].iter().map(|line| format!("  - {line}\n")));
        }
        Ok(out)
    }

    /// Claims with the verdicts of the record named before them.
    fn claims(&self, words: &[&str]) -> Result<String> {
        let headings = [
            "claim",
            "the post says",
            "its figure",
            "here",
            "verdict",
            "samples",
        ];
        let mut rows = Vec::new();
        let mut current: Option<(&str, _)> = None;
        for word in words {
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                current = Some((word, self.records.report(word)?));
                continue;
            }
            let (record, report) = current.as_ref().ok_or("name a record before the claims")?;
            let claim = report.claims.iter().find(|claim| claim.id == *word);
            let claim = claim.ok_or_else(|| format!("there is no claim `{word}`"))?;
            if !claim.is_judged() {
                return Err(format!("record {record} has no trials that answer {word}"));
            }
            rows.push(self.claim(record, claim));
        }
        Ok(markdown::table(
            &headings.map(str::to_owned),
            &rows,
            headings.len(),
        ))
    }

    fn claim(&self, record: &str, claim: &ClaimRow) -> Vec<String> {
        let judgement = &claim.judgement;
        let reason = match judgement.reason.is_empty() {
            true => String::new(),
            false => format!(": {}", judgement.reason),
        };
        vec![
            format!("[{}]({})", claim.id, claim.post.url),
            claim.statement.to_owned(),
            claim.figure.to_owned(),
            judgement.seen.clone(),
            format!("**{}**{reason}", judgement.verdict_text()),
            self.link(claim.experiment, &format!("record/{record}")),
        ]
    }

    /// The cells of an experiment against metrics.
    fn experiment(&self, record: &str, name: &str, metrics: &[&str]) -> Result<String> {
        let report = self.records.report(record)?;
        let summary = &experiment(&report, name)?.summary;
        let is_there = |id: &str| summary.columns.iter().any(|column| column.id == id);
        if let Some(unknown) = metrics.iter().find(|id| !is_there(id)) {
            return Err(format!("the record has no metric `{unknown}`"));
        }
        Ok(markdown::summary(summary, |column| match metrics {
            [] => column.is_telling,
            wanted => wanted.contains(&column.id),
        }))
    }

    /// Returns the output of `inorder report` for an experiment, up to the end of its first table.
    fn terminal(&self, record: &str, name: &str) -> Result<String> {
        let mut run = self.records.run(record)?;
        run.experiments.retain(|experiment| experiment.name == name);
        let text = render_with(&run, &[], Format::Term, &Options::default());
        let text = text.map_err(|error| error.to_string())?;
        let heading = format!("\n{name}: ");
        let (_, printed) = text
            .split_once(&heading)
            .ok_or_else(|| format!("the record has no experiment `{name}`"))?;
        let (words, table) = printed.split_once("\n\n").unwrap_or((printed, ""));
        let rows = table.lines().take_while(|line| line.starts_with(' '));
        let rows: Vec<&str> = rows.collect();
        Ok(format!(
            "```text\n{name}: {words}\n\n{}\n```",
            rows.join("\n")
        ))
    }

    /// Curves beside those of the published rig.
    fn replay(&self, record: &str, curves: &[&str]) -> Result<String> {
        let report = self.records.report(record)?;
        let all = replays(&report)?;
        let mut headings = vec!["rows".to_owned()];
        let mut rows: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for name in curves {
            let is_named = |replay: &&Replay| {
                format!("{}/{}", replay.curve.engine, replay.curve.layout) == *name
            };
            let replay = all.iter().find(is_named);
            let replay = replay.ok_or_else(|| format!("the record replays no curve `{name}`"))?;
            let curve = format!("{}, {}", replay.curve.engine, replay.curve.layout);
            headings.extend([format!("{curve}: here"), "the rig".to_owned()]);
            for (at, here, there) in &replay.points {
                let row = rows
                    .entry(*at)
                    .or_insert_with(|| vec![format::integer(*at)]);
                row.extend([here, there].map(|percent| format!("{percent:.2}%")));
            }
        }
        let rows: Vec<Vec<String>> = rows.into_values().collect();
        Ok(markdown::table(&headings, &rows, 0))
    }

    /// The largest distance of each curve to that of the published rig.
    fn distances(&self, record: &str) -> Result<String> {
        let report = self.records.report(record)?;
        let headings = ["engine", "layout", "largest distance", "at rows"].map(str::to_owned);
        let row = |replay: &Replay| {
            let apart = |(_, here, there): &(u64, f64, f64)| (here - there).abs();
            let farthest = replay
                .points
                .iter()
                .max_by(|a, b| apart(a).total_cmp(&apart(b)));
            vec![
                replay.curve.engine.to_owned(),
                replay.curve.layout.to_owned(),
                format!("{:.2} points", replay.distance_points()),
                farthest.map_or_else(String::new, |point| format::integer(point.0)),
            ]
        };
        let rows: Vec<Vec<String>> = replays(&report)?.iter().map(row).collect();
        Ok(markdown::table(&headings, &rows, 2))
    }

    /// Predictions beside the runs that tested them.
    fn predictions(&self, words: &[&str]) -> Result<String> {
        let read = |records: &[&str]| predictions::read(self.records, records);
        match words {
            ["shares", records @ ..] => Ok(predictions::shares(&read(records)?)),
            ["cells", records @ ..] => Ok(predictions::list(read(records)?, None)),
            ["worst", count, records @ ..] => {
                let count = count
                    .parse()
                    .map_err(|_| format!("`{count}` is no number"))?;
                Ok(predictions::list(read(records)?, Some(count)))
            }
            _ => Err("name `shares`, `cells` or `worst COUNT`, and records".to_owned()),
        }
    }

    /// Draws plots into a file, and refers to it.
    fn plot(&mut self, record: &str, name: &str, ids: &[&str], path: &str) -> Result<String> {
        let report = self.records.report(record)?;
        let view = experiment(&report, name)?;
        let plots = ids
            .iter()
            .map(|id| plot(view, id))
            .collect::<Result<Vec<_>>>()?;
        let titles: Vec<&str> = plots.iter().map(|plot| plot.title.as_str()).collect();
        let about = format!("{}: {}", view.title, titles.join("; "));
        self.files
            .insert(path.to_owned(), svg::file(&plots, &about));
        let image = format!("![{about}]({})", self.address(path));
        Ok(self.link(&image, &format!("record/{record}")))
    }
}

fn plot<'a>(view: &'a ExperimentView, id: &str) -> Result<&'a Plot> {
    let found = view.plots.iter().find(|plot| plot.id == id);
    found.ok_or_else(|| {
        let known: Vec<&str> = view.plots.iter().map(|plot| plot.id.as_str()).collect();
        format!("no plot `{id}`; there are {}", known.join(", "))
    })
}

fn replays(report: &Report) -> Result<&[Replay]> {
    let mut views = report.experiments.iter();
    let view = views.find(|view| !view.replays.is_empty());
    view.map(|view| view.replays.as_slice())
        .ok_or_else(|| "the record replays nothing that was published".to_owned())
}
