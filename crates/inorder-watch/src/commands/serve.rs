//! `inorder-watch serve`: the server.

use crate::{
    db::Database,
    films::demo,
    web::{
        App, Config,
        listen::{self, Limits, STOP_TIMEOUT},
    },
};
use anyhow::Context;
use clap::Args;
use std::{
    io::{IsTerminal, stderr},
    net::SocketAddr,
    path::Path,
};
use tokio::{net::TcpListener, runtime, signal};
use tracing_subscriber::EnvFilter;

/// Serve the pages and the API
///
/// A new file gets a hundred films to begin with, and the first visitor who has the code that is printed here owns the
/// server.
#[derive(Args)]
pub struct Serve {
    /// Where to listen
    #[arg(
        long,
        env = "INORDER_WATCH_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS:PORT"
    )]
    listen: SocketAddr,
    /// People come through a proxy that speaks TLS: cookies are for TLS only, and X-Forwarded-For says who they are
    #[arg(long, env = "INORDER_WATCH_BEHIND_TLS")]
    behind_tls: bool,
}

impl Serve {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        let filter =
            EnvFilter::try_from_env("INORDER_WATCH_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
        let has_colours = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(stderr)
            .with_ansi(has_colours)
            .with_target(false)
            .init();
        let database = Database::open(db).with_context(|| format!("{}", db.display()))?;
        if demo::add_to_empty(&database)? {
            tracing::info!("a hundred films to begin with; import-films brings more");
        }
        let app = App::new(
            database,
            Config {
                behind_tls: self.behind_tls,
            },
        )?;
        let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
        let served = runtime.block_on(self.serve(app));
        // What still reads may be looking through every film; the writes are done when the database is dropped.
        runtime.shutdown_timeout(STOP_TIMEOUT);
        served
    }

    async fn serve(&self, app: App) -> anyhow::Result<()> {
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
                "\nNobody uses this server yet. Whoever opens this address owns it:\n\n    http://{address}/setup?code={code}\n"
            );
        }
        let mut limits = Limits::default();
        if self.behind_tls {
            limits.connections_per_address_max = limits.connections_max;
        }
        listen::serve(listener, app.router(), limits, until_told_to_stop()).await;
        Ok(())
    }
}

/// Ends with Ctrl-C or SIGTERM.
async fn until_told_to_stop() {
    let interrupt = signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminate) = signal::unix::signal(signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    let _ = interrupt.await;
}
