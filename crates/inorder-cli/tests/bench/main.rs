//! `inorder bench` and what goes with it, as processes: what they leave behind, how they are stopped,
//! and what they say when the machine is in the way.

mod budget;
mod common;
mod machine;
mod output;
mod runs;
mod schema;
mod servers;
mod stops;
mod urls;
