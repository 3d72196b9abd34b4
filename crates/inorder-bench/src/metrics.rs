//! The list of metrics: numbers derived from one trial's samples.

use crate::{
    core_time::{self, CoreTime},
    error::nearest,
    experiment::template::Placeholder,
    results::Trial,
};

/// A number derived from one trial's samples, for tables, ratios and plots.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its id, used in answers and in JSON; the unit ends the name.
    pub id: &'static str,
    /// Heading of its column.
    pub title: &'static str,
    /// The unit as a person reads it.
    pub unit: &'static str,
    /// Subject to the noise gate.
    pub is_time: bool,
    /// The number, `None` where it could not be observed.
    pub of: fn(&Trial) -> Option<f64>,
    /// The time of the reference work then, if the number is time on a core.
    reference_s: Option<fn(&Trial) -> Option<f64>>,
}

impl Metric {
    /// Marks time on a core.
    const fn on_core(self, reference_s: fn(&Trial) -> Option<f64>) -> Self {
        Metric {
            reference_s: Some(reference_s),
            ..self
        }
    }

    /// Whether the number is time on a core, which the reference work corrects.
    pub fn is_on_core(&self) -> bool {
        self.reference_s.is_some()
    }

    /// The number of a trial and the time of the reference work then.
    pub(crate) fn core_time(&self, trial: &Trial) -> Option<CoreTime> {
        let reference_s = self.reference_s.and_then(|reference_s| reference_s(trial));
        Some(((self.of)(trial)?, reference_s))
    }

    /// The numbers of two trials as their ratio is formed of them: times on a core are corrected by the reference work, with
    /// the exponent of their experiment ([`crate::analysis::reference_exponent`]).
    pub fn pair(&self, a: &Trial, b: &Trial, exponent: f64) -> Option<(f64, f64)> {
        let (a, b) = (self.core_time(a)?, self.core_time(b)?);
        Some(core_time::pair(a, b, exponent))
    }
}

/// Every metric, in the order tables show them.
pub const METRICS: &[Metric] = &[
    metric("cpu_us_per_row", "CPU per row", "us", true, |t| {
        per_row(t, t.last("cpu_s", "").map(|s| s * 1e6))
    })
    .on_core(core_time::of_load),
    metric("wall_us_per_row", "wall time per row", "us", true, |t| {
        per_row(t, t.last("wall_s", "").map(|s| s * 1e6))
    }),
    metric("rows_per_s", "rows per second", "rows/s", true, |t| {
        Some(rows(t)? / t.last("wall_s", "")?)
    }),
    metric(
        "engine_bytes_per_row",
        "bytes written per row",
        "bytes",
        false,
        |t| per_row(t, t.last("engine_written_bytes", "")),
    ),
    metric(
        "block_bytes_per_row",
        "block-layer bytes per row",
        "bytes",
        false,
        |t| per_row(t, t.last("block_written_bytes", "")),
    ),
    metric(
        "write_amplification",
        "write amplification",
        "times",
        false,
        |t| {
            let user_bytes = t.last("user_bytes", "").filter(|bytes| *bytes > 0.0)?;
            Some(t.last("engine_written_bytes", "")? / user_bytes)
        },
    ),
    metric("latency_p50_us", "latency p50", "us", true, |t| {
        t.last("transaction_latency_us", "p50")
    }),
    metric("latency_p99_us", "latency p99", "us", true, |t| {
        t.last("transaction_latency_us", "p99")
    }),
    metric("latency_p999_us", "latency p99.9", "us", true, |t| {
        t.last("transaction_latency_us", "p99.9")
    }),
    metric("latency_max_us", "latency max", "us", true, |t| {
        t.last("transaction_latency_us", "max")
    }),
    metric("rate_kept_share", "rate kept", "share", true, |t| {
        t.last("rate_kept_share", "")
    }),
    metric(
        "work_bytes_per_operation",
        "bytes written per operation",
        "bytes",
        false,
        |t| Some(t.last("work_written_bytes", "")? / t.last("work_operations", "")?),
    ),
    metric(
        "work_us_per_operation",
        "time per operation",
        "us",
        true,
        |t| Some(t.last("work_wall_s", "")? * 1e6 / t.last("work_operations", "")?),
    ),
    metric(
        "work_growth",
        "size, times that before the operations",
        "times",
        false,
        |t| growth(t, "work_size_bytes", "0%", "100%"),
    ),
    metric(
        "migration_bytes_per_row",
        "bytes written per migrated row",
        "bytes",
        false,
        |t| of_migration(t, "migration_written_bytes", 1.0),
    ),
    metric(
        "migration_us_per_row",
        "time per migrated row",
        "us",
        true,
        |t| of_migration(t, "migration_wall_s", 1e6),
    ),
    metric(
        "migration_cpu_us_per_row",
        "CPU per migrated row",
        "us",
        true,
        |t| of_migration(t, "migration_cpu_s", 1e6),
    ),
    metric(
        "migration_writer_wait_us",
        "longest wait of a writer",
        "us",
        true,
        |t| longest_wait(t, ".writer"),
    ),
    metric(
        "migration_reader_wait_us",
        "longest wait of a reader",
        "us",
        true,
        |t| longest_wait(t, ".reader"),
    ),
    metric(
        "migration_peak_growth",
        "largest size while migrating, times that before",
        "times",
        false,
        |t| growth(t, "migration_size_bytes", "before", "peak"),
    ),
    metric(
        "migration_growth",
        "size after the migration, times that before",
        "times",
        false,
        |t| growth(t, "migration_size_bytes", "before", "after"),
    ),
    metric(
        "migration_insert_bytes_before",
        "bytes per insert before the migration",
        "bytes",
        false,
        |t| t.last("migration_insert_bytes", "before"),
    ),
    metric(
        "migration_insert_bytes_after",
        "bytes per insert after the migration",
        "bytes",
        false,
        |t| t.last("migration_insert_bytes", "after"),
    ),
    metric("checkpoints", "checkpoints", "times", false, |t| {
        t.last("engine_causes", "checkpoints")
    }),
    metric("syncs", "syncs", "calls", false, |t| {
        t.last("engine_syncs_calls", "")
    }),
    metric("size_bytes", "size", "bytes", false, |t| {
        t.last("size_bytes", "")
    }),
    metric(
        "size_vacuumed_bytes",
        "size after VACUUM",
        "bytes",
        false,
        |t| t.last("size_vacuumed_bytes", ""),
    ),
    metric("index_share", "index share", "share", false, |t| {
        Some(index_bytes(t)? / t.last("size_bytes", "")?)
    }),
    metric("fill_share", "fill", "share", false, |t| {
        t.last("fill_share", "")
    }),
    metric("depth_levels", "depth", "levels", false, |t| {
        t.last("depth_levels", &largest_tree(t)?)
    }),
    metric("fanout_children", "fan-out", "children", false, |t| {
        t.last("fanout_children", &largest_tree(t)?)
    }),
    metric("overflow_pages", "overflow pages", "pages", false, |t| {
        sum(t, "overflow_pages", |_| true)
    }),
    metric(
        "hottest_shard_share",
        "rows on the hottest shard",
        "share",
        false,
        |t| Some(hottest_shard(t)? / stored(t)?),
    ),
    metric(
        "hottest_shard_rows_per_s",
        "rows per second of the hottest shard",
        "rows/s",
        true,
        |t| Some(hottest_shard(t)? / t.last("wall_s", "")?),
    ),
    metric(
        "replicated_bytes_per_row",
        "bytes replicated per row",
        "bytes",
        false,
        |t| per_row(t, t.last("engine_causes", "replicated_bytes")),
    ),
    metric(
        "certification_failures",
        "certification failures",
        "times",
        false,
        |t| t.last("engine_causes", "certification_failures"),
    ),
    metric("key_step", "step of assigned keys", "numbers", false, |t| {
        t.last("assigned_key_step", "")
    }),
    metric("retries", "busy retries", "retries", false, |t| {
        t.last("busy_retries", "")
    }),
    metric(
        "inversions_made_share",
        "made out of order",
        "share",
        false,
        |t| per_row(t, t.last("inversions", "made")),
    ),
    metric(
        "inversions_committed_share",
        "committed out of order",
        "share",
        false,
        |t| per_row(t, t.last("inversions", "committed")),
    ),
    metric("peak_memory_bytes", "peak memory", "bytes", false, |t| {
        t.last("peak_memory_bytes", "")
    }),
    metric("point_warm_p50_us", "look-up warm p50", "us", true, |t| {
        t.last("point_lookup_us", "warm.p50")
    })
    .on_core(core_time::of_reads),
    metric("point_warm_p99_us", "look-up warm p99", "us", true, |t| {
        t.last("point_lookup_us", "warm.p99")
    })
    .on_core(core_time::of_reads),
    metric("point_cold_p50_us", "look-up cold p50", "us", true, |t| {
        t.last("point_lookup_us", "cold.p50")
    }),
    metric("point_cold_p99_us", "look-up cold p99", "us", true, |t| {
        t.last("point_lookup_us", "cold.p99")
    }),
    metric(
        "range_warm_p50_us",
        "range of 100 warm p50",
        "us",
        true,
        |t| t.last("range_lookup_us", "warm.p50"),
    )
    .on_core(core_time::of_reads),
    metric(
        "range_cold_p50_us",
        "range of 100 cold p50",
        "us",
        true,
        |t| t.last("range_lookup_us", "cold.p50"),
    ),
    metric("query_warm_p50_us", "query warm p50", "us", true, |t| {
        t.last("query_us", "warm.p50")
    })
    .on_core(core_time::of_reads),
    metric("query_warm_mean_us", "query warm mean", "us", true, |t| {
        t.last("query_us", "warm.mean")
    })
    .on_core(core_time::of_reads),
];

/// The metric with this id, if there is one.
pub fn metric_named(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.id == id)
}

/// The metric that a placeholder of an answer asks for.
///
/// # Errors
/// If there is no such metric, its place in the answer and the nearest one that exists.
pub fn asked_for(placeholder: &Placeholder) -> Result<&'static Metric, String> {
    let id = &placeholder.metric;
    metric_named(id).ok_or_else(|| {
        let nearest = nearest(id, METRICS.iter().map(|metric| metric.id));
        placeholder.wrong(&format!("unknown metric `{id}`: {nearest}"))
    })
}

const fn metric(
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    is_time: bool,
    of: fn(&Trial) -> Option<f64>,
) -> Metric {
    Metric {
        id,
        title,
        unit,
        is_time,
        of,
        reference_s: None,
    }
}

/// Rows the trial stored.
fn stored(trial: &Trial) -> Option<f64> {
    trial.last("rows_stored", "").filter(|rows| *rows > 0.0)
}

/// Rows that were measured: those that were there before are not.
pub(crate) fn rows(trial: &Trial) -> Option<f64> {
    let before = trial.last("rows_before", "").unwrap_or(0.0);
    Some(stored(trial)? - before).filter(|rows| *rows > 0.0)
}

fn per_row(trial: &Trial, value: Option<f64>) -> Option<f64> {
    Some(value? / rows(trial)?)
}

/// The last sample of one part over that of another.
fn growth(trial: &Trial, probe: &str, before: &str, after: &str) -> Option<f64> {
    Some(trial.last(probe, after)? / trial.last(probe, before)?)
}

/// The sum of a probe over the phases of a migration, per row that had the old key.
fn of_migration(trial: &Trial, probe: &str, unit: f64) -> Option<f64> {
    let rows = trial.last("migration_rows", "")?;
    Some(sum(trial, probe, |part| !part.contains('.'))? * unit / rows)
}

/// The longest wait in any phase of a migration, in microseconds.
fn longest_wait(trial: &Trial, who: &str) -> Option<f64> {
    let parts = trial.parts("migration_wait_ms").into_iter();
    let waits = parts
        .filter(|part| part.ends_with(who))
        .map(|part| trial.last("migration_wait_ms", part));
    let longest = waits.flatten().max_by(f64::total_cmp);
    longest.map(|ms| ms * 1e3)
}

/// Rows of the shard that has most.
fn hottest_shard(trial: &Trial) -> Option<f64> {
    let parts = trial.parts("shard_rows").into_iter();
    let rows = parts.filter_map(|part| trial.last("shard_rows", part));
    rows.max_by(f64::total_cmp)
}

/// Bytes of all indexes after the load.
fn index_bytes(trial: &Trial) -> Option<f64> {
    sum(trial, "size_bytes", |part| part.starts_with("index:"))
}

/// Sum of a probe over some of its parts.
fn sum(trial: &Trial, probe: &str, takes: fn(&str) -> bool) -> Option<f64> {
    trial
        .parts(probe)
        .into_iter()
        .filter(|part| takes(part))
        // From 0: the sum of no floating-point numbers is -0.
        .try_fold(0.0, |sum, part| Some(sum + trial.last(probe, part)?))
}

/// The tree with the most pages, as samples name it.
fn largest_tree(trial: &Trial) -> Option<String> {
    let pages = |part: &&str| trial.last("pages", part).unwrap_or(0.0);
    let parts = trial.parts("pages").into_iter();
    parts
        .max_by(|a, b| pages(a).total_cmp(&pages(b)))
        .map(str::to_owned)
}
