//! Files with films: JSON lines and IMDb's `title.basics.tsv`, plain or gzipped.

use crate::{
    Error, Result,
    db::films::{Facts, MINUTES},
    words::say,
};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Bytes of a line: a longer one is no film.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Reads the films of a file in order. A line that is not a film is an [`Error::Invalid`] that names it; reading
/// continues after it.
pub struct Source {
    path: PathBuf,
    lines: Box<dyn BufRead + Send>,
    line_number: u64,
    format: Format,
    read: Arc<AtomicU64>,
    /// Bytes of the file, as it lies on the disk.
    pub bytes: u64,
}

#[derive(Clone, Copy)]
enum Format {
    JsonLines,
    Imdb,
}

/// A film as JSON lines have it. `cast` is what many collections call the people.
#[derive(Deserialize)]
struct Line {
    title: String,
    /// The title in the language of the film.
    #[serde(default, alias = "originalTitle")]
    original_title: Option<String>,
    #[serde(default)]
    year: Option<i64>,
    #[serde(default)]
    directors: Vec<String>,
    #[serde(default, alias = "cast")]
    people: Vec<String>,
    #[serde(default)]
    genres: Vec<String>,
    /// The running time in minutes.
    #[serde(default, alias = "runtime")]
    minutes: Option<i64>,
    /// The IMDb id: tt and digits.
    #[serde(default, alias = "imdb_id", alias = "imdbID", alias = "tconst")]
    imdb: Option<String>,
}

/// Counts what passes.
struct Counting<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.inner.read(out)?;
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

impl Source {
    /// Opens a file. Its first bytes determine its format.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Invalid`] when it begins as none of them.
    pub fn open(path: &Path) -> Result<Self> {
        let read = Arc::new(AtomicU64::new(0));
        let file = File::open(path).map_err(|error| named(path, &error))?;
        let bytes = file.metadata()?.len();
        let counting = Counting {
            inner: file,
            read: Arc::clone(&read),
        };
        let mut packed = BufReader::with_capacity(1 << 16, counting);
        let is_gzip = packed.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let lines: Box<dyn BufRead + Send> = match is_gzip {
            true => Box::new(BufReader::new(MultiGzDecoder::new(packed))),
            false => Box::new(packed),
        };
        Source::begin(path, lines, bytes, read)
    }

    /// The films of a text.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it begins as no format does.
    pub fn of_text(text: &'static str) -> Result<Self> {
        let lines = Box::new(text.as_bytes());
        Source::begin(
            Path::new("the text"),
            lines,
            text.len() as u64,
            Arc::default(),
        )
    }

    fn begin(
        path: &Path,
        mut lines: Box<dyn BufRead + Send>,
        bytes: u64,
        read: Arc<AtomicU64>,
    ) -> Result<Self> {
        let start = lines.fill_buf().map_err(|error| named(path, &error))?;
        let mut source = Source {
            path: path.to_owned(),
            format: Format::JsonLines,
            line_number: 0,
            read,
            bytes,
            lines: Box::new(std::io::empty()),
        };
        if start.starts_with(b"tconst\t") {
            source.format = Format::Imdb;
        } else if !start.trim_ascii_start().starts_with(b"{") {
            return Err(Error::Invalid(say::as_is(format!(
                "{}: neither JSON lines ({{\"title\": \"…\", \"year\": 1979}}) nor IMDb's title.basics.tsv",
                path.display()
            ))));
        }
        source.lines = lines;
        if matches!(source.format, Format::Imdb) {
            source.line()?;
        }
        Ok(source)
    }

    /// Bytes of the file read so far, which many threads may ask.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.read)
    }

    /// The next line; none at the end.
    fn line(&mut self) -> Result<Option<String>> {
        let mut line = Vec::new();
        let read = (&mut self.lines)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        let bytes = read.map_err(|error| named(&self.path, &error))?;
        self.line_number += 1;
        if bytes as u64 == LINE_BYTES_MAX {
            return Err(self.bad("it is longer than a megabyte"));
        }
        let line = String::from_utf8(line).map_err(|_| self.bad("it isn't UTF-8"))?;
        Ok((bytes > 0).then_some(line))
    }

    fn bad(&self, why: &str) -> Error {
        let (path, line) = (self.path.display(), self.line_number);
        Error::Invalid(say::as_is(format!("{path}, line {line}: {why}")))
    }

    /// Parses a line; `None` if it is not a film.
    fn facts(&self, line: &str) -> Result<Option<Facts>> {
        let facts = match self.format {
            Format::JsonLines if line.trim().is_empty() => None,
            Format::JsonLines => {
                Some(json_line(line).map_err(|error| self.bad(&error.to_string()))?)
            }
            Format::Imdb => {
                imdb_line(line.trim_end_matches(['\r', '\n'])).map_err(|why| self.bad(why))?
            }
        };
        facts
            .map(Facts::checked)
            .transpose()
            .map_err(|error| self.bad(&error.to_string()))
    }
}

impl Iterator for Source {
    type Item = Result<Facts>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.line() {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            if let Some(facts) = self.facts(&line).transpose() {
                return Some(facts);
            }
        }
    }
}

fn named(path: &Path, error: &std::io::Error) -> Error {
    let words = format!("{}: {error}", path.display());
    Error::Io(std::io::Error::new(error.kind(), words))
}

fn json_line(line: &str) -> serde_json::Result<Facts> {
    let line: Line = serde_json::from_str(line)?;
    Ok(Facts {
        title: line.title,
        original: line.original_title,
        year: line.year,
        people: [line.directors, line.people].concat(),
        genres: line.genres,
        minutes: line.minutes,
        imdb: line.imdb.as_deref().and_then(imdb_number),
    })
}

/// A line of `title.basics.tsv`: films that are neither episodes nor for adults only.
/// <https://developer.imdb.com/non-commercial-datasets/>
fn imdb_line(line: &str) -> Result<Option<Facts>, &'static str> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [
        tconst,
        kind,
        title,
        original,
        is_adult,
        year,
        _,
        minutes,
        genres,
    ] = fields[..]
    else {
        return Err("it hasn't the nine fields of title.basics.tsv");
    };
    if !matches!(kind, "movie" | "tvMovie") || is_adult != "0" {
        return Ok(None);
    }
    let imdb = imdb_number(tconst).ok_or("its first field isn't tt and digits")?;
    let genres = genres.split(',').filter(|genre| *genre != "\\N");
    Ok(Some(Facts {
        title: title.to_owned(),
        original: (original != "\\N").then(|| original.to_owned()),
        year: year.parse().ok(),
        people: Vec::new(),
        genres: genres.map(str::to_owned).collect(),
        // The file has a few films of no minutes, and of years.
        minutes: minutes
            .parse()
            .ok()
            .filter(|minutes| MINUTES.contains(minutes)),
        imdb: Some(imdb),
    }))
}

/// The digits of IMDb's `tt0078748`.
pub fn imdb_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix("tt")?;
    let is_number =
        !digits.is_empty() && digits.len() <= 12 && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn titles(text: &[u8]) -> Result<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("films");
        std::fs::write(&path, text).unwrap();
        Source::open(&path)?.map(|facts| Ok(facts?.title)).collect()
    }

    #[test]
    fn json_lines_are_read_plain_and_gzipped() {
        let text = b"{\"title\":\"A\",\"year\":1999,\"cast\":[\"B\"]}\n\n{\"title\":\"C\"}\n";
        assert_eq!(titles(text).unwrap(), ["A", "C"]);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text).unwrap();
        assert_eq!(titles(&packed.finish().unwrap()).unwrap(), ["A", "C"]);
    }

    #[test]
    fn imdb_lines_are_films_and_nothing_else() {
        let text = "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n\
            tt0078748\tmovie\tAlien\tAlien\t0\t1979\t\\N\t117\tHorror,Sci-Fi\n\
            tt1\ttvEpisode\tPilot\tPilot\t0\t1979\t\\N\t\\N\t\\N\n\
            tt2\tmovie\tNot here\tNot here\t1\t1979\t\\N\t\\N\t\\N\n\
            tt0000003\ttvMovie\tDuel\tDuel\t0\t\\N\t\\N\t\\N\t\\N\n";
        assert_eq!(titles(text.as_bytes()).unwrap(), ["Alien", "Duel"]);
        let alien = imdb_line(text.lines().nth(1).unwrap()).unwrap().unwrap();
        assert_eq!((alien.imdb, alien.year), (Some(78_748), Some(1979)));
        assert_eq!(alien.minutes, Some(117));
        assert_eq!(alien.genres, ["Horror", "Sci-Fi"]);
    }

    #[test]
    fn bad_input_is_named_with_its_line() {
        for (text, what) in [
            (
                &b"{\"title\":\"A\"}\n{\"title\":1}\n"[..],
                "line 2: invalid type",
            ),
            (
                b"{\"title\":\"A\"}\n{\"title\":\" \"}\n",
                "line 2: A film needs a title",
            ),
            (b"{\"title\":\"\xff\"}\n", "line 1: it isn't UTF-8"),
            (b"title,year\n", "neither JSON lines"),
            (b"", "neither JSON lines"),
            (b"tconst\tx\nshort\n", "line 2: it hasn't the nine fields"),
            (b"\x1f\x8bnot gzip", "films: "),
        ] {
            let error = titles(text).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        let long = format!("{{\"title\":\"{}\"}}", "a".repeat(1 << 20));
        assert!(
            titles(long.as_bytes())
                .unwrap_err()
                .to_string()
                .contains("longer")
        );
    }

    #[test]
    fn imdb_numbers_are_tt_and_digits() {
        assert_eq!(imdb_number("tt0078748"), Some(78_748));
        for text in [
            "",
            "tt",
            "0078748",
            "tt-1",
            "tt+1",
            "tt1x",
            "tt9999999999999",
        ] {
            assert_eq!(imdb_number(text), None, "{text}");
        }
    }
}
