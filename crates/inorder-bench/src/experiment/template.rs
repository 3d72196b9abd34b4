//! Templates of answers: the sentence that answers an experiment's question, with places for its numbers.
//!
//! | placeholder | becomes |
//! | --- | --- |
//! | `{value METRIC SELECTOR}` | the median of a cell with its unit, `12.3 us` |
//! | `{ratio METRIC SELECTOR / SELECTOR}` | the first cell over the second, `0.52` |
//! | `{interval METRIC SELECTOR / SELECTOR}` | the 95% interval of that ratio, `0.49 to 0.55` |
//! | `{saved METRIC SELECTOR / SELECTOR}` | one less the ratio, `48%` |
//! | `{less METRIC SELECTOR / SELECTOR}` | the levels at which the first cell has less than the second, `up to 256 B` |
//! | `{no-less METRIC SELECTOR / SELECTOR}` | those at which it has not, `from 16 MiB on` |
//!
//! `SELECTOR` is `factor=level`, several joined by commas, and picks the first cell with all of them. A level may be `@first`
//! or `@last` of its factor. `less` and `no-less` have the level `@each` for the factor whose levels they name. `{{` and `}}`
//! are literal braces. Which metrics exist is not known here.

use crate::error::nearest;

/// A stretch of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text as it stands.
    Text(String),
    /// The place of a number.
    Number(Placeholder),
}

/// The content of a placeholder.
#[derive(Clone, Debug, PartialEq)]
pub struct Placeholder {
    /// Position of its brace in characters, from 1.
    pub at: usize,
    /// Which number.
    pub kind: Kind,
    /// Id of the metric.
    pub metric: String,
    /// The cell.
    pub a: Selector,
    /// The cell that the first one is divided by; `None` for a value.
    pub b: Option<Selector>,
}

/// The requested factors and levels.
pub type Selector = Vec<(String, String)>;

/// Which number of a metric a placeholder asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The median of a cell.
    Value,
    /// The ratio of two cells.
    Ratio,
    /// The interval of that ratio.
    Interval,
    /// One less that ratio.
    Saved,
    /// The levels of a factor at which the first cell has less.
    Less,
    /// Those at which it has not.
    NoLess,
}

/// Levels by their position.
pub const FIRST: &str = "@first";
/// The last one.
pub const LAST: &str = "@last";
/// One after the other.
pub const EACH: &str = "@each";

const KINDS: &[(&str, Kind)] = &[
    ("value", Kind::Value),
    ("ratio", Kind::Ratio),
    ("interval", Kind::Interval),
    ("saved", Kind::Saved),
    ("less", Kind::Less),
    ("no-less", Kind::NoLess),
];

/// Checks a template against the factors of its experiment, each with its levels (varied or fixed).
///
/// # Errors
/// A sentence that says what is wrong, at which character, and what would be right.
pub fn check(template: &str, factors: &[(&str, Vec<&str>)]) -> Result<(), String> {
    parse(template)?.iter().try_for_each(|part| match part {
        Part::Text(_) => Ok(()),
        Part::Number(placeholder) => placeholder.check(factors),
    })
}

/// Splits a template into text and placeholders.
///
/// # Errors
/// A sentence that says what is wrong and at which character.
pub fn parse(template: &str) -> Result<Vec<Part>, String> {
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
        metric: metric.to_owned(),
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
    /// A message about it, with its place.
    pub fn wrong(&self, message: &str) -> String {
        wrong(self.at, message)
    }

    /// Checks that its selectors name factors and levels that exist.
    fn check(&self, factors: &[(&str, Vec<&str>)]) -> Result<(), String> {
        for (factor, level) in self.a.iter().chain(self.b.iter().flatten()) {
            let (_, levels) = factors
                .iter()
                .find(|(name, _)| name == factor)
                .ok_or_else(|| unknown(self.at, "factor", factor, factors.iter().map(|f| f.0)))?;
            if ![FIRST, LAST, EACH].contains(&level.as_str()) && !levels.contains(&level.as_str()) {
                let what = format!("level of `{factor}`");
                return Err(unknown(self.at, &what, level, levels.iter().copied()));
            }
        }
        let of_each = |selector: &Selector| -> Vec<String> {
            let each = selector.iter().filter(|(_, level)| level == EACH);
            each.map(|(factor, _)| factor.clone()).collect()
        };
        let (a, b) = (of_each(&self.a), self.b.as_ref().map(of_each));
        let wanted = usize::from(matches!(self.kind, Kind::Less | Kind::NoLess));
        if a.len() != wanted || b.is_some_and(|b| b != a) {
            return Err(self.wrong(
                "`less` and `no-less` have the level `@each` for one factor, the same in both selectors; others have none",
            ));
        }
        Ok(())
    }
}

fn wrong(at: usize, message: &str) -> String {
    format!("at character {at}: {message}")
}

fn unknown<'a>(
    at: usize,
    what: &str,
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let message = format!("unknown {what} `{word}`: {}", nearest(word, known));
    wrong(at, &message)
}

#[cfg(test)]
mod tests {
    use super::check;

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
            "{less size_bytes key=@each,layout=@first / key=@each,layout=@last}",
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
                "at character 1: unknown placeholder `ration`: did you mean `ratio`? (known: value, ratio, interval, saved, less, no-less)",
            ),
            (
                "{value size_bytes key=uuid_7}",
                "at character 1: unknown level of `key` `uuid_7`: did you mean `uuid7`? (known: uuid4, uuid7)",
            ),
            (
                "{value size_bytes zzz=1}",
                "at character 1: unknown factor `zzz`: known: key, layout",
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
                "{less size_bytes key=@each / layout=@each}",
                "at character 1: `less` and `no-less` have the level `@each` for one factor, the same in both selectors; others have none",
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
