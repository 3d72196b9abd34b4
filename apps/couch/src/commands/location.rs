//! The location of databases: a folder or a URL.

use anyhow::Context;
use clap::Args;
use inorder_couch::auth::{Auth, User};
use inorder_couch::http::{Server, ServerSettings, within};
use inorder_couch::replicate::{Endpoint, Peer, Settings};
use inorder_couch::store::{self, Databases};
use serde_json::json;
use std::path::PathBuf;

/// The folder of the databases.
#[derive(Debug, Args)]
pub struct Dir {
    /// The folder of the databases.
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "data",
        env = "INORDER_COUCH_DIR"
    )]
    pub dir: PathBuf,
}

impl Dir {
    /// The databases in it, which no server may have open at the same time.
    pub fn open(&self) -> anyhow::Result<Databases> {
        Databases::open(&self.dir, store::Settings::default()).context(
            "if a server uses the folder, give the URL of the database: http://127.0.0.1:5984/NAME",
        )
    }

    /// A database by its name in this folder, or by its URL. Must be called within a tokio runtime.
    pub fn peer(&self, database: &str) -> anyhow::Result<Peer> {
        let endpoint = Endpoint::from_json(&json!(database))?;
        let here = match endpoint {
            Endpoint::Here(_) => {
                let auth = Auth::new(None, b"");
                let server = Server::new(self.open()?, auth, ServerSettings::default());
                within(server, User::nameless_admin())
            }
            Endpoint::Remote(_) => axum::Router::new(),
        };
        let settings = Settings::default();
        Ok(Peer::new(&endpoint, here, &settings, &settings.defaults)?)
    }
}

/// The runtime of a command that is no server.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}
