//! Posters and synopses: what a stand-in of TMDB on this machine is asked, and what the pages show of it.
//!
//! The answers have the members that TMDB documents (<https://developer.themoviedb.org/reference>). The service itself is not
//! asked: that takes a key.

use crate::client::{Client, Site};
use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use inorder_watch::{
    date::now_ms,
    db::{
        films::{self, Facts, Kind},
        posters::{self, Among},
    },
    posters::{Fetcher, Refusal, TmdbConfig},
    request::Config,
    words::Language,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// An API read access token has more than 32 characters.
const TOKEN: &str = "a-token-as-long-as-those-that-tmdb-gives-to-people";

/// What begins a picture of JPEG, and something that tells two apart.
fn picture(name: &str) -> Vec<u8> {
    [&[0xff, 0xd8, 0xff, 0xe0][..], name.as_bytes()].concat()
}

/// A stand-in of TMDB.
#[derive(Clone, Default)]
struct Tmdb(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    asked: Vec<String>,
    /// What is answered in place of everything else.
    refuses: Option<StatusCode>,
    /// The path of the poster of *Alien*.
    poster: Value,
    /// What happens when the first picture is asked for.
    on_picture: Option<Box<dyn FnOnce() + Send>>,
}

impl Tmdb {
    async fn start() -> (Self, TmdbConfig) {
        let tmdb = Tmdb::default();
        tmdb.0.lock().unwrap().poster = json!("/alien.jpg");
        let routes = Router::new()
            .route("/3/find/{number}", get(find))
            .route("/3/search/movie", get(search))
            .route("/3/search/tv", get(search_series))
            .route("/3/movie/{id}", get(movie))
            .route("/3/tv/{id}", get(one_series))
            .route("/t/p/{width}/{name}", get(image))
            .with_state(tmdb.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, routes).await });
        let config = TmdbConfig {
            key: TOKEN.to_owned(),
            api: format!("{address}/3"),
            images: format!("{address}/t/p"),
        };
        (tmdb, config)
    }

    /// What was asked since the last look.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().asked)
    }

    fn refuse(&self, status: Option<StatusCode>) {
        self.0.lock().unwrap().refuses = status;
    }

    /// Notes a request. Returns the refusal if it is refused.
    fn note(&self, headers: &HeaderMap, what: String, key: Option<&String>) -> Option<Response> {
        let mut known = self.0.lock().unwrap();
        known.asked.push(what);
        let bearer = headers.get(header::AUTHORIZATION);
        let has_token = bearer.is_some_and(|bearer| bearer == &format!("Bearer {TOKEN}"));
        if !has_token && key.is_none_or(|key| key != &"a1".repeat(16)) {
            return Some(StatusCode::UNAUTHORIZED.into_response());
        }
        known.refuses.map(|status| match status {
            StatusCode::TOO_MANY_REQUESTS => (status, [(header::RETRY_AFTER, "7")]).into_response(),
            status => status.into_response(),
        })
    }

    fn alien(&self) -> Value {
        let poster = self.0.lock().unwrap().poster.clone();
        json!({
            "id": 348, "title": "Alien", "original_title": "Alien", "overview": "A ship answers a call <at night>.",
            "poster_path": poster, "release_date": "1979-05-25", "adult": false, "vote_average": 8.2,
        })
    }
}

type Given = Query<BTreeMap<String, String>>;

async fn find(
    State(tmdb): State<Tmdb>,
    Path(number): Path<String>,
    Query(given): Given,
    headers: HeaderMap,
) -> Response {
    let refusal = tmdb.note(&headers, format!("find {number}"), given.get("api_key"));
    assert_eq!(given["external_source"], "imdb_id");
    let (mut films, mut series) = (vec![], vec![]);
    match number.as_str() {
        "tt0078748" => films.push(tmdb.alien()),
        "tt5753856" => series.push(dark()),
        "tt0000666" => return Json(json!({"movie_results": "none"})).into_response(),
        _ => {}
    }
    let found = json!({"movie_results": films, "person_results": [], "tv_results": series});
    refusal.unwrap_or_else(|| Json(found).into_response())
}

fn dark() -> Value {
    json!({
        "id": 70523, "name": "Dark", "original_name": "Dark", "overview": "A child is missing.", "media_type": "tv",
        "poster_path": "/dark.jpg", "first_air_date": "2017-12-01", "origin_country": ["DE"], "vote_average": 8.4,
    })
}

async fn search_series(
    State(tmdb): State<Tmdb>,
    Query(given): Given,
    headers: HeaderMap,
) -> Response {
    let what = format!(
        "search series {} {}",
        given["query"], given["first_air_date_year"]
    );
    let refusal = tmdb.note(&headers, what, given.get("api_key"));
    let found = json!({"page": 1, "results": [dark()]});
    refusal.unwrap_or_else(|| Json(found).into_response())
}

async fn one_series(
    State(tmdb): State<Tmdb>,
    Path(id): Path<u64>,
    Query(given): Given,
    headers: HeaderMap,
) -> Response {
    let what = format!("series {id} {}", given["language"]);
    let refusal = tmdb.note(&headers, what, given.get("api_key"));
    let german = json!({"id": id, "overview": "Ein Kind fehlt."});
    refusal.unwrap_or_else(|| Json(german).into_response())
}

async fn search(State(tmdb): State<Tmdb>, Query(given): Given, headers: HeaderMap) -> Response {
    let what = format!("search {} {}", given["query"], given["year"]);
    let refusal = tmdb.note(&headers, what, given.get("api_key"));
    let other = json!({"id": 2, "title": "Alien Nation", "release_date": "1979-01-01", "overview": "Another."});
    let later =
        json!({"id": 3, "title": "Alien", "release_date": "2003-01-01", "overview": "Later."});
    let found = json!({"page": 1, "results": [other, later, tmdb.alien()]});
    refusal.unwrap_or_else(|| Json(found).into_response())
}

async fn movie(
    State(tmdb): State<Tmdb>,
    Path(id): Path<u64>,
    Query(given): Given,
    headers: HeaderMap,
) -> Response {
    let what = format!("movie {id} {}", given["language"]);
    let refusal = tmdb.note(&headers, what, given.get("api_key"));
    let german = json!({"id": id, "overview": "Ein Schiff folgt einem Ruf."});
    refusal.unwrap_or_else(|| Json(german).into_response())
}

/// Pictures take no key.
async fn image(State(tmdb): State<Tmdb>, Path((width, name)): Path<(String, String)>) -> Vec<u8> {
    let what = format!("{width} {name}");
    let happens = {
        let mut known = tmdb.0.lock().unwrap();
        known.asked.push(what.clone());
        known.on_picture.take()
    };
    happens.into_iter().for_each(|happens| happens());
    match name.as_str() {
        "page.jpg" => b"<html>".to_vec(),
        _ => picture(&what),
    }
}

async fn site(config: TmdbConfig) -> (Site, Client, Fetcher) {
    let settings = Config {
        fetches_posters: true,
        ..Config::default()
    };
    let (site, mut people) = Site::with_people_and(settings, &["anna"]).await;
    let wanted = Arc::clone(site.app.posters_wanted());
    let fetcher = Fetcher::new(site.app.db(), config, wanted).unwrap();
    (site, people.remove(0), fetcher)
}

/// Adds a film, with or without its number. Returns its number here and its address.
async fn film(site: &Site, title: &str, year: i64, imdb: Option<i64>) -> (i64, String) {
    let facts = Facts {
        title: title.to_owned(),
        year: Some(year),
        imdb,
        ..Facts::default()
    };
    let add = site.app.db().write(move |db| {
        let number = films::insert(db, &facts, None)?;
        Ok((number, films::by_number(db, number)?.id))
    });
    let (number, id) = add.await.unwrap();
    (number, format!("/films/{id}"))
}

async fn round(fetcher: &Fetcher, number: i64, after_days: i64) -> Result<usize, Refusal> {
    let among = Among::These(vec![number]);
    fetcher.round(&among, now_ms() + after_days * DAY_MS).await
}

#[tokio::test]
async fn a_film_by_its_number_gets_its_poster_and_synopses() {
    let (tmdb, config) = Tmdb::start().await;
    let (site, mut anna, fetcher) = site(config).await;
    let (number, address) = film(&site, "Alien (cut)", 1979, Some(78748)).await;
    let before = anna.get(&address).await;
    assert!(!before.text.contains("/posters/"), "{}", before.text);
    // The page asked for it.
    assert_eq!(site.app.posters_wanted().next().await, [number]);
    assert_eq!(round(&fetcher, number, 0).await.unwrap(), 1);
    let all = [
        "find tt0078748",
        "movie 348 de",
        "w154 alien.jpg",
        "w342 alien.jpg",
    ];
    assert_eq!(tmdb.take(), all);

    let page = anna.get(&address).await;
    assert!(
        page.text
            .contains("A ship answers a call &lt;at night&gt;."),
        "{}",
        page.text
    );
    assert!(page.text.contains("not endorsed or certified by TMDB"));
    anna.language = Some("de".to_owned());
    assert!(
        anna.get(&address)
            .await
            .text
            .contains("Ein Schiff folgt einem Ruf.")
    );
    let (_, rest) = page.text.split_once("<img src=\"/posters/").unwrap();
    let small = &*format!("/posters/{}", rest.split('"').next().unwrap());
    let large = small.replace("/small?", "/large?");
    assert!(
        page.text.contains(&format!("{large} 342w")),
        "{}",
        page.text
    );
    for (address, width) in [(small, "w154"), (&large, "w342")] {
        let picture_answer = anna.get(address).await;
        assert_eq!(picture_answer.bytes, picture(&format!("{width} alien.jpg")));
        assert_eq!(picture_answer.header("content-type"), "image/jpeg");
        assert_eq!(
            picture_answer.header("cache-control"),
            "private, max-age=31536000, immutable"
        );
        // Only users see them.
        let answer = site.visitor().get(address).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
    }
    let found = anna.get("/films?q=alien+(cut)").await;
    assert!(found.text.contains(small), "{}", found.text);

    // It is asked for again when it is old, and then what is gone goes here too.
    assert_eq!(round(&fetcher, number, 149).await.unwrap(), 0);
    tmdb.0.lock().unwrap().poster = Value::Null;
    assert_eq!(round(&fetcher, number, 151).await.unwrap(), 1);
    let page = anna.get(&address).await;
    assert!(!page.text.contains("/posters/") && page.text.contains("Ein Schiff"));
    assert_eq!(anna.get(small).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_series_is_asked_for_as_one() {
    let (tmdb, config) = Tmdb::start().await;
    let (site, mut anna, fetcher) = site(config).await;
    for (title, imdb, asked) in [
        ("Dark (series)", Some(5_753_856), "find tt5753856"),
        ("Dark", None, "search series Dark 2017"),
    ] {
        let facts = Facts {
            kind: Kind::Series,
            title: title.to_owned(),
            year: Some(2017),
            imdb,
            ..Facts::default()
        };
        let add = site.app.db().write(move |db| {
            let number = films::insert(db, &facts, None)?;
            Ok((number, films::by_number(db, number)?.id))
        });
        let (number, id) = add.await.unwrap();
        assert_eq!(round(&fetcher, number, 0).await.unwrap(), 1);
        let all = [asked, "series 70523 de", "w154 dark.jpg", "w342 dark.jpg"];
        assert_eq!(tmdb.take(), all);
        let page = anna.get(&format!("/films/{id}")).await.text;
        assert!(page.contains("A child is missing.") && page.contains("<img src=\"/posters/"));
    }
}

#[tokio::test]
async fn a_film_without_a_number_is_found_by_title_and_year() {
    let (tmdb, config) = Tmdb::start().await;
    let (site, _anna, fetcher) = site(config).await;
    let (number, _) = film(&site, "ALIEN", 1979, None).await;
    assert_eq!(round(&fetcher, number, 0).await.unwrap(), 1);
    assert_eq!(tmdb.take()[..2], ["search ALIEN 1979", "movie 348 de"]);
    // No result has this title and year.
    let (number, address) = film(&site, "Aliens", 1980, None).await;
    assert_eq!(round(&fetcher, number, 0).await.unwrap(), 1);
    assert_eq!(tmdb.take(), ["search Aliens 1980"]);
    let has_poster = |number| {
        site.app
            .db()
            .read(|db| Ok(films::by_number(db, number)?.poster_ms.is_some()))
    };
    assert!(!has_poster(number).unwrap(), "{address}");
    // It is not asked for again soon.
    assert_eq!(round(&fetcher, number, 29).await.unwrap(), 0);
    assert_eq!(round(&fetcher, number, 31).await.unwrap(), 1);
}

#[tokio::test]
async fn films_on_lists_are_fetched_and_others_only_when_somebody_looks() {
    let (tmdb, config) = Tmdb::start().await;
    let (site, mut anna, fetcher) = site(config).await;
    let (_, address) = film(&site, "Alien (cut)", 1979, Some(78748)).await;
    assert_eq!(fetcher.round(&Among::Lists, now_ms()).await.unwrap(), 0);
    let id = address.rsplit('/').next().unwrap();
    let answer = anna
        .post(&address, &format!("/list/{id}/save"), &[("priority", "3")])
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    assert_eq!(fetcher.round(&Among::Lists, now_ms()).await.unwrap(), 1);
    assert_eq!(tmdb.take()[0], "find tt0078748");
    assert!(anna.get("/").await.text.contains("<img src=\"/posters/"));
}

#[tokio::test]
async fn who_looks_at_every_film_does_not_fill_the_disk() {
    let (_tmdb, config) = Tmdb::start().await;
    let (site, mut anna, fetcher) = site(config).await;
    let (number, address) = film(&site, "Alien (cut)", 1979, Some(78748)).await;
    let fill = site.app.db().write(|db| {
        db.execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
             INSERT INTO film(title) SELECT 'film ' || i FROM n;
             INSERT INTO poster SELECT number, 1, NULL, NULL FROM film WHERE title LIKE 'film %';",
        )?;
        Ok(())
    });
    fill.await.unwrap();
    assert_eq!(round(&fetcher, number, 0).await.unwrap(), 0);
    let id = address.rsplit('/').next().unwrap();
    let save = format!("/list/{id}/save");
    anna.post(&address, &save, &[("priority", "3")]).await;
    let lists = fetcher.round(&Among::Lists, now_ms()).await;
    assert_eq!(lists.unwrap(), 1);
}

#[tokio::test]
async fn what_is_wrong_is_told_and_tried_again() {
    let (tmdb, config) = Tmdb::start().await;
    let (site, _anna, fetcher) = site(config.clone()).await;
    let (number, _) = film(&site, "Alien (cut)", 1979, Some(78748)).await;
    let is_said = |refusal: Refusal, said: &str| assert_eq!(refusal.to_string(), said);
    tmdb.refuse(Some(StatusCode::TOO_MANY_REQUESTS));
    is_said(
        round(&fetcher, number, 0).await.unwrap_err(),
        "TMDB asks to wait for 7 s",
    );
    tmdb.refuse(Some(StatusCode::BAD_GATEWAY));
    is_said(
        round(&fetcher, number, 0).await.unwrap_err(),
        "TMDB: it answered 502 Bad Gateway",
    );
    tmdb.refuse(None);
    let other = |key: &str| TmdbConfig {
        key: key.to_owned(),
        ..config.clone()
    };
    let with = |config| Fetcher::new(site.app.db(), config, Arc::default());
    let wrong = with(other("wrong")).unwrap();
    is_said(
        round(&wrong, number, 0).await.unwrap_err(),
        "TMDB refuses the key (401 Unauthorized)",
    );
    let error = with(other("a key")).err().unwrap();
    assert!(
        error.starts_with("the key of TMDB has other characters"),
        "{error}"
    );
    let gone = TmdbConfig {
        api: "http://127.0.0.1:1/3".to_owned(),
        ..other(&"b2".repeat(16))
    };
    let refusal = round(&with(gone).unwrap(), number, 0)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refusal.starts_with("TMDB: ") && !refusal.contains("b2b2"),
        "{refusal}"
    );
    // After all that, with the other kind of key.
    let fetcher = with(other(&"a1".repeat(16))).unwrap();
    assert_eq!(round(&fetcher, number, 0).await.unwrap(), 1);
}

#[tokio::test]
async fn a_poster_of_before_a_restore_is_no_other_films() {
    let (_tmdb, config) = Tmdb::start().await;
    let (site, _anna, _) = site(config).await;
    let (number, _) = film(&site, "Alien (cut)", 1979, Some(78748)).await;
    let found = posters::Found {
        pictures: Some([picture("small"), picture("large")]),
        synopses: vec![(Language::English, "A ship answers a call.".to_owned())],
    };
    // A restored backup has another film of this number, or the same film with other facts.
    for change in [
        "UPDATE film SET id = ulid(), title = 'Fargo', year = 1996, imdb = 116282 WHERE number = ?1",
        "UPDATE film SET imdb = 116283 WHERE number = ?1",
        "UPDATE film SET title = 'Jaws' WHERE number = ?1",
        "UPDATE film SET year = 1975 WHERE number = ?1",
        "UPDATE film SET is_series = 1 WHERE number = ?1",
    ] {
        let found = found.clone();
        let kept = site.app.db().write(move |db| {
            let asked = films::by_number(db, number)?;
            db.execute(change, [number])?;
            posters::keep(db, &asked, 1, &found)?;
            let sql = "SELECT (SELECT count(*) FROM poster) + (SELECT count(*) FROM synopsis)";
            Ok(db.query_row(sql, [], |row| row.get::<_, i64>(0))?)
        });
        assert_eq!(kept.await.unwrap(), 0, "{change}");
    }
    let kept = site.app.db().write(move |db| {
        let asked = films::by_number(db, number)?;
        posters::keep(db, &asked, 1, &found)?;
        Ok(films::by_number(db, number)?.poster_ms)
    });
    assert_eq!(kept.await.unwrap(), Some(1));
}

#[tokio::test]
async fn a_backup_that_is_restored_while_tmdb_answers_gets_no_poster() {
    let (tmdb, config) = Tmdb::start().await;
    let (site, _anna, fetcher) = site(config).await;
    let (number, address) = film(&site, "Alien (cut)", 1979, Some(78748)).await;
    let db = site.app.db().clone();
    // What a restore does to the number.
    tmdb.0.lock().unwrap().on_picture = Some(Box::new(move || {
        let change = "UPDATE film SET id = ulid(), title = 'Fargo', imdb = NULL WHERE number = ?1";
        db.write_now(move |db| Ok(db.execute(change, [number])?))
            .unwrap();
    }));
    assert_eq!(round(&fetcher, number, 0).await.unwrap(), 1, "{address}");
    let film = site.app.db().read(|db| films::by_number(db, number));
    let film = film.unwrap();
    assert_eq!((film.facts.title.as_str(), film.poster_ms), ("Fargo", None));
}

#[tokio::test]
async fn an_odd_answer_is_that_of_a_film_without_a_poster() {
    let (tmdb, config) = Tmdb::start().await;
    let (site, mut anna, fetcher) = site(config).await;
    let (odd, _) = film(&site, "The Omen", 1976, Some(666)).await;
    assert_eq!(round(&fetcher, odd, 0).await.unwrap(), 1);
    assert_eq!(round(&fetcher, odd, 0).await.unwrap(), 0);
    for poster in [
        json!("/page.jpg"),
        json!("//elsewhere/x.jpg"),
        json!("/../x.jpg"),
        json!(""),
    ] {
        tmdb.0.lock().unwrap().poster = poster;
        let (number, address) = film(&site, "Alien (cut)", 1979, None).await;
        let set = site.app.db().write(move |db| {
            db.execute("UPDATE film SET imdb = NULL", [])?;
            films::set_imdb(db, number, 78748)
        });
        set.await.unwrap();
        assert_eq!(round(&fetcher, number, 0).await.unwrap(), 1);
        let page = anna.get(&address).await;
        assert!(
            !page.text.contains("/posters/") && page.text.contains("A ship answers"),
            "{}",
            page.text
        );
    }
}
