//! How a run deviates from the published settings: with other settings there is no verdict.

use crate::{
    experiment::{Experiment, Levels, Overrides, Scale},
    experiments::BUILT_IN,
    results::{self, Cell, Run},
};
use inorder_engine::Engine;
use inorder_key::{Encoding, KeyKind};

/// Returns the difference between an experiment of a run and the built-in one of its name and scale; `None` if there is
/// none.
///
/// Every factor counts, with all its levels and their order, but the engine, which claims choose their cells by, and
/// what means nothing to any engine of the run. Other prose, other sizes of another scale, other repetitions, another data file
/// and cells left out by `--only` don't count: the cells that are there are the published ones.
pub fn difference(run: &Run, experiment: &str, engine: &str) -> Option<String> {
    let own = run.experiment(experiment)?;
    let is_named = |(file, _): &&(&str, &str)| file.strip_suffix(".toml") == Some(experiment);
    let (file, text) = BUILT_IN.iter().find(is_named)?;
    let Some(scale) = Scale::from_name(&run.meta.scale) else {
        return Some(format!("the scale `{}` is unknown here", run.meta.scale));
    };
    let parsed = |text: &str| Experiment::parse(file, text, scale, &Overrides::default());
    let built_in = match parsed(text) {
        Ok(built_in) => built_in,
        Err(error) => return Some(error.to_string()),
    };
    let measured = parsed(&own.toml).ok().map(what_is_measured);
    if measured != Some(what_is_measured(built_in.clone())) {
        return Some(format!(
            "`{experiment}` of this run isn't the built-in experiment of this version"
        ));
    }
    other_list(run, own, &built_in)
        .or_else(|| other_level(run, &built_in))
        .or_else(|| at_url(run, engine))
}

/// An experiment of one scale without the prose that people read, the claims it answers, and combinations that only another scale has.
fn what_is_measured(experiment: Experiment) -> Experiment {
    let is_of_scale = |levels: &Levels| {
        let mut levels = levels.iter();
        levels.all(|(factor, level)| experiment.all_levels(factor).contains(level))
    };
    let skip = experiment.skip.iter().filter(|levels| is_of_scale(levels));
    // How ids are stored is compared by cell: a file of an earlier version leaves it to the kind of ids.
    let fixed = experiment.fixed.iter().filter(|(name, _)| name != ENCODING);
    Experiment {
        skip: skip.cloned().collect(),
        fixed: fixed.cloned().collect(),
        text: String::new(),
        title: String::new(),
        question: String::new(),
        expect: String::new(),
        answer: String::new(),
        claims: Vec::new(),
        repetitions: 1,
        ..experiment
    }
}

/// The first factor that varies over other levels than the built-in experiment's, or over the same in another order:
/// claims speak of the first and the last.
fn other_list(run: &Run, own: &results::Experiment, built_in: &Experiment) -> Option<String> {
    let cells = run.cells_of(&built_in.name);
    let counts = |factor: &str| factor != "engine" && cells.iter().any(|c| matters(c, factor));
    let list = |levels: &[String]| levels.join(", ");
    let asked = own.varied.iter().zip(&own.levels);
    for (factor, levels) in asked.filter(|(factor, _)| counts(factor)) {
        let published = built_in.all_levels(factor);
        if *levels != published {
            let (own, published) = (list(levels), list(&published));
            return Some(format!("{factor} is {own}, published {published}"));
        }
    }
    let is_fixed = |factor: &str| !own.varied.iter().any(|varied| varied == factor);
    let mut published = built_in.varied.iter();
    let (factor, levels) = published.find(|(name, _)| is_fixed(name) && counts(name))?;
    let level = cells.first()?.levels.get(factor)?;
    Some(format!("{factor} is {level}, published {}", list(levels)))
}

/// The first level of a cell that the built-in experiment doesn't have.
fn other_level(run: &Run, built_in: &Experiment) -> Option<String> {
    for cell in run.cells_of(&built_in.name) {
        for (factor, level) in &cell.levels {
            let mut published = built_in.levels_in(engine_of(cell), factor);
            let mut level = level.clone();
            if factor == ENCODING {
                level = encoding(cell, &level, |_, kind| kind.encodings()[0]);
                for level in &mut published {
                    *level = encoding(cell, level, |engine, kind| engine.encoding(kind));
                }
            }
            let counts = factor != "engine" && matters(cell, factor);
            if counts && !published.contains(&level) {
                let published = published.join(", ");
                return Some(format!("{factor} is {level}, published {published}"));
            }
        }
    }
    None
}

/// The factor whose default is that of the engine, and in files of versions before 0.2 that of the kind of ids.
const ENCODING: &str = "encoding";

/// The encoding that a level stands for in a cell.
fn encoding(
    cell: &Cell,
    level: &str,
    default: impl Fn(&dyn Engine, KeyKind) -> Encoding,
) -> String {
    let kind = cell
        .levels
        .get("key")
        .and_then(|key| KeyKind::from_name(key));
    match (level, kind, inorder_engine::engine(engine_of(cell))) {
        ("default", Some(kind), Some(engine)) => default(engine, kind).name().to_owned(),
        _ => level.to_owned(),
    }
}

fn engine_of(cell: &Cell) -> &str {
    cell.levels.get("engine").map_or("", String::as_str)
}

/// Whether a factor means something to the engine of a cell.
fn matters(cell: &Cell, factor: &str) -> bool {
    let engine = inorder_engine::engine(engine_of(cell));
    !engine.is_some_and(|engine| engine.ignores().contains(&factor))
}

/// A running server by URL has its own settings.
pub fn at_url(run: &Run, engine: &str) -> Option<String> {
    let (_, url) = run.meta.urls.iter().find(|(name, _)| name == engine)?;
    Some(format!("{url} has settings of its own"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        claims::{
            CLAIMS, Claim, Judgement, On, Verdict,
            evidence::not_run,
            fixture::{planned, repeated, set},
        },
        experiment::{canonical_level, factors::FACTORS},
        experiments::built_in,
    };
    use std::collections::{BTreeMap, BTreeSet};

    /// The deviation of a run of a built-in experiment with this `--set`.
    fn differs(
        experiment: &str,
        overrides: Overrides,
        change: impl Fn(&mut Run),
    ) -> Option<String> {
        let mut run = planned(experiment, Scale::Quick, overrides).unwrap();
        change(&mut run);
        difference(&run, experiment, "sqlite")
    }

    #[test]
    fn published_settings_differ_in_nothing() {
        for experiment in ["watchlist", "documents", "disk-io", "presort", "payload"] {
            assert_eq!(differs(experiment, repeated(7), |_| {}), None);
        }
        // What SQLite has none of, and cells left out: those that are there are the published ones.
        assert_eq!(differs("watchlist", set("shards", &["2"]), |_| {}), None);
        let only_one = |run: &mut Run| run.cells.truncate(1);
        assert_eq!(differs("presort-cache", repeated(7), only_one), None);
    }

    #[test]
    fn another_level_another_text_and_another_server_are_told() {
        let told = |found: Option<String>, what: &str| {
            let found = found.unwrap_or_else(|| panic!("{what} isn't told"));
            assert!(found.contains(what), "{found}");
        };
        let rows = differs("watchlist", set("rows", &["500"]), |_| {});
        told(rows, "rows is 500, published 20000");
        let journals = differs("disk-io", set("journal", &["wal", "delete"]), |_| {});
        told(journals, "journal is wal, delete, published wal");
        let keys = differs("watchlist", set("key", &["ulid", "uuid7"]), |_| {});
        told(keys, "key is ulid, uuid7, published uuid4, ulid");
        let other_words = |run: &mut Run| {
            let toml = &mut run.experiments[0].toml;
            *toml = toml.replace("question = \"", "# mine\nquestion = \"Or: ");
            assert!(toml.contains("Or: "));
        };
        assert_eq!(differs("presort", repeated(7), other_words), None);
        let own_file = |from: &'static str, to: &'static str| {
            let change = move |run: &mut Run| {
                let toml = &mut run.experiments[0].toml;
                assert!(toml.contains(from), "{toml}");
                *toml = toml.replace(from, to);
            };
            differs("presort", repeated(7), change)
        };
        let other = "isn't the built-in experiment";
        told(own_file("[quick]", "[reads]\npoints = 9\n[quick]"), other);
        told(own_file("rows = 125_000", "rows = 125_001"), other);
        told(own_file("[quick]", "[quick]\nunknown = 1"), other);
        // The sizes of the other scale don't count.
        assert_eq!(own_file("rows = 10_000_000", "rows = 9_000_000"), None);
        let scale = |run: &mut Run| run.meta.scale = "full".to_owned();
        told(differs("presort", repeated(7), scale), "published");
        let unknown = |run: &mut Run| run.meta.scale = "huge".to_owned();
        told(
            differs("presort", repeated(7), unknown),
            "`huge` is unknown",
        );
        let url = ("sqlite".to_owned(), "sqlite://elsewhere".to_owned());
        let by_url = |run: &mut Run| run.meta.urls.push(url.clone());
        told(
            differs("presort", repeated(7), by_url),
            "settings of its own",
        );
    }

    /// Levels to try in the place of a published one: each factor takes some of them.
    fn candidates() -> impl Iterator<Item = &'static str> {
        let numbers = ["0", "1", "3", "512", "65536"];
        let names = "sqlite postgres serial uuid4 uuid7 ulid int-seq same default text blob application engine rowid \
             without-rowid no-key clustered unique unique-and-index none prefix8 key insert bulk one each hash range wal \
             delete truncate off normal full true false";
        numbers.into_iter().chain(names.split_whitespace())
    }

    /// Lists of levels that aren't the published one: a level changed, one fewer, one more, and the order reversed.
    fn other_lists(factor: &str, published: &[String]) -> Vec<(&'static str, Vec<String>)> {
        let is_new = |level: &String| !published.contains(level);
        let canonical = candidates().filter_map(|level| canonical_level(factor, level).ok());
        let mut lists = Vec::new();
        for new in canonical.filter(is_new) {
            let mut changed = published.to_vec();
            changed[0].clone_from(&new);
            lists.push(("changed", changed));
            lists.push(("more", [published, &[new]].concat()));
        }
        if published.len() > 1 {
            lists.push(("fewer", published[1..].to_vec()));
            lists.push(("fewer", published[..published.len() - 1].to_vec()));
            lists.push(("reversed", published.iter().rev().cloned().collect()));
        }
        lists
    }

    /// Every claim, whatever its judge would say; every factor of its experiment that means something to the engine;
    /// and every way in which levels can differ.
    #[test]
    fn no_claim_has_a_verdict_on_other_settings() {
        let holds = |_: On<'_>| Judgement {
            verdict: Verdict::Holds,
            ..not_run()
        };
        let stored = |run: &Run| -> BTreeSet<String> {
            let cells = run.cells.iter();
            cells.map(|cell| cell.levels[ENCODING].clone()).collect()
        };
        let ignored = inorder_engine::engine("sqlite").unwrap().ignores();
        let experiments: BTreeSet<&str> = CLAIMS.iter().map(|claim| claim.experiment).collect();
        let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
        for name in experiments {
            let claims = CLAIMS.iter().filter(|claim| claim.experiment == name);
            let claims: Vec<Claim> = claims.map(|c| Claim { judge: holds, ..*c }).collect();
            let as_published = planned(name, Scale::Quick, Overrides::default()).unwrap();
            for claim in &claims {
                let verdict = claim.judgement(&as_published).verdict;
                assert_eq!(verdict, Verdict::Holds, "{}", claim.id);
            }
            let published = built_in(&[name.to_owned()], Scale::Quick, &Overrides::default());
            let published = &published.unwrap()[0];
            let factors = FACTORS.iter().map(|factor| factor.name);
            for factor in factors.filter(|f| *f != "engine" && !ignored.contains(f)) {
                for (how, levels) in other_lists(factor, &published.all_levels(factor)) {
                    let borrowed: Vec<&str> = levels.iter().map(String::as_str).collect();
                    let Some(run) = planned(name, Scale::Quick, set(factor, &borrowed)) else {
                        continue;
                    };
                    // The default is another name of what the engine stores.
                    if factor == ENCODING && stored(&run) == stored(&as_published) {
                        continue;
                    }
                    for claim in &claims {
                        let judged = claim.judgement(&run);
                        let what = format!("{}: {factor}={} ({how})", claim.id, levels.join(","));
                        assert_eq!(judged.verdict, Verdict::SettingsDiffer, "{what}");
                        assert!(
                            judged.reason.starts_with(factor),
                            "{what}: {}",
                            judged.reason
                        );
                    }
                    *tried.entry(how).or_default() += claims.len();
                }
            }
        }
        for how in ["changed", "fewer", "more", "reversed"] {
            assert!(tried[how] >= 30, "{tried:?}");
        }
    }
}
