//! The SQLite file that holds a run. A trial's samples are written in one transaction when it ends,
//! so that a run that is stopped or killed keeps every finished trial.

use super::model::{Cell, EngineRecord, Experiment, Meta, Run, Sample, Status, Trial};
use crate::error::Error;
use rusqlite::{Connection, OpenFlags, Row, params};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
};

/// Version of the file's format; another one is refused.
pub const FORMAT_VERSION: i64 = 1;
/// SQLite's `application_id` of result files: "inor" in ASCII.
const APPLICATION_ID: i64 = 0x696e_6f72;

const NOT_A_RESULT: &str = "this isn't a result file of inorder";

/// An open result file.
pub struct Store {
    path: PathBuf,
    connection: Connection,
    /// Held by the process that runs its trials. Dropped after the connection: closing any handle of
    /// a file drops the locks that SQLite has on it (fcntl(2)).
    _lock: Option<File>,
}

impl Store {
    /// Creates the file of a new run and writes its plan.
    ///
    /// # Errors
    /// If the file exists or can't be written.
    pub fn create(path: &Path, run: &Run) -> Result<Self, Error> {
        // The file itself claims the name: two runs that start together can't share it.
        let file = File::create_new(path).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        let filled = || {
            let store = Store::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, Some(file))?;
            store.filled(run).map_err(|e| store.wrong(&e))?;
            Ok(store)
        };
        filled().inspect_err(|_| _ = std::fs::remove_file(path))
    }

    /// Opens the file of an earlier run to continue it.
    ///
    /// # Errors
    /// If it isn't a result file, one of another version, or another process is at work on it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let lock = File::open(path).ok();
        Store::checked(path, OpenFlags::SQLITE_OPEN_READ_WRITE, lock)
    }

    /// Reads a run; the file isn't changed, but for what a killed process left to undo.
    ///
    /// # Errors
    /// If it isn't a result file, one of another version, or damaged.
    pub fn read(path: &Path) -> Result<Run, Error> {
        let read = |flags| Store::checked(path, flags, None)?.run();
        let mut journal = path.as_os_str().to_owned();
        journal.push("-journal");
        match read(OpenFlags::SQLITE_OPEN_READ_ONLY) {
            Err(_) if Path::new(&journal).exists() => read(OpenFlags::SQLITE_OPEN_READ_WRITE),
            other => other,
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connect(path: &Path, flags: OpenFlags, lock: Option<File>) -> Result<Self, Error> {
        if lock.as_ref().is_some_and(|file| file.try_lock().is_err()) {
            return Err(Error::Results {
                path: path.to_owned(),
                message: "another inorder is running its trials: wait for it, or stop it"
                    .to_owned(),
            });
        }
        let connection = Connection::open_with_flags(path, flags).map_err(|e| wrong(path, &e))?;
        Ok(Store {
            path: path.to_owned(),
            connection,
            _lock: lock,
        })
    }

    fn checked(path: &Path, flags: OpenFlags, lock: Option<File>) -> Result<Self, Error> {
        if !path.is_file() {
            return Err(Error::Results {
                path: path.to_owned(),
                message: "there is no such result file".to_owned(),
            });
        }
        let store = Store::connect(path, flags, lock)?;
        let pragma = |name| {
            store
                .connection
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                .map_err(|e| store.wrong(&e))
        };
        let message = match (pragma("application_id")?, pragma("user_version")?) {
            (APPLICATION_ID, FORMAT_VERSION) => return Ok(store),
            (APPLICATION_ID, version) => format!(
                "this result file has format {version}, this inorder reads format {FORMAT_VERSION}: \
                 use the inorder that wrote it"
            ),
            _ => NOT_A_RESULT.to_owned(),
        };
        Err(Error::Results {
            path: path.to_owned(),
            message,
        })
    }

    fn wrong(&self, error: &rusqlite::Error) -> Error {
        wrong(&self.path, error)
    }

    fn filled(&self, run: &Run) -> rusqlite::Result<()> {
        let transaction = self.connection.unchecked_transaction()?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
        transaction.execute_batch(include_str!("schema.sql"))?;
        insert_meta(&transaction, &run.meta)?;
        for experiment in &run.experiments {
            insert_experiment(&transaction, experiment)?;
        }
        for cell in &run.cells {
            transaction.execute(
                "INSERT INTO cell VALUES (?, ?, ?, ?, ?)",
                params![
                    cell.id as i64,
                    cell.experiment,
                    cell.label,
                    json(&cell.levels),
                    cell.is_twin
                ],
            )?;
        }
        for trial in &run.trials {
            insert_trial(&transaction, trial)?;
        }
        transaction.commit()
    }

    /// Stores a trial that ended: replaces its row and adds its samples.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn keep(&self, trial: &Trial) -> Result<(), Error> {
        let write = || {
            let transaction = self.connection.unchecked_transaction()?;
            transaction.execute("DELETE FROM sample WHERE trial = ?", [trial.id as i64])?;
            transaction.execute("DELETE FROM trial WHERE id = ?", [trial.id as i64])?;
            insert_trial(&transaction, trial)?;
            transaction.commit()
        };
        write().map_err(|e: rusqlite::Error| self.wrong(&e))
    }

    /// Notes that the run ended: with its last trial, or earlier because of a time budget of this many seconds.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn finish(&self, unix_s: u64, budget_s: Option<u64>) -> Result<(), Error> {
        let values = [("finished_unix_s", Some(unix_s)), ("budget_s", budget_s)];
        let write = || {
            let transaction = self.connection.unchecked_transaction()?;
            for (name, value) in values {
                transaction.execute("DELETE FROM meta WHERE name = ?", [name])?;
                insert_number(&transaction, name, value)?;
            }
            transaction.commit()
        };
        write().map_err(|e: rusqlite::Error| self.wrong(&e))
    }

    /// The whole run.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn run(&self) -> Result<Run, Error> {
        let read = || -> rusqlite::Result<Run> {
            Ok(Run {
                meta: self.meta()?,
                experiments: self.all("SELECT * FROM experiment ORDER BY position", experiment)?,
                cells: self.all("SELECT * FROM cell ORDER BY id", cell)?,
                trials: self.trials()?,
            })
        };
        read().map_err(|e| self.wrong(&e))
    }

    fn all<T>(
        &self,
        sql: &str,
        of: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare(sql)?.query_map([], of)?.collect()
    }

    fn meta(&self) -> rusqlite::Result<Meta> {
        let pairs: Vec<(String, String)> = self.all("SELECT name, value FROM meta", |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let pairs: HashMap<String, String> = pairs.into_iter().collect();
        let text = |name: &str| pairs.get(name).cloned().unwrap_or_default();
        Ok(Meta {
            inorder_version: text("inorder_version"),
            revision: text("revision"),
            seed: text("seed").parse().unwrap_or_default(),
            scale: text("scale"),
            overrides: serde_json::from_str(&text("overrides")).unwrap_or_default(),
            command: serde_json::from_str(&text("command")).unwrap_or_default(),
            urls: serde_json::from_str(&text("urls")).unwrap_or_default(),
            started_unix_s: text("started_unix_s").parse().unwrap_or_default(),
            finished_unix_s: text("finished_unix_s").parse().ok(),
            budget_s: text("budget_s").parse().ok(),
            host: self.all("SELECT name, value FROM host ORDER BY position", |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?,
            engines: self.all("SELECT * FROM engine", |row| {
                Ok(EngineRecord {
                    name: row.get(0)?,
                    version: row.get(1)?,
                    compile_options: from_json(row, 2)?,
                })
            })?,
        })
    }

    fn trials(&self) -> rusqlite::Result<Vec<Trial>> {
        let mut trials = self.all("SELECT * FROM trial ORDER BY id", trial)?;
        let mut statement = self.connection.prepare(
            "SELECT probe, part, rows, value FROM sample WHERE trial = ? ORDER BY position",
        )?;
        for trial in &mut trials {
            trial.samples = statement
                .query_map([trial.id as i64], |row| {
                    Ok(Sample {
                        probe: row.get(0)?,
                        part: row.get(1)?,
                        rows: row.get::<_, i64>(2)? as u64,
                        value: row.get(3)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
        }
        Ok(trials)
    }
}

/// SQLite's complaint about a result file, and what to do.
fn wrong(path: &Path, error: &rusqlite::Error) -> Error {
    use rusqlite::ErrorCode;
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => NOT_A_RESULT.to_owned(),
        Some(ErrorCode::DiskFull) => {
            "no room left on its disk: free some space and resume the run".to_owned()
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
            format!("{error}: see that you may write the file and its folder")
        }
        Some(ErrorCode::DatabaseCorrupt) => format!("{error}: the file is damaged"),
        _ => error.to_string(),
    };
    Error::Results {
        path: path.to_owned(),
        message,
    }
}

/// JSON of a value that always has one.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A column of JSON.
fn from_json<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<T> {
    serde_json::from_str(&row.get::<_, String>(at)?).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, error.into())
    })
}

fn insert_meta(connection: &Connection, meta: &Meta) -> rusqlite::Result<()> {
    let pairs = [
        ("inorder_version", meta.inorder_version.clone()),
        ("revision", meta.revision.clone()),
        ("seed", meta.seed.to_string()),
        ("scale", meta.scale.clone()),
        ("overrides", json(&meta.overrides)),
        ("command", json(&meta.command)),
        ("urls", json(&meta.urls)),
        ("started_unix_s", meta.started_unix_s.to_string()),
    ];
    for (name, value) in pairs {
        connection.execute("INSERT INTO meta VALUES (?, ?)", (name, value))?;
    }
    insert_number(connection, "finished_unix_s", meta.finished_unix_s)?;
    insert_number(connection, "budget_s", meta.budget_s)?;
    for (name, value) in &meta.host {
        connection.execute("INSERT INTO host(name, value) VALUES (?, ?)", (name, value))?;
    }
    for engine in &meta.engines {
        connection.execute(
            "INSERT INTO engine VALUES (?, ?, ?)",
            (&engine.name, &engine.version, json(&engine.compile_options)),
        )?;
    }
    Ok(())
}

/// A number of the run, where there is one.
fn insert_number(connection: &Connection, name: &str, number: Option<u64>) -> rusqlite::Result<()> {
    if let Some(number) = number {
        connection.execute("INSERT INTO meta VALUES (?, ?)", (name, number.to_string()))?;
    }
    Ok(())
}

fn insert_experiment(connection: &Connection, e: &Experiment) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO experiment VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            e.name,
            e.title,
            e.question,
            e.expect,
            json(&e.claims),
            json(&e.varied),
            json(&e.levels),
            e.baseline as i64,
            e.answer,
            e.toml,
            e.data
        ],
    )?;
    Ok(())
}

fn insert_trial(connection: &Connection, trial: &Trial) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            trial.id as i64,
            trial.cell as i64,
            trial.repetition,
            trial.seed as i64,
            trial.status.name(),
            trial.error,
            json(&trial.noise),
            json(&trial.settings),
            json(&trial.texts)
        ],
    )?;
    let mut statement =
        connection.prepare_cached("INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?)")?;
    for (position, sample) in trial.samples.iter().enumerate() {
        statement.execute(params![
            trial.id as i64,
            position as i64,
            sample.probe,
            sample.part,
            sample.rows as i64,
            sample.value
        ])?;
    }
    Ok(())
}

fn experiment(row: &Row<'_>) -> rusqlite::Result<Experiment> {
    Ok(Experiment {
        name: row.get("name")?,
        title: row.get("title")?,
        question: row.get("question")?,
        expect: row.get("expect")?,
        claims: from_json(row, 5)?,
        varied: from_json(row, 6)?,
        levels: from_json(row, 7)?,
        baseline: row.get::<_, i64>("baseline")? as u64,
        answer: row.get("answer")?,
        toml: row.get("toml")?,
        data: row.get("data")?,
    })
}

fn cell(row: &Row<'_>) -> rusqlite::Result<Cell> {
    Ok(Cell {
        id: row.get::<_, i64>("id")? as u64,
        experiment: row.get("experiment")?,
        label: row.get("label")?,
        levels: from_json(row, 3)?,
        is_twin: row.get("is_twin")?,
    })
}

fn trial(row: &Row<'_>) -> rusqlite::Result<Trial> {
    let status: String = row.get("status")?;
    Ok(Trial {
        id: row.get::<_, i64>("id")? as u64,
        cell: row.get::<_, i64>("cell")? as u64,
        repetition: row.get("repetition")?,
        seed: row.get::<_, i64>("seed")? as u64,
        status: Status::from_name(&status).unwrap_or_default(),
        error: row.get("error")?,
        noise: from_json(row, 6)?,
        settings: from_json(row, 7)?,
        texts: from_json(row, 8)?,
        samples: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Run {
        let trial = Trial {
            id: 1,
            cell: 1,
            seed: u64::MAX >> 1,
            settings: vec![("page_size".into(), "4096".into())],
            ..Trial::default()
        };
        Run {
            meta: Meta {
                seed: 7,
                command: vec!["bench".into()],
                urls: vec![("postgres".into(), "postgres://me@host/".into())],
                host: vec![("CPU".into(), "fast".into())],
                ..Meta::default()
            },
            experiments: vec![Experiment {
                name: "x".into(),
                varied: vec!["key".into()],
                levels: vec![vec!["ulid".into()]],
                baseline: 1,
                ..Experiment::default()
            }],
            cells: vec![Cell {
                id: 1,
                experiment: "x".into(),
                ..Cell::default()
            }],
            trials: vec![trial],
        }
    }

    #[test]
    fn a_run_reads_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db");
        let mut run = example();
        let store = Store::create(&path, &run).unwrap();
        assert_eq!(Store::read(&path).unwrap(), run);
        run.trials[0].status = Status::Done;
        run.trials[0].samples = vec![
            Sample {
                probe: "cpu_s".into(),
                rows: 10,
                value: Some(0.5),
                ..Sample::default()
            },
            Sample {
                probe: "block_written_bytes".into(),
                value: None,
                ..Sample::default()
            },
        ];
        store.keep(&run.trials[0]).unwrap();
        store.keep(&run.trials[0]).unwrap();
        assert_eq!(Store::read(&path).unwrap(), run);
    }

    #[test]
    fn an_existing_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db");
        std::fs::write(&path, "precious").unwrap();
        assert!(Store::create(&path, &example()).is_err());
        assert!(Store::read(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn another_version_is_refused_by_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.db");
        let store = Store::create(&path, &example()).unwrap();
        store
            .connection
            .pragma_update(None, "user_version", 99)
            .unwrap();
        let error = Store::read(&path).unwrap_err().to_string();
        assert!(error.contains("format 99"), "{error}");
    }
}
