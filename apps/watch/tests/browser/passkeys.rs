//! Passkeys, with the virtual authenticator of the browser. <https://www.w3.org/TR/webauthn-3/#sctn-automation>

use crate::{
    PASSWORD, Person,
    common::{self, PROGRAM, Server},
    driver::Options,
    look,
};
use std::{net::TcpListener, path::Path, process::Command};

const SIGN_IN: &str = "form[action='/sign-in/passkey']";
const ADD: &str = "form[action='/account/passkeys']";

/// A server that knows its name, and its address without the name.
fn serve(db: &Path) -> (Server, String) {
    // Free until somebody else takes it.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let site = format!("http://localhost:{port}");
    let mut command = Command::new(PROGRAM);
    command
        .args(["serve", "--listen", &format!("127.0.0.1:{port}")])
        .args(["--site", &site, "--db"])
        .arg(db);
    let mut server = Server::run(command, db).expect("it listens");
    let numbers = std::mem::replace(&mut server.address, site);
    (server, numbers)
}

async fn add(anna: &Person<'_>, name: &str) {
    anna.go("/account").await;
    anna.browser.fill("#passkey-name", name).await;
    anna.browser.fill("#passkey-confirm", PASSWORD).await;
    anna.browser.click(&format!("{ADD} button")).await;
}

async fn sign_out(anna: &Person<'_>) {
    anna.go("/account").await;
    anna.browser.click("form[action='/sign-out'] button").await;
    anna.browser.wait_for("New here?").await;
}

pub async fn run() {
    let (_folder, db) = common::new_file();
    let (server, numbers) = serve(&db);
    let options = Options {
        width: 390,
        height: 844,
        ..Options::default()
    };
    let anna = Person::new(&server, options).await;
    let browser = &anna.browser;
    browser.add_authenticator().await;
    anna.set_up("Anna").await;
    anna.go("/account").await;
    assert!(browser.is_displayed(ADD).await);
    assert!(!browser.is_displayed("[data-no-passkeys]").await);
    browser.fill("#passkey-name", "Telephone").await;
    browser.fill("#passkey-confirm", "not the password").await;
    browser.click(&format!("{ADD} button")).await;
    browser.wait_for("This is not your password.").await;
    add(&anna, "Telephone").await;
    browser.wait_for("The passkey is added").await;
    browser.wait_for("not used yet").await;
    add(&anna, "Once more").await;
    browser
        .wait_for("This device has a passkey for this account already.")
        .await;
    sign_out(&anna).await;

    let axe = look::axe();
    let mut wrong = look::look(&anna, "sign-in-passkey", "/sign-in", &axe, options).await;
    anna.go("/sign-in?next=%2Faccount").await;
    browser.click(&format!("{SIGN_IN} button")).await;
    browser.wait_for("last used").await;
    wrong.extend(look::look(&anna, "account-passkey", "/account", &axe, options).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // At another address of the same server there are none.
    browser.go(&format!("{numbers}/sign-in")).await;
    browser.wait_for("New here?").await;
    assert!(!browser.is_displayed(SIGN_IN).await);

    anna.go("/account").await;
    // On a phone the navigation is at the bottom of the screen.
    let remove = "form[action$='/remove'] button";
    let scroll =
        format!("document.querySelector(\"{remove}\").scrollIntoView({{block: 'center'}})");
    browser.run(&scroll).await;
    browser.click(remove).await;
    browser.wait_for("The passkey is removed here.").await;
    sign_out(&anna).await;
    browser.click(&format!("{SIGN_IN} button")).await;
    browser.wait_for("This passkey is not known here").await;
    anna.browser.end().await;
    without_a_script(&server, options).await;
}

/// The password does it, and the page says what a passkey takes.
async fn without_a_script(server: &Server, options: Options) {
    let without = Options {
        has_script: false,
        ..options
    };
    let ben = Person::new(server, without).await;
    ben.go("/sign-in").await;
    assert!(!ben.browser.is_displayed(SIGN_IN).await);
    ben.browser.fill("#name", "Anna").await;
    ben.browser.fill("#password", PASSWORD).await;
    ben.browser.click("main button.primary").await;
    ben.browser.wait_for("Your list").await;
    ben.go("/account").await;
    ben.browser
        .wait_for(&format!("open {} in a browser", server.address))
        .await;
    assert!(!ben.browser.is_displayed(ADD).await);
    ben.browser.end().await;
}
