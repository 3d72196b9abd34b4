//! SQLite, embedded.

mod ddl;

use crate::{Database, Engine, EngineInfo, Error, Settings, TableShape};
use inorder_key::{Encoding, KeyKind};
use std::path::Path;

/// The bundled SQLite.
pub struct Sqlite;

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn info(&self) -> Result<EngineInfo, Error> {
        unimplemented!()
    }

    fn key_type(&self, _kind: KeyKind, _encoding: Encoding) -> Option<&'static str> {
        unimplemented!()
    }

    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String> {
        ddl::create_table(shape)
    }

    fn create(&self, _folder: &Path, _settings: &Settings) -> Result<Box<dyn Database>, Error> {
        unimplemented!()
    }
}
