//! What is asked of a feed: of the changes of a database, or of what happens to databases.

use super::params::Params;
use super::{HttpError, HttpResult};
use std::time::Duration;

/// How news is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Those there are.
    Normal,
    /// Those there are, or else the next.
    Longpoll,
    /// Those there are and all that follow, a line each.
    Continuous,
    /// The same, as a browser's `EventSource` reads them.
    EventSource,
}

impl Kind {
    /// The parameter `feed`.
    ///
    /// # Errors
    /// When there is no such kind.
    pub fn read(params: &Params) -> HttpResult<Self> {
        match params.get("feed").unwrap_or("normal") {
            "normal" => Ok(Kind::Normal),
            "longpoll" => Ok(Kind::Longpoll),
            "continuous" | "live" => Ok(Kind::Continuous),
            "eventsource" => Ok(Kind::EventSource),
            other => Err(HttpError::BadParameter("feed", other.to_owned())),
        }
    }

    /// A sign of life.
    pub fn sign(self) -> &'static [u8] {
        match self {
            Kind::EventSource => b"event: heartbeat\ndata: \n\n",
            _ => b"\n",
        }
    }
}

/// A feed that says nothing for that long ends, or shows that it lives.
const QUIET_DEFAULT: Duration = Duration::from_secs(60);

/// Nobody needs signs of life more often.
const HEARTBEAT_MIN: Duration = Duration::from_millis(10);

/// What a feed does when there is no news.
#[derive(Debug, Clone, Copy)]
pub struct Quiet {
    /// After so long.
    pub after: Duration,
    /// It shows that it lives, instead of ending.
    pub is_kept: bool,
}

impl Quiet {
    /// The parameters `heartbeat` and `timeout`.
    ///
    /// # Errors
    /// When they are no milliseconds.
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
        Some(text) => match text.parse() {
            Ok(0) | Err(_) => Err(HttpError::BadParameter("heartbeat", text.to_owned())),
            Ok(millis) => Ok(Some(Duration::from_millis(millis).max(HEARTBEAT_MIN))),
        },
    }
}
