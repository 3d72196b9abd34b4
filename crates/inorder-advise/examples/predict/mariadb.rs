//! Tables of MariaDB.
use crate::{Fallible, Product, Schema};
use inorder_advise::server::model::{Database, Sample, Table};
use inorder_engine as engine;

pub struct MariaDb;

impl Product for MariaDb {
    fn engine(&self) -> &'static str {
        "mariadb"
    }
    fn schemas(&self) -> &'static [Schema] {
        &[]
    }
    fn fill(&self, _: &dyn engine::Database, _: &Schema, _: u64) -> Fallible<()> {
        Ok(())
    }
    fn describe(&self, _: &dyn engine::Database, _: u64) -> Fallible<(Database, Table)> {
        Err("not yet".into())
    }
    fn sample(&self, _: &dyn engine::Database, _: &Table, _: u64) -> Fallible<Sample> {
        Err("not yet".into())
    }
    fn rebuild(&self, _: &dyn engine::Database) -> Fallible<Vec<(Option<String>, u64)>> {
        Ok(Vec::new())
    }
}
