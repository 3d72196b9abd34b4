//! What the tests share: a server, its URL, and advice without predictions.

use inorder_advise::{
    Error,
    advice::{Observer, Verdict},
    classify::Settled,
    report::Look,
    rules::Class,
    server::{
        advice::{Advice, Options, Part, Reader, Sizes},
        migrate::{Step, Steps, script},
        model::{ColumnTo, Database as Model, Product},
        report::FORMATS,
        rules::{Action, Group},
    },
};
use inorder_engine::{Database, Settings, engine};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};
use tempfile::TempDir;

pub struct Server {
    pub database: Box<dyn Database>,
    /// Its URL for a user, without a database.
    path: String,
    is_postgres: bool,
    _folder: TempDir,
}

/// Reports nothing.
pub struct Quiet;

impl Observer for Quiet {
    fn step(&self, _: &str) {}
    fn object(&self, _: &str) {}
}

impl Server {
    /// Starts one, if it is installed.
    pub fn start(name: &str) -> Option<Self> {
        Server::with(name, &Settings::default())
    }

    /// Starts one with settings, if it is installed.
    pub fn with(name: &str, settings: &Settings) -> Option<Self> {
        let engine = engine(name).unwrap();
        if !inorder_testing::is_installed(engine) {
            return None;
        }
        let folder = inorder_testing::server_folder(env!("CARGO_TARGET_TMPDIR"));
        let database = engine.create(folder.path(), settings).unwrap();
        let line = fs::read(format!("/proc/{}/cmdline", database.processes()[0])).unwrap();
        let line = String::from_utf8(line).unwrap();
        let mut arguments = line.split('\0');
        let argument = arguments
            .find(|argument| argument.contains("inorder-server-"))
            .unwrap();
        let path = argument.trim_start_matches("--socket=").replace('/', "%2F");
        Some(Server {
            database,
            path,
            is_postgres: name == "postgres",
            _folder: folder,
        })
    }

    /// The URL of a database for a user.
    pub fn url_of(&self, user: &str, database: &str) -> String {
        match self.is_postgres {
            true => format!("postgres://{user}:pw@{}/{database}", self.path),
            false => format!(
                "mysql://{user}:pw@localhost/{database}?socket={}",
                self.path
            ),
        }
    }

    /// The URL of the database that [`Server::run`] writes.
    pub fn url(&self) -> String {
        match self.is_postgres {
            true => self.url_of("inorder", "postgres"),
            false => {
                let schema = self.one("SELECT database()");
                self.url_of("root", &schema)
            }
        }
    }

    /// Runs statements, each by itself.
    pub fn run(&self, statements: &[&str]) {
        for statement in statements {
            self.database
                .execute(statement)
                .unwrap_or_else(|error| panic!("{statement:.300}: {error}"));
        }
    }

    /// The first columns of a query's rows, in one line each.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        let rows = self
            .database
            .select(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
        let text = |value: Option<String>| value.unwrap_or_else(|| "NULL".into());
        rows.into_iter()
            .map(|row| row.into_iter().map(text).collect::<Vec<_>>().join(" | "))
            .collect()
    }

    pub fn one(&self, sql: &str) -> String {
        self.rows(sql).swap_remove(0)
    }

    /// The advice, without predictions.
    pub fn advice(&self) -> Advice {
        advice(&self.url())
    }

    /// Runs steps in the server's own client. `between` runs after each of them but the last two, which swap and analyze.
    pub fn carry_out(&self, steps: &Steps, between: &mut dyn FnMut(usize)) {
        self.run_steps(&steps.steps, between);
    }

    /// Runs what takes steps back in the server's own client.
    pub fn take_back(&self, steps: &Steps) {
        self.run_steps(&steps.undo, &mut |_| {});
    }

    pub fn run_steps(&self, steps: &[Step], between: &mut dyn FnMut(usize)) {
        let mut client = Client::start(self);
        client.send(&self.begin());
        for (at, step) in steps.iter().enumerate() {
            for statement in &step.statements {
                client.send(statement);
            }
            if at + 2 < steps.len() {
                between(at);
            }
        }
        let (code, said) = client.finish();
        assert_eq!(code, Some(0), "{said}");
    }

    /// What a script of steps begins with.
    pub fn begin(&self) -> String {
        let name = match self.is_postgres {
            true => self.one("SELECT current_database()"),
            false => self.one("SELECT database()"),
        };
        let product = match self.is_postgres {
            true => Product::Postgres,
            false => Product::Mariadb,
        };
        let database = Model {
            name,
            product,
            ..Model::default()
        };
        script(&database, &[], &[], false)
    }

    /// The server's own client, which stops at its first error by its default or by what the script says.
    pub fn client(&self) -> Command {
        let socket = self.path.replace("%2F", "/");
        match self.is_postgres {
            true => {
                let mut command = Command::new("psql");
                command
                    .args(["-X", "-q", "-h", &socket, "-U", "inorder", "-d", "postgres"])
                    .env("PGPASSWORD", "pw")
                    .env(
                        "PGOPTIONS",
                        "-c inorder.lock_tries=3 -c inorder.index_wait=1s",
                    );
                command
            }
            false => {
                let mut command = Command::new("mariadb");
                let init = "--init-command=SET @inorder_lock_tries = 3";
                command.args(["--no-defaults", "--socket", &socket, "-u", "root", init]);
                command.arg(self.one("SELECT database()"));
                command
            }
        }
    }

    pub fn is_postgres(&self) -> bool {
        self.is_postgres
    }
}

/// The client of a server, which reads its script piece by piece.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    errors: File,
    is_postgres: bool,
    marks: usize,
}

impl Client {
    pub fn start(server: &Server) -> Self {
        let errors = tempfile::tempfile().unwrap();
        let mut command = server.client();
        match server.is_postgres {
            true => command.args(["-f", "-"]),
            false => command.args(["--unbuffered", "--silent"]),
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone().unwrap())
            .spawn()
            .unwrap();
        Client {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            errors,
            is_postgres: server.is_postgres,
            marks: 0,
        }
    }

    /// Sends a piece, and waits until it was run. Tells whether the client goes on.
    pub fn send(&mut self, piece: &str) -> bool {
        self.marks += 1;
        let mark = format!("inorder-mark-{}", self.marks);
        let echo = match self.is_postgres {
            true => format!("\\echo {mark}"),
            false => format!("SELECT '{mark}';"),
        };
        let Some(input) = &mut self.input else {
            return false;
        };
        if write!(input, "{piece}\n{echo}\n")
            .and_then(|()| input.flush())
            .is_err()
        {
            return false;
        }
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            if line.trim() == mark {
                return true;
            }
            line.clear();
        }
        false
    }

    /// The exit code, and what it said of errors.
    pub fn finish(mut self) -> (Option<i32>, String) {
        self.input = None;
        std::io::copy(&mut self.output, &mut std::io::sink()).unwrap();
        let code = self.child.wait().unwrap().code();
        let mut said = String::new();
        self.errors.rewind().unwrap();
        self.errors.read_to_string(&mut said).unwrap();
        (code, said)
    }
}

/// The advice on the database of a URL, without predictions.
pub fn advice(url: &str) -> Advice {
    let starts = |_: &Model| -> Result<Box<dyn Sizes>, Error> {
        Err(Error::Prediction("the test has none".into()))
    };
    let reader = Reader::open(url, Options::default()).unwrap();
    reader.advise(&starts, &Quiet).unwrap()
}

/// The same with an `advise.toml`.
pub fn settled_advice(url: &str, text: &str) -> Result<Advice, Error> {
    let starts = |_: &Model| -> Result<Box<dyn Sizes>, Error> {
        Err(Error::Prediction("the test has none".into()))
    };
    let settled = Settled::parse(Path::new("advise.toml"), text)?;
    let reader = Reader::open(url, Options::default())?.with_settled(settled);
    reader.advise(&starts, &Quiet)
}

/// Every candidate.
pub fn parts(advice: &Advice) -> impl Iterator<Item = (&Part, Verdict)> {
    advice
        .items
        .iter()
        .flat_map(|item| item.parts.iter().map(move |part| (part, item.verdict)))
}

/// The objects of a group that may be changed.
pub fn changed(advice: &Advice, group: Group) -> BTreeSet<String> {
    parts(advice)
        .filter(|(part, verdict)| {
            let is_safe = part.candidate.class == Class::Safe;
            assert_eq!(
                is_safe,
                matches!(verdict, Verdict::Change | Verdict::Minor),
                "{part:?}"
            );
            is_safe && part.candidate.group == group
        })
        .map(|(part, _)| part.candidate.object.clone())
        .collect()
}

/// The reason why an object is left.
pub fn reason(advice: &Advice, object: &str) -> String {
    let mut left = parts(advice).filter(|(part, _)| part.candidate.object == object);
    left.next()
        .map_or(String::new(), |(part, _)| part.candidate.reason.clone())
}

pub fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The steps that store hashes as bytes, and how many columns they change. The report calls no hash a UUID.
pub fn hash_steps(advice: &Advice) -> (usize, Steps) {
    let (part, verdict) = parts(advice)
        .find(|(part, _)| part.candidate.group == Group::BinaryHash)
        .expect("hashes are found");
    assert_eq!(verdict, Verdict::App, "{part:?}");
    let [
        Action::Convert {
            columns,
            to: ColumnTo::Binary16,
        },
    ] = &part.candidate.actions[..]
    else {
        panic!("{part:?}")
    };
    let look = Look {
        color: false,
        width: 100,
    };
    for format in FORMATS {
        let text = (format.write)(advice, look);
        assert!(!text.contains("UUID"), "{}: {text}", format.name);
    }
    let plans = advice.plans.iter().filter(|plan| plan.needs_application);
    let steps = plans.map(|plan| plan.steps.clone().expect("steps")).next();
    (columns.len(), steps.expect("a plan"))
}
