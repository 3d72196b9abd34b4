//! The whole journey in a real browser, with a script and without, and every page looked over: by axe-core for everybody
//! who doesn't see or point, and at every width for what is cut.

#[path = "../common/mod.rs"]
mod common;
mod driver;
mod journey;
mod look;

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
