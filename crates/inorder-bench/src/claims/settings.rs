//! Whether a run asked what was published: with other settings there is no verdict.

use crate::{
    experiment::{Experiment, Overrides, Scale},
    experiments::BUILT_IN,
    results::Run,
};

/// How an experiment of a run differs from the built-in one of its name and scale, in words; `None` where it doesn't.
///
/// Every level of every factor counts but the engine, which claims choose their cells by, and what means nothing to
/// the cell's engine. Fewer levels of a varied factor, other repetitions and another data file don't count: the cells
/// that are there are the published ones.
pub fn difference(run: &Run, experiment: &str, engine: &str) -> Option<String> {
    let own = run.experiment(experiment)?;
    let is_named = |(file, _): &&(&str, &str)| file.strip_suffix(".toml") == Some(experiment);
    let (file, text) = BUILT_IN.iter().find(is_named)?;
    if own.toml != *text {
        return Some(format!(
            "`{experiment}` of this run isn't the built-in experiment of this version"
        ));
    }
    let scale = Scale::from_name(&run.meta.scale)?;
    let built_in = Experiment::parse(file, text, scale, &Overrides::default()).ok()?;
    other_levels(run, &built_in).or_else(|| at_url(run, engine))
}

/// The first level that the built-in experiment doesn't have.
fn other_levels(run: &Run, built_in: &Experiment) -> Option<String> {
    for cell in run.cells_of(&built_in.name) {
        let engine = cell.levels.get("engine").map_or("", String::as_str);
        let ignored = inorder_engine::engine(engine).map_or(&[][..], |engine| engine.ignores());
        for (factor, level) in &cell.levels {
            let published = built_in.levels_in(engine, factor);
            let counts = factor != "engine" && !ignored.contains(&factor.as_str());
            if counts && !published.contains(level) {
                let published = published.join(", ");
                return Some(format!("{factor} is {level}, published {published}"));
            }
        }
    }
    None
}

/// A server that runs already has settings of its own.
pub fn at_url(run: &Run, engine: &str) -> Option<String> {
    let (_, url) = run.meta.urls.iter().find(|(name, _)| name == engine)?;
    Some(format!("{url} has settings of its own"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        claims::{CLAIMS, Verdict},
        engines::Engines,
        experiments::built_in,
        plan::plan,
    };

    /// What a run of a built-in experiment with these `--set` differs in.
    fn differs(
        experiment: &str,
        set: &[(&str, &[&str])],
        change: impl Fn(&mut Run),
    ) -> Option<String> {
        let owned = |levels: &[&str]| levels.iter().map(|level| (*level).to_owned()).collect();
        let overrides = Overrides {
            set: set
                .iter()
                .map(|(factor, levels)| ((*factor).to_owned(), owned(levels)))
                .collect(),
            repetitions: Some(7),
            ..Overrides::default()
        };
        let experiments = built_in(&[experiment.to_owned()], Scale::Quick, &overrides).unwrap();
        let planned = plan(&experiments, 1, &Engines::default()).unwrap();
        let mut run = Run {
            experiments: planned.experiments,
            cells: planned.cells,
            ..Run::default()
        };
        run.meta.scale = "quick".to_owned();
        run.meta.overrides = overrides;
        change(&mut run);
        difference(&run, experiment, "sqlite")
    }

    #[test]
    fn published_settings_differ_in_nothing() {
        for experiment in ["watchlist", "documents", "disk-io", "presort", "payload"] {
            assert_eq!(differs(experiment, &[], |_| {}), None);
        }
        // A part of what was published, and the engine that claims choose their cells by.
        assert_eq!(
            differs("watchlist", &[("layout", &["own-id"])], |_| {}),
            None
        );
        assert_eq!(differs("watchlist", &[("shards", &["2"])], |_| {}), None);
    }

    #[test]
    fn another_level_another_text_and_another_server_are_told() {
        let told = |found: Option<String>, what: &str| {
            let found = found.unwrap_or_else(|| panic!("{what} isn't told"));
            assert!(found.contains(what), "{found}");
        };
        let rows = differs("watchlist", &[("rows", &["500"])], |_| {});
        told(rows, "rows is 500, published 20000");
        let journals = differs("disk-io", &[("journal", &["wal", "delete"])], |_| {});
        told(journals, "journal is delete, published wal");
        let keys = differs("watchlist", &[("key", &["ulid", "uuid7"])], |_| {});
        told(keys, "key is uuid7");
        let own_file = |run: &mut Run| run.experiments[0].toml += "# mine\n";
        told(
            differs("presort", &[], own_file),
            "isn't the built-in experiment",
        );
        let scale = |run: &mut Run| run.meta.scale = "full".to_owned();
        told(differs("presort", &[], scale), "published");
        let url = ("sqlite".to_owned(), "sqlite://elsewhere".to_owned());
        let by_url = |run: &mut Run| run.meta.urls.push(url.clone());
        told(differs("presort", &[], by_url), "settings of its own");
    }

    #[test]
    fn no_claim_has_a_verdict_on_other_settings() {
        let overrides = Overrides {
            set: vec![("rows".to_owned(), vec!["500".to_owned()])],
            ..Overrides::default()
        };
        let experiments = built_in(&[], Scale::Quick, &overrides).unwrap();
        let planned = plan(&experiments, 1, &Engines::default()).unwrap();
        let mut run = Run {
            experiments: planned.experiments,
            cells: planned.cells,
            trials: planned.trials,
            ..Run::default()
        };
        run.meta.scale = "quick".to_owned();
        // Trials that every claim could be judged by, had they the settings.
        for trial in &mut run.trials {
            trial.status = crate::results::Status::Done;
            for probe in [
                "rows_stored",
                "cpu_s",
                "wall_s",
                "engine_written_bytes",
                "size_bytes",
            ] {
                trial.samples.push(crate::results::Sample {
                    probe: probe.to_owned(),
                    rows: 500,
                    value: Some(1.0 + trial.id as f64),
                    ..crate::results::Sample::default()
                });
            }
        }
        let mut told = 0;
        for claim in CLAIMS.iter() {
            let verdict = claim.judgement(&run).verdict;
            let has_none = matches!(
                verdict,
                Verdict::NotRun | Verdict::NeedsEngine | Verdict::SettingsDiffer
            );
            assert!(
                has_none || claim.experiment == "documents",
                "{}: {verdict:?}",
                claim.id
            );
            told += usize::from(verdict == Verdict::SettingsDiffer);
        }
        assert!(told >= 10, "{told}");
    }
}
