//! Every page, on a phone and on a desk, by day in English and by night in German, whose words are longer.

use crate::{
    Person, common,
    common::Server,
    driver::{Browser, Options},
    modules::node_modules,
};
use serde_json::Value;
use std::{fs, path::Path};

/// The width of a small phone in pixels.
const SMALL_PHONE: u32 = 320;

/// Pixels: a small phone, a phone, a desk.
const WIDTHS: [u32; 3] = [SMALL_PHONE, 390, 1280];

/// The maximum height of a page of the list on a phone.
const LIST_PIXELS_MAX: f64 = 2500.0;

/// Every page, with the name of its picture.
const PAGES: [(&str, &str); 17] = [
    ("list", "/"),
    ("watched", "/?watched=1"),
    ("named", "/?tag=Halloween"),
    ("films", "/films"),
    ("search", "/films?q=star"),
    ("film", "/films?q=alien"),
    ("series", "/films?q=fleabag&kind=series"),
    ("new-film", "/films/new"),
    ("friends", "/friends"),
    ("person", "/people/Ben"),
    ("tonight", "/tonight?with=Ben&pick=1"),
    ("import", "/import"),
    ("account", "/account"),
    ("users", "/users"),
    ("restore", "/users/restore"),
    ("api", "/api"),
    ("nothing", "/no/such/page"),
];

/// What pages say in a language.
struct Words {
    language: &'static str,
    saved: &'static str,
    list: &'static str,
    listed: &'static str,
    preview: &'static str,
}

const ENGLISH: Words = Words {
    language: "en",
    saved: "Saved.",
    list: "Your list",
    listed: "On your list",
    preview: "Nothing is changed yet",
};

const GERMAN: Words = Words {
    language: "de",
    saved: "Gespeichert.",
    list: "Deine Liste",
    listed: "Auf deiner Liste",
    preview: "Noch ist nichts geändert",
};

/// Chooses the language of a user, and waits for the list in it.
async fn choose(person: &Person<'_>, words: &Words) {
    let language = words.language;
    person.go("/account").await;
    let choose = format!(
        "const field = document.querySelector('select[name=language]'); field.value = '{language}'; field.form.requestSubmit()"
    );
    person.browser.run(&choose).await;
    person.browser.wait_for(words.saved).await;
    person.go("/").await;
    person.browser.wait_for(words.list).await;
}

/// Returns the faults of a page's layout.
const LAYOUT: &str = "
    const wrong = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) wrong.push(`the page is ${root.scrollWidth} wide`);
    for (const element of document.querySelectorAll('button, a.button, select, input, .title, h1, h2')) {
      const box = element.getBoundingClientRect();
      if (box.width === 0 || element.closest('.scroll')) continue;
      const name = (element.getAttribute('aria-label') || element.textContent || element.name).slice(0, 40);
      if (box.left < -1 || box.right > root.clientWidth + 1) wrong.push(`cut: ${name}`);
      const isControl = element.matches('button, a.button, select') && box.height < 40;
      if (isControl) wrong.push(`too small to touch: ${name} ${box.height}`);
    }
    return wrong;";

const AXE: &str = "
    const told = arguments[arguments.length - 1];
    axe.run(document, {resultTypes: ['violations']}).then(
      results => told(results.violations.map(v => `${v.impact} ${v.id}: ${v.nodes.map(n => n.target.join(' ') + ' ' + (n.any[0]?.message ?? '')).join('; ')}`)),
      error => told([String(error)]));";

/// What is wrong if the 25 films and series of a page of the list are higher than a few screens of a phone.
async fn too_high(browser: &Browser) -> Option<String> {
    let list = "const rows = document.querySelectorAll('[data-films] > li');
        return [rows.length, document.querySelector('[data-films]').getBoundingClientRect().height]";
    let (rows, height): (usize, f64) = serde_json::from_value(browser.run(list).await).unwrap();
    assert_eq!(rows, 25);
    (height > LIST_PIXELS_MAX).then(|| format!("the list is {height} high"))
}

/// The text of axe-core, from npm.
pub fn axe() -> String {
    fs::read_to_string(node_modules().join("axe-core/axe.min.js")).unwrap()
}

/// A server with two friends and lists.
async fn prepare(db: &Path) -> Server {
    let server = Server::start(db);
    let anna = Person::new(&server, Options::default()).await;
    anna.set_up("Anna").await;
    anna.go("/import").await;
    let list = db.with_file_name("list.csv");
    fs::write(&list, include_str!("list.csv")).unwrap();
    anna.browser.fill("#file", list.to_str().unwrap()).await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("Nothing is changed yet").await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("New on your list: 29.").await;
    anna.go("/friends").await;
    anna.browser
        .click("form[action='/friends/invite'] button")
        .await;
    let link = anna.browser.attribute("#link", "value").await;
    anna.go("/friends").await;
    anna.browser
        .click("form[action='/friends/invite'] button")
        .await;
    let other = anna.browser.attribute("#link", "value").await;
    let wide = Person::new(&server, Options::default()).await;
    wide.sign_up(&other, &"W".repeat(30)).await;
    wide.go("/films?q=alien").await;
    wide.browser.click("ul.films li:first-child button").await;
    wide.browser.wait_for("Added “Alien”").await;
    wide.browser.end().await;
    let ben = Person::new(&server, Options::default()).await;
    ben.sign_up(&link, "Ben").await;
    ben.go("/import").await;
    ben.browser.fill("#file", list.to_str().unwrap()).await;
    ben.browser.click("main button.primary").await;
    ben.browser.wait_for("Nothing is changed yet").await;
    ben.browser.click("main button.primary").await;
    ben.browser.wait_for("New on your list: 29.").await;
    anna.browser.end().await;
    ben.browser.end().await;
    server
}

pub async fn run() {
    let (_folder, db) = common::new_file();
    let server = prepare(&db).await;
    let axe = axe();
    let mut wrong = Vec::new();
    for width in WIDTHS {
        for is_dark in [false, true] {
            let height = if width < 600 { 844 } else { 900 };
            let options = Options {
                width,
                height,
                is_dark,
                has_script: true,
            };
            let anna = Person::new(&server, options).await;
            wrong.extend(look(&anna, "sign-in", "/sign-in", &axe, options).await);
            anna.go("/sign-in").await;
            anna.browser.fill("#name", "Anna").await;
            anna.browser.fill("#password", crate::PASSWORD).await;
            anna.browser.click("main button.primary").await;
            anna.browser.wait_for("Your list").await;
            let words = if is_dark { &GERMAN } else { &ENGLISH };
            choose(&anna, words).await;
            for (name, path) in PAGES {
                wrong.extend(look(&anna, name, path, &axe, options).await);
            }
            anna.go("/users").await;
            let user = "return [...document.querySelectorAll('main li a')].find(a => a.textContent == 'Ben').pathname";
            let user = anna.browser.run(user).await;
            let user = user.as_str().unwrap();
            wrong.extend(look(&anna, "user", user, &axe, options).await);
            anna.go("/import").await;
            // Browsers break a word at hyphens, but not at underscores.
            let list = db.with_file_name(format!("{}.csv", "unclear_".repeat(20)));
            fs::write(&list, include_str!("unclear.csv")).unwrap();
            anna.browser.fill("#file", list.to_str().unwrap()).await;
            anna.browser.click("main button.primary").await;
            anna.browser.wait_for(words.preview).await;
            let address = anna.browser.run("return location.pathname").await;
            let address = address.as_str().unwrap();
            wrong.extend(look(&anna, "import-check", address, &axe, options).await);
            choose(&anna, &ENGLISH).await;
            anna.browser.end().await;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rules of accessibility that a page breaks, as axe-core sees it.
async fn violations(browser: &Browser, axe: &str) -> impl Iterator<Item = String> {
    browser.run(&format!("{axe}; return null")).await;
    let found: Vec<String> = serde_json::from_value(browser.run_until_told(AXE).await).unwrap();
    let is_minor = |violation: &String| violation.starts_with("minor ");
    found
        .into_iter()
        .filter(move |violation| !is_minor(violation))
}

pub async fn look(
    person: &Person<'_>,
    name: &str,
    path: &str,
    axe: &str,
    options: Options,
) -> Vec<String> {
    let browser = &person.browser;
    person.go(path).await;
    browser
        .run("for (const details of document.querySelectorAll('details:not(.menu)')) details.open = true")
        .await;
    if ["film", "series"].contains(&name) {
        browser.click("ul.films li:first-child .title").await;
        browser
            .wait_for(if options.is_dark {
                GERMAN.listed
            } else {
                ENGLISH.listed
            })
            .await;
    }
    let scheme = if options.is_dark { "dark" } else { "light" };
    let seen = browser
        .run("return matchMedia('(prefers-color-scheme: dark)').matches")
        .await;
    assert_eq!(
        seen,
        Value::Bool(options.is_dark),
        "the browser isn't {scheme}"
    );
    let at = format!("{name}, {} px, {scheme}", options.width);
    if let Ok(folder) = std::env::var("INORDER_WATCH_PICTURES") {
        let file = format!("{folder}/{name}-{}-{scheme}.png.base64", options.width);
        fs::write(&file, browser.picture().await).unwrap();
        browser.run("scrollTo(0, document.body.scrollHeight)").await;
        let end = file.replace(".png", "-end.png");
        fs::write(end, browser.picture().await).unwrap();
    }
    let mut wrong: Vec<String> = serde_json::from_value(browser.run(LAYOUT).await).unwrap();
    if name == "list" && options.width < 600 {
        wrong.extend(too_high(browser).await);
    }
    // Both phones have the same elements in the same order.
    if options.width != SMALL_PHONE {
        wrong.extend(violations(browser, axe).await);
    }
    wrong
        .into_iter()
        .map(|what| format!("{at}: {what}"))
        .collect()
}
