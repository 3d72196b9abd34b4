//! Templates: what a placeholder may say, and what it becomes.

use super::noisy_mark;
use crate::{
    analysis::{self, Metric, Ratio},
    metrics::{METRICS, metric_named},
    report::format,
    results::{Cell, Experiment, Run},
};

/// A stretch of a template.
pub(super) enum Part {
    Text(String),
    Number(Placeholder),
}

/// What a placeholder asks for.
pub(super) struct Placeholder {
    /// Where its brace stands: characters from 1.
    at: usize,
    kind: Kind,
    metric: &'static Metric,
    a: Selector,
    /// What the first cell is taken over; `value` has none.
    b: Option<Selector>,
}

/// Factors and the levels asked for.
type Selector = Vec<(String, String)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Value,
    Ratio,
    Interval,
    Saved,
}

const KINDS: &[(&str, Kind)] = &[
    ("value", Kind::Value),
    ("ratio", Kind::Ratio),
    ("interval", Kind::Interval),
    ("saved", Kind::Saved),
];

/// Splits a template into text and placeholders.
///
/// # Errors
/// A sentence that says what is wrong and at which character.
pub(super) fn parse(template: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = template.char_indices().enumerate().peekable();
    while let Some((number, (offset, char))) = rest.next() {
        let at = number + 1;
        let is_doubled = rest.peek().is_some_and(|(_, (_, next))| *next == char);
        match char {
            '{' | '}' if is_doubled => {
                text.push(char);
                rest.next();
            }
            '}' => return Err(wrong(at, "a `}` without its `{`; write `}}` for a brace")),
            '{' => {
                let inner = &template[offset + 1..];
                let end = inner
                    .find(['{', '}'])
                    .filter(|end| inner[*end..].starts_with('}'))
                    .ok_or_else(|| wrong(at, "a `{` without its `}`; write `{{` for a brace"))?;
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(Part::Number(placeholder(&inner[..end], at)?));
                rest.by_ref().find(|(_, (_, c))| *c == '}');
            }
            _ => text.push(char),
        }
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

/// Reads what stands between the braces.
fn placeholder(inner: &str, at: usize) -> Result<Placeholder, String> {
    let mut words = inner.trim().splitn(3, char::is_whitespace);
    let (word, metric, rest) = (
        words.next().unwrap_or(""),
        words.next().unwrap_or(""),
        words.next().unwrap_or("").trim(),
    );
    let kind = KINDS
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, kind)| *kind)
        .ok_or_else(|| unknown(at, "placeholder", word, KINDS.iter().map(|k| k.0)))?;
    let metric = metric_named(metric)
        .ok_or_else(|| unknown(at, "metric", metric, METRICS.iter().map(|m| m.id)))?;
    let sides: Vec<&str> = rest.split(" / ").collect();
    let (a, b) = match (kind, sides.as_slice()) {
        (Kind::Value, [a]) => (selector(a, at)?, None),
        (Kind::Value, _) => return Err(wrong(at, "`value` takes one selector")),
        (_, [a, b]) => (selector(a, at)?, Some(selector(b, at)?)),
        _ => {
            let message = format!("`{word}` takes two selectors with ` / ` between them");
            return Err(wrong(at, &message));
        }
    };
    Ok(Placeholder {
        at,
        kind,
        metric,
        a,
        b,
    })
}

fn selector(text: &str, at: usize) -> Result<Selector, String> {
    text.split(',')
        .map(|pair| {
            pair.split_once('=')
                .map(|(factor, level)| (factor.trim().to_owned(), level.trim().to_owned()))
                .filter(|(factor, level)| !factor.is_empty() && !level.is_empty())
                .ok_or_else(|| {
                    let message = format!("`{}` is no `factor=level`", pair.trim());
                    wrong(at, &message)
                })
        })
        .collect()
}

impl Placeholder {
    /// Whether its selectors name factors and levels that exist.
    pub(super) fn check(&self, factors: &[(&str, Vec<&str>)]) -> Result<(), String> {
        for (factor, level) in self.a.iter().chain(self.b.iter().flatten()) {
            let (_, levels) = factors
                .iter()
                .find(|(name, _)| name == factor)
                .ok_or_else(|| unknown(self.at, "factor", factor, factors.iter().map(|f| f.0)))?;
            if !levels.contains(&level.as_str()) {
                let what = format!("level of `{factor}`");
                return Err(unknown(self.at, &what, level, levels.iter().copied()));
            }
        }
        Ok(())
    }

    /// The number it stands for.
    pub(super) fn fill(&self, run: &Run, experiment: &Experiment, is_noisy: bool) -> String {
        match self.number(run, &experiment.name) {
            Some(number) => format!("{number}{}", noisy_mark(is_noisy, self.metric)),
            None => format::NOT_AVAILABLE.to_owned(),
        }
    }

    fn number(&self, run: &Run, experiment: &str) -> Option<String> {
        let a = find(run, experiment, &self.a)?;
        let ratio = || -> Option<Ratio> {
            let b = find(run, experiment, self.b.as_ref()?)?;
            analysis::ratio(run, a.id, b.id, self.metric)
        };
        Some(match self.kind {
            Kind::Value => format::quantity(run.median(a.id, self.metric)?, self.metric.unit),
            Kind::Ratio => format::ratio(ratio()?.ratio),
            Kind::Interval => format::interval(&ratio()?),
            Kind::Saved => format::percent(1.0 - ratio()?.ratio),
        })
    }
}

fn find<'a>(run: &'a Run, experiment: &str, selector: &Selector) -> Option<&'a Cell> {
    let levels: Vec<(&str, &str)> = selector
        .iter()
        .map(|(factor, level)| (factor.as_str(), level.as_str()))
        .collect();
    run.find_cell(experiment, &levels)
}

fn wrong(at: usize, message: &str) -> String {
    format!("at character {at}: {message}")
}

/// Names the nearest right word, or all of them where none is near.
fn unknown<'a>(
    at: usize,
    what: &str,
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let nearest = known
        .clone()
        .map(|name| (strsim::jaro_winkler(word, name), name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness > 0.75);
    let hint = match nearest {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
    };
    wrong(at, &format!("unknown {what} `{word}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::super::check;

    fn factors() -> Vec<(&'static str, Vec<&'static str>)> {
        vec![
            ("key", vec!["uuid4", "uuid7"]),
            ("layout", vec!["rowid", "without-rowid"]),
        ]
    }

    fn error(template: &str) -> String {
        check(template, &factors()).unwrap_err()
    }

    #[test]
    fn good_templates_pass() {
        for template in [
            "",
            "no placeholder, {{a brace}}",
            "{value size_bytes key=uuid4}",
            "x {ratio cpu_us_per_row key=uuid7,layout=rowid / key=uuid4, layout=rowid} y",
            "{saved size_bytes key=uuid7 / key=uuid4}{interval size_bytes key=uuid7 / key=uuid4}",
        ] {
            assert_eq!(check(template, &factors()), Ok(()), "{template}");
        }
    }

    #[test]
    fn bad_templates_say_where_and_what_would_be_right() {
        for (template, message) in [
            (
                "é {ratio",
                "at character 3: a `{` without its `}`; write `{{` for a brace",
            ),
            (
                "{ratio {value",
                "at character 1: a `{` without its `}`; write `{{` for a brace",
            ),
            (
                "a } b",
                "at character 3: a `}` without its `{`; write `}}` for a brace",
            ),
            (
                "{ration size_bytes key=uuid4}",
                "at character 1: unknown placeholder `ration`; did you mean `ratio`?",
            ),
            (
                "{value cpu_us_a_row key=uuid4}",
                "at character 1: unknown metric `cpu_us_a_row`; did you mean `cpu_us_per_row`?",
            ),
            (
                "{value size_bytes key=uuid_7}",
                "at character 1: unknown level of `key` `uuid_7`; did you mean `uuid7`?",
            ),
            (
                "{value size_bytes zzz=1}",
                "at character 1: unknown factor `zzz`; known are key, layout",
            ),
            (
                "{value size_bytes uuid4}",
                "at character 1: `uuid4` is no `factor=level`",
            ),
            (
                "{value size_bytes}",
                "at character 1: `` is no `factor=level`",
            ),
            (
                "{ratio size_bytes key=uuid4}",
                "at character 1: `ratio` takes two selectors with ` / ` between them",
            ),
            (
                "{value size_bytes key=uuid4 / key=uuid7}",
                "at character 1: `value` takes one selector",
            ),
        ] {
            assert_eq!(error(template), message);
        }
    }
}
