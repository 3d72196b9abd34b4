//! Files with films and series: JSON lines and IMDb's `title.basics.tsv`, plain or gzipped.

use super::lines::Lines;
use crate::{
    Error, Result,
    db::films::{Facts, Kind, MINUTES},
    words::say,
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

/// Reads the films of a file in order. A line that is not a film is an [`Error::Invalid`] that names it; reading
/// continues after it.
pub struct Source {
    lines: Lines,
    format: Format,
    /// Only films, or only series.
    only: Option<Kind>,
}

#[derive(Clone, Copy)]
enum Format {
    JsonLines,
    Imdb,
}

/// A film as JSON lines have it. `cast` is what many collections call the people.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    kind: Kind,
    title: String,
    /// The title in the language of the film.
    #[serde(default, alias = "originalTitle")]
    original_title: Option<String>,
    #[serde(default)]
    year: Option<i64>,
    /// The last year of a series.
    #[serde(default, alias = "endYear")]
    end_year: Option<i64>,
    /// The seasons of a series.
    #[serde(default)]
    seasons: Option<Seasons>,
    #[serde(default)]
    directors: Vec<String>,
    #[serde(default, alias = "cast")]
    people: Vec<String>,
    #[serde(default)]
    genres: Vec<String>,
    /// The running time: [`minutes`].
    #[serde(
        default,
        alias = "runtime",
        alias = "Runtime",
        alias = "runtimeMinutes",
        alias = "runtime_minutes"
    )]
    minutes: Value,
    /// The IMDb id: tt and digits.
    #[serde(default, alias = "imdb_id", alias = "imdbID", alias = "tconst")]
    imdb: Option<String>,
}

/// The seasons of a series: how many there are, or the numbers of their episodes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seasons {
    Count(u16),
    Episodes(Vec<u32>),
}

impl Seasons {
    fn episodes(self) -> Vec<u32> {
        match self {
            Seasons::Count(count) => vec![0; count.into()],
            Seasons::Episodes(episodes) => episodes,
        }
    }
}

impl Source {
    /// Opens a file. Its first bytes determine its format.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Invalid`] when it begins as none of them.
    pub fn open(path: &Path) -> Result<Self> {
        Source::begin(Lines::open(path)?)
    }

    /// The films of a text.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it begins as no format does.
    pub fn of_text(text: &'static str) -> Result<Self> {
        Source::begin(Lines::of_text(text))
    }

    fn begin(mut lines: Lines) -> Result<Self> {
        let start = lines.start()?;
        let is_json = start.trim_ascii_start().starts_with(b"{");
        let (is_episodes, is_imdb) = (
            start.starts_with(b"tconst\tparentTconst\t"),
            start.starts_with(b"tconst\t"),
        );
        let path = lines.path().display();
        if is_episodes {
            return Err(Error::Invalid(say::as_is(format!(
                "{path}: these are episodes, name the file with --episodes"
            ))));
        }
        if !is_imdb && !is_json {
            return Err(Error::Invalid(say::as_is(format!(
                "{path}: neither JSON lines ({{\"title\": \"…\", \"year\": 1979}}) nor IMDb's title.basics.tsv"
            ))));
        }
        let mut format = Format::JsonLines;
        if is_imdb {
            format = Format::Imdb;
            lines.read(&mut String::new())?;
        }
        Ok(Source {
            lines,
            format,
            only: None,
        })
    }

    /// Leaves out titles of the other kind.
    pub fn only(mut self, kind: Option<Kind>) -> Self {
        self.only = kind;
        self
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.lines.bytes
    }

    /// Bytes of the file read so far, which many threads may ask.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        self.lines.bytes_read()
    }

    /// Parses a line; `None` if it is not a film.
    fn facts(&self, line: &str) -> Result<Option<Facts>> {
        let facts = match self.format {
            Format::JsonLines if line.trim().is_empty() => None,
            Format::JsonLines => {
                Some(json_line(line).map_err(|error| self.lines.bad(&error.to_string()))?)
            }
            Format::Imdb => {
                imdb_line(line.trim_end_matches(['\r', '\n'])).map_err(|why| self.lines.bad(why))?
            }
        };
        let is_wanted = |facts: &Facts| self.only.is_none_or(|kind| kind == facts.kind);
        facts
            .filter(is_wanted)
            .map(Facts::checked)
            .transpose()
            .map_err(|error| self.lines.bad(&error.to_string()))
    }
}

impl Iterator for Source {
    type Item = Result<Facts>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = String::new();
        loop {
            match self.lines.read(&mut line) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
            if let Some(facts) = self.facts(&line).transpose() {
                return Some(facts);
            }
        }
    }
}

fn json_line(line: &str) -> serde_json::Result<Facts> {
    let line: Line = serde_json::from_str(line)?;
    Ok(Facts {
        kind: line.kind,
        end_year: line.end_year,
        seasons: line.seasons.map_or_else(Vec::new, Seasons::episodes),
        title: line.title,
        original: line.original_title,
        year: line.year,
        people: [line.directors, line.people].concat(),
        genres: line.genres,
        minutes: minutes(&line.minutes),
        imdb: line.imdb.as_deref().and_then(imdb_number),
    })
}

/// A running time in minutes, as a number or as a text such as `117 min` and `1h 57m`. `None` if it is none, such as 0 and `N/A`.
fn minutes(value: &Value) -> Option<i64> {
    let minutes = match value {
        Value::Number(number) => number.as_f64()?.round() as i64,
        Value::String(text) => text_minutes(text)?,
        _ => return None,
    };
    MINUTES.contains(&minutes).then_some(minutes)
}

fn text_minutes(text: &str) -> Option<i64> {
    let (mut sum, mut rest) = (0_i64, text.trim());
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit());
        let (digits, after) = rest.split_at(end.unwrap_or(rest.len()));
        let number: i64 = digits.parse().ok()?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic() && c != '.');
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let factor = match unit.chars().next().map(|c| c.to_ascii_lowercase()) {
            Some('h') => 60,
            Some('m') | None => 1,
            Some(_) => return None,
        };
        sum = sum.checked_add(number.checked_mul(factor)?)?;
        rest = after.trim_start();
    }
    Some(sum)
}

/// A line of `title.basics.tsv`: films and series that are not for adults only. Episodes, shorts and games are left out.
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
        end_year,
        minutes,
        genres,
    ] = fields[..]
    else {
        return Err("it hasn't the nine fields of title.basics.tsv");
    };
    let kind = match kind {
        "movie" | "tvMovie" => Kind::Film,
        "tvSeries" | "tvMiniSeries" => Kind::Series,
        _ => return Ok(None),
    };
    if is_adult != "0" {
        return Ok(None);
    }
    let year: Option<i64> = year.parse().ok();
    let end_year = end_year.parse().ok();
    let imdb = imdb_number(tconst).ok_or("its first field isn't tt and digits")?;
    let genres = genres.split(',').filter(|genre| *genre != "\\N");
    Ok(Some(Facts {
        kind,
        title: title.to_owned(),
        original: (original != "\\N").then(|| original.to_owned()),
        year,
        // A few series end before they begin.
        end_year: end_year.filter(|end| year.is_some_and(|year| year <= *end)),
        seasons: Vec::new(),
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
    fn imdb_lines_are_films_and_series_and_nothing_else() {
        let text = "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n\
            tt0078748\tmovie\tAlien\tAlien\t0\t1979\t\\N\t117\tHorror,Sci-Fi\n\
            tt1\ttvEpisode\tPilot\tPilot\t0\t1979\t\\N\t\\N\t\\N\n\
            tt2\tmovie\tNot here\tNot here\t1\t1979\t\\N\t\\N\t\\N\n\
            tt0000003\ttvMovie\tDuel\tDuel\t0\t\\N\t\\N\t\\N\t\\N\n\
            tt0903747\ttvSeries\tBreaking Bad\tBreaking Bad\t0\t2008\t2013\t45\tCrime,Drama\n\
            tt5\ttvMiniSeries\tBackwards\tBackwards\t0\t2020\t2019\t\\N\t\\N\n\
            tt6\tvideoGame\tGame\tGame\t0\t2020\t\\N\t\\N\t\\N\n";
        let all = ["Alien", "Duel", "Breaking Bad", "Backwards"];
        assert_eq!(titles(text.as_bytes()).unwrap(), all);
        let series = imdb_line(text.lines().nth(5).unwrap()).unwrap().unwrap();
        assert_eq!(series.years().as_deref(), Some("2008–2013"));
        let series = imdb_line(text.lines().nth(6).unwrap()).unwrap().unwrap();
        assert_eq!(series.years().as_deref(), Some("2020–"));
        let alien = imdb_line(text.lines().nth(1).unwrap()).unwrap().unwrap();
        assert_eq!((alien.imdb, alien.year), (Some(78_748), Some(1979)));
        assert_eq!(alien.minutes, Some(117));
        assert_eq!(alien.genres, ["Horror", "Sci-Fi"]);
    }

    #[test]
    fn running_times_are_numbers_and_texts() {
        for (text, expected) in [
            ("117", Some(117)),
            (" 117 min. ", Some(117)),
            ("1h 57m", Some(117)),
            ("1 h", Some(60)),
            ("2 hours 1 minute", Some(121)),
            ("1h57", Some(117)),
            ("", Some(0)),
            ("N/A", None),
            ("-5 min", None),
            ("90-100 min", None),
            ("1:57", None),
            ("5 s", None),
            ("99999999999999999999", None),
            ("9223372036854775807 h", None),
        ] {
            assert_eq!(text_minutes(text), expected, "{text}");
        }
        assert_eq!(minutes(&Value::from("")), None);
        assert_eq!(minutes(&Value::from(1e300)), None);
        assert_eq!(minutes(&Value::from(105.4)), Some(105));
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
