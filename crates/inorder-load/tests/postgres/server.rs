//! A private PostgreSQL, asked by its own psql.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use inorder_engine::{Database, Settings, Write, engine};
use inorder_load::source::Location;
use inorder_load::{Job, Summary};
use inorder_testing::is_installed;
use tempfile::TempDir;

use crate::common::server;

/// A server, and a folder for files.
pub struct Server {
    pub database: Arc<dyn Database>,
    psql: PathBuf,
    socket: String,
    folder: TempDir,
}

impl Server {
    /// Starts one; nothing where PostgreSQL isn't installed.
    pub fn start() -> Option<Self> {
        let engine = engine("postgres").expect("it is in the list");
        if !is_installed(engine) {
            return None;
        }
        let found = engine.found().expect("it is installed");
        let program = found[0].path.clone().expect("a program");
        let folder = inorder_testing::server_folder(env!("CARGO_TARGET_TMPDIR"));
        let data = folder.path().join("server");
        std::fs::create_dir(&data).expect("a folder");
        let database = engine.create(
            &data,
            &Settings {
                write: Write::Bulk,
                synchronous: inorder_engine::Synchronous::Off,
                ..Settings::default()
            },
        );
        let database: Arc<dyn Database> = Arc::from(database.expect("a server"));
        let process = database.processes()[0];
        let command =
            std::fs::read_to_string(format!("/proc/{process}/cmdline")).expect("its command");
        let mut words = command.split('\0').skip_while(|word| *word != "-k");
        let socket = words.nth(1).expect("the folder of its socket").to_owned();
        Some(Server {
            database,
            psql: program.with_file_name("psql"),
            socket,
            folder,
        })
    }

    /// The folder of its socket.
    pub fn socket(&self) -> &str {
        &self.socket
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a small file");
        path
    }

    /// Runs a script in psql, in the folder of the files; errors don't end it. Returns stdout and stderr.
    pub fn psql(&self, script: &str) -> (String, String) {
        let mut psql = Command::new(&self.psql)
            .args([
                "-X",
                "-q",
                "-A",
                "-t",
                "-h",
                &self.socket,
                "-U",
                "inorder",
                "-d",
                "postgres",
            ])
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("psql");
        let mut stdin = psql.stdin.take().expect("a pipe");
        let output = std::thread::scope(|scope| {
            scope.spawn(move || _ = stdin.write_all(script.as_bytes()));
            psql.wait_with_output().expect("psql")
        });
        // Some messages of extensions end in the middle of a character.
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (text(output.stdout), text(output.stderr))
    }

    /// Runs SQL in psql, which mustn't fail. Returns its rows.
    pub fn sql(&self, script: &str) -> Vec<String> {
        let (rows, errors) = self.psql(script);
        assert!(!errors.contains("ERROR"), "{script}: {errors}");
        rows.lines().map(str::to_owned).collect()
    }

    /// The error of `\copy … (format csv, header)` for a file; empty if it succeeded.
    pub fn copy(&self, table: &str, file: &str) -> String {
        let (_, errors) = self.psql(&format!(
            "\\copy {table} from '{file}' (format csv, header)\n"
        ));
        errors
    }

    /// A load as usual of a file into a table.
    pub fn job(&self, table: &str, file: &str) -> Job {
        let source = Location {
            path: self.path(file),
            table: None,
        };
        Job {
            memory_bytes: 1 << 24,
            spill_folder: Some(self.folder.path().to_owned()),
            ..Job::new(vec![source], String::new(), table.to_owned())
        }
    }

    /// Loads; the folder is left out of messages.
    pub fn run(&self, job: &Job) -> Result<Summary, String> {
        server::load(&self.database, job).map_err(|error| {
            error
                .to_string()
                .replace(&format!("{}/", self.folder.path().display()), "")
        })
    }

    /// Loads a file as usual.
    pub fn load(&self, table: &str, file: &str) -> Result<Summary, String> {
        self.run(&self.job(table, file))
    }
}

/// A field of a CSV file, in quotes.
pub fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('"', "\"\""))
}
