//! Key kinds ranked by what they cost in each engine, and a recommendation.

use crate::{
    analysis, format,
    metrics::{METRICS, Metric},
    results::{Cell, Experiment, Run},
    statistics::Ratio,
};

/// The metrics of a ranking; the first decides.
const RANKED: [(&str, &str); 4] = [
    ("engine_bytes_per_row", "bytes written per row"),
    ("size_bytes", "size"),
    ("latency_p99_us", "latency p99"),
    ("point_warm_p50_us", "look-up"),
];
/// Factors that say what key a table has. An experiment that varies others asks another question.
const OF_KEYS: &[&str] = &["engine", "key", "encoding", "layout", "made_by"];
/// The least difference that is worth a change of keys.
const WORTH: f64 = 0.95;

/// The key kinds of one engine, the one that writes least first.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The engine's name.
    pub engine: String,
    /// Headings of the columns: the name's, and the metrics that were observed.
    pub headings: Vec<String>,
    /// These metrics, the deciding one first.
    pub metrics: Vec<&'static Metric>,
    /// The cells.
    pub rows: Vec<Ranked>,
    /// What to do and why.
    pub recommendation: Recommendation,
    /// The choice under other conditions, and where it ends.
    pub advice: Vec<String>,
}

/// A sentence with at most one number.
#[derive(Clone, Debug, Default)]
pub struct Recommendation {
    /// The words before the number; the whole sentence if it has none.
    pub before: String,
    /// The number.
    pub number: String,
    /// The words after it.
    pub after: String,
    /// Pairs of trials that the number rests on.
    pub pairs: Option<usize>,
}

impl Recommendation {
    /// The whole sentence.
    pub fn text(&self) -> String {
        [&*self.before, &*self.number, &*self.after].concat()
    }
}

/// One cell of a ranking.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Its number in the run.
    pub cell: u64,
    /// Its varied levels without the engine.
    pub label: String,
    /// Whether the others are compared with it.
    pub is_baseline: bool,
    /// One text per heading: the median, and the ratio to the baseline with its interval.
    pub readings: Vec<String>,
    /// One for each metric.
    pub values: Vec<RankedValue>,
}

/// A metric of one cell of a ranking.
#[derive(Clone, Copy, Debug)]
pub struct RankedValue {
    /// The median over the trials; `None` where it could not be observed.
    pub median: Option<f64>,
    /// Against the cell that others are compared with; `None` for that one.
    pub ratio: Option<Ratio>,
}

impl Ranking {
    /// The name of the deciding metric, as a heading begins.
    pub fn title(&self) -> String {
        let title = self.headings.get(1).map_or("", String::as_str);
        let (first, rest) = title.split_at(title.len().min(1));
        first.to_uppercase() + rest
    }

    /// The recommendation and the other advice.
    pub fn all_advice(&self) -> Vec<String> {
        let recommendation = std::iter::once(self.recommendation.text());
        recommendation.chain(self.advice.iter().cloned()).collect()
    }

    /// The ends of the interval of the deciding metric of a cell: that of its ratio, times the median of the cell that it
    /// is compared with.
    pub fn interval(&self, row: &Ranked) -> Option<(f64, f64)> {
        let baseline = self.rows.iter().find(|row| row.is_baseline)?;
        let of_baseline = baseline.values.first()?.median?;
        let ratio = row.values.first()?.ratio?;
        ratio
            .has_interval()
            .then_some((of_baseline * ratio.low, of_baseline * ratio.high))
    }
}

/// The rankings of an experiment about keys, one for each engine.
pub fn rankings(run: &Run, experiment: &Experiment, is_noisy: bool) -> Vec<Ranking> {
    let is_of_keys = |factor: &String| OF_KEYS.contains(&factor.as_str());
    let has_key = experiment.varied.iter().any(|factor| factor == "key");
    if !has_key || !experiment.varied.iter().all(is_of_keys) {
        return Vec::new();
    }
    let cells: Vec<&Cell> = (run.cells_of(&experiment.name).into_iter())
        .filter(|cell| !cell.is_twin && !run.trials_of(cell.id).is_empty())
        .collect();
    let mut engines: Vec<&str> = Vec::new();
    for cell in &cells {
        let engine = level(cell, "engine");
        if !engines.contains(&engine) {
            engines.push(engine);
        }
    }
    let of_engine = |engine: &&str| {
        let own: Vec<&Cell> = (cells.iter().copied())
            .filter(|cell| level(cell, "engine") == *engine)
            .collect();
        ranking(run, experiment, engine, own, is_noisy)
    };
    engines.iter().filter_map(of_engine).collect()
}

fn level<'a>(cell: &'a Cell, factor: &str) -> &'a str {
    cell.levels.get(factor).map_or("", String::as_str)
}

fn ranking(
    run: &Run,
    experiment: &Experiment,
    engine: &str,
    mut cells: Vec<&Cell>,
    is_noisy: bool,
) -> Option<Ranking> {
    let metrics = RANKED.iter().filter_map(|(id, title)| {
        let metric = METRICS.iter().find(|metric| metric.id == *id)?;
        let is_seen = cells
            .iter()
            .any(|cell| run.median(cell.id, metric).is_some());
        is_seen.then_some((metric, *title))
    });
    let metrics: Vec<(&'static Metric, &'static str)> = metrics.collect();
    let (deciding, _) = metrics
        .first()
        .filter(|(metric, _)| metric.id == RANKED[0].0)?;
    let baseline = baseline(run, experiment, &cells)?;
    let cost = |cell: &Cell| run.median(cell.id, deciding).unwrap_or(f64::INFINITY);
    cells.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    if cells.len() < 2 {
        return None;
    }
    let value = |cell: &Cell, metric: &Metric| RankedValue {
        median: run.median(cell.id, metric),
        ratio: (cell.id != baseline.id)
            .then(|| analysis::ratio(run, cell.id, baseline.id, metric))
            .flatten(),
    };
    let reading = |cell: &Cell, metric: &Metric| {
        let RankedValue { median, ratio } = value(cell, metric);
        let value = format::quantity_or_na(median, metric.unit);
        let noisy = if metric.is_time && is_noisy {
            " (noisy)"
        } else {
            ""
        };
        match ratio {
            Some(ratio) => format!("{value}{noisy}, {}", format::times_with_interval(&ratio)),
            None => format!("{value}{noisy}"),
        }
    };
    let rows = cells.iter().map(|cell| Ranked {
        cell: cell.id,
        label: shown(cell),
        is_baseline: cell.id == baseline.id,
        readings: (metrics.iter())
            .map(|(metric, _)| reading(cell, metric))
            .collect(),
        values: (metrics.iter())
            .map(|(metric, _)| value(cell, metric))
            .collect(),
    });
    let engine = named(run, engine);
    let titles = metrics.iter().map(|(_, title)| (*title).to_owned());
    let (recommendation, advice) = advice(run, engine, &cells, baseline, deciding);
    Some(Ranking {
        engine: engine.to_owned(),
        metrics: metrics.iter().map(|(metric, _)| *metric).collect(),
        headings: std::iter::once(format!("{engine}, least first"))
            .chain(titles)
            .collect(),
        rows: rows.collect(),
        recommendation,
        advice,
    })
}

/// The name of an engine; of the run's first one where a cell has none.
fn named<'a>(run: &'a Run, engine: &'a str) -> &'a str {
    let first = run.meta.engines.first();
    match engine {
        "" => first.map_or("", |engine| engine.name.as_str()),
        engine => engine,
    }
}

/// The cell that those of an engine are compared with: the experiment's own, or the one that differs from it in the
/// engine alone.
fn baseline<'a>(run: &Run, experiment: &Experiment, cells: &[&'a Cell]) -> Option<&'a Cell> {
    let of_run = run.cell(experiment.baseline);
    let is_like = |cell: &&&Cell| {
        of_run.is_some_and(|of_run| {
            let varied = experiment.varied.iter();
            let mut others = varied.filter(|factor| *factor != "engine");
            others.all(|factor| level(cell, factor) == level(of_run, factor))
        })
    };
    let own = cells.iter().find(|cell| cell.id == experiment.baseline);
    own.or_else(|| cells.iter().find(is_like))
        .or(cells.first())
        .copied()
}

/// The varied levels of a cell without its engine, which the heading names.
fn shown(cell: &Cell) -> String {
    let engine = level(cell, "engine");
    let words: Vec<&str> = cell
        .label
        .split(", ")
        .filter(|word| *word != engine)
        .collect();
    words.join(", ")
}

/// The recommendation with its reason, and its limits.
fn advice(
    run: &Run,
    engine: &str,
    cells: &[&Cell],
    baseline: &Cell,
    deciding: &Metric,
) -> (Recommendation, Vec<String>) {
    let ratio = |cell: &Cell| -> Option<Ratio> {
        (cell.id != baseline.id).then(|| analysis::ratio(run, cell.id, baseline.id, deciding))?
    };
    let is_worth = |cell: &&&Cell| {
        ratio(cell).is_some_and(|r| r.ratio <= WORTH && (r.high < 1.0 || !r.has_interval()))
    };
    let better: Vec<&Cell> = cells.iter().filter(is_worth).copied().collect();
    let mut lines = Vec::new();
    let times =
        |cell: &Cell| ratio(cell).map_or_else(String::new, |r| format::times_with_interval(&r));
    let of_baseline = format!("the bytes of \"{}\"", shown(baseline));
    let recommendation = match better.first() {
        None => Recommendation {
            before: format!(
                "On {engine}, keep \"{}\": no other key writes less by {}%.",
                shown(baseline),
                ((1.0 - WORTH) * 100.0).round()
            ),
            ..Recommendation::default()
        },
        Some(best) => Recommendation {
            before: format!("On {engine}, choose \"{}\": it writes ", shown(best)),
            number: times(best),
            after: match level(best, "layout") {
                "no-key" => format!(" {of_baseline}, and permits duplicates: no key refuses them."),
                _ => format!(" {of_baseline}."),
            },
            pairs: ratio(best).map(|ratio| ratio.pairs),
        },
    };
    let is_counted = |cell: &Cell| ["serial", "int-seq", "composite"].contains(&level(cell, "key"));
    if better.first().is_some_and(|best| is_counted(best)) {
        let other = better.iter().find(|cell| !is_counted(cell));
        lines.push(match other {
            Some(other) => format!(
                "If applications make the ids, or an id must not reveal how many rows there are, choose \"{}\": it writes {} \
                 {of_baseline}.",
                shown(other),
                times(other)
            ),
            None => "It needs a server that counts, and reveals how many rows there are.".to_owned(),
        });
    }
    let limits = limits(run, cells, baseline);
    let pairs = cells
        .iter()
        .filter_map(|cell| ratio(cell))
        .map(|ratio| ratio.pairs)
        .min();
    let repeat = match pairs {
        Some(0 | 1) => " One trial per cell has no interval: --repetitions 3 gives one.",
        _ => "",
    };
    lines.push(format!(
        "Limits: {}the differences are smaller while the table fits the cache, and grow with the table.{repeat}",
        limits
    ));
    (recommendation, lines)
}

/// The size of the table and what surrounds it, as far as all cells share them.
fn limits(run: &Run, cells: &[&Cell], baseline: &Cell) -> String {
    let fixed = |factor: &str| {
        if factor == "cache_kib"
            && let Some(words) = cache_in_force(run, cells)
        {
            return Some(words);
        }
        let first = level(baseline, factor);
        let is_same = cells.iter().all(|cell| level(cell, factor) == first);
        (is_same && !first.is_empty()).then(|| crate::experiment::level::words(factor, first))?
    };
    [
        "rows",
        "rows_before",
        "arriving_rows_per_s",
        "cache_kib",
        "rows_per_transaction",
    ]
    .into_iter()
    .filter_map(fixed)
    .map(|words| format!("{words}; "))
    .collect()
}

/// The page cache as the engine reported it: the least and the largest of all trials. `None` where it reports none. An engine
/// raises a cache that is smaller than its least one.
fn cache_in_force(run: &Run, cells: &[&Cell]) -> Option<String> {
    let trials = cells.iter().flat_map(|cell| run.trials_of(cell.id));
    let bytes: Vec<f64> = trials
        .filter_map(|trial| cache_bytes(&trial.settings))
        .collect();
    let least = bytes.iter().copied().min_by(f64::total_cmp)?;
    let most = bytes.iter().copied().max_by(f64::total_cmp)?;
    let words = |bytes: f64| format::quantity(bytes, "bytes");
    Some(match least == most {
        true => format!("cache {}", words(least)),
        false => format!("cache {} to {}", words(least), words(most)),
    })
}

/// Bytes of the page cache among the settings that an engine reported: `cache_size` of SQLite, in pages or as a negative
/// number of KiB, `shared_buffers` of PostgreSQL with its unit, `innodb_buffer_pool_size` in bytes.
fn cache_bytes(settings: &[(String, String)]) -> Option<f64> {
    let of = |wanted: &str| {
        let found = settings.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    };
    if let Some(bytes) = of("innodb_buffer_pool_size") {
        return bytes.parse().ok();
    }
    if let Some(text) = of("shared_buffers") {
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let worth = match unit.trim() {
            "B" => 1.0,
            "kB" => 1024.0,
            "MB" => 1_048_576.0,
            "GB" => 1_073_741_824.0,
            // Without a unit it is pages.
            "" => of("block_size")?.parse().ok()?,
            _ => return None,
        };
        return Some(number.parse::<f64>().ok()? * worth);
    }
    let size: f64 = of("cache_size")?.parse().ok()?;
    match size < 0.0 {
        true => Some(-size * 1024.0),
        false => Some(size * of("page_size")?.parse::<f64>().ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_in_force_is_read_from_the_settings_of_each_engine() {
        let bytes = |settings: &[(&str, &str)]| {
            let settings = settings.iter();
            let settings: Vec<_> = settings
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect();
            cache_bytes(&settings)
        };
        let mib = 1_048_576.0;
        assert_eq!(bytes(&[("cache_size", "-2000")]), Some(2_048_000.0));
        assert_eq!(
            bytes(&[("cache_size", "100"), ("page_size", "512")]),
            Some(51_200.0)
        );
        assert_eq!(bytes(&[("shared_buffers", "128kB")]), Some(mib / 8.0));
        assert_eq!(
            bytes(&[("shared_buffers", "4MB"), ("cache_size", "n/a")]),
            Some(4.0 * mib)
        );
        assert_eq!(bytes(&[("shared_buffers", "2GB")]), Some(2048.0 * mib));
        assert_eq!(
            bytes(&[("shared_buffers", "512"), ("block_size", "8192")]),
            Some(4.0 * mib)
        );
        assert_eq!(
            bytes(&[("innodb_buffer_pool_size", "6291456")]),
            Some(6.0 * mib)
        );
        assert_eq!(bytes(&[("page_size", "4096")]), None);
    }
}
