//! Cells: tables with their loads.

use crate::Fallible;
use inorder_key::bulk::SplitMix64;
use inorder_key::{Encoding, KeyKind};
use inorder_predict::{Engine, Layout, Question};
use std::collections::BTreeMap;

/// Bytes of a page of MariaDB in `inorder bench`, unless an experiment says otherwise.
const MARIADB_PAGE_BYTES: u32 = 4096;

/// A table with its load, in the words of experiments.
#[derive(serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq)]
pub struct Cell {
    pub engine: String,
    pub key: String,
    pub encoding: String,
    pub layout: String,
    pub payload_bytes: u64,
    pub indexes: u64,
    pub rows: u64,
    pub rows_per_transaction: u64,
    pub cache_kib: u64,
    pub checkpoint_pages: u64,
    pub seed: u64,
    /// Rows that a bulk load in key order stored before.
    #[serde(default)]
    pub loaded_rows: u64,
}

impl Cell {
    /// Chooses cells of an engine: each combination of key kinds and row sizes is about equally frequent.
    pub fn choose(engine: &str, count: u64, seed: u64) -> Fallible<Vec<Cell>> {
        let mut random = SplitMix64::new(seed);
        let mut cells = Vec::new();
        let mut pick = |of: &[u64]| of[random.below(of.len() as u64) as usize];
        let engine = engine_of(engine)?;
        let layouts: &[Layout] = match engine {
            Engine::Sqlite | Engine::Mariadb => &[Layout::Rowid, Layout::WithoutRowid],
            Engine::Postgres => &[Layout::Rowid],
        };
        let loads = Loads::of(engine);
        while (cells.len() as u64) < count {
            let kind = KeyKind::ALL[cells.len() % KeyKind::ALL.len()];
            let encodings = kind.encodings();
            let usable = encodings
                .iter()
                .filter(|encoding| engine.has_encoding(kind, **encoding));
            let usable: Vec<_> = usable.collect();
            let layout = layouts[pick(&[0, 1]) as usize % layouts.len()];
            let layout = match kind {
                KeyKind::Serial => Layout::Rowid,
                _ => layout,
            };
            let cell = Cell {
                engine: engine.name().to_owned(),
                key: kind.name().to_owned(),
                encoding: usable[pick(&[0, 1]) as usize % usable.len()]
                    .name()
                    .to_owned(),
                layout: layout.name().to_owned(),
                payload_bytes: pick(&[0, 30, 64, 100, 200, 500, 1200]),
                indexes: pick(&[0, 0, 1, 2]),
                rows: pick(loads.rows),
                rows_per_transaction: pick(&[10, 100, 1000, 1000, 10_000]),
                cache_kib: pick(loads.cache_kib),
                checkpoint_pages: pick(loads.checkpoint_pages),
                seed: random_seed(seed, cells.len() as u64),
                loaded_rows: 0,
            };
            cells.push(cell);
        }
        Ok(cells)
    }

    /// The question that predicts the cell.
    pub fn question(&self) -> Fallible<Question> {
        let engine = engine_of(&self.engine)?;
        let (key, encoding) = self.key()?;
        let layout = Layout::ALL.iter().find(|l| l.name() == self.layout);
        let mut question = Question::new(engine, key, self.loaded_rows + self.rows);
        question.loaded_rows = self.loaded_rows;
        question.encoding = encoding;
        question.layout = *layout.ok_or("no such layout")?;
        question.payload_bytes = self.payload_bytes;
        question.add_random_indexes(self.indexes);
        question.rows_per_transaction = self.rows_per_transaction;
        question.cache_bytes = self.cache_kib << 10;
        if engine == Engine::Mariadb {
            question.page_bytes = MARIADB_PAGE_BYTES;
        }
        question.checkpoint_bytes = self.checkpoint_pages * u64::from(question.page_bytes);
        Ok(question)
    }

    /// Kind and encoding of the key.
    pub fn key(&self) -> Fallible<(KeyKind, Encoding)> {
        let kind = KeyKind::from_name(&self.key).ok_or("no such key")?;
        let encodings = kind.encodings().iter();
        let encoding = encodings.copied().find(|e| e.name() == self.encoding);
        Ok((kind, encoding.ok_or("no such encoding")?))
    }

    /// The levels of the trial.
    pub fn levels(&self) -> BTreeMap<String, String> {
        let numbers = [
            ("payload_bytes", self.payload_bytes),
            ("indexes", self.indexes),
            ("rows", self.rows),
            ("rows_per_transaction", self.rows_per_transaction),
            ("cache_kib", self.cache_kib),
            ("checkpoint_pages", self.checkpoint_pages),
        ];
        let names = [
            ("engine", &self.engine),
            ("key", &self.key),
            ("encoding", &self.encoding),
            ("layout", &self.layout),
        ];
        let numbers = numbers.map(|(name, level)| (name.to_owned(), level.to_string()));
        let names = names.map(|(name, level)| (name.to_owned(), level.clone()));
        names.into_iter().chain(numbers).collect()
    }
}

/// The loads from which cells are chosen.
struct Loads {
    rows: &'static [u64],
    cache_kib: &'static [u64],
    checkpoint_pages: &'static [u64],
}

impl Loads {
    fn of(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => Loads {
                rows: &[200_000, 300_000, 500_000],
                cache_kib: &[500, 2000, 8000, 32_000],
                checkpoint_pages: &[1000, 4000],
            },
            Engine::Postgres => Loads {
                rows: &[100_000, 200_000],
                cache_kib: &[2000, 8000, 32_000],
                checkpoint_pages: &[4000, 8000, 16_000],
            },
            // Smaller caches have no page free without the page cleaner, whose speed decides then.
            Engine::Mariadb => Loads {
                rows: &[100_000, 200_000],
                cache_kib: &[8192, 16_384, 32_768, 65_536],
                checkpoint_pages: &[4096, 8192, 16_384],
            },
        }
    }
}

fn engine_of(name: &str) -> Fallible<Engine> {
    Ok(Engine::from_name(name).ok_or_else(|| format!("no engine {name}"))?)
}

fn random_seed(seed: u64, number: u64) -> u64 {
    // TOML has no integers above 2^63 - 1.
    SplitMix64::mix((seed << 32) ^ number) >> 1
}
