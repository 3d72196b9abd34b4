//! Sends mails by SMTP, from the queue in the database.

use crate::{
    Error, Result,
    date::now_ms,
    db::{
        Database,
        links::RESET_HOURS,
        mail::{self, Content, Due, News},
        users::User,
    },
    words::{self, Arg, say},
};
use lettre::{
    Message, SmtpTransport, Transport,
    message::{Mailbox, header::ContentType},
};
use std::{io, sync::Arc, time::Duration};
use tokio::{sync::Notify, task::spawn_blocking, time};
use tokio_util::sync::CancellationToken;

/// The time between two looks at the queue, unless something is added to it here.
const PAUSE: Duration = Duration::from_secs(60);

/// The timeout of each command to the mail server.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// What the server needs to send mails.
#[derive(Clone, Debug)]
pub struct MailConfig {
    /// The mail server, such as `smtps://user:password@mail.example.org`.
    pub smtp: String,
    /// The sender.
    pub from: String,
    /// The address of this site, for links. The header of a request is not trusted for it.
    pub site: String,
}

/// Sends the mails of a database.
pub struct Mailer {
    db: Database,
    transport: SmtpTransport,
    from: Mailbox,
    site: String,
}

/// Whether this is a mail address.
pub fn is_address(text: &str) -> bool {
    text.len() <= 254 && text.parse::<lettre::Address>().is_ok()
}

impl Mailer {
    /// Creates a mailer. It connects when there is something to send.
    ///
    /// # Errors
    /// A text that says which setting is wrong.
    pub fn new(db: &Database, config: &MailConfig) -> Result<Self, String> {
        let transport = SmtpTransport::from_url(&config.smtp);
        let transport =
            transport.map_err(|error| format!("the address of the mail server: {error}"))?;
        let from = config.from.parse();
        let is_site = ["http://", "https://"]
            .iter()
            .any(|scheme| config.site.starts_with(scheme));
        if !is_site {
            return Err(format!(
                "{} is no address of a site, such as https://watch.example.org",
                config.site
            ));
        }
        Ok(Mailer {
            db: db.clone(),
            transport: transport.timeout(Some(COMMAND_TIMEOUT)).build(),
            from: from.map_err(|error| format!("the sender {}: {error}", config.from))?,
            site: config.site.trim_end_matches('/').to_owned(),
        })
    }

    /// Sends mails until the server stops.
    pub async fn run(self, added: Arc<Notify>, stop: CancellationToken) {
        let mailer = Arc::new(self);
        loop {
            if let Err(error) = Arc::clone(&mailer).round(now_ms()).await {
                tracing::error!("mails: {error}");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = added.notified() => {}
                () = time::sleep(PAUSE) => {}
            }
        }
    }

    /// Sends what is due. Returns the number of mails that were sent.
    ///
    /// # Errors
    /// That of the database. A mail that can't be sent is tried again later.
    pub async fn round(self: Arc<Self>, now_ms: i64) -> Result<usize> {
        self.db
            .write(move |db| mail::collect_news(db, now_ms))
            .await?;
        let mut count = 0;
        for due in self.db.read(|db| mail::due(db, now_ms))? {
            let mail = due.clone();
            let content = self.db.write(move |db| mail::content(db, &mail)).await;
            let content = match content {
                // The account was deleted or a backup restored meanwhile.
                Err(Error::NotFound(_)) => continue,
                content => content?,
            };
            // A mail that has nothing to say any more leaves the queue as a sent one does.
            let sent = match content {
                None => Ok(None),
                Some((member, address, content)) => {
                    let mailer = Arc::clone(&self);
                    let sent = mailer.send(&member, &address, &content);
                    sent.await.map(|()| Some(content))
                }
            };
            match sent {
                Ok(content) => {
                    count += usize::from(content.is_some());
                    self.db
                        .write(move |db| mail::sent(db, &due, content.as_ref(), now_ms))
                        .await?;
                }
                Err(error) => self.failed(due, now_ms, &error).await?,
            }
        }
        Ok(count)
    }

    async fn failed(&self, due: Due, now_ms: i64, error: &str) -> Result<()> {
        let failed = self.db.write(move |db| mail::failed(db, &due, now_ms));
        match failed.await? {
            true => tracing::warn!("a mail could not be sent, and is tried again: {error}"),
            false => tracing::error!("a mail could not be sent, and is given up: {error}"),
        }
        Ok(())
    }

    async fn send(
        self: Arc<Self>,
        user: &User,
        address: &str,
        content: &Content,
    ) -> Result<(), String> {
        let language = user.language.unwrap_or_default();
        let (subject, text) = words::within_now(language, || self.text(user, content));
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let message = Message::builder()
            .from(self.from.clone())
            .to(address.parse().map_err(|error| told(&error))?)
            .subject(subject)
            .header(ContentType::TEXT_PLAIN)
            .body(text)
            .map_err(|error| told(&error))?;
        let sent = spawn_blocking(move || self.transport.send(&message));
        let sent = sent.await.map_err(|error| told(&io::Error::other(error)))?;
        sent.map(drop).map_err(|error| told(&error))
    }

    /// The subject and the text of a mail.
    fn text(&self, user: &User, content: &Content) -> (String, String) {
        let link = |path: String| format!("{}{path}", self.site);
        let (subject, said, link) = match content {
            Content::Confirm(secret) => (
                say::mail_confirm_subject(),
                say::mail_confirm(Arg::key(self.site.clone())).plain(),
                link(format!("/mail/{secret}")),
            ),
            Content::Reset(secret) => (
                say::mail_reset_subject(),
                say::mail_reset(RESET_HOURS).plain(),
                link(format!("/reset/{secret}")),
            ),
            Content::Notice => (
                say::mail_notice_subject(),
                say::mail_notice(Arg::key(self.site.clone())).plain(),
                link("/account".to_owned()),
            ),
            Content::News(News { asking, films, .. }) => {
                let asking = asking.iter().map(|name| say::mail_asks(name).plain());
                let films = films
                    .iter()
                    .map(|(name, count)| say::mail_films(name, *count).plain());
                let lines: Vec<String> = asking.chain(films).collect();
                (
                    say::mail_news_subject(),
                    lines.join("\n"),
                    link("/friends".to_owned()),
                )
            }
        };
        let mut text = format!("{}\n\n{said}\n\n{link}\n", say::mail_hello(&user.name));
        if matches!(content, Content::News(..)) {
            text += &format!(
                "\n{}\n",
                say::mail_news_end(Arg::key(format!("{}/account", self.site)))
            );
        }
        (subject.plain(), text)
    }
}
