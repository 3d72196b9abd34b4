//! The parameters that `_changes` and `_db_updates` share.

use super::params::Params;
use super::{HttpError, HttpResult};
use std::time::Duration;

/// The kind of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The present events.
    Normal,
    /// The present events, or else the next one.
    Longpoll,
    /// The present and all later events, one per line.
    Continuous,
    /// The same, in the format of a browser's `EventSource`.
    EventSource,
}

impl Kind {
    /// The parameter `feed`.
    ///
    /// # Errors
    /// If there is no such kind.
    pub fn read(params: &Params) -> HttpResult<Self> {
        match params.get("feed").unwrap_or("normal") {
            "normal" => Ok(Kind::Normal),
            "longpoll" => Ok(Kind::Longpoll),
            "continuous" | "live" => Ok(Kind::Continuous),
            "eventsource" => Ok(Kind::EventSource),
            _ => {
                let known = "normal, continuous, live, longpoll, eventsource";
                let reason = format!("Supported `feed` types: {known}");
                Err(HttpError::BadRequest(reason))
            }
        }
    }

    /// Returns the bytes of a heartbeat.
    pub fn sign(self) -> &'static [u8] {
        match self {
            Kind::EventSource => b"event: heartbeat\ndata: \n\n",
            _ => b"\n",
        }
    }
}

/// The default time without an event after which a feed ends or sends a heartbeat.
const QUIET_DEFAULT: Duration = Duration::from_secs(60);

/// The shortest interval of heartbeats.
const HEARTBEAT_MIN: Duration = Duration::from_millis(10);

/// The behaviour of a feed without events.
#[derive(Debug, Clone, Copy)]
pub struct Quiet {
    /// The time without an event.
    pub after: Duration,
    /// Whether the feed sends a heartbeat instead of ending.
    pub is_kept: bool,
}

impl Quiet {
    /// The parameters `heartbeat` and `timeout`.
    ///
    /// # Errors
    /// If they are not milliseconds.
    pub fn read(params: &Params) -> HttpResult<Self> {
        let timeout = params.parsed("timeout")?.map(Duration::from_millis);
        let heartbeat = heartbeat(params)?;
        Ok(Quiet {
            after: heartbeat.unwrap_or(timeout.unwrap_or(QUIET_DEFAULT).min(QUIET_DEFAULT)),
            is_kept: heartbeat.is_some(),
        })
    }
}

fn heartbeat(params: &Params) -> HttpResult<Option<Duration>> {
    match params.get("heartbeat") {
        None | Some("false") => Ok(None),
        Some("true") => Ok(Some(QUIET_DEFAULT)),
        Some(text) => match text.parse::<i64>() {
            Ok(1..) => Ok(text.parse().map(Duration::from_millis).ok())
                .map(|after| after.map(|after| after.max(HEARTBEAT_MIN))),
            Ok(_) => Err(HttpError::BadRequest(
                "The heartbeat value should be a positive integer (in milliseconds).".to_owned(),
            )),
            Err(_) => Err(HttpError::BadRequest(
                "Invalid heartbeat value. Expecting a positive integer value (in milliseconds)."
                    .to_owned(),
            )),
        },
    }
}
