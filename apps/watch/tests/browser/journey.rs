//! From the first visit to the last.

use crate::{PASSWORD, Person, common, common::Server, driver::Options};

pub async fn run(has_script: bool) {
    let (folder, db) = common::new_file();
    let server = Server::start(&db);
    let options = Options {
        has_script,
        ..Options::default()
    };
    let anna = Person::new(&server, options).await;
    anna.set_up("Anna").await;
    let scripted = anna.browser.count("html.scripted").await;
    assert_eq!(
        scripted,
        usize::from(has_script),
        "the browser runs scripts or not"
    );

    find_and_add(&anna, has_script).await;
    prioritise(&anna).await;
    reorder(&anna).await;
    undo(&anna).await;
    if has_script {
        drag(&anna).await;
        undo(&anna).await;
    }

    let ben = Person::new(&server, options).await;
    befriend(&anna, &ben).await;
    tonight(&anna, &ben).await;
    mark_watched(&anna).await;
    import(&anna, folder.path()).await;
    export(&anna).await;
    series(&anna).await;
    delete(&ben).await;
    anna.go("/friends").await;
    anna.browser.wait_for("None yet").await;

    anna.browser.end().await;
    ben.browser.end().await;
}

/// Looks for a film with a typo, and puts it on the list.
async fn find_and_add(anna: &Person<'_>, has_script: bool) {
    anna.browser.fill("#q", "casablnca").await;
    if !has_script {
        anna.browser.click("form.search button").await;
    }
    anna.browser.wait_for("Is it one of these?").await;
    anna.browser.wait_for("Humphrey Bogart").await;
    anna.browser.click("ul.films li:first-child button").await;
    anna.browser
        .wait_for("Added “Casablanca” to your list.")
        .await;
    anna.browser.wait_for("On your list").await;
    for title in ["Alien", "Ghostbusters"] {
        anna.go(&format!("/films?q={title}")).await;
        anna.browser.click("ul.films li:first-child button").await;
        anna.browser.wait_for(&format!("Added “{title}”")).await;
    }
    anna.go("/films/new?title=Home%20video").await;
    anna.browser.fill("#year", "2024").await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("Put it on your list").await;
    anna.browser.click("input[name=private]").await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("Saved “Home video”").await;
}

async fn titles(person: &Person<'_>) -> Vec<String> {
    let titles = person
        .browser
        .run("return [...document.querySelectorAll('.film .title')].map(a => a.textContent)")
        .await;
    serde_json::from_value(titles).unwrap()
}

async fn prioritise(anna: &Person<'_>) {
    anna.go("/films?q=alien").await;
    anna.browser.click("ul.films li:first-child .title").await;
    anna.browser.wait_for("Sigourney Weaver").await;
    anna.browser.click("input[name=priority][value='5']").await;
    anna.browser.fill("#note", "With the lights on").await;
    anna.browser.fill("#tags", "Halloween").await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("Saved “Alien”").await;
    anna.go("/").await;
    assert_eq!(
        titles(anna).await,
        ["Alien", "Casablanca", "Ghostbusters", "Home video"]
    );
    anna.browser.wait_for("With the lights on").await;
    anna.browser.wait_for("Private").await;
    anna.browser.click(".names a:last-child").await;
    anna.browser.wait_for("Rename this list").await;
    assert_eq!(titles(anna).await, ["Alien"]);
    anna.go("/").await;
}

/// Uses the keyboard only.
async fn reorder(anna: &Person<'_>) {
    anna.browser
        .run("document.querySelectorAll('.film')[2].querySelector('summary').focus()")
        .await;
    // Enter opens the menu. Its third button is Up.
    anna.browser.press("\u{e007}").await;
    anna.browser
        .run("document.querySelectorAll('.film')[2].querySelectorAll('.items button')[1].focus()")
        .await;
    anna.browser.press("\u{e007}").await;
    anna.browser.wait_for("Moved").await;
    assert_eq!(
        titles(anna).await,
        ["Alien", "Ghostbusters", "Casablanca", "Home video"]
    );
}

/// Drags the third film to the first, which has another priority.
async fn drag(anna: &Person<'_>) {
    anna.browser
        .run(
            "const [first, , third] = document.querySelectorAll('.film');
             const dataTransfer = new DataTransfer();
             const fire = (name, element) => element.dispatchEvent(new DragEvent(name, {bubbles: true, cancelable: true, dataTransfer}));
             third.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));
             fire('dragstart', third); fire('dragover', first); fire('drop', first); fire('dragend', third);",
        )
        .await;
    anna.browser.wait_for("Moved").await;
    assert_eq!(
        titles(anna).await,
        ["Ghostbusters", "Alien", "Casablanca", "Home video"]
    );
}

async fn undo(anna: &Person<'_>) {
    anna.browser.click(".notice button").await;
    anna.browser.wait_for("Undone.").await;
    assert_eq!(
        titles(anna).await,
        ["Alien", "Casablanca", "Ghostbusters", "Home video"]
    );
}

/// Anna invites Ben, who signs up; they part and find each other again by name.
async fn befriend(anna: &Person<'_>, ben: &Person<'_>) {
    anna.go("/friends").await;
    anna.browser
        .click("form[action='/friends/invite'] button")
        .await;
    let link = anna.browser.attribute("#link", "value").await;
    ben.sign_up(&link, "Ben").await;
    anna.go("/people/Ben").await;
    anna.browser.click("main > details summary").await;
    anna.browser
        .click("form[action='/friends/unfriend'] button")
        .await;
    anna.browser.wait_for("You are no longer friends.").await;

    anna.browser.fill("#friend", "ben").await;
    anna.browser
        .click("form[action='/friends/request'] button")
        .await;
    anna.browser.wait_for("Request sent.").await;
    ben.go("/friends").await;
    ben.browser.wait_for("Requests for you").await;
    ben.browser
        .click("form[action='/friends/accept'] button")
        .await;
    ben.browser.wait_for("You are friends now").await;
    ben.browser.click(".who a").await;
    ben.browser.wait_for("Anna’s list").await;
    ben.browser.wait_for("Ghostbusters").await;
    let page = ben.browser.text("main").await;
    assert!(
        !page.contains("Home video") && !page.contains("lights"),
        "private things show:\n{page}"
    );
    assert!(page.contains("To watch 3"), "{page}");
}

async fn tonight(anna: &Person<'_>, ben: &Person<'_>) {
    ben.go("/films?q=alien").await;
    ben.browser.click("ul.films li:first-child button").await;
    ben.browser.wait_for("Added “Alien”").await;
    anna.go("/tonight").await;
    anna.browser.click("input[name=with]").await;
    anna.browser.click("#pick").await;
    anna.browser.wait_for("On all your lists").await;
    anna.browser.click("#again").await;
    anna.browser.wait_for("On all your lists").await;
    let pick = anna.browser.text(".pick .film-name").await;
    assert_eq!(pick, "Alien 1979");
    assert_eq!(anna.browser.count("tbody tr").await, 1);
}

async fn mark_watched(anna: &Person<'_>) {
    anna.go("/").await;
    anna.browser
        .click(".film button[aria-label='Mark Alien as watched']")
        .await;
    anna.browser.wait_for("Marked “Alien” as watched.").await;
    assert_eq!(
        titles(anna).await,
        ["Casablanca", "Ghostbusters", "Home video"]
    );
    anna.go("/?watched=1").await;
    anna.browser.click(".film .menu summary").await;
    anna.browser.click("a[aria-label='Edit Alien']").await;
    anna.browser
        .run("document.querySelector('select[name=rating]').value = '9'")
        .await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("Saved “Alien”").await;
    anna.go("/?watched=1").await;
    anna.browser.wait_for("9 / 10").await;
}

async fn import(anna: &Person<'_>, folder: &std::path::Path) {
    let file = folder.join("watchlist.csv");
    let text = "Date,Name,Year,Letterboxd URI,Rating\n2024-01-05,Jaws,1975,https://example.org/1,\n\
        2024-01-05,Casablanca,1942,https://example.org/2,\n2024-01-05,No Such Film,1999,https://example.org/3,\n";
    std::fs::write(&file, text).unwrap();
    anna.go("/import").await;
    anna.browser.fill("#file", file.to_str().unwrap()).await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("Nothing is changed yet").await;
    anna.browser.wait_for("As before: 1").await;
    // The third part that opens has the films that are not known.
    anna.browser
        .click(".card > details:last-of-type summary")
        .await;
    anna.browser.wait_for("No Such Film 1999").await;
    anna.browser.click("main button.primary").await;
    anna.browser
        .wait_for("New on your list: 1. Changed: 0. As before: 1. Left out: 1.")
        .await;
    anna.go("/").await;
    assert_eq!(
        titles(anna).await,
        ["Casablanca", "Ghostbusters", "Home video", "Jaws"]
    );
}

async fn export(anna: &Person<'_>) {
    anna.go("/account").await;
    let read = "const told = arguments[arguments.length - 1]; fetch('/export.csv').then(a => a.text()).then(told)";
    let text = anna.browser.run_until_told(read).await;
    let text = text.as_str().unwrap_or_default();
    assert!(text.starts_with("Date,Name,Year,"), "{text}");
    let alien = text
        .lines()
        .find(|line| line.contains(",Alien,1979,"))
        .expect(text);
    assert!(
        alien.contains(",4.5,yes,") && alien.contains("With the lights on"),
        "{alien}"
    );
}

/// Watches a series of two seasons.
async fn series(anna: &Person<'_>) {
    anna.go("/films?q=fleabag").await;
    anna.browser.wait_for("Series, 2 seasons").await;
    anna.browser.click("ul.films li:first-child button").await;
    anna.browser.wait_for("Added “Fleabag”").await;
    anna.go("/").await;
    for (season, words) in [
        (1, "Marked a season of “Fleabag” as watched."),
        (2, "Marked “Fleabag” as watched."),
    ] {
        let button = format!("button[aria-label='Mark season {season} of Fleabag as watched']");
        anna.browser.click(&button).await;
        anna.browser.wait_for(words).await;
    }
    anna.browser.click(".notice button").await;
    anna.browser.wait_for("1 of 2 seasons watched").await;
}

async fn delete(ben: &Person<'_>) {
    ben.go("/account").await;
    ben.browser.click("details summary").await;
    ben.browser.fill("#confirm", PASSWORD).await;
    ben.browser.click("button.danger").await;
    ben.browser.wait_for("Your account is deleted").await;
    ben.browser.fill("#name", "Ben").await;
    ben.browser.fill("#password", PASSWORD).await;
    ben.browser.click("main button.primary").await;
    ben.browser
        .wait_for("There is no such name with this password.")
        .await;
}
