//! Compares predicted sizes of tables and indexes with real ones, over many schemas.
//!
//! ```text
//! cargo run -p inorder-advise --example predict -- postgres 300000
//! cargo run -p inorder-advise --example predict -- mariadb 300000 "long keys"
//! ```
//! Prints a table in Markdown. Fails if a size is more than 5% off.

mod compare;

fn main() -> compare::Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (engine, rows, only) = match &arguments[..] {
        [engine] => (engine, "300000", ""),
        [engine, rows] => (engine, rows.as_str(), ""),
        [engine, rows, only] => (engine, rows.as_str(), only.as_str()),
        _ => return Err("usage: predict postgres|mariadb [ROWS] [SCHEMA]".into()),
    };
    let off = compare::compare(engine, rows.parse()?, &[only])?;
    match off.is_empty() {
        true => Ok(()),
        false => Err(off.join("\n").into()),
    }
}
