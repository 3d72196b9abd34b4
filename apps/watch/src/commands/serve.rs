//! `inorder-watch serve`: the server.

use crate::{
    db::{Database, restore},
    films::demo,
    mail::{MailConfig, Mailer},
    passkeys::Site,
    posters::{Fetcher, TMDB_API, TMDB_IMAGES, TmdbConfig},
    request::{App, Config},
    updates, web,
};
use anyhow::{Context, anyhow};
use clap::Args;
use inorder_serve::{ConnectionLimits, HttpServer, stop_at_signal};
use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};
use tokio::{net::TcpListener, runtime};

/// Serve the pages and the API
///
/// A new file gets 100 films and 20 series. The command prints an address with a setup code: the first visitor with the code owns the
/// server.
#[derive(Args)]
pub struct Serve {
    /// The address to listen at. Port 0 selects a free port
    #[arg(
        long,
        env = "INORDER_WATCH_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS:PORT"
    )]
    listen: SocketAddr,
    /// The server is behind a proxy that speaks TLS: cookies are sent over TLS only, and the client address is the last one
    /// in X-Forwarded-For
    #[arg(long, env = "INORDER_WATCH_BEHIND_TLS")]
    behind_tls: bool,
    /// The mail server, such as `smtps://user:password@mail.example.org`, or `smtp://127.0.0.1` without TLS. With it, users
    /// get a new password and news by mail
    #[arg(
        long,
        env = "INORDER_WATCH_SMTP",
        hide_env_values = true,
        value_name = "URL",
        requires_all = ["mail_from", "site"]
    )]
    smtp: Option<String>,
    /// The sender of mails, such as `What to Watch <watch@example.org>`
    #[arg(
        long,
        env = "INORDER_WATCH_MAIL_FROM",
        value_name = "ADDRESS",
        requires = "smtp"
    )]
    mail_from: Option<String>,
    /// The address of this site, such as `https://watch.example.org`, for passkeys and for the links in mails
    #[arg(long, env = "INORDER_WATCH_SITE", value_name = "URL")]
    site: Option<String>,
    /// The key of TMDB, an API key or an API read access token. With it, the server fetches posters and synopses of the films
    /// on lists and of those that somebody looks at
    #[arg(
        long,
        env = "INORDER_WATCH_TMDB_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    tmdb_key: Option<String>,
    /// The address of TMDB's API, such as that of a proxy
    #[arg(
        long,
        env = "INORDER_WATCH_TMDB_API",
        value_name = "URL",
        requires = "tmdb_key",
        default_value = TMDB_API
    )]
    tmdb_api: String,
    /// The address of TMDB's pictures
    #[arg(
        long,
        env = "INORDER_WATCH_TMDB_IMAGES",
        value_name = "URL",
        requires = "tmdb_key",
        default_value = TMDB_IMAGES
    )]
    tmdb_images: String,
    /// Look once a day for a newer version at the address of the newest release, whose JSON has `tag_name`, as that of GitHub,
    /// Gitea and Forgejo. The owner sees it on the page of the users
    #[arg(long, env = "INORDER_WATCH_UPDATES", value_name = "URL")]
    updates: Option<String>,
    /// What to log on stderr: error, warn, info, debug, or a filter such as `warn,inorder_watch=debug`
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        env = "INORDER_WATCH_LOG"
    )]
    log: String,
}

impl Serve {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        inorder_serve::start_log(&self.log)
            .map_err(|error| anyhow!("--log {}: {error}", self.log))?;
        let database = Database::open(db).with_context(|| format!("{}", db.display()))?;
        restore::remove_left(&database)?;
        if demo::add_to_empty(&database)? {
            tracing::info!("100 films and 20 series to begin with; import-films brings more");
        }
        let mailer = self.mailer(&database)?;
        let app = App::new(
            database,
            Config {
                behind_tls: self.behind_tls,
                sends_mail: mailer.is_some(),
                fetches_posters: self.tmdb_key.is_some(),
                site: self.site(),
            },
        )?;
        let fetcher = self.fetcher(&app)?;
        let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
        let served = runtime.block_on(self.serve(app, mailer, fetcher));
        // A read may still be looking through every film. Acknowledged writes are durable.
        runtime.shutdown_timeout(Duration::from_secs(1));
        served
    }

    /// The site that passkeys belong to, if it can have any.
    fn site(&self) -> Option<Site> {
        let site = Site::parse(self.site.as_deref()?);
        site.inspect_err(|problem| tracing::warn!("no passkeys: --site {problem}"))
            .ok()
    }

    /// What sends mails, if a mail server is named.
    fn mailer(&self, database: &Database) -> anyhow::Result<Option<Mailer>> {
        let (Some(smtp), Some(from), Some(site)) = (&self.smtp, &self.mail_from, &self.site) else {
            return Ok(None);
        };
        let config = MailConfig {
            smtp: smtp.clone(),
            from: from.clone(),
            site: site.clone(),
        };
        Mailer::new(database, &config)
            .map(Some)
            .map_err(|error| anyhow!(error))
    }

    /// What fetches posters, if there is a key.
    fn fetcher(&self, app: &App) -> anyhow::Result<Option<Fetcher>> {
        let Some(key) = &self.tmdb_key else {
            return Ok(None);
        };
        let config = TmdbConfig {
            key: key.clone(),
            api: self.tmdb_api.trim_end_matches('/').to_owned(),
            images: self.tmdb_images.trim_end_matches('/').to_owned(),
        };
        Fetcher::new(app.db(), config, Arc::clone(app.posters_wanted()))
            .map(Some)
            .map_err(|error| anyhow!(error))
    }

    async fn serve(
        &self,
        app: App,
        mailer: Option<Mailer>,
        fetcher: Option<Fetcher>,
    ) -> anyhow::Result<()> {
        let stop = stop_at_signal()?;
        if let Some(mailer) = mailer {
            tokio::spawn(mailer.run(Arc::clone(app.mail_added()), stop.clone()));
        }
        if let Some(url) = self.updates.clone() {
            let (app, stop) = (app.clone(), stop.clone());
            tokio::spawn(async move { updates::watch(url, app.newer(), stop).await });
        }
        if let Some(fetcher) = fetcher {
            tokio::spawn(fetcher.run(stop.clone()));
        }
        let listener = TcpListener::bind(self.listen);
        let listener = listener.await.with_context(|| {
            format!(
                "can't listen on {}: give another with --listen",
                self.listen
            )
        })?;
        let address = listener.local_addr()?;
        tracing::info!("listening on http://{address}");
        if let Some(code) = app.setup_code() {
            eprintln!(
                "\nThis server has no owner yet. Open this address to create the owner's account:\n\n    http://{address}/setup?code={code}\n"
            );
        }
        let mut limits = ConnectionLimits::default();
        if self.behind_tls {
            // All connections are the proxy's.
            limits.connections_per_client_max = limits.connections_max;
        }
        let server = HttpServer {
            answers: web::router(&app),
            limits,
            open: Arc::default(),
            stop,
        };
        server.serve(listener).await;
        Ok(())
    }
}
