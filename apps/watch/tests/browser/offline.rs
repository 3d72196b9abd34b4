//! A list that is read and changed without a connection.

use crate::{Person, common, common::Server, driver::Options};
use inorder_watch::db::{
    Database,
    entries::{self, State},
    find, users,
};
use std::path::Path;

/// A script that ends when the worker is ready and this condition holds for `now`, what the device has.
fn once(condition: &str) -> String {
    format!(
        "const told = arguments[arguments.length - 1];
         const look = async () => {{
           const now = await device.view();
           if (now && ({condition})) navigator.serviceWorker.ready.then(() => told(true));
           else setTimeout(look, 50);
         }};
         look();"
    )
}

/// Another device changes the note meanwhile.
fn change_note(path: &Path, (title, year): (&str, i64), note: &str) {
    let db = Database::open(path).unwrap();
    let (title, note) = (title.to_owned(), note.to_owned());
    let change = move |db: &rusqlite::Connection| {
        let anna = users::by_name(db, "anna")?.number;
        let film = find::by_title(db, &title, Some(year))?.unwrap().number;
        let state = State {
            note: Some(note),
            ..State::default()
        };
        entries::put(db, anna, film, state)
    };
    db.write_now(change).unwrap();
}

/// Puts two films and a series on the list, opens it, and waits until the device has it.
async fn fill_list(anna: &Person<'_>, db: &Path) {
    let browser = &anna.browser;
    for title in ["Casablanca", "Alien", "Fleabag"] {
        anna.go(&format!("/films?q={title}")).await;
        browser.click("ul.films li:first-child button").await;
        browser.wait_for(&format!("Added “{title}”")).await;
    }
    anna.go("/films?q=ghostbusters").await;
    // A film that the device has not written down can't be added without a connection.
    let has_seen = "[...now.films.values()].some(film => film.title === 'Ghostbusters')";
    browser.run_until_told(&once(has_seen)).await;
    let has_copy = "now.pulled && device.ordered(now.films).length === 3";
    browser.run_until_told(&once(has_copy)).await;

    // A page that is left while it asks for the list: the next one asks again.
    let ask = "fetch = () => new Promise(() => {}); device.changed(); device.sync()";
    browser.run(ask).await;
    change_note(db, ("Casablanca", 1942), "Of the server");
    anna.go("/").await;
    let has_note = "[...now.films.values()].some(film => film.fields.note === 'Of the server')";
    browser.run_until_told(&once(has_note)).await;
}

pub async fn run() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let address = server.address.clone();
    let listen = address.strip_prefix("http://").unwrap();
    let anna = Person::new(&server, Options::default()).await;
    let browser = &anna.browser;
    anna.set_up("Anna").await;
    fill_list(&anna, &db).await;

    browser.click(".film:first-child .title").await;
    browser.wait_for("Humphrey Bogart").await;
    server.kill();
    browser.fill("#note", "Of the open page").await;
    browser.click("main button.primary").await;
    browser.wait_for("The change is kept on this device").await;
    browser.go(&format!("{address}/")).await;
    browser.wait_for("1 change waits on this device.").await;
    browser.wait_for("Of the open page").await;
    browser.click(".film:nth-child(2) summary").await;
    browser.fill(".film textarea", "Of the phone").await;
    browser.fill(".film input[name=tags]", "Halloween, A").await;
    browser.click(".film input[name=watched]").await;
    browser.click(".film button.primary").await;
    browser.wait_for("2 changes wait on this device.").await;
    browser.fill("#add", "Ghostbusters (1984)").await;
    browser.click("#offline > form button").await;
    browser.wait_for("3 changes wait on this device.").await;
    browser.click(".film .buttons button").await;
    browser.wait_for("4 changes wait on this device.").await;
    browser.wait_for("Seasons watched: 1 of 2").await;

    change_note(&db, ("Alien", 1979), "Of the tablet");
    let server = Server::start_at(&db, listen);
    browser.run("dispatchEvent(new Event('online'))").await;
    browser.wait_for("Two devices changed the same").await;
    browser.wait_for("Ghostbusters").await;
    browser.click(".notice a").await;
    browser.wait_for("Of the tablet").await;
    browser.wait_for("Of the phone").await;
    browser.click("button[name=other]").await;
    browser.wait_for("Chosen for “Alien”").await;
    let lists =
        "SELECT group_concat(title || ' ' || watched || ' ' || tags || ' ' || seasons_watched || ' ' || coalesce(note, ''), '; ') FROM
                   (SELECT * FROM entry JOIN film ON film.number = film ORDER BY title)";
    assert_eq!(
        common::query(&db, lists),
        r#"Alien 1 ["A","Halloween"] 0 Of the phone; Casablanca 0 [] 0 Of the open page; Fleabag 0 [] 1 ; Ghostbusters 0 [] 0 "#
    );

    // Whoever signs out leaves no copy.
    browser.go(&format!("{address}/account")).await;
    browser.click("form[action='/sign-out'] button").await;
    browser.wait_for("Sign in").await;
    browser
        .run_until_told(
            "const told = arguments[arguments.length - 1]; device.view().then(now => told(now))",
        )
        .await;
    server.kill();
    browser.go(&format!("{address}/")).await;
    browser.wait_for("No connection").await;
    assert_eq!(browser.count(".films").await, 0);
}

/// A form that changes no list, sent without a connection.
pub async fn a_form_is_not_sent() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let address = server.address.clone();
    let listen = address.strip_prefix("http://").unwrap();
    let anna = Person::new(&server, Options::default()).await;
    let browser = &anna.browser;
    anna.set_up("Anna").await;
    anna.go("/friends?done=declined").await;
    browser.run_until_told(&once("now.pulled")).await;
    server.kill();
    browser.fill("#friend", "Ben").await;
    browser
        .click("form[action='/friends/request'] button")
        .await;
    browser.wait_for("the form was not sent").await;
    browser.wait_for("This is the copy on this device").await;
    let server = Server::start_at(&db, listen);
    browser.run("dispatchEvent(new Event('online'))").await;
    browser.wait_for("Ask a user of this site").await;
    let told = browser.text("main").await;
    assert!(told.contains("the form was not sent"), "{told}");
    assert!(!told.contains("declined"), "{told}");
    let sent = "SELECT CAST(count(*) AS TEXT) FROM friend_request";
    assert_eq!(common::query(&db, sent), "0");
    // Now it is sent, once.
    browser.fill("#friend", "Ben").await;
    browser
        .click("form[action='/friends/request'] button")
        .await;
    browser.wait_for("Take back").await;
    assert_eq!(common::query(&db, sent), "1");
    let told = browser.text("main").await;
    assert!(!told.contains("the form was not sent"), "{told}");
    server.kill();
}

/// A change of a film that is no longer there when the connection is back, and one that no server would take.
pub async fn a_change_is_refused() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let address = server.address.clone();
    let listen = address.strip_prefix("http://").unwrap();
    let anna = Person::new(&server, Options::default()).await;
    let browser = &anna.browser;
    anna.set_up("Anna").await;
    fill_list(&anna, &db).await;
    anna.go("/films?q=alien").await;
    browser.click("ul.films li:first-child .title").await;
    browser.wait_for("Sigourney Weaver").await;
    server.kill();

    // On a page, and on the page without a connection.
    let many = (0..21)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    browser.fill("input[name=tags]", &many).await;
    browser.click("main button.primary").await;
    browser.wait_for("at most 20 lists").await;
    browser.fill("input[name=tags]", "Halloween").await;
    browser.fill("#note", "Of the telephone").await;
    browser.click("main button.primary").await;
    browser.wait_for("The change is kept on this device").await;
    browser.go(&format!("{address}/")).await;
    browser.wait_for("1 change waits on this device.").await;
    browser.click(".film summary").await;
    browser.fill(".film input[name=tags]", &many).await;
    browser.click(".film button.primary").await;
    browser.wait_for("at most 20 lists").await;
    browser.wait_for("1 change waits on this device.").await;

    let remove =
        |db: &rusqlite::Connection| Ok(db.execute("DELETE FROM film WHERE title = 'Alien'", [])?);
    Database::open(&db).unwrap().write_now(remove).unwrap();
    let server = Server::start_at(&db, listen);
    for path in ["/", "/friends"] {
        browser.go(&format!("{address}{path}")).await;
        browser.wait_for("could not be sent").await;
        browser.wait_for("Of the telephone").await;
        browser.wait_for("Open the film").await;
    }
    browser.click("#refused button").await;
    browser.wait_for("Ask a user of this site").await;
    browser.go(&format!("{address}/")).await;
    browser
        .run_until_told(&once("now.pulled && now.refused.length === 0"))
        .await;
    assert_eq!(browser.count("#refused .problem").await, 0);
    server.kill();
}
