//! From an experiment file to a report: plan, trials, probes, results, claims.
