//! Servers that run by themselves, with users and passwords, for tests of URLs.

use super::servers;
use inorder_engine::Engine;
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The password of every user.
pub const PASSWORD: &str = "t0p-secret";

/// A server on a port of the loopback interface. It ends with this process, however that ends.
pub struct Running {
    /// The engine whose protocol it speaks.
    pub engine: &'static dyn Engine,
    /// The shell that holds it.
    shell: Child,
    /// The server's own process.
    pub pid: u32,
    port: u16,
    _folder: TempDir,
}

/// Runs a server until the pipe closes or names a signal, and ends it by that signal or by `END`.
const HOLD: &str = r#"
"$@" >/dev/null 2>&1 &
echo $!
read -r signal
kill -"${signal:-$END}" $!
wait
rm -rf -- "$FOLDER"/*
"#;

/// The user to run a server as, where tests run as root.
fn unprivileged(command: &mut Command, name: &str) {
    if let Some([uid, gid]) = unprivileged_ids(name) {
        command.uid(uid).gid(gid);
    }
}

/// The numbers of that user and its group.
fn unprivileged_ids(name: &str) -> Option<[u32; 2]> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd
        .lines()
        .find(|line| line.starts_with(&format!("{name}:")))
        .unwrap();
    let ids: Vec<u32> = line
        .split(':')
        .skip(2)
        .take(2)
        .map(|id| id.parse().unwrap())
        .collect();
    Some([ids[0], ids[1]])
}

fn run(mut command: Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

impl Running {
    /// Starts one of each server that is there and is a single one.
    pub fn all() -> Vec<Self> {
        let single = |engine: &&dyn Engine| ["postgres", "mariadb"].contains(&engine.name());
        servers()
            .into_iter()
            .filter(single)
            .map(Running::start)
            .collect()
    }

    /// Starts one.
    pub fn start(engine: &'static dyn Engine) -> Self {
        Running::start_with(engine, &[], &[])
    }

    /// Starts one with these files, which only its user may read, and with these arguments. `FOLDER` is where the files are.
    pub fn start_with(
        engine: &'static dyn Engine,
        files: &[(&str, String)],
        further: &[&str],
    ) -> Self {
        let program = engine.found().unwrap().swap_remove(0).path.unwrap();
        let folder = super::folder();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(folder.path(), mode).unwrap();
        let port = free_port();
        // Both signals end a server at once. PostgreSQL leaves its shared memory behind when it is killed.
        let (user, end, arguments) = match engine.name() {
            "postgres" => (
                "postgres",
                "QUIT",
                prepare_postgres(&program, folder.path(), port),
            ),
            _ => ("mysql", "KILL", prepare_mariadb(folder.path(), port)),
        };
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
                .unwrap();
            if let Some([uid, gid]) = unprivileged_ids(user) {
                std::os::unix::fs::chown(&path, Some(uid), Some(gid)).unwrap();
            }
        }
        let place = folder.path().display().to_string();
        let further = further.iter().map(|text| text.replace("FOLDER", &place));
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", HOLD, "sh"])
            .arg(&program)
            .args(arguments)
            .args(further);
        shell
            .env("FOLDER", folder.path())
            .env("END", end)
            .current_dir(folder.path());
        unprivileged(&mut shell, user);
        let mut shell = shell
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pid = String::new();
        BufReader::new(shell.stdout.take().unwrap())
            .read_line(&mut pid)
            .unwrap();
        let running = Running {
            engine,
            shell,
            pid: pid.trim().parse().unwrap(),
            port,
            _folder: folder,
        };
        let began = Instant::now();
        while running.sql("SELECT 1").is_err() {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{} doesn't start",
                engine.name()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        running
    }

    /// Its URL for a user with a password.
    pub fn url(&self, user: &str, password: &str) -> String {
        let (scheme, database) = match self.engine.name() {
            "postgres" => ("postgres", "postgres"),
            _ => ("mysql", ""),
        };
        format!(
            "{scheme}://{user}:{password}@127.0.0.1:{}/{database}",
            self.port
        )
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its administrator's.
    pub fn admin(&self) -> String {
        self.url(ADMIN, PASSWORD)
    }

    /// Runs a statement as the administrator; the first column of the rows.
    pub fn sql(&self, sql: &str) -> Result<Vec<String>, String> {
        TcpStream::connect(("127.0.0.1", self.port)).map_err(|error| error.to_string())?;
        match self.engine.name() {
            "postgres" => {
                let mut client = postgres::Client::connect(&self.admin(), postgres::NoTls)
                    .map_err(|e| e.to_string())?;
                let rows = client
                    .simple_query(sql)
                    .map_err(|error| error.to_string())?;
                let first = |message| match message {
                    postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                    _ => None,
                };
                Ok(rows.into_iter().filter_map(first).collect())
            }
            _ => {
                use mysql::prelude::Queryable as _;
                let url = mysql::Opts::from_url(&self.admin()).unwrap();
                let mut conn = mysql::Conn::new(url).map_err(|error| error.to_string())?;
                conn.query(sql).map_err(|error| error.to_string())
            }
        }
    }

    /// Names of inorder's schemas on it.
    pub fn guests(&self) -> Vec<String> {
        let sql = "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'inorder%' ORDER BY 1";
        self.sql(sql).unwrap()
    }

    /// Kills it.
    pub fn kill(&mut self) {
        let mut pipe = self.shell.stdin.take().unwrap();
        pipe.write_all(b"KILL\n").unwrap();
        self.shell.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().unwrap();
    }
}

/// A port that nothing listens at.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The administrator's name.
const ADMIN: &str = "boss";

fn prepare_postgres(program: &Path, folder: &Path, port: u16) -> Vec<String> {
    let password = folder.join("password");
    fs::write(&password, PASSWORD).unwrap();
    let data = folder.join("data").display().to_string();
    let mut initdb = Command::new(program.with_file_name("initdb"));
    initdb
        .args([
            "--no-sync",
            "--auth=scram-sha-256",
            "--locale=C",
            "--encoding=UTF8",
        ])
        .args(["-U", ADMIN, "-D", &data])
        .arg(format!("--pwfile={}", password.display()));
    unprivileged(&mut initdb, "postgres");
    run(initdb);
    let set = |text: String| ["-c".to_owned(), text];
    [vec!["-D".to_owned(), data]]
        .into_iter()
        .flatten()
        .chain(set(format!("port={port}")))
        .chain(set("listen_addresses=127.0.0.1".to_owned()))
        .chain(set("unix_socket_directories=".to_owned()))
        .chain(set("fsync=off".to_owned()))
        .collect()
}

fn prepare_mariadb(folder: &Path, port: u16) -> Vec<String> {
    let data = folder.join("data");
    fs::create_dir(&data).unwrap();
    // The tables of users and rights. A server that starts removes what it takes for its own remains
    // in the folder of temporary files: each has one.
    let mut install = Command::new("mariadb-install-db");
    install
        .env("TMPDIR", &data)
        .args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ])
        .arg(format!("--datadir={}", data.display()));
    if rustix::process::geteuid().is_root() {
        install.arg("--user=mysql");
    }
    run(install);
    let users = folder.join("users.sql");
    let make = format!(
        "CREATE USER {ADMIN}@'%' IDENTIFIED BY '{PASSWORD}';\nGRANT ALL ON *.* TO {ADMIN}@'%' WITH GRANT OPTION;\n"
    );
    fs::write(&users, make).unwrap();
    let path = |name: &str, path: &Path| format!("--{name}={}", path.display());
    vec![
        "--no-defaults".to_owned(),
        path("datadir", &data),
        path("tmpdir", &data),
        path("socket", &folder.join("socket")),
        path("pid-file", &folder.join("pid")),
        path("init-file", &users),
        format!("--port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--local-infile=ON".to_owned(),
        "--innodb-flush-log-at-trx-commit=0".to_owned(),
    ]
}

/// The output of a child process of this test until it is killed.
pub fn read_line(child: &mut Child) -> String {
    let mut text = String::new();
    let mut byte = [0];
    let stdout = child.stdout.as_mut().unwrap();
    while stdout.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
        text.push(char::from(byte[0]));
    }
    text
}
