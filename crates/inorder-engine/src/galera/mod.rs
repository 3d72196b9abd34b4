//! MariaDB Galera: three private nodes, each with all the data, that commit by certification
//! (<https://galeracluster.com/library/documentation/certification-based-replication.html>).
//!
//! Writers are distributed over the nodes in turn. Each node omits the `AUTO_INCREMENT` numbers of the other nodes. A
//! writer repeats a transaction that fails certification, and counts the repetition.

mod cluster;
mod counters;
mod database;

use crate::{
    Database, Engine, EngineInfo, Error, Found, KernelCheck, Settings, TableShape, engine::check,
    mariadb::MariaDb,
};
use inorder_key::{Encoding, KeyKind};
use std::{
    env,
    path::{Path, PathBuf},
};

/// Name in error messages.
const NAME: &str = "galera";

/// Number of nodes: the smallest cluster that keeps a majority after the loss of one.
const NODES: usize = 3;

/// The Galera provider, which makes a MariaDB server a node: its file and where to find it.
const PROVIDER: &str = "libgalera_smm.so";
const PROVIDER_FOLDERS: &[&str] = &[
    "/usr/lib/galera",
    "/usr/lib/galera-4",
    "/usr/lib64/galera-4",
    "/usr/lib64/galera",
    "/usr/local/lib/galera",
];
/// Environment variable with the folder of the provider.
const PROVIDER_VARIABLE: &str = "INORDER_GALERA";

/// The newest installed MariaDB with the Galera provider.
pub struct Galera;

/// Returns the provider.
fn provider() -> Result<PathBuf, Error> {
    let folders: Vec<PathBuf> = match env::var_os(PROVIDER_VARIABLE) {
        Some(folder) => vec![folder.into()],
        None => PROVIDER_FOLDERS.iter().map(PathBuf::from).collect(),
    };
    let mut files = folders.into_iter().map(|folder| folder.join(PROVIDER));
    files
        .find(|file| file.is_file())
        .ok_or_else(|| Error::NotInstalled {
            engine: NAME,
            install: crate::server::find::install_command(&[
                ("debian", "apt-get install mariadb-server galera-4"),
                ("fedora", "dnf install mariadb-server-galera galera"),
                ("rhel", "dnf install mariadb-server-galera galera"),
                ("suse", "zypper install mariadb-galera galera-4"),
                ("arch", "pacman -S mariadb galera"),
            ]),
        })
}

impl Engine for Galera {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Returns the path of the provider and the version of MariaDB.
    fn found(&self) -> Result<Vec<Found>, Error> {
        let provider = provider()?;
        let mut found = MariaDb.found()?;
        found.truncate(1);
        for one in &mut found {
            one.path = Some(provider.clone());
        }
        Ok(found)
    }

    fn accepts(&self, settings: &Settings) -> Result<(), String> {
        MariaDb.accepts(settings)
    }

    fn ignores(&self) -> &'static [&'static str] {
        MariaDb.ignores()
    }

    fn kernel_check(&self) -> KernelCheck {
        KernelCheck {
            gap: "a node's write-set cache (gcache) is a memory map: the kernel writes it at any time, and these bytes are not counted",
            ..MariaDb.kernel_check()
        }
    }

    fn info(&self) -> Result<EngineInfo, Error> {
        let mut info = MariaDb.info()?;
        info.name = NAME.into();
        info.compile_options.push(provider()?.display().to_string());
        Ok(info)
    }

    fn why_no_key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        MariaDb.why_no_key_type(kind, encoding)
    }

    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        MariaDb.key_type(kind, encoding)
    }

    fn blob_type(&self) -> &'static str {
        MariaDb.blob_type()
    }

    fn text_type(&self) -> &'static str {
        MariaDb.text_type()
    }

    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String> {
        MariaDb.create_table(shape)
    }

    fn create(&self, folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error> {
        check(self, settings)?;
        let nodes = cluster::start(&provider()?, folder, settings)?;
        Ok(Box::new(database::GaleraDatabase::new(nodes)))
    }
}
