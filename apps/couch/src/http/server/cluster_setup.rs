//! `/_cluster_setup`: the assistant that prepares a new CouchDB. This server is a cluster of one node.

use crate::auth::{ADMINS, hashed, password};
use crate::config::{Config, ConfigError, Lifetime, keys};
use crate::http::blocking::blocking;
use crate::http::body::JsonBody;
use crate::http::params::Params;
use crate::http::{HttpError, HttpResult, Server, reply, users_db};
use crate::store::{Databases, Error};
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;

/// The system databases of a server that is set up.
const SYSTEM_DATABASES: [&str; 2] = ["_users", "_replicator"];

/// `GET /_cluster_setup`: whether the server has an admin and CouchDB's own databases.
pub async fn cluster_state(State(server): State<Arc<Server>>, params: Params) -> HttpResult {
    let names = params.json("ensure_dbs_exist")?;
    let names = names.unwrap_or_else(system_databases);
    let has_admin = server.config.values().section(ADMINS).next().is_some();
    let is_enabled = has_admin && exist(&server.databases, &names)?;
    let state = if is_enabled {
        "single_node_enabled"
    } else {
        "single_node_disabled"
    };
    reply::json(StatusCode::OK, &json!({ "state": state }))
}

fn system_databases() -> Vec<String> {
    SYSTEM_DATABASES.map(str::to_owned).to_vec()
}

/// The body of a request.
#[derive(Deserialize)]
struct Setup {
    #[serde(default)]
    action: String,
    username: Option<String>,
    password: Option<String>,
    password_hash: Option<String>,
    bind_address: Option<String>,
    port: Option<Value>,
    node_count: Option<u64>,
    ensure_dbs_exist: Option<Vec<String>>,
}

/// `POST /_cluster_setup`: does a step of the preparation.
pub async fn set_up_cluster(
    State(server): State<Arc<Server>>,
    JsonBody(body): JsonBody,
) -> HttpResult {
    let Ok(setup) = body.json::<Setup>() else {
        return Err(bad_request("Missing JSON body'"));
    };
    let of_setup = Arc::clone(&server);
    blocking(move || match setup.action.as_str() {
        "enable_single_node" => {
            set_up_node(&of_setup.config, &setup)?;
            create(&of_setup.databases, &setup.databases())
        }
        "enable_cluster" => {
            if setup.node_count.unwrap_or(1) > 1 {
                return Err(one_node());
            }
            set_up_node(&of_setup.config, &setup)
        }
        "finish_cluster" => {
            let names = setup.databases();
            if exist(&of_setup.databases, &names)? {
                return Err(bad_request("Cluster is already finished"));
            }
            create(&of_setup.databases, &names)
        }
        "add_node" => Err(bad_request("Cluster is not enabled.")),
        "remove_node" | "receive_cookie" => Err(one_node()),
        _ => Err(bad_request("Invalid Action'")),
    })
    .await??;
    users_db::ensure_rules(&server).await?;
    Ok(reply::ok(StatusCode::CREATED))
}

fn bad_request(reason: &str) -> HttpError {
    HttpError::BadRequest(reason.to_owned())
}

fn one_node() -> HttpError {
    let reason = "This server is one node and forms no cluster: use the action enable_single_node.";
    HttpError::NotImplemented(reason.to_owned())
}

impl Setup {
    fn databases(&self) -> Vec<String> {
        self.ensure_dbs_exist
            .clone()
            .unwrap_or_else(system_databases)
    }
}

/// Stores the admin and the address, which is used from the next start on.
fn set_up_node(config: &Config, setup: &Setup) -> HttpResult<()> {
    let address = setup.bind_address.as_deref();
    if address.is_some_and(|address| address.parse::<IpAddr>().is_err()) {
        return Err(bad_request("Setup requires a valid IP bind_address."));
    }
    let port = match &setup.port {
        None | Some(Value::Null) => None,
        Some(Value::String(port)) => Some(port.clone()),
        Some(port) => Some(port.to_string()),
    };
    if port
        .as_ref()
        .is_some_and(|port| port.parse::<u16>().is_err())
    {
        return Err(bad_request("Setup requires a valid port."));
    }
    let password = setup.password_hash.as_deref().or(setup.password.as_deref());
    match (setup.username.as_deref(), password) {
        (Some(name), Some(password)) => set_admin(config, name, password)?,
        _ if config.values().section(ADMINS).next().is_none() => {
            return Err(bad_request(
                "Cluster setup requires admin account to be configured",
            ));
        }
        _ => {}
    }
    let keep = |section, key, value: &str| config.set(section, key, value, Lifetime::Kept);
    if let Some(address) = address {
        keep(keys::BIND_ADDRESS.section, keys::BIND_ADDRESS.name, address)?;
    }
    if let Some(port) = port {
        keep(keys::PORT.section, keys::PORT.name, &port)?;
    }
    keep("cluster", "n", "1")?;
    Ok(())
}

/// Sets an admin's password, unless it is the same: a new hash would end the admin's sessions.
fn set_admin(config: &Config, name: &str, given: &str) -> Result<(), ConfigError> {
    let known = config.get(ADMINS, name);
    let known = known.and_then(|hash| hash.parse::<password::PasswordHash>().ok());
    if known.is_some_and(|known| known.verify(given)) {
        return Ok(());
    }
    config.set(ADMINS, name, &hashed(config, given), Lifetime::Kept)?;
    Ok(())
}

fn exist(databases: &Databases, names: &[String]) -> HttpResult<bool> {
    for name in names {
        match databases.get(name) {
            Ok(_) => {}
            Err(Error::DatabaseMissing) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

fn create(databases: &Databases, names: &[String]) -> HttpResult<()> {
    for name in names {
        match databases.create(name) {
            Ok(_) | Err(Error::DatabaseExists) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
