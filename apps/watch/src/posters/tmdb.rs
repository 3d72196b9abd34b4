//! What is asked of TMDB. Source: <https://developer.themoviedb.org/reference>.

use crate::{
    db::{
        films::{Film, Kind},
        posters::Found,
    },
    outgoing::{self, Unread},
    title::Title,
    words::Language,
};
use reqwest::{Client, RequestBuilder, StatusCode, header, redirect::Policy};
use serde::{Deserialize, de::DeserializeOwned};
use std::time::Duration;

/// The widths of a poster as TMDB names them, as [`Size`](crate::db::posters::Size) has them.
const WIDTHS: [&str; 2] = ["w154", "w342"];

/// The maximum length of a synopsis in characters.
const SYNOPSIS_CHARACTERS_MAX: usize = 5000;

/// The address of TMDB's API.
pub const TMDB_API: &str = "https://api.themoviedb.org/3";

/// The address of TMDB's pictures.
pub const TMDB_IMAGES: &str = "https://image.tmdb.org/t/p";

/// Where TMDB is, and the key to it.
#[derive(Clone, Debug)]
pub struct TmdbConfig {
    /// The key: an API key or an API read access token.
    pub key: String,
    /// The address of the API.
    pub api: String,
    /// The address of the pictures.
    pub images: String,
}

/// Why a film could not be asked for.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The key is wrong.
    #[error("TMDB refuses the key ({0})")]
    Key(StatusCode),
    /// Too many requests.
    #[error("TMDB asks to wait for {} s", .0.as_secs())]
    Wait(Duration),
    /// No answer.
    #[error("TMDB: {0}")]
    Failed(String),
    /// An answer about a film that is not understood.
    #[error("TMDB: {0}")]
    Odd(String),
}

impl From<reqwest::Error> for Refusal {
    fn from(error: reqwest::Error) -> Self {
        // The address may have the key in it.
        let error = error.without_url();
        let cause =
            std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
        Refusal::Failed(format!("{error}{cause}"))
    }
}

impl From<Unread> for Refusal {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Failed(error) => error.into(),
            Unread::Large(what) => Refusal::Odd(what),
        }
    }
}

/// A client of TMDB.
pub struct Tmdb {
    client: Client,
    config: TmdbConfig,
}

/// A film or a series in an answer. Series have other names for the same.
#[derive(Deserialize)]
struct Movie {
    id: u64,
    #[serde(default, alias = "name")]
    title: String,
    #[serde(default, alias = "original_name")]
    original_title: String,
    #[serde(default)]
    overview: String,
    #[serde(default, alias = "first_air_date")]
    release_date: Option<String>,
    #[serde(default)]
    poster_path: Option<String>,
}

#[derive(Deserialize)]
struct ByNumber {
    #[serde(default)]
    movie_results: Vec<Movie>,
    #[serde(default)]
    tv_results: Vec<Movie>,
}

/// What TMDB calls a kind in a path, and the year of it in a query.
fn names(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Film => ("movie", "year"),
        Kind::Series => ("tv", "first_air_date_year"),
    }
}

#[derive(Deserialize)]
struct ByTitle {
    results: Vec<Movie>,
}

impl Tmdb {
    /// Creates a client. It connects when it is asked.
    ///
    /// # Errors
    /// A text that says which setting is wrong.
    pub fn new(config: TmdbConfig) -> Result<Self, String> {
        let is_key = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if config.key.is_empty() || !config.key.chars().all(is_key) {
            return Err(
                "the key of TMDB has other characters than letters, digits, `-`, `_` and `.`"
                    .to_owned(),
            );
        }
        // A redirection could send the key elsewhere.
        let client = outgoing::client(Policy::none());
        Ok(Tmdb {
            client: client.map_err(|error| error.to_string())?,
            config,
        })
    }

    /// Asks for the poster of a film and its synopsis in each language. All are missing if TMDB doesn't know the film.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn find(&self, film: &Film) -> Result<Found, Refusal> {
        let Some(movie) = self.movie(film).await? else {
            return Ok(Found::default());
        };
        let (path, _) = names(film.facts.kind);
        let mut found = Found::default();
        for language in Language::ALL {
            let overview = match language {
                Language::English => movie.overview.clone(),
                _ => {
                    let path = format!("/{path}/{}", movie.id);
                    let query = [("language", language.tag())];
                    let movie: Option<Movie> = self.ask(&path, &query).await?;
                    movie.map(|movie| movie.overview).unwrap_or_default()
                }
            };
            let overview: String = overview
                .trim()
                .chars()
                .take(SYNOPSIS_CHARACTERS_MAX)
                .collect();
            if !overview.is_empty() {
                found.synopses.push((language, overview));
            }
        }
        if let Some(path) = movie.poster_path.filter(|path| is_path(path)) {
            let [small, large] =
                WIDTHS.map(|width| format!("{}/{width}{path}", self.config.images));
            found.pictures = match (self.picture(&small).await?, self.picture(&large).await?) {
                (Some(small), Some(large)) => Some([small, large]),
                _ => None,
            };
        }
        Ok(found)
    }

    /// The film by its IMDb number, or by its title and year.
    async fn movie(&self, film: &Film) -> Result<Option<Movie>, Refusal> {
        let english = Language::English.tag();
        let (kind, year_name) = names(film.facts.kind);
        if let Some(imdb) = film.facts.imdb {
            let path = format!("/find/tt{imdb:07}");
            let query = [("external_source", "imdb_id"), ("language", english)];
            let found: Option<ByNumber> = self.ask(&path, &query).await?;
            let results = found.map(|found| match film.facts.kind {
                Kind::Film => found.movie_results,
                Kind::Series => found.tv_results,
            });
            return Ok(results.and_then(|results| results.into_iter().next()));
        }
        // Without a year, a title is often that of several films.
        let Some(year) = film.facts.year.map(|year| year.to_string()) else {
            return Ok(None);
        };
        let query = [
            ("query", &*film.facts.title),
            (year_name, &*year),
            ("language", english),
        ];
        let found: Option<ByTitle> = self.ask(&format!("/search/{kind}"), &query).await?;
        let is_same = |movie: &Movie| {
            let titles = [&*movie.title, &*movie.original_title];
            let is_title = |title: &str| {
                film.facts
                    .titles()
                    .any(|own| Title::of(own).whole() == Title::of(title).whole())
            };
            let date = movie.release_date.as_deref().unwrap_or_default();
            date.starts_with(&year) && titles.into_iter().any(is_title)
        };
        let mut same = found
            .into_iter()
            .flat_map(|found| found.results)
            .filter(is_same);
        let first = same.next();
        Ok(first.filter(|_| same.next().is_none()))
    }

    /// Asks the API. Returns `None` for what isn't there.
    async fn ask<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Option<T>, Refusal> {
        let TmdbConfig { key, api, .. } = &self.config;
        let mut query = query.to_vec();
        // An API key has 32 hex digits; a token is longer.
        let is_token = key.len() != 32 || !key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_token {
            query.push(("api_key", key));
        }
        let query = serde_urlencoded::to_string(query);
        let query = query.map_err(|error| Refusal::Odd(error.to_string()))?;
        let mut request = self.client.get(format!("{api}{path}?{query}"));
        if is_token {
            request = request.bearer_auth(key);
        }
        let Some(answer) = answer(request).await? else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice(&answer);
        parsed
            .map(Some)
            .map_err(|error| Refusal::Odd(format!("its answer to {path}: {error}")))
    }

    /// Fetches a picture. What is none counts as missing.
    async fn picture(&self, url: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let bytes = answer(self.client.get(url)).await?;
        Ok(bytes.filter(|bytes| super::content_type(bytes).is_some()))
    }
}

/// Whether TMDB's path of a picture can be part of an address.
fn is_path(path: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    path.strip_prefix('/')
        .is_some_and(|name| !name.is_empty() && !name.starts_with('.') && name.chars().all(is_fine))
}

/// The body of an answer, or `None` if there is no such thing.
async fn answer(request: RequestBuilder) -> Result<Option<Vec<u8>>, Refusal> {
    let response = request.send().await?;
    let status = response.status();
    match status {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Ok(None),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return Err(Refusal::Key(status)),
        StatusCode::TOO_MANY_REQUESTS => {
            let after = response.headers().get(header::RETRY_AFTER);
            let seconds = after.and_then(|after| after.to_str().ok()?.parse().ok());
            return Err(Refusal::Wait(Duration::from_secs(seconds.unwrap_or(10))));
        }
        _ if status.is_server_error() => {
            return Err(Refusal::Failed(format!("it answered {status}")));
        }
        _ => return Err(Refusal::Odd(format!("it answered {status}"))),
    }
    Ok(Some(outgoing::body(response).await?))
}
