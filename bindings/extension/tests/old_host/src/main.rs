//! Loads an extension into an old SQLite, reports the result, and continues.

use rusqlite::{Connection, NO_PARAMS};

fn main() {
    let extension = std::env::args().nth(1).expect("the path of an extension");
    let db = Connection::open_in_memory().expect("a database in memory");
    db.load_extension_enable().expect("extensions allowed");
    match db.load_extension(extension, None) {
        Ok(()) => println!("loaded"),
        Err(error) => println!("{error}"),
    }
    let version = db.query_row("SELECT sqlite_version()", NO_PARAMS, |row| {
        row.get::<_, String>(0)
    });
    println!("still running: {}", version.expect("an answer"));
}
