//! `serve`.

use super::{UsageError, identity::Identity, location::Dir, password};
use anyhow::Context;
use clap::Args;
use inorder_couch::auth::{Admin, Auth};
use inorder_couch::http::{Listening, Server, Settings, serve};
use inorder_couch::store::{self, Databases, Synchronous};
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// Serves a folder of databases until it gets SIGTERM or SIGINT.
///
/// Without an admin anybody who reaches the server may do everything, so it listens to this machine alone. An admin that
/// was set once stays: later starts need neither --admin nor the password.
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    dir: Dir,
    /// Where to listen; port 0 is any free one.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:5984",
        env = "INORDER_COUCH_LISTEN"
    )]
    listen: String,
    /// Sets the admin's name. The password comes from --password-file, from the variable INORDER_COUCH_PASSWORD, or is
    /// asked for; it may be what `inorder-couch hash-password` prints.
    #[arg(long, value_name = "NAME", env = "INORDER_COUCH_ADMIN")]
    admin: Option<String>,
    /// The file with the admin's password in its first line.
    #[arg(long, value_name = "FILE", requires = "admin")]
    password_file: Option<PathBuf>,
    /// Web pages of this origin may use the server, such as https://app.example.com; `*` is any, and needs an admin. May be
    /// given several times.
    #[arg(
        long = "cors-origin",
        value_name = "ORIGIN",
        env = "INORDER_COUCH_CORS_ORIGINS",
        value_delimiter = ','
    )]
    cors_origins: Vec<String>,
    /// Acknowledges writes before the disk has them: faster, but a loss of power may take the last ones back.
    #[arg(long, env = "INORDER_COUCH_RELAXED")]
    relaxed: bool,
    /// The largest body of a request that is not an attachment by itself, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    body_bytes_max: usize,
    /// The most connections at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    connections_max: usize,
    /// What to tell on stderr: error, warn, info, debug, or a filter as in `warn,inorder_couch=debug`.
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        env = "INORDER_COUCH_LOG"
    )]
    log: String,
}

impl Serve {
    pub fn run(self) -> anyhow::Result<()> {
        self.start_log()?;
        let address = self.address()?;
        let settings = store::Settings {
            synchronous: if self.relaxed {
                Synchronous::Relaxed
            } else {
                Synchronous::Full
            },
            ..store::Settings::default()
        };
        let databases = Databases::open(&self.dir.dir, settings)?;
        let mut identity = Identity::open(&self.dir.dir)?;
        let admin = self.admin(&mut identity)?;
        if admin.is_none() && !address.ip().is_loopback() {
            let problem = format!(
                "{address} can be reached from other machines, and there is no admin: anybody could do everything. Set one with --admin NAME, or listen at 127.0.0.1."
            );
            return Err(UsageError(problem).into());
        }
        if admin.is_none() {
            self.refuse_any_origin()?;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("inorder-couch")
            .build()?;
        let served = runtime.block_on(self.serve(
            databases,
            Auth::new(admin, identity.secret.as_bytes()),
            identity.uuid,
            address,
        ));
        // What may still run was not acknowledged, and has no time left.
        runtime.shutdown_background();
        served
    }

    async fn serve(
        &self,
        databases: Databases,
        auth: Auth,
        uuid: String,
        address: SocketAddr,
    ) -> anyhow::Result<()> {
        let stop = stop_at_signal()?;
        let listening = Listening::bind(address).await;
        let listening = listening.with_context(|| format!("cannot listen at {address}"))?;
        let address = listening.address;
        if !auth.has_admin() {
            say("no admin: anybody on this machine may do everything (set one with --admin NAME)");
        }
        say(&format!(
            "listening at http://{address}/ (status page: http://{address}/_utils/)"
        ));
        let settings = Settings {
            listen: address.to_string(),
            uuid,
            body_bytes_max: self.body_bytes_max,
            bodies_bytes_max: self.body_bytes_max.saturating_mul(4),
            cors_origins: self.cors_origins.clone(),
            connections_max: self.connections_max,
            ..Settings::default()
        };
        let server = Server::new(databases, auth, settings);
        serve(server, listening, stop.cancelled_owned()).await;
        Ok(())
    }

    fn start_log(&self) -> anyhow::Result<()> {
        let filter = EnvFilter::try_new(&self.log);
        let filter = filter.map_err(|error| UsageError(format!("--log {}: {error}", self.log)))?;
        let is_colourful = console::colors_enabled_stderr();
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(is_colourful)
            .log_internal_errors(false)
            .init();
        Ok(())
    }

    /// Without an admin every page of every website could read and write everything. `null` is the origin of any page that
    /// wants it.
    fn refuse_any_origin(&self) -> Result<(), UsageError> {
        let mut origins = self.cors_origins.iter().map(|origin| origin.trim());
        let Some(any) = origins.find(|origin| ["*", "null"].contains(origin)) else {
            return Ok(());
        };
        let problem = format!(
            "--cors-origin '{any}' lets any website use the server, and there is no admin: any website could do everything. Set an admin with --admin NAME, or name the origins."
        );
        Err(UsageError(problem))
    }

    fn address(&self) -> anyhow::Result<SocketAddr> {
        let problem = || {
            UsageError(format!(
                "--listen {}: not an address with a port",
                self.listen
            ))
        };
        let mut addresses = self.listen.to_socket_addrs().map_err(|_| problem())?;
        Ok(addresses.next().ok_or_else(problem)?)
    }

    /// The admin there is to be; one that is new is kept.
    fn admin(&self, identity: &mut Identity) -> anyhow::Result<Option<Admin>> {
        let known = identity.admin()?;
        let Some(name) = &self.admin else {
            return Ok(known);
        };
        if name.is_empty() || name.contains(':') || name.chars().any(char::is_control) {
            return Err(
                UsageError("--admin: a name has no colon and is not empty".to_owned()).into(),
            );
        }
        let question = format!("Password of {name}: ");
        let given = match &self.password_file {
            Some(file) => password::from_file(file)?,
            None => match (password::from_environment(), known) {
                (Some(given), _) => given,
                // Named again without a password: nothing changes, and nothing is asked.
                (None, Some(known)) if known.name == *name => return Ok(Some(known)),
                (None, _) => password::ask(&question)?,
            },
        };
        let known = identity.admin()?;
        if let Some(known) = known.filter(|known| known.name == *name)
            && password::is_same(&given, &known.password)
        {
            return Ok(Some(known));
        }
        let admin = Admin {
            name: name.clone(),
            password: password::hashed(&given)?,
        };
        identity.set_admin(&self.dir.dir, &admin)?;
        Ok(Some(admin))
    }
}

/// After a signal the process ends within ten seconds, whatever it does.
const STOP_MAX: Duration = Duration::from_millis(9500);

/// Is cancelled at SIGTERM or SIGINT. A second one ends the process at once, and so does [`STOP_MAX`] after the first: what was
/// acknowledged is kept, as it would be after `kill -9`. It needs nothing of the server, and so works when the server is stuck.
fn stop_at_signal() -> std::io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (mut terminate, mut interrupt) = {
        let _within = runtime.enter();
        (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        )
    };
    let signals = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        say("stopping");
        stopped.cancel();
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = tokio::time::sleep(STOP_MAX) => {}
        }
        say("ended before all requests were answered");
        std::process::exit(0)
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || runtime.block_on(signals))?;
    Ok(stop)
}

/// Tells whoever still listens; a server goes on without its terminal.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
