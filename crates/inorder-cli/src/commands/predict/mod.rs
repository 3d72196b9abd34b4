//! `inorder predict`: what inserts cost at any number of rows, from a simulation of the engine's pages.

mod from;
mod plot;
mod report;

use super::load::bytes;
use crate::terminal;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_bench::{Error as Wrong, format, nearest};
use inorder_key::{Encoding, KeyKind};
use inorder_predict::{Answer, Engine, Error, Layout, Question, predict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Pause between two pictures of the progress.
const TICK: Duration = Duration::from_millis(250);

/// Kinds that are compared if none is named.
const KINDS: [KeyKind; 3] = [KeyKind::Uuid4, KeyKind::Uuid7, KeyKind::IntSeq];

/// Predicts bytes written per insert, sizes, depth and cache hits for tables of any size.
///
/// Nothing is measured: the pages of each tree, the cache and the checkpoints are simulated.
#[derive(clap::Args)]
pub struct Arguments {
    /// Rows of the table: 1000000, 1e9
    #[arg(long, value_name = "N", value_parser = count)]
    rows: u64,
    /// Rows that a bulk load in key order wrote before
    #[arg(long, value_name = "N", value_parser = count, default_value = "0", conflicts_with = "origin")]
    loaded: u64,
    /// Predict the growth of a table of this database, with its present key and with others: the path of an SQLite file,
    /// postgres://… or mysql://… It is only read
    #[arg(long, value_name = "DATABASE", group = "origin")]
    from: Option<String>,
    /// Predict a table of this DDL, with its key and with others: a private server of --engine applies the DDL, and its
    /// catalog is read
    #[arg(long, value_name = "FILE", group = "origin")]
    schema: Option<PathBuf>,
    /// With --from or --schema: the table
    #[arg(long, value_name = "TABLE", requires = "origin")]
    table: Option<String>,
    /// Kinds of the key, separated by commas [default: uuid4,uuid7,int-seq; with --from or --schema those worth a comparison]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    key: Vec<String>,
    /// Storage of ids: integer, blob, native or text; default: that of `inorder bench`
    #[arg(long, value_name = "HOW", conflicts_with = "origin")]
    encoding: Option<String>,
    /// The database engine: sqlite, postgres, or mariadb, also called innodb [default: sqlite; with --from that of the
    /// database]
    #[arg(long, value_name = "NAME")]
    engine: Option<String>,
    /// Table layout: rowid, without-rowid or no-key; default: rowid, of MariaDB without-rowid
    #[arg(long, value_name = "NAME", conflicts_with = "origin")]
    layout: Option<String>,
    /// Bytes of a row's values, with its key and indexed integers
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        conflicts_with = "origin",
        // No engine stores a longer value by default.
        value_parser = clap::value_parser!(u64).range(..=1_000_000_000)
    )]
    row_bytes: u64,
    /// Secondary indexes, each on a random 64-bit integer
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "origin", value_parser = clap::value_parser!(u64).range(..=8))]
    indexes: u64,
    /// Rows per transaction
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count)]
    batch: u64,
    /// Page cache of the engine: 16G; default: the engine's
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    cache: Option<u64>,
    /// Bytes of log after which a checkpoint is due; default: the engine's
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    checkpoint: Option<u64>,
    /// Page size; default: the engine's
    #[arg(long, value_name = "BYTES")]
    page_bytes: Option<u32>,
    /// Operations per second of the device
    #[arg(long, value_name = "N", default_value = "10000", value_parser = speed)]
    device_iops: u64,
    /// Bytes per second of the device
    #[arg(long, value_name = "SIZE", default_value = "500M", value_parser = bytes)]
    device_bandwidth: u64,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Output format: text, json or csv
    #[arg(long, short, value_name = "NAME", default_value = "text")]
    format: String,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the bytes per insert against the rows, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Operations of a device per second, above 0.
fn speed(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("a device has at least 1 operation per second".to_owned()),
        speed => Ok(speed),
    }
}

/// A number as people write it: `1000000`, `1_000_000`, `1e9`.
fn count(text: &str) -> Result<u64, String> {
    let number: f64 = text
        .replace('_', "")
        .parse()
        .map_err(|_| format!("write a number as 1000000 or 1e9, not `{text}`"))?;
    match (0.0..=1e15).contains(&number) && number.fract() == 0.0 {
        true => Ok(number as u64),
        false => Err(format!("an integer from 0 to 1e15, not `{text}`")),
    }
}

/// The device whose limits bound the rate of inserts.
struct Device {
    operations_per_s: f64,
    bytes_per_s: f64,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let inputs = [
        arguments.from.as_deref().map(Path::new),
        arguments.schema.as_deref(),
    ];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    for output in [&arguments.output, &arguments.plot] {
        terminal::refuse_input(output.as_deref(), &inputs)?;
    }
    let forecast = from::forecast(arguments)?;
    let questions = match &forecast {
        Some(forecast) => forecast.questions.clone(),
        None => arguments.questions().map_err(Wrong::Usage)?,
    };
    let device = Device {
        operations_per_s: arguments.device_iops as f64,
        bytes_per_s: arguments.device_bandwidth as f64,
    };
    let format = arguments.format.as_str();
    if !["text", "json", "csv"].contains(&format) {
        let known = nearest(format, ["text", "json", "csv"]);
        return Err(Wrong::Usage(format!("--format: unknown `{format}`: {known}")).into());
    }
    let answers = predict_all(&questions).map_err(|error| Wrong::Usage(error.to_string()))?;
    let text = match format {
        "json" => report::json(&answers, &device, forecast.as_ref())?,
        "csv" => report::csv(&answers),
        _ => report::text(&answers, &device, forecast.as_ref()),
    };
    if let Some(file) = &arguments.plot {
        terminal::write_file(file, &plot::svg(&answers))?;
    }
    match &arguments.output {
        Some(file) => terminal::write_file(file, &text)?,
        None => terminal::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Answers the questions one after the other, and says on stderr which one.
fn predict_all(questions: &[Question]) -> Result<Vec<Answer>, Error> {
    let bar = ProgressBar::new(questions.len() as u64);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(TICK);
    let answer = |(number, question): (usize, &Question)| {
        bar.set_message(format!(
            "simulating {} rows with {} ({} of {})",
            format::integer(question.rows),
            report::key_name(question),
            number + 1,
            questions.len()
        ));
        predict(question)
    };
    let answers = questions.iter().enumerate().map(answer).collect();
    bar.finish_and_clear();
    answers
}

impl Arguments {
    /// One question for each key kind.
    fn questions(&self) -> Result<Vec<Question>, String> {
        let engine = self.engine()?.unwrap_or(Engine::Sqlite);
        let layout = match &self.layout {
            None => engine.layout(),
            Some(name) => {
                let mut all = Layout::ALL.iter().copied();
                let found = all.find(|layout| layout.name() == name);
                found.ok_or_else(|| {
                    let known = Layout::ALL.iter().map(|layout| layout.name());
                    unknown("--layout", name, known.collect())
                })?
            }
        };
        let question = |kind: KeyKind| {
            let mut question = Question::new(engine, kind, self.rows);
            question.layout = layout;
            if let Some(name) = &self.encoding {
                question.encoding =
                    encoding(kind, name).map_err(|known| unknown("--encoding", name, known))?;
            }
            let own = question.key_bytes() + 8 * self.indexes;
            question.payload_bytes = self.row_bytes.checked_sub(own).ok_or_else(|| {
                let bytes = self.row_bytes;
                format!(
                    "--row-bytes {bytes}: a key {} and indexed integers take {own}",
                    kind.name()
                )
            })?;
            question.add_random_indexes(self.indexes);
            question.loaded_rows = self.loaded;
            self.set_load(&mut question);
            Ok(question)
        };
        let mut kinds = self.kinds()?;
        if kinds.is_empty() {
            kinds = KINDS.to_vec();
        }
        kinds.into_iter().map(question).collect()
    }

    /// The engine that is named.
    fn engine(&self) -> Result<Option<Engine>, String> {
        let Some(name) = &self.engine else {
            return Ok(None);
        };
        let found = Engine::from_name(name).ok_or_else(|| {
            let known = Engine::ALL.iter().map(|engine| engine.name());
            unknown("--engine", name, known.collect())
        })?;
        Ok(Some(found))
    }

    /// The key kinds that are named.
    fn kinds(&self) -> Result<Vec<KeyKind>, String> {
        let kind = |name: &String| {
            KeyKind::from_name(name).ok_or_else(|| {
                let known = KeyKind::ALL.iter().map(|kind| kind.name());
                unknown("--key", name, known.collect())
            })
        };
        self.key.iter().map(kind).collect()
    }

    /// Sets what does not depend on the table.
    fn set_load(&self, question: &mut Question) {
        question.rows_per_transaction = self.batch;
        question.seed = self.seed;
        question.page_bytes = self.page_bytes.unwrap_or(question.page_bytes);
        question.cache_bytes = self.cache.unwrap_or(question.cache_bytes);
        let due = question.engine.checkpoint_bytes(question.page_bytes);
        question.checkpoint_bytes = self.checkpoint.unwrap_or(due);
    }
}

fn unknown(flag: &str, name: &str, known: Vec<&'static str>) -> String {
    format!("{flag}: unknown `{name}`: {}", nearest(name, known))
}

/// The encoding of this name, where the kind has it; else its default. Unknown names are an error.
fn encoding(kind: KeyKind, name: &str) -> Result<Encoding, Vec<&'static str>> {
    let all = || KeyKind::ALL.iter().flat_map(|kind| kind.encodings());
    if !all().any(|encoding| encoding.name() == name) {
        return Err(all().map(|encoding| encoding.name()).collect());
    }
    let encodings = kind.encodings();
    let found = encodings.iter().find(|encoding| encoding.name() == name);
    Ok(*found.unwrap_or(&encodings[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_of_sqlite_is_due_after_1000_pages_of_any_size() {
        use clap::Parser as _;
        #[derive(clap::Parser)]
        struct Command {
            #[command(flatten)]
            predict: Arguments,
        }
        let bytes = |line: &str| {
            let words = ["predict", "--rows", "1e6"].into_iter();
            let command = Command::parse_from(words.chain(line.split_whitespace()));
            command.predict.questions().unwrap()[0].checkpoint_bytes
        };
        assert_eq!(bytes(""), 4_096_000);
        assert_eq!(bytes("--page-bytes 512"), 512_000);
        assert_eq!(bytes("--page-bytes 65536"), 65_536_000);
        assert_eq!(bytes("--page-bytes 65536 --checkpoint 1M"), 1 << 20);
        assert_eq!(bytes("--engine postgres"), 1 << 30);
        assert_eq!(bytes("--engine mariadb --page-bytes 8192"), 96 << 20);
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(count("1e9"), Ok(1_000_000_000));
        assert_eq!(count("1_000_000"), Ok(1_000_000));
        assert_eq!(count("2.5e3"), Ok(2500));
        for wrong in ["", "-1", "1.5", "NaN", "many", "1e16"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }
}
