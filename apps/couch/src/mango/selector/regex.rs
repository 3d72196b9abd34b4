//! Regular expressions of `$regex`.

use super::super::Error;
use super::super::error::shown;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// Bytes that a compiled regular expression may take.
const BYTES_MAX: usize = 1 << 20;

/// Compiles a pattern.
///
/// # Errors
/// If it is none, or too large.
pub fn compile(pattern: &str) -> Result<Regex, Error> {
    let built = RegexBuilder::new(pattern).size_limit(BYTES_MAX).build();
    built.map_err(|error| {
        let argument = shown(&Value::from(pattern));
        let message = format!("Bad argument for operator $regex: {argument}: {error}");
        Error::new("bad_arg", message)
    })
}
