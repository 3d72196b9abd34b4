//! `inorder bench --schema` and `--from`: drafts the experiment from a schema.

use super::work_folder;
use crate::terminal;
use anyhow::{Context as _, Result};
use inorder_bench::{
    Error,
    engines::without_passwords,
    nearest,
    schema::{Catalog, Draft, Wishes, draft},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Engines with a catalog that is read.
const ENGINES: [&str; 3] = ["sqlite", "postgres", "mariadb"];
/// The name of standard output.
const STDOUT: &str = "-";

/// Where an experiment is drafted from.
#[derive(clap::Args)]
pub struct SchemaArguments {
    /// Draft the experiment from this DDL: a private server of the first --engine (default: sqlite) applies it, and its
    /// catalog is read
    #[arg(long, value_name = "FILE", conflicts_with_all = ["experiments", "from"])]
    schema: Option<PathBuf>,
    /// Draft the experiment from the tables and sampled rows of a database, which is only read: the path of an SQLite
    /// file, postgres://… or mysql://…
    #[arg(long, value_name = "DATABASE", conflicts_with = "experiments")]
    from: Option<String>,
    /// With --schema or --from: the table whose rows are counted, and further tables whose keys change with its key
    #[arg(long, value_name = "TABLE,…", value_delimiter = ',')]
    table: Vec<String>,
    /// Write the drafted experiment to this file before it runs; - prints it and runs nothing
    #[arg(long, value_name = "FILE")]
    write_experiment: Option<PathBuf>,
}

impl SchemaArguments {
    /// Whether the experiment comes from a schema.
    pub fn is_given(&self) -> bool {
        self.schema.is_some() || self.from.is_some()
    }

    /// Whether the experiment is printed and not run.
    pub fn is_print(&self) -> bool {
        self.write_experiment.as_deref() == Some(Path::new(STDOUT))
    }

    /// The experiment that the command line asks for, for these engines, written to its file.
    pub fn draft(&self, engines: &[String], results: &Path) -> Result<Option<Draft>> {
        if !self.is_given() {
            return match self.table.is_empty() && self.write_experiment.is_none() {
                true => Ok(None),
                false => Err(Error::Usage(
                    "--table and --write-experiment go with --schema or --from".to_owned(),
                )
                .into()),
            };
        }
        for engine in engines {
            if !ENGINES.contains(&engine.as_str()) {
                let nearest = nearest(engine, ENGINES);
                let message = format!("no experiment can be drafted for `{engine}`: {nearest}");
                return Err(Error::Usage(message).into());
            }
        }
        let (catalog, origin) = match (&self.schema, &self.from) {
            (Some(path), _) => self.of_ddl(path, engines, results)?,
            (None, from) => {
                let from = from.clone().unwrap_or_default();
                let shown = without_passwords([from.clone()]).concat();
                (Catalog::of_database(&from)?, shown)
            }
        };
        let wishes = Wishes {
            tables: self.table.clone(),
            engines: engines.to_vec(),
            origin,
        };
        let draft = draft(&catalog, &wishes)?;
        if let Some(path) = self.write_experiment.as_ref().filter(|_| !self.is_print()) {
            terminal::write_file(path, &draft.text)?;
        }
        Ok(Some(draft))
    }

    fn of_ddl(&self, path: &Path, engines: &[String], results: &Path) -> Result<(Catalog, String)> {
        let shown = path.display().to_string();
        let ddl = fs::read_to_string(path).with_context(|| format!("--schema {shown}"))?;
        let name = engines.first().map_or("sqlite", String::as_str);
        let work = work_folder(results)?;
        let folder = work.path().join("schema");
        fs::create_dir_all(&folder)?;
        let catalog = Catalog::of_ddl(name, &ddl, &folder)?;
        Ok((catalog, shown))
    }
}
