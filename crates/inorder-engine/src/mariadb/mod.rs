//! MariaDB with InnoDB, a private server.
//!
//! The server makes its data folder itself at the first start; it runs without the tables of users
//! and rights (`skip_grant_tables`: whoever reaches the socket, which only its owner can, may do all)
//! and is killed when nothing uses it any more. Each [`crate::Writer`] and [`crate::Reader`] has a
//! connection, all else goes through a control connection.

mod counters;
mod database;
mod ddl;
mod remote;
mod session;
mod settings;
mod structure;

pub(crate) use remote::PROTOCOL;

use crate::{
    Database, Engine, EngineInfo, Error, Found, KernelCheck, Layer, Settings, TableShape,
    server::{Home, Programs, Server, process},
};
use inorder_key::{Encoding, KeyKind};
use std::{fs, path::Path, process::Command, sync::OnceLock};

/// The name errors speak of.
const NAME: &str = "mariadb";

/// The database that tables are made in.
const SCHEMA: &str = "inorder";

/// Bytes of the largest statement or row.
const PACKET_BYTES_MAX: usize = 1 << 30;

/// The socket's name in the run folder.
const SOCKET: &str = "socket";

static PROGRAMS: Programs = Programs {
    engine: NAME,
    names: &["mariadbd", "mysqld"],
    says: "MariaDB",
    variable: "INORDER_MARIADB",
    folders: &[
        "/usr/sbin",
        "/usr/libexec",
        "/usr/bin",
        "/usr/local/sbin",
        "/usr/local/bin",
        "/usr/local/mariadb/bin",
        "/usr/local/mysql/bin",
        "/opt/homebrew/opt/mariadb*/bin",
        "/usr/local/opt/mariadb*/bin",
    ],
    install: &[
        ("debian", "apt-get install mariadb-server"),
        ("fedora", "dnf install mariadb-server"),
        ("rhel", "dnf install mariadb-server"),
        ("suse", "zypper install mariadb"),
        ("arch", "pacman -S mariadb"),
        ("alpine", "apk add mariadb"),
        ("macos", "brew install mariadb"),
    ],
    found: OnceLock::new(),
};

/// The newest MariaDB of this machine.
pub struct MariaDb;

impl Engine for MariaDb {
    fn name(&self) -> &'static str {
        NAME
    }

    fn found(&self) -> Result<Vec<Found>, Error> {
        PROGRAMS.find()
    }

    fn accepts(&self, settings: &Settings) -> Result<(), String> {
        settings::accepts(settings)
    }

    fn ignores(&self) -> &'static [&'static str] {
        &["journal", "mmap_bytes", "auto_vacuum"]
    }

    fn kernel_check(&self) -> KernelCheck {
        KernelCheck {
            layer: Layer::Block,
            gap: "the kernel counts whole pages of 4 KiB where the log is written in blocks of 512 bytes, and the file system's own",
        }
    }

    /// The compile options are the program's path and what it answers to `--version`.
    fn info(&self) -> Result<EngineInfo, Error> {
        let (program, version) = PROGRAMS.newest()?;
        let answer = Command::new(&program).arg("--version").output();
        let answer = answer.map_or_else(
            |_| String::new(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        );
        Ok(EngineInfo {
            name: NAME.into(),
            version,
            compile_options: vec![program.display().to_string(), answer],
        })
    }

    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        ddl::key_type(kind, encoding)
    }

    fn blob_type(&self) -> &'static str {
        "LONGBLOB"
    }

    fn text_type(&self) -> &'static str {
        "LONGTEXT"
    }

    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String> {
        ddl::create_table(shape)
    }

    fn create(&self, folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error> {
        let (program, _) = PROGRAMS.newest()?;
        let home = Home::of_engine(self, &["mysql", "nobody"], folder, settings)?;
        let server = start(&program, home, settings)?;
        Ok(Box::new(database::MariaDatabase::open(server, settings)?))
    }
}

/// Makes the data folder and starts the server, which fills it.
fn start(program: &Path, home: Home, settings: &Settings) -> Result<Server, Error> {
    fs::create_dir(&home.data).map_err(|source| Error::Io {
        path: home.data.clone(),
        source,
    })?;
    if let Some(user) = home.user {
        user.give(&home.data)?;
    }
    let mut command = Command::new(program);
    let folder = |name: &str, path: &Path| format!("--{name}={}", path.display());
    command
        .arg("--no-defaults") // has to be the first
        .arg(folder("datadir", &home.data))
        .arg(folder("tmpdir", &home.data))
        .arg(folder("socket", &home.run.join(SOCKET)))
        .arg(folder("pid-file", &home.run.join("pid")));
    for (name, value) in settings::of_the_server(settings) {
        command.arg(format!("--{name}={value}"));
    }
    Server::start(NAME, command, home, process::Stop::Kill)
}
