//! Advice on running servers, each a private server of the test in the role of one that runs already.

mod classes;
mod counters;
mod digests;
mod exhausted;
mod files;
mod kinds;
mod mariadb;
mod matrix;
mod named;
mod planner;
mod postgres;
mod server;
mod steps;
mod violated;
mod violations;
mod whole;
mod widened;
