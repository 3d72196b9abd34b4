//! MariaDB with InnoDB, a private server.
//!
//! The server creates its data folder at the first start. It runs without grant tables (`skip_grant_tables`), so
//! every client of the socket has all rights. Only the owner can access the socket. The server is killed when its
//! last user has ended. Each [`crate::Writer`] and [`crate::Reader`] has its own connection. All other statements use
//! a control connection.

mod bulk_load;
mod change;
mod confine;
mod connect;
pub(crate) mod counters;
pub(crate) mod database;
mod ddl;
mod read_only;
mod remote;
mod rows;
mod running;
pub(crate) mod session;
pub(crate) mod settings;
mod strict;
mod structure;
mod table;
mod tls;

pub(crate) use remote::PROTOCOL;

use crate::{
    Database, Engine, EngineInfo, Error, Found, KernelCheck, Layer, Settings, TableShape,
    engine::check,
    server::{Home, Programs, Server, process, user::User},
};
use inorder_key::{Encoding, KeyKind};
use std::{path::Path, process::Command, sync::OnceLock};

/// Name in error messages.
const NAME: &str = "mariadb";

/// Name of the database that contains the tables.
const SCHEMA: &str = "inorder";

/// Maximum size of a statement or row in bytes.
const PACKET_BYTES_MAX: usize = 1 << 30;

/// The socket's name in the run folder.
const SOCKET: &str = "socket";

pub(crate) static PROGRAMS: Programs = Programs {
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

/// The newest installed MariaDB.
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
        &[
            "journal",
            "mmap_bytes",
            "auto_vacuum",
            "shards",
            "partition",
            "first_shard_cpu_percent",
        ]
    }

    fn kernel_check(&self) -> KernelCheck {
        KernelCheck {
            layer: Layer::Block,
            gap: "the kernel counts whole pages of 4 KiB where the log is written in blocks of 512 bytes, and the file system's own",
        }
    }

    /// The compile options are the path of the program and its output for `--version`.
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

    fn why_no_key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        ddl::why_no_key_type(kind, encoding)
    }

    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        ddl::key_type(kind, encoding)
    }

    fn key_made(&self, kind: KeyKind, encoding: Encoding) -> Result<&'static str, String> {
        let (_, version) = PROGRAMS.newest().map_err(|error| error.to_string())?;
        ddl::key_made(&version, kind, encoding)
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
        check(self, settings)?;
        let server = start_named(NAME, folder, settings, |_| Ok(Vec::new()))?;
        Ok(Box::new(database::MariaDatabase::open(server, settings)?))
    }
}

/// Starts a private server with its data in a folder of this name. `prepare` may first write files into the data
/// folder, and returns further arguments.
pub(crate) fn start_named(
    name: &str,
    folder: &Path,
    settings: &Settings,
    prepare: impl FnOnce(&Home) -> Result<Vec<String>, Error>,
) -> Result<Server, Error> {
    let (program, _) = PROGRAMS.newest()?;
    let user = User::choose(NAME, &["mysql", "nobody"])?;
    let home = Home::create(folder, name, user)?;
    home.make_folder(&home.data)?;
    let further = prepare(&home)?;
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
    command.args(further);
    Server::start(NAME, command, home, process::Stop::Kill)
}
