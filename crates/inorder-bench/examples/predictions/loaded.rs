//! Runs cells whose table was bulk loaded in key order: the page writer builds it in SQLite, the engine's bulk load in a server.
//! The inserts that follow are measured.

use crate::{Fallible, Measured, cell::Cell};
use inorder_btree::{Builder, KeyColumn, KeyOrder, Options, SchemaEntry, Value, record};
use inorder_engine::{
    Batch, Column, Database, Engine, Retry, Settings, TableShape, engine, sqlite::Sqlite,
};
use inorder_key::KeyKind;
use inorder_key::bulk::{KeyBuffer, KeyStream, SplitMix64};
use std::{fs::File, path::Path};

/// Rows that are sent to a server together.
const ROWS_TOGETHER: u64 = 100_000;
const TABLE: &str = "t";

/// Loads the table, inserts the rows of the cell, and measures the inserts up to the checkpoint after them.
pub fn run(cell: &Cell, folder: &Path) -> Fallible<Measured> {
    if cell.indexes > 0 {
        return Err("a bulk load has no secondary indexes here".into());
    }
    let settings = Settings {
        cache_kib: cell.cache_kib,
        checkpoint_pages: u32::try_from(cell.checkpoint_pages)?,
        ..Settings::default()
    };
    let engine = engine(&cell.engine).ok_or("no such engine")?;
    let (kind, encoding) = cell.key()?;
    let mut stream = KeyStream::seeded(kind, encoding, cell.seed)?;
    let create = engine.create_table(&TableShape {
        name: TABLE,
        key: kind,
        encoding,
        key_made: None,
        layout: &cell.layout,
        has_payload: cell.payload_bytes > 0,
        indexes: 0,
    })?;
    let database = match cell.engine.as_str() {
        "sqlite" => {
            build(cell, &create, &folder.join(Sqlite::FILE))?;
            Sqlite::open(folder, &settings)?
        }
        _ => load(cell, engine, &create, folder, &settings, &mut stream)?,
    };
    database.quiesce()?;
    let before = database.io();
    insert(cell, database.as_ref(), &mut stream)?;
    database.quiesce()?;
    let io = database.io();
    let written = |part: Option<&str>| {
        let of = |io: &inorder_engine::Io| match part {
            Some(name) => io.file(name).written_bytes,
            None => io.total().written_bytes,
        };
        let both = of(&io).zip(of(&before));
        both.map(|(end, begin)| (end - begin) as f64 / cell.rows as f64)
            .ok_or("written bytes: not observed")
    };
    Ok(Measured {
        measured_bytes_per_row: written(None)?,
        measured_log_bytes_per_row: written(Some("wal"))?,
        measured_size_bytes: database.size_bytes()? as f64,
    })
}

/// The loaded keys as 63-bit positions, in order: one at random in each of as many equal ranges as there are rows.
fn positions(cell: &Cell) -> impl Iterator<Item = u64> + use<> {
    let step = (1 << 63) / cell.loaded_rows;
    let mut random = SplitMix64::new(cell.seed ^ 1);
    (0..cell.loaded_rows).map(move |row| row * step + random.below(step))
}

/// The UUID of version 4 that has a loaded key's place in the order.
fn uuid(position: u64, random: &mut SplitMix64) -> [u8; 16] {
    let (first, next) = (position >> 15, (position >> 3) & 0xfff);
    let high = first << 16 | 4 << 12 | next;
    let low = 1 << 63 | random.bits() >> 2;
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

/// Builds the table with the page writer.
fn build(cell: &Cell, create: &str, path: &Path) -> Fallible<()> {
    let mut random = SplitMix64::new(cell.seed ^ 2);
    let payload = payload(cell, &mut random);
    let builder = Builder::create(
        File::create_new(path)?,
        Options {
            is_wal: true,
            bypasses_page_cache: true,
            writes_behind: true,
            ..Options::default()
        },
    )?;
    let mut row = Vec::new();
    let (builder, root) = match (cell.layout.as_str(), cell.key()?.0) {
        ("rowid", KeyKind::IntRandom) => {
            let mut table = builder.table()?;
            for position in positions(cell) {
                row.clear();
                let fields = [Value::Null, Value::Blob(&payload)];
                record::encode(&fields[..1 + usize::from(!payload.is_empty())], &mut row);
                table.push(position as i64, &row)?;
            }
            table.finish()?
        }
        ("without-rowid", kind @ (KeyKind::IntRandom | KeyKind::Uuid4)) => {
            let options = Options::default();
            let order = KeyOrder::new(vec![KeyColumn::ascending(0)], options.encoding);
            let mut table = builder.index(order, Some(1))?;
            for position in positions(cell) {
                row.clear();
                let bytes = uuid(position, &mut random);
                let key = match kind {
                    KeyKind::Uuid4 => Value::Blob(&bytes),
                    _ => Value::Integer(position as i64),
                };
                let fields = [key, Value::Blob(&payload)];
                record::encode(&fields[..1 + usize::from(!payload.is_empty())], &mut row);
                table.push(&row)?;
            }
            table.finish()?
        }
        (layout, kind) => {
            return Err(format!("no bulk load of {} in the layout {layout}", kind.name()).into());
        }
    };
    builder.finish(&[SchemaEntry {
        kind: "table".into(),
        name: TABLE.into(),
        table_name: TABLE.into(),
        root,
        sql: Some(create.trim_end_matches(';').to_owned()),
    }])?;
    Ok(())
}

/// Creates the table in a server and loads it as `inorder load` does: the rows by COPY or its like, then the index on the key.
fn load(
    cell: &Cell,
    engine: &dyn Engine,
    create: &str,
    folder: &Path,
    settings: &Settings,
    stream: &mut KeyStream,
) -> Fallible<Box<dyn Database>> {
    let database = engine.create(folder, settings)?;
    database.execute(create)?;
    let mut random = SplitMix64::new(cell.seed ^ 2);
    let payload = payload(cell, &mut random);
    let mut keys = Keys::of(cell, stream)?;
    let mut load = database.load(TABLE, columns(cell), false)?;
    let mut rows = cell.loaded_rows;
    while rows > 0 {
        let together = rows.min(ROWS_TOGETHER) as usize;
        rows -= together as u64;
        let payloads = (!payload.is_empty()).then(|| Column::Fixed {
            width_bytes: payload.len(),
            bytes: payload.repeat(together),
            is_text: false,
        });
        let keys = keys.take(together, &mut random)?;
        let columns = [Some(keys), payloads].into_iter().flatten().collect();
        load.writer.insert(&Batch { columns }, 0..together)?;
    }
    load.writer.complete()?;
    load.writer.commit()?;
    drop(load);
    Ok(database)
}

/// The keys of loaded rows, in order.
enum Keys<'s> {
    /// Integers at these positions.
    Integers(Box<dyn Iterator<Item = u64>>),
    /// UUIDs of version 4 at these positions.
    Uuids(Box<dyn Iterator<Item = u64>>),
    /// Those of a stream of ordered keys. The inserted ones follow in it.
    Ordered(&'s mut KeyStream),
}

impl<'s> Keys<'s> {
    fn of(cell: &Cell, stream: &'s mut KeyStream) -> Fallible<Self> {
        let (kind, encoding) = cell.key()?;
        match (kind, kind.width_bytes(encoding)) {
            (kind, _) if kind.is_ordered() => Ok(Keys::Ordered(stream)),
            (KeyKind::IntRandom, _) => Ok(Keys::Integers(Box::new(positions(cell)))),
            (KeyKind::Uuid4, Some(16)) => Ok(Keys::Uuids(Box::new(positions(cell)))),
            _ => Err(format!("no bulk load of {} as {}", cell.key, cell.encoding).into()),
        }
    }

    /// The next keys.
    fn take(&mut self, keys: usize, random: &mut SplitMix64) -> Fallible<Column> {
        Ok(match self {
            Keys::Integers(positions) => {
                Column::Integers(positions.take(keys).map(|at| at as i64).collect())
            }
            Keys::Uuids(positions) => Column::Fixed {
                width_bytes: 16,
                bytes: (positions.take(keys))
                    .flat_map(|position| uuid(position, random))
                    .collect(),
                is_text: false,
            },
            Keys::Ordered(stream) => next_keys(stream, keys)?,
        })
    }
}

/// The next keys of a stream as a column.
fn next_keys(stream: &mut KeyStream, keys: usize) -> Fallible<Column> {
    match stream.fill(keys) {
        KeyBuffer::Integers(values) => Ok(Column::Integers(values)),
        KeyBuffer::Bytes {
            width_bytes,
            bytes,
            is_text,
        } => Ok(Column::Fixed {
            width_bytes,
            bytes,
            is_text,
        }),
        _ => Err("a key of one column is needed".into()),
    }
}

fn columns(cell: &Cell) -> &'static [&'static str] {
    match cell.payload_bytes {
        0 => &["id"],
        _ => &["id", "payload"],
    }
}

/// The payload of all loaded rows.
fn payload(cell: &Cell, random: &mut SplitMix64) -> Vec<u8> {
    (0..cell.payload_bytes)
        .map(|_| random.bits() as u8)
        .collect()
}

/// Inserts the measured rows.
fn insert(cell: &Cell, database: &dyn Database, stream: &mut KeyStream) -> Fallible<()> {
    let mut random = SplitMix64::new(cell.seed ^ 3);
    let mut writer = database.writer(TABLE, columns(cell), Retry::default())?;
    let mut rows = cell.rows;
    while rows > 0 {
        let together = rows.min(cell.rows_per_transaction) as usize;
        rows -= together as u64;
        let key = next_keys(stream, together)?;
        let payload = (cell.payload_bytes > 0).then(|| Column::Fixed {
            width_bytes: cell.payload_bytes as usize,
            bytes: (0..together)
                .flat_map(|_| payload(cell, &mut random))
                .collect(),
            is_text: false,
        });
        let columns = [Some(key), payload].into_iter().flatten().collect();
        writer.begin()?;
        writer.insert(&Batch { columns }, 0..together)?;
        writer.commit()?;
        writer.checkpoint_if_due()?;
    }
    Ok(())
}
