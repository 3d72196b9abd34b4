//! The flags of `inorder load`.

use std::path::PathBuf;
use std::time::Duration;

use super::tables::by_table;
use clap::builder::NonEmptyStringValueParser;
use inorder_bench::nearest;
use inorder_load::source::{
    DateOrder, Downloads, FORMATS, Location, ReadOptions, WrittenBy, expand,
};
use inorder_load::{
    Create, Decode, DecodeAs, Existing, ForeignKey, FullText, Job, KeySpec, OnDuplicate, RowOrder,
    WriterChoice, memory_bytes_default, threads_default,
};

/// Loads rows from files into a table, in key order.
///
/// A table or database that does not exist is created. A table that has rows is changed only with --append,
/// --truncate or --replace-table.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  inorder load films.csv app.db                               into the table films, created if there is none
  inorder load films.jsonl.gz app.db --table films --key id=uuid7
  inorder load new-films.csv app.db --table films --append
  inorder load 'part-*.csv.zst' app.db --table events --memory 1G --spill /fast/disk
  inorder load old.db:users new.db --on-duplicate report --rejects twice.jsonl
  zcat users.gz | inorder load - app.db --table users --format csv")]
pub struct Arguments {
    /// Inputs: CSV, TSV, JSON, JSON lines, Parquet, worksheets or IMDb's title.basics.tsv, also as .gz or .zst; glob patterns;
    /// file.db:table; file.xlsx:sheet; https:// and s3:// URLs; - for stdin
    #[arg(required = true, value_parser = NonEmptyStringValueParser::new())]
    input: Vec<String>,
    /// The database to load into
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    database: String,
    /// The table of all inputs; default: each input goes to the table of its own name
    #[arg(long, short, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    table: Option<String>,
    /// Create the table, or fail if it exists; column types are derived from the first rows
    #[arg(long, group = "existing")]
    create: bool,
    /// Add rows to a table that has rows
    #[arg(long, group = "existing")]
    append: bool,
    /// Delete the rows of the table first, in the same transaction
    #[arg(long, group = "existing")]
    truncate: bool,
    /// Drop the table and create it again, in the same transaction
    #[arg(long, group = "existing")]
    replace_table: bool,
    /// Load nothing if the table exists
    #[arg(long, group = "existing")]
    if_not_exists: bool,
    /// Key columns of a created table: a column of the input, or a generated one, such as id=uuid7,
    /// id=ulid:text, id=serial
    #[arg(long, value_name = "COLUMN[=KIND]", value_delimiter = ',')]
    key: Vec<String>,
    /// Column types of a created table, instead of the derived ones
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// Create an index on columns of a created table; may be repeated
    #[arg(long, value_name = "COLUMN,…")]
    index: Vec<String>,
    /// Foreign keys of a created table, to the key or a column of another table
    #[arg(long, value_name = "COLUMN=TABLE[.COLUMN]", value_delimiter = ',')]
    foreign_key: Vec<String>,
    /// Create a full-text index (FTS5) on columns of a created table with an INTEGER PRIMARY KEY, and triggers that keep it
    /// current; SQLite only
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    fts: Vec<String>,
    /// Tokenizer of the full-text index and its arguments, such as 'porter unicode61'; default: that of SQLite
    #[arg(long, value_name = "TEXT", requires = "fts")]
    fts_tokenizer: Option<String>,
    /// Add the columns that the input has and the table does not
    #[arg(long)]
    alter: bool,
    /// Layout of a created table with a key: rowid or without-rowid
    #[arg(long, default_value = "without-rowid")]
    layout: String,
    /// csv, tsv, json, jsonl, parquet, xlsx, imdb or sqlite; default: derived from name and content
    #[arg(long)]
    format: Option<String>,
    /// Encoding of text, such as windows-1252 or latin1; default: UTF-8, or UTF-16 if the file is
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Leave out so many lines before the header
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_lines: u64,
    /// Leave out lines that begin with this character
    #[arg(long, value_name = "CHAR")]
    comment: Option<String>,
    /// Field delimiter; \t for a tab; default: derived from the content
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// Quote character, or none; default: derived from the content
    #[arg(long, value_name = "CHAR")]
    quote: Option<String>,
    /// The input has no header: its columns are those of the table in order, or c1, c2, …
    #[arg(long, conflicts_with = "header")]
    no_header: bool,
    /// The first line has the names of the columns; default: derived from the content
    #[arg(long)]
    header: bool,
    /// Rows with fewer or more fields than columns: error, or pad (missing fields are NULL)
    #[arg(long, value_name = "HOW", default_value = "error")]
    ragged: String,
    /// Escape character of delimited text: in quotes, the quote after it is text
    #[arg(long, value_name = "CHAR")]
    escape: Option<String>,
    /// Program that wrote the delimited text: excel, spark, mysql (INTO OUTFILE) or pg-text (COPY)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// Decimal separator of numbers: a point (default), or a comma
    #[arg(long, value_name = "CHAR")]
    decimal: Option<String>,
    /// Columns with dates and their order (dmy, mdy or ymd), stored as ISO 8601
    #[arg(long, value_name = "COLUMN=ORDER", value_delimiter = ',')]
    date: Vec<String>,
    /// Make columns of the members of nested JSON objects, such as address_city
    #[arg(long)]
    flatten: bool,
    /// An unquoted field that means NULL; may be repeated; default: the empty field
    #[arg(long, value_name = "TEXT", conflicts_with = "empty_text")]
    null: Vec<String>,
    /// Empty fields are empty text, not NULL
    #[arg(long)]
    empty_text: bool,
    /// Column names of the input, instead of its own; - leaves a column out
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    columns: Option<Vec<String>>,
    /// Leave out columns that the table does not have
    #[arg(long)]
    skip_unknown: bool,
    /// Text form of bytes for BLOB columns: uuid, ulid, hex, base64 or none; default: derived from the
    /// first rows
    #[arg(long, value_name = "COLUMN=ENCODING", value_delimiter = ',')]
    decode: Vec<String>,
    /// Order in which rows are written: full (all sorted), batch (sorted within batches), prefix8 (within
    /// batches, by the first 8 bytes of the key) or input
    #[arg(long, default_value = "full")]
    order: String,
    /// Rows per batch
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    batch_rows: u64,
    /// Memory limit for rows, such as 500M or 2G; default: a quarter of the machine's memory
    #[arg(long, value_name = "BYTES")]
    memory: Option<String>,
    /// Threads that read, sort and write; the result is the same for any number; default: the processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Folder for spilled rows and for downloads; default: the folder of the database; for downloads that of TMPDIR
    #[arg(long, value_name = "FOLDER")]
    spill: Option<PathBuf>,
    /// Handling of a duplicate key: error, ignore, replace, report, or update (the columns that the input gives)
    #[arg(long, value_name = "HOW", default_value = "error")]
    on_duplicate: String,
    /// Write rows that are left out to this file, as JSON lines with file, line and error
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Number of bad rows to leave out before the load fails
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_errors: u64,
    /// Fill factor of the pages that the direct writer writes, in percent; about 90 for a table that keeps
    /// growing; default: 100
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(10..=100))]
    fill: Option<u8>,
    /// auto, direct (write pages without SQLite, or fail) or statements
    #[arg(long, default_value = "auto")]
    writer: String,
    /// Seconds to wait for another process that writes to the database, before the input is read
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    busy_timeout: u32,
    /// Do everything except writing
    #[arg(long)]
    dry_run: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Arguments {
    pub fn is_json(&self) -> bool {
        self.json
    }

    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Builds the jobs from the arguments, one per table, or returns the error message.
    pub fn jobs(&self) -> Result<Vec<Job>, String> {
        let inputs = expand(&self.input).map_err(|error| error.to_string())?;
        let tables = by_table(inputs, self.table.as_deref())?;
        if tables.len() > 1 && self.rejects.is_some() {
            return Err("--rejects: load the tables one by one, or name one --table".to_owned());
        }
        let job = |(table, inputs)| self.job(table, inputs);
        tables.into_iter().map(job).collect()
    }

    fn job(&self, table: String, inputs: Vec<Location>) -> Result<Job, String> {
        Ok(Job {
            inputs,
            read_options: self.read_options()?,
            columns: self.columns.clone(),
            skips_unknown: self.skip_unknown,
            to: self.database.clone(),
            table,
            create: Some(self.created()?),
            existing: self.existing(),
            decode: self.decoded()?,
            dates: self.dates()?,
            order: self.ordered()?,
            memory_bytes: match &self.memory {
                Some(memory) => memory_bytes(memory)?,
                None => memory_bytes_default(),
            },
            threads: self.threads.map_or_else(threads_default, usize::from),
            spill_folder: self.spill.clone(),
            on_duplicate: one_of("--on-duplicate", &self.on_duplicate, OnDuplicate::ALL)?,
            rejects: self.rejects.clone(),
            errors_max: self.max_errors,
            fill_percent: self.fill,
            writer: one_of("--writer", &self.writer, WriterChoice::ALL)?,
            busy_timeout: Duration::from_secs(self.busy_timeout.into()),
            alters: self.alter,
            is_dry: self.dry_run,
        })
    }

    fn read_options(&self) -> Result<ReadOptions, String> {
        let format = self.format.as_deref().map(|name| {
            let names = || FORMATS.iter().map(|format| format.name);
            match names().any(|known| known == name) {
                true => Ok(name.to_owned()),
                false => Err(format!(
                    "--format: unknown format `{name}`: {}",
                    nearest(name, names())
                )),
            }
        });
        let quote = self.quote.as_deref().map(|quote| match quote {
            "none" => Ok(None),
            quote => byte("--quote", quote).map(Some),
        });
        let comment = self.comment.as_deref();
        Ok(ReadOptions {
            format: format.transpose()?,
            encoding: self.encoding.clone(),
            lines_skipped: self.skip_lines,
            flattens: self.flatten,
            comment: comment.map(|c| byte("--comment", c)).transpose()?,
            pads_records: one_of("--ragged", &self.ragged, &[("error", false), ("pad", true)])?,
            has_decimal_comma: match &self.decimal {
                Some(decimal) => Some(one_of("--decimal", decimal, &[(".", false), (",", true)])?),
                None => None,
            },
            dialect: match &self.dialect {
                Some(dialect) => Some(one_of("--dialect", dialect, WrittenBy::ALL)?),
                None => None,
            },
            escape: self
                .escape
                .as_deref()
                .map(|e| byte("--escape", e))
                .transpose()?,
            delimiter: self
                .delimiter
                .as_deref()
                .map(|d| byte("--delimiter", d))
                .transpose()?,
            quote: quote.transpose()?,
            has_header: match (self.header, self.no_header) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            nulls: match (self.empty_text, self.null.is_empty()) {
                (false, true) => None,
                _ => Some(self.null.clone()),
            },
            table: None,
            downloads: self.downloads(),
        })
    }

    fn downloads(&self) -> Downloads {
        let folder = self.spill.clone();
        folder.map_or_else(Downloads::default, Downloads::in_folder)
    }

    fn existing(&self) -> Existing {
        let given = [
            (self.create, Existing::Refuse),
            (self.append, Existing::Append),
            (self.truncate, Existing::Truncate),
            (self.replace_table, Existing::Replace),
            (self.if_not_exists, Existing::Skip),
        ];
        let given = given.into_iter().find(|(is_given, _)| *is_given);
        given.map_or(Existing::FillEmpty, |(_, existing)| existing)
    }

    fn created(&self) -> Result<Create, String> {
        let key = self
            .key
            .iter()
            .map(|key| KeySpec::parse(key))
            .collect::<Result<_, _>>();
        let types = self.types.iter().map(|given| {
            let (column, declared_type) = of_column("--type", given, "COLUMN=TYPE")?;
            Ok((column.to_owned(), declared_type.to_owned()))
        });
        let index = |given: &String| {
            let columns: Vec<String> = given.split(',').map(str::to_owned).collect();
            match columns.contains(&String::new()) {
                true => Err(format!("--index: write `{given}` as COLUMN,COLUMN")),
                false => Ok(columns),
            }
        };
        Ok(Create {
            key: key.map_err(|what| format!("--key: {what}"))?,
            types: types.collect::<Result<_, String>>()?,
            indexes: self.index.iter().map(index).collect::<Result<_, _>>()?,
            foreign_keys: self
                .foreign_key
                .iter()
                .map(|key| ForeignKey::parse(key).map_err(|what| format!("--foreign-key: {what}")))
                .collect::<Result<_, _>>()?,
            full_text: (!self.fts.is_empty()).then(|| FullText {
                columns: self.fts.clone(),
                tokenizer: self.fts_tokenizer.clone(),
            }),
            has_rowid: one_of(
                "--layout",
                &self.layout,
                &[("rowid", true), ("without-rowid", false)],
            )?,
            ..Create::default()
        })
    }

    fn decoded(&self) -> Result<Vec<DecodeAs>, String> {
        let one = |given: &String| {
            let (column, how) = of_column("--decode", given, "COLUMN=ENCODING")?;
            let ways = Decode::ALL.iter().map(|way| (way.name(), Some(*way)));
            let ways: Vec<(&str, Option<Decode>)> = ways.chain([("none", None)]).collect();
            Ok((column.to_owned(), one_of("--decode", how, &ways)?))
        };
        once(
            "--decode",
            self.decode.iter().map(one).collect::<Result<_, String>>()?,
        )
    }

    fn dates(&self) -> Result<Vec<(String, DateOrder)>, String> {
        let one = |given: &String| {
            let form = "COLUMN=dmy, COLUMN=mdy or COLUMN=ymd";
            let (column, order) = of_column("--date", given, form)?;
            Ok((column.to_owned(), one_of("--date", order, DateOrder::ALL)?))
        };
        once(
            "--date",
            self.date.iter().map(one).collect::<Result<_, String>>()?,
        )
    }

    fn ordered(&self) -> Result<RowOrder, String> {
        let batch = |is_by_prefix| RowOrder::Batch {
            rows: self.batch_rows,
            is_by_prefix,
        };
        let orders = [
            ("full", RowOrder::Full),
            ("batch", batch(false)),
            ("prefix8", batch(true)),
            ("input", RowOrder::Input),
        ];
        one_of("--order", &self.order, &orders)
    }
}

/// A column and what is given for it.
fn of_column<'a>(flag: &str, given: &'a str, form: &str) -> Result<(&'a str, &'a str), String> {
    let parts = given.split_once('=');
    parts
        .filter(|(column, _)| !column.is_empty())
        .ok_or_else(|| format!("{flag}: write `{given}` as {form}"))
}

/// Checks that no column is given twice.
fn once<T>(flag: &str, given: Vec<(String, T)>) -> Result<Vec<(String, T)>, String> {
    let mut all = given.iter().enumerate();
    let is_known = |(at, (name, _)): &(usize, &(String, T))| {
        given[..*at].iter().any(|(known, _)| known == name)
    };
    match all.find(is_known) {
        Some((_, (name, _))) => Err(format!("{flag}: `{name}` is given twice")),
        None => Ok(given),
    }
}

fn one_of<T: Copy>(flag: &str, name: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names = known.iter().map(|(name, _)| *name);
        format!("{flag}: unknown `{name}`: {}", nearest(name, names))
    })
}

/// A character that is one byte.
fn byte(flag: &str, text: &str) -> Result<u8, String> {
    match text {
        "\\t" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() => Ok(*byte),
            _ => Err(format!(
                "{flag}: write one character of ASCII, not `{text}`"
            )),
        },
    }
}

/// The bytes of `--memory`.
fn memory_bytes(text: &str) -> Result<usize, String> {
    const MIN: usize = 1 << 16;
    match bytes(text).map_err(|error| format!("--memory: {error}"))? as usize {
        bytes if bytes >= MIN => Ok(bytes),
        _ => Err(format!("--memory: at least 64K, not `{text}`")),
    }
}

/// Bytes as people write them: `500M`, `2G`, `65536`.
pub(in super::super) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("write bytes as 500M or 2G, not `{text}`");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.parse().map_err(|_| wrong())?;
    if !(0.0..1e18).contains(&number) {
        return Err(wrong());
    }
    Ok((number * (1u64 << shift) as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_people_write_them() {
        assert_eq!(memory_bytes("500M"), Ok(500 << 20));
        assert_eq!(memory_bytes("1.5g"), Ok(3 << 29));
        assert_eq!(memory_bytes("2097152"), Ok(2 << 20));
        assert_eq!(memory_bytes("64K"), Ok(1 << 16));
        for wrong in ["", "M", "1X", "-5G", "many", "63K", "NaNG"] {
            assert!(memory_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
