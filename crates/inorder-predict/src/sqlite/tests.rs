use super::*;
use crate::question::{Engine, Layout};
use inorder_key::KeyKind;
use inorder_key::bulk::SplitMix64;
use rusqlite::Connection;

/// Pages of each tree by SQLite, in the order of the model's trees, and of the model, for the same keys in the same order.
fn compare(question: &Question, rows: u64) -> Vec<(u64, u64)> {
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite
        .execute_batch(&format!("PRAGMA page_size = {}", question.page_bytes))
        .unwrap();
    let ddl = match (question.layout, question.key) {
        (Layout::WithoutRowid, _) => {
            "CREATE TABLE t(id BLOB PRIMARY KEY, payload BLOB) WITHOUT ROWID"
        }
        (_, KeyKind::IntSeq | KeyKind::IntRandom) => {
            "CREATE TABLE t(id INTEGER PRIMARY KEY, payload BLOB)"
        }
        _ => "CREATE TABLE t(id BLOB PRIMARY KEY, payload BLOB)",
    };
    let (columns, places) = match question.payload_bytes {
        0 => ("", "?1"),
        _ => (", payload BLOB", "?1, ?2"),
    };
    sqlite
        .execute_batch(&ddl.replace(", payload BLOB", columns))
        .unwrap();
    let mut model = Sqlite::new(question);
    let mut keys = Arrivals::new(Order::of(question.key), question.seed);
    if question.layout == Layout::Rowid && model.members.len() > 1 {
        keys = model.members[1].arrivals.clone();
    }
    let payload = vec![7u8; question.payload_bytes as usize];
    sqlite.execute_batch("BEGIN").unwrap();
    {
        let mut insert = sqlite
            .prepare(&format!("INSERT INTO t VALUES({places})"))
            .unwrap();
        for row in 1..=rows {
            let key = keys.key(row);
            if question.key.width_bytes(question.encoding).is_none() {
                insert
                    .raw_bind_parameter(1, keys.rowid(key) as i64)
                    .unwrap();
            } else {
                let mut blob = key.to_be_bytes().to_vec();
                blob.extend([0; 8]);
                insert.raw_bind_parameter(1, blob).unwrap();
            }
            if question.payload_bytes > 0 {
                insert.raw_bind_parameter(2, &payload).unwrap();
            }
            insert.raw_execute().unwrap();
            model.insert(row);
        }
    }
    sqlite.execute_batch("COMMIT").unwrap();
    let names = ["t", "sqlite_autoindex_t_1"];
    let sizes = model.sizes();
    let count = |name: &str| {
        let sql = "SELECT count(*) FROM dbstat WHERE name = ?";
        {
            let pages: i64 = sqlite.query_row(sql, [name], |row| row.get(0)).unwrap();
            pages as u64
        }
    };
    let trees = sizes.iter().zip(names);
    trees
        .map(|(size, name)| (count(name), size.pages as u64))
        .collect()
}

#[test]
fn trees_have_as_many_pages_as_in_sqlite() {
    let mut random = SplitMix64::new(5);
    let kinds = [
        KeyKind::IntSeq,
        KeyKind::IntRandom,
        KeyKind::Uuid4,
        KeyKind::Uuid7,
    ];
    for kind in kinds {
        for layout in [Layout::Rowid, Layout::WithoutRowid] {
            if layout == Layout::WithoutRowid && kind.encodings()[0].name() == "integer" {
                continue;
            }
            for payload_bytes in [0, 30, 100, 300, 900, 3000, 9000] {
                let mut question = Question::new(Engine::Sqlite, kind, 1);
                question.layout = layout;
                question.payload_bytes = payload_bytes;
                question.seed = random.bits();
                question.page_bytes = [1024, 4096][random.below(2) as usize];
                let rows = 200 + random.below(20_000);
                for (sqlite, model) in compare(&question, rows) {
                    assert_eq!(
                        sqlite,
                        model,
                        "{} {} {payload_bytes} bytes, {rows} rows, pages of {}",
                        kind.name(),
                        layout.name(),
                        question.page_bytes
                    );
                }
            }
        }
    }
}

#[test]
fn random_rowids_of_a_loaded_table_are_large() {
    let mut question = Question::new(Engine::Sqlite, KeyKind::IntRandom, 151_001);
    question.loaded_rows = 151_000;
    question.payload_bytes = 12;
    // A record of 15 bytes, a rowid of 9, the size of the record and the pointer to the cell: 151 cells fill 4,088 bytes.
    assert_eq!(Sqlite::new(&question).sizes()[0].leaf_pages, 1000.0);
}
