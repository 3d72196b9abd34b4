//! `serve`.

use super::usage::UsageError;
use super::{identity::Identity, location::Dir, password};
use anyhow::Context;
use clap::Args;
use inorder_couch::auth::{Admin, Auth};
use inorder_couch::http::{Server, ServerSettings, serve};
use inorder_couch::store::{self, Databases, Synchronous};
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use tokio::net::TcpListener;

/// Serves a folder of databases until SIGTERM or SIGINT.
///
/// Without an admin account, only loopback clients have access, and they have full access. The account is stored in the
/// folder: later starts need neither --admin nor the password.
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    dir: Dir,
    /// The address to listen at. Port 0 selects a free port.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:5984",
        env = "INORDER_COUCH_LISTEN"
    )]
    listen: String,
    /// Sets the admin account. The password is read from --password-file, from the variable INORDER_COUCH_PASSWORD, or
    /// from the terminal. It may be a hash from `inorder-couch hash-password`.
    #[arg(long, value_name = "NAME", env = "INORDER_COUCH_ADMIN")]
    admin: Option<String>,
    /// A file with the admin's password in its first line.
    #[arg(long, value_name = "FILE", requires = "admin")]
    password_file: Option<PathBuf>,
    /// Allows web pages of an origin, such as https://app.example.com, to use the server. May be repeated. `*` allows every
    /// origin and needs an admin account.
    #[arg(
        long = "cors-origin",
        value_name = "ORIGIN",
        env = "INORDER_COUCH_CORS_ORIGINS",
        value_delimiter = ','
    )]
    cors_origins: Vec<String>,
    /// Acknowledges writes before they are on the disk. A power failure may lose the last ones.
    #[arg(long, env = "INORDER_COUCH_RELAXED")]
    relaxed: bool,
    /// The largest request body, in bytes. Attachments sent by themselves have a limit of their own.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    body_bytes_max: usize,
    /// The most open connections; further ones wait.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    connections_max: usize,
    /// The most open connections of one client address; further ones are closed. Without it there is no limit per client.
    #[arg(long, value_name = "COUNT")]
    connections_per_client_max: Option<usize>,
    /// What to log on stderr: error, warn, info, debug, off, or a filter such as `warn,inorder_couch=debug`.
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
        inorder_serve::start_log(&self.log)
            .map_err(|error| UsageError(format!("--log {}: {error}", self.log)))?;
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
                "{address} can be reached from other machines, and there is no admin account: every client would have full access. Set one with --admin NAME, or listen at 127.0.0.1."
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
        // Unfinished requests were not acknowledged.
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
        let stop = inorder_serve::stop_at_signal()?;
        let listener = TcpListener::bind(address).await;
        let listener = listener.with_context(|| format!("cannot listen at {address}"))?;
        let address = listener.local_addr()?;
        if !auth.has_admin() {
            say(
                "no admin account: every client on this machine has full access (set one with --admin NAME)",
            );
        }
        say(&format!(
            "listening at http://{address}/ (status page: http://{address}/_utils/)"
        ));
        let settings = ServerSettings {
            listen: address.to_string(),
            uuid,
            body_bytes_max: self.body_bytes_max,
            bodies_bytes_max: self.body_bytes_max.saturating_mul(4),
            cors_origins: self.cors_origins.clone(),
            connections_max: self.connections_max,
            connections_per_client_max: self
                .connections_per_client_max
                .unwrap_or(self.connections_max),
            ..ServerSettings::default()
        };
        let server = Server::new(databases, auth, settings);
        serve(server, listener, stop).await;
        Ok(())
    }

    /// Refuses `*` and `null` without an admin account, because every website could then read and write everything. Any page
    /// can have the origin `null`.
    fn refuse_any_origin(&self) -> Result<(), UsageError> {
        let mut origins = self.cors_origins.iter().map(|origin| origin.trim());
        let Some(any) = origins.find(|origin| ["*", "null"].contains(origin)) else {
            return Ok(());
        };
        let problem = format!(
            "--cors-origin '{any}' allows every website, and there is no admin account: every website would have full access. Set one with --admin NAME, or name the origins."
        );
        Err(UsageError(problem))
    }

    fn address(&self) -> anyhow::Result<SocketAddr> {
        let problem = || UsageError(format!("--listen {}: this is no ADDRESS:PORT", self.listen));
        let mut addresses = self.listen.to_socket_addrs().map_err(|_| problem())?;
        Ok(addresses.next().ok_or_else(problem)?)
    }

    /// Returns the admin account, and stores a new one.
    fn admin(&self, identity: &mut Identity) -> anyhow::Result<Option<Admin>> {
        let known = identity.admin()?;
        let Some(name) = &self.admin else {
            return Ok(known);
        };
        if name.is_empty() || name.contains(':') || name.chars().any(char::is_control) {
            return Err(UsageError(
                "--admin: the name is empty, or has a colon or a control character".to_owned(),
            )
            .into());
        }
        let question = format!("Password of {name}: ");
        let given = match &self.password_file {
            Some(file) => password::from_file(file)?,
            None => match (password::from_environment(), known) {
                (Some(given), _) => given,
                // The stored account, named without a password.
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

/// Writes a line to stderr. The server continues without its terminal.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
