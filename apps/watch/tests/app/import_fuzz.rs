//! Imports of files with any header.

use crate::{
    client::{Client, Site},
    import_columns::{import, list},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NAMES: &str = "Name Title Year Rating Your_Rating My_Rating Score Rating10 IMDb_Rating Average Watched Watched_Date Date Date_Rated \
    WatchedDate Added Note Review Comment Description Tags Genres Directors Status Type Kind Original_Title tmdbId imdbID Letterboxd_URI \
    Rewatch Priority Public Season Runtime userRating watchedAt end_date score title TMDb_ID Release_Date Const Mood Plot Popularity";

/// A generator of numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, max: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % max
    }
}

/// A cell, which is told from all others by its number: a text, a rating or a day.
fn cell(round: usize, at: usize, header: &str, numbers: &mut Numbers) -> String {
    let name = header.to_lowercase();
    let is_day = name.contains("date") || name == "watchedat" || name == "added";
    match header {
        "Year" => "1999".to_owned(),
        "imdbID" | "Const" => format!("tt{:07}", 9_000_000 + round * 10 + at),
        _ if is_day => {
            let (year, month, day) = (10 + at, 1 + round % 12, 1 + round % 28);
            format!("20{year}-{month:02}-{day:02}")
        }
        _ if name.contains("rat") || name == "score" => (1 + numbers.below(10)).to_string(),
        "Watched" | "Public" | "Rewatch" => "yes".to_owned(),
        "Priority" | "Season" | "Runtime" => (1 + at % 5).to_string(),
        "Status" => "completed".to_owned(),
        "Type" | "Kind" => "movie".to_owned(),
        _ => format!("cell{round}x{at}"),
    }
}

/// A file with one row.
struct File {
    header: Vec<String>,
    cells: Vec<String>,
}

impl File {
    fn new(round: usize, numbers: &mut Numbers) -> Self {
        let names: Vec<&str> = NAMES.split_whitespace().collect();
        let count = 2 + numbers.below(8);
        let any = |_| names[numbers.below(names.len())].replace('_', " ");
        let mut header: Vec<String> = (0..count).map(any).collect();
        if numbers.below(10) < 7 {
            header[0] = "Title".to_owned();
        }
        let cells = header.iter().enumerate();
        let cells = cells
            .map(|(at, name)| cell(round, at, name, numbers))
            .collect();
        File { header, cells }
    }

    fn text(&self) -> String {
        format!("{}\n{}\n", self.header.join(","), self.cells.join(","))
    }
}

/// What the preview says of a file.
struct Said<'a> {
    file: &'a File,
    becomes: Vec<String>,
    told: Value,
}

impl Said<'_> {
    /// The cells whose columns become one of these.
    fn cells(&self, wanted: &[&str]) -> Vec<&String> {
        let cells = self.file.cells.iter().zip(&self.becomes);
        let cells = cells.filter(|(_, becomes)| wanted.contains(&becomes.as_str()));
        cells.map(|(cell, _)| cell).collect()
    }

    /// Whether a stored value is that of a column that becomes one of these.
    fn has(&self, value: &Value, wanted: &[&str]) -> bool {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        value.is_null() || self.cells(wanted).contains(&&text)
    }

    /// Whether all of what is stored of a film comes from columns that the preview named.
    fn names_all(&self, title: &str, said: &Value) -> bool {
        let years = self.cells(&["year", "release_date"]);
        let is_year = |cell: &&String| cell.starts_with(&said[1].to_string());
        let stars = json!(said[5].as_i64().unwrap_or_default() / 2);
        let is_told = ["watched", "status", "watched_on", "rating_10", "rating_5"];
        let tags = said[8].as_array().unwrap();
        self.has(&json!(title), &["title"])
            && (said[1].is_null() || years.iter().any(is_year))
            && self.has(&said[3], &["watched_on", "rated_on"])
            && self.has(&said[7], &["note"])
            && tags.iter().all(|tag| self.has(tag, &["tags"]))
            && (self.has(&said[5], &["rating_10"]) || self.has(&stars, &["rating_5"]))
            && (said[2] == false
                || !self.cells(&is_told).is_empty()
                || self.told["tables"][0]["rows"] == "watched")
    }
}

/// The preview of a file.
async fn preview<'a>(client: &mut Client, file: &'a File) -> Said<'a> {
    let told = import(client, &[("preview", "1")], file.text().into_bytes()).await;
    let columns = told["tables"][0]["columns"].as_array().unwrap();
    let becomes = columns
        .iter()
        .map(|column| column["becomes"].as_str().unwrap().to_owned());
    let becomes: Vec<String> = becomes.collect();
    assert_eq!(
        becomes.len(),
        file.header.len(),
        "every column is shown: {told}"
    );
    Said {
        file,
        becomes,
        told,
    }
}

#[tokio::test]
async fn of_500_headers_nothing_is_stored_whose_column_the_preview_did_not_name() {
    let mut numbers = Numbers(42);
    let (_site, mut people) = Site::without_films(&["Anna"]).await;
    let anna = &mut people[0];
    let (mut read, mut unread, mut imported) = (0, 0, 0);
    let mut before: BTreeMap<String, Value> = list(anna).await;
    for round in 0..500 {
        let file = File::new(round, &mut numbers);
        let said = preview(anna, &file).await;
        let has_question = !said.told["questions"].as_array().unwrap().is_empty();
        let done = import(anna, &[("add_missing", "1")], file.text().into_bytes()).await;
        let after = list(anna).await;
        if has_question || done["error"].is_string() {
            assert_eq!(before, after, "{}", file.text());
            continue;
        }
        for (title, stored) in after
            .iter()
            .filter(|(title, _)| !before.contains_key(*title))
        {
            imported += 1;
            assert!(
                said.names_all(title, stored),
                "{} {stored} {}",
                file.text(),
                said.told
            );
        }
        let skipped = said
            .becomes
            .iter()
            .filter(|becomes| *becomes == "unread")
            .count();
        unread += skipped;
        read += said.becomes.len() - skipped;
        before = after;
    }
    println!("{imported} films of 500 files; {read} columns read, {unread} shown as not read");
    assert!(imported > 100 && unread > 100, "{imported} {unread}");
}
