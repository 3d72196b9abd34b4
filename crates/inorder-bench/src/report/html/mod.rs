//! The report as one self-contained page.
//!
//! Nothing is loaded from anywhere: style sheet, script and drawings stand in the page, and its
//! Content-Security-Policy forbids the rest. The texts are in `page.html`, the looks in `page.css`,
//! what moves in `page.js`; this module only prepares what the template places.

mod common;

use super::{
    output::Error,
    plots::{Plot, Table},
    svg,
    view::{
        ClaimRow, Column, ExperimentView, Migration, Ranked, Ranking, Report, Row, Shared, Summary,
    },
};
use crate::{claims::Verdict, format};
use common::Common;
use minijinja::{Environment, value::Serde};
use serde::Serialize;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = concat!(include_str!("../svg/drawing.css"), include_str!("page.css"));
const SCRIPT: &str = include_str!("page.js");

/// Writes a report down.
///
/// # Errors
/// If the template does not fit what it is given.
pub fn render(report: &Report) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    environment.set_formatter(escaped);
    environment.add_filter("code", code);
    environment.add_filter("content", content);
    environment.add_template("page.html", TEMPLATE)?;
    let page = Page::new(report);
    Ok(environment
        .get_template("page.html")?
        .render(Serde(&page))?)
}

/// Writes a value as minijinja does, except that slashes and apostrophes, which are many and harmless here, stay as they are.
fn escaped(
    out: &mut minijinja::Output,
    _: &mut minijinja::State,
    value: &minijinja::Value,
) -> Result<(), minijinja::Error> {
    if value.is_undefined() {
        return Err(minijinja::ErrorKind::UndefinedError.into());
    }
    let text = value.to_string();
    match value.is_safe() {
        true => out.write_str(&text)?,
        false => write!(out, "{}", svg::Escaped(&text))?,
    }
    Ok(())
}

/// Text in which what stands between backticks is code.
fn code(text: &str) -> minijinja::Value {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        let part = svg::Escaped(part);
        out.push_str(&match at % 2 {
            0 => part.to_string(),
            _ => format!("<code>{part}</code>"),
        });
    }
    minijinja::Value::from_safe_string(out)
}

/// Text between tags: quotes, of which the files of experiments are full, stay as they are.
fn content(text: &str) -> minijinja::Value {
    let text = svg::Escaped(text).to_string();
    minijinja::Value::from_safe_string(text.replace("&quot;", "\""))
}

/// A style sheet or script without the comments and the indentation that are for its authors.
fn compact(source: &str) -> String {
    let mut out = String::new();
    let mut is_comment = false;
    for line in source.lines().map(str::trim) {
        let is_whole = line.starts_with("//") || line.is_empty();
        is_comment |= line.starts_with("/*");
        if !is_comment && !is_whole {
            out.push_str(line);
            out.push('\n');
        }
        is_comment &= !line.ends_with("*/");
    }
    out
}

/// The variables of the template.
#[derive(Serialize)]
struct Page<'a> {
    style: String,
    script: String,
    defs: String,
    /// Whether the report is about one experiment, and no claim.
    is_alone: bool,
    facts: &'a [(&'static str, String)],
    host: &'a [(String, String)],
    engines: &'a [crate::results::EngineRecord],
    tally: Vec<Tally>,
    posts: Vec<Post<'a>>,
    experiments: Vec<Experiment<'a>>,
    /// What experiments have unless they say otherwise.
    factors: Vec<&'a (String, String)>,
    settings: Vec<&'a (String, String)>,
}

/// The number of claims with a verdict.
#[derive(Serialize)]
struct Tally {
    count: usize,
    verdict: String,
    class: &'static str,
}

/// The claims of one post.
#[derive(Serialize)]
struct Post<'a> {
    author: &'a str,
    title: &'a str,
    published: Option<&'a str>,
    url: &'a str,
    claims: Vec<ClaimEntry<'a>>,
}

#[derive(Serialize)]
struct ClaimEntry<'a> {
    id: &'a str,
    statement: &'a str,
    figure: &'a str,
    /// The experiment that answers it, if the run has it.
    experiment: Option<&'a str>,
    verdict: String,
    class: &'static str,
    seen: &'a str,
    reason: &'a str,
    /// The observations on other engines.
    elsewhere: Vec<String>,
    /// The drawing of the ratio it rests on.
    drawing: Option<String>,
}

#[derive(Serialize)]
struct Experiment<'a> {
    name: &'a str,
    title: &'a str,
    question: &'a str,
    expect: &'a str,
    answer: Vec<AnswerPiece<'a>>,
    rankings: Vec<RankingEntry>,
    migrations: Vec<MigrationEntry<'a>>,
    claims: Vec<ClaimLink<'a>>,
    summary: Option<SummaryTable<'a>>,
    /// The metrics that the summary leaves out.
    others: Option<SummaryTable<'a>>,
    floor: Vec<(&'static str, String)>,
    correction: Option<String>,
    withheld: Option<&'a str>,
    rates_not_kept: Vec<String>,
    layers: Vec<String>,
    failed: Vec<(&'a str, u32, &'a str)>,
    missing: Option<String>,
    plots: Vec<PlotEntry<'a>>,
    /// Plots of what another picture shows already: only their tables.
    numbers: Vec<PlotEntry<'a>>,
    varied: &'a [(String, Vec<String>)],
    /// Those that are not common to all experiments.
    fixed: Vec<&'a (String, String)>,
    settings: Vec<Group<'a, Vec<&'a (String, String)>>>,
    texts: Vec<Group<'a, &'a (String, String)>>,
    toml: &'a str,
}

/// Key kinds by cost in one engine.
#[derive(Serialize)]
struct RankingEntry {
    title: String,
    /// The picture of the deciding metric.
    drawing: String,
    table: TableEntry,
    advice: Vec<String>,
}

/// A migration to another key.
#[derive(Serialize)]
struct MigrationEntry<'a> {
    table: TableEntry,
    lines: &'a [String],
}

#[derive(Serialize)]
struct AnswerPiece<'a> {
    text: &'a str,
    is_number: bool,
}

#[derive(Serialize)]
struct ClaimLink<'a> {
    id: &'a str,
    /// `None` where the list of claims has no such id.
    verdict: Option<(&'static str, &'static str)>,
}

#[derive(Serialize)]
struct Group<'a, T> {
    cells: &'a str,
    what: T,
}

#[derive(Serialize)]
struct SummaryTable<'a> {
    headings: Vec<String>,
    rows: Vec<SummaryRow<'a>>,
}

#[derive(Serialize)]
struct SummaryRow<'a> {
    label: &'a str,
    is_baseline: bool,
    trials: String,
    readings: Vec<ReadingEntry<'a>>,
}

#[derive(Serialize)]
struct ReadingEntry<'a> {
    text: &'a str,
    ratio: Option<String>,
    /// The percentage of the column's largest value: the length of the bar.
    length: Option<u32>,
}

#[derive(Serialize)]
struct PlotEntry<'a> {
    id: String,
    title: &'a str,
    note: &'a str,
    kind: &'static str,
    is_withheld: bool,
    legend: Vec<LegendEntry>,
    panels: Vec<PanelEntry>,
    table: TableEntry,
}

#[derive(Serialize)]
struct LegendEntry {
    symbol: String,
    name: String,
}

#[derive(Serialize)]
struct PanelEntry {
    title: String,
    drawing: String,
}

/// A table whose first columns are words and whose others are numbers.
#[derive(Serialize)]
struct TableEntry {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    words: usize,
}

/// Verdicts in the order of the tally, with the class that colours each.
const VERDICTS: &[(Verdict, &str)] = &[
    (Verdict::Holds, "holds"),
    (Verdict::DoesNot, "does-not"),
    (Verdict::Depends, "depends"),
    (Verdict::Inconclusive, "withheld"),
    (Verdict::SettingsDiffer, "needs-engine"),
    (Verdict::NeedsEngine, "needs-engine"),
    (Verdict::NotRun, "not-run"),
];

fn class(verdict: Verdict) -> &'static str {
    VERDICTS
        .iter()
        .find(|(known, _)| *known == verdict)
        .map_or("not-run", |(_, class)| class)
}

impl<'a> Page<'a> {
    fn new(report: &'a Report) -> Self {
        let mut posts: Vec<Post> = Vec::new();
        for claim in &report.claims {
            let entry = ClaimEntry::new(claim, report);
            match posts.iter_mut().find(|post| post.url == claim.post.url) {
                Some(post) => post.claims.push(entry),
                None => posts.push(Post {
                    author: claim.post.author,
                    title: claim.post.title,
                    published: claim.post.published,
                    url: claim.post.url,
                    claims: vec![entry],
                }),
            }
        }
        let tally = VERDICTS.iter().map(|(verdict, class)| Tally {
            count: report
                .claims
                .iter()
                .filter(|claim| claim.judgement.verdict == *verdict)
                .count(),
            verdict: verdict.name().to_owned(),
            class,
        });
        let (factors, settings) = (factors(report), settings(report));
        Page {
            style: compact(STYLE),
            script: compact(SCRIPT),
            defs: svg::defs(),
            is_alone: report.experiments.len() == 1 && report.claims.is_empty(),
            facts: &report.facts,
            host: &report.meta.host,
            engines: &report.meta.engines,
            tally: tally.filter(|tally| tally.count > 0).collect(),
            posts,
            experiments: report
                .experiments
                .iter()
                .map(|experiment| Experiment::new(experiment, report, &factors, &settings))
                .collect(),
            factors: factors.pairs,
            settings: settings.pairs,
        }
    }
}

/// The usual levels of the factors that experiments do not vary.
fn factors(report: &Report) -> Common<'_> {
    let all = &report.experiments;
    let fixed: Vec<&[(String, String)]> = all.iter().map(|one| one.fixed.as_slice()).collect();
    let is_varied = |at: usize, name: &str| all[at].varied.iter().any(|(factor, _)| factor == name);
    Common::new(&fixed, is_varied)
}

/// The usual settings of the engines.
fn settings(report: &Report) -> Common<'_> {
    let groups = report.experiments.iter().flat_map(|one| &one.settings);
    let groups: Vec<&[(String, String)]> = groups.map(|group| group.what.as_slice()).collect();
    match report.experiments.len() {
        0 | 1 => Common::default(),
        _ => Common::new(&groups, |_, _| false),
    }
}

impl<'a> ClaimEntry<'a> {
    fn new(claim: &'a ClaimRow, report: &Report) -> Self {
        let is_there = report
            .experiments
            .iter()
            .any(|e| e.name == claim.experiment);
        let judgement = &claim.judgement;
        ClaimEntry {
            id: claim.id,
            statement: claim.statement,
            figure: claim.figure,
            experiment: is_there.then_some(claim.experiment),
            verdict: judgement.verdict_text(),
            class: class(judgement.verdict),
            seen: &judgement.seen,
            reason: &judgement.reason,
            elsewhere: claim.elsewhere_lines(),
            drawing: (judgement.ratio.as_ref())
                .map(|ratio| svg::interval(ratio, judgement.published)),
        }
    }
}

impl RankingEntry {
    fn new(ranking: &Ranking, advice: Vec<String>) -> Self {
        let row = |row: &Ranked| {
            let label = ranked_label(row);
            std::iter::once(label)
                .chain(row.readings.iter().cloned())
                .collect()
        };
        RankingEntry {
            title: format!("{} on {}, least first", ranking.title(), ranking.engine),
            drawing: drawing(ranking),
            table: TableEntry {
                headings: ranking.headings.clone(),
                rows: ranking.rows.iter().map(row).collect(),
                words: 1,
            },
            advice,
        }
    }
}

impl<'a> MigrationEntry<'a> {
    fn new(migration: &'a Migration) -> Self {
        MigrationEntry {
            table: TableEntry {
                headings: migration.headings.clone(),
                rows: migration.rows.clone(),
                words: 1,
            },
            lines: &migration.lines,
        }
    }
}

/// The name of a cell of a ranking.
fn ranked_label(row: &Ranked) -> String {
    match row.is_baseline {
        true => format!("{} (compared with)", row.label),
        false => row.label.clone(),
    }
}

/// The picture of a ranking.
fn drawing(ranking: &Ranking) -> String {
    let Some(metric) = ranking.metrics.first() else {
        return String::new();
    };
    let bar = |row: &Ranked| {
        let value = row.values.first()?;
        Some((value.median?, ranking.interval(row)))
    };
    let bars: Vec<svg::RankedBar> = (ranking.rows.iter())
        .filter_map(|row| {
            let (value, interval) = bar(row)?;
            Some(svg::RankedBar {
                label: ranked_label(row),
                value,
                interval,
                is_baseline: row.is_baseline,
            })
        })
        .collect();
    let about = format!("{} of each key kind in {}", metric.title, ranking.engine);
    svg::ranking(&bars, metric.title, metric.unit, &about)
}

impl<'a> Experiment<'a> {
    fn new(view: &'a ExperimentView, report: &Report, factors: &Common, settings: &Common) -> Self {
        let noise = &view.noise;
        let link = |id: &'a String| ClaimLink {
            id,
            verdict: report
                .claims
                .iter()
                .find(|claim| claim.id == id)
                .map(|claim| claim.judgement.verdict)
                .map(|verdict| (verdict.name(), class(verdict))),
        };
        let telling: Vec<usize> = view.summary.telling().map(|(at, _)| at).collect();
        let others: Vec<usize> = (0..view.summary.columns.len())
            .filter(|at| !telling.contains(at))
            .collect();
        let (plots, numbers) = plots(view);
        Experiment {
            name: &view.name,
            title: &view.title,
            question: &view.question,
            expect: &view.expect,
            answer: view
                .answer
                .iter()
                .map(|piece| AnswerPiece {
                    text: &piece.text,
                    is_number: piece.is_number,
                })
                .collect(),
            rankings: (view.rankings.iter())
                .map(|ranking| RankingEntry::new(ranking, view.advice(ranking)))
                .collect(),
            migrations: view.migrations.iter().map(MigrationEntry::new).collect(),
            claims: view.claims.iter().map(link).collect(),
            others: (!others.is_empty())
                .then(|| SummaryTable::new(&view.summary, &others).without_gauges()),
            summary: (!telling.is_empty()).then(|| SummaryTable::new(&view.summary, &telling)),
            floor: noise
                .floor
                .iter()
                .map(|(_, title, ratio)| (*title, format::ratio_with_interval(ratio)))
                .collect(),
            correction: noise.correction(),
            withheld: noise.withheld.as_deref(),
            rates_not_kept: view.summary.rates_not_kept(),
            layers: view.layer_notes(),
            failed: view
                .failed
                .iter()
                .map(|t| (t.label.as_str(), t.repetition + 1, t.error.as_str()))
                .collect(),
            missing: (view.missing > 0).then(|| format::count(view.missing, "trial")),
            plots,
            numbers,
            varied: &view.varied,
            fixed: factors.rest(&view.fixed),
            settings: groups(&view.settings, |all| settings.rest(all))
                .into_iter()
                .filter(|group| !group.what.is_empty())
                .collect(),
            texts: groups(&view.texts, |text| text),
            toml: &view.toml,
        }
    }
}

/// The plots of an experiment, and those of which only the numbers are shown: one picture per question.
fn plots(view: &ExperimentView) -> (Vec<PlotEntry<'_>>, Vec<PlotEntry<'_>>) {
    let ranked = view
        .rankings
        .first()
        .and_then(|ranking| ranking.metrics.first());
    let mut drawn: Vec<&str> = ranked.map(|metric| metric.id).into_iter().collect();
    let (mut plots, mut numbers) = (Vec::new(), Vec::new());
    for plot in &view.plots {
        let entry = PlotEntry::new(&view.name, plot);
        match plot.metric {
            Some(metric) if drawn.contains(&metric) || plot.data.is_undivided() => {
                numbers.push(entry)
            }
            metric => {
                drawn.extend(metric);
                plots.push(entry);
            }
        }
    }
    (plots, numbers)
}

fn groups<'a, T, U>(shared: &'a [Shared<T>], what: impl Fn(&'a T) -> U) -> Vec<Group<'a, U>> {
    shared
        .iter()
        .map(|shared| Group {
            cells: &shared.cells,
            what: what(&shared.what),
        })
        .collect()
}

impl<'a> SummaryTable<'a> {
    /// The same without the bars below the numbers, which many columns leave no room for.
    fn without_gauges(mut self) -> Self {
        let readings = self.rows.iter_mut().flat_map(|row| &mut row.readings);
        readings.for_each(|reading| reading.length = None);
        self
    }

    fn new(summary: &'a Summary, columns: &[usize]) -> Self {
        let columns: Vec<(usize, &Column, f64)> = columns
            .iter()
            .map(|at| (*at, &summary.columns[*at], largest(summary, *at)))
            .collect();
        let row = |row: &'a Row| SummaryRow {
            label: &row.label,
            is_baseline: row.is_baseline,
            trials: row.trials(),
            readings: columns
                .iter()
                .map(|(at, column, largest)| {
                    let reading = &row.readings[*at];
                    ReadingEntry {
                        text: &reading.text,
                        ratio: reading.ratio.as_ref().map(|ratio| column.ratio(ratio)),
                        length: reading
                            .median
                            .filter(|_| *largest > 0.0)
                            .map(|median| (median / largest * 100.0).round() as u32),
                    }
                })
                .collect(),
        };
        SummaryTable {
            headings: columns.iter().map(|(_, c, _)| c.heading()).collect(),
            rows: summary.rows.iter().map(row).collect(),
        }
    }
}

fn largest(summary: &Summary, column: usize) -> f64 {
    let medians = summary
        .rows
        .iter()
        .filter_map(|row| row.readings[column].median);
    medians.fold(0.0, f64::max)
}

impl<'a> PlotEntry<'a> {
    fn new(experiment: &str, plot: &'a Plot) -> Self {
        let figure = svg::figure(plot);
        let Table {
            headings,
            rows,
            words,
        } = plot.table();
        PlotEntry {
            id: format!("{experiment}-{}", plot.id),
            title: &plot.title,
            note: &plot.note,
            kind: plot.data.kind(),
            is_withheld: plot.is_withheld,
            legend: figure
                .legend
                .into_iter()
                .map(|(symbol, name)| LegendEntry { symbol, name })
                .collect(),
            panels: figure
                .panels
                .into_iter()
                .map(|(title, drawing)| PanelEntry { title, drawing })
                .collect(),
            table: TableEntry {
                headings,
                rows,
                words,
            },
        }
    }
}
