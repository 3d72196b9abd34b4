//! `serve`.

use super::listeners::Listeners;
use super::tls::Tls;
use super::usage::UsageError;
use super::{identity, livesync::LiveSync, location::Dir, password};
use clap::Args;
use inorder_couch::auth::password::PasswordHash;
use inorder_couch::auth::{ADMINS, Admin, Auth, keep_an_admin};
use inorder_couch::config::{Config, Lifetime, keys};
use inorder_couch::http::{INDEX, Server, ServerSettings, has_page, serve_also_tls};
use inorder_couch::store::{self, Databases, Synchronous};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

/// Serves a folder of databases until SIGTERM or SIGINT.
///
/// Without an admin account, only loopback clients have access, and they have full access. The account is stored in the
/// folder: later starts need neither --admin nor the password. The configuration is the file `local.ini` in the folder; an
/// option goes before it.
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    dir: Dir,
    /// The address to listen at. Port 0 selects a free port. Without it, the address is `[chttpd] bind_address` and `port` of
    /// the configuration, by default 127.0.0.1:5984.
    #[arg(long, value_name = "ADDRESS:PORT", env = "INORDER_COUCH_LISTEN")]
    listen: Option<String>,
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
    /// The memory for request bodies, of all requests together, in bytes. The text of one document, without the data of its
    /// attachments, may have half of it.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    bodies_bytes_max: usize,
    /// The most open connections; further ones wait.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    connections_max: usize,
    /// The most open connections of one client address; further ones are closed. Without it there is no limit per client.
    #[arg(long, value_name = "COUNT")]
    connections_per_client_max: Option<usize>,
    /// Serves a folder at `/_utils/` in place of the status page, such as a build of CouchDB's Fauxton.
    #[arg(long, value_name = "FOLDER", env = "INORDER_COUCH_UTILS")]
    utils: Option<PathBuf>,
    #[command(flatten)]
    tls: Tls,
    #[command(flatten)]
    livesync: LiveSync,
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
        let settings = store::Settings {
            synchronous: if self.relaxed {
                Synchronous::Relaxed
            } else {
                Synchronous::Full
            },
            ..store::Settings::default()
        };
        if let Some(folder) = self.utils.as_ref().filter(|it| !has_page(it)) {
            let problem = format!("--utils {}: the folder has no {INDEX}", folder.display());
            return Err(UsageError(problem).into());
        }
        let databases = Databases::open(&self.dir.dir, settings)?;
        let config = Arc::new(identity::open(&self.dir.dir)?);
        self.fix(&config);
        let address = self.address(&config)?;
        let secure = self.tls.configured(&config, address, &self.dir.dir)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("inorder-couch")
            .build()?;
        // Before anything is stored and printed once: an address may be in use.
        let listeners = runtime.block_on(Listeners::bind(address, secure))?;
        let url = self.url(&listeners)?;
        let announcement = self.livesync.prepare(&config, &databases, &url)?;
        self.check_access(&listeners, &config)?;
        let auth = Auth::of(Arc::clone(&config));
        let served = runtime.block_on(self.serve(databases, auth, config, listeners, announcement));
        // Unfinished requests were not acknowledged.
        runtime.shutdown_background();
        served
    }

    /// The URL of this server for clients.
    fn url(&self, listeners: &Listeners) -> anyhow::Result<String> {
        Ok(match listeners.secure_address()? {
            None => format!("http://{}", listeners.plain_address()?),
            Some(address) => self
                .tls
                .url(address.port())
                .unwrap_or_else(|| format!("https://{address}")),
        })
    }

    /// Refuses to give full access to other machines, now and by a later change, or to any website.
    fn check_access(&self, listeners: &Listeners, config: &Config) -> anyhow::Result<()> {
        let has_admin = self.admin(config)?.is_some();
        match listeners.open_address()? {
            Some(address) if !has_admin => {
                let problem = format!(
                    "{address} can be reached from other machines, and there is no admin account: every client would have full access. Set one with --admin NAME, or listen at 127.0.0.1."
                );
                return Err(UsageError(problem).into());
            }
            Some(_) => keep_an_admin(config),
            None if !has_admin => self.refuse_any_origin()?,
            None => {}
        }
        Ok(())
    }

    async fn serve(
        &self,
        databases: Databases,
        auth: Auth,
        config: Arc<Config>,
        listeners: Listeners,
        announcement: Option<String>,
    ) -> anyhow::Result<()> {
        let stop = inorder_serve::stop_at_signal()?;
        let address = listeners.plain_address()?;
        config.fix(
            keys::BIND_ADDRESS.section,
            keys::BIND_ADDRESS.name,
            &address.ip().to_string(),
        );
        config.fix(
            keys::PORT.section,
            keys::PORT.name,
            &address.port().to_string(),
        );
        if !auth.has_admin() {
            say(
                "no admin account: every client on this machine has full access (set one with --admin NAME)",
            );
        }
        say(&format!(
            "listening at http://{address}/ (status page: http://{address}/_utils/)"
        ));
        if let Some(address) = listeners.secure_address()? {
            say(&format!("listening at https://{address}/"));
        }
        if let Some(text) = announcement {
            writeln!(std::io::stdout(), "{text}")?;
        }
        let settings = ServerSettings {
            listen: address.to_string(),
            uuid: config.values().read(&keys::UUID),
            config,
            body_bytes_max: self.bodies_bytes_max / 2,
            bodies_bytes_max: self.bodies_bytes_max,
            connections_max: self.connections_max,
            connections_per_client_max: self
                .connections_per_client_max
                .unwrap_or(self.connections_max),
            utils: self.utils.clone(),
            ..ServerSettings::default()
        };
        let server = Server::new(databases, auth, settings);
        let (plain, tls) = listeners.into_serving(&stop);
        serve_also_tls(server, plain, tls, stop).await;
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

    /// The address of --listen, or of the configuration.
    fn address(&self, config: &Config) -> anyhow::Result<SocketAddr> {
        let values = config.values();
        if let Some(listen) = &self.listen {
            let problem = || UsageError(format!("--listen {listen}: this is no ADDRESS:PORT"));
            let mut addresses = listen.to_socket_addrs().map_err(|_| problem())?;
            return Ok(addresses.next().ok_or_else(problem)?);
        }
        let address = match values.read(&keys::BIND_ADDRESS).as_str() {
            "any" => Ok(Ipv4Addr::UNSPECIFIED.into()),
            address => address.parse::<IpAddr>(),
        };
        let port = u16::try_from(values.read(&keys::PORT));
        match (address, port) {
            (Ok(address), Ok(port)) => Ok((address, port).into()),
            _ => Err(UsageError(format!(
                "{}: [chttpd] bind_address and port are no address and port",
                self.dir.dir.join(identity::FILE).display()
            ))
            .into()),
        }
    }

    /// Puts the options into the configuration, for this run.
    fn fix(&self, config: &Config) {
        let folder = std::path::absolute(&self.dir.dir).unwrap_or_else(|_| self.dir.dir.clone());
        config.fix("couchdb", "database_dir", &folder.display().to_string());
        self.tls.fix(config);
        if !self.cors_origins.is_empty() {
            for (section, key, value) in [
                (keys::ENABLE_CORS.section, keys::ENABLE_CORS.name, "true"),
                (
                    keys::CORS_CREDENTIALS.section,
                    keys::CORS_CREDENTIALS.name,
                    "true",
                ),
                (
                    keys::CORS_ORIGINS.section,
                    keys::CORS_ORIGINS.name,
                    &self.cors_origins.join(","),
                ),
            ] {
                config.fix(section, key, value);
            }
        }
    }

    /// Returns the admin account of --admin, which is stored, or one of the configuration.
    fn admin(&self, config: &Config) -> anyhow::Result<Option<Admin>> {
        let values = config.values();
        let known = |name: &str, hash: &str| -> anyhow::Result<Admin> {
            let (name, password) = (name.to_owned(), hash.parse::<PasswordHash>()?);
            Ok(Admin { name, password })
        };
        let Some(name) = &self.admin else {
            let first = values.section(ADMINS).next();
            return first.map(|(name, hash)| known(name, hash)).transpose();
        };
        if name.is_empty() || name.contains(':') || name.chars().any(char::is_control) {
            return Err(UsageError(
                "--admin: the name is empty, or has a colon or a control character".to_owned(),
            )
            .into());
        }
        let known = values
            .get(ADMINS, name)
            .map(|hash| known(name, hash))
            .transpose()?;
        let given = match &self.password_file {
            Some(file) => password::from_file(file)?,
            None => match (password::from_environment(), &known) {
                (Some(given), _) => given,
                // The stored account, named without a password.
                (None, Some(known)) => return Ok(Some(known.clone())),
                (None, None) => password::ask(&format!("Password of {name}: "))?,
            },
        };
        if let Some(known) = known
            && password::is_same(&given, &known.password)
        {
            return Ok(Some(known));
        }
        let password = password::hashed(&given)?;
        config.set(ADMINS, name, &password.to_string(), Lifetime::Kept)?;
        Ok(Some(Admin {
            name: name.clone(),
            password,
        }))
    }
}

/// Writes a line to stderr. The server continues without its terminal.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
