//! Advice on a database of a running server, which is only read.
//!
//! `predict` rebuilds samples on a private server. The advice calls it so:
//!
//! ```text
//! let predictor = predict::Predictor::start(&database, folder)?;            // one private server per run
//! let found = predictor.predict(&table, &sample, &[change_set, …])?;        // Result<Vec<Prediction>, Error>
//! ```
//!
//! `start` takes `&model::Database` (product, release, page size and settings decide the private server's) and a
//! private folder that is removed with the run. It fails with [`crate::Error::Prediction`] where the engine isn't
//! installed or is another release; the advice then goes without predictions and says so. `predict` returns one
//! [`model::Prediction`] per change set, in their order. Sizes are scaled from the sample to [`model::Table::rows`].

mod ids;
pub mod model;
mod postgres;
pub mod predict;
