//! *Save* on the page of a film in two browsers.

use crate::{PASSWORD, Person, common, common::Server, driver::Options, unsteady::until};

/// Sets every field of the form.
const FILL: &str = "
    const values = { priority: '5', watched_on: '2024-01-31', rating: '8', tags: 'Winter, Autumn', note: '\\n One\\nTwo \\u{1f3ac} ' };
    for (const [name, value] of Object.entries(values)) document.querySelector(`[name=${name}]`).value = value;
    document.querySelector('[name=private]').checked = true;";

/// The number of changes that were made.
const CHANGES: &str = "SELECT count(DISTINCT sequence) FROM undo";

pub async fn run() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let laptop = Person::new(&server, Options::default()).await;
    laptop.set_up("Anna").await;
    laptop.go("/films?q=casablanca").await;
    laptop.browser.click("ul.films li:first-child .title").await;
    laptop.browser.wait_for("Put it on your list").await;
    laptop.browser.run(FILL).await;
    laptop.browser.click("main button.primary").await;
    laptop.browser.wait_for("Saved").await;
    laptop.browser.fill("#earlier", "2023-01-31").await;
    laptop.browser.click("main button.primary").await;
    let is_saved = "document.querySelector('#earlier').defaultValue === '2023-01-31'";
    laptop.browser.run_until_told(&until(is_saved)).await;
    let page = laptop.browser.run("return location.pathname").await;
    let page = page.as_str().unwrap();
    let tablet = Options {
        has_script: false,
        ..Options::default()
    };
    let tablet = Person::new(&server, tablet).await;
    tablet.go("/sign-in").await;
    tablet.browser.fill("#name", "Anna").await;
    tablet.browser.fill("#password", PASSWORD).await;
    tablet.browser.click("main button.primary").await;
    tablet.browser.wait_for("Your list").await;

    // What was not changed is sent as it was shown.
    assert_eq!(common::query(&db, CHANGES), "2");
    for person in [&laptop, &tablet] {
        person.go(page).await;
        person.browser.click("main button.primary").await;
        person.browser.wait_for("Saved").await;
        assert_eq!(common::query(&db, CHANGES), "2");
        person.go(page).await;
    }

    // Each browser shows the page as it was before the change of the other.
    laptop.browser.fill("#tags", "Spring").await;
    laptop.browser.click("main button.primary").await;
    laptop.browser.wait_for("Saved").await;
    tablet.browser.fill("#note", "Of the tablet").await;
    tablet.browser.click("main button.primary").await;
    tablet.browser.wait_for("Saved").await;
    let entry = "SELECT note || ' ' || tags || ' ' || rating FROM entry";
    let both = "Of the tablet [\"Spring\"] 8";
    assert_eq!(common::query(&db, entry), both);
    assert_eq!(tablet.browser.count("#choose").await, 0);
    laptop.browser.fill("#note", "Of the laptop").await;
    laptop.browser.click("main button.primary").await;
    laptop.browser.wait_for("Of the tablet").await;
    assert_eq!(laptop.browser.count("#choose").await, 1);
    laptop.browser.end().await;
    tablet.browser.end().await;
}
