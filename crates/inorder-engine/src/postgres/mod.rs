//! PostgreSQL, a private server.
//!
//! `initdb` creates a data folder without syncing the disk. The server runs on a Unix socket with the requested
//! settings. It is stopped at once when its last user has ended. Each [`crate::Writer`] and [`crate::Reader`] has its
//! own connection. All other statements use a control connection.

mod bind;
mod bulk_load;
mod change;
pub(crate) mod confine;
mod connect;
mod copy;
mod copy_out;
mod counters;
pub(crate) mod database;
mod ddl;
mod exchange;
mod intake;
mod read_only;
pub(crate) mod remote;
mod running;
mod session;
pub(crate) mod settings;
mod stream;
mod structure;
mod table;
mod tls;
mod verifier;

pub use copy::escape;
pub use exchange::Exchange;
pub(crate) use remote::PROTOCOL;

use crate::{
    Database, Engine, EngineInfo, Error, Found, KernelCheck, Layer, Settings, TableShape,
    engine::check,
    server::{Home, Programs, Server, process, template, user::User},
};
use inorder_key::{Encoding, KeyKind};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Name in error messages.
const NAME: &str = "postgres";

/// The superuser of the private server.
pub(crate) const SUPERUSER: &str = "inorder";

/// Size of a WAL segment in MiB: the minimum, so that a small log is possible.
const WAL_SEGMENT_MIB: u64 = 1;

static PROGRAMS: Programs = Programs {
    engine: NAME,
    names: &["postgres"],
    says: "PostgreSQL",
    variable: "INORDER_POSTGRES",
    folders: &[
        "/usr/lib/postgresql/*/bin",
        "/usr/lib/postgresql*/bin",
        "/usr/libexec/postgresql*",
        "/usr/pgsql-*/bin",
        "/usr/local/pgsql/bin",
        "/usr/local/bin",
        "/opt/homebrew/opt/postgresql*/bin",
        "/usr/local/opt/postgresql*/bin",
    ],
    install: &[
        ("debian", "apt-get install postgresql"),
        ("fedora", "dnf install postgresql-server postgresql-contrib"),
        ("rhel", "dnf install postgresql-server postgresql-contrib"),
        (
            "suse",
            "zypper install postgresql-server postgresql-contrib",
        ),
        ("arch", "pacman -S postgresql"),
        ("alpine", "apk add postgresql postgresql-contrib"),
        ("macos", "brew install postgresql"),
    ],
    found: OnceLock::new(),
};

/// The newest installed PostgreSQL.
pub struct Postgres;

impl Engine for Postgres {
    fn name(&self) -> &'static str {
        NAME
    }

    fn found(&self) -> Result<Vec<Found>, Error> {
        PROGRAMS.find()
    }

    fn accepts(&self, settings: &Settings) -> Result<(), String> {
        settings::accepts(settings)
    }

    /// The page size is the compiled one.
    fn ignores(&self) -> &'static [&'static str] {
        &[
            "page_size_bytes",
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
            layer: Layer::WriteCalls,
            gap: "WAL bytes are counted by WAL position, but every commit rewrites the last, partly filled page; transaction status and control files have no counter",
        }
    }

    /// The compile options are the path of the program and the output of `pg_config --configure`, if it is installed.
    fn info(&self) -> Result<EngineInfo, Error> {
        let (program, version) = PROGRAMS.newest()?;
        let configure = Command::new(program.with_file_name("pg_config"))
            .arg("--configure")
            .output();
        let configured = configure.map_or_else(
            |_| String::new(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        );
        let options = configured
            .split("' '")
            .map(|option| option.replace('\'', ""));
        Ok(EngineInfo {
            name: NAME.into(),
            version,
            compile_options: [program.display().to_string()]
                .into_iter()
                .chain(options.filter(|option| !option.is_empty()))
                .collect(),
        })
    }

    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        ddl::key_type(kind, encoding)
    }

    fn key_made(&self, kind: KeyKind, encoding: Encoding) -> Result<&'static str, String> {
        let (_, version) = PROGRAMS.newest().map_err(|error| error.to_string())?;
        ddl::key_made(&version, kind, encoding)
    }

    fn blob_type(&self) -> &'static str {
        "BYTEA"
    }

    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String> {
        ddl::create_table(shape)
    }

    fn create(&self, folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error> {
        check(self, settings)?;
        let (database, _) = create_named(NAME, folder, settings)?;
        Ok(Box::new(database))
    }
}

/// Starts a new private server with its data in a folder of this name, and the folder of its socket.
pub(crate) fn create_named(
    name: &str,
    folder: &Path,
    settings: &Settings,
) -> Result<(database::PostgresDatabase, PathBuf), Error> {
    let (program, version) = PROGRAMS.newest()?;
    let user = User::choose(NAME, &["postgres", "nobody"])?;
    let home = Home::create(folder, name, user)?;
    let key = format!("{NAME}-{version}");
    template::fill(&home, &key, || initdb(&program, &home))?;
    let socket_folder = home.run.clone();
    let server = start(&program, home, settings)?;
    let database = database::PostgresDatabase::open(server, settings)?;
    Ok((database, socket_folder))
}

/// Creates the data folder.
fn initdb(program: &Path, home: &Home) -> Result<(), Error> {
    let mut initdb = Command::new(program.with_file_name("initdb"));
    initdb
        .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C"])
        .arg(format!("--username={SUPERUSER}"))
        .arg(format!("--wal-segsize={WAL_SEGMENT_MIB}"))
        .arg("-D")
        .arg(&home.data);
    process::run_once("making PostgreSQL's data folder with initdb", initdb, home)
}

/// Starts the server.
fn start(program: &Path, home: Home, settings: &Settings) -> Result<Server, Error> {
    let mut command = Command::new(program);
    command.arg("-D").arg(&home.data).arg("-k").arg(&home.run);
    for (name, value) in settings::of_the_server(settings) {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    Server::start(NAME, command, home, process::Stop::Quit)
}
