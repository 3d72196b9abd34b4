//! The built-in experiments: the files of the folder `experiments/`, in the order they run: what gives most answers per second
//! comes first, because a slow machine doesn't get to the last ones within its time budget.

use crate::{
    error::{Error, nearest},
    experiment::{Experiment, Overrides, Scale},
};

macro_rules! built_in {
    ($($file:literal,)+) => {
        /// File name and text of each.
        pub const BUILT_IN: &[(&str, &str)] = &[$((
            $file,
            include_str!(concat!("../../../experiments/", $file)),
        ),)+];
    };
}

built_in! {
    "keys.toml",
    "documents.toml",
    "presort.toml",
    "watchlist.toml",
    "disk-io.toml",
    "watchlist-scale.toml",
    "presort-batch.toml",
    "presort-cache.toml",
    "payload.toml",
    "int-or-integer.toml",
    "text-or-blob.toml",
    "uuid-beside-integer.toml",
    "v4-then-v7.toml",
    "lookups.toml",
    "same-millisecond.toml",
    "sharded-copy.toml",
    "hot-range.toml",
    "latency.toml",
    "operations.toml",
    "aged.toml",
    "migrate.toml",
}

/// Whether this is the text of a built-in experiment: its SQL is this program's own.
pub fn is_built_in(text: &str) -> bool {
    BUILT_IN.iter().any(|(_, own)| *own == text)
}

/// The names of the built-in experiments.
pub fn names() -> Vec<String> {
    let stem = |(file, _): &(&str, &str)| file.trim_end_matches(".toml").to_owned();
    BUILT_IN.iter().map(stem).collect()
}

/// Parses the built-in experiments that `wanted` names, each by its name or by a claim it answers;
/// where it names none, all that need no server: what is part of this program runs everywhere.
///
/// # Errors
/// A name that is neither an experiment nor a claim, with the nearest one that is.
pub fn built_in(
    wanted: &[String],
    scale: Scale,
    overrides: &Overrides,
) -> Result<Vec<Experiment>, Error> {
    let parse = |overrides: &Overrides, (file, text): &(&str, &str)| {
        Experiment::parse(file, text, scale, overrides)
    };
    // Names and claims are of the files; an override may suit only the experiments asked for.
    let unchanged = Overrides::default();
    let all: Vec<Experiment> = BUILT_IN
        .iter()
        .map(|one| parse(&unchanged, one))
        .collect::<Result<_, _>>()?;
    let names = |e: &Experiment, name: &String| e.name == *name || e.claims.contains(name);
    for name in wanted {
        if !all.iter().any(|experiment| names(experiment, name)) {
            let known = all.iter().map(|experiment| experiment.name.as_str());
            return Err(Error::Usage(format!(
                "no built-in experiment or claim `{name}`: {}",
                nearest(name, known)
            )));
        }
    }
    let needs_no_server = |e: &Experiment| e.all_levels("engine").iter().all(|e| e == "sqlite");
    let is_wanted = |e: &Experiment| match wanted {
        [] => needs_no_server(e),
        _ => wanted.iter().any(|name| names(e, name)),
    };
    BUILT_IN
        .iter()
        .zip(&all)
        .filter(|(_, experiment)| is_wanted(experiment))
        .map(|(one, _)| parse(overrides, one))
        .collect()
}
