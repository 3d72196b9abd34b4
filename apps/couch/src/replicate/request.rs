//! A replication, as the body of `_replicate` and documents of `_replicator` describe it.

use super::ReplicateError;
use super::endpoint::Endpoint;
use super::filter::Selection;
use super::settings::Tuning;
use serde_json::{Map, Value};
use std::time::Duration;

/// The user in whose name a replication accesses local databases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Principal {
    /// The name; none for a client without one.
    pub name: Option<String>,
    /// The roles.
    pub roles: Vec<String>,
    /// Whether the roles are looked up in the account of this server with every request.
    pub is_local: bool,
}

/// A document that describes a replication.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocRef {
    /// The database.
    pub database: String,
    /// The document's id.
    pub id: String,
}

/// A replication.
#[derive(Debug, Clone, PartialEq)]
pub struct Replication {
    /// The source.
    pub source: Endpoint,
    /// The target.
    pub target: Endpoint,
    /// Whether the replication continues after it has caught up.
    pub continuous: bool,
    /// Whether a missing target is created.
    pub create_target: bool,
    /// The parameters of the creation.
    pub create_target_params: Map<String, Value>,
    /// Whether only the winning revisions are replicated.
    pub winning_revs_only: bool,
    /// Which documents are replicated.
    pub selection: Selection,
    /// The parameters for the filter.
    pub query_params: Map<String, Value>,
    /// The sequence after which changes are read, regardless of the checkpoint.
    pub since_seq: Option<Value>,
    /// Options that do not decide what is replicated.
    pub tuning: Tuning,
    /// The user.
    pub user: Principal,
    /// The document that describes the replication; none for one of `_replicate`.
    pub document: Option<DocRef>,
}

/// The body of `_replicate`.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Starts a replication.
    Start(Box<Replication>),
    /// Cancels the replication with this description.
    Cancel(Box<Replication>),
    /// Cancels the replication with this id.
    CancelId(String),
}

impl Request {
    /// Parses the body of `_replicate`.
    ///
    /// # Errors
    /// If it does not describe a replication.
    pub fn from_json(
        body: &Map<String, Value>,
        user: Principal,
        defaults: &Tuning,
    ) -> Result<Self, ReplicateError> {
        let is_cancelled = flag(body, "cancel")?.unwrap_or(false);
        let ids = ["_local_id", "replication_id", "id"];
        let id = ids.into_iter().find_map(|name| body.get(name)?.as_str());
        if is_cancelled && let Some(id) = id {
            // A plus sign in a URL is decoded to a space.
            return Ok(Request::CancelId(id.replace(' ', "+")));
        }
        let replication = Replication::from_json(body, user, None, defaults)?;
        Ok(match is_cancelled {
            true => Request::Cancel(Box::new(replication)),
            false => Request::Start(Box::new(replication)),
        })
    }
}

impl Replication {
    /// Parses a replication.
    ///
    /// # Errors
    /// If an option or an endpoint is missing or invalid.
    pub fn from_json(
        body: &Map<String, Value>,
        user: Principal,
        document: Option<DocRef>,
        defaults: &Tuning,
    ) -> Result<Self, ReplicateError> {
        // The order decides which of several errors is reported.
        flag(body, "cancel")?;
        let create_target = flag(body, "create_target")?.unwrap_or(false);
        let create_target_params = object(body, "create_target_params", "a JSON object")?;
        let winning_revs_only = flag(body, "winning_revs_only")?.unwrap_or(false);
        let continuous = flag(body, "continuous")?.unwrap_or(false);
        let query_params = object(body, "query_params", "an object")?;
        let tuning = tuning(body, defaults)?;
        let selection = Selection::from_json(body);
        if let Err(error @ ReplicateError::BadRequest(_)) = selection {
            return Err(error);
        }
        let endpoint = |name: &str| Endpoint::from_json(body.get(name).unwrap_or(&Value::Null));
        let (source, target) = (endpoint("source")?, endpoint("target")?);
        let selection = selection?;
        selection.function(&query_params)?;
        Ok(Replication {
            source,
            target,
            continuous,
            create_target,
            create_target_params,
            winning_revs_only,
            selection,
            query_params,
            since_seq: body.get("since_seq").cloned(),
            tuning,
            user,
            document,
        })
    }
}

fn bad(name: &str, what: &str) -> ReplicateError {
    ReplicateError::BadRequest(format!("parameter `{name}` must be {what}"))
}

fn flag(body: &Map<String, Value>, name: &str) -> Result<Option<bool>, ReplicateError> {
    match body.get(name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(bad(name, "a boolean")),
    }
}

fn object(
    body: &Map<String, Value>,
    name: &str,
    what: &str,
) -> Result<Map<String, Value>, ReplicateError> {
    match body.get(name) {
        None => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(_) => Err(bad(name, what)),
    }
}

/// Reads an integer, which may be given as a string.
fn number(body: &Map<String, Value>, name: &str) -> Result<Option<u64>, ReplicateError> {
    let Some(value) = body.get(name) else {
        return Ok(None);
    };
    let number = value
        .as_u64()
        .or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    number.map(Some).ok_or_else(|| bad(name, "an integer"))
}

fn tuning(body: &Map<String, Value>, defaults: &Tuning) -> Result<Tuning, ReplicateError> {
    let mut tuning = defaults.clone();
    for name in ["worker_processes", "http_connections"] {
        // One worker with one connection at a time is used.
        number(body, name)?;
    }
    if let Some(count) = number(body, "worker_batch_size")? {
        tuning.batch_size = count.max(1) as usize;
    }
    if let Some(millis) = number(body, "connection_timeout")? {
        tuning.connection_timeout = Duration::from_millis(millis);
    }
    if let Some(count) = number(body, "retries_per_request")? {
        tuning.retries = u32::try_from(count).unwrap_or(u32::MAX);
    }
    if let Some(millis) = number(body, "checkpoint_interval")? {
        tuning.checkpoint_interval = Duration::from_millis(millis);
    }
    if let Some(Value::Bool(flag)) = body.get("use_checkpoints") {
        tuning.use_checkpoints = *flag;
    }
    if let Some(flag) = flag(body, "use_bulk_get")? {
        tuning.use_bulk_get = flag;
    }
    Ok(tuning)
}

impl Replication {
    /// Whether another replication does the same with the same options for the same document.
    pub fn is_same(&self, other: &Replication) -> bool {
        self.tuning == other.tuning && self.copies_same(other)
    }

    /// Whether another replication does the same for the same document, perhaps with other options.
    pub fn copies_same(&self, other: &Replication) -> bool {
        let one = Replication {
            user: other.user.clone(),
            tuning: other.tuning.clone(),
            ..self.clone()
        };
        one == *other
    }
}
