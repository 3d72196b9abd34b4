//! What an application does that knows what is good for it: `rusqlite CSV DATABASE` reads all rows, sorts them by
//! their first field and inserts them into the table `t`, 50 a statement, in one transaction without a journal.
//!
//! It is one of the loaders of `benches/loaders.py`.

use std::error::Error;

use rusqlite::{Connection, params_from_iter};

const ROWS_A_STATEMENT: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(csv), Some(database)) = (arguments.next(), arguments.next()) else {
        return Err("usage: rusqlite CSV DATABASE".into());
    };
    let mut rows = Vec::new();
    let mut reader = csv::Reader::from_path(csv)?;
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record)? {
        let field = |place| record.get(place).unwrap_or_default().to_owned();
        rows.push([field(0), field(1)]);
    }
    rows.sort_unstable();
    let mut connection = Connection::open(database)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576",
    )?;
    let transaction = connection.transaction()?;
    for together in rows.chunks(ROWS_A_STATEMENT) {
        let values = vec!["(?, ?)"; together.len()].join(", ");
        let insert = format!("INSERT INTO t VALUES {values}");
        let mut statement = transaction.prepare_cached(&insert)?;
        statement.execute(params_from_iter(together.iter().flatten()))?;
    }
    Ok(transaction.commit()?)
}
