//! `inorder id`: makes ids, tells what they are, writes them in another form.

use crate::terminal;
use anyhow::{Context as _, Result};
use inorder_bench::Error;
use inorder_key::{
    Clock, Factory, Generator, Inspection, Method, Overflow, Reading, SystemClock, TimeId, Tsid,
    TsidFactory, TypeId, Ulid, UnixTime, Uuid, fill_random,
};
use serde_json::json;
use std::{fmt, fmt::Write as _, io::BufRead as _, process::ExitCode};

/// Makes, inspects and converts ids.
#[derive(clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  inorder id ulid -n 10
  inorder id uuid7 --at 2024-01-01
  inorder id typeid user
  inorder id tsid --node 7
  inorder id inspect 01ARZ3NDEKTSV4RRFFQ69G5FAV
  inorder id convert --to uuid < ulids.txt"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Makes ULIDs, each greater than the last
    Ulid(Timed),
    /// Makes UUIDs of version 7, each greater than the last
    Uuid7(Timed),
    /// Makes UUIDs of version 4, in no order
    Uuid4(Count),
    /// Makes TypeIDs, each greater than the last: UUIDs of version 7 with a prefix
    Typeid(Typed),
    /// Makes TSIDs, each greater than the last: integers of 64 bits
    Tsid(Numbered),
    /// Makes tokens of random bytes, as hex digits
    Token(Token),
    /// Inspects ids: kind, time, bits, problems
    Inspect(Inspect),
    /// Writes ULIDs, UUIDs and TypeIDs in another form
    Convert(Convert),
}

#[derive(clap::Args)]
struct Count {
    /// Number of ids
    #[arg(short = 'n', long, default_value_t = 1, value_name = "N")]
    count: usize,
}

#[derive(clap::Args)]
struct Timed {
    #[command(flatten)]
    count: Count,
    /// Time of the ids, such as 2024-01-31, 2024-01-31T12:30:00.250Z or milliseconds since 1970; default: now
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

#[derive(clap::Args)]
struct Typed {
    /// Name of the type, such as `user`: up to 63 characters a to z and _
    prefix: String,
    #[command(flatten)]
    timed: Timed,
}

#[derive(clap::Args)]
struct Numbered {
    #[command(flatten)]
    timed: Timed,
    /// Number of the process that makes the ids, 0 to 1023; default: INORDER_NODE, or random
    #[arg(long, value_parser = clap::value_parser!(u16).range(..=i64::from(Tsid::NODE_MAX)))]
    node: Option<u16>,
    /// Print 13 characters instead of an integer
    #[arg(long)]
    text: bool,
}

#[derive(clap::Args)]
struct Token {
    #[command(flatten)]
    count: Count,
    /// Random bytes per token
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1024))]
    bytes: u16,
}

#[derive(clap::Args)]
struct Inspect {
    /// The ids, as text or as blobs such as x'017F…'; default: the lines of stdin
    ids: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Convert {
    /// The ids, as text or as blobs such as x'017F…'; default: the lines of stdin
    ids: Vec<String>,
    /// The form to write; default: a UUID for a ULID or TypeID, a ULID for anything else
    #[arg(long, value_enum)]
    to: Option<Form>,
}

/// A form of 128 bits.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Form {
    /// 26 characters
    Ulid,
    /// 36 characters
    Uuid,
    /// A blob as SQL writes it
    Blob,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Command::Ulid(wanted) => print_in_order::<Ulid, _>(&wanted, |id| id)?,
        Command::Uuid7(wanted) => print_in_order::<Uuid, _>(&wanted, |id| id)?,
        Command::Typeid(wanted) => {
            let first = TypeId::new(&wanted.prefix, Uuid::NIL);
            let first = first.map_err(|error| Error::Usage(error.to_string()))?;
            print_in_order::<Uuid, _>(&wanted.timed, |id| first.with_uuid(id))?
        }
        Command::Tsid(wanted) => print_tsids(&wanted)?,
        Command::Uuid4(wanted) => print_batches(
            &wanted,
            Uuid::NIL,
            |out| {
                Uuid::fill_v4(out);
                Ok(())
            },
            |id| id,
        )?,
        Command::Token(wanted) => print_tokens(&wanted)?,
        Command::Inspect(wanted) => return inspect(wanted),
        Command::Convert(wanted) => return convert(wanted),
    }
    Ok(ExitCode::SUCCESS)
}

/// A clock that is fixed at the requested time.
struct At(UnixTime);

impl Clock for At {
    fn read(&mut self, wanted: usize) -> Reading {
        Reading {
            time: self.0,
            ids: wanted,
        }
    }
}

/// Reads the time that was given, if one was.
fn time(wanted: &Timed) -> Result<Option<UnixTime>> {
    let time = wanted.at.as_deref().map(inorder_key::parse_time);
    let time = time.transpose();
    Ok(time.map_err(|error| Error::Usage(error.to_string()))?)
}

fn print_in_order<I: TimeId + Default, S: fmt::Display>(
    wanted: &Timed,
    show: impl Fn(I) -> S,
) -> Result<()> {
    let Some(time) = time(wanted)? else {
        let fill = |out: &mut [I]| {
            Factory::process().fill(out);
            Ok(())
        };
        return print_batches(&wanted.count, I::default(), fill, show);
    };
    let mut ids = Generator::<I, _>::with_clock(Method::default(), Overflow::RunAhead, At(time))?;
    print_batches(&wanted.count, I::default(), |out| Ok(ids.fill(out)?), show)
}

fn print_tsids(wanted: &Numbered) -> Result<()> {
    let given = wanted.node.map(TsidFactory::new).transpose()?;
    let ids = given.as_ref().unwrap_or(TsidFactory::process());
    let time = time(&wanted.timed)?;
    let next = || match time {
        Some(time) => ids.next_at(time),
        None => ids.try_next(),
    };
    let fill = |out: &mut [Tsid]| {
        for id in out {
            *id = next().map_err(|error| Error::Usage(error.to_string()))?;
        }
        Ok(())
    };
    print_batches(
        &wanted.timed.count,
        Tsid::default(),
        fill,
        |id| match wanted.text {
            true => id.to_string(),
            false => id.to_i64().to_string(),
        },
    )
}

/// Prints ids a line each, as they are made.
fn print_batches<I: Copy, S: fmt::Display>(
    wanted: &Count,
    nil: I,
    mut fill: impl FnMut(&mut [I]) -> Result<()>,
    show: impl Fn(I) -> S,
) -> Result<()> {
    let mut batch = [nil; 1024];
    let mut left = wanted.count;
    while left > 0 {
        let made = &mut batch[..left.min(1024)];
        fill(made)?;
        left -= made.len();
        let mut text = String::new();
        made.iter()
            .try_for_each(|id| writeln!(text, "{}", show(*id)))?;
        terminal::print(&text)?;
    }
    Ok(())
}

fn print_tokens(wanted: &Token) -> Result<()> {
    let mut token = vec![0; usize::from(wanted.bytes)];
    for _ in 0..wanted.count.count {
        fill_random(&mut token);
        terminal::print(&format!("{}\n", Hex(&token)))?;
    }
    Ok(())
}

/// Bytes as lower-case hex digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// An id that was given.
struct Given {
    id: String,
    /// The line of stdin it is, counted from 1.
    line: Option<usize>,
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} of stdin, {:?},", self.id),
            None => write!(f, "{:?}", self.id),
        }
    }
}

/// Works on the ids that were given, or on each line of stdin as it comes, without the blanks around it. Returns whether all of
/// those are UTF-8; each that is not is reported and left out.
fn for_each(ids: Vec<String>, mut work: impl FnMut(&Given) -> Result<()>) -> Result<bool> {
    if !ids.is_empty() {
        for id in ids {
            work(&Given { id, line: None })?;
        }
        return Ok(true);
    }
    let mut is_all_text = true;
    for (line, bytes) in (1..).zip(std::io::stdin().lock().split(b'\n')) {
        let bytes = bytes.context("stdin")?;
        match std::str::from_utf8(bytes.trim_ascii()) {
            Ok("") => {}
            Ok(id) => work(&Given {
                id: id.to_owned(),
                line: Some(line),
            })?,
            Err(error) => {
                is_all_text = false;
                report(&format!(
                    "line {line} of stdin is not UTF-8 and not an id: byte {:#04x} at position {}",
                    bytes.trim_ascii()[error.valid_up_to()],
                    error.valid_up_to() + 1
                ));
            }
        }
    }
    Ok(is_all_text)
}

/// Reports the error of one id; the others are processed.
fn report(problem: &str) {
    eprintln!("inorder: {problem}");
}

/// The kind of an id, given as text or as an SQL blob.
fn look_at(id: &str) -> Inspection {
    let now = SystemClock.read(1).time;
    match blob(id) {
        Some(bytes) => Inspection::of_blob(&bytes, now),
        None => Inspection::of_text(id, now),
    }
}

/// The bytes of a blob as SQL writes it, `x'017F'`.
fn blob(literal: &str) -> Option<Vec<u8>> {
    let digits = literal.strip_prefix(['x', 'X'])?;
    let digits = digits.strip_prefix('\'')?.strip_suffix('\'')?.as_bytes();
    let byte = |pair: &[u8]| match pair {
        [a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
            u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()
        }
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

fn inspect(wanted: Inspect) -> Result<ExitCode> {
    let (mut are_ids, mut inspected) = (true, 0);
    let is_all_text = for_each(wanted.ids, |given| {
        let found = look_at(&given.id);
        are_ids &= found.name != "no id";
        let text = match wanted.json {
            true => {
                let element = serde_json::to_string_pretty(&to_json(&given.id, &found))?;
                let before = if inspected == 0 { "[" } else { "," };
                format!("{before}\n  {}", element.replace('\n', "\n  "))
            }
            false => to_text(&given.id, &found),
        };
        inspected += 1;
        terminal::print(&text)
    })?;
    match (wanted.json, inspected) {
        (true, 0) => terminal::print("[]\n")?,
        (true, _) => terminal::print("\n]\n")?,
        (false, _) => {}
    }
    Ok(ExitCode::from(u8::from(!(is_all_text && are_ids))))
}

fn to_json(id: &str, found: &Inspection) -> serde_json::Value {
    let fields = found.fields.iter().map(|field| {
        json!({"name": field.name, "bits": field.bits, "value": format!("{:#x}", field.value)})
    });
    json!({
        "id": id,
        "is": found.name,
        "kind": found.kind.map(|kind| kind.name()),
        "encoding": found.encoding.name(),
        "time": found.time.map(|time| time.to_string()),
        "ms": found.time.map(|time| time.ms),
        "prefix": found.prefix,
        "could_be": found.could_be.iter().map(|other| {
            json!({
                "is": other.name,
                "time": other.time.map(|time| time.to_string()),
                "ms": other.time.map(|time| time.ms),
                "uuid": other.uuid.map(|uuid| uuid.to_string()),
            })
        }).collect::<Vec<_>>(),
        "ulid": found.bits.map(|bits| Ulid::from_u128(bits).to_string()),
        "uuid": found.bits.map(|bits| Uuid::from_u128(bits).to_string()),
        "fields": fields.collect::<Vec<_>>(),
        "problems": found.problems,
    })
}

fn to_text(id: &str, found: &Inspection) -> String {
    let mut text = format!("{id}\n");
    let mut line = |name: &str, value: &str| text += &format!("  {name:<8} {value}\n");
    line("is", &found.name);
    if let Some(kind) = found.kind {
        line("kind", kind.name());
    }
    if let Some(prefix) = &found.prefix {
        line("prefix", prefix);
    }
    if let Some(time) = found.time {
        line("time", &time.to_string());
    }
    for other in &found.could_be {
        let uuid = other.uuid.map(|uuid| uuid.to_string());
        let time = other.time.map(|time| time.to_string());
        let parts: Vec<_> = [uuid, time].into_iter().flatten().collect();
        line(
            "could be",
            &format!("{:<20} {}", other.name, parts.join(" ")),
        );
    }
    if let Some(bits) = found.bits {
        line("ulid", &Form::Ulid.write(bits));
        line("uuid", &Form::Uuid.write(bits));
        line("blob", &Form::Blob.write(bits));
    }
    for field in &found.fields {
        line(
            "bits",
            &format!("{:<10} {:>3}  {:#x}", field.name, field.bits, field.value),
        );
    }
    for problem in &found.problems {
        line("problem", problem);
    }
    text
}

/// Converts each id, and reports each that cannot be converted.
fn convert(wanted: Convert) -> Result<ExitCode> {
    let mut are_converted = true;
    let is_all_text = for_each(wanted.ids, |given| {
        let found = look_at(&given.id);
        let Some(bits) = found.bits else {
            let problem = found.problems.first().unwrap_or(&found.name);
            report(&format!("{given} is not a ULID, UUID or TypeID: {problem}"));
            are_converted = false;
            return Ok(());
        };
        let is_ulid = found.kind == Some(inorder_key::KeyKind::Ulid);
        let other = match is_ulid || found.prefix.is_some() {
            true => Form::Uuid,
            false => Form::Ulid,
        };
        terminal::print(&format!("{}\n", wanted.to.unwrap_or(other).write(bits)))
    })?;
    Ok(ExitCode::from(u8::from(!(is_all_text && are_converted))))
}

impl Form {
    fn write(self, bits: u128) -> String {
        match self {
            Form::Ulid => Ulid::from_u128(bits).to_string(),
            Form::Uuid => Uuid::from_u128(bits).to_string(),
            Form::Blob => format!("x'{bits:032X}'"),
        }
    }
}
