//! Languages: which one a page is in, and that all text of all pages comes from the catalogues.
//!
//! A browser that asks for `en-XA` gets the text of the catalogue in brackets, and arguments outside of them. Everything that users
//! wrote here is in another script. So a Latin letter outside of brackets is text that can't be translated.

use crate::{
    client::{Answer, Client, PASSWORD, Site},
    forms::routes,
    imports,
};
use inorder_key::{TimeId, Ulid};
use inorder_watch::{
    db::{Database, films, passkeys, posters},
    passkeys::Credential,
    request::{App, Config},
    words::Language,
};
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};

/// Elements without an end.
const VOID: [&str; 6] = ["br", "hr", "img", "input", "link", "meta"];

/// Attributes that users see or hear.
const SPOKEN: [&str; 6] = [
    "alt",
    "aria-description",
    "aria-label",
    "label",
    "placeholder",
    "title",
];

/// The text without what is between brackets.
fn outside(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0u32;
    for c in text.chars() {
        match c {
            '⟦' => depth += 1,
            '⟧' => depth -= 1,
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    assert_eq!(depth, 0, "brackets are open: {text}");
    out
}

fn is_foreign(text: &str) -> bool {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    outside(&text).contains(|c: char| c.is_ascii_alphabetic())
}

/// The attributes of a tag.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut attributes = Vec::new();
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once("=\"") {
        let name = before.rsplit([' ', '\n']).next().unwrap();
        let (value, after) = after.split_once('"').unwrap();
        assert!(!value.contains('<'), "markup in an attribute: {tag}");
        attributes.push((name, value));
        rest = after;
    }
    attributes
}

/// The texts of a page that come from no catalogue. What is marked as of another language, such as the name of a language in
/// itself, is left out, and so is code.
fn foreign(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Each open element, and whether its text is left out.
    let mut open: Vec<(&str, bool)> = Vec::new();
    let mut rest = page.split_once("<html").map_or(page, |(_, rest)| rest);
    rest = rest.split_once('>').unwrap().1;
    while let Some((text, after)) = rest.split_once('<') {
        let is_left_out = open.last().is_some_and(|(_, is_left_out)| *is_left_out);
        if !is_left_out && is_foreign(text) {
            found.push(text.to_owned());
        }
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            if name != "html" {
                assert_eq!(open.pop().map(|(name, _)| name), Some(name), "{page}");
            }
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        let attributes = attributes(tag);
        let has = |name: &str| attributes.iter().any(|(other, _)| *other == name);
        let is_code = matches!(name, "code" | "script" | "id" | "updated") || has("lang");
        let is_left_out = is_left_out || is_code;
        for (name, value) in &attributes {
            if SPOKEN.contains(name) && !is_left_out && is_foreign(value) {
                found.push(format!("{name}: {value}"));
            }
        }
        if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push((name, is_left_out));
        }
    }
    assert!(open.is_empty(), "{open:?}");
    found
}

fn assert_translated(address: &str, answer: &Answer) {
    let foreign = foreign(&answer.text);
    assert!(foreign.is_empty(), "{address}: {foreign:?}");
    assert!(answer.text.contains('⟦'), "{address}: {}", answer.text);
}

#[test]
fn text_that_is_in_no_catalogue_is_found() {
    let page =
        |body: &str| format!("<!DOCTYPE html><html lang=\"en-XA\"><body>{body}</body></html>");
    for fine in [
        "<p>⟦Added ⟧<bdi>Сталкер</bdi>⟦ to your list.⟧</p>",
        "<p>7 / 10</p><img alt=\"\"><br>",
        "<option lang=\"de\">Deutsch</option><code>curl</code>",
        "<a title=\"⟦Edit ⟧Сталкер\">⟦Edit⟧</a>",
    ] {
        assert_eq!(foreign(&page(fine)), Vec::<String>::new());
    }
    for bad in [
        "<p>Added</p>",
        "<p>⟦Added ⟧Alien⟦ to your list.⟧</p>",
        "<p>⟦Private⟧ <small>only you</small></p>",
        "<a title=\"Edit\">⟦Edit⟧</a>",
        "<input placeholder=\"x\">",
        "<p lang=\"de\">Deutsch</p><p>English</p>",
    ] {
        assert_eq!(foreign(&page(bad)).len(), 1, "{bad}");
    }
}

/// A server without films, whose users ask for the language in brackets.
async fn site() -> (Site, Vec<Client>) {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::open(&folder.path().join("watch.db")).unwrap();
    let config = Config {
        sends_mail: true,
        site: Some(inorder_watch::passkeys::Site::parse("https://watch.example").unwrap()),
        ..Config::default()
    };
    let app = App::new(db, config).unwrap();
    let site = Site { app, folder };
    let mut owner = site.visitor();
    owner.language = Some("en-XA".to_owned());
    assert_translated("/setup", &owner.get("/setup").await);
    let wrong = [
        ("code", "x"),
        ("name", "Анна"),
        ("password", PASSWORD),
        ("sign_up", "open"),
    ];
    assert_translated("/setup", &owner.post("/setup", "/setup", &wrong).await);
    owner.set_up(&site, "Анна").await;
    let mut people = vec![owner];
    for name in ["Борис", "Вера", "Глеб"] {
        let invitation = people[0].invitation().await;
        let mut guest = people[0].clone_signed_out();
        let page = format!("/invitation/{invitation}");
        assert_translated(&page, &guest.get(&page).await);
        let answer = guest.sign_up(&invitation, name).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        people.push(guest);
    }
    (site, people)
}

/// Sends a form with a token that was on a page before.
async fn send(client: &mut Client, token: &str, address: &str, fields: &[(&str, &str)]) -> Answer {
    let mut all = vec![("token", token)];
    all.extend(fields);
    let answer = client.post_as_is(address, &all).await;
    assert_eq!(answer.status, 303, "{address}: {}", answer.text);
    answer
}

/// Adds a film, and returns its id.
async fn film(client: &mut Client, token: &str, title: &str, year: &str) -> String {
    let fields = [
        ("title", title),
        ("original", "Образец"),
        ("year", year),
        ("minutes", "90"),
        ("people", "Вера, Глеб"),
        ("genres", "Драма, Комедия"),
    ];
    let answer = send(client, token, "/films/new", &fields).await;
    answer.header("location")["/films/".len()..].to_owned()
}

/// Fills the server, so that each part of each page is there.
async fn fill(people: &mut [Client]) -> Vec<String> {
    let mut tokens = Vec::new();
    for client in &mut *people {
        tokens.push(client.get("/account").await.field("token"));
    }
    let mut films = Vec::new();
    for at in 0..70 {
        let title = format!("{} {at}", ["Сталкер", "Солярис", "Зеркало"][at % 3]);
        films.push(film(&mut people[0], &tokens[0], &title, "1979").await);
    }
    let save = |film: &str| format!("/list/{film}/save");
    for (at, film) in films.iter().enumerate().take(30) {
        let priority = (at % 5 + 1).to_string();
        let fields = [
            ("priority", priority.as_str()),
            ("note", "Заметка"),
            ("tags", "Осень, Зима"),
        ];
        send(&mut people[0], &tokens[0], &save(film), &fields).await;
        if at < 8 {
            let other = save(&films[at + 2]);
            let with_tags = [fields[0], fields[2]];
            send(&mut people[1], &tokens[1], &other, &with_tags).await;
            send(&mut people[2], &tokens[2], &save(film), &fields[..1]).await;
        }
    }
    for film in &films[30..34] {
        let fields = [
            ("watched", "1"),
            ("watched_on", "2024-02-29"),
            ("rating", "9"),
            ("earlier", "2023-01-01, 2022-12-31"),
            ("private", "1"),
        ];
        send(&mut people[0], &tokens[0], &save(film), &fields).await;
        send(&mut people[1], &tokens[1], &save(film), &fields[..4]).await;
    }
    for at in 0..2 {
        let shared = [("tag", "Осень"), ("shared", "1")];
        send(&mut people[at], &tokens[at], "/list/share", &shared).await;
    }
    conflict(&mut people[0], &films).await;
    for (at, address, name) in [
        (0, "/friends/block", "Глеб"),
        (0, "/friends/request", "Дарья"),
        (1, "/friends/request", "Вера"),
    ] {
        send(&mut people[at], &tokens[at], address, &[("name", name)]).await;
    }
    films
}

/// Has two devices change all fields of a film, and one of them take a film off.
async fn conflict(client: &mut Client, films: &[String]) {
    client.make_token().await;
    let id = |at: u64| {
        Ulid::from_parts(Ulid::now().ms() + at, 7)
            .unwrap()
            .to_string()
    };
    let sets = [
        json!({"note": "Один", "priority": 1, "public": false, "tags": [], "place": 1.0, "watched": {"watched": true, "watched_on": "2024-01-01", "earlier": [], "rating": 3}}),
        json!({"note": null, "priority": 2, "public": true, "tags": ["Лето"], "place": 2.0, "watched": {"watched": false, "watched_on": null, "earlier": [], "rating": null}}),
        json!({"listed": false}),
    ];
    let known = client.get("/sync").await.json();
    let versions = |film: &str| {
        let all = known["films"].as_array().unwrap();
        let found = all.iter().find(|known| known["film"] == film);
        found.unwrap()["versions"].clone()
    };
    let mut operations = Vec::new();
    for (at, set) in sets.iter().enumerate() {
        for film in &films[5..7] {
            let id = id(1000 * (at as u64 + 1) + operations.len() as u64);
            operations.push(json!({"id": id, "film": film, "set": set, "base": versions(film)}));
        }
    }
    let told = client
        .api("POST", "/sync", json!({"operations": operations}))
        .await;
    assert_eq!(told.status, 200, "{}", told.text);
}

/// The addresses of this site that a page links to.
fn links(page: &str) -> Vec<String> {
    let links = page.split(" href=\"").skip(1);
    let links = links.map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
    let is_page = |link: &String| {
        let path = link.split('?').next().unwrap();
        link.starts_with('/') && !link.starts_with("/assets/") && !path.contains('.')
    };
    links.filter(is_page).collect()
}

/// Follows all links from these addresses. Of pages of a list, of films and of people some are enough.
async fn crawl(client: &mut Client, from: &[&str], seen: &mut BTreeSet<String>) {
    let mut waiting: VecDeque<String> = from.iter().map(|address| (*address).to_owned()).collect();
    let mut asked = BTreeSet::new();
    while let Some(address) = waiting.pop_front() {
        if asked.len() > 60 || !asked.insert(address.clone()) {
            continue;
        }
        let answer = client.get(&address).await;
        if answer.status.is_redirection() {
            continue;
        }
        if answer.header("content-type").starts_with("text/html") {
            assert_translated(&address, &answer);
            let path = address.split(['?', '#']).next().unwrap().to_owned();
            seen.insert(path);
            waiting.extend(links(&answer.text));
        }
    }
}

/// The notices of pages, which stand in their addresses.
const NOTICES: [(&str, &str); 4] = [
    (
        "/",
        "added saved removed watched present moved shared unshared renamed chosen undone undone-part undone-nothing gone",
    ),
    ("/account", "password elsewhere revoked saved mail"),
    (
        "/friends",
        "requested accepted declined taken-back unfriended blocked unblocked feed-ended",
    ),
    ("/users", "removed"),
];

/// A page, the address of a form on it, and its fields.
type Form<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

/// Posts forms that are refused, and checks what they say.
async fn refusals(client: &mut Client, film: &str) {
    let long = "Я".repeat(5000);
    let film_page = format!("/films/{film}");
    let save = format!("/list/{film}/save");
    let change = format!("/films/{film}/change");
    let cases: &[Form<'_>] = &[
        (&film_page, &save, &[("priority", "9")]),
        (&film_page, &save, &[("rating", "11")]),
        (&film_page, &save, &[("watched_on", "1")]),
        (&film_page, &save, &[("note", &long)]),
        (&film_page, &save, &[("tags", &long)]),
        (&film_page, &save, &[("priority", "Я")]),
        ("/films/new", "/films/new", &[("title", "")]),
        ("/films/new", "/films/new", &[("title", &long)]),
        ("/films/new", "/films/new", &[("title", "Я"), ("year", "1")]),
        (&change, &change, &[("title", "Я"), ("minutes", "99999")]),
        ("/friends", "/friends/request", &[("name", "Анна")]),
        ("/friends", "/friends/request", &[("name", "Борис")]),
        ("/friends", "/friends/request", &[("name", "Глеб")]),
        ("/friends", "/friends/request", &[("name", "<")]),
        ("/friends", "/friends/accept", &[("name", "Ёж")]),
        ("/account", "/account/tokens", &[("name", "")]),
        ("/account", "/account/mail", &[("address", "Я")]),
        (
            "/account",
            "/account/mail",
            &[("address", "a@example.org"), ("confirm", "Я")],
        ),
        (
            "/account",
            "/account/password",
            &[("current", "Я"), ("password", PASSWORD)],
        ),
        (
            "/account",
            "/account/password",
            &[("current", PASSWORD), ("password", "Я")],
        ),
        (
            "/account",
            "/account/password",
            &[("current", PASSWORD), ("password", &long)],
        ),
        ("/account", "/account/delete", &[("confirm", PASSWORD)]),
        ("/users", "/users/backup", &[("confirm", "Я")]),
        ("/", "/list/rename", &[("tag", "Нет"), ("to", "Да")]),
        ("/", "/undo/00000000000000000000000000", &[]),
    ];
    for (page, address, fields) in cases {
        let answer = client.post(page, address, fields).await;
        assert!(
            answer.status.is_client_error(),
            "{address} {fields:?}: {}",
            answer.text
        );
        assert_translated(address, &answer);
    }
}

/// Asks for what isn't there.
async fn dead_ends(client: &mut Client) {
    for address in [
        "/no/such/page",
        "/films/00000000000000000000000000",
        "/people/Ёж",
        "/films/x",
        "/tonight?with=%D0%81&minutes=%D0%81",
    ] {
        let answer = client.get(address).await;
        assert!(answer.status.is_client_error(), "{address}");
        assert_translated(address, &answer);
    }
    let foreign = client.post_as_is("/account/tokens", &[("name", "Я")]).await;
    assert_translated("a form without its token", &foreign);
    let put = client
        .request("PUT", "/films")
        .body(axum::body::Body::empty())
        .unwrap();
    let put = client.send(put).await;
    assert_eq!(put.status, 405);
    assert_translated("a method that isn't there", &put);
}

/// Imports files, and checks the pages before and after.
async fn imports_of(client: &mut Client, seen: &mut BTreeSet<String>) {
    let csv = "Name,Year,Rating10,Watched Date,Note,Priority,Public,Tags\n\
        Сталкер 0,1979,4,2024-05-05,Иначе,1,no,Весна\n\
        Солярис 1,1979,,,,,,\n\
        Зеркало 68,1979,5,2020-01-01,Мысль,,,Весна\n\
        Зеркало 65,1980,,,,,,\n\
        Солярис 64,,,,,,,\n\
        Неизвестный,2001,,,,,,\n\
        Плохой,Я,,,,,,\n\
        Плохой,2000,Я,,,,,\n\
        Плохой,2000,,,,,Я,\n\
        ,2000,,,,,,\n";
    let answer = imports::send(client, "список", csv.as_bytes(), "").await;
    assert_eq!(answer.status, 303, "{}", answer.text);
    let address = answer.header("location").to_owned();
    let page = client.get(&address).await;
    assert_translated(&address, &page);
    seen.insert(address.clone());
    let done = client
        .post(&address, &address, &[("add_missing", "1")])
        .await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_translated("an import that was done", &done);
    // Columns that nobody knows are asked for.
    let answer = imports::send(client, "список", b"x,y\n1,2\n", "").await;
    assert_eq!(answer.status, 303, "{}", answer.text);
    let address = answer.header("location").to_owned();
    assert_translated("a file of unknown columns", &client.get(&address).await);
    for (name, file) in [
        ("пустой", &b""[..]),
        ("список джсон", b"[{]"),
        ("список зип", b"PK\x03\x04"),
    ] {
        let refused = imports::send(client, name, file, "").await;
        assert_eq!(refused.status, 422, "{name}: {}", refused.text);
        // What a library says of a file is English.
        if name != "список джсон" && name != "список зип" {
            assert_translated(name, &refused);
        }
    }
}

/// Keeps what comes from elsewhere: the poster of a film, and a passkey.
async fn keep_more(site: &Site, id: Ulid) {
    let keep = site.app.db().write(move |db| {
        let found = posters::Found {
            pictures: Some([vec![0xff, 0xd8, 0xff], vec![0xff, 0xd8, 0xff]]),
            synopses: vec![(Language::English, "Проводник ведёт двоих.".to_owned())],
        };
        let key = Credential {
            id: vec![1],
            public_key: Vec::new(),
            algorithm: -7,
            counter: 0,
            is_synced: true,
        };
        passkeys::add(db, 1, "Телефон", &key)?;
        passkeys::used(db, &key, 0)?;
        posters::keep(db, &films::by_id(db, id)?, 1, &found)
    });
    keep.await.unwrap();
}

#[tokio::test]
async fn all_text_of_all_pages_is_in_the_catalogues() {
    let (site, mut people) = site().await;
    let mut seen = BTreeSet::new();
    let mut visitor = people[0].clone_signed_out();
    crawl(&mut people[0], &["/", "/?watched=1", "/import"], &mut seen).await;
    let films = fill(&mut people).await;
    let first = format!("/films/{}", films[5]);
    let id = films[5].parse().unwrap();
    keep_more(&site, id).await;
    let search = [
        "/films?q=zz",
        "/films?page=40",
        "/films?q=Сталкир",
        "/films?q=Сталкер&page=2",
    ];
    let tonight = "/tonight?with=Борис&with=Вера&pick=1&genre=Драма&minutes=120";
    let with = [
        first.as_str(),
        "/?tag=Осень",
        "/?watched=1",
        "/?priority=5&genre=x",
        tonight,
        "/people/Борис?tag=Осень",
    ];
    for starts in [&with[..], &search, &["/"]] {
        let starts: Vec<String> = starts.iter().map(|address| encoded(address)).collect();
        let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
        for client in &mut people[..3] {
            crawl(client, &starts, &mut seen).await;
        }
    }
    let (page, address) = (first.clone(), format!("/list/{}/save", films[5]));
    let saved = people[0].post(&page, &address, &[("priority", "4")]).await;
    let (_, change) = saved.header("location").split_once("change=").unwrap();
    for (path, notices) in NOTICES {
        for notice in notices.split(' ') {
            for with in [String::new(), format!("&change={change}")] {
                let address = format!("{path}?done={notice}{with}");
                let answer = people[0].get(&address).await;
                assert!(answer.text.contains("class=\"notice\""), "{address}");
                assert_translated(&address, &answer);
            }
        }
    }
    owner_pages(&mut people[0], &mut seen).await;
    refusals(&mut people[0], &films[5]).await;
    dead_ends(&mut people[0]).await;
    imports_of(&mut people[0], &mut seen).await;
    strangers(&mut visitor, &mut people[0], &mut seen).await;
    let missing: Vec<String> = pages()
        .into_iter()
        .filter(|page| !seen.iter().any(|path| fits(page, path)))
        .collect();
    assert!(
        missing.is_empty(),
        "no such page was looked at: {missing:?}"
    );
    drop(site);
}

fn encoded(address: &str) -> String {
    let encode = |c: char| {
        let mut buffer = [0; 4];
        match c.is_ascii() {
            true => c.to_string(),
            false => c
                .encode_utf8(&mut buffer)
                .bytes()
                .map(|b| format!("%{b:02X}"))
                .collect(),
        }
    };
    address.chars().map(encode).collect()
}

/// Whether an address is the page of a user.
fn is_user(link: &str) -> bool {
    link.starts_with("/users/") && link.len() == "/users/".len() + 26
}

/// The pages that show something once, and those of a user who is suspended.
async fn owner_pages(owner: &mut Client, seen: &mut BTreeSet<String>) {
    for (page, address, fields) in [
        (
            "/account",
            "/account/tokens",
            &[("name", "Проба"), ("confirm", PASSWORD)][..],
        ),
        ("/friends", "/friends/invite", &[]),
        ("/friends", "/friends/feed", &[]),
        ("/users", "/users/invite", &[]),
    ] {
        let answer = owner.post(page, address, fields).await;
        let to = answer.header("location").to_owned();
        let shown = owner.get(&to).await;
        assert!(shown.text.contains("readonly"), "{to}");
        assert_translated(&to, &shown);
        if address == "/friends/feed" {
            let (_, rest) = shown.text.split_once("/feed/").unwrap();
            let feed = owner.get(&format!("/feed/{}", &rest[..40])).await;
            assert!(
                foreign(&feed.text.replace("<feed", "<html><feed")).is_empty(),
                "{}",
                feed.text
            );
            assert!(feed.text.contains("⟦ wants to watch ⟧"), "{}", feed.text);
        }
    }
    let users = owner.get("/users").await;
    let user = links(&users.text)
        .into_iter()
        .rfind(|link| is_user(link))
        .unwrap();
    for action in ["reset", "suspend", "reset", "resume"] {
        let answer = owner.post(&user, &format!("{user}/{action}"), &[]).await;
        let answer = match answer.status.is_redirection() {
            true => owner.get(answer.header("location")).await,
            false => answer,
        };
        assert_translated(action, &answer);
        seen.insert(user.clone());
    }
    owner.post(&user, &format!("{user}/suspend"), &[]).await;
    assert_translated(&user, &owner.get(&user).await);
    assert_translated("/users", &owner.get("/users").await);
    let manifest = owner.get("/manifest.webmanifest").await.json();
    for name in ["name", "short_name", "description"] {
        assert!(!is_foreign(manifest[name].as_str().unwrap()), "{manifest}");
    }
}

/// The pages of visitors who are not signed in.
async fn strangers(visitor: &mut Client, owner: &mut Client, seen: &mut BTreeSet<String>) {
    crawl(
        visitor,
        &[
            "/sign-in",
            "/sign-in?done=password",
            "/sign-in?done=deleted",
            "/sign-up",
            "/offline",
            "/forgotten",
            "/mail/0000000000000000000000000000000000000000",
            "/invitation/x",
        ],
        seen,
    )
    .await;
    let answer = visitor.sign_in("Анна", "wrong").await;
    assert_translated("a wrong password", &answer);
    let answer = visitor.sign_in("Глеб", PASSWORD).await;
    assert_translated("a suspended user", &answer);
    for _ in 0..12 {
        visitor.sign_in("Ёж", "wrong").await;
    }
    let answer = visitor.sign_in("Ёж", "wrong").await;
    assert_eq!(answer.status, 429);
    assert_translated("too many tries", &answer);
    owner
        .post("/account", "/account/sign-up", &[("sign_up", "open")])
        .await;
    crawl(visitor, &["/sign-in", "/sign-up"], seen).await;
    let again = [("name", "Анна"), ("password", PASSWORD)];
    assert_translated(
        "a taken name",
        &visitor.post("/sign-up", "/sign-up", &again).await,
    );
    let users = owner.get("/users").await;
    let user = links(&users.text)
        .into_iter()
        .find(|link| is_user(link))
        .unwrap();
    let users: Vec<String> = links(&users.text)
        .into_iter()
        .filter(|link| is_user(link) && *link != user)
        .collect();
    let made = owner
        .post(&users[0], &format!("{}/reset", users[0]), &[])
        .await;
    let shown = owner.get(made.header("location")).await;
    let (_, rest) = shown.text.split_once("/reset/").unwrap();
    let address = format!("/reset/{}", &rest[..40]);
    crawl(visitor, &[&address], seen).await;
    let short = visitor.post(&address, &address, &[("password", "Я")]).await;
    assert_translated("a short password", &short);
    assert_translated("/reset/x", &visitor.get("/reset/x").await);
    seen.extend([
        "/setup".to_owned(),
        format!("/invitation/{}", "0".repeat(40)),
    ]);
}

/// The routes that answer with a page, of all in the program's text.
fn pages() -> BTreeSet<String> {
    let others = [
        "/assets/",
        "/favicon.ico",
        "/worker.js",
        "/manifest",
        "/robots.txt",
        "/health",
        "/export",
        "/feed/",
        "/posters/",
        "/sync",
    ];
    let is_page = |(address, handler): &(String, String)| {
        handler.starts_with("get(") && !others.iter().any(|other| address.starts_with(other))
    };
    let pages = routes().into_iter().filter(is_page);
    pages.map(|(address, _)| address).collect()
}

/// Whether a path is one of a route.
fn fits(route: &str, path: &str) -> bool {
    let is_same = |(route, path): (&str, &str)| route == path || route.starts_with('{');
    route.split('/').count() == path.split('/').count()
        && route.split('/').zip(path.split('/')).all(is_same)
}

fn is(answer: &Answer, tag: &str, words: &str) {
    let html = format!("<html lang=\"{tag}\" dir=\"ltr\">");
    assert!(
        answer.text.contains(&html) && answer.text.contains(words),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn the_language_is_that_of_the_user_then_of_the_browser_then_english() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    is(&anna.get("/friends").await, "en", "Your friends");
    anna.language = Some("fr, de-CH;q=0.8, en;q=0.5".to_owned());
    is(&anna.get("/friends").await, "de", "Deine Freunde");
    let told = anna.get("/no/such/page").await;
    is(&told, "de", "Diese Seite gibt es nicht.");
    for (chosen, tag, words) in [
        ("en", "en", "Your friends"),
        ("xx", "de", "Deine Freunde"),
        ("de", "de", "Deine Freunde"),
    ] {
        let saved = anna
            .post("/account", "/account/language", &[("language", chosen)])
            .await;
        assert_eq!(saved.status, 303, "{}", saved.text);
        is(&anna.get("/friends").await, tag, words);
    }
    anna.language = Some("en".to_owned());
    is(&anna.get("/friends").await, "de", "Deine Freunde");
    let film = anna
        .add("Alien", &[("watched_on", "2024-02-09"), ("rating", "9")])
        .await;
    let list = anna.get("/?watched=1").await;
    is(
        &list,
        "de",
        "<time datetime=\"2024-02-09\">09.02.2024</time>",
    );
    let refused = anna
        .post(
            &format!("/films/{film}"),
            &format!("/list/{film}/save"),
            &[("rating", "11")],
        )
        .await;
    is(&refused, "de", "Eine Bewertung liegt zwischen 1 und 10.");
}

#[tokio::test]
async fn visitors_have_the_language_of_the_browser_and_the_api_is_english() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let anna = &mut people[0];
    is(
        &anna.clone_signed_out().get("/sign-in").await,
        "en",
        "Sign in",
    );
    anna.make_token().await;
    anna.language = Some("de".to_owned());
    let told = anna
        .api("GET", "/films/00000000000000000000000000", Value::Null)
        .await;
    assert_eq!(told.json()["error"], "there is no such film");
    let offline = anna.get("/offline?language=en").await;
    is(&offline, "en", "No connection");
    let list = anna.get("/").await;
    let words = list.text.split("words.de.js").count();
    assert_eq!(words, 2, "{}", list.text);
    let (_, rest) = list.text.split_once("<script src=\"").unwrap();
    let script = anna.get(rest.split('"').next().unwrap()).await;
    assert_eq!(
        script.header("content-type"),
        "text/javascript; charset=utf-8"
    );
    assert!(
        script.text.contains("Auf diesem Gerät gespeichert."),
        "{}",
        script.text
    );
}
