//! The whole journey in a real browser, with a script and without, and every page looked over: by axe-core for everybody
//! who doesn't see or point, and at every width for what is cut.

#[path = "../common/mod.rs"]
mod common;
mod driver;
mod journey;
mod look;
mod modules;
mod offline;
mod passkeys;
mod saves;
mod unsteady;

use common::Server;
use driver::{Browser, Options};

/// Somebody's browser at the server.
struct Person<'a> {
    browser: Browser,
    server: &'a Server,
}

const PASSWORD: &str = "a long enough password";

impl<'a> Person<'a> {
    async fn new(server: &'a Server, options: Options) -> Self {
        Person {
            browser: Browser::start(options).await,
            server,
        }
    }

    async fn go(&self, path: &str) {
        self.browser
            .go(&format!("{}{path}", self.server.address))
            .await;
    }

    /// Sets the server up, and owns it.
    async fn set_up(&self, name: &str) {
        self.go("/").await;
        let code = self.server.setup_code.as_ref().expect("a new server");
        self.browser.fill("#code", code).await;
        self.browser.fill("#name", name).await;
        self.browser.fill("#password", PASSWORD).await;
        self.browser.click("main button.primary").await;
        self.browser.wait_for("Find a film").await;
    }

    /// Signs up with an invitation's link.
    async fn sign_up(&self, invitation: &str, name: &str) {
        self.browser.go(invitation).await;
        self.browser.fill("#name", name).await;
        self.browser.fill("#password", PASSWORD).await;
        self.browser.click("main button.primary").await;
        self.browser.wait_for("Your list").await;
    }
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_the_whole_journey() {
    journey::run(true).await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_the_whole_journey_without_a_script() {
    journey::run(false).await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_every_page_is_for_everybody_and_nothing_is_cut() {
    look::run().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_a_list_is_changed_without_a_connection() {
    offline::run().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_a_form_is_not_sent_again_when_the_connection_is_back() {
    offline::a_form_is_not_sent().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_a_change_that_is_refused_is_shown_with_the_reason() {
    offline::a_change_is_refused().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_a_page_saves_only_what_was_changed_on_it() {
    saves::run().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_changes_are_sent_one_after_the_other() {
    unsteady::changes_are_sent_in_a_row().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_typed_text_stays_when_the_connection_is_back() {
    unsteady::typed_text_stays().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_an_old_page_overwrites_no_change_of_the_device() {
    unsteady::an_old_page_overwrites_nothing().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_signing_out_in_another_tab_leaves_no_copy() {
    unsteady::signing_out_leaves_no_copy().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_the_device_knows_series_and_what_it_saw_last() {
    unsteady::the_device_knows_what_it_has_seen().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_a_passkey_takes_the_place_of_a_password() {
    passkeys::run().await;
}

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_without_a_connection_the_app_says_so() {
    let (_folder, db) = common::new_file();
    let server = Server::start(&db);
    let Person { browser, .. } = Person::new(&server, Options::default()).await;
    browser.go(&format!("{}/sign-in", server.address)).await;
    let ready = "const told = arguments[arguments.length - 1]; navigator.serviceWorker.ready.then(() => told(true))";
    browser.run_until_told(ready).await;
    let list = format!("{}/?sort=title", server.address);
    server.kill();
    browser.go(&list).await;
    browser.wait_for("No connection").await;
    assert_eq!(browser.count("link[rel=stylesheet]").await, 1);
    browser.end().await;
}

/// Texts of the page whose letters don't stand from left to right, but for what people wrote.
const TURNED: &str = "
    const wrong = [];
    const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    for (let text; text = texts.nextNode();) {
      if (text.parentElement.closest('bdi, [dir=auto]')) continue;
      const range = document.createRange();
      let last = null;
      for (let i = 0; i < text.length; i++) {
        range.setStart(text, i);
        range.setEnd(text, i + 1);
        const box = range.getBoundingClientRect();
        if (box.width === 0) continue;
        if (last && Math.abs(box.top - last.top) < 2 && box.left < last.left) { wrong.push(text.data.trim()); break; }
        last = box;
      }
    }
    return wrong;";

#[tokio::test]
#[ignore = "needs a browser"]
async fn browser_a_title_turns_nothing_around() {
    let (folder, db) = common::new_file();
    let server = Server::start(&db);
    let anna = Person::new(&server, Options::default()).await;
    anna.set_up("Anna").await;
    let list = folder.path().join("list.csv");
    let text = "Name,Year,Note\n\u{202e}Turned \u{5d0}\u{5d1},2001,\u{202e}a note\nAlien,1979,\n";
    std::fs::write(&list, text).unwrap();
    anna.go("/import").await;
    anna.browser.fill("#file", list.to_str().unwrap()).await;
    anna.browser.click("main button.primary").await;
    anna.browser
        .wait_for("Add films that are not known here")
        .await;
    anna.browser.click("input[name=add_missing]").await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("New on your list: 2.").await;
    anna.go("/films?q=turned").await;
    anna.browser.click("ul.films li:first-child .title").await;
    anna.browser.wait_for("On your list").await;
    anna.browser.click("main button.primary").await;
    anna.browser.wait_for("Saved").await;
    let mut years = 0;
    for path in ["", "/films?q=turned", "/", "/?sort=title"] {
        if !path.is_empty() {
            anna.go(path).await;
        }
        let turned = anna.browser.run(TURNED).await;
        assert_eq!(turned, serde_json::json!([]), "{path}");
        years += anna.browser.count(".year").await;
        // Without isolation this would be visible.
        let unwrap = "for (const bdi of document.querySelectorAll('bdi')) bdi.replaceWith(...bdi.childNodes);";
        anna.browser.run(unwrap).await;
        let turned = anna.browser.run(TURNED).await;
        assert_ne!(turned, serde_json::json!([]), "{path}");
    }
    assert!(years >= 6, "{years}");
    anna.browser.end().await;
}
