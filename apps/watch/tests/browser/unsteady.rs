//! Changes and typed text on a connection that is slow or breaks.

use crate::{
    Person, common,
    common::Server,
    driver::{Browser, Options},
};
use inorder_watch::db::find;
use std::path::Path;

/// Lets each POST wait until `open(true)`, or fail at `open(false)`. The script's requests run as before.
const HOLD: &str = "
    const send = fetch;
    const held = new Promise(done => { open = done; });
    fetch = async (address, options = {}) => {
      if (options.method !== 'POST') return send(address, options);
      const isOpen = await held;
      options.signal?.throwIfAborted();
      if (!isOpen) throw new TypeError('no connection');
      return send(address, options);
    };";

/// More films than a device keeps the titles of.
const FILMS_MANY: usize = 540;

/// A script that ends when this condition holds.
pub fn until(condition: &str) -> String {
    format!(
        "const told = arguments[arguments.length - 1];
         const look = async () => {{ if ({condition}) told(true); else setTimeout(look, 50); }};
         look();"
    )
}

/// Puts films on the list, opens it, and waits until the device has it.
async fn fill_list(anna: &Person<'_>, titles: &[&str]) {
    for title in titles {
        anna.go(&format!("/films?q={title}")).await;
        anna.browser.click("ul.films li:first-child button").await;
        anna.browser.wait_for(&format!("Added “{title}”")).await;
    }
    anna.go("/").await;
    let count = titles.len();
    let has_copy = format!(
        "(await device.view())?.pulled && device.ordered((await device.view()).films).length === {count}"
    );
    anna.browser.run_until_told(&until(&has_copy)).await;
}

/// Returns the titles of the films on all lists that are watched, and of those that are not.
fn watched(db: &Path) -> String {
    let entries = "SELECT coalesce(group_concat(title || ' ' || watched, '; '), '') FROM
                   (SELECT * FROM entry JOIN film ON film.number = film ORDER BY title)";
    common::query(db, entries)
}

/// Two changes in a row, and a search after one, while the first is being sent.
pub async fn changes_are_sent_in_a_row() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let anna = Person::new(&server, Options::default()).await;
    let browser = &anna.browser;
    anna.set_up("Anna").await;
    fill_list(&anna, &["Casablanca", "Alien", "Jaws"]).await;

    browser.run(HOLD).await;
    for title in ["Casablanca", "Alien"] {
        let button = format!(".film button[aria-label='Mark {title} as watched']");
        browser.click(&button).await;
    }
    browser.run("open(true)").await;
    browser.wait_for("Marked “Alien” as watched.").await;
    assert_eq!(watched(&db), "Alien 1; Casablanca 1; Jaws 0");
    assert_eq!(browser.count("li.film").await, 1);

    // The search is shown, with what the change before it has done.
    anna.go("/films?q=fargo").await;
    browser.run(HOLD).await;
    browser.click("ul.films li:first-child button").await;
    browser.fill("#q", "vertigo").await;
    browser.wait_for("Vertigo").await;
    browser.run("open(true)").await;
    let is_listed =
        "(await (await fetch('/sync')).json()).films.some(film => film.title === 'Fargo')";
    browser.run_until_told(&until(is_listed)).await;
    assert_eq!(browser.attribute("#q", "value").await, "vertigo");
    browser.wait_for("Vertigo").await;

    // The connection breaks: the device keeps both.
    anna.go("/").await;
    browser.run(HOLD).await;
    for title in ["Fargo", "Jaws"] {
        let button = format!(".film button[aria-label='Mark {title} as watched']");
        browser.click(&button).await;
    }
    browser.run("open(false)").await;
    let is_kept = "(await device.view()).waiting.length === 2";
    browser.run_until_told(&until(is_kept)).await;
    anna.go("/").await;
    browser.wait_for("Find a film").await;
    let is_sent = "(await device.view()).waiting.length === 0";
    browser.run_until_told(&until(is_sent)).await;
    assert_eq!(watched(&db), "Alien 1; Casablanca 1; Fargo 1; Jaws 1");
    browser.run("open(true)").await;
}

/// Opens the page of the first film that a search finds, once the device has written it down.
async fn open_film(browser: &Browser, address: &str, title: &str) {
    browser.go(&format!("{address}/films?q={title}")).await;
    browser.click("ul.films li:first-child .title").await;
    browser.click("#note").await;
    let has_seen = format!(
        "[...((await device.view())?.films.values() ?? [])].some(film => film.title === '{title}')"
    );
    browser.run_until_told(&until(&has_seen)).await;
}

/// Text that is being typed when the connection comes back.
pub async fn typed_text_stays() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let address = server.address.clone();
    let listen = address.strip_prefix("http://").unwrap();
    let anna = Person::new(&server, Options::default()).await;
    let browser = &anna.browser;
    anna.set_up("Anna").await;
    fill_list(&anna, &["Casablanca", "Alien"]).await;

    // On the page without a connection, which looks for one by itself.
    browser
        .run_until_told(&until("await navigator.serviceWorker.ready"))
        .await;
    server.kill();
    browser.go(&format!("{address}/")).await;
    browser.wait_for("This is the copy on this device").await;
    browser.click(".film summary").await;
    browser.fill(".film textarea", "A long review").await;
    let server = Server::start_at(&db, listen);
    browser.run("dispatchEvent(new Event('online'))").await;
    browser.wait_for("The connection is back").await;
    assert_eq!(
        browser.attribute(".film textarea", "value").await,
        "A long review"
    );
    browser.click(".film button.primary").await;
    browser.wait_for("1 change waits on this device").await;
    browser.run("dispatchEvent(new Event('online'))").await;
    browser.wait_for("Find films").await;
    let note = "SELECT group_concat(title || ' ' || coalesce(note, '') || ' ' || coalesce(rating, ''), '; ') FROM entry JOIN film ON film.number = film WHERE title = 'Casablanca'";
    assert_eq!(common::query(&db, note), "Casablanca A long review ");

    // On a page of a film, of which a change waits.
    open_film(browser, &address, "Casablanca").await;
    server.kill();
    browser
        .run("document.querySelector('select[name=rating]').value = '8'")
        .await;
    browser.click("main button.primary").await;
    browser.wait_for("The change is kept on this device").await;
    browser.fill("#note", "Another review").await;
    let server = Server::start_at(&db, listen);
    browser.run("dispatchEvent(new Event('online'))").await;
    browser.wait_for("The connection is back").await;
    assert_eq!(browser.attribute("#note", "value").await, "Another review");
    assert_eq!(common::query(&db, note), "Casablanca A long review 8");
    browser.click("#renew button").await;
    browser
        .run_until_told(&until(
            "document.getElementById('note')?.value === 'A long review'",
        ))
        .await;
    server.kill();
}

/// A page that was loaded before the device sent its change, and is saved.
pub async fn an_old_page_overwrites_nothing() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let address = server.address.clone();
    let listen = address.strip_prefix("http://").unwrap();
    let anna = Person::new(&server, Options::default()).await;
    let browser = &anna.browser;
    anna.set_up("Anna").await;
    fill_list(&anna, &["Casablanca"]).await;
    open_film(browser, &address, "Casablanca").await;
    let page = browser.run("return location.pathname").await;
    server.kill();
    browser.fill("#note", "Of the train").await;
    browser.click("main button.primary").await;
    browser.wait_for("The change is kept on this device").await;

    // The page is shown anew when the change is sent.
    let server = Server::start_at(&db, listen);
    browser
        .go(&format!("{address}{}", page.as_str().unwrap()))
        .await;
    browser
        .run_until_told(&until(
            "document.getElementById('note')?.value === 'Of the train'",
        ))
        .await;

    // A form with typed text is not: only the fields that were changed are saved.
    server.kill();
    browser.fill("#note", "Of the bus").await;
    browser.click("main button.primary").await;
    browser.wait_for("The change is kept on this device").await;
    let server = Server::start_at(&db, listen);
    browser
        .run("const field = document.getElementById('note'); field.value = field.defaultValue = 'Of the train'; document.querySelector('select[name=rating]').value = '8'; dispatchEvent(new Event('online'))")
        .await;
    let is_sent = "(await device.view()).waiting.length === 0";
    browser.run_until_told(&until(is_sent)).await;
    // The notice moves the button, which a click would miss.
    browser.wait_for("The connection is back").await;
    browser.click("main button.primary").await;
    let is_saved = "await device.view().then(({ films, waiting }) => waiting.length === 0
        && [...films.values()].some(film => film.fields.watched.rating === 8))";
    browser.run_until_told(&until(is_saved)).await;
    let entry = "SELECT note || ' ' || rating FROM entry";
    assert_eq!(common::query(&db, entry), "Of the bus 8");
    server.kill();
}

/// Whoever signs out in one tab while another one asks for the list leaves no copy.
pub async fn signing_out_leaves_no_copy() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let anna = Person::new(&server, Options::default()).await;
    let browser = &anna.browser;
    anna.set_up("Anna").await;
    fill_list(&anna, &["Casablanca"]).await;
    // The other tab forgets the list while the answer to this one is on its way.
    let race = "
        const told = arguments[arguments.length - 1];
        const send = fetch;
        let ask, answer;
        const asked = new Promise(done => { ask = done; }), late = new Promise(done => { answer = done; });
        fetch = async (...request) => { const response = await send(...request); ask(); await late; return response; };
        (async () => {
          const syncing = device.sync();
          await asked;
          history.replaceState(null, '', '/sign-in');
          await device.begin();
          const between = await device.view();
          answer();
          await syncing;
          told([between, await device.view()]);
        })();";
    let left = browser.run_until_told(race).await;
    assert_eq!(left, serde_json::json!([null, null]));
}

/// Films that the device has seen: a series with its seasons, and the last ones.
pub async fn the_device_knows_what_it_has_seen() {
    let (folder, db) = common::new_file();
    let films = folder.path().join("many.jsonl");
    let lines: String = (0..FILMS_MANY)
        .map(|n| format!("{{\"title\":\"Number {n:04}\",\"year\":2001,\"genres\":[\"Drama\"]}}\n"))
        .collect();
    std::fs::write(&films, lines).unwrap();
    let server = Server::start(&db);
    let address = server.address.clone();
    let listen = address.strip_prefix("http://").unwrap();
    let (is_done, _, told) = common::run(&db, &["import-films", films.to_str().unwrap()], "");
    assert!(is_done, "{told}");
    let anna = Person::new(&server, Options::default()).await;
    let browser = &anna.browser;
    anna.set_up("Anna").await;
    fill_list(&anna, &["Casablanca"]).await;

    // A series that is not on the list.
    open_film(browser, &address, "Fleabag").await;
    server.kill();
    browser
        .run("document.querySelector('select[name=seasons_watched]').value = '1'")
        .await;
    browser.click("main button.primary").await;
    browser.wait_for("The change is kept on this device").await;
    let server = Server::start_at(&db, listen);
    browser.run("dispatchEvent(new Event('online'))").await;
    let is_sent = "(await device.view()).waiting.length === 0";
    browser.run_until_told(&until(is_sent)).await;
    let fleabag = "SELECT seasons_watched || ' ' || watched FROM entry JOIN film ON film.number = film WHERE title = 'Fleabag'";
    assert_eq!(common::query(&db, fleabag), "1 0");

    // An old film of the catalogue, seen after more new ones than the device keeps.
    let has_rows =
        "document.querySelectorAll('li.film').length > 0 && await device.view().then(now =>
        [...document.querySelectorAll('li.film')].every(row => now.films.has(row.id.slice(1))))";
    for page in 1..=FILMS_MANY / find::PAGE_FILMS {
        browser
            .go(&format!("{address}/films?q=number&page={page}"))
            .await;
        browser.run_until_told(&until(has_rows)).await;
    }
    browser.go(&format!("{address}/films?q=vertigo")).await;
    let knows = "[...(await device.view()).films.values()].some(film => film.title === 'Vertigo')";
    browser.run_until_told(&until(knows)).await;
    server.kill();
    browser.click("ul.films li:first-child button").await;
    browser.wait_for("The change is kept on this device").await;
}
