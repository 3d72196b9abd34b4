//! Advice on a database of a running server, which is only read.
//!
//! - `postgres`, `mariadb` read the catalog and samples of rows into `model`, over one read-only session;
//! - `shape` is what a script must find as it was read;
//! - `ids` finds the kinds of ids of the samples, `classes` what each column of ids is;
//! - `counters` finds how far counted numbers have come, `undeclared` which integers are references by their values;
//! - `rules` propose changes and name the rejected ones; a rule never measures;
//! - `predict` rebuilds samples on a private server, with and without a change;
//! - `advice` judges, `migrate` writes the scripts, which are never run, and `report` writes everything down.

pub mod advice;
mod classes;
pub mod counters;
pub mod ids;
mod mariadb;
pub mod migrate;
pub mod model;
pub mod named;
mod postgres;
pub mod predict;
pub mod report;
pub mod rules;
pub mod shape;
mod undeclared;
