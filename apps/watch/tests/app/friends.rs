//! What friends see and do of each other: adding from a list, news, the feed, blocking, and films for an evening.

use crate::client::{Client, Site};
use axum::http::StatusCode;
use inorder_watch::db::{entries, news, tonight, users};

/// The text of the navigation's badge.
async fn badge(person: &mut Client) -> Option<String> {
    let page = person.get("/").await.text;
    let (_, rest) = page.split_once("<span class=\"badge\">")?;
    rest.split('<').next().map(str::to_owned)
}

#[tokio::test]
async fn a_film_of_a_friends_list_is_added_from_there() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = people[0]
        .add("alien", &[("priority", "5"), ("note", "mine")])
        .await;
    let page = people[1].get("/people/Anna").await.text;
    assert!(
        page.contains(&format!("action=\"/list/{film}/add\"")),
        "{page}"
    );
    let add = people[1]
        .post(
            "/people/Anna",
            &format!("/list/{film}/add"),
            &[("back", "/people/Anna?sort=title"), ("priority", "4")],
        )
        .await;
    let location = add.header("location").to_owned();
    assert!(
        location.starts_with("/people/Anna?sort=title&done=added&change="),
        "{location}"
    );
    let page = people[1].get(&location).await.text;
    for part in [
        "Added ",
        "Alien",
        "On your list",
        "Undo: Added Alien to your list.",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(!page.contains("/add\""), "it can be added twice");
    // The change of another user is not offered.
    let theirs = people[0]
        .get(&location.replace("/people/Anna", "/"))
        .await
        .text;
    assert!(!theirs.contains("action=\"/undo/"), "{theirs}");
}

#[tokio::test]
async fn news_are_counted_until_they_are_seen() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    let [anna, ben, cleo] = &mut people[..] else {
        unreachable!()
    };
    assert_eq!(badge(ben).await, None);
    anna.add("alien", &[("private", "on")]).await;
    assert_eq!(badge(ben).await, None, "a private entry is news");
    anna.add("jaws", &[]).await;
    anna.add("fargo", &[]).await;
    assert_eq!(badge(ben).await.as_deref(), Some("1"));
    assert_eq!(badge(cleo).await.as_deref(), Some("1"));
    let page = ben.get("/friends").await.text;
    assert!(page.contains("2 new films of Anna"), "{page}");
    assert_eq!(badge(ben).await, None);
    assert!(!ben.get("/friends").await.text.contains("new films of"));
    // A film that is taken off and put back by undoing is not new.
    let film = anna.film("jaws").await;
    let removed = anna.post("/", &format!("/list/{film}/remove"), &[]).await;
    let change = removed
        .header("location")
        .rsplit('=')
        .next()
        .unwrap()
        .to_owned();
    anna.post("/", &format!("/undo/{change}"), &[]).await;
    assert_eq!(badge(ben).await, None);
    // What is taken off before Ben has seen it is no news.
    anna.add("casablanca", &[]).await;
    assert_eq!(badge(ben).await.as_deref(), Some("1"));
    let film = anna.film("casablanca").await;
    anna.post("/", &format!("/list/{film}/remove"), &[]).await;
    assert_eq!(badge(ben).await, None);
    assert!(!ben.get("/friends").await.text.contains("new film"));
    // Neither is what is made private. Made public again it is news, until it is seen.
    anna.add("metropolis", &[]).await;
    let film = anna.film("metropolis").await;
    let save = format!("/list/{film}/save");
    let page = format!("/films/{film}");
    anna.post(&page, &save, &[("private", "on")]).await;
    assert_eq!(badge(ben).await, None);
    anna.post(&page, &save, &[]).await;
    assert_eq!(badge(ben).await.as_deref(), Some("1"));
    let friends = ben.get("/friends").await.text;
    assert!(friends.contains("1 new film of Anna"), "{friends}");
    assert_eq!(badge(ben).await, None);
    // A film that was private from the beginning is counted by the badge and on the page.
    anna.add("vertigo", &[("private", "on")]).await;
    assert_eq!(badge(ben).await, None);
    let film = anna.film("vertigo").await;
    anna.post(
        &format!("/films/{film}"),
        &format!("/list/{film}/save"),
        &[],
    )
    .await;
    assert_eq!(badge(ben).await.as_deref(), Some("1"));
    let friends = ben.get("/friends").await.text;
    assert!(friends.contains("1 new film of Anna"), "{friends}");
    // A request is news until it is answered.
    cleo.post("/friends", "/friends/request", &[("name", "Ben")])
        .await;
    assert_eq!(badge(ben).await.as_deref(), Some("1"));
    ben.get("/friends").await;
    assert_eq!(badge(ben).await.as_deref(), Some("1"));
    ben.post("/friends", "/friends/decline", &[("name", "Cleo")])
        .await;
    assert_eq!(badge(ben).await, None);
}

#[tokio::test]
async fn the_feed_has_what_friends_add_and_nothing_private() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    people[0].add("alien", &[("private", "on")]).await;
    people[0].add("jaws", &[("note", "secret words")]).await;
    people[0].api("GET", "/me", serde_json::Value::Null).await;
    let made = people[1].post("/friends", "/friends/feed", &[]).await;
    let page = people[1].get(made.header("location")).await.text;
    let (_, rest) = page.split_once("/feed/").expect("an address");
    let address = format!("/feed/{}", &rest[..40]);
    // A reader has no cookies.
    let mut reader = people[1].clone();
    reader.cookies.clear();
    let feed = reader.get(&address).await;
    assert_eq!(feed.status, StatusCode::OK);
    assert_eq!(
        feed.header("content-type"),
        "application/atom+xml; charset=utf-8"
    );
    assert!(
        feed.text
            .contains("<title>Anna wants to watch Jaws (1975)</title>"),
        "{}",
        feed.text
    );
    for private in ["Alien", "secret words"] {
        assert!(!feed.text.contains(private), "{}", feed.text);
    }
    assert!(
        !people[1].get("/friends").await.text.contains(&address),
        "it is shown twice"
    );
    // A film with a character that XML forbids, from before titles were checked for it.
    let title = "UPDATE film SET title = 'Jaws' || char(65534) || char(65535) || char(1) WHERE title = 'Jaws'";
    site.app
        .db()
        .write_now(|db| Ok(db.execute(title, [])?))
        .unwrap();
    let feed = reader.get(&address).await.text;
    assert!(
        feed.contains("Jaws") && !feed.contains(['\u{fffe}', '\u{ffff}', '\u{1}']),
        "{feed}"
    );
    // A new address ends the old one, and the end ends all.
    people[1].post("/friends", "/friends/feed", &[]).await;
    assert_eq!(reader.get(&address).await.status, StatusCode::NOT_FOUND);
    people[1].post("/friends", "/friends/feed/end", &[]).await;
    assert!(
        people[1]
            .get("/friends")
            .await
            .text
            .contains("Make an address")
    );
    assert_eq!(reader.get("/feed/x").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_blocked_user_reaches_nobody_and_is_not_told() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    let [anna, ben, cleo] = &mut people[..] else {
        unreachable!()
    };
    let block = |name: &'static str| [("name", name)];
    // Cleo and Ben are strangers: an answer would reveal that there is a Ben.
    let missing = cleo
        .post("/friends", "/friends/block", &block("Nobody"))
        .await;
    let stranger = cleo.post("/friends", "/friends/block", &block("Ben")).await;
    assert_eq!(stranger.status, missing.status);
    assert_eq!(stranger.status, StatusCode::NOT_FOUND);

    let done = anna.post("/friends", "/friends/block", &block("Ben")).await;
    assert_eq!(done.header("location"), "/friends?done=blocked");
    assert_eq!(ben.get("/people/Anna").await.status, StatusCode::NOT_FOUND);
    // Ben's request looks as any other to him.
    let asked = ben
        .post("/friends", "/friends/request", &block("Anna"))
        .await;
    assert_eq!(asked.header("location"), "/friends?done=requested");
    assert!(ben.get("/friends").await.text.contains("You have asked"));
    let page = anna.get("/friends").await.text;
    assert!(
        !page.contains("Requests for you") && page.contains("Unblock"),
        "{page}"
    );
    assert_eq!(badge(anna).await, None);
    let refused = anna
        .post("/friends", "/friends/request", &block("Ben"))
        .await;
    assert!(
        refused.text.contains("You have blocked <bdi>Ben</bdi>"),
        "{}",
        refused.text
    );

    // A request that was sent before disappears, and its sender still sees it.
    cleo.post("/friends", "/friends/request", &block("Ben"))
        .await;
    assert_eq!(badge(ben).await.as_deref(), Some("1"));
    ben.post("/friends", "/friends/block", &block("Cleo")).await;
    assert_eq!(badge(ben).await, None);
    assert!(cleo.get("/friends").await.text.contains("You have asked"));

    let done = anna
        .post("/friends", "/friends/unblock", &block("Ben"))
        .await;
    assert_eq!(done.header("location"), "/friends?done=unblocked");
    ben.post("/friends", "/friends/request", &block("Anna"))
        .await;
    assert!(anna.get("/friends").await.text.contains("Requests for you"));
    let blocked: i64 = site
        .app
        .db()
        .read(|db| Ok(db.query_row("SELECT count(*) FROM block", [], |row| row.get(0))?))
        .unwrap();
    assert_eq!(blocked, 1);
}

#[tokio::test]
async fn films_that_all_but_one_want_are_shown_and_not_picked() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    people[0].add("alien", &[("priority", "5")]).await;
    people[1].add("alien", &[("priority", "4")]).await;
    people[2].add("alien", &[("priority", "1")]).await;
    people[0].add("jaws", &[("priority", "2")]).await;
    people[2].add("jaws", &[("priority", "3")]).await;
    people[0].add("fargo", &[]).await;
    people[1].add("ran", &[("private", "on")]).await;
    people[0].add("ran", &[]).await;
    let path = "/tonight?with=Ben&with=Cleo";
    let page = people[0].get(&format!("{path}&pick=1")).await.text;
    let (before, after) = page.split_once("Missing on one list").expect("such films");
    assert!(before.contains("Alien") && before.contains("Pick again"));
    assert!(
        after.contains("Jaws") && after.contains("not on the list"),
        "{after}"
    );
    assert!(
        !after.contains("Fargo") && !after.contains("Ran"),
        "{after}"
    );
    assert!(
        !people[0]
            .get("/tonight?with=Ben")
            .await
            .text
            .contains("Missing on one list")
    );
}

/// The titles of the films that all want to watch, and of those that all but one want.
fn titles_for_tonight(site: &Site, wanted: &tonight::Wanted) -> (Vec<String>, Vec<String>) {
    let look = |db: &rusqlite::Connection| {
        let anna = users::by_name(db, "Anna")?;
        let others = [users::by_name(db, "Ben")?, users::by_name(db, "Cleo")?];
        let found = tonight::candidates(db, &anna, &others, wanted)?;
        let titles = |films: &[tonight::Candidate]| {
            let titles = films.iter().map(|c| c.film.facts.title.clone());
            titles.collect::<Vec<_>>()
        };
        let chances: f64 = found.all.iter().map(|c| c.chance).sum();
        assert!(
            found.all.is_empty() || (chances - 1.0).abs() < 1e-9,
            "{chances}"
        );
        Ok((titles(&found.all), titles(&found.nearly)))
    };
    site.app.db().read(look).unwrap()
}

#[tokio::test]
async fn films_for_an_evening_are_of_a_genre_and_a_running_time() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    for person in &mut people {
        person.add("alien", &[]).await;
    }
    people[0].add("jaws", &[]).await;
    people[2].add("jaws", &[]).await;
    let of = |genre: Option<&str>, minutes_max| {
        let genre = genre.map(str::to_owned);
        titles_for_tonight(
            &site,
            &tonight::Wanted {
                genre,
                minutes_max,
                kind: None,
            },
        )
    };
    let (alien, jaws) = (vec!["Alien".to_owned()], vec!["Jaws".to_owned()]);
    assert_eq!(of(None, None), (alien.clone(), jaws.clone()));
    assert_eq!(of(Some("Horror"), None).0, alien);
    assert_eq!(of(Some("No such"), None), (vec![], vec![]));
    // The films of a new server have running times.
    assert_eq!(of(None, Some(120)), (alien.clone(), vec![]));
    assert_eq!(of(None, Some(124)), (alien, jaws));
    // Films of unknown running time are left out.
    let forget = "UPDATE film SET minutes = NULL";
    let forget = |db: &rusqlite::Connection| Ok(db.execute(forget, [])?);
    assert_eq!(site.app.db().write_now(forget).unwrap(), 120);
    assert_eq!(of(None, Some(124)), (vec![], vec![]));
    let bad = people[0].get("/tonight?with=Ben&minutes=long").await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[test]
fn what_was_added_before_an_upgrade_is_not_news() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    inorder_sqlite::register(&old).unwrap();
    old.execute_batch(include_str!("../schemas/2.sql")).unwrap();
    drop(old);
    let db = inorder_watch::db::Database::open(&path).unwrap();
    db.write_now(|db| {
        assert_eq!(news::count(db, 1)?, 0);
        entries::put(db, 2, 1, entries::State::default())?;
        assert_eq!((news::count(db, 1)?, news::count(db, 2)?), (1, 0));
        assert_eq!(news::of_friends(db, 1, 0)?, [(2, 1)]);
        Ok(())
    })
    .unwrap();
}

#[tokio::test]
async fn a_film_is_added_from_the_list_of_a_friend_whose_name_is_not_ascii() {
    let (_site, mut people) = Site::with_people(&["Anna", "Zoë"]).await;
    let film = people[1].add("Alien", &[]).await;
    let friends = people[0].get("/friends").await.text;
    assert!(friends.contains("href=\"/people/Zo%C3%AB\""), "{friends}");
    let list = people[0].get("/people/Zo%C3%AB").await;
    let back = list.field("back");
    let fields = [("back", &back[..]), ("priority", "3")];
    let path = format!("/list/{film}/add");
    let added = people[0].post("/people/Zo%C3%AB", &path, &fields).await;
    let to = added.header("location");
    assert!(to.starts_with("/people/Zo%C3%AB?done="), "{to}");
}

#[tokio::test]
async fn one_person_picks_a_film_of_the_own_list() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    anna.add("alien", &[("priority", "5"), ("private", "on")])
        .await;
    anna.add("fargo", &[("watched", "on")]).await;
    let page = anna.get("/tonight").await.text;
    assert!(
        page.contains("id=\"pick\"") && !page.contains("Alien"),
        "{page}"
    );
    let page = anna.get("/tonight?pick=1&genre=&minutes=&kind=").await.text;
    assert!(
        page.contains("id=\"picked\"") && page.contains("Alien") && !page.contains("Fargo"),
        "{page}"
    );
    let none = anna.get("/tonight?kind=series").await.text;
    assert!(none.contains("No film of your list"), "{none}");
    anna.make_token().await;
    let told = anna
        .api("GET", "/tonight", serde_json::Value::Null)
        .await
        .json();
    assert_eq!(told["films"].as_array().map(Vec::len), Some(1));
    assert_eq!(told["films"][0]["chance"], 1.0);
}
