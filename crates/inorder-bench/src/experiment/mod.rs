//! An experiment: one question as data. Parsed strictly from a TOML file; nothing is compiled.

pub mod factors;
mod fields;
pub mod level;
mod migration;
mod new_key;
mod scale;
mod table;
pub mod template;

pub use migration::Migrate;
pub use new_key::NewKey;
pub use scale::Scale;
pub use table::{Create, RECIPES, Recipe, Table, TableRows};
pub(crate) use table::{filled, literally};

use crate::error::{Error, nearest};
use factors::{FACTORS, Setup, factor};
use fields::{Field, Fields, Source};
use serde::{Deserialize, Serialize};

/// Levels by factor name.
pub type Levels = Vec<(String, String)>;

/// The query after the load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Point look-ups by key, warm; a tenth as many cold.
    pub points: u64,
    /// Ranges of 100 rows in key order, warm; a tenth as many cold.
    pub ranges: u64,
    /// A query of the experiment's own, with one parameter.
    pub query: Option<String>,
    /// Times the query is run.
    pub queries: u64,
    /// Column of the measured table that the parameters come from; `None` is its key.
    pub by: Option<String>,
    /// Whether it is counted how many keys come after a larger one, while they are made and committed.
    pub order: bool,
}

impl Reads {
    /// The same reads, each run once.
    pub fn once(self) -> Self {
        Reads {
            points: self.points.min(1),
            ranges: self.ranges.min(1),
            queries: self.queries.min(1),
            ..self
        }
    }
}

/// A parsed experiment, its scale and the command's overrides applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name of the file without `.toml`.
    pub name: String,
    /// The file's name, as errors show it.
    pub file: String,
    /// The text it was parsed from.
    pub text: String,
    /// Short title.
    pub title: String,
    /// The question in one sentence.
    pub question: String,
    /// The expectation before the first run.
    pub expect: String,
    /// Claims it answers.
    pub claims: Vec<String>,
    /// Template of the answer; empty for the default one.
    pub answer: String,
    /// Factors that vary, with their levels.
    pub varied: Vec<(String, Vec<String>)>,
    /// Levels held fixed.
    pub fixed: Levels,
    /// Levels held fixed in one engine, in place of those above.
    pub fixed_in: Vec<(String, Levels)>,
    /// Levels of the baseline (of varied factors; a factor not named has its first level).
    pub baseline: Levels,
    /// Combinations that are left out.
    pub skip: Vec<Levels>,
    /// Trials per cell.
    pub repetitions: u32,
    /// Seconds after which a trial is stopped.
    pub trial_seconds_max: u64,
    /// The tables, parents first; empty for the built-in one.
    pub tables: Vec<Table>,
    /// The query after the load.
    pub reads: Reads,
    /// The data file its `file` recipes read.
    pub data: Option<String>,
}

/// The changes of an experiment by the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overrides {
    /// `--set factor=level,level`.
    pub set: Vec<(String, Vec<String>)>,
    /// `--data FILE`.
    pub data: Option<String>,
    /// `--repetitions N`.
    pub repetitions: Option<u32>,
}

impl Experiment {
    /// Parses an experiment file. `file` is its name as errors show it; its stem is the
    /// experiment's name.
    ///
    /// # Errors
    /// [`Error::Experiment`] with the line and the nearest right name.
    pub fn parse(
        file: &str,
        text: &str,
        scale: Scale,
        overrides: &Overrides,
    ) -> Result<Self, Error> {
        let source = Source { file, text };
        let root = source.parse()?;
        let mut fields = Fields::new(source, "", 0, root.get_ref());
        let mut parsed = Self::read_header(file, text, &mut fields)?;
        let answer = fields.take("answer");
        for item in fields.take("skip").iter().flat_map(Field::list) {
            parsed.skip.push(read_levels(item.table()?)?);
        }
        parsed.tables = table::read_tables(&mut fields, scale)?;
        if let Some(reads) = fields.take("reads") {
            parsed.reads = read_reads(reads.table()?)?;
        }
        let chosen = read_scales(&mut fields, scale)?;
        fields.finish()?;
        parsed.apply_scale(chosen);
        if let Some(answer) = &answer {
            // An answer may name levels that `--set` takes away: its numbers are then "n/a".
            parsed.answer = answer.string()?;
            parsed.check_answer().map_err(|why| answer.error(why))?;
        }
        parsed.apply(overrides)?;
        parsed.check()?;
        Ok(parsed)
    }

    fn read_header(file: &str, text: &str, fields: &mut Fields<'_>) -> Result<Self, Error> {
        let name = std::path::Path::new(file).file_stem().map_or_else(
            || file.to_owned(),
            |stem| stem.to_string_lossy().into_owned(),
        );
        let varied = read_factors(fields.take("factors"))?;
        let (fixed, fixed_in) = read_fixed(fields.take("fixed"), &varied)?;
        Ok(Experiment {
            name,
            file: file.to_owned(),
            text: text.to_owned(),
            title: fields.need("title")?.string()?,
            question: fields.need("question")?.string()?,
            expect: fields.need("expect")?.string()?,
            claims: strings(fields.take("claims"))?,
            answer: String::new(),
            varied,
            fixed,
            fixed_in,
            baseline: match fields.take("baseline") {
                Some(field) => read_levels(field.table()?)?,
                None => Vec::new(),
            },
            skip: Vec::new(),
            repetitions: 3,
            trial_seconds_max: match fields.take("trial_seconds_max") {
                Some(field) => field.at_least(1)?,
                None => 900,
            },
            tables: Vec::new(),
            reads: Reads::default(),
            data: fields.take("data").map(|f| f.string()).transpose()?,
        })
    }

    fn apply_scale(&mut self, chosen: ScaleTable) {
        if let Some(repetitions) = chosen.repetitions {
            self.repetitions = repetitions;
        }
        for (name, levels) in chosen.levels {
            self.set_levels(name, levels);
        }
    }

    fn apply(&mut self, overrides: &Overrides) -> Result<(), Error> {
        for (name, levels) in &overrides.set {
            let mut canonical = Vec::new();
            for level in levels {
                let level = canonical_level(name, level)
                    .map_err(|why| Error::Usage(format!("--set {name}: {why}")))?;
                if !canonical.contains(&level) {
                    canonical.push(level);
                }
            }
            self.set_levels(name.clone(), canonical);
            for (_, levels) in &mut self.fixed_in {
                levels.retain(|(other, _)| other != name);
            }
        }
        if overrides
            .set
            .iter()
            .any(|(name, _)| name == migration::FACTOR)
        {
            self.ask_for_migration();
        }
        if let Some(repetitions) = overrides.repetitions {
            self.repetitions = repetitions;
        }
        if overrides.data.is_some() {
            self.data.clone_from(&overrides.data);
        }
        Ok(())
    }

    /// One level is fixed, several vary; either replaces what the factor had.
    fn set_levels(&mut self, name: String, levels: Vec<String>) {
        self.fixed.retain(|(n, _)| *n != name);
        let at = self.varied.iter().position(|(n, _)| *n == name);
        match (at, levels.len()) {
            (Some(at), 1) => {
                self.varied.remove(at);
                self.fixed
                    .push((name, levels.into_iter().next().unwrap_or_default()));
            }
            (Some(at), _) => self.varied[at].1 = levels,
            (None, 1) => self
                .fixed
                .push((name, levels.into_iter().next().unwrap_or_default())),
            (None, _) => self.varied.push((name, levels)),
        }
    }

    /// Checks what needs the whole experiment.
    fn check(&self) -> Result<(), Error> {
        for layout in self.all_levels("layout") {
            if let Some(message) = self.layout_problem(&layout) {
                return Err(self.error_at(&format!("\"{layout}\""), message));
            }
        }
        Ok(())
    }

    /// An error at the first line that has these words; words that the text doesn't have come from the command line.
    pub(crate) fn error_at(&self, words: &str, message: String) -> Error {
        let (file, text) = (&self.file, &self.text);
        match text.find(words) {
            Some(offset) => Source { file, text }.error(offset, message),
            None => Error::Usage(format!("{file}: {message}")),
        }
    }

    fn check_answer(&self) -> Result<(), String> {
        let levels: Vec<(&str, Vec<String>)> = FACTORS
            .iter()
            .map(|factor| (factor.name, self.all_levels(factor.name)))
            .collect();
        let borrowed: Vec<(&str, Vec<&str>)> = levels
            .iter()
            .map(|(name, levels)| (*name, levels.iter().map(String::as_str).collect()))
            .collect();
        template::check(&self.answer, &borrowed)
    }

    /// Every level a factor takes in this experiment.
    pub fn all_levels(&self, name: &str) -> Vec<String> {
        let varied = self.varied.iter().find(|(n, _)| n == name);
        let fixed = self.fixed.iter().find(|(n, _)| n == name);
        match (varied, fixed) {
            (Some((_, levels)), _) => levels.clone(),
            (None, Some((_, level))) => vec![level.clone()],
            (None, None) => FACTORS
                .iter()
                .filter(|f| f.name == name)
                .map(|f| (f.get)(&Setup::default()))
                .collect(),
        }
    }

    /// The same in one engine.
    pub fn levels_in(&self, engine: &str, name: &str) -> Vec<String> {
        let of_engine = self.fixed_in.iter().find(|(own, _)| own == engine);
        let own = of_engine.and_then(|(_, levels)| levels.iter().find(|(n, _)| n == name));
        match own {
            Some((_, level)) => vec![level.clone()],
            None => self.all_levels(name),
        }
    }

    fn layout_problem(&self, layout: &str) -> Option<String> {
        let own: Vec<&str> = self
            .tables
            .iter()
            .flat_map(|table| table.create.layouts())
            .collect();
        let known: Vec<&str> = match (own.is_empty(), self.tables.is_empty()) {
            (false, _) => own,
            (true, true) => inorder_engine::LAYOUTS.to_vec(),
            (true, false) => return None,
        };
        (!known.contains(&layout))
            .then(|| format!("unknown layout `{layout}`: {}", nearest(layout, known)))
    }

    /// The kind and the encoding of the key that others are compared with.
    pub fn own_key(&self) -> (String, String) {
        let level = |name: &str| {
            let own = self.baseline.iter().find(|(factor, _)| factor == name);
            let first = || self.all_levels(name).swap_remove(0);
            own.map_or_else(first, |(_, level)| level.clone())
        };
        (level("key"), level("encoding"))
    }

    /// Whether its text holds SQL.
    pub fn has_own_sql(&self) -> bool {
        !self.tables.is_empty() || self.reads.query.is_some()
    }

    /// The table whose load is measured; `None` for the built-in one.
    pub fn measured(&self) -> Option<&Table> {
        self.tables.iter().find(|table| table.is_measured)
    }
}

/// `[fixed]`: levels, and under the name of an engine those of that engine alone.
fn read_fixed(
    field: Option<Field<'_>>,
    varied: &[(String, Vec<String>)],
) -> Result<(Levels, Vec<(String, Levels)>), Error> {
    let (mut fixed, mut fixed_in) = (Levels::new(), Vec::new());
    let Some(field) = field else {
        return Ok((fixed, fixed_in));
    };
    let level = |name: String, field: &Field<'_>| match varied.iter().any(|(n, _)| *n == name) {
        true => Err(field.error(format!(
            "`{name}` is both varied and fixed: leave it out of [factors] or of [fixed]"
        ))),
        false => Ok((name.clone(), checked_level(&name, field)?)),
    };
    for (name, field) in field.table()?.take_all() {
        if inorder_engine::engine(&name).is_none() {
            fixed.push(level(name, &field)?);
            continue;
        }
        let of_engine = field.table()?.take_all().into_iter();
        let of_engine = of_engine.map(|(name, field)| level(name, &field));
        fixed_in.push((name, of_engine.collect::<Result<_, _>>()?));
    }
    Ok((fixed, fixed_in))
}

/// The changes by `[quick]` or `[full]`.
#[derive(Default)]
struct ScaleTable {
    repetitions: Option<u32>,
    levels: Vec<(String, Vec<String>)>,
}

/// Reads both scales (so that an error in either is seen) and returns the chosen one.
fn read_scales(fields: &mut Fields<'_>, scale: Scale) -> Result<ScaleTable, Error> {
    let mut chosen = ScaleTable::default();
    for (name, this) in [("quick", Scale::Quick), ("full", Scale::Full)] {
        let Some(field) = fields.take(name) else {
            continue;
        };
        let mut inner = field.table()?;
        let table = ScaleTable {
            repetitions: match inner.take("repetitions") {
                Some(field) => Some(field.at_least(1)? as u32),
                None => None,
            },
            levels: read_level_lists(inner)?,
        };
        if this == scale {
            chosen = table;
        }
    }
    Ok(chosen)
}

fn strings(field: Option<Field<'_>>) -> Result<Vec<String>, Error> {
    field
        .iter()
        .flat_map(Field::list)
        .map(|item| item.string())
        .collect()
}

/// `[factors]`: each a list of levels.
fn read_factors(field: Option<Field<'_>>) -> Result<Vec<(String, Vec<String>)>, Error> {
    match field {
        Some(field) => read_level_lists(field.table()?),
        None => Ok(Vec::new()),
    }
}

fn read_level_lists(mut fields: Fields<'_>) -> Result<Vec<(String, Vec<String>)>, Error> {
    let mut out = Vec::new();
    for (name, field) in fields.take_all() {
        let mut levels = Vec::new();
        for item in field.list() {
            let level = checked_level(&name, &item)?;
            if levels.contains(&level) {
                return Err(item.error(format!("`{name}` has the level `{level}` twice")));
            }
            levels.push(level);
        }
        if levels.is_empty() {
            return Err(field.error(format!("`{name}` needs at least one level")));
        }
        out.push((name, levels));
    }
    Ok(out)
}

/// A table of single levels.
fn read_levels(mut fields: Fields<'_>) -> Result<Levels, Error> {
    fields
        .take_all()
        .into_iter()
        .map(|(name, field)| Ok((name.clone(), checked_level(&name, &field)?)))
        .collect()
}

/// The level that a field holds.
fn checked_level(name: &str, field: &Field<'_>) -> Result<String, Error> {
    factor(name).map_err(|why| field.error(why))?;
    canonical_level(name, &field.level()?).map_err(|why| field.error(format!("`{name}`: {why}")))
}

/// A level as plans and reports write it, after its factor has accepted it.
pub(crate) fn canonical_level(name: &str, level: &str) -> Result<String, String> {
    let factor = factor(name)?;
    let mut setup = Setup::default();
    (factor.set)(&mut setup, level)?;
    Ok((factor.get)(&setup))
}

fn read_reads(mut fields: Fields<'_>) -> Result<Reads, Error> {
    let mut count = |name| fields.take(name).map_or(Ok(0), |f| f.at_least(1));
    let (points, ranges, queries) = (count("points")?, count("ranges")?, count("queries")?);
    let reads = Reads {
        points,
        ranges,
        queries: queries.max(1),
        query: fields.take("query").map(|f| f.string()).transpose()?,
        by: fields.take("by").map(|f| f.string()).transpose()?,
        order: fields.take("order").map_or(Ok(false), |f| f.boolean())?,
    };
    fields.finish()?;
    Ok(reads)
}
