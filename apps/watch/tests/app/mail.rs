//! Mails: what a mail server on this machine is sent, and when.

use crate::client::{Answer, Client, PASSWORD, Site};
use inorder_watch::{
    Error,
    date::now_ms,
    db::mail,
    mail::{MailConfig, Mailer},
    request::Config,
};
use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const MINUTE_MS: i64 = 60 * 1000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// A mail server. RFC 5321, as far as a client needs it.
pub struct MailServer {
    pub address: String,
    mails: mpsc::Receiver<String>,
    /// Whether it refuses mails.
    is_full: Arc<AtomicBool>,
}

impl MailServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (told, mails) = mpsc::channel();
        let server = MailServer {
            address: format!("smtp://{}", listener.local_addr().unwrap()),
            mails,
            is_full: Arc::default(),
        };
        let is_full = Arc::clone(&server.is_full);
        // It ends with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                receive(stream.unwrap(), is_full.load(Ordering::SeqCst), &told);
            }
        });
        server
    }

    /// The mails since the last look: recipient, subject and text.
    pub fn take(&self) -> Vec<String> {
        self.mails.try_iter().collect()
    }
}

/// Speaks with a client until it quits.
fn receive(stream: TcpStream, is_full: bool, told: &mpsc::Sender<String>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut stream = stream;
    let mut say = |line: &str| stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    say("220 test");
    let mut recipient = String::new();
    while let Some(Ok(line)) = lines.next() {
        let verb = line[..line.len().min(4)].to_uppercase();
        match verb.as_str() {
            "QUIT" => {
                say("221 bye");
                break;
            }
            "RCPT" if is_full => say("452 full"),
            "RCPT" => {
                recipient.clone_from(&line);
                say("250 fine");
            }
            "DATA" => {
                say("354 go on");
                let text = lines.by_ref().map(Result::unwrap);
                let text: Vec<String> = text.take_while(|line| line != ".").collect();
                // Before the client knows: then the test sees it.
                let _ = told.send(format!("{recipient}\n{}", decoded(&text.join("\n"))));
                say("250 taken");
            }
            _ => say("250 fine"),
        }
    }
}

/// A text without the quoted-printable encoding of ASCII. RFC 2045, section 6.7.
fn decoded(text: &str) -> String {
    text.replace("=\n", "").replace("=3D", "=")
}

async fn site(names: &[&str]) -> (MailServer, Arc<Mailer>, Site, Vec<Client>) {
    let server = MailServer::start();
    let config = Config {
        sends_mail: true,
        ..Config::default()
    };
    let (site, people) = Site::with_people_and(config, names).await;
    let settings = MailConfig {
        smtp: server.address.clone(),
        from: "What to Watch <watch@example.org>".to_owned(),
        site: "https://watch.example.org/".to_owned(),
    };
    let mailer = Mailer::new(site.app.db(), &settings).unwrap();
    (server, Arc::new(mailer), site, people)
}

async fn set_address(client: &mut Client, address: &str, news: bool) -> Answer {
    let mut fields = vec![("address", address), ("confirm", PASSWORD)];
    if news {
        fields.push(("news", "1"));
    }
    client.post("/account", "/account/mail", &fields).await
}

async fn round(mailer: &Arc<Mailer>, after_ms: i64) -> usize {
    Arc::clone(mailer).round(now_ms() + after_ms).await.unwrap()
}

/// Makes the last mail with news of each user one of a day before.
async fn a_day_passes(site: &Site) {
    let pass = site.app.db().write(|db| {
        let sql = "UPDATE mail SET news_ms = news_ms - ?1";
        Ok(db.execute(sql, [DAY_MS])?)
    });
    pass.await.unwrap();
}

/// The path of the link in a mail.
fn link(mail: &str, path: &str) -> String {
    let (_, rest) = mail
        .split_once(&format!("https://watch.example.org{path}"))
        .unwrap_or_else(|| panic!("{mail}"));
    format!("{path}{}", &rest[..40])
}

/// Sets an address and opens the link that is sent there.
async fn confirm(server: &MailServer, mailer: &Arc<Mailer>, client: &mut Client, address: &str) {
    let answer = set_address(client, address, true).await;
    assert_eq!(answer.header("location"), "/account?done=mail");
    assert_eq!(round(mailer, 0).await, 1);
    let mails = server.take();
    assert!(
        mails[0].contains(&format!("RCPT TO:<{address}>")),
        "{mails:?}"
    );
    let link = link(&mails[0], "/mail/");
    // A program that only opens the link confirms nothing.
    assert!(
        client
            .get("/account")
            .await
            .text
            .contains("Not confirmed yet")
    );
    let answer = client.post(&link, &link, &[]).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(
        !client
            .get("/account")
            .await
            .text
            .contains("Not confirmed yet")
    );
    let again = client.post(&link, &link, &[]).await;
    assert_eq!(again.status, 422, "{}", again.text);
}

/// Asks for a new password, and waits until that is in the queue.
async fn forget(site: &Site, visitor: &mut Client, name: &str) -> Answer {
    let answer = visitor
        .post("/forgotten", "/forgotten", &[("name", name)])
        .await;
    // Tasks of this thread run in order, and writes too.
    tokio::task::yield_now().await;
    site.app.db().write(|_| Ok(())).await.unwrap();
    answer
}

#[tokio::test]
async fn a_forgotten_password_is_replaced_by_a_link_in_a_mail_that_is_good_once() {
    let (server, mailer, site, mut people) = site(&["Anna", "Ben"]).await;
    confirm(&server, &mailer, &mut people[1], "ben@example.org").await;
    let mut visitor = site.visitor();
    assert!(visitor.get("/sign-in").await.text.contains("/forgotten"));
    // The page says the same for those without an address and for nobody.
    let known = forget(&site, &mut visitor, "ben").await;
    let cut = |answer: &Answer| answer.text.split("<main").nth(1).unwrap().to_owned();
    for name in ["Anna", "Nobody", "<"] {
        let told = forget(&site, &mut visitor, name).await;
        assert_eq!((told.status, cut(&told)), (known.status, cut(&known)));
    }
    assert_eq!(round(&mailer, 0).await, 1);
    let mails = server.take();
    assert!(
        mails[0].contains("Hello Ben,") && mails[0].contains("Subject: Choose a new password"),
        "{mails:?}"
    );
    // Asked again soon, nothing is sent.
    forget(&site, &mut visitor, "Ben").await;
    assert_eq!(round(&mailer, 0).await, 0);
    let link = link(&mails[0], "/reset/");
    let new = [("password", "another long password")];
    let answer = visitor.post(&link, &link, &new).await;
    assert_eq!(answer.header("location"), "/sign-in?done=password");
    assert_eq!(visitor.get(&link).await.status, 422);
    assert_eq!(
        people[1].get("/").await.status,
        303,
        "the session has ended"
    );
    let old = visitor.sign_in("Ben", PASSWORD).await;
    assert_eq!(old.status, 422, "{}", old.text);
    let signed_in = visitor.sign_in("Ben", "another long password").await;
    assert_eq!(signed_in.status, 303, "{}", signed_in.text);
    // An address asks for a few only.
    let limited = forget(&site, &mut site.visitor(), "Ben").await;
    assert_eq!(limited.status, 429, "{}", limited.text);
}

#[tokio::test]
async fn what_the_mail_server_refuses_is_sent_later_and_given_up_after_ten_tries() {
    let (server, mailer, _site, mut people) = site(&["Anna"]).await;
    server.is_full.store(true, Ordering::SeqCst);
    set_address(&mut people[0], "anna@example.org", false).await;
    assert_eq!(round(&mailer, 0).await, 0);
    server.is_full.store(false, Ordering::SeqCst);
    assert_eq!(round(&mailer, MINUTE_MS / 2).await, 0, "it waits");
    assert_eq!(round(&mailer, 2 * MINUTE_MS).await, 1);
    assert_eq!(server.take().len(), 1);
    server.is_full.store(true, Ordering::SeqCst);
    set_address(&mut people[0], "other@example.org", false).await;
    for at in 0..10 {
        assert_eq!(round(&mailer, at * DAY_MS).await, 0);
    }
    server.is_full.store(false, Ordering::SeqCst);
    assert_eq!(round(&mailer, 100 * DAY_MS).await, 0);
    assert!(server.take().is_empty());
}

#[tokio::test]
async fn requests_and_additions_are_told_to_those_who_want_it() {
    let (server, mailer, site, mut people) = site(&["Anna", "Ben", "Cleo"]).await;
    confirm(&server, &mailer, &mut people[1], "ben@example.org").await;
    assert_eq!(round(&mailer, DAY_MS).await, 0, "there is no news");
    let ask = [("name", "Ben")];
    people[2].post("/friends", "/friends/request", &ask).await;
    people[0].add("Alien", &[]).await;
    people[0].add("Fargo", &[]).await;
    people[0].add("Jaws", &[("private", "1")]).await;
    assert_eq!(round(&mailer, DAY_MS).await, 1);
    let mail = server.take().remove(0);
    for words in [
        "RCPT TO:<ben@example.org>",
        "Cleo asks to be your friend.",
        "Anna has added 2 films.",
        "https://watch.example.org/account",
    ] {
        assert!(mail.contains(words), "{words}: {mail}");
    }
    assert_eq!(
        round(&mailer, DAY_MS + MINUTE_MS).await,
        0,
        "it is told once"
    );
    assert_eq!(round(&mailer, 3 * DAY_MS).await, 0, "it is told once");
    // A user in another language, with a name in another script.
    let invitation = people[0].invitation().await;
    let mut dora = site.visitor();
    dora.sign_up(&invitation, "Дора").await;
    dora.post("/account", "/account/language", &[("language", "de")])
        .await;
    set_address(&mut dora, "dora@example.org", true).await;
    assert_eq!(round(&mailer, 0).await, 1);
    let mail = server.take().remove(0);
    assert!(
        mail.contains("Subject: =?utf-8?") || mail.contains("Subject: Mailadresse"),
        "{mail}"
    );
    // Without an address nothing is sent any more.
    assert_eq!(
        set_address(&mut people[1], "", true)
            .await
            .header("location"),
        "/account?done=saved"
    );
    assert_eq!(round(&mailer, 0).await, 1, "the notice that it ended");
    let ask = [("name", "Ben")];
    dora.post("/friends", "/friends/request", &ask).await;
    people[0].add("Metropolis", &[]).await;
    assert_eq!(round(&mailer, 9 * DAY_MS).await, 0);
    let refused = set_address(&mut people[1], "no address", true).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
}

#[tokio::test]
async fn a_mail_has_no_film_and_no_request_of_an_earlier_one() {
    let (server, mailer, site, mut people) = site(&["Anna", "Ben", "Cleo", "Dora"]).await;
    confirm(&server, &mailer, &mut people[1], "ben@example.org").await;
    people[0].add("Alien", &[]).await;
    people[0].add("Fargo", &[]).await;
    assert_eq!(round(&mailer, 0).await, 1);
    let mail = server.take().remove(0);
    assert!(mail.contains("Anna has added 2 films."), "{mail}");
    // Ben has not looked at the page.
    people[0].add("Jaws", &[]).await;
    assert_eq!(round(&mailer, 0).await, 0, "once per day");
    a_day_passes(&site).await;
    assert_eq!(round(&mailer, 0).await, 1);
    let mail = server.take().remove(0);
    assert!(mail.contains("Anna has added 1 film."), "{mail}");
    // A request is told at once, without the films of before.
    let ask = [("name", "Ben")];
    people[2].post("/friends", "/friends/request", &ask).await;
    assert_eq!(round(&mailer, 0).await, 1);
    let mail = server.take().remove(0);
    assert!(
        mail.contains("Cleo asks") && !mail.contains("Anna"),
        "{mail}"
    );
    // What comes after the beginning of a round, and before the mail is made, is in this mail and in no other.
    people[3].post("/friends", "/friends/request", &ask).await;
    people[0].add("Metropolis", &[]).await;
    assert_eq!(round(&mailer, -MINUTE_MS).await, 1);
    let mail = server.take().remove(0);
    assert!(
        mail.contains("Dora asks") && mail.contains("Anna has added 1 film."),
        "{mail}"
    );
    for _ in 0..3 {
        assert_eq!(round(&mailer, 0).await, 0, "it is told once");
        a_day_passes(&site).await;
    }
}

#[tokio::test]
async fn without_a_mail_server_there_are_no_pages_about_mails() {
    let (_site, mut people) = Site::with_people(&["Anna"]).await;
    let account = people[0].get("/account").await.text;
    assert!(!account.contains("/account/mail"), "{account}");
    assert_eq!(
        set_address(&mut people[0], "a@example.org", true)
            .await
            .status,
        404
    );
    assert_eq!(
        people[0].clone_signed_out().get("/forgotten").await.status,
        404
    );
}

#[tokio::test]
async fn the_server_sends_in_the_background_and_ends_when_it_is_told() {
    let (server, mailer, site, mut people) = site(&["Anna"]).await;
    let stop = CancellationToken::new();
    let mailer = Arc::into_inner(mailer).unwrap();
    let running = tokio::spawn(mailer.run(Arc::clone(site.app.mail_added()), stop.clone()));
    set_address(&mut people[0], "anna@example.org", false).await;
    let wait = move || server.mails.recv_timeout(Duration::from_secs(300));
    let mail = tokio::task::spawn_blocking(wait).await.unwrap().unwrap();
    assert!(mail.contains("anna@example.org"), "{mail}");
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn settings_that_are_wrong_are_named() {
    let site = Site::new(Config::default());
    let right = ["smtp://127.0.0.1", "a@example.org", "https://example.org"];
    for (at, wrong, words) in [
        (0, "127.0.0.1", "mail server"),
        (1, "me", "the sender me"),
        (2, "example.org", "example.org is no address"),
    ] {
        let mut settings = right.map(str::to_owned);
        settings[at] = wrong.to_owned();
        let [smtp, from, own] = settings;
        let config = MailConfig {
            smtp,
            from,
            site: own,
        };
        let error = Mailer::new(site.app.db(), &config).err().expect(wrong);
        assert!(error.contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_mail_that_a_restore_took_out_of_the_queue_is_not_sent() {
    let (server, mailer, site, mut people) = site(&["Anna"]).await;
    confirm(&server, &mailer, &mut people[0], "anna@example.org").await;
    let db = site.app.db();
    db.write(|db| mail::ask_reset(db, "Anna")).await.unwrap();
    let due = db.read(|db| mail::due(db, i64::MAX)).unwrap();
    let due = due[0].clone();
    let made = db.write(move |db| {
        db.execute("DELETE FROM outgoing", [])?;
        mail::content(db, &due)
    });
    assert!(matches!(made.await, Err(Error::NotFound(_))));
}
